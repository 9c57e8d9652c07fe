//! "Since you looked": a block of sentences a run, and the phases that ended.

use ratatui::layout::Rect;

use super::footer::{keys_row, named, with_said};
use super::{Page, bits};
use crate::projection::Standing;
use crate::projection::phases::PhaseHow;
use crate::projection::summary::{PhaseEnd, RunSummary};
use crate::ui::action::Action;
use crate::ui::app::App;
use crate::ui::keymap::Place;
use crate::ui::row::{Hit, Row, Tone, text, toned};
use crate::ui::since::Since;
use crate::ui::width::{cut, pad};
use crate::ui::wrap::wrap;

/// The whole page.
pub fn page(app: &App, since: &mut Since, area: Rect) -> Page {
    let columns = usize::from(area.width.saturating_sub(2));
    let mut words = vec![(Action::Open, "open"), (Action::Copy, "copy"), (Action::Back, "close")];
    if since.summary.runs.len() > 1 {
        words.insert(2, (Action::Down, "next"));
    }
    let footer = with_said(app, columns, 2, vec![keys_row(&named(app, Place::Summary, &words), &[], columns)]);
    let room = Page::room(2, footer.len(), area);
    let mut body: Vec<Row> = Vec::new();
    let mut places = Vec::new();
    for (at, run) in since.summary.runs.iter().enumerate() {
        if at > 0 {
            body.push(Row::blank());
        }
        let from = body.len();
        body.push(head(app, run, columns).selected(at == since.at).hit(Hit::Select(at)));
        for line in run.lines(since.summary.until, &app.zone) {
            body.extend(wrap(&[text(line)], columns.saturating_sub(3), &[]).into_iter().map(|row| row.indent(2)));
        }
        body.extend(phases(&run.phases, columns));
        places.push((from, body.len()));
    }
    if let Some((from, to)) = places.get(since.at).copied().filter(|_| since.moved) {
        // Its end, unless its beginning would go.
        since.top = since.top.max(to.saturating_sub(room)).min(from);
    }
    since.moved = false;
    since.top = since.top.min(body.len().saturating_sub(room));
    let (all, last) = (body.len(), (since.top + room).min(body.len()));
    let place = if all > room { format!("{}–{last} of {all}", since.top + 1) } else { String::new() };
    let title = Row::of(vec![toned(Tone::Strong, "since you looked")]).tail(vec![text(place)]);
    let header = vec![title, Row::plain(since.summary.span(&app.zone))];
    let double = since.summary.runs.iter().any(|run| run.waits.is_some());
    let body = body.into_iter().skip(since.top).take(room).collect();
    Page { header, body, footer, double, ..Page::default() }
}

fn head(app: &App, run: &RunSummary, columns: usize) -> Row {
    let view = app.run(&run.key);
    let standing = view.map_or(Standing::Ended, |view| view.standing);
    let (glyph, tone) = bits::standing(standing);
    let name = view.map_or_else(|| run.name.clone(), |view| view.name.clone());
    let room = columns.saturating_sub(run.state_word.chars().count() + 6);
    Row::of(vec![toned(tone, glyph), text(" "), toned(Tone::Strong, cut(&name, room))])
        .tail(vec![toned(tone, run.state_word.clone())])
}

/// A line a phase that ended.
fn phases(ended: &[PhaseEnd], columns: usize) -> Vec<Row> {
    let tail = |relays: &str, took: &str| format!("{relays:>6} {took:>6}");
    let mut rows = Vec::new();
    if !ended.is_empty() {
        rows.push(Row::plain("  n  phase").tail(vec![text(tail("relays", "took"))]));
    }
    for phase in ended {
        let glyph = match phase.how {
            PhaseHow::Agreed | PhaseHow::Accepted => "✓",
            PhaseHow::Skipped => "»",
            PhaseHow::NotAgreed => "✗",
        };
        let n = phase.n.map(|n| n.to_string()).unwrap_or_default();
        let right = tail(&phase.relays.to_string(), &phase.took());
        let room = columns.saturating_sub(7 + right.chars().count() + 1);
        let summary = pad(&phase.summary, room);
        rows.push(Row::of(vec![text(format!("{n:>3} {glyph} {summary}"))]).tail(vec![text(right)]));
    }
    rows
}
