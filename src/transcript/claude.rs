//! Claude Code's dialect: which record is a prompt, an answer, an end. Field names stand in `claude/record.rs`.

mod background;
mod kinds;
mod queue;
mod record;

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;

use super::cut::{Cutter, Keep};
use super::loose;
use super::turns::{Call, Turns};
use super::{failure, lines, position, raw_text, time, tools};
use crate::model::conversation::{ItemKind, Outcome, PromptSource, RecordPos};
use crate::model::ids::{MessageId, TurnId};
use background::Background;
use kinds::{BOOKKEEPING, INTERRUPTED, NOTIFICATION, REMARKS, Said, classify, origin};
use queue::Queue;
use record::{Block, Hunk, Input, Line, Message, QueuedCommand, ToolUseResult};

/// What the dialect remembers between records.
#[derive(Debug, Default)]
pub(super) struct Claude {
    queue: Queue,
    background: Background,
    cutter: Cutter,
}

/// What of a record is read: the fields of the shapes in `record`, wherever those are read from.
static KEPT: LazyLock<Keep> = LazyLock::new(|| {
    let block = Keep::fields::<Block<'_>>().but("input", Keep::fields::<Input<'_>>());
    let message = Keep::fields::<Message<'_>>().but("content", Keep::each(block));
    Keep::fields::<Line<'_>>()
        .but("message", message)
        .but("attachment", Keep::fields::<QueuedCommand<'_>>())
        .but("toolUseResult", Keep::fields::<ToolUseResult<'_>>())
});

fn is_conversation(kind: &[u8]) -> bool {
    matches!(kind, b"user" | b"assistant" | b"system" | b"queue-operation")
}

/// Parses a line and hands it to `take`. `None`: it is no JSON object.
fn parsed<T>(body: &[u8], take: impl FnOnce(&Line<'_>) -> T) -> Option<T> {
    let text = loose::as_text(body);
    if let Ok(line) = serde_json::from_str::<Line<'_>>(&text) {
        return Some(take(&line));
    }
    // A key that stands there twice: the last one counts, as for most readers.
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    let text = value.to_string();
    serde_json::from_str::<Line<'_>>(&text).ok().map(|line| take(&line))
}

impl Claude {
    pub(super) fn record(&mut self, turns: &mut Turns, offset: u64, body: &[u8]) -> bool {
        let Some(peek) = lines::peek(body, is_conversation) else { return false };
        let Some(kind) = raw_text(peek.kind) else { return false };
        let queued = kind == "attachment" && memmem::find(body, b"\"queued_command\"").is_some();
        if queued || is_conversation(kind.as_bytes()) {
            let mut cutter = std::mem::take(&mut self.cutter);
            let taken = parsed(cutter.cut(body, &KEPT), |line| self.take(turns, offset, line)).is_some();
            self.cutter = cutter;
            return taken;
        }
        if !BOOKKEEPING.contains(&kind) {
            turns.unknown(kind);
        }
        if let Some(uuid) = raw_text(peek.uuid) {
            turns.seen(&position(Some(uuid), offset, time(raw_text(peek.timestamp))));
        }
        true
    }

    fn take(&mut self, turns: &mut Turns, offset: u64, line: &Line<'_>) {
        let at = time(line.timestamp.as_deref());
        if line.kind.as_deref() == Some("queue-operation") {
            turns.spoke(at);
            self.queue_operation(turns, offset, line);
            return;
        }
        let pos = position(line.uuid.as_deref(), offset, at);
        // Some versions write a record again when a session is resumed.
        if turns.has_seen(&pos) {
            return;
        }
        turns.seen(&pos);
        if let Some(id) = line.session_id.as_deref() {
            turns.session(id);
        }
        turns.place(line.cwd.as_deref(), line.git_branch.as_deref(), line.version.as_deref());
        if line.is_sidechain {
            return;
        }
        match line.kind.as_deref() {
            Some("user") => self.user(turns, &pos, line),
            Some("assistant") => assistant(turns, &pos, line),
            Some("system") => self.system(turns, &pos, line),
            _ => self.queued_command(turns, &pos, line),
        }
    }

    fn user(&mut self, turns: &mut Turns, pos: &RecordPos, line: &Line<'_>) {
        let Some(message) = loose::object::<Message<'_>>(line.message) else {
            turns.unknown("user/malformed");
            return;
        };
        turns.spoke(pos.at);
        let blocks: Vec<Block<'_>> = loose::objects(message.content);
        let mut has_results = false;
        for block in blocks.iter().filter(|block| block.kind.as_deref() == Some("tool_result")) {
            has_results = true;
            self.tool_result(turns, pos, line, block);
        }
        let texts = || loose::joined(blocks.iter().map(|block| (block.kind.as_deref(), block.text.as_deref())));
        let text = loose::string(message.content).or_else(|| texts().map(Cow::Owned)).unwrap_or_default();
        if has_results {
            if INTERRUPTED.contains(&text.trim()) {
                turns.stop(pos, Outcome::Interrupted);
            }
            return;
        }
        match classify(line, &text) {
            Said::Prompt(source) => {
                match source {
                    PromptSource::Typed => self.queue.typed(&text),
                    _ => self.queue.arrived(&text),
                }
                turns.waiting(self.queue.prompts());
                turns.begin(pos, TurnId::new(pos.id.as_str()), &text, source);
            }
            Said::Report => self.report(turns, pos, &text),
            Said::Interruption => turns.stop(pos, Outcome::Interrupted),
            Said::Summary => compaction(turns, pos),
            Said::Local => {}
        }
    }

    fn report(&mut self, turns: &mut Turns, pos: &RecordPos, text: &str) {
        self.queue.arrived(text);
        turns.waiting(self.queue.prompts());
        for part in text.split(NOTIFICATION).skip(1) {
            if tag(part, "status") == Some("running") {
                continue;
            }
            if let Some(task) = tag(part, "task-id").or_else(|| tag(part, "tool-use-id")) {
                self.background.finished(task);
            }
        }
        turns.background(self.background.count(), pos.at);
        turns.report(pos, text);
    }

    fn tool_result(&mut self, turns: &mut Turns, pos: &RecordPos, line: &Line<'_>, block: &Block<'_>) {
        let call = block.tool_use_id.as_deref().unwrap_or_default();
        let result: ToolUseResult<'_> = loose::object(line.tool_use_result).unwrap_or_default();
        if result.is_async || result.status.as_deref() == Some("async_launched") {
            self.background.launched(result.agent_id.as_deref().unwrap_or(call));
            turns.background(self.background.count(), pos.at);
        }
        if let Some(task) = &result.background_task_id {
            self.background.shell(task);
        }
        turns.result(pos, call, Some(!block.is_error), changed_lines(&result));
    }

    fn queued_command(&mut self, turns: &mut Turns, pos: &RecordPos, line: &Line<'_>) {
        let Some(command) = loose::object::<QueuedCommand<'_>>(line.attachment) else { return };
        if command.kind.as_deref() != Some("queued_command") {
            return;
        }
        turns.spoke(pos.at);
        let text = loose::content_text(command.prompt).unwrap_or_default();
        let origin = origin(command.origin);
        let is_report = command.command_mode.as_deref() == Some("task-notification")
            || origin.as_deref() == Some("task-notification")
            || (origin.is_none() && text.trim_start().starts_with(NOTIFICATION));
        if is_report {
            self.report(turns, pos, &text);
            return;
        }
        let is_human = command.human_turn == Some(true)
            || origin.as_deref() == Some("human")
            || (command.human_turn.is_none() && origin.is_none());
        if is_human && matches!(command.command_mode.as_deref(), None | Some("prompt")) {
            self.queue.arrived(&text);
            turns.waiting(self.queue.prompts());
            turns.begin(pos, TurnId::new(pos.id.as_str()), &text, PromptSource::Absorbed);
        }
    }

    fn queue_operation(&mut self, turns: &mut Turns, offset: u64, line: &Line<'_>) {
        let text = loose::content_text(line.content);
        match line.operation.as_deref() {
            Some("enqueue") => {
                let text = text.unwrap_or_default();
                let report = text.trim_start().starts_with(NOTIFICATION);
                self.queue.enqueue(&text, report, offset, time(line.timestamp.as_deref()));
            }
            Some("dequeue" | "remove") => self.queue.take(text.as_deref()),
            Some("popAll" | "clear") => self.queue.clear(),
            other => turns.unknown(&format!("queue-operation/{}", other.unwrap_or_default())),
        }
        turns.waiting(self.queue.prompts());
    }

    fn system(&mut self, turns: &mut Turns, pos: &RecordPos, line: &Line<'_>) {
        turns.spoke(pos.at);
        match line.subtype.as_deref().unwrap_or_default() {
            "turn_duration" => {
                self.background.turn_ended(line.pending_background_agent_count);
                turns.background(self.background.count(), pos.at);
                turns.complete(pos, true);
            }
            "compact_boundary" => compaction(turns, pos),
            "agents_killed" => {
                self.background.clear();
                turns.background(0, pos.at);
            }
            known if REMARKS.contains(&known) => {}
            other => turns.unknown(&format!("system/{other}")),
        }
    }
}

