//! Looking for words in a conversation of any length: the nearest match first, the count of all of them little by little.
//! Case does not matter. Knows no rows; where a match stands on the screen is in `scroll`.

use std::ops::Range;

use crate::projection::Thread;

use super::talk::{Detail, remark_at, text_at};

/// Bytes that are looked through between two frames.
const STEP: usize = 6 * 1_024 * 1_024;
/// Matches whose places are kept; of more only the count of these is told.
const KEPT: usize = 1_000_000;

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needle {
    words: String,
    /// The place of its rarest byte, and both its cases; `None`: it is not plain ASCII.
    anchor: Option<(usize, u8, u8)>,
    /// Nothing in it has two cases.
    caseless: bool,
}

impl Needle {
    /// Of words as they were typed.
    #[must_use]
    pub fn new(words: &str) -> Self {
        let words = words.to_lowercase();
        let rarest = words.bytes().enumerate().max_by_key(|(_, byte)| rarity(*byte));
        let anchor = rarest.filter(|_| words.is_ascii());
        let caseless = words.chars().all(|c| c.to_uppercase().eq([c]) && c.to_lowercase().eq([c]));
        Self { anchor: anchor.map(|(at, byte)| (at, byte, byte.to_ascii_uppercase())), caseless, words }
    }

    /// In lower case; empty: nothing is looked for.
    #[must_use]
    pub fn words(&self) -> &str {
        &self.words
    }

    /// The first match in `text` at or behind the byte `from`.
    #[must_use]
    pub fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        if self.words.is_empty() || from > text.len() {
            return None;
        }
        match self.anchor {
            Some(anchor) => self.find_ascii(text.as_bytes(), from, anchor),
            None if self.caseless => {
                let at = memchr::memmem::find(text.as_bytes().get(from..)?, self.words.as_bytes())? + from;
                Some(at..at + self.words.len())
            }
            None => self.find_folded(text, from),
        }
    }

    fn find_ascii(&self, text: &[u8], from: usize, (place, low, high): (usize, u8, u8)) -> Option<Range<usize>> {
        let needle = self.words.as_bytes();
        let mut at = from + place;
        loop {
            let rest = text.get(at..)?;
            let found = if low == high { memchr::memchr(low, rest) } else { memchr::memchr2(low, high, rest) };
            at += found?;
            let start = at - place;
            let end = start + needle.len();
            if text.get(start..end)?.eq_ignore_ascii_case(needle) {
                return Some(start..end);
            }
            at += 1;
        }
    }

    fn find_folded(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let from = text.ceil_char_boundary(from);
        text.get(from..)?.char_indices().find_map(|(at, _)| {
            let start = from + at;
            let length = folded_start(text.get(start..)?, &self.words)?;
            Some(start..start + length)
        })
    }

    /// The last match in `text` that begins before the byte `to`.
    #[must_use]
    pub fn find_last(&self, text: &str, to: usize) -> Option<Range<usize>> {
        let mut last = None;
        let mut from = 0;
        while let Some(found) = self.find(text, from).filter(|found| found.start < to) {
            from = found.end.max(from + 1);
            last = Some(found);
        }
        last
    }

    /// How many matches stand in `text` before the byte `to`.
    #[must_use]
    pub fn count(&self, text: &str, to: usize) -> usize {
        let mut count = 0;
        let mut from = 0;
        while let Some(found) = self.find(text, from).filter(|found| found.start < to) {
            from = found.end.max(from + 1);
            count += 1;
        }
        count
    }

    /// What looking through a text costs, in bytes of plain text.
    const fn cost(&self, bytes: usize) -> usize {
        if self.anchor.is_some() || self.caseless { bytes } else { bytes.saturating_mul(32) }
    }
}

/// The bytes at the beginning of `text` that are `words` in lower case.
fn folded_start(text: &str, words: &str) -> Option<usize> {
    let mut wanted = words.chars();
    let mut used = 0;
    for c in text.chars() {
        if wanted.as_str().is_empty() {
            break;
        }
        if !c.to_lowercase().all(|lower| wanted.next() == Some(lower)) {
            return None;
        }
        used += c.len_utf8();
    }
    wanted.as_str().is_empty().then_some(used)
}

/// How rarely a byte stands in what agents write: the higher, the better to look for.
fn rarity(byte: u8) -> usize {
    const COMMON: &[u8] = b"qxzjkvbwgpymfcuhdl;'\"()_,-./0123456789srnioate ";
    match COMMON.iter().position(|common| *common == byte) {
        Some(at) => COMMON.len() - at,
        None => COMMON.len() + 1,
    }
}

/// A match: its entry, and where in the entry's words it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// The entry.
    pub entry: usize,
    /// The byte in its words.
    pub at: usize,
}

/// How the nearest match is being looked for.
#[derive(Clone, Copy, Debug)]
struct Quest {
    forward: bool,
    /// Matches from here on (or before it) count in the entry it stands in.
    from: Match,
    /// The entry to be looked through next.
    next: usize,
    /// Entries left.
    left: usize,
}

/// A search and what it has found.
#[derive(Debug, Default)]
pub struct Search {
    needle: Needle,
    quest: Option<Quest>,
    /// Which way the last one went that was not found anywhere.
    missed: Option<bool>,
    /// The match the view stands at.
    here: Option<Match>,
    /// Matches in order, up to the entry that is counted next.
    found: Vec<Match>,
    counted: usize,
    entries: usize,
}

