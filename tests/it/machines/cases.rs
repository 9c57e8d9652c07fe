//! Cases from the field that the machines decide, by their numbers in the specification.

use jiff::SignedDuration;
use trellis::model::command::Control;
use trellis::model::config::{PairConfig, RunConfig};
use trellis::model::conversation::{FailureClass, Outcome};
use trellis::model::ids::SessionId;
use trellis::model::pair::{PairState, PauseReason};
use trellis::model::run::{AttemptStatus, RunStep, RunStop};

use super::world::{I, R, World, reviewing, run_in_review};

/// L5: a reviewer that said nothing has found nothing, and approved nothing.
#[test]
fn l05_no_answer_is_no_approval() {
    let mut world = reviewing(PairConfig::default());
    world.tool(R, false);
    world.end(R, Outcome::Completed);
    world.wait(4);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::NoAnswer));
    assert_eq!(world.pair().state, PairState::Paused);
    assert!(world.sent(I).is_empty());
}

/// L7: equal answers are told apart by their records.
#[test]
fn l07_equal_answers_run_through() {
    let mut world = World::new();
    world.new_run(RunConfig { review_prompt: String::new(), ..RunConfig::default() }).unwrap();
    world.pass(3);
    world.prompt(I, "start");
    for phase in 1..=3 {
        world.answer(I, "Done.");
        world.wait(5);
        assert_eq!(world.sent(R).len(), phase, "phase {phase} is reviewed");
        world.take(R);
        world.answer(R, "LGTM");
        world.wait(6);
        assert_eq!(world.run().phases_done, u32::try_from(phase).unwrap());
        assert_eq!(world.sent(I).len(), phase, "the next one is asked for");
        world.take(I);
    }
    world.answer(I, "COMPLETED");
    world.wait(5);
    assert_eq!(world.run().stop_reason, Some(RunStop::Completed));
}

/// L13: a question instead of work goes to the reviewer as it is.
#[test]
fn l13_a_question_is_reviewed_as_it_is() {
    let mut world = World::new();
    world.new_run(RunConfig::default()).unwrap();
    world.pass(3);
    world.prompt(I, "phase one");
    world.answer(I, "Should the total be rounded?");
    world.wait(5);
    assert!(world.sent(R)[0].ends_with("Should the total be rounded?"));
    assert_eq!(world.run().phases[0].status, AttemptStatus::Running);
}

/// L15: an agreed phase stays agreed, and no text of an older round is ever sent.
#[test]
fn l15_an_agreed_phase_stays_agreed() {
    let config = RunConfig { confirm_before_relay: true, ..RunConfig::default() };
    let mut world = World::new();
    world.new_run(config).unwrap();
    world.pass(3);
    world.prompt(I, "phase one");
    world.answer(I, "Built.");
    world.wait(5);
    assert!(world.current().pending_confirm.is_some());
    world.control(&Control::Accept).unwrap();
    world.wait(5);
    assert_eq!(world.run().phases[0].status, AttemptStatus::Converged);
    assert_eq!(world.run().phases[0].by.as_deref(), Some("user"));
    assert!(!world.run().phases[0].reviewed);
    assert!(world.pairs.values().all(|pair| pair.pending_confirm.is_none()));
    assert!(world.sent(R).is_empty());
    assert!(world.control(&Control::Retry).is_err());
}

/// L21: a limit's pause and its time survive a stop of trellis.
#[test]
fn l21_a_limit_survives_a_restart() {
    let mut world = reviewing(PairConfig::default());
    let reset = world.now + SignedDuration::from_hours(3);
    world.fail(R, FailureClass::Limit, Some(reset));
    world.wait(4);
    world.now += SignedDuration::from_hours(1);
    world.restart();
    assert_eq!(world.pair().paused_reason, Some(PauseReason::Limit));
    assert_eq!(world.pair().limit.as_ref().unwrap().resets_at, Some(reset));
    assert_eq!(world.sent(R).len(), 1);
}

/// L23: the told time is a wall-clock time, re-armed at a start; a person can try at once.
#[test]
fn l23_goes_on_at_the_told_time() {
    let mut world = reviewing(PairConfig::default());
    let reset = world.now + SignedDuration::from_mins(2);
    world.tool(R, false);
    world.fail(R, FailureClass::Limit, Some(reset));
    world.wait(4);
    // Suspended over the time.
    world.now += SignedDuration::from_mins(10);
    world.restart();
    world.wait(3);
    assert_eq!(world.pair().state, PairState::Running);
    assert_eq!(world.sent(R).len(), 2);
    assert!(world.sent(R)[1].starts_with("Go on where you stopped"), "{}", world.sent(R)[1]);

    let mut world = reviewing(PairConfig::default());
    let reset = world.now + SignedDuration::from_hours(2);
    world.fail(R, FailureClass::Limit, Some(reset));
    world.wait(4);
    world.control(&Control::Resume).unwrap();
    world.wait(3);
    assert_eq!(world.sent(R).len(), 2, "tried at once");
}

