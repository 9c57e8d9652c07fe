//! One run in one column: its header, then what needs you, the conversation, the phases or the relays.

use std::fmt::Write as _;

use ratatui::layout::Rect;

use super::bits::{self, label};
use super::{Page, footer};
use crate::model::ids::{RecordKey, Role};
use crate::model::pair::PauseReason;
use crate::model::reach::Ticks;
use crate::model::text::first_line;
use crate::projection::phases::tally;
use crate::projection::words::{no_pane, unmarked, where_it_is};
use crate::projection::{Banner, LookFirst, Offer, ReviewView, RunView, Stage, Standing, ThreadKind};
use crate::ui::action::Action;
use crate::ui::app::{App, Over, Pane};
use crate::ui::layout::NARROW;
use crate::ui::order::is_over;
use crate::ui::row::{Hit, Row, Span, Tone, text, toned};
use crate::ui::times::{Times, span};
use crate::ui::width::{cut, pad, width};
use crate::ui::wrap::{wrap, wrap_text};

/// The screen of one column.
pub fn page(app: &mut App, key: &RecordKey, area: Rect, times: &Times) -> Page {
    let columns = usize::from(area.width.saturating_sub(2));
    let Some(run) = app.run(key).cloned() else {
        return Page {
            body: vec![Row::plain("this run is gone")],
            footer: footer::footer(app, columns, 1),
            ..Page::default()
        };
    };
    let pane = app.pane_of(&run);
    let needed = run.standing == Standing::NeedsYou && pane == Pane::Banner;
    let mut footer = footer::footer(app, columns, 1);
    let header = header(&run, columns, usize::from(area.height), pane, times);
    let mut room = Page::room(header.len(), footer.len(), area);
    let body = match pane {
        Pane::Banner => {
            let rows = banner(app, &run, columns, room, times);
            // The newest answer stands folded below, where the banner leaves a line for it.
            if let Some(last) = last_words(app, &run, times).filter(|_| needed && rows.len() < room) {
                room -= 1;
                footer.insert(0, last);
            }
            rows
        }
        Pane::Talk => {
            let rows = app.talk.rows(columns, room, area.width > NARROW, false, times);
            if rows.is_empty() {
                empty_talk(app, run.read_only.as_deref(), columns)
            } else {
                rows.into_iter().map(|(_, row)| row).collect()
            }
        }
        Pane::Phases => phases(app, &run, room, Cursor::Has, columns),
        Pane::Relays => relays_and_reviews(app, &run, room, columns, times),
    };
    let below = if pane == Pane::Talk { bits::talk_state(app) } else { Vec::new() };
    let body = body.into_iter().take(room).collect();
    Page { header, body, footer, double: needed, below, cursor: None }
}

fn header(run: &RunView, columns: usize, rows: usize, pane: Pane, times: &Times) -> Vec<Row> {
    let mut out = vec![title(run, columns, bits::state_word(run))];
    match (&run.banner, is_over(run), pane) {
        (_, true, _) => {
            let words = if run.stop_words.is_empty() { run.sentence.clone() } else { run.stop_words.clone() };
            let ago = run.stopped_at.map(|at| format!("{} ago", times.ago(at))).unwrap_or_default();
            out.push(Row::of(vec![text(words)]).tail(vec![text(ago)]));
        }
        (Some(banner), false, Pane::Banner) => {
            let since = run.wait.since.unwrap_or(run.since);
            let ago = times.ago(since);
            let mut lines =
                wrap(&[toned(Tone::Strong, &banner.headline)], columns.saturating_sub(width(&ago) + 1), &[]);
            if let Some(first) = lines.first_mut() {
                first.tail = vec![text(ago)];
            }
            lines.truncate(2);
            out.extend(lines);
        }
        _ => {
            out.extend(bits::wait_rows(run, columns, rows, times));
            let steps = bits::steps(run, " ─ ");
            if !steps.is_empty() {
                out.push(Row::of(steps).tail(vec![text(bits::relay_count(run))]));
            }
        }
    }
    out
}

