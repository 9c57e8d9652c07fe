//! Every key of the manual's tables (`dashboard.md` §10), pressed in a real terminal of both sizes, table by table.
//! The run stands still meanwhile: what a key does is seen by a text that comes, or by one that goes.

use super::demo::trellis;
use super::stuck;
use super::terminal::{NARROW, Terminal, WIDE};

/// Keys, by tmux names, and the text that stands on the screen afterwards; with `!` in front, that does not.
type Step = (&'static [&'static str], &'static str);

fn walk(terminal: &Terminal, steps: &[Step]) {
    let mut lent = false;
    for (keys, text) in steps {
        let holds = |screen: &str| match text.strip_prefix('!') {
            Some(gone) => !Terminal::flat(screen).contains(gone),
            None => Terminal::flat(screen).contains(text),
        };
        // Terminals send Alt-x as Esc and x: a key that follows Esc at once is another one, so Esc has to show.
        if *keys == ["Escape"] {
            terminal.wait("what Esc is to close", |screen| !screen.trim().is_empty() && !holds(screen));
        }
        if lent {
            // A key that came while a program had the terminal was that program's.
            terminal.press_until(keys, text, holds);
        } else {
            terminal.press_then(keys, text, holds);
        }
        lent = matches!(*keys, ["e" | "C-g"]);
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
    // An order is refused while what it means still moves: what trellis learns at its start has to be on the screen.
    settle(&terminal);
    terminal
}

/// Waits until the screen stands still, as far as it does not count time.
fn settle(terminal: &Terminal) -> String {
    let mut before = still_words(&terminal.screen());
    loop {
        std::thread::park_timeout(std::time::Duration::from_millis(700));
        let now = still_words(&terminal.screen());
        if now == before {
            return now;
        }
        before = now;
    }
}

/// A run that was played to its end, in three phases, and its conversation in view.
fn played(size: (u16, u16), variables: &str) -> Terminal {
    let terminal = Terminal::open_as(size, variables);
    let played = trellis(&terminal.home()).args(["demo", "--headless", "--speed", "50"]).output().unwrap();
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    terminal.trellis("demo");
    terminal.wait_for("✓ shop");
    // The second one goes on to the conversation, which has the keys already where it stands beside the list.
    walk(&terminal, &[(&["Enter"], "completed"), (&["Enter"], "COMPLETED")]);
    terminal
}

/// The screen without what counts time, or is cut to make room for it.
fn still_words(screen: &str) -> String {
    let counts =
        |word: &str| word.len() > 1 && word.ends_with(['s', 'm']) && word.starts_with(|c: char| c.is_ascii_digit());
    Terminal::flat(screen).split(' ').filter(|word| !counts(word) && !word.ends_with('…')).collect::<Vec<_>>().join(" ")
}

/// Each of the first keys moves what is shown, and the last one moves it back.
fn there_and_back(terminal: &Terminal, keys: &[&str], back: &str) {
    for key in keys {
        let before = settle(terminal);
        terminal.press_then(&[key], "it moves", |screen| still_words(screen) != before);
        terminal.press_then(&[back], "it moves back", |screen| still_words(screen) == before);
    }
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
        // A wide screen shows the list anyway.
        let out: Step = if size == NARROW { (&["Escape"], "1 going") } else { (&["h"], "ask build REVIEW") };
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
            out,
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
            walk(&terminal, &[(&["?"], "keys · "), (back, "!keys · ")]);
        }
        walk(&terminal, &[(&["2"], "live of"), (&["Right"], "v detail"), (&["1"], "phase 1")]);
        leave(&terminal);
    });
}

