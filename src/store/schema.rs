//! Records as bytes: what may be driven, what is only shown, what cannot be read; and what the store needs to know of either kind.
//! Nothing here touches a disk.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::unknown::{Unknown, beyond};
use crate::driver::ports::Cause;
use crate::model::ids::{PairId, RecordKey, RunId};
use crate::model::outbox::{Entry, EntryState};
use crate::model::pair::{PairRecord, Round, SCHEMA};
use crate::model::run::RunRecord;
use crate::model::text::TextRef;

/// What a file of a record turned out to hold.
#[derive(Clone, Debug)]
pub(super) enum Decoded<R> {
    /// A record of ours, and what its parts hold beyond what this version knows.
    Ours(Box<R>, Option<Unknown>),
    /// Shown, never driven: what keeps it from that, in words too, and its contents as far as they are understood.
    Foreign(Cause, String, Value),
    /// Not a record: why.
    Broken(String),
}

/// Either kind of record, as far as the store looks into it.
pub(super) trait Kept: Clone + Serialize + DeserializeOwned + Send {
    /// The word for people.
    const WORD: &'static str;
    /// Of which schema it says it is.
    fn schema(&self) -> u32;
    /// Which record it is.
    fn key(&self) -> RecordKey;
    /// The key of an id.
    fn key_of(id: &str) -> RecordKey;
    /// Not stopped.
    fn active(&self) -> bool;
    /// When it stopped.
    fn stopped_at(&self) -> Option<jiff::Timestamp>;
    /// Its messages.
    fn outbox(&mut self) -> &mut Vec<Entry>;
    /// Its relays, if it keeps any.
    fn rounds(&mut self) -> Option<&mut Vec<Round>>;
    /// Lists that only grow and that no step needs in full: shortened to the newest `keep`.
    fn shorten(&mut self, keep: usize);
    /// Each text it names, with how much it is needed.
    fn texts(&mut self) -> Vec<(Need, &mut TextRef)>;
}

/// How much a record needs a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// For people, and for telling late copies of our messages.
    History,
    /// A later pair or a late message may need it, though the record has stopped.
    Later,
    /// It may still be sent: without it the record is not driven.
    Vital,
}

fn need_of(entry: &Entry) -> Need {
    match entry.state {
        EntryState::Prepared | EntryState::Sent | EntryState::Queued => Need::Vital,
        EntryState::Abandoned => Need::Later,
        EntryState::Delivered | EntryState::Withdrawn => Need::History,
    }
}

impl Kept for RunRecord {
    const WORD: &'static str = "run";

    fn schema(&self) -> u32 {
        self.schema
    }

    fn key(&self) -> RecordKey {
        RecordKey::Run(self.id.clone())
    }

    fn key_of(id: &str) -> RecordKey {
        RecordKey::Run(RunId::new(id))
    }

    fn active(&self) -> bool {
        self.is_active()
    }

    fn stopped_at(&self) -> Option<jiff::Timestamp> {
        self.stopped_at
    }

    fn outbox(&mut self) -> &mut Vec<Entry> {
        &mut self.outbox
    }

    fn rounds(&mut self) -> Option<&mut Vec<Round>> {
        None
    }

    fn shorten(&mut self, keep: usize) {
        newest(&mut self.config_history, keep);
        newest(&mut self.participants_history, keep);
    }

    fn texts(&mut self) -> Vec<(Need, &mut TextRef)> {
        self.outbox.iter_mut().map(|entry| (need_of(entry), &mut entry.text)).collect()
    }
}

impl Kept for PairRecord {
    const WORD: &'static str = "pair";

    fn schema(&self) -> u32 {
        self.schema
    }

    fn key(&self) -> RecordKey {
        RecordKey::Pair(self.id.clone())
    }

    fn key_of(id: &str) -> RecordKey {
        RecordKey::Pair(PairId::new(id))
    }

    fn active(&self) -> bool {
        self.is_active()
    }

    fn stopped_at(&self) -> Option<jiff::Timestamp> {
        self.stopped_at
    }

    fn outbox(&mut self) -> &mut Vec<Entry> {
        &mut self.outbox
    }

    fn rounds(&mut self) -> Option<&mut Vec<Round>> {
        Some(&mut self.rounds)
    }

    fn shorten(&mut self, keep: usize) {
        newest(&mut self.config_history, keep);
        newest(&mut self.participants_history, keep);
    }

    fn texts(&mut self) -> Vec<(Need, &mut TextRef)> {
        let mut texts: Vec<(Need, &mut TextRef)> = Vec::new();
        for entry in &mut self.outbox {
            texts.push((need_of(entry), &mut entry.text));
            texts.extend(entry.original.as_mut().map(|original| (Need::History, original)));
        }
        texts.extend(self.rounds.iter_mut().map(|round| (Need::History, &mut round.text)));
        texts.extend(self.pending_confirm.iter_mut().map(|pending| (Need::Vital, &mut pending.text)));
        let due = self.due.iter_mut().chain(self.left_behind.iter_mut());
        texts.extend(due.map(|due| (Need::Later, &mut due.text)));
        let first = self.clarify.as_mut().and_then(|clarify| clarify.first_answer.as_mut());
        texts.extend(first.map(|text| (Need::Later, text)));
        texts
    }
}

fn newest<T>(list: &mut Vec<T>, keep: usize) {
    list.drain(..list.len().saturating_sub(keep));
}

/// Reads the bytes of the record's file named `stem`, for who only looks: nothing is kept of what this version does not
/// know, which only a later save needs.
pub(super) fn decode_to_look<R: Kept>(stem: &str, bytes: &[u8]) -> Decoded<R> {
    let record = serde_json::from_slice::<R>(bytes).ok();
    match record.filter(|record| record.schema() == SCHEMA && record.key().as_str() == stem) {
        Some(record) => Decoded::Ours(Box::new(record), None),
        None => decode(stem, bytes),
    }
}

/// Reads the bytes of the record's file named `stem`.
pub(super) fn decode<R: Kept>(stem: &str, bytes: &[u8]) -> Decoded<R> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Decoded::Broken("it is empty".to_owned());
    }
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return Decoded::Broken(format!("it is no whole JSON ({error})")),
    };
    if !value.is_object() {
        return Decoded::Broken("it holds no record".to_owned());
    }
    match value.get("schema").map(Value::as_u64) {
        Some(Some(schema)) if schema == u64::from(SCHEMA) => {}
        Some(Some(schema)) if schema > u64::from(SCHEMA) => {
            return Decoded::Foreign(Cause::Newer, format!("written by a newer trellis (schema {schema})"), value);
        }
        _ => {
            let why = "written by another program (it names no schema)".to_owned();
            return Decoded::Foreign(Cause::Stranger, why, value);
        }
    }
    // From the bytes, not the value: the messages then name line and column.
    let record: R = match serde_json::from_slice(bytes) {
        Ok(record) => record,
        Err(error) => return Decoded::Broken(format!("it is no {} ({error})", R::WORD)),
    };
    if record.key().as_str() != stem {
        return Decoded::Broken("the id in it is another file's".to_owned());
    }
    let unknown = serde_json::to_value(&record).ok().and_then(|known| beyond(&value, &known));
    Decoded::Ours(Box::new(record), unknown)
}
