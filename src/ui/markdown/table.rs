//! A table of Markdown: its cells while it is read, its lines once it is whole. Too wide ones are scrolled sideways.

use pulldown_cmark::Alignment;

use crate::ui::row::{Span, Tone, spans_width, text, toned};

/// Columns that a cell is padded to at most: one endless cell must not make every line of its table endless.
const WIDEST: usize = 160;

/// A table that is read.
#[derive(Default)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    lines: Vec<Vec<Vec<Span>>>,
    /// The cell that is being read.
    pub(super) cell: Vec<Span>,
    /// Where the last cell ended in the source.
    pub(super) end: usize,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, ..Self::default() }
    }

    pub(super) fn begin_line(&mut self, at: usize) {
        self.end = at;
        self.lines.push(Vec::new());
    }

    pub(super) fn end_cell(&mut self, at: usize) {
        self.end = at;
        let cell = std::mem::take(&mut self.cell);
        if let Some(line) = self.lines.last_mut() {
            line.push(cell);
        }
    }

    /// What stands in a line behind its last cell: more cells than the head has are no part of a table, but of the text.
    pub(super) fn surplus(&mut self, words: &str) {
        let words = words.trim().trim_matches('|').trim();
        if !words.is_empty() {
            self.cell.push(text(words));
            let end = self.end;
            self.end_cell(end);
        }
    }

    /// Its lines, each as spans.
    pub(super) fn into_lines(self) -> Vec<Vec<Span>> {
        let count = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..count)
            .map(|at| {
                let cells = self.lines.iter().filter_map(|line| line.get(at));
                cells.map(|cell| spans_width(cell)).max().unwrap_or(0).min(WIDEST)
            })
            .collect();
        let mut out = Vec::with_capacity(self.lines.len() + 1);
        for (index, line) in self.lines.into_iter().enumerate() {
            let is_head = index == 0;
            let mut spans = Vec::new();
            let mut cells = line.into_iter();
            for (at, columns) in widths.iter().enumerate() {
                let cell = cells.next().unwrap_or_default();
                let free = columns.saturating_sub(spans_width(&cell));
                let before = match self.alignments.get(at) {
                    Some(Alignment::Right) => free,
                    Some(Alignment::Center) => free / 2,
                    _ => 0,
                };
                let gap = if at == 0 { 0 } else { 2 };
                spans.push(text(" ".repeat(gap + before)));
                spans
                    .extend(cell.into_iter().map(|span| if is_head { toned(Tone::Strong, span.text()) } else { span }));
                if at + 1 < count {
                    spans.push(text(" ".repeat(free - before)));
                }
            }
            spans.retain(|span| !span.text().is_empty());
            out.push(spans);
            if is_head {
                let rule: Vec<String> = widths.iter().map(|columns| "─".repeat(*columns)).collect();
                out.push(vec![text(rule.join("  "))]);
            }
        }
        out
    }
}
