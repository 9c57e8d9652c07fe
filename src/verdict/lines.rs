//! An answer as lines, each with what Markdown makes of it: code and block quotes are told from what the agent says.
//! A small reader of its own instead of a Markdown library: it must not fail on any text, and unclosed fences hide nothing.

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing but white space.
    Blank,
    /// Said by the agent.
    Text,
    /// A heading of the `#` kind.
    Heading,
    /// A line across (or the underline of a heading).
    Rule,
    /// Inside (or the edge of) a closed code fence, or indented code.
    Code,
    /// A block quote.
    Quote,
    /// Directly under a block quote's text: Markdown may take it as the quote going on.
    Lazy,
}

/// One line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Without its end.
    pub(super) text: &'a str,
    /// From 1.
    pub(super) number: usize,
    /// What it is.
    pub(super) kind: Kind,
    /// Begins a list item that is in no other.
    pub(super) top_item: bool,
    /// Stands inside a list item by its indentation (the line that begins the item does too).
    pub(super) in_item: bool,
}

impl Line<'_> {
    /// Whether signals are looked for in it.
    pub(super) const fn counts(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Heading | Kind::Lazy)
    }

    /// Whether a paragraph can begin right below it.
    pub(super) const fn ends_paragraph_below(&self) -> bool {
        matches!(self.kind, Kind::Blank | Kind::Code | Kind::Heading | Kind::Rule | Kind::Quote)
    }

    /// Whether a paragraph right above it ends there. A rule does not count: under text it makes a heading of it.
    pub(super) const fn ends_paragraph_above(&self) -> bool {
        matches!(self.kind, Kind::Blank | Kind::Code | Kind::Heading | Kind::Quote)
    }
}

/// Reads the lines of an answer. Lines end at `\n` only; carriage returns before it are taken off.
pub(super) fn scan(answer: &str) -> Vec<Line<'_>> {
    let texts: Vec<&str> = answer.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let mut scan =
        Scan { texts: &texts, lines: Vec::with_capacity(texts.len()), items: Vec::new(), unclosed: Vec::new() };
    while let Some(text) = texts.get(scan.lines.len()) {
        scan.take(text);
    }
    scan.lines
}

struct Scan<'a, 'b> {
    texts: &'b [&'a str],
    lines: Vec<Line<'a>>,
    /// Columns at which the content of the open list items begins, outermost first.
    items: Vec<usize>,
    /// Fences known to be closed nowhere below: spares looking again for each further one like them.
    unclosed: Vec<Fence>,
}

