//! The footer: the keys that make sense now, from the keymap; a sentence above them, a question or a typed line in their place.

use crate::projection::{DriverFact, Offer, RunView, Standing};
use crate::ui::action::Action;
use crate::ui::app::{App, Over, Pane, Screen};
use crate::ui::key::Key;
use crate::ui::keymap::Place;
use crate::ui::layout::{SHORT, WIDE};
use crate::ui::order::is_over;
use crate::ui::row::{Hit, Row, Span, Tone, spans_width, text, toned};
use crate::ui::width::{columns as columns_of, head};
use crate::ui::wrap::wrap;

/// A key and what it does here.
pub type KeyWord = (Key, String);

/// From this many columns on a footer names more keys, in longer words.
pub const WIDE_KEYS: usize = 90;

/// The footer of the screen in `columns`; `lines`: how many its keys may take.
pub fn footer(app: &App, columns: usize, lines: usize) -> Vec<Row> {
    // Why an order was refused says it already.
    let is_said = app.said.as_ref().is_some_and(|said| app.only_looks().is_some_and(|why| why == said.words));
    let mut rows = viewer_rows(app, columns).filter(|_| columns > WIDE_KEYS && !is_said).unwrap_or_default();
    rows.extend(with_said(app, columns, lines, screen_keys(app, columns, lines)));
    rows
}

/// Who drives, where it is not this process.
pub fn viewer_rows(app: &App, columns: usize) -> Option<Vec<Row>> {
    let is = if app.projection.takes_orders { "what you order here is done there" } else { "this is a view" };
    let needs_you = |words| Some(wrap(&[toned(Tone::NeedsYou, words)], columns, &[toned(Tone::NeedsYou, "! ")]));
    let who = app.projection.driver.who().unwrap_or_default();
    let words = match &app.projection.driver {
        DriverFact::Here | DriverFact::Starting => return None,
        DriverFact::Elsewhere { background: true, .. } => format!("{who} drives this home in the background; {is}"),
        DriverFact::Elsewhere { .. } => format!("{who} drives this home; {is}"),
        silent @ DriverFact::Silent { .. } => return needs_you(silent.refuses().unwrap_or_default()),
        DriverFact::Nobody => {
            return needs_you(format!("nobody drives, so no run goes on: {} takes over", app.takes_over()));
        }
    };
    Some(wrap(&[text(words)], columns, &[]))
}

/// The keys with the sentence above them, or where rows are scarce the sentence in their place; a question or a typed
/// line always stands in their place.
pub fn with_said(app: &App, columns: usize, lines: usize, keys: Vec<Row>) -> Vec<Row> {
    if let Some(rows) = instead(app, columns, lines) {
        return rows;
    }
    let Some(said) = &app.said else { return keys };
    let tone = if said.is_error { Tone::Failed } else { Tone::Text };
    let mark = if said.is_error { "✗ " } else { "" };
    // What went wrong is worth more rows than what went well.
    let most = match (app.size.1 >= SHORT, said.is_error) {
        (false, _) => 1,
        (true, true) => 4,
        (true, false) => lines.max(2),
    };
    let mut rows = wrap(&[toned(tone, &said.words)], columns, &[toned(tone, mark)]);
    cut(&mut rows, most, tone, columns);
    if app.size.1 >= SHORT {
        rows.extend(keys);
    }
    rows
}

/// Leaves `most` rows; the last one says that there was more.
pub fn cut(rows: &mut Vec<Row>, most: usize, tone: Tone, columns: usize) {
    if rows.len() <= most {
        return;
    }
    rows.truncate(most);
    if let Some(last) = rows.last_mut() {
        let words: String = last.body.iter().map(Span::text).collect();
        let room = columns.saturating_sub(spans_width(&last.lead) + 1);
        last.body = vec![toned(tone, format!("{}…", head(&words, room)))];
    }
}

