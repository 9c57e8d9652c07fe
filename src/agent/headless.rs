//! Sessions without a pane: trellis runs the agent's program on the session, one process for each message. Nothing lives
//! between two turns, and a turn that was begun does not need trellis any more. What ran is told from the agents' own signs.

mod carry;
mod signs;
mod turn;
mod whose;

use std::path::Path;
use std::sync::Arc;

use super::Settings;
use super::claude::{alive, missing, stopped};
use crate::clock;
use crate::machine::{Delivery, wire};
use crate::model::ids::{Agent, SessionId, SessionKey};
use crate::model::reach::{
    InFlight, InputBox, LiveStatus, OnItsWay, ProcessFact, ProcessMark, Reach, SendReport, Ticks, Transport,
};
use crate::model::session::Launch;
use carry::{Carried, Ended};
use signs::Sign;

/// Told when a process of ours has ended.
pub(super) type Tell = Arc<dyn Fn() + Send + Sync>;

/// One session as trellis runs it.
#[derive(Debug)]
pub(super) struct HeadlessSession {
    key: SessionKey,
    /// The last process that this trellis started on it.
    last: Option<Carried>,
}

impl HeadlessSession {
    /// A session by its key.
    pub(super) fn new(key: SessionKey) -> Self {
        Self { key, last: None }
    }

    /// Observes it without touching it.
    pub(super) fn probe(&self, launch: &Launch, settings: &Settings, in_flight: Option<&InFlight>) -> Reach {
        let mut reach = Reach {
            at: clock::now(),
            transport: Some(Transport::Headless),
            process: ProcessFact::Unknown,
            status: LiveStatus::Silent,
            ticks: Ticks::all_hold(),
            input: InputBox::Empty,
            on_its_way: OnItsWay::No,
            replaced_by: None,
            sign: None,
            seen: None,
            place: place(launch),
            last_words: String::new(),
        };
        let carrier = in_flight.and_then(|entry| entry.carrier.as_ref());
        match self.look(settings, carrier) {
            Sign::Nobody => {
                reach.process = ProcessFact::Dead;
                if let Some(why) = turn::cut_short(&self.key, settings) {
                    // Nothing of what was handed to it will ever be taken up.
                    reach.ticks.alive = missing(&why);
                    if in_flight.is_some() {
                        reach.on_its_way = OnItsWay::Refused(why.clone());
                    }
                    reach.last_words = why;
                    return reach;
                }
                if let Err(why) = turn::plan(&self.key, launch, settings) {
                    (reach.transport, reach.process) = (None, ProcessFact::Unknown);
                    reach.ticks.alive = missing(&why);
                }
                let ended = self.ended(settings, carrier);
                if let Some(why) = ended.as_ref().filter(|_| carrier.is_some()).and_then(Ended::refusal) {
                    reach.on_its_way = OnItsWay::Refused(why);
                }
                reach.last_words = ended.map(|ended| ended.words()).unwrap_or_default();
            }
            Sign::Runs(process) => {
                // A process for one turn only: when it was started says nothing of the turn before.
                reach.process = ProcessFact::Alive { pid: process.pid, started_at: None };
                reach.status = LiveStatus::Busy;
                reach.place = format!("{}, pid {}", reach.place, process.pid);
                if in_flight.is_some() {
                    reach.on_its_way = OnItsWay::Carried;
                }
            }
            Sign::Open { process, why, status } => {
                reach.process = alive(&process);
                reach.status = status;
                reach.ticks.pane = missing(&why);
            }
            Sign::Unknown(why) => {
                reach.ticks.alive = missing(&why);
                if in_flight.is_some() {
                    reach.on_its_way = OnItsWay::Unknown(why);
                }
            }
        }
        reach
    }

    /// Starts the program on the session with a message. From then on the turn needs nothing of trellis.
    pub(super) fn send(
        &mut self,
        launch: &Launch,
        settings: &Settings,
        delivery: &Delivery,
        tell: &Tell,
    ) -> SendReport {
        let plan = match self.may_start(settings).and_then(|()| turn::plan(&self.key, launch, settings)) {
            Ok(plan) => plan,
            Err(why) => return stopped(why),
        };
        match carry::start(&plan, &delivery.text, settings, Some(&self.key), Arc::clone(tell)) {
            Ok(carried) => {
                let carrier = Some(carried.mark.clone());
                self.last = Some(carried);
                SendReport { last_key_at: Some(clock::now()), entered: true, carrier, ..SendReport::default() }
            }
            Err(why) => stopped(why),
        }
    }

    fn may_start(&self, settings: &Settings) -> Result<(), String> {
        match self.look(settings, None) {
            Sign::Nobody => Ok(()),
            Sign::Runs(process) => Err(format!("{} still runs on it (pid {})", self.key.agent, process.pid)),
            Sign::Open { why, .. } | Sign::Unknown(why) => Err(why),
        }
    }

    fn look(&self, settings: &Settings, carrier: Option<&ProcessMark>) -> Sign {
        let marks = [carrier, self.last.as_ref().map(|last| &last.mark)];
        signs::look(&self.key, settings, marks.into_iter().flatten())
    }

    /// How the last process ended: ours, or the one that an earlier trellis started for this entry.
    fn ended(&self, settings: &Settings, carrier: Option<&ProcessMark>) -> Option<Ended> {
        match &self.last {
            Some(last) if carrier.is_none_or(|carrier| *carrier == last.mark) => last.ended(),
            _ => Some(Ended { code: None, said: carry::left_words(settings, &self.key) }),
        }
    }
}

/// Nothing has to be resumed for a session without a pane: its next message starts the program.
///
/// # Errors
/// The program or the folder is not there.
pub(super) fn bring_back(key: &SessionKey, launch: &Launch, settings: &Settings) -> Result<String, String> {
    turn::plan(key, launch, settings)?;
    Ok(format!("nothing has to be resumed: {} is started on it with its next message", key.agent))
}

/// Begins a session with its first message. The turn goes on by itself; the id is the agent's own. `id`: Claude takes the
/// one it is given, Codex none.
///
/// # Errors
/// The program or folder is not there, or it ended before it named or began a session: its words.
pub fn open(
    agent: Agent,
    id: Option<&SessionId>,
    launch: &Launch,
    prompt: &str,
    settings: &Settings,
) -> Result<SessionId, String> {
    let wire =
        wire::whole(prompt, prompt.len(), agent).ok_or("nothing is left of the message without its control signs")?;
    let text = wire.text;
    let nobody: Tell = Arc::new(|| {});
    match id {
        Some(id) => {
            let key = SessionKey { agent, session_id: id.clone() };
            let carried = carry::start(&turn::plan(&key, launch, settings)?, &text, settings, Some(&key), nobody)?;
            // One that runs and has written nothing yet has its message all the same.
            carry::shows(&carried, || turn::transcript(&settings.claude_home, id).ok()?)?;
            Ok(id.clone())
        }
        None => carry::named(&carry::start(&turn::first(agent, launch, settings)?, &text, settings, None, nobody)?),
    }
}

/// Where it is, for people: what its launch chose.
fn place(launch: &Launch) -> String {
    let chosen = [launch.permission_mode.as_deref(), launch.model.as_deref()].into_iter().flatten();
    std::iter::once("headless").chain(chosen).collect::<Vec<_>>().join(" · ")
}

/// Where the words of a session's last process are kept.
fn log_of(folder: &Path, key: &SessionKey) -> Option<std::path::PathBuf> {
    let id = key.session_id.as_str();
    crate::model::ids::is_safe_name(id).then(|| folder.join(format!("headless-{}-{id}.log", key.agent)))
}
