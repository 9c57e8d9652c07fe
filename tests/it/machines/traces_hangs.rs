//! Traces 10 to 14 and 16: hangs, and pauses that could not be left.

use trellis::model::command::Control;
use trellis::model::config::PairConfig;
use trellis::model::conversation::{FailureClass, Outcome};
use trellis::model::ids::Role;
use trellis::model::outbox::{EntryState, Purpose};
use trellis::model::pair::{Kickoff, PairState, PairStep, PairStop, PauseReason};
use trellis::model::reach::{InputBox, ProcessFact, Transport};

use super::world::{I, R, not_entered, reviewing, with_answer};

/// A queue dies with its process: the side is free again.
#[test]
fn trace_10_a_queue_dies_with_its_process() {
    let mut world = reviewing(PairConfig::default());
    world.enqueue(I, "and then this");
    world.answer(R, "Fix the total.");
    world.wait(5);
    assert!(world.sent(I).is_empty(), "a queued prompt counts");
    let now = world.now;
    world.implementer.process = ProcessFact::Alive { pid: 8, started_at: Some(now) };
    world.implementer.reach = None;
    world.wait(5);
    assert_eq!(world.sent(I).len(), 1, "its process came back: the queue is gone");
}

/// Our own entry in such a queue becomes `sent` again, and its times begin there.
#[test]
fn trace_10_our_queued_entry_gets_its_times_back() {
    let mut world = reviewing(PairConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(4);
    let text = world.sent(I)[0].to_owned();
    world.enqueue(I, &text);
    world.pass(1);
    assert_eq!(world.pair().outbox[1].state, EntryState::Queued);
    world.wait(200);
    assert_eq!(world.pair().paused_reason, None, "no time runs in a queue");
    let now = world.now;
    world.implementer.process = ProcessFact::Alive { pid: 8, started_at: Some(now) };
    world.implementer.reach = None;
    world.wait(12);
    assert_eq!(world.pair().outbox[1].state, EntryState::Sent);
    world.wait(70);
    assert!(world.sent(I).len() > 1 || world.pair().paused_reason == Some(PauseReason::DeliveryFailed));
}

/// After a failure that a person mended in the session, their turn counts.
#[test]
fn trace_11_a_resume_takes_the_turn_a_person_prompted() {
    let mut world = reviewing(PairConfig::default());
    world.fail(R, FailureClass::Auth, None);
    world.wait(3);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::AgentError));
    world.prompt(R, "go on");
    world.answer(R, "LGTM");
    world.wait(3);
    world.control(&Control::Resume).unwrap();
    world.wait(3);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm));
}

/// The same after a pause by hand.
#[test]
fn trace_11_a_resume_by_hand_takes_it_too() {
    let mut world = reviewing(PairConfig::default());
    world.control(&Control::Pause).unwrap();
    world.answer(R, "Fix the total.");
    world.prompt(R, "be brief");
    world.answer(R, "Round once.");
    world.wait(3);
    world.control(&Control::Resume).unwrap();
    world.wait(4);
    assert!(world.sent(I)[0].contains("Round once."));
}

/// After a person's turn that failed the loop waits and says so; it does not pause again at once.
#[test]
fn trace_12_a_settled_turn_is_not_judged_again() {
    let mut world = reviewing(PairConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(4);
    world.take(I);
    world.answer(I, "Fixed.");
    world.wait(1);
    world.prompt(I, "and the docs");
    world.end(I, Outcome::Interrupted);
    world.wait(3);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
    world.control(&Control::Resume).unwrap();
    world.wait(20);
    assert_eq!(world.pair().paused_reason, None);
    assert_eq!(world.pair().open_wait.as_ref().map(|wait| wait.side), Some(Role::Implementer));
    assert_eq!(world.sent(I).len(), 1, "nothing is sent on for a prompt of yours");
    world.prompt(I, "do the docs after all");
    world.answer(I, "Docs are done.");
    world.wait(4);
    assert!(world.sent(R).last().unwrap().contains("Docs are done."));
}

/// After `no_answer` to our own message it is sent on, as after an interruption.
#[test]
fn trace_12_no_answer_asks_again() {
    let mut world = reviewing(PairConfig::default());
    world.end(R, Outcome::Completed);
    world.wait(3);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::NoAnswer));
    world.control(&Control::Resume).unwrap();
    world.wait(3);
    let again = &world.pair().outbox[1];
    assert_eq!(again.purpose, Purpose::Continue);
    assert_eq!(again.resend_of, Some(world.pair().outbox[0].id.clone()));
    assert_eq!(again.text, world.pair().outbox[0].text, "nothing came of it: the same text again");
    world.take(R);
    world.answer(R, "LGTM");
    world.wait(3);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm));
    assert_eq!(world.pair().round_count, 1, "not counted as a relay");
}

/// An entry that was never `sent` has an end: 60 s after its last key, whatever its state.
#[test]
fn trace_13_an_entry_that_was_never_entered_ends() {
    let mut world = with_answer();
    let now = world.now;
    world.reviewer.reports.push_back(not_entered(now, "a draft got in"));
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.prompt(R, "something of mine");
    world.answer(R, "ok");
    world.pass(1);
    // That prompt pauses the pair; the person goes on, the entry is still held.
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
    world.control(&Control::Resume).unwrap();
    world.wait(50);
    assert_eq!(world.sent(R).len(), 1);
    assert_eq!(world.pair().state, PairState::Running);
    world.wait(15);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::DeliveryFailed));
}

