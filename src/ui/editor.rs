//! A text of several lines that is typed into, broken softly at the width of its pane.
//! What becomes of the text is its owner's business.

use unicode_segmentation::UnicodeSegmentation;

use super::key::{Code, Key};
use super::line_edit::word_start;
use super::sanitise::clean_block;
use super::width::width;

/// The text, the cursor, and what is in view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Editor {
    lines: Vec<String>,
    line: usize,
    at: usize,
    original: String,
    top: usize,
    columns: usize,
}

/// A piece of a line as it is drawn: line, first and last byte.
type Piece = (usize, usize, usize);

impl Editor {
    /// With a text, the cursor at its end.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut editor = Self { original: text.to_owned(), columns: 80, ..Self::default() };
        editor.replace(text);
        editor
    }

    /// Another text; the original stays the original.
    pub fn replace(&mut self, text: &str) {
        self.lines = clean_block(text).split('\n').map(str::to_owned).collect();
        self.line = self.lines.len().saturating_sub(1);
        self.at = self.current().len();
    }

    /// The cursor to the beginning.
    #[must_use]
    pub const fn at_start(mut self) -> Self {
        self.line = 0;
        self.at = 0;
        self
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// The text it began with.
    #[must_use]
    pub fn original(&self) -> &str {
        &self.original
    }

    /// Whether there is an original text to go back to.
    #[must_use]
    pub const fn has_original(&self) -> bool {
        !self.original.is_empty()
    }

    /// Whether it was changed.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.text() != clean_block(&self.original)
    }

    fn current(&self) -> &str {
        self.lines.get(self.line).map_or("", String::as_str)
    }

    fn before(&self) -> &str {
        self.current().get(..self.at).unwrap_or("")
    }

    fn edit(&mut self, from: usize, to: usize, words: &str) {
        if let Some(line) = self.lines.get_mut(self.line)
            && line.get(from..to).is_some()
        {
            line.replace_range(from..to, words);
            self.at = from + words.len();
        }
    }

    /// Puts in what was pasted.
    pub fn insert(&mut self, words: &str) {
        for (index, part) in clean_block(words).split('\n').enumerate() {
            if index > 0 {
                self.break_line();
            }
            self.edit(self.at, self.at, part);
        }
    }

    fn break_line(&mut self) {
        let rest = self.current().get(self.at..).unwrap_or("").to_owned();
        if let Some(line) = self.lines.get_mut(self.line) {
            line.truncate(self.at);
        }
        self.line += 1;
        self.lines.insert(self.line.min(self.lines.len()), rest);
        self.at = 0;
    }

    fn join_before(&mut self) {
        if self.line > 0 && self.line < self.lines.len() {
            let rest = self.lines.remove(self.line);
            self.line -= 1;
            self.at = self.current().len();
            if let Some(line) = self.lines.get_mut(self.line) {
                line.push_str(&rest);
            }
        }
    }

    /// Deletes the word before the cursor.
    pub fn delete_word(&mut self) {
        let from = word_start(self.before());
        self.edit(from, self.at, "");
    }

    /// Deletes to the line's beginning.
    pub fn delete_to_start(&mut self) {
        self.edit(0, self.at, "");
    }

    /// Deletes to the line's end.
    pub fn delete_to_end(&mut self) {
        let end = self.current().len();
        let at = self.at;
        self.edit(at, end, "");
    }

    /// To the line's beginning.
    pub const fn line_start(&mut self) {
        self.at = 0;
    }

    /// To the line's end.
    pub fn line_end(&mut self) {
        self.at = self.current().len();
    }

    /// Takes a key that is text or moves the cursor.
    pub fn key(&mut self, key: Key) {
        if key.ctrl {
            return;
        }
        match key.code {
            Code::Char(c) => self.edit(self.at, self.at, c.encode_utf8(&mut [0; 4])),
            Code::Tab => self.edit(self.at, self.at, "    "),
            Code::Enter => self.break_line(),
            Code::Backspace => match self.before().grapheme_indices(true).next_back() {
                Some((from, _)) => self.edit(from, self.at, ""),
                None => self.join_before(),
            },
            Code::Delete => self.delete_ahead(),
            Code::Left => match self.before().grapheme_indices(true).next_back() {
                Some((at, _)) => self.at = at,
                None if self.line > 0 => {
                    self.line -= 1;
                    self.at = self.current().len();
                }
                None => {}
            },
            Code::Right => match self.current().get(self.at..).and_then(|rest| rest.graphemes(true).next()) {
                Some(piece) => self.at += piece.len(),
                None if self.line + 1 < self.lines.len() => {
                    self.line += 1;
                    self.at = 0;
                }
                None => {}
            },
            Code::Up => self.move_lines(-1),
            Code::Down => self.move_lines(1),
            Code::PageUp => self.move_lines(-10),
            Code::PageDown => self.move_lines(10),
            Code::Home => self.line_start(),
            Code::End => self.line_end(),
            Code::Esc | Code::BackTab => {}
        }
    }

    fn delete_ahead(&mut self) {
        let at = self.at;
        match self.current().get(at..).and_then(|rest| rest.graphemes(true).next()).map(str::len) {
            Some(length) => self.edit(at, at + length, ""),
            None if self.line + 1 < self.lines.len() => {
                self.line += 1;
                self.join_before();
            }
            None => {}
        }
    }

    /// Up and down go by what is drawn, not by the lines of the text.
    fn move_lines(&mut self, by: isize) {
        let pieces = self.pieces();
        let here = self.piece_at(&pieces);
        let column = pieces.get(here).map_or(0, |(line, from, _)| {
            width(self.lines.get(*line).and_then(|text| text.get(*from..self.at)).unwrap_or(""))
        });
        let there = here.saturating_add_signed(by).min(pieces.len().saturating_sub(1));
        if let Some((line, from, to)) = pieces.get(there) {
            self.line = *line;
            let piece = self.current().get(*from..*to).unwrap_or("");
            self.at = from + super::width::head(piece, column).len();
        }
    }

    fn pieces(&self) -> Vec<Piece> {
        let mut out = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            out.extend(soft_breaks(line, self.columns).into_iter().map(|(from, to)| (index, from, to)));
        }
        out
    }

    fn piece_at(&self, pieces: &[Piece]) -> usize {
        pieces.iter().rposition(|(line, from, _)| *line == self.line && *from <= self.at).unwrap_or(0)
    }

    /// What is in view, and the cursor's row and column in it.
    pub fn view(&mut self, columns: usize, height: usize) -> (Vec<String>, (usize, usize)) {
        self.columns = columns.max(2);
        let pieces = self.pieces();
        let here = self.piece_at(&pieces);
        let height = height.max(1);
        if here < self.top {
            self.top = here;
        } else if here >= self.top + height {
            self.top = here + 1 - height;
        }
        self.top = self.top.min(pieces.len().saturating_sub(1));
        let shown = pieces
            .iter()
            .skip(self.top)
            .take(height)
            .map(|(line, from, to)| {
                self.lines.get(*line).and_then(|text| text.get(*from..*to)).unwrap_or("").to_owned()
            })
            .collect();
        let column = pieces.get(here).map_or(0, |(_, from, _)| width(self.current().get(*from..self.at).unwrap_or("")));
        (shown, (here - self.top, column))
    }
}

