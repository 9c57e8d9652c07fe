//! Identifiers, one type each, so that a pair's id cannot be handed over as a run's.
//! Foreign ids (sessions, turns, messages, records) are opaque text; our own are safe as file names. A clone shares its text.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes the text as it is.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }
    };
}

id!(
    /// A checklist run of ours.
    RunId
);
id!(
    /// A pair of ours; inside a run it derives from the run's id and the count of its pairs.
    PairId
);
impl PairId {
    /// Whether it derives from this run's id.
    #[must_use]
    pub fn is_of(&self, run: &RunId) -> bool {
        self.0.strip_prefix(run.as_str()).is_some_and(|rest| rest.starts_with('-'))
    }
}

id!(
    /// An outbox entry of ours; derives from its record's id and its position.
    EntryId
);

impl EntryId {
    /// The id of a record's entry; they are counted from 1.
    #[must_use]
    pub fn of(record: &str, number: u32) -> Self {
        Self(format!("{record}-m{number}").into())
    }

    /// Its number among the entries of its record; `None` for an id that is not made by [`Self::of`].
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        self.0.rsplit_once("-m")?.1.parse().ok()
    }
}

id!(
    /// The agent's own session id (Claude) or thread id (Codex).
    SessionId
);
id!(
    /// A turn, as `loops.md` §1 defines it for each agent.
    TurnId
);
id!(
    /// An assistant message.
    MessageId
);
id!(
    /// One transcript record: Claude's `uuid`, Codex's ordinal, else `@` and the byte offset.
    RecordId
);

/// Whether `text` may name a file of ours: 1 to 80 of `[A-Za-z0-9._-]`, not starting with a dot.
#[must_use]
pub fn is_safe_name(text: &str) -> bool {
    (1..=80).contains(&text.len())
        && !text.starts_with('.')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Either of the two records that own an outbox.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKey {
    /// A checklist run.
    Run(RunId),
    /// A pair.
    Pair(PairId),
}

impl RecordKey {
    /// The id without its kind.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Run(id) => id.as_str(),
            Self::Pair(id) => id.as_str(),
        }
    }
}

impl fmt::Display for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The program behind a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
}

impl Agent {
    /// The word for records, commands and the screen.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which of the two sides of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Builds.
    Implementer,
    /// Reviews.
    Reviewer,
}

impl Role {
    /// The other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Implementer => Self::Reviewer,
            Self::Reviewer => Self::Implementer,
        }
    }
}

/// A session as every record names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionRef {
    /// The program.
    pub agent: Agent,
    /// The folder it works in (newest `cwd` of its transcript).
    pub worktree: String,
    /// The agent's own id.
    pub session_id: SessionId,
}

impl SessionRef {
    /// What identifies it: the worktree may move, the id does not.
    #[must_use]
    pub fn key(&self) -> SessionKey {
        SessionKey { agent: self.agent, session_id: self.session_id.clone() }
    }

    /// Whether that is its key.
    #[must_use]
    pub fn is(&self, key: &SessionKey) -> bool {
        self.agent == key.agent && self.session_id == key.session_id
    }
}

/// The identity of a session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionKey {
    /// The program.
    pub agent: Agent,
    /// The agent's own id.
    pub session_id: SessionId,
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.agent, self.session_id)
    }
}
