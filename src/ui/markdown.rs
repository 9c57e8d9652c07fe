//! Agents' Markdown as rows: headings, lists, emphasis, code verbatim, tables, quotes, diffs. Every word of it is shown:
//! what has no look of its own (HTML, footnotes, definitions of links) stands there as it was written.
//! A newline inside a paragraph stays one: agents mean it. Knows no position on the screen.

mod diffs;
mod table;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use self::table::Table;
use super::row::{Row, Span, Tone, text, toned};
use super::sanitise::clean_block;
use super::width::width;
use super::wrap::wrap;

/// Columns that what stands in front of a line (quotes, lists in lists) leaves to the line itself, where it can.
const LEAST_ROOM: usize = 16;

/// Rows of a Markdown text in `columns`; `marks`: lines of it, from 0, whose point gets a `=` in front.
#[must_use]
pub fn rows(source: &str, columns: usize, marks: &[usize]) -> Vec<Row> {
    let source = clean_block(source);
    let mut marks = marks.to_vec();
    let fenced = diffs::fenced(&source, &mut marks);
    let source = fenced.as_deref().unwrap_or(&source);
    let mut page = Page::new(source, columns.max(4), marks);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        page.take(event, range);
    }
    page.definitions(source.len());
    page.end_paragraph();
    while page.rows.last().is_some_and(|row| row.words().trim().is_empty()) {
        page.rows.pop();
    }
    page.rows
}

/// What stands in front of each line of a block.
enum Layer {
    Quote,
    /// The marker (shown once) and its width.
    Item(Option<String>, usize),
}

impl Layer {
    const fn columns(&self) -> usize {
        match self {
            Self::Quote => 2,
            Self::Item(_, columns) => *columns,
        }
    }
}

struct Page<'a> {
    source: &'a str,
    columns: usize,
    marks: Vec<usize>,
    rows: Vec<Row>,
    line: Vec<Span>,
    layers: Vec<Layer>,
    lists: Vec<Option<u64>>,
    strong: u32,
    emphasis: u32,
    heading: bool,
    /// The row at which a heading of the first level begins that is not over.
    title_from: Option<usize>,
    code: Option<Fence>,
    links: Vec<Link>,
    table: Option<Table>,
    gap: bool,
    /// Everything before it has been shown.
    shown: usize,
    /// Where the block begins that is begun.
    at: usize,
}

struct Fence {
    diff: bool,
    text: String,
}

struct Link {
    target: String,
    title: String,
    words: String,
}

