//! Names of transcripts.

use std::path::Path;

use super::parse;
use crate::model::ids::Agent::{self, Claude, Codex};

fn id(agent: Agent, path: &str) -> Option<(String, bool)> {
    parse(agent, Path::new("/r"), Path::new(path)).map(|named| (named.id.to_string(), named.compressed))
}

#[test]
fn only_sessions_are_named() {
    let cases = [
        (Claude, "/r/-w-a/0000-1.jsonl", Some(("0000-1", false))),
        (Claude, "/r/--------/x.jsonl", Some(("x", false))),
        (Claude, "/r/-w-a/agent-77.jsonl", None),
        (Claude, "/r/-w-a/0000-1/subagents/agent-77.jsonl", None),
        (Claude, "/r/-w-a/memory/notes.jsonl", None),
        (Claude, "/r/x.jsonl", None),
        (Claude, "/r/-w-a/x.json", None),
        (Claude, "/r/-w-a/.jsonl", None),
        (Claude, "/r/-w-a/a b;c.jsonl", None),
        (Claude, "/elsewhere/-w-a/x.jsonl", None),
        (Codex, "/r/2026/11/30/rollout-2026-11-30T09-51-43-01a2-b.jsonl", Some(("01a2-b", false))),
        (Codex, "/r/2026/11/30/rollout-2026-11-30T09-51-43-01a2-b.jsonl.zst", Some(("01a2-b", true))),
        (Codex, "/r/2026/11/30/rollout-2026-11-30T09-51-43-01a2-b.zst", None),
        (Codex, "/r/2026/11/30/rollout-short.jsonl", None),
        (Codex, "/r/2026/11/rollout-2026-11-30T09-51-43-01a2-b.jsonl", None),
        (Codex, "/r/a/b/c/rollout-2026-11-30T09-51-43-01a2-b.jsonl", None),
        (Codex, "/r/2026/11/30/other-2026-11-30T09-51-43-01a2-b.jsonl", None),
    ];
    for (agent, path, want) in cases {
        assert_eq!(id(agent, path), want.map(|(id, zst)| (id.to_owned(), zst)), "{path}");
    }
}

#[test]
fn a_name_cut_inside_a_character_is_no_panic() {
    assert_eq!(id(Codex, "/r/2026/11/30/rollout-2026-11-30T09-51-4é-x.jsonl"), None);
}
