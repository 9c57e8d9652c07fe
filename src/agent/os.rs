//! Facts about processes that the operating system gives: start, parent, terminal, environment, open files.
//! What is the same on every system is here; each system's own way is a file of its own. No judgement lives here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use crate::model::reach::ProcessMark;

#[cfg(target_os = "linux")]
#[path = "os_linux.rs"]
mod system;

#[cfg(not(target_os = "linux"))]
#[path = "os_macos.rs"]
mod system;

// Compiled on Linux as well, so that it is type-checked and its parsing is tested there.
#[cfg(all(test, target_os = "linux"))]
#[path = "os_macos.rs"]
#[expect(dead_code, reason = "only its parsing is tested here")]
mod macos;

/// How far two readings of one start time may be apart when the wall clock was set meanwhile.
const CLOCK_SLACK: SignedDuration = SignedDuration::from_mins(2);

/// A process as the system shows it at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's id; 0: none.
    pub parent: u32,
    /// Name of the program, as short as the system keeps it.
    pub name: String,
    /// Its controlling terminal (`/dev/pts/3`), if it has one that can be named.
    pub terminal: Option<String>,
    /// Its group is the one that reads the terminal; true as well where the system does not say.
    pub foreground: bool,
    /// It was stopped (Ctrl-Z).
    pub stopped: bool,
    /// When it was started, to the second.
    pub started_at: Option<Timestamp>,
    /// The system's own mark of its start: with the pid it names one process and never another.
    pub start_mark: String,
}

impl Process {
    /// Whether this very process (not another one under its pid) still runs.
    #[must_use]
    pub fn still_runs(&self) -> bool {
        process(self.pid).is_some_and(|now| now.start_mark == self.start_mark)
    }

    /// What names it and no later one.
    #[must_use]
    pub fn mark(&self) -> ProcessMark {
        ProcessMark { pid: self.pid, start_mark: self.start_mark.clone(), started_at: self.started_at }
    }
}

/// A process's environment.
pub type Variables = BTreeMap<String, String>;

/// The process with this id; `None` when there is none or it is only waiting to be reaped.
#[must_use]
pub fn process(pid: u32) -> Option<Process> {
    system::process(pid)
}

/// The process of a mark, while it runs.
#[must_use]
pub fn marked(mark: &ProcessMark) -> Option<Process> {
    let now = process(mark.pid).filter(|now| now.start_mark == mark.start_mark)?;
    // After a start of the machine the same pid may have the same mark by chance; the clock tells them apart.
    let apart = match (mark.started_at, now.started_at) {
        (Some(then), Some(now)) => now.duration_since(then).abs(),
        _ => SignedDuration::ZERO,
    };
    (apart <= CLOCK_SLACK).then_some(now)
}

/// All processes, in no order.
#[must_use]
pub fn processes() -> Vec<Process> {
    system::processes()
}

/// The environment a process was started with; `None` when it may not be read.
#[must_use]
pub fn environment(pid: u32) -> Option<Variables> {
    system::environment(pid)
}

/// Program and arguments; `None` when they may not be read.
#[must_use]
pub fn argv(pid: u32) -> Option<Vec<String>> {
    system::argv(pid)
}

/// The file that a process runs, if it is still there.
#[must_use]
pub fn executable(pid: u32) -> Option<PathBuf> {
    system::executable(pid).filter(|path| path.is_file())
}

/// Whether a process may write what this user's programs write: it runs as the same user, or this user is the
/// superuser. True as well where the system does not say who it runs as.
#[must_use]
pub fn may_be_of_this_user(pid: u32) -> bool {
    let own = rustix::process::geteuid();
    own.is_root() || system::user(pid).is_none_or(|user| user == own.as_raw())
}

/// The folder a process works in.
#[must_use]
pub fn folder(pid: u32) -> Option<PathBuf> {
    system::folder(pid)
}

/// The files a process holds open to write to; `None` when they may not be read. One that it only reads is not its own.
#[must_use]
pub fn written_files(pid: u32) -> Option<Vec<PathBuf>> {
    system::written_files(pid)
}

/// What the system lends this user to watch files with: watches, instances, and how many instances its processes hold.
/// `None` where the system has no such limits.
#[must_use]
pub fn watch_limits() -> Option<(u64, u64, u64)> {
    system::watch_limits()
}

/// Whether two paths are one folder, whatever links lead there.
#[must_use]
pub fn same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    one == other || real(one) == real(other)
}

/// The process itself and what it descends from, nearest first; at most 64.
#[must_use]
pub fn lineage(process: &Process) -> Vec<u32> {
    let mut line = vec![process.pid];
    let mut parent = process.parent;
    while parent > 0 && line.len() < 64 && !line.contains(&parent) {
        line.push(parent);
        parent = self::process(parent).map_or(0, |above| above.parent);
    }
    line
}

#[cfg(test)]
#[path = "os_tests.rs"]
mod tests;
