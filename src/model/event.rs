//! What is published after a save (`loops.md` §8), and the decisions that explain it.
//! The store numbers and keeps them; the driver makes them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ids::{PairId, RecordKey, RunId, SessionId, SessionKey};

/// One published event: a line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Rises by one, over restarts too.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair_id: Option<PairId>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Stop or pause reason, or another word that goes with the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Of the record that was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}

/// Kinds of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the documentation: loops.md §8 lists them")]
pub enum EventKind {
    #[serde(rename = "checklist.started")]
    ChecklistStarted,
    #[serde(rename = "checklist.phase_started")]
    ChecklistPhaseStarted,
    #[serde(rename = "checklist.phase_converged")]
    ChecklistPhaseConverged,
    #[serde(rename = "checklist.config_changed")]
    ChecklistConfigChanged,
    #[serde(rename = "checklist.paused")]
    ChecklistPaused,
    #[serde(rename = "checklist.resumed")]
    ChecklistResumed,
    #[serde(rename = "checklist.stopped")]
    ChecklistStopped,
    #[serde(rename = "pair.started")]
    PairStarted,
    #[serde(rename = "pair.round")]
    PairRound,
    #[serde(rename = "pair.confirm_pending")]
    PairConfirmPending,
    #[serde(rename = "pair.config_changed")]
    PairConfigChanged,
    #[serde(rename = "pair.paused")]
    PairPaused,
    #[serde(rename = "pair.resumed")]
    PairResumed,
    #[serde(rename = "pair.stopped")]
    PairStopped,
    #[serde(rename = "session.state_changed")]
    SessionStateChanged,
}

/// Why something was decided, with the evidence: a line of the Log screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// When.
    pub at: Timestamp,
    /// The record it is about (run or pair id), if any.
    pub record: Option<String>,
    /// What was decided, in a sentence.
    pub what: String,
    /// On which ground, in words: a transcript record and its offset, a timer, a key.
    pub evidence: String,
    /// The ground itself; `None` in lines of versions that did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ground: Option<Ground>,
    /// Whether it changed something (false: a remark).
    pub decided: bool,
}

impl Decision {
    /// Whether it is about a record. A run's decisions are its own and those of its pairs, whose ids begin with the run's.
    #[must_use]
    pub fn is_of(&self, key: &RecordKey) -> bool {
        self.record.as_deref().is_some_and(|record| {
            record == key.as_str() || record.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with(['-', '.']))
        })
    }
}

/// What a decision rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ground {
    /// A place in an agent's transcript.
    Record {
        /// Whose.
        session: SessionKey,
        /// The file as it was called then; empty when there was none.
        file: String,
        /// The record, or the message that begins there.
        record: String,
        /// Where it begins, in bytes.
        offset: u64,
    },
    /// A time that came.
    Timer {
        /// Which.
        at: Timestamp,
    },
    /// An order of a person.
    Key,
    /// What was seen of a process, a pane, a queue or a file.
    Seen,
    /// A record or a setting of trellis' own.
    Own,
}
