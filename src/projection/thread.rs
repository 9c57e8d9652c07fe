//! The conversation of a record: both sides in time order, each relay under the answer it carries (`dashboard.md` §4).
//! Everything is kept; folding tool calls and thinking is the screen's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::facts::RecordFacts;
use super::words::{self, Labels};
use super::{Thread, ThreadEntry, ThreadKind, phases, record, reviews};
use crate::machine::ledger::{Ledger, Origin};
use crate::machine::sending::Sending;
use crate::model::conversation::{Conversation, Item, ItemKind, Outcome, Turn};
use crate::model::growing::Growing;
use crate::model::ids::{EntryId, MessageId, Role, SessionKey, SessionRef, TurnId};
use crate::model::outbox::{Entry, EntryState, Purpose};
use crate::model::pair::{PairRecord, Round};
use crate::model::run::Attempt;

/// The thread of a run or a pair.
#[must_use]
pub fn of_record(facts: &RecordFacts<'_>) -> Thread {
    let (Some(key), Some((builder, reviewer)), Some(labels)) =
        (facts.key(), record::sessions(facts), record::labels(facts))
    else {
        return Thread::default();
    };
    let mut lines = relay_lines(facts, &labels);
    let all: Vec<&Attempt> =
        facts.run.iter().flat_map(|run| phases::tried(run, &facts.pairs)).map(|phase| phase.first).collect();
    let (firsts, repeated) = by_turn(&all);
    let mut entries: Vec<(Option<Timestamp>, Vec<ThreadEntry>)> = Vec::new();
    for (role, session) in [(Role::Implementer, builder), (Role::Reviewer, reviewer)] {
        let Some(conversation) = facts.conversation(role) else { continue };
        let side =
            SideThread { role, label: labels.side(role), session: session.key(), conversation, ledger: facts.ledger };
        let attempts = if role == Role::Implementer { firsts.as_slice() } else { &[] };
        for (at, turn) in side.from(first_turn(facts, role, conversation)) {
            entries.extend(side.turn(at, turn, attempts, &mut lines));
        }
    }
    let left = lines.into_values().flatten().map(|line| (line.sort_at, vec![line.entry]));
    entries.extend(left);
    // Its relays count from 1 again: said where that begins, not at the turn whose answer is reviewed.
    entries.extend(repeated.into_iter().map(|attempt| {
        let at = Some(attempt.started_at);
        (at, vec![ThreadEntry { at, kind: ThreadKind::Again { n: attempt.n } }])
    }));
    entries.sort_by_key(|(at, _)| *at);
    let entries = in_order_of_sending(entries);
    let entries = entries.into_iter().flat_map(|(_, group)| group).collect();
    Thread { record: Some(key), session: None, entries, repeated: reviews::repeated(facts), begins_inside: false }
}

/// The thread of one session with what it was made of, so that the next one need not be made whole.
#[derive(Clone, Debug)]
pub struct Told {
    thread: Arc<Thread>,
    conversation: Arc<Conversation>,
    /// Of the ledger.
    changes: u64,
    /// The entry at which each turn begins.
    starts: Vec<usize>,
}

impl Told {
    /// Of a session. Turns and items that were told `before` are told as they were: the cost is that of what came since.
    #[must_use]
    pub fn of(session: &SessionRef, conversation: &Arc<Conversation>, ledger: &Ledger, before: Option<Self>) -> Self {
        let key = session.key();
        let is_of_it = |told: &Self| told.thread.session.as_ref() == Some(&key) && told.changes == ledger.changes();
        let mut told = before.filter(is_of_it).unwrap_or_else(|| Self {
            thread: Arc::new(Thread { session: Some(key.clone()), ..Thread::default() }),
            conversation: Arc::new(Conversation::new(conversation.agent)),
            changes: ledger.changes(),
            starts: Vec::new(),
        });
        let was = Arc::clone(&told.thread);
        let same = told.conversation.turns.same_start(&conversation.turns);
        // A turn that went on keeps its beginning.
        let (old, new) = (told.conversation.turns.get(same), conversation.turns.get(same));
        let mut items = old
            .zip(new)
            .filter(|(old, new)| old.id == new.id && old.prompt == new.prompt)
            .map(|(old, new)| old.items.same_start(&new.items));
        if let Some(start) = told.starts.get(same).copied() {
            Arc::make_mut(&mut told.thread).entries.truncate(items.map_or(start, |items| start + 1 + items));
        }
        told.starts.truncate(same);
        let side =
            SideThread { role: Role::Implementer, label: session.agent.as_str(), session: key, conversation, ledger };
        for (at, turn) in side.from(same) {
            let entries = &mut Arc::make_mut(&mut told.thread).entries;
            told.starts.push(items.map_or(entries.len(), |items| entries.len() - 1 - items));
            side.alone(at, turn, items.take(), entries);
        }
        if told.thread.begins_inside != conversation.begins_inside() {
            Arc::make_mut(&mut told.thread).begins_inside = conversation.begins_inside();
        }
        told.conversation = Arc::clone(conversation);
        if *told.thread == *was {
            // What changed is not to be seen.
            told.thread = was;
        }
        told
    }

