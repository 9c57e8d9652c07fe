//! The list of sessions: those found under the roots, those of records, those a person said something about.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use super::SessionView;
use super::facts::{Facts, RecordFacts, SessionFacts};
use super::record;
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

/// Every session, newest activity first.
#[must_use]
pub fn list(facts: &Facts<'_>) -> Growing<SessionView> {
    let used = users(facts);
    let mut seen: BTreeSet<&SessionKey> = BTreeSet::new();
    let mut list = Vec::with_capacity(facts.found.len());
    for found in facts.found {
        if seen.insert(&found.key) {
            list.push(match (facts.sessions.get(&found.key), used.get(&found.key)) {
                (None, None) => Arc::clone(&found.row),
                (known, user) => Arc::new(view(&found.session, Some(found), known, user)),
            });
        }
    }
    let of_records = facts.records.iter().filter_map(record::sessions).flat_map(|(one, other)| [one, other]);
    let mut others: BTreeSet<SessionKey> = BTreeSet::new();
    for session in of_records {
        let key = session.key();
        if !seen.contains(&key) && others.insert(key.clone()) {
            list.push(Arc::new(view(session, None, facts.sessions.get(&key), used.get(&key))));
        }
    }
    // Those that were launched and have said nothing yet.
    for (key, known) in facts.sessions {
        let Some(launch) =
            known.note.launch.as_ref().filter(|_| is_live(known) && !seen.contains(key) && !others.contains(key))
        else {
            continue;
        };
        let worktree = launch.worktree.clone();
        let session = SessionRef { agent: key.agent, worktree, session_id: key.session_id.clone() };
        list.push(Arc::new(view(&session, None, Some(known), used.get(key))));
    }
    list.sort_by_key(|view| Reverse(view.active_at));
    Growing::of_shared(list)
}

/// Which active record has which session.
fn users(facts: &Facts<'_>) -> BTreeMap<SessionKey, RecordKey> {
    let mut used = BTreeMap::new();
    for one in facts.records.iter().filter(|one| is_active(one)) {
        if let (Some(key), Some((builder, reviewer))) = (one.key(), record::sessions(one)) {
            used.insert(builder.key(), key.clone());
            used.insert(reviewer.key(), key);
        }
    }
    used
}

fn is_active(one: &RecordFacts<'_>) -> bool {
    one.run.map_or_else(
        || one.pair.is_some_and(crate::model::pair::PairRecord::is_active),
        crate::model::run::RunRecord::is_active,
    )
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
