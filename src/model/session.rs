//! What trellis keeps and says about a session beside its transcript.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::reach::{ProcessMark, Transport};

/// `sessions/{agent}-{id}.json`: what a person said about a session, and how it was launched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionNote {
    /// Record version.
    #[serde(default)]
    pub schema: u32,
    /// A name in trellis.
    #[serde(default)]
    pub name: Option<String>,
    /// The transport a person chose for it.
    #[serde(default)]
    pub transport: Option<Transport>,
    /// How trellis launched it: argv and folder.
    #[serde(default)]
    pub launch: Option<Launch>,
    /// The process that was last seen on it: after a restart too it proves that this process went over to another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<ProcessMark>,
    /// When it was put away.
    #[serde(default)]
    pub put_away_at: Option<Timestamp>,
    /// Unknown fields are kept.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Whether an agent asks a person before it acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permission {
    /// The agent's own name of the mode (`acceptEdits`, `on-request`).
    pub mode: String,
    /// What it may stop before, with a question.
    pub asks: Asks,
}

/// What an agent asks a person before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asks {
    /// Nothing that is known of.
    Never,
    /// Commands that no rule of its settings allows.
    SomeCommands,
    /// Commands.
    Commands,
    /// Edits, and commands with them.
    Edits,
}

/// How trellis launched a session, or runs it for each message (`transport: headless`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Program and the person's own arguments. What a transport adds (the session's id, the two fields below) is not in it.
    /// A program without a folder is looked for; empty: the agent's usual one.
    #[serde(default)]
    pub argv: Vec<String>,
    /// Folder.
    pub worktree: String,
    /// Claude's `--permission-mode`, Codex's `--sandbox`; `None`: what the agent's own settings say.
    #[serde(default)]
    pub permission_mode: Option<String>,
    /// The agent's `--model`; `None`: what its own settings say.
    #[serde(default)]
    pub model: Option<String>,
    /// Unknown fields are kept.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// State of a session (`loops.md` §1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// A turn runs, or background agents do.
    Working {
        /// What it does, in a few words (`runs cargo test`); empty when unknown.
        activity: String,
    },
    /// A person is needed.
    NeedsYou(Need),
    /// It ended its turn and waits (shown as "needs you: awaiting input" outside a run).
    Idle,
    /// No process, no transport.
    Gone,
    /// Nobody has looked yet whether it is there.
    NotLooked,
}

impl SessionState {
    /// The state's word for records, events and programs.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Working { .. } => "working",
            Self::NeedsYou(Need::AwaitingInput) | Self::Idle => "awaiting_input",
            Self::NeedsYou(Need::NeedsApproval) => "needs_approval",
            Self::NeedsYou(Need::Error) => "error",
            Self::NeedsYou(Need::Limit) => "limit",
            Self::Gone => "gone",
            Self::NotLooked => "not_looked_at",
        }
    }
}

/// What a state rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateFact {
    /// Since when, as far as the agent's own records say it.
    pub since: Option<Timestamp>,
    /// Why it is said, in a few words (`permission prompt`, `its turn ended`).
    pub because: String,
    /// What said so: a record with its offset, a status file, a pane (`sessions/4242.json: waiting`).
    pub evidence: String,
}

/// The reason of a session that plainly ended its turn: its state says it all.
pub const TURN_ENDED: &str = "its turn ended";

/// What a person is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// It waits for a prompt.
    AwaitingInput,
    /// A dialog or a question of the agent is open.
    NeedsApproval,
    /// Its turn failed.
    Error,
    /// Its allowance is used up.
    Limit,
}
