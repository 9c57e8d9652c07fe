//! Signals: those of keys pressed in a program that has the terminal, and those that end trellis. In either case the
//! terminal is the shell's again afterwards.

use std::process::Command;

use super::terminal::{NARROW, Terminal, WIDE};

/// The terminal is the shell's again: no alternate screen, a cursor, and a line that can be typed.
pub fn given_back(terminal: &Terminal) {
    terminal.wait_for("ready$");
    assert_eq!((terminal.fact("alternate_on"), terminal.fact("cursor_flag")), ("0".to_owned(), "1".to_owned()));
    assert_eq!(terminal.fact("mouse_any_flag"), "0");
    terminal.run("clear; echo can be $((40 + 2)) typed");
    terminal.wait_for("can be 42 typed");
}

/// What `stty` says of the terminal.
pub fn settings(terminal: &Terminal, name: &str) -> String {
    let file = terminal.folder.path().join(name);
    terminal.run(&format!("clear; stty -a > {}; echo told $((40 + 2))", file.display()));
    terminal.wait_for("told 42");
    std::fs::read_to_string(file).unwrap()
}

/// Sends a signal to the program that runs in the shell of this terminal, found as the shell's only child.
pub fn signal(terminal: &Terminal, name: &str) {
    let children = Command::new("ps").args(["-o", "pid=", "--ppid", &terminal.fact("pane_pid")]).output().unwrap();
    let children = String::from_utf8(children.stdout).unwrap();
    let pid = children.split_whitespace().next().unwrap();
    assert!(Command::new("kill").args([&format!("-{name}"), pid]).status().unwrap().success());
}

/// A program of the person's own, from a script; gives its path.
fn program(terminal: &Terminal, name: &str, script: &str) -> String {
    let file = terminal.folder.path().join(name);
    std::fs::write(&file, format!("#!/bin/sh\n{script}")).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&file).status().unwrap().success());
    file.display().to_string()
}

/// The first relay of a demo waits for its look.
fn look_first(terminal: &Terminal) {
    terminal.trellis("demo --scene look-first --speed 10");
    terminal.wait_for("phase 1");
    if terminal.fact("pane_width") == NARROW.0.to_string() {
        terminal.keys(&["Enter"]);
    } else {
        // Beside the list one Enter leads into the preview, and Esc from there to the run.
        terminal.wait_for("Enter look");
        terminal.press_for(&["Enter"], "✓ alive");
        terminal.keys(&["Escape"]);
    }
    terminal.wait_for("Enter look");
}

/// Leaves a dashboard that was suspended before: what the shell was to say at its end was said then.
fn quit(terminal: &Terminal) {
    terminal.press_until(&["q", "q"], "the end", |_| terminal.fact("alternate_on") == "0");
    given_back(terminal);
}

/// In `less`, which hears Ctrl-C itself, and in one that hears nothing and dies of it: trellis hears neither.
#[test]
fn ctrl_c_and_the_other_keys_of_a_pager_are_the_pagers() {
    for size in [NARROW, WIDE] {
        let terminal = Terminal::open_as(size, "PAGER=less LESS=");
        let before = settings(&terminal, "before");
        look_first(&terminal);
        let in_less = |screen: &str| screen.contains("(END)") && !screen.contains("look first");
        terminal.press_then(&["e"], "less", in_less);
        terminal.keys(&["C-c", "C-c", "j", "C-c"]);
        // At an interrupt `less` forgets the keys that wait: one is pressed until it is heard.
        terminal.press_until(&["h"], "the help of less", |screen| screen.contains("SUMMARY OF LESS"));
        terminal.press_then(&["q"], "less", in_less);
        terminal.press_then(&["q"], "the dashboard again", |screen| screen.contains("Enter look"));
        terminal.press_then(&["e"], "less", in_less);
        let stopped = terminal.press_then(&["C-z"], "the shell", |screen| screen.contains("Stopped"));
        assert!(Terminal::flat(&stopped).contains("trellis is suspended; not driven until fg: shop"), "{stopped}");
        given_back(&terminal);
        assert_eq!(settings(&terminal, "suspended"), before);
        terminal.run("fg");
        terminal.wait("less again", in_less);
        terminal.press_then(&["q"], "the dashboard again", |screen| screen.contains("Enter look"));
        quit(&terminal);
        assert_eq!(settings(&terminal, "after"), before);
    }
    let terminal = Terminal::open(NARROW);
    let pager = program(&terminal, "pager", "stty raw -echo isig\necho a pager has it\nexec sleep 1000\n");
    terminal.run(&format!("export PAGER={pager}"));
    let before = settings(&terminal, "before");
    look_first(&terminal);
    for key in ["C-c", "C-\\"] {
        terminal.press_then(&["e"], "a pager", |screen| screen.contains("a pager has it"));
        terminal.press_then(&[key], "why it ended", |screen| Terminal::flat(screen).contains("ended with signal"));
        terminal.wait_for("Enter look");
    }
    terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
    given_back(&terminal);
    // What the pager left of the terminal's settings is not what the shell gets.
    assert_eq!(settings(&terminal, "after"), before);
}

