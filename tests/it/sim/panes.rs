//! What a transport sees of a fake agent's pane, and what its keys do there: each key may be lost, and a kill may cut a
//! sequence off behind any of them.

use trellis::driver::ports::Outcome;
use trellis::machine::Delivery;
use trellis::model::ids::{Agent, RecordKey};
use trellis::model::reach::{
    InputBox, LiveStatus, OnItsWay, ProbeAsk, ProcessFact, Reach, SendReport, Tick, Ticks, Transport,
};

use super::agents::Prompt;
use super::ingredients::Ingredient;
use super::world::{Happening, World, head};

/// What is left of a send sequence.
#[derive(Clone, Debug)]
pub enum Keys {
    Probe { ask: ProbeAsk },
    Paste { record: RecordKey, delivery: Delivery },
    Enter { record: RecordKey, delivery: Delivery, enter_only: bool },
    Queue { record: RecordKey, delivery: Delivery },
}

impl World {
    /// One key of a send sequence.
    pub fn key(&mut self, keys: Keys) {
        match keys {
            Keys::Probe { ask } => self.probe(&ask),
            Keys::Paste { record, delivery } => self.paste(record, delivery),
            Keys::Enter { record, delivery, enter_only } => self.enter(record, &delivery, enter_only),
            Keys::Queue { record, delivery } => self.queue(record, &delivery),
        }
    }

    fn probe(&mut self, ask: &ProbeAsk) {
        let Some((side, chat)) = self.place_of(&ask.session) else { return };
        let mut reach = self.reach(side, ask);
        if chat + 1 < self.agents[side].chats.len() {
            let newer = self.agents[side].session().session_id.clone();
            reach.replaced_by = Some((newer, "the title of its pane".into()));
            reach.ticks.pane = Tick::Missing("another session answers there".into());
            reach.on_its_way = OnItsWay::No;
        }
        let epoch = self.epoch;
        self.after(1, Happening::Outcome(epoch, Box::new(Outcome::Probed(ask.session.clone(), Box::new(reach)))));
    }

    fn reach(&mut self, side: usize, ask: &ProbeAsk) -> Reach {
        let lie = if self.agents[side].kind != Agent::Claude {
            None
        } else if self.strikes(Ingredient::LiesIdle) {
            Some(LiveStatus::Idle)
        } else {
            self.strikes(Ingredient::LiesBusy).then_some(LiveStatus::Busy)
        };
        let agent = &self.agents[side];
        let claude = agent.kind == Agent::Claude;
        let ours = ask.in_flight.as_ref().is_some_and(|flight| *flight.text == *agent.input);
        let input = match &agent.input {
            _ if agent.box_unknown_until.is_some_and(|until| until > self.now) => InputBox::Unknown,
            input if input.is_empty() => InputBox::Empty,
            _ if ours => InputBox::Ours,
            _ => InputBox::Other,
        };
        let mut ticks = Ticks::all_hold();
        if !agent.alive {
            ticks.alive = Tick::Missing("its pane holds a shell".into());
        }
        if agent.dialog {
            ticks.no_dialog = Tick::Missing("a dialog is open".into());
        }
        if claude && input != InputBox::Empty {
            ticks.box_empty = Tick::Missing("text stands in the box, or it cannot be read".into());
        }
        let status = if !claude || !agent.alive {
            LiveStatus::Silent
        } else if agent.dialog {
            LiveStatus::Waiting { what: "permission prompt".into() }
        } else if let Some(lie) = lie {
            lie
        } else if agent.turn.is_some() || agent.background > 0 {
            LiveStatus::Busy
        } else {
            LiveStatus::Idle
        };
        Reach {
            at: self.now,
            transport: Some(Transport::Tmux),
            process: if agent.alive {
                ProcessFact::Alive { pid: 100 + u32::try_from(side).unwrap(), started_at: Some(agent.started_at) }
            } else {
                ProcessFact::Dead
            },
            status,
            ticks,
            input: if claude { input } else { InputBox::Empty },
            on_its_way: self.on_its_way(side, ask),
            replaced_by: None,
            sign: None,
            seen: None,
            place: format!("%{side}"),
            last_words: String::new(),
        }
    }

