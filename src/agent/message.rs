//! What of a message is really sent: without control signs, never a command of the agent, in pieces or in a file.
//! Typing and queueing it is the transports' business.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::machine::Delivery;
use crate::model::ids::Agent;
use crate::model::text::fold;

/// Claude takes a paste of at most this many characters and line feeds as the person's own words.
const PIECE_CHARS: usize = 700;
const PIECE_LINES: usize = 2;
/// Above this many pieces what is relayed behind a prompt goes in one paste.
const FEW_PIECES: usize = 8;
/// The same for a message that is a person's own words from end to end (a piece takes about 30 ms).
const MANY_PIECES: usize = 60;

/// A message made ready for one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// What is typed or queued.
    pub text: String,
    /// The part of it that is the prompt in front, in bytes.
    pub prompt_bytes: usize,
    /// It differs from the message itself in more than what a comparison leaves out: a file's name, or a line in front.
    pub differs: bool,
}

impl Outgoing {
    /// Makes a delivery ready. A text of more than `file_above` bytes is written to a file below the record's folder.
    ///
    /// # Errors
    /// Nothing is left to send, or the file cannot be written.
    pub fn of(delivery: &Delivery, agent: Agent, file_above: u64) -> Result<Self, String> {
        if u64::try_from(delivery.text.len()).unwrap_or(u64::MAX) > file_above {
            let path = write_file(delivery)?;
            return Ok(Self { text: naming(&path, delivery.text.len()), prompt_bytes: 0, differs: true });
        }
        let (prompt, rest) = delivery.text.split_at_checked(delivery.prompt_bytes).unwrap_or(("", &delivery.text));
        let (prompt, rest) = (cleaned(prompt), cleaned(rest));
        let whole = format!("{prompt}{rest}");
        let whole = whole.trim_end();
        if whole.is_empty() {
            return Err(String::from("nothing is left of the message without its control characters"));
        }
        let front = front(agent, whole);
        let text = format!("{front}{whole}{}", back(agent, whole));
        let prompt_bytes = if prompt.is_empty() { 0 } else { front.len() + prompt.len().min(whole.len()) };
        Ok(Self { text, prompt_bytes, differs: !front.trim().is_empty() })
    }

    /// The pastes that bring it into the agent's box. Claude: small ones, which it takes as the person's own words; of a
    /// long message only the prompt, and what it relays as one paste behind it. Codex takes any paste as it is.
    #[must_use]
    pub fn pastes(&self, agent: Agent) -> Vec<String> {
        if agent == Agent::Codex {
            return vec![self.text.clone()];
        }
        let (prompt, rest) = self.text.split_at_checked(self.prompt_bytes).unwrap_or(("", &self.text));
        let mut pastes = pieces(prompt);
        let behind = pieces(rest);
        let most = if prompt.is_empty() { MANY_PIECES } else { FEW_PIECES };
        if pastes.len() + behind.len() <= most || behind.len() <= 1 {
            pastes.extend(behind);
        } else {
            pastes.push(rest.to_owned());
        }
        pastes
    }
}

/// Without control characters but tab and line feed; every line end is a line feed.
#[must_use]
pub fn cleaned(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|sign| matches!(sign, '\t' | '\n') || !sign.is_control()).collect()
}

/// What goes in front, so that the agent does not take the text for a command of its own. A blank is enough for all but
/// Claude's `/`: it looks for that behind blanks as well, and takes out signs that are not seen.
fn front(agent: Agent, text: &str) -> &'static str {
    if agent == Agent::Claude && fold(text).starts_with('/') {
        "Message:\n"
    } else if text.starts_with(['/', '!', '#', '@', '&', '-', '?']) {
        " "
    } else {
        ""
    }
}

/// What goes behind: a blank after a last `\`, which would make a line feed of Enter, and after a last word that the agent
/// offers to complete, which would make a choice of it.
fn back(agent: Agent, text: &str) -> &'static str {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let completes = agent == Agent::Claude && last.starts_with(['@', '/', '#']);
    if text.ends_with('\\') || completes { " " } else { "" }
}

/// Cuts a text at its line feeds, and within a line where it must be.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let (mut signs, mut lines) = (0, 0);
    for sign in text.chars() {
        piece.push(sign);
        signs += 1;
        lines += usize::from(sign == '\n');
        if signs >= PIECE_CHARS || lines >= PIECE_LINES {
            pieces.push(std::mem::take(&mut piece));
            (signs, lines) = (0, 0);
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

/// The one line that names the file.
fn naming(path: &Path, bytes: usize) -> String {
    let kilobytes = bytes.div_ceil(1_000);
    cleaned(&format!(
        "My message is too long to type ({kilobytes} KB). It stands in the file {} - read that file to its end and take what it says as my message.",
        path.display()
    ))
    .replace('\n', " ")
}

fn write_file(delivery: &Delivery) -> Result<PathBuf, String> {
    let folder = Path::new(&delivery.file_folder);
    let path = folder.join(format!("message-{}.txt", delivery.entry));
    let failed = |error: std::io::Error| format!("can't write the message to {}: {error}", path.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(delivery.text.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    Ok(path)
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
