//! What the list says of a session.

use super::super::samples::{after, codex, talk};
use super::*;

/// Rows of one kind say one kind of time, whether their transcript was read or not.
#[test]
fn a_session_that_is_gone_is_so_since_its_last_write_unless_it_was_seen_to_go() {
    let written = Some(after(3_000));
    let found = FoundSession {
        session: codex(),
        path: "/x/rollout.jsonl".into(),
        title: None,
        modified_at: written,
        branch: None,
        last_words: None,
    };
    let found = [Listed::new(found)];
    let since = |facts: SessionFacts| {
        let sessions = BTreeMap::from([(codex().key(), Arc::new(facts))]);
        list(&[], &found, &sessions, &mut Rows::default())[0].fact.since
    };
    let gone = || SessionFacts { state: Some(SessionState::Gone), ..SessionFacts::default() };
    assert_eq!(since(gone()), written);
    let read = SessionFacts {
        state: Some(SessionState::Gone),
        fact: StateFact { since: Some(after(10)), ..StateFact::default() },
        ..talk(codex().agent, Vec::new())
    };
    assert_eq!(since(read.clone()), written, "looking at it does not change it");
    let seen = SessionFacts {
        gone_since: Some(after(3_500)),
        fact: StateFact { since: Some(after(3_500)), ..StateFact::default() },
        ..read
    };
    assert_eq!(since(seen), Some(after(3_500)));
}
