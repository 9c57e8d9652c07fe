//! Claude Code's records where the samples do not reach: failures, limits, background agents, side chains, queues.
#![allow(clippy::needless_pass_by_value, reason = "`json!` makes values, and the builders read better without `&`")]

use serde_json::{Value, json};
use trellis::model::conversation::{Conversation, FailureClass, ItemKind, Outcome, PromptSource};
use trellis::model::ids::{Agent, RecordId};
use trellis::transcript::{compare, edits_in, read_all};

use super::fixtures::sample;
use super::{read, render};

/// A record at `second`, with what all of them share.
fn record(second: u32, kind: &str, more: Value) -> String {
    let mut record = json!({
        "type": kind, "uuid": format!("{kind}-{second}"), "timestamp": format!("2026-11-30T14:20:{second:02}.000Z"),
        "isSidechain": false, "sessionId": "s", "cwd": "/w", "version": "2.1.332", "entrypoint": "cli",
    });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record.to_string()
}

fn prompt(second: u32, text: &str) -> String {
    let more =
        json!({"message": {"role": "user", "content": text}, "origin": {"kind": "human"}, "promptSource": "typed"});
    record(second, "user", more)
}

fn message(second: u32, id: &str, stop: Value, blocks: Value) -> String {
    record(second, "assistant", json!({"message": {"id": id, "model": "m", "content": blocks, "stop_reason": stop}}))
}

fn says(second: u32, id: &str, text: &str) -> String {
    message(second, id, json!("end_turn"), json!([{"type": "text", "text": text}]))
}

fn calls(second: u32, id: &str, call: &str, name: &str, input: Value) -> String {
    message(second, id, json!("tool_use"), json!([{"type": "tool_use", "id": call, "name": name, "input": input}]))
}

fn result(second: u32, call: &str, outcome: Value) -> String {
    let content = json!([{"type": "tool_result", "tool_use_id": call, "content": "out", "is_error": false}]);
    record(second, "user", json!({"message": {"role": "user", "content": content}, "toolUseResult": outcome}))
}

fn ends(second: u32) -> String {
    record(second, "system", json!({"subtype": "turn_duration", "durationMs": 5}))
}

fn fails(second: u32, text: &str, more: Value) -> String {
    let mut all = json!({"isApiErrorMessage": true, "message": {"id": format!("x{second}"), "model": "<synthetic>",
        "content": [{"type": "text", "text": text}], "stop_reason": "stop_sequence"}});
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record(second, "assistant", all)
}

fn reports(second: u32, task: &str) -> String {
    let text =
        format!("<task-notification>\n<task-id>{task}</task-id>\n<status>completed</status>\n</task-notification>");
    let more = json!({"message": {"role": "user", "content": text}, "origin": {"kind": "task-notification"}, "promptSource": "system"});
    record(second, "user", more)
}

fn queue(second: u32, operation: &str, content: Option<&str>) -> String {
    let mut line = json!({"type": "queue-operation", "operation": operation, "timestamp": format!("2026-11-30T14:20:{second:02}Z"), "sessionId": "s"});
    if let Some(content) = content {
        line["content"] = json!(content);
    }
    line.to_string()
}

fn told(lines: &[String]) -> Conversation {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    read(Agent::Claude, &lines)
}

fn answer(told: &Conversation) -> Option<&str> {
    told.newest().unwrap().answer.as_ref().map(|answer| answer.text.as_ref())
}

