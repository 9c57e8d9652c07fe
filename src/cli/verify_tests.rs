//! Each way in which a record and its transcript can disagree, on transcripts in the real format.

use super::*;
use crate::model::ids::{Agent, RecordId, RunId, SessionId};
use crate::model::outbox::{Purpose, TranscriptMark};
use crate::model::text::TextRef;
use crate::transcript::read_all;

fn key() -> SessionKey {
    SessionKey { agent: Agent::Claude, session_id: SessionId::new("s1") }
}

fn record() -> RecordKey {
    RecordKey::Run(RunId::new("r1"))
}

/// A transcript with these prompts, their turns named `t1`, `t2` and so on, and the offset behind each line.
fn talk(prompts: &[&str]) -> (Arc<Conversation>, Vec<u64>) {
    let mut bytes = String::new();
    let mut ends = Vec::new();
    for (n, prompt) in prompts.iter().enumerate() {
        let line = serde_json::json!({"type": "user", "uuid": format!("t{}", n + 1), "sessionId": "s1", "cwd": "/w",
            "timestamp": "2026-11-30T09:00:00Z", "origin": {"kind": "human"}, "promptSource": "typed",
            "message": {"role": "user", "content": prompt}});
        bytes.push_str(&line.to_string());
        bytes.push('\n');
        ends.push(bytes.len() as u64);
    }
    (Arc::new(read_all(Agent::Claude, bytes.as_bytes())), ends)
}

fn entry(id: &str, text: &str, state: EntryState, turn: Option<&str>) -> Entry {
    Entry {
        id: EntryId::new(id),
        purpose: Purpose::Advance,
        target: Role::Implementer,
        text: TextRef::of(text),
        sent_text: None,
        source_turn_id: None,
        source_message_id: None,
        resend_of: None,
        transcript_mark: None,
        prepared_at: "2026-11-30T09:00:00Z".parse().unwrap(),
        attempts: 1,
        attempt_at: None,
        last_key_at: None,
        entered: false,
        enters: 0,
        queue_id: None,
        carrier: None,
        by_hand: false,
        state,
        delivered_turn_id: turn.map(TurnId::from),
        delivered_at: None,
        altered: false,
        duplicates: Vec::new(),
        go_on: false,
        edited: false,
        original: None,
        forced: false,
        quiet_since: None,
        clock_from: None,
        carried_at: None,
    }
}

fn judged(entries: &[Entry], prompts: &[&str]) -> Vec<(bool, String)> {
    let claims: Vec<Claim> =
        entries.iter().map(|entry| Claim::of(&record(), entry, entry.text_on_the_wire(), &key())).collect();
    let conversations = BTreeMap::from([(key(), talk(prompts).0)]);
    prove(&claims, &conversations).into_iter().map(|finding| (finding.holds, finding.words)).collect()
}

#[test]
fn messages_that_stand_once_are_proven_also_when_their_texts_are_equal() {
    use EntryState::Delivered;
    let entries = [
        entry("e1", "go on\n\nplease", Delivered, Some("t2")),
        entry("e2", "go  on please", Delivered, Some("t3")),
        entry("e3", "other", Delivered, Some("t4")),
    ];
    let found = judged(&entries, &["mine", "go on\n\nplease", "go on please", "other"]);
    assert!(found.iter().all(|(holds, _)| *holds), "{found:?}");
    assert_eq!(found[0].1, "stands once in claude:s1, turn t2");
}

#[test]
fn a_second_copy_and_a_missing_one_are_found() {
    use EntryState::Delivered;
    let found = judged(&[entry("e1", "go", Delivered, Some("t1"))], &["go", "go"]);
    assert_eq!(found, [(false, "stands 2 times in claude:s1".to_owned())]);
    let found = judged(&[entry("e1", "go", Delivered, Some("t9"))], &["go"]);
    assert!(!found[0].0 && found[0].1.contains("t9 is not in the transcript"), "{found:?}");
    let found = judged(&[entry("e1", "go", Delivered, Some("t1"))], &["stay"]);
    assert!(!found[0].0 && found[0].1.contains("is another text"), "{found:?}");
    let twice = [entry("e1", "go", Delivered, Some("t1")), entry("e2", "go", Delivered, Some("t1"))];
    assert!(judged(&twice, &["go"]).iter().all(|(holds, words)| !holds && words.contains("two messages claim")));
}

#[test]
fn a_copy_from_before_it_was_sent_is_not_its_own() {
    let mut sent = entry("e1", "go", EntryState::Delivered, Some("t2"));
    let (_, ends) = talk(&["go"]);
    sent.transcript_mark = Some(TranscriptMark {
        path: String::new(),
        file_identity: String::new(),
        length: ends[0],
        last_record_id: Some(RecordId::new("t1")),
    });
    assert!(judged(&[sent], &["go", "go"])[0].0);
}

#[test]
fn what_was_given_up_must_not_be_there_and_what_is_on_its_way_is_not_proven() {
    use EntryState::{Abandoned, Prepared, Sent, Withdrawn};
    assert!(judged(&[entry("e1", "go", Withdrawn, None)], &["else"])[0].0);
    assert!(!judged(&[entry("e1", "go", Withdrawn, None)], &["go"])[0].0);
    assert!(judged(&[entry("e1", "go", Abandoned, None)], &["go"])[0].0, "a late copy is ours, once");
    assert!(!judged(&[entry("e1", "go", Abandoned, None)], &["go", "go"])[0].0);
    assert!(!judged(&[entry("e1", "go", Sent, None)], &["go"])[0].0);
    let mut waiting = entry("e1", "go", Prepared, None);
    waiting.attempts = 0;
    assert!(judged(&[waiting], &[])[0].0, "nothing of it ever left");
}

#[test]
fn an_altered_message_may_stand_inside_a_longer_one() {
    let mut altered = entry("e1", "a message of some length", EntryState::Delivered, Some("t1"));
    assert!(!judged(std::slice::from_ref(&altered), &["draft a message of some length"])[0].0);
    altered.altered = true;
    assert!(judged(&[altered], &["draft a message of some length"])[0].0);
}

#[test]
fn an_entry_belongs_to_the_session_its_side_was_then() {
    let old = SessionKey { agent: Agent::Claude, session_id: SessionId::new("old") };
    let session = crate::model::ids::SessionRef {
        agent: Agent::Claude,
        worktree: "/w".to_owned(),
        session_id: old.session_id.clone(),
    };
    let until = "2026-11-30T10:00:00Z".parse().unwrap();
    let mut former = [FormerParticipant { side: Role::Implementer, session, until, entries_made: None }];
    let mut sent = entry("e1", "go", EntryState::Delivered, Some("t1"));
    assert_eq!(target(&sent, &former, key()), old);
    sent.prepared_at = "2026-11-30T11:00:00Z".parse().unwrap();
    assert_eq!(target(&sent, &former, key()), key());
    // Where the count of that moment is known no time is asked.
    former[0].entries_made = Some(4);
    sent.id = EntryId::of("r1", 4);
    assert_eq!(target(&sent, &former, key()), old);
    (sent.id, sent.prepared_at) = (EntryId::of("r1", 5), until - jiff::SignedDuration::from_hours(20));
    assert_eq!(target(&sent, &former, key()), key());
}
