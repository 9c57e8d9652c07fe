//! What an agent's hook told: a note of one moment, spooled by `trellis hook` and taken in by the driver.
//! It makes things show at once; what happened is decided by transcripts and status files all the same.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ids::{SessionKey, SessionRef};
use super::reach::ProcessMark;

/// One note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookNote {
    /// When the hook was called.
    pub at: Timestamp,
    /// By which session, and in which folder it works.
    pub session: SessionRef,
    /// Its transcript, which need not be there yet.
    pub transcript: Option<String>,
    /// The agent's process.
    pub process: Option<ProcessMark>,
    /// What it told.
    pub event: HookEvent,
}

/// What a hook tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookEvent {
    /// A session began, was resumed, or took the place of another in its process.
    Started,
    /// A dialog asks the person for a permission.
    Asks {
        /// The tool and the first words of what it would do.
        what: String,
    },
    /// A session ended, or its process left it.
    Ended,
}

/// A permission that is asked for, as long as nothing says that it was given or refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Since when.
    pub at: Timestamp,
    /// The tool and the first words of what it would do.
    pub what: String,
}

impl HookNote {
    /// Which session it is of.
    #[must_use]
    pub fn key(&self) -> SessionKey {
        self.session.key()
    }
}
