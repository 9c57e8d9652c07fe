//! The log: decisions with their evidence, newest last.

use ratatui::layout::Rect;

use super::{Page, footer};
use crate::ui::app::{App, Screen};
use crate::ui::layout::WIDE;
use crate::ui::row::{Row, Tone, text, toned};
use crate::ui::times::Times;
use crate::ui::width::cut;
use crate::ui::wrap::{wrap, wrap_text};

/// The log in one column, at any width.
pub fn page(app: &mut App, area: Rect, times: &Times) -> Page {
    let columns = usize::from(area.width.saturating_sub(2));
    let footer = footer::footer(app, columns, 1);
    let of = match app.screen() {
        Screen::Log(Some(key)) => app.run(key).map_or_else(|| key.to_string(), |run| run.name.clone()),
        _ => String::new(),
    };
    let title = if of.is_empty() { "log".to_owned() } else { format!("log · {of}") };
    let lines = app.log_lines();
    let words = if app.all_log { "everything" } else { "decisions" };
    let place = if app.log_up == 0 { "follows".to_owned() } else { format!("{} newer", app.log_up) };
    let count = match lines.iter().filter(|line| app.is_sought(line)).count() {
        _ if app.log_filter.text().is_empty() => format!("{words} · {place}"),
        hits => format!("{hits} of /{} · {place}", cut(app.log_filter.text(), columns / 3)),
    };
    let header = vec![Row::of(vec![toned(Tone::Strong, title)]).tail(vec![text(count)])];
    let room = Page::room(1, footer.len(), area);
    app.log_up = app.log_up.min(lines.len().saturating_sub(1));
    // From the selected line upwards until the room is full; the newest stands at the bottom.
    let mut blocks: Vec<Vec<Row>> = Vec::new();
    let mut used = 0;
    for (index, line) in lines.iter().rev().enumerate().skip(app.log_up) {
        let stamp = match times.day(line.at) {
            Some(day) => format!("{day} {}  ", times.clock(line.at)),
            None => format!("{}  ", times.clock_seconds(line.at)),
        };
        let tone = if app.is_sought(line) { Tone::Strong } else { Tone::Text };
        let mut block = if area.width >= WIDE {
            wrap(&[toned(tone, &line.what), text("  "), text(format!("({})", line.evidence))], columns, &[text(stamp)])
        } else {
            let mut block = wrap(&[toned(tone, short_ids(&line.what))], columns, &[text(stamp)]);
            if !line.evidence.is_empty() {
                block.extend(
                    wrap_text(&short_ids(&line.evidence), Tone::Relay, columns.saturating_sub(2))
                        .into_iter()
                        .map(|row| row.indent(2)),
                );
            }
            block
        };
        if let Some(first) = block.first_mut().filter(|_| index == app.log_up) {
            first.marked = true;
        }
        used += block.len();
        blocks.push(block);
        if used >= room {
            break;
        }
    }
    let mut body: Vec<Row> = blocks.into_iter().rev().flatten().collect();
    body.drain(..body.len().saturating_sub(room));
    if body.is_empty() {
        body = wrap_text(
            "Nothing was decided yet. Each decision will stand here with what it rests on.",
            Tone::Text,
            columns,
        );
    }
    Page { header, body, footer, ..Page::default() }
}

/// Long ids by their two ends: enough to tell them apart. Copying a line gives them whole.
fn short_ids(words: &str) -> String {
    const LONG: usize = 16;
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    let mut out = String::with_capacity(words.len());
    let mut rest = words;
    while let Some(from) = rest.find(is_of_id) {
        let (before, token) = rest.split_at(from);
        let (token, behind) = token.split_at(token.find(|c| !is_of_id(c)).unwrap_or(token.len()));
        out.push_str(before);
        let digits = token.chars().filter(char::is_ascii_digit).count();
        match (token.get(..6), token.get(token.len().saturating_sub(4)..)) {
            (Some(first), Some(last)) if token.len() >= LONG && digits >= 4 => {
                out.push_str(first);
                out.push('…');
                out.push_str(last);
            }
            _ => out.push_str(token),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_are_told_by_their_ends_and_words_stay() {
        let id = "01a22c81-23da-7e41-a4cf-750b16141e6c";
        assert_eq!(short_ids(&format!("turn {id}, message m-1")), "turn 01a22c…1e6c, message m-1");
        assert_eq!(short_ids("review_start_failed at 14:20:05"), "review_start_failed at 14:20:05");
        assert_eq!(short_ids("héllo — ok"), "héllo — ok");
    }
}
