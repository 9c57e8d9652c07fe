//! Which process holds a Codex thread, and which thread a pane shows: by open files and by the pane's title.
//! After `/new` a Codex goes on holding the thread it left, so that holding alone does not say what a person sees.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::agent::Settings;
use crate::agent::os::{self, Process};
use crate::agent::tmux::{self, Pane};
use crate::model::ids::{Agent, SessionId};
use crate::model::text::fold;
use crate::small_file;
use crate::transcript::summary::{self, Ends};

/// What stands in a title while Codex asks for an approval; the sign before it blinks.
const DIALOG: &str = "Action Required";
/// A rollout begins with a record of some 20 KB that says whose it is.
const HEAD: u64 = 128 * 1024;
/// Year, month and day stand between the folder of rollouts and a rollout.
const DEPTH: usize = 3;
/// As much of the list of names is read, from its end.
const NAMES: u64 = 1024 * 1024;
/// How often, and how far apart, a process that may not be looked at is looked at again.
const END_LOOKS: u32 = 10;
const END_PAUSE: Duration = Duration::from_millis(1);

/// A process that holds threads open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process.
    pub process: Process,
    /// The threads it holds, main ones and sub-agents'.
    pub threads: Vec<Thread>,
    /// The folder of its Codex (`CODEX_HOME`).
    pub codex_home: PathBuf,
    /// It is the background server, not a person's terminal.
    pub is_daemon: bool,
}

/// A thread that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Which.
    pub id: SessionId,
    /// Its rollout; there is none before its first message.
    pub rollout: Option<PathBuf>,
}

/// A terminal in which a person sees threads of a holder.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Its process: the holder itself, or a client of the background server.
    pub process: Process,
    /// Its pane.
    pub pane: Pane,
    /// The thread it shows, if its title or its arguments prove that.
    pub shows: Option<SessionId>,
}

/// Every process that holds a thread. The second: a Codex process of this user whose open files may not be read. One of
/// another user holds none of this user's threads.
#[must_use]
pub fn holders() -> (Vec<Holder>, Option<u32>) {
    let mut holders = Vec::new();
    let mut unreadable = None;
    for process in os::processes().into_iter().filter(is_codex) {
        match settled(&process) {
            Ok(Some(holder)) => holders.push(holder),
            Ok(None) => {}
            Err(()) => unreadable = Some(process.pid),
        }
    }
    (holders, unreadable)
}

/// What a process holds. One that is ending belongs to nobody for an instant and may not be looked at: it is looked at
/// until it is gone.
fn settled(process: &Process) -> Result<Option<Holder>, ()> {
    for _ in 0..END_LOOKS {
        match holder(process.clone()) {
            Err(()) if !os::may_be_of_this_user(process.pid) || !process.still_runs() => return Ok(None),
            Err(()) => thread::sleep(END_PAUSE),
            held => return held,
        }
    }
    Err(())
}

/// The program itself, whatever its file is called in full.
pub(super) fn is_codex(process: &Process) -> bool {
    process.name.starts_with("codex")
}

/// What a process holds, if anything; an error: it may not be looked at.
pub(super) fn holder(process: Process) -> Result<Option<Holder>, ()> {
    let files = os::written_files(process.pid).ok_or(())?;
    let mut threads: Vec<Thread> = Vec::new();
    let mut codex_home = None;
    for file in &files {
        let Some((home, id)) = thread_of(file) else { continue };
        codex_home.get_or_insert(home);
        let rollout = file.extension().is_some_and(|ending| ending == "jsonl").then(|| file.clone());
        match threads.iter_mut().find(|thread| thread.id == id) {
            Some(thread) => thread.rollout = thread.rollout.take().or(rollout),
            None => threads.push(Thread { id, rollout }),
        }
    }
    let Some(codex_home) = codex_home else { return Ok(None) };
    let is_daemon = is_server(process.pid);
    Ok(Some(Holder { process, threads, codex_home, is_daemon }))
}

/// Whether a rollout of this thread is there, so many folders deep.
fn has_rollout(folder: &Path, id: &SessionId, depth: usize) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths = entries.map(|entry| entry.path());
    if depth > 0 {
        return paths.any(|path| has_rollout(&path, id, depth - 1));
    }
    paths.any(|path| thread_of(&path).is_some_and(|(_, found)| found == *id))
}

