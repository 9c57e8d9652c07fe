//! Rows of runs and sessions as they were made last: one is made anew when what it is made of is another, or its record was
//! looked at since. The cost of a projection is that of what changed. What a row says is the projection's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::Core;
use super::kept::{Held, Kept, Trouble};
use super::orders::seen_revision;
use super::sessions::Known;
use crate::driver::ports::{Agents, Records, Transcripts};
use crate::machine::pair;
use crate::model::growing::Growing;
use crate::model::ids::{RecordKey, Role, SessionKey, SessionRef};
use crate::model::pair::PairRecord;
use crate::model::run::RunRecord;
use crate::projection::facts::{Facts, KnownSessions, SessionFacts};
use crate::projection::sessions::{Rows, Taken};
use crate::projection::{RunView, SessionView, build, record, sessions};

/// What was made last.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    runs: BTreeMap<RecordKey, Made>,
    sessions: Rows,
    looked_at: BTreeSet<RecordKey>,
    count: u64,
}

impl Drawn {
    /// Nothing is as it was.
    pub fn forget(&mut self) {
        self.runs.clear();
    }

    /// A record was looked at.
    pub fn looked_at(&mut self, record: &RecordKey) {
        if !self.looked_at.contains(record) {
            self.looked_at.insert(record.clone());
        }
    }

    /// The row of a record, as it was or anew. `None`: there is nothing to be shown.
    fn row(&mut self, key: &RecordKey, of: Inputs, view: impl FnOnce() -> Option<RunView>) -> Option<Made> {
        let before = self.runs.remove(key).filter(|made| made.of.are(&of) && !of.hold(&self.looked_at));
        before.or_else(|| {
            self.count += 1;
            Some(Made { of, row: Arc::new(view()?), numbered: None })
        })
    }

    /// How many rows of runs and of sessions were made since the start.
    #[must_use]
    pub const fn made(&self) -> (u64, u64) {
        (self.count, self.sessions.count)
    }
}

/// A row, and what it was made of.
#[derive(Clone, Debug)]
struct Made {
    of: Inputs,
    row: Arc<RunView>,
    /// The same with the number that tells it from its namesakes.
    numbered: Option<(usize, Arc<RunView>)>,
}

/// Everything that a row is made of beside the time. Two that are equal give the same row.
#[derive(Clone, Debug)]
struct Inputs {
    records: Vec<RecordInput>,
    sides: [SideInput; 2],
    /// What is known of the builder's work tree.
    tree: u64,
}

/// A record, as far as it differs from what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RecordInput {
    key: RecordKey,
    revision: u64,
    times: u64,
    trouble: Option<Trouble>,
}

/// A side of a record.
#[derive(Clone, Debug)]
struct SideInput {
    facts: Option<Arc<SessionFacts>>,
    /// What trellis sent there.
    ledger: u64,
    /// The session that may have taken its place.
    newer: Option<SessionRef>,
    /// The session that has taken it, as it was found.
    follows: Option<Arc<SessionView>>,
}

impl Inputs {
    fn are(&self, other: &Self) -> bool {
        self.records == other.records
            && self.tree == other.tree
            && self.sides.iter().zip(&other.sides).all(|(one, other)| one.is(other))
    }

    fn hold(&self, looked_at: &BTreeSet<RecordKey>) -> bool {
        self.records.iter().any(|record| looked_at.contains(&record.key))
    }
}

impl SideInput {
    fn is(&self, other: &Self) -> bool {
        is_same(self.facts.as_ref(), other.facts.as_ref())
            && is_same(self.follows.as_ref(), other.follows.as_ref())
            && self.ledger == other.ledger
            && self.newer == other.newer
    }
}

fn is_same<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

