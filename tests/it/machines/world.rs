//! A small world for the machines: two conversations that a test writes, transports that a test sets, and the law of
//! the driver (save, then act) in a few lines. It holds no expectation.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use trellis::machine::ledger::Ledger;
use trellis::machine::{
    Delivery, Effect, PairOrder, Scene, SentReport, Side, Step, TranscriptFact, pair, restart, run,
};
use trellis::model::command::{Control, NewPair, NewRun, Refusal};
use trellis::model::config::{PairConfig, RunConfig};
use trellis::model::conversation::{
    Answer, Conversation, Failure, FailureClass, Item, ItemKind, Outcome, Prompt, PromptSource, QueuedPrompt,
    RecordPos, Turn,
};
use trellis::model::event::{Decision, EventKind};
use trellis::model::ids::{Agent, EntryId, MessageId, PairId, RecordId, Role, RunId, SessionId, SessionRef, TurnId};
use trellis::model::outbox::TranscriptMark;
use trellis::model::pair::{Kickoff, PairRecord};
use trellis::model::reach::{InputBox, LiveStatus, OnItsWay, ProcessFact, Reach, SendReport, Tick, Ticks, Transport};
use trellis::model::run::{GitMark, RunRecord};
use trellis::model::tempo::Tempo;

use super::agency::Agency;

pub const I: Role = Role::Implementer;
pub const R: Role = Role::Reviewer;

/// Seconds after the epoch at which every world begins.
const BEGIN: i64 = 1_900_000_000;

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(BEGIN + seconds).unwrap()
}

/// Everything.
pub struct World {
    pub now: Timestamp,
    pub started: Timestamp,
    pub implementer: Agency,
    pub reviewer: Agency,
    pub runs: Vec<RunRecord>,
    pub pairs: BTreeMap<PairId, PairRecord>,
    pub ledger: Ledger,
    pub git: Option<(Timestamp, Option<GitMark>)>,
    pub tree: Option<GitMark>,
    pub decisions: Vec<Decision>,
    pub events: Vec<(EventKind, Option<String>)>,
    pub other_effects: Vec<Effect>,
    /// Sequences are begun but their reports are lost: what a kill right after the save leaves.
    pub die_on_send: bool,
    /// Orders to pairs are lost: what a kill between two saves leaves.
    pub die_on_order: bool,
    /// Reports of sequences wait until [`World::report`].
    pub hold_reports: bool,
    pub waiting_reports: Vec<(Role, SentReport)>,
    /// The setting `send_when_box_unknown`.
    pub box_may_be_unknown: bool,
}

impl World {
    pub fn new() -> Self {
        Self {
            now: at(0),
            started: at(0),
            implementer: Agency::new(Agent::Claude, 'i'),
            reviewer: Agency::new(Agent::Codex, 'r'),
            runs: Vec::new(),
            pairs: BTreeMap::new(),
            ledger: Ledger::new(),
            git: None,
            tree: None,
            decisions: Vec::new(),
            events: Vec::new(),
            other_effects: Vec::new(),
            die_on_send: false,
            die_on_order: false,
            hold_reports: false,
            waiting_reports: Vec::new(),
            box_may_be_unknown: false,
        }
    }

    pub fn side(&mut self, role: Role) -> &mut Agency {
        match role {
            Role::Implementer => &mut self.implementer,
            Role::Reviewer => &mut self.reviewer,
        }
    }

    // What agents and people do.

    /// A prompt is taken up: a turn begins, one that runs ends superseded.
    pub fn prompt(&mut self, role: Role, text: &str) -> TurnId {
        let now = self.now;
        let side = self.side(role);
        let record = side.record(now);
        if let Some(open) = side.conversation.turns.last_mut().filter(|turn| turn.outcome.is_none()) {
            open.outcome = Some(Outcome::Superseded);
            open.ended_at = Some(now);
        }
        let id = TurnId::new(format!("t{}", record.id));
        side.conversation.turns.push(Turn {
            id: id.clone(),
            prompt: Prompt { record: record.clone(), text: text.into(), source: PromptSource::Typed },
            outcome: None,
            answer: None,
            items: Vec::new(),
            edited_files: false,
            last_record: record,
            ended_at: None,
        });
        id
    }

