//! What the doctor is told of a machine and a home. Gathered by `boot::health`; nothing is looked up or judged here.

use std::collections::BTreeMap;

use crate::model::ids::{Agent, SessionKey};

/// Everything that was looked at.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// tmux's version as it says it (`tmux 3.3a`), or why there is none.
    pub tmux: Option<Result<String, String>>,
    /// The tmux servers that answer, the likeliest first.
    pub servers: Vec<ServerFact>,
    /// The agents' programs.
    pub programs: Vec<ProgramFact>,
    /// Where the agents keep their transcripts.
    pub roots: Vec<RootFact>,
    /// Sessions that a process holds now, and where; an error says why nothing is typed there.
    pub live: Vec<(SessionKey, Result<String, String>)>,
    /// How changes of transcripts are noticed.
    pub watching: WatchFact,
    /// The home.
    pub home: HomeFact,
    /// Sides of runs that go on, of which no process was found.
    pub absent: Vec<(String, SessionKey)>,
    /// Files without which no command goes, and why they cannot be read.
    pub unreadable: Vec<(String, String)>,
    /// Where Claude's status files cannot be read, and why.
    pub signs: Option<(String, String)>,
    /// What does not count in the files a person writes: file, and what is wrong.
    pub settings: Vec<(String, String)>,
    /// Signs beyond ASCII can be shown.
    pub utf8: bool,
    /// trellis itself runs inside tmux.
    pub inside_tmux: bool,
}

/// A tmux server.
#[derive(Clone, Debug, Default)]
pub struct ServerFact {
    /// Its socket.
    pub socket: String,
    /// Its panes.
    pub panes: usize,
    /// Those of its options that matter, by name.
    pub options: BTreeMap<String, String>,
}

/// An agent's program.
#[derive(Clone, Debug)]
pub struct ProgramFact {
    /// Whose.
    pub agent: Agent,
    /// The settings name it.
    pub named: bool,
    /// Its file, or why it was not found.
    pub file: Result<String, String>,
    /// What it says of its version, or why it says nothing. Only where there is a file.
    pub version: Option<Result<String, String>>,
}

/// A folder of transcripts.
#[derive(Clone, Debug)]
pub struct RootFact {
    /// Whose.
    pub agent: Agent,
    /// Where.
    pub path: String,
    /// What is in it, `None` when it is not there, or why it, or a folder in it, cannot be read.
    pub content: Result<Option<RootContent>, String>,
}

/// What is in a folder of transcripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootContent {
    /// How many sessions.
    pub sessions: usize,
    /// How many of the newest were read through.
    pub read: usize,
    /// How many of the newest cannot be read.
    pub refused: usize,
    /// Records of those that trellis knows nothing of, by type.
    pub unknown: BTreeMap<String, u64>,
}

/// How changes are noticed.
#[derive(Clone, Debug, Default)]
pub struct WatchFact {
    /// Without hints of the system: looked at again and again.
    pub polling: bool,
    /// The system's limits, where it has any.
    pub limits: Option<WatchLimits>,
}

/// What the system lends a user to watch with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchLimits {
    /// `fs.inotify.max_user_watches`.
    pub watches: u64,
    /// `fs.inotify.max_user_instances`.
    pub instances: u64,
    /// Instances that this user's processes hold now.
    pub instances_used: u64,
}

/// trellis's own folder.
#[derive(Clone, Debug, Default)]
pub struct HomeFact {
    /// Where.
    pub path: String,
    /// It is there. It is made when something is kept for the first time.
    pub exists: bool,
    /// Why nothing can be kept in it.
    pub refuses: Option<String>,
    /// Its mode, where others than its owner may do something in it.
    pub wide: Option<u32>,
    /// Bytes that are free where it lies.
    pub free: Option<u64>,
    /// Who drives it.
    pub driver: Option<DriverProcess>,
    /// Why the lock could not be looked at.
    pub lock_refuses: Option<String>,
    /// Other programs that have files of it open: pid and name.
    pub strangers: Vec<(u32, String)>,
    /// Records that are only shown: file, and why.
    pub foreign: Vec<(String, String)>,
    /// Files in its `quarantine/`.
    pub quarantined: usize,
}

/// The process that holds the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverProcess {
    /// Its id, if the lock names it.
    pub pid: Option<u32>,
    /// It was stopped (Ctrl-Z, SIGSTOP): nothing is driven until it goes on.
    pub stopped: bool,
}
