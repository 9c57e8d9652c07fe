//! How a block of a conversation looks in so many columns. Which blocks there are is in `talk`.

use crate::model::outbox::EntryState;
use crate::ui::change;
use crate::ui::markdown;
use crate::ui::row::{Row, Tone, text, toned};
use crate::ui::times::Times;
use crate::ui::width::{skip, width};
use crate::ui::wrap::{wrap, wrap_text};

use super::{Block, BlockKind, Piece, RelayLine};

impl Block {
    /// Its rows in `columns`. `wide`: with gaps between speakers, folded tools in the heading and seconds in times.
    #[must_use]
    pub fn rows(&self, columns: usize, wide: bool, times: &Times) -> Vec<Row> {
        let room = columns.saturating_sub(2);
        let indented = |rows: Vec<Row>| rows.into_iter().map(|row| row.indent(2)).collect();
        match &self.kind {
            BlockKind::Gap if wide => vec![Row::blank()],
            BlockKind::Heading { at, who, tools } => {
                let clock = at.map_or_else(|| "     ".to_owned(), |at| times.clock(at));
                let row = Row::of(vec![text(clock), text("  "), toned(Tone::Strong, who)]);
                vec![if wide && !tools.is_empty() { row.tail(vec![text(tools)]) } else { row }]
            }
            BlockKind::Words { thinking, .. } => self.word_rows(columns, *thinking),
            BlockKind::Change { before, after } => indented(change::rows(before, after, room, &[])),
            BlockKind::Folded(tools) if !wide => indented(wrap(&[text(tools)], room, &[text("+ ")])),
            BlockKind::Gap | BlockKind::Folded(_) => Vec::new(),
            BlockKind::Tool { words, failed } => {
                // Of a path the end says most; a command or a pattern begins with what it does.
                let room = if *failed { room.saturating_sub(9) } else { room };
                let mut row = Row::of(vec![text(cut_path(words, room))]).indent(2);
                if *failed {
                    row = row.tail(vec![toned(Tone::Failed, "✗ failed")]);
                }
                vec![row]
            }
            BlockKind::Relay(line) => line.rows(columns, wide, times),
            BlockKind::Part(words) => vec![Row::of(vec![toned(Tone::Strong, words)])],
            BlockKind::Remark(tone, words) => indented(wrap_text(words, *tone, room)),
        }
    }

    fn word_rows(&self, columns: usize, thinking: bool) -> Vec<Row> {
        let BlockKind::Words { text: whole, piece, marks, .. } = &self.kind else { return Vec::new() };
        let Some(source) = self.source() else { return Vec::new() };
        let fenced = fence_of(whole, *piece).map(|fence| format!("{fence}\n{source}"));
        let indent = if thinking { 4 } else { 2 };
        let marks = marks_in(whole, *piece, marks, usize::from(fenced.is_some()));
        let rows = markdown::rows(fenced.as_deref().unwrap_or(source), columns.saturating_sub(indent), &marks);
        rows.into_iter()
            .map(|mut row| {
                if thinking {
                    row.lead.insert(0, text("~ "));
                }
                row.indent(2)
            })
            .collect()
    }

    /// The part of a text it shows, if it shows one.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        match &self.kind {
            BlockKind::Words { text, piece, .. } => text.get(piece.range.0..piece.range.1),
            _ => None,
        }
    }
}

/// A tool's line in `room`: of a path that is too long the folders in front go.
fn cut_path(words: &str, room: usize) -> String {
    let over = width(words).saturating_sub(room);
    let path = words.split(' ').max_by_key(|word| if word.contains('/') { word.len() } else { 0 });
    match path.filter(|path| over > 0 && path.contains('/')) {
        Some(path) => {
            let keep = width(path.rsplit('/').next().unwrap_or("")) + 1;
            let gone = (over + 1).min(width(path).saturating_sub(keep));
            words.replacen(path, &format!("…{}", skip(path, gone)), 1)
        }
        None => words.to_owned(),
    }
}

/// The line that opened the fence around a piece.
fn fence_of(whole: &str, piece: Piece) -> Option<&str> {
    piece.fence.and_then(|(from, to)| whole.get(from..to))
}

/// Line numbers of the whole text as those of a piece.
fn marks_in(whole: &str, piece: Piece, marks: &[u32], added: usize) -> Vec<usize> {
    if marks.is_empty() {
        return Vec::new();
    }
    let before = whole.get(..piece.range.0).unwrap_or("").matches('\n').count();
    marks.iter().filter_map(|line| usize::try_from(*line).ok()?.checked_sub(before).map(|line| line + added)).collect()
}

impl RelayLine {
    fn rows(&self, columns: usize, wide: bool, times: &Times) -> Vec<Row> {
        let mut words = self.what.clone();
        if self.edited {
            words.push_str(" · edited by you");
        }
        match (self.state, self.seen_at, self.sent_at) {
            (EntryState::Withdrawn, ..) => words.push_str(" · taken back"),
            (EntryState::Abandoned, ..) => words.push_str(" · given up"),
            (_, Some(seen), Some(sent)) if wide && !self.edited => {
                words.push_str(" · sent ");
                words.push_str(&times.clock_seconds(sent));
                words.push_str(" · seen ");
                words.push_str(&times.clock_seconds(seen));
            }
            (_, Some(seen), _) => {
                words.push_str(" · seen ");
                words.push_str(&if wide { times.clock_seconds(seen) } else { times.clock(seen) });
            }
            (EntryState::Queued, None, _) => words.push_str(" · in its queue"),
            (_, None, Some(sent)) => {
                words.push_str(" · sent ");
                words.push_str(&if wide { times.clock_seconds(sent) } else { times.clock(sent) });
                words.push_str(" · not seen yet");
            }
            (_, None, None) => words.push_str(" · waits to go out"),
        }
        wrap(&[toned(Tone::Relay, words)], columns.saturating_sub(2), &[toned(Tone::Relay, "↳ ")])
            .into_iter()
            .map(|row| row.indent(2))
            .collect()
    }
}
