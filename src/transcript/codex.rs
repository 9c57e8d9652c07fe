//! Codex CLI's dialect: which record is a prompt, an answer, an end. Field names stand in `codex/record.rs`.

mod agents;
mod calls;
mod known;
mod record;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::LazyLock;

use memchr::memmem;
use serde_json::value::RawValue;

use super::cut::{Cutter, Keep};
use super::turns::{Call, Turns};
use super::{failure, lines, loose, position, raw_text, time, tools};
use crate::model::conversation::{ItemKind, Outcome, PromptSource, RecordPos};
use crate::model::ids::{MessageId, TurnId};
use agents::Agents;
use known::{BOOKKEEPING, QUIET_DONE, QUIET_EVENTS, QUIET_ITEMS, is_injected};
use record::{Attribution, Done, Git, Line, Passthrough, Payload, TaskError};

/// The three shapes in which one message may stand in a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// `item_completed`.
    Item,
    /// `user_message`, `agent_message`: versions before it.
    Event,
}

/// A task between `task_started` and its end.
#[derive(Debug, Default)]
struct Task {
    id: String,
    source: Option<PromptSource>,
    prompted: bool,
    /// Whether the agent said or did something in it.
    active: bool,
    /// An error told before the task's end.
    error: Option<(String, String)>,
}

/// A user message that waits for the record that says what the user really sent.
#[derive(Debug)]
struct Pending {
    pos: RecordPos,
    text: String,
}

/// What the dialect remembers between records.
#[derive(Debug, Default)]
pub(super) struct Codex {
    task: Option<Task>,
    pending: Option<Pending>,
    has_session: bool,
    /// Whether messages come as items or events; then response items only repeat them.
    told_apart: bool,
    /// Messages of the task seen in one shape, waiting for the same in the other.
    unpaired: VecDeque<(Shape, bool, String)>,
    agents: Agents,
    cutter: Cutter,
}

/// What of a record is read: the fields of the shapes in `record`, wherever those are read from.
static KEPT: LazyLock<Keep> = LazyLock::new(|| {
    let payload = Keep::fields::<Payload<'_>>().but("item", Keep::fields::<Done<'_>>());
    Keep::fields::<Line<'_>>().but("payload", payload)
});

fn is_conversation(kind: &[u8]) -> bool {
    matches!(kind, b"event_msg" | b"response_item" | b"session_meta" | b"turn_context" | b"compacted")
}

/// Parses a line and hands it to `take`. `None`: it is no JSON object.
fn parsed<T>(body: &[u8], take: impl FnOnce(&Line<'_>) -> T) -> Option<T> {
    let text = loose::as_text(body);
    if let Ok(line) = serde_json::from_str::<Line<'_>>(&text) {
        return Some(take(&line));
    }
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    let text = value.to_string();
    serde_json::from_str::<Line<'_>>(&text).ok().map(|line| take(&line))
}

impl Codex {
    pub(super) fn record(&mut self, turns: &mut Turns, offset: u64, body: &[u8]) -> bool {
        let Some(peek) = lines::peek(body, is_conversation) else { return false };
        let Some(kind) = raw_text(peek.kind) else { return false };
        if is_conversation(kind.as_bytes()) {
            let mut cutter = std::mem::take(&mut self.cutter);
            let taken = parsed(cutter.cut(body, &KEPT), |line| self.take(turns, offset, line)).is_some();
            self.cutter = cutter;
            return taken;
        }
        if !BOOKKEEPING.contains(&kind) {
            turns.unknown(kind);
        }
        turns.seen(&position(raw_text(peek.ordinal), offset, time(raw_text(peek.timestamp))));
        true
    }

    /// For a reader that begins inside a file: a task with a prompt runs.
    pub(super) fn assume_prompted(&mut self) {
        self.task = Some(Task { prompted: true, ..Task::default() });
    }

