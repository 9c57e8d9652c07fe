//! Codex's records where the samples do not reach: older shapes, patches, limits, sub-agents.
#![allow(clippy::needless_pass_by_value, reason = "`json!` makes values, and the builders read better without `&`")]

use serde_json::{Value, json};
use trellis::model::conversation::{Conversation, FailureClass, ItemKind, Outcome, PromptSource};
use trellis::model::ids::{Agent, RecordId};
use trellis::transcript::edits_in;

use super::read;

fn line(kind: &str, payload: Value) -> Value {
    json!({"type": kind, "payload": payload})
}

fn event(kind: &str, more: Value) -> Value {
    let mut payload = json!({"type": kind});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line("event_msg", payload)
}

fn starts(turn: &str) -> Value {
    event("task_started", json!({"turn_id": turn, "turn_attribution": {"turn_trigger": "user"}}))
}

fn ends(turn: &str) -> Value {
    event("task_complete", json!({"turn_id": turn, "last_agent_message": null}))
}

fn item(kind: &str, id: &str, text: &str) -> Value {
    event(
        "item_completed",
        json!({"turn_id": "t", "item": {"type": kind, "id": id, "content": [{"type": "text", "text": text}]}}),
    )
}

fn response(role: &str, text: &str) -> Value {
    line("response_item", json!({"type": "message", "role": role, "content": [{"type": "output_text", "text": text}]}))
}

