//! Records that another program owns or that cannot be read: shown as far as they are understood, never driven.

use jiff::Timestamp;
use serde_json::Value;

use super::{RunView, Settings, SideView, Standing, words};
use crate::driver::ports::ReadOnly;
use crate::machine::Wait;
use crate::model::ids::{Agent, RecordKey, SessionId, SessionRef};
use crate::model::session::{Need, SessionState};

/// A row for such a record.
#[must_use]
pub fn view(foreign: &ReadOnly, now: Timestamp) -> Option<RunView> {
    let value = &foreign.value;
    let written_at = foreign.written_at.unwrap_or(now);
    let created_at = time(value, "created_at").or_else(|| time(value, "started_at")).unwrap_or(written_at);
    let stopped_at = time(value, "stopped_at");
    let given_name = text(value, "name").unwrap_or_default();
    let implementer = side(value, "implementer");
    let name = words::run_name(&given_name, &implementer.session.worktree).unwrap_or(foreign.key.as_str()).to_owned();
    let is_run = matches!(foreign.key, RecordKey::Run(_));
    let sentence = foreign.sentence();
    let standing = match stopped_at {
        Some(_) => Standing::Ended,
        None if foreign.cause.is_fault() => Standing::NeedsYou,
        None => Standing::Paused,
    };
    Some(RunView {
        key: foreign.key.clone(),
        revision: value.get("revision").and_then(Value::as_u64).unwrap_or(0),
        name,
        given_name,
        standing,
        state_word: foreign.cause.word().to_owned(),
        since: stopped_at.unwrap_or(written_at),
        wait: Wait { who: foreign.why.clone(), what: foreign.remedy.clone(), ..Wait::default() },
        stage: None,
        phase: None,
        phases_expected: None,
        relays: 0,
        max_relays: 0,
        phases: Vec::new(),
        relay_list: Vec::new(),
        reviews: Vec::new(),
        open_points: Vec::new(),
        implementer,
        reviewer: side(value, "reviewer"),
        banner: None,
        look_first: None,
        delivery: None,
        impossible: every_control(&sentence),
        phase_asked: false,
        first_wait: false,
        unreviewed: false,
        read_only: Some(sentence.clone()),
        sentence,
        settings: if is_run { Settings::Run(Box::default()) } else { Settings::Pair(Box::default()) },
        created_at,
        stopped_at,
        stop_words: text(value, "stop_reason").unwrap_or_default(),
    })
}

/// Names of all controls, each with the same reason.
fn every_control(why: &str) -> Vec<(String, String)> {
    const NAMES: [&str; 22] = [
        "pause",
        "resume",
        "ask",
        "retry",
        "more",
        "accept",
        "skip",
        "as_feedback",
        "rename",
        "force_relay",
        "confirm",
        "config",
        "write",
        "follow",
        "bring_back",
        "check_delivery",
        "send_again",
        "drop",
        "by_hand",
        "stop",
        "run_on",
        "discard",
    ];
    NAMES.iter().map(|name| ((*name).to_owned(), why.to_owned())).collect()
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field).and_then(Value::as_str).map(str::to_owned)
}

fn time(value: &Value, field: &str) -> Option<Timestamp> {
    value.get(field).and_then(Value::as_str).and_then(|text| text.parse().ok())
}

fn side(value: &Value, field: &str) -> SideView {
    let side = value.get(field);
    let of = |name: &str| side.and_then(|side| text(side, name)).unwrap_or_default();
    let agent = if of("agent") == "codex" { Agent::Codex } else { Agent::Claude };
    let session = SessionRef { agent, worktree: of("worktree"), session_id: SessionId::new(of("session_id")) };
    let label = agent.as_str().to_owned();
    SideView {
        session,
        label,
        state: SessionState::NeedsYou(Need::AwaitingInput),
        place: String::new(),
        transport: None,
    }
}
