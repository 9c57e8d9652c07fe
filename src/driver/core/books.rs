//! The records of a home in memory, by id, and who belongs to whom.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::kept::{Held, Kept, Trouble};
use crate::machine::pair::CHECKLIST;
use crate::model::ids::{PairId, RecordKey, Role, RunId, SessionKey, SessionRef};
use crate::model::pair::PairRecord;
use crate::model::run::{RunRecord, RunState};

/// Runs and pairs.
#[derive(Clone, Debug, Default)]
pub struct Books {
    runs: BTreeMap<RunId, Held<RunRecord>>,
    pairs: BTreeMap<PairId, Held<PairRecord>>,
}

/// A record type's place in the books.
pub trait Shelved: Kept {
    /// Where it is.
    fn held<'a>(books: &'a Books, key: &RecordKey) -> Option<&'a Held<Self>>;
    /// Where it is, to be changed.
    fn held_mut<'a>(books: &'a mut Books, key: &RecordKey) -> Option<&'a mut Held<Self>>;
    /// Puts a record in, or its newest state; troubles are over then.
    fn put(self, books: &mut Books);
}

impl Shelved for RunRecord {
    fn held<'a>(books: &'a Books, key: &RecordKey) -> Option<&'a Held<Self>> {
        match key {
            RecordKey::Run(id) => books.runs.get(id),
            RecordKey::Pair(_) => None,
        }
    }

    fn held_mut<'a>(books: &'a mut Books, key: &RecordKey) -> Option<&'a mut Held<Self>> {
        match key {
            RecordKey::Run(id) => books.runs.get_mut(id),
            RecordKey::Pair(_) => None,
        }
    }

    fn put(self, books: &mut Books) {
        match books.runs.get_mut(&self.id) {
            Some(held) => held.replace(self),
            None => drop(books.runs.insert(self.id.clone(), Held::new(self))),
        }
    }
}

impl Shelved for PairRecord {
    fn held<'a>(books: &'a Books, key: &RecordKey) -> Option<&'a Held<Self>> {
        match key {
            RecordKey::Pair(id) => books.pairs.get(id),
            RecordKey::Run(_) => None,
        }
    }

    fn held_mut<'a>(books: &'a mut Books, key: &RecordKey) -> Option<&'a mut Held<Self>> {
        match key {
            RecordKey::Pair(id) => books.pairs.get_mut(id),
            RecordKey::Run(_) => None,
        }
    }

    fn put(self, books: &mut Books) {
        match books.pairs.get_mut(&self.id) {
            Some(held) => held.replace(self),
            None => drop(books.pairs.insert(self.id.clone(), Held::new(self))),
        }
    }
}

impl<R: Kept> Held<R> {
    fn replace(&mut self, record: R) {
        self.record = record;
        self.times = self.times.wrapping_add(1);
        self.shown = None;
        self.trouble = None;
    }
}

impl Books {
    /// Those of a home.
    #[must_use]
    pub fn of(runs: Vec<RunRecord>, pairs: Vec<PairRecord>) -> Self {
        Self {
            runs: runs.into_iter().map(|run| (run.id.clone(), Held::new(run))).collect(),
            pairs: pairs.into_iter().map(|pair| (pair.id.clone(), Held::new(pair))).collect(),
        }
    }

    /// All runs.
    pub fn runs(&self) -> impl Iterator<Item = &Held<RunRecord>> {
        self.runs.values()
    }

    /// All pairs.
    pub fn pairs(&self) -> impl Iterator<Item = &Held<PairRecord>> {
        self.pairs.values()
    }

    /// A run.
    #[must_use]
    pub fn run(&self, id: &RunId) -> Option<&Held<RunRecord>> {
        self.runs.get(id)
    }

    /// A pair.
    #[must_use]
    pub fn pair(&self, id: &PairId) -> Option<&Held<PairRecord>> {
        self.pairs.get(id)
    }

    /// Whatever a record waits for by the clock, it is looked at now.
    pub fn wake_all(&mut self, now: Timestamp) {
        for held in self.runs.values_mut() {
            held.wake(now);
        }
        for held in self.pairs.values_mut() {
            held.wake(now);
        }
    }

    /// Takes a record out.
    pub fn remove(&mut self, key: &RecordKey) {
        match key {
            RecordKey::Run(id) => drop(self.runs.remove(id)),
            RecordKey::Pair(id) => drop(self.pairs.remove(id)),
        }
    }

    /// Whether an id is taken, by either kind.
    #[must_use]
    pub fn is_taken(&self, id: &str) -> bool {
        self.runs.contains_key(&RunId::from(id)) || self.pairs.contains_key(&PairId::from(id))
    }

    /// The revision on the disk; 0 for a record that is not there yet.
    #[must_use]
    pub fn revision(&self, key: &RecordKey) -> u64 {
        match key {
            RecordKey::Run(id) => self.runs.get(id).map_or(0, |held| held.record.revision),
            RecordKey::Pair(id) => self.pairs.get(id).map_or(0, |held| held.record.revision),
        }
    }

