//! Every outbox entry of this home, so that a prompt's origin can be told: ours (whose, which entry) or human.
//! It is built from records and decides nothing about a loop.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::conversation::{Conversation, Turn};
use crate::model::ids::{EntryId, MessageId, RecordKey, Role, SessionKey, SessionRef, TurnId};
use crate::model::outbox::{Entry, TranscriptMark};
use crate::model::pair::{FormerParticipant, PairRecord};
use crate::model::run::RunRecord;
use crate::model::text::fold;

/// Fewer characters than this after folding, and a text found inside a longer one proves nothing.
const TELLING: usize = 40;

/// See the module. Cheap to keep up to date: adding a record again replaces what it held before.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    records: BTreeMap<RecordKey, Held>,
    of_session: BTreeMap<SessionKey, OfSession>,
    changes: u64,
}

/// What concerns one session.
#[derive(Clone, Debug, Default)]
struct OfSession {
    /// Records that have it, or had it, as a side or a target.
    records: BTreeSet<RecordKey>,
    /// How often one of them was taken in or forgotten.
    changes: u64,
}

/// What is kept of one record.
#[derive(Clone, Debug)]
struct Held {
    active: bool,
    sides: [SessionKey; 2],
    lines: BTreeMap<EntryId, Line>,
}

/// What is kept of one entry.
#[derive(Clone, Debug)]
struct Line {
    session: SessionKey,
    sha256: Arc<str>,
    sent_text: Option<String>,
    folded: Arc<str>,
    /// Turns it is known to have begun: its delivery, then further copies.
    delivered: Option<TurnId>,
    duplicates: Vec<TurnId>,
    source: Option<(TurnId, MessageId)>,
    mark: Option<TranscriptMark>,
    in_flight: bool,
    /// Whether a second copy of a delivered entry can be: it was typed more than once, or a person may have pasted it.
    repeatable: bool,
    touched: bool,
    since: Timestamp,
}

/// Who a prompt came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The delivery of this entry.
    Ours {
        /// Whose.
        record: RecordKey,
        /// Which.
        entry: EntryId,
    },
    /// Another copy of an entry that is delivered elsewhere or was given up.
    LateCopy {
        /// Whose.
        record: RecordKey,
        /// Which.
        entry: EntryId,
    },
    /// A person.
    Human,
}

/// How a text stands in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// Nothing else.
    Equal,
    /// Inside a longer text.
    Inside,
}

impl Ledger {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a run, or its newest state.
    pub fn add_run(&mut self, record: &RunRecord) {
        let sides = [&record.implementer, &record.reviewer];
        let key = RecordKey::Run(record.id.clone());
        self.add(key, record.is_active(), sides, &record.participants_history, &record.outbox);
    }

    /// Takes in a pair, or its newest state.
    pub fn add_pair(&mut self, record: &PairRecord) {
        let sides = [&record.implementer, &record.reviewer];
        let key = RecordKey::Pair(record.id.clone());
        self.add(key, record.is_active(), sides, &record.participants_history, &record.outbox);
    }

    /// How often anything of it was taken in or forgotten: as long as that stays, so do its answers about a prompt.
    #[must_use]
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// The same of what concerns one session.
    #[must_use]
    pub fn changes_of(&self, session: &SessionKey) -> u64 {
        self.of_session.get(session).map_or(0, |of| of.changes)
    }

    /// Forgets a record that was discarded.
    pub fn remove(&mut self, record: &RecordKey) {
        self.changes += 1;
        if let Some(held) = self.records.remove(record) {
            for session in held.sessions() {
                let of = self.of_session.entry(session.clone()).or_default();
                of.changes += 1;
                of.records.remove(record);
            }
        }
    }

    fn add(
        &mut self,
        key: RecordKey,
        active: bool,
        sides: [&SessionRef; 2],
        former: &[FormerParticipant],
        outbox: &[Entry],
    ) {
        self.changes += 1;
        // Entries that moved out of the record stay known.
        let before = self.records.remove(&key);
        let mut concerned: BTreeSet<SessionKey> = before.iter().flat_map(Held::sessions).cloned().collect();
        let mut lines = before.map(|held| held.lines).unwrap_or_default();
        for entry in outbox {
            let before = lines.remove(&entry.id);
            let [implementer, reviewer] = sides;
            let side = if entry.target == Role::Implementer { implementer } else { reviewer };
            let session = FormerParticipant::session_of(entry, former, side);
            lines.insert(entry.id.clone(), Line::of(entry, session, before));
        }
        let held = Held { active, sides: sides.map(SessionRef::key), lines };
        concerned.extend(held.sessions().cloned());
        for session in concerned {
            let of = self.of_session.entry(session).or_default();
            of.changes += 1;
            of.records.insert(key.clone());
        }
        self.records.insert(key, held);
    }

