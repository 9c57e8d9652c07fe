//! Where a view stands in a conversation: an anchor at a line of a block of an entry, or following the end.
//! Measures what it passes and nothing else, so the length of the whole costs nothing and nothing can overflow.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::ids::Role;
use crate::projection::{Thread, ThreadEntry, ThreadKind};

use super::row::{Row, spans_width};
use super::search::{Match, Search, with_words};
use super::talk::{Block, BlockKind, Detail, blocks_of, text_at};
use super::times::Times;

/// Entries whose blocks are kept, and texts whose rows are.
const KEPT: usize = 1_024;
/// Rows that are kept in all.
const KEPT_ROWS: usize = 50_000;
/// How far from its place an entry is looked for after the conversation has changed.
const NEAR: usize = 64;

/// A text's address, the beginning of its piece, its width, and how many marks it has: the text is kept with the rows,
/// so the address stays its own.
type CacheKey = (usize, usize, usize, usize);

/// A match, the columns of the view, and what it shows: together they say where the match stands.
type FoundKey = (Match, usize, Detail);
/// The line that holds a match, and which of the line's matches it is.
type FoundPlace = (Place, usize);

/// A line of a block of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    entry: usize,
    block: usize,
    line: usize,
}

/// What somebody looked for before the first entry that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// The very beginning.
    Start,
    /// The part that an entry begins.
    Part,
}

/// The view of one conversation.
#[derive(Debug, Default)]
pub struct Scroll {
    thread: Option<Arc<Thread>>,
    detail: Detail,
    top: Place,
    /// The entry of the last line in view, as last drawn.
    last: usize,
    away: bool,
    /// What stands before the first entry is looked for.
    before: Option<Before>,
    known: usize,
    height: usize,
    columns: usize,
    wide: bool,
    split: bool,
    /// Columns by which code and tables are moved to the left.
    pub sideways: usize,
    /// The most by which they can be moved, as last drawn.
    slack: usize,
    /// What is looked for.
    pub search: Search,
    /// Where the match that it stands at was last found.
    found: Option<(FoundKey, FoundPlace)>,
    blocks: HashMap<usize, Arc<[Block]>>,
    rows: HashMap<CacheKey, (Arc<str>, Arc<[Row]>)>,
    rows_kept: usize,
    laid_out: usize,
}

/// A row of the view and the side it belongs to when the sides stand side by side.
pub type SidedRow = (Option<Role>, Row);

impl Scroll {
    /// Takes the newest thread; the view stays where it is.
    pub fn set(&mut self, thread: Option<&Arc<Thread>>) {
        let old = match (&self.thread, thread) {
            (Some(old), Some(new)) if Arc::ptr_eq(old, new) => return,
            (None, None) => return,
            (old, _) => old.clone(),
        };
        self.blocks.clear();
        self.found = None;
        self.thread = thread.map(Arc::clone);
        let same_subject = |old: &Arc<Thread>| {
            thread
                .filter(|new| old.record == new.record && old.session == new.session)
                .map(|new| (Arc::clone(old), new))
        };
        if let Some((old, new)) = old.as_ref().and_then(same_subject) {
            if old.begins_inside && !new.begins_inside {
                self.now_whole(&old, new);
            } else {
                self.top.entry = moved_to(&old, new, self.top.entry);
                let same = if self.search.needle().words().is_empty() { 0 } else { first_difference(&old, new) };
                self.search.goes_on(same, new.entries.len());
            }
            if self.top.entry >= new.entries.len() {
                self.follow();
            }
        } else {
            self.rows.clear();
            self.rows_kept = 0;
            self.search.begin_anew(self.entries());
            self.follow();
        }
    }

    /// What stood before the first entry came in: the view stays where it is, or goes where it was to go.
    fn now_whole(&mut self, old: &Thread, new: &Thread) {
        if self.before != Some(Before::Start) {
            // In place of the first entry, which only said that there is more.
            let first = self.top.entry == 0;
            self.top.entry = moved_to(old, new, self.top.entry.max(1));
            if first {
                (self.top.block, self.top.line) = (0, 0);
            }
        }
        self.before = None;
        self.known += new.entries.len().saturating_sub(old.entries.len());
        if let Some(forward) = self.search.begin_whole(new.entries.len()) {
            self.seek(forward);
        }
    }

