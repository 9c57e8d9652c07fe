//! What a transport sees of a session at one moment: is it there, may we type, is something on its way.
//! Observed by `agent`, judged by `machine`; never stored.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ids::{EntryId, SessionId, SessionKey};

/// How a message reaches a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// The pane of its interactive CLI.
    Tmux,
    /// A CLI process that trellis runs on the session.
    Headless,
    /// The clipboard; the person pastes.
    ByHand,
    /// A built-in demo agent.
    Scripted,
}

/// One observation of a session by its transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// When it was made.
    pub at: Timestamp,
    /// By which way; `None` when nothing reaches the session.
    pub transport: Option<Transport>,
    /// The agent's process.
    pub process: ProcessFact,
    /// What the agent itself says of its state, where it says anything.
    pub status: LiveStatus,
    /// Where that was read, and since when it is said.
    pub sign: Option<Sign>,
    /// The five conditions for typing.
    pub ticks: Ticks,
    /// The input box.
    pub input: InputBox,
    /// Whether something of the entry that was asked about is still on its way (a queue row, a process of ours).
    pub on_its_way: OnItsWay,
    /// Another session now answers under the same pane or process: its id, and the proof in words.
    pub replaced_by: Option<(SessionId, String)>,
    /// The process whose going over to another session can be proven by a later look.
    pub seen: Option<ProcessMark>,
    /// Where it is, for people: `%1`, `pid 4242`.
    pub place: String,
    /// What the last process that trellis ran on it said when it ended badly, in one line; else empty.
    pub last_words: String,
}

/// Where an agent's own word about its state was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sign {
    /// Since when it says so; `None`: it does not tell.
    pub since: Option<Timestamp>,
    /// The file or the pane, and the word there (`sessions/4242.json: shell`).
    pub source: String,
}

/// One process and no later one under its pid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMark {
    /// Its id.
    pub pid: u32,
    /// The system's own mark of its start.
    pub start_mark: String,
    /// The wall clock then: marks begin anew when the machine is started.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
}

/// The agent's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessFact {
    /// It runs.
    Alive {
        /// Its id.
        pid: u32,
        /// When it was started, if the system says so.
        started_at: Option<Timestamp>,
    },
    /// It does not run, proven (its pid is gone or is another program's).
    Dead,
    /// Nothing is known of it.
    Unknown,
}

/// The agent's own word about its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveStatus {
    /// It says nothing (the transcript decides).
    Silent,
    /// At its input box. A background shell leaves it idle.
    Idle,
    /// A turn runs, or a background agent.
    Busy,
    /// A dialog or a question is open.
    Waiting {
        /// What it waits for, in its words.
        what: String,
    },
}

/// The pre-flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticks {
    /// The right pane: socket, server, pane and process are those that were found.
    pub pane: Tick,
    /// The agent is alive, no shell.
    pub alive: Tick,
    /// No dialog is open.
    pub no_dialog: Tick,
    /// The input box is empty.
    pub box_empty: Tick,
    /// The pane is not in copy mode.
    pub not_scrolled: Tick,
}

impl Ticks {
    /// All five hold.
    #[must_use]
    pub fn all_hold() -> Self {
        Self {
            pane: Tick::Holds,
            alive: Tick::Holds,
            no_dialog: Tick::Holds,
            box_empty: Tick::Holds,
            not_scrolled: Tick::Holds,
        }
    }

    /// The first that is missing, with its reason.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        self.named().into_iter().find_map(|(_, tick)| match tick {
            Tick::Holds => None,
            Tick::Missing(why) => Some(why.as_str()),
        })
    }

    /// The five with their short names, in the order they are shown.
    #[must_use]
    pub fn named(&self) -> [(&'static str, &Tick); 5] {
        [
            ("pane", &self.pane),
            ("alive", &self.alive),
            ("no dialog", &self.no_dialog),
            ("not scrolled", &self.not_scrolled),
            ("box is empty", &self.box_empty),
        ]
    }
}

/// One condition of the pre-flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tick {
    /// It holds.
    Holds,
    /// It does not, and why, in words for people.
    Missing(String),
}

/// What stands in the agent's input box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputBox {
    /// Nothing.
    Empty,
    /// Exactly the text that was asked about.
    Ours,
    /// Something else.
    Other,
    /// Something else that the agent would take for a command of its own: an Enter would run it.
    Command,
    /// It cannot be read, or the transport has none and cannot say.
    Unknown,
}

/// What the transport knows of an entry that is in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnItsWay {
    /// Proven: nothing of it is on its way.
    No,
    /// It is nowhere to be seen, and its pane keeps that Enter was pressed on it.
    Entered,
    /// It stands in the agent's queue.
    Queued,
    /// A process of ours still carries it.
    Carried,
    /// The process that carried it has ended, and said that it did not take it: its words. Nothing is on its way.
    Refused(String),
    /// It cannot be told, and why.
    Unknown(String),
}

/// What to look for when a session is observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeAsk {
    /// The session.
    pub session: SessionKey,
    /// The text of the entry in flight to it (as it was really sent), if any.
    pub in_flight: Option<InFlight>,
    /// The process that was seen on it before this program was started.
    pub last_seen: Option<ProcessMark>,
}

/// The entry in flight, as far as a transport needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// Which one.
    pub entry: Option<EntryId>,
    /// The text as it was sent.
    pub text: std::sync::Arc<str>,
    /// The agent queue's own id of it.
    pub queue_id: Option<String>,
    /// The process that was started to carry it.
    pub carrier: Option<ProcessMark>,
}

/// What became of a send sequence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SendReport {
    /// When the last key was pressed or the queue command ended; `None` when nothing was typed.
    pub last_key_at: Option<Timestamp>,
    /// Whether Enter was pressed (a queue command counts as entered).
    pub entered: bool,
    /// The agent queue's id of the message.
    pub queue_id: Option<String>,
    /// The process that carries it.
    #[serde(default)]
    pub carrier: Option<ProcessMark>,
    /// Why it stopped early, in words for people.
    pub stopped: Option<String>,
}
