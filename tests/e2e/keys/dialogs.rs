//! The keys of what lies over a screen: the preview of a relay, the editor, a form, and those that count in all of them.
//! The keys of the screens themselves, and how keys are pressed, are the parent's.

use super::*;

/// No run goes, so nothing is asked.
#[test]
fn q_leaves_from_the_preview_of_a_relay() {
    at_both_sizes(|size| {
        let terminal = Terminal::open(size);
        terminal.trellis("demo --scene look-first --speed 10");
        terminal.wait_for("phase 1");
        terminal.keys(&["Enter"]);
        terminal.wait("the banner", |screen| Terminal::flat(screen).contains("waits for your look"));
        terminal.press_for(&["Enter"], "Enter send");
        terminal.press_for(&["q"], "ended 0");
    });
}

#[test]
fn keys_of_the_preview_and_of_the_editor() {
    at_both_sizes(|size| {
        let terminal = Terminal::open_as(size, PROGRAMS);
        install_programs(&terminal);
        terminal.trellis("demo --scene look-first --speed 10");
        terminal.wait_for("phase 1");
        if size.0 < 100 {
            terminal.keys(&["Enter"]);
        }
        terminal.wait("the banner", |screen| Terminal::flat(screen).contains("waits for your look"));
        terminal.press_for(&["Enter"], "Enter send");
        // Small enough that it scrolls; the footer gives way then.
        let (columns, rows) = size;
        terminal.tmux(&["resize-window", "-t", "t", "-x", &columns.min(60).to_string(), "-y", "6"]);
        terminal.wait("the low frame", |screen| screen.contains("1–") && !screen.contains("Enter send"));
        there_and_back(&terminal, &["j", "Down"], "k");
        there_and_back(&terminal, &["j"], "Up");
        there_and_back(&terminal, &["NPage", "Space"], "PPage");
        there_and_back(&terminal, &["G"], "g");
        terminal.tmux(&["resize-window", "-t", "t", "-x", &columns.to_string(), "-y", &rows.to_string()]);
        terminal
            .wait("the frame", |screen| screen.lines().count() == usize::from(rows) && screen.contains("Enter send"));
        let steps: &[Step] = &[
            (&["?"], "help · look first"),
            (&["Escape"], "!help · look first"),
            (&["y"], "copied relay 1"),
            (&["t"], "has no pane"),
            (&["x"], "stop shop?"),
            (&["n"], "no: nothing was sent"),
            (&["d"], "drop this message?"),
            (&["n"], "no: nothing was sent"),
            (&["Enter"], "send relay 1 to codex?"),
            (&["n"], "no: nothing was sent"),
            (&["e"], "OUTSIDE"),
            (&["Escape"], "!Enter send"),
            (&["Enter"], "Enter send & OUTSIDE"),
            (&["h"], "!Enter send"),
            (&["Enter"], "Enter send"),
            (&["Left"], "!Enter send"),
            (&["Enter"], "Enter send"),
            (&["BSpace"], "!Enter send"),
            (&["Enter"], "Enter send"),
            // The editor: letters, Enter and Tab are text, the others act.
            (&["i"], "as it will be sent"),
            (&["q", "x", "p", "Enter", "Tab"], "qxp"),
            (&["C-r"], "the original text again?"),
            (&["y"], "!qxp & !OUTSIDE"),
            (&["z", "q", "Space", "x", "y"], "zq xy"),
            (&["C-w"], "!xy"),
            (&["C-u"], "!zq"),
            (&["q", "j", "C-a", "z", "C-e"], "zqj"),
            (&["C-u"], "!zqj"),
            (&["w", "x", "y", "z"], "wxyz"),
            (&["C-a", "C-k"], "!wxyz"),
            (&["m", "i", "n", "e"], "mine"),
            (&["C-g"], "OUTSIDE & mine"),
            (&["Escape"], "!as it will be sent"),
            (&["i"], "as it will be sent & OUTSIDE & mine"),
            (&["C-s"], "!as it will be sent"),
        ];
        walk(&terminal, steps);
        leave(&terminal);
    });
}

#[test]
fn keys_of_a_form() {
    at_both_sizes(|size| {
        let terminal = still(size, PROGRAMS);
        let steps: &[Step] = &[
            (&["n"], "▸[ start ]"),
            (&["C-t"], "builds codex"),
            (&["C-t"], "builds claude"),
            (&["Tab"], "▸[ start and ask now ]"),
            (&["Tab"], "▸builds"),
            (&["Enter"], "who builds"),
            (&["Escape"], "!who builds"),
            (&["Down"], "▸reviews"),
            (&["Up"], "▸builds"),
            (&["Tab", "Tab"], "▸phase 1"),
            (&["Space"], "its last answer"),
            (&["BTab"], "▸reviews"),
            (&["Escape"], "!▸reviews"),
            // What was filled in is there again.
            (&["n"], "its last answer"),
            (&["Escape"], "!its last answer"),
            (&["o"], "options · shop"),
            (&["Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Tab"], "▸ask standard"),
            (&["C-g"], "▸ask yours: OUTSIDE"),
            (&["Escape"], "!options · shop"),
            (&["o"], "options · shop"),
            (&["C-u", "7", "C-s"], "of 7"),
        ];
        walk(&terminal, steps);
        leave(&terminal);
    });
}

/// To a question each key is an answer; over everything else these three do what they do everywhere.
#[test]
fn ctrl_c_ctrl_l_and_ctrl_z_count_in_every_dialog() {
    at_both_sizes(|size| {
        let terminal = still(size, "");
        let dialogs: [&[Step]; 5] = [
            &[(&["?"], "help · run")],
            &[(&[":"], "letters filter")],
            &[(&["n"], "Starting sends nothing")],
            &[(&["w"], "write to"), (&["Enter"], "Ctrl-s")],
            &[(&["/", "s", "h", "o"], "/ sho")],
        ];
        for open in dialogs {
            walk(&terminal, open);
            let before = settle(&terminal);
            walk(&terminal, &[(&["C-c"], "1 run is going"), (&["z"], "!1 run is going")]);
            terminal.keys(&["C-l"]);
            terminal.press_then(&["C-z"], "the shell", |screen| screen.contains("Stopped"));
            terminal.run("clear; fg");
            terminal.wait("what was open", |screen| still_words(screen) == before);
            terminal
                .press_then(&["Escape"], "the list", |screen| !Terminal::flat(screen).contains(open[open.len() - 1].1));
        }
        terminal.press_until(&["q", "q"], "the end", |_| terminal.fact("alternate_on") == "0");
    });
}
