//! Opens a dead agent's session again in a new tmux window, and waits until the agent itself names that session.
//! What it was launched with is used again; nothing else that runs is attached to.

use std::thread;
use std::time::Duration;

use super::opening::{Wanted, Windows};
use super::runs_as;
use super::tmux::{Pane, dialog};
use super::{Settings, claude, codex, os};
use crate::driver::ports::Comeback;
use crate::model::ids::{Agent, SessionId, SessionRef};

/// How often, and how far apart, the new agent is looked for: 30 s altogether.
const LOOKS: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(300);

/// What the programs say of a session that they do not have (any more): trying again is of no use.
const UNKNOWN: [&str; 3] = ["No conversation found", "No saved session found", "no rollout found for thread id"];

/// Resumes a session. The sentence says where it is.
///
/// # Errors
/// It runs already, its program, folder or conversation is not there, tmux refuses, or it did not come up on this very
/// session.
pub(super) fn bring_back(comeback: &Comeback, settings: &Settings, windows: &Windows) -> Result<String, String> {
    let session = &comeback.session;
    let agent = session.agent;
    if let Some(where_) = is_there(session, settings) {
        return Err(format!("{agent} runs already on this session ({where_})"));
    }
    let mut launch = comeback.launch.clone().unwrap_or_default();
    // Where its transcript says that it works: it may have gone elsewhere since it was launched.
    launch.worktree.clone_from(&session.worktree);
    launch.argv = runs_as::program_of(agent, Some(&launch), settings)?;
    let argv = match agent {
        Agent::Claude => claude::resume(&launch, &session.session_id),
        Agent::Codex => codex::resume(&launch, &session.session_id),
    };
    let wanted = Wanted { agent, order: &comeback.order, folder: &launch.worktree, argv: &argv, mark: None };
    let pane = windows.open(&wanted, settings)?;
    let outcome = wait_for(session, settings, &pane);
    if outcome.is_ok() {
        let _ = pane.came_up();
    }
    outcome
}

/// Where a process of this session is; a background server without a terminal is no place to look at.
fn is_there(session: &SessionRef, settings: &Settings) -> Option<String> {
    match session.agent {
        Agent::Claude => claude::running_on(&session.session_id, settings),
        Agent::Codex => codex::running_on(&session.session_id),
    }
}

fn wait_for(session: &SessionRef, settings: &Settings, pane: &Pane) -> Result<String, String> {
    let (agent, place) = (session.agent, pane.id.as_str());
    for _ in 0..LOOKS {
        let named = match agent {
            Agent::Claude => claude::held_in(&session.session_id, pane, settings),
            Agent::Codex => codex::held_in(&session.session_id, pane),
        };
        if named {
            return Ok(format!("{agent} is back in pane {place}{}", window_of(pane)));
        }
        if let Some(other) = named_in(agent, pane, settings).filter(|other| *other != session.session_id) {
            return Err(format!("{agent} in pane {place} came up on another session: {agent}:{other}"));
        }
        match pane.server.pane(&pane.id) {
            Ok(now) if now.same_as(pane) && !now.dead => {}
            Ok(_) => return Err(ended(session, pane)),
            Err(_) => return Err(format!("{agent} ended at once and said nothing")),
        }
        let shown = pane.server.capture(&pane.id).unwrap_or_default();
        if let Some(dialog) = dialog::find(agent, &shown) {
            return Ok(format!("{agent} waits for you in pane {place}: {}", dialog.words()));
        }
        thread::sleep(BETWEEN);
    }
    // A Claude that never tells its state has named its session all the same.
    if named_in(agent, pane, settings).as_ref() == Some(&session.session_id) {
        return Ok(format!("{agent} is back in pane {place}"));
    }
    Err(format!("{agent} has not come up on this session yet; look at pane {place}"))
}

/// Where its pane is, as a person finds it: the window's number and tmux's session.
fn window_of(pane: &Pane) -> String {
    let number = pane.server.told(&["display-message", "-p", "-t", pane.id.as_str(), "#{window_index}"], &[]);
    match number.as_deref().map(str::trim) {
        Ok(number) if !number.is_empty() => format!(", window {number} of tmux's session {}", pane.session),
        _ => String::new(),
    }
}

/// The session that the agent in this pane names.
fn named_in(agent: Agent, pane: &Pane, settings: &Settings) -> Option<SessionId> {
    match agent {
        Agent::Claude => claude::named_in(pane, settings),
        Agent::Codex => codex::named_in(pane),
    }
}

/// Why its program ended, told apart by whether another try can help. Its pane is closed: its words are here.
fn ended(session: &SessionRef, pane: &Pane) -> String {
    let agent = session.agent;
    let words = pane.last_words().unwrap_or_default();
    let _ = pane.close_dead();
    if UNKNOWN.iter().any(|known| words.contains(known)) {
        return format!("{agent} has no such conversation any more, trying again is of no use; it said: {words}");
    }
    if words.is_empty() {
        return format!("{agent} ended at once and said nothing");
    }
    format!("{agent} ended at once; it said: {words}")
}

/// Whether a process runs in a pane: as the pane's own or as one that it started.
pub(super) fn runs_in(process: &os::Process, pane: &Pane) -> bool {
    os::lineage(process).contains(&pane.pid)
}
