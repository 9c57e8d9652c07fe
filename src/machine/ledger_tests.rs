//! Origins of prompts: text, marks and claims.

use super::*;
use crate::model::conversation::{Prompt, PromptSource, RecordPos};
use crate::model::ids::{Agent, PairId, RecordId, SessionId};
use crate::model::outbox::EntryState;
use crate::model::outbox::Purpose;
use crate::model::pair::Kickoff;
use crate::model::text::TextRef;

const LONG: &str = "Feedback: the total is rounded twice, once in the cart and once in the receipt.";

fn session(id: &str, agent: Agent) -> SessionRef {
    SessionRef { agent, worktree: "/w".to_owned(), session_id: SessionId::new(id) }
}

fn conversation(prompts: &[&str]) -> Conversation {
    let mut conversation = Conversation::new(Agent::Codex);
    for (index, text) in prompts.iter().enumerate() {
        let offset = (index as u64 + 1) * 100;
        let record = RecordPos { id: RecordId::new(format!("r-{index}")), offset, at: None };
        conversation.positions.insert(&record.id, offset);
        conversation.turns.push(Turn {
            id: TurnId::new(format!("t{index}")),
            prompt: Prompt { record: record.clone(), text: (*text).into(), source: PromptSource::Typed },
            outcome: None,
            answer: None,
            items: Vec::new().into(),
            edited_files: false,
            last_record: record,
            ended_at: None,
        });
    }
    conversation
}

/// A pair with one entry for its reviewer, attempted when the transcript ended at `length`.
fn pair(id: &str, text: &str, state: EntryState, attempts: u32, length: u64) -> PairRecord {
    let at = Timestamp::UNIX_EPOCH;
    let sides = [&session("i", Agent::Claude), &session("r", Agent::Codex)];
    let kickoff = Kickoff::UseCurrent;
    let mut pair = super::super::pair::fresh(
        PairId::new(id),
        "",
        sides,
        kickoff,
        &crate::model::config::PairConfig::default(),
        at,
    );
    pair.outbox.push(Entry {
        id: EntryId::new(format!("{id}-m1")),
        purpose: Purpose::ToReviewer,
        target: Role::Reviewer,
        text: TextRef::of(text),
        sent_text: None,
        source_turn_id: None,
        source_message_id: None,
        resend_of: None,
        transcript_mark: Some(TranscriptMark {
            path: String::new(),
            file_identity: String::new(),
            length,
            last_record_id: None,
        }),
        prepared_at: at,
        attempts,
        attempt_at: Some(at),
        last_key_at: None,
        entered: false,
        enters: 0,
        queue_id: None,
        carrier: None,
        by_hand: false,
        state,
        delivered_turn_id: (state == EntryState::Delivered).then(|| TurnId::new("t0")),
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
    });
    pair
}

fn origins(pairs: &[PairRecord], prompts: &[&str]) -> Vec<String> {
    let mut ledger = Ledger::new();
    for pair in pairs {
        ledger.add_pair(pair);
    }
    let conversation = conversation(prompts);
    let session = session("r", Agent::Codex).key();
    (0..prompts.len())
        .map(|index| match ledger.origin(&session, &conversation, index) {
            Origin::Ours { record, .. } => format!("ours {record}"),
            Origin::LateCopy { record, .. } => format!("copy {record}"),
            Origin::Human => "human".to_owned(),
        })
        .collect()
}

#[test]
fn a_prompt_is_ours_by_its_text_after_the_mark() {
    let flying = |text: &str| pair("a", text, EntryState::Sent, 1, 0);
    let inside = format!("my draft {LONG}");
    let check = |text: &str, prompt: &str, origin: &str| assert_eq!(origins(&[flying(text)], &[prompt]), [origin]);
    check(LONG, LONG, "ours a");
    check(LONG, "Feedback:\n\nthe total is\trounded twice, once in the cart and once in the receipt.", "ours a");
    check(LONG, &inside, "ours a");
    check("yes", "yes", "ours a");
    check("yes", "yes, but", "human");
    check(LONG, "something else", "human");
    let late_mark = pair("a", LONG, EntryState::Sent, 1, 150);
    assert_eq!(origins(&[late_mark], &[LONG, "x"]), ["human", "human"], "it stood before the mark");
    let prepared = pair("a", LONG, EntryState::Prepared, 0, 0);
    assert_eq!(origins(&[prepared], &[LONG]), ["human"], "nothing of it was typed");
}

#[test]
fn one_prompt_proves_one_entry_the_oldest() {
    let mut younger = pair("b", LONG, EntryState::Sent, 1, 0);
    younger.outbox[0].prepared_at = Timestamp::from_second(9).unwrap();
    younger.outbox[0].attempt_at = younger.outbox[0].prepared_at.into();
    let older = pair("c", LONG, EntryState::Sent, 1, 0);
    assert_eq!(origins(&[younger.clone(), older.clone()], &[LONG]), ["ours c"]);
    assert_eq!(origins(&[younger, older], &[LONG, LONG]), ["ours c", "ours b"]);
}

#[test]
fn copies_of_known_entries_are_no_humans() {
    let delivered = |text: &str| pair("a", text, EntryState::Delivered, 1, 0);
    assert_eq!(origins(&[delivered(LONG)], &[LONG, LONG]), ["ours a", "copy a"]);
    assert_eq!(origins(&[delivered("yes")], &["yes", "yes"]), ["ours a", "human"], "a short word is said again");
    let given_up = pair("a", LONG, EntryState::Abandoned, 2, 0);
    assert_eq!(origins(&[given_up], &[LONG]), ["copy a"], "a late copy of what was given up is ours");
}

#[test]
fn sessions_in_use_and_messages_in_flight() {
    let mut ledger = Ledger::new();
    let mut record = pair("a", LONG, EntryState::Sent, 1, 0);
    ledger.add_pair(&record);
    let (reviewer, implementer) = (record.reviewer.key(), record.implementer.key());
    assert_eq!(ledger.in_flight_to(&reviewer).len(), 1);
    assert!(ledger.in_flight_to(&implementer).is_empty());
    assert_eq!(ledger.active_with(&implementer).len(), 1);
    // A side that was followed leaves its messages with the session it was.
    record.participants_history.push(FormerParticipant {
        side: Role::Reviewer,
        session: std::mem::replace(&mut record.reviewer, session("new", Agent::Codex)),
        until: Timestamp::from_second(5).unwrap(),
        entries_made: Some(1),
    });
    ledger.add_pair(&record);
    assert_eq!(ledger.in_flight_to(&reviewer).len(), 1);
    assert!(ledger.in_flight_to(&record.reviewer.key()).is_empty());
    // What is made behind it goes to the new one, whatever the clock says.
    let next = Entry { id: EntryId::of("a", 2), ..record.outbox[0].clone() };
    record.outbox.push(next);
    ledger.add_pair(&record);
    assert_eq!(ledger.in_flight_to(&reviewer).len(), 1);
    assert_eq!(ledger.in_flight_to(&record.reviewer.key()).len(), 1);
    ledger.remove(&RecordKey::Pair(record.id));
    assert!(ledger.in_flight_to(&reviewer).is_empty());
}
