//! Outside text made harmless: control bytes, escape sequences, bidi and other invisible format characters go, the words stay.
//! Every span is built through here; nothing else in `ui` decides which characters may reach a cell.

use std::borrow::Cow;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_segmentation::UnicodeSegmentation;

use super::width::width;

/// A string sequence (OSC, DCS, APC, PM, SOS) longer than this counts as unterminated: its introducer goes, its text stays.
const LONGEST_STRING_SEQUENCE: usize = 4_096;

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

/// Characters that draw nothing and can mislead: format characters but the joiner that emoji need.
#[must_use]
pub fn is_unwanted(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    match get_general_category(c) {
        GeneralCategory::Format => c != '\u{200d}',
        GeneralCategory::Control
        | GeneralCategory::LineSeparator
        | GeneralCategory::ParagraphSeparator
        | GeneralCategory::Surrogate => true,
        _ => false,
    }
}

fn strip(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => kept.push(c),
            '\u{2028}' | '\u{2029}' => kept.push('\n'),
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_csi(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            c if is_unwanted(c) => {}
            c => kept.push(c),
        }
    }
    kept
}

fn skip_escape(chars: &mut std::str::Chars<'_>) {
    let mut ahead = chars.clone();
    match ahead.next() {
        Some('[') => {
            *chars = ahead;
            skip_csi(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            *chars = ahead;
            skip_string(chars);
        }
        // nF sequences: intermediates, then one final character.
        Some(' '..='/') => {
            let mut rest = ahead.clone();
            while let Some(c) = rest.next() {
                match c {
                    ' '..='/' => {}
                    '0'..='~' => {
                        *chars = rest;
                        return;
                    }
                    _ => return,
                }
            }
        }
        Some('0'..='~') => *chars = ahead,
        _ => {}
    }
}

/// Parameters and intermediates up to the final character; a broken one loses its introducer only.
fn skip_csi(chars: &mut std::str::Chars<'_>) {
    let mut ahead = chars.clone();
    while let Some(c) = ahead.next() {
        match c {
            ' '..='?' => {}
            '@'..='~' => {
                *chars = ahead;
                return;
            }
            _ => return,
        }
    }
}

/// Up to BEL or ST; without an end its text is kept, because an unterminated title must not swallow an answer.
fn skip_string(chars: &mut std::str::Chars<'_>) {
    let mut ahead = chars.clone();
    let mut seen = 0;
    while let Some(c) = ahead.next() {
        seen += c.len_utf8();
        if seen > LONGEST_STRING_SEQUENCE || c == '\n' {
            return;
        }
        match c {
            '\u{7}' | '\u{9c}' => {
                *chars = ahead;
                return;
            }
            '\u{1b}' => {
                let mut end = ahead.clone();
                if end.next() == Some('\\') {
                    *chars = end;
                }
                return;
            }
            _ => {}
        }
    }
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
