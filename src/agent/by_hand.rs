//! The person as the transport: the text goes on the clipboard, and the screen says where to paste it. The terminal's own
//! clipboard sequence is the screen's.

use super::os::Process;
use super::tmux::Whereabouts;

/// Puts a text into a buffer of tmux, and through it on the terminal's clipboard; says how to paste it, or why it is not
/// there.
///
/// # Errors
/// No tmux answers.
pub fn copy(text: &str, whereabouts: &Whereabouts) -> Result<String, String> {
    let copied = whereabouts.preferred().copy(text);
    copied
        .map_err(|_| String::from("no tmux to keep a copy; y in the dashboard puts it on the terminal's clipboard"))?;
    Ok(String::from("copied through tmux; paste it into the agent's terminal (prefix ] pastes tmux's own copy)"))
}

/// Where a process is, for a person who looks for its terminal.
#[must_use]
pub fn place(process: &Process) -> String {
    match &process.terminal {
        Some(terminal) => format!("pid {}, {terminal}", process.pid),
        None => format!("pid {}", process.pid),
    }
}
