//! Lines of a Codex rollout, with the fields and the order of version 0.171.0.
//! Only this file writes that dialect; nothing is timed here.

use serde_json::{Value, json};

use super::{Ending, Page, name_of, time, uuid};
use crate::agent::scripted::plan::{Block, Names};
use crate::agent::scripted::script::{Fault, FaultKind, Tool, ToolUse};

const VERSION: &str = "0.171.0";
const MODEL: &str = "scripted";

/// The line that says whose rollout it is.
pub fn open(page: &mut Page<'_>) {
    let id = page.who.session_id.as_str().to_owned();
    let meta = json!({
        "session_id": id, "id": id, "timestamp": page.time(), "cwd": page.who.cwd, "originator": "codex-tui",
        "cli_version": VERSION, "source": "cli", "thread_source": "user", "model_provider": MODEL,
        "base_instructions": {"text": "You review what another agent built."},
        "git": {"branch": "main"},
    });
    record(page, "session_meta", &meta);
}

/// A prompt begins a task.
pub fn prompt(page: &mut Page<'_>, turn: usize, text: &str) {
    let (id, cwd, began) = (turn_id(page, turn), page.who.cwd.clone(), page.at.as_second());
    event(
        page,
        &json!({"type": "task_started", "turn_attribution": {"turn_id": id, "turn_trigger": "user"}, "turn_id": id,
            "started_at": began, "model_context_window": 258_400, "collaboration_mode_kind": "default"}),
    );
    let context = json!({"turn_id": id, "cwd": cwd, "approval_policy": "on-request", "model": MODEL, "summary": "none",
        "sandbox_policy": {"type": "workspace-write", "network_access": false}});
    record(page, "turn_context", &context);
    let message = format!("msg_{}", name_of(&page.who.session_id, &format!("u{turn}")));
    let content = json!([{"type": "input_text", "text": text}]);
    let kinds = json!({"turn_id": id, "content_item_kinds": ["user.text"]});
    response(
        page,
        &json!({"type": "message", "id": message, "role": "user", "content": content,
            "internal_chat_message_metadata_passthrough": kinds}),
    );
    let item = json!({"type": "UserMessage", "id": uuid(&page.who.session_id, &format!("i{turn}")),
        "content": [{"type": "text", "text": text, "text_elements": []}]});
    completed(page, turn, &item);
}

/// Reasoning, texts and a call: an item each, and the response item it stands for.
pub fn message(page: &mut Page<'_>, names: Names<'_>, act: usize, blocks: &[Block]) {
    for (index, block) in blocks.iter().enumerate() {
        match block {
            Block::Think(text) => {
                let id = format!("rs_{}", name_of(names.session, &format!("t{}.{act}.{index}", names.turn)));
                completed(
                    page,
                    names.turn,
                    &json!({"type": "Reasoning", "id": id, "summary_text": [text], "raw_content": []}),
                );
                let summary = json!([{"type": "summary_text", "text": text}]);
                response(page, &json!({"type": "reasoning", "id": id, "summary": summary, "content": null}));
            }
            Block::Say(text) => {
                let id = names.message(act, index);
                let content = json!([{"type": "Text", "text": text}]);
                completed(page, names.turn, &json!({"type": "AgentMessage", "id": id, "content": content}));
                let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
                response(
                    page,
                    &json!({"type": "message", "status": "completed", "id": id, "role": "assistant", "content": content}),
                );
            }
            Block::Call(tool) => {
                let (name, arguments) = call(&page.who.cwd, tool);
                let id = call_id(names, act);
                response(
                    page,
                    &json!({"type": "function_call", "status": "completed", "id": format!("fc_{id}"), "name": name,
                    "arguments": arguments.to_string(), "call_id": id}),
                );
            }
            Block::Launch(_) => {}
        }
    }
}

/// The result of a call.
pub fn result(page: &mut Page<'_>, names: Names<'_>, act: usize, tool: &ToolUse) {
    let id = call_id(names, act);
    let exit = i32::from(tool.fails);
    if let Tool::Run(command) | Tool::Read(command) = &tool.tool {
        let command = if matches!(tool.tool, Tool::Read(_)) { format!("cat {command}") } else { command.clone() };
        let item = json!({"type": "CommandExecution", "id": id, "command": ["/bin/bash", "-lc", command],
            "status": if tool.fails { "failed" } else { "completed" }, "aggregated_output": tool.output, "exit_code": exit});
        completed(page, names.turn, &item);
    }
    let output = format!("Process exited with code {exit}\nOutput:\n{}\n", tool.output);
    response(
        page,
        &json!({"type": "function_call_output", "id": format!("fco_{id}"), "call_id": id, "output": output}),
    );
}

