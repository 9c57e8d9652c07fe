//! What is known of sessions: transcripts as read, observations as made, states as told. Nothing here decides for a loop.

use std::collections::BTreeSet;
use std::mem::discriminant;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::Core;
use super::shared::Shared;
use crate::driver::ports::{Agents, Job, Outcome, Records, TranscriptRead, Transcripts};
use crate::machine::{SentReport, TranscriptFact, session};
use crate::model::event::{Decision, Ground};
use crate::model::ids::{EntryId, RecordKey, SessionKey, SessionRef};
use crate::model::outbox::Entry;
use crate::model::pair::SCHEMA;
use crate::model::reach::{InFlight, ProbeAsk, ProcessFact, ProcessMark, Reach, Transport};
use crate::model::session::{SessionNote, SessionState};
use crate::projection::facts::SessionFacts;
use crate::projection::sessions::Listed;

/// Observations of one session are at least this far apart.
const PROBE_PAUSE: SignedDuration = SignedDuration::from_millis(250);
/// A state must hold this long before it is told: flicker is no transition.
const STEADY: SignedDuration = SignedDuration::from_secs(1);
/// How many sessions that no record uses are observed, newest first.
const OBSERVED: usize = 24;
/// And how many observations may run when another of those is begun.
const AT_ONCE: usize = 4;

/// One session.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// What screens are shown.
    pub facts: Shared<SessionFacts>,
    /// trellis keeps a file about it.
    pub noted: bool,
    /// Its transcript as last read.
    pub read: Option<TranscriptRead>,
    /// Its transcript as the last projection showed it.
    pub shown: Option<TranscriptRead>,
    /// The send sequence that runs: whose, and which entry.
    pub sending: Option<(RecordKey, EntryId)>,
    /// The observation that runs.
    probing: Option<ProbeAsk>,
    /// The clock was set back while it was under way: what it tells is told by another clock.
    probes_before: bool,
    /// When the last observation was begun.
    probed_at: Option<Timestamp>,
    /// An observation that must wait, and until when.
    probe_next: Option<(Timestamp, ProbeAsk)>,
    /// The note of a hook that tells what it asks for.
    pub(super) asked_in: Option<String>,
    /// The newest question that was answered: its note is done with.
    pub(super) answered_at: Option<Timestamp>,
    /// The state that was told last.
    told: Option<SessionState>,
    /// A state that differs from it, and since when it holds.
    candidate: Option<(SessionState, Timestamp)>,
    /// When the candidate is to be told.
    tell_at: Option<Timestamp>,
}

/// How far a session is that a person brings back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComingBack {
    /// Its program is being started.
    Resuming,
    /// Its program is on the session, and was not observed yet.
    Resumed,
}

impl Known {
    /// Whether its first observation is still under way.
    #[must_use]
    pub fn is_first_look(&self) -> bool {
        self.probing.is_some() && self.facts.reach.is_none()
    }

    /// An observation at a later time, unless another is due.
    pub fn look_again(&mut self, at: Timestamp, ask: ProbeAsk) {
        self.probe_next.get_or_insert((at, ask));
    }

    /// After a time in which nobody looked: observed anew as soon as anybody asks. What was seen before the clock was set
    /// back would pass for news.
    pub fn look_anew(&mut self, was_set_back: bool, now: Timestamp) {
        self.probed_at = None;
        if let Some((at, _)) = &mut self.probe_next {
            *at = now;
        }
        self.tell_at = self.tell_at.map(|_| now);
        if was_set_back {
            self.probes_before = self.probing.is_some();
            self.facts.reach = None;
            self.candidate = None;
            self.tell_at = None;
        }
    }

