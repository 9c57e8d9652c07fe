//! The dashboard on terminals of several kinds, and what it writes to them: signs, colours, bytes while nothing changes.

use std::path::Path;
use std::time::{Duration, Instant};

use super::demo::trellis;
use super::stuck;
use super::terminal::{NARROW, PATIENCE, Terminal, WIDE};

/// Opens the run of a demo, looks at its help, and leaves with a clean terminal; gives the frame of the run.
fn a_look_around(terminal: &Terminal, ascii: bool) -> String {
    terminal.trellis("demo --speed 0.5");
    terminal.wait_for("phase 1");
    terminal.keys(&["Enter"]);
    let (steps, rule) = if ascii { ("ask -", '-') } else { ("ask ─", '─') };
    let run = terminal.wait("the run", |screen| screen.contains(steps) && screen.contains(rule));
    terminal.press_for(&["?"], "help · ".trim_end_matches(if ascii { "· " } else { "" }));
    terminal.press_until(&["Escape"], "the run", |screen| !screen.contains("keys "));
    terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
    terminal.run("clear; echo can be $((40 + 2)) typed");
    terminal.wait_for("can be 42 typed");
    run
}

#[test]
fn it_works_on_xterm_screen_and_tmux() {
    for term in ["xterm", "screen", "tmux-256color"] {
        for size in [NARROW, WIDE] {
            let run = a_look_around(&Terminal::open_as(size, &format!("TERM={term}")), false);
            assert!(run.contains('●'), "{term}:\n{run}");
        }
    }
}

#[test]
fn it_works_in_ascii_on_a_console_an_old_terminal_and_a_locale_without_more() {
    for variables in ["TERM=linux", "TERM=vt100", "TERM=dumb", "LANG=C LC_ALL=C"] {
        let terminal = Terminal::open_as(NARROW, variables);
        let run = a_look_around(&terminal, true);
        assert!(run.contains("* going") && !run.contains(['●', '─', '│', '▸']), "{variables}:\n{run}");
    }
}

/// A dashboard in no pane, and one where there is no tmux at all: both say so, and what to do.
#[test]
fn without_tmux_the_first_screens_say_what_to_do() {
    for size in [NARROW, WIDE] {
        let terminal = Terminal::open(size);
        for (path, words, lists) in [
            ("/usr/bin:/bin", "This is no tmux pane.", "though this is none"),
            ("/nowhere", "tmux is not installed", "tmux is not installed"),
        ] {
            terminal.run(&format!("export PATH={path}"));
            terminal.trellis("");
            let says = |words: &'static str| move |screen: &str| Terminal::flat(screen).contains(words);
            terminal.wait(words, says(words));
            terminal.wait("the other ways", says("trellis runs them headless"));
            terminal.keep(if path == "/nowhere" { "no-tmux-runs" } else { "outside-tmux-runs" });
            terminal.press_until(&["2"], lists, says(lists));
            terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
        }
        let inside = Terminal::open(size);
        inside.know_tmux();
        inside.trellis("");
        inside.wait("two panes", |screen| Terminal::flat(screen).contains("best in two panes of a tmux window"));
    }
}

/// Parameters of every sequence that sets looks (`ESC [ … m`).
fn looks(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let sequences = text.split("\u{1b}[").skip(1);
    sequences
        .filter_map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            rest[end..].starts_with('m').then(|| rest[..end].to_owned())
        })
        .collect()
}

fn has_color(looks: &[String]) -> bool {
    looks.iter().flat_map(|one| one.split(';')).any(|number| {
        let number: u32 = number.parse().unwrap_or(0);
        matches!(number, 30..=38 | 40..=48 | 90..=107)
    })
}

#[test]
fn a_terminal_without_colours_gets_none_and_others_the_plain_ones() {
    let all = [
        ("NO_COLOR=1", false),
        ("TERM=dumb", false),
        ("TERM=vt100", false),
        ("TERM=linux", true),
        ("TERM=xterm", true),
    ];
    for (variables, coloured) in all {
        let terminal = Terminal::open_as(NARROW, variables);
        let file = terminal.record("bytes");
        a_look_around(&terminal, matches!(variables, "TERM=dumb" | "TERM=vt100" | "TERM=linux"));
        let looks = looks(&std::fs::read(file).unwrap());
        assert!(!looks.is_empty());
        assert_eq!(has_color(&looks), coloured, "{variables}: {looks:?}");
        let indexed = looks.iter().any(|one| one.split(';').any(|number| matches!(number, "38" | "48")));
        assert!(!indexed, "{variables}: {looks:?}");
    }
}

