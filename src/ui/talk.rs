//! A conversation cut into blocks: headings, texts, tool lines, relay lines. A block is measured only when it is looked at.
//! Where the view stands in it is in `scroll`; nothing here knows the height of the whole.

use std::sync::Arc;

use jiff::Timestamp;

use crate::model::conversation::{Item, ItemKind};
use crate::model::ids::Role;
use crate::model::outbox::{EntryState, Purpose};
use crate::projection::{Thread, ThreadEntry, ThreadKind};

use super::markdown;
use super::row::{Row, Tone, text, toned};
use super::times::Times;
use super::wrap::{wrap, wrap_text};

/// Bytes of a text that are drawn as one block; longer ones are cut at a line.
const BLOCK_BYTES: usize = 32 * 1_024;

/// How much of the agents' work is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Detail {
    /// Answers, tools as one line.
    #[default]
    Answers,
    /// And each tool.
    Tools,
    /// And reasoning.
    Thinking,
}

impl Detail {
    /// The next of the three.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Answers => Self::Tools,
            Self::Tools => Self::Thinking,
            Self::Thinking => Self::Answers,
        }
    }

    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Answers => "answers",
            Self::Tools => "answers and tools",
            Self::Thinking => "answers, tools and thinking",
        }
    }
}

/// One block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The column it belongs to when sides stand side by side; `None`: across both.
    pub side: Option<Role>,
    /// The entry of the thread it begins at.
    pub entry: usize,
    /// What it is.
    pub kind: BlockKind,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockKind {
    /// Who speaks, and when.
    Heading {
        /// When.
        at: Option<Timestamp>,
        /// Who does what.
        who: String,
        /// Folded tools, shown at the right where there is room.
        tools: String,
    },
    /// An agent's or a person's text: a range of a shared one.
    Words {
        /// The text.
        text: Arc<str>,
        /// Its range, in bytes.
        range: (usize, usize),
        /// Reasoning.
        thinking: bool,
        /// An open code fence reaches into it.
        in_fence: bool,
    },
    /// Folded tools on a line of their own (narrow only).
    Folded(String),
    /// One tool call.
    Tool {
        /// `· run   cargo test`.
        words: String,
        /// It failed.
        failed: bool,
    },
    /// A message of trellis.
    Relay(RelayLine),
    /// A line that parts phases; cut where it is too long.
    Part(String),
    /// A remark.
    Remark(Tone, String),
    /// An empty line (wide only).
    Gap,
}

/// What the line of a message says.
#[derive(Clone, Debug, PartialEq)]
pub struct RelayLine {
    /// `relay 3 to codex`.
    pub what: String,
    /// When the last key was pressed.
    pub sent_at: Option<Timestamp>,
    /// When it was seen.
    pub seen_at: Option<Timestamp>,
    /// Where it is.
    pub state: EntryState,
    /// A person edited it.
    pub edited: bool,
}

/// All blocks of a thread.
#[must_use]
pub fn blocks(thread: &Thread, detail: Detail) -> Vec<Block> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(entry) = thread.entries.get(at) {
        let end = group_end(&thread.entries, at);
        if let ThreadKind::Said { role, label, .. } = &entry.kind {
            let group = thread.entries.get(at..end).unwrap_or_default();
            let is_last = end == thread.entries.len();
            // A session by itself has no part in a run to be named after.
            let who = match (thread.session.is_some(), *role) {
                (true, _) => label.clone(),
                (false, Role::Reviewer) => format!("{label} reviews"),
                (false, Role::Implementer) => format!("{label} builds"),
            };
            said(&mut out, at, group, (*role, &who), detail, is_last);
        } else {
            other(&mut out, at, entry);
        }
        at = end;
    }
    out
}

/// Entries of one side that follow each other make one group.
fn group_end(entries: &[ThreadEntry], from: usize) -> usize {
    let role_of = |entry: &ThreadEntry| match &entry.kind {
        ThreadKind::Said { role, .. } => Some(*role),
        _ => None,
    };
    let Some(role) = entries.get(from).and_then(role_of) else { return from + 1 };
    let length = entries.iter().skip(from).take_while(|entry| role_of(entry) == Some(role)).count();
    from + length.max(1)
}

