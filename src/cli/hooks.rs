//! `trellis hooks`: shows, puts in and takes out trellis's entries in an agent's own settings, after a look at the change.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use similar::TextDiff;

use super::{AgentArg, Failure, out};
use crate::agent::hooks::{self, Settings};
use crate::boot::Ground;
use crate::clock;
use crate::model::ids::Agent;
use crate::paths::{AgentRoots, own_program};

/// `trellis hooks`.
#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// Show the change of the agent's settings, ask, keep a copy, write it.
    Install(HooksArgs),
    /// Say whether they stand there, for both agents or one.
    Status {
        /// Which agent's settings [default: both].
        #[arg(long, value_enum)]
        agent: Option<AgentArg>,
        /// The agent's own folder [default: $CLAUDE_CONFIG_DIR or ~/.claude; $CODEX_HOME or ~/.codex].
        #[arg(long, value_name = "DIR", requires = "agent")]
        home_of_agent: Option<PathBuf>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Take trellis's own entries out again, in the same way.
    Remove(HooksArgs),
}

/// What each of `trellis hooks` takes.
#[derive(Debug, Args)]
pub struct HooksArgs {
    /// Which agent's settings.
    #[arg(long, value_enum)]
    pub agent: AgentArg,
    /// The agent's own folder [default: $CLAUDE_CONFIG_DIR or ~/.claude; $CODEX_HOME or ~/.codex].
    #[arg(long, value_name = "DIR")]
    pub home_of_agent: Option<PathBuf>,
    /// Write without asking.
    #[arg(long)]
    pub yes: bool,
    /// What was done as JSON.
    #[arg(long, requires = "yes")]
    pub json: bool,
}

/// Does what is asked.
///
/// # Errors
/// As the command's own.
pub fn hooks(home: Option<&Path>, command: HooksCommand) -> Result<(), Failure> {
    match command {
        HooksCommand::Install(args) => install(home, &args),
        HooksCommand::Remove(args) => remove(home, &args),
        HooksCommand::Status { agent, home_of_agent, json } => {
            let agents = agent.map_or_else(|| vec![AgentArg::Claude, AgentArg::Codex], |agent| vec![agent]);
            let mut rows = Vec::new();
            for agent in agents {
                let of = HooksArgs { agent, home_of_agent: home_of_agent.clone(), yes: false, json };
                rows.extend(status(home, &of)?);
            }
            if json { out::json(&rows) } else { Ok(()) }
        }
    }
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Install,
    Remove,
}

/// Says whether trellis's hooks stand there; as JSON it is given back.
///
/// # Errors
/// The settings cannot be understood.
pub fn status(home: Option<&Path>, args: &HooksArgs) -> Result<Option<Value>, Failure> {
    let ground = Ground::find(home)?;
    let agent = Agent::from(args.agent);
    let settings = read(&ground, args)?;
    let there = settings.installed().map_err(|error| Failure::refused(error.to_string()))?;
    let path = settings.path.display();
    let events: Vec<&str> = there.iter().map(|(event, _)| event.as_str()).collect();
    let wanted = command_of(&ground, home, agent)?;
    let is_current = there.iter().all(|(_, command)| *command == wanted)
        && events.len() == crate::transcript::hooks::events(agent).len();
    let command = there.first().map(|(_, command)| command);
    if args.json {
        return Ok(Some(json!({
            "agent": agent, "file": path.to_string(), "events": events, "command": command, "current": is_current,
        })));
    }
    let Some(command) = command else {
        out::line(&out::plain(&format!("{agent}: no hooks of trellis in {path}")))?;
        return Ok(None);
    };
    let more = if is_current { "" } else { "; another trellis or an older form: install replaces them" };
    out::line(&out::plain(&format!("{agent}: hooks for {} in {path} run {command}{more}", events.join(", "))))?;
    Ok(None)
}

/// Puts them in.
///
/// # Errors
/// The settings cannot be understood or written, or nobody agreed.
pub fn install(home: Option<&Path>, args: &HooksArgs) -> Result<(), Failure> {
    change(home, args, Change::Install)
}

