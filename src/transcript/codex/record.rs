//! Field names of Codex CLI's rollout records. What the records mean is `codex`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::transcript::loose;

/// One line.
#[derive(Deserialize)]
pub(super) struct Line<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text", rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) timestamp: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "loose::number")]
    pub(super) ordinal: Option<i64>,
    #[serde(borrow, default)]
    pub(super) payload: Option<&'a RawValue>,
}

/// `payload`, of whichever kind.
#[derive(Deserialize)]
pub(super) struct Payload<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text", rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) turn_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) role: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) arguments: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) input: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) message: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) reason: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) last_agent_message: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) cli_version: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) thread_source: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "loose::tristate")]
    pub(super) success: Option<bool>,
    #[serde(default, deserialize_with = "loose::number")]
    pub(super) exit_code: Option<i64>,
    #[serde(borrow, default)]
    pub(super) source: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) git: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) turn_attribution: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) action: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) codex_error_info: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) internal_chat_message_metadata_passthrough: Option<&'a RawValue>,
}

/// `item` of an `item_completed`.
#[derive(Deserialize)]
pub(super) struct Done<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text", rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) status: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) source: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) tool: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) query: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "loose::number")]
    pub(super) exit_code: Option<i64>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) summary_text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) command: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) receiver_thread_ids: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) agents_states: Option<&'a RawValue>,
}

/// What kinds of content a response item holds.
#[derive(Deserialize)]
pub(super) struct Passthrough<'a> {
    #[serde(borrow, default)]
    pub(super) content_item_kinds: Option<&'a RawValue>,
}

/// Who set a turn going.
#[derive(Deserialize)]
pub(super) struct Attribution<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) turn_trigger: Option<Cow<'a, str>>,
}

/// `error` of a `task_complete`.
#[derive(Deserialize)]
pub(super) struct TaskError<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) message: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) codex_error_info: Option<&'a RawValue>,
}

/// `git` of the session's first record.
#[derive(Deserialize)]
pub(super) struct Git<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) branch: Option<Cow<'a, str>>,
}

/// What tools are called with, as far as it is shown.
#[derive(Default, Deserialize)]
pub(super) struct Arguments<'a> {
    #[serde(borrow, default)]
    pub(super) cmd: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) command: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) input: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) path: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) query: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) message: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) explanation: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) questions: Option<&'a RawValue>,
}

/// One question of `request_user_input`.
#[derive(Deserialize)]
pub(super) struct Question<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) question: Option<Cow<'a, str>>,
}

/// A tool's output, where it is an object.
#[derive(Deserialize)]
pub(super) struct Output<'a> {
    #[serde(default, deserialize_with = "loose::tristate")]
    pub(super) success: Option<bool>,
    #[serde(borrow, default)]
    pub(super) metadata: Option<&'a RawValue>,
}

/// `metadata` of such an output.
#[derive(Deserialize)]
pub(super) struct OutputMetadata {
    #[serde(default, deserialize_with = "loose::number")]
    pub(super) exit_code: Option<i64>,
}