    /// The thread.
    #[must_use]
    pub const fn thread(&self) -> &Arc<Thread> {
        &self.thread
    }
}

/// A relay stands under the answer that it carries, wherever it was sent; a message of ours that went out before it, and
/// after that answer, comes between the two.
fn in_order_of_sending(groups: Vec<Group>) -> Vec<Group> {
    let mut ordered: Vec<Group> = Vec::new();
    for (at, group) in groups {
        let is_line = |entry: &ThreadEntry| matches!(entry.kind, ThreadKind::Relay { .. });
        let free = group.iter().all(is_line);
        match ordered.last_mut() {
            Some((_, before)) if free && before.iter().any(|entry| is_line(entry) && entry.at > at) => {
                let place = before.iter().position(|entry| is_line(entry) && entry.at > at).unwrap_or(before.len());
                before.splice(place..place, group);
            }
            _ => ordered.push((at, group)),
        }
    }
    ordered
}

/// Attempts that begin a phase, and those that review one once more.
fn by_turn<'a>(attempts: &[&'a Attempt]) -> (Vec<&'a Attempt>, Vec<&'a Attempt>) {
    let mut seen = BTreeSet::new();
    attempts.iter().copied().partition(|attempt| seen.insert(attempt.n))
}

fn phase_begins(at: Option<Timestamp>, attempt: &Attempt) -> ThreadEntry {
    ThreadEntry { at, kind: ThreadKind::Phase { n: attempt.n, summary: words::as_name(&attempt.summary) } }
}

/// A message of trellis, before its place in the thread is known.
struct RelayLine {
    sort_at: Option<Timestamp>,
    entry: ThreadEntry,
}

/// Where a relay line belongs: under a message of a side.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Under(Role, TurnId, Option<MessageId>),
    Free(EntryId),
}

/// The first turn of a side that belongs to the record: the one it began with, or the first after its creation.
fn first_turn(facts: &RecordFacts<'_>, role: Role, conversation: &Conversation) -> usize {
    let created = facts.run.map(|run| run.created_at).or_else(|| facts.pair.map(|pair| pair.created_at));
    let by_time = conversation
        .turns
        .iter()
        .position(|turn| turn.prompt.record.at.zip(created).is_none_or(|(at, created)| at >= created))
        .unwrap_or(conversation.turns.len());
    let known = match role {
        Role::Implementer => first_source(facts),
        Role::Reviewer => None,
    };
    known.and_then(|turn| conversation.turn_index(turn)).map_or(by_time, |at| at.min(by_time))
}

/// The turn whose answer was carried first.
fn first_source<'a>(facts: &RecordFacts<'a>) -> Option<&'a TurnId> {
    let of_run = facts.run.and_then(|run| run.phases.iter().find_map(|attempt| attempt.turn_id.as_ref()));
    let of_pair = facts.pair.and_then(|pair| pair.rounds.first().and_then(|round| round.source_turn_id.as_ref()));
    of_run.or(of_pair)
}

