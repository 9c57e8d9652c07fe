//! The disk of the simulated world: the real store on a disk in memory that refuses as the plan says, is killed in the
//! middle of a save, and at a loss of power forgets what was not brought to it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use trellis::driver::ports::{Loaded, Records, SaveError};
use trellis::driver::viewer::Shelf as _;
use trellis::model::event::{Decision, Event};
use trellis::model::ids::{EntryId, PairId, RecordKey, RunId, SessionKey};
use trellis::model::outbox::Entry;
use trellis::model::pair::PairRecord;
use trellis::model::run::RunRecord;
use trellis::model::session::SessionNote;
use trellis::paths::Home;
use trellis::store::reader::Reader;
use trellis::store::sim_files::{Fault, SimFiles};
use trellis::store::{Store, trim};

use super::ingredients::Ingredient;
use super::invariants::{Invariant, history, live, verdicts};
use super::planted::Planted;
use super::world::World;

/// The home of every world.
pub const HOME: &str = "/home/.trellis";

/// What was acknowledged as saved, kept beside the disk itself so that the two can be compared.
#[derive(Debug, Default)]
pub struct Disk {
    pub files: SimFiles,
    pub runs: BTreeMap<RunId, RunRecord>,
    pub pairs: BTreeMap<PairId, PairRecord>,
    /// How many prompts of people there were when a pair was made.
    pub born: BTreeMap<PairId, usize>,
    /// Prompts of people that a person has seen on the screen before letting the loop go on.
    pub accounted: usize,
    /// Saves that were not acknowledged (killed, or refused by the disk): each happened or it did not.
    unsure: Vec<Saved>,
    planted: Option<Planted>,
    /// Saves that a planted fault puts off.
    late: Vec<Saved>,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a handful of them live at once")]
enum Saved {
    Run(RunRecord),
    Pair(PairRecord),
    Discard(RecordKey),
}

impl Saved {
    fn key(&self) -> RecordKey {
        match self {
            Self::Run(run) => RecordKey::Run(run.id.clone()),
            Self::Pair(pair) => RecordKey::Pair(pair.id.clone()),
            Self::Discard(key) => key.clone(),
        }
    }
}

/// The records port.
pub struct Shelf {
    world: Rc<RefCell<World>>,
    disk: Rc<RefCell<Disk>>,
    store: Store<SimFiles>,
}

impl Shelf {
    pub fn open(world: Rc<RefCell<World>>, disk: Rc<RefCell<Disk>>) -> Self {
        let files = disk.borrow().files.clone();
        Self { world, disk, store: Store::with_files(Home::at(HOME), files) }
    }

    /// Before a write: dead drivers write nothing, faults are laid.
    fn prepare(&self, what: Saved) -> Result<(), SaveError> {
        let mut world = self.world.borrow_mut();
        let was_dead = world.dead;
        let mut disk = self.disk.borrow_mut();
        if world.burn() {
            if was_dead {
                return Err(killed());
            }
            // Killed inside the save: at one of its first calls, or right behind it.
            let call = world.between(Ingredient::KillAtBoundary, 0, 14);
            disk.unsure.push(what);
            disk.files.fail_at(call, Fault::Kill);
            return Ok(());
        }
        disk.files.set_full(world.disk_is_full);
        let kinds = [
            (Ingredient::NoSpace, Fault::NoSpace),
            (Ingredient::DeviceError, Fault::Io),
            (Ingredient::ReadOnly, Fault::ReadOnly),
            (Ingredient::ShortWrite, Fault::ShortWrite),
        ];
        let struck = kinds.into_iter().find(|(kind, _)| world.strikes(*kind));
        if let Some((kind, fault)) = struck {
            let call = world.between(kind, 0, 8);
            world.say(format!("the disk will refuse call {call}: {fault:?}"));
            disk.files.fail_at(call, fault);
        }
        if struck.is_some() || world.disk_is_full {
            disk.unsure.push(what);
        }
        Ok(())
    }

    /// After a write: faults that have not struck are taken back; behind a kill nothing is acknowledged.
    fn done<T>(&self, result: Result<T, SaveError>) -> Result<T, SaveError> {
        if self.world.borrow().dead {
            return Err(killed());
        }
        self.disk.borrow().files.heal();
        if let Err(error) = &result {
            self.world.borrow_mut().say(format!("  not saved: {error}"));
        }
        result
    }

