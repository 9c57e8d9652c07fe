//! The pictures of README and manual, from real frames: `TRELLIS_PICTURES=1 cargo test --test e2e pictures` puts them in
//! their places. Without that the frames are drawn and thrown away, so that what the pictures show is still there.

use std::path::Path;

use super::terminal::{NARROW, Terminal, WIDE};

/// Wide enough for a line of the log.
const MEDIUM: (u16, u16) = (60, 24);

fn draw(terminal: &Terminal, files: &[&str]) {
    let picture = terminal.picture("trellis");
    if std::env::var_os("TRELLIS_PICTURES").is_some() {
        for file in files {
            std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(file), &picture).unwrap();
        }
    }
}

/// A demo in its third phase, in review.
fn demo(size: (u16, u16)) -> Terminal {
    let terminal = Terminal::running(size, "demo --speed 2");
    terminal.wait_for("phase 1");
    terminal.keys(&["Enter"]);
    terminal.wait("a third phase", |screen| screen.contains("phase 3") && screen.contains("relay 3 of 10"));
    terminal
}

#[test]
fn pictures_of_a_side_pane() {
    let terminal = demo(NARROW);
    draw(&terminal, &["assets/run.svg", "docs/pictures/run.svg"]);
    terminal.press_for(&["c"], "other side");
    draw(&terminal, &["docs/pictures/compare.svg"]);
    terminal.press_for(&["Escape"], "ask ─");
    terminal.press_for(&["Escape"], "trellis ");
    draw(&terminal, &["docs/pictures/runs.svg"]);
    terminal.press_for(&["2"], "live of");
    draw(&terminal, &["docs/pictures/sessions.svg"]);
    terminal.press_for(&["1"], "trellis ");
    terminal.press_for(&["n"], "Starting sends nothing");
    draw(&terminal, &["docs/pictures/new-run.svg"]);
}

#[test]
fn pictures_of_a_medium_window() {
    let terminal = demo(MEDIUM);
    terminal.press_for(&["?"], "keys · a run");
    draw(&terminal, &["docs/pictures/help.svg"]);
    terminal.press_for(&["Escape"], "phase 3");
    terminal.press_for(&["3"], "decisions");
    draw(&terminal, &["docs/pictures/log.svg"]);
}

#[test]
fn pictures_of_a_wide_window() {
    draw(&demo(WIDE), &["assets/wide.svg", "docs/pictures/run-wide.svg"]);
}

#[test]
fn pictures_of_what_needs_you() {
    let terminal = Terminal::running(NARROW, "demo --speed 15 --scene no-agreement");
    terminal.wait_for("phase 1");
    terminal.keys(&["Enter"]);
    terminal.wait("the banner", |screen| screen.contains("no agreement after 6 relays") && screen.contains("+ go on"));
    draw(&terminal, &["docs/pictures/banner.svg"]);
    let terminal = Terminal::running(NARROW, "demo --speed 10 --scene look-first");
    terminal.wait_for("phase 1");
    terminal.keys(&["Enter"]);
    terminal.wait_for("Enter look");
    terminal.press_for(&["Enter"], "✓ alive");
    terminal.keys(&["i"]);
    terminal.wait_for("Ctrl-s");
    terminal.tmux(&["send-keys", "-t", "t", "-l", "With tests. "]);
    terminal.wait_for("With tests.");
    draw(&terminal, &["docs/pictures/look-first.svg"]);
}