/// `checkout · phase 3 ✓✓●       ● going`. Where it is narrow the name gives way, and before it the word `phase`; the
/// strip last.
pub fn title(run: &RunView, columns: usize, state: Vec<Span>) -> Row {
    let state_width: usize = state.iter().map(Span::width).sum();
    let phases = match run.phase {
        Some(_) if run.phase_asked => [" · next phase ".to_owned(), " · next ".to_owned()],
        Some(n) => [format!(" · phase {n} "), format!(" · ph {n} ")],
        None if run.phases.is_empty() => [String::new(), String::new()],
        None => [" · ".to_owned(), " · ".to_owned()],
    };
    let strip = bits::strip(run);
    let room_beside = |phase: &str| columns.saturating_sub(state_width + width(phase) + 2);
    let fits = |phase: &&String| width(&run.name) + strip.least() <= room_beside(phase);
    let phase = phases.iter().find(fits).unwrap_or(&phases[1]);
    let room = room_beside(phase);
    let name_room = width(&run.name).min(room.saturating_sub(strip.least()).max(2));
    let mut body = vec![toned(Tone::Strong, cut(&run.name, name_room)), text(phase)];
    body.extend(strip.in_room(room.saturating_sub(name_room)));
    Row::of(body).tail(state)
}

/// What needs you; of an ended run what became of it; before the first answer what to do.
pub fn banner(app: &App, run: &RunView, columns: usize, room: usize, times: &Times) -> Vec<Row> {
    if let Some(banner) = &run.banner {
        return needed(app, run, banner, columns, room);
    }
    if let Some(look) = &run.look_first {
        return needed(app, run, &look_banner(app, run, look), columns, room);
    }
    if is_over(run) { ended(app, run, columns, room, times) } else { first_wait(app, run, columns) }
}

/// A relay that waits for a look: where it goes, what is in its way, what can be done.
fn look_banner(app: &App, run: &RunView, look: &LookFirst) -> Banner {
    let (from, to) = (label(run, look.to.other()), label(run, look.to));
    let mut lines = vec![format!("Relay {} from {from} to {to} waits for your look.", look.n)];
    if app.edit_of(run).is_some() {
        lines.push("Your edit of it is kept.".to_owned());
    }
    lines.extend(look.ticks.as_ref().and_then(Ticks::missing).map(str::to_owned));
    let offer =
        |key: &str, word: &str, what: String| Offer { key: key.to_owned(), word: word.to_owned(), what, pane_of: None };
    let offers = vec![
        offer("Enter", "look", "shows it; nothing goes out before you say so".to_owned()),
        offer("y", "copy", format!("paste it yourself {}", where_to_paste(run, look.to))),
        offer("x", "stop", "end this run".to_owned()),
    ];
    Banner { reason: None, headline: String::new(), lines, offers }
}

/// `in claude's pane`; of one without a pane `where claude runs`.
fn where_to_paste(run: &RunView, to: Role) -> String {
    let side = if to == Role::Implementer { &run.implementer } else { &run.reviewer };
    where_it_is(no_pane(side.transport, &side.label, &side.place).is_none(), &side.label)
}

/// Facts, the table of reviews where they did not agree, and what can be done.
pub fn needed(app: &App, run: &RunView, banner: &Banner, columns: usize, room: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = banner.lines.iter().flat_map(|line| wrap_text(line, Tone::Text, columns)).collect();
    let offered: Vec<&Offer> = banner.offers.iter().filter(|offer| app.offer_works(run, offer)).collect();
    if let Some(why) = app.only_looks().filter(|_| offered.len() < banner.offers.len()) {
        rows.extend(wrap_text(&format!("{why}."), Tone::Text, columns));
    }
    let mut offers = offers(app, &offered, columns);
    let reviews = |room| if shows_plateau(run) { plateau(run, columns, room) } else { Vec::new() };
    let mut table_room = room.saturating_sub(rows.len() + offers.len() + 2);
    let mut table = reviews(table_room);
    // A question has all keys: what it is asked about stays, what the others would do gives way.
    let is_asked = matches!(app.over.last(), Some(Over::Question(_)));
    if is_asked && table.len() > table_room {
        offers.clear();
        table_room = room.saturating_sub(rows.len() + 1);
        table = reviews(table_room);
    }
    if !table.is_empty() && table.len() <= table_room {
        rows.push(Row::blank());
        rows.extend(table);
    }
    if rows.len() + offers.len() < room && !offers.is_empty() {
        rows.push(Row::blank());
    }
    // What can be done stays in view; facts give way.
    footer::cut(&mut rows, room.saturating_sub(offers.len()).max(1), Tone::Text, columns);
    rows.extend(offers);
    rows
}

