//! A Codex thread: the process that holds it, its pane for dialogs, and `codex queue` as the way in.
//! Where this Codex has no queue, its pane is typed into as Claude's is. Transcripts are not read here.

pub mod queue;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Settings;
use super::claude::{alive, missing, stopped};
use super::message::Outgoing;
use super::os::{self, Process};
use super::program;
use super::tmux::typing::{Moment, Typing};
use super::tmux::{self, Pane, input_box};
use crate::clock;
use crate::machine::Delivery;
use crate::model::ids::{Agent, SessionId};
use crate::model::reach::{
    InFlight, InputBox, LiveStatus, OnItsWay, ProcessFact, Reach, SendReport, Tick, Ticks, Transport,
};

/// How the title of a pane begins while Codex asks for an approval.
const DIALOG_TITLE: &str = "[ ! ]";

/// One Codex thread as trellis reaches it.
#[derive(Debug)]
pub struct CodexSession {
    id: SessionId,
    /// The holder that was last seen.
    last: Option<Holder>,
    /// Whether a Codex program knows `queue`, by its file.
    queues: BTreeMap<PathBuf, bool>,
}

/// A process that holds threads open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process.
    pub process: Process,
    /// The threads it holds, main ones and sub-agents'.
    pub threads: Vec<SessionId>,
    /// The folder of its Codex (`CODEX_HOME`).
    pub codex_home: PathBuf,
    /// It is the background server, not a person's terminal.
    pub is_daemon: bool,
}

/// Every process that holds a thread. The second: a Codex process whose open files may not be read.
#[must_use]
pub fn holders() -> (Vec<Holder>, Option<u32>) {
    let mut holders = Vec::new();
    let mut unreadable = None;
    for process in os::processes().into_iter().filter(is_codex) {
        match holder(process.clone()) {
            Ok(Some(holder)) => holders.push(holder),
            Ok(None) => {}
            Err(()) => unreadable = Some(process.pid),
        }
    }
    (holders, unreadable)
}

/// The program itself, whatever its file is called in full.
fn is_codex(process: &Process) -> bool {
    process.name.starts_with("codex")
}