    /// The running turn (or the last one, which goes on by itself) says something, without ending.
    pub fn say(&mut self, role: Role, text: &str) -> MessageId {
        let now = self.now;
        let side = self.side(role);
        let record = side.record(now);
        let message_id = MessageId::new(format!("m{}", record.id));
        let turn = side.conversation.turns.last_mut().unwrap();
        turn.outcome = None;
        turn.ended_at = None;
        let kind = ItemKind::Text { message_id: message_id.clone(), text: text.into() };
        turn.items.push(Item { offset: record.offset, at: Some(now), kind });
        turn.answer = Some(Answer {
            message_id: message_id.clone(),
            text: text.trim().into(),
            offset: record.offset,
            at: Some(now),
        });
        turn.last_record = record;
        message_id
    }

    /// A tool is called; files are edited by it or not.
    pub fn tool(&mut self, role: Role, edits: bool) {
        let now = self.now;
        let side = self.side(role);
        let record = side.record(now);
        let turn = side.conversation.turns.last_mut().unwrap();
        turn.outcome = None;
        turn.answer = None;
        turn.edited_files |= edits;
        turn.items.push(Item {
            offset: record.offset,
            at: Some(now),
            kind: ItemKind::Tool {
                call_id: record.id.to_string(),
                name: if edits { "Edit".to_owned() } else { "Read".to_owned() },
                summary: "src/a.rs".to_owned(),
                lines: None,
                ok: Some(true),
            },
        });
        turn.last_record = record;
    }

    pub fn end(&mut self, role: Role, outcome: Outcome) {
        let now = self.now;
        let side = self.side(role);
        let record = side.record(now);
        let turn = side.conversation.turns.last_mut().unwrap();
        if outcome != Outcome::Completed {
            turn.answer = None;
        }
        turn.outcome = Some(outcome);
        turn.ended_at = Some(now);
        turn.last_record = record;
    }

    /// Says it and ends the turn; then the quiet time passes.
    pub fn answer(&mut self, role: Role, text: &str) -> MessageId {
        let message = self.say(role, text);
        self.end(role, Outcome::Completed);
        message
    }

    pub fn fail(&mut self, role: Role, class: FailureClass, resets_at: Option<Timestamp>) {
        let failure = Failure { class, text: format!("{class:?} said the agent"), resets_at };
        self.end(role, Outcome::Failed(failure));
    }

    /// The newest message that was sent to a side is taken up.
    pub fn take(&mut self, role: Role) -> TurnId {
        let text = self.side(role).inbox.last().expect("something was sent").text.clone();
        self.prompt(role, &text)
    }

    /// A prompt waits in Claude's own queue.
    pub fn enqueue(&mut self, role: Role, text: &str) {
        let now = self.now;
        let side = self.side(role);
        let record = side.record(now);
        side.conversation.queued.push(QueuedPrompt { text: text.into(), offset: record.offset, at: Some(now) });
    }

    // The driver.

    pub fn scene(&self) -> SceneParts {
        SceneParts { facts: [self.implementer.fact(), self.reviewer.fact()] }
    }

    pub fn pass(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        self.settle();
    }

    /// Passes time in ticks of a second, so that timers come as they would.
    pub fn wait(&mut self, seconds: i64) {
        for _ in 0..seconds {
            self.pass(1);
        }
    }

    /// Looks at everything until nothing changes.
    pub fn settle(&mut self) {
        for _ in 0..200 {
            if !self.look() {
                return;
            }
        }
        panic!("the machines do not come to rest: {:#?}", self.decisions.iter().rev().take(8).collect::<Vec<_>>());
    }

    /// One look at every record. True: something changed or was observed.
    pub fn look(&mut self) -> bool {
        let mut moved = false;
        for index in 0..self.runs.len() {
            let parts = self.scene();
            let step = {
                let record = &self.runs[index];
                let pairs: Vec<&PairRecord> = self.pairs_of(record);
                run::look(record, &pairs, &self.scene_of(&parts, &record.implementer, &record.reviewer))
            };
            moved |= self.apply_run(index, step);
        }
        let ids: Vec<PairId> = self.pairs.keys().cloned().collect();
        for id in ids {
            let parts = self.scene();
            let step = {
                let record = &self.pairs[&id];
                let held = self
                    .runs
                    .iter()
                    .any(|run| run.current_pair_id.as_ref() == Some(&id) && run.paused_reason.is_some());
                pair::look(record, &self.scene_of(&parts, &record.implementer, &record.reviewer), held)
            };
            moved |= self.apply_pair(step);
        }
        moved
    }