/// A resume begins the times anew: it does not fail in the same moment.
#[test]
fn trace_13_a_resume_from_delivery_failed_has_time() {
    let mut world = with_answer();
    world.reviewer.input = InputBox::Empty;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.reviewer.input = InputBox::Unknown;
    world.wait(65);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::DeliveryFailed));
    world.control(&Control::Resume).unwrap();
    world.wait(30);
    assert_eq!(world.pair().paused_reason, None);
    world.reviewer.input = InputBox::Ours;
    world.wait(3);
    assert_eq!(world.reviewer.enters, 1, "and Enter may be pressed again");
}

/// Three times Enter at most, two seconds apart; a look again gives three more.
#[test]
fn trace_13_enter_is_pressed_three_times() {
    let mut world = with_answer();
    let now = world.now;
    world.reviewer.reports.push_back(not_entered(now, "not seen"));
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.reviewer.input = InputBox::Ours;
    world.wait(20);
    assert_eq!(world.reviewer.enters, 3);
    assert_eq!(world.sent(R).len(), 1);
    world.wait(60);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::DeliveryFailed));
    assert!(world.pair().paused_detail.contains("in the box"), "{}", world.pair().paused_detail);
    world.control(&Control::CheckDelivery).unwrap();
    world.wait(10);
    assert_eq!(world.reviewer.enters, 6);
}

/// A late copy of an entry that was given up supersedes the awaited turn: that pauses and says whose it was.
#[test]
fn trace_14_a_late_copy_pauses() {
    let mut world = with_answer();
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.reviewer.input = InputBox::Unknown;
    world.wait(65);
    world.control(&Control::SendAgain).unwrap();
    world.reviewer.input = InputBox::Empty;
    world.wait(5);
    assert_eq!(world.sent(R).len(), 2);
    assert_eq!(world.pair().outbox[0].state, EntryState::Abandoned);
    let text = world.sent(R)[0].to_owned();
    world.take(R);
    world.pass(1);
    assert_eq!(world.pair().round_count, 1);
    world.prompt(R, &text);
    world.pass(1);
    // The first copy was given to the entry in flight; this one is a copy of either, and takes its turn's place or pauses.
    let pair = world.pair();
    let replaced = pair.outbox[1].duplicates.len() == 1;
    assert!(replaced || pair.paused_reason == Some(PauseReason::UserTyped), "never silent");
    world.answer(R, "LGTM");
    world.wait(5);
    if world.pair().paused_reason.is_some() {
        world.control(&Control::Resume).unwrap();
        world.wait(5);
    }
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm));
}

/// A second copy of the awaited entry takes its turn's place, and is never taken for a human.
#[test]
fn trace_14_a_duplicate_takes_its_turns_place() {
    let mut world = reviewing(PairConfig::default());
    let second = world.take(R);
    world.pass(1);
    assert_eq!(world.pair().paused_reason, None);
    assert_eq!(world.pair().outbox[0].duplicates, vec![second.clone()]);
    assert_eq!(world.pair().awaited.as_ref().unwrap().turn_id, Some(second));
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm));
}

/// As feedback relays the near miss that is kept, not what the reviewer was asked in between, and does not pause again.
#[test]
fn trace_16_as_feedback_relays_the_near_miss() {
    let config = PairConfig { near_miss: trellis::model::config::NearMissRule::Wait, ..PairConfig::default() };
    let mut world = reviewing(config);
    world.answer(R, "Verdict: LGTM");
    world.wait(4);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::NearMiss));
    world.prompt(R, "did you mean it?");
    world.answer(R, "Mostly, but the total is wrong.");
    world.wait(3);
    world.control(&Control::AsFeedback).unwrap();
    world.wait(4);
    assert_eq!(world.pair().paused_reason, None, "the mark covers what the screen showed");
    assert!(world.sent(I)[0].ends_with("Verdict: LGTM"), "{}", world.sent(I)[0]);
}

/// A resume judges the newer answer instead; without one it is as feedback.
#[test]
fn trace_16_a_resume_judges_a_newer_answer() {
    let config = PairConfig { near_miss: trellis::model::config::NearMissRule::Wait, ..PairConfig::default() };
    let mut world = reviewing(config.clone());
    world.answer(R, "Verdict: LGTM");
    world.wait(4);
    world.prompt(R, "did you mean it?");
    world.answer(R, "LGTM");
    world.wait(3);
    world.control(&Control::Resume).unwrap();
    world.wait(4);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm));

    let mut world = reviewing(config);
    world.answer(R, "Verdict: LGTM");
    world.wait(4);
    world.control(&Control::Resume).unwrap();
    world.wait(4);
    assert!(world.sent(I)[0].ends_with("Verdict: LGTM"));
    assert_eq!(world.pair().paused_reason, None);
}

/// An agent that is not there is waited for, and brought back in the same session.
#[test]
fn a_gone_target_is_brought_back() {
    let mut world = reviewing(PairConfig::default());
    world.kill_agent(I);
    world.implementer.reach = None;
    world.answer(R, "Fix the total.");
    world.wait(5);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::AgentGone));
    world.control(&Control::BringBack).unwrap();
    assert_eq!(world.other_effects.len(), 1);
    world.bring_agent(I);
    world.implementer.reach = None;
    world.control(&Control::Resume).unwrap();
    world.wait(4);
    assert_eq!(world.sent(I).len(), 1);
    assert_eq!(world.implementer.transport, Some(Transport::Tmux));
    assert_eq!(world.pair().step, Some(PairStep::AwaitReviewer));
}
