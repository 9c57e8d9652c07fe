//! The agents port of the simulated world: probes, and send sequences key by key, each of which a kill may cut off.

use std::cell::RefCell;
use std::rc::Rc;

use trellis::driver::ports::{Agents, Job, Outcome};
use trellis::machine::Delivery;
use trellis::model::ids::{Agent, RecordKey};
use trellis::model::reach::{
    InputBox, LiveStatus, OnItsWay, ProbeAsk, ProcessFact, Reach, SendReport, Tick, Ticks, Transport,
};

use trellis::model::outbox::Purpose;
use trellis::model::pair::PairState;
use trellis::model::run::RunState;

use super::disk::Disk;
use super::world::{Happening, World, head};

/// The port.
pub struct Hands(pub Rc<RefCell<World>>);

/// What is left of a send sequence.
#[derive(Clone, Debug)]
pub enum Keys {
    Probe { ask: ProbeAsk },
    Paste { record: RecordKey, delivery: Delivery },
    Enter { record: RecordKey, delivery: Delivery, enter_only: bool },
    Queue { record: RecordKey, delivery: Delivery },
}

impl Agents for Hands {
    fn begin(&mut self, job: Job) {
        let mut world = self.0.borrow_mut();
        if world.burn() {
            return;
        }
        let epoch = world.epoch;
        let wait = world.rng.between(3, 25);
        match job {
            Job::Probe(ask) => world.after(wait, Happening::Key(epoch, Keys::Probe { ask })),
            Job::Send(record, delivery) => {
                let claude = delivery.session.agent == Agent::Claude;
                world.begun.push((record.clone(), delivery.entry.clone()));
                let keys = if claude { Keys::Paste { record, delivery } } else { Keys::Queue { record, delivery } };
                world.after(wait, Happening::Key(epoch, keys));
            }
            Job::PressEnter(record, delivery) => {
                world.after(wait, Happening::Key(epoch, Keys::Enter { record, delivery, enter_only: true }));
            }
            Job::Git { worktree } => {
                world.after(wait, Happening::Outcome(epoch, Box::new(Outcome::Git { worktree, mark: None })))
            }
            Job::Lines { worktree, base } => {
                let seen = Outcome::Lines { worktree, base, state: None };
                world.after(wait, Happening::Outcome(epoch, Box::new(seen)));
            }
            Job::Clipboard(_) | Job::Launch(_) => {}
            Job::BringBack(comeback) => {
                let done = Outcome::BroughtBack(comeback.session.key(), Ok("it is back".into()));
                world.after(wait, Happening::Outcome(epoch, Box::new(done)));
            }
        }
    }
}

impl World {
    /// Counts a port call; true when this driver is dead, or dies here.
    pub fn burn(&mut self) -> bool {
        if self.dead {
            return true;
        }
        if let Some(left) = &mut self.fuse {
            if *left == 0 {
                self.fuse = None;
                self.dead = true;
                self.say("KILL at a boundary".into());
                return true;
            }
            *left -= 1;
        }
        false
    }

    /// `paused-means-silent` and `save-before-act`: a send that began belongs to a running record whose saved entry counts it.
    pub fn wrong_begins(&mut self, disk: &Disk) -> Vec<String> {
        let mut wrong = Vec::new();
        for (key, entry) in std::mem::take(&mut self.begun) {
            let (running, saved) = match &key {
                RecordKey::Run(id) => {
                    let run = disk.runs.get(id);
                    let saved = run.and_then(|run| run.outbox.iter().find(|saved| saved.id == entry));
                    (run.is_some_and(|run| run.state == RunState::Running), saved)
                }
                RecordKey::Pair(id) => {
                    let pair = disk.pairs.get(id);
                    let saved = pair.and_then(|pair| pair.outbox.iter().find(|saved| saved.id == entry));
                    (pair.is_some_and(|pair| pair.state == PairState::Running), saved)
                }
            };
            let Some(saved) = saved else {
                wrong.push(format!("save-before-act: {entry} of {key} was sent and is not on the disk"));
                continue;
            };
            if saved.attempts == 0 {
                wrong.push(format!("save-before-act: {entry} of {key} was sent before its attempt was saved"));
            }
            if !running && saved.purpose != Purpose::User {
                wrong.push(format!("paused-means-silent: {entry} of {key} began while its record did not run"));
            }
        }
        wrong
    }

    /// One key of a send sequence.
    pub fn key(&mut self, keys: Keys) {
        match keys {
            Keys::Probe { ask } => self.probe(&ask),
            Keys::Paste { record, delivery } => self.paste(record, delivery),
            Keys::Enter { record, delivery, enter_only } => self.enter(record, delivery, enter_only),
            Keys::Queue { record, delivery } => self.queue(record, &delivery),
        }
    }

    fn probe(&mut self, ask: &ProbeAsk) {
        let Some(side) = self.side_of(&ask.session) else { return };
        let reach = self.reach(side, ask);
        let epoch = self.epoch;
        self.after(1, Happening::Outcome(epoch, Box::new(Outcome::Probed(ask.session.clone(), Box::new(reach)))));
    }

