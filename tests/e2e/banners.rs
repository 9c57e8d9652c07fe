//! Every reason for which a run needs a person, in a real terminal of both sizes: its banner, and each of its keys pressed.
//! The scenes lead to most of them; the others are written into the records of a run that stands still.

use super::stuck;
use super::terminal::{NARROW, Terminal, WIDE};

/// A key and what stands on the screen after it. Esc or the like in between is a key of its own.
type Press = (&'static [&'static str], &'static str);

/// `t` in a demo: its agents have no pane, and that is said.
const PANE: Press = (&["t"], "✗");
/// `x` asks; another key is no.
const STOP: Press = (&["x"], "stop shop?");
const NO: Press = (&["n"], "no: nothing was sent");
const WRITE: Press = (&["w"], "write to");
/// Out of a dialog: the run is in view again.
const BACK: Press = (&["Escape"], "! needs you");

/// Presses each, after the banner is in view; the last one leads away from it.
fn banner(terminal: &Terminal, name: &str, says: &[&str], presses: &[Press], last: Press) {
    terminal.wait_for("phase 1");
    // Beside the list stands what is asked of a look; Enter would lead into it.
    if name != "look_first" || terminal.fact("pane_width") == NARROW.0.to_string() {
        terminal.keys(&["Enter"]);
    }
    for words in says {
        terminal.wait(words, |screen| Terminal::flat(screen).contains(words));
    }
    terminal.keep(&format!("banner-{name}"));
    // The keys of a banner count only after it was in view for a moment.
    std::thread::park_timeout(std::time::Duration::from_millis(800));
    for (keys, text) in presses {
        terminal.press_then(keys, text, |screen| Terminal::flat(screen).contains(text));
    }
    let (keys, text) = last;
    let holds = |screen: &str| Terminal::flat(screen).contains(text);
    if keys == ["p"] && text != "going" {
        // Pressed once: it makes the run go, and would pause it when it is pressed again.
        terminal.press_then(keys, text, holds);
    } else {
        terminal.press_until(keys, text, holds);
    }
    terminal.keep(&format!("banner-{name}-after"));
}

fn scene(size: (u16, u16), name: &str) -> Terminal {
    Terminal::running(size, &format!("demo --speed 15 --scene {name}"))
}

/// A run that stands still in review, its records changed while nobody drives.
fn written(size: (u16, u16), settings: &str, change: impl Fn(&std::path::Path)) -> Terminal {
    let terminal = Terminal::open(size);
    stuck::in_review(&terminal, &stuck::script(settings, "{ silence = true }"));
    change(&terminal.home());
    terminal.trellis("demo");
    terminal
}

fn at_both_sizes(test: impl Fn((u16, u16))) {
    for size in [NARROW, WIDE] {
        test(size);
    }
}

#[test]
fn phase_not_converged() {
    at_both_sizes(|size| {
        let terminal = scene(size, "no-agreement");
        let presses: &[Press] = &[
            (&["+"], "more relays · shop"),
            BACK,
            (&["a"], "accept phase 1 of shop?"),
            NO,
            (&["s"], "skip phase 1 of shop?"),
            NO,
            WRITE,
            BACK,
            STOP,
            NO,
            PANE,
        ];
        banner(&terminal, "phase_not_converged", &["no agreement after 6 relays"], presses, (&["r"], "going"));
        // `p` does what `r` does.
        let terminal = scene(size, "no-agreement");
        let says = ["no agreement after 6 relays"];
        banner(&terminal, "phase_not_converged-p", &says, &[], (&["p"], "going"));
    });
}

#[test]
fn near_miss() {
    at_both_sizes(|size| {
        let terminal = scene(size, "near-miss");
        let presses: &[Press] = &[(&["a"], "accept phase 1 of shop?"), NO, WRITE, BACK, STOP, NO];
        banner(
            &terminal,
            "near_miss",
            &["codex nearly approved", "close to LGTM"],
            presses,
            (&["p"], "relay 2 to claude"),
        );
    });
}

#[test]
fn pair_stopped() {
    at_both_sizes(|size| {
        let terminal = written(size, "", |home| stuck::pause_run(home, "pair_stopped", Some("manual")));
        let presses: &[Press] = &[(&["s"], "skip phase 1 of shop?"), NO, STOP, NO];
        banner(&terminal, "pair_stopped", &["its review was stopped", "count 0"], presses, (&["r"], "going"));
    });
}

#[test]
fn review_start_failed() {
    at_both_sizes(|size| {
        let terminal = written(size, "", |home| stuck::pause_run(home, "review_start_failed", Some("peer_error")));
        let presses: &[Press] = &[(&["s"], "skip phase 1 of shop?"), NO, STOP, NO];
        banner(&terminal, "review_start_failed", &["its review did not start"], presses, (&["r"], "going"));
    });
}

#[test]
fn phase_limit() {
    at_both_sizes(|size| {
        let terminal = Terminal::open(size);
        let script = stuck::script("max_phases = 1", "{ say = \"Good.\\n\\nLGTM\" }");
        std::fs::write(terminal.folder.path().join("script.toml"), script).unwrap();
        terminal.trellis(&format!("demo --speed 15 --script {}", terminal.folder.path().join("script.toml").display()));
        banner(
            &terminal,
            "phase_limit",
            &["1 phase went through", "asks claude for the next"],
            &[STOP, NO],
            (&["p"], "going"),
        );
    });
}