/// A limit whose time is not known waits for a person; so does one when going on by itself is switched off.
#[test]
fn l23_without_a_time_a_person_decides() {
    let mut world = reviewing(PairConfig::default());
    world.fail(R, FailureClass::Limit, None);
    world.wait(600);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::Limit));
    let mut world = reviewing(PairConfig { resume_after_limit: false, ..PairConfig::default() });
    let reset = world.now + SignedDuration::from_secs(30);
    world.fail(R, FailureClass::Limit, Some(reset));
    world.wait(100);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::Limit));
}

/// T11, T13: what the program wrote in the agent's place is a failure: never relayed, never counted, no verdict.
#[test]
fn t11_t13_failures_are_neither_relayed_nor_counted() {
    for (class, reason) in [
        (FailureClass::Overloaded, None),
        (FailureClass::Network, None),
        (FailureClass::Other, Some(PauseReason::AgentError)),
        (FailureClass::Limit, Some(PauseReason::Limit)),
    ] {
        let mut world = run_in_review(RunConfig::default());
        world.say(R, "LGTM");
        world.fail(R, class, None);
        world.wait(10);
        assert_eq!(world.current().paused_reason, reason, "{class:?}");
        assert_eq!((world.current().round_count, world.run().phases_done), (1, 0), "{class:?}");
        assert!(world.sent(I).is_empty(), "{class:?}");
    }
}

/// T17: with a proof the pair asks, names both, and follows nobody by itself.
#[test]
fn t17_a_proven_change_of_session_asks() {
    let mut world = run_in_review(RunConfig::default());
    world.reviewer.replaced_by = Some((SessionId::new("r-new"), "its status file names it".to_owned()));
    world.reviewer.reach = None;
    world.wait(120);
    assert_eq!(world.current().paused_reason, Some(PauseReason::SessionChanged));
    assert_eq!(world.current().reviewer.session_id.as_str(), "r-session");
    assert!(world.current().paused_detail.contains("r-new"), "{}", world.current().paused_detail);
}

/// T25: an interrupted turn is over; what it had said is not relayed, and a person decides.
#[test]
fn t25_an_interrupted_review_pauses_and_relays_nothing() {
    let mut world = run_in_review(RunConfig::default());
    world.say(R, "The total is");
    world.end(R, Outcome::Interrupted);
    world.wait(60);
    assert_eq!(world.current().paused_reason, Some(PauseReason::UserTyped));
    assert!(world.sent(I).is_empty());
    assert_eq!(world.run().phases_done, 0);
}

