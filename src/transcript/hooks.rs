//! The JSON that Claude Code and Codex give their hooks on standard input, in their own field names. Both write one shape.

use serde::Deserialize;
use serde_json::Value;

use super::tools::first_words;
use crate::model::hook::HookEvent;
use crate::model::ids::{Agent, SessionId, SessionRef};
use crate::model::text::first_line;

/// What a tool is about: the first of these fields that is there.
const ABOUT: [&str; 9] =
    ["command", "file_path", "notebook_path", "path", "url", "query", "pattern", "description", "prompt"];

/// The events for which the hooks are installed: the fewest that show an open dialog and a new session at once. A closed
/// dialog and the end of a turn are seen in status files and transcripts.
#[must_use]
pub const fn events(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Claude => &["SessionStart", "PermissionRequest", "SessionEnd"],
        Agent::Codex => &["SessionStart", "PermissionRequest"],
    }
}

/// What one call of a hook says: the session, its transcript, the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The session.
    pub session: SessionRef,
    /// Its transcript.
    pub transcript: Option<String>,
    /// What happened.
    pub event: HookEvent,
}

#[derive(Deserialize)]
struct Payload {
    session_id: String,
    hook_event_name: String,
    #[serde(default)]
    transcript_path: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    tool_name: Option<String>,
    #[serde(default)]
    tool_input: Value,
}

/// Reads it. `None`: it is no JSON of a hook, or of an event that nobody asked for.
#[must_use]
pub fn read(agent: Agent, json: &[u8]) -> Option<Call> {
    let payload: Payload = serde_json::from_slice(json).ok()?;
    let event = match payload.hook_event_name.as_str() {
        "SessionStart" => HookEvent::Started,
        "SessionEnd" => HookEvent::Ended,
        "PermissionRequest" => HookEvent::Asks { what: asked(payload.tool_name.as_deref(), &payload.tool_input) },
        _ => return None,
    };
    let worktree = payload.cwd.unwrap_or_default();
    let session = SessionRef { agent, worktree, session_id: SessionId::new(payload.session_id) };
    Some(Call { session, transcript: payload.transcript_path, event })
}

fn asked(tool: Option<&str>, input: &Value) -> String {
    let tool = first_line(tool.unwrap_or("a tool"));
    let about = ABOUT.iter().find_map(|field| match input.get(field)? {
        Value::String(text) => Some(first_words(text)),
        // Older shapes give a command word by word.
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(first_words(&words.join(" ")))
        }
        _ => None,
    });
    match about.filter(|about| !about.is_empty()) {
        Some(about) => format!("{tool}: {about}"),
        None => tool,
    }
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;