    pub fn pairs_of(&self, run: &RunRecord) -> Vec<&PairRecord> {
        self.pairs.values().filter(|pair| pair.id.as_str().starts_with(run.id.as_str())).collect()
    }

    pub fn scene_of<'a>(
        &'a self,
        parts: &'a SceneParts,
        implementer: &'a SessionRef,
        reviewer: &'a SessionRef,
    ) -> Scene<'a> {
        Scene {
            now: self.now,
            driver_started_at: self.started,
            implementer: self.side_of(parts, implementer),
            reviewer: self.side_of(parts, reviewer),
            ledger: &self.ledger,
            git: self.git.clone(),
            box_may_be_unknown: self.box_may_be_unknown,
            tempo: Tempo::REAL,
        }
    }

    fn side_of<'a>(&'a self, parts: &'a SceneParts, session: &'a SessionRef) -> Side<'a> {
        let (agency, fact) = if session.key() == self.implementer.session.key() {
            (&self.implementer, &parts.facts[0])
        } else {
            (&self.reviewer, &parts.facts[1])
        };
        // A record may still name the session that an agency had before.
        let known = session.key() == agency.session.key();
        let written = known && !agency.conversation.turns.is_empty();
        Side {
            session,
            conversation: written.then_some(&agency.conversation),
            transcript: fact,
            reach: agency.reach.as_ref(),
            sending: agency.sending.as_ref(),
            put_away: agency.put_away,
            noted: true,
            newer_in_folder: None,
        }
    }

    fn apply_run(&mut self, index: usize, step: Step<RunRecord>) -> bool {
        let changed = step.changed;
        let Step { mut record, effects, events, decisions, .. } = step;
        if changed {
            record.revision += 1;
            record.last_persisted_at = Some(self.now);
            self.ledger.add_run(&record);
            self.runs[index] = record;
        }
        self.decisions.extend(decisions);
        self.events.extend(events);
        let mut moved = changed;
        for effect in effects {
            moved |= self.act(Some(index), None, effect);
        }
        moved
    }

    fn apply_pair(&mut self, step: Step<PairRecord>) -> bool {
        let changed = step.changed;
        let Step { mut record, effects, events, decisions, .. } = step;
        let id = record.id.clone();
        if changed {
            record.revision += 1;
            record.last_persisted_at = Some(self.now);
            self.ledger.add_pair(&record);
            self.pairs.insert(id.clone(), record);
        }
        self.decisions.extend(decisions);
        self.events.extend(events);
        let mut moved = changed;
        for effect in effects {
            moved |= self.act(None, Some(&id), effect);
        }
        moved
    }

    fn act(&mut self, run: Option<usize>, pair: Option<&PairId>, effect: Effect) -> bool {
        match effect {
            Effect::Probe(ask) => {
                let now = self.now;
                let role = if ask.session == self.implementer.session.key() { I } else { R };
                let side = self.side(role);
                let fresh = side.reach.as_ref().is_some_and(|reach| reach.at == now);
                side.observe(now);
                !fresh
            }
            Effect::LookAtGit { .. } => {
                let fresh = self.git.as_ref().is_some_and(|(at, _)| *at == self.now);
                self.git = Some((self.now, self.tree.clone()));
                !fresh
            }
            Effect::Send(delivery) => self.send(run, pair, delivery, false),
            Effect::PressEnter(delivery) => self.send(run, pair, delivery, true),
            Effect::CreatePair(record) => {
                if self.pairs.contains_key(&record.id) {
                    return false;
                }
                self.ledger.add_pair(&record);
                self.pairs.insert(record.id.clone(), *record);
                true
            }
            Effect::CreateRun(record) => {
                self.ledger.add_run(&record);
                self.runs.push(*record);
                true
            }
            Effect::OrderPair(id, order) => !self.die_on_order && self.order(run.unwrap(), &id, &order).unwrap(),
            other @ (Effect::Clipboard { .. } | Effect::BringBack(_) | Effect::Discard) => {
                self.other_effects.push(other);
                false
            }
        }
    }

    fn order(&mut self, run: usize, id: &PairId, order: &PairOrder) -> Result<bool, Refusal> {
        let parts = self.scene();
        let step = {
            let owner = &self.runs[run];
            let scene = self.scene_of(&parts, &owner.implementer, &owner.reviewer);
            pair::order(&self.pairs[id], order, owner, &scene)?
        };
        Ok(self.apply_pair(step))
    }

    fn send(&mut self, run: Option<usize>, pair: Option<&PairId>, delivery: Delivery, enter_only: bool) -> bool {
        let now = self.now;
        let role = if delivery.session == self.implementer.session.key() { I } else { R };
        let (die, hold) = (self.die_on_send, self.hold_reports);
        let side = self.side(role);
        assert!(side.sending.is_none(), "two sequences to one session at once");
        let report = side.reports.pop_front().unwrap_or(SendReport {
            last_key_at: Some(now),
            entered: true,
            queue_id: None,
            sent_text: None,
            stopped: None,
        });
        let report = SentReport { entry: delivery.entry.clone(), enter_only, report };
        if enter_only {
            side.enters += 1;
        } else {
            side.inbox.push(delivery);
        }
        if die {
            return true;
        }
        if hold {
            side.sending = Some(report.entry.clone());
            self.waiting_reports.push((role, report));
            return true;
        }
        self.reported(run, pair, &report);
        true
    }

    fn reported(&mut self, run: Option<usize>, pair: Option<&PairId>, report: &SentReport) {
        if let Some(index) = run {
            let step = run::sent(&self.runs[index], report, self.now);
            self.apply_run(index, step);
        } else if let Some(id) = pair {
            let step = pair::sent(&self.pairs[id], report, self.now);
            self.apply_pair(step);
        }
    }

    /// Reports that were held back come in.
    pub fn report(&mut self) {
        for (role, report) in std::mem::take(&mut self.waiting_reports) {
            self.side(role).sending = None;
            for index in 0..self.runs.len() {
                let step = run::sent(&self.runs[index], &report, self.now);
                self.apply_run(index, step);
            }
            let ids: Vec<PairId> = self.pairs.keys().cloned().collect();
            for id in ids {
                let step = pair::sent(&self.pairs[&id], &report, self.now);
                self.apply_pair(step);
            }
        }
        self.settle();
    }

    /// The driver was killed and begins again: what was in memory is gone.
    pub fn restart(&mut self) {
        self.started = self.now;
        self.implementer.reach = None;
        self.reviewer.reach = None;
        self.implementer.sending = None;
        self.reviewer.sending = None;
        self.waiting_reports.clear();
        self.die_on_send = false;
        self.die_on_order = false;
        self.git = None;
        self.ledger = Ledger::new();
        for run in &self.runs {
            self.ledger.add_run(run);
        }
        for pair in self.pairs.values() {
            self.ledger.add_pair(pair);
        }
        let orphans = {
            let runs: Vec<&RunRecord> = self.runs.iter().collect();
            let pairs: Vec<&PairRecord> = self.pairs.values().collect();
            restart::orphans(&runs, &pairs)
        };
        for id in orphans {
            let parts = self.scene();
            let step = {
                let record = &self.pairs[&id];
                let scene = self.scene_of(&parts, &record.implementer, &record.reviewer);
                pair::control(record, &Control::Stop, &scene).unwrap()
            };
            self.apply_pair(step);
        }
        self.settle();
    }

    // Orders.

    pub fn new_pair(&mut self, kickoff: Kickoff, config: PairConfig) -> Result<PairId, Refusal> {
        let now = self.now;
        self.implementer.observe(now);
        self.reviewer.observe(now);
        let order = NewPair {
            implementer: self.implementer.session.clone(),
            reviewer: self.reviewer.session.clone(),
            kickoff,
            config,
        };
        let parts = self.scene();
        let id = PairId::new("pair");
        let record = pair::create(&order, id.clone(), &self.scene_of(&parts, &order.implementer, &order.reviewer))?;
        self.ledger.add_pair(&record);
        self.pairs.insert(id.clone(), record);
        self.settle();
        Ok(id)
    }

    pub fn new_run(&mut self, config: RunConfig) -> Result<(), Refusal> {
        let now = self.now;
        self.implementer.observe(now);
        self.reviewer.observe(now);
        let order =
            NewRun { implementer: self.implementer.session.clone(), reviewer: self.reviewer.session.clone(), config };
        let parts = self.scene();
        let record =
            run::create(&order, RunId::new("run"), &self.scene_of(&parts, &order.implementer, &order.reviewer))?;
        self.ledger.add_run(&record);
        self.runs.push(record);
        self.settle();
        Ok(())
    }

    /// An order to the run if there is one, else to the pair. A look follows.
    pub fn control(&mut self, control: &Control) -> Result<(), Refusal> {
        self.control_only(control)?;
        self.settle();
        Ok(())
    }

    /// The same without the look: what a kill right after the first save leaves.
    pub fn control_only(&mut self, control: &Control) -> Result<(), Refusal> {
        let parts = self.scene();
        if self.runs.is_empty() {
            let id = self.pairs.keys().next_back().unwrap().clone();
            let step = {
                let record = &self.pairs[&id];
                pair::control(record, control, &self.scene_of(&parts, &record.implementer, &record.reviewer))?
            };
            self.apply_pair(step);
        } else {
            let index = self.runs.len() - 1;
            let step = {
                let record = &self.runs[index];
                let pairs = self.pairs_of(record);
                run::control(record, &pairs, control, &self.scene_of(&parts, &record.implementer, &record.reviewer))?
            };
            self.apply_run(index, step);
        }
        Ok(())
    }

    // What there is to see.

    pub fn pair(&self) -> &PairRecord {
        self.pairs.get(&PairId::new("pair")).unwrap()
    }

    pub fn run(&self) -> &RunRecord {
        self.runs.last().unwrap()
    }

    /// The pair of the run's current attempt.
    pub fn current(&self) -> &PairRecord {
        &self.pairs[self.run().current_pair_id.as_ref().unwrap()]
    }

    /// Texts sent to a side, oldest first.
    pub fn sent(&self, role: Role) -> Vec<&str> {
        let side = match role {
            Role::Implementer => &self.implementer,
            Role::Reviewer => &self.reviewer,
        };
        side.inbox.iter().map(|delivery| delivery.text.as_ref()).collect()
    }

    pub fn missing_tick(&mut self, role: Role, why: &str) {
        self.side(role).ticks.box_empty = Tick::Missing(why.to_owned());
        self.side(role).input = InputBox::Other;
        self.side(role).reach = None;
    }

    pub fn clear_box(&mut self, role: Role) {
        self.side(role).ticks.box_empty = Tick::Holds;
        self.side(role).input = InputBox::Empty;
    }

    pub fn kill_agent(&mut self, role: Role) {
        self.side(role).process = ProcessFact::Dead;
        self.side(role).transport = None;
    }

    pub fn bring_agent(&mut self, role: Role) {
        let now = self.now;
        self.side(role).process = ProcessFact::Alive { pid: 9, started_at: Some(now) };
        self.side(role).transport = Some(Transport::Tmux);
    }

    pub fn said(&self, what: &str) -> bool {
        self.decisions.iter().any(|decision| decision.what.contains(what))
    }
}

