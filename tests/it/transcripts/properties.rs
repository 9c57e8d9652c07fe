//! What holds for all bytes and all ways to cut them.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use trellis::model::conversation::Conversation;
use trellis::model::ids::Agent;
use trellis::transcript::summary::{Ends, probe};
use trellis::transcript::{Reader, edits_in, read_all};

use super::fixtures::samples;

fn agents() -> impl Strategy<Value = Agent> {
    prop_oneof![Just(Agent::Claude), Just(Agent::Codex)]
}

/// All samples, read once.
fn all(agent: Agent) -> &'static [(String, Vec<u8>)] {
    static ALL: LazyLock<[Vec<(String, Vec<u8>)>; 2]> =
        LazyLock::new(|| [samples(Agent::Claude), samples(Agent::Codex)]);
    &ALL[usize::from(agent == Agent::Codex)]
}

/// A sample, whole or with some of its bytes changed.
fn files() -> impl Strategy<Value = (Agent, Vec<u8>)> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12);
    (agents(), any::<prop::sample::Index>(), changes).prop_map(|(agent, which, changes)| {
        let mut bytes = which.get(all(agent)).1.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        (agent, bytes)
    })
}

/// Lines out of the words that records are made of, true and untrue.
fn nonsense() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&'static [u8]> = vec![
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b":",
        b",",
        b"\n",
        b"\0",
        b"\\",
        b"\\u",
        b"\\ud83d",
        b"\xff",
        b"{\"type\":",
        b"\"user\"",
        b"\"assistant\"",
        b"\"event_msg\"",
        b"\"payload\":",
        b"\"message\":",
        b"\"content\":",
        b"\"uuid\":\"a\"",
        b"null",
        b"1e999",
        b"\"item_completed\"",
        b"\"task_started\"",
        b"\"timestamp\":\"2026-11-30T10:00:00Z\"",
        b" ",
        b"-",
    ];
    prop::collection::vec(prop::sample::select(words), 0..200).prop_map(|words| words.concat())
}

fn chunked(agent: Agent, bytes: &[u8], cuts: &[prop::sample::Index], hold: bool) -> Conversation {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    let mut reader = Reader::new(agent);
    let mut held: Vec<(Arc<Conversation>, Conversation)> = Vec::new();
    for pair in cuts.windows(2) {
        reader.push(&bytes[pair[0]..pair[1]]);
        if hold {
            let told = reader.conversation();
            held.push((Arc::clone(&told), (*told).clone()));
        }
    }
    assert!(held.iter().all(|(then, copy)| **then == *copy), "a snapshot never changes");
    Arc::unwrap_or_clone(reader.conversation())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_chunking_gives_the_same_conversation(
        (agent, bytes) in files(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        hold in any::<bool>(),
    ) {
        prop_assert_eq!(chunked(agent, &bytes, &cuts, hold), read_all(agent, &bytes));
    }

    #[test]
    fn no_bytes_panic(agent in agents(), bytes in prop_oneof![nonsense(), prop::collection::vec(any::<u8>(), 0..2000)]) {
        let told = read_all(agent, &bytes);
        prop_assert!(told.length <= bytes.len() as u64);
        prop_assert!(told.positions.offsets().all(|offset| offset < told.length));
        let half = bytes.len() / 2;
        let _ = probe(agent, "x.jsonl", Ends { head: &bytes[..half], tail: &bytes[half / 2..], length: bytes.len() as u64 });
        let _ = edits_in(&bytes);
    }

    #[test]
    fn turns_are_told_apart_and_only_the_last_may_run((agent, bytes) in files()) {
        let told = read_all(agent, &bytes);
        let ids: std::collections::BTreeSet<_> = told.turns.iter().map(|turn| &turn.id).collect();
        prop_assert_eq!(ids.len(), told.turns.len());
        let before = told.turns.len().saturating_sub(1);
        prop_assert!(told.turns.iter().take(before).all(|turn| turn.outcome.is_some()));
        prop_assert!(told.turns.iter().all(|turn| turn.answer.as_ref().is_none_or(|answer| !answer.text.trim().is_empty())));
    }
}
