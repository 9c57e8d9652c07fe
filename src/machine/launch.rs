//! What of a session that is to be started can be, and what cannot. Pure; nothing is started here.

use crate::model::command::Refusal;
use crate::model::ids::Agent;
use crate::model::launch::{NOT_AS_ROOT, NewSession, modes};
use crate::model::reach::Transport;

/// A first message goes to the program as one argument through tmux, which takes 16 KB for a whole command.
const LONGEST_PROMPT: usize = 8_000;
/// Letters of a name.
const LONGEST_NAME: usize = 80;

/// Checks what was chosen. `root`: it would run as root and says nothing of a sandbox.
///
/// # Errors
/// What cannot be, at its field.
pub fn check(wanted: &NewSession, root: bool) -> Result<(), Refusal> {
    let agent = wanted.agent;
    if !wanted.worktree.starts_with('/') || wanted.worktree.chars().any(char::is_control) {
        return Err(Refusal::invalid("worktree", "name a folder by its whole path"));
    }
    let headless = match wanted.transport {
        Transport::Tmux => false,
        Transport::Headless => true,
        Transport::ByHand | Transport::Scripted => {
            return Err(Refusal::invalid("transport", "choose tmux or headless"));
        }
    };
    check_choice(agent, [wanted.permission_mode.as_deref(), wanted.model.as_deref()], headless, root)?;
    match &wanted.prompt {
        None if headless && agent == Agent::Codex => {
            let why = "codex without a window has no session before its first message: give one";
            return Err(Refusal::invalid("prompt", why));
        }
        Some(prompt) if prompt.trim().is_empty() => {
            return Err(Refusal::invalid("prompt", "the first message is empty: write one, or leave it out"));
        }
        Some(prompt) if prompt.contains('\0') => {
            return Err(Refusal::invalid("prompt", "the first message holds a NUL byte"));
        }
        Some(prompt) if prompt.len() > LONGEST_PROMPT => {
            let why = format!("longer than {LONGEST_PROMPT} bytes: put it into a file and name that file in it");
            return Err(Refusal::invalid("prompt", why));
        }
        _ => {}
    }
    if wanted.name.as_ref().is_some_and(|name| name.chars().count() > LONGEST_NAME) {
        return Err(Refusal::invalid("name", format!("at most {LONGEST_NAME} letters")));
    }
    Ok(())
}

/// Checks what an agent is to run with: its permissions and its model, each a word behind an option of its program.
///
/// # Errors
/// What cannot be, at its field.
pub fn check_choice(agent: Agent, [mode, model]: [Option<&str>; 2], headless: bool, root: bool) -> Result<(), Refusal> {
    if let Some(mode) = mode {
        check_mode(agent, mode, headless, root)?;
    }
    let is_no_model = |model: &str| {
        model.is_empty() || model.starts_with('-') || model.len() > 200 || model.contains(char::is_whitespace)
    };
    if model.is_some_and(is_no_model) {
        return Err(Refusal::invalid("model", "a model's name has no blanks and begins with no dash"));
    }
    Ok(())
}

fn check_mode(agent: Agent, chosen: &str, headless: bool, root: bool) -> Result<(), Refusal> {
    let known = modes(agent);
    let Some(mode) = known.iter().find(|mode| mode.name == chosen) else {
        let names: Vec<&str> = known.iter().map(|mode| mode.name).collect();
        let why = format!("{agent} knows no {chosen}: choose one of {}", names.join(", "));
        return Err(Refusal::invalid("permission_mode", why));
    };
    if headless && mode.interactive {
        let why = "without a window codex never asks anyway: choose the sandbox alone";
        return Err(Refusal::invalid("permission_mode", why));
    }
    if mode.name == NOT_AS_ROOT && agent == Agent::Claude && root {
        let why = "claude refuses bypassPermissions as root: choose another, or set IS_SANDBOX=1 in a sandbox";
        return Err(Refusal::invalid("permission_mode", why));
    }
    Ok(())
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