impl RecordInput {
    fn of<K: Kept>(held: &Held<K>) -> Self {
        Self {
            key: held.record.key(),
            revision: held.record.revision(),
            times: held.times,
            trouble: held.trouble.clone(),
        }
    }
}

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Runs, pairs without a run, and what is only shown.
    pub(super) fn run_rows(&self, drawn: &mut Drawn, facts: &Facts<'_>, now: Timestamp) -> Growing<RunView> {
        let mut rows: Vec<Arc<RunView>> = Vec::with_capacity(drawn.runs.len());
        let mut kept: Vec<Option<(RecordKey, Made)>> = Vec::with_capacity(drawn.runs.len());
        for held in self.books.runs() {
            let pair = self.current_pair(&held.record.id).map(|held| held.record.revision);
            let (key, of) = (held.record.key(), self.inputs_of_run(held));
            let made = drawn.row(&key, of, || {
                let mut view = record::view(&self.run_facts(held, now), facts)?;
                view.revision = seen_revision(view.revision, pair);
                Some(view)
            });
            kept.extend(made.map(|made| Some((key, made))));
        }
        for held in self.alone() {
            let (key, of) = (held.record.key(), self.inputs_of_pair(held));
            let made = drawn.row(&key, of, || record::view(&self.pair_facts(held, now), facts));
            kept.extend(made.map(|made| Some((key, made))));
        }
        rows.extend(kept.iter().flatten().map(|(_, made)| Arc::clone(&made.row)));
        // What is left is of records that are gone.
        drawn.runs.clear();
        drawn.looked_at.clear();
        for foreign in build::foreign(facts) {
            rows.push(Arc::new(foreign));
            kept.push(None);
        }
        let older = build::older_namesakes(&rows);
        for ((row, older), made) in rows.iter_mut().zip(older).zip(kept) {
            let Some((key, mut made)) = made else {
                *row = build::numbered(row, older);
                continue;
            };
            if made.numbered.as_ref().is_none_or(|(number, _)| *number != older) {
                made.numbered = Some((older, build::numbered(&made.row, older)));
            }
            if let Some((_, numbered)) = &made.numbered {
                *row = Arc::clone(numbered);
            }
            drawn.runs.insert(key, made);
        }
        Growing::of_shared(rows)
    }

    /// Every session.
    pub(super) fn session_rows(&self, drawn: &mut Drawn) -> Growing<SessionView> {
        let runs = self.books.runs().map(|held| taken(held.seen()));
        let records: Vec<Taken<'_>> = runs.chain(self.alone().map(|held| taken(held.seen()))).collect();
        sessions::list(&records, &self.found, &self.sessions, &mut drawn.sessions)
    }

    /// Pairs without a run.
    fn alone(&self) -> impl Iterator<Item = &Held<PairRecord>> {
        self.books.pairs().filter(|held| held.record.owner != pair::CHECKLIST)
    }

    fn inputs_of_run(&self, held: &Held<RunRecord>) -> Inputs {
        let run = held.seen();
        let pairs = self.books.pairs_of(run).into_iter().filter_map(|pair| self.books.pair(&pair.id));
        let records = std::iter::once(RecordInput::of(held)).chain(pairs.map(RecordInput::of)).collect();
        self.inputs(records, [&run.implementer, &run.reviewer])
    }

    fn inputs_of_pair(&self, held: &Held<PairRecord>) -> Inputs {
        let record = held.seen();
        let continued = record.continues.as_ref().and_then(|id| self.books.pair(id));
        let records = std::iter::once(RecordInput::of(held)).chain(continued.map(RecordInput::of)).collect();
        self.inputs(records, [&record.implementer, &record.reviewer])
    }

    fn inputs(&self, records: Vec<RecordInput>, sides: [&SessionRef; 2]) -> Inputs {
        let [builder, _] = sides;
        let tree = self.trees.changes_of(&builder.worktree);
        let sides = sides.map(|side| {
            let facts = self.sessions.of(&side.key()).cloned();
            let taken_by = facts.as_ref().and_then(|facts| facts.reach.as_ref()?.replaced_by.as_ref());
            let follows = taken_by.and_then(|(id, _)| self.found.iter().find(|found| found.session.session_id == *id));
            SideInput {
                follows: follows.map(|found| Arc::clone(found.row())),
                ledger: self.ledger.changes_of(&side.key()),
                newer: self.newer_in_folder(side).cloned(),
                facts,
            }
        });
        Inputs { records, sides, tree }
    }
}

fn taken<K: Kept>(record: &K) -> Taken<'_> {
    let sides = [record.session(Role::Implementer), record.session(Role::Reviewer)];
    Taken { key: record.key(), active: record.active(), sides }
}

impl KnownSessions for BTreeMap<SessionKey, Known> {
    fn of(&self, session: &SessionKey) -> Option<&Arc<SessionFacts>> {
        self.get(session).map(|known| known.facts.share())
    }

    fn all<'a>(&'a self) -> Box<dyn Iterator<Item = (&'a SessionKey, &'a Arc<SessionFacts>)> + 'a> {
        Box::new(self.iter().map(|(key, known)| (key, known.facts.share())))
    }
}
