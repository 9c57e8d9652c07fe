//! A conversation cut into blocks: headings, texts, tool lines, relay lines. The blocks of an entry are made when it is
//! looked at, out of the entry and its neighbours; where the view stands is in `scroll`, how a block looks in `rows`.

mod rows;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::conversation::{Item, ItemKind};
use crate::model::growing::Growing;
use crate::model::ids::Role;
use crate::model::outbox::{EntryState, Purpose};
use crate::projection::{Thread, ThreadEntry, ThreadKind};

use super::row::Tone;

/// Bytes of a text that are drawn as one block; longer ones are cut at a line, best at an empty one.
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
        /// Which part of it.
        piece: Piece,
        /// Reasoning.
        thinking: bool,
        /// Lines of the text, from 0, at which a point begins that was named before.
        marks: Vec<u32>,
    },
    /// A message that a person changed: as it was, as it went out.
    Change {
        /// As it was.
        before: Arc<str>,
        /// As it went out.
        after: Arc<str>,
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

/// A part of a text that is drawn by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its range, in bytes.
    pub range: (usize, usize),
    /// The line that opened the code fence which reaches into it.
    pub fence: Option<(usize, usize)>,
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

/// The side that says an entry; entries of one side that follow each other make one group.
fn role_of(entry: &ThreadEntry) -> Option<Role> {
    match &entry.kind {
        ThreadKind::Said { role, .. } => Some(*role),
        _ => None,
    }
}

fn item_of(entry: &ThreadEntry) -> Option<&Item> {
    match &entry.kind {
        ThreadKind::Said { item, .. } => Some(item),
        _ => None,
    }
}

/// The entries behind `at` that belong to its group, `at` itself first.
fn group_from(entries: &Growing<ThreadEntry>, at: usize) -> impl Iterator<Item = &ThreadEntry> {
    let role = entries.get(at).and_then(role_of);
    entries.iter().skip(at).take_while(move |entry| role.is_some() && role_of(entry) == role)
}

fn begins_group(entries: &Growing<ThreadEntry>, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| entries.get(before)).and_then(role_of);
    entries.get(at).and_then(role_of).is_some_and(|role| before != Some(role))
}

fn ends_group(entries: &Growing<ThreadEntry>, at: usize) -> bool {
    let behind = entries.get(at + 1).and_then(role_of);
    entries.get(at).and_then(role_of).is_some_and(|role| behind != Some(role))
}

fn group_start(entries: &Growing<ThreadEntry>, at: usize) -> usize {
    let role = entries.get(at).and_then(role_of);
    at - entries.range(0, at).rev().take_while(|entry| role.is_some() && role_of(entry) == role).count()
}

fn is_text(entry: &ThreadEntry) -> bool {
    item_of(entry).is_some_and(|item| matches!(item.kind, ItemKind::Text { .. }))
}

/// Whether something of an entry is to be seen, be it as a folded tool.
fn shows(entry: &ThreadEntry, detail: Detail) -> bool {
    match item_of(entry).map(|item| &item.kind) {
        Some(ItemKind::Text { text, .. }) => !text.trim().is_empty(),
        Some(ItemKind::Thinking { .. }) => detail == Detail::Thinking,
        Some(ItemKind::Report { .. }) => detail != Detail::Answers,
        Some(ItemKind::Tool { .. } | ItemKind::Compaction | ItemKind::Notice { .. }) => true,
        None => false,
    }
}

/// The text of the entry at `at`, if it is the last of its group: an answer, as far as it was given until now.
#[must_use]
pub fn answer_at(thread: &Thread, at: usize) -> Option<(Role, &Arc<str>)> {
    let entry = thread.entries.get(at)?;
    let (role, ItemKind::Text { text, .. }) = (role_of(entry)?, &item_of(entry)?.kind) else { return None };
    (!group_from(&thread.entries, at).skip(1).any(is_text)).then_some((role, text))
}

/// The text an entry shows, if it shows one of its own.
#[must_use]
pub fn text_at(thread: &Thread, at: usize, detail: Detail) -> Option<&Arc<str>> {
    match &thread.entries.get(at)?.kind {
        ThreadKind::Said { item, .. } => match &item.kind {
            ItemKind::Text { text, .. } if detail != Detail::Answers => Some(text),
            ItemKind::Text { .. } => answer_at(thread, at).map(|(_, text)| text),
            ItemKind::Thinking { text } if detail == Detail::Thinking => Some(text),
            _ => None,
        },
        ThreadKind::Human { text, .. } | ThreadKind::Carried { text, .. } => Some(text),
        ThreadKind::Relay { text, edited, purpose, .. } if *edited || *purpose == Purpose::User => Some(text),
        _ => None,
    }
}