fn is_server(pid: u32) -> bool {
    os::argv(pid).is_some_and(|words| words.iter().skip(1).any(|word| word == "app-server"))
}

/// The Codex folder and the thread of a rollout or of a writer's lock.
fn thread_of(file: &Path) -> Option<(PathBuf, SessionId)> {
    let name = file.file_name()?.to_str()?;
    if let Some(id) = name.strip_suffix(".lock")
        && file.parent()?.file_name()? == "thread-writer-locks"
    {
        return Some((file.parent()?.parent()?.to_owned(), SessionId::new(id)));
    }
    // rollout-YYYY-MM-DDThh-mm-ss-<id>.jsonl below sessions/YYYY/MM/DD
    let id = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?.get(20..)?;
    let home = file.ancestors().find(|above| above.file_name().is_some_and(|name| name == "sessions"))?.parent()?;
    Some((home.to_owned(), SessionId::new(id)))
}

impl Holder {
    /// Whether it holds a thread.
    #[must_use]
    pub fn holds(&self, id: &SessionId) -> bool {
        self.threads.iter().any(|thread| thread.id == *id)
    }

    /// Whether a thread has a rollout. Before its first message it has none, and `codex queue` does not know it.
    #[must_use]
    pub fn has_begun(&self, id: &SessionId) -> bool {
        let is_open = self.threads.iter().any(|thread| thread.id == *id && thread.rollout.is_some());
        is_open || has_rollout(&self.codex_home.join("sessions"), id, DEPTH)
    }

    /// What it holds but the threads of sub-agents, with what their rollouts and the list of names say.
    #[must_use]
    pub fn conversations(&self) -> Vec<Told> {
        let mut names = names(&self.codex_home);
        let told = self.threads.iter().filter_map(|thread| {
            let told = thread.rollout.as_deref().and_then(head);
            if told.as_ref().is_some_and(|told| told.is_subagent) {
                return None;
            }
            let (folder, title) = told.map_or((None, None), |told| (told.cwd, told.title));
            Some(Told { name: names.remove(&thread.id).or(title), id: thread.id.clone(), folder })
        });
        told.collect()
    }

    /// The terminals in which its threads are seen.
    #[must_use]
    pub fn windows(&self, settings: &Settings) -> Vec<Window> {
        let told = self.conversations();
        let windows = self.terminals().into_iter().filter_map(|process| {
            let pane = pane(&process, settings).ok()?;
            let shows = match told.as_slice() {
                [only] if !self.is_daemon => Some(only.id.clone()),
                many => shown_in(&process, &pane, many),
            };
            Some(Window { process, pane, shows })
        });
        windows.collect()
    }

    /// The process itself, or the clients of the background server.
    fn terminals(&self) -> Vec<Process> {
        if !self.is_daemon {
            return vec![self.process.clone()];
        }
        let is_client = |process: &Process| {
            is_codex(process)
                && process.terminal.is_some()
                && !is_server(process.pid)
                && home_of(process).as_deref().is_some_and(|home| os::same_folder(home, &self.codex_home))
        };
        os::processes().into_iter().filter(is_client).collect()
    }
}

/// The thread that a terminal shows, by its title.
fn shown_in(process: &Process, pane: &Pane, told: &[Told]) -> Option<SessionId> {
    let folder = os::folder(process.pid).map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(title) = Title::of(&pane.title, &folder) {
        return title.thread(told, &folder);
    }
    // A title of the person's own making says nothing: what it was told to open is all there is.
    let words = os::argv(process.pid)?;
    let named = told.iter().find(|told| words.iter().skip(1).any(|word| word == told.id.as_str()));
    named.map(|told| told.id.clone())
}

