//! The dashboard by keys, in a real terminal of both sizes: a demo from its start to its end, runs that a person makes,
//! relays that are looked at first, and the terminal after every way out.

use std::process::Command;

use super::demo::{assert_each_message_once, trellis};
use super::signals::{given_back, settings, signal};
use super::terminal::{NARROW, Terminal, WIDE};

/// Presses a key that asks, and the same key again for yes, until a text is shown.
fn ask(terminal: &Terminal, key: &str, text: &str) -> String {
    terminal.press_for(&[key, key], text)
}

/// Quits, whether or not a run is going, and sees that the terminal is as it was.
fn quit(terminal: &Terminal) {
    terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
    given_back(terminal);
}

fn a_demo_by_keys(size: (u16, u16)) {
    let terminal = Terminal::running(size, "demo --speed 3");
    terminal.wait_for("phase 1");
    terminal.keep("demo-runs");
    terminal.keys(&["Enter"]);
    terminal.wait_for("ask ─");
    terminal.wait_for("REVIEW");
    terminal.keep("demo-review");

    terminal.press_for(&["p"], "‖ paused");
    terminal.keep("demo-paused");
    terminal.keys(&["Tab"]);
    terminal.wait_for("took");
    terminal.keep("demo-phases");
    terminal.keys(&["Tab"]);
    terminal.wait_for("relays of phase 1");
    terminal.keep("demo-relays");
    terminal.keys(&["Tab"]);
    terminal.press_for(&["p"], "● going");
    terminal.wait_for("REVIEW");
    terminal.press_for(&["p"], "‖ paused");

    // What is paused does not move: each order meets the run as it was seen.
    ask(&terminal, "s", "phase 2");
    terminal.keep("demo-skipped");
    terminal.press_for(&["p"], "● going");
    terminal.wait_for("REVIEW");
    terminal.press_for(&["p"], "‖ paused");
    terminal.press_for(&["r"], "relay 0 of 10");
    terminal.keep("demo-again");
    terminal.press_for(&["p"], "● going");
    terminal.wait_for("REVIEW");
    terminal.press_for(&["p"], "‖ paused");
    // The one that comes next has no name before the builder is at work.
    ask(&terminal, "a", "next phase");
    terminal.keep("demo-accepted");
    ask(&terminal, "x", "■ stopped");
    terminal.keep("demo-stopped");

    terminal.press_for(&["r"], "first answer");
    terminal.keep("demo-run-on");
    ask(&terminal, "x", "■ stopped");
    terminal.keys(&["Escape"]);
    terminal.wait_for("── ended");
    terminal.keep("demo-two-ended");
    terminal.press_for(&["D"], "remove shop");
    terminal.keep("demo-discard");
    terminal.press_for(&["y"], "removed");
    terminal.keep("demo-discarded");
    assert_eq!(runs(&terminal).lines().count(), 1, "{}", runs(&terminal));

    terminal.press_for(&["n"], "Starting sends nothing");
    terminal.keep("demo-new-run");
    terminal.press_for(&["Enter"], "nothing was sent");
    terminal.keep("demo-first-wait");
    ask(&terminal, "A", "BUILD");
    quit(&terminal);
}

/// The runs of the terminal's home, a line each.
fn runs(terminal: &Terminal) -> String {
    let list = trellis(&terminal.home()).args(["run", "list"]).output().unwrap();
    String::from_utf8_lossy(&list.stdout).into_owned()
}

#[test]
fn a_demo_is_led_by_keys_in_a_side_pane() {
    a_demo_by_keys(NARROW);
}

#[test]
fn a_demo_is_led_by_keys_in_a_window() {
    a_demo_by_keys(WIDE);
}

