//! What stopped people who had nothing but the README, one test each: what contradicted itself, what was named twice, what
//! could not be read or left.

use std::sync::Arc;

use trellis::model::outbox::EntryState;
use trellis::projection::{DriverFact, Projection, Stage, Standing};
use trellis::ui::app::{Effect, Msg};

use super::{Rig, scenes};

const SIZES: [(u16, u16); 3] = [(38, 20), (80, 24), (120, 40)];

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The header said `ask`, the list `ph 1` and the phases `none yet`, while the builder had answered.
#[test]
fn the_phase_that_a_run_is_at_stands_in_its_list_before_its_review() {
    let mut run = scenes::first_wait();
    assert_eq!((run.phase, run.phases.len()), (Some(1), 0));
    for (stage, asked, words) in [
        (Stage::Ask, false, "1 ○ not begun"),
        (Stage::Build, false, "1 ● being built"),
        (Stage::Ask, true, "1 ○ asked for"),
    ] {
        run.stage = Some(stage);
        run.first_wait = stage == Stage::Ask;
        run.phase_asked = asked;
        run.standing = if stage == Stage::Build { Standing::Going } else { Standing::Waits };
        for (size, keys) in [((38, 20), "Enter Tab Tab"), ((120, 40), "Enter")] {
            let mut rig = Rig::new(scenes::one(run.clone()), size);
            rig.press(keys);
            let text = if stage == Stage::Build && size.0 == 38 {
                rig.press("Shift-Tab");
                rig.text()
            } else {
                rig.text()
            };
            assert!(text.contains(words) && !text.contains("none yet"), "{words} is not in\n{text}");
        }
    }
}

#[test]
fn the_help_has_one_name_at_every_size() {
    for size in SIZES {
        for projection in [scenes::all_standings(), scenes::empty()] {
            let mut rig = Rig::new(projection, size);
            assert!(rig.text().contains("? help"), "{}", rig.text());
            rig.press("?");
            assert!(rig.text().contains("help · runs"), "{}", rig.text());
        }
    }
}

/// In, out and away are found without scrolling, and so is how the help itself is left and searched.
#[test]
fn the_help_begins_with_how_to_go_in_out_and_away() {
    for keys in ["?", "Enter ?", "2 ?", "3 ?"] {
        let mut rig = Rig::new(scenes::all_standings(), (38, 20));
        rig.press(keys);
        let text = rig.text();
        let first: Vec<&str> = text.lines().skip(3).take(9).collect();
        for key in [" Enter", " Esc", " q", " ?", " :"] {
            assert!(first.iter().any(|line| line.starts_with(key)), "{key} is not at the top of\n{text}");
        }
        let footer = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap();
        assert!(["Esc close", "/ search", "PgDn page"].iter().all(|part| footer.contains(part)), "{text}");
        // Nothing is told twice.
        rig.press("G");
        let mut all = Rig::new(scenes::all_standings(), (38, 240));
        all.press(keys);
        assert_eq!(all.text().matches("all actions, filtered as").count(), 1, "{}", all.text());
    }
}

#[test]
fn a_note_writes_its_keys_out() {
    let mut rig = Rig::new(scenes::one(scenes::run("checkout")), (38, 20));
    rig.app.has_notes = true;
    let text = flat(&rig.text());
    assert!(text.contains("To leave them going without it: q, then b."), "{text}");
}

#[test]
fn the_empty_list_of_sessions_offers_the_key_that_it_names() {
    for size in SIZES {
        let mut rig = Rig::new(scenes::empty(), size);
        rig.press("2");
        let text = rig.text();
        assert!(text.contains("S starts one here") && text.contains("S start  "), "{text}");
    }
}

fn driven_by(driver: DriverFact) -> Msg {
    Msg::Changed(Arc::new(Projection { driver, ..scenes::one(scenes::run("checkout")) }))
}

/// Its driver went away: a run that looks alive is believed to go on.
#[test]
fn a_run_that_nobody_drives_does_not_look_alive_and_says_which_key_takes_over() {
    for size in SIZES {
        for keys in ["", "Enter"] {
            let mut rig = Rig::new(scenes::one(scenes::run("checkout")), size);
            rig.send(driven_by(DriverFact::Elsewhere { pid: Some(4242), background: false }));
            rig.press(keys);
            rig.send(driven_by(DriverFact::Nobody));
            let text = rig.text();
            let words = flat(&text);
            assert!(!text.contains("going") && !text.contains('●') || text.contains("✓●"), "{text}");
            assert!(words.contains("nobody drives") && words.contains("O takes over"), "{text}");
            assert!(words.contains("O take over"), "{text}");
            // No order is taken, and the key does nothing else.
            assert!(!rig.press("p").iter().any(|effect| matches!(effect, Effect::Send { .. })));
            let effects = rig.press("O");
            assert!(matches!(&effects[..], [Effect::TakeOver]), "{effects:?}");
            rig.send(driven_by(DriverFact::Here));
            let text = rig.text();
            assert!(text.contains("codex reviews") && !text.contains("nobody"), "{text}");
        }
    }
}

