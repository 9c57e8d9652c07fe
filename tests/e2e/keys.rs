//! Every key of the manual's tables (`dashboard.md` §10), pressed in a real terminal of both sizes, table by table.
//! The run stands still meanwhile: what a key does is seen by a text that comes, or by one that goes.
//! What lies over a screen has its keys in `dialogs`.

mod dialogs;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::demo::trellis;
use super::stuck;
use super::terminal::{NARROW, Terminal, WIDE};

/// Keys, by tmux names, and what stands on the screen afterwards and not before: texts with ` & ` between them, with `!` in
/// front one that is gone.
type Step = (&'static [&'static str], &'static str);

fn holds(screen: &str, texts: &str) -> bool {
    let flat = Terminal::flat(screen);
    texts.split(" & ").all(|text| match text.strip_prefix('!') {
        Some(gone) => !flat.contains(gone),
        None => flat.contains(text),
    })
}

fn walk(terminal: &Terminal, steps: &[Step]) {
    for (keys, texts) in steps {
        // What stands there already would be no work of the key. And Esc has to show before the next key comes: terminals
        // send Alt-x as Esc and x.
        let before = format!("{keys:?} is to bring what is not there yet: {texts}");
        terminal.wait(&before, |screen| !screen.trim().is_empty() && !holds(screen, texts));
        terminal.press_then(keys, texts, |screen| holds(screen, texts));
    }
}

/// The person's programs: the editor puts a line in front of the text, the pager keeps the text.
const PROGRAMS: &str = "EDITOR=$HOME/editor PAGER=$HOME/pager";

/// Puts them in their places.
fn install_programs(terminal: &Terminal) {
    for (name, lines) in [
        ("editor", "{ echo OUTSIDE; cat \"$1\"; } > \"$1.new\"\ncat \"$1.new\" > \"$1\""),
        ("pager", "cp \"$1\" \"$HOME/paged\""),
    ] {
        let file = terminal.folder.path().join(name);
        fs::write(&file, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A key gives the person's pager a text with these words; afterwards the terminal is trellis's again.
fn pages(terminal: &Terminal, keys: &[&str], words: &str) {
    let paged = terminal.folder.path().join("paged");
    let _ = fs::remove_file(&paged);
    let is_paged = |_: &str| fs::read_to_string(&paged).is_ok_and(|text| text.contains(words));
    terminal.press_then(keys, &format!("the pager gets “{words}”"), is_paged);
    // Until then keys are the other program's.
    terminal.wait("the screen again", |screen| terminal.fact("alternate_on") == "1" && !screen.trim().is_empty());
}

/// A run that waits for its reviewer for ever, and the list of runs in view.
fn still(size: (u16, u16), variables: &str) -> Terminal {
    let terminal = Terminal::open_as(size, variables);
    install_programs(&terminal);
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
    install_programs(&terminal);
    let played = trellis(&terminal.home()).args(["demo", "--headless", "--speed", "50"]).output().unwrap();
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    terminal.trellis("demo");
    terminal.wait_for("✓ shop");
    // The second one goes on to the conversation, which has the keys already where it stands beside the list.
    if size == NARROW {
        walk(&terminal, &[(&["Enter"], "completed"), (&["Enter"], "COMPLETED")]);
    } else {
        walk(&terminal, &[(&["Enter"], "▸conversation")]);
    }
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
        // A wide screen shows list, phases, relays and conversation anyway: what has the keys is marked.
        let is_narrow = size == NARROW;
        let pick = |narrow: &'static str, wide: &'static str| if is_narrow { narrow } else { wide };
        let (inside, phases) = (pick("ask build REVIEW", "▸conversation"), pick("phase relays took", "!▸conversation"));
        let (relays, phases_again) =
            (pick("relays of phase 1", "▸ 1 → codex"), pick("phase relays took", "!▸ 1 → codex"));
        let out: Step = if is_narrow { (&["Escape"], "1 going") } else { (&["h"], "!▸conversation") };
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
            (&["Enter"], inside),
            out,
            (&["l"], inside),
            (&["Tab"], phases),
            (&["Tab"], relays),
            (&["BTab"], phases_again),
            (&["!"], "nothing needs you"),
            (&["?"], "help · run"),
            (&["/", "d", "r", "a", "w", "Enter"], "draw everything again & !skip this phase"),
            (&["q"], "!help · run"),
            (&["?"], "help · run"),
            (&["h"], "!help · run"),
            (&["?"], "help · run"),
            (&["?"], "!help · run"),
            (&[":"], "letters filter"),
            (&["s", "k", "i", "p"], "skip this phase & !pause or go on"),
            (&["C-u"], "pause or go on"),
            (&["Escape"], "!Enter do it"),
            (&["m"], "mouse on"),
            (&["m"], "mouse off"),
            (&["q"], "1 run is going"),
            (&["Escape"], "!1 run is going"),
            (&["C-c"], "1 run is going"),
            (&["n"], "!1 run is going"),
        ];
        walk(&terminal, steps);
        draws_everything_again(&terminal, &["C-l"]);
        for back in [&["h"], &["Left"], &["BSpace"]] {
            let steps: &[Step] =
                &[(&["2"], "live of"), (&["Enter"], "v detail"), (back, "!v detail"), (&["1"], "phase 1")];
            walk(&terminal, steps);
            walk(&terminal, &[(&["?"], "help · "), (back, "!help · ")]);
        }
        walk(&terminal, &[(&["2"], "live of"), (&["Right"], "v detail"), (&["1"], "phase 1")]);
        leave(&terminal);
    });
}

