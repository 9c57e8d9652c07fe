//! A disk in memory that can be full, and that somebody else can write to; or, below that, the real store on a disk whose
//! calls fail.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use jiff::Timestamp;
use trellis::driver::ports::{Loaded, ReadOnly, Records, SaveError};
use trellis::model::event::{Decision, Event};
use trellis::model::hook::HookNote;
use trellis::model::ids::{PairId, RecordKey, RunId, SessionKey};
use trellis::model::pair::PairRecord;
use trellis::model::run::RunRecord;
use trellis::model::session::SessionNote;
use trellis::store::Store;
use trellis::store::sim_files::SimFiles;

/// What happened, in order, over the disk and the agents.
pub type Journal = Rc<RefCell<Vec<String>>>;

#[derive(Default)]
pub struct Disk {
    pub runs: BTreeMap<RunId, RunRecord>,
    pub pairs: BTreeMap<PairId, PairRecord>,
    pub sessions: BTreeMap<SessionKey, SessionNote>,
    pub read_only: Vec<ReadOnly>,
    pub events: Vec<Event>,
    /// Every save fails.
    pub full: bool,
    /// A save of a run is refused and lies there all the same, and nothing can be removed.
    pub sticks: bool,
    /// Saves of pairs fail.
    pub no_pairs: bool,
    /// Files that somebody else wrote.
    pub foreign: BTreeSet<String>,
    /// How many saves were refused.
    pub refused: u32,
    /// What hooks told, by name.
    pub hooks: BTreeMap<String, HookNote>,
    /// The real store, where there is one: what stands above is then what it acknowledged.
    pub store: Option<Store<SimFiles>>,
    /// What that one lies on.
    pub files: SimFiles,
    /// Records whose last save was refused: it happened or it did not.
    pub unsure: BTreeSet<RecordKey>,
}

/// The same record; a text that is not needed may not have been read.
fn is_same<R: serde::Serialize>(there: &R, acknowledged: &R) -> bool {
    serde_json::to_value(there).unwrap() == serde_json::to_value(acknowledged).unwrap()
}

impl Disk {
    /// What the store finds, and whether it is what was acknowledged.
    fn found(&mut self, loaded: &Loaded) {
        let Self { runs, pairs, unsure, .. } = self;
        let is_told =
            |key: &RecordKey| unsure.contains(key) || loaded.read_only.iter().any(|unread| unread.key == *key);
        for run in runs.values().filter(|run| !loaded.runs_unread && !is_told(&RecordKey::Run(run.id.clone()))) {
            assert!(loaded.runs.iter().any(|there| is_same(there, run)), "acknowledged and not there: {run:#?}");
        }
        for pair in pairs.values().filter(|pair| !loaded.pairs_unread && !is_told(&RecordKey::Pair(pair.id.clone()))) {
            assert!(loaded.pairs.iter().any(|there| is_same(there, pair)), "acknowledged and not there: {pair:#?}");
        }
        unsure.clear();
        runs.extend(loaded.runs.iter().map(|run| (run.id.clone(), run.clone())));
        pairs.extend(loaded.pairs.iter().map(|pair| (pair.id.clone(), pair.clone())));
    }
}

#[derive(Clone)]
pub struct MemRecords {
    pub disk: Rc<RefCell<Disk>>,
    pub journal: Journal,
}

impl MemRecords {
    /// Does the same to the real store, where there is one.
    fn stored<T>(
        &self,
        key: RecordKey,
        save: impl FnOnce(&mut Store<SimFiles>) -> Result<T, SaveError>,
    ) -> Result<(), SaveError> {
        let mut disk = self.disk.borrow_mut();
        let Some(store) = &mut disk.store else { return Ok(()) };
        match save(store) {
            Ok(_) => {
                disk.unsure.remove(&key);
                Ok(())
            }
            Err(error) => {
                disk.unsure.insert(key);
                disk.refused += 1;
                Err(error)
            }
        }
    }

    fn stuck(&self, id: &str) -> SaveError {
        self.disk.borrow_mut().refused += 1;
        SaveError::Io { file: format!("{id}.json"), why: "input/output error".to_owned() }
    }

    fn may_save(&self, id: &str) -> Result<(), SaveError> {
        let mut disk = self.disk.borrow_mut();
        if disk.foreign.contains(id) {
            disk.refused += 1;
            return Err(SaveError::Changed { file: format!("{id}.json"), kept_as: format!("{id}.ours.json") });
        }
        if disk.full {
            disk.refused += 1;
            return Err(SaveError::Io { file: format!("{id}.json"), why: "no space left".to_owned() });
        }
        Ok(())
    }
}

impl Records for MemRecords {
    fn hook_notes(&mut self, _now: Timestamp) -> Vec<(String, Option<HookNote>)> {
        self.disk.borrow().hooks.iter().map(|(name, note)| (name.clone(), Some(note.clone()))).collect()
    }

