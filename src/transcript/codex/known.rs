//! Codex's record kinds that need no reading, and texts that are in nobody's name. What the others mean is `codex`.

/// Records that say nothing about the conversation.
pub(super) const BOOKKEEPING: [&str; 4] =
    ["world_state", "token_usage_record", "ghost_snapshot", "inter_agent_communication"];

/// Events that say nothing about turns or answers; those of tools stand there a second time as response items.
pub(super) const QUIET_EVENTS: [&str; 39] = [
    "token_count",
    "thread_settings_applied",
    "thread_name_updated",
    "thread_rolled_back",
    "thread_goal_updated",
    "entered_review_mode",
    "exited_review_mode",
    "undo_started",
    "undo_completed",
    "exec_command_begin",
    "exec_command_output_delta",
    "exec_approval_request",
    "apply_patch_approval_request",
    "patch_apply_begin",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "web_search_begin",
    "web_search_end",
    "view_image_tool_call",
    "image_generation_begin",
    "image_generation_end",
    "turn_diff",
    "plan_update",
    "plan_delta",
    "warning",
    "background_event",
    "deprecation_notice",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "agent_message_delta",
    "item_started",
    "session_configured",
    "stream_error",
    "hook_started",
    "hook_completed",
    "model_reroute",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "raw_response_item",
];

/// Response items that are neither messages nor tools.
pub(super) const QUIET_ITEMS: [&str; 7] = [
    "ghost_snapshot",
    "compaction",
    "compaction_summary",
    "image_generation_call",
    "tool_search_call",
    "tool_search_output",
    "other",
];

/// Completed items that are shown elsewhere or not at all.
pub(super) const QUIET_DONE: [&str; 8] = [
    "Plan",
    "HookPrompt",
    "ImageView",
    "ImageGeneration",
    "EnteredReviewMode",
    "ExitedReviewMode",
    "DynamicToolCall",
    "Sleep",
];

/// How texts begin that Codex puts in under the user's name.
const INJECTED: [&str; 8] = [
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<skill>",
    "<permissions instructions>",
    "# AGENTS.md instructions",
];

/// Whether Codex put the text in, and no person said it.
pub(super) fn is_injected(text: &str) -> bool {
    let text = text.trim_start();
    INJECTED.iter().any(|start| text.starts_with(start))
}