/// I9: Esc ends a turn without any end of its own; the run asks, and going on waits for what the person does next.
#[test]
fn i9_a_turn_stopped_with_esc_is_over_and_asks() {
    let mut world = reviewing(PairConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(4);
    world.take(I);
    world.tool(I, true);
    world.end(I, Outcome::Interrupted);
    // The status file says idle, and no hook ever fires.
    world.wait(4);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
    assert!(world.pair().paused_detail.contains("interrupted"), "{}", world.pair().paused_detail);
    let sent = world.sent(I).len();
    world.control(&Control::Resume).unwrap();
    world.wait(4);
    assert_eq!(world.sent(I).len(), sent + 1, "it is asked to go on, once");
    world.take(I);
    world.answer(I, "The total is right now.");
    world.wait(4);
    assert!(world.sent(R).last().unwrap().ends_with("The total is right now."));
}

/// I7: a turn of hours is waited for; no time alone pauses anything.
#[test]
fn i7_hours_of_work_raise_no_alarm() {
    let mut world = reviewing(PairConfig::default());
    world.implementer.status = trellis::model::reach::LiveStatus::Busy;
    world.answer(R, "Fix the total.");
    world.implementer.status = trellis::model::reach::LiveStatus::Idle;
    world.wait(4);
    world.take(I);
    world.implementer.status = trellis::model::reach::LiveStatus::Busy;
    for _ in 0..6 {
        world.tool(I, true);
        world.wait(3_600);
        assert_eq!(world.pair().paused_reason, None);
    }
    assert_eq!(world.sent(R).len(), 1);
}

/// L1: the word in our own prompt, echoed as a prompt, is no verdict; a blank word starts nothing.
#[test]
fn l01_our_own_words_give_no_verdict_and_a_blank_one_is_refused() {
    let mut world = run_in_review(RunConfig::default());
    assert!(world.sent(R)[0].contains("LGTM"));
    world.wait(60);
    assert_eq!(world.run().phases_done, 0);
    for blank in ["", "  "] {
        let mut world = World::new();
        let refusal =
            world.new_run(RunConfig { review_stop_signal: blank.to_owned(), ..RunConfig::default() }).unwrap_err();
        assert_eq!(refusal.field.as_deref(), Some("review_stop_signal"));
        let refusal =
            world.new_run(RunConfig { completion_signal: blank.to_owned(), ..RunConfig::default() }).unwrap_err();
        assert_eq!(refusal.field.as_deref(), Some("completion_signal"));
    }
}

/// L3: decorations agree; a sign in front of the word is asked about once.
#[test]
fn l03_decorated_approvals_converge_and_near_ones_are_asked_about() {
    for approval in ["**LGTM**", "`LGTM`", "LGTM.", "lgtm!"] {
        let mut world = run_in_review(RunConfig::default());
        world.answer(R, approval);
        world.wait(5);
        assert_eq!(world.run().phases_done, 1, "{approval}");
    }
    for near in ["✅ LGTM", "- LGTM"] {
        let mut world = run_in_review(RunConfig::default());
        world.answer(R, near);
        world.wait(5);
        assert_eq!((world.run().phases_done, world.sent(R).len()), (0, 2), "{near}");
        world.take(R);
        world.answer(R, near);
        world.wait(5);
        assert_eq!(world.current().paused_reason, Some(PauseReason::NearMiss), "{near}");
        assert!(world.sent(I).is_empty(), "{near}");
    }
}

/// S9: a transcript that holds another session is refused by name.
#[test]
fn s09_a_foreign_transcript_is_refused_by_name() {
    let mut world = reviewing(PairConfig::default());
    world.reviewer.conversation.session_id = Some(SessionId::new("somebody-else"));
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::AgentGone));
    assert!(world.pair().paused_detail.contains("somebody-else"), "{}", world.pair().paused_detail);
}

/// S9, its kind: the file was replaced, and what was answered last is not in it.
#[test]
fn s09_a_replaced_transcript_holds() {
    let mut world = reviewing(PairConfig::default());
    world.reviewer.conversation.turns.clear();
    world.prompt(R, "something else");
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::AgentGone));
}

/// I3: an answer does not count while background agents are out; the later one does.
#[test]
fn i03_background_agents_are_waited_for() {
    let mut world = reviewing(PairConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(4);
    world.take(I);
    world.answer(I, "I have started two agents.");
    world.implementer.conversation.background_agents = 2;
    world.wait(30);
    assert_eq!(world.sent(R).len(), 1);
    world.implementer.conversation.background_agents = 0;
    world.answer(I, "They are back: all is fixed.");
    world.wait(4);
    assert!(world.sent(R)[1].ends_with("all is fixed."));
}

/// I3: or a person does not want to wait.
#[test]
fn i03_a_person_need_not_wait() {
    let mut world = reviewing(PairConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(4);
    world.take(I);
    world.answer(I, "I have started an agent.");
    world.implementer.conversation.background_agents = 1;
    world.wait(30);
    assert!(world.control(&Control::AsFeedback).is_err());
    world.control(&Control::ForceRelay).unwrap();
    world.wait(3);
    assert_eq!(world.sent(R).len(), 2);
    assert!(world.said("1 background agent works at claude"));
}

/// A dialog of the agent is waited for, never typed into.
#[test]
fn a_dialog_is_waited_for() {
    let mut world = reviewing(PairConfig::default());
    world.implementer.status = trellis::model::reach::LiveStatus::Waiting { what: "permission prompt".to_owned() };
    world.answer(R, "Fix the total.");
    world.implementer.reach = None;
    world.wait(30);
    assert!(world.sent(I).is_empty());
    world.implementer.status = trellis::model::reach::LiveStatus::Idle;
    world.wait(5);
    assert_eq!(world.sent(I).len(), 1);
}

/// A run in review is one phase further only by its reviewer's or a person's word.
#[test]
fn only_a_word_of_this_phase_agrees() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "LGTM");
    world.wait(5);
    world.take(I);
    world.answer(I, "Phase two is built.");
    world.wait(5);
    assert_eq!(world.run().step, Some(RunStep::Review));
    assert_eq!(world.run().phases_done, 1, "the old word stands for the old phase only");
    world.wait(60);
    assert_eq!(world.run().phases_done, 1);
}