/// What a scene borrows besides the world.
pub struct SceneParts {
    facts: [TranscriptFact; 2],
}

/// A report of a sequence that typed but could not enter.
pub fn not_entered(now: Timestamp, why: &str) -> SendReport {
    SendReport {
        last_key_at: Some(now),
        entered: false,
        queue_id: None,
        sent_text: None,
        stopped: Some(why.to_owned()),
    }
}

/// A report of a sequence that typed nothing.
pub fn nothing_typed(why: &str) -> SendReport {
    SendReport { last_key_at: None, entered: false, queue_id: None, sent_text: None, stopped: Some(why.to_owned()) }
}

/// A pair in which the implementer has answered `work`, the relay was taken up by the reviewer.
pub fn reviewing(config: PairConfig) -> World {
    let mut world = with_answer();
    world.new_pair(Kickoff::UseCurrent, config).unwrap();
    world.pass(1);
    world.take(R);
    world.pass(1);
    world
}

/// A world in which the implementer has answered a person, a while ago.
pub fn with_answer() -> World {
    let mut world = World::new();
    world.prompt(I, "please build phase one");
    world.tool(I, true);
    world.answer(I, "Phase one is built.");
    world.now += SignedDuration::from_secs(10);
    world.started = world.now;
    world
}

/// A run whose first phase is under review.
pub fn run_in_review(config: RunConfig) -> World {
    let mut world = World::new();
    world.new_run(config).unwrap();
    world.pass(5);
    world.prompt(I, "please build phase one");
    world.pass(5);
    world.tool(I, true);
    world.answer(I, "Phase one is built.");
    world.wait(4);
    assert_eq!(world.sent(R).len(), 1, "the phase goes to the reviewer");
    world.take(R);
    world.pass(1);
    world
}