    fn take(&mut self, turns: &mut Turns, offset: u64, line: &Line<'_>) {
        let ordinal = line.ordinal.map(|ordinal| ordinal.to_string());
        let pos = position(ordinal.as_deref(), offset, time(line.timestamp.as_deref()));
        turns.seen(&pos);
        let kind = line.kind.as_deref().unwrap_or_default();
        let Some(payload) = loose::object::<Payload<'_>>(line.payload) else {
            turns.unknown(&format!("{kind}/malformed"));
            return;
        };
        match kind {
            "session_meta" => self.session(turns, &payload),
            "turn_context" => turns.place(payload.cwd.as_deref(), None, None),
            "compacted" => compaction(turns, &pos),
            "event_msg" => self.event(turns, &pos, &payload),
            _ => self.response_item(turns, &pos, &payload),
        }
    }

    fn session(&mut self, turns: &mut Turns, payload: &Payload<'_>) {
        // Some versions copy the first record of the thread a session was forked from behind its own.
        if std::mem::replace(&mut self.has_session, true) {
            return;
        }
        if let Some(id) = payload.id.as_deref() {
            turns.session(id);
        }
        let git: Option<Git<'_>> = loose::object(payload.git);
        let branch = git.and_then(|git| git.branch);
        turns.place(payload.cwd.as_deref(), branch.as_deref(), payload.cli_version.as_deref());
    }

    // ----- events -----

    fn event(&mut self, turns: &mut Turns, pos: &RecordPos, payload: &Payload<'_>) {
        let kind = payload.kind.as_deref().unwrap_or_default();
        if QUIET_EVENTS.contains(&kind) {
            return;
        }
        turns.spoke(pos.at);
        match kind {
            "task_started" | "turn_started" => self.started(payload),
            "task_complete" | "turn_complete" => self.complete(turns, pos, payload),
            "turn_aborted" => self.aborted(turns, pos, payload),
            "item_completed" => self.item(turns, pos, payload),
            "user_message" => {
                let text = payload.message.as_deref().unwrap_or_default();
                self.said(turns, pos, Shape::Event, None, text);
            }
            "agent_message" => {
                let text = payload.message.as_deref().unwrap_or_default();
                self.answered(turns, pos, Shape::Event, None, text);
            }
            "agent_reasoning" => turns.thinking(pos, payload.text.as_deref().unwrap_or_default()),
            "exec_command_end" | "patch_apply_end" => {
                if kind == "patch_apply_end" {
                    turns.edited();
                }
                let ok = payload.success.or(payload.exit_code.map(|code| code == 0));
                let call = payload.call_id.as_deref().unwrap_or_default();
                if self.outlived(turns, payload.turn_id.as_deref(), call) {
                    turns.result_after_end(pos, call, ok);
                } else {
                    result(turns, pos, call, ok);
                }
            }
            "context_compacted" => compaction(turns, pos),
            "error" => self.error(payload),
            other => turns.unknown(&format!("event_msg/{other}")),
        }
    }

    fn started(&mut self, payload: &Payload<'_>) {
        let attribution: Option<Attribution<'_>> = loose::object(payload.turn_attribution);
        let trigger = attribution.and_then(|attribution| attribution.turn_trigger);
        self.open(payload.turn_id.as_deref().unwrap_or_default());
        if let Some(task) = &mut self.task {
            task.source = match trigger.as_deref() {
                Some("user") => Some(PromptSource::Typed),
                Some("queue") => Some(PromptSource::Queued),
                Some("exec") => Some(PromptSource::Sdk),
                _ => None,
            };
        }
    }

    fn open(&mut self, id: &str) {
        self.task = Some(Task { id: id.to_owned(), ..Task::default() });
        self.pending = None;
        self.unpaired.clear();
    }

    /// The task that runs; a record without one around it (older versions) opens it.
    fn running(&mut self, id: Option<&str>, pos: &RecordPos) -> &mut Task {
        if self.task.is_none() {
            self.open(id.unwrap_or(pos.id.as_str()));
        }
        self.task.get_or_insert_default()
    }

    fn complete(&mut self, turns: &mut Turns, pos: &RecordPos, payload: &Payload<'_>) {
        self.settle(turns);
        let Some(task) = self.task.take() else { return };
        if !(task.prompted || task.active) {
            return;
        }
        let error: Option<TaskError<'_>> = loose::object(payload.error);
        let told = match &error {
            Some(error) => Some((
                error.message.as_deref().unwrap_or_default().to_owned(),
                error.codex_error_info.map(|info| info.get().to_owned()).unwrap_or_default(),
            )),
            None => task.error.filter(|_| turns.conversation().newest().is_some_and(|turn| turn.answer.is_none())),
        };
        if let Some((text, info)) = told {
            let hints = failure::Hints { status: status(&info), kind: &info, text: &text };
            let failure = turns.failure(&hints, pos.at);
            turns.fail(pos, failure);
            return;
        }
        if let Some(text) = payload.last_agent_message.as_deref()
            && task.prompted
            && !turns.conversation().newest().is_some_and(crate::model::conversation::Turn::has_output)
        {
            // Said in a shape that is not known here; the end of the task repeats it.
            turns.text(pos, &MessageId::new(format!("{}:last", task.id)), text);
        }
        turns.complete(pos, true);
    }

    fn aborted(&mut self, turns: &mut Turns, pos: &RecordPos, payload: &Payload<'_>) {
        self.settle(turns);
        let Some(task) = self.task.take() else { return };
        if task.prompted || task.active {
            let replaced = payload.reason.as_deref() == Some("replaced");
            turns.stop(pos, if replaced { Outcome::Superseded } else { Outcome::Interrupted });
        }
    }

    fn error(&mut self, payload: &Payload<'_>) {
        if let Some(task) = &mut self.task {
            let info = payload.codex_error_info.map(|info| info.get().to_owned()).unwrap_or_default();
            task.error = Some((payload.message.as_deref().unwrap_or_default().to_owned(), info));
        }
    }

    fn item(&mut self, turns: &mut Turns, pos: &RecordPos, payload: &Payload<'_>) {
        let Some(item) = loose::object::<Done<'_>>(payload.item) else {
            turns.unknown("event_msg/item_completed/malformed");
            return;
        };
        let kind = item.kind.as_deref().unwrap_or_default();
        if matches!(kind, "UserMessage" | "AgentMessage") {
            self.running(payload.turn_id.as_deref(), pos);
            let text = loose::content_text(item.content).unwrap_or_default();
            let id = item.id.as_deref();
            if kind == "UserMessage" {
                self.said(turns, pos, Shape::Item, id, &text);
            } else {
                self.answered(turns, pos, Shape::Item, id, &text);
            }
            return;
        }
        match kind {
            "Reasoning" => {
                let parts = loose::strings(item.summary_text);
                if self.is_prompted() {
                    turns.thinking(pos, &parts.join("\n"));
                }
            }
            "CommandExecution" if item.source.as_deref() == Some("user_shell") => {}
            "CommandExecution" | "FileChange" | "McpToolCall" | "WebSearch" => {
                let turn = payload.turn_id.as_deref();
                if self.outlived(turns, turn, item.id.as_deref().unwrap_or_default()) {
                    turns.result_after_end(pos, item.id.as_deref().unwrap_or_default(), succeeded(&item));
                } else {
                    self.tool_done(turns, pos, &item);
                }
            }
            "CollabAgentToolCall" => {
                self.agents.told(item.tool.as_deref(), item.receiver_thread_ids, item.agents_states);
                turns.background(self.agents.alive(), pos.at);
                self.tool_done(turns, pos, &item);
            }
            "ContextCompaction" => compaction(turns, pos),
            known if QUIET_DONE.contains(&known) => turns.touch(pos),
            other => turns.unknown(&format!("event_msg/item_completed/{other}")),
        }
    }

    /// Whether a command went on after its turn was over (a server, a long test) and ends only now: the end of a turn is
    /// exact, and nothing but a new one opens it again.
    fn outlived(&self, turns: &Turns, turn: Option<&str>, call: &str) -> bool {
        match &self.task {
            None => turns.conversation().newest().is_some_and(|turn| turn.outcome.is_some()),
            Some(task) => {
                let is_other = turn.is_some_and(|turn| !task.id.is_empty() && turn != task.id);
                is_other && turns.is_of_an_older_turn(call)
            }
        }
    }

    fn tool_done(&mut self, turns: &mut Turns, pos: &RecordPos, item: &Done<'_>) {
        let id = item.id.as_deref().unwrap_or_default();
        let kind = item.kind.as_deref().unwrap_or_default();
        self.act(turns);
        if !turns.has_call(id) {
            let about = calls::words(item.command);
            let about = about.as_deref().or(item.query.as_deref()).or(item.tool.as_deref()).unwrap_or_default();
            let call = Call {
                id: id.to_owned(),
                name: if kind == "FileChange" { "apply_patch" } else { kind }.to_owned(),
                summary: tools::first_words(about),
                edits: kind == "FileChange",
                ..Call::default()
            };
            turns.call(pos, call);
        } else if kind == "FileChange" {
            turns.edited();
        }
        turns.result(pos, id, succeeded(item), None);
    }

    // ----- response items -----

    fn response_item(&mut self, turns: &mut Turns, pos: &RecordPos, payload: &Payload<'_>) {
        let kind = payload.kind.as_deref().unwrap_or_default();
        if kind != "message" || payload.role.as_deref() != Some("developer") {
            turns.spoke(pos.at);
        }
        match kind {
            "message" => self.message(turns, pos, payload),
            // The same as an event or item, where there is one.
            "reasoning" => {
                if !self.told_apart && self.is_prompted() {
                    turns.thinking(pos, &loose::content_text(payload.summary).unwrap_or_default());
                }
            }
            "function_call" | "custom_tool_call" | "local_shell_call" | "web_search_call" => {
                self.act(turns);
                turns.call(pos, calls::call(payload));
            }
            "function_call_output" | "custom_tool_call_output" | "mcp_tool_call_output" => {
                let call = payload.call_id.as_deref().unwrap_or_default();
                result(turns, pos, call, calls::succeeded(payload));
            }
            known if QUIET_ITEMS.contains(&known) => {}
            other => turns.unknown(&format!("response_item/{other}")),
        }
    }

    fn message(&mut self, turns: &mut Turns, pos: &RecordPos, payload: &Payload<'_>) {
        let text = loose::content_text(payload.content).unwrap_or_default();
        match payload.role.as_deref() {
            Some("user") if text.trim_start().starts_with("<subagent_notification>") => {
                self.agents.notified(&text);
                turns.background(self.agents.alive(), pos.at);
                if self.is_prompted() {
                    turns.report(pos, &text);
                } else {
                    // Nothing is set going by it: the agent sees it with its next prompt.
                    turns.remark(pos, ItemKind::Report { text: text.as_ref().into() });
                }
            }
            Some("user") if !self.told_apart && is_genuine(payload, &text) => {
                self.settle(turns);
                self.pending = Some(Pending { pos: pos.clone(), text: text.into_owned() });
            }
            Some("assistant") if !self.told_apart => {
                self.settle(turns);
                if self.is_prompted() {
                    let id = MessageId::new(payload.id.as_deref().unwrap_or(pos.id.as_str()));
                    turns.text(pos, &id, &text);
                }
            }
            _ => {}
        }
    }

    // ----- what the shapes have in common -----

    fn is_prompted(&self) -> bool {
        self.task.as_ref().is_some_and(|task| task.prompted)
    }

    /// The user said something. `item` is its own id, if it has one.
    fn said(&mut self, turns: &mut Turns, pos: &RecordPos, shape: Shape, item: Option<&str>, text: &str) {
        self.told_apart = true;
        if is_injected(text) {
            return;
        }
        if self.is_second_shape(shape, true, text) {
            return;
        }
        self.pending = None;
        self.prompt(turns, pos, item, text);
    }

    fn prompt(&mut self, turns: &mut Turns, pos: &RecordPos, item: Option<&str>, text: &str) {
        let task = self.running(None, pos);
        let (id, source) = if std::mem::replace(&mut task.prompted, true) {
            (format!("{}:{}", task.id, item.unwrap_or(pos.id.as_str())), PromptSource::Absorbed)
        } else {
            (task.id.clone(), task.source.unwrap_or(PromptSource::Unsaid))
        };
        turns.begin(pos, TurnId::new(id), text, source);
    }

    /// The agent said something.
    fn answered(&mut self, turns: &mut Turns, pos: &RecordPos, shape: Shape, id: Option<&str>, text: &str) {
        self.told_apart = true;
        if self.is_second_shape(shape, false, text) {
            return;
        }
        self.act(turns);
        turns.text(pos, &MessageId::new(id.unwrap_or(pos.id.as_str())), text);
    }

    /// The agent acts: what waited to become a prompt is one, and a task without prompt carries on the last turn.
    fn act(&mut self, turns: &mut Turns) {
        self.settle(turns);
        if let Some(task) = &mut self.task {
            task.active = true;
        }
    }

    /// A user message that no record confirmed in time is a prompt by itself: an old or unusual rollout.
    fn settle(&mut self, turns: &mut Turns) {
        if let Some(Pending { pos, text }) = self.pending.take() {
            self.prompt(turns, &pos, None, &text);
        }
    }

    /// Whether the message stood there before in the other shape.
    fn is_second_shape(&mut self, shape: Shape, by_user: bool, text: &str) -> bool {
        let first =
            self.unpaired.iter().position(|(other, user, known)| *other != shape && *user == by_user && known == text);
        if let Some(first) = first {
            self.unpaired.remove(first);
            return true;
        }
        self.unpaired.push_back((shape, by_user, text.to_owned()));
        if self.unpaired.len() > 16 {
            self.unpaired.pop_front();
        }
        false
    }
}

