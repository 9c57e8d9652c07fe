//! What a session is doing, from its transcript and its transport: idle, ready, its state for people.
//! What follows from it for a loop is the machines' business.

use jiff::Timestamp;

use super::{Scene, Side};
use crate::model::conversation::{Conversation, Failure};
use crate::model::ids::Role;
use crate::model::reach::Reach;
use crate::model::session::SessionState;

/// Why a session is not idle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Busy {
    /// A turn runs.
    Turn,
    /// The agent itself says that it works.
    Says,
    /// A dialog is open, in its words.
    Dialog(String),
    /// A question of the agent is open.
    Question(String),
    /// A prompt waits in the agent's queue.
    QueuedPrompt,
    /// Background agents are out.
    Background(u32),
    /// Something was written a moment ago: quiet enough at this time.
    Quiet(Timestamp),
    /// A message of ours is on its way to it (of this record).
    InFlight(String),
}

/// Everything that keeps a session from being idle; none: it is idle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdleVerdict {
    /// The reasons.
    pub because: Vec<Busy>,
}

impl IdleVerdict {
    /// Nothing keeps it.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.because.is_empty()
    }
}

/// Whether a side is idle (`loops.md` §1). `debounce` in milliseconds.
#[must_use]
pub fn idle(_scene: &Scene<'_>, _role: Role, _debounce: u64) -> IdleVerdict {
    IdleVerdict::default()
}

/// A session's state, since when, and the evidence in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateView {
    /// The state; `Idle` is shown as awaiting input outside a run.
    pub state: SessionState,
    /// Since when.
    pub since: Option<Timestamp>,
    /// On which ground.
    pub evidence: String,
}

/// The state of any session, in a record or not.
#[must_use]
pub fn state(_conversation: Option<&Conversation>, _reach: Option<&Reach>, _now: Timestamp) -> StateView {
    StateView { state: SessionState::Idle, since: None, evidence: String::new() }
}

/// The failure of an open turn whose process is gone (`died`), if that is so.
#[must_use]
pub fn died(_side: &Side<'_>) -> Option<Failure> {
    None
}