fn said(
    out: &mut Vec<Block>,
    first: usize,
    group: &[ThreadEntry],
    (role, who): (Role, &str),
    detail: Detail,
    is_last: bool,
) {
    let items: Vec<&Item> = group
        .iter()
        .filter_map(|entry| match &entry.kind {
            ThreadKind::Said { item, .. } => Some(item),
            _ => None,
        })
        .collect();
    let tools = folded(&items);
    let at = group.first().and_then(|entry| entry.at);
    let side = Some(role);
    let mut push = |entry: usize, kind| out.push(Block { side, entry, kind });
    push(first, BlockKind::Gap);
    push(first, BlockKind::Heading { at, who: who.to_owned(), tools: tools.clone() });
    let answer = items.iter().rposition(|item| matches!(item.kind, ItemKind::Text { .. }));
    for (index, item) in items.iter().enumerate() {
        let entry = first + index;
        match &item.kind {
            ItemKind::Text { text, .. } if detail != Detail::Answers || answer == Some(index) => {
                for kind in words(text, false) {
                    push(entry, kind);
                }
            }
            ItemKind::Thinking { text } if detail == Detail::Thinking => {
                for kind in words(text, true) {
                    push(entry, kind);
                }
            }
            ItemKind::Tool { name, summary, lines, ok, .. } => {
                let runs_now = ok.is_none() && is_last;
                if detail != Detail::Answers || runs_now {
                    let words = tool_words(name, summary, *lines);
                    push(entry, BlockKind::Tool { words, failed: *ok == Some(false) });
                }
            }
            ItemKind::Report { text } if detail != Detail::Answers => {
                push(entry, BlockKind::Remark(Tone::Relay, format!("a background agent reports: {text}")));
            }
            ItemKind::Text { .. } | ItemKind::Thinking { .. } | ItemKind::Report { .. } => {}
            ItemKind::Compaction => {
                let words = "the conversation was compacted".to_owned();
                push(entry, BlockKind::Remark(Tone::Relay, words));
            }
            ItemKind::Notice { text } => push(entry, BlockKind::Remark(Tone::Held, text.to_string())),
        }
    }
    if detail == Detail::Answers && !tools.is_empty() {
        push(first, BlockKind::Folded(tools));
    }
}

fn tool_words(name: &str, summary: &str, lines: Option<(u32, u32)>) -> String {
    let counts = lines.map(|(added, removed)| format!("  +{added} −{removed}")).unwrap_or_default();
    let verb = match name {
        "Read" | "NotebookRead" | "read_file" | "view" => "read ",
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "apply_patch" => "edit ",
        "Bash" | "shell" | "exec_command" | "local_shell" => "run  ",
        other => other,
    };
    format!("· {verb} {summary}{counts}")
}

/// `6 tools · 4 files +212 −9`.
fn folded(items: &[&Item]) -> String {
    let mut count = 0_usize;
    let mut files: Vec<&str> = Vec::new();
    let (mut added, mut removed) = (0_u64, 0_u64);
    for item in items {
        let ItemKind::Tool { summary, lines, .. } = &item.kind else { continue };
        count += 1;
        if let Some((plus, minus)) = lines {
            added += u64::from(*plus);
            removed += u64::from(*minus);
            if !files.contains(&summary.as_str()) {
                files.push(summary);
            }
        }
    }
    let tools = match count {
        0 => return String::new(),
        1 => "1 tool".to_owned(),
        n => format!("{n} tools"),
    };
    match files.len() {
        0 => tools,
        1 => format!("{tools} · 1 file +{added} −{removed}"),
        n => format!("{tools} · {n} files +{added} −{removed}"),
    }
}

fn other(out: &mut Vec<Block>, entry: usize, what: &ThreadEntry) {
    let mut push = |side, kind| out.push(Block { side, entry, kind });
    match &what.kind {
        ThreadKind::Said { .. } => {}
        ThreadKind::Human { role, label, text } => {
            push(Some(*role), BlockKind::Gap);
            let who = format!("you to {label}");
            push(Some(*role), BlockKind::Heading { at: what.at, who, tools: String::new() });
            for kind in words(text, false) {
                push(Some(*role), kind);
            }
        }
        ThreadKind::Relay { n, purpose, label, sent_at, seen_at, state, edited, text, .. } => {
            let line = RelayLine {
                what: relay_words(*n, *purpose, label),
                sent_at: *sent_at,
                seen_at: *seen_at,
                state: *state,
                edited: *edited,
            };
            push(None, BlockKind::Relay(line));
            if *edited || *purpose == Purpose::User {
                for kind in words(text, false) {
                    push(None, kind);
                }
            }
        }
        ThreadKind::Phase { n, summary } => {
            push(None, BlockKind::Gap);
            let name = if summary.is_empty() { String::new() } else { format!(" · {summary}") };
            push(None, BlockKind::Part(format!("── phase {n}{name}")));
        }
        ThreadKind::Again { n } => {
            push(None, BlockKind::Gap);
            push(None, BlockKind::Part(format!("── phase {n}, reviewed again")));
        }
        ThreadKind::Ended { role, label, words } => {
            push(Some(*role), BlockKind::Remark(Tone::Held, format!("{label}: {words}")));
        }
    }
}