fn screen_keys(app: &App, columns: usize, lines: usize) -> Vec<Row> {
    let place = app.screen_place();
    let end = vec![(Action::Help, "help")];
    let mut rows = Vec::new();
    if matches!(app.screen(), Screen::Runs) && columns <= WIDE_KEYS {
        if let Some(run) = app.target().and_then(|key| app.run(&key)).filter(|_| lines > 1) {
            rows.push(keys_row(&run_keys(app, run), &[], columns));
        }
        let general = possible(app, general_words(app));
        let general = named(app, place, &general);
        rows.push(keys_row(&general, &named(app, place, &end), columns));
        return rows;
    }
    let mut keys = match app.screen() {
        Screen::Run(_) | Screen::Runs => {
            app.target().and_then(|key| app.run(&key)).map(|run| run_keys(app, run)).unwrap_or_default()
        }
        Screen::Sessions => session_keys(app, place),
        Screen::Session(_) => {
            let pane = app.why_not(Action::GoToPane).is_none().then_some((Action::GoToPane, "pane"));
            let (detail, rest) = ((Action::Detail, "detail"), [(Action::Search, "search"), (Action::Back, "back")]);
            let wanted: Vec<(Action, &str)> = std::iter::once(detail).chain(pane).chain(rest).collect();
            named(app, place, &wanted)
        }
        Screen::Log(_) => named(
            app,
            place,
            &[
                (Action::ShowAll, "everything"),
                (Action::Search, "search"),
                (Action::Copy, "copy"),
                (Action::Back, if app.log_filter.text().is_empty() { "back" } else { "end search" }),
            ],
        ),
    };
    let searches = match app.screen() {
        Screen::Run(_) | Screen::Session(_) => !app.talk.search.needle().words().is_empty(),
        Screen::Log(_) => !app.log_filter.text().is_empty(),
        Screen::Runs | Screen::Sessions => false,
    };
    if searches {
        let back = (Action::Back, "end search");
        let found = named(app, place, &[(Action::NextMatch, "next"), (Action::PreviousMatch, "previous"), back]);
        keys.splice(0..0, found);
    }
    let mut end = end;
    if columns > WIDE_KEYS {
        if matches!(app.screen(), Screen::Runs) {
            keys.extend(named(app, place, &possible(app, &[(Action::NewRun, "new")])));
            keys.extend(named(app, place, &[(Action::NextNeedsYou, "next")]).into_iter().filter(|_| is_needed(app)));
        }
        let has_options = app.target().is_some() && app.why_not(Action::Options).is_none();
        keys.extend(named(app, place, &[(Action::Options, "options")]).into_iter().filter(|_| has_options));
        keys.extend(named(app, place, &[(Action::Copy, "copy")]));
        end.insert(0, (Action::Palette, "all actions"));
        end.insert(0, (Action::Search, "search"));
    }
    let end = named(app, place, &end);
    let copy = app.keymap.key(place, Action::Copy).filter(|_| !app.can_copy());
    keys.retain(|(key, _)| Some(*key) != copy);
    let mut seen: Vec<Key> = end.iter().map(|(key, _)| *key).collect();
    keys.retain(|(key, _)| {
        let new = !seen.contains(key);
        seen.push(*key);
        new
    });
    vec![keys_row(&keys, &end, columns)]
}

/// The keys of the list itself, as far as they lead anywhere.
fn general_words(app: &App) -> &'static [(Action, &'static str)] {
    match (app.runs.order().is_empty(), is_needed(app)) {
        (true, _) => &[(Action::NewRun, "new"), (Action::ShowSessions, "sessions")],
        (false, true) => &[(Action::Open, "open"), (Action::NewRun, "new"), (Action::NextNeedsYou, "next")],
        (false, false) => &[(Action::Open, "open"), (Action::NewRun, "new"), (Action::ShowSessions, "sessions")],
    }
}

/// Those of some keys that are possible here.
fn possible<'a>(app: &App, keys: &[(Action, &'a str)]) -> Vec<(Action, &'a str)> {
    keys.iter().filter(|(action, _)| app.why_not(*action).is_none()).copied().collect()
}

/// Whether any run needs a person.
fn is_needed(app: &App) -> bool {
    app.projection.runs.iter().any(|run| run.standing == Standing::NeedsYou)
}

/// Lines of a question at most; at 38 columns the longest one has so many.
const MOST_ASKED: usize = 5;

