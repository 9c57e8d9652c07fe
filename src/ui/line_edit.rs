//! One line of text that is typed into: filter, search, fields of a form.

use unicode_segmentation::UnicodeSegmentation;

use super::key::{Code, Key};
use super::sanitise::clean_line;

/// A line and the place of the cursor in it, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineEdit {
    text: String,
    at: usize,
}

impl LineEdit {
    /// With a text, the cursor behind it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { at: text.len(), text }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text before and behind the cursor.
    #[must_use]
    pub fn parts(&self) -> (&str, &str) {
        self.text.split_at_checked(self.at).unwrap_or((&self.text, ""))
    }

    /// Puts in what was pasted or typed.
    pub fn insert(&mut self, words: &str) {
        let words = clean_line(words);
        self.text.insert_str(self.at, &words);
        self.at += words.len();
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.text.clear();
        self.at = 0;
    }

    /// Takes a key; false when it means nothing here.
    pub fn key(&mut self, key: Key) -> bool {
        match (key.code, key.ctrl) {
            (Code::Char(c), false) => self.insert(c.encode_utf8(&mut [0; 4])),
            (Code::Backspace, false) => {
                if let Some(before) = self.before() {
                    self.text.replace_range(before..self.at, "");
                    self.at = before;
                }
            }
            (Code::Delete, false) => {
                if let Some(after) = self.after() {
                    self.text.replace_range(self.at..after, "");
                }
            }
            (Code::Left, false) => self.at = self.before().unwrap_or(0),
            (Code::Right, false) => self.at = self.after().unwrap_or(self.text.len()),
            (Code::Home, false) | (Code::Char('a'), true) => self.at = 0,
            (Code::End, false) | (Code::Char('e'), true) => self.at = self.text.len(),
            (Code::Char('u'), true) => {
                self.text.replace_range(..self.at, "");
                self.at = 0;
            }
            (Code::Char('k'), true) => self.text.truncate(self.at),
            (Code::Char('w'), true) => {
                let from = word_start(self.parts().0);
                self.text.replace_range(from..self.at, "");
                self.at = from;
            }
            _ => return false,
        }
        true
    }

    fn before(&self) -> Option<usize> {
        self.parts().0.grapheme_indices(true).next_back().map(|(at, _)| at)
    }

    fn after(&self) -> Option<usize> {
        self.parts().1.graphemes(true).next().map(|piece| self.at + piece.len())
    }
}

/// Where the word that ends `text` begins.
#[must_use]
pub fn word_start(text: &str) -> usize {
    let trimmed = text.trim_end_matches(' ');
    trimmed.rfind(' ').map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_edit_whole_characters() {
        let mut line = LineEdit::new("ab 語e\u{301}");
        line.key(Key::plain(Code::Backspace));
        assert_eq!(line.text(), "ab 語");
        line.key(Key::ctrl('w'));
        assert_eq!(line.text(), "ab ");
        line.key(Key::plain(Code::Home));
        line.key(Key::char('x'));
        line.key(Key::plain(Code::Delete));
        assert_eq!(line.text(), "xb ");
        line.insert("\u{1b}[31mz\n");
        assert_eq!(line.text(), "xz b ");
        line.key(Key::ctrl('k'));
        assert_eq!(line.text(), "xz ");
        assert!(!line.key(Key::plain(Code::Enter)));
    }
}
