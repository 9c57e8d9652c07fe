//! The record of a pair (`loops.md` §4.5): what `pairs/{id}.json` holds and what the pair machine steps.
//! No transition lives here.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::config::{ConfigChange, PairConfig};
use super::ids::{EntryId, MessageId, PairId, RecordId, Role, SessionKey, SessionRef, TurnId};
use super::outbox::Entry;
use super::text::TextRef;
use super::tree::{TreeState, Work};

/// The newest schema this program writes.
pub const SCHEMA: u32 = 1;

/// Implementer + reviewer, one relay loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairRecord {
    /// Record version.
    pub schema: u32,
    /// Raised by each save.
    pub revision: u64,
    /// Its id.
    pub id: PairId,
    /// `""`, or `checklist` when a run owns it.
    pub owner: String,
    /// The pair this one goes on from.
    pub continues: Option<PairId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it stopped.
    pub stopped_at: Option<Timestamp>,
    /// Why it stopped.
    pub stop_reason: Option<PairStop>,
    /// `user` when a person accepted.
    pub accepted_by: Option<String>,
    /// Stopped at a start because a transcript was provably deleted.
    #[serde(default)]
    pub restart_unresolvable: bool,
    /// Whether it runs.
    pub state: PairState,
    /// Where it is; `None` when stopped.
    pub step: Option<PairStep>,
    /// Why it is paused.
    pub paused_reason: Option<PauseReason>,
    /// What the pause says in words, with its facts.
    #[serde(default)]
    pub paused_detail: String,
    /// When it was paused.
    #[serde(default)]
    pub paused_at: Option<Timestamp>,
    /// Relays delivered, counted over the pairs it continues.
    pub round_count: u32,
    /// When it was last written.
    pub last_persisted_at: Option<Timestamp>,
    /// The side that builds.
    pub implementer: SessionRef,
    /// The side that reviews.
    pub reviewer: SessionRef,
    /// Ids a side had before.
    #[serde(default)]
    pub participants_history: Vec<FormerParticipant>,
    /// Settings.
    pub config: PairConfig,
    /// Changes of the settings.
    #[serde(default)]
    pub config_history: Vec<ConfigChange>,
    /// How the first relay is found.
    pub kickoff: Kickoff,
    /// The answer before which nothing of the implementer counts.
    pub baseline_turn_id: Option<TurnId>,
    /// Its message.
    pub baseline_message_id: Option<MessageId>,
    /// Last prompts taken into account.
    pub human_mark: HumanMarks,
    /// The loop waits for a side without having prompted it.
    pub open_wait: Option<OpenWait>,
    /// The turn whose answer is waited for.
    pub awaited: Option<Awaited>,
    /// The implementer's answer that the reviewer was given last.
    pub reviewed: Option<AnswerId>,
    /// An answer of the awaited side that is not offered again (it was dropped).
    #[serde(default)]
    pub spent: Option<AnswerId>,
    /// The relay of an answer that nobody reviewed, in the conversation that the implementer had before a follow: an
    /// approval does not go past it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_behind: Option<Due>,
    /// A message whose answer was awaited from a side that was followed since, while a person's message was open: behind
    /// that it is prepared again for the new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owed: Option<EntryId>,
    /// The question after a near miss.
    pub clarify: Option<Clarify>,
    /// The near miss that waits or is asked about.
    pub near_miss: Option<NearMiss>,
    /// Going on by itself after a passing failure.
    pub retry: Option<Retry>,
    /// Messages, oldest first; at most one of them open.
    pub outbox: Vec<Entry>,
    /// Entries ever made, so that ids go on when old ones move out.
    #[serde(default)]
    pub entries_made: u32,
    /// A relay that waits for a person's look.
    pub pending_confirm: Option<PendingConfirm>,
    /// What was due when the cap was reached.
    pub due: Option<Due>,
    /// The limit that paused it.
    pub limit: Option<Limit>,
    /// Relays, newest 50.
    #[serde(default)]
    pub rounds: Vec<Round>,
    /// The work tree as the newest review found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeState>,
    /// Fields of a later version are kept.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl PairRecord {
    /// The session of a side.
    #[must_use]
    pub fn side(&self, role: Role) -> &SessionRef {
        match role {
            Role::Implementer => &self.implementer,
            Role::Reviewer => &self.reviewer,
        }
    }

    /// The entry that is not yet delivered.
    #[must_use]
    pub fn open_entry(&self) -> Option<&Entry> {
        self.outbox.iter().rev().find(|entry| entry.is_open())
    }

    /// Not stopped.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state != PairState::Stopped
    }
}

