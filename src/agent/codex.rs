//! A Codex thread: the process that holds it, its pane for dialogs, and `codex queue` as the way in.
//! Where this Codex has no queue, its pane is typed into as Claude's is. Transcripts are not read here.

pub mod queue;
mod start;
pub mod threads;

pub(super) use start::{held_in, named_in, own_process, resume, running_on, start};

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use super::Settings;
use super::claude::{alive, missing, stopped};
use super::os::{self, Process};
use super::program;
use super::tmux::typing::{Moment, Typing};
use super::tmux::{self, input_box};
use super::{by_hand, message};
use crate::clock;
use crate::machine::Delivery;
use crate::model::ids::{Agent, SessionId};
use crate::model::reach::{
    InFlight, InputBox, LiveStatus, OnItsWay, ProcessFact, ProcessMark, Reach, SendReport, Sign, Tick, Ticks, Transport,
};
use crate::model::text::first_line;
use threads::{Holder, Window};

/// One Codex thread as trellis reaches it.
#[derive(Debug)]
pub struct CodexSession {
    id: SessionId,
    /// The holder that was last seen.
    last: Option<Holder>,
    /// The terminal that showed it last: its title tells when it went over to another thread.
    seen: Option<ProcessMark>,
    /// Whether a Codex program knows `queue`, by its file.
    queues: BTreeMap<PathBuf, bool>,
}

/// What became of a thread.
enum Finding {
    Held(Holder),
    Starting(Process),
    Replaced(Process, SessionId, String),
    Gone,
    Unknown(String),
}

impl CodexSession {
    /// A thread by its id.
    #[must_use]
    pub fn new(id: SessionId) -> Self {
        Self { id, last: None, seen: None, queues: BTreeMap::new() }
    }

    /// Takes in what an earlier start of trellis saw: it counts until a terminal is seen to show the thread.
    pub fn remember(&mut self, seen: Option<&ProcessMark>) {
        if self.seen.is_none() {
            self.seen = seen.cloned();
        }
    }

