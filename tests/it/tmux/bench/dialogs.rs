//! Dialogs and ends: Enter in a dialog approves, and what is typed after an agent's end reaches a shell.

use trellis::model::pair::PauseReason;

use super::rig::Bench;

const SHORT: &str = "Done.";

fn long() -> String {
    (0..12).map(|at| format!("point {at} of the answer\n")).collect::<String>().trim_end().to_owned()
}

#[test]
fn a_relay_aimed_at_an_open_dialog_waits_and_approves_nothing() {
    let Some(mut bench) = Bench::claude(&long(), &[]) else { return };
    bench.reviewer.set("dialog");
    bench.wait("the dialog", || bench.shown().contains("Do you want to proceed?"));
    bench.begin(5.0);
    bench.wait("the banner", || {
        bench.view().and_then(|view| view.banner).is_some_and(|banner| banner.headline.contains("asks for approval"))
    });
    assert_eq!(bench.entry().unwrap().attempts, 0, "nothing was begun");
    bench.harmless();
    bench.reviewer.unset("dialog");
    bench.arrives_once();
}

#[test]
fn a_dialog_that_opens_after_the_paste_gets_no_enter() {
    let Some(bench) = Bench::claude(SHORT, &["--on-paste", "dialog"]) else { return };
    let mut bench = bench.without_prompt();
    bench.begin(5.0);
    bench.wait("the dialog", || bench.shown().contains("Do you want to proceed?"));
    bench.wait("the report", || bench.entry().is_some_and(|entry| entry.last_key_at.is_some()));
    bench.harmless();
    bench.reviewer.unset("dialog");
    bench.arrives_once();
    assert_eq!(bench.entry().unwrap().attempts, 1, "Enter alone: the text stood there");
}

#[test]
fn a_dialog_that_opens_between_the_pieces_gets_no_further_key() {
    let Some(mut bench) = Bench::claude(&long(), &["--on-paste", "dialog"]) else { return };
    bench.begin(10.0);
    bench.wait("the dialog", || bench.shown().contains("Do you want to proceed?"));
    bench.wait("the report", || bench.entry().is_some_and(|entry| entry.last_key_at.is_some()));
    bench.harmless();
    bench.reviewer.unset("dialog");
    // A part of ours stands there: only a person can know that it may go.
    bench.says("other text");
    bench.person(&["C-u"]);
    bench.arrives_once();
}

#[test]
fn a_dialog_that_opens_at_enter_gets_no_second_one() {
    let Some(mut bench) = Bench::claude(SHORT, &["--on-enter", "dialog"]) else { return };
    bench.begin(5.0);
    bench.wait("the dialog", || bench.shown().contains("Do you want to proceed?"));
    bench.wait("the banner", || {
        bench.view().and_then(|view| view.banner).is_some_and(|banner| banner.headline.contains("asks for approval"))
    });
    bench.harmless();
    bench.reviewer.unset("dialog");
    bench.arrives_once();
}

#[test]
fn copy_mode_between_paste_and_enter_is_left() {
    let Some(mut bench) = Bench::claude(&long(), &["--on-paste", "copy-mode"]) else { return };
    bench.begin(5.0);
    bench.arrives_once();
}

#[test]
fn a_shell_that_an_agent_left_gets_no_byte() {
    let Some(mut bench) = Bench::claude(&long(), &["--then-shell"]) else { return };
    bench.reviewer.set("exit");
    bench.wait("the shell", || bench.shown().contains('$'));
    bench.begin(5.0);
    bench.pauses(PauseReason::AgentGone);
    assert!(bench.reviewer.submitted().is_empty());
}

#[test]
fn an_agent_that_ends_between_paste_and_enter_leaves_its_shell_no_byte() {
    let Some(mut bench) = Bench::claude(SHORT, &["--then-shell", "--on-paste", "exit"]) else { return };
    bench.begin(5.0);
    bench.wait("the shell", || bench.shown().contains('$'));
    bench.pauses(PauseReason::AgentGone);
    assert!(bench.reviewer.submitted().is_empty());
}

#[test]
fn an_agent_that_ends_between_the_pieces_leaves_its_shell_no_byte() {
    let Some(mut bench) = Bench::claude(&long(), &["--then-shell", "--on-paste", "exit"]) else { return };
    bench.begin(5.0);
    bench.wait("the shell", || bench.shown().contains('$'));
    bench.pauses(PauseReason::AgentGone);
    assert!(bench.reviewer.submitted().is_empty());
}

#[test]
fn an_agent_that_ends_at_enter_leaves_its_shell_no_byte() {
    let Some(mut bench) = Bench::claude(&long(), &["--then-shell", "--on-enter", "exit"]) else { return };
    bench.begin(5.0);
    bench.wait("the shell", || bench.shown().contains('$'));
    bench.pauses(PauseReason::AgentGone);
    assert!(bench.reviewer.submitted().is_empty());
}
