//! The command line of one turn: which program, in which folder, with which words. Nothing is started here.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use crate::agent::{Settings, installed, program};
use crate::model::ids::{Agent, SessionId, SessionKey};
use crate::model::session::Launch;
use crate::small_file;

/// Of a transcript so many lines are looked at: its queue writes few before its first message.
const HEAD: usize = 64;

/// What is to be run. The message comes in by the program's input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) folder: PathBuf,
    /// Its output is events, not words for people.
    pub(super) tells_events: bool,
}

/// The next turn of a session.
///
/// # Errors
/// What is missing, in words for people.
pub(super) fn plan(key: &SessionKey, launch: &Launch, settings: &Settings) -> Result<Plan, String> {
    let id = &key.session_id;
    if !is_uuid(id) {
        // Codex would begin a new session on such a word, without a sign of it.
        return Err(format!("{id} is no id that {} resumes", key.agent));
    }
    match key.agent {
        Agent::Claude => {
            let names = match transcript(&settings.claude_home, id)? {
                Some(path) if holds_nothing(&path) => return Err(words_of_cut_short(id)),
                Some(_) => "--resume",
                None => "--session-id",
            };
            build(key.agent, launch, settings, &["-p", names, id.as_str()], &[])
        }
        Agent::Codex => build(key.agent, launch, settings, &["exec"], &["resume", "--json", id.as_str(), "-"]),
    }
}

/// The first turn of a session that the agent names itself.
///
/// # Errors
/// What is missing, in words for people.
pub(super) fn first(agent: Agent, launch: &Launch, settings: &Settings) -> Result<Plan, String> {
    match agent {
        Agent::Claude => Err(String::from("claude's id is chosen before its first message")),
        Agent::Codex => build(agent, launch, settings, &["exec"], &["--json", "-"]),
    }
}

/// The program, the person's own words, the launch's choices between ours.
fn build(agent: Agent, launch: &Launch, settings: &Settings, before: &[&str], behind: &[&str]) -> Result<Plan, String> {
    let folder = PathBuf::from(&launch.worktree);
    if !folder.is_absolute() || !folder.is_dir() {
        return Err(format!("its folder {} is not there", launch.worktree));
    }
    let (program, own) = program_of(agent, launch, settings)?;
    let mut arguments: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
    arguments.extend(own.iter().cloned());
    let mode = launch.permission_mode.as_deref();
    let (mode_flag, mode) = match agent {
        Agent::Claude => ("--permission-mode", mode),
        // Without a person nothing can be asked: what stands behind the sandbox says how it asks in a pane.
        Agent::Codex => ("--sandbox", mode.map(|mode| mode.split('/').next().unwrap_or(mode))),
    };
    for (flag, value) in [(mode_flag, mode), ("--model", launch.model.as_deref())] {
        arguments.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value.to_owned()]));
    }
    arguments.extend(behind.iter().map(|word| (*word).to_owned()));
    Ok(Plan { program, arguments, folder, tells_events: agent == Agent::Codex })
}

/// The program that the launch names, else the usual one; and the person's own words.
fn program_of<'a>(agent: Agent, launch: &'a Launch, settings: &Settings) -> Result<(PathBuf, &'a [String]), String> {
    let Some((named, own)) = launch.argv.split_first() else {
        return Ok((installed::find(agent, settings)?, &[]));
    };
    let found = if named.contains('/') {
        Some(PathBuf::from(named)).filter(|path| path.is_file())
    } else if named == agent.as_str() {
        Some(installed::find(agent, settings)?)
    } else {
        program::on_path(named, settings.path.as_deref())
    };
    found.map(|found| (found, own)).ok_or_else(|| format!("can't find the program {named}; name its folder in PATH"))
}

/// Claude neither resumes nor begins a session of which only the coming of its first message was written: why, and what to do.
pub(super) fn cut_short(key: &SessionKey, settings: &Settings) -> Option<String> {
    if key.agent != Agent::Claude {
        return None;
    }
    let path = transcript(&settings.claude_home, &key.session_id).ok()??;
    holds_nothing(&path).then(|| words_of_cut_short(&key.session_id))
}

fn words_of_cut_short(id: &SessionId) -> String {
    format!(
        "claude was ended before it kept its first message, and opens session {id} in no way any more; nothing of it is \
         lost: start another (`trellis session new`) and a run with that"
    )
}

/// Whether a transcript has bookkeeping of its queue and nothing else. One that cannot be read is Claude's to judge.
fn holds_nothing(path: &Path) -> bool {
    let Ok(file) = small_file::opened(path) else { return false };
    let lines = BufReader::new(file).lines().take(HEAD).map_while(Result::ok);
    let mut types = lines.filter_map(|line| {
        let record: serde_json::Value = serde_json::from_str(&line).ok()?;
        record.get("type")?.as_str().map(str::to_owned)
    });
    types.all(|kind| kind == "queue-operation")
}

/// Claude's transcript of this session, if there is one.
pub(super) fn transcript(claude_home: &Path, id: &SessionId) -> Result<Option<PathBuf>, String> {
    let projects = claude_home.join("projects");
    let folders = match std::fs::read_dir(&projects) {
        Ok(folders) => folders,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("can't read {}: {error}", projects.display())),
    };
    let name = format!("{id}.jsonl");
    for folder in folders {
        let folder = folder.map_err(|error| format!("can't read {}: {error}", projects.display()))?;
        let path = folder.path().join(&name);
        if path.is_file() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// `8-4-4-4-12` hexadecimal digits.
fn is_uuid(id: &SessionId) -> bool {
    let parts: Vec<&str> = id.as_str().split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(|part| part.bytes().all(|sign| sign.is_ascii_hexdigit()))
}
