//! What a record keeps in itself and what moves to the files beside it, so that it stays small however long a loop runs.
//! Pure: the store and the driver apply the same function, so disk and memory agree.

use serde::Serialize;

use super::schema::Kept;
use super::unknown::{self, Unknown};
use crate::model::outbox::Entry;
use crate::model::pair::{PairRecord, Round};
use crate::model::run::RunRecord;

/// Entries and rounds that a record keeps at most.
pub const KEPT: usize = 50;
/// The fewest it keeps when they are unusually long.
const KEPT_LEAST: usize = 4;
/// Bytes a record's file takes at most.
pub const RECORD_LIMIT: usize = 256 * 1024;

/// What moved out of a record, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overflow {
    /// Goes to `{id}/outbox.jsonl`.
    pub entries: Vec<Entry>,
    /// Goes to `{id}/rounds.jsonl`.
    pub rounds: Vec<Round>,
}

/// Moves what is too old out of a run. The driver calls this on its own record after a save: the store has written the same.
pub fn run(record: &mut RunRecord) -> Overflow {
    trim(record).0
}

/// The same for a pair.
pub fn pair(record: &mut PairRecord) -> Overflow {
    trim(record).0
}

/// Trims, and gives the bytes of the record's file as well (empty when it cannot be written as JSON at all).
pub(super) fn trim<R: Kept>(record: &mut R) -> (Overflow, Vec<u8>) {
    let mut overflow = Overflow::default();
    let mut keep = KEPT;
    loop {
        record.shorten(keep);
        let older = surplus(record.outbox(), keep, |entry| !entry.is_open());
        overflow.entries.extend(record.outbox().drain(..older));
        if let Some(rounds) = record.rounds() {
            let older = surplus(rounds, keep, |_| true);
            overflow.rounds.extend(rounds.drain(..older));
        }
        let bytes = encode(record);
        if bytes.len() < RECORD_LIMIT || keep <= KEPT_LEAST {
            return (overflow, bytes);
        }
        keep /= 2;
    }
}

/// How many of the oldest are too many; what may not move holds back all behind it.
fn surplus<T>(list: &[T], keep: usize, may_move: impl Fn(&T) -> bool) -> usize {
    list.iter().take(list.len().saturating_sub(keep)).take_while(|item| may_move(item)).count()
}

/// The bytes of a record with what this version does not know of it.
pub(super) fn encode_with<R: Kept>(record: &R, unknown: &Unknown) -> Vec<u8> {
    let Ok(mut value) = serde_json::to_value(record) else { return Vec::new() };
    unknown::put_back(&mut value, unknown);
    encode(&value)
}

fn encode<T: Serialize>(record: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(record).unwrap_or_default();
    if !bytes.is_empty() {
        bytes.push(b'\n');
    }
    bytes
}