fn relay_words(n: Option<u32>, purpose: Purpose, label: &str) -> String {
    match (n, purpose) {
        (Some(n), _) => format!("relay {n} to {label}"),
        (None, Purpose::Advance) => format!("asked {label} for the next phase"),
        (None, Purpose::Clarify) => format!("asked {label} whether that is an approval"),
        (None, Purpose::Continue) => format!("asked {label} to go on"),
        (None, Purpose::User) => format!("your message to {label}"),
        (None, Purpose::ToReviewer | Purpose::ToImplementer) => format!("relay to {label}"),
    }
}

/// A text as blocks: one, or several when it is long.
fn words(text: &Arc<str>, thinking: bool) -> Vec<BlockKind> {
    let mut out = Vec::new();
    let mut from = 0;
    let mut in_fence = false;
    while from < text.len() {
        let to = cut_at(text, from);
        out.push(BlockKind::Words { text: Arc::clone(text), range: (from, to), thinking, in_fence });
        let part = text.get(from..to).unwrap_or("");
        if part.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1 {
            in_fence = !in_fence;
        }
        from = to;
    }
    out
}

/// Where a block that begins at `from` ends: behind a newline if one is near, always between characters.
fn cut_at(text: &str, from: usize) -> usize {
    let limit = from + BLOCK_BYTES;
    if limit >= text.len() {
        return text.len();
    }
    let limit = text.floor_char_boundary(limit);
    match text.get(from..limit).and_then(|part| part.rfind('\n')) {
        Some(at) if at > 0 => from + at + 1,
        _ => limit,
    }
}

impl Block {
    /// Its rows in `columns`. `wide`: with gaps between speakers, folded tools in the heading and seconds in times.
    #[must_use]
    pub fn rows(&self, columns: usize, wide: bool, times: &Times) -> Vec<Row> {
        match &self.kind {
            BlockKind::Gap => {
                if wide {
                    vec![Row::blank()]
                } else {
                    Vec::new()
                }
            }
            BlockKind::Heading { at, who, tools } => {
                let clock = at.map_or_else(|| "     ".to_owned(), |at| times.clock(at));
                let row = Row::of(vec![text(clock), text("  "), toned(Tone::Strong, who)]);
                vec![if wide && !tools.is_empty() { row.tail(vec![text(tools)]) } else { row }]
            }
            BlockKind::Words { thinking, .. } => self.word_rows(columns, *thinking),
            BlockKind::Folded(tools) if !wide => wrap(&[text(tools)], columns.saturating_sub(2), &[text("+ ")])
                .into_iter()
                .map(|row| row.indent(2))
                .collect(),
            BlockKind::Folded(_) => Vec::new(),
            BlockKind::Tool { words, failed } => {
                let mut row = Row::of(vec![text(words)]).indent(2);
                if *failed {
                    row = row.tail(vec![toned(Tone::Failed, "✗ failed")]);
                }
                vec![row]
            }
            BlockKind::Relay(line) => line.rows(columns, wide, times),
            BlockKind::Part(words) => vec![Row::of(vec![toned(Tone::Strong, words)])],
            BlockKind::Remark(tone, words) => {
                wrap_text(words, *tone, columns.saturating_sub(2)).into_iter().map(|row| row.indent(2)).collect()
            }
        }
    }

    fn word_rows(&self, columns: usize, thinking: bool) -> Vec<Row> {
        let Some(source) = self.source() else { return Vec::new() };
        let fenced;
        let source = match &self.kind {
            BlockKind::Words { in_fence: true, .. } => {
                fenced = format!("```\n{source}");
                fenced.as_str()
            }
            _ => source,
        };
        let indent = if thinking { 4 } else { 2 };
        let rows = markdown::rows(source, columns.saturating_sub(indent));
        rows.into_iter()
            .map(|mut row| {
                if thinking {
                    row.lead.insert(0, text("~ "));
                }
                row.indent(2)
            })
            .collect()
    }

    /// The text it shows, if it is one.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        match &self.kind {
            BlockKind::Words { text, range, .. } => text.get(range.0..range.1),
            _ => None,
        }
    }

    /// Whether it holds `needle` (lower case).
    #[must_use]
    pub fn holds(&self, needle: &str) -> bool {
        match &self.kind {
            BlockKind::Words { .. } => self.source().is_some_and(|source| source.to_lowercase().contains(needle)),
            BlockKind::Heading { who, .. } => who.to_lowercase().contains(needle),
            BlockKind::Tool { words, .. }
            | BlockKind::Folded(words)
            | BlockKind::Part(words)
            | BlockKind::Remark(_, words) => words.to_lowercase().contains(needle),
            BlockKind::Relay(line) => line.what.to_lowercase().contains(needle),
            BlockKind::Gap => false,
        }
    }
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

#[cfg(test)]
#[path = "talk_tests.rs"]
mod tests;
