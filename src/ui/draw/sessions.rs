//! The list of sessions, and one transcript.

use ratatui::layout::Rect;

use super::runs::in_view;
use super::{Page, bits, empty, footer, run};
use crate::model::ids::SessionKey;
use crate::model::launch::chosen;
use crate::model::session::{SessionState, TURN_ENDED};
use crate::projection::SessionView;
use crate::ui::action::Action;
use crate::ui::app::{App, Screen};
use crate::ui::keymap::Place;
use crate::ui::layout::{NARROW, SHORT};
use crate::ui::order::Unlisted;
use crate::ui::row::{Hit, Row, Tone, text, toned};
use crate::ui::times::Times;
use crate::ui::width::{cut, width};
use crate::ui::wrap::wrap_text;

/// From here on a row has room for what its state rests on.
const WIDE: usize = 100;
/// Fewer columns of the last words say nothing.
const LAST_WORDS: usize = 16;

/// The list in one column.
pub fn list_page(app: &mut App, area: Rect, times: &Times) -> Page {
    let columns = usize::from(area.width.saturating_sub(2));
    let footer = footer::footer(app, columns, 1);
    let header = vec![heading(app, columns)];
    let room = Page::room(1, footer.len(), area);
    let body = list(app, columns, room, area.height < SHORT, times);
    let below = in_view(&body, app.sessions.order().len()).map(text).into_iter().collect();
    Page { header, body, footer, below, ..Page::default() }
}

/// `sessions        2 live of 14`.
pub fn heading(app: &App, columns: usize) -> Row {
    let live = app.projection.sessions.iter().filter(|view| view.live).count();
    let all = app.projection.sessions.len();
    // A view cannot look at everything that its driver sees.
    let blind = live == 0 && app.only_looks().is_some();
    let mut words = if blind { format!("{all}, seen by who drives") } else { format!("{live} live of {all}") };
    if app.projection.unread > 0 {
        words = format!("{words}, {} to be read", empty::thousands(app.projection.unread));
    }
    Row::of(bits::list_title("sessions", app.sessions_filter.text(), columns)).tail(vec![text(words)])
}

/// The sessions that fit in `room`, two lines each, then how many are not listed.
pub fn list(app: &mut App, columns: usize, room: usize, short: bool, times: &Times) -> Vec<Row> {
    let unlisted = app.unlisted_sessions();
    let left_out = unlisted_words(app, unlisted, columns);
    if app.sessions.order().is_empty() {
        return empty::sessions(app, columns, unlisted);
    }
    let focused = matches!(app.screen(), Screen::Sessions) && app.over.is_empty();
    let here = app.sessions.index();
    let list_room = room.saturating_sub(usize::from(left_out.is_some()));
    let height = |at: usize| if short && at != here { 1 } else { 2 };
    app.sessions.scroll_into_view(height, list_room);
    let mut rows = Vec::new();
    for (at, key) in app.sessions.order().iter().enumerate().skip(app.sessions.offset) {
        let Some(view) = app.session(key) else { continue };
        if rows.len() + height(at) > list_room {
            break;
        }
        let mut lines = lines(app, view, columns, times);
        if height(at) == 1 {
            lines.truncate(1);
        }
        for (index, mut row) in lines.into_iter().enumerate() {
            row.selected = index == 0 && at == here && focused;
            row.marked = index == 0 && at == here && !focused;
            rows.push(row.hit(Hit::Select(at)));
        }
    }
    rows.extend(left_out.map(Row::plain));
    rows
}

/// `12 older · / searches all`; of what a person left out: `1 hidden · . shows all`.
fn unlisted_words(app: &App, unlisted: Unlisted, columns: usize) -> Option<String> {
    let Unlisted { older, hidden, put_away } = unlisted;
    let counts = [(older, "older"), (hidden, "hidden"), (put_away, "put away")];
    let mut parts: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{} {word}", empty::thousands(*n))).collect();
    if parts.is_empty() {
        return None;
    }
    // A filter finds old ones, not those that a person left out.
    let by_hand = hidden + put_away > 0;
    let (action, does) = if by_hand { (Action::ShowAll, "shows all") } else { (Action::Search, "searches all") };
    let how = app.keymap.key(Place::Sessions, action).map(|key| format!("{key} {does}"));
    let used: usize = parts.iter().map(|part| width(part) + 3).sum();
    parts.extend(how.filter(|how| used + width(how) <= columns));
    Some(parts.join(" · "))
}