/// Every message of the record, by the place it belongs to.
fn relay_lines(facts: &RecordFacts<'_>, labels: &Labels) -> BTreeMap<Place, Vec<RelayLine>> {
    let mut lines: BTreeMap<Place, Vec<RelayLine>> = BTreeMap::new();
    if let Some(run) = facts.run {
        for entry in &run.outbox {
            let (place, line) = entry_line(entry, None, Sending::of(entry, &run.outbox, Some(run)), labels);
            lines.entry(place).or_default().push(line);
        }
    }
    let mut pairs: Vec<&PairRecord> = facts.pairs.clone();
    if let Some(pair) = facts.pair.filter(|pair| !pairs.iter().any(|other| other.id == pair.id)) {
        pairs.push(pair);
    }
    for pair in pairs {
        let mut told: Vec<&EntryId> = Vec::new();
        for entry in &pair.outbox {
            let round = pair.rounds.iter().find(|round| round.entry.as_ref() == Some(&entry.id));
            let n = round.map(|round| round.n).or_else(|| record::relay_number(entry, pair));
            let (place, line) = entry_line(entry, n, Sending::of(entry, &pair.outbox, None), labels);
            lines.entry(place).or_default().push(line);
            told.push(&entry.id);
        }
        for round in pair.rounds.iter().filter(|round| round.entry.as_ref().is_none_or(|id| !told.contains(&id))) {
            let (place, line) = round_line(round, pair, labels);
            lines.entry(place).or_default().push(line);
        }
    }
    lines
}

fn entry_line(entry: &Entry, n: Option<u32>, sending: Sending, labels: &Labels) -> (Place, RelayLine) {
    let source = (entry.purpose.is_relay()).then_some(entry.source_turn_id.as_ref()).flatten();
    let place = source.map_or_else(
        || Place::Free(entry.id.clone()),
        |turn| Place::Under(entry.target.other(), turn.clone(), entry.source_message_id.clone()),
    );
    let sort_at = entry.last_key_at.or(entry.attempt_at).or(Some(entry.prepared_at));
    let kind = ThreadKind::Relay {
        n,
        purpose: entry.purpose,
        what: n.map_or_else(|| sending.done(labels.side(entry.target)), |n| relay(n, labels.side(entry.target))),
        to: entry.target,
        label: labels.side(entry.target).to_owned(),
        sent_at: entry.last_key_at,
        seen_at: entry.delivered_at,
        state: entry.state,
        edited: entry.edited,
        text: entry.text.inline.clone(),
        original: entry.original.as_ref().map(|text| text.inline.clone()).filter(|text| !text.is_empty()),
    };
    (place, RelayLine { sort_at, entry: ThreadEntry { at: sort_at, kind } })
}

/// A relay whose entry has moved out of the record.
fn round_line(round: &Round, pair: &PairRecord, labels: &Labels) -> (Place, RelayLine) {
    let to = round.direction.target();
    let place = round.source_turn_id.as_ref().map_or_else(
        || Place::Free(EntryId::new(format!("{}#{}", pair.id, round.n))),
        |turn| Place::Under(to.other(), turn.clone(), round.source_message_id.clone()),
    );
    let kind = ThreadKind::Relay {
        n: Some(round.n),
        purpose: if to == Role::Reviewer { Purpose::ToReviewer } else { Purpose::ToImplementer },
        what: relay(round.n, labels.side(to)),
        to,
        label: labels.side(to).to_owned(),
        sent_at: None,
        seen_at: Some(round.at),
        state: EntryState::Delivered,
        edited: round.edited,
        text: round.text.inline.clone(),
        original: None,
    };
    (place, RelayLine { sort_at: Some(round.at), entry: ThreadEntry { at: Some(round.at), kind } })
}

fn relay(n: u32, label: &str) -> String {
    format!("relay {n} to {label}")
}

/// One side's part of a thread.
struct SideThread<'a> {
    role: Role,
    label: &'a str,
    session: SessionKey,
    conversation: &'a Conversation,
    ledger: &'a Ledger,
}

type Group = (Option<Timestamp>, Vec<ThreadEntry>);

