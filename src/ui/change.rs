//! What changed between two texts, word by word, as rows: `+new words+`, `-old words-`, by sign and by colour.
//! Which texts are compared is the callers' business.

use similar::{ChangeTag, TextDiff};

use super::row::{Row, Span, Tone, text, toned};
use super::sanitise::clean_block;
use super::wrap::wrap;

/// Texts longer than this in all are compared line by line: word by word would take longer than a look.
const BY_WORDS: usize = 48 * 1_024;
/// Of each text so many bytes are compared; what stands behind them is left out, and that is said.
const COMPARED: usize = 512 * 1_024;

/// What became of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Added,
    Removed,
}

impl Fate {
    const fn sign(self) -> &'static str {
        match self {
            Self::Kept => "",
            Self::Added => "+",
            Self::Removed => "-",
        }
    }

    const fn tone(self) -> Tone {
        match self {
            Self::Kept => Tone::Text,
            Self::Added => Tone::Added,
            Self::Removed => Tone::Removed,
        }
    }
}

/// The change as rows of at most `columns`; `marks`: lines of the newer text, from 0, that get a `=` in front.
#[must_use]
pub fn rows(before: &str, after: &str, columns: usize, marks: &[usize]) -> Vec<Row> {
    let mut out = Vec::new();
    for line in lines(before, after) {
        let lead = match (marks.is_empty(), line.number.is_some_and(|number| marks.contains(&number))) {
            (true, _) => Vec::new(),
            (false, true) => vec![toned(Tone::Held, "= ")],
            (false, false) => vec![text("  ")],
        };
        out.extend(wrap(&line.spans, columns, &lead));
    }
    out
}

/// The change as plain text, with its signs.
#[must_use]
pub fn plain(before: &str, after: &str) -> String {
    let mut out = String::new();
    for line in lines(before, after) {
        out.extend(line.spans.iter().map(Span::text));
        out.push('\n');
    }
    out
}

/// Words that came in and that went away.
#[must_use]
pub fn counts(before: &str, after: &str) -> (usize, usize) {
    let (before, after) = (head(before), head(after));
    let count = |wanted: Fate| {
        let words = |(fate, piece): &(Fate, String)| if *fate == wanted { piece.split_whitespace().count() } else { 0 };
        pieces(&before, &after).iter().map(words).sum()
    };
    (count(Fate::Added), count(Fate::Removed))
}

/// One line of the change.
#[derive(Default)]
struct Line {
    spans: Vec<Span>,
    /// The line of the newer text it shows; `None`: it is of the older one alone.
    number: Option<usize>,
}

fn head(whole: &str) -> String {
    let kept = whole.get(..whole.floor_char_boundary(COMPARED)).unwrap_or(whole);
    clean_block(kept).into_owned()
}

fn lines(before: &str, after: &str) -> Vec<Line> {
    let is_cut = before.len() > COMPARED || after.len() > COMPARED;
    let (before, after) = (head(before), head(after));
    let mut out = vec![Line::default()];
    let mut number = 0;
    for (fate, piece) in pieces(&before, &after) {
        for (index, part) in piece.split('\n').enumerate() {
            if index > 0 {
                if fate != Fate::Removed {
                    number += 1;
                }
                out.push(Line::default());
            }
            let Some(line) = out.last_mut() else { continue };
            if fate != Fate::Removed && (!part.is_empty() || fate == Fate::Kept) {
                line.number.get_or_insert(number);
            }
            push(&mut line.spans, fate, part);
        }
    }
    if is_cut {
        let words = format!("the first {} KiB of each are compared", COMPARED / 1_024);
        out.push(Line { spans: vec![toned(Tone::Held, words)], number: None });
    }
    out
}

/// Blanks stay outside the signs.
fn push(spans: &mut Vec<Span>, fate: Fate, part: &str) {
    let words = part.trim_matches(' ');
    if fate == Fate::Kept || words.is_empty() {
        if !part.is_empty() && fate != Fate::Removed {
            spans.push(text(part));
        }
        return;
    }
    let front = part.len() - part.trim_start_matches(' ').len();
    let back = part.len() - part.trim_end_matches(' ').len();
    spans.push(text(" ".repeat(front)));
    spans.push(toned(fate.tone(), format!("{0}{words}{0}", fate.sign())));
    spans.push(text(" ".repeat(back)));
}

/// Pieces of both texts in order. Changes with nothing but a blank between them are one, so that they can be read.
fn pieces(before: &str, after: &str) -> Vec<(Fate, String)> {
    let by_words = before.len() + after.len() <= BY_WORDS;
    let diff = if by_words { TextDiff::from_unicode_words(before, after) } else { TextDiff::from_lines(before, after) };
    let mut out: Vec<(Fate, String)> = Vec::new();
    let (mut removed, mut added, mut blank) = (String::new(), String::new(), String::new());
    let flush = |out: &mut Vec<(Fate, String)>, removed: &mut String, added: &mut String, blank: &mut String| {
        for (fate, words) in [(Fate::Removed, removed), (Fate::Added, added), (Fate::Kept, blank)] {
            if !words.is_empty() {
                out.push((fate, std::mem::take(words)));
            }
        }
    };
    for change in diff.iter_all_changes() {
        let words = change.value();
        match change.tag() {
            ChangeTag::Equal if words.trim_matches(' ').is_empty() && !(removed.is_empty() && added.is_empty()) => {
                blank.push_str(words);
            }
            ChangeTag::Equal => {
                flush(&mut out, &mut removed, &mut added, &mut blank);
                match out.last_mut() {
                    Some((Fate::Kept, kept)) => kept.push_str(words),
                    _ => out.push((Fate::Kept, words.to_owned())),
                }
            }
            tag => {
                // What stands between two changes stands in both texts.
                removed.push_str(&blank);
                added.push_str(&blank);
                blank.clear();
                if tag == ChangeTag::Insert { added.push_str(words) } else { removed.push_str(words) }
            }
        }
    }
    flush(&mut out, &mut removed, &mut added, &mut blank);
    out
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