    /// Observes it without touching it. What is on its way is looked at in this order: our own queue commands, then the
    /// queue; the transcript is read after that.
    pub fn probe(&mut self, settings: &Settings, in_flight: Option<&InFlight>) -> Reach {
        let at = clock::now();
        let finding = self.find(settings);
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
            sign: None,
            seen: None,
            place: String::new(),
            last_words: String::new(),
        };
        match finding {
            Finding::Held(holder) => self.observe(&mut reach, &holder, settings, in_flight),
            Finding::Starting(process) => start::observe(&mut reach, &self.id, &process, settings),
            Finding::Replaced(process, id, proof) => {
                reach.process = alive(&process);
                let pane = tmux::of(&process, &settings.tmux);
                reach.place = pane.map_or_else(|_| format!("pid {}", process.pid), |pane| pane.id.as_str().to_owned());
                reach.ticks.pane = missing("codex went over to another session");
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

    /// The process that held it last.
    #[must_use]
    pub fn last_seen(&self) -> Option<Process> {
        self.last.as_ref().filter(|last| !last.is_daemon).map(|last| last.process.clone())
    }

    fn observe(&mut self, reach: &mut Reach, holder: &Holder, settings: &Settings, in_flight: Option<&InFlight>) {
        reach.process = alive(&holder.process);
        reach.place = format!("pid {}", holder.process.pid);
        reach.seen.clone_from(&self.seen);
        let pane = threads::pane_of(holder, &self.id, settings);
        if pane.is_err() && holder.is_daemon {
            // Codex goes on with a thread when its terminal is quit; what it asks there is seen by nobody.
            reach.place = server_place(holder.windows(settings).is_empty());
        }
        if let Ok(pane) = &pane {
            pane.id.as_str().clone_into(&mut reach.place);
            if threads::asks(&pane.title) {
                let what = String::from("approval");
                reach.ticks.no_dialog = missing("codex waits for a person: approval");
                reach.status = LiveStatus::Waiting { what };
                let source = format!("title of pane {}: Action Required", pane.id.as_str());
                reach.sign = Some(Sign { since: None, source });
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
                reach.ticks.box_empty = input_box::tick(Agent::Codex, reach.input, pane.height);
                let entry = in_flight.and_then(|entry| entry.entry.as_ref());
                if (reach.input, &reach.on_its_way) == (InputBox::Empty, &OnItsWay::No) && pane.has_entered(entry) {
                    reach.on_its_way = OnItsWay::Entered;
                }
            }
            Err(why) => {
                reach.place = by_hand::place(&holder.process);
                reach.ticks.pane = missing(&why);
                reach.transport = Some(Transport::ByHand);
            }
        }
    }

    /// Queues a message, or types it where there is no queue.
    pub fn send(&mut self, settings: &Settings, delivery: &Delivery) -> SendReport {
        let holder = match self.held(settings) {
            Ok(holder) => holder,
            Err(why) => return stopped(why),
        };
        if self.queues(&holder, settings) {
            match codex_program(&holder.process, settings) {
                Some(program) => {
                    queue::put(&program, &holder.codex_home, environment(&holder.process), &self.id, &delivery.text)
                }
                None => stopped(String::from("can't find the codex program; name its folder in PATH")),
            }
        } else {
            with_typing(&holder, &self.id, settings, delivery, |typing| {
                typing.send(&message::pastes(delivery, typing.pane.height), delivery.allow_unknown_box)
            })
        }
    }

    /// Presses Enter on our own text in the pane.
    pub fn press_enter(&mut self, settings: &Settings, delivery: &Delivery) -> SendReport {
        match self.held(settings) {
            Ok(holder) => {
                with_typing(&holder, &self.id, settings, delivery, |typing| typing.enter_alone(&delivery.text, false))
            }
            Err(why) => stopped(why),
        }
    }

    fn held(&mut self, settings: &Settings) -> Result<Holder, String> {
        match self.find(settings) {
            Finding::Held(holder) => Ok(holder),
            Finding::Starting(_) => Err(String::from("codex is still starting")),
            Finding::Replaced(_, id, _) => Err(format!("codex went over to session {id}")),
            Finding::Gone => Err(String::from("codex is not running")),
            Finding::Unknown(why) => Err(why),
        }
    }

    fn find(&mut self, settings: &Settings) -> Finding {
        // The one that held it a moment ago, asked alone: the whole table of processes is read only when it no longer does.
        if let Some(last) = &self.last
            && last.process.still_runs()
            && let Ok(Some(now)) = threads::holder(last.process.clone())
            && now.holds(&self.id)
        {
            return self.seen_in(now, settings);
        }
        let (mut holders, unreadable) = threads::holders();
        holders.retain(|holder| os::same_folder(&holder.codex_home, &settings.codex_home));
        if let Some(found) = holders.iter().find(|holder| holder.holds(&self.id)) {
            return self.seen_in(found.clone(), settings);
        }
        if let Some(seen) = self.seen.clone()
            && os::marked(&seen).is_some()
            && let Some(replaced) = holders.iter().find_map(|holder| self.left(&seen, &holder.windows(settings)))
        {
            return replaced;
        }
        if let Some(process) = start::starting(&self.id) {
            // A session of ours without a name has one now: the first thread that its own process holds.
            let named = holders.iter().find(|holder| holder.process.pid == process.pid);
            return match named.and_then(|holder| holder.conversations().into_iter().next()) {
                Some(told) => {
                    let proof = format!("codex's pid {} now holds the rollout of session {}", process.pid, told.id);
                    Finding::Replaced(process, told.id, proof)
                }
                None => Finding::Starting(process),
            };
        }
        match unreadable {
            Some(pid) => Finding::Unknown(format!("can't see what codex's pid {pid} holds open")),
            None => Finding::Gone,
        }
    }

    /// It is held; but a person may have gone over to another thread, which leaves it held and out of sight: what is
    /// queued to it then runs unseen.
    fn seen_in(&mut self, holder: Holder, settings: &Settings) -> Finding {
        self.last = Some(holder.clone());
        let windows = holder.windows(settings);
        if let Some(here) = windows.iter().find(|window| window.shows.as_ref() == Some(&self.id)) {
            self.seen = Some(here.process.mark());
            return Finding::Held(holder);
        }
        let own = (!holder.is_daemon).then(|| holder.process.mark());
        let left = own.or_else(|| self.seen.clone()).and_then(|seen| self.left(&seen, &windows));
        left.unwrap_or(Finding::Held(holder))
    }

    /// Whether the terminal that showed this thread is proven to show another one.
    fn left(&self, seen: &ProcessMark, windows: &[Window]) -> Option<Finding> {
        let window = windows.iter().find(|window| window.process.mark() == *seen)?;
        let id = window.shows.clone().filter(|shows| *shows != self.id)?;
        let proof = format!(
            "pane {} of codex's pid {} now shows session {id} (its title: {})",
            window.pane.id.as_str(),
            window.process.pid,
            first_line(&window.pane.title)
        );
        Some(Finding::Replaced(window.process.clone(), id, proof))
    }

    /// Whether a message goes through `codex queue`: the thread has had a message, and this Codex knows the command; that is
    /// asked once for each program file.
    fn queues(&mut self, holder: &Holder, settings: &Settings) -> bool {
        if !holder.has_begun(&self.id) {
            return false;
        }
        let Some(program) = codex_program(&holder.process, settings) else { return false };
        if let Some(known) = self.queues.get(&program) {
            return *known;
        }
        let known = queue::is_known_to(&program, environment(&holder.process));
        self.queues.insert(program, known);
        known
    }
}

/// Where a thread is that no pane shows; `alone`: Codex has no terminal open at all.
fn server_place(alone: bool) -> String {
    let pane = if alone { "its pane is gone" } else { "in no pane that names it" };
    format!("codex's background server, {pane}")
}

fn with_typing(
    holder: &Holder,
    thread: &SessionId,
    settings: &Settings,
    delivery: &Delivery,
    act: impl FnOnce(&Typing<'_>) -> SendReport,
) -> SendReport {
    let pane = match threads::pane_of(holder, thread, settings) {
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
        if threads::asks(&title) { Err(String::from("codex waits for a person: approval")) } else { Ok(()) }
    };
    act(&Typing { pane: &pane, agent: Agent::Codex, entry: &delivery.entry, check: &check })
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

#[cfg(test)]
#[path = "codex_tests.rs"]
mod tests;