    /// The saves that a planted fault has put off, now.
    pub fn catch_up(&mut self) {
        let late = std::mem::take(&mut self.disk.borrow_mut().late);
        for saved in late {
            // What fails here is lost: the fault that is planted does not look.
            drop(match saved {
                Saved::Run(run) => self.write_run(&run),
                Saved::Pair(pair) => self.write_pair(&pair),
                Saved::Discard(_) => Ok(()),
            });
        }
    }

    fn puts_off(&self, saved: Saved) -> bool {
        let mut disk = self.disk.borrow_mut();
        let puts_off = match (disk.planted, &saved) {
            (Some(Planted::SaveAfterAct), _) => true,
            (Some(Planted::PairBeforeRun), Saved::Run(run)) => run.pending.is_some() && !run.pair_seen,
            _ => false,
        };
        if puts_off {
            disk.late.push(saved);
        }
        puts_off
    }

    fn write_run(&mut self, record: &RunRecord) -> Result<(), SaveError> {
        // What is too old for the record moves to the files beside it.
        let mut written = record.clone();
        trim::run(&mut written);
        self.prepare(Saved::Run(written.clone()))?;
        let saved = self.store.save_run(record);
        self.done(saved)?;
        let mut disk = self.disk.borrow_mut();
        disk.unsure.retain(|saved| !matches!(saved, Saved::Run(run) if run.id == record.id));
        let mut world = self.world.borrow_mut();
        history::run(disk.runs.get(&record.id), record, &mut world);
        verdicts::agreed(&disk, disk.runs.get(&record.id), record, &mut world);
        verdicts::completed(disk.runs.get(&record.id), record, &mut world);
        disk.runs.insert(record.id.clone(), written);
        Ok(())
    }

    fn write_pair(&mut self, record: &PairRecord) -> Result<(), SaveError> {
        let mut written = record.clone();
        trim::pair(&mut written);
        self.prepare(Saved::Pair(written.clone()))?;
        let saved = self.store.save_pair(record);
        self.done(saved)?;
        let mut disk = self.disk.borrow_mut();
        disk.unsure.retain(|saved| !matches!(saved, Saved::Pair(pair) if pair.id == record.id));
        let mut world = self.world.borrow_mut();
        history::pair(disk.pairs.get(&record.id), record, &mut world);
        live::named_by_its_run(&disk, record, &mut world);
        disk.born.entry(record.id.clone()).or_insert(world.typed.len());
        live::ends_with_people_seen(&disk, record, &mut world);
        disk.pairs.insert(record.id.clone(), written);
        Ok(())
    }
}

fn killed() -> SaveError {
    SaveError::Io { file: "record".into(), why: "killed".into() }
}

impl Disk {
    pub fn new(planted: Option<Planted>) -> Self {
        Self { planted, ..Self::default() }
    }

    /// Messages that have moved out of their records, as a start would find them.
    pub fn moved_out(&self) -> Vec<Entry> {
        self.files.revive();
        let read = Reader::with_files(Home::at(HOME), self.files.clone()).read();
        let kept = self.runs.values().flat_map(|run| &run.outbox);
        let kept: BTreeSet<&EntryId> =
            kept.chain(self.pairs.values().flat_map(|pair| &pair.outbox)).map(|entry| &entry.id).collect();
        let older = read.into_iter().flat_map(|loaded| loaded.older_entries.into_values().flatten());
        older.filter(|entry| !kept.contains(&entry.id)).collect()
    }

    /// The driver is started again; after a loss of power only what was brought to the disk is there.
    pub fn restart(&mut self, power_lost: bool, mut keep: impl FnMut() -> bool) {
        self.late.clear();
        self.files.set_full(false);
        if power_lost {
            self.files.crash(&mut keep);
        } else {
            self.files.revive();
        }
    }

