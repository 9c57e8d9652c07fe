//! Traces 1 to 9 of the specification: promises that an earlier wording broke.

use jiff::SignedDuration;
use trellis::model::command::Control;
use trellis::model::config::{PairConfig, RunConfig};
use trellis::model::conversation::{FailureClass, Outcome};
use trellis::model::outbox::EntryState;
use trellis::model::pair::{Kickoff, PairState, PairStop, PauseReason};
use trellis::model::reach::{InputBox, OnItsWay};
use trellis::model::run::{AttemptStatus, RunStep};

use super::world::{I, R, World, at, not_entered, reviewing, run_in_review, with_answer};

/// A kill after the keys and before the save of `sent`: the record is late, the message goes once.
#[test]
fn trace_01_a_kill_after_the_keys_sends_nothing_twice() {
    let mut world = with_answer();
    world.die_on_send = true;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    assert_eq!(world.sent(R).len(), 1);
    assert_eq!(world.pair().outbox[0].state, EntryState::Prepared, "`sent` was never saved");
    world.restart();
    world.wait(25);
    assert_eq!(world.sent(R).len(), 1, "box empty and no record yet is no reason to type again");
    world.take(R);
    world.wait(60);
    assert_eq!(world.sent(R).len(), 1);
    assert_eq!(world.pair().round_count, 1);
}

/// A kill between the save and the first key: nothing was typed, and after the grace it goes out.
#[test]
fn trace_01_a_kill_before_the_keys_loses_nothing() {
    let mut world = with_answer();
    world.die_on_send = true;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.restart();
    world.wait(40);
    assert_eq!(world.sent(R).len(), 2, "tried again");
    assert_eq!(world.pair().outbox.len(), 1, "as the same entry");
    assert_eq!(world.pair().outbox[0].attempts, 2);
    world.take(R);
    world.pass(1);
    assert_eq!(world.pair().round_count, 1);
}

/// Kills at the same place again and again lose nothing either: the driver's deaths are not the agent's silence.
#[test]
fn trace_01_b_four_kills_before_the_keys_lose_nothing() {
    let mut world = with_answer();
    world.die_on_send = true;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    for kills in 1..=4 {
        world.restart();
        world.die_on_send = true;
        world.wait(40);
        assert_eq!(world.pair().outbox[0].attempts, kills + 1);
        assert_eq!(world.pair().paused_reason, None);
    }
    world.take(R);
    world.pass(1);
    assert_eq!(world.pair().round_count, 1);
}

/// What was entered and is gone from the box was taken: it is asked about, never sent blindly a second time.
#[test]
fn trace_01_c_what_was_entered_and_is_never_seen_is_asked_about() {
    let mut world = with_answer();
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.wait(600);
    assert_eq!(world.sent(R).len(), 1);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::DeliveryFailed));
    assert!(world.pair().paused_detail.contains("its transcript does not show it"));
    world.restart();
    world.control(&Control::Resume).unwrap();
    world.wait(600);
    assert_eq!(world.sent(R).len(), 1, "not after a restart and a look either");
}

/// The same where the driver was killed behind the Enter and could not save it: the pane says so.
#[test]
fn trace_01_g_a_kill_behind_the_enter_sends_nothing_again_by_itself() {
    let mut world = with_answer();
    world.die_on_send = true;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.restart();
    world.reviewer.on_its_way = OnItsWay::Entered;
    world.wait(600);
    assert_eq!(world.sent(R).len(), 1, "{:?}", world.pair().outbox);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::DeliveryFailed));
    world.reviewer.on_its_way = OnItsWay::No;
    world.take(R);
    world.control(&Control::CheckDelivery).unwrap();
    world.wait(4);
    assert_eq!((world.pair().round_count, world.sent(R).len()), (1, 1));
}

