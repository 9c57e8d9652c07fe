//! A small world for the machines: two conversations that a test writes, transports that a test sets, and the law of
//! the driver (save, then act) in a few lines. It holds no expectation.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use trellis::machine::ledger::Ledger;
use trellis::machine::{Effect, SentReport, TranscriptFact, Trees, pair, run};
use trellis::model::command::{Control, NewPair, NewRun, Refusal};
use trellis::model::config::{PairConfig, RunConfig};
use trellis::model::conversation::{
    Answer, Failure, FailureClass, Item, ItemKind, Outcome, Prompt, PromptSource, QueuedPrompt, Turn,
};
use trellis::model::event::{Decision, EventKind};
use trellis::model::ids::{Agent, MessageId, PairId, Role, RunId, TurnId};
use trellis::model::pair::{Kickoff, PairRecord};
use trellis::model::reach::{InputBox, ProcessFact, SendReport, Tick, Transport};
use trellis::model::run::{GitMark, RunRecord};
use trellis::model::tree::TreeState;

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
    pub trees: Trees,
    /// What the work tree differs in from its head; `None`: no repository.
    pub lines: Option<TreeState>,
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
            trees: Trees::new(),
            lines: None,
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
            items: Vec::new().into(),
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

    // Orders.

    pub fn new_pair(&mut self, kickoff: Kickoff, config: PairConfig) -> Result<PairId, Refusal> {
        let now = self.now;
        self.implementer.observe(now);
        self.reviewer.observe(now);
        let order = NewPair {
            implementer: self.implementer.session.clone(),
            reviewer: self.reviewer.session.clone(),
            kickoff: Some(kickoff),
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
    pub facts: [TranscriptFact; 2],
}

/// A report of a sequence that typed but could not enter.
pub fn not_entered(now: Timestamp, why: &str) -> SendReport {
    SendReport { last_key_at: Some(now), entered: false, queue_id: None, carrier: None, stopped: Some(why.to_owned()) }
}

/// A report of a sequence that typed nothing.
pub fn nothing_typed(why: &str) -> SendReport {
    SendReport { stopped: Some(why.to_owned()), ..SendReport::default() }
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
