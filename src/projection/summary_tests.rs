//! What a summary says of records and events.

use super::super::samples::{Stage, after, codex, pair, round, run};
use super::super::{build, record};
use super::*;
use crate::model::growing::Growing;
use crate::model::ids::{PairId, RunId, TurnId};
use crate::model::pair::PairState;
use crate::model::run::{Attempt, AttemptStatus, RunState, RunStop};

fn event(at: i64, kind: EventKind, reason: Option<&str>) -> Event {
    Event {
        seq: 0,
        at: after(at),
        kind,
        run_id: Some(RunId::from("r1")),
        pair_id: Some(PairId::from("r1-p1")),
        session_id: None,
        reason: reason.map(str::to_owned),
        revision: None,
    }
}

fn attempt(n: u32, status: AttemptStatus, by: Option<&str>, from: i64, to: i64) -> Attempt {
    let pair_id = (n == 3).then(|| PairId::from("r1-p1"));
    let ended_at = (to >= 0).then(|| after(to));
    let (by, summary) = (by.map(str::to_owned), format!("# Phase {n}"));
    Attempt {
        n,
        status,
        by,
        reviewed: true,
        pair_id,
        started_at: after(from),
        ended_at,
        summary,
        relays: 2,
        ..run().phases[0].clone()
    }
}

fn clarify(at: i64) -> Entry {
    serde_json::from_value(serde_json::json!({
        "id": "r1-p1-m9", "purpose": "clarify", "target": "reviewer",
        "text": {"file": "", "sha256": "", "bytes": 0, "first_line": ""},
        "source_turn_id": null, "source_message_id": null, "resend_of": null, "transcript_mark": null,
        "prepared_at": after(at), "attempts": 1, "attempt_at": null, "last_key_at": null, "enters": 0,
        "queue_id": null, "state": "delivered", "delivered_turn_id": null,
    }))
    .unwrap()
}

/// A night: phases 1 to 4 ended one way each; a limit, a near miss, a pause.
fn night() -> (RunRecord, PairRecord, Vec<Event>) {
    let run = RunRecord {
        state: RunState::Stopped,
        stop_reason: Some(RunStop::Completed),
        stopped_at: Some(after(9_000)),
        phases: vec![
            attempt(1, AttemptStatus::Converged, Some("reviewer"), -500, -100),
            attempt(2, AttemptStatus::Converged, Some("user"), 0, 600),
            attempt(3, AttemptStatus::Converged, Some("reviewer"), 600, 4_600),
            attempt(4, AttemptStatus::Skipped, None, 4_600, 8_000),
        ],
        ..run()
    };
    let mut rounds: Vec<_> = (1..=4).map(|n| round(n, "a", "b")).collect();
    for (at, round) in (0..).zip(&mut rounds) {
        round.at = after(700 + at * 10);
    }
    let pair = PairRecord {
        state: PairState::Stopped,
        stop_reason: Some(PairStop::Lgtm),
        round_count: 4,
        rounds,
        outbox: vec![clarify(900)],
        ..pair()
    };
    let mut states = event(2_005, EventKind::SessionStateChanged, Some("limit"));
    (states.run_id, states.pair_id, states.session_id) = (None, None, Some(codex().session_id));
    let events = vec![
        event(1_000, EventKind::PairPaused, Some("agent_gone")),
        event(1_100, EventKind::PairResumed, None),
        event(2_000, EventKind::PairPaused, Some("limit")),
        states,
        event(4_000, EventKind::PairResumed, Some("limit")),
        event(4_600, EventKind::PairStopped, Some("lgtm")),
    ];
    (run, pair, events)
}

fn summary(run: &RunRecord, pair: &PairRecord, events: &[Event], since: i64) -> Summary {
    let stage = Stage::new(Some(run.clone()), Some(pair.clone()));
    let runs = record::view(&stage.record(), &stage.facts()).into_iter().collect();
    let now = build::projection(&stage.facts(), runs, Growing::new());
    let (runs, pairs) = (std::slice::from_ref(run), std::slice::from_ref(pair));
    Summary::of(Past { runs, pairs, events, now: &now }, after(since), after(10_000))
}