/// What stands between `<name>` and `</name>`.
fn tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, behind) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = behind.split_once(&format!("</{name}>"))?;
    Some(inside.trim())
}

/// The boundary and its summary are two records of one compaction.
fn compaction(turns: &mut Turns, pos: &RecordPos) {
    let newest = turns.conversation().newest().and_then(|turn| turn.items.last());
    if newest.is_some_and(|item| item.kind == ItemKind::Compaction) {
        turns.touch(pos);
    } else {
        turns.remark(pos, ItemKind::Compaction);
    }
}

fn changed_lines(result: &ToolUseResult<'_>) -> Option<(u32, u32)> {
    result.structured_patch?;
    let hunks: Vec<Hunk<'_>> = loose::objects(result.structured_patch);
    if hunks.is_empty() && result.kind.as_deref() == Some("create") {
        let content = loose::string(result.content)?;
        return Some((u32::try_from(content.lines().count()).ok()?, 0));
    }
    Some(hunks.iter().fold((0, 0), |(added, removed), hunk| {
        let lines = loose::strings(hunk.lines);
        let (more, less) = tools::count_lines(lines.iter().map(Cow::as_ref));
        (added + more, removed + less)
    }))
}

fn assistant(turns: &mut Turns, pos: &RecordPos, line: &Line<'_>) {
    let Some(message) = loose::object::<Message<'_>>(line.message) else {
        turns.unknown("assistant/malformed");
        return;
    };
    turns.spoke(pos.at);
    if line.is_api_error_message || message.model.as_deref() == Some("<synthetic>") {
        synthetic(turns, pos, line, &message);
        return;
    }
    let id = MessageId::new(message.id.as_deref().unwrap_or(pos.id.as_str()));
    let mut has_text = false;
    if let Some(text) = loose::string(message.content) {
        has_text = true;
        turns.text(pos, &id, &text);
    }
    for block in loose::objects::<Block<'_>>(message.content) {
        match block.kind.as_deref().unwrap_or_default() {
            "text" => {
                has_text = true;
                turns.text(pos, &id, block.text.as_deref().unwrap_or_default());
            }
            "thinking" => turns.thinking(pos, block.thinking.as_deref().unwrap_or_default()),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => turns.call(pos, call(&block)),
            _ => turns.touch(pos),
        }
    }
    if line.is_aborted_mid_stream {
        turns.cut_off();
        return;
    }
    let stop = message.stop_reason.as_deref();
    // Only the interactive program writes a record at the end of a turn.
    let interactive = line.entrypoint.as_deref() == Some("cli");
    if has_text && !interactive && matches!(stop, Some("end_turn" | "max_tokens" | "stop_sequence" | "refusal")) {
        turns.complete(pos, false);
    } else if has_text && stop != Some("tool_use") {
        turns.end_at_limit_notice(pos);
    }
}