fn failure(told: &Conversation) -> (FailureClass, Option<String>) {
    match &told.newest().unwrap().outcome {
        Some(Outcome::Failed(failure)) => (failure.class, failure.resets_at.map(|at| at.to_string())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_is_all_texts_of_the_last_message_behind_the_last_result() {
    let told = told(&[
        prompt(0, "go"),
        says(1, "m1", "thinking aloud"),
        message(2, "m2", json!("tool_use"), json!([{"type": "text", "text": "I look."}])),
        calls(3, "m2", "c1", "Bash", json!({"command": "ls\nsecond line"})),
        result(4, "c1", json!({"stdout": "x"})),
        message(5, "m3", json!("end_turn"), json!([{"type": "thinking", "thinking": "hm"}])),
        says(6, "m3", "  first block"),
        says(7, "m3", "second block\n"),
        ends(8),
    ]);
    let turn = told.newest().unwrap();
    assert_eq!(answer(&told), Some("first block\nsecond block"));
    assert_eq!(turn.answer.as_ref().unwrap().message_id.as_str(), "m3");
    assert_eq!(turn.answer.as_ref().unwrap().offset, told.offset_of(&RecordId::new("assistant-6")).unwrap());
    assert_eq!(turn.outcome, Some(Outcome::Completed));
    assert!(turn.items.iter().any(|item| matches!(&item.kind, ItemKind::Tool { summary, .. } if summary == "ls")));
}

#[test]
fn a_turn_that_ends_behind_a_tool_result_has_no_answer() {
    let told = told(&[
        prompt(0, "go"),
        says(1, "m1", "I look."),
        calls(2, "m1", "c1", "Bash", json!({})),
        result(3, "c1", json!("x")),
        ends(4),
    ]);
    assert_eq!((answer(&told), &told.newest().unwrap().outcome), (None, &Some(Outcome::Completed)));
}

#[test]
fn i3_a_turn_waits_for_its_background_agent_and_the_later_answer_counts() {
    let mut lines = vec![
        prompt(0, "delegate"),
        calls(1, "m1", "c1", "Agent", json!({"description": "Check", "prompt": "check"})),
        result(2, "c1", json!({"isAsync": true, "status": "async_launched", "agentId": "a1"})),
        says(3, "m2", "It runs."),
        // Without the count that newer versions write.
        ends(4),
    ];
    let before = told(&lines);
    assert_eq!((before.background_agents, answer(&before)), (1, Some("It runs.")));

    lines.push(reports(5, "a1"));
    let back = told(&lines);
    assert_eq!((back.background_agents, answer(&back), back.is_open()), (0, None, true));
    assert_eq!(back.turns.len(), 1);

    lines.extend([says(6, "m3", "All is well."), ends(7)]);
    let after = told(&lines);
    assert_eq!((answer(&after), after.is_open(), after.turns.len()), (Some("All is well."), false, 1));
}

#[test]
fn the_count_at_a_turns_end_is_believed() {
    let end = |second, count: u32| {
        record(second, "system", json!({"subtype": "turn_duration", "pendingBackgroundAgentCount": count}))
    };
    let launched = |second, agent: &str| result(second, "c1", json!({"isAsync": true, "agentId": agent}));
    let lines = [prompt(0, "go"), launched(1, "a1"), launched(2, "a2"), end(3, 2), reports(4, "a1"), end(5, 1)];
    assert_eq!(told(&lines).background_agents, 1);
    assert_eq!(told(&[&lines[..], &[ends(6)]].concat()).background_agents, 0, "stopped without a report");
    assert_eq!(told(&[prompt(0, "go"), end(1, 3), reports(2, "other")]).background_agents, 2, "never named");
}

#[test]
fn a_background_shell_does_not_count() {
    let told = told(&[
        prompt(0, "go"),
        calls(1, "m1", "c1", "Bash", json!({"command": "sleep 9", "run_in_background": true})),
        result(2, "c1", json!({"backgroundTaskId": "b1"})),
        says(3, "m2", "Started."),
        ends(4),
    ]);
    assert_eq!((told.background_agents, told.is_open()), (0, false));
}

#[test]
fn t11_rows_the_program_wrote_are_no_answers() {
    for (text, more, class) in [
        ("API Error: Repeated 529 Overloaded errors.", json!({"apiErrorStatus": 529}), FailureClass::Overloaded),
        ("API Error: Connection dropped (ECONNRESET).", json!({"apiErrorStatus": null}), FailureClass::Network),
        ("API Error: The socket connection was closed unexpectedly.", json!({}), FailureClass::Network),
        (
            "API Error: Stream idle timeout - partial response received",
            json!({"error": "unknown"}),
            FailureClass::Network,
        ),
        ("API Error: Request was aborted.", json!({"isApiErrorMessage": false}), FailureClass::Other),
        ("Please run /login · API Error: 401", json!({"apiErrorStatus": 401}), FailureClass::Auth),
    ] {
        let told = told(&[prompt(0, "go"), says(1, "m1", "Half done."), fails(2, text, more)]);
        assert_eq!(failure(&told).0, class, "{text}");
        assert!(!told.newest().unwrap().whole_text().contains("API Error"));
    }
    // The program tries again by itself: the turn goes on.
    let told = told(&[
        prompt(0, "go"),
        fails(1, "API Error: 500", json!({"apiErrorStatus": 500})),
        says(2, "m1", "Done."),
        ends(3),
    ]);
    assert_eq!((answer(&told), &told.newest().unwrap().outcome), (Some("Done."), &Some(Outcome::Completed)));
}

#[test]
fn a_synthetic_remark_is_neither_answer_nor_end() {
    let remark = fails(1, "No response requested.", json!({"isApiErrorMessage": false}));
    let told = told(&[prompt(0, "go"), remark]);
    assert_eq!((answer(&told), told.is_open()), (None, true));
}

#[test]
fn t13_a_limit_is_a_failure_as_synthetic_and_as_plain_row() {
    let words = "You've hit your limit · resets 5pm (Europe/Berlin)";
    let limit = (FailureClass::Limit, Some("2026-11-30T16:00:00Z".to_owned()));
    let synthetic =
        told(&[prompt(0, "review"), fails(1, words, json!({"error": "rate_limit", "apiErrorStatus": 429}))]);
    assert_eq!(failure(&synthetic), limit);
    let plain = told(&[prompt(0, "review"), says(1, "m1", words)]);
    assert_eq!(failure(&plain), limit);
    let ended = told(&[prompt(0, "review"), says(1, "m1", words), ends(2)]);
    assert_eq!(failure(&ended), limit);

    let quoting = format!("The banner must show this as it is:\n\n> {words}\n\nThat is missing.");
    let told = told(&[prompt(0, "review"), says(1, "m1", &quoting), ends(2)]);
    assert_eq!((answer(&told), &told.newest().unwrap().outcome), (Some(quoting.as_str()), &Some(Outcome::Completed)));
}

#[test]
fn t15_side_chains_are_not_the_conversation() {
    let side = |line: String| line.replace("\"isSidechain\":false", "\"isSidechain\":true");
    let told = told(&[
        prompt(0, "review"),
        says(1, "m1", "Two nits."),
        side(prompt(2, "SUBTASK")),
        side(says(3, "m2", "LGTM")),
        ends(4),
    ]);
    assert_eq!((told.turns.len(), answer(&told)), (1, Some("Two nits.")));
    assert!(
        told.offset_of(&RecordId::new("assistant-3"))
            .is_some_and(|at| told.positions.offsets().any(|other| other == at))
    );
}

#[test]
fn what_is_no_prompt_makes_no_turn() {
    let user = |second, more: Value| record(second, "user", more);
    let content = |text: &str| json!({"message": {"role": "user", "content": text}});
    let lines = [
        user(0, json!({"message": {"content": "caveat"}, "isMeta": true, "origin": {"kind": "human"}})),
        user(1, content("<command-name>/model</command-name>")),
        user(2, content("<local-command-stdout>ok</local-command-stdout>")),
        user(3, content("<bash-input>ls</bash-input>")),
        user(4, content("<bash-stdout>x</bash-stdout>")),
        user(5, json!({"message": {"content": "summary"}, "isCompactSummary": true})),
        user(6, content("[Request interrupted by user]")),
        user(
            7,
            json!({"message": {"content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}]}}),
        ),
        user(8, content("<system-reminder>x</system-reminder>")),
    ];
    assert_eq!(told(&lines).turns.len(), 0);
    assert!(told(&lines).last_spoken_at.is_some());
}

#[test]
fn prompts_are_known_by_their_origin_and_older_ones_by_their_text() {
    let sources = |more: Value| {
        let told = told(&[record(0, "user", more)]);
        told.turns.first().map(|turn| (turn.prompt.source, turn.prompt.text.to_string()))
    };
    let says = |source, text: &str| Some((source, text.to_owned()));
    let old = json!({"message": {"content": "plain old"}});
    assert_eq!(sources(old), says(PromptSource::Unsaid, "plain old"));
    let sdk = json!({"message": {"content": "<b>markup</b> first"}, "promptSource": "sdk", "entrypoint": "sdk-cli"});
    assert_eq!(sources(sdk), says(PromptSource::Sdk, "<b>markup</b> first"));
    let human = json!({"message": {"content": "[Request interrupted by user]"}, "origin": {"kind": "human"}, "promptSource": "typed"});
    assert_eq!(sources(human), says(PromptSource::Typed, "[Request interrupted by user]"));
    let image = json!({"message": {"content": [{"type": "image", "source": {}}, {"type": "text", "text": "see"}]}, "origin": {"kind": "human"}});
    assert_eq!(sources(image), says(PromptSource::Unsaid, "see"));
    for text in [
        "<local-command-stdout>hi</local-command-stdout>",
        "<bash-input>ls</bash-input>",
        "<command-name>/clear</command-name> is what I meant",
        "<task-notification>\n<task-id>x</task-id>\n</task-notification>",
    ] {
        let typed = json!({"message": {"content": text}, "origin": {"kind": "human"}, "promptSource": "typed"});
        assert_eq!(sources(typed), says(PromptSource::Typed, text));
        let sdk = json!({"message": {"content": text}, "promptSource": "sdk", "entrypoint": "sdk-cli"});
        assert_eq!(sources(sdk), says(PromptSource::Sdk, text));
        assert_eq!(sources(json!({"message": {"content": text}, "rowSource": "local"})), None, "the program's own");
    }
    let own_command =
        json!({"message": {"content": "<command-message>foo</command-message>"}, "origin": {"kind": "human"}});
    assert_eq!(sources(own_command), None, "a slash command makes no turn");
    let schedule = json!({"message": {"content": "wake up"}, "origin": {"kind": "cron"}, "promptSource": "system"});
    assert_eq!(sources(schedule), None);
}

#[test]
fn a_prompt_inside_a_running_turn_supersedes_it() {
    let told = told(&[prompt(0, "one"), says(1, "m1", "working"), prompt(2, "two"), says(3, "m2", "done"), ends(4)]);
    assert_eq!(told.turns[0].outcome, Some(Outcome::Superseded));
    assert_eq!(told.turns[0].ended_at.unwrap().to_string(), "2026-11-30T14:20:02Z");
    assert!(told.turns[1].is_answered());
}

#[test]
fn an_absorbed_report_belongs_to_the_running_turn() {
    let absorbed = record(
        3,
        "attachment",
        json!({"attachment": {"type": "queued_command", "commandMode": "task-notification",
        "prompt": "<task-notification><task-id>a1</task-id></task-notification>"}}),
    );
    let told = told(&[
        prompt(0, "go"),
        result(1, "c", json!({"isAsync": true, "agentId": "a1"})),
        says(2, "m1", "waiting"),
        absorbed,
    ]);
    assert_eq!((told.turns.len(), told.background_agents, answer(&told)), (1, 0, None));
}

#[test]
fn queued_prompts_wait_until_taken_and_reports_are_none() {
    let mut lines = vec![
        prompt(0, "go"),
        queue(1, "enqueue", Some("later")),
        queue(2, "enqueue", Some("<task-notification>x</task-notification>")),
    ];
    let waiting = told(&lines);
    assert_eq!(waiting.queued.len(), 1);
    assert_eq!(
        (waiting.queued[0].text.as_ref(), waiting.last_spoken_at.unwrap().to_string().as_str()),
        ("later", "2026-11-30T14:20:02Z")
    );
    // The record of its taking is missing; the prompt itself proves it.
    lines.push(prompt(3, "later"));
    assert!(told(&lines).queued.is_empty());
}

#[test]
fn records_that_come_late_into_the_file_do_not_open_a_turn_again() {
    let told = told(&[prompt(0, "go"), ends(5), says(4, "m1", "Written in a later batch.")]);
    assert_eq!((answer(&told), told.is_open()), (Some("Written in a later batch."), false));
}

#[test]
fn what_the_agent_does_after_its_turn_belongs_to_it() {
    let told = told(&[prompt(0, "go"), says(1, "m1", "Done."), ends(2), says(4, "m2", "And one thing more."), ends(5)]);
    assert_eq!((told.turns.len(), answer(&told), told.is_open()), (1, Some("And one thing more."), false));
}

#[test]
fn a_record_written_twice_counts_once() {
    let told = told(&[prompt(0, "go"), says(1, "m1", "Done."), prompt(0, "go"), says(1, "m1", "Done."), ends(2)]);
    assert_eq!((told.turns.len(), answer(&told)), (1, Some("Done.")));
}

#[test]
fn edits_are_known_by_the_tools_name() {
    for (name, edits) in [("Write", true), ("Edit", true), ("MultiEdit", true), ("NotebookEdit", true), ("Bash", false)]
    {
        let call = calls(1, "m", "c", name, json!({"file_path": "/w/a.rs"}));
        assert_eq!(told(&[prompt(0, "go"), call.clone()]).turns[0].edited_files, edits, "{name}");
        assert_eq!(edits_in(call.as_bytes()), edits, "{name}");
    }
    assert!(edits_in(&sample(Agent::Claude, "07b-permission-approved")));
    assert!(!edits_in(&sample(Agent::Claude, "12c-subagent-sidechain")));
    let quoting = says(1, "m", r#"{"type":"tool_use","name":"Edit"}"#);
    assert!(!edits_in(format!("{quoting}\n").as_bytes()), "text that speaks of it");
}

#[test]
fn changed_lines_come_from_the_patch() {
    let patch = json!({"filePath": "/w/a.rs", "structuredPatch": [
        {"lines": [" same", "-old", "+new", "+more"]}, {"lines": ["---dashes", 5]}]});
    let told =
        told(&[prompt(0, "go"), calls(1, "m", "c", "Edit", json!({"file_path": "/w/a.rs"})), result(2, "c", patch)]);
    let lines = told.turns[0].items.iter().find_map(|item| match &item.kind {
        ItemKind::Tool { lines, ok: Some(true), .. } => *lines,
        _ => None,
    });
    assert_eq!(lines, Some((2, 2)));
}

#[test]
fn an_open_question_is_told_until_it_is_answered_or_dropped() {
    let asks =
        calls(1, "m", "q", "AskUserQuestion", json!({"questions": [{"question": "Which?"}, {"question": "Why?"}]}));
    assert_eq!(told(&[prompt(0, "go"), asks.clone()]).question.as_deref(), Some("Which?\nWhy?"));
    assert_eq!(told(&[prompt(0, "go"), asks.clone(), result(2, "q", json!({}))]).question, None);
    assert_eq!(told(&[prompt(0, "go"), asks, prompt(3, "never mind")]).question, None);
}

#[test]
fn headless_turns_end_with_their_last_text() {
    let headless = |line: String| line.replace("\"entrypoint\":\"cli\"", "\"entrypoint\":\"sdk-cli\"");
    for (stop, open) in [("end_turn", false), ("max_tokens", false), ("stop_sequence", false), ("tool_use", true)] {
        let text = headless(message(1, "m", json!(stop), json!([{"type": "text", "text": "x"}])));
        assert_eq!(told(&[headless(prompt(0, "go")), text]).is_open(), open, "{stop}");
        let thinking = headless(message(1, "m", json!(stop), json!([{"type": "thinking", "thinking": "x"}])));
        assert!(told(&[headless(prompt(0, "go")), thinking]).is_open(), "a thought is no end");
    }
    assert!(
        told(&[prompt(0, "go"), says(1, "m", "x")]).is_open(),
        "the interactive program writes a record of its own"
    );
}

#[test]
fn a_recorded_paste_folds_to_the_text_that_was_sent() {
    let told = read_all(Agent::Claude, &sample(Agent::Claude, "13-large-paste-wrapped"));
    let sent: String = (0..60).map(|n| format!("hello pasted line {n:02}: some text\r\n")).collect();
    assert_ne!(told.turns[0].prompt.text.trim(), sent.trim());
    assert_eq!(compare::fold(&told.turns[0].prompt.text), compare::fold(&sent));
    // What the program does to a text: tabs, zero-width characters and decomposed letters.
    assert_eq!(compare::fold("\tcafe\u{301}\u{200b} e\u{200d}\u{301}"), compare::fold("    caf\u{e9} \u{e9}"));
    assert_ne!(compare::fold("LGTM"), compare::fold("LGTM."));
}

#[test]
fn unknown_records_are_kept_and_counted() {
    let told =
        told(&[prompt(0, "go"), record(1, "brand-new", json!({})), record(2, "system", json!({"subtype": "novel"}))]);
    assert_eq!(
        told.unknown.iter().map(|(kind, count)| (kind.as_str(), *count)).collect::<Vec<_>>(),
        [("brand-new", 1), ("system/novel", 1)]
    );
    assert!(told.offset_of(&RecordId::new("brand-new-1")).is_some());
    assert!(render(&told).contains("damaged 0"));
}
