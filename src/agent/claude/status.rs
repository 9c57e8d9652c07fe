//! Claude's status files, `sessions/<pid>.json`: one a running process, rewritten in place, left over after a kill.
//! Keys of Claude's own messaging lie in the same folder; they are never opened.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;

use crate::agent::os::{self, Process};
use crate::model::ids::SessionId;
use crate::model::reach::{LiveStatus, Sign};
use crate::model::text::first_line;
use crate::small_file;

/// A file is rewritten in place: one that does not parse is read again this often.
const TRIES: u32 = 6;
const BETWEEN_TRIES: Duration = Duration::from_millis(8);
/// A process may write its start time a little off the system's own, which is told in whole seconds.
const START_SLACK_SECONDS: i64 = 5;

/// One status file. Not documented as an interface by Claude: every field but the session may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusFile {
    /// The process that wrote it.
    pub pid: u32,
    /// The session it is on now.
    pub session_id: SessionId,
    /// The folder it works in.
    #[serde(default)]
    pub cwd: Option<String>,
    /// When it was started, in milliseconds since 1970.
    #[serde(default)]
    pub started_at: Option<i64>,
    /// The system's mark of its start, where it writes one.
    #[serde(default)]
    pub proc_start: Option<String>,
    /// `idle`, `busy`, `waiting`, `shell`.
    #[serde(default)]
    pub status: Option<String>,
    /// What it waits for.
    #[serde(default)]
    pub waiting_for: Option<String>,
    /// Since when `status` is what it is, in milliseconds since 1970.
    #[serde(default)]
    pub status_updated_at: Option<i64>,
    /// `cli`, or `sdk-cli` for a headless one.
    #[serde(default)]
    pub entrypoint: Option<String>,
    /// Its version.
    #[serde(default)]
    pub version: Option<String>,
}

/// What a read of one file gave.
enum Read {
    Whole(Box<StatusFile>),
    Torn,
    Gone,
}

impl StatusFile {
    /// The file of one process.
    ///
    /// # Errors
    /// It is gone or cannot be read.
    pub fn of_pid(claude_home: &Path, pid: u32) -> Result<Self, String> {
        let path = claude_home.join("sessions").join(format!("{pid}.json"));
        match read(&path) {
            Read::Whole(file) => Ok(*file),
            Read::Torn => Err(format!("can't read {}", path.display())),
            Read::Gone => Err(String::from("claude is not running")),
        }
    }

    /// Its word about its state. A background shell leaves it idle; a word that is not known is no word.
    #[must_use]
    pub fn live(&self) -> LiveStatus {
        match self.status.as_deref() {
            Some("idle" | "shell") => LiveStatus::Idle,
            Some("busy") => LiveStatus::Busy,
            Some("waiting") => {
                let what = self.waiting_for.as_deref().unwrap_or("a dialog");
                LiveStatus::Waiting { what: first_line(what) }
            }
            _ => LiveStatus::Silent,
        }
    }

    /// Where its word stands and since when, for people.
    #[must_use]
    pub fn sign(&self) -> Option<Sign> {
        let word = first_line(self.status.as_deref()?);
        let since = self.status_updated_at.and_then(|at| Timestamp::from_millisecond(at).ok());
        Some(Sign { since, source: format!("sessions/{}.json: {word}", self.pid) })
    }

    /// A person's terminal, not a process that a program runs.
    #[must_use]
    pub fn is_interactive(&self) -> bool {
        self.entrypoint.as_deref().is_none_or(|way| way == "cli")
    }

    /// Whether this process wrote it (and not an earlier one that had its pid).
    #[must_use]
    pub fn is_of(&self, process: &Process) -> bool {
        if self.pid != process.pid {
            return false;
        }
        if let Some(mark) = self.proc_start.as_deref()
            && mark.bytes().all(|byte| byte.is_ascii_digit())
            && process.start_mark.bytes().all(|byte| byte.is_ascii_digit())
        {
            return mark == process.start_mark;
        }
        match (self.started_at, process.started_at) {
            // The file is written after the start; a process that started later has only the same pid.
            (Some(wrote), Some(started)) => started.as_second() <= wrote / 1_000 + START_SLACK_SECONDS,
            _ => true,
        }
    }
}

/// All status files at one moment.
#[derive(Clone, Debug, Default)]
pub struct Statuses {
    files: Vec<StatusFile>,
    torn: Vec<PathBuf>,
}

impl Statuses {
    /// Reads them. A folder that is not there holds none.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn read(claude_home: &Path) -> Result<Self, String> {
        let folder = claude_home.join("sessions");
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("can't read {}: {error}", folder.display())),
        };
        let mut all = Self::default();
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let is_status = path.extension().is_some_and(|ending| ending == "json")
                && path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| stem.parse::<u32>().is_ok());
            if !is_status {
                continue;
            }
            match read(&path) {
                Read::Whole(file) => all.files.push(*file),
                Read::Torn => all.torn.push(path),
                Read::Gone => {}
            }
        }
        Ok(all)
    }

    /// Those that a live process wrote, with it.
    #[must_use]
    pub fn live(&self) -> Vec<(StatusFile, Process)> {
        let pairs = self.files.iter().filter_map(|file| {
            let process = os::process(file.pid)?;
            file.is_of(&process).then(|| (file.clone(), process))
        });
        pairs.collect()
    }

    /// The live ones on a session.
    #[must_use]
    pub fn live_on(&self, id: &SessionId) -> Vec<(StatusFile, Process)> {
        let mut live = self.live();
        live.retain(|(file, _)| file.session_id == *id);
        live
    }

    /// Not one can be read: this Claude may write none, or in another way.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.files.is_empty() && self.torn.is_empty()
    }

    /// What a process wrote.
    #[must_use]
    pub fn of_process(&self, process: &Process) -> Option<&StatusFile> {
        self.files.iter().find(|file| file.is_of(process))
    }

    /// A file of a live process that could not be read whole.
    #[must_use]
    pub fn torn(&self) -> Option<&Path> {
        let alive = |path: &&PathBuf| {
            let pid = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
            pid.is_some_and(|pid| os::process(pid).is_some())
        };
        self.torn.iter().find(alive).map(PathBuf::as_path)
    }
}

fn read(path: &Path) -> Read {
    for left in (0..TRIES).rev() {
        match small_file::bytes(path) {
            Ok(bytes) => {
                if let Ok(file) = serde_json::from_slice(&bytes) {
                    return Read::Whole(Box::new(file));
                }
            }
            // What is no ordinary file was never written by Claude.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Other) => return Read::Gone,
            Err(_) => {}
        }
        if left > 0 {
            thread::sleep(BETWEEN_TRIES);
        }
    }
    Read::Torn
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
