//! The disk of the simulated world: the real store on a disk in memory that refuses as the plan says, is killed in the
//! middle of a save, and at a loss of power forgets what was not brought to it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use jiff::Timestamp;
use trellis::driver::ports::{Loaded, Records, SaveError};
use trellis::model::event::{Decision, Event};
use trellis::model::ids::{PairId, RecordKey, RunId, SessionKey};
use trellis::model::pair::{PairRecord, PairState, PauseReason};
use trellis::model::run::RunRecord;
use trellis::model::session::SessionNote;
use trellis::paths::Home;
use trellis::store::Store;
use trellis::store::sim_files::{Fault, SimFiles};

use super::world::World;

/// What was acknowledged as saved, kept beside the disk itself so that the two can be compared.
#[derive(Debug, Default)]
pub struct Disk {
    pub files: SimFiles,
    pub runs: BTreeMap<RunId, RunRecord>,
    pub pairs: BTreeMap<PairId, PairRecord>,
    /// Saves that were not acknowledged (killed, or refused by the disk): each happened or it did not.
    unsure: Vec<Saved>,
    pub wrong: Vec<String>,
    /// How each pair stood, since when: its pause, if it was paused.
    pub stood: BTreeMap<PairId, Vec<(Timestamp, PairState, Option<PauseReason>)>>,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a handful of them live at once")]
enum Saved {
    Run(RunRecord),
    Pair(PairRecord),
    Discard(RecordKey),
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
        Self { world, disk, store: Store::with_files(Home::at("/home/.trellis"), files) }
    }

    /// Before a write: dead drivers write nothing, faults are laid.
    fn prepare(&self, what: Saved) -> Result<(), SaveError> {
        let mut world = self.world.borrow_mut();
        let was_dead = world.dead;
        if world.burn() {
            if was_dead {
                return Err(SaveError::Io { file: "record".into(), why: "killed".into() });
            }
            // Killed inside the save: at one of its first calls, or right behind it.
            let call = world.rng.between(0, 14);
            self.disk.borrow_mut().unsure.push(what);
            self.disk.borrow().files.fail_at(call, Fault::Kill);
            return Ok(());
        }
        let faults = world.plan.disk_faults;
        if world.rng.chance(faults) {
            let kinds = [Fault::NoSpace, Fault::Io, Fault::ReadOnly, Fault::ShortWrite];
            let kind = kinds[usize::try_from(world.rng.between(0, 3)).unwrap()];
            let call = world.rng.between(0, 8);
            world.say(format!("the disk will refuse call {call}: {kind:?}"));
            self.disk.borrow_mut().unsure.push(what);
            self.disk.borrow().files.fail_at(call, kind);
        }
        Ok(())
    }

    /// After a write: faults that have not struck are taken back; behind a kill nothing is acknowledged.
    fn done<T>(&self, result: Result<T, SaveError>) -> Result<T, SaveError> {
        if self.world.borrow().dead {
            return Err(SaveError::Io { file: "record".into(), why: "killed".into() });
        }
        self.disk.borrow().files.heal();
        result
    }
}

impl Disk {
    fn note(&mut self, pair: &PairRecord) {
        let at = pair.last_persisted_at.unwrap_or(pair.created_at);
        let stood = self.stood.entry(pair.id.clone()).or_default();
        if stood.last().is_none_or(|last| (last.1, last.2) != (pair.state, pair.paused_reason)) {
            stood.push((at, pair.state, pair.paused_reason));
        }
    }

    /// `run-before-pair`: at no moment does the disk hold a pair of a run that the run does not name.
    fn named_by_its_run(&mut self, pair: &PairRecord) {
        let names = |run: &RunRecord| {
            run.current_pair_id.as_ref() == Some(&pair.id)
                || run.phases.iter().any(|attempt| attempt.pair_id.as_ref() == Some(&pair.id))
        };
        if pair.owner == "checklist" && !self.runs.values().any(names) {
            self.wrong.push(format!("run-before-pair: {} was saved before its run named it", pair.id));
        }
    }

    /// The driver is started again; after a loss of power only what was brought to the disk is there.
    pub fn restart(&mut self, power_lost: bool, mut keep: impl FnMut() -> bool) {
        if power_lost {
            self.files.crash(&mut keep);
        } else {
            self.files.revive();
        }
    }

    /// `acknowledged-is-durable`: what is loaded is what was acknowledged, or the save that was under way.
    fn compare(&mut self, loaded: &Loaded) {
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
                self.wrong
                    .push(format!("acknowledged-is-durable: run {id}\n{there:#?}\nacknowledged\n{acknowledged:#?}"));
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
                self.wrong
                    .push(format!("acknowledged-is-durable: pair {id}\n{there:#?}\nacknowledged\n{acknowledged:#?}"));
            }
        }
        for pair in pairs.values() {
            self.note(pair);
        }
        (self.runs, self.pairs) = (runs, pairs);
    }
}

impl Records for Shelf {
    fn load(&mut self) -> Loaded {
        let loaded = self.store.load();
        self.disk.borrow_mut().compare(&loaded);
        loaded
    }

    fn save_run(&mut self, record: &RunRecord) -> Result<(), SaveError> {
        self.prepare(Saved::Run(record.clone()))?;
        let saved = self.store.save_run(record);
        self.done(saved)?;
        let mut disk = self.disk.borrow_mut();
        disk.unsure.retain(|saved| !matches!(saved, Saved::Run(run) if run.id == record.id));
        disk.runs.insert(record.id.clone(), record.clone());
        Ok(())
    }

    fn save_pair(&mut self, record: &PairRecord) -> Result<(), SaveError> {
        self.prepare(Saved::Pair(record.clone()))?;
        let saved = self.store.save_pair(record);
        self.done(saved)?;
        let mut disk = self.disk.borrow_mut();
        disk.unsure.retain(|saved| !matches!(saved, Saved::Pair(pair) if pair.id == record.id));
        disk.named_by_its_run(record);
        disk.note(record);
        disk.pairs.insert(record.id.clone(), record.clone());
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
