//! Claude Code in a tmux pane: its own status file says which process holds a session and whether one may type.
//! Reading transcripts is not done here; keys are pressed by `tmux::typing`.

mod start;
mod status;

use std::path::{Path, PathBuf};

pub(super) use start::{held_in, named_in, resume, running_on, start};
pub use status::{StatusFile, Statuses};

use jiff::{SignedDuration, Timestamp};

use super::Settings;
use super::os::{self, Process};
use super::tmux::typing::{Moment, Typing};
use super::tmux::{self, Pane, input_box};
use super::{by_hand, message};
use crate::clock;
use crate::machine::Delivery;
use crate::model::ids::{Agent, SessionId};
use crate::model::reach::{
    InFlight, InputBox, LiveStatus, OnItsWay, ProcessFact, ProcessMark, Reach, SendReport, Tick, Ticks, Transport,
};
use crate::model::text::fold;

/// A Claude that runs for longer without a status file is not merely starting.
const STARTING: SignedDuration = SignedDuration::from_mins(1);

/// One Claude session as trellis reaches it.
#[derive(Debug)]
pub struct ClaudeSession {
    id: SessionId,
    /// The process that was last seen on it: its status file tells when it went over to another session.
    last: Option<ProcessMark>,
    /// The text that was typed last and seen to stand in the box.
    typed: Option<String>,
}

/// A session that a live process holds.
#[derive(Clone, Debug)]
pub struct Held {
    /// Its status file.
    pub status: StatusFile,
    /// The process.
    pub process: Process,
    /// Its pane, or why it has none.
    pub pane: Result<Pane, String>,
}

/// What became of a session.
enum Finding {
    Held(Box<Held>),
    Starting(Process),
    Several(Vec<u32>),
    Replaced(Process, SessionId),
    Gone,
    Unknown(String),
}

/// Finds the pane of a live process.
#[must_use]
pub fn hold(status: StatusFile, process: Process, settings: &Settings) -> Held {
    let pane = if status.is_interactive() {
        tmux::of(&process, &settings.tmux)
    } else {
        Err(format!("a program runs claude on this session (pid {})", process.pid))
    };
    Held { status, process, pane }
}

impl ClaudeSession {
    /// A session by its id.
    #[must_use]
    pub fn new(id: SessionId) -> Self {
        Self { id, last: None, typed: None }
    }

    /// Takes in what an earlier start of trellis saw: it counts until a process is seen on the session itself.
    pub fn remember(&mut self, seen: Option<&ProcessMark>) {
        if self.last.is_none() {
            self.last = seen.cloned();
        }
    }

    /// Observes it without touching it.
    pub fn probe(&mut self, settings: &Settings, in_flight: Option<&InFlight>) -> Reach {
        let at = clock::now();
        let finding = self.find(settings);
        let mut reach = unreached(at, ProcessFact::Unknown, String::new());
        match finding {
            Finding::Held(held) => return observe(at, &held, in_flight, self.typed.as_deref()),
            Finding::Starting(process) => {
                start::observe(&mut reach, &process, settings);
            }
            Finding::Several(pids) => {
                reach.transport = Some(Transport::Tmux);
                let list: Vec<String> = pids.iter().map(ToString::to_string).collect();
                reach.ticks.pane = missing(&format!(
                    "several claude processes hold this session: pids {}; end all but one",
                    list.join(", ")
                ));
            }
            Finding::Replaced(process, id) => {
                reach.process = alive(&process);
                reach.place = format!("pid {}", process.pid);
                let proof = format!("the status file of claude's pid {} now names session {id}", process.pid);
                reach.ticks.pane = missing("claude went over to another session");
                reach.replaced_by = Some((id, proof));
                reach.on_its_way = OnItsWay::No;
            }
            Finding::Gone => {
                reach.process = ProcessFact::Dead;
                reach.on_its_way = OnItsWay::No;
                reach.ticks.alive = missing("claude is not running");
            }
            Finding::Unknown(why) => {
                reach.transport = Some(Transport::Tmux);
                reach.ticks.alive = missing(&why);
            }
        }
        if in_flight.is_none() {
            reach.on_its_way = OnItsWay::No;
        }
        reach
    }

    /// The process that was last seen on it.
    #[must_use]
    pub fn last_seen(&self) -> Option<Process> {
        self.last.as_ref().and_then(os::marked)
    }

