//! Field names of Claude Code's records. What the records mean is `claude`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::transcript::loose;

/// One line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text", rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) subtype: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) uuid: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) git_branch: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) version: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) entrypoint: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) prompt_source: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) operation: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) api_error: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "loose::flag")]
    pub(super) is_sidechain: bool,
    #[serde(default, deserialize_with = "loose::flag")]
    pub(super) is_meta: bool,
    #[serde(default, deserialize_with = "loose::flag")]
    pub(super) is_compact_summary: bool,
    #[serde(default, deserialize_with = "loose::flag")]
    pub(super) is_api_error_message: bool,
    #[serde(default, deserialize_with = "loose::flag")]
    pub(super) is_aborted_mid_stream: bool,
    #[serde(default, deserialize_with = "loose::number")]
    pub(super) api_error_status: Option<i64>,
    #[serde(default, deserialize_with = "loose::number")]
    pub(super) pending_background_agent_count: Option<i64>,
    #[serde(borrow, default)]
    pub(super) origin: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) attachment: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_use_result: Option<&'a RawValue>,
}

/// `message` of a user or assistant record.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
}

/// One block of a message's content.
#[derive(Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text", rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) tool_use_id: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "loose::flag")]
    pub(super) is_error: bool,
    #[serde(borrow, default)]
    pub(super) input: Option<&'a RawValue>,
}

/// `origin` of a user record or queued command.
#[derive(Deserialize)]
pub(super) struct Origin<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) kind: Option<Cow<'a, str>>,
}

/// What tools are called with, as far as it is shown.
#[derive(Default, Deserialize)]
pub(super) struct Input<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) file_path: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) notebook_path: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) command: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) pattern: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) path: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) description: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) url: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) query: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) skill: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) task_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) prompt: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) questions: Option<&'a RawValue>,
}

impl Input<'_> {
    /// What the call is about: a path, a command.
    pub(super) fn summary(&self) -> &str {
        [
            &self.file_path,
            &self.notebook_path,
            &self.command,
            &self.pattern,
            &self.path,
            &self.url,
            &self.query,
            &self.description,
            &self.skill,
            &self.task_id,
            &self.prompt,
        ]
        .into_iter()
        .find_map(Option::as_deref)
        .unwrap_or_default()
    }

    /// The questions that a person is asked, one a line.
    pub(super) fn question(&self) -> String {
        let questions: Vec<Question<'_>> = loose::objects(self.questions);
        let texts: Vec<Cow<'_, str>> = questions.into_iter().filter_map(|asked| asked.question).collect();
        texts.join("\n")
    }
}

#[derive(Deserialize)]
struct Question<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text")]
    question: Option<Cow<'a, str>>,
}

/// `toolUseResult`, as far as it is used.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolUseResult<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text", rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "loose::flag")]
    pub(super) is_async: bool,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) status: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) agent_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) background_task_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) structured_patch: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
}

/// One hunk of `structuredPatch`.
#[derive(Deserialize)]
pub(super) struct Hunk<'a> {
    #[serde(borrow, default)]
    pub(super) lines: Option<&'a RawValue>,
}

/// An attachment that holds a queued message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueuedCommand<'a> {
    #[serde(borrow, default, deserialize_with = "loose::text", rename = "type")]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) prompt: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "loose::text")]
    pub(super) command_mode: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "loose::tristate")]
    pub(super) human_turn: Option<bool>,
    #[serde(borrow, default)]
    pub(super) origin: Option<&'a RawValue>,
}
