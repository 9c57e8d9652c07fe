//! Who lives on a session, by the agents' own signs: Claude's status files, the threads that a Codex holds, and the words
//! that a process of their programs was started with. Processes are looked at, never touched.

use std::cell::LazyCell;

use super::whose::{Whose, whose};
use crate::agent::claude::Statuses;
use crate::agent::codex::threads;
use crate::agent::os::{self, Process};
use crate::agent::{Settings, installed};
use crate::model::ids::{Agent, SessionKey};
use crate::model::reach::{LiveStatus, ProcessMark};
use crate::model::text::first_line;

/// What was found.
#[derive(Debug)]
pub(super) enum Sign {
    /// No process lives on it.
    Nobody,
    /// A process runs on it without a person: ours or another program's.
    Runs(Process),
    /// It is open for a person.
    Open {
        /// By whom.
        process: Process,
        /// What that is and what to do, in words for people.
        why: String,
        /// What the agent says of itself.
        status: LiveStatus,
    },
    /// It cannot be told, and why.
    Unknown(String),
}

/// Looks; `marks`: processes that were started on it, by whatever trellis.
pub(super) fn look<'a>(
    key: &SessionKey,
    settings: &Settings,
    marks: impl IntoIterator<Item = &'a ProcessMark>,
) -> Sign {
    let told = match key.agent {
        Agent::Claude => of_claude(key, settings),
        Agent::Codex => of_codex(key, settings),
    };
    if !matches!(told, Sign::Nobody) {
        return told;
    }
    // The process itself, should it have written nothing yet and called itself something else.
    marks.into_iter().find_map(os::marked).map_or(Sign::Nobody, Sign::Runs)
}

fn of_claude(key: &SessionKey, settings: &Settings) -> Sign {
    let statuses = match Statuses::read(&settings.claude_home) {
        Ok(statuses) => statuses,
        Err(why) => return Sign::Unknown(why),
    };
    let live = statuses.live_on(&key.session_id);
    if let Some((status, process)) = live.iter().find(|(status, _)| status.is_interactive()) {
        return open(key, process.clone(), Where::Terminal, status.live());
    }
    if let Some((_, process)) = live.into_iter().next() {
        return Sign::Runs(process);
    }
    if let Some(file) = statuses.torn() {
        return Sign::Unknown(format!("can't read {}", file.display()));
    }
    // One that has written no status file yet names the session it was told to open.
    by_words(key, settings, |process| statuses.of_process(process).is_some())
}

fn of_codex(key: &SessionKey, settings: &Settings) -> Sign {
    // Codex's own lock keeps a second writer away: one that may not be looked at holds nothing up.
    let (holders, _) = threads::holders();
    match holders.into_iter().find(|holder| holder.threads.iter().any(|thread| thread.id == key.session_id)) {
        Some(holder) if holder.is_daemon => open(key, holder.process, Where::Server, LiveStatus::Silent),
        Some(holder) if os::argv(holder.process.pid).is_some_and(|words| has(&words, "exec")) => {
            Sign::Runs(holder.process)
        }
        Some(holder) => open(key, holder.process, Where::Terminal, LiveStatus::Silent),
        None => by_words(key, settings, |_| false),
    }
}

/// A process of the agent's program whose arguments name the session. Others keep such words too: a tmux server those of
/// its first window, a shell those of what it once ran.
fn by_words(key: &SessionKey, settings: &Settings, is_known: impl Fn(&Process) -> bool) -> Sign {
    let installed = LazyCell::new(|| installed::find(key.agent, settings).ok()?.canonicalize().ok());
    let named = os::processes().into_iter().filter_map(|process| {
        let words = os::argv(process.pid)?;
        let alone = runs_alone(key, &words)?;
        if is_known(&process) || !os::may_be_of_this_user(process.pid) {
            return None;
        }
        let file = os::executable(process.pid);
        match whose(key.agent, file.as_deref(), &words, installed.as_deref()) {
            Whose::Another => None,
            // Without a person it only is waited for, whatever it is.
            whose => Some((process, alone, alone || whose == Whose::Agent)),
        }
    });
    match named.min_by_key(|(process, alone, told)| (*alone, !*told, process.pid)) {
        None => Sign::Nobody,
        Some((process, true, _)) => Sign::Runs(process),
        Some((process, false, true)) => open(key, process, Where::Terminal, LiveStatus::Silent),
        Some((process, false, false)) => Sign::Unknown(format!(
            "{} names {key} in its arguments, and whether {} runs on it cannot be told: the next message waits for its \
             end, or `trellis session reach {key} tmux`",
            what(&process),
            key.agent
        )),
    }
}

/// Whether these are the words of a program on this session: `Some(true)`, without a person.
fn runs_alone(key: &SessionKey, words: &[String]) -> Option<bool> {
    let id = key.session_id.as_str();
    match key.agent {
        Agent::Claude => {
            let takes = |word: &str| matches!(word, "--resume" | "-r" | "--session-id");
            let apart = words.windows(2).any(|pair| matches!(pair, [flag, value] if takes(flag) && value == id));
            let joined =
                words.iter().any(|word| word.split_once('=').is_some_and(|(flag, at)| takes(flag) && at == id));
            (apart || joined).then(|| has(words, "-p") || has(words, "--print"))
        }
        Agent::Codex => (has(words, "resume") && has(words, id)).then(|| has(words, "exec")),
    }
}

fn has(words: &[String], wanted: &str) -> bool {
    words.iter().skip(1).any(|word| word == wanted)
}

/// Where a session is open.
#[derive(Clone, Copy)]
enum Where {
    Terminal,
    /// Codex's background server, which goes on holding a thread after its terminal has ended.
    Server,
}

fn open(key: &SessionKey, process: Process, place: Where, status: LiveStatus) -> Sign {
    let (how, end) = match place {
        Where::Terminal => ("in a terminal", "end it there"),
        Where::Server => ("in codex's background server", "`codex app-server daemon stop` ends that"),
    };
    let why = format!("{key} is open {how} ({}): {end}, or `trellis session reach {key} tmux`", what(&process));
    Sign::Open { process, why, status }
}

/// A process by its id and name, so that a person who looks for it ends no other.
fn what(process: &Process) -> String {
    let terminal = process.terminal.as_ref().map(|terminal| format!(" in {terminal}")).unwrap_or_default();
    format!("pid {}, {}{terminal}", process.pid, first_line(&process.name))
}

#[cfg(test)]
#[path = "signs_tests.rs"]
mod tests;
