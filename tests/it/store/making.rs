//! Records and stores for the tests.

use jiff::Timestamp;
use trellis::model::config::{PairConfig, RunConfig};
use trellis::model::ids::{Agent, EntryId, PairId, Role, RunId, SessionId, SessionRef};
use trellis::model::outbox::{Entry, EntryState, Purpose, TranscriptMark};
use trellis::model::pair::{Direction, HumanMarks, Kickoff, PairRecord, PairState, PairStep, PairStop, Round, SCHEMA};
use trellis::model::run::{After, RunRecord, RunState, RunStep};
use trellis::model::text::TextRef;
use trellis::paths::Home;
use trellis::store::Store;
use trellis::store::sim_files::SimFiles;

pub fn home() -> Home {
    Home::at("/h")
}

pub fn store(disk: &SimFiles) -> Store<SimFiles> {
    Store::with_files(home(), disk.clone())
}

pub fn at(seconds: u64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + i64::try_from(seconds).unwrap()).unwrap()
}

fn session(agent: Agent, id: &str) -> SessionRef {
    SessionRef { agent, worktree: "/work/shop".to_owned(), session_id: SessionId::new(id) }
}

pub fn pair(id: &str) -> PairRecord {
    PairRecord {
        schema: SCHEMA,
        revision: 1,
        id: PairId::new(id),
        owner: "checklist".to_owned(),
        continues: None,
        created_at: at(0),
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
        last_persisted_at: Some(at(1)),
        implementer: session(Agent::Claude, "c-1"),
        reviewer: session(Agent::Codex, "x-1"),
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
        clarify: None,
        near_miss: None,
        retry: None,
        outbox: Vec::new(),
        entries_made: 0,
        pending_confirm: None,
        due: None,
        spent: Default::default(),
        limit: None,
        rounds: Vec::new(),
        extra: serde_json::Map::new(),
    }
}

pub fn stopped(mut pair: PairRecord, seconds: u64) -> PairRecord {
    pair.state = PairState::Stopped;
    pair.step = None;
    pair.stop_reason = Some(PairStop::Lgtm);
    pair.stopped_at = Some(at(seconds));
    pair
}

pub fn run(id: &str) -> RunRecord {
    RunRecord {
        schema: SCHEMA,
        revision: 1,
        id: RunId::new(id),
        name: "shop".to_owned(),
        continued_from: None,
        created_at: at(0),
        stopped_at: None,
        stop_reason: None,
        restart_unresolvable: false,
        state: RunState::Running,
        step: Some(RunStep::Probe),
        paused_reason: None,
        paused_detail: String::new(),
        paused_at: None,
        paused_pair: None,
        pair_seen: false,
        pending_pair_stop: None,
        phases_done: 0,
        last_persisted_at: None,
        implementer: session(Agent::Claude, "c-1"),
        reviewer: session(Agent::Codex, "x-1"),
        participants_history: Vec::new(),
        config: RunConfig::default(),
        config_history: Vec::new(),
        current_pair_id: None,
        pairs_made: 0,
        baseline_turn_id: None,
        baseline_message_id: None,
        baseline_text: String::new(),
        baseline_git: None,
        edited_completions: 0,
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
        phases: Vec::new(),
        extra: serde_json::Map::new(),
    }
}

pub fn entry(record: &str, n: u32, text: &str, state: EntryState) -> Entry {
    Entry {
        id: EntryId::new(format!("{record}-e{n}")),
        purpose: Purpose::ToReviewer,
        target: Role::Reviewer,
        text: TextRef::of(text),
        sent_text: None,
        source_turn_id: Some("turn".into()),
        source_message_id: Some("message".into()),
        resend_of: None,
        transcript_mark: Some(TranscriptMark {
            path: "/home/dev/.codex/sessions/2026/11/30/rollout-2026-11-30T12-00-00-x-1.jsonl".to_owned(),
            file_identity: "1:4242".to_owned(),
            length: 123_456,
            last_record_id: Some("@122000".into()),
        }),
        prepared_at: at(2),
        attempts: u32::from(state != EntryState::Prepared),
        attempt_at: Some(at(3)),
        last_key_at: Some(at(4)),
        enters: 1,
        queue_id: None,
        by_hand: false,
        state,
        delivered_turn_id: (state == EntryState::Delivered).then(|| "next".into()),
        delivered_at: None,
        altered: false,
        duplicates: Vec::new(),
        go_on: false,
        edited: false,
        quiet_since: None,
        clock_from: None,
    }
}

pub fn round(n: u32, text: &str) -> Round {
    Round {
        n,
        direction: Direction::ToImplementer,
        at: at(u64::from(n)),
        source_turn_id: Some("turn".into()),
        source_message_id: Some("message".into()),
        delivered_turn_id: "next".into(),
        entry: None,
        text: TextRef::of(text),
        edited: false,
    }
}
