//! The person as the transport: the text goes on the clipboard. The terminal's own clipboard sequence is the screen's.

use super::tmux::Whereabouts;

/// Puts a text on tmux's clipboard when trellis runs inside tmux; says how to paste it, or why it is not there.
///
/// # Errors
/// trellis does not run inside tmux, or tmux does not answer.
pub fn copy(text: &str, whereabouts: &Whereabouts) -> Result<String, String> {
    if whereabouts.inside.is_none() {
        return Err(String::from("no tmux to copy through"));
    }
    whereabouts.preferred().copy(text)?;
    Ok(String::from("copied through tmux; paste it into the agent's pane (prefix ] pastes tmux's own copy)"))
}
