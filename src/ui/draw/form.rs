//! A form: labels, values, problems at their fields; facts and buttons below.

use crate::ui::form::{Field, Form, FormKind, Sign, Value};
use crate::ui::forms::START_ASK;
use crate::ui::row::{Row, Rule, Span, Tone, spans_width, text, toned};
use crate::ui::width::{cut, pad, width};
use crate::ui::wrap::{wrap, wrap_text};

/// Rows of the fields that stay while a button has the focus: the sides with their hint, and the first phase.
const FIELDS: usize = 4;

/// Columns of the labels.
const LABEL: usize = 10;

/// The body of a form in `columns` by `room`, and where the cursor is.
pub fn rows(form: &mut Form, columns: usize, room: usize) -> (Vec<Row>, Option<(usize, usize)>) {
    let buttons_at = form.fields.iter().position(|field| field.value == Value::Button).unwrap_or(form.fields.len());
    let mut rows: Vec<Row> = Vec::new();
    let mut focus_row = 0;
    let mut hint = None;
    let mut cursor = None;
    let fold = form.fold_words();
    for (at, field) in form.fields.iter().enumerate().take(buttons_at).filter(|(_, field)| form.shows(field)) {
        let focused = at == form.at;
        let label = if width(field.label) < LABEL { pad(field.label, LABEL) } else { format!("{}  ", field.label) };
        let (spans, caret) = value_spans(field, focused, columns.saturating_sub(width(&label)), &fold);
        let needed = spans_width(&spans) + width(field.label) + 4;
        let fits = |row: &&mut Row| field.joins && spans_width(&row.body) + needed <= columns;
        let from = if let Some(row) = rows.last_mut().filter(fits) {
            row.body.push(text(if focused { "  ▸" } else { "   " }));
            row.body.push(text(format!("{} ", field.label)));
            let from = spans_width(&row.body);
            row.body.extend(spans);
            from
        } else {
            let mut body = vec![text(if field.folded {
                format!(" {}", label.strip_suffix(' ').unwrap_or(&label))
            } else {
                label
            })];
            let from = spans_width(&body);
            body.extend(spans);
            let mut row = Row::of(body);
            row.marked = focused;
            rows.push(row);
            from
        };
        if focused {
            focus_row = rows.len() - 1;
            cursor = caret.map(|column| (rows.len() - 1, 1 + from + column));
        }
        let unset = matches!(field.value, Value::Choice { at: None, .. });
        if let Some(problem) = field.problem.as_ref().filter(|_| !unset) {
            let lead = [text(" ".repeat(LABEL)), toned(Tone::Failed, "✗ ")];
            rows.extend(wrap(&[toned(Tone::Failed, problem)], columns, &lead));
        }
        if field.id == "reviewer" {
            hint = Some(rows.len());
            rows.push(Row::plain("Ctrl-t swaps · Enter picks").indent(LABEL));
        }
    }
    // The focused field and the buttons stay in view; what explains gives way first. To a warning some fields give way,
    // while a button has the focus most of them.
    let buttons = buttons_row(form, columns, buttons_at);
    let on_button = form.at >= buttons_at;
    let mut fields = FIELDS;
    let whole = below(form, columns, buttons_at, usize::MAX, 0).len();
    if let Some(hint) = hint.filter(|_| on_button && FIELDS + whole + buttons.len() > room) {
        rows.remove(hint);
        fields -= 1;
    }
    let yields = if on_button { rows.len().saturating_sub(fields) } else { rows.len().min(2) };
    let least = (rows.len() - yields).min(room.saturating_sub(buttons.len() + 1).max(1));
    let below = below(form, columns, buttons_at, room.saturating_sub(least + buttons.len()), rows.len() - least);
    let fields_room = room.saturating_sub(below.len() + buttons.len()).max(1);
    let needed = focus_row + 1 + form.focused().and_then(|field| field.problem.as_ref()).map_or(0, |_| 1);
    form.top = form.top.min(rows.len().saturating_sub(fields_room));
    if on_button {
        form.top = 0;
    } else if focus_row < form.top {
        form.top = focus_row;
    } else if needed > form.top + fields_room {
        form.top = needed - fields_room;
    }
    let top = form.top;
    let more = rows.len() > top + fields_room;
    let mut out: Vec<Row> = rows.into_iter().skip(top).take(fields_room).collect();
    out.resize(fields_room.min(room), Row::blank());
    let has_room = |last: &&mut Row| last.tail.is_empty() && spans_width(&last.body) + 2 <= columns;
    if let Some(last) = out.last_mut().filter(|last| more && has_room(last)) {
        last.tail = vec![text("▾")];
    }
    out.extend(below);
    out.extend(buttons);
    (out, cursor.and_then(|(row, column)| Some((row.checked_sub(top)?, column))))
}

