//! Transcript lines as the two CLIs write them, as far as the simulator needs them.
//! Written apart from the demo's writers on purpose: two authors, one reader.

use jiff::Timestamp;
use serde_json::{Value, json};
use trellis::model::ids::Agent;

/// What an agent writes at one moment.
#[derive(Clone, Debug)]
pub enum Line {
    /// A prompt that begins a turn (Codex: `task_started` and its company come first).
    Prompt { text: String, queued: bool },
    /// A prompt taken into the running turn.
    Absorbed { text: String },
    /// A Claude queue operation.
    Enqueue { text: String },
    /// The queue's head becomes a turn.
    Dequeue,
    /// The queue's head is absorbed.
    Remove,
    /// A tool call.
    Tool { call: String, command: String },
    /// Its result.
    ToolResult { call: String },
    /// A message with text.
    Text { message: String, text: String, last: bool },
    /// The turn ended normally.
    End { last: Option<String> },
    /// A person stopped the turn.
    Interrupted,
    /// The turn failed.
    Failed { status: u16, words: String },
    /// A background agent reports (Claude).
    Report { text: String },
    /// A background agent was started (Claude): call and result at once.
    Launch { call: String },
}

/// One session's writer: chains ids and counts records.
#[derive(Clone, Debug)]
pub struct Writer {
    pub agent: Agent,
    pub session: String,
    pub cwd: String,
    records: u64,
    turn: u64,
    last_uuid: Option<String>,
}

impl Writer {
    pub fn new(agent: Agent, session: &str, cwd: &str) -> Self {
        Self { agent, session: session.into(), cwd: cwd.into(), records: 0, turn: 0, last_uuid: None }
    }

    /// The lines as bytes, each with its newline.
    pub fn write(&mut self, at: Timestamp, lines: &[Line]) -> Vec<u8> {
        let mut out = Vec::new();
        for line in lines {
            let values = match self.agent {
                Agent::Claude => self.claude(at, line),
                Agent::Codex => self.codex(at, line),
            };
            for value in values {
                out.extend_from_slice(value.to_string().as_bytes());
                out.push(b'\n');
            }
        }
        out
    }

    fn uuid(&mut self) -> String {
        self.records += 1;
        format!("{}-r{}", self.session, self.records)
    }

    fn claude_record(&mut self, at: Timestamp, body: Value) -> Value {
        let parent = self.last_uuid.clone();
        let uuid = self.uuid();
        self.last_uuid = Some(uuid.clone());
        let mut record = json!({
            "parentUuid": parent, "isSidechain": false, "uuid": uuid, "timestamp": at.to_string(),
            "sessionId": self.session, "cwd": self.cwd, "version": "2.1.332", "entrypoint": "cli", "userType": "external",
        });
        if let (Some(record), Value::Object(body)) = (record.as_object_mut(), body) {
            record.extend(body);
        }
        record
    }

    fn queue(&self, at: Timestamp, operation: &str, extra: Value) -> Value {
        let mut record = json!({"type": "queue-operation", "operation": operation, "timestamp": at.to_string(), "sessionId": self.session});
        if let (Some(record), Value::Object(extra)) = (record.as_object_mut(), extra) {
            record.extend(extra);
        }
        record
    }

    fn claude(&mut self, at: Timestamp, line: &Line) -> Vec<Value> {
        let body = match line {
            Line::Prompt { text, queued } => json!({"type": "user", "message": {"role": "user", "content": text},
                "origin": {"kind": "human"}, "promptSource": if *queued { "queued" } else { "typed" }}),
            Line::Absorbed { text } => json!({"type": "attachment",
                "attachment": {"type": "queued_command", "prompt": text, "humanTurn": true, "commandMode": "prompt"}}),
            Line::Enqueue { text } => return vec![self.queue(at, "enqueue", json!({"content": text}))],
            Line::Dequeue => return vec![self.queue(at, "dequeue", json!({}))],
            Line::Remove => return vec![self.queue(at, "remove", json!({"reason": "absorbed_mid_turn"}))],
            Line::Tool { call, command } => {
                json!({"type": "assistant", "message": {"id": format!("m-{call}"), "type": "message",
                "role": "assistant", "model": "sim", "stop_reason": "tool_use",
                "content": [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}]}})
            }
            Line::ToolResult { call } => json!({"type": "user", "message": {"role": "user",
                "content": [{"type": "tool_result", "tool_use_id": call, "content": "ok"}]}, "toolUseResult": {"stdout": "ok"}}),
            Line::Text { message, text, last } => {
                json!({"type": "assistant", "message": {"id": message, "type": "message",
                "role": "assistant", "model": "sim", "stop_reason": if *last { "end_turn" } else { "tool_use" },
                "content": [{"type": "text", "text": text}]}})
            }
            Line::End { .. } => {
                json!({"type": "system", "subtype": "turn_duration", "durationMs": 1000, "isMeta": false})
            }
            Line::Interrupted => json!({"type": "user", "rowSource": "harness", "message": {"role": "user",
                "content": [{"type": "text", "text": "[Request interrupted by user]"}]}}),
            Line::Failed { status, words } => {
                json!({"type": "assistant", "isApiErrorMessage": true, "apiErrorStatus": status,
                "error": if *status == 429 { "rate_limit" } else { "server_error" },
                "message": {"id": format!("err-{}", self.records), "type": "message", "role": "assistant",
                    "model": "<synthetic>", "stop_reason": "stop_sequence", "content": [{"type": "text", "text": words}]}})
            }
            Line::Report { text } => json!({"type": "user", "promptSource": "system",
                "origin": {"kind": "task-notification"},
                "message": {"role": "user", "content": format!("<task-notification>\n<tool-use-id>launch</tool-use-id>\n{text}</task-notification>")}}),
            Line::Launch { call } => {
                let started = self.claude_record(at, json!({"type": "assistant", "message": {"id": format!("m-{call}"),
                    "type": "message", "role": "assistant", "model": "sim", "stop_reason": "tool_use",
                    "content": [{"type": "tool_use", "id": call, "name": "Agent", "input": {"description": "look", "prompt": "look"}}]}}));
                let result = self.claude_record(at, json!({"type": "user", "message": {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": "Async agent launched successfully."}]}]},
                    "toolUseResult": {"isAsync": true, "status": "async_launched", "agentId": call}}));
                return vec![started, result];
            }
        };
        vec![self.claude_record(at, body)]
    }

