//! Wide terminals: the list, the detail and the conversation side by side.

use ratatui::layout::Rect;

use super::bits;
use super::{dialogs, empty, footer, log, run, runs, sessions};
use crate::model::ids::{RecordKey, Role};
use crate::projection::counts::Counts;
use crate::projection::words::unmarked;
use crate::projection::{RunView, SideView, Standing};
use crate::ui::app::{App, Pane, Screen};
use crate::ui::layout::{DETAIL, LIST, SPLIT};
use crate::ui::order::is_over;
use crate::ui::paint::Painter;
use crate::ui::row::{Row, Rule, Span, Tone, spans_width, text, toned};
use crate::ui::times::Times;
use crate::ui::width::{columns as cells, cut, width};
use crate::ui::wrap::wrap_text;

/// Columns of the list of sessions beside a transcript.
const SESSIONS: u16 = 46;

/// Draws the whole screen; `covers`: a dialog stands where the detail would.
pub fn draw(app: &mut App, painter: &mut Painter<'_>, area: Rect, times: &Times, covers: bool) {
    match app.screen().clone() {
        Screen::Log(_) if !covers => log::page(app, area, times).paint(painter, area),
        Screen::Log(_) => dialogs::draw(app, painter, area, times),
        screen => {
            let of_sessions = matches!(screen, Screen::Sessions | Screen::Session(_));
            let left_width = if of_sessions { SESSIONS } else { LIST };
            let keys = footer::footer(app, usize::from(area.width.saturating_sub(2)), 1);
            let foot = cells(keys.len());
            let main = Rect { height: area.height.saturating_sub(foot + 1), ..area };
            let left = Rect { width: left_width, ..main };
            let right = Rect { x: left_width + 1, width: main.width.saturating_sub(left_width + 1), ..main };
            left_list(app, painter, left, of_sessions, times);
            painter.vertical(left_width, 0..main.bottom());
            let mut verticals = vec![left_width];
            if covers {
                // The dialog has its own footer; the line below it stays empty.
                let whole = Rect { height: area.height, ..right };
                painter.vertical(left_width, 0..area.height);
                dialogs::draw(app, painter, whole, times);
            } else {
                painter.row(Rect { y: main.bottom(), height: 1, ..area }, &Row::rule(Rule::Single));
                painter.rows(Rect { y: main.bottom() + 1, height: foot, ..area }, &keys);
                match &screen {
                    Screen::Sessions | Screen::Session(_) => transcript(app, painter, right, times),
                    _ => verticals.extend(run_beside(app, painter, right, times)),
                }
            }
            painter.join(&verticals);
        }
    }
}

fn left_list(app: &mut App, painter: &mut Painter<'_>, area: Rect, of_sessions: bool, times: &Times) {
    let columns = usize::from(area.width.saturating_sub(2));
    let room = usize::from(area.height.saturating_sub(2));
    let (heading, rows) = if of_sessions {
        (sessions::heading(app, columns), sessions::list(app, columns, room, false, times))
    } else {
        let rows = if app.runs.order().is_empty() {
            vec![Row::plain("none").indent(2)]
        } else {
            runs::list(app, columns, room, false, times)
        };
        (heading(app, columns), rows)
    };
    painter.row(Rect { height: 1, ..area }, &heading);
    painter.row(Rect { y: area.y + 1, height: 1, ..area }, &Row::rule(Rule::Single));
    painter.rows(Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area }, &rows);
}

/// `runs               1 ! 2 ●`.
fn heading(app: &App, columns: usize) -> Row {
    let Counts { needs_you: waiting, going, paused, limited, .. } = Counts::of(&app.projection);
    let mut tail: Vec<Span> = Vec::new();
    if waiting > 0 {
        tail.extend([text(format!("{waiting} ")), toned(Tone::NeedsYou, "!"), text(" ")]);
    }
    if going > 0 {
        tail.extend([text(format!("{going} ")), toned(Tone::Going, "●")]);
    }
    for (count, glyph) in [(paused, "‖ "), (limited, "◷ ")] {
        if waiting + going == 0 && count > 0 {
            tail.extend([text(format!("{count} ")), toned(Tone::Held, glyph)]);
        }
    }
    let starting = app.projection.driver == crate::projection::DriverFact::Starting;
    let title = match (app.nearby.demo, starting) {
        (_, true) => "runs · starting",
        (true, false) => "runs · demo",
        (false, false) => "runs",
    };
    Row::of(bits::list_title(title, app.runs_filter.text(), columns)).tail(tail)
}

