//! Whether what a box shows is a text of ours: all of it, its beginning or its end, with a part of it folded into a mark.
//! Only what drawing changes is forgiven, and only where our own text asks for it. Pure; finding the box is `input_box`'s.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::model::text::{fold, is_filler};

/// A sign that a terminal does not know leaves so many columns as they were: what stood there before is still seen.
const LEFT_OVER: usize = 2;

/// Whether a box shows exactly this text: letter by letter, or with a part of it folded into a mark whose number of lines
/// or characters is that of the part, and nothing beside it.
#[must_use]
pub fn shows_all(shown: &str, text: &str) -> bool {
    if fold(shown) == fold(text) {
        return true;
    }
    let ours = signs(text);
    if Walk::of(&letters(shown), &ours).is_some_and(|walk| walk.took_all(&ours)) {
        return true;
    }
    let Some((before, folded, after)) = folded_paste(shown) else { return false };
    let Some(head) = Walk::of(&letters(before), &ours) else { return false };
    let (backwards, mut behind) = (ours.iter().rev().copied().collect::<Vec<_>>(), letters(after));
    behind.reverse();
    let Some(tail) = Walk::of(&behind, &backwards) else { return false };
    let part = (head.taken + tail.taken <= ours.len())
        .then(|| text.get(starts(&ours, head.taken, text)..ends(&ours, tail.taken)))
        .flatten();
    part.is_some_and(|part| !part.trim().is_empty() && folded.stands_for(part))
}

/// Whether a box shows the beginning of this text and nothing beside it (it may not be drawn to its end yet). A mark for
/// a long paste is drawn whole or not at all.
#[must_use]
pub fn shows_beginning(shown: &str, text: &str) -> bool {
    fold(text).starts_with(&fold(shown)) || Walk::of(&letters(shown), &signs(text)).is_some()
}

/// Whether the visible rows of a box that hides rows above are the end of this text, which may have been folded into a
/// mark. Rows of nothing are the end of a text that ends so.
#[must_use]
pub fn shows_end(shown: &str, text: &str) -> bool {
    if shown.trim().is_empty() {
        return text.ends_with('\n');
    }
    if fold(text).ends_with(&fold(shown)) {
        return true;
    }
    if let Some((before, folded, after)) = folded_paste(shown) {
        return after.trim().is_empty() && folded.ends(before, text);
    }
    let (mut shown, mut ours) = (letters(shown), signs(text));
    shown.reverse();
    ours.reverse();
    Walk::of(&shown, &ours).is_some()
}

/// A sign of our text, and where in it the letter that it belongs to stands.
#[derive(Clone, Copy)]
struct Sign {
    letter: char,
    start: usize,
    end: usize,
}

impl Sign {
    /// It takes no column by itself, or terminals may not know it: it need not be seen.
    fn may_be_missing(self) -> bool {
        use GeneralCategory as Kind;
        let marks = [Kind::NonspacingMark, Kind::EnclosingMark, Kind::SpacingMark];
        let unseen = [Kind::Control, Kind::Format, Kind::Unassigned, Kind::PrivateUse];
        let kind = get_general_category(self.letter);
        let skin = '\u{1f3fb}'..='\u{1f3ff}';
        self.may_be_unknown()
            || skin.contains(&self.letter)
            || is_filler(self.letter)
            || marks.contains(&kind)
            || unseen.contains(&kind)
    }

    /// Terminals know such signs only up to the version of Unicode they were built with. The blocks that are left out
    /// have been full for long.
    fn may_be_unknown(self) -> bool {
        let known =
            matches!(self.letter, '\u{1f1e6}'..='\u{1f6cf}' | '\u{1f900}'..='\u{1f9ff}' | '\u{20000}'..='\u{3ffff}');
        self.letter >= '\u{10000}' && !known
    }
}

/// The signs of a text, composed as they are drawn.
fn signs(text: &str) -> Vec<Sign> {
    let clusters = text.grapheme_indices(true);
    let composed = clusters.flat_map(|(start, cluster)| {
        let end = start + cluster.len();
        cluster.nfc().map(move |letter| Sign { letter, start, end })
    });
    composed.collect()
}

