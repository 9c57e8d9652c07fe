//! The promises, by name, checked from outside: only the transcripts' bytes, the records on the disk and what was begun
//! are believed. `live` holds at every moment, `history` and `verdicts` at every save, `waits` while nothing moves, `endings` over a
//! whole world.

pub mod endings;
pub mod history;
pub mod live;
pub mod verdicts;
pub mod waits;

use jiff::Timestamp;

/// A promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Each message stands once in its target, and was intended on the disk before its first key.
    ExactlyOnce,
    /// A phase is agreed on its newest work only.
    NoUnreviewedConvergence,
    /// No other answer than one to this work agrees.
    NoStaleVerdict,
    /// What memory holds is what a start would load, and what was acknowledged is there.
    RecordEqualsMemory,
    /// What is written stays: messages, relays, attempts, ends.
    HistoryAppendOnly,
    /// A run comes to its end: without a person where nothing needs one, else with a person who answers.
    FairAgentFinishes,
    /// Nothing begins to be sent while its record is paused.
    PausedMeansSilent,
    /// Behind a person's prompt that pauses nothing begins until that person lets it go on.
    HumanFirst,
    /// No pair goes that no run names.
    NoOrphanPair,
    /// Whatever waits names what ends it: a deadline, a record or a person.
    EveryWaitHasAnEnd,
    /// A driver that has nothing to do rests.
    NoBusyWake,
}

impl Invariant {
    pub const fn name(self) -> &'static str {
        match self {
            Self::ExactlyOnce => "exactly-once",
            Self::NoUnreviewedConvergence => "no-unreviewed-convergence",
            Self::NoStaleVerdict => "no-stale-verdict",
            Self::RecordEqualsMemory => "record-equals-memory",
            Self::HistoryAppendOnly => "history-append-only",
            Self::FairAgentFinishes => "fair-agent-finishes",
            Self::PausedMeansSilent => "paused-means-silent",
            Self::HumanFirst => "human-first",
            Self::NoOrphanPair => "no-orphan-pair",
            Self::EveryWaitHasAnEnd => "every-wait-has-an-end",
            Self::NoBusyWake => "no-busy-wake",
        }
    }
}

/// A broken promise.
#[derive(Clone, Debug)]
pub struct Violation {
    pub invariant: Invariant,
    pub at: Timestamp,
    pub what: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}: {}", self.invariant.name(), self.at, self.what)
    }
}
