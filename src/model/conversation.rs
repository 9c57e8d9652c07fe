//! One session's transcript as turns and answers: what the readers produce and the machines judge.
//! Built by `transcript`; nothing here reads a file or knows a field name of an agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::growing::Growing;
use super::ids::{Agent, MessageId, RecordId, SessionId, TurnId};
use super::positions::Positions;

/// Everything one transcript says, in file order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// Which dialect it was read in.
    pub agent: Agent,
    /// The id the records name (the newest, when they disagree).
    pub session_id: Option<SessionId>,
    /// Newest `cwd` of the records.
    pub cwd: Option<String>,
    /// Newest CLI version of the records.
    pub cli_version: Option<String>,
    /// Newest git branch of the records.
    pub branch: Option<String>,
    /// First line of the first prompt.
    pub title: Option<String>,
    /// Turns in order; each began at a prompt.
    pub turns: Growing<Turn>,
    /// Prompts that wait in the agent's own queue (Claude `enqueue` without its end).
    pub queued: Vec<QueuedPrompt>,
    /// Background agents that were started and have not reported.
    pub background_agents: u32,
    /// When the newest of them was started: they go with the process that started them.
    pub background_since: Option<Timestamp>,
    /// An `AskUserQuestion` without its result: the question.
    pub question: Option<String>,
    /// The newest record that had an id, bookkeeping included.
    pub last_record: Option<RecordPos>,
    /// Time of the newest record that belongs to the conversation (bookkeeping does not count).
    pub last_spoken_at: Option<Timestamp>,
    /// Bytes consumed: the offset behind the last complete line.
    pub length: u64,
    /// Record types that were not understood, with their counts. Kept, never fatal.
    pub unknown: BTreeMap<String, u64>,
    /// Lines that were no JSON record at all.
    pub damaged: u64,
    /// Offsets of the records that have an id; answers whether a mark can be found again.
    #[serde(skip)]
    pub positions: Positions,
}

impl Conversation {
    /// An empty one.
    #[must_use]
    pub fn new(agent: Agent) -> Self {
        Self {
            agent,
            session_id: None,
            cwd: None,
            cli_version: None,
            branch: None,
            title: None,
            turns: Growing::new(),
            queued: Vec::new(),
            background_agents: 0,
            background_since: None,
            question: None,
            last_record: None,
            last_spoken_at: None,
            length: 0,
            unknown: BTreeMap::new(),
            damaged: 0,
            positions: Positions::default(),
        }
    }

    /// Byte offset at which the record begins, if it is still in the file.
    #[must_use]
    pub fn offset_of(&self, record: &RecordId) -> Option<u64> {
        self.positions.get(record)
    }

    /// Whether it was read from some place inside the file on: the first turn began before, and its prompt is not known.
    #[must_use]
    pub fn begins_inside(&self) -> bool {
        self.turns.first().is_some_and(|turn| turn.prompt.source == PromptSource::Unsaid && turn.prompt.text.is_empty())
    }

    /// Position of a turn by its id.
    #[must_use]
    pub fn turn_index(&self, id: &TurnId) -> Option<usize> {
        self.turns.iter().rposition(|turn| &turn.id == id)
    }

    /// The newest turn.
    #[must_use]
    pub fn newest(&self) -> Option<&Turn> {
        self.turns.last()
    }

    /// Whether the newest turn has not ended.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.newest().is_some_and(|turn| turn.outcome.is_none())
    }
}

/// Where a record stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordPos {
    /// Its id.
    pub id: RecordId,
    /// Byte offset of its line.
    pub offset: u64,
    /// Its own time, if it has one.
    pub at: Option<Timestamp>,
}

/// One turn: from its prompt to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// As `loops.md` §1 defines it.
    pub id: TurnId,
    /// What started it.
    pub prompt: Prompt,
    /// `None` while it runs. A turn that went on by itself after its end (a background report) is open again.
    pub outcome: Option<Outcome>,
    /// The last assistant message with text that stands after the last tool result and the last background report.
    /// Present also while the turn runs, when such a message is already there.
    pub answer: Option<Answer>,
    /// What it contains, in order: for the conversation view and for `whole_turn`.
    pub items: Growing<Item>,
    /// Whether a tool named for editing files was called (Write, Edit, MultiEdit, NotebookEdit, apply_patch).
    pub edited_files: bool,
    /// The newest record of the turn.
    pub last_record: RecordPos,
    /// When its outcome was recorded.
    pub ended_at: Option<Timestamp>,
}