    /// Whether what stands before the first entry, which was not read, is wanted: the view is there, or words are looked for.
    #[must_use]
    pub fn wants_beginning(&self) -> bool {
        let is_there = self.before.is_some() || (self.away && self.top.entry == 0);
        self.thread.as_deref().is_some_and(|thread| thread.begins_inside)
            && (is_there || !self.search.needle().words().is_empty())
    }

    /// The thread it shows.
    #[must_use]
    pub fn thread(&self) -> Option<&Thread> {
        self.thread.as_deref()
    }

    /// How much is shown.
    #[must_use]
    pub const fn detail(&self) -> Detail {
        self.detail
    }

    /// The next detail; the view stays at the entry it shows.
    pub fn cycle_detail(&mut self) {
        self.detail = self.detail.next();
        self.blocks.clear();
        self.search.begin_anew(self.entries());
        (self.top.block, self.top.line) = (0, 0);
    }

    /// Follows the end.
    pub fn follow(&mut self) {
        self.away = false;
        self.before = None;
        self.known = self.entries();
        self.search.leave();
    }

    /// Whether it follows the end.
    #[must_use]
    pub const fn follows(&self) -> bool {
        !self.away
    }

    /// Messages that came since it stopped following: texts and relays; a tool call is no message.
    #[must_use]
    pub fn unread(&self) -> usize {
        let thread = self.thread.as_deref().filter(|_| self.away);
        thread.map_or(0, |thread| thread.entries.iter().skip(self.known).filter(|entry| is_message(entry)).count())
    }

    fn entries(&self) -> usize {
        self.thread.as_deref().map_or(0, |thread| thread.entries.len())
    }

    /// Bytes of text that were laid out so far: what drawing costs, counted and not timed.
    #[must_use]
    pub const fn laid_out(&self) -> usize {
        self.laid_out
    }

    /// To the beginning.
    pub fn to_start(&mut self) {
        self.leave_end();
        self.top = Place::default();
        self.before = Some(Before::Start);
    }

    fn leave_end(&mut self) {
        self.search.leave();
        self.before = None;
        if !self.away {
            self.away = true;
            self.known = self.entries();
        }
    }

    /// Code and tables to the left or right, as far as there is something to be seen.
    pub fn slide(&mut self, right: bool) {
        const BY: usize = 8;
        self.sideways = if right {
            (self.sideways + BY).min(self.slack.max(self.sideways))
        } else {
            self.sideways.saturating_sub(BY)
        };
    }

    /// By lines; a view that comes to the end follows again. Before the first frame there is no height to move by.
    pub fn move_by(&mut self, lines: isize, times: &Times) {
        if self.height == 0 {
            return;
        }
        if self.follows() {
            if lines >= 0 {
                return;
            }
            self.top = self.bottom(times);
        }
        self.leave_end();
        let mut left = lines.unsigned_abs();
        while left > 0 {
            let moved = if lines > 0 { self.one_down(times) } else { self.one_up(times) };
            if !moved {
                break;
            }
            left -= 1;
        }
        if lines > 0 {
            self.follow_at_end(times);
        }
    }

    fn follow_at_end(&mut self, times: &Times) {
        let bottom = self.bottom(times);
        if self.top >= bottom {
            self.follow();
        }
    }

    fn one_down(&mut self, times: &Times) -> bool {
        let Place { entry, block, line } = self.top;
        if line + 1 < self.lines_of(entry, block, times) {
            self.top.line += 1;
            return true;
        }
        let (mut entry, mut block) = (entry, block + 1);
        while entry < self.entries() {
            if block >= self.blocks_at(entry).len() {
                (entry, block) = (entry + 1, 0);
            } else if self.lines_of(entry, block, times) == 0 {
                block += 1;
            } else {
                self.top = Place { entry, block, line: 0 };
                return true;
            }
        }
        false
    }

    fn one_up(&mut self, times: &Times) -> bool {
        if self.top.line > 0 {
            self.top.line -= 1;
            return true;
        }
        let Place { mut entry, mut block, .. } = self.top;
        loop {
            while block > 0 {
                block -= 1;
                let lines = self.lines_of(entry, block, times);
                if lines > 0 {
                    self.top = Place { entry, block, line: lines - 1 };
                    return true;
                }
            }
            let Some(before) = entry.checked_sub(1) else { return false };
            entry = before;
            block = self.blocks_at(entry).len();
        }
    }