/// Where a line is broken to fit: behind a blank where there is one.
fn soft_breaks(line: &str, columns: usize) -> Vec<(usize, usize)> {
    // One column stays free for the cursor behind the last character.
    let room = columns.saturating_sub(1).max(2);
    let mut out = Vec::new();
    let (mut from, mut used, mut blank) = (0, 0, None);
    for (at, piece) in line.grapheme_indices(true) {
        let wide = width(piece);
        if used + wide > room && at > from {
            let end = blank.filter(|end| *end > from).unwrap_or(at);
            out.push((from, end));
            used = width(line.get(end..at).unwrap_or(""));
            from = end;
            blank = None;
        }
        used += wide;
        if piece == " " {
            blank = Some(at + 1);
        }
    }
    out.push((from, line.len()));
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_breaks_softly_and_moves_by_what_is_drawn() {
        let mut editor = Editor::new("the total rounds twice\nsecond");
        let (lines, cursor) = editor.view(12, 5);
        assert_eq!(lines, ["the total ", "rounds ", "twice", "second"]);
        assert_eq!(cursor, (3, 6));
        editor.key(Key::plain(Code::Up));
        assert_eq!(editor.view(12, 5).1, (2, 5));
        editor.key(Key::plain(Code::Enter));
        assert_eq!(editor.text(), "the total rounds twice\n\nsecond");
        editor.key(Key::plain(Code::Backspace));
        editor.delete_word();
        assert_eq!(editor.text(), "the total rounds \nsecond");
        assert!(editor.is_changed());
    }

    #[test]
    fn a_paste_keeps_its_lines_and_loses_its_escapes() {
        let mut editor = Editor::new("");
        editor.insert("a\r\n\u{1b}[31mb");
        assert_eq!(editor.text(), "a\nb");
    }

    proptest! {
        #[test]
        fn no_key_breaks_it(text in "(\\PC|\n|語){0,40}", keys in proptest::collection::vec(0usize..14, 0..60), columns in 1usize..20) {
            let codes = [
                Code::Char('x'), Code::Char('語'), Code::Enter, Code::Backspace, Code::Delete, Code::Left, Code::Right,
                Code::Up, Code::Down, Code::Home, Code::End, Code::Tab, Code::PageUp, Code::PageDown,
            ];
            let mut editor = Editor::new(&text);
            for key in keys {
                editor.key(Key::plain(codes[key]));
                let (lines, cursor) = editor.view(columns, 4);
                prop_assert!(cursor.0 < 4 && lines.len() <= 4);
            }
        }
    }
}