/// What an entry shows, from its top down.
#[must_use]
pub fn blocks_of(thread: &Thread, at: usize, detail: Detail) -> Vec<Block> {
    let Some(entry) = thread.entries.get(at) else { return Vec::new() };
    let mut out = Vec::new();
    match &entry.kind {
        ThreadKind::Said { role, label, item } => said(&mut out, thread, at, (*role, label, item), detail),
        _ => other(&mut out, entry),
    }
    out
}

fn said(out: &mut Vec<Block>, thread: &Thread, at: usize, (role, label, item): (Role, &str, &Item), detail: Detail) {
    let entries = &thread.entries;
    let mut push = |kind| out.push(Block { side: Some(role), kind });
    if begins_group(entries, at) && group_from(entries, at).any(|entry| shows(entry, detail)) {
        // A session by itself has no part in a run to be named after.
        let who = match (thread.session.is_some(), role) {
            (true, _) => label.to_owned(),
            (false, Role::Reviewer) => format!("{label} reviews"),
            (false, Role::Implementer) => format!("{label} builds"),
        };
        push(BlockKind::Gap);
        // While its tools are folded, what is read below is the answer: its time is the one that is said of it elsewhere.
        let answer = group_from(entries, at).filter(|entry| is_text(entry)).last();
        let first = answer.filter(|_| detail == Detail::Answers).or_else(|| entries.get(at));
        let at_time = first.and_then(|entry| entry.at);
        push(BlockKind::Heading { at: at_time, who, tools: folded(group_from(entries, at)) });
    }
    match &item.kind {
        ItemKind::Text { .. } | ItemKind::Thinking { .. } => {
            let thinking = matches!(item.kind, ItemKind::Thinking { .. });
            if let Some(text) = text_at(thread, at, detail) {
                words(text, thinking, repeated_in(thread, item)).into_iter().for_each(&mut push);
            }
        }
        ItemKind::Tool { name, summary, lines, ok, .. } => {
            let runs_now = || ok.is_none() && at + group_from(entries, at).count() == entries.len();
            if detail != Detail::Answers || runs_now() {
                let words = tool_words(name, summary, *lines);
                push(BlockKind::Tool { words, failed: *ok == Some(false) });
            }
        }
        ItemKind::Report { text } if detail != Detail::Answers => {
            push(BlockKind::Remark(Tone::Relay, format!("a background agent reports: {text}")));
        }
        ItemKind::Report { .. } => {}
        ItemKind::Compaction => {
            push(BlockKind::Remark(Tone::Relay, "the conversation was compacted".to_owned()));
        }
        ItemKind::Notice { text } => push(BlockKind::Remark(Tone::Held, text.to_string())),
    }
    if detail == Detail::Answers && ends_group(entries, at) {
        let tools = folded(group_from(entries, group_start(entries, at)));
        if !tools.is_empty() {
            push(BlockKind::Folded(tools));
        }
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
fn folded<'a>(group: impl Iterator<Item = &'a ThreadEntry>) -> String {
    let mut count = 0_usize;
    let mut files: BTreeSet<&str> = BTreeSet::new();
    let (mut added, mut removed) = (0_u64, 0_u64);
    for item in group.filter_map(item_of) {
        let ItemKind::Tool { summary, lines, .. } = &item.kind else { continue };
        count += 1;
        if let Some((plus, minus)) = lines {
            added += u64::from(*plus);
            removed += u64::from(*minus);
            files.insert(summary);
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

fn other(out: &mut Vec<Block>, entry: &ThreadEntry) {
    let mut push = |side, kind| out.push(Block { side, kind });
    match &entry.kind {
        ThreadKind::Said { .. } => {}
        ThreadKind::Human { role, label, text } | ThreadKind::Carried { role, label, text } => {
            push(Some(*role), BlockKind::Gap);
            let from = if matches!(entry.kind, ThreadKind::Human { .. }) { "you" } else { "trellis" };
            let who = format!("{from} to {label}");
            push(Some(*role), BlockKind::Heading { at: entry.at, who, tools: String::new() });
            for kind in words(text, false, &[]) {
                push(Some(*role), kind);
            }
        }
        ThreadKind::Relay { what, purpose, sent_at, seen_at, state, edited, text, original, .. } => {
            let line =
                RelayLine { what: what.clone(), sent_at: *sent_at, seen_at: *seen_at, state: *state, edited: *edited };
            push(None, BlockKind::Relay(line));
            match original {
                Some(before) if *edited => {
                    let (before, after) = (Arc::clone(before), Arc::clone(text));
                    push(None, BlockKind::Change { before, after });
                }
                _ if *edited || *purpose == Purpose::User => {
                    for kind in words(text, false, &[]) {
                        push(None, kind);
                    }
                }
                _ => {}
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

/// The words of an entry that can be searched for, besides its own text.
#[must_use]
pub fn remark_at(thread: &Thread, at: usize, detail: Detail) -> Option<String> {
    let unfolded = detail != Detail::Answers;
    Some(match &thread.entries.get(at)?.kind {
        ThreadKind::Said { item, .. } => match &item.kind {
            ItemKind::Tool { name, summary, lines, .. } if unfolded => tool_words(name, summary, *lines),
            ItemKind::Report { text } if unfolded => text.to_string(),
            ItemKind::Notice { text } => text.to_string(),
            _ => return None,
        },
        ThreadKind::Relay { what, .. } => what.clone(),
        ThreadKind::Phase { summary, .. } => summary.clone(),
        ThreadKind::Ended { words, .. } => words.clone(),
        ThreadKind::Human { .. } | ThreadKind::Carried { .. } | ThreadKind::Again { .. } => return None,
    })
}

/// A text as blocks: one, or several when it is long.
fn words(text: &Arc<str>, thinking: bool, marks: &[u32]) -> Vec<BlockKind> {
    let block = |piece| BlockKind::Words { text: Arc::clone(text), piece, thinking, marks: marks.to_vec() };
    pieces(text).into_iter().map(block).collect()
}

/// The lines at which an answer repeats points of earlier ones.
fn repeated_in<'a>(thread: &'a Thread, item: &Item) -> &'a [u32] {
    let ItemKind::Text { message_id, .. } = &item.kind else { return &[] };
    let found = thread.repeated.iter().find(|repeated| repeated.message_id == *message_id);
    found.map_or(&[], |repeated| repeated.lines.as_slice())
}

/// A text cut into pieces that are not too long to be drawn at once.
fn pieces(text: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut from = 0;
    let mut fence: Option<(usize, usize)> = None;
    while from < text.len() {
        let to = cut_at(text, from);
        out.push(Piece { range: (from, to), fence });
        if to < text.len() {
            fence = open_fence(text, (from, to), fence);
        }
        from = to;
    }
    out
}

/// The line of the code fence that is open at the end of a part of a text.
fn open_fence(text: &str, part: (usize, usize), mut open: Option<(usize, usize)>) -> Option<(usize, usize)> {
    let mark_of = |line: &str| {
        let line = line.trim_start_matches(' ');
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = line.chars().take_while(|c| *c == mark).count();
        let bare = line.get(length..).is_some_and(|rest| rest.trim().is_empty());
        (length >= 3).then_some((mark, length, bare))
    };
    let mut at = part.0;
    for line in text.get(part.0..part.1).unwrap_or("").split_inclusive('\n') {
        let here = (at, at + line.trim_end().len());
        at += line.len();
        // Nearly every line is told by its first letter.
        if !line.starts_with(['`', '~', ' ']) {
            continue;
        }
        let Some((mark, length, bare)) = mark_of(line) else { continue };
        open = match open.and_then(|(from, to)| mark_of(text.get(from..to).unwrap_or(""))) {
            None => Some(here),
            Some((opened, long, _)) if mark == opened && length >= long && bare => None,
            Some(_) => open,
        };
    }
    open
}

/// Where a piece that begins at `from` ends: behind an empty line or a newline if one is near, always between characters.
fn cut_at(text: &str, from: usize) -> usize {
    let limit = from + BLOCK_BYTES;
    if limit >= text.len() {
        return text.len();
    }
    let limit = text.floor_char_boundary(limit);
    let part = text.get(from..limit).unwrap_or("");
    let empty_line = part.rfind("\n\n").filter(|at| *at > BLOCK_BYTES / 2).map(|at| at + 2);
    match empty_line.or_else(|| part.rfind('\n').map(|at| at + 1)) {
        Some(at) => from + at,
        None => limit,
    }
}

#[cfg(test)]
#[path = "talk_tests.rs"]
mod tests;
