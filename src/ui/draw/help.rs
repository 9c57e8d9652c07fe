//! The keys and words of a screen, from the keymap.

use crate::ui::action::Action;
use crate::ui::app::{App, Help};
use crate::ui::key::Key;
use crate::ui::keymap::{Binding, Table};
use crate::ui::row::{Row, Tone, text, toned};
use crate::ui::width::{pad, width};
use crate::ui::wrap::wrap;

const WORDS: &[(&str, &str)] = &[
    ("!", "needs you"),
    ("●", "going, at work"),
    ("○", "waits, free"),
    ("◷", "at a limit with a known end"),
    ("‖", "paused"),
    ("✓", "done, agreed"),
    ("■", "ended"),
    ("✗", "failed, not agreed"),
    ("»", "skipped"),
    ("·", "in the strip of phases: still to come, as far as you said how many; … more of them"),
    ("↳", "a message of trellis"),
    ("relay", "one message carried from one side to the other; counts to the cap"),
    ("review", "one verdict of the reviewer"),
    ("point", "an item of a review; = or repeated: it was said before"),
    ("lines new", "lines changed since the review before: a number that shrinks is a fix that comes to an end"),
    ("+12 −3", "words or lines that came and that went"),
];

/// What gets a person in, out and on: it stands first on every screen, whatever else that has.
const FIRST: [Action; 5] = [Action::Open, Action::Back, Action::Quit, Action::Help, Action::Palette];

/// All lines of the help that pass its filter.
pub fn rows(app: &App, help: &Help, columns: usize) -> Vec<Row> {
    let filter = help.filter.text().to_lowercase();
    let lines = |bindings: &mut dyn Iterator<Item = &Binding>| -> Vec<Row> {
        bindings
            .filter(|binding| !binding.keys.is_empty())
            .map(|binding| (keys(&binding.keys), &binding.says))
            .filter(|(keys, says)| {
                filter.is_empty() || says.to_lowercase().contains(&filter) || keys.to_lowercase().contains(&filter)
            })
            .flat_map(|(keys, says)| line(&keys, says, columns))
            .collect()
    };
    let everywhere = app.keymap.table(Table::Everywhere);
    let is_screen = help.place.tables().contains(&Table::Everywhere);
    let mut rows = Vec::new();
    if is_screen {
        let first = |action: &Action| everywhere.iter().find(|binding| binding.action == *action);
        section(&mut rows, "most used", lines(&mut FIRST.iter().filter_map(first)));
    }
    for table in help.place.tables() {
        let stands_first = |binding: &&Binding| *table == Table::Everywhere && FIRST.contains(&binding.action);
        let bindings = app.keymap.table(*table).iter().filter(|binding| !stands_first(binding));
        section(&mut rows, table.title(), lines(&mut { bindings }));
    }
    let words = WORDS
        .iter()
        .filter(|(word, says)| filter.is_empty() || word.contains(&filter) || says.to_lowercase().contains(&filter))
        .flat_map(|(word, says)| line(word, says, columns))
        .collect();
    section(&mut rows, "words", words);
    let home = &app.projection.home;
    if is_screen && !home.is_empty() && home.to_lowercase().contains(&filter) {
        section(&mut rows, "this home", wrap(&[text(home.as_str())], columns, &[]));
    }
    if rows.is_empty() {
        rows.push(Row::plain("no key and no word holds that"));
    }
    rows
}

fn section(rows: &mut Vec<Row>, title: &str, lines: Vec<Row>) {
    if lines.is_empty() {
        return;
    }
    if !rows.is_empty() {
        rows.push(Row::blank());
    }
    rows.push(Row::of(vec![toned(Tone::Strong, title)]));
    rows.extend(lines);
}

fn keys(keys: &[Key]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn line(keys: &str, says: &str, columns: usize) -> Vec<Row> {
    let room = if columns < 50 { 9 } else { 24 };
    if width(keys) > room {
        let mut rows = vec![Row::of(vec![toned(Tone::Key, keys)])];
        rows.extend(wrap(&[text(says)], columns, &[text(" ".repeat(room + 1))]));
        return rows;
    }
    wrap(&[text(says)], columns, &[toned(Tone::Key, pad(keys, room)), text(" ")])
}
