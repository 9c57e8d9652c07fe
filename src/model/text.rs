//! References to texts that stand in files of their own, and how two texts are compared.
//! Reading and writing those files is the store's.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::harmless::is_unwanted;

/// A text kept once, outside the record that names it.
///
/// `inline` is there only in memory: the store fills it when it loads and leaves it out when it writes,
/// so a record stays small and a relay costs the same at round 1 and at round 500.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRef {
    /// File name below the record's own folder, `{sha256}.txt`.
    pub file: Arc<str>,
    /// Hex SHA-256 of the text.
    pub sha256: Arc<str>,
    /// Length in bytes.
    pub bytes: u64,
    /// First non-empty line, at most 200 characters.
    pub first_line: Arc<str>,
    /// The text itself, never serialised.
    #[serde(skip)]
    pub inline: Arc<str>,
}

impl TextRef {
    /// Makes the reference of a text. Pure: the store writes the file before the record that names it.
    #[must_use]
    pub fn of(text: &str) -> Self {
        use sha2::{Digest, Sha256};
        use std::fmt::Write as _;
        let mut sha256 = String::with_capacity(64);
        for byte in Sha256::digest(text.as_bytes()) {
            let _ = write!(sha256, "{byte:02x}");
        }
        Self {
            file: format!("{sha256}.txt").into(),
            sha256: sha256.into(),
            bytes: text.len() as u64,
            first_line: first_line(text).into(),
            inline: text.into(),
        }
    }

    /// The text (empty when the store could not read it; the store says so).
    #[must_use]
    pub fn text(&self) -> &str {
        &self.inline
    }
}

/// First non-empty line, at most 200 characters, without anything harmful.
#[must_use]
pub fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    if !line.chars().any(is_unwanted) {
        return line.chars().take(200).collect();
    }
    super::harmless::strip(line).trim().chars().take(200).collect()
}

/// A text as texts are compared: without the tags of Claude's paste wrapper and the `\` that Claude puts behind a `<` that
/// could begin a tag of its own, NFC, without white space, control and format characters and fillers that are not seen.
#[must_use]
pub fn fold(text: &str) -> String {
    let plain = without_paste_tags(&text.replace("<\\", "<"));
    let kept: String = nfc(&plain).chars().filter(|sign| is_compared(*sign)).collect();
    // Again: a removed character may have stood between a letter and its accent.
    nfc(&kept).into_owned()
}

fn is_compared(sign: char) -> bool {
    use unicode_general_category::{GeneralCategory, get_general_category};
    if sign.is_ascii() {
        return sign.is_ascii_graphic();
    }
    !sign.is_whitespace()
        && !is_filler(sign)
        && !matches!(get_general_category(sign), GeneralCategory::Control | GeneralCategory::Format)
}

/// A text in Unicode's form C. Whole answers are compared at each look: what is ASCII is copied and not looked up, but for
/// the letter before a sign that is not, which may take an accent. An ASCII sign itself joins nothing before it.
#[must_use]
pub fn nfc(text: &str) -> Cow<'_, str> {
    use unicode_normalization::UnicodeNormalization as _;
    let mut rest = text;
    let mut out = String::new();
    while let Some(at) = rest.bytes().position(|byte| !byte.is_ascii()) {
        let (plain, behind) = rest.split_at(at.saturating_sub(1));
        let letter = at.min(1);
        let length = behind.bytes().skip(letter).position(|byte| byte.is_ascii()).map(|length| letter + length);
        let (other, behind) = behind.split_at(length.unwrap_or(behind.len()));
        out.push_str(plain);
        out.extend(other.nfc());
        rest = behind;
    }
    if out.is_empty() {
        return Cow::Borrowed(rest);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A sign that is no white space and no format character, and still not seen: Claude takes some of them out.
#[must_use]
pub fn is_filler(sign: char) -> bool {
    matches!(sign,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}')
}

/// Without any tag of the paste wrapper, quoted ones too: which of them Claude put there cannot be told from the text.
fn without_paste_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let name = tag.strip_prefix("</").or_else(|| tag.strip_prefix('<')).unwrap_or_default();
        let attributes = name.strip_prefix("pasted_content").and_then(|behind| behind.split_once('>'));
        rest = if let Some((_, behind)) = attributes.filter(|(inner, _)| is_attributes(inner)) {
            behind
        } else {
            out.push('<');
            tag.get(1..).unwrap_or_default()
        };
    }
    out.push_str(rest);
    out
}

/// What may stand in the wrapper's tag behind its name.
fn is_attributes(text: &str) -> bool {
    !text.contains('\n') && (text.is_empty() || text.starts_with(' '))
}

/// Takes off each `<pasted_content …>` with its closing tag (which repeats the attributes); what stands between stays.
#[must_use]
pub fn unwrap_pastes(text: &str) -> String {
    const OPEN: &str = "<pasted_content";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        out.push_str(before);
        rest = if let Some((inner, tail)) = paste_body(after) {
            out.push_str(inner);
            tail
        } else {
            // No whole tag, or none that closes it: ordinary text that speaks of one.
            out.push_str(OPEN);
            after
        };
    }
    out.push_str(rest);
    out
}

/// What stands inside the wrapper that begins before `after`, and what follows it.
fn paste_body(after: &str) -> Option<(&str, &str)> {
    let (attributes, body) = after.split_once('>')?;
    if !is_attributes(attributes) {
        return None;
    }
    body.split_once(&format!("</pasted_content{attributes}>")).or_else(|| body.split_once("</pasted_content>"))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
