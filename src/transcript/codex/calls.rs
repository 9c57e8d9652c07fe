//! Codex's tool calls and their results, as the conversation shows them.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::record::{Arguments, Output, OutputMetadata, Payload, Question};
use crate::transcript::turns::Call;
use crate::transcript::{loose, tools};

/// A call of a function, a custom tool or a local shell.
pub(super) fn call(payload: &Payload<'_>) -> Call {
    let name = match payload.kind.as_deref() {
        Some("local_shell_call") => "local_shell",
        Some("web_search_call") => "web_search",
        _ => payload.name.as_deref().unwrap_or_default(),
    };
    let id = payload.call_id.as_deref().or(payload.id.as_deref()).unwrap_or_default().to_owned();
    let input = payload.input.as_deref().or(payload.arguments.as_deref()).unwrap_or_default();
    if name == "apply_patch" {
        let arguments: Option<Arguments<'_>> = serde_json::from_str(input).ok();
        let patch = arguments.and_then(|arguments| arguments.input);
        return patch_call(id, patch.as_deref().unwrap_or(input));
    }
    let arguments: Arguments<'_> = match payload.action {
        Some(action) => loose::object(Some(action)).unwrap_or_default(),
        None => serde_json::from_str(input).unwrap_or_default(),
    };
    let command = words(arguments.cmd.or(arguments.command));
    let question = (name == "request_user_input").then(|| questions(arguments.questions));
    let about = question
        .as_deref()
        .or(command.as_deref())
        .or(arguments.path.as_deref())
        .or(arguments.query.as_deref())
        .or(arguments.message.as_deref())
        .or(arguments.explanation.as_deref())
        .unwrap_or_default();
    Call {
        id,
        name: name.to_owned(),
        summary: tools::first_words(about),
        edits: tools::is_editor(name) || command.as_deref().is_some_and(tools::runs_apply_patch),
        question,
        lines: None,
    }
}

fn patch_call(id: String, patch: &str) -> Call {
    Call {
        id,
        name: "apply_patch".to_owned(),
        summary: tools::patched_files(patch),
        edits: true,
        question: None,
        lines: Some(tools::count_lines(patch.lines())),
    }
}

fn questions(raw: Option<&RawValue>) -> String {
    let asked: Vec<Question<'_>> = loose::objects(raw);
    let texts: Vec<Cow<'_, str>> = asked.into_iter().filter_map(|asked| asked.question).collect();
    texts.join("\n")
}

/// A command: a line, or argv, of which the script counts when a shell runs it.
pub(super) fn words(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    if let Some(line) = loose::string(raw) {
        return Some(line);
    }
    let argv = loose::strings(raw);
    match argv.as_slice() {
        [] => None,
        [shell, flag, script] if shell.ends_with("sh") && flag.starts_with('-') => Some(script.clone()),
        words => Some(Cow::Owned(words.join(" "))),
    }
}

/// Whether a call succeeded, as far as its output says.
pub(super) fn succeeded(payload: &Payload<'_>) -> Option<bool> {
    let by_object: Option<Output<'_>> = loose::object(payload.output);
    if let Some(output) = by_object {
        let exit = loose::object::<OutputMetadata>(output.metadata).and_then(|metadata| metadata.exit_code);
        return output.success.or(exit.map(|code| code == 0));
    }
    let text = loose::content_text(payload.output)?;
    // Older versions put that object into a string.
    if let Ok(output) = serde_json::from_str::<Output<'_>>(&text) {
        let exit = loose::object::<OutputMetadata>(output.metadata).and_then(|metadata| metadata.exit_code);
        return output.success.or(exit.map(|code| code == 0));
    }
    if text.lines().any(|line| line == "aborted by user") {
        return Some(false);
    }
    let code = text.lines().find_map(|line| line.strip_prefix("Process exited with code "))?;
    Some(code.trim() == "0")
}