/// What stands in the footer's place: a question, the line that is typed.
pub fn instead(app: &App, columns: usize, lines: usize) -> Option<Vec<Row>> {
    match app.over.last() {
        Some(Over::Question(question)) => {
            return Some(
                wrap(&[toned(Tone::Strong, &question.words)], columns, &[])
                    .into_iter()
                    .take(lines.max(MOST_ASKED))
                    .collect(),
            );
        }
        Some(Over::Line(line)) => {
            let (before, behind) = line.parts();
            let spans =
                vec![text("/ "), toned(Tone::Field, before), toned(Tone::Field, "▏"), toned(Tone::Field, behind)];
            return Some(vec![Row::of(spans).tail(vec![text("Enter done  Esc clear")])]);
        }
        _ => {}
    }
    None
}

/// Keys in as many as `most` lines: in one where they fit.
pub fn keys_rows(keys: &[KeyWord], columns: usize, most: usize) -> Vec<Row> {
    let mut left = keys;
    let mut rows = Vec::new();
    while !left.is_empty() && rows.len() < most {
        let fit = (1..=left.len())
            .take_while(|count| left.get(..*count).is_some_and(|some| spans_width(&spans_of(some)) <= columns + 1));
        let (now, then) = left.split_at(fit.last().unwrap_or(1));
        rows.push(keys_row(now, &[], columns));
        left = then;
    }
    rows
}

/// One line of keys, as many as fit, and those at its right edge.
pub fn keys_row(keys: &[KeyWord], end: &[KeyWord], columns: usize) -> Row {
    let end = spans_of(end);
    // Without keys at the right edge the margin there may be used too.
    let room = if end.is_empty() { columns + 1 } else { columns.saturating_sub(spans_width(&end) + 1) };
    let mut body: Vec<Span> = Vec::new();
    for key in keys {
        let next = spans_of(std::slice::from_ref(key));
        let gap = if body.is_empty() { 0 } else { 2 };
        if spans_width(&body) + gap + spans_width(&next) > room {
            break;
        }
        if gap > 0 {
            body.push(text("  "));
        }
        body.extend(next);
    }
    Row::of(body).tail(end)
}

fn spans_of(keys: &[KeyWord]) -> Vec<Span> {
    let mut spans = Vec::new();
    for (key, word) in keys {
        if !spans.is_empty() {
            spans.push(text("  "));
        }
        spans.push(toned(Tone::Key, key.to_string()).hits(Hit::Press(*key)));
        if !word.is_empty() {
            spans.push(text(format!(" {word}")).hits(Hit::Press(*key)));
        }
    }
    spans
}

/// Actions with words of their own, as far as the keymap has keys for them.
pub fn named(app: &App, place: Place, actions: &[(Action, &str)]) -> Vec<KeyWord> {
    actions.iter().filter_map(|(action, word)| Some((app.keymap.key(place, *action)?, (*word).to_owned()))).collect()
}

/// The key of an offer in the person's own keymap; `None` when they gave its action none.
pub fn offer_key(app: &App, offer: &Offer) -> Option<Key> {
    app.keymap.instead_of(Place::Run, offer.key.parse().ok()?)
}