    /// What is loaded is what was acknowledged, or the save that was under way.
    fn compare(&mut self, loaded: &Loaded, world: &mut World) {
        let unsure = std::mem::take(&mut self.unsure);
        let runs: BTreeMap<_, _> = loaded.runs.iter().map(|run| (run.id.clone(), run.clone())).collect();
        let pairs: BTreeMap<_, _> = loaded.pairs.iter().map(|pair| (pair.id.clone(), pair.clone())).collect();
        for id in self.runs.keys().chain(runs.keys()) {
            let (there, acknowledged) = (runs.get(id), self.runs.get(id));
            let perhaps = unsure.iter().any(|saved| match saved {
                Saved::Run(run) => &run.id == id && there == Some(run),
                Saved::Discard(RecordKey::Run(gone)) => gone == id && there.is_none(),
                Saved::Pair(_) | Saved::Discard(_) => false,
            });
            if there != acknowledged && !perhaps {
                lost(id.as_str(), there, acknowledged, world);
            }
        }
        for id in self.pairs.keys().chain(pairs.keys()) {
            let (there, acknowledged) = (pairs.get(id), self.pairs.get(id));
            let perhaps = unsure.iter().any(|saved| match saved {
                Saved::Pair(pair) => &pair.id == id && there == Some(pair),
                Saved::Discard(RecordKey::Pair(gone)) => gone == id && there.is_none(),
                Saved::Run(_) | Saved::Discard(_) => false,
            });
            if there != acknowledged && !perhaps {
                lost(id.as_str(), there, acknowledged, world);
            }
        }
        for id in pairs.keys() {
            self.born.entry(id.clone()).or_insert(world.typed.len());
        }
        (self.runs, self.pairs) = (runs, pairs);
    }
}

fn lost<R: std::fmt::Debug>(id: &str, there: Option<R>, acknowledged: Option<R>, world: &mut World) {
    let (there, acknowledged) = (format!("{there:#?}"), format!("{acknowledged:#?}"));
    let first = there.lines().zip(acknowledged.lines()).find(|(one, other)| one != other);
    let what = format!("a start reads {id} otherwise than it was acknowledged, first in {first:?}");
    world.breaks(Invariant::RecordEqualsMemory, what);
}

impl Records for Shelf {
    fn load(&mut self) -> Loaded {
        let mut loaded = self.store.load();
        let (mut disk, mut world) = (self.disk.borrow_mut(), self.world.borrow_mut());
        for notice in &loaded.notices {
            world.say(format!("  loaded: {notice}"));
        }
        if !disk.planted.is_some_and(Planted::spoils_loading) {
            disk.compare(&loaded, &mut world);
        }
        if let Some(planted) = disk.planted {
            planted.spoil(&mut loaded, &world);
            disk.runs = loaded.runs.iter().map(|run| (run.id.clone(), run.clone())).collect();
            disk.pairs = loaded.pairs.iter().map(|pair| (pair.id.clone(), pair.clone())).collect();
        }
        loaded
    }

    fn save_run(&mut self, record: &RunRecord) -> Result<(), SaveError> {
        if self.puts_off(Saved::Run(record.clone())) {
            return Ok(());
        }
        self.write_run(record)
    }

    fn save_pair(&mut self, record: &PairRecord) -> Result<(), SaveError> {
        if self.puts_off(Saved::Pair(record.clone())) {
            return Ok(());
        }
        self.write_pair(record)?;
        self.catch_up();
        Ok(())
    }

    fn adopt_run(&mut self, id: &RunId) -> Result<RunRecord, SaveError> {
        self.store.adopt_run(id)
    }

    fn adopt_pair(&mut self, id: &PairId) -> Result<PairRecord, SaveError> {
        self.store.adopt_pair(id)
    }

    fn displace(&mut self, key: &RecordKey) -> Result<(), SaveError> {
        self.store.displace(key)
    }

    fn discard(&mut self, key: &RecordKey) -> Result<(), SaveError> {
        self.prepare(Saved::Discard(key.clone()))?;
        let gone = self.store.discard(key);
        self.done(gone)?;
        // Nothing of it may come back.
        self.disk.borrow_mut().unsure.retain(|saved| saved.key() != *key);
        match key {
            RecordKey::Run(id) => drop(self.disk.borrow_mut().runs.remove(id)),
            RecordKey::Pair(id) => drop(self.disk.borrow_mut().pairs.remove(id)),
        }
        Ok(())
    }

    fn save_session(&mut self, key: &SessionKey, note: &SessionNote) -> Result<(), SaveError> {
        self.store.save_session(key, note)
    }

    fn forget_session(&mut self, key: &SessionKey) -> Result<(), SaveError> {
        self.store.forget_session(key)
    }

    fn append_event(&mut self, event: &Event) -> Result<(), SaveError> {
        if self.world.borrow().dead { Ok(()) } else { self.store.append_event(event) }
    }

    fn append_decision(&mut self, decision: &Decision) -> Result<(), SaveError> {
        let mut world = self.world.borrow_mut();
        if world.dead {
            return Ok(());
        }
        let record = decision.record.as_deref().unwrap_or("-");
        world.say(format!("  {record} {}: {}", decision.what, decision.evidence));
        drop(world);
        self.store.append_decision(decision)
    }
}