    /// When something is due here.
    #[must_use]
    pub fn wake(&self) -> Option<Timestamp> {
        let probe = self.probe_next.as_ref().filter(|_| self.probing.is_none()).map(|(at, _)| *at);
        [probe, self.tell_at].into_iter().flatten().min()
    }
}

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Reads a transcript to its end.
    pub(super) fn read(&mut self, session: &SessionRef, now: Timestamp) {
        let read = self.transcripts.read(session, now);
        self.took(session, read);
    }

    /// Takes in what was read.
    pub(super) fn took(&mut self, session: &SessionRef, read: TranscriptRead) {
        let key = session.key();
        let known = self.sessions.entry(key.clone()).or_default();
        let is_same = known.read.as_ref().is_some_and(|old| same_reading(old, &read));
        if !is_same {
            known.facts.conversation.clone_from(&read.conversation);
            known.facts.mark = match &read.fact {
                TranscriptFact::Present(mark) => Some(mark.clone()),
                TranscriptFact::NotYet | TranscriptFact::Deleted | TranscriptFact::Unreadable(_) => None,
            };
        }
        known.read = Some(read);
        if !is_same {
            self.screen.read_anew(key.clone());
            self.touched.insert(key);
            self.screen.outdate();
        }
    }

    /// Reads the transcript of a session that no record uses: of one that lives the state stands at its end. Those of records
    /// are read with their look.
    pub(super) fn read_unused(&mut self, key: &SessionKey, now: Timestamp) {
        if !self.books.with_session(key).is_empty() {
            return;
        }
        let found = self.found.iter().find(|found| found.session.is(key));
        if let Some(session) = found.map(|found| found.session.clone()) {
            let read = self.transcripts.read_to_show(&session, false, now);
            self.took(&session, read);
        }
    }

    /// Takes in what is kept about a session.
    pub(super) fn keep_note(&mut self, key: SessionKey, note: SessionNote) {
        self.agents.noted(&key, &note);
        let known = self.sessions.entry(key).or_default();
        known.facts.note = note;
        known.noted = true;
    }

    /// Lists the sessions below the agents' roots anew.
    pub(super) fn find_sessions(&mut self) {
        let (mut found, unread) = self.transcripts.sessions_so_far();
        if self.unread != unread {
            self.unread = unread;
            self.screen.outdate();
        }
        found.splice(0..0, self.begun_beside(&found));
        if !found.iter().eq(self.found.iter().map(|listed| &**listed)) {
            self.found = Listed::all(found, std::mem::take(&mut self.found));
            // Of equally new ones the last counts.
            let mut by_age: Vec<&Listed> = self.found.iter().collect();
            by_age.sort_by_key(|found| found.modified_at);
            let of_folder = |found: &Listed| (found.session.agent, found.session.worktree.clone());
            self.newest = by_age.into_iter().map(|found| (of_folder(found), found.session.clone())).collect();
            self.screen.outdate();
        }
    }

    /// Some transcripts may have changed.
    pub(super) fn hint(&mut self, now: Timestamp) {
        let changed = self.transcripts.changed();
        let mut is_new = self.unread > 0;
        for key in &changed {
            self.dirty.extend(self.books.with_session(key));
            is_new |= !self.found.iter().any(|found| found.session.is(key));
            let is_shown = self.screen.shows(key);
            if self.lives(key) {
                // What is shown is read as it is shown.
                if !is_shown {
                    self.read_unused(key, now);
                }
                self.observe(key, now);
            }
            if is_shown {
                self.read_shown(now);
            }
        }
        if is_new {
            self.find_sessions();
            // A first message names a session.
            for asked in self.launches.open().cloned().collect::<Vec<_>>() {
                self.observe(&asked, now);
            }
        }
        // One that was not seen to live shows by a write that it does: a screen must not wait for the tick to know.
        let newest = self.found.iter().take(OBSERVED).map(|found| found.session.key());
        for key in newest.filter(|key| changed.contains(key)).collect::<Vec<_>>() {
            if !self.lives(&key) {
                self.observe(&key, now);
            }
        }
        self.hear(now);
        if self.transcripts.signs() {
            self.observe_all(now);
        }
    }

    fn lives(&self, session: &SessionKey) -> bool {
        let reach = self.sessions.get(session).and_then(|known| known.facts.reach.as_ref());
        reach.is_some_and(|reach| matches!(reach.process, ProcessFact::Alive { .. }))
    }

    /// Observes every session in use; of the newest others those that live or were not looked at, as soon as there is time.
    /// One that was closed shows by a write or a sign when it is not any more, or is asked about when a person looks.
    pub(super) fn observe_used(&mut self, now: Timestamp) {
        let newest = self.found.iter().take(OBSERVED).map(|found| found.session.key());
        let was_seen = |key: &SessionKey| self.sessions.get(key).is_some_and(|known| known.facts.reach.is_some());
        let others: Vec<SessionKey> = newest.filter(|key| self.lives(key) || !was_seen(key)).collect();
        self.observe_with(others, now);
    }

    /// Observes every session in use, and the newest of the others.
    pub fn observe_all(&mut self, now: Timestamp) {
        let newest = self.found.iter().take(OBSERVED).map(|found| found.session.key()).collect();
        self.observe_with(newest, now);
        self.look_on(now);
    }

    fn observe_with(&mut self, others: Vec<SessionKey>, now: Timestamp) {
        let mut used: BTreeSet<SessionKey> = BTreeSet::new();
        for record in self.books.watched() {
            used.extend(self.books.sides(&record).into_iter().flatten().map(SessionRef::key));
        }
        // Those that were launched and have said nothing yet.
        let silent = self.sessions.iter().filter(|(key, known)| {
            known.facts.note.launch.is_some() && !self.found.iter().any(|found| found.session.is(key))
        });
        used.extend(silent.take(OBSERVED).map(|(key, _)| key.clone()));
        self.to_look = others.into_iter().filter(|key| !used.contains(key)).collect();
        for key in used {
            self.observe(&key, now);
        }
    }

    /// Observes some more of those that no record uses: each look costs a thread and a walk over the processes.
    pub(super) fn look_on(&mut self, now: Timestamp) {
        while !self.to_look.is_empty()
            && self.sessions.values().filter(|known| known.probing.is_some()).count() < AT_ONCE
        {
            if let Some(key) = self.to_look.pop_front() {
                self.observe(&key, now);
            }
        }
    }

    /// Observes a session, with the message in flight to it in view.
    pub(super) fn observe(&mut self, session: &SessionKey, now: Timestamp) {
        let ask = ProbeAsk { session: session.clone(), in_flight: self.in_flight_to(session), last_seen: None };
        self.probe(ask, now);
    }

    fn in_flight_to(&self, session: &SessionKey) -> Option<InFlight> {
        let entries = self.ledger.in_flight_to(session);
        let (record, id) = entries.first()?;
        let entry = self.entry(record, id)?;
        Some(entry.on_its_way())
    }

    fn entry(&self, record: &RecordKey, id: &EntryId) -> Option<&Entry> {
        let outbox = match record {
            RecordKey::Run(run) => &self.books.run(run)?.record.outbox,
            RecordKey::Pair(pair) => &self.books.pair(pair)?.record.outbox,
        };
        outbox.iter().find(|entry| &entry.id == id)
    }

    /// Begins an observation, or lets it wait for the one that runs.
    pub(super) fn probe(&mut self, mut ask: ProbeAsk, now: Timestamp) {
        if !self.options.observes || self.screen.follows() {
            return;
        }
        let pause = self.options.tempo.wait(PROBE_PAUSE);
        let known = self.sessions.entry(ask.session.clone()).or_default();
        ask.last_seen.clone_from(&known.facts.note.seen);
        if known.probing.as_ref() == Some(&ask) {
            return;
        }
        let free_at = known.probed_at.and_then(|at| at.checked_add(pause).ok()).filter(|at| *at > now);
        if known.probing.is_some() || free_at.is_some() {
            known.probe_next = Some((free_at.unwrap_or(now), ask));
            return;
        }
        known.probing = Some(ask.clone());
        known.probed_at = Some(now);
        known.probe_next = None;
        self.agents.begin(Job::Probe(ask));
    }

    /// A send sequence is over and its report is saved, or will never be.
    pub(super) fn sending_over(&mut self, record: &RecordKey, entry: &EntryId) {
        for known in self.sessions.values_mut() {
            if known.sending.as_ref().is_some_and(|(of, which)| of == record && which == entry) {
                known.sending = None;
                known.facts.sending = false;
            }
        }
    }

    /// A job ended.
    pub(super) fn outcome(&mut self, outcome: Outcome, now: Timestamp) {
        match outcome {
            Outcome::Probed(session, reach) => {
                let known = self.sessions.entry(session.clone()).or_default();
                if std::mem::take(&mut known.probes_before) {
                    if let Some(ask) = known.probing.take() {
                        known.look_again(now, ask);
                    }
                    self.due_sessions(now);
                    return;
                }
                let superseded =
                    known.probe_next.as_ref().is_some_and(|(_, next)| Some(next) != known.probing.as_ref());
                known.probing = None;
                let seen = reach.seen.clone();
                let lives = matches!(reach.process, ProcessFact::Alive { .. });
                let was = known.facts.reach.clone();
                if !superseded || known.facts.reach.is_none() {
                    known.observed(*reach);
                }
                // A loop that goes on must know whether a turn died with the process that is gone.
                let is_seen = lives || known.facts.note.transport == Some(Transport::Headless);
                self.tell_move(&session, was.as_ref(), now);
                self.keep_seen(&session, seen);
                if lives {
                    self.read_unused(&session, now);
                }
                self.dirty.extend(self.books.with_session(&session));
                self.touched.insert(session.clone());
                self.screen.outdate();
                self.due_sessions(now);
                self.follow_launch(&session, now);
                if is_seen && self.coming_back.get(&session) == Some(&ComingBack::Resumed) {
                    self.coming_back.remove(&session);
                    self.go_on_with(&session, now);
                }
            }
            Outcome::Sent { record, entry, session, enter_only, report } => {
                if self.books.sides(&record).is_none() {
                    self.sending_over(&record, &entry);
                }
                self.report(&record, SentReport { entry, enter_only, report });
                self.touched.insert(session);
            }
            Outcome::Git { worktree, mark } => {
                self.trees.asked.remove(&worktree);
                self.dirty.extend(self.books.in_folder(&worktree));
                self.trees.changed(&worktree);
                self.trees.seen.insert(worktree, (now, mark));
            }
            Outcome::Left(session) => self.observe(&session, now),
            Outcome::Lines { worktree, base, state } => {
                self.dirty.extend(self.books.in_folder(&worktree));
                self.trees.counted((worktree, base), now, state);
            }
            Outcome::BroughtBack(session, result) => self.brought_back(&session, result, now),
            Outcome::Launched(session, result) => self.launched(&session, result, now),
            Outcome::RunsAs(session, launch) => self.runs_as(&session, launch, now),
            Outcome::Copied(result) => match result {
                Ok(how) => self.notice(how, false, now),
                Err(why) => self.notice(format!("can't copy: {why}"), true, now),
            },
        }
    }

    /// Keeps which process holds a session that a record uses: only that proves, after a restart, that the process went
    /// over to another session meanwhile.
    fn keep_seen(&mut self, session: &SessionKey, seen: Option<ProcessMark>) {
        if seen.is_none() || !self.drives() || self.books.with_session(session).is_empty() {
            return;
        }
        let Some(known) = self.sessions.get_mut(session).filter(|known| known.facts.note.seen != seen) else { return };
        let note = SessionNote { schema: known.facts.note.schema.max(SCHEMA), seen, ..known.facts.note.clone() };
        match self.records.save_session(session, &note) {
            Ok(()) => known.facts.note = note,
            // The next observation tries again; until then a restart would only find the newer session's name.
            Err(error) => tracing::warn!(%error, %session, "the process of a session is not kept"),
        }
    }

    /// A line in the log of every record that uses a session; of a session that none uses, in the log alone.
    fn tell_of(&mut self, session: &SessionKey, what: &str, evidence: &str, now: Timestamp) {
        let users = self.books.with_session(session);
        let is_run = |key: &RecordKey| matches!(key, RecordKey::Run(_));
        let has_run = users.iter().any(is_run);
        let mut records: Vec<Option<String>> =
            users.iter().filter(|key| !has_run || is_run(key)).map(|key| Some(key.as_str().to_owned())).collect();
        if records.is_empty() {
            records.push(None);
        }
        for record in records {
            let (what, evidence) = (what.to_owned(), evidence.to_owned());
            self.tell(Decision { at: now, record, what, evidence, ground: Some(Ground::Seen), decided: true }, now);
        }
    }

    /// An agent that goes on elsewhere than where a person saw it: said once, with both places.
    fn tell_move(&mut self, session: &SessionKey, was: Option<&Reach>, now: Timestamp) {
        let is = self.sessions.get(session).and_then(|known| known.facts.reach.as_ref());
        let Some((was, is)) = was.zip(is) else { return };
        let lives = |reach: &Reach| matches!(reach.process, ProcessFact::Alive { .. });
        let in_terminal = |reach: &Reach| reach.transport == Some(Transport::Tmux) && !reach.place.is_empty();
        let is_used = !self.books.with_session(session).is_empty();
        if !self.drives()
            || !is_used
            || was.place == is.place
            || ![was, is].into_iter().all(|at| lives(at) && in_terminal(at))
        {
            return;
        }
        let what = format!("{} was in {} and is in {} now", session.agent, was.place, is.place);
        self.tell_of(session, &what, "an observation of its process and its pane", now);
    }

    fn brought_back(&mut self, session: &SessionKey, result: Result<String, String>, now: Timestamp) {
        let is_back = result.is_ok();
        if is_back {
            self.coming_back.insert(session.clone(), ComingBack::Resumed);
        } else {
            self.coming_back.remove(session);
        }
        let (what, evidence, is_error) = match result {
            Ok(how) => {
                (format!("brought {session} back: {how}"), "the agent's program was started on its session", false)
            }
            Err(why) => {
                (format!("can't bring {session} back: {why}"), "its program did not come up on this session", true)
            }
        };
        self.tell_of(session, &what, evidence, now);
        // What became of an order is news each time.
        self.notices.retain(|notice| notice.text != what);
        self.notice(what, is_error, now);
        let known = self.sessions.entry(session.clone()).or_default();
        if is_back {
            // What was seen of the dead program says nothing of the new one.
            known.facts.reach = None;
            known.facts.gone_since = None;
            known.facts.hindered_since = None;
            known.probed_at = None;
        }
        self.observe(session, now);
        self.dirty.extend(self.books.with_session(session));
    }

    /// Observations whose pause is over, states that have held long enough.
    pub(super) fn due_sessions(&mut self, now: Timestamp) {
        let probes: Vec<ProbeAsk> = self
            .sessions
            .values_mut()
            .filter(|known| known.probing.is_none() && known.probe_next.as_ref().is_some_and(|(at, _)| *at <= now))
            .filter_map(|known| known.probe_next.take().map(|(_, ask)| ask))
            .collect();
        for ask in probes {
            self.probe(ask, now);
        }
        let due = self.sessions.iter().filter(|(_, known)| known.tell_at.is_some_and(|at| at <= now));
        let due: Vec<SessionKey> = due.map(|(key, _)| key.clone()).collect();
        self.touched.extend(due);
    }

    /// States of the sessions that something was learnt of: shown at once, told once they are steady.
    pub(super) fn tell_states(&mut self, now: Timestamp) {
        let steady = self.options.tempo.wait(STEADY);
        let mut done = Vec::new();
        for key in std::mem::take(&mut self.touched) {
            let Some(known) = self.sessions.get_mut(&key) else { continue };
            let facts = &mut *known.facts;
            let (conversation, reach) = (facts.conversation.as_deref(), facts.reach.as_ref());
            let over = facts.asked.take_if(|asked| !session::still_asks(asked, conversation, reach));
            let mut view = session::state(conversation, reach, facts.asked.as_ref(), now);
            if let (SessionState::Gone, Some(since)) = (&view.state, facts.gone_since) {
                view.fact.since = Some(since);
            }
            if let Some(over) = over {
                known.answered_at = Some(over.at);
                done.extend(known.asked_in.take());
            }
            if facts.state.as_ref() != Some(&view.state) || facts.fact != view.fact {
                self.screen.outdate();
            }
            facts.fact = view.fact;
            facts.state = Some(view.state.clone());
            if let Some(word) = known.settle_state(view.state, now, steady) {
                self.publish_session(&key, word.to_owned(), now);
            }
        }
        if self.drives() && !done.is_empty() {
            self.records.forget_hook_notes(&done);
        }
    }
}