/// A terminal that swallows every paste is asked about: one driver does not type for ever.
#[test]
fn trace_01_d_pastes_that_are_swallowed_are_asked_about_after_three() {
    let mut world = with_answer();
    for _ in 0..3 {
        let report = not_entered(world.now, "its box does not show what was typed");
        world.reviewer.reports.push_back(report);
    }
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.wait(600);
    assert_eq!(world.sent(R).len(), 3);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::DeliveryFailed));
}

/// What is really sent is in the record before it is sent: a kill in between leaves no prompt that nobody knows again.
#[test]
fn trace_01_e_a_kill_after_the_keys_knows_a_message_with_a_line_in_front() {
    let mut world = reviewing(PairConfig { feedback_prompt: String::new(), ..PairConfig::default() });
    world.die_on_send = true;
    world.answer(R, "/clear it");
    world.wait(5);
    assert_eq!(world.pair().outbox[1].sent_text.as_deref(), Some("Message:\n/clear it"));
    world.take(I);
    world.restart();
    world.pass(1);
    assert_eq!((world.pair().round_count, world.pair().paused_reason), (2, None));
    assert!(!world.pair().outbox[1].altered);
}

/// The same for a message that is named by its file.
#[test]
fn trace_01_f_a_kill_after_the_keys_knows_the_line_that_names_a_file() {
    let mut world = World::new();
    world.prompt(I, "go");
    world.answer(I, &"a long answer ".repeat(6_000));
    world.now += SignedDuration::from_secs(10);
    world.die_on_send = true;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.pass(1);
    let entry = &world.pair().outbox[0];
    let file = format!("/home/pairs/pair/{}", entry.text.file);
    assert!(entry.sent_text.as_ref().is_some_and(|sent| sent.contains(&file) && sent.lines().count() == 1));
    assert_eq!(world.sent(R), [entry.sent_text.as_deref().unwrap()]);
    world.take(R);
    world.restart();
    world.pass(1);
    assert_eq!((world.pair().round_count, world.pair().paused_reason), (1, None));
}

/// The other face: an entry that was perhaps typed is in flight, so a skip does not kill it silently.
#[test]
fn trace_01_other_face_a_skip_waits_for_what_may_be_typed() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "LGTM");
    world.die_on_send = true;
    world.wait(4);
    assert_eq!(world.run().step, Some(RunStep::Advance));
    assert_eq!(world.sent(I).len(), 1);
    world.restart();
    let refused = world.control(&Control::Skip).unwrap_err();
    assert!(refused.message.contains("on its way"), "{}", refused.message);
}

/// The mark is taken at the first attempt: a prompt before it proves nothing and blocks nothing.
#[test]
fn trace_01_the_mark_is_taken_at_the_first_attempt() {
    let mut world = with_answer();
    world.missing_tick(R, "text of yours in the box");
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    assert!(world.sent(R).is_empty());
    assert!(world.pair().outbox[0].transcript_mark.is_none(), "no attempt, no mark");
    world.clear_box(R);
    world.wait(4);
    let mark = world.pair().outbox[0].transcript_mark.clone().unwrap();
    assert_eq!(mark.last_record_id, None, "the reviewer had no record yet");
    assert_eq!(world.sent(R).len(), 1);
}

/// The grace has a beginning: a person's Enter on our text begins it anew.
#[test]
fn trace_02_the_grace_begins_anew_with_a_box_that_was_not_empty() {
    let mut world = with_answer();
    let now = world.now;
    world.reviewer.reports.push_back(not_entered(now, "the box changed"));
    world.reviewer.input = InputBox::Empty;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.missing_tick(R, "text of yours in the box");
    world.wait(25);
    assert_eq!(world.sent(R).len(), 1, "held while the box holds other text");
    // The person presses Enter: both texts go, the record is 0.6 s away.
    world.clear_box(R);
    world.pass(1);
    world.wait(5);
    assert_eq!(world.sent(R).len(), 1, "the grace has only begun");
    let text = format!("my draft {}", world.sent(R)[0]);
    world.prompt(R, &text);
    world.pass(1);
    assert_eq!(world.sent(R).len(), 1);
    let entry = &world.pair().outbox[0];
    assert_eq!(entry.state, EntryState::Delivered);
    assert!(entry.altered, "inside a longer text, which is shown");
}

