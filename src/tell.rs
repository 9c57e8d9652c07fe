//! Telling a person outside the moment: which changes are worth a call, in which words, and by which ways it reaches them.
//!
//! `news` decides what is told, once a change; `ways` which ways there are here and why not the others; `bytes` what a
//! terminal is sent; `carry` runs a person's program and tmux; `lines` says every change as a sentence. Nothing here
//! reads a record, and what an agent wrote is cleaned before it becomes part of a sentence.

pub mod bytes;
pub mod carry;
pub mod lines;
pub mod news;
pub mod ways;

use crate::ui::sanitise::clean_line;

/// Characters of a sentence that leaves trellis.
const LONGEST: usize = 200;

/// Text of others made fit for a notification: one line, no control, escape or invisible character, bounded.
#[must_use]
pub fn clean(text: &str) -> String {
    // An unterminated sequence may leave a lone terminator behind: what is left of controls goes too.
    let line: String = clean_line(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
#[path = "tell/tell_tests.rs"]
mod tests;
