//! Every key of the manual's tables (`dashboard.md` §10), pressed in a real terminal of both sizes, table by table.
//! The run stands still meanwhile: what a key does is seen by a text that comes, or by one that goes.

use super::stuck;
use super::terminal::{NARROW, Terminal, WIDE};

/// Keys, by tmux names, and the text that stands on the screen afterwards; with `!` in front, that does not.
type Step = (&'static [&'static str], &'static str);

fn walk(terminal: &Terminal, steps: &[Step]) {
    for (keys, text) in steps {
        match text.strip_prefix('!') {
            Some(gone) => terminal.press_then(keys, text, |screen| !Terminal::flat(screen).contains(gone)),
            None => terminal.press_then(keys, text, |screen| Terminal::flat(screen).contains(text)),
        };
        if *keys == ["e"] {
            // The pager has the terminal meanwhile, and would take the next key.
            std::thread::park_timeout(std::time::Duration::from_millis(800));
        }
    }
}

/// A run that waits for its reviewer for ever, and the list of runs in view.
fn still(size: (u16, u16), variables: &str) -> Terminal {
    let terminal = Terminal::open_as(size, variables);
    stuck::in_review(&terminal, &stuck::script("", "{ silence = true }"));
    terminal.trellis("demo");
    terminal.wait_for("phase 1");
    terminal
}

fn leave(terminal: &Terminal) {
    // What a pager left on the screen may break the line anywhere.
    let over = |screen: &str| screen.split_whitespace().collect::<String>().contains("ended0");
    terminal.press_until(&["q", "q"], "the end", over);
}

fn at_both_sizes(test: impl Fn((u16, u16))) {
    for size in [NARROW, WIDE] {
        test(size);
    }
}

#[test]
fn keys_that_count_everywhere() {
    at_both_sizes(|size| {
        let terminal = still(size, "");
        let steps: &[Step] = &[
            (&["2"], "live of"),
            (&["3"], "decisions · follows"),
            (&["k"], "1 newer"),
            (&["j"], "follows"),
            (&["Up"], "1 newer"),
            (&["Down"], "follows"),
            (&["g"], "newer"),
            (&["G"], "follows"),
            (&["Home"], "newer"),
            (&["End"], "follows"),
            (&["PPage"], "newer"),
            (&["NPage"], "follows"),
            (&["C-u"], "newer"),
            (&["C-d"], "follows"),
            (&["PPage"], "newer"),
            (&["Space"], "follows"),
            (&["1"], "!decisions · follows"),
            // In: three keys. Out: four.
            (&["Enter"], "ask build REVIEW"),
            (&["Escape"], "!v detail"),
            (&["l"], "ask build REVIEW"),
            (&["Tab"], "phase relays took"),
            (&["Tab"], "relays of phase 1"),
            (&["BTab"], "phase relays took"),
            (&["!"], "nothing needs you"),
            (&["?"], "keys · a run"),
            (&["/"], "/"),
            (&["d", "r", "a", "w", "Enter"], "draw everything again"),
            (&["q"], "!keys · a run"),
            (&["?"], "keys · a run"),
            (&["h"], "!keys · a run"),
            (&["?"], "keys · a run"),
            (&["?"], "!keys · a run"),
            (&[":"], "all actions"),
            (&["s", "k", "i", "p"], "skip this phase"),
            (&["C-u"], "pause"),
            (&["C-n"], "skip"),
            (&["C-p"], "pause"),
            (&["Escape"], "!Enter do it"),
            (&["m"], "mouse on"),
            (&["m"], "mouse off"),
            (&["C-l"], "ask build REVIEW"),
            (&["q"], "1 run is going"),
            (&["Escape"], "!1 run is going"),
            (&["C-c"], "1 run is going"),
            (&["n"], "!1 run is going"),
        ];
        walk(&terminal, steps);
        for back in [&["h"], &["Left"], &["BSpace"]] {
            let steps: &[Step] =
                &[(&["2"], "live of"), (&["Enter"], "v detail"), (back, "!v detail"), (&["1"], "phase 1")];
            walk(&terminal, steps);
        }
        walk(&terminal, &[(&["2"], "live of"), (&["Right"], "v detail"), (&["1"], "phase 1")]);
        leave(&terminal);
    });
}