fn transcript(app: &mut App, painter: &mut Painter<'_>, area: Rect, times: &Times) {
    let Some(key) = app.session_target() else { return };
    let header = sessions::header(app, &key, usize::from(area.width.saturating_sub(2)), times);
    let top = cells(header.len());
    painter.rows(Rect { height: top, ..area }, &header);
    painter.row(Rect { y: area.y + top, height: 1, ..area }, &Row::rule(Rule::Single));
    let below = Rect { y: area.y + top + 1, height: area.height.saturating_sub(top + 1), ..area };
    talk(app, painter, below, times, None);
}

/// A run beside the list; gives the columns of its verticals.
fn run_beside(app: &mut App, painter: &mut Painter<'_>, area: Rect, times: &Times) -> Vec<u16> {
    let key = match app.screen() {
        Screen::Run(key) => Some(key.clone()),
        _ => app.runs.on().cloned(),
    };
    let Some(run) = key.and_then(|key| app.run(&key).cloned()) else {
        let columns = usize::from(area.width.saturating_sub(2)).min(70);
        let rows = if app.runs.order().is_empty() { empty::runs(app, columns) } else { Vec::new() };
        painter.rows(area, &rows);
        return Vec::new();
    };
    let columns = usize::from(area.width.saturating_sub(2));
    let pane = app.pane_of(&run);
    let mut rows = vec![title(&run, columns), Row::rule(Rule::Single)];
    rows.extend(header(&run, columns, times));
    let show_banner = run.banner.is_some() || run.look_first.is_some() || run.first_wait;
    if show_banner {
        let room = usize::from(area.height / 2);
        let double = Rule::Double;
        let needed = run.standing == Standing::NeedsYou;
        rows.push(Row::rule(if needed { double } else { Rule::Single }));
        let from = rows.len();
        rows.extend(banner_rows(app, &run, columns, room, times));
        let focused = matches!(app.screen(), Screen::Run(_)) && pane == Pane::Banner;
        if let Some(title) = rows.iter_mut().skip(from).find(|row| **row != Row::blank()) {
            title.selected = focused;
        }
        rows.push(Row::rule(if needed { double } else { Rule::Single }));
    } else {
        rows.push(Row::rule(Rule::Single));
    }
    let used = cells(rows.len()).min(area.height);
    painter.rows(Rect { height: used, ..area }, &rows);
    let below = Rect { y: area.y + used, height: area.height - used, ..area };
    let detail = Rect { width: DETAIL, ..below };
    let split_at = area.x + DETAIL;
    let beside = Rect { x: split_at + 1, width: below.width.saturating_sub(DETAIL + 1), ..below };
    painter.vertical(split_at, below.y..below.bottom());
    details(app, painter, detail, &run, pane, times);
    let focused =
        matches!(app.screen(), Screen::Run(_)) && (pane == Pane::Talk || pane == Pane::Banner && !show_banner);
    talk(app, painter, beside, times, Some(focused));
    vec![split_at]
}

/// `search-index · phase 7 · Checkout endpoint  ✓✓✓»✓✓●      ● going`. What the phase is about gives way, then the name;
/// the strip last.
fn title(run: &RunView, columns: usize) -> Row {
    const LEAST: usize = 8;
    let state = bits::state_word(run);
    let phase = match run.phase {
        Some(_) if run.phase_asked => " · next phase".to_owned(),
        Some(n) => format!(" · phase {n}"),
        None => String::new(),
    };
    let strip = bits::strip(run);
    let room = columns.saturating_sub(width(&phase) + spans_width(&state) + 4);
    let name = cut(&run.name, room.saturating_sub(strip.least()));
    let room = room.saturating_sub(width(&name));
    let strip = strip.in_room(strip.whole().min(40).min(strip.least().max(room / 2)));
    let mut words = vec![toned(Tone::Strong, name), text(phase)];
    let about = run.phases.last().filter(|last| Some(last.n) == run.phase && !last.summary.is_empty());
    let room = room.saturating_sub(spans_width(&strip) + 3);
    if let Some(phase) = about.filter(|_| room >= LEAST) {
        words.push(text(format!(" · {}", cut(&phase.summary, room))));
    }
    words.push(text("  "));
    words.extend(strip);
    Row::of(words).tail(state)
}