fn succeeded(item: &Done<'_>) -> Option<bool> {
    item.exit_code.map(|code| code == 0).or(match item.status.as_deref() {
        Some("completed") => Some(true),
        Some("failed" | "declined") => Some(false),
        _ => None,
    })
}

/// A result without its call is of a task that made no turn.
fn result(turns: &mut Turns, pos: &RecordPos, call: &str, ok: Option<bool>) {
    if turns.has_call(call) {
        turns.result(pos, call, ok, None);
    }
}

fn is_genuine(payload: &Payload<'_>, text: &str) -> bool {
    let passthrough: Option<Passthrough<'_>> = loose::object(payload.internal_chat_message_metadata_passthrough);
    let kinds: Vec<String> = passthrough.map(|known| loose::objects(known.content_item_kinds)).unwrap_or_default();
    if kinds.is_empty() { !is_injected(text) } else { kinds.iter().any(|kind| kind.starts_with("user.")) }
}

/// The records of one compaction make one item.
fn compaction(turns: &mut Turns, pos: &RecordPos) {
    turns.spoke(pos.at);
    let newest = turns.conversation().newest().and_then(|turn| turn.items.last());
    if newest.is_some_and(|item| item.kind == ItemKind::Compaction) {
        turns.touch(pos);
    } else {
        turns.remark(pos, ItemKind::Compaction);
    }
}

