//! A tmux window for an agent: where it goes, what its program is told, and what became of it. The agents of one order
//! share a window, side by side. Nothing is typed here.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::os;
use super::tmux::opening::{Opening, Place};
use super::tmux::{Pane, PaneId, Server};
use super::{Settings, tmux};
use crate::clock;
use crate::model::ids::Agent;

/// Tells a process of a session that its agent has not named yet.
pub(super) const MARK: &str = "TRELLIS_LAUNCH";

/// The window of the newest order: a second agent of it goes beside the first.
#[derive(Debug, Default)]
pub(super) struct Windows(Mutex<Option<(String, Server, PaneId)>>);

/// What is to run in a new pane.
pub(super) struct Wanted<'a> {
    /// Whose program it is.
    pub agent: Agent,
    /// The order: its agents share a window.
    pub order: &'a str,
    /// The folder.
    pub folder: &'a str,
    /// Program and arguments.
    pub argv: &'a [String],
    /// A mark for a process whose session has no name yet.
    pub mark: Option<&'a str>,
}

impl Windows {
    /// Opens the pane.
    ///
    /// # Errors
    /// The folder is not there, tmux refuses or is not installed, or the program ended before it was seen.
    pub(super) fn open(&self, wanted: &Wanted<'_>, settings: &Settings) -> Result<Pane, String> {
        if !Path::new(wanted.folder).is_dir() {
            return Err(format!("the folder {} is not there", wanted.folder));
        }
        let mut variables = settings.launch_variables.clone();
        variables.extend(wanted.mark.map(|mark| (OsString::from(MARK), OsString::from(mark))));
        let name = unique(wanted.agent);
        // One after the other: the second agent of an order must find the first one's window.
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let beside = newest
            .as_ref()
            .filter(|(order, server, pane)| order == wanted.order && server.pane(pane).is_ok_and(|pane| !pane.dead));
        let (server, place) = match beside {
            Some((_, server, pane)) => (server.clone(), Place::Beside(pane.clone())),
            None => place(settings, &name),
        };
        let opening =
            Opening { place: &place, name: &name, folder: wanted.folder, variables: &variables, argv: wanted.argv };
        let id = server.open(&opening).map_err(|why| in_words(&why))?;
        *newest = Some((wanted.order.to_owned(), server.clone(), id.clone()));
        drop(newest);
        server.pane(&id).map_err(|_| format!("{} ended at once and said nothing", wanted.agent))
    }
}

/// A new window of the session that trellis stands in; else a session of its own, on the server that was named.
fn place(settings: &Settings, name: &str) -> (Server, Place) {
    let server = settings.tmux.preferred();
    let around = settings.tmux.inside.as_deref().and_then(tmux::socket_of).map(Server::at);
    let own = settings.tmux.inside_pane.as_deref().and_then(PaneId::new).filter(|_| around.as_ref() == Some(&server));
    let place = own.and_then(|own| server.pane(&own).ok()).map_or_else(
        || Place::Session(free(&format!("trellis-{name}"), &server.sessions())),
        |pane| Place::Window(pane.session_id),
    );
    (server, place)
}

/// The name, or the first with a number behind it that nobody has.
fn free(name: &str, taken: &[String]) -> String {
    let numbered = (2_u32..).map(|n| format!("{name}-{n}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default()
}

/// A name that no other window has: by the time, this process and a count.
fn unique(agent: Agent) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let at = clock::now().as_millisecond().unsigned_abs();
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{agent}-{}{}{}", base36(at), base36(u64::from(std::process::id())), base36(n))
}

fn base36(mut n: u64) -> String {
    let mut signs = Vec::new();
    loop {
        let digit = u32::try_from(n % 36).unwrap_or(0);
        signs.push(char::from_digit(digit, 36).unwrap_or('0'));
        n /= 36;
        if n == 0 {
            return signs.iter().rev().collect();
        }
    }
}

/// What tmux said, so that one knows what to do.
fn in_words(why: &str) -> String {
    if why.starts_with("can't run tmux") {
        return String::from("tmux is not installed: install it, or start the agent without a window (headless)");
    }
    format!("tmux opens no window: {why}")
}

/// The process in a pane that was opened for a session without a name.
pub(super) fn marked(mark: &str, is_agent: impl Fn(&os::Process) -> bool) -> Option<os::Process> {
    let has_mark = |process: &os::Process| {
        os::environment(process.pid).is_some_and(|all| all.get(MARK).is_some_and(|value| value == mark))
    };
    let all: Vec<os::Process> = os::processes().into_iter().filter(has_mark).collect();
    // What an agent starts has its mark too: the one that none of the others started. A script that starts the agent
    // stands for it until then.
    let first =
        |all: &[os::Process]| all.iter().find(|process| !all.iter().any(|other| other.pid == process.parent)).cloned();
    let agents: Vec<os::Process> = all.iter().filter(|process| is_agent(process)).cloned().collect();
    first(&agents).or_else(|| first(&all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d23_two_launches_of_one_moment_have_names_of_their_own() {
        let names: Vec<String> = (0..1_000).map(|_| unique(Agent::Claude)).collect();
        let different: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len());
        assert!(names.iter().all(|name| name.bytes().all(|sign| sign.is_ascii_alphanumeric() || sign == b'-')));
        let taken = ["trellis-a".to_owned(), "trellis-a-2".to_owned()];
        assert_eq!(free("trellis-a", &taken), "trellis-a-3");
        assert_eq!(free("trellis-b", &taken), "trellis-b");
    }
}
