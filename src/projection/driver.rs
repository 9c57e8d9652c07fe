//! Who drives, and why orders are not given here because of it. Who it is is never found out here.

use serde::{Deserialize, Serialize};

/// Who drives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriverFact {
    /// Nobody yet.
    #[default]
    Starting,
    /// This process.
    Here,
    /// Another process; this one is a viewer.
    Elsewhere {
        /// Its id, if known.
        pid: Option<u32>,
        /// It goes on without a terminal.
        #[serde(default)]
        background: bool,
    },
    /// Another process that has not answered for some seconds: it is suspended, or hangs. Only a viewer finds that out.
    Silent {
        /// Its id, if known.
        pid: Option<u32>,
        /// It goes on without a terminal.
        #[serde(default)]
        background: bool,
    },
    /// Nobody: the other process is gone; a viewer may take over.
    Nobody,
}

impl DriverFact {
    /// Why orders are not given in this process, and what helps; `None`: they are.
    #[must_use]
    pub fn refuses(&self) -> Option<String> {
        // A side pane has two lines for it.
        let who = self.who()?;
        match self {
            Self::Silent { pid, .. } => Some(format!("{who} does not answer: {}", wakes(*pid))),
            Self::Elsewhere { background: true, .. } => {
                Some(format!("{who} drives in the background: take over first"))
            }
            _ => Some(format!("{who} drives: give the order there, or quit it there (q)")),
        }
    }

    /// The other process that drives.
    #[must_use]
    pub fn who(&self) -> Option<String> {
        match self {
            Self::Elsewhere { pid, .. } | Self::Silent { pid, .. } => {
                Some(pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}")))
            }
            Self::Here | Self::Starting | Self::Nobody => None,
        }
    }

    /// The same process, of which nothing is heard any more.
    #[must_use]
    pub fn silent(self) -> Self {
        match self {
            Self::Elsewhere { pid, background } => Self::Silent { pid, background },
            other => other,
        }
    }
}

/// What has a process go on that was suspended.
#[must_use]
pub fn wakes(pid: Option<u32>) -> String {
    pid.map_or_else(|| "fg in its shell wakes it".to_owned(), |pid| format!("kill -CONT {pid} (or fg) wakes it"))
}
