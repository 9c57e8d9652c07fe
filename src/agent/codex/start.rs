//! Starting Codex and opening a thread of its again: its words, its process before it holds a thread, and the dialog it may
//! have open then. Codex names a thread with its first message; until then its process is known by a mark of ours.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::threads::{Holder, holders, is_codex};
use super::{alive, missing};
use crate::agent::bring_back::runs_in;
use crate::agent::opening::marked;
use crate::agent::os::{self, Process};
use crate::agent::program::Program;
use crate::agent::tmux::{self, Pane, dialog, input_box};
use crate::agent::{Settings, tmux::input_box::Box};
use crate::model::ids::{Agent, SessionId};
use crate::model::launch::is_unnamed;
use crate::model::reach::{LiveStatus, Reach, Sign, Transport};
use crate::model::session::Launch;

/// A starved machine is given time to print a page of help.
const LIMIT: Duration = Duration::from_secs(30);
/// From its start until a box without a question over it counts; its start is told in whole seconds.
const SETTLES: SignedDuration = SignedDuration::from_secs(4);

/// What keeps a session in a process of its own, where this Codex knows it: only then its pane, its process and its
/// thread prove each other.
pub(in crate::agent) fn own_process(program: &[String]) -> Option<String> {
    const FLAG: &str = "--no-daemon";
    let (first, further) = program.split_first()?;
    let words = further.iter().map(String::as_str).chain(["--help"]);
    let help = Program::new(first, words).limit(LIMIT).run().ok()?;
    help.output.contains(FLAG).then(|| FLAG.to_owned())
}

/// Program and arguments of a new session.
#[must_use]
pub(in crate::agent) fn start(launch: &Launch, prompt: Option<&str>) -> Vec<String> {
    let mut words = words_of(launch);
    words.extend(prompt.into_iter().flat_map(|prompt| [String::from("--"), prompt.to_owned()]));
    words
}

/// Program and arguments that open a thread again.
#[must_use]
pub(in crate::agent) fn resume(launch: &Launch, id: &SessionId) -> Vec<String> {
    let mut words = words_of(launch);
    words.extend([String::from("resume"), id.to_string()]);
    words
}

fn words_of(launch: &Launch) -> Vec<String> {
    let mut words = launch.argv.clone();
    let mode = launch.permission_mode.as_deref().map(|mode| mode.split_once('/').unwrap_or((mode, "")));
    let (sandbox, approval) = mode.unwrap_or_default();
    for (flag, value) in [("-s", sandbox), ("-a", approval), ("-m", launch.model.as_deref().unwrap_or_default())] {
        if !value.is_empty() {
            words.extend([flag.to_owned(), value.to_owned()]);
        }
    }
    words
}

/// The terminal that was told to open this very thread.
pub(super) fn terminal_of(thread: &SessionId) -> Option<Process> {
    os::processes().into_iter().filter(is_codex).find(|process| {
        os::argv(process.pid).is_some_and(|words| words.iter().skip(1).any(|word| word == thread.as_str()))
    })
}

/// A process that was started for this thread and does not hold it yet.
pub(super) fn starting(id: &SessionId) -> Option<Process> {
    if is_unnamed(id) { marked(id.as_str(), is_codex) } else { terminal_of(id) }
}

/// It is on its way: held, not gone. What it asks in its pane is read, and never answered.
pub(super) fn observe(reach: &mut Reach, id: &SessionId, process: &Process, settings: &Settings) {
    reach.transport = Some(Transport::Tmux);
    reach.process = alive(process);
    reach.place = format!("pid {}", process.pid);
    let pane = tmux::of(process, &settings.tmux);
    if let Ok(pane) = &pane {
        pane.id.as_str().clone_into(&mut reach.place);
    }
    let shown = pane.ok().and_then(|pane| pane.server.capture(&pane.id).ok()).unwrap_or_default();
    if let Some(dialog) = dialog::find(Agent::Codex, &shown) {
        reach.ticks.no_dialog = missing(&format!("codex waits for a person: {}", dialog.words()));
        reach.status = LiveStatus::Waiting { what: dialog.words().to_owned() };
        reach.sign = Some(Sign { since: None, source: format!("it stands in {}", reach.place) });
    } else if has_settled(process, reach.at)
        && is_unnamed(id)
        && matches!(input_box::find(Agent::Codex, &shown), Box::Empty | Box::Text(_))
    {
        reach.status = LiveStatus::Idle;
        reach.ticks.alive = missing("codex has no session before its first message");
    } else {
        reach.ticks.no_dialog = missing("codex is starting, or a dialog of its start is open");
    }
}

/// Codex draws its box first, and opens its questions over it a moment later.
fn has_settled(process: &Process, now: Timestamp) -> bool {
    process.started_at.is_none_or(|started| now.duration_since(started) >= SETTLES)
}

/// Where a process with this thread is. The background server alone, with no terminal on it, is no place to look at.
pub(in crate::agent) fn running_on(id: &SessionId) -> Option<String> {
    let own = |holder: &Holder| !holder.is_daemon && holder.holds(id);
    let held = holders().0.into_iter().find(own).map(|holder| holder.process);
    held.or_else(|| terminal_of(id)).map(|process| format!("pid {}", process.pid))
}

/// The thread that a process in this pane holds.
pub(in crate::agent) fn named_in(pane: &Pane) -> Option<SessionId> {
    let holder = holders().0.into_iter().find(|holder| !holder.is_daemon && runs_in(&holder.process, pane))?;
    holder.conversations().into_iter().next().map(|told| told.id)
}

/// Whether the Codex in this pane has this thread: it holds it, or is the terminal of the server that does.
pub(in crate::agent) fn held_in(id: &SessionId, pane: &Pane) -> bool {
    let holders = holders().0;
    let mut of_thread = holders.iter().filter(|holder| holder.holds(id));
    of_thread.any(|holder| {
        let terminal = if holder.is_daemon { terminal_of(id) } else { Some(holder.process.clone()) };
        terminal.is_some_and(|process| runs_in(&process, pane))
    })
}
