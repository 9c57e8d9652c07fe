//! Keys that bring a real pane before the person, and those that bring dead agents back, in a terminal of both sizes. The
//! agents are stand-ins in windows of their own.

use std::fs;

use crate::launch;
use crate::terminal::{NARROW, Terminal, WIDE};

/// The window that a person sees: a target `t` alone may mean the window whose name begins so.
fn in_front(terminal: &Terminal) -> String {
    let told = terminal.tmux(&["list-windows", "-t", "=t:", "-f", "#{window_active}", "-F", "#{window_index}"]).stdout;
    String::from_utf8_lossy(&told).trim().to_owned()
}

/// Presses a key of the dashboard, and waits until this window is in front; then the dashboard is again.
fn goes_to(terminal: &Terminal, key: &str, window: &str) {
    terminal.press_then(&[key], &format!("window {window}"), |_| in_front(terminal) == window);
    terminal.tmux(&["select-window", "-t", "t:0"]);
}

/// Moves to the row of an agent's session. The rows change places while the sessions are looked at.
fn select(terminal: &Terminal, agent: &str) {
    let names = |line: &str| line.chars().take(46).collect::<String>().contains(agent);
    terminal.wait(&format!("the row of {agent}"), |screen| {
        let own = screen.lines().position(names);
        let at = screen.lines().position(|line| line.starts_with('▸'));
        if own != at {
            terminal.keys(&[if own > at { "j" } else { "k" }]);
        }
        own.is_some() && own == at
    });
}

/// A run of both stand-ins that waits for its first answer, with its screen open: claude is in window 1, codex in window 2.
fn begun(size: (u16, u16)) -> Option<Terminal> {
    let terminal = launch::terminal(size)?;
    terminal.tmux(&["set-environment", "-g", "FAKE_FOLDER", "1"]);
    for (agent, count) in [("claude", 1), ("codex", 2)] {
        terminal.trellis(&format!("session new --agent {agent} --prompt Hello"));
        terminal.wait("its start", |screen| launch::starts(&terminal).len() == count && screen.contains("ended 0"));
    }
    terminal.trellis("");
    terminal.wait_for("No run yet");
    terminal.press_then(&["n"], "the form", |screen| screen.contains("new run"));
    for (field, agent) in [("builds", "claude"), ("reviews", "codex")] {
        // No agent stands in this window: each side is picked.
        terminal.press_for(&["Tab"], &format!("▸{field}"));
        terminal.press_then(&["Enter"], "the picker", |screen| screen.contains(&format!("who {field}")));
        terminal.keys(&[agent]);
        terminal.wait("the filter", |screen| screen.contains(&format!(": {agent}")));
        terminal.press_then(&["Enter"], "the side", |screen| {
            screen.lines().any(|line| line.contains(field) && line.contains(agent)) && !screen.contains("who ")
        });
    }
    // Nothing is to be sent: what is asked first is left to the person.
    terminal.press_then(&["Tab", "Tab", "Tab", "Tab"], "its first phase", |screen| screen.contains("▸phase 1"));
    terminal.press_until(&["Space"], "the next answer", |screen| screen.contains("‹ claude's next answer"));
    terminal.press_then(&["C-s"], "its first wait", |screen| screen.contains("first answer"));
    Some(terminal)
}

#[test]
fn keys_that_go_to_the_panes_of_a_run_and_of_a_session() {
    for size in [NARROW, WIDE] {
        let Some(terminal) = begun(size) else { return };
        goes_to(&terminal, "t", "1");
        goes_to(&terminal, "T", "2");
        // The other way round, so that it is not the one that was in front last.
        goes_to(&terminal, "t", "1");
        terminal.press_then(&["2"], "the sessions", |screen| screen.contains("live of"));
        for (agent, window) in [("claude", "1"), ("codex", "2"), ("claude", "1")] {
            select(&terminal, agent);
            goes_to(&terminal, "t", window);
        }
        terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
    }
}