/// A key sends words that stand still once more.
fn draws_everything_again(terminal: &Terminal, keys: &[&str]) {
    settle(terminal);
    let sent = terminal.record("sent");
    let again = |_: &str| fs::read(&sent).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains("REVIEW"));
    std::thread::park_timeout(std::time::Duration::from_millis(1_500));
    assert!(!again(""), "what stands still is not sent");
    terminal.press_then(keys, "everything is sent", again);
    terminal.tmux(&["pipe-pane", "-t", "t"]);
}

/// `!` goes to a run that needs a person, from wherever it is pressed.
#[test]
fn the_key_to_the_next_run_that_needs_you() {
    at_both_sizes(|size| {
        let terminal = Terminal::open(size);
        stuck::in_review(&terminal, &stuck::script("", "{ silence = true }"));
        stuck::pause_pair(&terminal.home(), "session_changed");
        terminal.trellis("demo");
        terminal.wait_for("phase 1");
        settle(&terminal);
        let banner = "knows nothing of the old one";
        let steps: &[Step] =
            &[(&["2"], "live of"), (&["!"], banner), (&["3"], "decisions · follows"), (&["!"], banner)];
        walk(&terminal, steps);
        leave(&terminal);
    });
}

/// Low enough that the help scrolls.
#[test]
fn keys_of_the_help_and_of_the_palette() {
    at_both_sizes(|(columns, _)| {
        let terminal = still((columns, 20), "");
        walk(&terminal, &[(&["?"], "help · ")]);
        there_and_back(&terminal, &["j", "Down"], "k");
        there_and_back(&terminal, &["NPage", "Space"], "PPage");
        there_and_back(&terminal, &["j"], "Up");
        there_and_back(&terminal, &["G"], "g");
        walk(&terminal, &[(&["/", "z", "q", "Enter"], "zq"), (&["Escape"], "!help · ")]);
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
        walk(&terminal, &[(&["x"], "stop shop?"), (&["x"], "stopped"), (&["r"], "first answer")]);
        if size == NARROW {
            walk(&terminal, &[(&["1"], "ended")]);
        }
        leave(&terminal);
        let state = terminal.home().join("state.toml");
        let text = fs::read_to_string(&state).unwrap();
        let early = |line: &str| {
            if line.starts_with("looked_at") {
                "looked_at = \"2026-01-01T00:00:00Z\"".to_owned()
            } else {
                line.to_owned()
            }
        };
        let lines: Vec<String> = text.lines().map(early).collect();
        let again = || {
            fs::write(&state, lines.join("\n")).unwrap();
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
            (&["o"], "options · shop"),
            (&["Escape"], "!options · shop"),
            (&["T"], "has no pane"),
            (&["L"], "log · shop"),
            (&["Escape"], "!log · shop"),
            (&["R"], "▸name"),
            (&["C-u"], "!▸name shop"),
            (&["m", "i", "n", "e"], "mine"),
            (&["C-s"], "![ save ]"),
            // Beside the list the messages of the run are offered below its line.
            (&["y"], "the line of mine"),
            (&["Escape"], "!the line of mine"),
            (&["w"], "write to"),
            (&["Escape"], "!write to"),
            (&["f"], "no session was replaced"),
            (&["b"], "both agents are there"),
            (&["+"], "only after the cap"),
            (&["A"], "only the first phase"),
            (&["="], "only after the cap"),
            (&["F"], "nothing waits for"),
            (&["s"], "skip phase 1 of mine?"),
            (&["n"], "no: nothing was sent"),
            (&["a"], "The last fix is not reviewed"),
            (&["n"], "no: nothing was sent"),
            (&["r"], "review phase 1 of mine again, count from 0?"),
            (&["n"], "no: nothing was sent"),
            (&["D"], "stop it first"),
            (&["p"], "paused by you"),
            (&["p"], "!paused by you"),
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

/// `F`: what came is relayed now, although more could follow for a while.
#[test]
fn the_key_that_waits_no_longer() {
    at_both_sizes(|size| {
        let terminal = Terminal::open(size);
        let script = stuck::script("", "{ say = \"One remark: give the part a name.\" }");
        let script = script.replace("debounce = 600", "debounce = 200000");
        let file = terminal.folder.path().join("script.toml");
        fs::write(&file, script).unwrap();
        terminal.trellis(&format!("demo --speed 20 --script {}", file.display()));
        let flat = |screen: &str| Terminal::flat(screen);
        terminal.wait("its review", |screen| flat(screen).contains("codex has answered"));
        let asks = "relay now, without waiting longer?";
        terminal.press_then(&["F"], asks, |screen| flat(screen).contains(asks));
        let goes = |screen: &str| !flat(screen).contains(asks) && !flat(screen).contains("codex has answered");
        terminal.press_then(&["F"], "relay 2", |screen| goes(screen) && flat(screen).contains("relay 2 of 10"));
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
            (&["n"], "[ start ] & new run"),
            (&["Escape"], "![ start ]"),
            (&["N"], "[ start ] & new pair"),
            (&["Escape"], "![ start ]"),
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
        let terminal = played(size, PROGRAMS);
        let steps: &[Step] = &[
            (&["v"], "answers and tools"),
            (&["v"], "and thinking"),
            (&["v"], "!and thinking"),
            (&["g"], "Please build the cart"),
            (&["G"], "COMPLETED"),
            // By phase and by relay, from the end to the beginning and back.
            (&["["], "`src/checkout.rs` adds up the"),
            (&["["], "Prices are whole cents"),
            (&["["], "The cart is in"),
        ];
        walk(&terminal, steps);
        // On a wide screen the beginnings of the later ones are in view already: one that goes tells as much.
        let steps: &[Step] = if size == NARROW {
            &[(&["]"], "Prices are whole cents"), (&["]"], "`src/checkout.rs` adds up the"), (&["]"], "COMPLETED")]
        } else {
            &[(&["]"], "!Adding the same article twice"), (&["]"], "!Whole cents, no rounding"), (&["]"], "COMPLETED")]
        };
        walk(&terminal, steps);
        there_and_back(&terminal, &["{"], "G");
        walk(&terminal, &[(&["{"], "G newest")]);
        there_and_back(&terminal, &["{"], "}");
        let steps: &[Step] = &[
            (&["G"], "!G newest"),
            (&["/"], "Esc clear"),
            (&["c", "e", "n", "t", "s", "Enter"], "5/5"),
            (&["N"], "4/5"),
            (&["n"], "5/5"),
            (&["Escape"], "!5/5"),
        ];
        walk(&terminal, steps);
        // The newest answer is what is compared and opened.
        terminal.keys(&["G"]);
        settle(&terminal);
        let is_narrow = size == NARROW;
        let steps: &[Step] = &[
            (&["c"], if is_narrow { "c other & claude" } else { "c other side & claude: " }),
            (&["c"], if is_narrow { "c other & codex" } else { "c other side & codex: " }),
            (&["{"], "- One remark"),
            (&["}"], "!- One remark"),
            (&["y"], "copied the comparison of codex"),
            (&["Escape"], "!c other"),
            (&["y", "Enter"], "copied & !of codex"),
        ];
        walk(&terminal, steps);
        pages(&terminal, &["e"], "COMPLETED");
        leave(&terminal);
        let terminal = still(size, "");
        let steps: &[Step] = &[
            (&["Enter"], if size == NARROW { "ask build REVIEW" } else { "▸conversation" }),
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
        let terminal = still(size, PROGRAMS);
        let steps: &[Step] = &[
            (&["2"], "live of"),
            (&["n"], "[ start ] & new run"),
            (&["Escape"], "![ start ]"),
            (&["N"], "[ start ] & new pair"),
            (&["Escape"], "![ start ]"),
            (&["t"], "has no pane"),
            (&["b"], "it is alive"),
            (&["R"], "▸name"),
            (&["C-u", "s", "i", "d", "e"], "▸name side"),
            (&["C-s"], "![ save ]"),
            (&["y"], "▸id"),
            (&["j"], "▸path of the transcript"),
            (&["Enter"], "copied the transcript's path"),
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
            (&["n"], "look for something with / first"),
            (&["t"], "has no pane"),
            (&["N"], "look for something with / first"),
            (&["b"], "it is alive"),
            (&["y"], "resume command"),
            (&["Escape"], "!resume command"),
        ];
        walk(&terminal, steps);
        pages(&terminal, &["e"], "part");
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
        walk(&terminal, &[(&["["], "G newest")]);
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
        let terminal = still(size, PROGRAMS);
        let steps: &[Step] = &[
            (&["3"], "decisions · follows"),
            (&["."], "everything · "),
            (&["."], "decisions · "),
            (&["y"], "copied the line"),
        ];
        walk(&terminal, steps);
        pages(&terminal, &["e"], "(");
        let steps: &[Step] = &[(&["/"], "Esc clear"), (&["r", "e", "l", "a", "y", "Enter"], "of /relay · ")];
        walk(&terminal, steps);
        // To the match before, and back to the one after it.
        there_and_back(&terminal, &["N"], "n");
        let steps: &[Step] = &[(&["Escape"], "!of /relay"), (&["Escape"], "!decisions · ")];
        walk(&terminal, steps);
        leave(&terminal);
    });
}