/// Low enough that the help scrolls.
#[test]
fn keys_of_the_help_and_of_the_palette() {
    at_both_sizes(|(columns, _)| {
        let terminal = still((columns, 20), "");
        walk(&terminal, &[(&["?"], "keys · ")]);
        there_and_back(&terminal, &["j", "Down"], "k");
        there_and_back(&terminal, &["NPage", "Space"], "PPage");
        there_and_back(&terminal, &["j"], "Up");
        there_and_back(&terminal, &["G"], "g");
        walk(&terminal, &[(&["/"], "/"), (&["z", "q", "Enter"], "zq"), (&["Escape"], "!keys · ")]);
        walk(&terminal, &[(&[":"], "Enter do it")]);
        there_and_back(&terminal, &["Down", "C-n"], "Up");
        there_and_back(&terminal, &["Down"], "C-p");
        let steps: &[Step] = &[
            (&["z", "z"], "nothing holds that"),
            (&["C-u"], "!nothing holds that"),
            (&["s", "k", "i", "p", "Enter"], "skip phase 1 of shop?"),
            (&["n"], "no: nothing was sent"),
            (&[":"], "Enter do it"),
            (&["Escape"], "!Enter do it"),
        ];
        walk(&terminal, steps);
        leave(&terminal);
    });
}

/// Two runs, looked at last before there was anything: the first frame says what happened.
#[test]
fn keys_of_what_happened_since_you_looked() {
    at_both_sizes(|size| {
        let terminal = still(size, "");
        walk(&terminal, &[(&["x"], "stop shop?"), (&["x"], "stopped"), (&["r"], "first answer"), (&["1"], "ended")]);
        leave(&terminal);
        let state = terminal.home().join("state.toml");
        let text = std::fs::read_to_string(&state).unwrap();
        let early = |line: &str| {
            if line.starts_with("looked_at") {
                "looked_at = \"2026-01-01T00:00:00Z\"".to_owned()
            } else {
                line.to_owned()
            }
        };
        let lines: Vec<String> = text.lines().map(early).collect();
        let again = || {
            std::fs::write(&state, lines.join("\n")).unwrap();
            terminal.trellis("demo");
            terminal.wait_for("since you looked");
            // The key that opens the summary does nothing else; one of a screen that just came is taken for it.
            std::thread::park_timeout(std::time::Duration::from_millis(600));
        };
        again();
        there_and_back(&terminal, &["j", "Down", "Tab"], "k");
        there_and_back(&terminal, &["j"], "Up");
        there_and_back(&terminal, &["j"], "BTab");
        walk(&terminal, &[(&["y"], "copied the summary")]);
        terminal.wait("the footer", |screen| !screen.contains("copied"));
        // Low enough that it scrolls.
        let (columns, rows) = size;
        let resize = |rows: u16| {
            terminal.tmux(&["resize-window", "-t", "t", "-x", &columns.to_string(), "-y", &rows.to_string()]);
            terminal.wait("the frame", |screen| {
                screen.lines().count() == usize::from(rows) && screen.contains("Esc close")
            });
        };
        resize(8);
        for (down, up) in [("NPage", "PPage"), ("Space", "C-u"), ("C-d", "PPage"), ("G", "g"), ("End", "Home")] {
            there_and_back(&terminal, &[down], up);
        }
        resize(rows);
        walk(&terminal, &[(&["Escape"], "!since you looked")]);
        leave(&terminal);
        for close in [&["h"], &["Left"], &["BSpace"], &["q"]] {
            again();
            walk(&terminal, &[(close, "!since you looked")]);
            leave(&terminal);
        }
        for open in [&["Enter"], &["l"], &["Right"]] {
            again();
            walk(&terminal, &[(open, "!since you looked"), (&["L"], "log · shop")]);
            leave(&terminal);
        }
    });
}

