//! Starts an agent in a pane of its own, or without one. The first message, if any, is the person's own
//! and goes in as an argument of the program: no key is pressed.

use super::opening::{Wanted, Windows};
use super::runs_as;
use super::tmux::Pane;
use super::{Settings, claude, codex, headless};
use crate::driver::ports::Launched;
use crate::model::ids::Agent;
use crate::model::launch::{Start, is_unnamed};
use crate::model::session::Launch;

/// Opens a window for a new session. It has not come up yet: that is seen by observing it.
///
/// # Errors
/// Its program or folder is not there, or tmux refuses.
pub(super) fn in_tmux(start: &Start, settings: &Settings, windows: &Windows) -> Result<(Launched, Pane), String> {
    let (agent, id) = (start.session.agent, &start.session.session_id);
    let mut program = runs_as::program_of(agent, None, settings)?;
    if agent == Agent::Codex {
        program.extend(codex::own_process(&program));
    }
    let launch = Launch { argv: program, ..start.launch.clone() };
    let prompt = start.prompt.as_deref();
    let argv = match agent {
        Agent::Claude => claude::start(&launch, id, prompt),
        Agent::Codex => codex::start(&launch, prompt),
    };
    let mark = is_unnamed(id).then(|| id.as_str());
    let wanted = Wanted { agent, order: id.as_str(), folder: &launch.worktree, argv: &argv, mark };
    let pane = windows.open(&wanted, settings)?;
    let place = format!("in pane {} of tmux session {}", pane.id.as_str(), pane.session);
    Ok((Launched { launch, place, named: None }, pane))
}

/// Starts a session that has no window with its first message: the turn goes on by itself.
///
/// # Errors
/// Its program or folder is not there, or it ended before it named a session.
pub(super) fn without_window(start: &Start, settings: &Settings) -> Result<Launched, String> {
    let session = &start.session;
    let id = Some(&session.session_id).filter(|id| !is_unnamed(id));
    let prompt = start.prompt.as_deref().unwrap_or_default();
    let named = headless::open(session.agent, id, &start.launch, prompt, settings)?;
    let place = String::from("without a window");
    Ok(Launched { launch: start.launch.clone(), place, named: Some(named) })
}