/// Facts, a problem and what a button will do, as far as there is room; what it will do goes before the facts. `kept`:
/// rows of the room that fields would take, unless a warning needs them.
fn below(form: &Form, columns: usize, buttons_at: usize, room: usize, kept: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(problem) = &form.problem {
        rows.push(Row::rule(Rule::Single));
        rows.extend(wrap(&[toned(Tone::Failed, problem)], columns, &[toned(Tone::Failed, "✗ ")]));
    }
    let explains = form.says();
    if !explains.is_empty() && buttons_at < form.fields.len() {
        rows.push(Row::rule(Rule::Single));
        rows.extend(wrap_text(&explains, Tone::Text, columns));
    }
    rows.truncate(room);
    let fact_rows = |(sign, fact): &(Sign, String)| {
        let mark = match sign {
            Sign::Good => toned(Tone::Going, "✓ "),
            Sign::Bad => toned(Tone::NeedsYou, "! "),
            Sign::Open => text("○ "),
        };
        wrap(&[text(fact)], columns, &[mark])
    };
    let left = room.saturating_sub(rows.len() + 1);
    let lines = |words: &str| fact_rows(&(Sign::Good, words.to_owned())).len();
    let (facts, more) = form.facts_in(left.saturating_sub(kept), lines);
    let (facts, more) = if more > 0 { form.facts_in(left, lines) } else { (facts, more) };
    if facts.is_empty() && more == 0 || left == 0 {
        return rows;
    }
    let mut above = vec![Row::rule(Rule::Single)];
    above.extend(facts.into_iter().flat_map(fact_rows));
    if more > 0 {
        let words = format!("{more} more, in a taller window");
        above.extend(fact_rows(&(Sign::Bad, words)).into_iter().take(1));
    }
    above.extend(rows);
    above
}

fn buttons_row(form: &Form, columns: usize, buttons_at: usize) -> Vec<Row> {
    let mut body: Vec<Span> = Vec::new();
    let mut marked = false;
    for (at, field) in form.fields.iter().enumerate().skip(buttons_at) {
        if !body.is_empty() {
            body.push(text("   "));
        }
        let focused = at == form.at;
        marked |= focused && at == buttons_at;
        let words = format!("[ {} ]", field.label);
        if focused && at > buttons_at {
            body.push(text("▸"));
        }
        body.push(if focused { toned(Tone::Strong, words) } else { text(words) });
    }
    if body.is_empty() {
        return Vec::new();
    }
    if form.waits {
        body.push(text("  is being saved"));
    }
    let mut row = Row::of(body);
    row.marked = marked;
    if spans_width(&row.body) > columns {
        row.body.retain(|span| span.text() != "   ");
    }
    vec![row]
}

/// A field's value, and the cursor's column in it.
fn value_spans(field: &Field, focused: bool, room: usize, fold: &str) -> (Vec<Span>, Option<usize>) {
    match &field.value {
        Value::Line(line) => {
            let (before, behind) = line.parts();
            let room = room.saturating_sub(1).max(1);
            let hidden = width(before).saturating_sub(room);
            let before = crate::ui::width::skip(before, hidden);
            let caret = width(&before);
            let shown = format!("{before}{}", cut(behind, room.saturating_sub(caret)));
            let empty = shown.is_empty();
            let words = if empty && !focused { "–".to_owned() } else { shown };
            let suffix = match field.id {
                "max_rounds" => " a phase",
                "max_phases" => " phases",
                "debounce" => " ms",
                _ => "",
            };
            let tone = if empty && !focused { Tone::Text } else { Tone::Field };
            let caret = focused.then_some(caret);
            let words = if words.is_empty() { " ".to_owned() } else { words };
            (vec![toned(tone, words), text(suffix)], caret)
        }
        Value::Choice { options, at } if matches!(field.id, "implementer" | "reviewer") => {
            match at.and_then(|at| options.get(at)) {
                Some(words) => (vec![tone_if(focused, &cut(&side_in(words, room), room))], None),
                None => (vec![toned(Tone::Failed, "pick a session")], None),
            }
        }
        Value::Choice { options, at } => {
            let words = at.and_then(|at| options.get(at)).map_or("–", String::as_str);
            let words = pad(words, room.saturating_sub(4).min(24).max(width(words).min(room.saturating_sub(4))));
            (vec![text("‹ "), tone_if(focused, &words), text(" ›")], None)
        }
        Value::Tick(on) => (vec![tone_if(focused, if *on { "yes" } else { "no" })], None),
        Value::Prompt(words, standard) => {
            let words = if words.is_empty() && standard.is_empty() {
                "none".to_owned()
            } else if words == standard {
                "standard".to_owned()
            } else if words.is_empty() {
                "empty".to_owned()
            } else if standard.is_empty() {
                crate::model::text::first_line(words)
            } else {
                format!("yours: {}", crate::model::text::first_line(words))
            };
            (vec![tone_if(focused, &cut(&words, room))], None)
        }
        Value::Fold(open) => (vec![tone_if(focused, fold), text(if *open { " ▴" } else { " ▾" })], None),
        Value::Button => (Vec::new(), None),
    }
}

fn tone_if(focused: bool, words: &str) -> Span {
    if focused { toned(Tone::Strong, words) } else { text(words) }
}

/// The main key of a form, for the footer: what Enter does.
pub fn main_word(form: &Form) -> &'static str {
    match form.focused().map(|field| &field.value) {
        Some(Value::Button) if form.focused().is_some_and(|field| field.id == START_ASK) => "start and ask",
        Some(Value::Button) if matches!(form.kind, FormKind::NewRun | FormKind::NewPair | FormKind::StartAgent) => {
            "start"
        }
        Some(Value::Button) if matches!(form.kind, FormKind::More(..)) => "go on",
        Some(Value::Button) => "save",
        Some(Value::Choice { .. }) => "pick",
        Some(Value::Fold(true)) => "fold",
        Some(Value::Fold(false)) => "unfold",
        Some(Value::Prompt(..)) => "edit",
        Some(Value::Line(_) | Value::Tick(_)) | None => "next",
    }
}

/// A session of a side in `room`: agent, folder, place and state; without its place where that does not fit.
fn side_in(words: &str, room: usize) -> String {
    if width(words) <= room {
        return words.to_owned();
    }
    let parts: Vec<&str> = words.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [agent, folder, _, state] => format!("{agent}  {folder}  {state}"),
        _ => words.to_owned(),
    }
}
