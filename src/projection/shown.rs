//! Whose conversation a viewer asks for. What it is given is `thread`.

use serde::{Deserialize, Serialize};

use crate::model::ids::{RecordKey, SessionKey};

/// Whose conversation a viewer asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// Of a run or a pair: both sides.
    Record(RecordKey),
    /// Of one session; of a long one its end.
    Session(SessionKey),
    /// Of one session from its first message on.
    Whole(SessionKey),
}

impl Shown {
    /// The session that is shown by itself.
    #[must_use]
    pub const fn session(&self) -> Option<&SessionKey> {
        match self {
            Self::Record(_) => None,
            Self::Session(key) | Self::Whole(key) => Some(key),
        }
    }
}