    fn forget_hook_notes(&mut self, names: &[String]) {
        self.disk.borrow_mut().hooks.retain(|name, _| !names.contains(name));
    }

    fn load(&mut self) -> Loaded {
        let mut disk = self.disk.borrow_mut();
        if let Some(store) = &mut disk.store {
            let loaded = store.load();
            // One that died while it read found nothing.
            if !disk.files.is_dead() {
                disk.found(&loaded);
            }
            return loaded;
        }
        Loaded {
            runs: disk.runs.values().cloned().collect(),
            pairs: disk.pairs.values().cloned().collect(),
            read_only: disk.read_only.clone(),
            runs_unread: false,
            pairs_unread: false,
            sessions: disk.sessions.clone(),
            last_seq: disk.events.last().map_or(0, |event| event.seq),
            decisions: Vec::new(),
            notices: Vec::new(),
            older_entries: BTreeMap::new(),
        }
    }

    fn save_run(&mut self, record: &RunRecord) -> Result<(), SaveError> {
        self.may_save(record.id.as_str())?;
        if self.disk.borrow().sticks {
            self.disk.borrow_mut().runs.insert(record.id.clone(), record.clone());
            return Err(self.stuck(record.id.as_str()));
        }
        self.stored(RecordKey::Run(record.id.clone()), |store| store.save_run(record))?;
        let open = record.open_entry().map(|entry| format!(" {} a{}", entry.id, entry.attempts)).unwrap_or_default();
        self.journal.borrow_mut().push(format!("save run {} r{}{open}", record.id, record.revision));
        self.disk.borrow_mut().runs.insert(record.id.clone(), record.clone());
        Ok(())
    }

    fn save_pair(&mut self, record: &PairRecord) -> Result<(), SaveError> {
        self.may_save(record.id.as_str())?;
        if self.disk.borrow().no_pairs {
            return Err(SaveError::Io { file: format!("{}.json", record.id), why: "no space left".to_owned() });
        }
        self.stored(RecordKey::Pair(record.id.clone()), |store| store.save_pair(record))?;
        let open = record.open_entry().map(|entry| format!(" {} a{}", entry.id, entry.attempts)).unwrap_or_default();
        self.journal.borrow_mut().push(format!("save pair {} r{}{open}", record.id, record.revision));
        self.disk.borrow_mut().pairs.insert(record.id.clone(), record.clone());
        Ok(())
    }

    fn adopt_run(&mut self, id: &RunId) -> Result<RunRecord, SaveError> {
        let mut disk = self.disk.borrow_mut();
        disk.foreign.remove(id.as_str());
        Ok(disk.runs[id].clone())
    }

    fn adopt_pair(&mut self, id: &PairId) -> Result<PairRecord, SaveError> {
        let mut disk = self.disk.borrow_mut();
        disk.foreign.remove(id.as_str());
        Ok(disk.pairs[id].clone())
    }

    fn displace(&mut self, key: &RecordKey) -> Result<(), SaveError> {
        self.journal.borrow_mut().push(format!("displace {key}"));
        self.disk.borrow_mut().foreign.remove(key.as_str());
        Ok(())
    }

    fn discard(&mut self, key: &RecordKey) -> Result<(), SaveError> {
        if self.disk.borrow().sticks {
            return Err(self.stuck(key.as_str()));
        }
        self.stored(key.clone(), |store| store.discard(key))?;
        let mut disk = self.disk.borrow_mut();
        match key {
            RecordKey::Run(id) => drop(disk.runs.remove(id)),
            RecordKey::Pair(id) => drop(disk.pairs.remove(id)),
        }
        Ok(())
    }

    fn save_session(&mut self, key: &SessionKey, note: &SessionNote) -> Result<(), SaveError> {
        self.may_save(key.session_id.as_str())?;
        self.disk.borrow_mut().sessions.insert(key.clone(), note.clone());
        Ok(())
    }

    fn forget_session(&mut self, key: &SessionKey) -> Result<(), SaveError> {
        self.may_save(key.session_id.as_str())?;
        self.disk.borrow_mut().sessions.remove(key);
        Ok(())
    }

    fn append_event(&mut self, event: &Event) -> Result<(), SaveError> {
        if let Some(store) = &mut self.disk.borrow_mut().store {
            store.append_event(event)?;
        }
        self.journal.borrow_mut().push(format!("publish {:?}", event.kind));
        self.disk.borrow_mut().events.push(event.clone());
        Ok(())
    }

    fn append_decision(&mut self, decision: &Decision) -> Result<(), SaveError> {
        self.disk.borrow_mut().store.as_mut().map_or(Ok(()), |store| store.append_decision(decision))
    }
}
