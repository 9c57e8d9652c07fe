//! What stands in an agent's input box, read from its captured pane. Pure: the same screen is always read alike.
//! Anything that is not drawn as known is `Unknown`, never guessed.

use super::screen::{self, Cell, Row};
use crate::model::ids::Agent;
use crate::model::reach::InputBox;
use crate::model::text::fold;

/// A box as it was found on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Box {
    /// No box that is known.
    Unknown,
    /// Nothing in it, or only the agent's own faint hint.
    Empty,
    /// A text, its rows joined by line feeds.
    Text(String),
    /// The end of a text that is longer than the box: what stands above cannot be seen.
    End(String),
}

/// Finds the box on a captured pane.
#[must_use]
pub fn find(agent: Agent, captured: &str) -> Box {
    let rows = screen::rows(captured);
    match agent {
        Agent::Claude => claude(&rows),
        Agent::Codex => codex(&rows),
    }
}

/// Reads the box for a text that may stand in it. `typed`: trellis typed the whole of it into an empty box and saw it
/// grow, so that its end stands for it when the box is too small.
#[must_use]
pub fn read(agent: Agent, captured: &str, ours: Option<&str>, typed: bool) -> InputBox {
    match (find(agent, captured), ours) {
        (Box::Unknown, _) => InputBox::Unknown,
        (Box::Empty, _) => InputBox::Empty,
        (Box::Text(shown), Some(ours)) if shows_all(&shown, ours) => InputBox::Ours,
        (Box::End(shown), Some(ours)) if fold(ours).ends_with(&fold(&shown)) => {
            if typed {
                InputBox::Ours
            } else {
                InputBox::Unknown
            }
        }
        (Box::Text(_) | Box::End(_), _) => InputBox::Other,
    }
}

/// Between two rules, the first row starting with `❯` and a no-break space. The lowest such pair is the box: an
/// answer further up may draw the same.
fn claude(rows: &[Row]) -> Box {
    let rules: Vec<usize> = (0..rows.len()).filter(|at| rows.get(*at).is_some_and(|row| is_rule(row))).collect();
    let boxes = rules.iter().zip(rules.iter().skip(1)).rev();
    let inner =
        boxes.filter_map(|(top, bottom)| Some((rows.get(*top)?, rows.get(top + 1..*bottom)?, rows.get(*bottom)?)));
    for (top, inner, bottom) in inner {
        let marked = inner.first().is_some_and(|row| {
            row.first().is_some_and(|cell| cell.sign == '❯') && row.get(1).is_some_and(|cell| cell.sign == '\u{a0}')
        });
        match (marked, hides(top, '↑'), hides(bottom, '↓')) {
            (true, false, false) => return contents(inner),
            (false, true, false) => {
                return if let Box::Text(end) = contents(inner) { Box::End(end) } else { Box::Unknown };
            }
            (_, _, true) => return Box::Unknown,
            (_, _, false) => {}
        }
    }
    Box::Unknown
}

/// A border that says how many rows it hides: `─── ↑ 9 more ───`.
fn hides(rule: &[Cell], arrow: char) -> bool {
    let label: String = rule.iter().map(|cell| cell.sign).filter(|sign| *sign != '─').collect();
    let mut words = label.split_whitespace();
    words.next().is_some_and(|word| word.chars().eq([arrow]))
        && words.next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        && words.next() == Some("more")
}

/// A border: at least ten rule signs from the edge on, and more of them than of anything else (a label may stand in it).
fn is_rule(row: &[Cell]) -> bool {
    let signs = row.iter().filter(|cell| cell.sign == '─').count();
    row.iter().take(3).all(|cell| cell.sign == '─') && signs >= 10 && signs * 2 > row.len()
}

/// The lowest row that starts with a bold `›`, and all rows from it to the blank one above the footer.
fn codex(rows: &[Row]) -> Box {
    let end = rows.iter().rposition(|row| !screen::is_blank(row)).map_or(0, |last| last + 1);
    let rows = rows.get(..end).unwrap_or_default();
    let marks = |row: &Row| row.first().is_some_and(|cell| cell.sign == '›' && cell.bold && !cell.dim);
    let Some(start) = rows.iter().rposition(marks) else { return Box::Unknown };
    let Some(inner) = rows.iter().rposition(|row| screen::is_blank(row)).and_then(|foot| rows.get(start..foot)) else {
        return Box::Unknown;
    };
    if inner.is_empty() { Box::Unknown } else { contents(inner) }
}