impl Known {
    /// Takes an observation in. What it sees first keeps its time for as long as every later one sees it too. When a
    /// process went is known only of one that was seen to live before.
    fn observed(&mut self, reach: Reach) {
        let facts = &mut *self.facts;
        let since = |known: Option<Timestamp>, holds: bool| holds.then(|| known.unwrap_or(reach.at));
        let lived = facts.reach.as_ref().is_some_and(|before| !session::is_gone(before));
        let went = facts.gone_since.or(lived.then_some(reach.at));
        facts.gone_since = went.filter(|_| session::is_gone(&reach));
        facts.hindered_since = since(facts.hindered_since, reach.ticks.missing().is_some());
        facts.reach = Some(reach);
    }

    /// Takes the newest state in; the word to be told when a change of it has held long enough.
    fn settle_state(&mut self, state: SessionState, now: Timestamp, steady: SignedDuration) -> Option<&'static str> {
        let Some(told) = &self.told else {
            self.told = Some(state);
            return None;
        };
        if is_same_kind(told, &state) {
            self.candidate = None;
            self.tell_at = None;
            return None;
        }
        let since = match &self.candidate {
            Some((candidate, since)) if is_same_kind(candidate, &state) => *since,
            Some(_) | None => now,
        };
        let at = since.checked_add(steady).unwrap_or(now);
        if at > now {
            self.candidate = Some((state, since));
            self.tell_at = Some(at);
            return None;
        }
        self.candidate = None;
        self.tell_at = None;
        let word = state.word();
        self.told = Some(state);
        Some(word)
    }
}

/// What it does in detail is no transition.
fn is_same_kind(one: &SessionState, other: &SessionState) -> bool {
    match (one, other) {
        (SessionState::NeedsYou(one), SessionState::NeedsYou(other)) => one == other,
        _ => discriminant(one) == discriminant(other),
    }
}

fn same_reading(old: &TranscriptRead, new: &TranscriptRead) -> bool {
    let same_conversation = match (&old.conversation, &new.conversation) {
        (Some(old), Some(new)) => Arc::ptr_eq(old, new) || (old.length == new.length && old == new),
        (None, None) => true,
        _ => false,
    };
    same_conversation && old.fact == new.fact
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