/// A row that the program wrote in the agent's name: an error, or a remark.
fn synthetic(turns: &mut Turns, pos: &RecordPos, line: &Line<'_>, message: &Message<'_>) {
    let text = loose::content_text(message.content).unwrap_or_default();
    let error = loose::string(line.error).unwrap_or_default();
    let kind = format!("{} {error}", line.api_error.as_deref().unwrap_or_default());
    let is_failure =
        line.is_api_error_message || text.trim_start().starts_with("API Error") || failure::is_limit_notice(&text);
    if is_failure {
        let hints = failure::Hints { status: line.api_error_status, kind: kind.trim(), text: &text };
        let failure = turns.failure(&hints, pos.at);
        turns.fail(pos, failure);
    } else {
        turns.remark(pos, ItemKind::Notice { text: text.as_ref().into() });
    }
}

fn call(block: &Block<'_>) -> Call {
    let name = block.name.as_deref().unwrap_or_default();
    let input: Input<'_> = loose::object(block.input).unwrap_or_default();
    let question = (name == "AskUserQuestion").then(|| input.question());
    let summary = match &question {
        Some(question) => tools::first_words(question),
        None => tools::first_words(input.summary()),
    };
    Call {
        id: block.id.as_deref().unwrap_or_default().to_owned(),
        name: name.to_owned(),
        summary,
        edits: tools::is_editor(name),
        question,
        lines: None,
    }
}

/// Whether the line belongs to a sub-agent; `None` if it is no message.
pub(super) fn is_side_chain(body: &[u8]) -> Option<bool> {
    let is_message = |kind: &[u8]| matches!(kind, b"user" | b"assistant");
    if !lines::peek(body, is_message)?.kind.is_some_and(is_message) {
        return None;
    }
    parsed(Cutter::default().cut(body, &KEPT), |line| line.is_sidechain)
}

/// Whether the line calls a tool that is named for editing files; side chains count.
pub(super) fn edits(body: &[u8]) -> bool {
    if memmem::find(body, b"\"tool_use\"").is_none() {
        return false;
    }
    parsed(Cutter::default().cut(body, &KEPT), |line| {
        let message: Option<Message<'_>> = loose::object(line.message);
        let blocks: Vec<Block<'_>> = message.map(|message| loose::objects(message.content)).unwrap_or_default();
        blocks.iter().any(|block| {
            block.kind.as_deref() == Some("tool_use") && block.name.as_deref().is_some_and(tools::is_editor)
        })
    })
    .unwrap_or(false)
}
