//! Boxes and keys: Enters that are lost, boxes nobody knows, pastes that are folded or cut, a person's own words.

use trellis::model::command::Control;
use trellis::model::ids::Agent;
use trellis::model::outbox::EntryState;
use trellis::model::pair::PauseReason;

use super::rig::Bench;

/// Long enough for a further copy of it to be told from words of a person.
const ANSWER: &str = "Done: the parser reads the new header, and the tests are green.";

fn long() -> String {
    let mut lines = vec![ANSWER.to_owned(), String::new()];
    lines.extend((0..40).map(|at| format!("- point {at} of the answer, with 日本語 in it")));
    lines.join("\n")
}

#[test]
fn a_lost_enter_is_pressed_again_alone() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--drop-enters", "1"]) else { return };
    bench.begin(5.0);
    bench.arrives_once();
    assert_eq!(bench.entry().unwrap().attempts, 1);
}

#[test]
fn a_lost_enter_is_pressed_again_after_a_restart() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--drop-enters", "1"]) else { return };
    // So slow that the first driver does not come to a second Enter.
    bench.begin(0.1);
    bench.wait("the lost Enter", || bench.reviewer.happened() == ["enter dropped"]);
    bench.wait("the report", || bench.entry().is_some_and(|entry| entry.state == EntryState::Sent));
    bench.end();
    assert!(bench.reviewer.submitted().is_empty());
    bench.drive(5.0);
    bench.arrives_once();
    let entry = bench.entry().unwrap();
    assert_eq!((entry.attempts, entry.enters), (1, 1));
}

#[test]
fn when_every_enter_is_lost_a_person_is_asked_after_three_more() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--drop-enters", "1000"]) else { return };
    bench.begin(10.0);
    let detail = bench.pauses(PauseReason::DeliveryFailed);
    assert!(detail.contains("our text is still in the box"), "{detail}");
    let entry = bench.entry().unwrap();
    assert_eq!(entry.attempts, 1, "the text is typed once");
    let pressed = bench.reviewer.happened().len();
    assert!((1..=4).contains(&pressed), "{pressed} Enters");
    assert!(bench.reviewer.submitted().is_empty());
}

#[test]
fn without_bracketed_paste_a_line_feed_is_still_no_enter() {
    let Some(mut bench) = Bench::claude(&long(), &["--no-bracket"]) else { return };
    bench.begin(5.0);
    bench.arrives_once();
}

#[test]
fn an_agent_that_submits_at_line_feeds_gets_no_second_piece() {
    let Some(mut bench) = Bench::claude(&long(), &["--no-bracket", "--lines-submit", "--answer", "What?"]) else {
        return;
    };
    bench.begin(10.0);
    bench.wait("the pause", || bench.pair().paused_reason.is_some());
    let got = bench.reviewer.submitted();
    assert_eq!(got.len(), 1, "only the first piece went out: {got:?}");
    bench.harmless();
}

#[test]
fn d9_half_a_sentence_holds_the_relay_and_is_never_submitted() {
    let Some(mut bench) = Bench::claude(ANSWER, &[]) else { return };
    bench.person(&["-l", "only after the tests"]);
    bench.person(&["Home"]);
    bench.wait("the half sentence", || bench.shown().contains("only after"));
    bench.begin(5.0);
    bench.says("unsent text in claude's input box");
    assert!(bench.reviewer.submitted().is_empty());
    assert!(bench.shown().contains("only after the tests"), "it still stands there");
    bench.person(&["C-u"]);
    bench.arrives_once();
}

#[test]
fn words_that_a_person_types_between_paste_and_enter_are_not_submitted() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--on-paste", "person"]) else { return };
    bench.begin(10.0);
    bench.wait("the typed words", || bench.shown().contains("and mine"));
    bench.says("the box holds other text");
    assert!(bench.reviewer.submitted().is_empty());
    bench.person(&["C-u"]);
    bench.arrives_once();
}