/// The HTTP status in an error's `codex_error_info`.
fn status(info: &str) -> Option<i64> {
    let (_, behind) = info.split_once("\"http_status_code\":")?;
    let behind = behind.trim_start();
    let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
    behind.get(..digits)?.parse().ok()
}

/// Whether a session's first record says that it is a sub-agent's thread; `None` for other lines.
pub(super) fn is_subagent_thread(body: &[u8]) -> Option<bool> {
    if lines::peek(body, |kind| kind == b"session_meta")?.kind != Some(b"session_meta") {
        return None;
    }
    parsed(Cutter::default().cut(body, &KEPT), |line| {
        let payload: Payload<'_> = loose::object(line.payload)?;
        let named_so = |source: &RawValue| source.get().contains("subagent");
        Some(payload.thread_source.as_deref() == Some("subagent") || payload.source.is_some_and(named_so))
    })?
}

/// Whether the line calls a tool that is named for editing files.
pub(super) fn edits(body: &[u8]) -> bool {
    if memmem::find(body, b"apply_patch").is_none() && memmem::find(body, b"\"FileChange\"").is_none() {
        return false;
    }
    parsed(Cutter::default().cut(body, &KEPT), |line| {
        let Some(payload) = loose::object::<Payload<'_>>(line.payload) else { return false };
        match payload.kind.as_deref() {
            Some("function_call" | "custom_tool_call" | "local_shell_call") => calls::call(&payload).edits,
            Some("item_completed") => {
                let item: Option<Done<'_>> = loose::object(payload.item);
                let kind: Option<Cow<'_, str>> = item.and_then(|item| item.kind);
                kind.as_deref() == Some("FileChange")
            }
            Some("patch_apply_end") => true,
            _ => false,
        }
    })
    .unwrap_or(false)
}
