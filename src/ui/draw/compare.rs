//! Two answers of one side beside each other in one text: what went, what came, what is said again.

use ratatui::layout::Rect;

use super::Page;
use super::footer::{keys_row, named, with_said};
use crate::model::ids::Role;
use crate::ui::action::Action;
use crate::ui::app::App;
use crate::ui::compare::{Compare, Side};
use crate::ui::row::{Row, Tone, text, toned};
use crate::ui::times::Times;
use crate::ui::width::width;

/// From this many columns on the title has room for times and relays.
const ROOMY: usize = 60;
/// What is counted in the title, where it has the room.
const UNIT: &str = " words";

/// The page of a comparison.
pub fn page(app: &App, compare: &mut Compare, area: Rect, times: &Times) -> Page {
    let columns = usize::from(area.width.saturating_sub(2));
    let clock = |side: &Side| side.at.map(|at| times.clock(at)).unwrap_or_default();
    let (before, after) = (&compare.before, &compare.after);
    let title = match (before.relay, after.relay) {
        // Answers to two phases have relays of one number.
        _ if before.phase != after.phase => {
            let place = |side: &Side| {
                let phase = side.phase.map(|n| format!("phase {n}")).unwrap_or_default();
                let relay = side.relay.map(|n| format!(", relay {n}")).unwrap_or_default();
                if columns < ROOMY { phase } else { format!("{phase}{relay}, {}", clock(side)) }
            };
            format!("{}: {} → {}", compare.label, place(before), place(after))
        }
        (Some(one), Some(other)) if columns < ROOMY => format!("{}, relay {one} → {other}", compare.label),
        (Some(one), None) if columns < ROOMY => format!("{}, relay {one} → {}", compare.label, clock(after)),
        (one, other) => {
            let relay = |n: Option<u32>| n.map(|n| format!("relay {n}, ")).unwrap_or_default();
            format!("{}: {}{} → {}{}", compare.label, relay(one), clock(before), relay(other), clock(after))
        }
    };
    let (added, removed) = compare.words;
    let (added, removed) = (format!("+{added}"), format!("−{removed}"));
    let unit = if width(&title) + width(&added) + width(&removed) + 2 + width(UNIT) > columns { "" } else { UNIT };
    let counts = vec![toned(Tone::Added, added), text(" "), toned(Tone::Removed, removed), text(unit)];
    let of = if columns < ROOMY { "" } else { "the later names " };
    // Points are what a reviewer finds.
    let points = match compare.points {
        _ if compare.role == Role::Implementer => String::new(),
        (0, _) => String::new(),
        (1, 0) => format!("{of}1 point, not said before"),
        (all, 0) => format!("{of}{}, none of them said before", counted(all)),
        (all, again) => format!("{of}= {again} of {} said before", counted(all)),
    };
    let mut header = vec![Row::of(vec![toned(Tone::Strong, title)]).tail(counts)];
    let words = if points.is_empty() { "what went − and what came +".to_owned() } else { points };
    header.push(Row::plain(words));
    let words = [
        (Action::Compare, if columns < ROOMY { "other" } else { "other side" }),
        (Action::Copy, "copy"),
        (Action::Back, "back"),
        (Action::PreviousRelay, "earlier"),
    ];
    let keys = keys_row(&named(app, app.screen_place(), &words), &[], columns);
    let footer = with_said(app, columns, 2, vec![keys]);
    let room = Page::room(header.len(), footer.len(), area);
    compare.height = room;
    let count = compare.rows(columns).len();
    compare.top = compare.top.min(count.saturating_sub(room));
    let top = compare.top;
    let body: Vec<Row> = compare.rows(columns).iter().skip(top).take(room).cloned().collect();
    if count > room
        && let Some(row) = header.last_mut()
        && row.tail.is_empty()
    {
        row.tail = vec![text(format!("{}–{} of {count}", top + 1, (top + room).min(count)))];
    }
    Page { header, body, footer, ..Page::default() }
}

fn counted(points: usize) -> String {
    if points == 1 { "1 point".to_owned() } else { format!("{points} points") }
}