    /// By pages, with one line of overlap.
    pub fn page(&mut self, pages: isize, times: &Times) {
        let lines = isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(1);
        self.move_by(pages * lines, times);
    }

    /// The top at which the last line stands at the bottom.
    fn bottom(&mut self, times: &Times) -> Place {
        let mut left = self.height.max(1);
        for entry in (0..self.entries()).rev() {
            for block in (0..self.blocks_at(entry).len()).rev() {
                let lines = self.lines_of(entry, block, times);
                if lines >= left {
                    return Place { entry, block, line: lines - left };
                }
                left -= lines;
            }
        }
        Place::default()
    }

    /// To the entry before or after the top that `wanted` accepts.
    pub fn jump(&mut self, forward: bool, wanted: impl Fn(&ThreadEntry) -> bool, times: &Times) -> bool {
        if self.follows() {
            self.top = self.bottom(times);
        }
        let Some(thread) = self.thread.clone() else { return false };
        let from = self.top.entry;
        let mut all = thread.entries.iter().enumerate();
        let found = if forward {
            all.skip(from + 1).find(|(_, entry)| wanted(entry))
        } else {
            // The one that is scrolled into is the one before; the empty line above it is no part of it.
            let first = usize::from(self.has_gap(from));
            let end = from + usize::from(self.top.block > first || self.top.line > 0);
            all.by_ref().take(end).rev().find(|(_, entry)| wanted(entry))
        };
        let Some((at, _)) = found else {
            self.before = (!forward).then_some(Before::Part);
            return false;
        };
        self.show(at);
        if forward {
            self.follow_at_end(times);
        }
        true
    }

    /// To the last entry that `wanted` accepts.
    pub fn show_last(&mut self, wanted: impl Fn(&ThreadEntry) -> bool) -> bool {
        let Some(at) = self.thread.as_deref().and_then(|thread| thread.entries.iter().rposition(wanted)) else {
            return false;
        };
        self.show(at);
        true
    }

    /// To an entry; the empty line above it is left out of view.
    fn show(&mut self, entry: usize) {
        self.leave_end();
        self.top = Place { entry, block: usize::from(self.has_gap(entry)), line: 0 };
    }

    /// Whether an empty line stands above an entry.
    fn has_gap(&mut self, entry: usize) -> bool {
        matches!(self.blocks_at(entry).first(), Some(Block { kind: BlockKind::Gap, .. }))
    }

    /// Looks for these words from now on.
    pub fn look_for(&mut self, words: &str) {
        if self.search.look_for(words) {
            self.search.begin_anew(self.entries());
        }
    }

    /// Begins to look for the next or previous match, around the end; [`Scroll::search_on`] goes there.
    pub fn seek(&mut self, forward: bool) {
        let entry = match (self.follows(), forward) {
            (true, _) => self.entries().saturating_sub(1),
            (false, true) => self.top.entry,
            (false, false) => self.last.max(self.top.entry),
        };
        // Between the words of the entries: none of its matches is behind it, or all are before it.
        let at = if forward && !self.follows() { 0 } else { usize::MAX };
        self.search.seek(forward, Match { entry, at });
    }

    /// Looks through a part of the conversation and goes to the match that was sought, if it is in it.
    pub fn search_on(&mut self, times: &Times) {
        let Some(thread) = self.thread.clone().filter(|_| self.search.is_busy()) else { return };
        if let Some(found) = self.search.step(&thread, self.detail) {
            self.go_to_match(&thread, found, times);
        }
    }

    fn go_to_match(&mut self, thread: &Thread, found: Match, times: &Times) {
        if !self.away {
            self.away = true;
            self.known = self.entries();
        }
        let (place, _) = self.place_of(thread, found, times);
        self.top = place;
    }

