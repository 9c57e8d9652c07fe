//! Where a view stands in a conversation: an anchor at a block and a line of it, or following the end.
//! Measures the blocks it passes and no others, so the length of the whole costs nothing and nothing can overflow.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::ids::Role;
use crate::projection::Thread;

use super::row::Row;
use super::talk::{Block, BlockKind, Detail, blocks};
use super::times::Times;

/// Rendered texts that are kept.
const KEPT: usize = 256;

/// A text's address and range, its width: the text is kept with the rows, so the address stays its own.
type CacheKey = (usize, usize, usize, usize);

/// The view of one conversation.
#[derive(Debug, Default)]
pub struct Scroll {
    thread: Option<Arc<Thread>>,
    detail: Detail,
    blocks: Vec<Block>,
    top: (usize, usize),
    away: bool,
    known: usize,
    height: usize,
    columns: usize,
    wide: bool,
    split: bool,
    /// Columns by which code and tables are moved to the left.
    pub sideways: usize,
    /// What is looked for, in lower case; empty: nothing.
    pub needle: String,
    cache: HashMap<CacheKey, (Arc<str>, Vec<Row>)>,
}

/// A row of the view and the side it belongs to when the sides stand side by side.
pub type SidedRow = (Option<Role>, Row);

impl Scroll {
    /// Takes the newest thread; the view stays where it is.
    pub fn set(&mut self, thread: Option<&Arc<Thread>>) {
        let same = match (&self.thread, thread) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            _ => false,
        };
        if same {
            return;
        }
        let same_subject = match (&self.thread, thread) {
            (Some(old), Some(new)) => old.record == new.record && old.session == new.session,
            _ => false,
        };
        self.thread = thread.map(Arc::clone);
        self.rebuild();
        if !same_subject {
            self.follow();
            self.cache.clear();
        } else if self.top.0 >= self.blocks.len() {
            self.follow();
        }
    }

    fn rebuild(&mut self) {
        self.blocks = self.thread.as_deref().map(|thread| blocks(thread, self.detail)).unwrap_or_default();
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
        let entry = self.blocks.get(self.top.0).map(|block| block.entry);
        self.detail = self.detail.next();
        self.rebuild();
        if let Some(entry) = entry {
            self.top = (self.blocks.iter().position(|block| block.entry >= entry).unwrap_or(0), 0);
        }
    }

    /// Follows the end.
    pub fn follow(&mut self) {
        self.away = false;
        self.known = self.entries();
    }

    /// Whether it follows the end.
    #[must_use]
    pub const fn follows(&self) -> bool {
        !self.away
    }

    /// Entries that came since it stopped following.
    #[must_use]
    pub fn unread(&self) -> usize {
        if self.away { self.entries().saturating_sub(self.known) } else { 0 }
    }

    fn entries(&self) -> usize {
        self.thread.as_deref().map_or(0, |thread| thread.entries.len())
    }

    /// Nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// To the beginning.
    pub fn to_start(&mut self) {
        self.leave_end();
        self.top = (0, 0);
    }

    fn leave_end(&mut self) {
        if !self.away {
            self.away = true;
            self.known = self.entries();
        }
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
            self.leave_end();
        }
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
        let lines = self.lines_of(self.top.0, times);
        if self.top.1 + 1 < lines {
            self.top.1 += 1;
            return true;
        }
        let mut next = self.top.0 + 1;
        while next < self.blocks.len() && self.lines_of(next, times) == 0 {
            next += 1;
        }
        if next < self.blocks.len() {
            self.top = (next, 0);
            return true;
        }
        false
    }

    fn one_up(&mut self, times: &Times) -> bool {
        if self.top.1 > 0 {
            self.top.1 -= 1;
            return true;
        }
        let mut before = self.top.0;
        while before > 0 {
            before -= 1;
            let lines = self.lines_of(before, times);
            if lines > 0 {
                self.top = (before, lines - 1);
                return true;
            }
        }
        false
    }

    /// By pages, with one line of overlap.
    pub fn page(&mut self, pages: isize, times: &Times) {
        let lines = isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(1);
        self.move_by(pages * lines, times);
    }

    /// The top at which the last line stands at the bottom.
    fn bottom(&mut self, times: &Times) -> (usize, usize) {
        let mut left = self.height.max(1);
        let mut at = self.blocks.len();
        while at > 0 {
            at -= 1;
            let lines = self.lines_of(at, times);
            if lines >= left {
                return (at, lines - left);
            }
            left -= lines;
        }
        (0, 0)
    }

    /// To the block before or after the top that `wanted` accepts.
    pub fn jump(&mut self, forward: bool, wanted: impl Fn(&Block) -> bool, times: &Times) -> bool {
        if self.follows() {
            self.top = self.bottom(times);
        }
        let from = self.top.0;
        let found = if forward {
            self.blocks.iter().enumerate().skip(from + 1).find(|(_, block)| wanted(block)).map(|(at, _)| at)
        } else {
            self.blocks.iter().enumerate().take(from).rev().find(|(_, block)| wanted(block)).map(|(at, _)| at)
        };
        let Some(at) = found else { return false };
        self.leave_end();
        self.top = (at, 0);
        if forward {
            self.follow_at_end(times);
        }
        true
    }

    /// To the next or previous block that holds the needle, around the end.
    pub fn find(&mut self, forward: bool, times: &Times) -> bool {
        if self.needle.is_empty() {
            return false;
        }
        let needle = self.needle.clone();
        if self.follows() {
            self.top = self.bottom(times);
        }
        let count = self.blocks.len();
        let from = self.top.0;
        let hit = (1..=count)
            .map(|step| if forward { (from + step) % count } else { (from + count - step % count) % count })
            .find(|at| self.blocks.get(*at).is_some_and(|block| block.holds(&needle)));
        let Some(at) = hit else { return false };
        self.leave_end();
        let line = self.block_rows(at, times).iter().position(|row| row.words().to_lowercase().contains(&needle));
        self.top = (at, line.unwrap_or(0));
        true
    }

    /// To the last block that `wanted` accepts.
    pub fn show_last(&mut self, wanted: impl Fn(&Block) -> bool) -> bool {
        let Some(at) = self.blocks.iter().rposition(wanted) else { return false };
        self.leave_end();
        self.top = (at, 0);
        true
    }

    /// The text nearest to the end of the view (the newest when it follows), and the entry it belongs to.
    #[must_use]
    pub fn text_in_view(&self) -> Option<(Arc<str>, usize)> {
        let from = if self.follows() { 0 } else { self.top.0 };
        let words = |block: &Block| match &block.kind {
            BlockKind::Words { text, .. } => Some((Arc::clone(text), block.entry)),
            _ => None,
        };
        if self.follows() {
            self.blocks.iter().rev().find_map(words)
        } else {
            self.blocks.iter().skip(from).find_map(words)
        }
    }

    /// The rows of the view in an area of `columns` by `height`.
    pub fn rows(&mut self, columns: usize, height: usize, wide: bool, split: bool, times: &Times) -> Vec<SidedRow> {
        if (self.columns, self.wide, self.split) != (columns, wide, split) {
            // Lines break elsewhere now; the block stays in view, its line may not exist any more.
            self.top.1 = 0;
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
        let mut out = Vec::with_capacity(height);
        let (mut at, mut skip) = top;
        while out.len() < height && at < self.blocks.len() {
            let side = self.blocks.get(at).and_then(|block| block.side);
            let room = height - out.len();
            out.extend(self.block_rows(at, times).into_iter().skip(skip).take(room).map(|row| (side, row)));
            skip = 0;
            at += 1;
        }
        // A gap needs nobody above it.
        if out.first().is_some_and(|(_, row)| *row == Row::blank()) && top == (0, 0) {
            out.remove(0);
        }
        out
    }

    fn lines_of(&mut self, at: usize, times: &Times) -> usize {
        match self.blocks.get(at).map(|block| &block.kind) {
            Some(BlockKind::Words { .. }) => self.cached(at, times).map_or(0, Vec::len),
            Some(_) => self.block_rows(at, times).len(),
            None => 0,
        }
    }

    fn block_rows(&mut self, at: usize, times: &Times) -> Vec<Row> {
        if let Some(rows) = self.cached(at, times) {
            return rows.clone();
        }
        let (columns, wide) = (self.columns_of(at), self.wide);
        self.blocks.get(at).map(|block| block.rows(columns, wide, times)).unwrap_or_default()
    }

    fn columns_of(&self, at: usize) -> usize {
        match self.blocks.get(at).and_then(|block| block.side) {
            Some(_) if self.split => (self.columns.saturating_sub(3) / 2).max(1),
            _ => self.columns,
        }
    }

    /// Texts are the only blocks that are dear to measure.
    fn cached(&mut self, at: usize, times: &Times) -> Option<&Vec<Row>> {
        let columns = self.columns_of(at);
        let block = self.blocks.get(at)?;
        let BlockKind::Words { text, range, .. } = &block.kind else { return None };
        let key = (Arc::as_ptr(text).cast::<u8>() as usize, range.0, range.1, columns);
        if !self.cache.contains_key(&key) {
            if self.cache.len() >= KEPT {
                self.cache.clear();
            }
            self.cache.insert(key, (Arc::clone(text), block.rows(columns, self.wide, times)));
        }
        self.cache.get(&key).map(|(_, rows)| rows)
    }
}

#[cfg(test)]
#[path = "scroll_tests.rs"]
mod tests;
