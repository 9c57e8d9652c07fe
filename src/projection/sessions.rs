//! The list of sessions: those found under the roots, those of records, those a person said something about.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use super::SessionView;
use super::facts::{KnownSessions, SessionFacts};
use crate::driver::ports::FoundSession;
use crate::model::growing::Growing;
use crate::model::ids::{RecordKey, SessionKey, SessionRef};
use crate::model::outbox::TranscriptMark;
use crate::model::reach::ProcessFact;
use crate::model::session::{Need, SessionState, StateFact};

/// A session that was found, with its row as it is as long as nothing else is known of it: thousands are listed with each
/// projection, and little of them changes.
#[derive(Clone, Debug)]
pub struct Listed {
    found: FoundSession,
    key: SessionKey,
    row: Arc<SessionView>,
}

impl Deref for Listed {
    type Target = FoundSession;

    fn deref(&self) -> &FoundSession {
        &self.found
    }
}

impl Listed {
    /// One that was found.
    #[must_use]
    pub fn new(found: FoundSession) -> Self {
        let row = Arc::new(view(&found.session, Some(&found), None, None));
        Self { key: found.session.key(), found, row }
    }

    /// Its row as it is as long as nothing else is known of it: the same share as long as nothing else was found of it.
    #[must_use]
    pub const fn row(&self) -> &Arc<SessionView> {
        &self.row
    }

    /// All that were found, with the rows that they had before.
    #[must_use]
    pub fn all(found: Vec<FoundSession>, before: Vec<Self>) -> Vec<Self> {
        let mut before: BTreeMap<SessionKey, Self> =
            before.into_iter().map(|listed| (listed.key.clone(), listed)).collect();
        let mut again = |found: FoundSession| match before.remove(&found.session.key()) {
            Some(listed) if listed.found == found => listed,
            _ => Self::new(found),
        };
        found.into_iter().map(&mut again).collect()
    }
}

/// A record with its sides, as far as the list of sessions needs it.
#[derive(Clone, Debug)]
pub struct Taken<'a> {
    /// The record.
    pub key: RecordKey,
    /// Not stopped.
    pub active: bool,
    /// Implementer and reviewer.
    pub sides: [&'a SessionRef; 2],
}

/// The rows of the last list: what did not change is not made again.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    made: BTreeMap<SessionKey, Made>,
    /// How many were made since the beginning.
    pub count: u64,
}

/// A row, and what it was made of.
#[derive(Clone, Debug)]
struct Made {
    found: Option<Arc<SessionView>>,
    facts: Option<Arc<SessionFacts>>,
    user: Option<RecordKey>,
    worktree: String,
    row: Arc<SessionView>,
}

impl Rows {
    fn row(
        &mut self,
        session: &SessionRef,
        found: Option<&Listed>,
        facts: Option<&Arc<SessionFacts>>,
        user: Option<&RecordKey>,
    ) -> Arc<SessionView> {
        let key = session.key();
        if let Some(made) = self.made.get(&key).filter(|made| {
            same(made.found.as_ref(), found.map(|listed| &listed.row))
                && same(made.facts.as_ref(), facts)
                && made.user.as_ref() == user
                && made.worktree == session.worktree
        }) {
            return Arc::clone(&made.row);
        }
        self.count += 1;
        let row = Arc::new(view(session, found.map(|listed| &**listed), facts.map(|facts| &**facts), user));
        let made = Made {
            found: found.map(|listed| Arc::clone(&listed.row)),
            facts: facts.cloned(),
            user: user.cloned(),
            worktree: session.worktree.clone(),
            row: Arc::clone(&row),
        };
        self.made.insert(key, made);
        row
    }
}

fn same<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