/// `+ go on   5 more relays, from here`.
fn offers(app: &App, offers: &[&Offer], columns: usize) -> Vec<Row> {
    let words = offers.iter().map(|offer| width(&offer.word)).max().unwrap_or(0).max(6);
    let keyed: Vec<_> = offers
        .iter()
        .map(|offer| (offer, footer::offer_key(app, offer)))
        .map(|(offer, key)| (offer, key, key.map_or_else(|| "–".to_owned(), |key| key.to_string())))
        .collect();
    let keys = keyed.iter().map(|(_, _, name)| width(name)).max().unwrap_or(0);
    keyed
        .into_iter()
        .flat_map(|(offer, key, name)| {
            let press = toned(Tone::Key, pad(&name, keys));
            let lead = vec![press, text(" "), toned(Tone::Strong, pad(&offer.word, words)), text("  ")];
            let rows = wrap(&[text(&offer.what)], columns, &lead);
            rows.into_iter().map(move |row| match key {
                Some(key) => row.hit(Hit::Press(key)),
                None => row,
            })
        })
        .collect()
}

/// Whether the banner is about reviews that do not come to an end.
pub fn shows_plateau(run: &RunView) -> bool {
    run.banner.as_ref().is_some_and(|banner| banner.reason == Some(PauseReason::PhaseNotConverged))
}

/// Points, repeats and changed lines of each review: a plateau is to be seen. With room for them, the files as well, and
/// who counted.
pub fn plateau(run: &RunView, columns: usize, room: usize) -> Vec<Row> {
    if run.reviews.is_empty() {
        return Vec::new();
    }
    let fit = columns.saturating_sub(9) / 5;
    let shown = run.reviews.get(run.reviews.len().saturating_sub(fit)..).unwrap_or_default();
    let line = |name: &str, cell: &dyn Fn(&ReviewView) -> String| {
        let mut line = format!("{name:<9}");
        for review in shown {
            let _ = write!(line, "{:>5}", cell(review));
        }
        Row::plain(line)
    };
    let mut rows = vec![
        line("review", &|review| review.n.to_string()),
        line("points", &|review| review.points.to_string()),
        line("repeated", &|review| if review.repeated == 0 { "·".to_owned() } else { review.repeated.to_string() }),
    ];
    // With both in one table the tools' numbers are told from git's.
    let mixed = shown.iter().any(|review| review.by_git) && shown.iter().any(|review| !review.by_git);
    let number = |review: &ReviewView, count: Option<u32>| match count {
        None => "–".to_owned(),
        Some(count) if mixed && !review.by_git => format!("~{count}"),
        Some(count) => count.to_string(),
    };
    if shown.iter().any(|review| review.lines.is_some()) {
        rows.push(line("lines new", &|review| number(review, review.lines)));
    }
    if room > rows.len() && shown.iter().any(|review| review.files.is_some()) {
        rows.push(line("files", &|review| number(review, review.files)));
    }
    if room > rows.len() {
        let wordings = match (mixed, shown.iter().any(|review| review.by_git)) {
            (true, _) => ["since the review before; ~ by tools", "~ by tools, the rest by git"],
            (false, true) => ["since the review before, by git", "by git"],
            (false, false) => ["as the agent's tools tell, no git", "by the agent's tools, no git"],
        };
        let long = wrap_text(&format!("repeated: said before · lines new {}", wordings[0]), Tone::Text, columns);
        if rows.len() + long.len() <= room && room < usize::MAX {
            rows.extend(long);
        } else {
            let words = wordings.into_iter().find(|words| width(words) <= columns);
            rows.push(Row::plain(cut(words.unwrap_or(wordings[1]), columns)));
        }
    }
    rows
}

/// `▾ codex 14:37  1. rounds twice still`: the newest answer, folded.
fn last_words(app: &App, run: &RunView, times: &Times) -> Option<Row> {
    let thread = app.talk.thread().filter(|thread| thread.record.as_ref() == Some(&run.key))?;
    let (at, label, words) = thread.entries.iter().rev().find_map(|entry| match &entry.kind {
        ThreadKind::Said { label, item, .. } => match &item.kind {
            crate::model::conversation::ItemKind::Text { text, .. } => Some((entry.at, label, text)),
            _ => None,
        },
        _ => None,
    })?;
    let clock = at.map(|at| times.clock(at)).unwrap_or_default();
    Some(Row::plain(format!("▾ {label} {clock}  {}", unmarked(&first_line(words)))))
}