    fn on_its_way(&self, side: usize, ask: &ProbeAsk) -> OnItsWay {
        let Some(flight) = &ask.in_flight else { return OnItsWay::No };
        let agent = &self.agents[side];
        let carried = self.coming().any(|what| match what {
            Happening::QueueInsert { side: to, text, .. } => *to == side && **text == *flight.text,
            _ => false,
        });
        let queued = agent.queue.iter().any(|row| match &flight.queue_id {
            Some(queue_id) => *queue_id == row.queue_id,
            None => !row.queue_id.is_empty() && *flight.text == *row.text,
        });
        let entered = agent.input.is_empty() && agent.entered.is_some() && agent.entered == flight.entry;
        match (carried, queued && agent.kind == Agent::Codex) {
            (true, _) => OnItsWay::Carried,
            (false, true) => OnItsWay::Queued,
            (false, false) if entered => OnItsWay::Entered,
            (false, false) => OnItsWay::No,
        }
    }

    fn report(&mut self, wait: u64, record: RecordKey, delivery: &Delivery, enter_only: bool, report: SendReport) {
        let epoch = self.epoch;
        let (entry, session) = (delivery.entry.clone(), delivery.session.clone());
        let outcome = Outcome::Sent { record, entry, session, enter_only, report };
        self.after(wait, Happening::Outcome(epoch, Box::new(outcome)));
    }

    fn stopped(&self, typed: bool, why: &str) -> SendReport {
        SendReport { last_key_at: typed.then_some(self.now), stopped: Some(why.into()), ..SendReport::default() }
    }

    /// The side in whose pane keys for a session may go: its agent lives, and the session is the one that it shows.
    fn may_type(&self, delivery: &Delivery) -> Option<usize> {
        let side = self.side_of(&delivery.session)?;
        let agent = &self.agents[side];
        let readable = agent.box_unknown_until.is_none_or(|until| until <= self.now);
        (agent.alive && !agent.dialog && readable).then_some(side)
    }

    fn paste(&mut self, record: RecordKey, delivery: Delivery) {
        let Some(side) = self.may_type(&delivery).filter(|side| self.agents[*side].input.is_empty()) else {
            let report = self.stopped(false, "the pre-flight does not hold");
            return self.report(2, record, &delivery, false, report);
        };
        if !self.strikes(Ingredient::LostPaste) {
            self.agents[side].input = delivery.text.to_string();
        }
        self.say(format!("pastes to {side}: {}", head(&delivery.text)));
        let wait = self.rng.between(20, 350);
        let epoch = self.epoch;
        self.after(wait, Happening::Key(epoch, Keys::Enter { record, delivery, enter_only: false }));
    }

    fn enter(&mut self, record: RecordKey, delivery: &Delivery, enter_only: bool) {
        let Some(side) = self.may_type(delivery).filter(|side| self.agents[*side].input == *delivery.text) else {
            let report = self.stopped(!enter_only, "the box does not hold our text alone");
            return self.report(2, record, delivery, enter_only, report);
        };
        self.agents[side].entered = Some(delivery.entry.clone());
        if !self.strikes(Ingredient::LostEnter) {
            let text = std::mem::take(&mut self.agents[side].input);
            self.submit(side, Prompt::new(text, false));
        }
        let report = SendReport { entered: true, stopped: None, ..self.stopped(true, "") };
        self.report(2, record, delivery, enter_only, report);
    }

    fn queue(&mut self, record: RecordKey, delivery: &Delivery) {
        let Some((side, _)) = self.place_of(&delivery.session) else { return };
        let id = self.id("q");
        self.say(format!("codex queue {id}: {}", head(&delivery.text)));
        // The command is a process of its own: it inserts even when the driver is killed meanwhile.
        let wait = self.rng.between(20, 600);
        let (session, text) = (delivery.session.clone(), delivery.text.to_string());
        self.after(wait, Happening::QueueInsert { side, session, id: id.clone(), text });
        let report = SendReport { entered: true, stopped: None, queue_id: Some(id), ..self.stopped(true, "") };
        self.report(wait + 5, record, delivery, false, report);
    }
}
