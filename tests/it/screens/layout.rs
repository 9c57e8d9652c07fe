//! What each class of size shows (`dashboard.md` §1): short terminals, the smallest, dialogs in a small pane.

use trellis::projection::Projection;
use trellis::ui::app::Over;
use trellis::ui::form::Value;

use super::{Rig, scenes};

fn shown(projection: Projection, size: (u16, u16), keys: &str) -> String {
    let mut rig = Rig::new(projection, size);
    rig.press(keys);
    rig.text()
}

#[test]
fn one_column_below_a_hundred_and_three_from_there_on() {
    let of = |columns| shown(scenes::one(scenes::run("checkout")), (columns, 30), "Enter");
    for columns in [38, 59, 60, 99] {
        let text = of(columns);
        assert!(text.contains("ask ─ build") && !text.contains("┬"), "{columns}:\n{text}");
    }
    for columns in [100, 159] {
        let text = of(columns);
        for part in ["runs ", "relays of phase 3", "conversation"] {
            assert!(text.contains(part), "{columns} lacks {part}:\n{text}");
        }
    }
}

/// From 160 columns what the reviewer says stands at the right, and a relay is one line across both.
#[test]
fn from_a_hundred_and_sixty_columns_the_conversation_has_two_sides() {
    let column_of = |columns: u16, words: &str| {
        let text = shown(scenes::one(scenes::run("checkout")), (columns, 50), "Enter");
        let line = text.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}:\n{text}"));
        line.chars().take(line.find(words).map(|at| line[..at].chars().count()).unwrap()).count()
    };
    assert_eq!(column_of(159, "codex reviews  "), column_of(159, "claude builds "));
    assert!(column_of(160, "13:59  codex reviews") > column_of(160, "13:58  claude builds") + 30);
    assert_eq!(column_of(160, "↳ relay 1"), column_of(160, "↳ relay 2"));
}

#[test]
fn the_facts_and_keys_of_narrow_are_in_wide_too() {
    let narrow = shown(scenes::one(scenes::no_agreement()), (38, 20), "Enter");
    let wide = shown(scenes::one(scenes::no_agreement()), (120, 40), "Enter");
    let words =
        ["no agreement after 10 relays", "NOT", "repeated", "lines new", "go on", "again", "accept", "skip", "stop"];
    for word in words {
        assert!(narrow.contains(word) && wide.contains(word), "{word}");
    }
}

#[test]
fn on_a_short_terminal_only_the_selected_run_has_its_second_line() {
    let text = shown(scenes::all_standings(), (38, 13), "j");
    assert!(text.contains("codex reviews · relay 5 of 10"), "{text}");
    assert!(!text.contains("no agreement after 10 relays"), "{text}");
    let text = shown(scenes::all_standings(), (38, 14), "j");
    assert!(text.contains("no agreement after 10 relays"), "{text}");
}

#[test]
fn on_a_short_terminal_the_header_gives_way_before_the_footer_and_both_before_the_list() {
    let rows = |height| {
        let text = shown(scenes::one(scenes::run("checkout")), (38, height), "Enter");
        let at = text.lines().position(|line| line.contains("──")).unwrap_or(0);
        (at, text.contains("? help"), text)
    };
    assert_eq!(rows(14).0, 4);
    let (header, footer, text) = rows(10);
    assert!(header == 2 && footer, "{text}");
    let (header, footer, text) = rows(8);
    assert!(header == 1 && footer, "{text}");
    let (header, footer, text) = rows(7);
    assert!(header == 1 && !footer, "{text}");
}

#[test]
fn below_twenty_by_six_one_line_says_so() {
    for size in [(19, 40), (120, 5), (10, 3)] {
        let text = shown(scenes::all_standings(), size, "");
        assert_eq!(text.lines().filter(|line| !line.trim().is_empty()).count(), 1, "{text}");
        assert!(text.contains("too small"), "{text}");
    }
    let text = shown(scenes::all_standings(), (20, 6), "");
    assert!(!text.contains("too small"), "{text}");
}

/// Each dialog at 38×18, at each of its fields: the field that has the focus and the button are to be seen.
#[test]
fn a_dialog_at_38_by_18_keeps_the_focused_field_and_its_main_action() {
    for (projection, keys) in [
        (scenes::two_sessions(), "n"),
        (scenes::two_sessions(), "N"),
        (scenes::one(scenes::run("checkout")), "o"),
        (scenes::one(scenes::pair_alone()), "o"),
        (scenes::one(scenes::no_agreement()), "+"),
        (scenes::one(scenes::run("checkout")), "R"),
    ] {
        let mut rig = Rig::new(projection, (38, 18));
        rig.press(keys);
        if keys == "n" {
            // The prompts unfolded: more fields than there are rows.
            rig.press("Shift-Tab Space");
        }
        let Some(Over::Form(form)) = rig.app.over.last() else { panic!("{keys} opens a form") };
        for _ in 0..form.fields.len() {
            rig.press("Tab");
            let Some(Over::Form(form)) = rig.app.over.last() else { panic!() };
            let focused = form.focused().unwrap().clone();
            let text = rig.text();
            assert!(text.contains(focused.label), "{keys}: {} is not in view:\n{text}", focused.label);
            assert!(text.contains('▸'), "{keys}: nothing shows the focus:\n{text}");
            let Some(Over::Form(form)) = rig.app.over.last() else { panic!() };
            let main = form.fields.iter().find(|field| field.value == Value::Button).unwrap().label;
            assert!(text.contains(&format!("[ {main} ]")), "{keys}: no button:\n{text}");
        }
    }
}

#[test]
fn the_other_dialogs_at_38_by_18_keep_their_keys() {
    for (keys, main) in
        [("Enter Enter", "Enter send"), ("Enter Enter i", "Ctrl-s send"), ("?", "Esc close"), (":", "Enter do it")]
    {
        let text = shown(scenes::one(scenes::look_first()), (38, 18), keys);
        assert!(text.contains(main), "{keys}:\n{text}");
    }
    // Long text scrolls inside it.
    let mut rig = Rig::new(scenes::one(scenes::look_first()), (38, 18));
    rig.press("Enter Enter G");
    assert!(rig.text().contains("That is all."), "{}", rig.text());
}
