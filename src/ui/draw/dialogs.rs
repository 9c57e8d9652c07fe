//! What lies over a screen and covers it: help, lists to choose from, forms, editors, the preview of a relay.

use ratatui::layout::Rect;

use super::bits::{self, label};
use super::footer::{keys_row, keys_rows, named, with_said};
use super::{Page, compare, form, help, run, since};
use crate::model::ids::Role;
use crate::model::reach::Ticks;
use crate::projection::Standing;
use crate::projection::words::no_pane;
use crate::ui::action::Action;
use crate::ui::app::{App, Over, Purpose};
use crate::ui::form::{FormKind, Value};
use crate::ui::keymap::Place;
use crate::ui::layout::SHORT;
use crate::ui::menu::MenuItem;
use crate::ui::paint::Painter;
use crate::ui::row::{Hit, Row, Rule, Tone, text, toned};
use crate::ui::sanitise::clean_block;
use crate::ui::times::Times;
use crate::ui::width::{cut, pad, width};
use crate::ui::wrap::{wrap, wrap_text};

/// Draws the topmost dialog over `area`.
pub fn draw(app: &mut App, painter: &mut Painter<'_>, area: Rect, times: &Times) {
    let place = app.over.iter().rposition(|over| !matches!(over, Over::Question(_) | Over::Line(_)));
    let Some(at) = place else { return };
    // The dialog is taken out while it is drawn, so that it and the rest of the state can be looked at together.
    let mut over = app.over.remove(at);
    let page = match &mut over {
        Over::Help(shown) => help_page(app, shown, area),
        Over::Menu(menu) => menu_page(app, menu, area),
        Over::Form(shown) => form_page(app, shown, area),
        Over::Editor(writing) => editor_page(app, writing, area),
        Over::Look(look) => look_page(app, look, area, times),
        Over::Compare(shown) => compare::page(app, shown, area, times),
        Over::Since(shown) => since::page(app, shown, area),
        Over::Line(_) | Over::Question(_) => Page::default(),
    };
    app.over.insert(at, over);
    page.paint(painter, area);
}

fn inner(area: Rect) -> usize {
    usize::from(area.width.saturating_sub(2))
}

fn help_page(app: &App, shown: &mut crate::ui::app::Help, area: Rect) -> Page {
    let columns = inner(area);
    let title = format!("help · {}", shown.place.title());
    let footer = if shown.typing || !shown.filter.text().is_empty() {
        let (before, behind) = shown.filter.parts();
        let caret = if shown.typing { "▏" } else { "" };
        vec![Row::of(vec![text("/ "), toned(Tone::Field, format!("{before}{caret}{behind}"))])]
    } else {
        let words = [
            (Action::Back, "close"),
            (Action::Search, "search"),
            (Action::PageDown, "page"),
            (Action::Down, "down"),
            (Action::Last, "end"),
        ];
        vec![keys_row(&named(app, Place::Help, &words), &[], columns)]
    };
    let footer = with_said(app, columns, 2, footer);
    let room = Page::room(1, footer.len(), area);
    let rows = help::rows(app, shown, columns);
    shown.top = shown.top.min(rows.len().saturating_sub(room));
    let place = if rows.len() > room {
        format!("{}–{} of {}", shown.top + 1, (shown.top + room).min(rows.len()), rows.len())
    } else {
        String::new()
    };
    let header = vec![Row::of(vec![toned(Tone::Strong, title)]).tail(vec![text(place)])];
    let body = rows.into_iter().skip(shown.top).take(room).collect();
    Page { header, body, footer, ..Page::default() }
}

fn menu_page(app: &App, menu: &mut crate::ui::menu::Menu, area: Rect) -> Page {
    let columns = inner(area);
    let mut words = vec![(Action::Open, menu.does), (Action::Down, "move"), (Action::Back, "close")];
    if menu.by_typing {
        words.push((Action::EmptyLine, "empty"));
    }
    let footer = with_said(app, columns, 2, vec![keys_row(&named(app, Place::Palette, &words), &[], columns)]);
    let room = Page::room(1 + usize::from(menu.by_typing), footer.len(), area);
    let passing = menu.passing();
    let count = passing.len();
    let at = menu.at.min(count.saturating_sub(1));
    let names = passing.iter().map(|item| width(&item.words)).max().unwrap_or(0);
    let blocks: Vec<Vec<Row>> = passing
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let tells = menu.tells_each || index == at;
            menu_rows(item, index, (index == at, tells), names, columns)
        })
        .collect();
    menu.at = at;
    menu.top = menu.top.min(at);
    while menu.top < at && blocks.iter().take(at + 1).skip(menu.top).map(Vec::len).sum::<usize>() > room {
        menu.top += 1;
    }
    let mut body: Vec<Row> = blocks.into_iter().skip(menu.top).flatten().collect();
    if body.is_empty() {
        body.extend(wrap_text(menu.none, Tone::Text, columns));
    }
    let (before, behind) = menu.filter.parts();
    let typed =
        Row::of(vec![text(": "), toned(Tone::Field, before), toned(Tone::Field, "▏"), toned(Tone::Field, behind)])
            .tail(vec![text(if menu.filter.text().is_empty() { "letters filter" } else { "" })]);
    let mut header = vec![Row::of(vec![toned(Tone::Strong, &menu.title)]).tail(vec![text(if menu.by_typing {
        count.to_string()
    } else {
        String::new()
    })])];
    if menu.by_typing {
        header.push(typed);
    }
    Page { header, body, footer, ..Page::default() }
}

