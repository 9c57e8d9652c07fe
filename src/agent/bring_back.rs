//! Opens a dead agent's session again in a new tmux window, and waits until the agent itself names that session.

use std::thread;
use std::time::Duration;

use super::program;
use super::tmux::PaneId;
use super::{Settings, claude, codex, live};
use crate::model::ids::{Agent, SessionRef};

/// How often, and how far apart, the new agent is looked for: 30 s altogether.
const LOOKS: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(300);

/// Resumes a session. The sentence says where it is.
///
/// # Errors
/// It runs already, its program or folder is not there, tmux refuses, or it did not come up on this very session.
pub fn bring_back(session: &SessionRef, settings: &Settings) -> Result<String, String> {
    let agent = session.agent;
    if live::discover(settings).iter().any(|seen| seen.session == session.key()) {
        return Err(format!("{agent} runs already on this session"));
    }
    if !std::path::Path::new(&session.worktree).is_dir() {
        return Err(format!("its folder {} is not there", session.worktree));
    }
    let (chosen, name) = match agent {
        Agent::Claude => (&settings.claude_program, "claude"),
        Agent::Codex => (&settings.codex_program, "codex"),
    };
    let found = chosen.clone().or_else(|| program::on_path(name, settings.path.as_deref()));
    let found = found.ok_or_else(|| format!("can't find the program {name}; name its folder in PATH"))?;
    let argv = match agent {
        Agent::Claude => claude::resume(&found, &session.session_id),
        Agent::Codex => codex::resume(&found, &session.session_id),
    };
    let server = settings.tmux.preferred();
    // A server that runs gets a window; else one is started, with a session of a name that nobody has.
    let short: String = session.session_id.as_str().chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    let fresh = format!("trellis-{name}-{short}");
    let name = server.panes().is_err().then_some(fresh.as_str());
    let pane = server.open(name, &session.worktree, &argv)?;
    wait_for(session, settings, &pane)
}

fn wait_for(session: &SessionRef, settings: &Settings, pane: &PaneId) -> Result<String, String> {
    let agent = session.agent;
    let server = settings.tmux.preferred();
    for _ in 0..LOOKS {
        let seen = live::discover(settings)
            .into_iter()
            .find(|seen| seen.session == session.key() && seen.pane.as_ref().is_ok_and(|where_| where_.id == *pane));
        if seen.is_some() {
            return Ok(format!("{agent} is back in pane {}", pane.as_str()));
        }
        if server.pane(pane).is_err() {
            return Err(format!("{agent} ended at once; resume it in {} yourself to see why", session.worktree));
        }
        thread::sleep(BETWEEN);
    }
    Err(format!("{agent} has not come up on this session yet; look at pane {}", pane.as_str()))
}