/// The opening of a code fence.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl<'a> Scan<'a, '_> {
    fn push(&mut self, text: &'a str, kind: Kind) {
        let number = self.lines.len() + 1;
        let in_item = kind != Kind::Blank && self.items.last().is_some_and(|content| indent(text) >= *content);
        self.lines.push(Line { text, number, kind, top_item: false, in_item });
    }

    fn take(&mut self, text: &'a str) {
        let columns = indent(text);
        let content = text.trim_start();
        if content.is_empty() {
            return self.push(text, Kind::Blank);
        }
        let before = self.lines.last().map_or(Kind::Blank, |line| line.kind);
        if before == Kind::Blank {
            self.leave_items(columns);
        }
        let base = self.items.last().copied().unwrap_or(0);
        if columns >= base + 4 && !matches!(before, Kind::Text | Kind::Lazy | Kind::Quote) {
            return self.push(text, Kind::Code);
        }
        if content.starts_with('>') {
            return self.push(text, Kind::Quote);
        }
        if is_rule(content) {
            return self.push(text, Kind::Rule);
        }
        if let Some(width) = item_marker(content) {
            return self.item(text, columns, width);
        }
        if let Some(fence) = fence(content, columns) {
            return self.fence(text, fence);
        }
        if is_heading(content) {
            return self.push(text, Kind::Heading);
        }
        let lazy = match self.lines.last() {
            Some(line) if line.kind == Kind::Quote => !line.text.trim_start_matches([' ', '\t', '>']).is_empty(),
            Some(line) => line.kind == Kind::Lazy,
            None => false,
        };
        self.push(text, if lazy { Kind::Lazy } else { Kind::Text });
    }

    /// List items whose content begins right of this column are over.
    fn leave_items(&mut self, columns: usize) {
        while self.items.last().is_some_and(|content| *content > columns) {
            self.items.pop();
        }
    }

    /// A line that begins a list item, perhaps with further items, a quote or a fence right behind the marker.
    fn item(&mut self, text: &'a str, columns: usize, width: usize) {
        self.leave_items(columns);
        let top_item = self.items.is_empty();
        let (mut column, mut rest) = (columns, text.trim_start());
        let mut next = Some(width);
        while let Some(width) = next {
            let behind = rest.get(width..).unwrap_or("");
            let inner = behind.trim_start();
            let gap = indent(behind).clamp(1, 4);
            column = column.saturating_add(width).saturating_add(gap);
            self.items.push(column);
            rest = inner;
            // Enough for any list a person writes; an endless row of markers stays text.
            next = item_marker(inner).filter(|_| self.items.len() < 16);
        }
        let at = self.lines.len();
        if rest.starts_with('>') {
            self.push(text, Kind::Quote);
        } else if let Some(fence) = fence(rest, column) {
            self.fence(text, fence);
        } else {
            self.push(text, Kind::Text);
        }
        if let Some(line) = self.lines.get_mut(at) {
            line.in_item = true;
            line.top_item = top_item;
        }
    }

    /// The opening of a fence: everything down to its end is code, or nothing is when it has none.
    fn fence(&mut self, text: &'a str, fence: Fence) {
        let from = self.lines.len() + 1;
        let known = self
            .unclosed
            .iter()
            .any(|known| known.mark == fence.mark && known.length <= fence.length && known.indent >= fence.indent);
        let end = if known { None } else { self.texts.iter().skip(from).position(|line| closes(line, fence)) };
        let Some(end) = end else {
            if !known {
                self.unclosed.push(fence);
            }
            return self.push(text, Kind::Text);
        };
        self.push(text, Kind::Code);
        for line in self.texts.iter().skip(from).take(end + 1) {
            self.push(line, Kind::Code);
        }
    }
}

/// Columns of white space at the start; a tab goes on to the next multiple of four.
fn indent(text: &str) -> usize {
    let mut columns = 0;
    for c in text.chars() {
        match c {
            ' ' => columns += 1,
            '\t' => columns += 4 - columns % 4,
            _ => break,
        }
    }
    columns
}

/// Bytes of the list marker at the start of `content`, without the blank behind it.
fn item_marker(content: &str) -> Option<usize> {
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let signs: &[char] = if digits == 0 { &['-', '*', '+'] } else { &['.', ')'] };
    if digits > 9 {
        return None;
    }
    let rest = content.get(digits..)?.strip_prefix(signs)?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(digits + 1)
}

fn fence(content: &str, indent: usize) -> Option<Fence> {
    let mark = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = content.trim_start_matches(mark);
    let length = content.len() - info.len();
    // Backticks behind backticks are a code span in a line of text.
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Fence { mark, length, indent })
}

fn closes(line: &str, fence: Fence) -> bool {
    let content = line.trim();
    content.len() >= fence.length
        && indent(line) <= fence.indent + 3
        && content.trim_start_matches(fence.mark).is_empty()
}

fn is_heading(content: &str) -> bool {
    let rest = content.trim_start_matches('#');
    (1..=6).contains(&(content.len() - rest.len())) && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

fn is_rule(content: &str) -> bool {
    let Some(mark) = content.chars().next().filter(|c| matches!(c, '-' | '*' | '_')) else { return false };
    let mut marks = 0;
    for c in content.chars() {
        if c == mark {
            marks += 1;
        } else if !c.is_whitespace() {
            return false;
        }
    }
    marks >= 3
}
