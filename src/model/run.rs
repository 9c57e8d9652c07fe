//! The record of a checklist run (`loops.md` §5.4): what `checklist-runs/{id}.json` holds and what the run machine steps.
//! No transition lives here.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::config::{ConfigChange, RunConfig};
use super::ids::{EntryId, MessageId, PairId, Role, RunId, SessionRef, TurnId};
use super::outbox::Entry;
use super::pair::{Awaited, FormerParticipant, HumanMarks, Limit, OpenWait, PauseReason, Retry};

/// The same two sides through many phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Record version.
    pub schema: u32,
    /// Raised by each save.
    pub revision: u64,
    /// Its id.
    pub id: RunId,
    /// For people.
    pub name: String,
    /// The run this one goes on from.
    pub continued_from: Option<RunId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it stopped.
    pub stopped_at: Option<Timestamp>,
    /// Why it stopped.
    pub stop_reason: Option<RunStop>,
    /// Stopped at a start because a transcript was provably deleted.
    #[serde(default)]
    pub restart_unresolvable: bool,
    /// Whether it runs.
    pub state: RunState,
    /// Where it is; `None` when stopped.
    pub step: Option<RunStep>,
    /// Why it is paused.
    pub paused_reason: Option<PauseReason>,
    /// What the pause says in words, with its facts.
    #[serde(default)]
    pub paused_detail: String,
    /// When it was paused.
    #[serde(default)]
    pub paused_at: Option<Timestamp>,
    /// The pair that was (or is to be) paused or resumed with the run.
    pub paused_pair: Option<PairId>,
    /// The first event of the current pair was seen.
    #[serde(default)]
    pub pair_seen: bool,
    /// The pair that this run ordered to stop; its outcome is expected and ignored.
    pub pending_pair_stop: Option<PairId>,
    /// Phases agreed, accepted or skipped.
    pub phases_done: u32,
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
    pub config: RunConfig,
    /// Changes of the settings.
    #[serde(default)]
    pub config_history: Vec<ConfigChange>,
    /// The pair of the current attempt.
    pub current_pair_id: Option<PairId>,
    /// Pairs ever made, so that their ids derive from position.
    #[serde(default)]
    pub pairs_made: u32,
    /// The answer before which nothing of the implementer counts.
    pub baseline_turn_id: Option<TurnId>,
    /// Its message.
    pub baseline_message_id: Option<MessageId>,
    /// Its first line, for people.
    #[serde(default)]
    pub baseline_text: String,
    /// The work tree at the baseline.
    pub baseline_git: Option<GitMark>,
    /// Turns running that edited files and answered with the completion signal.
    #[serde(default)]
    pub edited_completions: u32,
    /// What led to the current `advance` or `probe`.
    pub after: After,
    /// The turn of the last advance prompt.
    pub advance_turn_id: Option<TurnId>,
    /// Last prompts taken into account.
    pub human_mark: HumanMarks,
    /// The run waits for a side without having prompted it.
    pub open_wait: Option<OpenWait>,
    /// The turn whose answer is waited for.
    pub awaited: Option<Awaited>,
    /// A message whose answer was awaited from a side that was followed since, while a person's message was open: behind
    /// that it is prepared again for the new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owed: Option<EntryId>,
    /// Going on by itself after a passing failure.
    pub retry: Option<Retry>,
    /// The pair to be created, saved before it is.
    pub pending: Option<PendingCreate>,
    /// Messages of the run itself (advance, continue, user).
    pub outbox: Vec<Entry>,
    /// Entries ever made, so that ids go on when old ones move out.
    #[serde(default)]
    pub entries_made: u32,
    /// The limit that paused it.
    pub limit: Option<Limit>,
    /// Attempts at phases, oldest first.
    pub phases: Vec<Attempt>,
    /// Fields of a later version are kept.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl RunRecord {
    /// The session of a side.
    #[must_use]
    pub fn side(&self, role: Role) -> &SessionRef {
        match role {
            Role::Implementer => &self.implementer,
            Role::Reviewer => &self.reviewer,
        }
    }

    /// The entry of the run's own that is not yet delivered.
    #[must_use]
    pub fn open_entry(&self) -> Option<&Entry> {
        self.outbox.iter().rev().find(|entry| entry.is_open())
    }

    /// Not stopped.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state != RunState::Stopped
    }

    /// The newest attempt.
    #[must_use]
    pub fn attempt(&self) -> Option<&Attempt> {
        self.phases.last()
    }
}

/// Whether a run goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Goes.
    Running,
    /// Waits for a person (or a limit's end).
    Paused,
    /// Over.
    Stopped,
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStep {
    /// Waits for the implementer's answer of the phase.
    Probe,
    /// A pair reviews it.
    Review,
    /// The next phase is to be asked for.
    Advance,
}

/// Why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStop {
    /// The implementer said that no phase is left.
    Completed,
    /// Ordered.
    Manual,
    /// A side's transcript is provably deleted, or its agent refuses to resume it.
    PeerError,
    /// A side was put away.
    SessionTrashed,
    /// Could not be resolved at a start.
    ServerRestarted,
}

impl RunStop {
    /// The name used in records and output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Manual => "manual",
            Self::PeerError => "peer_error",
            Self::SessionTrashed => "session_trashed",
            Self::ServerRestarted => "server_restarted",
        }
    }
}

/// What led to the current step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// The reviewer approved.
    Lgtm,
    /// A person accepted.
    Accept,
    /// A person skipped.
    Skip,
    /// The run began.
    Start,
}

/// One attempt at a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The phase, from 1.
    pub n: u32,
    /// How it stands.
    pub status: AttemptStatus,
    /// `reviewer` or `user`, when converged.
    pub by: Option<String>,
    /// Whether the implementer's newest answer is the one the reviewer judged.
    pub reviewed: bool,
    /// Its pair; `None` for a phase skipped without one.
    pub pair_id: Option<PairId>,
    /// The turn that was reviewed first.
    pub turn_id: Option<TurnId>,
    /// When its review began.
    pub started_at: Timestamp,
    /// When the builder was asked for it, or began it by itself; `None`: it is a later attempt, or an older record.
    #[serde(default)]
    pub asked_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// First non-empty line of the phase's answer, at most 200 characters.
    pub summary: String,
    /// Relays its pair made (for the list; the pair has the details).
    #[serde(default)]
    pub relays: u32,
}

impl Attempt {
    /// Since when a person counts it: the building is part of it.
    #[must_use]
    pub fn since(&self) -> Timestamp {
        self.asked_at.map_or(self.started_at, |asked| asked.min(self.started_at))
    }
}

/// How an attempt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// Under review.
    Running,
    /// Agreed or accepted.
    Converged,
    /// The cap was reached.
    NotConverged,
    /// Left out.
    Skipped,
    /// Stopped.
    Stopped,
    /// Failed.
    Error,
}

/// A pair that is to be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCreate {
    /// Its id.
    pub create: PairId,
    /// The pair it continues.
    pub continues: Option<PairId>,
    /// Its cap when it differs from the run's.
    pub cap: Option<u32>,
    /// The turn it begins with.
    pub turn_id: TurnId,
    /// Whether every text block of that turn is relayed.
    pub whole_turn: bool,
    /// Whether the reviewer is told to name blockers only.
    #[serde(default)]
    pub blockers_only: bool,
}

/// The work tree, as far as completion needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitMark {
    /// Commit of `HEAD`.
    pub head: String,
    /// Hex SHA-256 of `git status --porcelain`.
    pub status_sha256: String,
}