#[test]
fn a_night_is_told_in_a_few_sentences() {
    let (run, pair, events) = night();
    let summary = summary(&run, &pair, &events, 0);
    assert_eq!(summary.runs.len(), 1);
    let lines = summary.runs[0].lines(after(10_000), &TimeZone::UTC);
    assert_eq!(
        lines,
        [
            "1 phase agreed · 1 accepted by you · 1 skipped by you",
            "4 relays, each seen once",
            "1 limit: codex 12:33 → 13:06",
            "1 near miss: asked, then agreed",
            "1 pause: 12:16 an agent is gone",
            "completed at 14:30",
            "0 things wait for you",
        ]
    );
    assert_eq!(summary.span(&TimeZone::UTC), "12:00 to 14:46");
    let markdown = summary.markdown(&TimeZone::UTC);
    assert!(markdown.starts_with("# trellis, 12:00 to 14:46\n\n## checkout (done)\n\n- 1 phase agreed"), "{markdown}");
    assert!(markdown.contains("| 3 | Phase 3 | agreed | 4 | 1h6m |"), "{markdown}");
}

#[test]
fn what_lies_before_is_not_told_and_nothing_is_nothing() {
    let (run, pair, events) = night();
    let late = summary(&run, &pair, &events, 5_000);
    assert_eq!(
        late.runs[0].lines(after(10_000), &TimeZone::UTC),
        ["1 phase skipped by you", "completed at 14:30", "0 things wait for you"]
    );
    let nothing = summary(&run, &pair, &events, 9_500);
    assert!(nothing.is_empty() && nothing.runs.is_empty(), "{nothing:?}");
    assert!(nothing.markdown(&TimeZone::UTC).contains("Nothing happened."));
    // A limit that began before and ended after belongs to it.
    let within = summary(&run, &pair, &events, 3_000);
    assert_eq!(within.runs[0].limits.len(), 1);
}

#[test]
fn a_message_that_stands_twice_is_not_said_to_be_seen_once() {
    let (run, mut pair, events) = night();
    pair.outbox[0].duplicates.push(TurnId::from("late"));
    let lines = summary(&run, &pair, &events, 0).runs[0].lines(after(10_000), &TimeZone::UTC);
    assert!(lines.contains(&"4 relays, 1 message seen twice".to_owned()), "{lines:?}");
}

#[test]
fn rounds_that_moved_out_of_the_record_are_counted_by_their_events() {
    let (run, mut pair, mut events) = night();
    pair.rounds.clear();
    events.extend((0..7).map(|at| event(700 + at, EventKind::PairRound, None)));
    assert_eq!(summary(&run, &pair, &events, 0).runs[0].relays, 7);
}

#[test]
fn what_waits_is_said_and_comes_first() {
    let (mut run, pair, events) = night();
    (run.state, run.stop_reason, run.stopped_at) = (RunState::Paused, None, None);
    (run.paused_reason, run.paused_at) = (Some(PauseReason::PhaseNotConverged), Some(after(8_000)));
    let summary = summary(&run, &pair, &events, 0);
    let last = summary.runs[0].lines(after(10_000), &TimeZone::UTC).pop();
    assert_eq!(last.as_deref(), Some("waits for you: no agreement after 4 relays"));
    assert!(!summary.is_empty());
    // What waited before already is nothing that happened.
    let mut later = summary;
    let only = &mut later.runs[0];
    (only.phases, only.relays, only.limits, only.near_misses, only.pauses) =
        (Vec::new(), 0, Vec::new(), Vec::new(), Vec::new());
    assert!(later.is_empty());
}

#[test]
fn a_name_with_lines_and_bars_keeps_the_markdown_whole() {
    let (mut run, pair, events) = night();
    run.name = "a\n# b\u{1b}[31m".to_owned();
    run.phases[2].summary = "x | y".to_owned();
    let markdown = summary(&run, &pair, &events, 0).markdown(&TimeZone::UTC);
    assert!(!markdown.contains('\u{1b}') && !markdown.contains("\n# b"), "{markdown}");
    assert!(markdown.contains("| 3 | x \\| y |"), "{markdown}");
}