/// Every session, newest activity first.
pub fn list(
    records: &[Taken<'_>],
    found: &[Listed],
    sessions: &dyn KnownSessions,
    rows: &mut Rows,
) -> Growing<SessionView> {
    let used = users(records);
    let mut seen: BTreeSet<&SessionKey> = BTreeSet::new();
    let mut list = Vec::with_capacity(found.len());
    for found in found {
        if seen.insert(&found.key) {
            list.push(match (sessions.of(&found.key), used.get(&found.key)) {
                (None, None) => Arc::clone(&found.row),
                (known, user) => rows.row(&found.session, Some(found), known, user.copied()),
            });
        }
    }
    let mut others: BTreeSet<SessionKey> = BTreeSet::new();
    for session in records.iter().flat_map(|record| record.sides) {
        let key = session.key();
        if !seen.contains(&key) && others.insert(key.clone()) {
            list.push(rows.row(session, None, sessions.of(&key), used.get(&key).copied()));
        }
    }
    // Those that were launched and have said nothing yet.
    for (key, known) in sessions.all() {
        let Some(launch) =
            known.note.launch.as_ref().filter(|_| is_live(known) && !seen.contains(key) && !others.contains(key))
        else {
            continue;
        };
        let worktree = launch.worktree.clone();
        let session = SessionRef { agent: key.agent, worktree, session_id: key.session_id.clone() };
        list.push(rows.row(&session, None, Some(known), used.get(key).copied()));
    }
    list.sort_by_key(|view| Reverse(view.active_at));
    if rows.made.len() > list.len().saturating_mul(2) {
        // Those of sessions that are gone.
        let listed: BTreeSet<SessionKey> = list.iter().map(|view| view.session.key()).collect();
        rows.made.retain(|key, _| listed.contains(key));
    }
    Growing::of_shared(list)
}

/// Which active record has which session.
fn users<'a>(records: &'a [Taken<'_>]) -> BTreeMap<SessionKey, &'a RecordKey> {
    let active = records.iter().filter(|record| record.active);
    active.flat_map(|record| record.sides.map(|side| (side.key(), &record.key))).collect()
}

fn view(
    session: &SessionRef,
    found: Option<&FoundSession>,
    facts: Option<&SessionFacts>,
    used_by: Option<&RecordKey>,
) -> SessionView {
    let reach = facts.and_then(|facts| facts.reach.as_ref());
    let conversation = facts.and_then(|facts| facts.conversation.as_deref());
    let live = facts.is_some_and(is_live);
    let name = facts.and_then(|facts| facts.note.name.clone()).filter(|name| !name.trim().is_empty());
    let title = name
        .or_else(|| conversation.and_then(|conversation| conversation.title.clone()))
        .map(Arc::from)
        .or_else(|| found.and_then(|found| found.title.clone()))
        .unwrap_or_else(|| session.session_id.as_str().into());
    let state = match facts.and_then(|facts| facts.state.clone()) {
        Some(SessionState::Idle) if used_by.is_none() => SessionState::NeedsYou(Need::AwaitingInput),
        Some(state) => state,
        None if live => SessionState::Idle,
        None => SessionState::NotLooked,
    };
    let spoken = conversation.and_then(|conversation| conversation.last_spoken_at);
    SessionView {
        session: session.clone(),
        title,
        state,
        fact: fact(facts, found),
        active_at: spoken.max(found.and_then(|found| found.modified_at)),
        transport: reach.and_then(|reach| reach.transport),
        place: reach.map(|reach| reach.place.clone()).unwrap_or_default(),
        live,
        used_by: used_by.cloned(),
        put_away: facts.is_some_and(|facts| facts.note.put_away_at.is_some()),
        branch: conversation
            .and_then(|conversation| conversation.branch.as_deref().map(Arc::from))
            .or_else(|| found.and_then(|found| found.branch.clone())),
        last_words: found.and_then(|found| found.last_words.clone()).unwrap_or_default(),
        path: found.map(|found| Arc::clone(&found.path)).or_else(|| facts.and_then(path_of)).unwrap_or_default(),
        agent: session.agent,
        launch: facts.and_then(|facts| facts.note.launch.clone()),
    }
}

/// A session that nobody holds is as it was when its transcript was written last, whether that was read or not: rows of
/// one kind say one kind of time. Of one that was seen to go the moment is known.
fn fact(facts: Option<&SessionFacts>, found: Option<&FoundSession>) -> StateFact {
    let mut fact = facts.map(|facts| facts.fact.clone()).unwrap_or_default();
    if facts.is_some_and(|facts| facts.state == Some(SessionState::Gone) && facts.gone_since.is_none()) {
        fact.since = found.and_then(|found| found.modified_at).or(fact.since);
    }
    fact
}

fn is_live(facts: &SessionFacts) -> bool {
    // A process that went over to another session lives, but not this session.
    facts.reach.as_ref().is_some_and(|reach| {
        reach.replaced_by.is_none() && (matches!(reach.process, ProcessFact::Alive { .. }) || reach.transport.is_some())
    })
}

fn path_of(facts: &SessionFacts) -> Option<Arc<str>> {
    facts.mark.as_ref().map(|TranscriptMark { path, .. }| path.as_str().into())
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
