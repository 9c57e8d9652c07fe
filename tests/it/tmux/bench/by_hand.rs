//! By hand: an agent in a terminal that no transport reaches, and a message that a person takes over.

use trellis::model::command::Control;
use trellis::model::outbox::EntryState;
use trellis::model::pair::PauseReason;

use super::rig::Bench;

const ANSWER: &str = "/clear is what the page calls it; the parser reads the new header.";

/// Waits for the banner; gives what it says.
fn banner(bench: &Bench) -> String {
    bench.wait("the banner", || {
        bench.view().and_then(|view| view.banner).is_some_and(|banner| banner.headline.starts_with("paste this "))
    });
    let banner = bench.view().unwrap().banner.unwrap();
    let in_a_pane = banner.headline.ends_with("'s pane");
    assert_eq!(in_a_pane, bench.elsewhere.is_none(), "{}", banner.headline);
    banner.lines.join(" ")
}

#[test]
fn an_agent_in_no_pane_gets_each_message_by_hand() {
    let Some(bench) = Bench::elsewhere(ANSWER, &["--answer", "One more: name the test.", "--answer", "LGTM"]) else {
        return;
    };
    let mut bench = bench.without_prompt();
    bench.begin(20.0);
    let said = banner(&bench);
    assert!(said.contains("pid ") && said.contains("/dev/pts/"), "{said}");
    bench.wait("the copy", || !bench.panes.tmux(&["show-buffer"]).is_empty());
    let copy = bench.panes.tmux(&["show-buffer"]);
    assert_eq!(copy, format!("Message:\n{ANSWER}"), "what is to be pasted is no command");
    let entry = bench.entry().unwrap();
    assert!(entry.by_hand && entry.in_flight());
    assert_eq!(entry.sent_text.as_deref(), Some(copy.as_str()), "it is known before it is pasted");
    assert!(bench.reviewer.submitted().is_empty());
    // No time runs out: a person may be away.
    bench.reviewer.paste(&copy);
    bench.wait("the delivery", || bench.entry().is_some_and(|entry| entry.state == EntryState::Delivered));
    // The feedback goes into the implementer's pane, and its answer is the next message to paste.
    bench.wait("the next relay", || bench.pair().outbox.iter().filter(|entry| entry.by_hand).count() == 2);
    let next = bench.pair().outbox.last().unwrap().text.file.clone();
    let text = std::fs::read_to_string(bench.texts().join(&*next)).unwrap();
    bench.wait("the next copy", || bench.panes.tmux(&["show-buffer"]) == text);
    bench.reviewer.paste(&bench.panes.tmux(&["show-buffer"]));
    bench.wait("the agreement", || bench.pair().stop_reason.is_some());
    assert_eq!(bench.reviewer.submitted(), [copy, text]);
    bench.harmless();
}

#[test]
fn an_agent_that_ends_before_the_person_pasted_is_gone() {
    let Some(mut bench) = Bench::elsewhere(ANSWER, &[]) else { return };
    bench.begin(20.0);
    banner(&bench);
    bench.elsewhere = None;
    bench.pauses(PauseReason::AgentGone);
    assert!(bench.reviewer.submitted().is_empty());
}

#[test]
fn a_long_message_by_hand_is_a_line_that_names_its_file() {
    let Some(mut bench) = Bench::elsewhere(&"a long answer ".repeat(7_000), &[]) else { return };
    bench.begin(20.0);
    banner(&bench);
    bench.wait("the copy", || bench.panes.tmux(&["show-buffer"]).contains("read that file"));
    bench.reviewer.paste(&bench.panes.tmux(&["show-buffer"]));
    bench.arrives_once();
}

#[test]
fn a_held_message_can_be_taken_over_by_hand_and_is_never_typed_then() {
    let Some(mut bench) = Bench::claude(ANSWER, &[]) else { return };
    bench.person(&["-l", "only after the tests"]);
    bench.wait("the half sentence", || bench.shown().contains("only after"));
    bench.begin(20.0);
    bench.says("unsent text in claude's input box");
    bench.control(Control::ByHand);
    banner(&bench);
    bench.person(&["C-u"]);
    bench.wait("the empty box", || !bench.shown().contains("only after"));
    bench.wait("the copy", || !bench.panes.tmux(&["show-buffer"]).is_empty());
    assert!(bench.reviewer.submitted().is_empty(), "it is the person's now");
    bench.panes.tmux(&["paste-buffer", "-p", "-r", "-t", &bench.reviewer.pane]);
    bench.wait("the paste", || bench.shown().contains("LGTM on its own line"));
    bench.person(&["Enter"]);
    bench.arrives_once();
}
