//! The list of runs: two lines a run, the second is a sentence.

use std::collections::BTreeSet;

use ratatui::layout::Rect;

use super::{Page, bits, empty, footer};
use crate::model::ids::RecordKey;
use crate::projection::counts::Counts;
use crate::projection::{DriverFact, RunView, Standing};
use crate::ui::action::Action;
use crate::ui::app::{App, Screen};
use crate::ui::keymap::Place;
use crate::ui::layout::SHORT;
use crate::ui::order::is_over;
use crate::ui::row::{Hit, Row, Rule, Tone, text, toned};
use crate::ui::times::Times;
use crate::ui::width::{cut, width};
use crate::ui::wrap::wrap_text;

/// The screen of one column.
pub fn page(app: &mut App, area: Rect, times: &Times) -> Page {
    let columns = usize::from(area.width.saturating_sub(2));
    let mut header =
        vec![Row::of(bits::list_title("trellis", app.runs_filter.text(), columns)).tail(vec![text(counts(app))])];
    // A wide footer says it itself.
    header.extend(footer::viewer_rows(app, columns).filter(|_| columns <= footer::WIDE_KEYS).unwrap_or_default());
    let footer = footer::footer(app, columns, 2);
    let room = Page::room(header.len(), footer.len(), area);
    let body = if app.runs.order().is_empty() {
        empty::runs(app, columns)
    } else {
        list(app, columns, room, area.height < SHORT, times)
    };
    let below = in_view(&body, app.runs.order().len()).map(text).into_iter().collect();
    Page { header, body, footer, below, ..Page::default() }
}

/// `3–9 of 40`: the items of a list that stand in these rows; `None`: all of them do.
pub fn in_view(rows: &[Row], all: usize) -> Option<String> {
    let shown = || rows.iter().filter_map(|row| if let Some(Hit::Select(at)) = row.hit { Some(at) } else { None });
    let (first, last) = (shown().min()?, shown().max()?);
    (first > 0 || last + 1 < all).then(|| format!("{}–{} of {all}", first + 1, last + 1))
}

/// `1 needs you · 2 going`.
pub fn counts(app: &App) -> String {
    let Counts { needs_you, going, paused, limited, .. } = Counts::of(&app.projection);
    let mut parts: Vec<String> = app.nearby.demo.then(|| "demo".to_owned()).into_iter().collect();
    match app.projection.driver {
        DriverFact::Starting => parts.push("starting".to_owned()),
        DriverFact::Nobody | DriverFact::Silent { .. } => parts.push("not driven".to_owned()),
        DriverFact::Here | DriverFact::Elsewhere { .. } => {}
    }
    match needs_you {
        0 => {}
        1 => parts.push("1 needs you".to_owned()),
        n => parts.push(format!("{n} need you")),
    }
    if going > 0 {
        parts.push(format!("{going} going"));
    }
    // What stands still is counted where nothing else is to be said.
    if needs_you + going == 0 && app.projection.driver != DriverFact::Nobody {
        parts.extend((paused > 0).then(|| format!("{paused} paused")));
        parts.extend((limited > 0).then(|| format!("{limited} at a limit")));
    }
    parts.join(" · ")
}

