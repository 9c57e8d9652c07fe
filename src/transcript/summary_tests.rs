//! Names of transcript files.

use super::{id_of_file, is_subagent};
use crate::model::ids::{Agent, SessionId};

#[test]
fn file_names_name_sessions() {
    let id = |agent, name: &str| id_of_file(agent, name);
    let uuid = "01a22bdc-b451-7f30-8b9e-e094c07767e2";
    let rollout = format!("rollout-2026-11-30T09-50-14-{uuid}.jsonl");
    assert_eq!(id(Agent::Claude, &format!("{uuid}.jsonl")), Some(SessionId::new(uuid)));
    assert_eq!(id(Agent::Codex, &rollout), Some(SessionId::new(uuid)));
    assert_eq!(id(Agent::Codex, &format!("{rollout}.zst")), Some(SessionId::new(uuid)));
    for name in ["", ".jsonl", "rollout-.jsonl", "rollout-é2026-11-30T09-50-14-x.jsonl", "notes.txt"] {
        assert_eq!(id(Agent::Codex, name), None, "{name}");
    }
}

#[test]
fn sub_agent_files_are_known_by_name_or_first_record() {
    assert!(is_subagent(Agent::Claude, "agent-a1.jsonl", b""));
    let side = b"{\"type\":\"mode\"}\n{\"type\":\"user\",\"isSidechain\":true}\n";
    assert!(is_subagent(Agent::Claude, "x.jsonl", side));
    assert!(!is_subagent(Agent::Claude, "x.jsonl", b"{\"type\":\"user\",\"isSidechain\":false}\n"));
    let thread = |more: &str| format!("{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"x\",{more}}}}}\n");
    let is = |more: &str| is_subagent(Agent::Codex, "r.jsonl", thread(more).as_bytes());
    assert!(is(r#""thread_source":"subagent""#));
    assert!(is(r#""source":{"subagent":{"other":"review"}}"#));
    assert!(!is(r#""source":"vscode","thread_source":"user""#));
}
