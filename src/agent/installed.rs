//! The agents' programs as they are installed here, and what they say of their version. None is started on a session here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Settings;
use super::program::{self, Program};
use crate::model::ids::Agent;

/// A program that says its version takes less.
const PATIENCE: Duration = Duration::from_secs(20);

/// The file of an agent's program: the one that a person named, else the first on the search path.
///
/// # Errors
/// There is none: what to do.
pub fn find(agent: Agent, settings: &Settings) -> Result<PathBuf, String> {
    let (chosen, name) = match agent {
        Agent::Claude => (&settings.claude_program, "claude"),
        Agent::Codex => (&settings.codex_program, "codex"),
    };
    chosen
        .clone()
        .or_else(|| program::on_path(name, settings.path.as_deref()))
        .ok_or_else(|| format!("can't find the program {name}; name its folder in PATH"))
}

/// What a program says of its version, first line. It is asked in an empty home, so that it touches nothing of the person's.
///
/// # Errors
/// It cannot be run, takes too long, or complains.
pub fn version(file: &Path, settings: &Settings) -> Result<String, String> {
    let home = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let own = |name: &str, value: OsString| (OsString::from(name), value);
    let mut variables = vec![own("HOME", home.path().into())];
    variables.extend(settings.path.clone().map(|path| own("PATH", path)));
    let said = Program::new(file, ["--version"]).only_with(variables).limit(PATIENCE).run()?.content()?;
    Ok(crate::model::text::first_line(&said))
}