fn first_wait(app: &App, run: &RunView, columns: usize) -> Vec<Row> {
    let builder = label(run, Role::Implementer);
    let reviewer = label(run, Role::Reviewer);
    let mut rows = vec![Row::blank()];
    let has_pane = app.why_not_of(Action::GoToPane, run).is_none();
    let place = if has_pane { format!("in {builder}'s pane") } else { format!("where {builder} runs") };
    let n = run.phase.unwrap_or(1);
    let words = if app.nearby.demo {
        format!(
            "The demo asks {builder} for phase {n} in a moment. Of sessions of your own that is your move: you ask as \
             you always do. The answer goes to {reviewer}."
        )
    } else {
        format!("Your move, {place}:\nask for phase {n} as you always do.\nIts answer goes to {reviewer}.")
    };
    rows.extend(wrap_text(&words, Tone::Text, columns));
    let actions = [
        (Action::Ask, "ask now, with the phase prompt".to_owned()),
        (Action::GoToPane, format!("go to {builder}'s pane")),
        (Action::Options, "change prompts, words, cap".to_owned()),
    ];
    let possible = actions.into_iter().filter(|(action, _)| app.why_not_of(*action, run).is_none());
    let keyed: Vec<Row> = possible
        .filter_map(|(action, words)| Some((app.keymap.key(app.screen_place(), action)?, words)))
        .flat_map(|(key, words)| {
            wrap(&[text(words)], columns, &[text("  "), toned(Tone::Key, key.to_string()), text("  ")])
        })
        .collect();
    if !keyed.is_empty() {
        rows.extend([Row::blank(), Row::plain("Or:")]);
        rows.extend(keyed);
    }
    rows
}

/// `11 phases agreed · 1 skipped by you · 24 relays · took 2h`: what became of a run that is over. A pair has no phase.
pub fn became(run: &RunView) -> String {
    let mut facts = if matches!(run.key, RecordKey::Pair(_)) {
        counted(run.relays as usize, "relay")
    } else {
        let ends = run.phases.iter().filter_map(|phase| Some((phase.how()?, phase.reviewed)));
        let relays = run.phases.iter().map(|phase| phase.relays as usize).sum();
        format!("{} · {}", tally(ends).unwrap_or_else(|| "no phase ended".to_owned()), counted(relays, "relay"))
    };
    if let Some(ended) = run.stopped_at {
        let _ = write!(facts, " · took {}", span(ended.duration_since(run.created_at).as_secs()));
    }
    facts
}

fn ended(app: &App, run: &RunView, columns: usize, room: usize, times: &Times) -> Vec<Row> {
    let mut rows = wrap_text(&became(run), Tone::Text, columns);
    rows.push(Row::blank());
    let left = room.saturating_sub(rows.len());
    // A pair's relays are its own, and they are what can be listed.
    let is_pair = matches!(run.key, RecordKey::Pair(_));
    rows.extend(if is_pair {
        relays(app, run, left, false, times)
    } else {
        phases(app, run, left, Cursor::None, columns)
    });
    rows
}

/// `1 relay`, `2 relays`.
fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// How the cursor of a list is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// Not at all.
    None,
    /// Where it stands; another part has the keys.
    Stands,
    /// It has the keys.
    Has,
}

/// ` 2–12/12` of a list of which not all is in view; empty: all of it is.
fn part(from: usize, lines: usize, all: usize) -> String {
    let last = (from + lines).min(all);
    if from == 0 && last == all { String::new() } else { format!(" {}–{last}/{all}", from + 1) }
}

/// The phases, newest in view: `  9 ✓ Price rules           1     4m`.
pub fn phases(app: &App, run: &RunView, room: usize, cursor: Cursor, columns: usize) -> Vec<Row> {
    let wide = columns >= 28;
    let tail =
        |relays: &str, took: &str| if wide { format!("{relays:>6}{took:>7}") } else { format!("{relays:>3}{took:>6}") };
    let selected = app.phase.index();
    // Of few rows the one with the cursor is kept.
    let ahead = bits::unlisted(run).filter(|_| room > 2 || run.phases.is_empty());
    let lines = room.saturating_sub(1 + usize::from(ahead.is_some()));
    let from = (selected + 1).saturating_sub(lines);
    let head =
        format!(" n  phase{}", if run.phases.is_empty() { String::new() } else { part(from, lines, run.phases.len()) });
    let mut rows = vec![Row::plain(head).tail(vec![text(tail(if wide { "relays" } else { "n" }, "took"))])];
    for (at, phase) in run.phases.iter().enumerate().skip(from).take(lines) {
        let (glyph, tone) = bits::attempt(run, phase);
        let again = run.phases.iter().take(at).any(|before| before.n == phase.n);
        let name = if phase.summary.is_empty() { "–".to_owned() } else { phase.summary.clone() };
        let name = if again || phase.by_user { marked_name(&name, again, phase.by_user, columns, wide) } else { name };
        let took = if phase.status == crate::model::run::AttemptStatus::Skipped {
            "–".to_owned()
        } else {
            // Of the one that runs: so far. It changes with the header's time.
            span(phase.ended_at.unwrap_or(app.now).duration_since(phase.started_at).as_secs().max(0))
        };
        let mut body = vec![text(format!("{:>2} ", phase.n)), toned(tone, glyph), text(format!(" {name}"))];
        if phase.by_user {
            body.push(text(" (you)"));
        }
        let is_open = phase.ended_at.is_none() && at + 1 == run.phases.len();
        let relays = if is_open { phase.relays.max(bits::relays_so_far(run)) } else { phase.relays };
        let mut row = Row::of(body).tail(vec![text(tail(&relays.to_string(), &took))]);
        row.selected = cursor == Cursor::Has && at == selected;
        row.marked = cursor == Cursor::Stands && at == selected;
        rows.push(row);
    }
    match ahead {
        Some((n, (glyph, tone))) => {
            let does = match run.stage {
                // It may be that none is left.
                _ if run.phase_asked => "asked for",
                Some(Stage::Build) => "being built",
                _ => "not begun",
            };
            let body = vec![text(format!("{n:>2} ")), toned(tone, glyph), text(format!(" {does}"))];
            rows.push(Row::of(body).tail(vec![text(tail("0", "–"))]));
        }
        None if run.phases.is_empty() => rows.push(Row::plain("none yet").indent(2)),
        None => {}
    }
    rows
}

