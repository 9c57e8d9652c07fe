//! What stands in an agent's input box, read from its captured pane. Pure: the same screen is always read alike.
//! Anything that is not drawn as known is `Unknown`, never guessed. How a drawn text is compared with ours is `drawn`'s.

use super::drawn;
use super::screen::{self, Cell, Row};
use crate::model::ids::Agent;
use crate::model::reach::{InputBox, Tick};

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
    /// A text whose box goes on below the pane: what stands there cannot be seen.
    Cut(String),
}

impl Box {
    /// A text that the agent would take for a command of its own, so that an Enter would run it.
    #[must_use]
    pub fn is_command(&self) -> bool {
        let (Self::Text(shown) | Self::Cut(shown)) = self else { return false };
        shown.trim_start().starts_with(['/', '!'])
    }
}

/// In a pane of fewer rows Claude draws a part of its box below the pane.
const FEWEST_ROWS: u32 = 10;
/// From so many rows on it draws all of it, and takes small pastes of several lines as typed words.
const ENOUGH_ROWS: u32 = 12;

/// Why nothing is typed into a pane of so many rows, if so: what is typed there could not be seen.
#[must_use]
pub fn too_low(agent: Agent, rows: u32) -> Option<String> {
    (agent == Agent::Claude && rows < FEWEST_ROWS).then(|| {
        format!("{agent}'s pane has only {rows} rows, too few to see its input box; make it {ENOUGH_ROWS} rows high")
    })
}

/// Whether an input box lets a message in, in words for people. `rows`: the height of its pane.
#[must_use]
pub fn tick(agent: Agent, input: InputBox, rows: u32) -> Tick {
    Tick::Missing(match input {
        InputBox::Empty => match too_low(agent, rows) {
            Some(why) => why,
            None => return Tick::Holds,
        },
        InputBox::Ours => format!("our own text stands in {agent}'s input box"),
        InputBox::Other => format!("unsent text in {agent}'s input box; press Enter or clear it in the pane"),
        InputBox::Command => {
            format!("an unsent command in {agent}'s input box; clear it in the pane (an Enter would run it)")
        }
        InputBox::Unknown => unreadable(agent, rows),
    })
}

/// What is said of a box that cannot be read.
#[must_use]
pub fn unreadable(agent: Agent, rows: u32) -> String {
    too_low(agent, rows).unwrap_or_else(|| format!("{agent}'s input box cannot be read"))
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
/// grow, so that the part that is seen stands for it when the box or the pane is too small.
#[must_use]
pub fn read(agent: Agent, captured: &str, ours: Option<&str>, typed: bool) -> InputBox {
    let found = find(agent, captured);
    let seen = if typed { InputBox::Ours } else { InputBox::Unknown };
    match (&found, ours) {
        (Box::Unknown, _) => InputBox::Unknown,
        (Box::Empty, _) => InputBox::Empty,
        (Box::Text(shown), Some(ours)) if drawn::shows_all(shown, ours) => InputBox::Ours,
        (Box::End(shown), Some(ours)) if drawn::shows_end(shown, ours) => seen,
        (Box::Cut(shown), Some(ours)) if drawn::shows_all(shown, ours) => seen,
        (Box::Cut(shown), Some(ours)) if drawn::shows_beginning(shown, ours) => InputBox::Unknown,
        _ if found.is_command() => InputBox::Command,
        (Box::Text(_) | Box::End(_) | Box::Cut(_), _) => InputBox::Other,
    }
}

/// Between two rules, the first row starting with `❯` and a no-break space. The lowest such pair is the box: an
/// answer further up may draw the same. In a low pane the lower rule lies below the pane's last row.
fn claude(rows: &[Row]) -> Box {
    let rules: Vec<usize> = (0..rows.len()).filter(|at| rows.get(*at).is_some_and(|row| is_rule(row))).collect();
    if let Some(cut) = rules.last().and_then(|top| without_floor(rows.get(*top)?, rows.get(top + 1..)?)) {
        return cut;
    }
    let boxes = rules.iter().zip(rules.iter().skip(1)).rev();
    let inner =
        boxes.filter_map(|(top, bottom)| Some((rows.get(*top)?, rows.get(top + 1..*bottom)?, rows.get(*bottom)?)));
    for (top, inner, bottom) in inner {
        match (is_marked(inner), hides(top, '↑'), hides(bottom, '↓')) {
            (true, false, false) => return contents(inner),
            (false, true, false) => return Box::End(words(inner)),
            (_, _, true) => return Box::Unknown,
            (_, _, false) => {}
        }
    }
    Box::Unknown
}

/// The box whose upper rule is the last one on the pane: all rows to the pane's end are its own. An empty one is
/// unknown: a text may stand below.
fn without_floor(top: &[Cell], inner: &[Row]) -> Option<Box> {
    if is_marked(inner) {
        let shown = words(inner);
        return Some(if shown.is_empty() { Box::Unknown } else { Box::Cut(shown) });
    }
    let is_own = |row: &Row| row.iter().take(2).all(|cell| cell.sign.is_whitespace());
    (hides(top, '↑') && !inner.is_empty() && inner.iter().all(is_own)).then(|| Box::End(words(inner)))
}

/// Whether the box's first row begins with its mark.
fn is_marked(inner: &[Row]) -> bool {
    inner.first().is_some_and(|row| {
        row.first().is_some_and(|cell| cell.sign == '❯') && row.get(1).is_some_and(|cell| cell.sign == '\u{a0}')
    })
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
    Box::Text(words(inner))
}

/// The text without the two columns of the mark.
fn words(inner: &[Row]) -> String {
    let lines: Vec<String> = inner.iter().map(|row| screen::text(row.get(2..).unwrap_or_default())).collect();
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
#[path = "input_box_tests.rs"]
mod tests;
