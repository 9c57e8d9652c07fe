//! Outside text made harmless: control bytes, escape sequences, bidi and other invisible format characters go, the words stay.
//! Every span is built through here. Which characters are harmful stands in `model::harmless`.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

pub use crate::model::harmless::is_unwanted;
use crate::model::harmless::strip;

use super::width::width;

/// Columns between two tab stops.
const TAB: usize = 4;

/// One line: newlines and tabs become a space, everything harmful goes.
#[must_use]
pub fn clean_line(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let kept = strip(text);
    Cow::Owned(kept.chars().map(|c| if matches!(c, '\n' | '\t') { ' ' } else { c }).collect())
}

/// Several lines: `\n` stays, tabs are expanded to columns of four, everything harmful goes.
#[must_use]
pub fn clean_block(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| c == '\n' || is_plain(c)) {
        return Cow::Borrowed(text);
    }
    let kept = strip(text);
    if kept.contains('\t') { Cow::Owned(expand_tabs(&kept)) } else { Cow::Owned(kept) }
}

fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~') || (c > '\u{9f}' && !is_unwanted(c))
}

fn expand_tabs(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let mut column = 0;
        for piece in line.graphemes(true) {
            if piece == "\t" {
                let blanks = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            } else {
                out.push_str(piece);
                column += width(piece);
            }
        }
    }
    out
}

#[cfg(test)]
#[path = "sanitise_tests.rs"]
mod tests;
