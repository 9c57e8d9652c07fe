//! Columns: how wide a text is on the terminal, and how it is cut to fit.
//! Breaking text into lines is in `wrap`.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::sanitise::clean_line;

/// Columns of a text without control characters.
#[must_use]
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(UnicodeWidthStr::width).sum() }
}

/// `text` in at most `max` columns; what is cut off is shown by an ellipsis. Cleaned first: half a sequence would be words.
#[must_use]
pub fn cut(text: &str, max: usize) -> String {
    let text = &*clean_line(text);
    if width(text) <= max {
        return text.to_owned();
    }
    if max == 0 {
        return String::new();
    }
    let mut out = head(text, max - 1).to_owned();
    out.push('…');
    out
}

/// The longest beginning of `text` in at most `max` columns.
#[must_use]
pub fn head(text: &str, max: usize) -> &str {
    let mut used = 0;
    for (at, piece) in text.grapheme_indices(true) {
        used += width(piece);
        if used > max {
            return text.get(..at).unwrap_or("");
        }
    }
    text
}

/// `text` without its first `columns`; a wide character that is cut in two leaves a blank.
#[must_use]
pub fn skip(text: &str, columns: usize) -> String {
    let mut gone = 0;
    for (at, piece) in text.grapheme_indices(true) {
        if gone >= columns {
            let rest = text.get(at..).unwrap_or("");
            return format!("{}{rest}", " ".repeat(gone - columns));
        }
        gone += width(piece);
    }
    String::new()
}

/// `text` in exactly `columns`: cut or followed by blanks.
#[must_use]
pub fn pad(text: &str, columns: usize) -> String {
    let mut out = cut(text, columns);
    let missing = columns.saturating_sub(width(&out));
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// A count as terminal columns, at most what a terminal can have.
#[must_use]
pub fn columns(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_joined_characters_keep_columns_straight() {
        assert_eq!(width("語e\u{301}👩\u{200d}💻"), 5);
        assert_eq!(cut("語語語", 4), "語…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 0), "");
        assert_eq!(skip("語a", 1), " a");
        assert_eq!(pad("語", 4), "語  ");
    }
}