    /// The pairs a run made, that exist, oldest first, as machines see them.
    #[must_use]
    pub fn pairs_of(&self, run: &RunRecord) -> Vec<&PairRecord> {
        let mut ids: Vec<&PairId> = run.phases.iter().filter_map(|attempt| attempt.pair_id.as_ref()).collect();
        ids.extend(run.current_pair_id.as_ref());
        ids.extend(run.pending_pair_stop.as_ref());
        ids.extend(run.paused_pair.as_ref());
        ids.extend(run.pending.as_ref().map(|pending| &pending.create));
        ids.extend(run.pending.as_ref().and_then(|pending| pending.continues.as_ref()));
        let mut seen = BTreeSet::new();
        ids.into_iter().filter(|id| seen.insert(*id)).filter_map(|id| self.pairs.get(id)).map(Held::seen).collect()
    }

    /// The run a pair belongs to.
    #[must_use]
    pub fn owner(&self, pair: &PairRecord) -> Option<&Held<RunRecord>> {
        if pair.owner != CHECKLIST {
            return None;
        }
        self.runs.values().find(|held| names(&held.record, &pair.id))
    }

    /// Whether an active pair of a run is named by no active run.
    #[must_use]
    pub fn is_orphan(&self, pair: &PairRecord) -> bool {
        let runs: Vec<&RunRecord> = self.runs.values().map(|held| &held.record).collect();
        crate::machine::restart::orphans(&runs, &[pair]).contains(&pair.id)
    }

    /// Whether a pair's run is paused (or shown so): no step, no timer, no first byte of it.
    #[must_use]
    pub fn is_held_by_run(&self, pair: &PairRecord) -> bool {
        self.owner(pair).is_some_and(|held| held.seen().state == RunState::Paused && held.record.is_active())
    }

    /// The records with anything to look for.
    #[must_use]
    pub fn watched(&self) -> BTreeSet<RecordKey> {
        self.watched_where(|_| true)
    }

    fn watched_where(&self, of: impl Fn([&SessionRef; 2]) -> bool) -> BTreeSet<RecordKey> {
        let runs = self.runs.values().filter(|held| of(both(&held.record)) && held.is_watched());
        let pairs = self.pairs.values().filter(|held| of(both(&held.record)) && held.is_watched());
        runs.map(|held| held.record.key()).chain(pairs.map(|held| held.record.key())).collect()
    }

    /// The watched records that a session is a side of.
    #[must_use]
    pub fn with_session(&self, session: &SessionKey) -> BTreeSet<RecordKey> {
        self.watched_where(|sides| sides.iter().any(|side| side.is(session)))
    }

    /// The watched records whose implementer works in a folder.
    #[must_use]
    pub fn in_folder(&self, worktree: &str) -> BTreeSet<RecordKey> {
        self.watched_where(|[builder, _]| builder.worktree == worktree)
    }

    /// Implementer and reviewer of a record.
    #[must_use]
    pub fn sides(&self, key: &RecordKey) -> Option<[&SessionRef; 2]> {
        match key {
            RecordKey::Run(id) => self.runs.get(id).map(|held| both(&held.record)),
            RecordKey::Pair(id) => self.pairs.get(id).map(|held| both(&held.record)),
        }
    }

    /// What may change when a record did: itself, its run or its pairs, and others that share a session with it.
    #[must_use]
    pub fn related(&self, key: &RecordKey) -> BTreeSet<RecordKey> {
        let Some(sides) = self.sides(key) else { return BTreeSet::new() };
        let sides = sides.map(SessionRef::key);
        self.watched_where(|others| others.iter().any(|other| sides.iter().any(|side| other.is(side))))
    }

    /// Times at which records want to be looked at, or saves are tried again.
    pub fn wakes(&self) -> impl Iterator<Item = Timestamp> {
        let runs = self.runs.values().filter_map(wake);
        let pairs = self.pairs.values().filter_map(wake);
        runs.chain(pairs)
    }

    /// The records whose time has come; each is woken once.
    pub fn due(&mut self, now: Timestamp) -> BTreeSet<RecordKey> {
        let mut due = BTreeSet::new();
        due.extend(self.runs.values_mut().filter_map(|held| take_due(held, now)));
        due.extend(self.pairs.values_mut().filter_map(|held| take_due(held, now)));
        due
    }
}

/// Whether a run names a pair as one of its own.
fn names(run: &RunRecord, pair: &PairId) -> bool {
    run.current_pair_id.as_ref() == Some(pair)
        || run.phases.iter().any(|attempt| attempt.pair_id.as_ref() == Some(pair))
}

fn both<R: Kept>(record: &R) -> [&SessionRef; 2] {
    [record.session(Role::Implementer), record.session(Role::Reviewer)]
}

fn wake<R: Kept>(held: &Held<R>) -> Option<Timestamp> {
    match &held.trouble {
        None => held.wake_at,
        Some(Trouble::Unsaved { retry_at, .. }) => Some(*retry_at),
        Some(Trouble::Changed { .. }) => None,
    }
}

fn take_due<R: Kept>(held: &mut Held<R>, now: Timestamp) -> Option<RecordKey> {
    let at = wake(held)?;
    if at > now {
        return None;
    }
    held.wake_at = None;
    Some(held.record.key())
}