/// Takes them out.
///
/// # Errors
/// As [`install`].
pub fn remove(home: Option<&Path>, args: &HooksArgs) -> Result<(), Failure> {
    change(home, args, Change::Remove)
}

fn change(home: Option<&Path>, args: &HooksArgs, change: Change) -> Result<(), Failure> {
    let ground = Ground::find(home)?;
    let agent = Agent::from(args.agent);
    let settings = read(&ground, args)?;
    let refused = |error: hooks::Refused| Failure::refused(error.to_string());
    let text = match change {
        Change::Install => settings.with(&command_of(&ground, home, agent)?).map_err(refused)?,
        Change::Remove => settings.without().map_err(refused)?,
    };
    let old = settings.text.as_deref().unwrap_or_default();
    let path = out::plain(&settings.path.display().to_string());
    let done = |changed: bool, copy: Option<&Path>| {
        let copy = copy.map(|copy| copy.display().to_string());
        out::json(
            &json!({"agent": agent, "file": settings.path.display().to_string(), "changed": changed, "copy": copy}),
        )
    };
    if text == old && args.json {
        return done(false, None);
    }
    if text == old {
        return out::line(match change {
            Change::Install => "nothing to do: the hooks stand there already",
            Change::Remove => "nothing to do: there are no hooks of trellis",
        });
    }
    if !args.json {
        out::line(&path)?;
        for line in difference(old, &text) {
            out::line(&out::plain(&line))?;
        }
    }
    settings.may_write().map_err(refused)?;
    if !args.yes && !agreed()? {
        return Err(Failure::refused("nothing was written"));
    }
    let stamp = clock::now().strftime("%Y%m%d-%H%M%S").to_string();
    let copy = settings.write(&text, &stamp).map_err(refused)?;
    if args.json {
        return done(true, copy.as_deref());
    }
    let copy = copy.map(|copy| format!("; the old one is {}", copy.display())).unwrap_or_default();
    out::line(&out::plain(&format!("written{copy}")))?;
    match (change, agent) {
        (Change::Install, Agent::Codex) => out::line(
            "codex asks at its next start whether the new hooks are to be trusted: answer it there; sessions that run go on without them",
        ),
        (Change::Install, Agent::Claude) => out::line("sessions that claude starts from now on use them"),
        (Change::Remove, _) => Ok(()),
    }
}

fn agreed() -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::refused("nothing was written: without a terminal to ask on, say --yes"));
    }
    io::stdout().lock().write_all(b"write it? y or n: ")?;
    io::stdout().lock().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn read(ground: &Ground, args: &HooksArgs) -> Result<Settings, Failure> {
    let agent = Agent::from(args.agent);
    let mut roots: AgentRoots = ground.roots.clone();
    if let Some(folder) = &args.home_of_agent {
        let base = ground.environment.current_dir.clone().unwrap_or_default();
        let folder: PathBuf = ground.environment.absolute(&base, folder);
        match agent {
            Agent::Claude => roots.claude = folder,
            Agent::Codex => roots.codex = folder,
        }
    }
    Settings::read(&roots.hooks(agent), agent).map_err(|error| Failure::refused(error.to_string()))
}

/// The home is named in the command only if it was named to us: the agent's own environment names the usual one.
fn command_of(ground: &Ground, home: Option<&Path>, agent: Agent) -> Result<String, Failure> {
    let program =
        own_program().map_err(|error| Failure::refused(format!("can't tell where this program is: {error}")))?;
    let named = home.is_some() || ground.environment.trellis_home.is_some();
    let home = named.then(|| ground.home.root());
    hooks::command(&program, home, agent).map_err(Failure::refused)
}

/// The lines that go and come, with two lines around each change.
fn difference(old: &str, new: &str) -> Vec<String> {
    let difference = TextDiff::from_lines(old, new);
    let groups = difference.grouped_ops(2);
    let changes = groups.iter().flatten().flat_map(|part| difference.iter_changes(part));
    changes.map(|change| format!("{} {}", change.tag(), change.value().trim_end_matches(['\r', '\n']))).collect()
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;
