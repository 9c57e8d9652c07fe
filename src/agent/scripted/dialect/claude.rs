//! Lines of a Claude Code transcript, with the fields and the order of version 2.1.332.
//! Only this file writes that dialect; nothing is timed here.

use serde_json::{Map, Value, json};

use super::{Ending, Page, name_of, uuid};
use crate::agent::scripted::plan::{Block, Names, calls};
use crate::agent::scripted::script::{Fault, FaultKind, Tool, ToolUse};

const VERSION: &str = "2.1.332";
const MODEL: &str = "scripted";

/// Bookkeeping and the context of a new session, as they stand before its first prompt.
pub fn open(page: &mut Page<'_>) {
    let session = page.who.session_id.as_str().to_owned();
    page.push(&json!({"type": "mode", "mode": "normal", "sessionId": session}));
    page.push(&json!({"type": "permission-mode", "permissionMode": "acceptEdits", "sessionId": session}));
    record(page, "system", json!({"subtype": "informational", "content": "This session is scripted.", "isMeta": true}));
}

/// A typed prompt, or one that is taken from the queue.
pub fn prompt(page: &mut Page<'_>, turn: usize, text: &str, queued: bool) {
    let session = page.who.session_id.as_str().to_owned();
    if queued {
        let time = page.time();
        page.push(&json!({"type": "queue-operation", "operation": "dequeue", "timestamp": time, "sessionId": session}));
    }
    let id = page.next_uuid();
    page.push(&json!({"type": "file-history-snapshot", "messageId": id,
        "snapshot": {"messageId": id, "trackedFileBackups": {}, "timestamp": page.time()}, "isSnapshotUpdate": false}));
    record(
        page,
        "user",
        json!({
            "promptId": prompt_id(page, turn),
            "message": {"role": "user", "content": text},
            "permissionMode": "acceptEdits",
            "origin": {"kind": "human"},
            "promptSource": if queued { "queued" } else { "typed" },
            "turnOrigin": "human",
            "turnPosition": {"promptIndex": turn + 1, "turnIndex": turn + 1},
        }),
    );
}

/// A prompt that comes while a turn runs: it waits in the program's own queue.
pub fn enqueue(page: &mut Page<'_>, text: &str) {
    let (time, session) = (page.time(), page.who.session_id.as_str().to_owned());
    page.push(&json!({"type": "queue-operation", "operation": "enqueue", "timestamp": time,
        "sessionId": session, "content": text}));
}

/// One record a block, all of one message.
pub fn message(page: &mut Page<'_>, names: Names<'_>, act: usize, blocks: &[Block]) {
    let stop = if calls(blocks) { "tool_use" } else { "end_turn" };
    for (index, block) in blocks.iter().enumerate() {
        let content = match block {
            Block::Think(text) => json!({"type": "thinking", "thinking": text, "signature": "c2NyaXB0ZWQ="}),
            Block::Say(text) => json!({"type": "text", "text": text}),
            Block::Call(tool) => {
                let (name, input) = call(&page.who.cwd, tool);
                json!({"type": "tool_use", "id": call_id(names, act), "name": name, "input": input})
            }
            Block::Launch(task) => json!({"type": "tool_use", "id": call_id(names, act), "name": "Agent",
                "input": {"description": task, "prompt": task, "subagent_type": "general-purpose"}}),
        };
        record(
            page,
            "assistant",
            json!({
                "message": {"id": names.message(act, 0), "type": "message", "role": "assistant", "model": MODEL,
                    "content": [content], "stop_reason": stop, "stop_sequence": null, "usage": usage()},
                "apiBlockIndex": index,
                "requestId": format!("req_{}", name_of(names.session, &format!("q{}.{act}", names.turn))),
                "madeBy": "model",
            }),
        );
    }
}

/// The result of a tool call.
pub fn result(page: &mut Page<'_>, names: Names<'_>, act: usize, tool: &ToolUse) {
    let output = match (&tool.tool, tool.output.is_empty()) {
        (Tool::Write(path, _), true) => format!("File created successfully at: {}/{path}", page.who.cwd),
        (Tool::Edit(path, _), true) => format!("The file {}/{path} has been updated.", page.who.cwd),
        _ => tool.output.clone(),
    };
    let told = match &tool.tool {
        Tool::Write(path, content) => json!({"type": "create", "filePath": format!("{}/{path}", page.who.cwd),
            "content": content, "structuredPatch": []}),
        Tool::Edit(path, content) => {
            let lines: Vec<String> = content.lines().map(|line| format!("+{line}")).collect();
            json!({"filePath": format!("{}/{path}", page.who.cwd), "oldString": "", "newString": content,
                "structuredPatch": [{"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": lines.len(), "lines": lines}]})
        }
        Tool::Run(_) | Tool::Read(_) => json!({"stdout": output, "stderr": "", "interrupted": false}),
    };
    let content =
        json!([{"tool_use_id": call_id(names, act), "type": "tool_result", "content": output, "is_error": tool.fails}]);
    record(
        page,
        "user",
        json!({
            "promptId": prompt_id(page, names.turn),
            "message": {"role": "user", "content": content},
            "toolUseResult": told,
        }),
    );
}

