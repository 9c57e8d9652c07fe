//! Which characters of a text from outside are harmful, and the text without them. How a text is laid out is no matter here.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_general_category::{GeneralCategory, get_general_category};

/// A string sequence (OSC, DCS, APC, PM, SOS) longer than this counts as unterminated: its introducer goes, its text stays.
const LONGEST_STRING_SEQUENCE: usize = 4_096;

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

/// The text without control characters (but `\n` and `\t`), whole sequences and what can mislead. Whoever cuts a text cuts
/// it after this: a sequence that was cut in two would leave its second half as words.
#[must_use]
pub fn strip(text: &str) -> String {
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

/// JSON without a character that could do anything to a terminal; it means the same.
#[must_use]
pub fn escaped(json: &str) -> Cow<'_, str> {
    if !json.chars().any(is_unwanted) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_unwanted(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
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
