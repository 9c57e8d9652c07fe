//! How a message gets into an agent's box: in which pastes. What of it is sent is `machine::wire`'s business.

use crate::machine::Delivery;
use crate::model::ids::Agent;

/// Claude takes a paste of at most this many characters and line feeds as the person's own words.
const PIECE_CHARS: usize = 700;
const PIECE_LINES: usize = 2;
/// Above this many pieces what is relayed behind a prompt goes in one paste.
const FEW_PIECES: usize = 8;
/// The same for a message that is a person's own words from end to end (a piece takes about 30 ms).
const MANY_PIECES: usize = 60;

/// The pastes that bring a message into the agent's box. Claude: small ones, which it takes as the person's own words; of
/// a long message only the prompt, and what it relays as one paste behind it. Codex takes any paste as it is.
#[must_use]
pub fn pastes(delivery: &Delivery) -> Vec<String> {
    if delivery.session.agent == Agent::Codex {
        return vec![delivery.text.to_string()];
    }
    let (prompt, rest) = delivery.text.split_at_checked(delivery.prompt_bytes).unwrap_or(("", &delivery.text));
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

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
