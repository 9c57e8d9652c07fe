//! Every outbox entry of this home, so that a prompt's origin can be told: ours (whose, which entry) or human.

use crate::model::conversation::Conversation;
use crate::model::ids::{EntryId, RecordKey, SessionKey};
use crate::model::pair::PairRecord;
use crate::model::run::RunRecord;

/// See the module. Cheap to keep up to date: adding a record again replaces what it held before.
#[derive(Clone, Debug, Default)]
pub struct Ledger {}

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

impl Ledger {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a run, or its newest state.
    pub fn add_run(&mut self, _record: &RunRecord) {}

    /// Takes in a pair, or its newest state.
    pub fn add_pair(&mut self, _record: &PairRecord) {}

    /// Forgets a record that was discarded.
    pub fn remove(&mut self, _record: &RecordKey) {}

    /// Where the prompt of turn `index` came from.
    #[must_use]
    pub fn origin(&self, _session: &SessionKey, _conversation: &Conversation, _index: usize) -> Origin {
        Origin::Human
    }

    /// Entries in flight to a session, of any record, oldest first.
    #[must_use]
    pub fn in_flight_to(&self, _session: &SessionKey) -> Vec<(&RecordKey, &EntryId)> {
        Vec::new()
    }

    /// The active record that has this session as a side, if any (for a pair of a run: the run).
    #[must_use]
    pub fn active_with(&self, _session: &SessionKey) -> Option<&RecordKey> {
        None
    }
}
