//! All sessions that run on this machine now, each with its process and pane: for creating runs and for the list of sessions.

use super::codex::threads::{self, Holder};
use super::os::{self, Process};
use super::tmux::Pane;
use super::{Settings, claude};
use crate::model::ids::{Agent, SessionKey};
use crate::model::reach::LiveStatus;

/// A session that a process holds.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveSession {
    /// Which.
    pub session: SessionKey,
    /// The folder its process works in, if it is known.
    pub worktree: Option<String>,
    /// Its process.
    pub process: Process,
    /// The agent's own word about its state.
    pub status: LiveStatus,
    /// Its pane; an error says in words why there is none.
    pub pane: Result<Pane, String>,
    /// It is in the tmux window that trellis was started in.
    pub here: bool,
    /// A transport reaches it, or a person who sits before it.
    pub reached: bool,
}

/// Looks for them. Takes some milliseconds for each agent process; never touches one.
#[must_use]
pub fn discover(settings: &Settings) -> Vec<LiveSession> {
    let window = own_window(settings);
    let mut found = Vec::new();
    if let Ok(statuses) = claude::Statuses::read(&settings.claude_home) {
        for (status, process) in statuses.live() {
            let held = claude::hold(status, process, settings);
            found.push(LiveSession {
                session: SessionKey { agent: Agent::Claude, session_id: held.status.session_id.clone() },
                worktree: held.status.cwd.clone().or_else(|| folder(held.process.pid)),
                status: held.status.live(),
                here: is_here(&held.pane, window.as_ref()),
                reached: held.pane.is_ok() || held.status.is_interactive(),
                process: held.process,
                pane: held.pane,
            });
        }
    }
    // Only those of our Codex folder: the transcripts of another one are not read.
    let ours = |holder: &Holder| os::same_folder(&holder.codex_home, &settings.codex_home);
    for holder in threads::holders().0.into_iter().filter(ours) {
        for thread in holder.conversations() {
            let pane = threads::pane_of(&holder, &thread.id, settings);
            let own = if holder.is_daemon { None } else { folder(holder.process.pid) };
            found.push(LiveSession {
                session: SessionKey { agent: Agent::Codex, session_id: thread.id },
                worktree: thread.folder.or(own),
                process: holder.process.clone(),
                status: LiveStatus::Silent,
                here: is_here(&pane, window.as_ref()),
                reached: true,
                pane,
            });
        }
    }
    found.sort_by(|a, b| a.session.cmp(&b.session));
    found
}

/// The sessions in the window that trellis was started in, in the order of their panes.
#[must_use]
pub fn of_window(all: &[LiveSession]) -> Vec<SessionKey> {
    let mut here: Vec<(u32, &SessionKey)> = all
        .iter()
        .filter(|session| session.here)
        .filter_map(|session| Some((session.pane.as_ref().ok()?.index, &session.session)))
        .collect();
    here.sort();
    here.into_iter().map(|(_, session)| session.clone()).collect()
}

fn folder(pid: u32) -> Option<String> {
    os::folder(pid).map(|path| path.to_string_lossy().into_owned())
}

fn own_window(settings: &Settings) -> Option<Pane> {
    let own = super::tmux::PaneId::new(settings.tmux.inside_pane.as_deref()?)?;
    let server = super::tmux::Server::at(super::tmux::socket_of(settings.tmux.inside.as_deref()?)?);
    server.pane(&own).ok()
}

fn is_here(pane: &Result<Pane, String>, own: Option<&Pane>) -> bool {
    match (pane, own) {
        (Ok(pane), Some(own)) => pane.server == own.server && pane.window == own.window,
        _ => false,
    }
}