    /// Where the prompt of turn `index` came from.
    #[must_use]
    pub fn origin(&self, session: &SessionKey, conversation: &Conversation, index: usize) -> Origin {
        let Some(turn) = conversation.turns.get(index) else { return Origin::Human };
        if let Some(origin) = self.known(session, &turn.id) {
            return origin;
        }
        if let Some((record, entry, _)) =
            self.claims(session, conversation).into_iter().find_map(|(at, claim)| (at == index).then_some(claim))
        {
            return Origin::Ours { record, entry };
        }
        self.copy(session, conversation, turn).unwrap_or(Origin::Human)
    }

    /// The prompt that proves an entry in flight to be delivered, and how its text stands in it.
    #[must_use]
    pub fn delivery_of(
        &self,
        record: &RecordKey,
        entry: &EntryId,
        session: &SessionKey,
        conversation: &Conversation,
    ) -> Option<(usize, Likeness)> {
        self.claims(session, conversation)
            .into_iter()
            .find(|(_, (whose, which, _))| whose == record && which == entry)
            .map(|(index, (_, _, likeness))| (index, likeness))
    }

    /// Entries in flight to a session, of any record, oldest first.
    #[must_use]
    pub fn in_flight_to(&self, session: &SessionKey) -> Vec<(&RecordKey, &EntryId)> {
        self.flying(session).into_iter().map(|(record, entry, _)| (record, entry)).collect()
    }

    /// Active records that have this session as a side.
    #[must_use]
    pub fn active_with(&self, session: &SessionKey) -> Vec<&RecordKey> {
        self.with(session).filter(|(_, held)| held.active && held.sides.contains(session)).map(|(key, _)| key).collect()
    }

    /// Whether a record of this name is known.
    #[must_use]
    pub fn holds(&self, record: &RecordKey) -> bool {
        self.records.contains_key(record)
    }

    /// Whether trellis relayed this answer before.
    #[must_use]
    pub fn relayed(&self, turn: &TurnId, message: &MessageId) -> bool {
        self.lines().any(|(_, _, line)| {
            line.delivered.is_some() && line.source.as_ref().is_some_and(|(t, m)| t == turn && m == message)
        })
    }

    fn lines(&self) -> impl Iterator<Item = (&RecordKey, &EntryId, &Line)> {
        self.records.iter().flat_map(|(key, held)| held.lines.iter().map(move |(entry, line)| (key, entry, line)))
    }

    /// Records that a session concerns, in the order of their keys.
    fn with(&self, session: &SessionKey) -> impl Iterator<Item = (&RecordKey, &Held)> {
        let of = self.of_session.get(session).into_iter().flat_map(|of| &of.records);
        of.filter_map(|key| self.records.get_key_value(key))
    }

    /// Entries whose target is a session.
    fn lines_to(&self, session: &SessionKey) -> impl Iterator<Item = (&RecordKey, &EntryId, &Line)> {
        self.with(session)
            .flat_map(|(key, held)| held.lines.iter().map(move |(entry, line)| (key, entry, line)))
            .filter(move |(_, _, line)| &line.session == session)
    }

    fn flying(&self, session: &SessionKey) -> Vec<(&RecordKey, &EntryId, &Line)> {
        let mut flying: Vec<_> = self.lines_to(session).filter(|(_, _, line)| line.in_flight).collect();
        flying.sort_by_key(|(_, _, line)| line.since);
        flying
    }

    /// An entry that is known to have begun this turn.
    fn known(&self, session: &SessionKey, turn: &TurnId) -> Option<Origin> {
        self.lines_to(session).find_map(|(record, entry, line)| {
            let (record, entry) = (record.clone(), entry.clone());
            if line.delivered.as_ref() == Some(turn) {
                Some(Origin::Ours { record, entry })
            } else if line.duplicates.contains(turn) {
                Some(Origin::LateCopy { record, entry })
            } else {
                None
            }
        })
    }

