//! The agents' programs as they are installed here, and what they say of their version. None is started on a session here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Settings;
use super::program::{self, Program};
use crate::model::ids::Agent;

/// A program that says its version takes less.
const PATIENCE: Duration = Duration::from_secs(20);

/// The file of an agent's program: the one that a person named (a name without a folder is looked for), else the first on
/// the search path.
///
/// # Errors
/// There is none: what to do.
pub fn find(agent: Agent, settings: &Settings) -> Result<PathBuf, String> {
    let Some(chosen) = settings.named(agent) else {
        return program::on_path(agent.as_str(), settings.path.as_deref()).ok_or_else(|| {
            format!("can't find {agent} in PATH: install it, or name it as {agent}_program in config.toml")
        });
    };
    let named = chosen.to_string_lossy();
    let found = if chosen.is_absolute() {
        program::may_run(chosen).then(|| chosen.clone())
    } else {
        program::on_path(&named, settings.path.as_deref())
    };
    found.ok_or_else(|| format!("{agent}_program in config.toml names {named}, which can't be run"))
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
