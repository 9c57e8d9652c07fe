//! Records and conversations for the tests of this folder: small, literal, at a fixed time.

use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Map;

use super::DriverFact;
use super::facts::{Facts, RecordFacts, SessionFacts};
use crate::machine::Wait;
use crate::machine::ledger::Ledger;
use crate::machine::plan::Plan;
use crate::model::config::{PairConfig, RunConfig};
use crate::model::conversation::{
    Answer, Conversation, Item, ItemKind, Outcome, Prompt, PromptSource, RecordPos, Turn,
};
use crate::model::ids::{Agent, MessageId, PairId, RecordId, Role, RunId, SessionId, SessionRef, TurnId};
use crate::model::pair::{Direction, HumanMarks, Kickoff, PairRecord, PairState, PairStep, Round, SCHEMA};
use crate::model::run::{After, Attempt, AttemptStatus, RunRecord, RunState, RunStep};
use crate::model::text::TextRef;

pub fn noon() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

pub fn after(seconds: i64) -> Timestamp {
    noon() + SignedDuration::from_secs(seconds)
}

pub fn side(agent: Agent, id: &str) -> SessionRef {
    SessionRef { agent, worktree: "/w/shop".to_owned(), session_id: SessionId::from(id) }
}

pub fn claude() -> SessionRef {
    side(Agent::Claude, "c-1")
}

pub fn codex() -> SessionRef {
    side(Agent::Codex, "x-1")
}

pub fn pair() -> PairRecord {
    PairRecord {
        schema: SCHEMA,
        revision: 3,
        id: PairId::from("r1-p1"),
        owner: "checklist".to_owned(),
        continues: None,
        created_at: noon(),
        stopped_at: None,
        stop_reason: None,
        accepted_by: None,
        restart_unresolvable: false,
        state: PairState::Running,
        step: Some(PairStep::AwaitReviewer),
        paused_reason: None,
        paused_detail: String::new(),
        paused_at: None,
        round_count: 0,
        last_persisted_at: None,
        implementer: claude(),
        reviewer: codex(),
        participants_history: Vec::new(),
        config: PairConfig::default(),
        config_history: Vec::new(),
        kickoff: Kickoff::UseCurrent,
        baseline_turn_id: None,
        baseline_message_id: None,
        human_mark: HumanMarks::default(),
        open_wait: None,
        awaited: None,
        reviewed: None,
        spent: None,
        left_behind: None,
        owed: None,
        clarify: None,
        near_miss: None,
        retry: None,
        outbox: Vec::new(),
        entries_made: 0,
        pending_confirm: None,
        due: None,
        limit: None,
        rounds: Vec::new(),
        tree: None,
        extra: Map::new(),
    }
}

pub fn run() -> RunRecord {
    RunRecord {
        schema: SCHEMA,
        revision: 5,
        id: RunId::from("r1"),
        name: "checkout".to_owned(),
        continued_from: None,
        created_at: noon(),
        stopped_at: None,
        stop_reason: None,
        restart_unresolvable: false,
        state: RunState::Running,
        step: Some(RunStep::Review),
        paused_reason: None,
        paused_detail: String::new(),
        paused_at: None,
        paused_pair: None,
        pair_seen: true,
        pending_pair_stop: None,
        phases_done: 2,
        last_persisted_at: None,
        implementer: claude(),
        reviewer: codex(),
        participants_history: Vec::new(),
        config: RunConfig::default(),
        config_history: Vec::new(),
        current_pair_id: Some(PairId::from("r1-p1")),
        pairs_made: 1,
        baseline_turn_id: None,
        baseline_message_id: None,
        baseline_text: String::new(),
        baseline_git: None,
        edited_completions: 0,
        owed: None,
        after: After::Start,
        advance_turn_id: None,
        human_mark: HumanMarks::default(),
        open_wait: None,
        awaited: None,
        retry: None,
        pending: None,
        outbox: Vec::new(),
        entries_made: 0,
        limit: None,
        phases: vec![Attempt {
            n: 3,
            status: AttemptStatus::Running,
            by: None,
            reviewed: false,
            pair_id: Some(PairId::from("r1-p1")),
            turn_id: Some(TurnId::from("c1")),
            started_at: noon(),
            asked_at: None,
            ended_at: None,
            summary: "POST /checkout".to_owned(),
            relays: 0,
        }],
        extra: Map::new(),
    }
}

