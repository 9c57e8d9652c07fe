//! Starts the process of a turn so that nothing of trellis holds it up, and keeps how it ended and what it said.
//!
//! The message is complete in a file without a name before the process starts, and that file is its input; what it says
//! goes into a file as well. So a trellis that is killed in any moment cuts neither the message nor the turn.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use super::turn::Plan;
use super::{Tell, log_of};
use crate::agent::{Settings, os, program};
use crate::machine::wire::cleaned;
use crate::model::ids::{SessionId, SessionKey};
use crate::model::reach::ProcessMark;
use crate::small_file;

/// As much of the end of what a process said is read.
const TAIL_BYTES: u64 = 4_096;
/// Letters of it that are shown.
const SHOWN: usize = 300;
/// The event that names a session is the first.
const NAMED_WITHIN: usize = 65_536;
/// What names our own terminal or session to a child: it has none of them.
const NOT_ITS_OWN: [&str; 5] = ["TMUX", "TMUX_PANE", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_THREAD_ID"];
/// How often, and how far apart, a new session's name is looked for: two minutes altogether.
const LOOKS: u32 = 1_200;
const BETWEEN: Duration = Duration::from_millis(100);
/// Between two looks for an end that the system has shown already.
const SOON: Duration = Duration::from_millis(2);

/// A process of ours, running or ended.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) mark: ProcessMark,
    said: File,
    events: Option<File>,
    exit: Arc<OnceLock<Option<ExitStatus>>>,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    /// `None`: nobody of us was there.
    pub(super) code: Option<Exit>,
    /// The last of what it said, one line; may be empty.
    pub(super) said: String,
}

/// The end that the system told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl Ended {
    /// Why it did not take its message up, when it says so. Without a word, and after a signal, nothing was refused:
    /// the message is merely not there.
    pub(super) fn refusal(&self) -> Option<String> {
        match (self.code, self.said.as_str()) {
            (Some(Exit::Signal(_)), _) | (None, "") => None,
            (Some(Exit::Code(0)), "") => Some(String::from("it ended without taking the message up")),
            (Some(Exit::Code(0)), said) => Some(format!("it ended without taking the message up: {said}")),
            (Some(Exit::Code(code)), "") => Some(format!("it ended with exit code {code} and said nothing")),
            (_, said) => Some(format!("it ended at once: {said}")),
        }
    }

    /// What a bad end is told with; empty after a good one.
    pub(super) fn words(&self) -> String {
        let how = match self.code {
            Some(Exit::Code(0)) => return String::new(),
            Some(Exit::Code(code)) => format!("exit code {code}"),
            Some(Exit::Signal(signal)) => format!("signal {signal}"),
            None => return self.said.clone(),
        };
        if self.said.is_empty() { how } else { format!("{how}: {}", self.said) }
    }
}

impl Carried {
    /// How it ended; `None` while it runs. When the system shows it no more, whoever waits for it is about to know.
    pub(super) fn ended(&self) -> Option<Ended> {
        let mut left = LOOKS;
        while self.exit.get().is_none() && left > 0 && os::marked(&self.mark).is_none() {
            thread::sleep(SOON);
            left -= 1;
        }
        let exit = self.exit.get()?;
        let code = exit.and_then(|exit| exit.code().map(Exit::Code).or_else(|| exit.signal().map(Exit::Signal)));
        Some(Ended { code, said: last_line(&tail(&self.said)) })
    }
}

/// Starts a process. `key`: whose words are kept under its name.
///
/// # Errors
/// A file cannot be made or the program cannot be started. Nothing runs then.
pub(super) fn start(
    plan: &Plan,
    text: &str,
    settings: &Settings,
    key: Option<&SessionKey>,
    tell: Tell,
) -> Result<Carried, String> {
    let failed = |error: std::io::Error| format!("can't hand the message over: {error}");
    let mut input = tempfile::tempfile().map_err(failed)?;
    input.write_all(text.as_bytes()).and_then(|()| input.seek(SeekFrom::Start(0))).map_err(failed)?;
    let said = words_file(settings, key).map_err(failed)?;
    let events = if plan.tells_events && key.is_none() { Some(tempfile::tempfile().map_err(failed)?) } else { None };
    let output = match (&events, plan.tells_events) {
        (Some(events), _) => Stdio::from(events.try_clone().map_err(failed)?),
        (None, true) => Stdio::null(),
        (None, false) => Stdio::from(said.try_clone().map_err(failed)?),
    };
    let mut command = apart(plan, settings);
    for name in NOT_ITS_OWN {
        command.env_remove(name);
    }
    let mut child = command
        .envs(settings.variables.iter().map(|(name, value)| (name, value)))
        .current_dir(&plan.folder)
        .stdin(input)
        .stdout(output)
        .stderr(said.try_clone().map_err(failed)?)
        .spawn()
        .map_err(|error| format!("can't run {}: {error}", plan.program.display()))?;
    let pid = child.id();
    // Nobody else gets this id before the child is waited for; one that has ended already has no start to be told.
    let process = os::process(pid);
    let ended = || ProcessMark { pid, start_mark: String::new(), started_at: None };
    let mark = process.map_or_else(ended, |process| process.mark());
    let exit = Arc::new(OnceLock::new());
    let told = Arc::clone(&exit);
    // Not one of the supervisor's: it waits for the agent, and trellis may end before that.
    thread::spawn(move || {
        let _ = told.set(child.wait().ok());
        tell();
    });
    Ok(Carried { mark, said, events, exit })
}

