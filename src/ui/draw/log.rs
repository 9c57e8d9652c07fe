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
            let mut block = wrap(&[toned(tone, &line.what)], columns, &[text(stamp)]);
            if !line.evidence.is_empty() {
                block.extend(
                    wrap_text(&line.evidence, Tone::Relay, columns.saturating_sub(2))
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