/// The keys that make most sense for a run, best first; impossible ones are absent.
pub fn run_keys(app: &App, run: &RunView) -> Vec<KeyWord> {
    let place = app.screen_place();
    let in_run = matches!(app.screen(), Screen::Run(_));
    let mut keys: Vec<KeyWord> = Vec::new();
    if app.projection.driver == DriverFact::Nobody {
        keys.extend(named(app, place, &[(Action::TakeOver, "take over")]));
    }
    // Where its offers stand on the page they are not repeated.
    let on_page = in_run && (app.pane_of(run) == Pane::Banner || app.size.0 >= WIDE);
    if let Some(banner) = run.banner.as_ref().filter(|_| !on_page) {
        let offers = banner.offers.iter().filter(|offer| app.offer_works(run, offer));
        keys.extend(offers.filter_map(|offer| Some((offer_key(app, offer)?, offer.word.clone()))));
    }
    let wanted: &[(Action, &str)] = match run.standing {
        // Nothing is sent from a look while the run is paused.
        Standing::Paused if run.look_first.is_some() && run.banner.is_none() => &[
            (Action::PauseOrGoOn, "go on"),
            (Action::Open, "look"),
            (Action::Write, "write"),
            (Action::Stop, "stop"),
            (Action::Back, "back"),
        ],
        _ if in_run && run.look_first.is_some() && app.pane_of(run) == Pane::Banner => &[
            (Action::Open, "look at it"),
            (Action::GoToPane, "pane"),
            (Action::Stop, "stop"),
            (Action::NextPane, ""),
            (Action::Back, "back"),
        ],
        _ if in_run && run.banner.is_some() && app.pane_of(run) == Pane::Banner => &[
            (Action::Open, "read"),
            (Action::Compare, "compare"),
            (Action::GoToPane, "pane"),
            (Action::NextPane, ""),
            (Action::Back, "back"),
        ],
        _ if run.look_first.is_some() && run.banner.is_none() => {
            &[(Action::Open, "look"), (Action::GoToPane, "pane"), (Action::Write, "write"), (Action::Stop, "stop")]
        }
        _ if run.first_wait => &[
            (Action::Ask, "ask now"),
            (Action::GoToPane, "pane"),
            (Action::PauseOrGoOn, "pause"),
            (Action::Stop, "stop"),
        ],
        _ if is_over(run) => {
            &[(Action::Again, "run on"), (Action::LogOfRun, "log"), (Action::Copy, "copy"), (Action::Discard, "remove")]
        }
        Standing::Paused | Standing::Limit => &[
            (Action::PauseOrGoOn, "go on"),
            (Action::Write, "write"),
            (Action::GoToPane, "pane"),
            (Action::Stop, "stop"),
            (Action::NextPane, ""),
        ],
        Standing::NeedsYou => &[
            (Action::GoToPane, "pane"),
            (Action::Write, "write"),
            (Action::Stop, "stop"),
            (Action::PreviousPane, "what"),
        ],
        _ => &[
            (Action::PauseOrGoOn, "pause"),
            (Action::Write, "write"),
            (Action::GoToPane, "pane"),
            (Action::NextPane, ""),
            (Action::Skip, "skip"),
            (Action::Again, "again"),
            (Action::Accept, "accept"),
            (Action::Stop, "stop"),
            (Action::Compare, "compare"),
            (Action::Detail, "detail"),
        ],
    };
    for (action, word) in wanted {
        let possible = app.why_not_of(*action, run).is_none();
        let somewhere = match action {
            // With one review there is hardly anything to compare.
            Action::Compare => in_run && run.reviews.len() > 1,
            Action::NextPane | Action::PreviousPane | Action::Detail | Action::Open => in_run,
            _ => true,
        };
        if possible
            && somewhere
            && let Some(key) = app.keymap.key(place, *action)
            // What the banner says of a key is more exact.
            && !keys.iter().any(|(known, _)| *known == key)
        {
            let roomy = app.size.0 > columns_of(WIDE_KEYS);
            let word = if word.is_empty() && roomy { "next part" } else { word };
            keys.push((key, word.to_owned()));
        }
    }
    keys
}

fn session_keys(app: &App, place: Place) -> Vec<KeyWord> {
    if app.sessions.order().is_empty() {
        let start = possible(app, &[(Action::StartAgent, "start")]).into_iter();
        let wanted: Vec<_> = start.chain([(Action::ShowRuns, "runs"), (Action::ShowAll, "show all")]).collect();
        return named(app, place, &wanted);
    }
    let mut wanted = vec![(Action::NewRun, "new run"), (Action::StartAgent, "start")];
    let view = app.session_target().and_then(|key| app.session(&key));
    match view {
        Some(view) if view.live && app.why_not(Action::GoToPane).is_some() => {}
        Some(view) if view.live => wanted.push((Action::GoToPane, "pane")),
        Some(_) => wanted.push((Action::BringBack, "bring back")),
        None => {}
    }
    wanted.extend([(Action::Open, "open"), (Action::Search, "search"), (Action::Rename, "rename")]);
    named(app, place, &possible(app, &wanted))
}