/// An item: its name and its key, its sentence where there is room or the cursor is, why it is impossible.
fn menu_rows(item: &MenuItem, index: usize, (selected, tells): (bool, bool), names: usize, columns: usize) -> Vec<Row> {
    let tone = if item.impossible.is_some() { Tone::Impossible } else { Tone::Text };
    let room = columns.saturating_sub(width(&item.right) + 2);
    let why = item.impossible.as_ref().map(|why| format!("not now: {why}"));
    let mut first = Row::of(vec![toned(tone, cut(&item.words, room))]).tail(vec![text(&item.right)]);
    let mut below = Vec::new();
    if columns < 70 {
        below.extend(tells.then(|| item.explains.clone()).filter(|words| !words.is_empty()));
        below.extend(why);
    } else if !item.explains.is_empty() || why.is_some() {
        let words = why.unwrap_or_else(|| item.explains.clone());
        first.body = vec![toned(tone, pad(&cut(&item.words, room), names + 2)), text(words)];
    }
    first.selected = selected;
    let mut rows = vec![first];
    for words in below {
        // Of what is not selected a line is enough to find it by.
        let words = if selected { words } else { cut(&words, columns.saturating_sub(2)) };
        rows.extend(wrap_text(&words, Tone::Text, columns.saturating_sub(2)).into_iter().map(|row| row.indent(2)));
    }
    rows.into_iter().map(|row| row.hit(Hit::Pick(index))).collect()
}

fn form_page(app: &App, shown: &mut crate::ui::form::Form, area: Rect) -> Page {
    let columns = inner(area);
    // On a button Enter does it already, and it is not to be seen that there are fields to go to.
    let on_button = shown.focused().is_some_and(|field| field.value == Value::Button);
    let fields = shown.fields.iter().filter(|field| field.value != Value::Button).count();
    let go = if on_button && fields > 1 { "fields" } else { "field" };
    let mut words = vec![(Action::Open, form::main_word(shown)), (Action::NextPane, go), (Action::Back, "back")];
    let does = match shown.kind {
        FormKind::NewRun | FormKind::NewPair | FormKind::StartAgent => "start",
        FormKind::More(..) => "go on",
        FormKind::Options(..) | FormKind::RenameRun(..) | FormKind::RenameSession(_) => "save",
    };
    words.insert(if on_button { words.len() } else { 1 }, (Action::Save, does));
    let footer = with_said(app, columns, 2, vec![keys_row(&named(app, Place::Form, &words), &[], columns)]);
    let header = vec![Row::of(vec![toned(Tone::Strong, &shown.title)]).tail(vec![text(&shown.remark)])];
    let room = Page::room(1, footer.len(), area);
    let (body, cursor) = form::rows(shown, columns, room);
    Page { header, body, footer, cursor, ..Page::default() }
}

fn editor_page(app: &App, writing: &mut crate::ui::app::Writing, area: Rect) -> Page {
    let columns = inner(area);
    let send = if matches!(writing.purpose, Purpose::Prompt(_)) { "save" } else { "send" };
    let mut words = vec![(Action::Save, send), (Action::Back, "out, kept"), (Action::Outside, "$EDITOR")];
    words.extend(writing.editor.has_original().then_some((Action::Original, "original")));
    let keys = named(app, Place::Editor, &words);
    let rows = if area.height < SHORT { 1 } else { 2 };
    let mut footer = with_said(app, columns, 2, keys_rows(&keys, columns, rows));
    if let Some(problem) = &writing.problem {
        let mut rows = wrap_text(problem, Tone::Failed, columns);
        rows.append(&mut footer);
        footer = rows;
    }
    let state = match (writing.waits, writing.editor.is_changed()) {
        (true, _) => "is being sent",
        (false, true) => "changed",
        (false, false) => "",
    };
    let header = vec![Row::of(vec![toned(Tone::Strong, &writing.title)]).tail(vec![text(state)])];
    let room = Page::room(1, footer.len(), area);
    let (lines, (row, column)) = writing.editor.view(columns, room);
    let body = lines.into_iter().map(Row::plain).collect();
    Page { header, body, footer, cursor: (row < room).then_some((row, column + 1)), ..Page::default() }
}

