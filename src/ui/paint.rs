//! Rows into cells: margins, cursor, cutting, sideways scrolling, matches. The only place where text gets a position.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::row::{Hit, Row, Rule, Span, Tone, spans_width};
use super::theme::Theme;
use super::width::{columns, cut, skip, width};

/// Paints into a buffer.
#[derive(Debug)]
pub struct Painter<'a> {
    buffer: &'a mut Buffer,
    theme: &'a Theme,
    /// Columns by which sliding rows are moved to the left.
    pub sideways: usize,
    /// Matches of this (lower case) are shown.
    pub needle: String,
    /// What can be clicked: row, columns, meaning.
    pub hits: Vec<(u16, Range<u16>, Hit)>,
    /// Where the terminal's cursor belongs.
    pub cursor: Option<(u16, u16)>,
}

impl<'a> Painter<'a> {
    /// On a buffer, with a theme.
    #[must_use]
    pub fn new(buffer: &'a mut Buffer, theme: &'a Theme) -> Self {
        let area = buffer.area;
        buffer.set_style(area, theme.ground());
        Self { buffer, theme, sideways: 0, needle: String::new(), hits: Vec::new(), cursor: None }
    }

    /// Rows from the top of an area down; what does not fit is left out.
    pub fn rows<'r>(&mut self, area: Rect, rows: impl IntoIterator<Item = &'r Row>) {
        for (y, row) in (area.y..area.bottom()).zip(rows) {
            self.row(Rect { y, height: 1, ..area }, row);
        }
    }

    /// Takes away what was drawn there.
    pub fn blank(&mut self, area: Rect) {
        for y in area.y..area.bottom() {
            for x in area.x..area.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
    }

    /// One row: a margin column on both sides, the left one for the cursor.
    pub fn row(&mut self, area: Rect, row: &Row) {
        if area.width == 0 || area.height == 0 {
            return;
        }
        if let Some(rule) = row.rule {
            self.rule(area, rule, &row.body, &row.tail);
            return;
        }
        if row.selected {
            self.buffer.set_style(area, Style::new().add_modifier(Modifier::REVERSED));
        }
        if row.selected || row.marked || row.found.is_some() {
            self.put(area.x, area.y, 1, "▸", Style::new());
        }
        let room = usize::from(area.width.saturating_sub(2));
        let left = area.x + 1;
        let tail = spans_width(&row.tail).min(room);
        let lead = spans_width(&row.lead).min(room);
        let gap = usize::from(tail > 0);
        let mut body = room.saturating_sub(lead + tail + gap);
        if row.tail.is_empty() && spans_width(&row.body) == body + 1 {
            // A line that ends in the margin is better than one that is cut off.
            body += 1;
        }
        self.spans(left, area.y, lead, &row.lead, 0);
        let shift = if row.slides { self.sideways } else { 0 };
        self.spans(left + columns(lead), area.y, body, &row.body, shift);
        self.spans(left + columns(room - tail), area.y, tail, &row.tail, 0);
        // Behind those of its parts: what is hit first counts.
        if let Some(hit) = &row.hit {
            self.hits.push((area.y, area.x..area.right(), hit.clone()));
        }
        self.show_matches(area, row);
    }

    fn spans(&mut self, x: u16, y: u16, room: usize, spans: &[Span], shift: usize) {
        let (mut at, mut left, mut gone) = (x, room, shift);
        let all = spans_width(spans);
        let mut rest = all.saturating_sub(shift);
        if shift > 0 && all > 0 && rest == 0 {
            self.put(x, y, room, "…", self.theme.looks(Tone::Text).words);
        }
        for span in spans {
            let mut words = span.text().to_owned();
            if gone > 0 {
                let whole = span.width();
                words = if whole <= gone { String::new() } else { skip(&words, gone) };
                gone = gone.saturating_sub(whole);
            }
            if at == x && shift > 0 && !words.is_empty() {
                // The first column says that something is cut off before it.
                words = format!("…{}", skip(&words, 1));
            }
            let wide = width(&words);
            // The span that meets the edge shows that something is cut off.
            let shown = if rest > left && wide >= left { cut_with_mark(&words, left) } else { words };
            let used = width(&shown);
            let looks = self.theme.looks(span.tone());
            self.put(at, y, left, &shown, looks.words);
            if looks.sign != looks.words {
                self.put(at, y, left, sign_of(&shown), looks.sign);
            }
            if let Some(hit) = span.hit() {
                self.hits.push((y, at..at + columns(used), hit.clone()));
            }
            at += columns(used);
            left -= used.min(left);
            rest -= wide.min(rest);
            if left == 0 {
                break;
            }
        }
    }

    fn put(&mut self, x: u16, y: u16, room: usize, words: &str, style: Style) {
        let area = self.buffer.area;
        if x < area.right() && y < area.bottom() {
            self.buffer.set_stringn(x, y, words, room, style);
        }
    }

    fn rule(&mut self, area: Rect, rule: Rule, label: &[Span], tail: &[Span]) {
        let stroke = match rule {
            Rule::Single => "─",
            Rule::Double => "═",
        };
        for x in area.x..area.right() {
            self.put(x, area.y, 1, stroke, self.theme.looks(Tone::Text).words);
        }
        if !label.is_empty() {
            let room = usize::from(area.width.saturating_sub(4));
            self.spans(area.x + 2, area.y, room, label, 0);
            // Where it leaves a piece of the rule between them.
            let (label, tail_width) = (spans_width(label), spans_width(tail));
            if tail_width > 0 && label + tail_width + 2 < room {
                let x = area.right().saturating_sub(columns(tail_width) + 1);
                self.spans(x, area.y, tail_width, tail, 0);
            }
        }
    }

    /// A vertical line.
    pub fn vertical(&mut self, x: u16, rows: Range<u16>) {
        for y in rows {
            self.put(x, y, 1, "│", self.theme.looks(Tone::Text).words);
        }
    }

    /// Makes rules and verticals meet, in the columns where verticals are.
    pub fn join(&mut self, verticals: &[u16]) {
        let symbol = |buffer: &Buffer, x: u16, y: u16| buffer.cell((x, y)).map_or(" ", |cell| cell.symbol()).to_owned();
        let is_vertical = |s: &str| matches!(s, "│" | "┼" | "├" | "┤" | "┬" | "┴");
        for x in verticals.iter().copied() {
            for y in self.buffer.area.y..self.buffer.area.bottom() {
                let here = symbol(self.buffer, x, y);
                if !matches!(here.as_str(), "─" | "═" | "│") {
                    continue;
                }
                let horizontal = |s: String| matches!(s.as_str(), "─" | "═");
                let left = x > 0 && horizontal(symbol(self.buffer, x - 1, y));
                let right = horizontal(symbol(self.buffer, x + 1, y));
                let up = y > 0 && is_vertical(&symbol(self.buffer, x, y - 1));
                let below = symbol(self.buffer, x, y + 1);
                let down = is_vertical(&below);
                let joint = match (up, down, left, right) {
                    (true, true, true, true) => "┼",
                    (true, true, false, true) => "├",
                    (true, true, true, false) => "┤",
                    (false, true, true, true) => "┬",
                    (true, false, true, true) => "┴",
                    _ => continue,
                };
                self.put(x, y, 1, joint, self.theme.looks(Tone::Text).words);
            }
        }
    }

    fn show_matches(&mut self, area: Rect, row: &Row) {
        if self.needle.is_empty() {
            return;
        }
        let words = row.words();
        let lower = words.to_lowercase();
        if lower.len() != words.len() {
            return;
        }
        let (mut from, mut count) = (0, 0);
        while let Some(found) = lower.get(from..).and_then(|rest| rest.find(&self.needle)) {
            let at = from + found;
            let end = at + self.needle.len();
            let before = width(words.get(..at).unwrap_or(""));
            let long = width(words.get(at..end).unwrap_or(""));
            let shift = if row.slides { self.sideways } else { 0 };
            let x = area.x.saturating_add(columns(1 + before)).saturating_sub(columns(shift));
            let place = Rect { x, y: area.y, width: columns(long), height: 1 }.intersection(area);
            if !row.tail.is_empty() || place.is_empty() {
                break;
            }
            // The one that the search stands at is told from the others.
            let looks = if row.found == Some(count) { Modifier::REVERSED } else { Modifier::UNDERLINED };
            self.buffer.set_style(place, Style::new().add_modifier(looks));
            count += 1;
            from = end.max(from + 1);
        }
    }
}

/// What stands before the first letter, digit or blank.
fn sign_of(words: &str) -> &str {
    let end = words.find(|c: char| c.is_alphanumeric() || c.is_whitespace()).unwrap_or(words.len());
    words.get(..end).unwrap_or("")
}

fn cut_with_mark(words: &str, room: usize) -> String {
    if width(words) > room {
        return cut(words, room);
    }
    // It fits exactly, but something follows that does not.
    let kept = super::width::head(words, room.saturating_sub(1));
    if room == 0 { String::new() } else { format!("{kept}…") }
}