    /// The line that holds a match, and which of the line's matches it is.
    fn place_of(&mut self, thread: &Thread, found: Match, times: &Times) -> FoundPlace {
        let blocks = self.blocks_at(found.entry);
        let holds = |block: &Block| match &block.kind {
            BlockKind::Words { piece, .. } => (piece.range.0..piece.range.1).contains(&found.at),
            BlockKind::Gap | BlockKind::Heading { .. } | BlockKind::Folded(_) => false,
            _ => true,
        };
        let block = blocks.iter().position(holds).unwrap_or(0);
        let start = match blocks.get(block).map(|block| &block.kind) {
            Some(BlockKind::Words { piece, .. }) => piece.range.0,
            _ => 0,
        };
        let needle = self.search.needle().clone();
        let mut before = 0;
        with_words(thread, found.entry, self.detail, |words| {
            let part = words.get(start..).unwrap_or("");
            before = needle.count(part, found.at.saturating_sub(start));
        });
        let mut line = None;
        for (at, row) in self.rows_of(found.entry, block, times).iter().enumerate() {
            let words = row.words();
            let here = needle.count(&words, words.len());
            if here > 0 {
                line = Some(at);
            }
            if here > before {
                break;
            }
            before -= here;
        }
        (Place { entry: found.entry, block, line: line.unwrap_or(0) }, before)
    }

    /// Where the match stands that the search is at: looked for anew where lines break elsewhere, or it is another one.
    fn found_place(&mut self, times: &Times) -> Option<FoundPlace> {
        let here = self.search.here()?;
        let key = (here, self.columns, self.detail);
        if let Some((_, place)) = self.found.filter(|(known, _)| *known == key) {
            return Some(place);
        }
        let thread = self.thread.clone()?;
        let place = self.place_of(&thread, here, times);
        self.found = Some((key, place));
        Some(place)
    }

    /// The text nearest to the end of the view (the newest when it follows), and the entry it belongs to.
    #[must_use]
    pub fn text_in_view(&self) -> Option<(Arc<str>, usize)> {
        self.in_view(|thread, at| text_at(thread, at, self.detail).cloned())
    }

    /// The first entry from the top of the view on (the newest when it follows) of which `wanted` makes something.
    pub fn in_view<T>(&self, wanted: impl Fn(&Thread, usize) -> Option<T>) -> Option<(T, usize)> {
        let thread = self.thread.as_deref()?;
        let found = |at: usize| wanted(thread, at).map(|made| (made, at));
        if self.follows() {
            (0..thread.entries.len()).rev().find_map(found)
        } else {
            (self.top.entry..thread.entries.len()).find_map(found)
        }
    }

    /// The rows of the view in an area of `columns` by `height`.
    pub fn rows(&mut self, columns: usize, height: usize, wide: bool, split: bool, times: &Times) -> Vec<SidedRow> {
        if (self.columns, self.wide, self.split) != (columns, wide, split) {
            // Lines break elsewhere now; the block stays in view, its line may not exist any more.
            self.top.line = 0;
        }
        (self.columns, self.height, self.wide, self.split) = (columns, height, wide, split);
        if height == 0 {
            return Vec::new();
        }
        let bottom = self.bottom(times);
        let top = if self.follows() || self.top > bottom { bottom } else { self.top };
        if self.away {
            self.top = top;
        }
        let found = self.found_place(times);
        let mut out = Vec::with_capacity(height);
        let Place { mut entry, mut block, line: mut skip } = top;
        self.slack = 0;
        while out.len() < height && entry < self.entries() {
            let blocks = self.blocks_at(entry);
            let Some(shown) = blocks.get(block) else {
                (entry, block) = (entry + 1, 0);
                continue;
            };
            let (side, room) = (shown.side, height - out.len());
            let room_for = self.columns_of(shown);
            for (line, row) in self.rows_of(entry, block, times).iter().enumerate().skip(skip).take(room) {
                if row.slides {
                    let wide = spans_width(&row.lead) + spans_width(&row.body);
                    self.slack = self.slack.max(wide.saturating_sub(room_for));
                }
                let here = found.filter(|(place, _)| *place == Place { entry, block, line });
                out.push((side, Row { found: here.map(|(_, count)| count), ..row.clone() }));
            }
            self.last = entry;
            (block, skip) = (block + 1, 0);
        }
        // A gap needs nobody above it.
        if out.first().is_some_and(|(_, row)| *row == Row::blank()) && top == Place::default() {
            out.remove(0);
        }
        out
    }

    fn lines_of(&mut self, entry: usize, block: usize, times: &Times) -> usize {
        self.rows_of(entry, block, times).len()
    }

