//! What changed between two texts, as rows: word by word where they are alike (`+new words+`, `-old words-`), whole lines
//! with `-` and `+` at the edge where they are not. The signs say it without colour. Which texts are compared is the
//! callers' business.

use similar::{ChangeTag, TextDiff};

use super::row::{Row, Span, Tone, text, toned};
use super::sanitise::clean_block;
use super::wrap::wrap;

/// Stretches longer than this in all are shown line by line: word by word would take longer than a look.
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

/// A piece of either text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    fate: Fate,
    text: String,
    /// It is whole lines that went or came: their sign stands at the edge.
    whole: bool,
}

/// The change as rows of at most `columns`; `marks`: lines of the newer text, from 0, that get a `=` in front.
#[must_use]
pub fn rows(before: &str, after: &str, columns: usize, marks: &[usize]) -> Vec<Row> {
    let lines = lines(before, after);
    let has_edge = lines.iter().any(|line| line.whole.is_some());
    let mut out = Vec::new();
    for line in lines {
        let is_marked = line.number.is_some_and(|number| marks.contains(&number));
        let mut lead = Vec::new();
        if has_edge {
            lead.push(line.edge());
        }
        if !marks.is_empty() {
            lead.push(if is_marked { toned(Tone::Held, "=") } else { text(" ") });
        }
        if !lead.is_empty() {
            lead.push(text(" "));
        }
        let mut rows = wrap(&line.spans, columns, &lead);
        if line.whole.is_some() {
            // Every row of it says what became of it.
            let below: Vec<Span> = std::iter::once(line.edge()).chain(lead.iter().skip(1).map(|_| text(" "))).collect();
            rows.iter_mut().skip(1).for_each(|row| row.lead.clone_from(&below));
        }
        out.extend(rows);
    }
    out
}

/// The change as plain text, with its signs.
#[must_use]
pub fn plain(before: &str, after: &str) -> String {
    let lines = lines(before, after);
    let has_edge = lines.iter().any(|line| line.whole.is_some());
    let mut out = String::new();
    for line in lines {
        let edge = if has_edge { format!("{} ", line.edge().text()) } else { String::new() };
        let words: String = line.spans.iter().map(Span::text).collect();
        out.push_str(format!("{edge}{words}").trim_end());
        out.push('\n');
    }
    out
}

/// Words that came in and that went away.
#[must_use]
pub fn counts(before: &str, after: &str) -> (usize, usize) {
    let pieces = pieces(&head(before), &head(after));
    (words_of(&pieces, Fate::Added), words_of(&pieces, Fate::Removed))
}

/// One line of the change.
#[derive(Default)]
struct Line {
    spans: Vec<Span>,
    /// The line of the newer text it shows; `None`: it is of the older one alone.
    number: Option<usize>,
    /// It came or went as a whole.
    whole: Option<Fate>,
}

impl Line {
    fn edge(&self) -> Span {
        self.whole.map_or_else(|| text(" "), |fate| toned(fate.tone(), fate.sign()))
    }
}

/// What of a text is compared; its last line ends as every other.
fn head(whole: &str) -> String {
    let kept = whole.get(..whole.floor_char_boundary(COMPARED)).unwrap_or(whole);
    format!("{}\n", clean_block(kept).trim_end_matches('\n'))
}