/// The rows of the list that fit in `room`, the selected run among them.
pub fn list(app: &mut App, columns: usize, room: usize, short: bool, times: &Times) -> Vec<Row> {
    let focused = matches!(app.screen(), Screen::Runs) && app.over.is_empty();
    let narrow = columns <= 27;
    let here = match app.screen() {
        Screen::Run(key) => app.runs.order().iter().position(|known| known == key),
        _ => Some(app.runs.index()),
    };
    let views: Vec<RunView> = app.runs.order().iter().filter_map(|key| app.run(key)).cloned().collect();
    // While the order holds still, one that just ended may stand above one that goes: no going run stands below the line.
    let ended_from = views.iter().rposition(|run| !is_over(run)).map_or(0, |at| at + 1);
    let first_ended = (ended_from < views.len()).then_some(ended_from);
    let height = |at: usize| {
        let two = views.get(at).is_some_and(|run| !is_over(run)) && (!short || Some(at) == here);
        1 + usize::from(two) + usize::from(first_ended == Some(at))
    };
    app.runs.scroll_into_view(height, room);
    let mut rows = Vec::new();
    for (at, run) in views.iter().enumerate().skip(app.runs.offset) {
        if rows.len() + height(at) > room {
            break;
        }
        if first_ended == Some(at) {
            rows.push(Row { body: vec![text(" ended ")], tail: vec![text(" ago")], ..Row::rule(Rule::Single) });
        }
        let cursor = Some(at) == here;
        let mut row = first_line(run, columns, narrow, times).hit(Hit::Select(at));
        row.selected = cursor && focused;
        row.marked = cursor && !focused;
        rows.push(row);
        if !is_over(run) && (!short || cursor) {
            let sentence = sentence(run, columns, narrow);
            rows.push(Row::plain(sentence).indent(2).hit(Hit::Select(at)));
        }
    }
    add_note(app, columns, room, &mut rows);
    rows
}

/// The note at the bottom, where the runs leave room for all of it.
fn add_note(app: &App, columns: usize, room: usize, rows: &mut Vec<Row>) {
    let Some((_, words)) = app.note() else { return };
    let key = app.keymap.key(Place::Runs, Action::HideNote).map_or_else(|| ":".to_owned(), |key| key.to_string());
    let note = wrap_text(&format!("{words} {key} hides it."), Tone::Held, columns.saturating_sub(1));
    if rows.len() + note.len() < room {
        rows.resize(room - note.len(), Row::blank());
        rows.extend(note);
    }
}

fn sentence(run: &RunView, columns: usize, narrow: bool) -> String {
    let full = match &run.read_only {
        Some(why) => format!("{}: {why}", run.state_word),
        None => run.sentence.clone(),
    };
    if width(&full) + 2 <= columns {
        return full;
    }
    let short = match full.split_once(" at its limit · ") {
        Some((_, back)) => format!("limit · {back}"),
        None => full.replace(" · relay ", " · ").replace(" of ", "/").replace("agreement after", "agreement,"),
    };
    if narrow && width(&short) + 2 <= columns { short } else { bits::without_count(&full).to_owned() }
}

fn first_line(run: &RunView, columns: usize, narrow: bool, times: &Times) -> Row {
    let (glyph, tone) = bits::standing(run.standing);
    let at = if is_over(run) { run.stopped_at.unwrap_or(run.since) } else { run.wait.since.unwrap_or(run.since) };
    let age = format!("{:>5}", times.ago_short(at));
    let middle = match (run.phase, is_over(run)) {
        (_, true) if narrow => run.phases.last().map(|phase| format!("ph {}", phase.n)).unwrap_or_default(),
        (_, true) => match run.phases.iter().map(|phase| phase.n).collect::<BTreeSet<_>>().len() {
            0 => run.state_word.clone(),
            1 => format!("1 phase  {}", run.state_word),
            n => format!("{n} phases  {}", run.state_word),
        },
        (Some(_), false) if run.phase_asked => "next".to_owned(),
        (Some(phase), false) if narrow => format!("ph {phase}"),
        (Some(phase), false) => format!("phase {phase}"),
        // A run without a phase is one that cannot be read.
        (None, false) => if matches!(run.key, RecordKey::Run(_)) { "run" } else { "pair" }.to_owned(),
    };
    let tail = format!("{middle}{age}");
    let room = columns.saturating_sub(width(&tail) + 3);
    let name_tone = if run.standing == Standing::NeedsYou { Tone::Strong } else { Tone::Text };
    Row::of(vec![toned(tone, glyph), text(" "), toned(name_tone, cut(&run.name, room))]).tail(vec![text(tail)])
}
