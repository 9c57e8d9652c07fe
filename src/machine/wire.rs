//! What of a message is really sent, known before the send so that the record holds it first: without control signs, never
//! a command of the agent, or one line that names a file. How it is typed or queued is the transports' business.

use crate::model::ids::Agent;
use crate::model::text::fold;

/// A message as it goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// What is typed, queued or pasted.
    pub text: String,
    /// The part of it that is the prompt in front, in bytes.
    pub prompt_bytes: usize,
    /// It differs from the message itself in more than what a comparison leaves out.
    pub differs: bool,
}

/// The message itself; `prompt_bytes` of it are the prompt in front. `None`: nothing is left of it without its control
/// signs.
#[must_use]
pub fn whole(text: &str, prompt_bytes: usize, agent: Agent) -> Option<Wire> {
    let (prompt, rest) = text.split_at_checked(prompt_bytes).unwrap_or(("", text));
    let (prompt, rest) = (cleaned(prompt), cleaned(rest));
    let joined = format!("{prompt}{rest}");
    let kept = joined.trim_end();
    if is_nothing(kept) {
        return None;
    }
    let front = front(agent, kept);
    let prompt_bytes = if prompt.is_empty() { 0 } else { front.len() + prompt.len().min(kept.len()) };
    Some(Wire { text: format!("{front}{kept}{}", back(kept)), prompt_bytes, differs: !front.trim().is_empty() })
}

/// Whether nothing of a text counts when texts are compared.
#[must_use]
pub fn is_nothing(text: &str) -> bool {
    text.chars().all(|sign| fold(sign.encode_utf8(&mut [0; 4])).is_empty())
}

/// One line that names the file in which a message of `bytes` stands.
#[must_use]
pub fn naming(file: &str, bytes: u64) -> Wire {
    let kilobytes = bytes.div_ceil(1_000);
    let text = format!(
        "My message is too long to type ({kilobytes} KB). It stands in the file {} - read that file to its end and take what it says as my message.",
        cleaned(file).replace(['\n', '\t'], " ")
    );
    Wire { text, prompt_bytes: 0, differs: true }
}

/// Without control characters but tab and line feed; every line end is a line feed.
#[must_use]
pub fn cleaned(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|sign| matches!(sign, '\t' | '\n') || !sign.is_control()).collect()
}

/// What goes in front, so that the agent does not take the text for a command of its own. A blank is enough for all but
/// Claude's `/`: it looks for that behind blanks as well. What is not seen in front of such a sign does not hide it: some
/// of it is taken out.
fn front(agent: Agent, text: &str) -> &'static str {
    let seen = text.trim_start_matches(|sign: char| is_nothing(sign.encode_utf8(&mut [0; 4])));
    let hidden = text.chars().next().is_some_and(|sign| !sign.is_whitespace()) && seen.len() < text.len();
    let is_command = seen.starts_with(['/', '!', '#', '@', '&', '-', '?']);
    if agent == Agent::Claude && (seen.starts_with('/') || (hidden && is_command)) {
        "Message:\n"
    } else if is_command && (hidden || seen.len() == text.len()) {
        " "
    } else {
        ""
    }
}

/// What goes behind: a blank after a last `\`, which would make a line feed of Enter, and after a last word with a sign
/// that an agent offers to complete, which would make a choice of it.
fn back(text: &str) -> &'static str {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    if last.ends_with('\\') || last.contains(['@', '/', '#', ':', '$']) { " " } else { "" }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
