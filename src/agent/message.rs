//! How a message gets into an agent's box: in which pastes. What of it is sent is `machine::wire`'s business.

use crate::machine::Delivery;
use crate::model::ids::Agent;

/// Claude takes a paste of at most this many UTF-16 units and line feeds as the person's own words; in a low pane of
/// fewer line feeds: none up to `NO_FEEDS` rows, one in the next.
const PIECE_UNITS: usize = 700;
const PIECE_LINES: usize = 2;
const NO_FEEDS: usize = 10;
/// Above this many pieces what is relayed behind a prompt goes in one paste.
const FEW_PIECES: usize = 8;
/// The same for a message that is a person's own words from end to end (a piece takes about 30 ms), and for a prompt.
const MANY_PIECES: usize = 60;

/// The pastes that bring a message into the agent's box, in a pane of so many rows. Claude: small ones, which it takes as
/// the person's own words; of a long message only the prompt, and what it relays as one paste behind it. At most one of
/// them is folded by it into a mark. Codex takes any paste as it is.
#[must_use]
pub fn pastes(delivery: &Delivery, rows: u32) -> Vec<String> {
    let text = &*delivery.text;
    if delivery.session.agent == Agent::Codex {
        return vec![text.to_owned()];
    }
    let (prompt, rest) = text.split_at_checked(delivery.prompt_bytes).unwrap_or(("", text));
    let (prompt, rest) = (&*unturned(prompt), &*unturned(rest));
    let lines = usize::try_from(rows).unwrap_or(usize::MAX).saturating_sub(NO_FEEDS).min(PIECE_LINES);
    if lines == 0 {
        // Every line feed is folded here: the first line is the person's own words, the rest one paste behind it.
        let text = format!("{prompt}{rest}");
        let (line, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
        return limited(pieces(line, PIECE_LINES), rest, MANY_PIECES);
    }
    if prompt.is_empty() {
        return limited(pieces(rest, lines), "", MANY_PIECES);
    }
    let (mut prompt, behind) = (pieces(prompt, lines), pieces(rest, lines));
    if prompt.len() > MANY_PIECES {
        return limited(prompt, rest, FEW_PIECES);
    }
    if prompt.len() + behind.len() <= FEW_PIECES || behind.len() <= 1 {
        prompt.extend(behind);
        return prompt;
    }
    limited(prompt, rest, MANY_PIECES)
}

/// Without the signs that turn the order of others: Claude takes them out, and cuts a row of its box that has them.
fn unturned(text: &str) -> String {
    let turns = |sign: &char| matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|sign| !turns(sign)).collect()
}

/// At most `most` pieces, and what is left of them together with what stands behind in one paste.
fn limited(mut pieces: Vec<String>, behind: &str, most: usize) -> Vec<String> {
    if pieces.len() > most {
        let rest = pieces.split_off(FEW_PIECES.min(most)).concat() + behind;
        pieces.push(rest);
    } else if !behind.is_empty() {
        pieces.push(behind.to_owned());
    }
    pieces
}

/// Cuts a text at its line feeds, and within a line where it must be.
fn pieces(text: &str, most_lines: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let (mut units, mut lines) = (0, 0);
    for sign in text.chars() {
        // A tab becomes four blanks before it is counted.
        let more = if sign == '\t' { 4 } else { sign.len_utf16() };
        if units + more > PIECE_UNITS {
            pieces.push(std::mem::take(&mut piece));
            (units, lines) = (0, 0);
        }
        piece.push(sign);
        units += more;
        lines += usize::from(sign == '\n');
        if lines >= most_lines {
            pieces.push(std::mem::take(&mut piece));
            (units, lines) = (0, 0);
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
