//! Agents' Markdown as rows: headings, lists, emphasis, code verbatim, tables, quotes, diffs.
//! A newline inside a paragraph stays one: agents mean it. Knows no position on the screen.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::row::{Row, Span, Tone, text, toned};
use super::sanitise::clean_block;
use super::width::{pad, width};
use super::wrap::wrap;

/// Rows of a Markdown text in `columns`.
#[must_use]
pub fn rows(source: &str, columns: usize) -> Vec<Row> {
    let source = clean_block(source);
    let mut page = Page::new(columns.max(4));
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(&source, options) {
        page.take(event);
    }
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

struct Page {
    columns: usize,
    rows: Vec<Row>,
    line: Vec<Span>,
    layers: Vec<Layer>,
    lists: Vec<Option<u64>>,
    strong: u32,
    emphasis: u32,
    heading: bool,
    code: Option<Fence>,
    link: Option<(String, usize)>,
    table: Option<Table>,
    gap: bool,
}

struct Fence {
    diff: bool,
    text: String,
}

#[derive(Default)]
struct Table {
    lines: Vec<Vec<String>>,
    cell: String,
}

impl Page {
    const fn new(columns: usize) -> Self {
        Self {
            columns,
            rows: Vec::new(),
            line: Vec::new(),
            layers: Vec::new(),
            lists: Vec::new(),
            strong: 0,
            emphasis: 0,
            heading: false,
            code: None,
            link: None,
            table: None,
            gap: false,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(words) => self.words(&words),
            Event::Code(words) => self.push(Tone::Code, &format!("`{words}`")),
            Event::InlineMath(words) | Event::DisplayMath(words) => self.push(Tone::Code, &words),
            Event::Html(words) | Event::InlineHtml(words) => self.html(&words),
            Event::SoftBreak | Event::HardBreak => match &mut self.table {
                Some(table) => table.cell.push(' '),
                None => self.end_line(),
            },
            Event::Rule => {
                self.begin_block();
                self.line.push(text("─".repeat(self.room().min(12))));
                self.end_paragraph();
            }
            Event::TaskListMarker(done) => self.push(Tone::Text, if done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(name) => self.push(Tone::Text, &format!("[{name}]")),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.begin_block(),
            Tag::Heading { level, .. } => {
                self.begin_block();
                self.heading = true;
                if level >= HeadingLevel::H3 {
                    self.line.push(toned(Tone::Strong, "· "));
                }
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.layers.push(Layer::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                let diff = matches!(&kind, CodeBlockKind::Fenced(name) if name.starts_with("diff") || name.starts_with("patch"));
                self.code = Some(Fence { diff, text: String::new() });
            }
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
                let marker = self.next_marker();
                let columns = width(&marker);
                self.layers.push(Layer::Item(Some(marker), columns));
            }
            Tag::Table(_) => {
                self.begin_block();
                self.table = Some(Table::default());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.lines.push(Vec::new());
                }
            }
            Tag::Emphasis => self.emphasis += 1,
            Tag::Strong => self.strong += 1,
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.line.len()));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end_block(),
            TagEnd::Heading(_) => {
                self.end_paragraph();
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
                    let cell = std::mem::take(&mut table.cell);
                    if let Some(line) = table.lines.last_mut() {
                        line.push(cell.trim().to_owned());
                    }
                }
            }
            TagEnd::Table => self.end_table(),
            TagEnd::Emphasis => self.emphasis = self.emphasis.saturating_sub(1),
            TagEnd::Strong => self.strong = self.strong.saturating_sub(1),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
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

    fn html(&mut self, words: &str) {
        for (index, line) in words.trim_end_matches('\n').split('\n').enumerate() {
            if index > 0 {
                self.end_line();
            }
            self.push(Tone::Text, line);
        }
    }

    fn push(&mut self, tone: Tone, words: &str) {
        match &mut self.table {
            Some(table) => table.cell.push_str(words),
            None => self.line.push(toned(tone, words)),
        }
    }

    fn next_marker(&mut self) -> String {
        match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number += 1;
                marker
            }
            _ => "- ".to_owned(),
        }
    }

    /// Columns left of what stands in front.
    fn room(&self) -> usize {
        self.columns.saturating_sub(spans_of(&self.layers)).max(4)
    }

    fn begin_block(&mut self) {
        self.end_paragraph();
        if self.gap && !self.rows.is_empty() {
            let lead = self.lead(false);
            self.rows.push(Row { lead, ..Row::default() });
        }
        self.gap = false;
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
        let line = std::mem::take(&mut self.line);
        let room = self.room();
        for row in wrap(&line, room, &[]) {
            let lead = self.lead(true);
            self.rows.push(Row { lead, ..row });
        }
    }

    /// What stands in front of the next line; a list marker is used up.
    fn lead(&mut self, use_marker: bool) -> Vec<Span> {
        self.layers
            .iter_mut()
            .map(|layer| match layer {
                Layer::Quote => text("│ "),
                Layer::Item(marker, columns) => match if use_marker { marker.take() } else { None } {
                    Some(marker) => text(marker),
                    None => text(" ".repeat(*columns)),
                },
            })
            .collect()
    }

    fn end_code(&mut self) {
        let Some(fence) = self.code.take() else { return };
        for line in fence.text.trim_end_matches('\n').split('\n') {
            let tone = match line.chars().next() {
                Some('+') if fence.diff => Tone::Added,
                Some('-') if fence.diff => Tone::Removed,
                _ => Tone::Code,
            };
            let mut lead = self.lead(true);
            lead.push(text("│ "));
            self.rows.push(Row { lead, body: vec![toned(tone, line)], slides: true, ..Row::default() });
        }
        self.gap = true;
    }

    fn end_link(&mut self) {
        let Some((target, from)) = self.link.take() else { return };
        let shown: String = self.line.iter().skip(from).map(Span::text).collect();
        if !target.is_empty() && shown != target && self.table.is_none() {
            self.push(Tone::Text, &format!(" <{target}>"));
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let count = table.lines.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..count)
            .map(|at| table.lines.iter().filter_map(|line| line.get(at)).map(|cell| width(cell)).max().unwrap_or(0))
            .collect();
        for (index, line) in table.lines.iter().enumerate() {
            let cells: Vec<String> = widths
                .iter()
                .enumerate()
                .map(|(at, columns)| pad(line.get(at).map_or("", String::as_str), *columns))
                .collect();
            let tone = if index == 0 { Tone::Strong } else { Tone::Text };
            self.slide(tone, cells.join("  ").trim_end());
            if index == 0 {
                let rule: Vec<String> = widths.iter().map(|columns| "─".repeat(*columns)).collect();
                self.slide(Tone::Text, &rule.join("  "));
            }
        }
        self.gap = true;
    }

    fn slide(&mut self, tone: Tone, line: &str) {
        let lead = self.lead(true);
        self.rows.push(Row { lead, body: vec![toned(tone, line)], slides: true, ..Row::default() });
    }
}

fn spans_of(layers: &[Layer]) -> usize {
    layers
        .iter()
        .map(|layer| match layer {
            Layer::Quote => 2,
            Layer::Item(_, columns) => *columns,
        })
        .sum()
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