fn lines(app: &App, view: &SessionView, columns: usize, times: &Times) -> Vec<Row> {
    let (glyph, tone, state) = bits::session_state(&view.state);
    let age = view.active_at.map(|at| times.ago_short(at)).unwrap_or_default();
    let title = if view.title.is_empty() { view.session.session_id.as_str() } else { &view.title };
    let agent = view.agent.as_str();
    let news = if app.is_unread(view) { "new  " } else { "" };
    let tail = format!("{news}{agent} {age:>4}");
    let room = columns.saturating_sub(width(&tail) + 3);
    let first = Row::of(vec![toned(tone, glyph), text(" "), text(cut(title, room))]).tail(vec![text(tail)]);
    let mut words = state;
    if let Some(since) = view.fact.since {
        words.push(' ');
        words.push_str(&times.ago_short(since));
    }
    let kept_back = match (view.put_away, app.is_hidden(view)) {
        (true, _) => "put away",
        (false, true) => "hidden",
        (false, false) => "",
    };
    let used = view.used_by.as_ref().and_then(|key| app.run(key)).map(|run| format!("⇄ {}", cut(&run.name, 12)));
    let room = columns.saturating_sub(2 + used.as_ref().map_or(0, |used| width(used) + 1));
    let rests_on = view.fact.evidence.as_str();
    let evidence = if columns >= WIDE && rests_on != view.place { rests_on } else { "" };
    let branch = view.branch.as_deref().unwrap_or("");
    // A part that does not fit is left out whole: half a word says nothing.
    for part in [kept_back, reason(view), folder(&view.session.worktree), view.place.as_str(), branch, evidence] {
        if !part.is_empty() && width(&words) + 3 + width(part) <= room {
            words.push_str(" · ");
            words.push_str(part);
        }
    }
    // Of a session that somebody has open it is said what it does.
    let left = room.saturating_sub(width(&words) + 3);
    if !view.live && !view.last_words.is_empty() && left >= LAST_WORDS {
        words.push_str(" · ");
        words.push_str(&cut(&view.last_words, left));
    }
    let second = Row::plain(words).indent(2).tail(used.map(text).into_iter().collect::<Vec<_>>());
    vec![first, second]
}

/// Why it stands so, where its state's word does not say it all.
fn reason(view: &SessionView) -> &str {
    match &view.state {
        SessionState::Working { activity } if !activity.is_empty() => "",
        _ if view.fact.because == TURN_ENDED => "",
        _ => &view.fact.because,
    }
}

/// The last part of a path.
fn folder(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// One transcript in one column.
pub fn page(app: &mut App, key: &SessionKey, area: Rect, times: &Times) -> Page {
    let columns = usize::from(area.width.saturating_sub(2));
    let footer = footer::footer(app, columns, 1);
    let header = header(app, key, columns, times);
    let room = Page::room(header.len(), footer.len(), area);
    let rows = app.talk.rows(columns, room, area.width > NARROW, false, times);
    let body = if rows.is_empty() {
        run::empty_talk(app, None, columns)
    } else {
        rows.into_iter().map(|(_, row)| row).collect()
    };
    Page { header, body, footer, below: bits::talk_state(app), ..Page::default() }
}

/// Who it is, what it does, on which evidence.
pub fn header(app: &App, key: &SessionKey, columns: usize, times: &Times) -> Vec<Row> {
    let Some(view) = app.session(key) else { return vec![Row::plain(key.to_string())] };
    let (glyph, tone, state) = bits::session_state(&view.state);
    let title = if view.title.is_empty() { view.session.session_id.as_str() } else { &view.title };
    let since = view.fact.since.map(|since| times.ago(since)).unwrap_or_default();
    let place: Vec<&str> = [
        view.agent.as_str(),
        folder(&view.session.worktree),
        view.place.as_str(),
        view.branch.as_deref().unwrap_or(""),
    ]
    .into_iter()
    .filter(|part| !part.is_empty())
    .collect();
    let mut rows = vec![
        Row::of(vec![toned(Tone::Strong, title)]).tail(vec![toned(tone, format!("{glyph} {state}"))]),
        Row::plain(place.join(" · ")).tail(vec![text(since)]),
    ];
    if let Some(chosen) = view.launch.as_ref().map(chosen).filter(|chosen| !chosen.is_empty()) {
        rows.push(Row::plain(chosen));
    }
    if title != view.session.session_id.as_str() {
        rows.push(Row::plain(view.session.session_id.as_str()));
    }
    let ground: Vec<&str> =
        [reason(view), view.fact.evidence.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
    if !ground.is_empty() {
        let lines = wrap_text(&ground.join(" · "), Tone::Text, columns.saturating_sub(2));
        rows.extend(lines.into_iter().take(2).map(|row| row.indent(2)));
    }
    rows
}
