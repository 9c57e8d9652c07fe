//! What a session was launched with or is seen running as, so that it can be opened again in the same way.
//! Nothing is started here.

use std::path::Path;

use super::os::{self, Process};
use super::{Settings, installed, program};
use crate::model::ids::Agent;
use crate::model::session::Launch;

/// Programs that run another file: that file is the agent then.
const INTERPRETERS: [&str; 6] = ["node", "nodejs", "bun", "deno", "python", "python3"];

/// Words that a session is opened again with, as each agent takes them: with a value behind them, and without.
const CLAUDE_WITH: [&str; 5] = ["--model", "--settings", "--effort", "--mcp-config", "--append-system-prompt"];
const CLAUDE_ALONE: [&str; 2] = ["--allow-dangerously-skip-permissions", "--strict-mcp-config"];
const CODEX_WITH: [&str; 11] =
    ["-m", "--model", "-a", "--ask-for-approval", "-s", "--sandbox", "-c", "--config", "-p", "--profile", "--add-dir"];
const CODEX_ALONE: [&str; 5] =
    ["--no-daemon", "--search", "--oss", "--no-alt-screen", "--dangerously-bypass-approvals-and-sandbox"];

/// The program of an agent with the words that come before all others: what a session was launched with, or last seen
/// running as, then what the settings name, then `PATH`.
///
/// # Errors
/// It is nowhere: what to do, in a sentence.
pub(super) fn program_of(agent: Agent, launch: Option<&Launch>, settings: &Settings) -> Result<Vec<String>, String> {
    if let Some(words) = launch.and_then(|launch| own_words(&launch.argv)) {
        return Ok(words);
    }
    let mut words = vec![words_of(&installed::find(agent, settings)?)];
    words.extend(launch.map(|launch| further(&launch.argv).to_vec()).unwrap_or_default());
    Ok(words)
}

/// Program and first words of a launch, if its program is still there.
fn own_words(argv: &[String]) -> Option<Vec<String>> {
    let program = Path::new(argv.first()?);
    let is_there = program.is_absolute() && program::may_run(program) && script(argv).is_none_or(Path::is_file);
    is_there.then(|| argv.to_vec())
}

/// The words of a launch behind its program.
fn further(argv: &[String]) -> &[String] {
    argv.get(1 + usize::from(script(argv).is_some())..).unwrap_or_default()
}

/// The file that an interpreter runs.
fn script(argv: &[String]) -> Option<&Path> {
    let runs = Path::new(argv.first()?).file_name()?.to_str()?;
    let is_interpreter = INTERPRETERS.iter().any(|known| {
        runs.strip_prefix(known).is_some_and(|rest| rest.bytes().all(|sign| sign.is_ascii_digit() || sign == b'.'))
    });
    argv.get(1).filter(|_| is_interpreter).map(Path::new)
}

/// What a running agent was started with, as far as it can be opened again with it. `None`: it may not be looked at.
pub(super) fn launch_of(agent: Agent, process: &Process, worktree: &str) -> Option<Launch> {
    let executable = words_of(&os::executable(process.pid)?);
    let mut words = os::argv(process.pid)?;
    if let Some(first) = words.first_mut() {
        *first = executable;
    }
    Some(launch_from(agent, &words, worktree))
}

/// The launch that these words are. Pure.
fn launch_from(agent: Agent, words: &[String], worktree: &str) -> Launch {
    let skipped = 1 + usize::from(script(words).is_some());
    let mut launch = Launch { worktree: worktree.to_owned(), ..Launch::default() };
    launch.argv.extend(words.iter().take(skipped).cloned());
    let (with, alone): (&[&str], &[&str]) = match agent {
        Agent::Claude => (&CLAUDE_WITH, &CLAUDE_ALONE),
        Agent::Codex => (&CODEX_WITH, &CODEX_ALONE),
    };
    let mut rest = words.iter().skip(skipped);
    let (mut sandbox, mut approval) = (None, None);
    while let Some(word) = rest.next() {
        if word == "--" {
            break;
        }
        let (flag, joined) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        match (agent, flag) {
            (Agent::Claude, "--permission-mode") => launch.permission_mode = joined.or_else(|| rest.next().cloned()),
            (Agent::Claude, "--dangerously-skip-permissions") => {
                launch.permission_mode = Some("bypassPermissions".to_owned());
            }
            (_, "--model") | (Agent::Codex, "-m") => launch.model = joined.or_else(|| rest.next().cloned()),
            (Agent::Codex, "-s" | "--sandbox") => sandbox = joined.or_else(|| rest.next().cloned()),
            (Agent::Codex, "-a" | "--ask-for-approval") => approval = joined.or_else(|| rest.next().cloned()),
            (_, flag) if with.contains(&flag) => {
                if let Some(value) = joined.or_else(|| rest.next().cloned()) {
                    launch.argv.extend([flag.to_owned(), value]);
                }
            }
            (_, flag) if alone.contains(&flag) => launch.argv.push(flag.to_owned()),
            _ => {}
        }
    }
    match (sandbox, approval) {
        (Some(sandbox), Some(approval)) if approval == "never" => {
            launch.permission_mode = Some(format!("{sandbox}/{approval}"));
        }
        (sandbox, approval) => {
            launch.permission_mode = launch.permission_mode.or(sandbox);
            launch.argv.extend(approval.into_iter().flat_map(|approval| ["-a".to_owned(), approval]));
        }
    }
    launch
}

fn words_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
#[path = "runs_as_tests.rs"]
mod tests;