/// Without the two columns of the mark. A hint is faint but for the one sign under the cursor.
fn contents(inner: &[Row]) -> Box {
    let cells = || inner.iter().flat_map(|row| row.iter().skip(2)).filter(|cell| !cell.sign.is_whitespace());
    let hint = cells().skip_while(|cell| cell.reverse).all(|cell| cell.dim)
        && cells().take_while(|cell| cell.reverse).count() <= 1
        && (cells().any(|cell| cell.dim) || cells().next().is_none());
    if hint {
        return Box::Empty;
    }
    let lines: Vec<String> = inner.iter().map(|row| screen::text(row.get(2..).unwrap_or_default())).collect();
    Box::Text(lines.join("\n").trim_end().to_owned())
}

/// Whether a box shows exactly this text: letter by letter, or with a part of it folded into a mark whose number of lines
/// or characters is that of the part, and nothing beside it.
#[must_use]
pub fn shows_all(shown: &str, text: &str) -> bool {
    let (shown, ours) = (fold(shown), fold(text));
    if shown == ours {
        return true;
    }
    let Some((before, folded, after)) = folded_paste(&shown) else { return false };
    let Some(rest) = ours.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) else { return false };
    !rest.is_empty() && folded.stands_for(between(text, before, after))
}

/// Whether a box shows the beginning of this text and nothing beside it (it may not be drawn to its end yet). A mark for
/// a long paste is drawn whole or not at all.
#[must_use]
pub fn shows_beginning(shown: &str, text: &str) -> bool {
    fold(text).starts_with(&fold(shown))
}

/// A mark that stands for a long paste.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Folded {
    /// Claude: `[Pasted text #1 +30 lines]`, without a number of lines for a single one.
    Lines(usize),
    /// Codex: `[Pasted Content 1204 chars]`.
    Chars(usize),
}

impl Folded {
    fn read(mark: &str) -> Option<Self> {
        if let Some(mark) = mark.strip_prefix("Pastedtext#") {
            let (number, lines) = mark.split_once('+').map_or((mark, None), |(number, lines)| (number, Some(lines)));
            if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            return Some(Self::Lines(match lines {
                Some(lines) => lines.strip_suffix("lines").or_else(|| lines.strip_suffix("line"))?.parse().ok()?,
                None => 0,
            }));
        }
        let chars = mark.strip_prefix("PastedContent")?.strip_suffix("chars")?;
        chars.parse().ok().map(Self::Chars)
    }

    /// Whether it is the mark of this part of a text. White space at its edges may belong to what is beside it.
    fn stands_for(self, part: &str) -> bool {
        let (number, count): (usize, fn(&str) -> usize) = match self {
            Self::Lines(lines) => (lines, |text| text.bytes().filter(|byte| *byte == b'\n').count()),
            Self::Chars(chars) => (chars, |text| text.chars().count()),
        };
        (count(part.trim())..=count(part)).contains(&number)
    }
}

/// Splits a folded box at its one mark: what stands before, the mark, what stands after.
fn folded_paste(shown: &str) -> Option<(&str, Folded, &str)> {
    let (before, rest) = shown.split_once("[Pasted")?;
    let (mark, after) = rest.split_once(']')?;
    if after.contains("[Pasted") {
        return None;
    }
    Some((before, Folded::read(&format!("Pasted{mark}"))?, after))
}

/// The part of `text` between two folded ends.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let mut inner = text;
    let mut left = before.chars().count();
    while left > 0 {
        let Some(sign) = inner.chars().next() else { break };
        let (head, tail) = inner.split_at(sign.len_utf8());
        left = left.saturating_sub(fold(head).chars().count());
        inner = tail;
    }
    let mut right = after.chars().count();
    while right > 0 {
        let Some(sign) = inner.chars().next_back() else { break };
        let (head, tail) = inner.split_at(inner.len() - sign.len_utf8());
        right = right.saturating_sub(fold(tail).chars().count());
        inner = head;
    }
    inner
}

#[cfg(test)]
#[path = "input_box_tests.rs"]
mod tests;