/// (a) What was typed while trellis was down is seen before anything is sent.
#[test]
fn trace_03_a_prompts_are_looked_at_before_sending() {
    let mut world = with_answer();
    world.missing_tick(R, "busy");
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.pass(1);
    world.prompt(I, "one");
    world.answer(I, "first");
    world.prompt(I, "two");
    world.answer(I, "second");
    world.prompt(I, "three");
    world.answer(I, "third");
    world.clear_box(R);
    world.now += SignedDuration::from_secs(100);
    world.restart();
    world.wait(5);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
    assert!(world.sent(R).is_empty());
    world.control(&Control::Resume).unwrap();
    world.wait(5);
    assert_eq!(world.sent(R).len(), 1);
    assert!(world.sent(R)[0].contains("third"), "prepared anew from the newest answer: {}", world.sent(R)[0]);
}

/// (b) A delivery moves the mark over prompts of ours only.
#[test]
fn trace_03_b_a_delivery_does_not_swallow_a_prompt() {
    let mut world = with_answer();
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    // Down from here: our relay is taken up, then the person steers in.
    let delivered = world.take(R);
    let steered = world.prompt(R, "look at the tests too");
    world.answer(R, "the tests are fine");
    world.now += SignedDuration::from_secs(30);
    world.restart();
    assert_eq!(world.pair().round_count, 1);
    assert_eq!(world.pair().human_mark.reviewer, Some(delivered));
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped), "never a silent wait");
    world.control(&Control::Resume).unwrap();
    world.wait(4);
    assert!(
        world.sent(I).last().unwrap().contains("the tests are fine"),
        "the newest completed turn counts: {steered}"
    );
}

/// The same turn goes on by itself and answers anew: that is newer, and is reviewed.
#[test]
fn trace_04_another_message_in_the_same_turn_is_newer() {
    let mut world = reviewing(PairConfig::default());
    let turn = world.implementer.conversation.turns[0].id.clone();
    world.tool(I, true);
    world.answer(I, "The background check changed two files.");
    world.wait(3);
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(world.pair().state, PairState::Running, "not converged");
    assert_eq!(world.sent(R).len(), 2);
    assert!(world.sent(R)[1].contains("changed two files"));
    assert_eq!(world.pair().outbox[1].source_turn_id.as_ref(), Some(&turn), "same turn, other message");
    world.take(R);
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm));
}

/// 2'. The turn has begun to go on, but not ended, when the signal comes.
#[test]
fn trace_04_2_an_implementer_at_work_holds_the_convergence() {
    let mut world = reviewing(PairConfig::default());
    world.tool(I, true);
    world.answer(R, "LGTM");
    world.wait(30);
    assert_eq!(world.pair().state, PairState::Running);
    world.answer(I, "Now it is done.");
    world.wait(4);
    assert!(world.sent(R)[1].contains("Now it is done."));
}

/// 2''. It ends interrupted: an older turn must not become the newest completed one.
#[test]
fn trace_04_3_an_interrupted_continuation_asks_nobody() {
    let mut world = run_in_review(RunConfig::default());
    world.tool(I, true);
    world.end(I, Outcome::Interrupted);
    world.answer(R, "LGTM");
    world.wait(5);
    assert_eq!(world.run().phases[0].status, AttemptStatus::Converged);
    assert!(world.sent(I).is_empty(), "no phase prompt after a turn that is not the reviewed answer");
    assert_eq!(world.run().step, Some(RunStep::Probe));
    assert_eq!(world.run().paused_reason, Some(PauseReason::UserTyped), "you interrupted");
}