fn header(run: &RunView, columns: usize, times: &Times) -> Vec<Row> {
    let mut what = String::new();
    let mut parts = vec![if run.wait.who.is_empty() { run.sentence.clone() } else { run.wait.who.clone() }];
    if is_over(run) {
        let stopped = run.stopped_at.map(|at| format!("{} ago", times.ago(at))).unwrap_or_default();
        let words = if run.stop_words.is_empty() { run.sentence.clone() } else { run.stop_words.clone() };
        parts = vec![words, stopped];
    } else {
        parts.extend(run.wait.since.map(|since| times.ago(since)));
        // What needs you stands in full below.
        if run.banner.is_none() {
            what.clone_from(&run.wait.what);
        }
    }
    parts.retain(|part| !part.is_empty());
    let ends = if is_over(run) { String::new() } else { bits::ends_words(run, times) };
    let mut words = parts.join(" · ");
    // What exactly stands on a line of its own where it does not fit before what ends it.
    let fits = width(&words) + width(&what) + width(&ends) + 5 <= columns;
    if fits && !what.is_empty() {
        words = format!("{words} · {}", std::mem::take(&mut what));
    }
    let mut out = vec![Row::plain(words).tail(vec![text(ends)])];
    if !what.is_empty() {
        out.extend(
            wrap_text(&what, Tone::Text, columns.saturating_sub(2)).into_iter().take(2).map(|row| row.indent(2)),
        );
    }
    let mut body = bits::steps(run, " ─── ");
    if !body.is_empty() {
        body.push(text(format!("    {}  ", bits::relay_count(run))));
        body.extend(gauge(run));
    }
    if is_over(run) {
        body.push(text(run::became(run)));
    }
    let sides = sides(run, columns.saturating_sub(spans_width(&body) + 2));
    out.push(Row::of(body).tail(vec![text(sides)]));
    out
}

/// `claude %1  ⇄  codex %2   shop`, with less where there is no room.
fn sides(run: &RunView, room: usize) -> String {
    let place = |side: &SideView| format!("{} {}", side.label, side.place).trim_end().to_owned();
    let folder = run.implementer.session.worktree.rsplit('/').next().unwrap_or("");
    let (builds, reviews) = (&run.implementer, &run.reviewer);
    let wordings = [
        format!("{}  ⇄  {}   {folder}", place(builds), place(reviews)),
        format!("{}  ⇄  {}   {folder}", builds.label, reviews.label),
        format!("{}  ⇄  {}", builds.label, reviews.label),
    ];
    wordings.into_iter().find(|words| width(words) <= room).unwrap_or_default()
}

/// `▮▮▮▯▯`: relays of the cap.
fn gauge(run: &RunView) -> Vec<Span> {
    if run.max_relays == 0 || run.max_relays > 20 {
        return Vec::new();
    }
    let full = usize::try_from(bits::relays_so_far(run).min(run.max_relays)).unwrap_or(0);
    let all = usize::try_from(run.max_relays).unwrap_or(0);
    vec![text("▮".repeat(full)), text("▯".repeat(all - full))]
}

fn banner_rows(app: &App, run: &RunView, columns: usize, room: usize, times: &Times) -> Vec<Row> {
    let Some(banner) = &run.banner else { return run::banner(app, run, columns, room, times) };
    let since = times.ago(run.wait.since.unwrap_or(run.since));
    let mut rows = vec![Row::of(vec![toned(Tone::NeedsYou, &banner.headline)]).tail(vec![text(since)])];
    rows.extend(run::needed(app, run, banner, columns, room.saturating_sub(1)));
    rows
}

