//! Where a phase begins in the conversation, and where its review begins anew.

use super::super::samples::{Stage, after, pair, run, talk, turn};
use super::*;
use crate::model::ids::Agent;

/// Relays count from 1 again with each review: the place where that happens is marked, the phase is named once.
#[test]
fn a_review_that_begins_anew_is_marked_where_it_begins() {
    let mut run = run();
    let pair_id = Some(crate::model::ids::PairId::from("r1-p2"));
    let again = Attempt { pair_id, started_at: after(300), ..run.phases[0].clone() };
    // A person's word on it is no review.
    let accepted = Attempt { started_at: after(400), ..again.clone() };
    run.phases.extend([again, accepted]);
    let mut stage = Stage::new(Some(run), Some(pair()));
    stage.implementer = talk(Agent::Claude, vec![turn("c1", "do phase three", "Did it.", 10, 20)]);
    let thread = of_record(&stage.record());
    let marks: Vec<(Option<Timestamp>, String)> = thread
        .entries
        .iter()
        .filter_map(|entry| match &entry.kind {
            ThreadKind::Phase { n, .. } => Some((entry.at, format!("phase {n}"))),
            ThreadKind::Again { n } => Some((entry.at, format!("phase {n} again"))),
            _ => None,
        })
        .collect();
    assert_eq!(marks, [(Some(after(10)), "phase 3".to_owned()), (Some(after(300)), "phase 3 again".to_owned())]);
}

/// A message of ours that went out before the relay of an older answer stands before it.
#[test]
fn messages_stand_in_the_order_in_which_they_were_sent() {
    let entry = |id: &str, purpose: &str, source: Option<&str>, sent: &str| -> Entry {
        serde_json::from_value(serde_json::json!({
            "id": id, "purpose": purpose, "target": "implementer",
            "text": {"file": "", "sha256": "", "bytes": 0, "first_line": ""},
            "source_turn_id": source, "source_message_id": source.map(|turn| format!("{turn}-m")),
            "resend_of": null, "transcript_mark": null, "prepared_at": sent, "attempts": 1, "attempt_at": sent,
            "last_key_at": sent, "enters": 1, "queue_id": null, "state": "sent", "delivered_turn_id": null
        }))
        .unwrap()
    };
    let mut pair = pair();
    pair.outbox = vec![
        entry("e1", "user", None, "2026-03-01T12:00:19Z"),
        entry("e2", "to_implementer", Some("x1"), "2026-03-01T12:00:21Z"),
        entry("e3", "user", None, "2026-03-01T12:00:23Z"),
    ];
    let mut stage = Stage::new(Some(run()), Some(pair));
    stage.reviewer = talk(Agent::Codex, vec![turn("x1", "review", "1. one point", 10, 18)]);
    let thread = of_record(&stage.record());
    let told: Vec<String> = thread
        .entries
        .iter()
        .filter_map(|entry| match &entry.kind {
            ThreadKind::Relay { purpose, sent_at, .. } => Some(format!("{purpose:?} {}", (*sent_at)?)),
            ThreadKind::Said { role: Role::Reviewer, .. } => Some("the review".to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        ["the review", "User 2026-03-01T12:00:19Z", "ToImplementer 2026-03-01T12:00:21Z", "User 2026-03-01T12:00:23Z"]
    );
}

/// The words of a failure that the agent said itself stand once.
#[test]
fn what_an_agent_said_of_its_failure_is_not_said_again() {
    let failed = |text: &str| {
        let mut turn = turn("c1", "do phase three", "You've hit your usage limit.", 10, 20);
        let class = crate::model::conversation::FailureClass::Limit;
        turn.outcome = Some(Outcome::Failed(crate::model::conversation::Failure {
            class,
            text: text.to_owned(),
            resets_at: None,
        }));
        let mut stage = Stage::new(Some(run()), Some(pair()));
        stage.implementer = talk(Agent::Claude, vec![turn]);
        let ended = of_record(&stage.record()).entries.iter().find_map(|entry| match &entry.kind {
            ThreadKind::Ended { words, .. } => Some(words.clone()),
            _ => None,
        });
        ended.unwrap()
    };
    assert_eq!(failed("You've hit your usage limit."), "at its limit");
    assert_eq!(failed("quota exceeded"), "at its limit: quota exceeded");
}

/// What was told stays as it is; what comes is told behind it. Counted by the entries that are the very same ones.
#[test]
fn a_sessions_thread_goes_on_where_the_last_one_ended() {
    let facts = talk(Agent::Claude, (0..200).map(|n| turn(&format!("t{n}"), "do it", "Did it.", n, n + 1)).collect());
    let mut conversation = (*facts.conversation.unwrap()).clone();
    let session = SessionRef {
        agent: Agent::Claude,
        worktree: String::new(),
        session_id: crate::model::ids::SessionId::new("s"),
    };
    let ledger = Ledger::new();
    let mut told: Option<Told> = None;
    let mut go_on = |conversation: &Conversation| {
        let conversation = Arc::new(conversation.clone());
        let before = told.clone();
        let next = Told::of(&session, &conversation, &ledger, told.take());
        assert_eq!(next.thread(), Told::of(&session, &conversation, &ledger, None).thread());
        let same = before.map(|before| next.thread().entries.same_start(&before.thread().entries));
        let all = next.thread().entries.len();
        told = Some(next);
        (same, all)
    };
    let (_, all) = go_on(&conversation);
    let item = conversation.turns[3].items[0].clone();
    // One more item, then the end of the turn, then a turn.
    let newest = conversation.turns.last_mut().unwrap();
    newest.items.push(item.clone());
    assert_eq!(go_on(&conversation), (Some(all), all + 1));
    conversation.turns.last_mut().unwrap().outcome = Some(Outcome::Interrupted);
    assert_eq!(go_on(&conversation), (Some(all + 1), all + 2));
    conversation.turns.push(turn("t200", "and that", "Did that.", 300, 301));
    assert_eq!(go_on(&conversation), (Some(all + 2), all + 4));
    // Something that is not to be seen.
    conversation.length += 1;
    assert_eq!(go_on(&conversation), (Some(all + 4), all + 4));
    // An older item changes: everything from its turn on is told anew.
    conversation.turns.get_mut(100).unwrap().items[0].offset = 7;
    assert_eq!(go_on(&conversation).0, Some(201));
    // Another file of that session.
    let other = Conversation { turns: vec![turn("u", "another", "Yes.", 1, 2)].into(), ..conversation.clone() };
    assert_eq!(go_on(&other), (Some(0), 2));
}