/// The Codex folder that a process works with, by its environment.
fn home_of(process: &Process) -> Option<PathBuf> {
    let variables = os::environment(process.pid)?;
    let named = variables.get("CODEX_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    named.or_else(|| variables.get("HOME").map(|home| Path::new(home).join(".codex")))
}

/// The pane of a process.
fn pane(process: &Process, settings: &Settings) -> Result<Pane, String> {
    tmux::of(process, &settings.tmux)
}

/// The pane in which a thread is open.
///
/// # Errors
/// Why there is none to look at, in words for people.
pub fn pane_of(holder: &Holder, thread: &SessionId, settings: &Settings) -> Result<Pane, String> {
    let windows = holder.windows(settings);
    if let Some(window) = windows.into_iter().find(|window| window.shows.as_ref() == Some(thread)) {
        return Ok(window.pane);
    }
    if holder.is_daemon {
        return Err(String::from("codex's background server holds it; its pane is not known"));
    }
    let pane = pane(&holder.process, settings)?;
    // Several threads in one terminal, and its title does not say which of them is seen: typing needs to know it.
    Err(format!("codex holds several sessions, and the title of pane {} names none of them", pane.id.as_str()))
}

/// Whether a title says that Codex asks for an approval.
pub(super) fn asks(title: &str) -> bool {
    title.trim_start().starts_with('[') && title.contains(DIALOG)
}

/// What is known of a thread that may be seen in a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Which.
    pub id: SessionId,
    /// Its name, which titles show; a thread has none before its first message.
    pub name: Option<String>,
    /// The folder it works in.
    pub folder: Option<String>,
}

/// What the title of a Codex pane says.
#[derive(Debug, PartialEq, Eq)]
enum Title<'a> {
    /// The thread's name, perhaps cut.
    Named(&'a str),
    /// A thread without a name: the folder alone.
    Fresh,
}

impl<'a> Title<'a> {
    /// Reads `⠸ name | folder`, `[ ! ] Action Required | name | folder` and `folder`; everything else is not Codex's own.
    fn of(title: &'a str, folder: &str) -> Option<Self> {
        let last = Path::new(folder).file_name()?.to_str()?;
        let title = title.trim();
        let title = match title.split_once(DIALOG) {
            Some((sign, rest)) if sign.starts_with('[') => rest.trim_start().trim_start_matches('|'),
            _ => title.trim_start_matches(|c: char| ('\u{2800}'..='\u{28ff}').contains(&c)),
        };
        let title = title.trim();
        if title == last {
            return Some(Self::Fresh);
        }
        let name = title.strip_suffix(last)?.trim_end().strip_suffix('|')?.trim();
        (!name.is_empty()).then_some(Self::Named(name))
    }

    /// The one thread it can mean.
    fn thread(&self, told: &[Told], folder: &str) -> Option<SessionId> {
        let fits: Vec<&Told> = told.iter().filter(|told| self.fits(told.name.as_deref())).collect();
        let here = || fits.iter().filter(|told| told.folder.as_deref().is_none_or(|there| there == folder));
        match fits.as_slice() {
            [only] => Some(only.id.clone()),
            _ => match here().collect::<Vec<_>>().as_slice() {
                [only] => Some(only.id.clone()),
                _ => None,
            },
        }
    }

    fn fits(&self, name: Option<&str>) -> bool {
        match (self, name) {
            (Self::Fresh, name) => name.is_none(),
            (Self::Named(_), None) => false,
            (Self::Named(shown), Some(name)) => match shown.strip_suffix("...") {
                Some(cut) => fold(name).starts_with(&fold(cut)),
                None => fold(name) == fold(shown),
            },
        }
    }
}

/// The newest name of each thread. The list grows for ever and is read from its end; a line that was cut is left out.
fn names(codex_home: &Path) -> BTreeMap<SessionId, String> {
    let bytes = tail(&codex_home.join("session_index.jsonl")).unwrap_or_default();
    summary::codex_names(&bytes)
}

fn tail(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = small_file::opened(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(NAMES)))?;
    let mut bytes = Vec::new();
    file.take(NAMES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn head(rollout: &Path) -> Option<summary::Summary> {
    let file = small_file::opened(rollout).ok()?;
    let length = file.metadata().ok()?.len();
    let mut bytes = Vec::new();
    file.take(HEAD).read_to_end(&mut bytes).ok()?;
    let name = rollout.file_name()?.to_str()?;
    Some(summary::probe(Agent::Codex, name, Ends { head: &bytes, tail: &[], length }))
}

#[cfg(test)]
#[path = "threads_tests.rs"]
mod tests;