/// The lines with times, a second apart, and ordinals unless `old`.
fn told_as(old: bool, lines: &[Value]) -> Conversation {
    let lines: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(n, line)| {
            let mut line = line.clone();
            line["timestamp"] = json!(format!("2026-11-30T14:20:{n:02}.000Z"));
            if !old {
                line["ordinal"] = json!(n);
            }
            line.to_string()
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    read(Agent::Codex, &lines)
}

fn told(lines: &[Value]) -> Conversation {
    told_as(false, lines)
}

fn short(told: &Conversation) -> Vec<(String, String, Option<String>)> {
    told.turns
        .iter()
        .map(|turn| {
            let answer = turn.answer.as_ref().map(|answer| answer.text.to_string());
            (turn.id.to_string(), turn.prompt.text.to_string(), answer)
        })
        .collect()
}

fn turn(id: &str, prompt: &str, answer: Option<&str>) -> (String, String, Option<String>) {
    (id.to_owned(), prompt.to_owned(), answer.map(str::to_owned))
}

#[test]
fn older_shapes_say_the_same() {
    let expected = [turn("t1", "hello", Some("Hi.")), turn("t2", "again", Some("Done."))];
    let events = |turn: &str, prompt: &str, answer: &str| {
        vec![
            starts(turn),
            response("user", "<environment_context>x</environment_context>"),
            response("user", prompt),
            event("user_message", json!({"message": prompt})),
            event("agent_reasoning", json!({"text": "hm"})),
            event("agent_message", json!({"message": answer})),
            response("assistant", answer),
            ends(turn),
        ]
    };
    let old = told_as(true, &[events("t1", "hello", "Hi."), events("t2", "again", "Done.")].concat());
    assert_eq!(short(&old), expected);
    assert!(old.turns.iter().all(|turn| turn.outcome == Some(Outcome::Completed)));
    let id = &old.turns[0].prompt.record.id;
    assert!(id.as_str().starts_with('@') && old.offset_of(id).is_some(), "no ordinal: named by its offset");

    // Both shapes of each message, in either order.
    let both = |turn: &str, prompt: &str, answer: &str| {
        vec![
            starts(turn),
            event("user_message", json!({"message": prompt})),
            item("UserMessage", "u", prompt),
            item("AgentMessage", "m", answer),
            event("agent_message", json!({"message": answer})),
            response("assistant", answer),
            ends(turn),
        ]
    };
    let both = told(&[both("t1", "hello", "Hi."), both("t2", "again", "Done.")].concat());
    assert_eq!(short(&both), expected);
    assert_eq!(both.turns[0].items.len(), 1);

    // Response items alone.
    let bare = |turn: &str, prompt: &str, answer: &str| {
        vec![starts(turn), response("user", prompt), response("assistant", answer), ends(turn)]
    };
    assert_eq!(short(&told(&[bare("t1", "hello", "Hi."), bare("t2", "again", "Done.")].concat())), expected);
}

#[test]
fn the_same_words_twice_are_two_messages() {
    let told = told(&[
        starts("t"),
        item("UserMessage", "u", "go"),
        item("AgentMessage", "m1", "Done."),
        item("AgentMessage", "m2", "Done."),
        ends("t"),
    ]);
    assert_eq!(told.turns[0].items.len(), 2);
    assert_eq!(told.turns[0].answer.as_ref().unwrap().message_id.as_str(), "m2");
}

#[test]
fn a_steered_prompt_is_a_turn_of_its_own() {
    let told = told(&[
        starts("t"),
        item("UserMessage", "u1", "go"),
        item("AgentMessage", "m1", "Working."),
        item("UserMessage", "u2", "stop that"),
        item("AgentMessage", "m2", "Stopped."),
        ends("t"),
    ]);
    assert_eq!(short(&told), [turn("t", "go", Some("Working.")), turn("t:u2", "stop that", Some("Stopped."))]);
    assert_eq!(told.turns[0].outcome, Some(Outcome::Superseded));
    assert_eq!(told.turns[1].prompt.source, PromptSource::Absorbed);
    assert_eq!(told.turns[1].outcome, Some(Outcome::Completed));
}

#[test]
fn a_turn_id_that_comes_again_makes_a_turn_of_its_own() {
    let told = told(&[
        starts("t"),
        item("UserMessage", "u1", "go"),
        item("AgentMessage", "m1", "Done."),
        ends("t"),
        starts("t"),
        item("UserMessage", "u2", "again"),
        item("AgentMessage", "m2", "Done again."),
        ends("t"),
    ]);
    let ids: std::collections::BTreeSet<_> = told.turns.iter().map(|turn| turn.id.as_str()).collect();
    assert_eq!((told.turns.len(), ids.len()), (2, 2), "{ids:?}");
    assert_eq!(told.turns[0].id.as_str(), "t");
}

#[test]
fn t13_a_limit_as_error_and_as_plain_message() {
    let words = "You've hit your usage limit. Upgrade to Pro or try again in 2 hours 5 minutes.";
    let error = event(
        "task_complete",
        json!({"turn_id": "t", "error": {"message": words, "codex_error_info": "usage_limit_exceeded"}}),
    );
    for end in [vec![error], vec![item("AgentMessage", "m", words), ends("t")]] {
        let told = told(&[vec![starts("t"), item("UserMessage", "u", "review")], end].concat());
        let Some(Outcome::Failed(failure)) = &told.turns[0].outcome else { panic!("{:?}", told.turns[0].outcome) };
        assert_eq!((failure.class, failure.text.as_str()), (FailureClass::Limit, words));
        let resets = failure.resets_at.unwrap().to_string();
        assert!(resets.starts_with("2026-11-30T16:25:0"), "{resets}");
    }
    let quoting =
        format!("The banner must show `{words}` as it is, in local time; that is missing. {}", "x".repeat(200));
    let told = told(&[starts("t"), item("UserMessage", "u", "review"), item("AgentMessage", "m", &quoting), ends("t")]);
    assert!(told.turns[0].is_answered());
}

#[test]
fn an_error_told_before_the_end_is_the_reason() {
    let error =
        event("error", json!({"message": "stream disconnected before completion", "codex_error_info": "other"}));
    let told = told(&[starts("t"), item("UserMessage", "u", "go"), error, ends("t")]);
    assert!(matches!(&told.turns[0].outcome, Some(Outcome::Failed(failure)) if failure.class == FailureClass::Network));
}

#[test]
fn t25_an_interrupted_turn_is_over_and_its_hidden_message_is_no_prompt() {
    let hidden = response("user", "<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>");
    for old in [true, false] {
        let prompt = if old {
            event("user_message", json!({"message": "phase 1"}))
        } else {
            item("UserMessage", "u", "phase 1")
        };
        let aborted = event("turn_aborted", json!({"turn_id": "t", "reason": "interrupted"}));
        let told = told_as(old, &[starts("t"), prompt, hidden.clone(), aborted, hidden.clone()]);
        assert_eq!((told.turns.len(), &told.turns[0].outcome), (1, &Some(Outcome::Interrupted)));
        assert!(told.turns[0].answer.is_none());
    }
}

#[test]
fn a_task_without_prompt_makes_no_turn() {
    let shell = event(
        "item_completed",
        json!({"item": {"type": "CommandExecution", "id": "c", "source": "user_shell", "command": ["bash", "-lc", "ls"], "exit_code": 0}}),
    );
    let told = told(&[
        starts("t"),
        item("UserMessage", "u", "go"),
        item("AgentMessage", "m", "Done."),
        ends("t"),
        starts("s"),
        shell,
        response("user", "<user_shell_command>x</user_shell_command>"),
        ends("s"),
        starts("k"),
        response("assistant", "a summary"),
        line("compacted", json!({"message": "x"})),
        ends("k"),
    ]);
    assert_eq!(short(&told), [turn("t", "go", Some("Done."))]);
    assert_eq!(told.turns[0].items.last().unwrap().kind, ItemKind::Compaction);
    assert!(!told.is_open());
}

#[test]
fn what_the_agent_does_by_itself_belongs_to_the_last_turn() {
    let mut lines = vec![
        starts("t"),
        item("UserMessage", "u", "go"),
        item("AgentMessage", "m", "Done."),
        ends("t"),
        starts("auto"),
        item("AgentMessage", "m2", "The agents are through."),
    ];
    assert!(told(&lines).is_open());
    lines.push(ends("auto"));
    assert_eq!(short(&told(&lines)), [turn("t", "go", Some("The agents are through."))]);
    assert!(!told(&lines).is_open());
}

#[test]
fn sub_agents_count_until_they_are_through() {
    let spawn = |states: Value| {
        event(
            "item_completed",
            json!({"item": {"type": "CollabAgentToolCall", "id": "c", "tool": "spawn_agent",
        "status": "completed", "receiver_thread_ids": ["a1"], "agents_states": states}}),
        )
    };
    let wait = event(
        "item_completed",
        json!({"item": {"type": "CollabAgentToolCall", "id": "w", "tool": "wait",
        "status": "completed", "agents_states": {"a1": {"completed": "all running fine"}}}}),
    );
    let start = vec![starts("t"), item("UserMessage", "u", "go"), spawn(json!({"a1": "pending_init"}))];
    assert_eq!(told(&start).background_agents, 1);
    assert_eq!(told(&[start.clone(), vec![wait]].concat()).background_agents, 0);
    let through = response("user", "<subagent_notification>\n{\"agent_path\":\"a1\"}\n</subagent_notification>");
    let end = vec![item("AgentMessage", "m", "Delegated."), ends("t"), through];
    let told = told(&[start, end].concat());
    assert_eq!((told.background_agents, told.is_open()), (0, false), "nothing is set going by it");
    assert_eq!(told.turns[0].answer.as_ref().unwrap().text.as_ref(), "Delegated.");
}

#[test]
fn patches_are_edits_in_every_shape() {
    let patch =
        "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n+more\n*** Add File: b.rs\n+x\n*** End Patch";
    let custom = line(
        "response_item",
        json!({"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "c"}),
    );
    let function = line(
        "response_item",
        json!({"type": "function_call", "name": "apply_patch", "arguments": json!({"input": patch}).to_string(), "call_id": "c"}),
    );
    let heredoc = format!("apply_patch <<'EOF'\n{patch}\nEOF");
    let shell = line(
        "response_item",
        json!({"type": "function_call", "name": "shell", "arguments": json!({"command": ["bash", "-lc", heredoc]}).to_string(), "call_id": "c"}),
    );
    let change = event(
        "item_completed",
        json!({"item": {"type": "FileChange", "id": "c", "status": "completed", "changes": {}}}),
    );
    let talk = line(
        "response_item",
        json!({"type": "function_call", "name": "shell", "arguments": json!({"command": "grep apply_patch src"}).to_string(), "call_id": "c"}),
    );
    for (call, edits) in [(&custom, true), (&function, true), (&shell, true), (&change, true), (&talk, false)] {
        let told = told(&[starts("t"), item("UserMessage", "u", "go"), call.clone()]);
        assert_eq!(told.turns[0].edited_files, edits, "{call}");
        assert_eq!(edits_in(format!("{call}\n").as_bytes()), edits, "{call}");
    }
    let output = line(
        "response_item",
        json!({"type": "custom_tool_call_output", "call_id": "c", "output": "{\"output\":\"Success\",\"metadata\":{\"exit_code\":0}}"}),
    );
    let told = told(&[starts("t"), item("UserMessage", "u", "go"), custom, output]);
    let ItemKind::Tool { name, summary, lines, ok, .. } = &told.turns[0].items[0].kind else { panic!() };
    assert_eq!(
        (name.as_str(), summary.as_str(), *lines, *ok),
        ("apply_patch", "src/a.rs, b.rs", Some((3, 1)), Some(true))
    );
}

#[test]
fn an_answer_stands_behind_the_last_result() {
    let call = line(
        "response_item",
        json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "call_id": "c"}),
    );
    let output = line(
        "response_item",
        json!({"type": "function_call_output", "call_id": "c", "output": "Process exited with code 2\n"}),
    );
    let told = told(&[
        starts("t"),
        item("UserMessage", "u", "go"),
        item("AgentMessage", "m", "I look."),
        call,
        output,
        ends("t"),
    ]);
    assert_eq!(told.turns[0].answer, None);
    assert!(matches!(&told.turns[0].items[1].kind, ItemKind::Tool { ok: Some(false), .. }));
}

#[test]
fn a_question_to_the_person_is_told() {
    let asks = line(
        "response_item",
        json!({"type": "function_call", "name": "request_user_input", "call_id": "q",
        "arguments": json!({"questions": [{"id": "a", "question": "Which?"}]}).to_string()}),
    );
    assert_eq!(told(&[starts("t"), item("UserMessage", "u", "go"), asks]).question.as_deref(), Some("Which?"));
}

#[test]
fn the_first_session_record_names_the_session() {
    let meta = |id: &str, cwd: &str| {
        line(
            "session_meta",
            json!({"id": id, "session_id": "root", "cwd": cwd, "cli_version": "0.171.0", "git": {"branch": "main"}}),
        )
    };
    let context = line("turn_context", json!({"cwd": "/moved"}));
    let told = told(&[meta("own", "/w"), meta("copied", "/other"), context]);
    assert_eq!(told.session_id.as_ref().unwrap().as_str(), "own");
    assert_eq!(told.cwd.as_deref(), Some("/moved"));
    assert_eq!((told.branch.as_deref(), told.cli_version.as_deref()), (Some("main"), Some("0.171.0")));
    assert_eq!(told.offset_of(&RecordId::new("2")), told.last_record.as_ref().map(|pos| pos.offset));
}

#[test]
fn bookkeeping_does_not_move_the_last_word() {
    let told = told(&[
        starts("t"),
        item("UserMessage", "u", "go"),
        item("AgentMessage", "m", "Done."),
        ends("t"),
        event("token_count", json!({})),
        line("world_state", json!({})),
        line("token_usage_record", json!({})),
    ]);
    assert_eq!(told.last_spoken_at.unwrap().to_string(), "2026-11-30T14:20:03Z");
    assert_eq!(told.last_record.as_ref().unwrap().id.as_str(), "6");
    assert_eq!(told.turns[0].last_record.id.as_str(), "3");
    assert!(told.unknown.is_empty());
}

/// A command that goes on after its turn was over (Codex lets go of it after 10 s) ends with a record of its own: the turn
/// stays ended, its answer stays, and an answer of the next turn does too.
#[test]
fn a_command_that_outlives_its_turn_opens_no_turn_again() {
    let sample = String::from_utf8(super::fixtures::sample(Agent::Codex, "16-command-outlives-its-turn")).unwrap();
    let lines: Vec<&str> = sample.lines().collect();
    let told = read(Agent::Codex, &lines);
    let newest = told.newest().unwrap();
    assert_eq!(newest.outcome, Some(Outcome::Completed));
    assert_eq!(newest.answer.as_ref().unwrap().text.as_ref(), "Slept.");
    assert!(!told.is_open());
    assert!(
        newest.items.iter().any(|item| matches!(&item.kind, ItemKind::Tool { ok: Some(_), .. })),
        "its end is noted"
    );

    // The same, with the record inside the next turn, behind that one's answer.
    let mut lines = lines;
    let late = lines.pop().unwrap();
    let next: Vec<String> = [
        starts("next"),
        event("item_completed", json!({"turn_id": "next", "item": {"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": "And now?"}]}})),
        event("item_completed", json!({"turn_id": "next", "item": {"type": "AgentMessage", "id": "m", "content": [{"type": "text", "text": "All is well."}]}})),
    ].iter().map(Value::to_string).collect();
    lines.extend(next.iter().map(String::as_str));
    let end = ends("next").to_string();
    lines.extend([late, end.as_str()]);
    let told = read(Agent::Codex, &lines);
    let newest = told.newest().unwrap();
    assert_eq!(newest.prompt.text.as_ref(), "And now?");
    assert_eq!(newest.answer.as_ref().map(|answer| answer.text.as_ref()), Some("All is well."));
    assert_eq!(newest.outcome, Some(Outcome::Completed));
}