/// A phase that was reviewed before, or that a person decided: of a long name the end goes, never the mark.
fn marked_name(name: &str, again: bool, by_user: bool, columns: usize, wide: bool) -> String {
    let mark = if again { ", again" } else { "" };
    let around = if wide { 13 } else { 9 } + 6 + usize::from(by_user) * 6;
    format!("{}{mark}", cut(name, columns.saturating_sub(around + mark.len())))
}

/// The relays, and below them what each review said, where the relays leave it room or it has more to show.
fn relays_and_reviews(app: &App, run: &RunView, room: usize, columns: usize, times: &Times) -> Vec<Row> {
    /// A heading and the newest relays stay in view.
    const LEAST: usize = 4;
    let wanted = run.relay_list.len().max(1) + 1;
    let table = plateau(run, columns, room.saturating_sub(wanted.min(LEAST) + 1));
    if table.is_empty() || table.len() + 1 + wanted.min(LEAST) > room {
        return relays(app, run, room, true, times);
    }
    let mut rows = relays(app, run, wanted.min(room - table.len() - 1), true, times);
    rows.push(Row::blank());
    rows.extend(table);
    rows
}

/// The relays of this attempt: `  1 → codex   +212 −9      14:02`.
pub fn relays(app: &App, run: &RunView, room: usize, focused: bool, times: &Times) -> Vec<Row> {
    let selected = app.relay.index();
    let lines = room.saturating_sub(1);
    let from = (selected + 1).saturating_sub(lines);
    let newest = if app.phase.index() + 1 < run.phases.len() { ", the newest" } else { "" };
    let phase = run.phases.last().map_or_else(|| "relays".to_owned(), |phase| format!("relays of phase {}", phase.n));
    let head = format!("{phase}{newest}{}", part(from, lines, run.relay_list.len()));
    let mut rows = vec![Row::plain(head).tail(vec![text("seen")])];
    for (at, relay) in run.relay_list.iter().enumerate().skip(from).take(lines) {
        let mut what = match (relay.points, relay.repeated) {
            (Some(points), repeated) => {
                let points = counted(points as usize, "point");
                match repeated {
                    Some(repeated) if repeated > 0 => format!("{points}, {repeated} repeated"),
                    _ => points,
                }
            }
            (None, _) => relay.first_line.clone(),
        };
        if relay.edited {
            what.push_str(" · edited");
        }
        let seen = match (relay.seen_at, relay.sent_at) {
            (Some(seen), _) => times.clock(seen),
            (None, Some(_)) => "not yet".to_owned(),
            (None, None) => "held".to_owned(),
        };
        let mut row =
            Row::of(vec![text(format!("{:>2} → {:<7} {what}", relay.n, label(run, relay.to)))]).tail(vec![text(seen)]);
        row.selected = focused && at == selected;
        rows.push(row);
    }
    if run.relay_list.is_empty() {
        rows.push(Row::plain("none yet").indent(2));
    }
    rows
}

/// What the conversation says while there is none; `unread`: why the record tells of none.
pub fn empty_talk(app: &App, unread: Option<&str>, columns: usize) -> Vec<Row> {
    let words = match unread {
        Some(why) => why,
        None if app.talk.thread().is_none() => "reading the conversation",
        None => "nothing was said yet",
    };
    wrap_text(words, Tone::Text, columns)
}
