//! Transcripts of either agent, lines and records: whole, cut anywhere, their ends alone. No file is read.

use std::collections::BTreeSet;
use std::sync::Arc;

use trellis::model::conversation::Conversation;
use trellis::model::ids::Agent;
use trellis::transcript::summary::{Ends, codex_names, id_of_file, is_subagent, probe};
use trellis::transcript::{Reader, edits_in, permission, read_all};

/// Claude's.
pub fn claude(bytes: &[u8]) {
    check(Agent::Claude, bytes);
}

/// Codex's.
pub fn codex(bytes: &[u8]) {
    check(Agent::Codex, bytes);
    let _ = codex_names(bytes);
}

fn check(agent: Agent, bytes: &[u8]) {
    let told = read_all(agent, bytes);
    whole(&told, bytes);
    // Where it is cut makes no difference; the bytes themselves say where.
    let cut = bytes.iter().rev().take(3).fold(0, |sum, byte| sum * 251 + usize::from(*byte));
    assert_eq!(cut_at(agent, bytes, &[cut % (bytes.len() + 1)]), told, "cut in two");
    if bytes.len() <= 512 {
        assert_eq!(cut_at(agent, bytes, &(0..bytes.len()).collect::<Vec<_>>()), told, "byte by byte");
    }
    let half = cut % (bytes.len() + 1);
    let name = String::from_utf8_lossy(bytes.get(..half.min(60)).unwrap_or_default()).into_owned();
    for tail in [half / 2, half] {
        let ends = Ends { head: &bytes[..half], tail: &bytes[tail..], length: bytes.len() as u64 };
        let _ = probe(agent, &name, ends);
    }
    let _ = (edits_in(bytes), is_subagent(agent, &name, bytes), id_of_file(agent, &name));
    if let Some(found) = permission::newest(agent, bytes) {
        let _ = found.with_rules(&[bytes.to_vec(), bytes[..half].to_vec()]);
    }
}

fn whole(told: &Conversation, bytes: &[u8]) {
    assert!(told.length <= bytes.len() as u64, "it is no longer than its file");
    assert!(told.positions.offsets().all(|offset| offset < told.length), "each record stands inside the file");
    let ids: BTreeSet<_> = told.turns.iter().map(|turn| &turn.id).collect();
    assert_eq!(ids.len(), told.turns.len(), "each turn has an id of its own");
    let before = told.turns.len().saturating_sub(1);
    assert!(told.turns.iter().take(before).all(|turn| turn.outcome.is_some()), "only the last turn may run");
    let blank = told.turns.iter().filter_map(|turn| turn.answer.as_ref()).find(|answer| answer.text.trim().is_empty());
    assert_eq!(blank, None, "an answer has a text");
}

fn cut_at(agent: Agent, bytes: &[u8], cuts: &[usize]) -> Conversation {
    let mut reader = Reader::new(agent);
    let mut from = 0;
    for cut in cuts {
        reader.push(&bytes[from..*cut]);
        from = *cut;
    }
    reader.push(&bytes[from..]);
    assert!(reader.consumed() <= bytes.len() as u64, "no more is read than there is");
    Arc::unwrap_or_clone(reader.conversation())
}
