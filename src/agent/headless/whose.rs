//! Whether a process is an agent's own program, told by its file and its words. Pure: nothing is looked up here.

use std::path::Path;

use crate::model::ids::Agent;

/// Programs that run another file, which their words name.
const RUN_A_FILE: [&str; 24] = [
    "node",
    "nodejs",
    "bun",
    "deno",
    "python",
    "python3",
    "sh",
    "bash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "fish",
    "busybox",
    "env",
    "setsid",
    "nice",
    "nohup",
    "ionice",
    "stdbuf",
    "timeout",
    "sudo",
    "script",
    "ld-linux-x86-64.so.2",
];
/// What may stand behind an agent's name in the name of its own file.
const BUILDS: [&str; 7] = ["x86_64", "x64", "aarch64", "arm64", "linux", "darwin", "wrapped"];

/// What a process is to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The agent's program.
    Agent,
    /// Another program, whatever words it was started with.
    Another,
    /// It cannot be told: something that may run the agent's program, or becomes it in a moment.
    Untold,
}

/// Judges a process. `file`: what it runs, as far as that may be looked at; `installed`: the agent's program as it is
/// installed here, links followed.
pub(super) fn whose(agent: Agent, file: Option<&Path>, words: &[String], installed: Option<&Path>) -> Whose {
    let called = words.first().map(|word| Path::new(word.trim_start_matches('-')));
    let files = || [file, called].into_iter().flatten();
    if files().any(|file| is_program(agent, file, installed)) {
        return Whose::Agent;
    }
    let Some(name) = files().find_map(name_of) else { return Whose::Untold };
    if runs_a_file(name) {
        return run_by(agent, words.get(1..).unwrap_or_default(), installed);
    }
    if name.starts_with(agent.as_str()) { Whose::Untold } else { Whose::Another }
}

/// What an interpreter, a shell or a launcher with these words runs.
fn run_by(agent: Agent, words: &[String], installed: Option<&Path>) -> Whose {
    for (at, word) in words.iter().enumerate() {
        if let Some(flag) = word.strip_prefix('-') {
            // A text of its own; the words behind it are that text's.
            let is_text = matches!(flag, "-eval" | "-print" | "-command")
                || (!flag.starts_with('-') && flag.ends_with(['c', 'e', 'p']));
            if is_text {
                return Whose::Another;
            }
            continue;
        }
        let file = Path::new(word);
        if is_program(agent, file, installed) {
            return Whose::Agent;
        }
        return match name_of(file) {
            Some(name) if runs_a_file(name) => run_by(agent, words.get(at + 1..).unwrap_or_default(), installed),
            _ if word.contains('=') => continue,
            _ => Whose::Untold,
        };
    }
    Whose::Untold
}

fn is_program(agent: Agent, file: &Path, installed: Option<&Path>) -> bool {
    installed.is_some_and(|installed| installed == file)
        || name_of(file).is_some_and(|name| is_named(agent, name) || (is_version(name) && is_below(agent, file)))
        || is_of_package(agent, file)
}

fn name_of(file: &Path) -> Option<&str> {
    file.file_name()?.to_str()
}

fn is_named(agent: Agent, name: &str) -> bool {
    let rest = name.trim_start_matches('.').strip_prefix(agent.as_str());
    rest.is_some_and(|rest| match rest.split_at_checked(1) {
        None | Some((".", _)) => true,
        Some(("-", build)) => BUILDS.iter().any(|known| build.starts_with(known)),
        Some(_) => false,
    })
}

/// Claude's own installer calls each file by its version and a link by its name.
fn is_version(name: &str) -> bool {
    name.contains('.') && name.bytes().all(|sign| sign.is_ascii_digit() || sign == b'.')
}

fn is_below(agent: Agent, file: &Path) -> bool {
    file.ancestors().skip(1).filter_map(name_of).any(|folder| is_named(agent, folder))
}

/// A file of the agent's npm package.
fn is_of_package(agent: Agent, file: &Path) -> bool {
    let (scope, package) = match agent {
        Agent::Claude => ("@anthropic-ai", "claude-code"),
        Agent::Codex => ("@openai", "codex"),
    };
    file.ancestors().skip(1).any(|folder| {
        name_of(folder) == Some(package) && folder.parent().and_then(name_of).is_some_and(|above| above == scope)
    })
}

fn runs_a_file(name: &str) -> bool {
    RUN_A_FILE.iter().any(|known| {
        name.strip_prefix(known).is_some_and(|rest| rest.bytes().all(|sign| sign.is_ascii_digit() || sign == b'.'))
    })
}

#[cfg(test)]
#[path = "whose_tests.rs"]
mod tests;