#[test]
fn keys_that_bring_a_session_back_and_then_the_other_side_of_its_run() {
    for size in [NARROW, WIDE] {
        let Some(terminal) = begun(size) else { return };
        let end = terminal.folder.path().join("fake/end");
        fs::write(&end, "").unwrap();
        terminal.wait("both are gone", |screen| screen.contains("is gone") && screen.contains("bring back"));
        fs::remove_file(&end).unwrap();
        terminal.press_then(&["2"], "the sessions", |screen| screen.contains("0 live of"));
        terminal.press_then(&["b"], "one that lives", |screen| screen.contains("1 live of"));
        let resumed = |at: usize| {
            launch::starts(&terminal)
                .get(at)
                .is_some_and(|words| words.iter().any(|word| word.trim_start_matches('-') == "resume"))
        };
        terminal.wait("its start", |_| resumed(2));
        terminal.press_then(&["1"], "the runs", |screen| !screen.contains("live of"));
        terminal.wait("what is left", |screen| screen.contains("is gone"));
        // The keys of a banner count only after it was in view for a moment.
        std::thread::park_timeout(std::time::Duration::from_millis(1_500));
        terminal.press_then(&["b"], "the other one", |_| resumed(3));
        terminal.wait("a run that goes on", |screen| screen.contains("first answer") && !screen.contains("is gone"));
        assert_eq!(launch::starts(&terminal).len(), 4, "each once");
        terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
    }
}

/// The banner of a message that a person's own words in the box keep back, and its keys.
#[test]
fn a_message_that_is_held_says_why_and_where() {
    for size in [NARROW, WIDE] {
        let Some(terminal) = begun(size) else { return };
        fs::write(terminal.folder.path().join("fake/box"), "words of mine").unwrap();
        let drawn = || {
            let pane = terminal.tmux(&["capture-pane", "-p", "-t", "=t:1"]).stdout;
            String::from_utf8_lossy(&pane).contains("words of mine")
        };
        terminal.wait("a box that is not empty", |_| drawn());
        terminal.press_then(&["A"], "a question", |screen| screen.contains("ask claude for the phase now?"));
        terminal.keys(&["y"]);
        let shown = terminal.wait("its banner", |screen| {
            let words = Terminal::flat(screen);
            words.contains("to claude is held") && words.contains("unsent text in claude's input box")
        });
        assert!(shown.contains("needs you"), "{shown}");
        terminal.keep("banner-held");
        // The keys of a banner count only after it was in view for a moment.
        std::thread::park_timeout(std::time::Duration::from_millis(1_500));
        goes_to(&terminal, "t", "1");
        let says = |words: &'static str| move |screen: &str| Terminal::flat(screen).contains(words);
        terminal.press_then(&["p"], "a look", says("looks at everything"));
        assert!(drawn(), "nothing was typed into it");
        // A copy leaves it to the person: from then on it is theirs to paste.
        terminal.press_then(&["y"], "a copy", says("paste this in claude's pane"));
        std::thread::park_timeout(std::time::Duration::from_millis(1_500));
        terminal.press_then(&["x"], "a question", |screen| screen.contains("stop "));
        terminal.press_then(&["y"], "the end of the run", says("stopped"));
        assert!(drawn());
        terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
    }
}

/// A person gives `/clear` in the implementer's pane; `f` lets the run go on with the session that came of it.
#[test]
fn a_session_that_was_replaced_is_followed_when_a_person_says_so() {
    const FRESH: &str = "55555555-2222-4333-8444-555555555555";
    for size in [NARROW, WIDE] {
        let Some(terminal) = begun(size) else { return };
        let record = || {
            let runs = fs::read_dir(terminal.home().join("checklist-runs")).unwrap();
            let file =
                runs.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|end| end == "json"));
            serde_json::from_slice::<serde_json::Value>(&fs::read(file.unwrap()).unwrap()).unwrap()
        };
        let old = record()["implementer"]["session_id"].clone();
        assert_ne!(old, FRESH);
        fs::write(terminal.folder.path().join("fake/session"), FRESH).unwrap();
        terminal.wait("its banner", |screen| {
            let words = Terminal::flat(screen);
            words.contains("changed its session") && words.contains("knows nothing of the old one")
        });
        assert_eq!(record()["implementer"]["session_id"], old, "never followed by itself");
        terminal.keep("banner-session_changed-followed");
        // The keys of a banner count only after it was in view for a moment.
        std::thread::park_timeout(std::time::Duration::from_millis(1_500));
        terminal.press_then(&["f"], "the new session", |_| record()["implementer"]["session_id"] == FRESH);
        terminal.wait("a run that goes on", |screen| !Terminal::flat(screen).contains("changed its session"));
        terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
    }
}