impl<'a> SideThread<'a> {
    /// Its turns from a position on.
    fn from(&self, first: usize) -> impl Iterator<Item = (usize, &'a Turn)> + use<'a> {
        self.conversation.turns.iter().enumerate().skip(first)
    }

    /// One turn, as groups that keep together when both sides are put in time order.
    fn turn(
        &self,
        at: usize,
        turn: &Turn,
        attempts: &[&Attempt],
        lines: &mut BTreeMap<Place, Vec<RelayLine>>,
    ) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut time = turn.prompt.record.at;
        let mut head = Vec::new();
        for attempt in attempts.iter().filter(|attempt| attempt.turn_id.as_ref() == Some(&turn.id)) {
            head.push(phase_begins(time, attempt));
        }
        if self.is_human(at) {
            head.push(self.human(turn));
        }
        groups.push((time, head));
        for item in &turn.items {
            time = item.at.or(time).max(time);
            let mut group = vec![self.said(item)];
            if let ItemKind::Text { message_id, .. } = &item.kind
                && is_last_of_message(turn, item, message_id)
            {
                group.extend(self.take(lines, turn, Some(message_id)));
            }
            groups.push((time, group));
        }
        let mut tail = self.take(lines, turn, None);
        tail.extend(self.ended(turn, || time));
        groups.push((turn.ended_at.or(time).max(time), tail));
        groups.retain(|(_, group)| !group.is_empty());
        groups
    }

    /// One turn where nothing of another side stands beside it: its prompt, an entry for each item, its end. With `told`
    /// the prompt and so many items stand there already.
    fn alone(&self, at: usize, turn: &Turn, told: Option<usize>, entries: &mut Growing<ThreadEntry>) {
        if told.is_none() {
            let is_cut = at == 0 && self.conversation.begins_inside();
            entries.push(if is_cut {
                let words = "what was said before is read when you come here".to_owned();
                ThreadEntry {
                    at: None,
                    kind: ThreadKind::Ended { role: self.role, label: self.label.to_owned(), words },
                }
            } else if self.is_human(at) {
                self.human(turn)
            } else {
                let (role, label, text) = (self.role, self.label.to_owned(), turn.prompt.text.clone());
                ThreadEntry { at: turn.prompt.record.at, kind: ThreadKind::Carried { role, label, text } }
            });
        }
        entries.extend(turn.items.iter().skip(told.unwrap_or(0)).map(|item| self.said(item)));
        let newest = || turn.items.iter().map(|item| item.at).fold(turn.prompt.record.at, Option::max);
        entries.extend(self.ended(turn, newest));
    }

    fn is_human(&self, at: usize) -> bool {
        self.ledger.origin(&self.session, self.conversation, at) == Origin::Human
    }

    fn human(&self, turn: &Turn) -> ThreadEntry {
        let (role, label, text) = (self.role, self.label.to_owned(), turn.prompt.text.clone());
        ThreadEntry { at: turn.prompt.record.at, kind: ThreadKind::Human { role, label, text } }
    }

    fn ended(&self, turn: &Turn, newest: impl FnOnce() -> Option<Timestamp>) -> Option<ThreadEntry> {
        let words = turn.outcome.as_ref().and_then(|outcome| ending(turn, outcome))?;
        let kind = ThreadKind::Ended { role: self.role, label: self.label.to_owned(), words };
        Some(ThreadEntry { at: turn.ended_at.or_else(newest), kind })
    }

    fn said(&self, item: &Item) -> ThreadEntry {
        let kind = ThreadKind::Said { role: self.role, label: self.label.to_owned(), item: item.clone() };
        ThreadEntry { at: item.at, kind }
    }

    fn take(
        &self,
        lines: &mut BTreeMap<Place, Vec<RelayLine>>,
        turn: &Turn,
        message: Option<&MessageId>,
    ) -> Vec<ThreadEntry> {
        let place = Place::Under(self.role, turn.id.clone(), message.cloned());
        lines.remove(&place).into_iter().flatten().map(|line| line.entry).collect()
    }
}

/// How a turn ended, when that needs words; those that stand above it as the agent's own are not said again.
fn ending(turn: &Turn, outcome: &Outcome) -> Option<String> {
    if let Outcome::Failed(failure) = outcome {
        let said =
            |item: &Item| matches!(&item.kind, ItemKind::Text { text, .. } if text.trim() == failure.text.trim());
        if turn.items.iter().any(said) {
            return Some(words::failure_class(failure.class).to_owned());
        }
    }
    words::ending(outcome)
}

/// A message may have several text blocks; the relay stands under the last.
fn is_last_of_message(turn: &Turn, item: &Item, message: &MessageId) -> bool {
    let last = turn
        .items
        .iter()
        .rev()
        .find(|other| matches!(&other.kind, ItemKind::Text { message_id, .. } if message_id == message));
    last.is_some_and(|last| last.offset == item.offset && last.kind == item.kind)
}

#[cfg(test)]
#[path = "thread_tests.rs"]
mod tests;