    /// Types a message into its pane.
    pub fn send(&mut self, settings: &Settings, delivery: &Delivery) -> SendReport {
        let report = self.with_typing(settings, delivery, |typing| {
            typing.send(&message::pastes(delivery, typing.pane.height), delivery.allow_unknown_box)
        });
        // Entered or not: a send that was stopped after its last paste leaves the same box as one whose Enter was lost.
        self.typed = report.last_key_at.is_some().then(|| delivery.text.to_string());
        report
    }

    /// Presses Enter on our own text.
    pub fn press_enter(&mut self, settings: &Settings, delivery: &Delivery) -> SendReport {
        let typed = self.typed.as_deref().is_some_and(|typed| fold(typed) == fold(&delivery.text));
        self.with_typing(settings, delivery, |typing| typing.enter_alone(&delivery.text, typed))
    }

    fn with_typing(
        &mut self,
        settings: &Settings,
        delivery: &Delivery,
        act: impl FnOnce(&Typing<'_>) -> SendReport,
    ) -> SendReport {
        let held = match self.find(settings) {
            Finding::Held(held) => held,
            Finding::Starting(_) => return stopped(String::from("claude is still starting")),
            Finding::Several(_) => return stopped(String::from("several claude processes hold this session")),
            Finding::Replaced(_, id) => return stopped(format!("claude went over to session {id}")),
            Finding::Gone => return stopped(String::from("claude is not running")),
            Finding::Unknown(why) => return stopped(why),
        };
        let pane = match &held.pane {
            Ok(pane) => pane,
            Err(why) => return stopped(why.clone()),
        };
        let check = |moment| may_type(&held, &settings.claude_home, moment);
        act(&Typing { pane, agent: Agent::Claude, entry: &delivery.entry, check: &check })
    }

    fn find(&mut self, settings: &Settings) -> Finding {
        let statuses = match Statuses::read(&settings.claude_home) {
            Ok(statuses) => statuses,
            Err(why) => return Finding::Unknown(why),
        };
        let ours: Vec<(StatusFile, Process)> = statuses.live_on(&self.id);
        match ours.as_slice() {
            [] => self.find_elsewhere(&statuses, &settings.claude_home),
            [(status, process)] => {
                self.last = Some(process.mark());
                Finding::Held(Box::new(hold(status.clone(), process.clone(), settings)))
            }
            many => Finding::Several(many.iter().map(|(_, process)| process.pid).collect()),
        }
    }

    fn find_elsewhere(&self, statuses: &Statuses, claude_home: &Path) -> Finding {
        if let Some(last) = self.last.as_ref().and_then(os::marked)
            && let Some(now) = statuses.of_process(&last)
        {
            let id = now.session_id.clone();
            return Finding::Replaced(last, id);
        }
        if let Some(file) = statuses.torn() {
            return Finding::Unknown(format!("can't read {}", file.display()));
        }
        // A process whose status file is not there yet still names the session it was told to open.
        if let Some(starting) = start::starting(&self.id, statuses, claude_home) {
            return Finding::Starting(starting);
        }
        let silent: Vec<Process> = os::processes()
            .into_iter()
            .filter(|process| process.name.contains("claude") && statuses.of_process(process).is_none())
            .filter(|process| is_of_home(process, claude_home))
            .collect();
        // A Claude that writes no such files holds some session: which one is not known, and so none is called gone.
        let old = clock::now().checked_sub(STARTING).ok();
        let mute = silent.iter().find(|process| process.started_at.is_some_and(|at| old.is_some_and(|old| at < old)));
        match mute.filter(|_| statuses.are_none()) {
            Some(mute) => Finding::Unknown(format!("claude's pid {} does not say which session it holds", mute.pid)),
            None => Finding::Gone,
        }
    }
}

/// Whether a Claude keeps its files in this folder. One that may not be looked at is another person's.
fn is_of_home(process: &Process, claude_home: &Path) -> bool {
    let Some(variables) = os::environment(process.pid) else { return false };
    let named = variables.get("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = named.or_else(|| variables.get("HOME").map(|home| Path::new(home).join(".claude")));
    folder.is_some_and(|folder| os::same_folder(&folder, claude_home))
}

/// The checks before each key that tmux cannot make: the very process, in front, no dialog, still on this session.
fn may_type(held: &Held, claude_home: &Path, moment: Moment) -> Result<(), String> {
    let Some(now) = os::process(held.process.pid).filter(|now| now.start_mark == held.process.start_mark) else {
        return Err(String::from("claude is not running"));
    };
    in_front(&now)?;
    let status = StatusFile::of_pid(claude_home, held.process.pid)?;
    if status.session_id != held.status.session_id {
        return Err(format!("claude went over to session {}", status.session_id));
    }
    match (status.live(), moment) {
        (LiveStatus::Waiting { what }, _) => Err(format!("claude waits for a person: {what}")),
        (LiveStatus::Busy, Moment::BeforeTheFirst) => Err(String::from("claude is busy")),
        (LiveStatus::Silent, Moment::BeforeTheFirst) => Err(String::from("claude does not say whether it is free")),
        _ => Ok(()),
    }
}

fn in_front(process: &Process) -> Result<(), String> {
    if process.stopped {
        return Err(String::from("claude was stopped with Ctrl-Z (fg lets it go on)"));
    }
    if !process.foreground {
        return Err(String::from("another program has claude's terminal"));
    }
    Ok(())
}

fn observe(at: Timestamp, held: &Held, in_flight: Option<&InFlight>, typed: Option<&str>) -> Reach {
    let status = held.status.live();
    let mut reach = unreached(at, alive(&held.process), String::new());
    reach.status = status.clone();
    reach.sign = held.status.sign();
    reach.seen = held.status.is_interactive().then(|| held.process.mark());
    reach.ticks.alive = in_front(&held.process).map_or_else(|why| missing(&why), |()| Tick::Holds);
    reach.ticks.no_dialog = match &status {
        LiveStatus::Waiting { what } => missing(&format!("claude waits for a person: {what}")),
        LiveStatus::Silent => missing("claude does not say whether it is free"),
        LiveStatus::Idle | LiveStatus::Busy => Tick::Holds,
    };
    match &held.pane {
        Err(why) => {
            reach.place = by_hand::place(&held.process);
            reach.ticks.pane = missing(why);
            // A person sits before it, wherever that is.
            reach.transport = held.status.is_interactive().then_some(Transport::ByHand);
        }
        Ok(pane) => {
            reach.transport = Some(Transport::Tmux);
            pane.id.as_str().clone_into(&mut reach.place);
            reach.ticks.pane = pane.refuses().map_or(Tick::Holds, missing);
            reach.ticks.not_scrolled =
                if pane.is_in_foreign_mode() { missing("a tmux chooser is open in its pane") } else { Tick::Holds };
            let ours = in_flight.map(|entry| &*entry.text);
            let typed = ours.is_some_and(|ours| typed.is_some_and(|typed| fold(typed) == fold(ours)));
            let captured = pane.server.capture(&pane.id);
            reach.input =
                captured.map_or(InputBox::Unknown, |shown| input_box::read(Agent::Claude, &shown, ours, typed));
            reach.ticks.box_empty = input_box::tick(Agent::Claude, reach.input, pane.height);
        }
    }
    let entered = |entry: &InFlight| held.pane.as_ref().is_ok_and(|pane| pane.has_entered(entry.entry.as_ref()));
    reach.on_its_way = match (in_flight, reach.input) {
        (Some(entry), InputBox::Empty) if entered(entry) => OnItsWay::Entered,
        (None, _) | (Some(_), InputBox::Empty | InputBox::Ours | InputBox::Other | InputBox::Command) => OnItsWay::No,
        (Some(_), InputBox::Unknown) => OnItsWay::Unknown(String::from("claude's input box cannot be read")),
    };
    reach
}

fn unreached(at: Timestamp, process: ProcessFact, place: String) -> Reach {
    let unseen = || missing("not looked at");
    Reach {
        at,
        transport: None,
        process,
        status: LiveStatus::Silent,
        ticks: Ticks {
            pane: missing("claude's pane is not found"),
            alive: Tick::Holds,
            no_dialog: Tick::Holds,
            box_empty: unseen(),
            not_scrolled: Tick::Holds,
        },
        input: InputBox::Unknown,
        on_its_way: OnItsWay::Unknown(String::from("claude's pane is not found")),
        replaced_by: None,
        sign: None,
        seen: None,
        place,
        last_words: String::new(),
    }
}

pub(super) fn alive(process: &Process) -> ProcessFact {
    ProcessFact::Alive { pid: process.pid, started_at: process.started_at }
}

pub(super) fn missing(why: &str) -> Tick {
    Tick::Missing(why.to_owned())
}

pub(super) fn stopped(why: String) -> SendReport {
    SendReport { stopped: Some(why), ..SendReport::default() }
}