/// Whether a pair runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairState {
    /// Saved, not yet looked at.
    Pending,
    /// Runs.
    Running,
    /// Waits for a person (or a limit's end).
    Paused,
    /// Over.
    Stopped,
}

/// Where a pair is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairStep {
    /// Waits for the implementer's answer.
    AwaitImplementer,
    /// Waits for the reviewer's answer.
    AwaitReviewer,
    /// Waits for a person's look at a relay.
    ConfirmRelay,
}

/// Why a pair or a run is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// A person paused it.
    Manual,
    /// A person typed into a session, or interrupted it.
    UserTyped,
    /// A second near miss, or the rule says wait.
    NearMiss,
    /// A turn ended without an answer.
    NoAnswer,
    /// An allowance is used up.
    Limit,
    /// A turn failed for good.
    AgentError,
    /// Nothing answers, or nothing to send through.
    AgentGone,
    /// A message could not be proven delivered.
    DeliveryFailed,
    /// Another session answers in its place.
    SessionChanged,
    /// The record on disk is not what trellis wrote.
    RecordChanged,
    /// Run only: the cap was reached.
    PhaseNotConverged,
    /// Run only: its pair was stopped by someone else.
    PairStopped,
    /// Run only: its pair could not be created.
    ReviewStartFailed,
    /// Run only: `max_phases` was reached.
    PhaseLimit,
}

impl PauseReason {
    /// The name used in records and output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::UserTyped => "user_typed",
            Self::NearMiss => "near_miss",
            Self::NoAnswer => "no_answer",
            Self::Limit => "limit",
            Self::AgentError => "agent_error",
            Self::AgentGone => "agent_gone",
            Self::DeliveryFailed => "delivery_failed",
            Self::SessionChanged => "session_changed",
            Self::RecordChanged => "record_changed",
            Self::PhaseNotConverged => "phase_not_converged",
            Self::PairStopped => "pair_stopped",
            Self::ReviewStartFailed => "review_start_failed",
            Self::PhaseLimit => "phase_limit",
        }
    }
}

/// Why a pair stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairStop {
    /// The reviewer (or a person) approved.
    Lgtm,
    /// The cap was reached with a relay due.
    MaxRounds,
    /// Ordered.
    Manual,
    /// A side's transcript is provably deleted, or its agent refuses to resume it.
    PeerError,
    /// A side was put away.
    SessionTrashed,
}

impl PairStop {
    /// The name used in records and output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lgtm => "lgtm",
            Self::MaxRounds => "max_rounds",
            Self::Manual => "manual",
            Self::PeerError => "peer_error",
            Self::SessionTrashed => "session_trashed",
        }
    }
}

/// How a pair finds its first relay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kickoff {
    /// The implementer's newest completed answer.
    UseCurrent,
    /// Its next answer.
    WaitForNext,
    /// That of a given turn, or the newest completed one if it is newer.
    Turn {
        /// The turn.
        turn_id: TurnId,
        /// Relay every text block of it, not the answer alone.
        #[serde(default)]
        whole_turn: bool,
    },
}

/// The last prompt of each side that was taken into account: the record that holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanMarks {
    /// Of the implementer; `None`: before its first.
    pub implementer: Option<TurnId>,
    /// Of the reviewer.
    pub reviewer: Option<TurnId>,
}

impl HumanMarks {
    /// That of a side.
    #[must_use]
    pub fn of(&self, role: Role) -> Option<&TurnId> {
        match role {
            Role::Implementer => self.implementer.as_ref(),
            Role::Reviewer => self.reviewer.as_ref(),
        }
    }

    /// Sets that of a side.
    pub fn set(&mut self, role: Role, turn: Option<TurnId>) {
        match role {
            Role::Implementer => self.implementer = turn,
            Role::Reviewer => self.reviewer = turn,
        }
    }
}