fn lines(before: &str, after: &str) -> Vec<Line> {
    let is_cut = before.len() > COMPARED || after.len() > COMPARED;
    let mut out = vec![Line::default()];
    let mut number = 0;
    for Piece { fate, text: piece, whole } in pieces(&head(before), &head(after)) {
        for (index, part) in piece.split('\n').enumerate() {
            if index > 0 {
                if fate != Fate::Removed {
                    number += 1;
                }
                out.push(Line::default());
            }
            let Some(line) = out.last_mut() else { continue };
            // Behind its last line end nothing of a piece follows.
            let is_here = !part.is_empty() || index + 1 < piece.split('\n').count();
            if fate != Fate::Removed && is_here {
                line.number.get_or_insert(number);
            }
            if whole && is_here {
                line.whole = Some(fate);
                line.spans.push(toned(fate.tone(), part));
            } else {
                push(&mut line.spans, fate, part);
            }
        }
    }
    // Both texts end with the end of a line.
    out.pop();
    if is_cut {
        let words = format!("the first {} KiB of each are compared", COMPARED / 1_024);
        out.push(Line { spans: vec![toned(Tone::Held, words)], ..Line::default() });
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

/// A stretch of both texts.
enum Part {
    /// It stands in both.
    Kept(String),
    /// Alike: what changed in it, word by word.
    Alike(Vec<Piece>),
    /// Unlike: what went, and what came in its place.
    Unlike(String, String),
}

impl Part {
    /// A stretch that changed.
    fn of(removed: String, added: String) -> Self {
        if removed.is_empty() || added.is_empty() || removed.len() + added.len() > BY_WORDS {
            return Self::Unlike(removed, added);
        }
        let pieces = by_words(&removed, &added);
        let of = |fate| words_of(&pieces, fate);
        // Where less than half of the words stay, those that do are such as stand in any text.
        if 2 * of(Fate::Kept) >= of(Fate::Added) + of(Fate::Removed) {
            Self::Alike(pieces)
        } else {
            Self::Unlike(removed, added)
        }
    }

    fn pieces(self) -> Vec<Piece> {
        match self {
            Self::Kept(text) => vec![Piece { fate: Fate::Kept, text, whole: false }],
            Self::Alike(pieces) => pieces,
            Self::Unlike(removed, added) => [(Fate::Removed, removed), (Fate::Added, added)]
                .into_iter()
                .filter(|(_, text)| !text.is_empty())
                .map(|(fate, text)| Piece { fate, text, whole: true })
                .collect(),
        }
    }
}

/// Pieces of both texts in order.
fn pieces(before: &str, after: &str) -> Vec<Piece> {
    // Unlike stretches that were joined may be alike together.
    let settled = joined(parts(before, after)).into_iter().map(|part| match part {
        Part::Unlike(removed, added) => Part::of(removed, added),
        part => part,
    });
    settled.flat_map(Part::pieces).collect()
}

/// Line by line: what stands in both, and the stretches between.
fn parts(before: &str, after: &str) -> Vec<Part> {
    let mut out = Vec::new();
    let (mut removed, mut added) = (String::new(), String::new());
    let diff = TextDiff::from_lines(before, after);
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => added.push_str(change.value()),
            ChangeTag::Delete => removed.push_str(change.value()),
            ChangeTag::Equal => {
                if !(removed.is_empty() && added.is_empty()) {
                    out.push(Part::of(std::mem::take(&mut removed), std::mem::take(&mut added)));
                }
                match out.last_mut() {
                    Some(Part::Kept(kept)) => kept.push_str(change.value()),
                    _ => out.push(Part::Kept(change.value().to_owned())),
                }
            }
        }
    }
    if !(removed.is_empty() && added.is_empty()) {
        out.push(Part::of(removed, added));
    }
    out
}

/// Unlike stretches with nothing but blank lines between them are one: what went is read in one piece, and so is what
/// came.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::new();
    for part in parts {
        out.push(part);
        let [.., Part::Unlike(..), Part::Kept(blank), Part::Unlike(..)] = out.as_slice() else { continue };
        if !blank.trim().is_empty() {
            continue;
        }
        if let (Some(Part::Unlike(went, came)), Some(Part::Kept(blank)), Some(Part::Unlike(removed, added))) =
            (out.pop(), out.pop(), out.last_mut())
        {
            for (all, more) in [(removed, went), (added, came)] {
                all.push_str(&blank);
                all.push_str(&more);
            }
        }
    }
    out
}

/// Pieces of two alike texts. Changes with nothing but a blank between them are one, so that they can be read.
fn by_words(before: &str, after: &str) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let (mut removed, mut added, mut blank) = (String::new(), String::new(), String::new());
    let flush = |out: &mut Vec<Piece>, removed: &mut String, added: &mut String, blank: &mut String| {
        for (fate, words) in [(Fate::Removed, removed), (Fate::Added, added), (Fate::Kept, blank)] {
            if !words.is_empty() {
                out.push(Piece { fate, text: std::mem::take(words), whole: false });
            }
        }
    };
    for change in TextDiff::from_unicode_words(before, after).iter_all_changes() {
        let words = change.value();
        match change.tag() {
            ChangeTag::Equal if words.trim_matches(' ').is_empty() && !(removed.is_empty() && added.is_empty()) => {
                blank.push_str(words);
            }
            ChangeTag::Equal => {
                flush(&mut out, &mut removed, &mut added, &mut blank);
                match out.last_mut() {
                    Some(Piece { fate: Fate::Kept, text, .. }) => text.push_str(words),
                    _ => out.push(Piece { fate: Fate::Kept, text: words.to_owned(), whole: false }),
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

/// Words of the pieces of one fate.
fn words_of(pieces: &[Piece], fate: Fate) -> usize {
    pieces.iter().filter(|piece| piece.fate == fate).map(|piece| piece.text.split_whitespace().count()).sum()
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
