//! Starting Claude Code and opening a session of its again: its words, its process before it names its session, and the
//! dialog it may have open then.

use std::path::Path;

use super::{Statuses, alive, is_of_home, missing};
use crate::agent::bring_back::runs_in;
use crate::agent::os::{self, Process};
use crate::agent::tmux::{self, Pane, dialog};
use crate::agent::{Settings, claude};
use crate::model::ids::{Agent, SessionId};
use crate::model::reach::{LiveStatus, Reach, Sign, Transport};
use crate::model::session::Launch;

/// Program and arguments of a new session.
#[must_use]
pub(in crate::agent) fn start(launch: &Launch, id: &SessionId, prompt: Option<&str>) -> Vec<String> {
    let mut words = words_of(launch);
    words.extend([String::from("--session-id"), id.to_string()]);
    words.extend(prompt.into_iter().flat_map(|prompt| [String::from("--"), prompt.to_owned()]));
    words
}

/// Program and arguments that open a session again.
#[must_use]
pub(in crate::agent) fn resume(launch: &Launch, id: &SessionId) -> Vec<String> {
    let mut words = words_of(launch);
    words.extend([String::from("--resume"), id.to_string()]);
    words
}

fn words_of(launch: &Launch) -> Vec<String> {
    let mut words = launch.argv.clone();
    for (flag, value) in [("--permission-mode", &launch.permission_mode), ("--model", &launch.model)] {
        words.extend(value.iter().flat_map(|value| [flag.to_owned(), value.clone()]));
    }
    words
}

/// A process that was told to open this session and has no status file yet.
pub(super) fn starting(id: &SessionId, statuses: &Statuses, claude_home: &Path) -> Option<Process> {
    os::processes().into_iter().filter(|process| process.name.contains("claude")).find(|process| {
        statuses.of_process(process).is_none()
            && is_of_home(process, claude_home)
            && os::argv(process.pid).is_some_and(|words| words.iter().any(|word| word.contains(id.as_str())))
    })
}

/// It is on its way to its pane: held, not gone. What it asks there is read, and never answered.
pub(super) fn observe(reach: &mut Reach, process: &Process, settings: &Settings) {
    reach.transport = Some(Transport::Tmux);
    reach.process = alive(process);
    reach.place = format!("pid {}", process.pid);
    let pane = tmux::of(process, &settings.tmux);
    if let Ok(pane) = &pane {
        pane.id.as_str().clone_into(&mut reach.place);
    }
    let dialog = pane.ok().and_then(|pane| dialog::find(Agent::Claude, &pane.server.capture(&pane.id).ok()?));
    match dialog {
        Some(dialog) => {
            reach.ticks.no_dialog = missing(&format!("claude waits for a person: {}", dialog.words()));
            reach.status = LiveStatus::Waiting { what: dialog.words().to_owned() };
            reach.sign = Some(Sign { since: None, source: format!("it stands in {}", reach.place) });
        }
        None => reach.ticks.no_dialog = missing("claude is starting, or a dialog of its start is open"),
    }
}

/// Where a process of this session is, whether it has come up or not.
pub(in crate::agent) fn running_on(id: &SessionId, settings: &Settings) -> Option<String> {
    let statuses = Statuses::read(&settings.claude_home).ok()?;
    let held = statuses.live_on(id).into_iter().next();
    if let Some((status, process)) = held {
        let held = claude::hold(status, process, settings);
        return Some(
            held.pane.map_or_else(|_| format!("pid {}", held.process.pid), |pane| pane.id.as_str().to_owned()),
        );
    }
    starting(id, &statuses, &settings.claude_home).map(|process| format!("pid {}, starting", process.pid))
}

/// The session that the agent in this pane names.
pub(in crate::agent) fn named_in(pane: &Pane, settings: &Settings) -> Option<SessionId> {
    let live = Statuses::read(&settings.claude_home).ok()?.live();
    live.into_iter().find(|(_, process)| runs_in(process, pane)).map(|(status, _)| status.session_id)
}

/// Whether the agent in this pane itself names this session and tells its state: it names what it was told to open before it
/// knows whether there is such a conversation.
pub(in crate::agent) fn held_in(id: &SessionId, pane: &Pane, settings: &Settings) -> bool {
    let Ok(statuses) = Statuses::read(&settings.claude_home) else { return false };
    statuses.live_on(id).iter().any(|(status, process)| status.sign().is_some() && runs_in(process, pane))
}
