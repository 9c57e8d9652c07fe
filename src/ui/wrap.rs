//! Lines out of running text, by display width: words stay whole where they fit, wide characters may part anywhere.
//! Text that must stay verbatim does not come here.

use unicode_segmentation::UnicodeSegmentation;

use super::row::{Row, Span, Tone, text};
use super::width::width;

/// Breaks `spans` into rows of at most `columns`, the first led by `first`, the others by as many blanks.
#[must_use]
pub fn wrap(spans: &[Span], columns: usize, first: &[Span]) -> Vec<Row> {
    let indent = first.iter().map(Span::width).sum::<usize>();
    let room = columns.saturating_sub(indent).max(1);
    let lines = Lines::new(room).break_all(spans);
    lines
        .into_iter()
        .enumerate()
        .map(|(index, body)| {
            let lead = match (index, indent) {
                (0, _) => first.to_vec(),
                (_, 0) => Vec::new(),
                _ => vec![text(" ".repeat(indent))],
            };
            Row { lead, body, ..Row::default() }
        })
        .collect()
}

/// Breaks plain text (which may hold newlines) in one tone.
#[must_use]
pub fn wrap_text(words: &str, tone: Tone, columns: usize) -> Vec<Row> {
    words.split('\n').flat_map(|line| wrap(&[Span::new(tone, line)], columns, &[])).collect()
}

struct Lines {
    room: usize,
    done: Vec<Vec<Span>>,
    line: Vec<(String, Tone)>,
    used: usize,
    word: Vec<(String, Tone)>,
    word_width: usize,
    blanks: (usize, Tone),
}

impl Lines {
    fn new(room: usize) -> Self {
        Self {
            room,
            done: Vec::new(),
            line: Vec::new(),
            used: 0,
            word: Vec::new(),
            word_width: 0,
            blanks: (0, Tone::Text),
        }
    }

    fn break_all(mut self, spans: &[Span]) -> Vec<Vec<Span>> {
        for span in spans {
            for piece in span.text().split_word_bounds() {
                self.take(piece, span.tone());
            }
        }
        self.end_word();
        if !self.line.is_empty() || self.done.is_empty() {
            self.end_line();
        }
        self.done
    }

    /// One piece between two word bounds: blanks, a word, a mark, or wide characters.
    fn take(&mut self, piece: &str, tone: Tone) {
        if piece.chars().all(|c| c == ' ') {
            self.end_word();
            self.blanks = (self.blanks.0 + piece.len(), tone);
            return;
        }
        let columns = width(piece);
        if columns >= 2 && columns == 2 * piece.graphemes(true).count() {
            self.end_word();
            for wide in piece.graphemes(true) {
                self.push_word(wide, tone, 2);
                self.end_word();
            }
            return;
        }
        self.push_word(piece, tone, columns);
    }

    fn push_word(&mut self, piece: &str, tone: Tone, columns: usize) {
        append(&mut self.word, piece, tone);
        self.word_width += columns;
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let columns = std::mem::take(&mut self.word_width);
        let (blanks, tone) = std::mem::take(&mut self.blanks);
        let at_start = self.used == 0 && self.done.is_empty();
        if self.used + blanks + columns > self.room && self.used > 0 {
            self.end_line();
        } else if self.used > 0 || at_start {
            let shown = blanks.min(self.room.saturating_sub(1));
            append(&mut self.line, &" ".repeat(shown), tone);
            self.used += shown;
        }
        if self.used + columns <= self.room {
            for (piece, tone) in word {
                append(&mut self.line, &piece, tone);
            }
            self.used += columns;
        } else {
            self.split_long(&word);
        }
    }

    /// A word longer than a line is parted between its characters.
    fn split_long(&mut self, word: &[(String, Tone)]) {
        for (part, tone) in word {
            for piece in part.graphemes(true) {
                let columns = width(piece);
                if self.used + columns > self.room && self.used > 0 {
                    self.end_line();
                }
                append(&mut self.line, piece, *tone);
                self.used += columns;
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.used = 0;
        self.done.push(line.into_iter().map(|(words, tone)| Span::new(tone, words)).collect());
    }
}

fn append(line: &mut Vec<(String, Tone)>, words: &str, tone: Tone) {
    if words.is_empty() {
        return;
    }
    match line.last_mut() {
        Some((last, same)) if *same == tone => last.push_str(words),
        _ => line.push((words.to_owned(), tone)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(words: &str, columns: usize) -> Vec<String> {
        wrap_text(words, Tone::Text, columns).iter().map(Row::words).collect()
    }

    #[test]
    fn words_stay_whole_where_they_fit() {
        assert_eq!(lines("the total rounds twice", 10), ["the total", "rounds", "twice"]);
        assert_eq!(lines("abcdefghijkl", 5), ["abcde", "fghij", "kl"]);
        assert_eq!(lines("語語語語", 5), ["語語", "語語"]);
        assert_eq!(lines("", 5), [""]);
        assert_eq!(lines("a\n\nb", 5), ["a", "", "b"]);
    }

    #[test]
    fn later_lines_hang_under_the_first() {
        let rows = wrap(&[text("no idempotency key")], 12, &[text("1. ")]);
        let words: Vec<String> = rows.iter().map(Row::words).collect();
        assert_eq!(words, ["1. no", "   idempoten", "   cy key"]);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_room(words in "(\\PC| |語|👩\u{200d}💻){0,60}", columns in 2usize..40) {
            for row in wrap_text(&words, Tone::Text, columns) {
                // A character with spacing marks can be wider than any line; it stands alone then.
                let words = row.words();
                prop_assert!(width(&words) <= columns || words.graphemes(true).count() == 1, "{words:?}");
            }
        }

        #[test]
        fn no_letter_is_lost(words in "[a-z語 ]{0,60}", columns in 2usize..40) {
            let whole: String = words.chars().filter(|c| *c != ' ').collect();
            let broken: String = lines(&words, columns).concat().chars().filter(|c| *c != ' ').collect();
            prop_assert_eq!(whole, broken);
        }
    }
}