fn look_page(app: &App, look: &mut crate::ui::look::Look, area: Rect, times: &Times) -> Page {
    let columns = inner(area);
    let Some(run) = app.run(&look.run) else {
        return Page { body: vec![Row::plain("this run is gone")], ..Page::default() };
    };
    let keys = |words: &[(Action, &str)]| {
        with_said(app, columns, 2, vec![keys_row(&named(app, Place::LookFirst, words), &[], columns)])
    };
    let Some(waiting) = run.look_first.as_ref().filter(|_| look.is_of(run)) else {
        let words = if look.waits {
            "The order is on its way."
        } else {
            "This relay is no longer waiting: it was sent, dropped, or the run moved on."
        };
        let header = vec![run::title(run, columns, bits::state_word(run))];
        let body = wrap_text(words, Tone::Text, columns);
        return Page { header, body, footer: keys(&[(Action::Open, "back to the run")]), ..Page::default() };
    };
    // A paused run sends nothing: its own screen lets it go on.
    let is_paused = run.standing == Standing::Paused;
    let go_on = app.keymap.key(Place::Run, Action::PauseOrGoOn).filter(|_| is_paused);
    let back = go_on.map_or_else(|| "later".to_owned(), |key| format!("back, {key} goes on"));
    // The first four everywhere, the others where there is room.
    let mut words = vec![
        (Action::Open, "send"),
        (Action::Edit, "edit"),
        (Action::Drop, "drop"),
        (Action::Back, &*back),
        (Action::Outside, "$EDITOR"),
        (Action::Copy, "copy"),
        (Action::GoToPane, "pane"),
        (Action::Stop, "stop"),
        (Action::Help, "keys"),
    ];
    let side = if waiting.to == Role::Implementer { &run.implementer } else { &run.reviewer };
    let has_pane = no_pane(side.transport, &side.label, &side.place).is_none();
    // A view sends nothing.
    let sends = app.only_looks().is_none();
    words.retain(|(action, _)| match action {
        Action::Open => sends && !is_paused,
        Action::GoToPane => has_pane,
        Action::Edit | Action::Drop | Action::Outside | Action::Stop => sends,
        _ => true,
    });
    let footer = keys(&words);
    let state = if is_paused { bits::state_word(run) } else { vec![toned(Tone::NeedsYou, "! look first")] };
    let mut header = vec![run::title(run, columns, state)];
    let from = label(run, waiting.to.other());
    let to = label(run, waiting.to);
    let goes = format!("relay {}   {from} → {to}", waiting.n);
    let age = times.ago(waiting.since);
    let fits = width(&goes) + width(&age) + width("waits ") < columns;
    let waits = if fits { format!("waits {age}") } else { age };
    header.push(Row::plain(cut(&goes, columns.saturating_sub(width(&waits) + 1))).tail(vec![text(waits)]));
    let ticks = waiting.ticks.as_ref().map(|ticks| ticks_rows(ticks, columns)).unwrap_or_default();
    let room = Page::room(header.len(), footer.len(), area);
    let below = if ticks.is_empty() || ticks.len() + 4 > room { Vec::new() } else { ticks };
    let words = app.edit_of(run).unwrap_or(&waiting.text);
    let rows = verbatim(&clean_block(words), columns);
    let is_edited = app.edit_of(run).is_some();
    // Where the text stands has a row of its own: every word can be read before it is sent.
    let whole = room.saturating_sub(below.len()).max(1);
    let place_rows = usize::from(whole > 1 && (is_edited || rows.len() > whole));
    let text_room = whole - place_rows;
    look.height = text_room;
    look.lines = rows.len();
    look.top = look.top.min(rows.len().saturating_sub(text_room));
    let mut body: Vec<Row> = rows.iter().skip(look.top).take(text_room).cloned().collect();
    body.resize(text_room, Row::blank());
    if place_rows > 0 {
        let mark = if is_edited { "edited · " } else { "" };
        let last = (look.top + text_room).min(rows.len());
        let more = if last < rows.len() { " ▾" } else { "" };
        let place = format!("{mark}{}–{last} of {}{more}", look.top + 1, rows.len());
        body.push(Row::blank().tail(vec![text(place)]));
    }
    body.extend(below);
    Page { header, body, footer, ..Page::default() }
}

fn ticks_rows(ticks: &Ticks, columns: usize) -> Vec<Row> {
    let mut rows = vec![Row::rule(Rule::Single)];
    rows.extend(bits::ticks(ticks, columns));
    rows
}

/// A text as it will be sent: nothing is interpreted, only items of lists hang.
fn verbatim(words: &str, columns: usize) -> Vec<Row> {
    words
        .split('\n')
        .flat_map(|line| {
            let marker = marker_of(line);
            let (first, rest) = line.split_at_checked(marker).unwrap_or(("", line));
            let first = if first.is_empty() { Vec::new() } else { vec![text(first)] };
            wrap(&[text(rest)], columns, &first)
        })
        .collect()
}

/// Bytes of `1. ` or `- ` with the blanks in front of it; 0: none.
fn marker_of(line: &str) -> usize {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    let rest = line.trim_start_matches(' ');
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = rest.get(digits..).unwrap_or("");
    let marker = match digits {
        0 if rest.starts_with("- ") || rest.starts_with("* ") => 2,
        1..=3 if after.starts_with(". ") || after.starts_with(") ") => digits + 2,
        _ => return 0,
    };
    if blanks + marker > 12 { 0 } else { blanks + marker }
}
