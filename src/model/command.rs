//! What a person (or a program for them) can order, and the answers (`loops.md` §5.3).
//! Serialisable: a viewer in another process sends the same values.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ids::{RecordKey, Role, SessionKey, SessionRef};
use super::launch::NewSession;
use super::pair::Kickoff;
use super::reach::Transport;

/// One order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// A new checklist run.
    CreateRun(NewRun),
    /// A new pair without a run.
    CreatePair(NewPair),
    /// A control of a run or a pair.
    Control {
        /// Which record.
        target: RecordKey,
        /// Its revision as the person saw it; refused when it moved. `None`: whatever it is now.
        expect: Option<u64>,
        /// The control.
        control: Control,
    },
    /// Something about a session.
    Session {
        /// Which.
        session: SessionKey,
        /// What.
        control: SessionControl,
    },
    /// A new session: its agent is started.
    StartSession(NewSession),
    /// Look at everything now.
    LookNow,
}

/// Controls of §5.3. Which are possible, and what they do, is the machines' business.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// Hold.
    Pause,
    /// Go on.
    Resume,
    /// Send the phase prompt now.
    Ask,
    /// Review again, count from 0.
    Retry,
    /// More relays.
    More {
        /// How many, at least 1.
        n: u32,
        /// Tell the reviewer to name blockers only.
        blockers_only: bool,
    },
    /// Agree without the reviewer's word.
    Accept,
    /// Leave this phase out.
    Skip,
    /// Relay the near miss as feedback.
    AsFeedback,
    /// Set the name.
    Rename {
        /// The new one.
        name: String,
    },
    /// Don't wait longer for background agents or a long quiet time.
    ForceRelay,
    /// Answer to "look first".
    Confirm(Confirm),
    /// Change settings: field name to new value.
    Configure {
        /// The changes.
        changes: Map<String, Value>,
        /// Who: `dashboard`, `command`, `api`.
        by: String,
    },
    /// Write to a side.
    Write {
        /// The side.
        side: Role,
        /// The message.
        text: String,
        /// The loop goes on after it.
        go_on: bool,
    },
    /// Follow the session that replaced one.
    Follow,
    /// Resume a dead agent's session.
    BringBack,
    /// Look for the evidence of a delivery again.
    CheckDelivery,
    /// Send the entry again: the person vouches that nothing is on its way.
    SendAgain,
    /// Drop the undelivered entry.
    Drop,
    /// The person pastes the entry.
    ByHand,
    /// End it.
    Stop,
    /// A new run with the same sides and settings.
    RunOn,
    /// Remove the record and its texts.
    Discard,
}

impl Control {
    /// The name used in commands, logs and tests.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Ask => "ask",
            Self::Retry => "retry",
            Self::More { .. } => "more",
            Self::Accept => "accept",
            Self::Skip => "skip",
            Self::AsFeedback => "as_feedback",
            Self::Rename { .. } => "rename",
            Self::ForceRelay => "force_relay",
            Self::Confirm(_) => "confirm",
            Self::Configure { .. } => "config",
            Self::Write { .. } => "write",
            Self::Follow => "follow",
            Self::BringBack => "bring_back",
            Self::CheckDelivery => "check_delivery",
            Self::SendAgain => "send_again",
            Self::Drop => "drop",
            Self::ByHand => "by_hand",
            Self::Stop => "stop",
            Self::RunOn => "run_on",
            Self::Discard => "discard",
        }
    }
}

/// Answers to "look first".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirm {
    /// Send it, edited or not (a blank text is refused).
    Send {
        /// The edited text.
        edited_text: Option<String>,
    },
    /// Drop it; its answer is not offered again.
    Drop,
    /// End the pair.
    Stop,
}

/// What a new run needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewRun {
    /// The side that builds.
    pub implementer: SessionRef,
    /// The side that reviews.
    pub reviewer: SessionRef,
    /// Settings; missing fields take the defaults, an explicit empty prompt stays empty.
    #[serde(default)]
    pub config: super::config::RunConfig,
}

/// What a new pair needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewPair {
    /// The side that builds.
    pub implementer: SessionRef,
    /// The side that reviews.
    pub reviewer: SessionRef,
    /// How it begins; `None`: with the implementer's answer, if it is ready and that one was not relayed before, else with
    /// its next one.
    #[serde(default)]
    pub kickoff: Option<Kickoff>,
    /// Settings.
    #[serde(default)]
    pub config: super::config::PairConfig,
}

/// Orders about a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionControl {
    /// A name in trellis.
    Rename {
        /// The new one; empty takes it away.
        name: String,
    },
    /// Put away; the agent's own file is never touched.
    PutAway,
    /// Take back.
    TakeBack,
    /// Resume a dead agent's session.
    BringBack,
    /// Reach it another way from its next message on; refused while it is open.
    Reach {
        /// In a pane, or headless.
        transport: Transport,
        /// Of a headless one: what it may do unasked. `None` leaves it, empty takes the choice back.
        #[serde(default)]
        permission_mode: Option<String>,
        /// Of a headless one: its model, in the same way.
        #[serde(default)]
        model: Option<String>,
    },
}

/// The answer to an order, given when its effect is saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Done and saved; `note` says what will happen, in a sentence.
    Done {
        /// The record, where one was changed or made.
        record: Option<RecordKey>,
        /// A sentence.
        note: String,
    },
    /// Refused.
    Refused(Refusal),
}

/// Why an order was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What kind.
    pub kind: RefusalKind,
    /// One sentence that says what to do.
    pub message: String,
    /// The field it is about, for forms.
    #[serde(default)]
    pub field: Option<String>,
}

impl Refusal {
    /// Not possible in this state.
    #[must_use]
    pub fn not_now(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::NotNow, message: message.into(), field: None }
    }

    /// A value that cannot be.
    #[must_use]
    pub fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::Invalid, message: message.into(), field: Some(field.to_owned()) }
    }
}

/// Kinds of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// Not possible in this state.
    NotNow,
    /// The record moved since it was looked at.
    Moved,
    /// A value that cannot be.
    Invalid,
    /// No such record.
    Unknown,
    /// The disk refused.
    NotSaved,
    /// Another process drives this home.
    NotDriver,
}
