//! Claude's kinds of records: which ones need no reading, and what a user record is. What follows from it is `claude`.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::record::{Line, Origin};
use crate::model::conversation::PromptSource;
use crate::transcript::loose;

/// Records that say nothing about the conversation.
pub(super) const BOOKKEEPING: [&str; 32] = [
    "mode",
    "permission-mode",
    "atis-latch",
    "file-history-snapshot",
    "file-history-delta",
    "last-prompt",
    "cost-state",
    "tools-used",
    "api-request",
    "api-request-shape",
    "api-request-blob",
    "attachment",
    "progress",
    "summary",
    "ai-title",
    "custom-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "tag",
    "task-summary",
    "pr-link",
    "worktree-state",
    "content-replacement",
    "attribution-snapshot",
    "speculation-accept",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "saved_hook_context",
    "bridge-session",
    "queue-state",
    "session-state",
];

/// `system` records that neither begin nor end anything.
pub(super) const REMARKS: [&str; 15] = [
    "stop_hook_summary",
    "api_error",
    "api_metrics",
    "informational",
    "local_command",
    "away_summary",
    "bridge_status",
    "memory_saved",
    "permission_retry",
    "scheduled_task_fire",
    "hook_response",
    "status",
    "init",
    "thinking_tokens",
    "microcompact_boundary",
];

pub(super) const INTERRUPTED: [&str; 2] =
    ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];

/// How records begin that the program writes about commands run beside the conversation.
const LOCAL: [&str; 9] = [
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-caveat>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
];

pub(super) const NOTIFICATION: &str = "<task-notification>";

/// What a user record without tool results is.
pub(super) enum Said {
    Prompt(PromptSource),
    Report,
    Interruption,
    Summary,
    Local,
}

/// What a user record with this text is, by its fields first: whatever was typed, queued or given to a program has a
/// `promptSource`. The text decides only where there is none; a command of the person's own making has an `origin` alone.
pub(super) fn classify(line: &Line<'_>, text: &str) -> Said {
    let origin = origin(line.origin);
    let bare = text.trim_start();
    if line.is_compact_summary {
        return Said::Summary;
    }
    if line.is_meta {
        return Said::Local;
    }
    match (line.prompt_source.as_deref(), origin.as_deref()) {
        (_, Some("task-notification")) => Said::Report,
        (Some("typed"), _) => Said::Prompt(PromptSource::Typed),
        (Some("queued"), _) => Said::Prompt(PromptSource::Queued),
        (Some("sdk"), _) => Said::Prompt(PromptSource::Sdk),
        (_, Some("human")) if LOCAL.iter().any(|start| bare.starts_with(start)) => Said::Local,
        (_, Some("human")) => Said::Prompt(PromptSource::Unsaid),
        // Something else set the agent going: a schedule, another agent. It goes on by itself.
        (Some("system"), _) | (_, Some(_)) => Said::Report,
        (_, None) if INTERRUPTED.contains(&bare.trim_end()) => Said::Interruption,
        (_, None) if bare.starts_with(NOTIFICATION) => Said::Report,
        (_, None) if bare.is_empty() || bare.starts_with('<') => Said::Local,
        (_, None) => Said::Prompt(PromptSource::Unsaid),
    }
}

/// The kind of an `origin`.
pub(super) fn origin(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    loose::object::<Origin<'_>>(raw).and_then(|origin| origin.kind)
}