fn a_run_of_the_spare_pair(size: (u16, u16)) {
    let terminal = Terminal::open(size);
    let played = trellis(&terminal.home()).args(["demo", "--headless", "--speed", "50"]).output().unwrap();
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    // From the demo's own command its agents play as fast as before; from `trellis` alone at their own pace.
    terminal.trellis(if size == WIDE { "demo --speed 15" } else { "" });
    terminal.wait_for("✓ shop");
    terminal.press_for(&["n"], "Starting sends nothing");
    terminal.keep("spare-form");
    terminal.press_for(&["Enter"], "nothing was sent");
    terminal.keep("spare-first-wait");
    ask(&terminal, "A", "BUILD");
    if size == WIDE {
        terminal.wait("the end", |screen| screen.contains("✓ done"));
        assert_eq!(runs(&terminal).matches("completed").count(), 2, "{}", runs(&terminal));
    } else {
        terminal.wait_for("REVIEW");
    }
    terminal.keep("spare-played");
    quit(&terminal);
}

#[test]
fn a_run_is_made_with_the_spare_pair_in_a_side_pane() {
    a_run_of_the_spare_pair(NARROW);
}

#[test]
fn a_run_is_made_with_the_spare_pair_in_a_window() {
    a_run_of_the_spare_pair(WIDE);
}

fn relays_are_looked_at(size: (u16, u16)) {
    let terminal = Terminal::running(size, "demo --scene look-first --speed 10");
    terminal.wait_for("phase 1");
    // Beside the list the banner stands already, and one Enter opens the preview.
    if size == NARROW {
        terminal.keys(&["Enter"]);
    }
    terminal.wait_for("Enter look");
    terminal.keep("look-banner");
    terminal.press_for(&["Enter"], "✓ alive");
    terminal.keep("look-preview");
    terminal.press_for(&["Enter"], "send relay 1 to codex?");
    terminal.press_then(&["y"], "it is sent", |screen| !screen.contains("✓ alive"));
    terminal.wait_for("! look first");
    terminal.press_for(&["Enter"], "✓ alive");
    terminal.keys(&["i"]);
    terminal.wait_for("Ctrl-s");
    terminal.tmux(&["send-keys", "-t", "t", "-l", "Changed by hand. "]);
    terminal.wait_for("Changed by hand.");
    terminal.keep("look-edit");
    terminal.press_until(&["C-s"], "it is sent", |screen| !screen.contains("as it will be sent"));
    terminal.wait_for("! look first");
    terminal.keep("look-edited");
    terminal.press_for(&["Enter"], "✓ alive");
    ask(&terminal, "d", "going");
    terminal.keep("look-dropped");
    quit(&terminal);
}

#[test]
fn relays_are_looked_at_sent_edited_and_dropped_in_a_side_pane() {
    relays_are_looked_at(NARROW);
}

#[test]
fn relays_are_looked_at_sent_edited_and_dropped_in_a_window() {
    relays_are_looked_at(WIDE);
}

#[test]
fn the_terminal_is_the_shells_again_after_quitting_and_a_signal() {
    let terminal = Terminal::open(NARROW);
    let before = settings(&terminal, "before");
    terminal.trellis("demo --speed 10");
    terminal.wait_for("phase 1");
    assert_eq!(terminal.fact("alternate_on"), "1");
    quit(&terminal);
    assert_eq!(settings(&terminal, "after-quit"), before);

    terminal.trellis("demo --speed 10");
    terminal.wait_for("── ended");
    assert_eq!(terminal.fact("pane_current_command"), "trellis");
    signal(&terminal, "TERM");
    terminal.wait_for("ended 0");
    given_back(&terminal);
    assert_eq!(settings(&terminal, "after-signal"), before);
}