/// A person's turn overtakes a prepared advance prompt: it is withdrawn, their turn is the next phase.
#[test]
fn trace_05_a_prepared_advance_is_withdrawn() {
    let mut world = run_in_review(RunConfig::default());
    world.missing_tick(I, "a draft of yours");
    world.answer(R, "LGTM");
    world.wait(5);
    assert_eq!(world.run().outbox.len(), 1, "prepared and held");
    world.prompt(I, "my draft");
    world.clear_box(I);
    world.wait(2);
    assert_eq!(world.run().outbox[0].state, EntryState::Withdrawn);
    assert_eq!(world.run().step, Some(RunStep::Probe));
    world.tool(I, true);
    world.answer(I, "The draft is done.");
    world.wait(5);
    assert!(world.sent(I).is_empty(), "nobody is asked");
    assert_eq!(world.run().phases.len(), 2, "their turn is the next phase");
    assert!(world.sent(R).last().unwrap().contains("The draft is done."));
}

/// The same for a re-send after a lost paste.
#[test]
fn trace_05_a_lost_advance_is_not_sent_over_a_persons_turn() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "LGTM");
    world.wait(5);
    assert_eq!(world.sent(I).len(), 1);
    world.prompt(I, "something else, short");
    world.answer(I, "Something else is done.");
    world.wait(50);
    assert_eq!(world.sent(I).len(), 1, "a prompt stands after the mark");
    world.wait(20);
    assert_eq!(world.run().paused_reason, Some(PauseReason::DeliveryFailed));
}

/// A kill between the two saves of a pause: the pair is paused at the start.
#[test]
fn trace_06_a_kill_between_the_two_saves_of_a_pause() {
    let mut world = run_in_review(RunConfig::default());
    world.die_on_order = true;
    world.control_only(&Control::Pause).unwrap();
    assert_eq!(world.current().state, PairState::Running);
    assert!(world.run().paused_pair.is_some());
    world.answer(R, "Fix the total.");
    world.now += SignedDuration::from_secs(10);
    world.restart();
    world.wait(5);
    assert_eq!(world.current().paused_reason, Some(PauseReason::Manual));
    assert!(world.sent(I).is_empty(), "no feedback out of a paused run");
}

/// A limit's end inside a paused run moves nothing.
#[test]
fn trace_06_a_paused_run_holds_its_pairs_timers() {
    let mut world = run_in_review(RunConfig::default());
    let reset = world.now + SignedDuration::from_secs(40);
    world.fail(R, FailureClass::Limit, Some(reset));
    world.wait(3);
    assert_eq!(world.current().paused_reason, Some(PauseReason::Limit));
    world.control(&Control::Pause).unwrap();
    world.wait(60);
    assert_eq!(world.current().paused_reason, Some(PauseReason::Limit));
    assert_eq!(world.sent(R).len(), 1);
    world.control(&Control::Resume).unwrap();
    world.wait(3);
    assert_eq!(world.sent(R).len(), 2, "then it goes on");
}

/// The mirror: a kill between the two saves of a resume.
#[test]
fn trace_06_a_kill_between_the_two_saves_of_a_resume() {
    let mut world = run_in_review(RunConfig::default());
    world.control(&Control::Pause).unwrap();
    assert_eq!(world.current().paused_reason, Some(PauseReason::Manual));
    world.die_on_order = true;
    world.control_only(&Control::Resume).unwrap();
    assert_eq!(world.current().state, PairState::Paused);
    world.restart();
    assert_eq!(world.current().state, PairState::Running);
    assert_eq!(world.run().paused_pair, None);
}

/// Going on by itself is no resume: a prompt in the other session makes it a pause for a person.
#[test]
fn trace_07_a_limits_end_does_not_pass_over_a_prompt() {
    let mut world = reviewing(PairConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(4);
    world.take(I);
    let reset = world.now + SignedDuration::from_secs(40);
    world.fail(I, FailureClass::Limit, Some(reset));
    world.wait(3);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::Limit));
    world.prompt(R, "by the way, what about rounding?");
    world.answer(R, "It rounds twice.");
    world.wait(60);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
    assert_eq!(world.sent(I).len(), 1, "no continuation past an unanswered prompt");
}