/// U21: GNU screen without `altscreen`, which tmux can play.
#[test]
fn u21_without_an_alternate_screen_the_first_frame_and_the_shell_after_it_are_clean() {
    for size in [NARROW, WIDE] {
        let terminal = Terminal::open(size);
        terminal.tmux(&["set-option", "-w", "-t", "t", "alternate-screen", "off"]);
        terminal.run("for i in $(seq 1 60); do echo an old line $i; done");
        terminal.wait_for("an old line 60");
        terminal.trellis("demo --speed 0.5");
        let shown = terminal.wait_for("phase 1");
        assert!(!shown.contains("an old line"), "{shown}");
        assert_eq!(terminal.fact("alternate_on"), "0");
        terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
        let left = terminal.wait_for("ready$");
        assert!(!left.contains("phase 1") && !left.contains("an old line"), "{left}");
        assert_eq!(terminal.fact("cursor_flag"), "1");
    }
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).unwrap().len()
}

/// Waits until nothing more is written for a while.
fn settled(file: &Path) -> u64 {
    let end = Instant::now() + PATIENCE;
    let (mut last, mut since) = (length(file), Instant::now());
    while since.elapsed() < Duration::from_secs(2) {
        assert!(Instant::now() < end, "it writes all the time");
        std::thread::park_timeout(Duration::from_millis(50));
        let now = length(file);
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    last
}

/// How long nothing may be written; a minute when it is asked for.
fn span() -> Duration {
    let seconds = std::env::var("TRELLIS_IDLE_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(5))
}

/// With nothing visible that counts time not a byte goes to the terminal: not from a timer, not for what an agent writes
/// below the help, not for a publication that changes no cell.
#[test]
fn an_idle_dashboard_writes_nothing() {
    let empty = Terminal::open(NARROW);
    empty.trellis("");
    empty.wait_for("No run yet");
    let playing = Terminal::open(NARROW);
    let (agents, file) = (playing.folder.path().join("script.toml"), playing.record("bytes"));
    std::fs::write(&agents, stuck::script("", "{ silence = true }")).unwrap();
    playing.trellis(&format!("demo --script {}", agents.display()));
    playing.wait_for("phase 1");
    playing.press_for(&["?"], "keys");
    let empty_file = empty.record("bytes");
    let before = (settled(&empty_file), settled(&file));
    let until = Instant::now() + span();
    while Instant::now() < until {
        std::thread::park_timeout(Duration::from_millis(200));
    }
    assert_eq!((length(&empty_file), length(&file)), before);
    // It is alive all the same.
    playing.press_until(&["Escape"], "the list", |screen| screen.contains("shop"));
    empty.press_for(&["?"], "keys");
    assert!(length(&empty_file) > before.0 && length(&file) > before.1);
}

/// Moves what the records of a home tell three days back: what they show of it counts no time that passes now.
fn age(home: &Path) {
    for folder in ["checklist-runs", "pairs"] {
        let paths = std::fs::read_dir(home.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        for path in paths.filter(|path| path.extension().is_some_and(|kind| kind == "json")) {
            let text = std::fs::read_to_string(&path).unwrap();
            let day = text.split("\"created_at\":\"").nth(1).unwrap().get(..10).unwrap().to_owned();
            let before = day.parse::<jiff::civil::Date>().unwrap() - jiff::ToSpan::days(3);
            std::fs::write(&path, text.replace(&format!("\"{day}T"), &format!("\"{before}T"))).unwrap();
        }
    }
}

/// A run that has ended, and one that is paused, in the list and by themselves, from the first frame on.
#[test]
fn an_idle_dashboard_over_runs_that_stand_still_writes_nothing() {
    let watched: Vec<_> = [(NARROW, false), (WIDE, false), (NARROW, true), (WIDE, true)]
        .into_iter()
        .map(|(size, is_paused)| {
            let terminal = Terminal::open(size);
            if is_paused {
                stuck::in_review(&terminal, &stuck::script("", "{ silence = true }"));
                stuck::pause_pair(&terminal.home(), "manual");
            } else {
                let played = trellis(&terminal.home()).args(["demo", "--headless", "--speed", "50"]).output().unwrap();
                assert!(played.status.success());
            }
            age(&terminal.home());
            terminal.trellis("");
            terminal.wait_for(if is_paused { "‖ shop" } else { "✓ shop" });
            if size == WIDE {
                terminal.press_for(&["Enter"], if is_paused { "paused by you" } else { "completed" });
            }
            terminal.wait("its age", |screen| screen.contains("3d"));
            let file = terminal.record("bytes");
            (terminal, file)
        })
        .collect();
    let before: Vec<u64> = watched.iter().map(|(_, file)| settled(file)).collect();
    let until = Instant::now() + span();
    while Instant::now() < until {
        std::thread::park_timeout(Duration::from_millis(200));
    }
    assert_eq!(watched.iter().map(|(_, file)| length(file)).collect::<Vec<_>>(), before);
    for ((terminal, file), before) in watched.iter().zip(before) {
        terminal.press_for(&["?"], "keys");
        assert!(length(file) > before, "it is alive all the same");
    }
}

/// Resizes that follow each other at once end in the frame of the last size.
#[test]
fn a_storm_of_resizes_ends_in_a_whole_frame() {
    let terminal = Terminal::open(WIDE);
    stuck::in_review(&terminal, &stuck::script("", "{ silence = true }"));
    terminal.trellis("demo");
    terminal.wait_for("phase 1");
    terminal.keys(&["Enter"]);
    terminal.wait_for("conversation");
    for step in 0..40_u16 {
        let (columns, rows) = (120 - step * 2, 40 - step / 2);
        terminal.tmux(&["resize-window", "-t", "t", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }
    terminal.wait("the frame of the last size", |screen| {
        let lines: Vec<&str> = screen.lines().collect();
        lines.len() == 21
            && lines.first().is_some_and(|line| line.starts_with(" shop · phase 1"))
            && lines.last().is_some_and(|line| line.trim_end().ends_with("? help"))
            && !screen.contains('┬')
    });
}

#[test]
fn frames_come_as_synchronised_updates() {
    let terminal = Terminal::open(NARROW);
    let file = terminal.record("bytes");
    terminal.trellis("demo --speed 5");
    terminal.wait_for("phase 2");
    terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
    let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
    let (begun, ended) = (text.matches("\u{1b}[?2026h").count(), text.matches("\u{1b}[?2026l").count());
    assert!(begun > 5 && ended >= begun, "{begun} begun, {ended} ended");
    for frame in text.split("\u{1b}[?2026h").skip(1) {
        assert!(frame.contains("\u{1b}[?2026l"), "a frame that does not end");
    }
}

#[test]
fn the_mouse_is_asked_for_by_its_key_alone_and_that_is_remembered() {
    let terminal = Terminal::open(NARROW);
    terminal.trellis("demo --speed 0.5");
    terminal.wait_for("phase 1");
    assert_eq!(terminal.fact("mouse_any_flag"), "0");
    terminal.press_for(&["m"], "mouse on");
    terminal.wait("the mouse", |_| terminal.fact("mouse_any_flag") == "1");
    // A click on `?` in the last row, as a terminal reports it.
    let screen =
        terminal.wait("the footer", |screen| screen.lines().last().is_some_and(|line| line.contains("? help")));
    let last = screen.lines().last().unwrap();
    let column = last[..last.find("? help").unwrap()].chars().count() + 1;
    terminal.tmux(&["send-keys", "-t", "t", "-l", &format!("\u{1b}[<0;{column};20M")]);
    terminal.wait_for("keys");
    terminal.press_until(&["Escape"], "the list", |screen| screen.contains("shop"));
    terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
    assert_eq!(terminal.fact("mouse_any_flag"), "0");
    terminal.trellis("demo --speed 0.5");
    terminal.wait_for("phase 1");
    assert_eq!(terminal.fact("mouse_any_flag"), "1", "it was on when it was left");
    terminal.press_for(&["m"], "mouse off");
    terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
}

/// Mouse reports of other kinds than those asked for, with places that do not exist: no byte of them ends anything.
#[test]
fn mouse_reports_of_any_kind_and_any_place_do_no_harm() {
    let terminal = Terminal::open(NARROW);
    terminal.trellis("demo --speed 0.5");
    terminal.wait_for("phase 1");
    let raw = |bytes: &[u8]| {
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:x}")).collect();
        let mut arguments = vec!["send-keys", "-t", "t", "-H"];
        arguments.extend(hex.iter().map(String::as_str));
        terminal.tmux(&arguments);
    };
    for mouse in ["off", "on"] {
        for place in [[0, 0], [31, 33], [33, 0], [32, 32], [255, 255], [27, 91]] {
            raw(&[b"\x1b[M ".as_slice(), &place].concat());
            raw(&[b"\x1b[M\x00".as_slice(), &place].concat());
        }
        for report in ["\x1b[<0;0;0M", "\x1b[<0;0;5m", "\x1b[32;0;0M", "\x1b[32;1;0M", "\x1b[0;0R", "\x1b[<99999;1;1M"]
        {
            raw(report.as_bytes());
        }
        // What is cut short is waited for by the parser; this ends it.
        raw(b"    \x1b\x1b");
        terminal.press_until(&["?"], "the help", |screen| screen.contains("help · run"));
        terminal.press_until(&["Escape"], "the list", |screen| screen.contains("shop"));
        if mouse == "off" {
            terminal.press_for(&["m"], "mouse on");
        }
    }
    terminal.press_for(&["m"], "mouse off");
    terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
}