/// What is drawn, without blanks and signs that are never seen.
fn letters(shown: &str) -> Vec<char> {
    let is_seen = |sign: &char| !sign.is_whitespace() && get_general_category(*sign) != GeneralCategory::Format;
    shown.nfc().filter(is_seen).collect()
}

/// Where the part of the text begins that stands behind the first `taken` signs.
fn starts(ours: &[Sign], taken: usize, text: &str) -> usize {
    ours.get(taken).map_or(text.len(), |sign| sign.start)
}

/// Where the part of the text ends that stands before the last `taken` signs.
fn ends(ours: &[Sign], taken: usize) -> usize {
    ours.len().checked_sub(taken + 1).and_then(|last| ours.get(last)).map_or(0, |sign| sign.end)
}

/// A walk along what is drawn and what is ours that came to the end of what is drawn.
struct Walk {
    /// So many of our signs were passed.
    taken: usize,
}

impl Walk {
    fn of(shown: &[char], ours: &[Sign]) -> Option<Self> {
        let (mut at, mut taken, mut left_over) = (0, 0, 0);
        while let Some(drawn) = shown.get(at) {
            let own = ours.get(taken);
            match own {
                Some(own) if own.letter.is_whitespace() => taken += 1,
                Some(own) if own.letter == *drawn => (at, taken) = (at + 1, taken + 1),
                Some(own) if own.may_be_missing() => {
                    taken += 1;
                    left_over += if own.may_be_unknown() { LEFT_OVER } else { 0 };
                }
                _ if left_over > 0 => (at, left_over) = (at + 1, left_over - 1),
                _ => return None,
            }
        }
        Some(Self { taken })
    }

    /// Nothing of ours that must be seen is left.
    fn took_all(&self, ours: &[Sign]) -> bool {
        ours.iter().skip(self.taken).all(|own| own.letter.is_whitespace() || own.may_be_missing())
    }
}

/// A mark that stands for a long paste.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folded {
    /// Claude: `[Pasted text #1 +30 lines]`, without a number of lines for a single one.
    Lines(usize),
    /// Codex: `[Pasted Content 1204 chars]`.
    Chars(usize),
}

impl Folded {
    fn read(mark: &str) -> Option<Self> {
        let mark = fold(mark);
        if let Some(mark) = mark.strip_prefix("text#") {
            let (number, lines) = mark.split_once('+').map_or((mark, None), |(number, lines)| (number, Some(lines)));
            if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            return Some(Self::Lines(match lines {
                Some(lines) => lines.strip_suffix("lines").or_else(|| lines.strip_suffix("line"))?.parse().ok()?,
                None => 0,
            }));
        }
        let chars = mark.strip_prefix("Content")?.strip_suffix("chars")?;
        chars.parse().ok().map(Self::Chars)
    }

    /// Whether it is the mark of this part of a text. White space at its edges may belong to what is beside it.
    fn stands_for(self, part: &str) -> bool {
        let (number, count): (usize, fn(&str) -> usize) = match self {
            Self::Lines(lines) => (lines, |text| text.bytes().filter(|byte| *byte == b'\n').count()),
            Self::Chars(chars) => (chars, |text| text.chars().count()),
        };
        (count(part.trim())..=count(part)).contains(&number)
    }

    /// Whether it stands for the end of a text behind `before`, of which the beginning is hidden.
    fn ends(self, before: &str, text: &str) -> bool {
        let Self::Lines(lines) = self else { return false };
        let mut feeds = text.rmatch_indices('\n').map(|(at, _)| at);
        let Some(first) = lines.checked_sub(1).and_then(|at| feeds.nth(at)) else { return false };
        // The part begins with its first line feed, or with the line before that.
        let line = feeds.next().map_or(0, |before| before + 1);
        [first, line].into_iter().filter_map(|at| text.get(..at)).any(|head| shows_end(before, head))
    }
}

/// Splits a folded box at its one mark: what stands before, the mark, what stands after.
fn folded_paste(shown: &str) -> Option<(&str, Folded, &str)> {
    let (before, rest) = shown.split_once("[Pasted")?;
    let (mark, after) = rest.split_once(']')?;
    if after.contains("[Pasted") {
        return None;
    }
    Some((before, Folded::read(mark)?, after))
}

#[cfg(test)]
#[path = "drawn_tests.rs"]
mod tests;