#[test]
fn our_text_that_a_person_submits_with_words_of_their_own_is_delivered_and_altered() {
    let Some(bench) = Bench::claude(ANSWER, &["--on-paste", "person"]) else { return };
    let mut bench = bench.without_prompt();
    bench.begin(5.0);
    bench.says("the box holds other text");
    bench.person(&["Enter"]);
    bench.wait("the delivery", || bench.entry().is_some_and(|entry| entry.state == EntryState::Delivered));
    assert!(bench.entry().unwrap().altered);
    assert_eq!(bench.reviewer.submitted().len(), 1);
    bench.harmless();
}

#[test]
fn d21_an_agent_that_takes_no_typed_keys_gets_the_relay() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--ignore-typed"]) else { return };
    bench.begin(5.0);
    bench.arrives_once();
}

#[test]
fn a_folded_paste_is_recognised_as_ours() {
    for agent in [Agent::Claude, Agent::Codex] {
        let Some(mut bench) = Bench::of(agent, &long(), &["--fold-pastes"]) else { return };
        bench.begin(5.0);
        bench.arrives_once();
    }
}

#[test]
fn d11_a_paste_that_was_cut_is_never_entered() {
    let answer = "a line of the answer that is long enough\n".repeat(1_500);
    let Some(mut bench) = Bench::claude(answer.trim_end(), &["--fold-pastes", "--cut-pastes", "50000"]) else { return };
    bench.begin(10.0);
    let detail = bench.pauses(PauseReason::DeliveryFailed);
    assert!(detail.contains("other text"), "{detail}");
    assert!(bench.reviewer.submitted().is_empty());
}

#[test]
fn in_low_panes_messages_of_several_lines_and_long_ones_arrive() {
    let answers = [
        String::from("1. The total is wrong.\n\n\n\n2. There is no test.\n3. Rename it."),
        "a rather long line ".repeat(30),
        long(),
    ];
    for rows in ["11", "10"] {
        for answer in &answers {
            let Some(mut bench) = Bench::claude(answer.trim_end(), &["--fold-pastes"]) else { return };
            bench.resize("80", rows);
            bench.begin(5.0);
            bench.arrives_once();
        }
    }
}

#[test]
fn a_pane_that_is_too_low_is_told_before_the_first_key() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--fold-pastes"]) else { return };
    bench.resize("80", "9");
    bench.begin(5.0);
    bench.says("claude's pane has only 9 rows, too few to see its input box");
    assert_eq!(bench.entry().unwrap().attempts, 0);
    bench.resize("80", "12");
    bench.arrives_once();
}

#[test]
fn a_box_nobody_knows_holds_the_relay() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--no-box"]) else { return };
    bench.begin(5.0);
    bench.says("claude's input box cannot be read");
    assert_eq!(bench.entry().unwrap().attempts, 0);
    assert!(bench.reviewer.submitted().is_empty());
}

#[test]
fn a_box_nobody_knows_is_typed_into_when_a_person_allowed_it() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--no-box"]) else { return };
    bench.send_when_box_unknown = true;
    bench.begin(5.0);
    bench.arrives_once();
}

#[test]
fn i5_i13_a_clock_and_six_lines_of_status_change_nothing() {
    let Some(mut bench) = Bench::claude(&long(), &["--clock"]) else { return };
    bench.begin(5.0);
    bench.arrives_once();
}

#[test]
fn a_person_may_drop_what_cannot_be_delivered() {
    let Some(mut bench) = Bench::claude(ANSWER, &["--drop-enters", "1000"]) else { return };
    bench.begin(10.0);
    bench.pauses(PauseReason::DeliveryFailed);
    bench.control(Control::Drop);
    bench.wait("the end of the entry", || bench.entry().is_some_and(|entry| entry.state == EntryState::Abandoned));
    assert!(bench.reviewer.submitted().is_empty());
}