/// The task is complete.
pub fn end(page: &mut Page<'_>, ending: &Ending<'_>) {
    let complete = task_complete(page, ending, &json!(ending.last_words), None);
    event(page, &complete);
}

/// The task ends with an error.
pub fn fail(page: &mut Page<'_>, ending: &Ending<'_>, fault: &Fault) {
    let details = match fault.kind {
        FaultKind::Limit => json!("usage_limit_exceeded"),
        FaultKind::Overloaded => json!({"http_connection_failed": {"http_status_code": 529}}),
        FaultKind::Network => json!({"response_stream_disconnected": {"http_status_code": null}}),
        FaultKind::Auth => json!("unauthorized"),
        FaultKind::Other => json!("other"),
    };
    let text = super::words(fault, page.at, |end| end.strftime("%b %-d, %Y %-I:%M:%S %p").to_string());
    let error = json!({"message": text, "codex_error_info": details});
    let complete = task_complete(page, ending, &Value::Null, Some(&error));
    event(page, &complete);
}

/// A person stopped the task: the hidden message, then the end.
pub fn interrupt(page: &mut Page<'_>, ending: &Ending<'_>) {
    let id = turn_id(page, ending.turn);
    let content = json!([{"type": "input_text", "text": "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>"}]);
    let kinds = json!({"turn_id": id, "content_item_kinds": ["generic.turn_aborted"]});
    let message = format!("msg_{}", name_of(&page.who.session_id, &format!("a{}", ending.turn)));
    response(
        page,
        &json!({"type": "message", "id": message, "role": "user", "content": content,
        "internal_chat_message_metadata_passthrough": kinds}),
    );
    event(
        page,
        &json!({"type": "turn_aborted", "turn_id": id, "reason": "interrupted",
        "started_at": ending.began.as_second(), "completed_at": page.at.as_second(),
        "duration_ms": lasted(page, ending)}),
    );
}

fn task_complete(page: &Page<'_>, ending: &Ending<'_>, last: &Value, error: Option<&Value>) -> Value {
    let mut complete = json!({"type": "task_complete", "turn_id": turn_id(page, ending.turn), "last_agent_message": last,
        "started_at": ending.began.as_second(), "completed_at": page.at.as_second(), "duration_ms": lasted(page, ending)});
    if let (Some(error), Some(fields)) = (error, complete.as_object_mut()) {
        fields.insert("error".to_owned(), error.clone());
    }
    complete
}

fn lasted(page: &Page<'_>, ending: &Ending<'_>) -> i64 {
    i64::try_from(page.at.duration_since(ending.began).as_millis()).unwrap_or(0)
}

fn call(cwd: &str, tool: &ToolUse) -> (&'static str, Value) {
    let shell = |command: String| ("exec_command", json!({"cmd": command, "yield_time_ms": 10_000}));
    match &tool.tool {
        Tool::Run(command) if tool.asks => (
            "exec_command",
            json!({"cmd": command, "yield_time_ms": 10_000, "sandbox_permissions": "require_escalated",
                "justification": "it needs more than this folder"}),
        ),
        Tool::Run(command) => shell(command.clone()),
        Tool::Read(path) => shell(format!("cat {path}")),
        Tool::Write(path, content) => ("apply_patch", json!({"input": patch("Add", cwd, path, content)})),
        Tool::Edit(path, content) => ("apply_patch", json!({"input": patch("Update", cwd, path, content)})),
    }
}

fn patch(verb: &str, cwd: &str, path: &str, content: &str) -> String {
    let lines: Vec<String> = content.lines().map(|line| format!("+{line}")).collect();
    format!("*** Begin Patch\n*** {verb} File: {cwd}/{path}\n{}\n*** End Patch\n", lines.join("\n"))
}

fn call_id(names: Names<'_>, act: usize) -> String {
    format!("call_{}", names.call(act))
}

fn turn_id(page: &Page<'_>, turn: usize) -> String {
    uuid(&page.who.session_id, &format!("turn{turn}"))
}

fn completed(page: &mut Page<'_>, turn: usize, item: &Value) {
    let milliseconds = page.at.as_millisecond();
    let payload = json!({"type": "item_completed", "thread_id": page.who.session_id.as_str(), "turn_id": turn_id(page, turn),
        "item": item, "started_at_ms": milliseconds, "completed_at_ms": milliseconds});
    event(page, &payload);
}

fn event(page: &mut Page<'_>, payload: &Value) {
    record(page, "event_msg", payload);
}

fn response(page: &mut Page<'_>, payload: &Value) {
    record(page, "response_item", payload);
}

fn record(page: &mut Page<'_>, kind: &str, payload: &Value) {
    page.push(&json!({"timestamp": time(page.at), "ordinal": page.ordinal, "type": kind, "payload": payload}));
    page.ordinal += 1;
}