/// A small editor in which Ctrl-C and Ctrl-\ mean something.
#[test]
fn ctrl_c_in_an_editor_is_the_editors() {
    for size in [NARROW, WIDE] {
        let terminal = Terminal::open(size);
        let editor = program(
            &terminal,
            "editor",
            "trap 'echo heard INT' INT\ntrap 'echo heard QUIT' QUIT\necho an editor has it\n\
             until [ \"$line\" = done ]; do [ -t 0 ] || exit 1\n\
             read -r line && echo \"$line\" >> \"$1\"; done\n",
        );
        terminal.run(&format!("export EDITOR={editor}"));
        let before = settings(&terminal, "before");
        look_first(&terminal);
        terminal.press_for(&["Enter"], "✓ alive");
        terminal.press_then(&["e"], "an editor", |screen| screen.contains("an editor has it"));
        terminal.press_for(&["C-c"], "heard INT");
        terminal.press_for(&["C-\\"], "heard QUIT");
        terminal.run("done");
        terminal.wait_for("edited");
        // Also from the editor of trellis itself.
        terminal.press_for(&["i"], "as it will be sent");
        terminal.press_for(&["C-g"], "an editor has it");
        terminal.press_for(&["C-c"], "heard INT");
        // Another one's order to suspend is no loss either.
        signal(&terminal, "TSTP");
        terminal.wait_for("Stopped");
        terminal.run("clear; echo the shell $((40 + 2))");
        terminal.wait_for("the shell 42");
        terminal.run("fg");
        terminal.wait("the job", |screen| screen.lines().any(|line| line.starts_with('/')));
        terminal.run("done");
        terminal.wait_for("as it will be sent");
        terminal.keys(&["Escape"]);
        terminal.wait("the preview", |screen| screen.contains("✓ alive") && !screen.contains("as it will be sent"));
        terminal.keys(&["Escape"]);
        terminal.wait_for("Enter look");
        quit(&terminal);
        assert_eq!(settings(&terminal, "after"), before);
    }
}

/// Each signal by which others end a program ends trellis in order.
#[test]
fn every_signal_that_ends_it_leaves_a_clean_terminal() {
    let terminal = Terminal::open(NARROW);
    let before = settings(&terminal, "before");
    for name in ["INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "ALRM", "VTALRM", "PROF", "XCPU"] {
        terminal.trellis("demo --speed 10");
        terminal.wait("the dashboard", |screen| screen.contains("shop") && terminal.fact("alternate_on") == "1");
        signal(&terminal, name);
        let ended = terminal.wait_for("ended ");
        assert!(ended.contains("ended 0"), "{name}: {ended}");
        given_back(&terminal);
        assert_eq!(settings(&terminal, "after"), before, "{name}");
    }
    // While a program has the terminal its end is waited for: what it holds is the person's.
    let terminal = Terminal::open(NARROW);
    let before = settings(&terminal, "before");
    let pager = program(&terminal, "pager", "echo a pager has it\nread -r line\n");
    terminal.run(&format!("export PAGER={pager}"));
    look_first(&terminal);
    terminal.press_then(&["e"], "a pager", |screen| screen.contains("a pager has it"));
    signal(&terminal, "TERM");
    terminal.keys(&["Enter"]);
    terminal.wait_for("ended 0");
    given_back(&terminal);
    assert_eq!(settings(&terminal, "after"), before);
}
