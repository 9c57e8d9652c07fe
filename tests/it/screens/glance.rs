//! What a glance must not get wrong: the strip of phases, signs that call a person, sentences at their buttons, what is
//! cut off and what is left of a list. Whole frames are in `frames`.

use std::sync::Arc;

use ratatui::style::Modifier;
use trellis::model::conversation::ItemKind;
use trellis::model::run::AttemptStatus;
use trellis::model::session::{Asks, Permission};
use trellis::projection::{Projection, RunView, Standing, ThreadKind};
use trellis::ui::ahead::Ahead;
use trellis::ui::app::{Effect, Exit, Msg, Over};

use super::{Rig, scenes};

fn shown(projection: Projection, size: (u16, u16), keys: &str) -> String {
    let mut rig = Rig::new(projection, size);
    rig.press(keys);
    rig.text()
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A run in phase `now` of `all`.
fn in_phase(now: u32, all: u32) -> RunView {
    let mut run = scenes::run("shop");
    let one = run.phases[0].clone();
    run.phases = (1..=now).map(|n| trellis::projection::PhaseView { n, ..one.clone() }).collect();
    let last = run.phases.last_mut().unwrap();
    last.status = AttemptStatus::Running;
    last.ended_at = None;
    run.phase = Some(now);
    run.phases_expected = Some(all);
    run
}

/// The current phase, the one before and the one after it.
fn neighbours(now: u32, all: u32) -> String {
    let before = if now > 1 { "✓" } else { "" };
    let after = if now < all { "·" } else { "" };
    format!("{before}●{after}")
}

#[test]
fn the_strip_shows_the_current_phase_and_its_neighbours_whatever_is_long() {
    let long = "The cart is in src/cart.rs, with a test for adding and one for taking things out of it again, and docs";
    for columns in [38, 60, 99, 100, 120, 160] {
        for (now, all) in [(1, 3), (1, 12), (4, 12), (8, 12), (12, 12), (4, 60), (59, 60)] {
            for name in ["shop", "a-run-with-a-very-long-name-that-never-ends-and-goes-on-and-on-over-all-of-it"] {
                for word in ["going", "needs you"] {
                    let mut run = in_phase(now, all);
                    name.clone_into(&mut run.name);
                    word.clone_into(&mut run.state_word);
                    long.clone_into(&mut run.phases.last_mut().unwrap().summary);
                    let text = shown(scenes::one(run), (columns, 24), "Enter");
                    let line = text.lines().next().unwrap();
                    let wanted = neighbours(now, all);
                    assert!(line.contains(&wanted), "{columns}: {wanted} of phase {now}/{all} is not in\n{line}");
                    assert!(line.contains(word), "{line}");
                }
            }
        }
    }
}

#[test]
fn of_a_completed_run_nothing_is_to_come() {
    for standing in [Standing::Done, Standing::Ended] {
        let mut run = scenes::ended("shop", standing, "done", 3, 60);
        run.phases_expected = Some(9);
        for columns in [38, 120] {
            let text = shown(scenes::one(run.clone()), (columns, 24), "Enter");
            let line = text.lines().next().unwrap();
            assert!(line.contains("✓✓✓") && !line.contains("✓·"), "{line}");
        }
    }
}

/// A double rule and `!` mean: you are needed. Nothing else has them.
#[test]
fn only_what_needs_a_person_has_the_double_rule_and_the_mark() {
    let standings = [
        (Standing::Going, "going", "●"),
        (Standing::Waits, "going", "○"),
        (Standing::Paused, "paused", "‖"),
        (Standing::Limit, "limit", "◷"),
    ];
    for columns in [38, 60, 120] {
        for (standing, word, glyph) in standings {
            let mut run = scenes::run("shop");
            run.standing = standing;
            word.clone_into(&mut run.state_word);
            run.phases.last_mut().unwrap().needs_you = true;
            for keys in ["Enter", "Enter Tab", "Enter Tab Tab"] {
                let text = shown(scenes::one(run.clone()), (columns, 24), keys);
                assert!(!text.contains('!') && !text.contains('═'), "{word} at {columns}:\n{text}");
                assert!(text.contains(&format!("✓✓{glyph}")), "{word} at {columns}:\n{text}");
            }
        }
        for standing in [Standing::Done, Standing::Ended] {
            let text = shown(scenes::one(scenes::ended("shop", standing, "done", 3, 60)), (columns, 24), "Enter");
            assert!(!text.contains('═'), "{columns}:\n{text}");
        }
        let text = shown(scenes::one(scenes::no_agreement()), (columns, 24), "Enter");
        assert!(text.contains('═') && text.contains("✓✓!"), "{columns}:\n{text}");
    }
}

/// What stands above the buttons is what Enter does on the one that has the focus.
#[test]
fn the_sentence_of_the_start_is_that_of_the_focused_button() {
    for size in [(38, 20), (60, 34), (120, 40)] {
        let mut rig = Rig::new(scenes::two_sessions(), size);
        rig.press("n");
        let text = flat(&rig.text());
        assert!(text.contains("Starting sends nothing") && text.contains("Enter start "), "{text}");
        rig.press("Tab");
        let text = rig.text();
        assert!(text.contains("▸[ start and ask now ]"), "{text}");
        let text = flat(&text);
        assert!(!text.contains("sends nothing") && text.contains("asks claude for phase 1"), "{text}");
        assert!(text.contains("Enter start and ask"), "{text}");
    }
}

#[test]
fn what_is_said_of_looking_first_follows_its_box() {
    let mut rig = Rig::new(scenes::two_sessions(), (60, 34));
    rig.press("n");
    if let Some(Over::Form(form)) = rig.app.over.last_mut() {
        form.focus("confirm_before_relay");
    }
    assert!(flat(&rig.text()).contains("Space turns it on."), "{}", rig.text());
    rig.press("Space");
    let text = flat(&rig.text());
    assert!(text.contains("Space turns it off.") && !text.contains("turns it on"), "{text}");
}

/// On a line with two fields the cursor stands at the one that has it.
#[test]
fn the_cursor_of_a_form_stands_at_its_field() {
    let mut rig = Rig::new(scenes::two_sessions(), (60, 34));
    rig.press("n");
    for (id, label) in [
        ("max_rounds", "▸relays"),
        ("confirm_before_relay", "▸look first"),
        ("completion_signal", "▸end"),
        ("phases", "▸phases"),
    ] {
        if let Some(Over::Form(form)) = rig.app.over.last_mut() {
            form.focus(id);
        }
        let text = rig.text();
        assert!(text.contains(label) && text.matches('▸').count() == 1, "{text}");
    }
}

/// All warnings, or how many more there are; with a button in focus they go before the lower fields.
#[test]
fn a_small_form_hides_no_warning_without_saying_so() {
    let mut rig = Rig::new(scenes::two_sessions(), (38, 20));
    rig.press("n");
    let sessions = scenes::two_sessions().sessions;
    let seen = sessions.iter().map(|view| Ahead {
        session: view.session.key(),
        permission: Some(Permission { mode: "default".to_owned(), asks: Asks::Edits }),
        uncommitted: Some(3),
    });
    rig.send(Msg::Ahead(seen.collect()));
    let warnings = ["! claude asks before", "! codex asks before", "! 3 files are not", "! nobody tried whether"];
    for _ in 0..12 {
        let text = rig.text();
        let there = warnings.iter().filter(|warning| text.contains(**warning)).count();
        let left = warnings.len() - there;
        assert!(left == 0 || text.contains(&format!("! {left} more")), "{there} of 4:\n{text}");
        rig.press("Tab");
    }
    if let Some(Over::Form(form)) = rig.app.over.last_mut() {
        form.focus("start");
    }
    let text = rig.text();
    assert!(warnings.iter().filter(|warning| text.contains(**warning)).count() >= 2, "{text}");
    let three = sessions.iter().map(|view| Ahead {
        session: view.session.key(),
        permission: Some(Permission { mode: "default".to_owned(), asks: Asks::Edits }),
        uncommitted: None,
    });
    rig.send(Msg::Ahead(three.collect()));
    let text = rig.text();
    assert!(warnings.iter().filter(|warning| text.contains(**warning)).count() == 3, "{text}");
    for part in ["builds    claude", "reviews   codex", "phase 1", "[ start ]", "Starting sends nothing"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn the_preview_of_a_relay_can_be_left_by_quitting() {
    let mut rig = Rig::new(scenes::one(scenes::look_first()), (38, 20));
    rig.press("Enter Enter");
    assert!(matches!(rig.app.over.last(), Some(Over::Look(_))));
    assert_eq!(rig.press("q"), [Effect::Quit(Exit::Quit)], "no run goes: nothing is asked");
    let mut projection = scenes::one(scenes::look_first());
    projection.runs.push(scenes::run("docs"));
    let mut rig = Rig::new(projection, (38, 20));
    rig.press("Enter Enter");
    assert_eq!(rig.press("q"), []);
    assert!(rig.text().contains("1 run is going"), "{}", rig.text());
}

/// The facts of an end are wide too, and a list that is cut says what it shows.
#[test]
fn an_ended_run_tells_its_facts_at_every_size_and_a_cut_list_its_part() {
    let run = || scenes::one(scenes::ended("search-index", Standing::Done, "done", 12, 7_300));
    for size in [(38, 20), (60, 24), (120, 40), (180, 50)] {
        let text = flat(&shown(run(), size, "Enter"));
        for fact in ["11 phases agreed", "1 skipped", "24 relays", "took "] {
            assert!(text.contains(fact), "{fact} at {size:?}:\n{text}");
        }
    }
    let text = shown(run(), (38, 18), "Enter");
    let first = text.lines().find(|line| line.contains("phase") && line.contains("took")).unwrap();
    assert!(first.contains("–12/12"), "{text}");
    let text = shown(run(), (120, 20), "Enter Tab");
    assert!(text.contains("–12/12"), "{text}");
    assert!(!shown(run(), (120, 40), "Enter Tab").contains("/12"));
    let mut many = scenes::all_standings();
    for n in 0..9 {
        many.runs.push(scenes::run(&format!("more-{n}")));
    }
    let text = shown(many.clone(), (38, 20), "");
    assert!(text.contains("1–7 of 16"), "{text}");
    let text = shown(many, (38, 20), "G");
    assert!(text.contains("of 16") && !text.contains("1–7"), "{text}");
}

/// Which phase is selected stays to be seen while another part has the keys.
#[test]
fn the_selected_phase_stays_marked_beside_the_conversation() {
    for run in [in_phase(12, 12), scenes::ended("shop", Standing::Done, "done", 12, 60)] {
        let mut rig = Rig::new(scenes::one(run), (120, 40));
        rig.press("Enter");
        while rig.app.run(&scenes::key("shop")).map(|run| rig.app.pane_of(run)) != Some(trellis::ui::app::Pane::Phases)
        {
            rig.press("Tab");
        }
        rig.press("k k k");
        assert!(rig.text().contains("▸ 9 "), "{}", rig.text());
        rig.press("Tab Tab");
        assert!(rig.text().contains("▸ 9 "), "{}", rig.text());
    }
}

/// What is said and does not fit ends in an ellipsis; an error stays until a key.
#[test]
fn what_is_said_is_never_cut_without_a_sign() {
    let words = "config.toml: theme: \"purple\" does not fit: give one of terminal, mono, high-contrast, colour-blind; \
                 the one that was there before stays until the file says something else that is one of these";
    for size in [(38, 20), (38, 12), (60, 24), (120, 40)] {
        let mut rig = Rig::new(scenes::all_standings(), size);
        rig.app.say(words, true);
        let text = flat(&rig.text());
        assert!(text.contains("one of these") || text.contains('…'), "{size:?}:\n{}", rig.text());
        rig.pass(60_000);
        assert!(rig.text().contains("✗ config.toml"), "{size:?}:\n{}", rig.text());
        rig.press("j");
        assert!(!rig.text().contains("✗ config.toml"), "{size:?}");
    }
    let mut rig = Rig::new(scenes::all_standings(), (38, 20));
    rig.app.say("config.toml: theme: \"purple\" does not fit: give one of terminal, mono, high-contrast", true);
    assert!(flat(&rig.text()).contains("mono, high-contrast"), "{}", rig.text());
}

#[test]
fn the_first_start_says_each_thing_once_and_names_the_demo() {
    for size in [(38, 20), (60, 24), (120, 40), (180, 50)] {
        let text = flat(&shown(scenes::empty(), size, ""));
        assert_eq!(text.matches("No run yet").count(), 1, "{size:?}:\n{text}");
        assert!(text.contains("trellis demo"), "{size:?}:\n{text}");
    }
}

/// Of a path that is too long the end stays; the counts behind it too.
#[test]
fn a_tools_line_keeps_the_name_of_its_file() {
    let mut projection = scenes::one(scenes::run("checkout"));
    let mut thread = (**projection.shown.as_ref().unwrap()).clone();
    for at in 0..thread.entries.len() {
        if let ThreadKind::Said { item, .. } = &mut thread.entries[at].kind
            && let ItemKind::Tool { summary, lines, .. } = &mut item.kind
        {
            *summary = "/home/dev/projects/the-shop/src/checkout/pricing/rounding.rs".into();
            *lines = Some((40, 12));
        }
    }
    projection.shown = Some(Arc::new(thread));
    let text = shown(projection, (38, 20), "Enter v");
    assert!(text.contains("rounding.rs  +40 −12"), "{text}");
}

/// The match that a search stands at is told from the others, and the footer names the keys that go on.
#[test]
fn the_current_match_is_marked_and_the_footer_says_how_to_go_on() {
    for size in [(38, 20), (60, 24), (120, 40)] {
        let mut rig = Rig::new(scenes::one(scenes::run("checkout")), size);
        rig.press("Enter / r o u n d Enter");
        let reversed = |rig: &mut Rig| {
            let buffer = rig.draw();
            let cells = buffer.content().iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED)).count();
            let lined = buffer.content().iter().filter(|cell| cell.modifier.contains(Modifier::UNDERLINED)).count();
            (cells, lined)
        };
        let text = rig.text();
        assert!(text.lines().any(|line| line.contains('▸') && line.contains("round")), "{size:?}:\n{text}");
        assert!(text.contains("n next  N previous"), "{size:?}:\n{text}");
        assert!(reversed(&mut rig).0 >= "round".len(), "{size:?}:\n{text}");
        let place = |text: &str| text.lines().position(|line| line.contains('▸') && line.contains("round"));
        let before = (place(&text), text.clone());
        rig.press("N");
        let text = rig.text();
        assert_ne!((place(&text), text.clone()), before);
        rig.press("Esc");
        assert_eq!(reversed(&mut rig).1, 0);
        assert!(!rig.text().contains("N previous"), "{}", rig.text());
    }
}

/// Every action stands in the palette, those of other screens with the place where they work.
#[test]
fn the_palette_holds_every_action_and_says_where_settings_stand() {
    let mut rig = Rig::new(scenes::one(scenes::run("checkout")), (60, 24));
    rig.press("Enter : n e w Space r u n");
    let text = flat(&rig.text());
    assert!(text.contains("new run") && text.contains("it works among the runs (1)"), "{text}");
    assert_eq!(rig.press("Enter"), []);
    assert!(matches!(rig.app.over.last(), Some(Over::Menu(_))), "an impossible one says why and stays");
    rig.press("Ctrl-u t h e m e");
    assert!(flat(&rig.text()).contains("config.toml"), "{}", rig.text());
}

/// What an editor's keys do is said as far as it is so, at 38 columns too.
#[test]
fn an_editor_names_all_its_keys_and_none_without_a_use() {
    let mut rig = Rig::new(scenes::one(scenes::look_first()), (38, 20));
    rig.press("Enter Enter i z");
    let text = flat(&rig.text());
    for key in ["Ctrl-s send", "Esc out, kept", "Ctrl-g $EDITOR", "Ctrl-r original"] {
        assert!(text.contains(key), "{key}: {text}");
    }
    let mut rig = Rig::new(scenes::one(scenes::run("checkout")), (38, 20));
    rig.press("Enter w Enter");
    let text = rig.text();
    assert!(!text.contains("Ctrl-r"), "{text}");
    assert!(text.contains("to claude, the run waits"), "{text}");
    let mut rig = Rig::new(scenes::one(scenes::look_first()), (60, 24));
    rig.press("Enter Enter");
    assert!(rig.text().contains("e $EDITOR"), "{}", rig.text());
}

#[test]
fn words_say_what_they_mean() {
    let mut rig = Rig::new(scenes::one(scenes::run("checkout")), (60, 30));
    rig.press("Enter o");
    let text = rig.text();
    for words in ["100 phases", "expected", "quiet     2000 ms"] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    rig.press("Esc w");
    let head = rig.text().lines().next().unwrap().to_owned();
    assert!(head.contains("write to") && !head.contains('4'), "{head}");
    let mut rig = Rig::new(scenes::one(scenes::look_first()), (60, 24));
    rig.press("Enter Enter d");
    assert!(flat(&rig.text()).contains("It is not sent, now or later."), "{}", rig.text());
}