    fn reach(&self, side: usize, ask: &ProbeAsk) -> Reach {
        let agent = &self.agents[side];
        let ours = ask.in_flight.as_ref().is_some_and(|flight| *flight.text == *agent.input);
        let input = if agent.input.is_empty() {
            InputBox::Empty
        } else if ours {
            InputBox::Ours
        } else {
            InputBox::Other
        };
        let mut ticks = Ticks::all_hold();
        if agent.dialog {
            ticks.no_dialog = Tick::Missing("a dialog is open".into());
        }
        if input != InputBox::Empty {
            ticks.box_empty = Tick::Missing("text stands in the box".into());
        }
        let claude = agent.session.agent == Agent::Claude;
        let status = if !claude {
            LiveStatus::Silent
        } else if agent.dialog {
            LiveStatus::Waiting { what: "permission prompt".into() }
        } else if agent.turn.is_some() || agent.background > 0 {
            LiveStatus::Busy
        } else {
            LiveStatus::Idle
        };
        let queued = ask.in_flight.as_ref().is_some_and(|flight| {
            agent.queue.iter().any(|(id, text)| match &flight.queue_id {
                Some(queue_id) => queue_id == id,
                None => !id.is_empty() && *flight.text == **text,
            })
        });
        let carried = ask.in_flight.as_ref().is_some_and(|flight| {
            self.agenda.values().any(|what| match what {
                Happening::QueueInsert { side: to, text, .. } => *to == side && **text == *flight.text,
                _ => false,
            })
        });
        let on_its_way = if carried {
            OnItsWay::Carried
        } else if queued && !claude {
            OnItsWay::Queued
        } else {
            OnItsWay::No
        };
        Reach {
            at: self.now,
            transport: Some(Transport::Tmux),
            process: ProcessFact::Alive { pid: 100 + u32::try_from(side).unwrap(), started_at: Some(agent.started_at) },
            status,
            ticks,
            input: if claude { input } else { InputBox::Empty },
            on_its_way,
            replaced_by: None,
            sign: None,
            seen: None,
            place: format!("%{side}"),
            last_words: String::new(),
        }
    }

    fn report(&mut self, record: RecordKey, delivery: &Delivery, enter_only: bool, report: SendReport) {
        let epoch = self.epoch;
        let outcome = Outcome::Sent {
            record,
            entry: delivery.entry.clone(),
            session: delivery.session.clone(),
            enter_only,
            report,
        };
        self.after(2, Happening::Outcome(epoch, Box::new(outcome)));
    }

    fn stopped(&self, typed: bool, why: &str) -> SendReport {
        SendReport {
            last_key_at: typed.then_some(self.now),
            entered: false,
            queue_id: None,
            carrier: None,
            stopped: Some(why.into()),
        }
    }

    fn paste(&mut self, record: RecordKey, delivery: Delivery) {
        let Some(side) = self.side_of(&delivery.session) else { return };
        let agent = &self.agents[side];
        if agent.dialog || !agent.input.is_empty() {
            let report = self.stopped(false, "the pre-flight does not hold");
            self.report(record, &delivery, false, report);
            return;
        }
        if self.rng.chance(self.plan.lost_keys) {
            self.say(format!("paste to {side} is lost"));
        } else {
            self.agents[side].input = delivery.text.to_string();
        }
        let wait = self.rng.between(20, 350);
        let epoch = self.epoch;
        self.after(wait, Happening::Key(epoch, Keys::Enter { record, delivery, enter_only: false }));
    }

    fn enter(&mut self, record: RecordKey, delivery: Delivery, enter_only: bool) {
        let Some(side) = self.side_of(&delivery.session) else { return };
        if self.agents[side].dialog || self.agents[side].input != *delivery.text {
            let report = self.stopped(!enter_only, "the box does not hold our text alone");
            self.report(record, &delivery, enter_only, report);
            return;
        }
        if self.rng.chance(self.plan.lost_keys) {
            self.say(format!("Enter to {side} is lost"));
        } else {
            let text = std::mem::take(&mut self.agents[side].input);
            self.submit(side, text, false);
        }
        let report = SendReport { entered: true, stopped: None, ..self.stopped(true, "") };
        self.report(record, &delivery, enter_only, report);
    }

    fn queue(&mut self, record: RecordKey, delivery: &Delivery) {
        let Some(side) = self.side_of(&delivery.session) else { return };
        let id = self.id("q");
        self.say(format!("codex queue {id}: {}", head(&delivery.text)));
        // The command is a process of its own: it inserts even when the driver is killed meanwhile.
        let wait = self.rng.between(20, 600);
        self.after(wait, Happening::QueueInsert { side, id: id.clone(), text: delivery.text.to_string() });
        let report = SendReport { entered: true, stopped: None, queue_id: Some(id), ..self.stopped(true, "") };
        let epoch = self.epoch;
        let report = SendReport { last_key_at: Some(self.now), ..report };
        let outcome = Outcome::Sent {
            record,
            entry: delivery.entry.clone(),
            session: delivery.session.clone(),
            enter_only: false,
            report,
        };
        self.after(wait + 5, Happening::Outcome(epoch, Box::new(outcome)));
    }
}