/// What a process holds, if anything; an error: it may not be looked at.
fn holder(process: Process) -> Result<Option<Holder>, ()> {
    let files = os::open_files(process.pid).ok_or(())?;
    let mut threads = Vec::new();
    let mut codex_home = None;
    for (home, thread) in files.iter().filter_map(|file| thread_of(file)) {
        codex_home.get_or_insert(home);
        if !threads.contains(&thread) {
            threads.push(thread);
        }
    }
    let Some(codex_home) = codex_home else { return Ok(None) };
    let is_daemon = os::argv(process.pid).is_some_and(|words| words.iter().skip(1).any(|word| word == "app-server"));
    Ok(Some(Holder { process, threads, codex_home, is_daemon }))
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

/// The pane in which a thread is open. The background server has none of its own: the terminal that was told to open
/// this very thread counts then.
///
/// # Errors
/// Why there is none to look at, in words for people.
pub fn pane_of(holder: &Holder, thread: &SessionId, settings: &Settings) -> Result<Pane, String> {
    let process = if holder.is_daemon {
        let opens = |process: &Process| {
            is_codex(process)
                && os::argv(process.pid).is_some_and(|words| words.iter().skip(1).any(|word| word == thread.as_str()))
        };
        let terminal = os::processes().into_iter().find(opens);
        terminal.ok_or_else(|| String::from("codex's background server holds it; its pane is not known"))?
    } else {
        holder.process.clone()
    };
    let variables = os::environment(process.pid);
    let variable = variables.as_ref().and_then(|all| all.get("TMUX")).map(String::as_str);
    tmux::pane_of(&process, variable, &settings.tmux)
}

/// What became of a thread.
enum Finding {
    Held(Holder),
    Replaced(Holder, SessionId),
    Gone,
    Unknown(String),
}

impl CodexSession {
    /// A thread by its id.
    #[must_use]
    pub fn new(id: SessionId) -> Self {
        Self { id, last: None, queues: BTreeMap::new() }
    }

    /// Observes it without touching it. What is on its way is looked at in this order: our own queue commands, then the
    /// queue; the transcript is read after that.
    pub fn probe(&mut self, settings: &Settings, in_flight: Option<&InFlight>) -> Reach {
        let at = clock::now();
        let finding = self.find();
        let codex_home = self.last.as_ref().map_or_else(|| settings.codex_home.clone(), |last| last.codex_home.clone());
        let on_its_way = in_flight.map_or(OnItsWay::No, |entry| queue::on_its_way(&codex_home, &self.id, entry));
        let mut reach = Reach {
            at,
            transport: None,
            process: ProcessFact::Unknown,
            status: LiveStatus::Silent,
            ticks: Ticks::all_hold(),
            input: InputBox::Empty,
            on_its_way,
            replaced_by: None,
            place: String::new(),
            last_words: String::new(),
        };
        match finding {
            Finding::Held(holder) => self.observe(&mut reach, &holder, settings, in_flight),
            Finding::Replaced(holder, id) => {
                reach.process = alive(&holder.process);
                reach.place = format!("pid {}", holder.process.pid);
                reach.ticks.pane = missing("codex went over to another session");
                let proof = format!("codex's pid {} now holds the rollout of session {id}", holder.process.pid);
                reach.replaced_by = Some((id, proof));
            }
            Finding::Gone => {
                reach.process = ProcessFact::Dead;
                reach.ticks.alive = missing("codex is not running");
            }
            Finding::Unknown(why) => {
                // Held, not gone: a look that was not allowed proves nothing.
                reach.transport = Some(Transport::Tmux);
                reach.ticks.alive = missing(&why);
            }
        }
        reach
    }

    fn observe(&mut self, reach: &mut Reach, holder: &Holder, settings: &Settings, in_flight: Option<&InFlight>) {
        reach.process = alive(&holder.process);
        reach.place = format!("pid {}", holder.process.pid);
        let pane = pane_of(holder, &self.id, settings);
        if let Ok(pane) = &pane {
            pane.id.as_str().clone_into(&mut reach.place);
            if pane.title.starts_with(DIALOG_TITLE) {
                let what = String::from("approval");
                reach.ticks.no_dialog = missing("codex waits for a person: approval");
                reach.status = LiveStatus::Waiting { what };
            }
        }
        if self.queues(holder, settings) {
            // The queue takes a message whatever stands in the box and however the pane is scrolled.
            reach.transport = Some(Transport::Tmux);
            return;
        }
        match pane {
            Ok(pane) => {
                reach.transport = Some(Transport::Tmux);
                reach.ticks.pane = pane.refuses().map_or(Tick::Holds, missing);
                if pane.is_in_foreign_mode() {
                    reach.ticks.not_scrolled = missing("a tmux chooser is open in its pane");
                }
                let ours = in_flight.map(|entry| &*entry.text);
                let captured = pane.server.capture(&pane.id);
                reach.input =
                    captured.map_or(InputBox::Unknown, |shown| input_box::read(Agent::Codex, &shown, ours, false));
                reach.ticks.box_empty = match reach.input {
                    InputBox::Empty => Tick::Holds,
                    InputBox::Ours => missing("our own text stands in codex's input box"),
                    InputBox::Other => missing("unsent text in codex's input box; press Enter or clear it in the pane"),
                    InputBox::Unknown => missing("codex's input box cannot be read"),
                };
            }
            Err(why) => reach.ticks.pane = missing(&why),
        }
    }

    /// Queues a message, or types it where there is no queue.
    pub fn send(&mut self, settings: &Settings, delivery: &Delivery) -> SendReport {
        let outgoing = match Outgoing::of(delivery, Agent::Codex, settings.message_file_above) {
            Ok(outgoing) => outgoing,
            Err(why) => return stopped(why),
        };
        let holder = match self.held() {
            Ok(holder) => holder,
            Err(why) => return stopped(why),
        };
        let mut report = if self.queues(&holder, settings) {
            match codex_program(&holder.process, settings) {
                Some(program) => {
                    queue::put(&program, &holder.codex_home, environment(&holder.process), &self.id, &outgoing.text)
                }
                None => stopped(String::from("can't find the codex program; name its folder in PATH")),
            }
        } else {
            with_typing(&holder, &self.id, settings, |typing| {
                typing.send(&outgoing.pastes(Agent::Codex), delivery.allow_unknown_box)
            })
        };
        report.sent_text = outgoing.differs.then_some(outgoing.text);
        report
    }

    /// Presses Enter on our own text in the pane.
    pub fn press_enter(&mut self, settings: &Settings, delivery: &Delivery) -> SendReport {
        let text = match Outgoing::of(delivery, Agent::Codex, settings.message_file_above) {
            Ok(outgoing) => outgoing.text,
            Err(why) => return stopped(why),
        };
        match self.held() {
            Ok(holder) => with_typing(&holder, &self.id, settings, |typing| typing.enter_alone(&text, false)),
            Err(why) => stopped(why),
        }
    }

    fn held(&mut self) -> Result<Holder, String> {
        match self.find() {
            Finding::Held(holder) => Ok(holder),
            Finding::Replaced(_, id) => Err(format!("codex went over to session {id}")),
            Finding::Gone => Err(String::from("codex is not running")),
            Finding::Unknown(why) => Err(why),
        }
    }

    fn find(&mut self) -> Finding {
        // The one that held it a moment ago, asked alone: the whole table of processes is read only when it no longer does.
        if let Some(last) = &self.last
            && last.process.still_runs()
            && let Ok(Some(now)) = holder(last.process.clone())
            && now.threads.contains(&self.id)
        {
            return Finding::Held(now);
        }
        let (holders, unreadable) = holders();
        if let Some(found) = holders.iter().find(|holder| holder.threads.contains(&self.id)) {
            self.last = Some(found.clone());
            return Finding::Held(found.clone());
        }
        if let Some(last) = &self.last
            && !last.is_daemon
            && let Some(now) = holders.iter().find(|holder| {
                holder.process.start_mark == last.process.start_mark && holder.process.pid == last.process.pid
            })
            && let Some(id) = now.threads.first()
        {
            return Finding::Replaced(now.clone(), id.clone());
        }
        match unreadable {
            Some(pid) => Finding::Unknown(format!("can't see what codex's pid {pid} holds open")),
            None => Finding::Gone,
        }
    }

    /// Whether this Codex knows `codex queue`; asked once for each program file.
    fn queues(&mut self, holder: &Holder, settings: &Settings) -> bool {
        let Some(program) = codex_program(&holder.process, settings) else { return false };
        if let Some(known) = self.queues.get(&program) {
            return *known;
        }
        let known = queue::is_known_to(&program, environment(&holder.process));
        self.queues.insert(program, known);
        known
    }
}

fn with_typing(
    holder: &Holder,
    thread: &SessionId,
    settings: &Settings,
    act: impl FnOnce(&Typing<'_>) -> SendReport,
) -> SendReport {
    let pane = match pane_of(holder, thread, settings) {
        Ok(pane) => pane,
        Err(why) => return stopped(why),
    };
    let check = |_: Moment| {
        let now = os::process(holder.process.pid).filter(|now| now.start_mark == holder.process.start_mark);
        let now = now.ok_or_else(|| String::from("codex is not running"))?;
        if now.stopped || !now.foreground {
            return Err(String::from("another program has codex's terminal"));
        }
        let title = pane.server.pane(&pane.id)?.title;
        if title.starts_with(DIALOG_TITLE) { Err(String::from("codex waits for a person: approval")) } else { Ok(()) }
    };
    act(&Typing { pane: &pane, agent: Agent::Codex, check: &check })
}

/// The program that a running Codex is, then the one that the settings name, then the one on `PATH`.
fn codex_program(process: &Process, settings: &Settings) -> Option<PathBuf> {
    os::executable(process.pid)
        .or_else(|| settings.codex_program.clone())
        .or_else(|| program::on_path("codex", settings.path.as_deref()))
}

/// What of a running Codex's environment a command to it needs: whose folders, and nothing of its terminal.
fn environment(process: &Process) -> Vec<(OsString, OsString)> {
    const TAKEN: [&str; 10] =
        ["HOME", "PATH", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "SHELL"];
    let variables = os::environment(process.pid).unwrap_or_default();
    let taken = variables.into_iter().filter(|(name, _)| TAKEN.contains(&name.as_str()) || name.starts_with("CODEX_"));
    taken.map(|(name, value)| (name.into(), value.into())).collect()
}

/// Program and arguments that open a thread again.
#[must_use]
pub fn resume(program: &Path, id: &SessionId) -> Vec<String> {
    vec![program.to_string_lossy().into_owned(), String::from("resume"), id.to_string()]
}

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;