/// One note after the other, and none of them again, not after a new start either.
#[test]
fn a_note_that_was_put_away_never_comes_back() {
    at_both_sizes(|size| {
        let terminal = still(size, "");
        walk(&terminal, &[(&["H"], "notify --test"), (&["H"], "!notify --test"), (&["H"], "there is no note")]);
        leave(&terminal);
        terminal.trellis("demo");
        let again = terminal.wait_for("phase 1");
        assert!(!Terminal::flat(&again).contains("puts this note away"), "{again}");
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
            // Beside the list the messages of the run are offered below its line.
            (&["y"], "the line of mine"),
            (&["Escape"], "mine"),
            (&["w"], "write to"),
            (&["Escape"], "!write to"),
            (&["f"], "session"),
            (&["b"], "both agents are there"),
            (&["A"], "first"),
            (&["F"], "wait"),
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
        let terminal = played(size, "PAGER=cat EDITOR=true");
        let steps: &[Step] = &[
            (&["v"], "answers and tools"),
            (&["v"], "and thinking"),
            (&["v"], "answers"),
            (&["g"], "Please build the cart"),
            (&["G"], "COMPLETED"),
            // By phase and by relay, from the end to the beginning and back.
            (&["["], "`src/checkout.rs` adds up the"),
            (&["["], "Prices are whole cents"),
            (&["["], "The cart is in"),
            (&["]"], "Prices are whole cents"),
            (&["]"], "`src/checkout.rs` adds up the"),
            (&["]"], "COMPLETED"),
        ];
        walk(&terminal, steps);
        there_and_back(&terminal, &["{"], "G");
        walk(&terminal, &[(&["{"], "G follows")]);
        there_and_back(&terminal, &["{"], "}");
        let steps: &[Step] = &[
            (&["G"], "COMPLETED"),
            (&["/"], "Esc clear"),
            (&["c", "e", "n", "t", "s", "Enter"], "5/5"),
            (&["N"], "4/5"),
            (&["n"], "5/5"),
            (&["Escape"], "!5/5"),
            (&["G"], "COMPLETED"),
            (&["c"], "c other"),
            (&["c"], "codex"),
            (&["{"], "-One remark"),
            (&["}"], "!-One remark"),
            (&["y"], "copied the comparison of codex"),
            (&["Escape"], "!c other side"),
            (&["y", "Enter"], "copied"),
            (&["e"], "G"),
        ];
        walk(&terminal, steps);
        leave(&terminal);
        let terminal = still(size, "");
        let steps: &[Step] = &[
            (&["Enter"], "ask build REVIEW"),
            (&["g"], "pub fn part() ->"),
            (&[">"], "!pub fn part() ->"),
            (&["<"], "pub fn part() ->"),
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
            (&["w"], "Ctrl-s send"),
            (&["Escape"], "!Ctrl-s send"),
            (&["D"], "put it away?"),
            (&["n"], "no: nothing was sent"),
            (&["Enter"], "v detail"),
            (&["v"], "answers and tools"),
            (&["w"], "Ctrl-s send"),
            (&["Escape"], "!Ctrl-s send"),
            (&["t"], "pane"),
            (&["b"], "it is alive"),
            (&["y"], "resume command"),
            (&["Escape"], "!resume command"),
            (&["n"], "look for something with / first"),
            (&["N"], "look for something with / first"),
            (&["e"], "v detail"),
        ];
        walk(&terminal, steps);
        leave(&terminal);
        // By turns and by matches, where there is more than one of each.
        let terminal = played(size, "");
        // The builder of the run: those of the other scene have no turns to go by.
        let builder: &[Step] = &[
            (&["2"], "live of"),
            (&["/"], "Esc clear"),
            (&["p", "l", "e", "a", "s", "e", "Enter"], "!Esc clear"),
            (&["Enter"], "v detail"),
        ];
        walk(&terminal, builder);
        // Its state comes later than its words.
        terminal.wait_for("waits for a prompt");
        there_and_back(&terminal, &["["], "G");
        walk(&terminal, &[(&["["], "G follows")]);
        there_and_back(&terminal, &["["], "]");
        let steps: &[Step] =
            &[(&["/"], "Esc clear"), (&["c", "e", "n", "t", "s", "Enter"], "3/3"), (&["N"], "2/3"), (&["n"], "3/3")];
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
        let terminal = Terminal::open_as(size, "EDITOR=true PAGER=cat");
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
            (&["?"], "keys · look first"),
            (&["Escape"], "!keys · look first"),
            (&["y"], "copied relay 1"),
            (&["t"], "has no pane"),
            (&["x"], "stop shop?"),
            (&["n"], "no: nothing was sent"),
            (&["d"], "drop this message?"),
            (&["n"], "no: nothing was sent"),
            (&["Enter"], "send relay 1 to codex?"),
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
            (&["Escape"], "!as it will be sent"),
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
            (&["o"], "options · shop"),
            (&["Tab", "Tab", "Tab", "Tab", "Tab", "Tab", "Tab"], "Enter edit"),
            (&["C-g"], "Enter edit"),
            (&["Escape"], "!Tab field"),
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
            &[(&["?"], "keys · a run")],
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