#[test]
fn u11_it_is_suspended_comes_back_and_handles_what_was_missed_once() {
    let terminal = Terminal::open(NARROW);
    let before = settings(&terminal, "before");
    terminal.trellis("demo --speed 5");
    terminal.wait_for("phase 1");
    let events = || std::fs::read_to_string(terminal.home().join("events.jsonl")).unwrap();
    let stopped = terminal.press_for(&["C-z"], "Stopped");
    let line: String = stopped.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("trellis is suspended; not driven until fg: shop"), "{stopped}");
    given_back(&terminal);
    assert_eq!(settings(&terminal, "suspended"), before);
    // The driver too: nothing is told while it is stopped, however long that is.
    let told = events();
    std::thread::park_timeout(std::time::Duration::from_secs(1));
    assert_eq!(events(), told);
    terminal.run("fg");
    terminal.wait("it is drawn again", |screen| screen.contains("phase") && terminal.fact("alternate_on") == "1");
    // From outside it is the same.
    signal(&terminal, "TSTP");
    terminal.wait_for("Stopped");
    given_back(&terminal);
    assert_eq!(settings(&terminal, "suspended-again"), before);
    terminal.run("fg");
    terminal.wait("the run goes on to its end", |screen| screen.contains("3 phases  done"));
    assert_eq!(terminal.fact("alternate_on"), "1");
    terminal.press_until(&["q"], "the end", |screen| !screen.contains("3 phases  done"));
    given_back(&terminal);
    assert_eq!(settings(&terminal, "after"), before);
    assert_each_message_once(&terminal.home());
}

fn a_panic(place: &str) {
    let terminal = Terminal::open(NARROW);
    let before = settings(&terminal, "before");
    terminal.run(&format!("export TRELLIS_TEST_PANIC={place}"));
    terminal.trellis("demo --speed 10");
    terminal.wait_for("phase 1");
    terminal.keys(&["Enter"]);
    let screen = terminal.wait_for("ended 70");
    terminal.keep(&format!("panic-{place}"));
    // The lines of a narrow terminal break anywhere.
    let told: String = screen.split_whitespace().collect();
    assert!(told.contains("internalerrorin") && told.contains("onpurpose"), "{screen}");
    given_back(&terminal);
    assert_eq!(settings(&terminal, "after"), before);
}

/// The first update asks for a conversation at this size: nothing was drawn yet.
#[test]
fn u9_a_failure_right_at_the_start_leaves_the_terminal_clean() {
    let terminal = Terminal::open(WIDE);
    let before = settings(&terminal, "before");
    terminal.run("export TRELLIS_TEST_PANIC=screen");
    terminal.trellis("demo --speed 10");
    let screen = terminal.wait_for("ended 70");
    assert!(screen.contains("internal error in") && screen.contains("on purpose"), "{screen}");
    given_back(&terminal);
    assert_eq!(settings(&terminal, "after"), before);
    // The run is as it was.
    assert!(runs(&terminal).contains("waits for the phase"), "{}", runs(&terminal));
}

/// An editor that is stopped by Ctrl-z stops trellis with it: the shell gets the terminal, and `fg` brings both back.
#[test]
fn u11_ctrl_z_in_an_editor_gives_the_shell_its_terminal() {
    let terminal = Terminal::open(NARROW);
    let editor = terminal.folder.path().join("editor");
    std::fs::write(&editor, "#!/bin/sh\necho the editor has it\nkill -TSTP 0\necho and goes on >> \"$1\"\n").unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&editor).status().unwrap().success());
    terminal.run(&format!("export EDITOR={}", editor.display()));
    terminal.trellis("demo --scene look-first --speed 10");
    terminal.wait_for("phase 1");
    terminal.keys(&["Enter"]);
    terminal.wait_for("Enter look");
    terminal.press_for(&["Enter"], "✓ alive");
    terminal.keys(&["e"]);
    terminal.wait_for("the editor has it");
    terminal.wait_for("Stopped");
    terminal.run("fg");
    terminal.wait_for("edited");
    terminal.keys(&["Escape"]);
    terminal.wait_for("Enter look");
    terminal.press_until(&["q", "q"], "the end", |screen| !screen.contains("look first"));
    given_back(&terminal);
}

#[test]
fn u9_a_panic_of_the_screen_leaves_a_usable_terminal() {
    a_panic("screen");
}

#[test]
fn u9_a_panic_of_a_task_leaves_a_usable_terminal() {
    a_panic("task");
}

#[test]
fn u9_a_panic_of_a_thread_leaves_a_usable_terminal() {
    a_panic("thread");
}