    /// Prompts that no entry has claimed yet, each given to at most one entry in flight: the oldest that it can prove.
    fn claims(
        &self,
        session: &SessionKey,
        conversation: &Conversation,
    ) -> Vec<(usize, (RecordKey, EntryId, Likeness))> {
        let mut flying = self.flying(session);
        let Some(from) = flying.iter().filter_map(|(_, _, line)| line.from(conversation)).min() else {
            return Vec::new();
        };
        let first = conversation.turns.partition_point(|turn| turn.prompt.record.offset < from);
        let mut claims = Vec::new();
        for (index, turn) in conversation.turns.iter().enumerate().skip(first) {
            if flying.is_empty() {
                break;
            }
            if self.known(session, &turn.id).is_some() {
                continue;
            }
            let folded = fold(&turn.prompt.text);
            let found = flying.iter().enumerate().find_map(|(at, (_, _, line))| {
                line.covers(conversation, turn)
                    .then(|| likeness(&line.folded, &folded))
                    .flatten()
                    .map(|like| (at, like))
            });
            if let Some((at, like)) = found {
                let (record, entry, _) = flying.remove(at);
                claims.push((index, (record.clone(), entry.clone(), like)));
            }
        }
        claims
    }

    /// An entry of which this prompt is a further copy.
    fn copy(&self, session: &SessionKey, conversation: &Conversation, turn: &Turn) -> Option<Origin> {
        let folded = fold(&turn.prompt.text);
        self.lines_to(session)
            .filter(|(_, _, line)| line.touched && line.covers(conversation, turn))
            .find(|(_, _, line)| match likeness(&line.folded, &folded) {
                // A short text that was typed once and arrived is more likely said again by a person.
                Some(Likeness::Equal) => {
                    line.delivered.is_none() || line.repeatable || line.folded.chars().count() >= TELLING
                }
                Some(Likeness::Inside) => line.delivered.is_none(),
                None => false,
            })
            .map(|(record, entry, _)| Origin::LateCopy { record: record.clone(), entry: entry.clone() })
    }
}

impl Held {
    /// Its sides, and the targets of its entries.
    fn sessions(&self) -> impl Iterator<Item = &SessionKey> {
        self.sides.iter().chain(self.lines.values().map(|line| &line.session))
    }
}

impl Line {
    fn of(entry: &Entry, session: SessionKey, before: Option<Self>) -> Self {
        let folded = match before {
            Some(line) if line.sha256 == entry.text.sha256 && line.sent_text == entry.sent_text => line.folded,
            _ => fold(entry.text_on_the_wire()).into(),
        };
        Self {
            session,
            sha256: entry.text.sha256.clone(),
            sent_text: entry.sent_text.clone(),
            folded,
            delivered: entry.delivered_turn_id.clone(),
            duplicates: entry.duplicates.clone(),
            source: entry.source_turn_id.clone().zip(entry.source_message_id.clone()),
            mark: entry.transcript_mark.clone(),
            in_flight: entry.in_flight(),
            repeatable: entry.attempts > 1 || entry.by_hand,
            touched: entry.attempts > 0,
            since: entry.attempt_at.map_or(entry.prepared_at, |at| at.min(entry.prepared_at)),
        }
    }

    /// Offset from which a prompt can be this entry; `None` when its mark is not in the file any more.
    fn from(&self, conversation: &Conversation) -> Option<u64> {
        self.mark.as_ref().and_then(|mark| after_mark(conversation, mark))
    }

    fn covers(&self, conversation: &Conversation, turn: &Turn) -> bool {
        self.from(conversation).is_some_and(|from| turn.prompt.record.offset >= from)
    }
}

/// Offset behind a mark; `None` when the record that it names is not in the file any more.
#[must_use]
pub fn after_mark(conversation: &Conversation, mark: &TranscriptMark) -> Option<u64> {
    match &mark.last_record_id {
        Some(record) => conversation.offset_of(record).map(|offset| offset.saturating_add(1)),
        None => Some(mark.length),
    }
}

/// How a folded text of ours stands in a folded prompt.
#[must_use]
pub fn likeness(ours: &str, prompt: &str) -> Option<Likeness> {
    if ours == prompt {
        return Some(Likeness::Equal);
    }
    let telling = ours.chars().count() >= TELLING;
    (telling && memchr::memmem::find(prompt.as_bytes(), ours.as_bytes()).is_some()).then_some(Likeness::Inside)
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
