//! Records and stores for the tests.

use jiff::Timestamp;
use serde_json::json;
use trellis::model::config::{PairConfig, RunConfig};
use trellis::model::ids::{Agent, SessionId, SessionRef};
use trellis::model::outbox::{Entry, EntryState};
use trellis::model::pair::{Direction, PairRecord, PairState, PairStop, Round, SCHEMA};
use trellis::model::run::RunRecord;
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
    SessionRef { agent, worktree: "/home/dev/shop".to_owned(), session_id: SessionId::new(id) }
}

pub fn pair(id: &str) -> PairRecord {
    // From JSON, so that a new field with a default needs no change here.
    let pair = json!({
        "schema": SCHEMA, "revision": 1, "id": id, "owner": "checklist", "created_at": at(0), "state": "running",
        "step": "await_reviewer", "round_count": 0, "last_persisted_at": at(1), "implementer": session(Agent::Claude, "c-1"),
        "reviewer": session(Agent::Codex, "x-1"), "config": PairConfig::default(), "kickoff": "use_current",
        "human_mark": {}, "outbox": [],
    });
    serde_json::from_value(pair).unwrap()
}

pub fn stopped(mut pair: PairRecord, seconds: u64) -> PairRecord {
    pair.state = PairState::Stopped;
    pair.step = None;
    pair.stop_reason = Some(PairStop::Lgtm);
    pair.stopped_at = Some(at(seconds));
    pair
}

pub fn run(id: &str) -> RunRecord {
    let run = json!({
        "schema": SCHEMA, "revision": 1, "id": id, "name": "shop", "created_at": at(0), "state": "running",
        "step": "probe", "phases_done": 0, "implementer": session(Agent::Claude, "c-1"),
        "reviewer": session(Agent::Codex, "x-1"), "config": RunConfig::default(), "after": "start", "human_mark": {},
        "outbox": [], "phases": [],
    });
    serde_json::from_value(run).unwrap()
}

pub fn entry(record: &str, n: u32, text: &str, state: EntryState) -> Entry {
    let entry = json!({
        "id": format!("{record}-e{n}"), "purpose": "to_reviewer", "target": "reviewer", "text": TextRef::of(text),
        "source_turn_id": "turn", "source_message_id": "message",
        "transcript_mark": {
            "path": "/home/dev/.codex/sessions/2026/11/30/rollout-2026-11-30T12-00-00-x-1.jsonl",
            "file_identity": "1:4242", "length": 123_456, "last_record_id": "@122000",
        },
        "prepared_at": at(2), "attempts": u32::from(state != EntryState::Prepared), "attempt_at": at(3),
        "last_key_at": at(4), "enters": 1, "state": state,
        "delivered_turn_id": (state == EntryState::Delivered).then_some("next"),
    });
    let mut entry: Entry = serde_json::from_value(entry).unwrap();
    entry.text = TextRef::of(text);
    entry
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
        work: None,
    }
}