/// The same at 15, 60 and 240 s.
#[test]
fn trace_07_a_retry_does_not_pass_over_a_prompt() {
    let mut world = reviewing(PairConfig::default());
    world.fail(R, FailureClass::Overloaded, None);
    world.wait(3);
    assert_eq!(world.pair().retry.as_ref().unwrap().n, 1);
    world.prompt(I, "hold on");
    world.answer(I, "Holding.");
    world.wait(30);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
    assert_eq!(world.sent(R).len(), 1);
}

/// A stopped record's entry keeps a session busy for a minute, and is then given up.
#[test]
fn trace_08_a_stopped_entry_is_given_up_after_a_minute() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(4);
    assert_eq!(world.sent(I).len(), 1, "the feedback is typed, and lost");
    world.control(&Control::Retry).unwrap();
    world.wait(10);
    let old = world.pairs.values().next().unwrap();
    assert_eq!(old.state, PairState::Stopped);
    assert!(old.outbox.last().unwrap().in_flight());
    world.wait(70);
    let old = world.pairs.values().next().unwrap();
    assert_eq!(old.outbox.last().unwrap().state, EntryState::Abandoned);
    assert_eq!(world.pairs.len(), 2);
    assert_eq!(world.sent(R).len(), 2, "the new pair's relay went out");
}

/// Its minute is not counted from a time that was taken back.
#[test]
fn a_message_of_a_stopped_record_is_given_up_though_the_clock_was_set_back() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(4);
    world.control(&Control::Retry).unwrap();
    world.wait(10);
    assert!(world.pairs.values().next().unwrap().outbox.last().unwrap().in_flight());
    world.now -= SignedDuration::from_hours(20);
    world.implementer.reach = None;
    world.wait(140);
    let old = world.pairs.values().next().unwrap();
    assert_eq!(old.outbox.last().unwrap().state, EntryState::Abandoned);
}

/// An entry of which something is still on its way is not given up.
#[test]
fn trace_08_a_queued_entry_of_a_stopped_record_stays_ours() {
    let mut world = reviewing(PairConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(4);
    world.implementer.on_its_way = OnItsWay::Queued;
    world.control(&Control::Stop).unwrap();
    world.wait(120);
    assert!(world.pair().outbox.last().unwrap().in_flight(), "it stands in the queue");
    world.implementer.on_its_way = OnItsWay::No;
    let turn = world.take(I);
    world.pass(1);
    assert_eq!(world.pair().outbox.last().unwrap().delivered_turn_id, Some(turn), "and is ours when it comes");
}

/// A resume after "paste it yourself" does not type a second copy.
#[test]
fn trace_09_a_resume_begins_the_grace_anew() {
    let mut world = with_answer();
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.reviewer.on_its_way = OnItsWay::Unknown("not to be told".to_owned());
    world.wait(65);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::DeliveryFailed));
    let sent = world.sent(R).len();
    world.reviewer.on_its_way = OnItsWay::No;
    // The person pastes and presses Enter; the record is a second away.
    world.control(&Control::Resume).unwrap();
    world.pass(1);
    assert_eq!(world.sent(R).len(), sent, "no key at once");
    world.take(R);
    world.wait(60);
    assert_eq!(world.sent(R).len(), sent);
    assert_eq!(world.pair().round_count, 1);
}

/// By hand is saved: from then on it is never typed.
#[test]
fn trace_09_by_hand_is_never_typed() {
    let mut world = with_answer();
    world.missing_tick(R, "text of yours in the box");
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.control(&Control::ByHand).unwrap();
    assert!(world.pair().outbox[0].by_hand);
    world.clear_box(R);
    world.wait(100);
    assert!(world.sent(R).is_empty());
    assert_eq!(world.pair().paused_reason, None, "a person takes the time they need");
    let text = world.pair().outbox[0].text.text().to_owned();
    world.prompt(R, &text);
    world.pass(1);
    assert_eq!(world.pair().round_count, 1);
    assert!(world.now > at(0));
    assert_eq!(World::new().now, at(0));
}