impl Turn {
    /// Whether the turn left any text or tool call of the agent.
    #[must_use]
    pub fn has_output(&self) -> bool {
        self.items.iter().any(|item| matches!(item.kind, ItemKind::Text { .. } | ItemKind::Tool { .. }))
    }

    /// Every text block in order, joined as an answer's are.
    #[must_use]
    pub fn whole_text(&self) -> String {
        let texts: Vec<&str> = self
            .items
            .iter()
            .filter_map(|item| match &item.kind {
                ItemKind::Text { text, .. } => Some(text.as_ref()),
                _ => None,
            })
            .collect();
        texts.join("\n").trim().to_owned()
    }

    /// Whether it ended `completed` with an answer.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.outcome == Some(Outcome::Completed) && self.answer.is_some()
    }
}

/// A message of a person or of trellis that the agent took up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The record that holds it.
    pub record: RecordPos,
    /// Its text as recorded (Claude's paste wrapper still around it).
    pub text: Arc<str>,
    /// How the record says it came in.
    pub source: PromptSource,
}

/// How a prompt came in, as far as the record says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptSource {
    /// At the input box.
    Typed,
    /// Taken from the agent's queue as a turn of its own.
    Queued,
    /// Through `-p`, stream-json, `exec` or an app-server.
    Sdk,
    /// Taken into a running turn (Claude `queued_command`, a Codex steer).
    Absorbed,
    /// The record does not say.
    Unsaid,
}

/// The agent's answer of a turn. Identified by turn and message, never by its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The message that holds it.
    pub message_id: MessageId,
    /// Its text blocks joined by a newline, trimmed.
    pub text: Arc<str>,
    /// Offset of its first record.
    pub offset: u64,
    /// When it was written.
    pub at: Option<Timestamp>,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Normally.
    Completed,
    /// A later prompt landed inside it.
    Superseded,
    /// A person stopped it.
    Interrupted,
    /// It failed.
    Failed(Failure),
}

/// Why a turn failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind.
    pub class: FailureClass,
    /// The agent's words.
    pub text: String,
    /// When a limit ends, if the agent said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<Timestamp>,
}

/// Kinds of failure (`loops.md` §1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// An allowance is used up.
    Limit,
    /// Not logged in, or refused.
    Auth,
    /// The service is overloaded.
    Overloaded,
    /// The connection failed.
    Network,
    /// The process died inside the turn.
    Died,
    /// Anything else.
    Other,
}

/// A prompt that waits in the agent's own queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedPrompt {
    /// Its text.
    pub text: Arc<str>,
    /// Offset of the record that queued it.
    pub offset: u64,
    /// When it was queued.
    pub at: Option<Timestamp>,
}

/// One thing inside a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Offset of its record.
    pub offset: u64,
    /// Its time.
    pub at: Option<Timestamp>,
    /// What it is.
    pub kind: ItemKind,
}

/// Kinds of things inside a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// A text block of the agent.
    Text {
        /// Its message.
        message_id: MessageId,
        /// The block.
        text: Arc<str>,
    },
    /// Reasoning.
    Thinking {
        /// What the record shows of it.
        text: Arc<str>,
    },
    /// A tool call.
    Tool {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        name: String,
        /// Its object in a few words: a path, a command.
        summary: String,
        /// Lines added and removed, where the record says it.
        lines: Option<(u32, u32)>,
        /// `None` while it runs; whether it succeeded.
        ok: Option<bool>,
    },
    /// A background agent or task reported.
    Report {
        /// Its text.
        text: Arc<str>,
    },
    /// The conversation was compacted.
    Compaction,
    /// An error, an interruption or another remark of the program.
    Notice {
        /// Its words.
        text: Arc<str>,
    },
}