/// The loop waits for a side that it has not prompted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenWait {
    /// The side.
    pub side: Role,
    /// A prompt after this turn is what it waits for; `None`: any prompt.
    pub after_turn_id: Option<TurnId>,
}

/// The turn whose answer is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// The turn; `None` until its prompt is seen.
    pub turn_id: Option<TurnId>,
    /// The record at or after which a completed turn counts.
    pub since_record: Option<RecordId>,
    /// Whether a turn that anybody prompted counts (after a resume).
    pub any_prompter: bool,
}

/// An answer, by its identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AnswerId {
    /// Its turn.
    pub turn_id: TurnId,
    /// Its message.
    pub message_id: MessageId,
}

/// The question that follows a near miss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clarify {
    /// It was asked in this relay.
    pub asked: bool,
    /// The answer that missed.
    pub first_answer: Option<TextRef>,
}

/// A near miss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearMiss {
    /// Its turn.
    pub turn_id: TurnId,
    /// Its message.
    pub message_id: MessageId,
    /// The line.
    pub line: String,
}

/// Going on by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Which attempt comes next, from 1.
    pub n: u32,
    /// When.
    pub at: Timestamp,
    /// The turn that failed: another one that fails after it is the next failure, not the same again.
    #[serde(default)]
    pub turn_id: Option<TurnId>,
}

/// A relay that waits for a person's look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingConfirm {
    /// Where it goes.
    pub direction: Direction,
    /// The side that gets it.
    pub target: Role,
    /// Its source.
    pub source_turn_id: TurnId,
    /// Its source.
    pub source_message_id: MessageId,
    /// What would be sent.
    pub text: TextRef,
}

/// Which way a relay goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The implementer's answer to the reviewer.
    ToReviewer,
    /// The reviewer's answer to the implementer.
    ToImplementer,
}

impl Direction {
    /// The side that gets it.
    #[must_use]
    pub const fn target(self) -> Role {
        match self {
            Self::ToReviewer => Role::Reviewer,
            Self::ToImplementer => Role::Implementer,
        }
    }
}

/// What was due when the cap was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    /// Where it would have gone.
    pub direction: Direction,
    /// Its source.
    pub source_turn_id: TurnId,
    /// Its source.
    #[serde(default)]
    pub source_message_id: Option<MessageId>,
    /// What would have been sent.
    pub text: TextRef,
}

/// A limit as the agent told it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Its words.
    pub text: String,
    /// When it ends, if it said so.
    pub resets_at: Option<Timestamp>,
}

/// One relay that was delivered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// From 1.
    pub n: u32,
    /// Which way.
    pub direction: Direction,
    /// When the delivery was seen.
    pub at: Timestamp,
    /// What it carried.
    pub source_turn_id: Option<TurnId>,
    /// What it carried.
    pub source_message_id: Option<MessageId>,
    /// The turn it began.
    pub delivered_turn_id: TurnId,
    /// Its entry.
    #[serde(default)]
    pub entry: Option<EntryId>,
    /// What was sent.
    pub text: TextRef,
    /// Whether a person edited it.
    pub edited: bool,
    /// What the implementer had changed since the review before, once it was looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
}

/// An id that a side had before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerParticipant {
    /// The side.
    pub side: Role,
    /// The session it was.
    pub session: SessionRef,
    /// Until when; the beginning of time where a clock that was set back makes it worth nothing.
    pub until: Timestamp,
    /// Messages that the record had made by then, but for one that had not gone out: that goes to the next session. A
    /// count, since the order of two times ends where a clock is set back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries_made: Option<u32>,
}

impl FormerParticipant {
    /// Whether an entry of the record was made before the side was followed to another session.
    fn had(&self, entry: &Entry) -> bool {
        match (self.entries_made, entry.id.number()) {
            (Some(made), Some(number)) => number <= made,
            _ => entry.prepared_at < self.until,
        }
    }

    /// The session an entry went to: the one its side had when it was made; `now` is the one that it has.
    #[must_use]
    pub fn session_of(entry: &Entry, former: &[Self], now: &SessionRef) -> SessionKey {
        let then = former.iter().find(|was| was.side == entry.target && was.had(entry));
        then.map_or(now, |was| &was.session).key()
    }
}