#[test]
fn user_typed() {
    at_both_sizes(|size| {
        let terminal = scene(size, "typed");
        let presses: &[Press] = &[WRITE, BACK, PANE, STOP, NO];
        banner(
            &terminal,
            "user_typed",
            &["you wrote to claude", "put the date first"],
            presses,
            (&["p"], "goes on, as you said"),
        );
    });
}

#[test]
fn no_answer() {
    at_both_sizes(|size| {
        let terminal = scene(size, "no-answer");
        banner(&terminal, "no_answer", &["codex gave no answer"], &[PANE, STOP, NO], (&["p"], "asked codex to go on"));
    });
}

#[test]
fn look_first() {
    at_both_sizes(|size| {
        let terminal = scene(size, "look-first");
        let says = ["Relay 1 from claude to codex waits for your look.", "Enter look"];
        let presses: &[Press] = &[(&["y"], "copied relay 1"), STOP, NO, PANE];
        banner(&terminal, "look_first", &says, presses, (&["Enter"], "✓ alive"));
    });
}

#[test]
fn needs_approval() {
    at_both_sizes(|size| {
        let terminal = Terminal::open(size);
        let beat = "{ run = \"cargo test\", asks = true, takes_ms = 6000000 }";
        stuck::in_review(&terminal, &stuck::script("", beat));
        terminal.trellis("demo --speed 20");
        let last = (&["x"][..], "stop shop?");
        banner(&terminal, "needs_approval", &["asks for approval", "Answer it where codex runs."], &[PANE], last);
    });
}

#[test]
fn limit() {
    at_both_sizes(|size| {
        let terminal = scene(size, "limit");
        let says = ["at its limit", "hit your usage limit", "try now"];
        banner(&terminal, "limit", &says, &[STOP, NO], (&["p"], "the same message to codex again · "));
    });
}

#[test]
fn session_changed() {
    at_both_sizes(|size| {
        let terminal = written(size, "", |home| stuck::pause_pair(home, "session_changed"));
        // Nothing replaced the session of a scripted agent: following says so.
        let presses: &[Press] = &[PANE, (&["f"], "no session was replaced"), STOP, NO];
        let says = ["changed its session", "knows nothing of the old one"];
        banner(&terminal, "session_changed", &says, presses, (&["x", "x"], "stopped"));
    });
}

#[test]
fn agent_gone() {
    at_both_sizes(|size| {
        let terminal = scene(size, "gone");
        banner(&terminal, "agent_gone", &["codex is gone", "bring back"], &[PANE, STOP, NO], (&["b"], "going"));
    });
}

#[test]
fn agent_error() {
    at_both_sizes(|size| {
        let terminal = Terminal::open(size);
        let beat = "{ fail = \"auth\", text = \"Please run /login\" }";
        std::fs::write(terminal.folder.path().join("script.toml"), stuck::script("", beat)).unwrap();
        terminal.trellis(&format!("demo --speed 15 --script {}", terminal.folder.path().join("script.toml").display()));
        let says = ["turn failed", "Please run /login", "asks codex to go on"];
        banner(&terminal, "agent_error", &says, &[PANE, STOP, NO], (&["p"], "asked codex to go on"));
    });
}

#[test]
fn delivery_failed() {
    at_both_sizes(|size| {
        let stuck = || {
            written(size, "", |home| {
                stuck::not_seen(home);
                stuck::pause_pair(home, "delivery_failed");
            })
        };
        let presses: &[Press] = &[PANE, STOP, NO];
        let says = ["relay to codex not seen", "paste it yourself"];
        banner(&stuck(), "delivery_failed", &says, presses, (&["y"], "copied the message"));
        banner(&stuck(), "delivery_failed-p", &["p look again"], &[], (&["p"], "going"));
    });
}

#[test]
fn record_changed() {
    at_both_sizes(|size| {
        let terminal = Terminal::open(size);
        stuck::in_review(&terminal, &stuck::script("", "{ silence = true }"));
        terminal.trellis("demo");
        terminal.wait_for("phase 1");
        terminal.keys(&["Enter"]);
        terminal.wait_for("REVIEW");
        // Another program writes the record while this one drives it; the next save notices.
        stuck::change(&terminal.home(), "checklist-runs", |run| run["name"] = serde_json::json!("another"));
        terminal.press_until(&["p"], "its file was changed", |screen| {
            Terminal::flat(screen).contains("its file was changed")
        });
        terminal.keep("banner-record_changed");
        let text = terminal.press_until(&["x"], "it asks", |screen| Terminal::flat(screen).contains("stop shop?"));
        assert!(Terminal::flat(&text).contains("the file on the disk counts"), "{text}");
        terminal.press_until(&["n"], "no", |screen| Terminal::flat(screen).contains("no: nothing was sent"));
        terminal.press_until(&["p"], "the file counts", |screen| Terminal::flat(screen).contains("another · phase 1"));
    });
}