    fn blocks_at(&mut self, entry: usize) -> Arc<[Block]> {
        if let Some(blocks) = self.blocks.get(&entry) {
            return Arc::clone(blocks);
        }
        let blocks: Arc<[Block]> =
            self.thread.as_deref().map(|thread| blocks_of(thread, entry, self.detail)).unwrap_or_default().into();
        if !blocks.is_empty() {
            if self.blocks.len() >= KEPT {
                self.blocks.clear();
            }
            self.blocks.insert(entry, Arc::clone(&blocks));
        }
        blocks
    }

    fn columns_of(&self, block: &Block) -> usize {
        match block.side {
            Some(_) if self.split => (self.columns.saturating_sub(3) / 2).max(1),
            _ => self.columns,
        }
    }

    /// The rows of a block. Texts are the only ones that are dear to lay out, so their rows are kept.
    fn rows_of(&mut self, entry: usize, at: usize, times: &Times) -> Arc<[Row]> {
        let blocks = self.blocks_at(entry);
        let Some(block) = blocks.get(at) else { return Arc::default() };
        let columns = self.columns_of(block);
        let (text, start, marks) = match &block.kind {
            BlockKind::Words { text, piece, marks, .. } => (text, piece.range.0, marks.len()),
            BlockKind::Change { after, .. } => (after, 0, usize::MAX),
            _ => return block.rows(columns, self.wide, times).into(),
        };
        let key = (Arc::as_ptr(text).cast::<u8>() as usize, start, columns, marks);
        if let Some((_, rows)) = self.rows.get(&key) {
            return Arc::clone(rows);
        }
        let rows: Arc<[Row]> = block.rows(columns, self.wide, times).into();
        self.laid_out += block.source().map_or(text.len(), str::len);
        if self.rows.len() >= KEPT || self.rows_kept + rows.len() > KEPT_ROWS {
            self.rows.clear();
            self.rows_kept = 0;
        }
        self.rows_kept += rows.len();
        self.rows.insert(key, (Arc::clone(text), Arc::clone(&rows)));
        rows
    }
}

fn is_message(entry: &ThreadEntry) -> bool {
    match &entry.kind {
        ThreadKind::Said { item, .. } => matches!(item.kind, crate::model::conversation::ItemKind::Text { .. }),
        ThreadKind::Human { .. } | ThreadKind::Carried { .. } | ThreadKind::Relay { .. } => true,
        ThreadKind::Phase { .. } | ThreadKind::Again { .. } | ThreadKind::Ended { .. } => false,
    }
}

/// Whether two entries are the same thing, though it may have gone on since.
fn is_same(one: &ThreadEntry, other: &ThreadEntry) -> bool {
    match (&one.kind, &other.kind) {
        (ThreadKind::Said { role, item, .. }, ThreadKind::Said { role: other_role, item: other, .. }) => {
            role == other_role && item.offset == other.offset && item.kind == other.kind
        }
        (ThreadKind::Relay { n, to, text, .. }, ThreadKind::Relay { n: m, to: other, text: words, .. }) => {
            (n, to, text) == (m, other, words)
        }
        _ => one == other,
    }
}

/// Where an entry stands after the conversation has changed: others may have come in before it.
fn moved_to(old: &Thread, new: &Thread, at: usize) -> usize {
    let Some(entry) = old.entries.get(at) else { return at };
    let is_it = |at: &usize| new.entries.get(*at).is_some_and(|other| is_same(entry, other));
    let near = (0..NEAR).flat_map(|by| [Some(at + by), at.checked_sub(by)]).flatten();
    // Or very much others: what stood before the end that was shown first.
    let far = || new.entries.iter().rposition(|other| is_same(entry, other));
    near.into_iter().find(is_it).or_else(far).unwrap_or(at)
}

/// The first entry that is not the same in both; entries that share their texts are told apart without reading them.
fn first_difference(old: &Thread, new: &Thread) -> usize {
    let shared = old.entries.same_start(&new.entries);
    let behind = old.entries.iter().skip(shared).zip(new.entries.iter().skip(shared));
    shared + behind.take_while(|(old, new)| is_same(old, new)).count()
}

#[cfg(test)]
#[path = "scroll_tests.rs"]
mod tests;
