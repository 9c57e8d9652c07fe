//! Each scene in a real terminal: its banner is shown, and the keys that the banner names lead the run to its end.

use super::terminal::{NARROW, Terminal, WIDE};

/// Plays a scene until a text is shown, then presses keys, each until a text is gone, and waits for the run's end.
fn scene(name: &str, size: (u16, u16), banner: &str, keys: &[(&[&str], &str)]) {
    let terminal = Terminal::running(size, &format!("demo --speed 15 --scene {name}"));
    terminal.wait_for("phase 1");
    terminal.keys(&["Enter"]);
    terminal.wait_for(banner);
    terminal.keep(&format!("scene-{name}"));
    for (keys, until_gone) in keys {
        terminal.wait_for(until_gone);
        terminal.press_until(keys, until_gone, |screen| !screen.contains(until_gone));
    }
    terminal.wait("the end", |screen| screen.contains("done") && screen.contains("completed"));
    terminal.keep(&format!("scene-{name}-end"));
    terminal.press_for(&["q"], "ended 0");
}

#[test]
fn near_miss_is_accepted() {
    scene("near-miss", WIDE, "codex nearly approved", &[(&["a", "a"], "needs you")]);
}

#[test]
fn near_miss_goes_on_as_feedback() {
    scene("near-miss", NARROW, "codex nearly approved", &[(&["p"], "needs you")]);
}

#[test]
fn a_limit_is_tried_at_once() {
    scene("limit", NARROW, "try now", &[(&["p"], "try now")]);
}

#[test]
fn typed_words_are_taken_into_account() {
    scene("typed", NARROW, "you wrote to claude", &[(&["p"], "needs you")]);
}

#[test]
fn a_dead_program_is_brought_back() {
    scene("gone", NARROW, "codex is gone", &[(&["b"], "needs you")]);
}

#[test]
fn a_turn_without_an_answer_is_asked_again() {
    scene("no-answer", NARROW, "codex gave no answer", &[(&["p"], "needs you")]);
}

#[test]
fn without_agreement_the_phase_is_accepted() {
    scene("no-agreement", NARROW, "no agreement", &[(&["a", "a"], "needs you")]);
}

#[test]
fn without_agreement_the_phase_is_skipped() {
    scene("no-agreement", WIDE, "no agreement", &[(&["s", "s"], "needs you")]);
}

#[test]
fn without_agreement_more_relays_are_allowed() {
    let terminal = Terminal::running(NARROW, "demo --speed 15 --scene no-agreement");
    terminal.wait_for("phase 1");
    terminal.keys(&["Enter"]);
    terminal.wait_for("no agreement after 6 relays");
    terminal.press_for(&["+"], "more relays · ");
    terminal.keep("more-relays");
    terminal.press_until(&["C-s"], "the form is sent", |screen| !screen.contains("more relays · "));
    terminal.wait("another cap or the end", |screen| screen.contains(" of 11") || screen.contains("done"));
}

#[test]
fn without_agreement_it_is_reviewed_again() {
    let terminal = Terminal::running(WIDE, "demo --speed 15 --scene no-agreement");
    terminal.wait_for("phase 1");
    terminal.keys(&["Enter"]);
    terminal.wait_for("no agreement after 6 relays");
    terminal.press_until(&["r"], "a new review", |screen| screen.contains("relay 1 of 6") || screen.contains("done"));
}

/// W3: keys and settings that an editor saves by renaming count at once, each time.
#[test]
fn w3_changed_keys_and_settings_count_at_once() {
    let terminal = Terminal::running((100, 30), "demo");
    terminal.wait_for("going");
    let home = terminal.home();
    let save = |name: &str, text: &str| {
        std::fs::write(home.join("saved~"), text).unwrap();
        std::fs::rename(home.join("saved~"), home.join(name)).unwrap();
    };
    save("keymap.toml", "this is no keymap");
    terminal.wait_for("the standard keys count");
    save("keymap.toml", "");
    terminal.wait_for("the changed settings count");
    let config = std::fs::read_to_string(home.join("config.toml")).unwrap();
    save("config.toml", &format!("{config}symbols = \"nothing\"\n"));
    terminal.wait_for("config.toml");
    save("config.toml", &format!("{config}symbols = \"ascii\"\n"));
    let shown = terminal.wait_for("the changed settings count");
    assert!(!shown.contains('\u{2502}'), "ascii is drawn from now on:\n{shown}");
}
