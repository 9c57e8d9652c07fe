//! The pictures of README and manual, from real frames: `TRELLIS_PICTURES=1 cargo test --test e2e pictures` puts them in
//! their places. Without that each is compared with the frame of today: its words, but for times and what they cut.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::terminal::{NARROW, Terminal, WIDE};

/// Wide enough for a line of the log.
const MEDIUM: (u16, u16) = (60, 24);

fn draw(terminal: &Terminal, files: &[&str]) {
    for file in files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        if std::env::var_os("TRELLIS_PICTURES").is_some() {
            fs::write(path, at_rest(terminal)).unwrap();
            continue;
        }
        let kept = still_words(&text_of(&fs::read_to_string(path).unwrap()));
        let what = format!("{file} shows what is drawn today; else draw it anew with TRELLIS_PICTURES=1:\n{kept}");
        terminal.wait(&what, |_| still_words(&text_of(&terminal.picture("trellis"))) == kept);
    }
}

/// The picture of a screen that has come to rest: its words are the same two seconds later.
fn at_rest(terminal: &Terminal) -> String {
    let mut last = terminal.picture("trellis");
    loop {
        std::thread::park_timeout(std::time::Duration::from_secs(2));
        let now = terminal.picture("trellis");
        if still_words(&text_of(&now)) == still_words(&text_of(&last)) {
            return now;
        }
        last = now;
    }
}

/// The text of a picture, row by row.
fn text_of(svg: &str) -> String {
    let mut rows: BTreeMap<u32, BTreeMap<u32, String>> = BTreeMap::new();
    for element in svg.split("<text ").skip(1) {
        let number = |name: &str| -> u32 {
            let from = element.find(name).unwrap() + name.len();
            element[from..].split('"').next().unwrap().parse().unwrap()
        };
        let words = element.split('>').nth(1).unwrap().split('<').next().unwrap();
        let words = words.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        rows.entry(number("y=\"")).or_default().insert(number("x=\""), words);
    }
    let mut out = String::new();
    for cells in rows.values() {
        let mut end = 0;
        for (x, sign) in cells {
            // A cell is nine wide; a gap is a blank at least.
            if *x > end {
                out.push(' ');
            }
            out.push_str(sign);
            end = x + 9;
        }
        out.push('\n');
    }
    out
}

/// The words without times, without what is cut to make room for them, and without what numbers say.
fn still_words(text: &str) -> String {
    let is_time = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit()) && (word.ends_with(['s', 'm', 'h']) || word.contains(':'))
    };
    let words = text.split_whitespace().filter(|word| !is_time(word) && !word.contains('…'));
    let masked = words.map(|word| {
        let mut out = String::new();
        for c in word.chars() {
            match (c.is_ascii_digit(), out.ends_with('0')) {
                (true, true) => {}
                (true, false) => out.push('0'),
                (false, _) => out.push(c),
            }
        }
        out
    });
    masked.collect::<Vec<_>>().join(" ")
}

/// A demo in its third phase, in a review that does not end.
fn demo(size: (u16, u16)) -> Terminal {
    let script = include_str!("../../assets/demo/checklist.toml");
    let last = "{ say = \"The sum is right now. One thing is missing: a test that would have caught it.\" }";
    assert!(script.contains(last), "the demo goes another way now");
    let terminal = Terminal::open(size);
    let file = terminal.folder.path().join("script.toml");
    fs::write(&file, script.replace(last, "{ silence = true }")).unwrap();
    terminal.trellis(&format!("demo --speed 4 --script {}", file.display()));
    terminal.wait_for("phase 1");
    terminal.keys(&["Enter"]);
    terminal.wait("a third phase", |screen| {
        screen.contains("phase 3") && screen.contains("relay 3 of 10") && screen.contains("git diff")
    });
    terminal
}

#[test]
fn pictures_of_a_side_pane() {
    let terminal = demo(NARROW);
    draw(&terminal, &["assets/run.svg", "docs/pictures/run.svg"]);
    terminal.press_for(&["c"], "c other");
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
    terminal.press_for(&["?"], "help · run");
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
