//! A session that is to be started: what a person chose for it, and which permissions each agent knows.
//! What cannot be is `machine::launch`'s; how it is started is `agent`'s.

use serde::{Deserialize, Serialize};

use super::ids::{Agent, SessionId, SessionKey};
use super::reach::Transport;
use super::session::Launch;

/// How the id of a session begins that its agent has not named yet (Codex names one with its first message).
const UNNAMED: &str = "starting-";

/// A session to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewSession {
    /// The program.
    pub agent: Agent,
    /// The folder it works in, absolute.
    pub worktree: String,
    /// In a tmux pane, or run by trellis for each message.
    pub transport: Transport,
    /// What it may do unasked; `None`: what its own settings say.
    #[serde(default)]
    pub permission_mode: Option<String>,
    /// Its model; `None`: what its own settings say.
    #[serde(default)]
    pub model: Option<String>,
    /// The person's first message.
    #[serde(default)]
    pub prompt: Option<String>,
    /// A name in trellis.
    #[serde(default)]
    pub name: Option<String>,
}

/// A session that is being started: what its transport needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its id, or a name of ours until the agent has one.
    pub session: SessionKey,
    /// Which way.
    pub transport: Transport,
    /// How.
    pub launch: Launch,
    /// The person's first message.
    pub prompt: Option<String>,
}

/// What an agent may do unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Its name in commands and records.
    pub name: &'static str,
    /// What it means, in a few words.
    pub says: &'static str,
    /// Only for an interactive session.
    pub interactive: bool,
}

const fn mode(name: &'static str, says: &'static str) -> Mode {
    Mode { name, says, interactive: false }
}

/// Claude Code's (`--permission-mode`).
const CLAUDE: [Mode; 6] = [
    mode("manual", "asks before edits and most commands"),
    mode("acceptEdits", "edits in its folder unasked, asks for other things"),
    mode("auto", "a check of its own decides what to ask"),
    mode("plan", "plans and changes nothing"),
    mode("dontAsk", "never asks: what is not allowed is denied"),
    mode("bypassPermissions", "never asks and may do everything"),
];

/// Codex's: its sandbox (`-s`), and whether it asks to leave it (`-a`).
const CODEX: [Mode; 5] = [
    mode("read-only", "changes nothing unasked"),
    mode("workspace-write", "edits in its folder unasked, asks for other things"),
    Mode { interactive: true, ..mode("workspace-write/never", "edits in its folder, never asks: other things fail") },
    mode("danger-full-access", "may do everything; asks where it is not sure"),
    Mode { interactive: true, ..mode("danger-full-access/never", "never asks and may do everything") },
];

/// The modes an agent knows.
#[must_use]
pub const fn modes(agent: Agent) -> &'static [Mode] {
    match agent {
        Agent::Claude => &CLAUDE,
        Agent::Codex => &CODEX,
    }
}

/// The mode in which Claude Code refuses to run as root.
pub const NOT_AS_ROOT: &str = "bypassPermissions";

/// An id of ours for a session that its agent has not named yet.
#[must_use]
pub fn unnamed(token: &str) -> SessionId {
    SessionId::new(format!("{UNNAMED}{token}"))
}

/// Whether an id is ours: the agent runs and has not named its session yet.
#[must_use]
pub fn is_unnamed(id: &SessionId) -> bool {
    id.as_str().starts_with(UNNAMED)
}

/// What was chosen, in a few words; empty when nothing was.
#[must_use]
pub fn chosen(launch: &Launch) -> String {
    let parts = [launch.permission_mode.as_deref(), launch.model.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