#[test]
fn keys_of_a_run() {
    at_both_sizes(|size| {
        let terminal = still(size, "");
        let steps: &[Step] = &[
            (&["t"], "has no pane"),
            (&["T"], "has no pane"),
            (&["o"], "options · shop"),
            (&["Escape"], "!options · shop"),
            (&["L"], "log · shop"),
            (&["Escape"], "!log · shop"),
            (&["R"], "rename"),
            (&["C-u"], "name"),
            (&["m", "i", "n", "e"], "mine"),
            (&["C-s"], "![ save ]"),
            (&["y"], "copied the line of mine"),
            (&["w"], "write to"),
            (&["Escape"], "!write to"),
            (&["f"], "session"),
            (&["b"], "both agents are there"),
            (&["A"], "first"),
            (&["F"], "wait"),
            (&["Escape"], "mine"),
            (&["+"], "cap"),
            (&["="], "cap"),
            (&["s"], "skip phase 1 of mine?"),
            (&["n"], "no: nothing was sent"),
            (&["a"], "The last fix is not reviewed"),
            (&["n"], "no: nothing was sent"),
            (&["r"], "review phase 1 of mine again, count from 0?"),
            (&["n"], "no: nothing was sent"),
            (&["D"], "stop it first"),
            (&["p"], "paused"),
            (&["p"], "going"),
            (&["x"], "stop mine?"),
            (&["x"], "stopped"),
            (&["D"], "remove mine from trellis?"),
            (&["n"], "no: nothing was sent"),
            (&["r"], "first answer"),
        ];
        walk(&terminal, steps);
        leave(&terminal);
    });
}

#[test]
fn keys_of_the_list_of_runs() {
    at_both_sizes(|size| {
        let terminal = still(size, "");
        let steps: &[Step] = &[
            (&["."], "all runs"),
            (&["."], "last 7 days"),
            (&["n"], "Ctrl-t swaps"),
            (&["Escape"], "!Ctrl-t swaps"),
            (&["N"], "Ctrl-t swaps"),
            (&["Escape"], "!Ctrl-t swaps"),
            (&["/"], "Esc clear"),
            (&["z", "z"], "No run holds"),
            (&["C-u"], "phase 1"),
            (&["Escape"], "!Esc clear"),
        ];
        walk(&terminal, steps);
        leave(&terminal);
    });
}

#[test]
fn keys_of_a_run_and_its_conversation() {
    at_both_sizes(|size| {
        let terminal = still(size, "PAGER=cat EDITOR=true");
        walk(&terminal, &[(&["Enter"], "ask build REVIEW")]);
        let steps: &[Step] = &[
            (&["v"], "answers and tools"),
            (&["v"], "and thinking"),
            (&["v"], "answers"),
            (&["/"], "Esc clear"),
            (&["n", "e", "e", "d", "l", "e", "Enter"], "needle"),
            (&["n"], "needle"),
            (&["N"], "needle"),
            (&["["], "ask build REVIEW"),
            (&["]"], "relay 1 to codex"),
            (&["{"], "relay 1 to codex"),
            (&["}"], "ask build REVIEW"),
            (&["g"], "pub fn part() ->"),
            (&[">"], "!pub fn part() ->"),
            (&["<"], "pub fn part() ->"),
            (&["y"], "copied"),
            (&["e"], "ask build REVIEW"),
        ];
        walk(&terminal, steps);
        leave(&terminal);
    });
}

#[test]
fn keys_of_sessions_and_of_a_transcript() {
    at_both_sizes(|size| {
        let terminal = still(size, "PAGER=cat EDITOR=true");
        let steps: &[Step] = &[
            (&["2"], "live of"),
            (&["n"], "Ctrl-t swaps"),
            (&["Escape"], "!Ctrl-t swaps"),
            (&["N"], "Ctrl-t swaps"),
            (&["Escape"], "!Ctrl-t swaps"),
            (&["t"], "pane"),
            (&["b"], "it is alive"),
            (&["R"], "rename"),
            (&["C-u"], "name"),
            (&["s", "i", "d", "e"], "side"),
            (&["C-s"], "![ save ]"),
            (&["y"], "resume command"),
            (&["j"], "resume command"),
            (&["Enter"], "copied"),
            (&["z"], "hidden until it changes"),
            (&["."], "all sessions"),
            (&["."], "last 7 days"),
            (&["/"], "Esc clear"),
            (&["s", "h", "o", "p", "Enter"], "!Esc clear"),
            (&["w"], "to c"),
            (&["Escape"], "sessions"),
            (&["D"], "put it away?"),
            (&["n"], "no: nothing was sent"),
            (&["Enter"], "v detail"),
            (&["v"], "answers and tools"),
            (&["w"], "to c"),
            (&["Escape"], "!Ctrl-s send"),
            (&["t"], "pane"),
            (&["b"], "it is alive"),
            (&["y"], "resume command"),
            (&["Escape"], "!resume command"),
            (&["["], "v detail"),
            (&["]"], "v detail"),
            (&["n"], "look for something with / first"),
            (&["N"], "look for something with / first"),
            (&["e"], "v detail"),
        ];
        walk(&terminal, steps);
        leave(&terminal);
    });
}