/// The start of a background agent, confirmed.
pub fn launched(page: &mut Page<'_>, names: Names<'_>, act: usize, task: &str) {
    let agent = agent_id(names, act);
    let text = format!("Async agent launched successfully.\nagentId: {agent}");
    let content = json!([{"tool_use_id": call_id(names, act), "type": "tool_result", "content": [{"type": "text", "text": text}]}]);
    record(
        page,
        "user",
        json!({
            "promptId": prompt_id(page, names.turn),
            "message": {"role": "user", "content": content},
            "toolUseResult": {"isAsync": true, "status": "async_launched", "agentId": agent, "description": task},
        }),
    );
}

/// The report of the background agent that act `act` started: it continues the turn.
pub fn report(page: &mut Page<'_>, names: Names<'_>, act: usize, task: &str) {
    let (agent, call) = (agent_id(names, act), call_id(names, act));
    let text = format!(
        "<task-notification>\n<task-id>{agent}</task-id>\n<tool-use-id>{call}</tool-use-id>\n<status>completed</status>\n\
         <summary>Agent \"{task}\" finished</summary>\n</task-notification>"
    );
    enqueue(page, &text);
    let (time, session) = (page.time(), page.who.session_id.as_str().to_owned());
    page.push(&json!({"type": "queue-operation", "operation": "dequeue", "timestamp": time, "sessionId": session}));
    record(
        page,
        "user",
        json!({
            "promptId": uuid(names.session, &format!("b{}.{act}", names.turn)),
            "message": {"role": "user", "content": text},
            "origin": {"kind": "task-notification", "producer": "session-task"},
            "promptSource": "system",
            "turnOrigin": "task_notification",
        }),
    );
}

/// The record that ends a turn; `pending` background agents go on.
pub fn end(page: &mut Page<'_>, ending: &Ending<'_>, pending: u32) {
    let lasted = page.at.duration_since(ending.began).as_millis();
    let mut fields =
        json!({"subtype": "turn_duration", "durationMs": i64::try_from(lasted).unwrap_or(0), "isMeta": false});
    if let (true, Some(fields)) = (pending > 0, fields.as_object_mut()) {
        fields.insert("pendingBackgroundAgentCount".to_owned(), json!(pending));
    }
    record(page, "system", fields);
}

/// The record of a failed request, which ends the turn.
pub fn fail(page: &mut Page<'_>, ending: &Ending<'_>, fault: &Fault) {
    let (error, status) = match fault.kind {
        FaultKind::Limit => ("rate_limit", json!(429)),
        FaultKind::Overloaded => ("server_error", json!(529)),
        FaultKind::Network => ("unknown", Value::Null),
        FaultKind::Auth => ("authentication_failed", json!(401)),
        FaultKind::Other => ("invalid_request", json!(400)),
    };
    let text = super::words(fault, page.at, |end| end.strftime("%b %-d, %-I:%M:%S%P (UTC)").to_string());
    record(
        page,
        "assistant",
        json!({
            "message": {"id": uuid(&page.who.session_id, &format!("f{}.{}", ending.turn, page.from)), "type": "message",
                "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}],
                "stop_reason": "stop_sequence", "stop_sequence": "", "usage": usage()},
            "error": error,
            "isApiErrorMessage": true,
            "apiErrorStatus": status,
        }),
    );
}

/// The marker of a turn that a person stopped.
pub fn interrupt(page: &mut Page<'_>, ending: &Ending<'_>) {
    let content = json!([{"type": "text", "text": "[Request interrupted by user]"}]);
    let id = prompt_id(page, ending.turn);
    record(
        page,
        "user",
        json!({"promptId": id, "message": {"role": "user", "content": content}, "rowSource": "harness"}),
    );
}

fn call(cwd: &str, tool: &ToolUse) -> (&'static str, Value) {
    match &tool.tool {
        Tool::Run(command) => ("Bash", json!({"command": command, "description": "Run a command"})),
        Tool::Write(path, content) => ("Write", json!({"file_path": format!("{cwd}/{path}"), "content": content})),
        Tool::Edit(path, content) => {
            ("Edit", json!({"file_path": format!("{cwd}/{path}"), "old_string": "", "new_string": content}))
        }
        Tool::Read(path) => ("Read", json!({"file_path": format!("{cwd}/{path}")})),
    }
}

fn call_id(names: Names<'_>, act: usize) -> String {
    format!("toolu_{}", names.call(act))
}

fn agent_id(names: Names<'_>, act: usize) -> String {
    format!("a{}", names.call(act).get(..16).unwrap_or("0"))
}

fn prompt_id(page: &Page<'_>, turn: usize) -> String {
    uuid(&page.who.session_id, &format!("p{turn}"))
}

fn usage() -> Value {
    json!({"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0})
}

/// A record with the fields that all of them have; it becomes the parent of the next.
fn record(page: &mut Page<'_>, kind: &str, fields: Value) {
    let id = page.next_uuid();
    let mut whole = Map::new();
    whole.insert("parentUuid".to_owned(), page.parent.take().map_or(Value::Null, Value::String));
    whole.insert("isSidechain".to_owned(), Value::Bool(false));
    whole.insert("type".to_owned(), Value::String(kind.to_owned()));
    if let Value::Object(fields) = fields {
        whole.extend(fields);
    }
    let common = json!({"uuid": id, "timestamp": page.time(), "userType": "external", "entrypoint": "cli",
        "cwd": page.who.cwd, "sessionId": page.who.session_id.as_str(), "version": VERSION, "gitBranch": "main"});
    if let Value::Object(common) = common {
        whole.extend(common);
    }
    page.push(&Value::Object(whole));
    page.parent = Some(id);
}