pub fn round(n: u32, source: &str, delivered: &str) -> Round {
    let direction = if n % 2 == 1 { Direction::ToReviewer } else { Direction::ToImplementer };
    Round {
        n,
        direction,
        at: after(i64::from(n) * 60),
        source_turn_id: Some(TurnId::from(source)),
        source_message_id: Some(MessageId::new(format!("{source}-m"))),
        delivered_turn_id: TurnId::from(delivered),
        entry: None,
        text: TextRef::of("the prompt\n\nthe answer"),
        edited: false,
        work: None,
    }
}

/// A turn that was prompted and answered at these seconds after noon.
pub fn turn(id: &str, prompt: &str, answer: &str, from: i64, to: i64) -> Turn {
    let position = |kind: &str, at| RecordPos {
        id: RecordId::new(format!("{id}-{kind}")),
        offset: u64::try_from(at).unwrap_or(0),
        at: Some(after(at)),
    };
    let message_id = MessageId::new(format!("{id}-m"));
    let text: Arc<str> = answer.into();
    Turn {
        id: TurnId::from(id),
        prompt: Prompt { record: position("p", from), text: prompt.into(), source: PromptSource::Typed },
        outcome: Some(Outcome::Completed),
        answer: Some(Answer { message_id: message_id.clone(), text: text.clone(), offset: 1, at: Some(after(to)) }),
        items: vec![Item { offset: 1, at: Some(after(to)), kind: ItemKind::Text { message_id, text } }].into(),
        edited_files: false,
        last_record: position("m", to),
        ended_at: Some(after(to)),
    }
}

pub fn talk(agent: Agent, turns: Vec<Turn>) -> SessionFacts {
    let mut conversation = Conversation::new(agent);
    conversation.turns = turns.into();
    SessionFacts { conversation: Some(Arc::new(conversation)), ..SessionFacts::default() }
}

/// What tests look at: records and sides that live long enough to be borrowed.
pub struct Stage {
    pub run: Option<RunRecord>,
    pub pair: Option<PairRecord>,
    pub implementer: SessionFacts,
    pub reviewer: SessionFacts,
    pub wait: Wait,
    pub unsaved: Option<String>,
    pub plan: Option<Plan>,
    pub brings_back: Vec<Role>,
    ledger: Ledger,
    zone: TimeZone,
}

impl Stage {
    pub fn new(run: Option<RunRecord>, pair: Option<PairRecord>) -> Self {
        Self {
            run,
            pair,
            implementer: talk(Agent::Claude, vec![turn("c1", "do phase three", "Did it.", 10, 20)]),
            reviewer: talk(Agent::Codex, Vec::new()),
            wait: Wait::default(),
            unsaved: None,
            plan: None,
            brings_back: Vec::new(),
            ledger: Ledger::new(),
            zone: TimeZone::UTC,
        }
    }

    pub fn record(&self) -> RecordFacts<'_> {
        RecordFacts {
            run: self.run.as_ref(),
            pair: self.pair.as_ref(),
            pairs: self.pair.iter().collect(),
            wait: self.wait.clone(),
            impossible: Vec::new(),
            unsaved: self.unsaved.as_deref(),
            plan: self.plan.clone(),
            brings_back: self.brings_back.clone(),
            implementer: Some(&self.implementer),
            reviewer: Some(&self.reviewer),
            ledger: &self.ledger,
        }
    }

    pub fn facts(&self) -> Facts<'_> {
        Facts {
            now: after(3_600),
            zone: &self.zone,
            seq: 1,
            driver: DriverFact::Here,
            home: "/home/p/.trellis",
            opens_windows: true,
            notices: &[],
            found: &[],
            read_only: &[],
            log: Vec::new(),
            shown: None,
        }
    }

    pub fn side(&mut self, role: Role) -> &mut SessionFacts {
        match role {
            Role::Implementer => &mut self.implementer,
            Role::Reviewer => &mut self.reviewer,
        }
    }
}