/// Its driver was suspended: what it showed last looked as if it went on.
#[test]
fn a_run_whose_driver_does_not_answer_does_not_look_alive_and_what_helps_is_said() {
    for size in SIZES {
        for keys in ["", "Enter"] {
            let mut rig = Rig::new(scenes::one(scenes::run("checkout")), size);
            rig.send(driven_by(DriverFact::Elsewhere { pid: Some(4242), background: false }));
            rig.press(keys);
            rig.send(driven_by(DriverFact::Silent { pid: Some(4242), background: false }));
            let text = rig.text();
            assert!(!text.contains("going") && !text.contains('●') || text.contains("✓●"), "{text}");
            assert!(flat(&text).contains("process 4242 does not answer"), "{text}");
            for key in ["p", "O"] {
                assert!(rig.press(key).is_empty(), "{key}");
                assert!(flat(&rig.text()).contains("kill -CONT 4242"), "{key}: {}", rig.text());
            }
        }
    }
}

/// `process 4242 drives` stood below `nobody drives` until the next key.
#[test]
fn a_refusal_goes_when_somebody_else_drives_and_is_not_said_twice() {
    for size in SIZES {
        let mut rig = Rig::new(scenes::one(scenes::run("checkout")), size);
        rig.send(driven_by(DriverFact::Elsewhere { pid: Some(4242), background: false }));
        rig.press("Enter p");
        let text = rig.text();
        assert_eq!(text.matches("process 4242").count(), 1, "{text}");
        rig.send(driven_by(DriverFact::Nobody));
        assert!(!rig.text().contains("4242"), "{}", rig.text());
    }
}

/// Who takes over knows nothing of the screen of who did not drive before.
#[test]
fn the_conversation_is_asked_for_anew_when_somebody_else_drives() {
    let mut rig = Rig::new(scenes::one(scenes::run("checkout")), (38, 20));
    rig.press("Enter");
    rig.send(driven_by(DriverFact::Nobody));
    let effects = rig.send(driven_by(DriverFact::Here));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Show(Some(_)))), "{effects:?}");
}

/// The first frame said that no session was found, before anything was looked for.
#[test]
fn nothing_is_said_to_be_missing_before_it_was_looked_for() {
    for size in SIZES {
        let mut rig = Rig::new(Projection { at: None, ..scenes::empty() }, size);
        for keys in ["1", "2"] {
            rig.press(keys);
            let text = rig.text();
            assert!(text.contains("Looks for runs and sessions") && !text.contains("was found"), "{text}");
        }
    }
}

/// The demo's script asks for the phase that the person was told to ask for, and no screen said that it is the demo.
#[test]
fn a_demo_says_that_it_is_one_and_asks_by_itself() {
    for size in SIZES {
        let mut rig = Rig::new(scenes::one(scenes::first_wait()), size);
        rig.app.nearby.demo = true;
        assert!(rig.text().lines().next().unwrap().contains("demo"), "{}", rig.text());
        rig.press("Enter");
        let words = flat(&rig.text());
        assert!(words.contains("The demo asks claude for phase 1"), "{}", rig.text());
        rig.app.nearby.demo = false;
        assert!(rig.text().contains("Your move"), "{}", rig.text());
    }
}

/// The header counted the relay that is on its way, and the table of phases did not.
#[test]
fn a_relay_on_its_way_is_counted_in_the_table_of_phases_too() {
    let mut run = scenes::run("checkout");
    let so_far = run.relays + 1;
    let relay = run.relay_list.last_mut().unwrap();
    (relay.n, relay.state) = (so_far, EntryState::Sent);
    run.phases.last_mut().unwrap().ended_at = None;
    let mut rig = Rig::new(scenes::one(run), (120, 40));
    rig.press("Enter");
    let text = rig.text();
    assert!(text.contains(&format!("relay {so_far} of")), "{text}");
    let row = text.lines().find(|line| line.contains("Checkout en…")).unwrap();
    assert!(row.contains(&format!(" {so_far}  ")), "{row}\n{text}");
}