fn details(app: &App, painter: &mut Painter<'_>, area: Rect, run: &RunView, pane: Pane, times: &Times) {
    let columns = usize::from(area.width.saturating_sub(2));
    let in_run = matches!(app.screen(), Screen::Run(_));
    let height = usize::from(area.height);
    let listed = run.phases.len() + usize::from(bits::unlisted(run).is_some());
    let phases_room = (listed + 1).min(height / 2).max(2);
    let (on_phases, on_relays) = (in_run && pane == Pane::Phases, in_run && pane == Pane::Relays);
    // A pair has none: its relays are what can be listed.
    let is_pair = matches!(run.key, RecordKey::Pair(_));
    let mut rows = if is_pair {
        Vec::new()
    } else {
        let cursor = if on_phases { run::Cursor::Has } else { run::Cursor::Stands };
        run::phases(app, run, phases_room, cursor, columns)
    };
    if let Some(title) = rows.first_mut() {
        title.selected = on_phases;
    }
    if !run.relay_list.is_empty() || on_relays || is_pair {
        rows.extend((!rows.is_empty()).then(|| Row::rule(Rule::Single)));
        let title_at = rows.len();
        let table = if run::shows_plateau(run) { Vec::new() } else { run::plateau(run, columns, usize::MAX) };
        let table_room = if table.is_empty() { 0 } else { table.len() + 1 };
        let left = height.saturating_sub(rows.len());
        let wanted = run.relay_list.len().max(1) + 1;
        let relays_room = wanted.min(left.saturating_sub(table_room).max(left.min(4)));
        rows.extend(run::relays(app, run, relays_room, on_relays, times));
        if let Some(title) = rows.get_mut(title_at) {
            title.selected = on_relays;
        }
        if table_room > 0 && rows.len() + table_room <= height {
            rows.push(Row::rule(Rule::Single));
            rows.extend(table);
        }
        rows.extend(open_points(run, columns, height.saturating_sub(rows.len())));
    }
    painter.rows(area, &rows);
}

/// `= total rounds twice (since 2)`: what the newest review names again, as far as there is room.
fn open_points(run: &RunView, columns: usize, room: usize) -> Vec<Row> {
    if run.open_points.is_empty() || room < 2 {
        return Vec::new();
    }
    let mut rows = vec![Row::plain(format!("points still open, by {}", run.reviewer.label))];
    for point in &run.open_points {
        let since = format!(" (since {})", point.since);
        let words = cut(&unmarked(&point.words), columns.saturating_sub(width(&since) + 2));
        rows.push(Row::of(vec![toned(Tone::Held, "= "), text(words), text(since)]));
    }
    rows.truncate(room);
    rows
}

/// The conversation with its title; from 160 columns the sides stand side by side.
fn talk(app: &mut App, painter: &mut Painter<'_>, area: Rect, times: &Times, focused: Option<bool>) {
    if area.height < 2 {
        return;
    }
    let columns = usize::from(area.width.saturating_sub(2));
    let split = focused.is_some() && app.size.0 >= SPLIT;
    let rows = app.talk.rows(columns, usize::from(area.height - 1), true, split, times);
    let mut state = bits::talk_state(app);
    if app.talk.follows() {
        state.extend([text(if state.is_empty() { "" } else { " · " }), text("follows")]);
    }
    let detail = match app.talk.detail() {
        crate::ui::talk::Detail::Answers => String::new(),
        other => format!(" · {}", other.words()),
    };
    let mut heading = Row::plain(format!("conversation{detail}")).tail(state);
    heading.selected = focused == Some(true);
    painter.row(Rect { height: 1, ..area }, &heading);
    let below = Rect { y: area.y + 1, height: area.height - 1, ..area };
    if rows.is_empty() {
        let shown = app.target().and_then(|key| app.run(&key));
        let unread = shown.and_then(|run| run.read_only.as_deref());
        painter.rows(below, &run::empty_talk(app, unread, columns));
        return;
    }
    let half = cells((columns.saturating_sub(3)) / 2);
    for (y, (side, row)) in (below.y..below.bottom()).zip(&rows) {
        let place = match (split, side) {
            (true, Some(Role::Implementer)) => Rect { y, height: 1, width: half + 2, x: below.x },
            (true, Some(Role::Reviewer)) => {
                Rect { y, height: 1, width: half + 2, x: below.right().saturating_sub(half + 2) }
            }
            _ => Rect { y, height: 1, ..below },
        };
        painter.row(place, row);
    }
}