impl Search {
    /// Looks for something else. True: it is something else.
    pub fn look_for(&mut self, words: &str) -> bool {
        let needle = Needle::new(words);
        if needle == self.needle {
            return false;
        }
        *self = Self { needle, entries: self.entries, ..Self::default() };
        true
    }

    /// What is looked for.
    #[must_use]
    pub const fn needle(&self) -> &Needle {
        &self.needle
    }

    /// The conversation is another one, or shows other parts: what was counted does not hold.
    pub fn begin_anew(&mut self, entries: usize) {
        (self.entries, self.counted, self.here, self.quest, self.missed) = (entries, 0, None, None, None);
        self.found.clear();
    }

    /// What stood before the first entry came in. The direction in which a match is still to be looked for.
    pub fn begin_whole(&mut self, entries: usize) -> Option<bool> {
        let sought = self.quest.map(|quest| quest.forward).or(self.missed);
        self.begin_anew(entries);
        sought
    }

    /// The conversation has grown behind the entry `same`.
    pub fn goes_on(&mut self, same: usize, entries: usize) {
        self.entries = entries;
        self.counted = self.counted.min(same);
        let kept = self.found.partition_point(|found| found.entry < self.counted);
        self.found.truncate(kept);
    }

    /// Begins to look for the match behind `from`, or before it, around the end.
    pub fn seek(&mut self, forward: bool, from: Match) {
        self.missed = None;
        let from = self.here.unwrap_or(from);
        let next = from.entry.min(self.entries.saturating_sub(1));
        // Its own entry is looked through twice: at first on one side of the place, at last on the other.
        self.quest = (self.entries > 0 && !self.needle.words.is_empty()).then_some(Quest {
            forward,
            from,
            next,
            left: self.entries + 1,
        });
    }

    /// The view stands elsewhere now: the next match is looked for from there.
    pub const fn leave(&mut self) {
        self.here = None;
    }

    /// Whether the nearest match is still looked for.
    #[must_use]
    pub const fn seeks(&self) -> bool {
        self.quest.is_some()
    }

    /// Whether the view stands at a match.
    #[must_use]
    pub const fn stands_at_one(&self) -> bool {
        self.here.is_some()
    }

    /// The match the view stands at.
    #[must_use]
    pub const fn here(&self) -> Option<Match> {
        self.here
    }

    /// Whether there is something left to look through.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        self.quest.is_some() || !self.is_counted()
    }

    const fn is_counted(&self) -> bool {
        self.needle.words.is_empty() || self.counted >= self.entries || self.found.len() >= KEPT
    }

    /// `3/17`, `3/17+` while it is still counted; `None`: nothing is looked for.
    #[must_use]
    pub fn counter(&self) -> Option<String> {
        if self.needle.words.is_empty() {
            return None;
        }
        let more = if self.counted < self.entries { "+" } else { "" };
        let place = self.here.and_then(|here| self.found.binary_search(&here).ok());
        Some(match place {
            Some(at) => format!("{}/{}{more}", at + 1, self.found.len()),
            None => format!("{}{more} found", self.found.len()),
        })
    }

    /// Looks through a part of the conversation. A match that was sought is given once.
    pub fn step(&mut self, thread: &Thread, detail: Detail) -> Option<Match> {
        let mut left = STEP;
        let found = self.seek_on(thread, detail, &mut left);
        if found.is_some() {
            // Shown at once; what is left is counted from the next frame on.
            return found;
        }
        while left > 0 && !self.is_counted() {
            let at = self.counted;
            let needle = &self.needle;
            let matches = &mut self.found;
            with_words(thread, at, detail, |words| {
                left = left.saturating_sub(needle.cost(words.len()) + 64);
                let mut from = 0;
                while let Some(found) = needle.find(words, from) {
                    from = found.end.max(from + 1);
                    if matches.len() < KEPT {
                        matches.push(Match { entry: at, at: found.start });
                    }
                }
            });
            self.counted += 1;
        }
        found
    }

    fn seek_on(&mut self, thread: &Thread, detail: Detail, left: &mut usize) -> Option<Match> {
        let mut quest = self.quest.take()?;
        while quest.left > 0 {
            if *left == 0 {
                self.quest = Some(quest);
                return None;
            }
            let (entry, is_first) = (quest.next, quest.left > self.entries);
            let needle = &self.needle;
            let mut found = None;
            with_words(thread, entry, detail, |words| {
                *left = left.saturating_sub(needle.cost(words.len()) + 64);
                let is_own = is_first && entry == quest.from.entry;
                found = match (quest.forward, is_own) {
                    (true, true) => needle.find(words, quest.from.at.saturating_add(1)),
                    (true, false) => needle.find(words, 0),
                    (false, true) => needle.find_last(words, quest.from.at),
                    (false, false) => needle.find_last(words, words.len()),
                };
            });
            if let Some(found) = found {
                let found = Match { entry, at: found.start };
                self.here = Some(found);
                return Some(found);
            }
            quest.left -= 1;
            quest.next = if quest.forward {
                (entry + 1) % self.entries.max(1)
            } else {
                entry.checked_sub(1).unwrap_or_else(|| self.entries.saturating_sub(1))
            };
        }
        self.missed = Some(quest.forward);
        None
    }
}

/// The words an entry shows.
pub fn with_words(thread: &Thread, at: usize, detail: Detail, see: impl FnOnce(&str)) {
    if let Some(text) = text_at(thread, at, detail) {
        see(text);
    } else if let Some(words) = remark_at(thread, at, detail) {
        see(&words);
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
