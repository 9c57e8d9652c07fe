//! What a list shows of a transcript, from its two ends.

use serde_json::json;
use trellis::model::ids::Agent;
use trellis::transcript::read_all;
use trellis::transcript::summary::{Ends, State, Summary, probe};

use super::fixtures::{sample, samples};

fn whole(agent: Agent, name: &str, bytes: &[u8]) -> Summary {
    probe(agent, name, Ends { head: bytes, tail: b"", length: bytes.len() as u64 })
}

/// Probes as a caller does: both ends grow until they say enough.
fn grown(agent: Agent, name: &str, bytes: &[u8], first: usize) -> (Summary, usize) {
    let (mut head, mut tail) = (first, first);
    loop {
        let length = bytes.len();
        let ends = Ends {
            head: &bytes[..head.min(length)],
            tail: &bytes[length.saturating_sub(tail)..],
            length: length as u64,
        };
        let summary = probe(agent, name, ends);
        match (summary.wants_head && head < length, summary.wants_tail && tail < length) {
            (false, false) => return (summary, head),
            (more_head, more_tail) => {
                head *= if more_head { 4 } else { 1 };
                tail *= if more_tail { 4 } else { 1 };
            }
        }
    }
}

fn rollout(meta_bytes: usize) -> Vec<u8> {
    let text = "x".repeat(meta_bytes);
    let meta = json!({"timestamp": "2026-11-30T10:00:00Z", "ordinal": 0, "type": "session_meta", "payload": {
        "id": "01a22bdc-b451-7f30-8b9e-e094c07767e2", "cwd": "/w", "cli_version": "0.171.0",
        "base_instructions": {"text": text}, "git": {"branch": "main"}}});
    let rest = sample(Agent::Codex, "01-plain-turn");
    let rest = rest.splitn(2, |byte| *byte == b'\n').nth(1).unwrap();
    [meta.to_string().as_bytes(), b"\n", rest].concat()
}

#[test]
fn t21_a_first_line_of_any_length_is_read() {
    for bytes in [20_000, 300_000, 3_000_000] {
        let file = rollout(bytes);
        let (summary, head) = grown(Agent::Codex, "rollout.jsonl", &file, 4096);
        assert_eq!(summary.session_id.unwrap().as_str(), "01a22bdc-b451-7f30-8b9e-e094c07767e2");
        assert_eq!(
            (summary.cwd.as_deref(), summary.cli_version.as_deref()),
            (Some("/home/dev/project"), Some("0.171.0"))
        );
        assert_eq!(summary.title.as_deref(), Some("hello"));
        assert_eq!(summary.state, State::Idle);
        assert!(head >= bytes);
    }
}

#[test]
fn t27_a_garbled_first_line_costs_the_warning_not_the_session() {
    let uuid = "01a22bdc-b451-7f30-8b9e-e094c07767e2";
    let mut codex = sample(Agent::Codex, "01-plain-turn");
    codex[..12].copy_from_slice(b"\xff\xfe{{{{[[[[\"\"");
    let name = format!("rollout-2026-11-30T09-50-14-{uuid}.jsonl");
    let summary = whole(Agent::Codex, &name, &codex);
    assert_eq!(summary.session_id.as_ref().unwrap().as_str(), uuid);
    assert_eq!(
        (summary.damaged, summary.title.as_deref(), summary.cwd.as_deref()),
        (1, Some("hello"), Some("/home/dev/project"))
    );

    let mut claude = sample(Agent::Claude, "01-plain-turn");
    claude[..5].copy_from_slice(b"\0\0ab{");
    let summary = whole(Agent::Claude, "x.jsonl", &claude);
    assert_eq!(summary.session_id.unwrap().as_str(), "00000000-0000-4000-8000-000000000501");
    assert_eq!((summary.damaged, summary.state), (1, State::Idle));
}

#[test]
fn t15_sub_agent_threads_are_told_apart() {
    let side = sample(Agent::Claude, "12c-subagent-sidechain");
    assert!(whole(Agent::Claude, "x.jsonl", &side).is_subagent);
    for agent in [Agent::Claude, Agent::Codex] {
        for (name, bytes) in samples(agent) {
            let summary = whole(agent, &format!("{name}.jsonl"), &bytes);
            assert_eq!(summary.is_subagent, name == "12c-subagent-sidechain", "{name}");
        }
    }
}

#[test]
fn both_ends_say_what_the_whole_file_says() {
    for agent in [Agent::Claude, Agent::Codex] {
        for (name, bytes) in samples(agent) {
            let all = whole(agent, "x.jsonl", &bytes);
            for first in [256, 1024, 4096] {
                let (summary, _) = grown(agent, "x.jsonl", &bytes, first);
                assert_eq!(summary.title, all.title, "{name} {first}");
                assert_eq!(summary.session_id, all.session_id, "{name} {first}");
                assert_eq!(summary.last_message, all.last_message, "{name} {first}");
                assert_eq!(summary.last_spoken_at, all.last_spoken_at, "{name} {first}");
                assert!(!(summary.wants_head || summary.wants_tail) || name.contains("sidechain"), "{name} {first}");
            }
            assert_eq!(all.title, read_all(agent, &bytes).title);
        }
    }
}

#[test]
fn states_of_the_samples() {
    let state = |agent, name: &str| whole(agent, "x.jsonl", &sample(agent, name)).state;
    for (name, expected) in [
        ("01-plain-turn", State::Idle),
        ("05-interrupted-while-streaming", State::Interrupted),
        ("06a-long-tool-running", State::Working),
        ("08a-message-queued-mid-turn", State::Working),
        ("10-compact", State::Idle),
        ("12a-subagent-running-turn-over", State::Working),
        ("12b-subagent-main", State::Idle),
        ("16a-question-open", State::Asking),
        ("17d-headless-error-500", State::Failed),
    ] {
        assert_eq!(state(Agent::Claude, name), expected, "{name}");
    }
    for (name, expected) in [
        ("06a-long-tool-running", State::Working),
        ("06b-interrupted-in-tool", State::Interrupted),
        ("14-shell-command", State::Idle),
        ("15c-exec-error", State::Failed),
    ] {
        assert_eq!(state(Agent::Codex, name), expected, "{name}");
    }
    assert_eq!(whole(Agent::Claude, "x.jsonl", b"").state, State::Empty);
}