#[test]
fn keys_of_the_log() {
    at_both_sizes(|size| {
        let terminal = still(size, "PAGER=cat EDITOR=true");
        let steps: &[Step] = &[
            (&["3"], "decisions · follows"),
            (&["."], "everything · "),
            (&["."], "decisions · "),
            (&["y"], "copied the line"),
            (&["e"], "decisions · "),
            (&["/"], "Esc clear"),
            (&["r", "e", "l", "a", "y", "Enter"], "of /relay · "),
            (&["N"], "newer"),
            (&["n"], "of /relay · "),
            (&["Escape"], "decisions · "),
            (&["Escape"], "!decisions · "),
        ];
        walk(&terminal, steps);
        leave(&terminal);
    });
}

#[test]
fn keys_of_the_preview_and_of_the_editor() {
    at_both_sizes(|size| {
        let terminal = Terminal::open_as(size, "EDITOR=true PAGER=cat");
        terminal.trellis("demo --scene look-first --speed 10");
        terminal.wait_for("phase 1");
        terminal.keys(&["Enter"]);
        terminal.wait("the banner", |screen| Terminal::flat(screen).contains("waits for your look"));
        terminal.press_for(&["Enter"], "Enter send");
        let steps: &[Step] = &[
            (&["?"], "keys · look first"),
            (&["Escape"], "Enter send"),
            (&["j"], "Enter send"),
            (&["k"], "Enter send"),
            (&["Down", "Up", "NPage", "PPage", "Space", "g", "G"], "Enter send"),
            (&["y"], "copied relay 1"),
            (&["t"], "has no pane"),
            (&["x"], "stop shop?"),
            (&["n"], "no: nothing was sent"),
            (&["d"], "drop this message?"),
            (&["n"], "no: nothing was sent"),
            (&["e"], "Enter send"),
            (&["Escape"], "!Enter send"),
            (&["Enter"], "Enter send"),
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
            (&["y"], "!qxp"),
            (&["z", "q", "Space", "x", "y"], "zq xy"),
            (&["C-w"], "!xy"),
            (&["C-u"], "!zq"),
            (&["q", "j", "C-a", "z", "C-e"], "zqj"),
            (&["C-u"], "!zqj"),
            (&["k", "e", "p", "t"], "kept"),
            (&["C-a", "C-k"], "!kept"),
            (&["m", "i", "n", "e"], "mine"),
            (&["C-g"], "as it will be sent"),
            (&["Escape"], "Enter send"),
            (&["i"], "mine"),
            (&["C-s"], "!as it will be sent"),
        ];
        walk(&terminal, steps);
        leave(&terminal);
    });
}

#[test]
fn keys_of_a_form() {
    at_both_sizes(|size| {
        let terminal = still(size, "EDITOR=true");
        let steps: &[Step] = &[
            (&["n"], "Starting sends nothing"),
            (&["C-t"], "new run"),
            (&["Tab"], "new run"),
            (&["Tab"], "Enter pick"),
            (&["Enter"], "who builds"),
            (&["Escape"], "!who builds"),
            (&["Down"], "Enter pick"),
            (&["Up"], "Enter pick"),
            (&["Tab", "Tab"], "Enter pick"),
            (&["Space"], "its last answer"),
            (&["BTab"], "Enter pick"),
            (&["Escape"], "!Tab field"),
            // What was filled in is there again.
            (&["n"], "its last answer"),
            (&["Escape"], "!Tab field"),
            (&["o"], "options"),
            (&["Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Tab"], "Enter edit"),
            (&["C-g"], "Enter edit"),
            (&["Escape"], "!Tab field"),
            (&["o"], "options"),
            (&["C-u", "7", "C-s"], "of 7"),
        ];
        walk(&terminal, steps);
        leave(&terminal);
    });
}
