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

/// Whether a box shows exactly this text: letter by letter, or with a part of it folded into `[Pasted text #n +k lines]`
/// whose number of lines is that of the part, and nothing beside it.
#[must_use]
pub fn shows_all(shown: &str, text: &str) -> bool {
    let (shown, ours) = (fold(shown), fold(text));
    if shown == ours {
        return true;
    }
    let Some((before, lines, after)) = folded_paste(&shown) else { return false };
    let Some(rest) = ours.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) else { return false };
    !rest.is_empty() && newlines(text, before, after).contains(&lines)
}

/// Whether a box shows the beginning of this text and nothing beside it (it may not be drawn to its end yet).
#[must_use]
pub fn shows_beginning(shown: &str, text: &str) -> bool {
    let (shown, ours) = (fold(shown), fold(text));
    ours.starts_with(&shown)
        || folded_paste(&shown).is_some_and(|(before, _, after)| after.is_empty() && ours.starts_with(before))
}

/// Whether what is seen of a box that is too small is a part of this text.
#[must_use]
pub fn shows_part(shown: &str, text: &str) -> bool {
    fold(text).contains(&fold(shown))
}

/// Splits a folded box at its one paste mark: what stands before, the lines it stands for, what stands after.
fn folded_paste(shown: &str) -> Option<(&str, usize, &str)> {
    let (before, rest) = shown.split_once("[Pastedtext#")?;
    let (inner, after) = rest.split_once(']')?;
    let (number, lines) = inner.split_once('+').map_or((inner, None), |(number, lines)| (number, Some(lines)));
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) || after.contains("[Pastedtext#") {
        return None;
    }
    let lines = match lines {
        Some(lines) => lines.strip_suffix("lines").or_else(|| lines.strip_suffix("line"))?.parse().ok()?,
        None => 0,
    };
    Some((before, lines, after))
}

/// How many line feeds the part of `text` between two folded ends may have: those at its edges may belong to either.
fn newlines(text: &str, before: &str, after: &str) -> std::ops::RangeInclusive<usize> {
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
    let count = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
    count(inner.trim())..=count(inner)
}

#[cfg(test)]
#[path = "input_box_tests.rs"]
mod tests;