    fn codex_record(&mut self, at: Timestamp, kind: &str, payload: &Value) -> Value {
        self.records += 1;
        json!({"timestamp": at.to_string(), "ordinal": self.records, "type": kind, "payload": payload})
    }

    fn item(&mut self, at: Timestamp, item: &Value) -> Value {
        let turn = self.turn_id();
        let thread = self.session.clone();
        self.codex_record(
            at,
            "event_msg",
            &json!({"type": "item_completed", "thread_id": thread, "turn_id": turn, "item": item}),
        )
    }

    fn turn_id(&self) -> String {
        format!("{}-t{}", self.session, self.turn)
    }

    fn codex_prompt(&mut self, at: Timestamp, text: &str, out: &mut Vec<Value>) {
        let id = format!("u{}", self.records);
        out.push(self.codex_record(
            at,
            "response_item",
            &json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": text}],
            "internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]}}),
        ));
        out.push(self.item(at, &json!({"type": "UserMessage", "id": id, "content": [{"type": "text", "text": text}]})));
    }

    fn codex(&mut self, at: Timestamp, line: &Line) -> Vec<Value> {
        let mut out = Vec::new();
        if self.records == 0 {
            let (id, cwd) = (self.session.clone(), self.cwd.clone());
            out.push(self.codex_record(
                at,
                "session_meta",
                &json!({"id": id, "session_id": id, "cwd": cwd,
                "originator": "codex-tui", "cli_version": "0.171.0", "source": "vscode", "thread_source": "user"}),
            ));
        }
        match line {
            Line::Prompt { text, queued } => {
                self.turn += 1;
                let turn = self.turn_id();
                out.push(self.codex_record(
                    at,
                    "event_msg",
                    &json!({"type": "task_started", "turn_id": turn,
                    "turn_attribution": {"turn_id": turn, "turn_trigger": if *queued { "queue" } else { "user" }}}),
                ));
                let cwd = self.cwd.clone();
                out.push(self.codex_record(at, "turn_context", &json!({"turn_id": turn, "cwd": cwd})));
                self.codex_prompt(at, text, &mut out);
            }
            Line::Absorbed { text } => self.codex_prompt(at, text, &mut out),
            Line::Enqueue { .. } | Line::Dequeue | Line::Remove | Line::Report { .. } | Line::Launch { .. } => {}
            Line::Tool { call, command } => out.push(self.codex_record(
                at,
                "response_item",
                &json!({"type": "function_call",
                "name": "exec_command", "arguments": json!({"cmd": command}).to_string(), "call_id": call}),
            )),
            Line::ToolResult { call } => out.push(self.codex_record(
                at,
                "response_item",
                &json!({"type": "function_call_output", "call_id": call, "output": "ok"}),
            )),
            Line::Text { message, text, .. } => {
                out.push(self.item(
                    at,
                    &json!({"type": "AgentMessage", "id": message, "content": [{"type": "Text", "text": text}]}),
                ));
                out.push(self.codex_record(
                    at,
                    "response_item",
                    &json!({"type": "message", "role": "assistant", "id": message,
                    "content": [{"type": "output_text", "text": text}]}),
                ));
            }
            Line::End { last } => {
                let turn = self.turn_id();
                out.push(self.codex_record(
                    at,
                    "event_msg",
                    &json!({"type": "task_complete", "turn_id": turn,
                    "last_agent_message": last}),
                ));
            }
            Line::Interrupted => {
                let turn = self.turn_id();
                out.push(self.codex_record(at, "response_item", &json!({"type": "message", "role": "user",
                    "content": [{"type": "input_text", "text": "<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>"}]})));
                out.push(self.codex_record(
                    at,
                    "event_msg",
                    &json!({"type": "turn_aborted", "turn_id": turn, "reason": "interrupted"}),
                ));
            }
            Line::Failed { status, words } => {
                let turn = self.turn_id();
                let mut info = json!({"http_connection_failed": {"http_status_code": status}});
                if *status == 429 {
                    info = json!({"response_too_many_failed_attempts": {"http_status_code": status}});
                }
                out.push(self.codex_record(
                    at,
                    "event_msg",
                    &json!({"type": "task_complete", "turn_id": turn,
                    "last_agent_message": null, "error": {"message": words, "codex_error_info": info}}),
                ));
            }
        }
        out
    }
}