impl<'a> Page<'a> {
    const fn new(source: &'a str, columns: usize, marks: Vec<usize>) -> Self {
        Self {
            source,
            columns,
            marks,
            rows: Vec::new(),
            line: Vec::new(),
            layers: Vec::new(),
            lists: Vec::new(),
            strong: 0,
            emphasis: 0,
            heading: false,
            title_from: None,
            code: None,
            links: Vec::new(),
            table: None,
            gap: false,
            shown: 0,
            at: 0,
        }
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        let end = range.end;
        // The text of an item whose parts stand close together begins without an event of its own.
        if matches!(event, Event::Text(_))
            && self.source.get(self.shown..range.start).is_some_and(|passed| passed.contains('\n'))
        {
            self.definitions(range.start);
        }
        match event {
            Event::Start(tag) => {
                if is_block(&tag) {
                    self.definitions(range.start);
                    self.shown = self.shown.max(range.start);
                    self.at = range.start;
                }
                self.start(tag, range);
                return;
            }
            Event::End(tag) => {
                if matches!(tag, TagEnd::Item | TagEnd::List(_) | TagEnd::BlockQuote(_)) {
                    self.definitions(end);
                }
                self.end(tag, &range);
            }
            Event::Text(words) => self.words(&words),
            Event::Code(words) => self.push(Tone::Code, &format!("`{words}`")),
            Event::InlineMath(words) | Event::DisplayMath(words) => self.push(Tone::Code, &words),
            Event::Html(words) | Event::InlineHtml(words) => self.html(&words),
            Event::SoftBreak | Event::HardBreak => match &mut self.table {
                Some(table) => table.cell.push(text(" ")),
                None => self.end_line(),
            },
            Event::Rule => {
                self.definitions(range.start);
                self.at = range.start;
                self.begin_block();
                self.line.push(text("─".repeat(self.room().min(12))));
                self.end_block();
            }
            Event::TaskListMarker(done) => self.push(Tone::Text, if done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(name) => self.push(Tone::Text, &format!("[^{name}]")),
        }
        self.shown = self.shown.max(end);
    }

    /// Definitions of links are no event: what was passed over up to `to` and looks like one is shown as it stands.
    fn definitions(&mut self, to: usize) {
        let passed = self.source.get(self.shown..to).unwrap_or("");
        if !passed.contains("]:") {
            return;
        }
        let lines: Vec<&str> = passed.lines().map(|line| line.trim_start_matches(['>', ' ', '-', '*', '+'])).collect();
        for line in lines.into_iter().filter(|line| !line.trim().is_empty()) {
            self.begin_block();
            self.line.push(text(line));
            self.end_line();
        }
        self.gap = true;
        self.shown = self.shown.max(to);
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Paragraph => {
                self.begin_block();
                self.mark_at(range.start);
            }
            Tag::Heading { level, .. } => {
                self.begin_block();
                self.heading = true;
                match level {
                    HeadingLevel::H1 => self.title_from = Some(self.rows.len()),
                    HeadingLevel::H2 => {}
                    _ => self.line.push(toned(Tone::Strong, "· ")),
                }
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.layers.push(Layer::Quote);
            }
            Tag::HtmlBlock => self.begin_block(),
            Tag::CodeBlock(kind) => self.start_code(&kind),
            Tag::List(first) => {
                self.end_paragraph();
                if self.lists.is_empty() {
                    self.begin_block();
                }
                self.gap = false;
                self.lists.push(first);
            }
            Tag::Item => {
                self.end_paragraph();
                self.gap = false;
                let repeats = self.takes_mark(range.start);
                let marker = self.next_marker(repeats);
                let columns = width(&marker);
                self.layers.push(Layer::Item(Some(marker), columns));
            }
            Tag::Table(alignments) => {
                self.begin_block();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.begin_line(range.start);
                }
            }
            Tag::Emphasis => self.emphasis += 1,
            Tag::Strong => self.strong += 1,
            Tag::Strikethrough => self.push(Tone::Text, "~~"),
            Tag::Link { dest_url, title, .. } | Tag::Image { dest_url, title, .. } => {
                let (target, title) = (dest_url.into_string(), title.into_string());
                self.links.push(Link { target, title, words: String::new() });
            }
            _ => {}
        }
    }

    fn start_code(&mut self, kind: &CodeBlockKind<'_>) {
        self.begin_block();
        let info = match kind {
            CodeBlockKind::Fenced(info) => info.trim(),
            CodeBlockKind::Indented => "",
        };
        let language = info.split([' ', ',', '{']).next().unwrap_or("");
        // A language alone is markup; a file's name, or anything else that stands there, is said.
        if !info.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_')) {
            self.line.push(text(info));
            self.end_line();
        }
        self.code = Some(Fence { diff: matches!(language, "diff" | "patch"), text: String::new() });
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_block(),
            TagEnd::Heading(_) => {
                self.end_paragraph();
                self.underline();
                self.heading = false;
                self.gap = false;
            }
            TagEnd::BlockQuote(_) => {
                self.end_paragraph();
                self.layers.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.lists.pop();
                self.gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.end_paragraph();
                if matches!(self.layers.last(), Some(Layer::Item(Some(_), _))) {
                    self.end_line();
                }
                self.layers.pop();
                self.gap = false;
            }
            TagEnd::TableCell => {
                if let Some(table) = &mut self.table {
                    table.end_cell(range.end);
                }
            }
            TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.surplus(self.source.get(table.end..range.end).unwrap_or(""));
                }
            }
            TagEnd::Table => self.end_table(),
            TagEnd::Emphasis => self.emphasis = self.emphasis.saturating_sub(1),
            TagEnd::Strong => self.strong = self.strong.saturating_sub(1),
            TagEnd::Strikethrough => self.push(Tone::Text, "~~"),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    /// A rule below a heading of the first level, as long as its longest line.
    fn underline(&mut self) {
        let Some(from) = self.title_from.take() else { return };
        let front: usize = self.layers.iter().map(Layer::columns).sum();
        let longest = self.rows.iter().skip(from).map(|row| width(row.words().trim_end())).max().unwrap_or(0);
        if longest > front {
            self.line.push(text("─".repeat(longest - front)));
            self.end_paragraph();
        }
    }

    fn words(&mut self, words: &str) {
        if let Some(fence) = &mut self.code {
            fence.text.push_str(words);
        } else {
            let tone = match (self.heading || self.strong > 0, self.emphasis > 0) {
                (true, _) => Tone::Strong,
                (false, true) => Tone::Emphasis,
                (false, false) => Tone::Text,
            };
            self.push(tone, words);
        }
    }

    /// HTML as it stands, line by line.
    fn html(&mut self, words: &str) {
        let mut lines = words.split('\n').peekable();
        while let Some(line) = lines.next() {
            let is_last = lines.peek().is_none();
            if !(is_last && line.is_empty()) {
                self.push(Tone::Text, line);
            }
            if !is_last && self.table.is_none() {
                self.end_paragraph();
            }
        }
    }

    fn push(&mut self, tone: Tone, words: &str) {
        for link in &mut self.links {
            link.words.push_str(words);
        }
        match &mut self.table {
            Some(table) => table.cell.push(toned(tone, words)),
            None => self.line.push(toned(tone, words)),
        }
    }

    /// Whether a marked line begins here; each mark is used once.
    fn takes_mark(&mut self, at: usize) -> bool {
        if self.marks.is_empty() {
            return false;
        }
        let line = self.source.get(..at).unwrap_or("").matches('\n').count();
        let found = self.marks.iter().position(|mark| *mark == line);
        found.map(|place| self.marks.swap_remove(place)).is_some()
    }

    fn mark_at(&mut self, at: usize) {
        if self.takes_mark(at) {
            self.line.push(toned(Tone::Held, "= "));
        }
    }

    /// The marker of the next item; of a point that was named before with a `=`.
    fn next_marker(&mut self, repeats: bool) -> String {
        let again = if repeats { "= " } else { "" };
        match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{again}{number}. ");
                *number += 1;
                marker
            }
            _ if repeats => again.to_owned(),
            _ => "- ".to_owned(),
        }
    }

    /// Columns of all layers, and how many of them may be drawn.
    fn front(&self) -> (usize, usize) {
        let all = self.layers.iter().map(Layer::columns).sum::<usize>();
        (all, all.min(self.columns.saturating_sub(LEAST_ROOM.min(self.columns / 2).max(4))))
    }

    /// Columns left of what stands in front.
    fn room(&self) -> usize {
        self.columns.saturating_sub(self.front().1).max(1)
    }

    fn begin_block(&mut self) {
        self.end_paragraph();
        if self.gap && !self.rows.is_empty() && self.stands_apart() {
            let lead = self.lead(false).0;
            self.rows.push(Row { lead, ..Row::default() });
        }
        self.gap = false;
    }

    /// Whether the source has an empty line before the block: what agents wrote close together stays so.
    fn stands_apart(&self) -> bool {
        let mut lines = self.source.get(..self.at).unwrap_or("").rsplit('\n');
        lines.next();
        lines.next().is_some_and(|line| line.trim_matches([' ', '>']).is_empty())
    }

    fn end_block(&mut self) {
        self.end_paragraph();
        self.gap = true;
    }

    fn end_paragraph(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        let (mut lead, marker) = self.lead(true);
        let mut line = std::mem::take(&mut self.line);
        if !marker.is_empty() {
            line.insert(0, text(marker));
        }
        let room = self.room();
        for row in wrap(&line, room, &[]) {
            let next = self.lead(false).0;
            self.rows.push(Row { lead: std::mem::replace(&mut lead, next), ..row });
        }
    }

    /// What stands in front of the next line, and list markers that find no room there and belong into the line.
    fn lead(&mut self, use_marker: bool) -> (Vec<Span>, String) {
        let (all, drawn) = self.front();
        let fits = all == drawn;
        let mut left = drawn;
        let mut markers = String::new();
        let mut lead = Vec::with_capacity(self.layers.len());
        for layer in &mut self.layers {
            let columns = layer.columns().min(left);
            left -= columns;
            let words = match layer {
                Layer::Quote => "> ".to_owned(),
                Layer::Item(marker, _) => match (if use_marker { marker.take() } else { None }, fits) {
                    (Some(marker), true) => marker,
                    (Some(marker), false) => {
                        markers.push_str(&marker);
                        String::new()
                    }
                    (None, _) => String::new(),
                },
            };
            if columns > 0 {
                lead.push(text(super::width::pad(&words, columns)));
            }
        }
        (lead, markers)
    }

    fn end_code(&mut self) {
        let Some(fence) = self.code.take() else { return };
        for line in fence.text.trim_end_matches('\n').split('\n') {
            let tone = if fence.diff { diffs::tone(line) } else { Tone::Code };
            self.slide(vec![toned(tone, line)], "│ ");
        }
        self.gap = true;
    }

    /// The target of a link, where its words do not say it already.
    fn end_link(&mut self) {
        let Some(Link { target, title, words }) = self.links.pop() else { return };
        let title = if title.is_empty() { title } else { format!(" \"{title}\"") };
        if !title.is_empty() || !target.is_empty() && words != target {
            self.push(Tone::Text, &format!(" <{target}{title}>"));
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        for line in table.into_lines() {
            self.slide(line, "");
        }
        self.gap = true;
    }

    /// A line that is kept as it is and scrolled sideways.
    fn slide(&mut self, body: Vec<Span>, front: &str) {
        let (mut lead, marker) = self.lead(true);
        if !marker.is_empty() {
            self.rows.push(Row { lead: lead.clone(), body: vec![text(marker)], ..Row::default() });
        }
        if !front.is_empty() {
            lead.push(text(front));
        }
        self.rows.push(Row { lead, body, slides: true, ..Row::default() });
    }
}

/// Whether a tag begins a block of its own, not something inside a line.
const fn is_block(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::HtmlBlock
            | Tag::List(_)
            | Tag::Item
            | Tag::Table(_)
    )
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