/// A command in a session of its own, so that neither our terminal's keys nor its end reach it and it asks nobody there.
/// Where the system has no `setsid`, a group of its own keeps the keys away.
fn apart(plan: &Plan, settings: &Settings) -> Command {
    let mut command = if let Some(setsid) = program::on_path("setsid", settings.path.as_deref()) {
        let mut command = Command::new(setsid);
        command.arg(&plan.program);
        command
    } else {
        let mut command = Command::new(&plan.program);
        command.process_group(0);
        command
    };
    command.args(&plan.arguments);
    command
}

/// The session that a new process names in its events.
///
/// # Errors
/// It ended first, or names none for two minutes: its words.
pub(super) fn named(carried: &Carried) -> Result<SessionId, String> {
    let Some(events) = &carried.events else { return Err(String::from("it tells no events")) };
    let look = || {
        // At a place of its own: the writer's place in the file is the process's.
        let mut bytes = vec![0; NAMED_WITHIN];
        let read = events.read_at(&mut bytes, 0).unwrap_or(0);
        bytes.truncate(read);
        String::from_utf8_lossy(&bytes).lines().find_map(thread_of)
    };
    let id = shows(carried, look)?;
    id.ok_or_else(|| format!("it has named no session yet (pid {})", carried.mark.pid))
}

/// Waits until a look at what a process does shows something; `None` after two minutes, in which it did not end.
///
/// # Errors
/// It ended first: its words.
pub(super) fn shows<T>(carried: &Carried, look: impl Fn() -> Option<T>) -> Result<Option<T>, String> {
    for _ in 0..LOOKS {
        let over = carried.exit.get().is_some();
        if let Some(shown) = look() {
            return Ok(Some(shown));
        }
        if over {
            let refusal = carried.ended().and_then(|ended| ended.refusal());
            return Err(refusal.unwrap_or_else(|| String::from("it ended at once and said nothing")));
        }
        thread::sleep(BETWEEN);
    }
    Ok(None)
}

/// `{"type":"thread.started","thread_id":"…"}`
fn thread_of(line: &str) -> Option<SessionId> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    let is_start = event.get("type").and_then(serde_json::Value::as_str) == Some("thread.started");
    event.get("thread_id").and_then(serde_json::Value::as_str).filter(|_| is_start).map(SessionId::new)
}

/// A new file for what a process says, under the session's name where there is a place for it. A process before it keeps
/// writing into its own.
fn words_file(settings: &Settings, key: Option<&SessionKey>) -> std::io::Result<File> {
    let kept = settings.logs.as_deref().filter(|logs| logs.is_dir()).zip(key);
    let Some((path, logs)) = kept.and_then(|(logs, key)| Some((log_of(logs, key)?, logs))) else {
        return tempfile::tempfile();
    };
    tempfile::NamedTempFile::new_in(logs)?.persist(path).map_err(|error| error.error)
}

/// What the last process on a session left behind, one line; empty when there is nothing.
pub(super) fn left_words(settings: &Settings, key: &SessionKey) -> String {
    let file = settings.logs.as_deref().and_then(|logs| small_file::opened(&log_of(logs, key)?).ok());
    file.map(|file| last_line(&tail(&file))).unwrap_or_default()
}

/// The end of a file, wherever its writer is.
fn tail(file: &File) -> String {
    let length = file.metadata().map_or(0, |facts| facts.len());
    let from = length.saturating_sub(TAIL_BYTES);
    let mut bytes = vec![0; usize::try_from(length - from).unwrap_or(0)];
    let read = file.read_at(&mut bytes, from).unwrap_or(0);
    bytes.truncate(read);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The line that says what went wrong: the last that begins with `error`, else the last that is not empty. Cleaned of
/// control characters and cut.
fn last_line(text: &str) -> String {
    let text = cleaned(text).replace('\t', " ");
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty()).rev();
    let is_error = |line: &&str| line.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("error"));
    let line = lines().find(is_error).or_else(|| lines().next()).unwrap_or_default();
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
#[path = "carry_tests.rs"]
mod tests;
