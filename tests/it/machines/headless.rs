//! Sides without a pane: no process between two turns is nothing special, its end inside one is.

use trellis::machine::session;
use trellis::model::command::Control;
use trellis::model::config::PairConfig;
use trellis::model::outbox::EntryState;
use trellis::model::pair::{Kickoff, PauseReason};
use trellis::model::reach::{LiveStatus, OnItsWay, ProcessFact, ProcessMark, SendReport, Transport};
use trellis::model::session::{Need, SessionState};

use super::world::{I, R, World, with_answer};

/// The reviewer is run for each message; nothing runs now.
fn with_headless_reviewer() -> World {
    let mut world = with_answer();
    let carrier = ProcessMark { pid: 42, start_mark: "7".to_owned(), started_at: None };
    let started =
        SendReport { last_key_at: Some(world.now), entered: true, carrier: Some(carrier), ..SendReport::default() };
    world.reviewer.reports.extend([started.clone(), started]);
    world.reviewer.transport = Some(Transport::Headless);
    world.reviewer.process = ProcessFact::Dead;
    world
}

/// Its process runs, or has ended.
fn runs(world: &mut World, runs: bool) {
    world.reviewer.process = if runs { ProcessFact::Alive { pid: 42, started_at: None } } else { ProcessFact::Dead };
    world.reviewer.status = if runs { LiveStatus::Busy } else { LiveStatus::Silent };
    world.reviewer.on_its_way = if runs { OnItsWay::Carried } else { OnItsWay::No };
}

#[test]
fn no_process_between_two_turns_is_idle_and_not_gone() {
    let mut world = with_headless_reviewer();
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    assert_eq!(world.sent(R).len(), 1, "{:?}", world.pair().paused_reason);
    runs(&mut world, true);
    world.wait(20);
    assert_eq!(world.sent(R).len(), 1, "it is being carried");
    world.take(R);
    world.wait(600);
    assert_eq!(world.pair().paused_reason, None, "a long turn is a turn");
    world.answer(R, "Fix the total.");
    world.wait(10);
    let now = world.now;
    let state = |world: &World| {
        session::state(Some(&world.reviewer.conversation), world.reviewer.reach.as_ref(), None, now).state
    };
    world.reviewer.observe(world.now);
    assert!(matches!(state(&world), SessionState::Working { .. }), "its process still runs");
    runs(&mut world, false);
    world.wait(10);
    world.reviewer.observe(world.now);
    assert_eq!(state(&world), SessionState::Idle);
    assert_eq!(world.pair().paused_reason, None);
    assert_eq!(world.sent(I).len(), 1, "and its answer was relayed");
}

#[test]
fn a_process_that_takes_its_time_before_it_takes_the_message_up_is_waited_for() {
    let mut world = with_headless_reviewer();
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    runs(&mut world, true);
    world.wait(600);
    assert_eq!((world.pair().paused_reason, world.sent(R).len()), (None, 1), "it is being carried, not lost");
    // Killed by the system: nothing of it is on its way, and it goes out again after the grace.
    runs(&mut world, false);
    world.wait(45);
    assert_eq!((world.pair().paused_reason, world.sent(R).len()), (None, 2));
    // The next one is as slow, and refuses in the end: that is told at once.
    runs(&mut world, true);
    world.wait(300);
    assert_eq!(world.pair().paused_reason, None);
    runs(&mut world, false);
    world.reviewer.on_its_way = OnItsWay::Refused("it ended at once: Not logged in".to_owned());
    world.wait(6);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::DeliveryFailed));
    assert!(world.pair().paused_detail.contains("Not logged in"), "{}", world.pair().paused_detail);
}

#[test]
fn a_process_that_ends_inside_its_turn_is_an_error_with_its_last_words() {
    let mut world = with_headless_reviewer();
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    runs(&mut world, true);
    world.take(R);
    world.wait(5);
    runs(&mut world, false);
    world.reviewer.last_words = "exit code 137: out of memory".to_owned();
    world.wait(20);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::AgentError));
    assert!(world.pair().paused_detail.contains("out of memory"), "{}", world.pair().paused_detail);
    let state = session::state(Some(&world.reviewer.conversation), world.reviewer.reach.as_ref(), None, world.now);
    assert_eq!(state.state, SessionState::NeedsYou(Need::Error));
    // A resume sends the same message again: nothing was answered.
    world.control(&Control::Resume).unwrap();
    world.wait(10);
    assert_eq!(world.sent(R).len(), 2);
}

#[test]
fn what_was_refused_is_told_at_once_and_never_sent_again_by_itself() {
    let mut world = with_headless_reviewer();
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.reviewer.on_its_way = OnItsWay::Refused("it ended at once: Not logged in".to_owned());
    world.wait(6);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::DeliveryFailed));
    assert!(world.pair().paused_detail.contains("Not logged in"), "{}", world.pair().paused_detail);
    world.wait(600);
    assert_eq!(world.sent(R).len(), 1);
    // The person logs in and resumes: nothing of it is on its way, so it goes out after the grace.
    world.control(&Control::Resume).unwrap();
    world.wait(20);
    assert_eq!(world.sent(R).len(), 1, "the grace has only begun");
    world.wait(20);
    assert_eq!(world.sent(R).len(), 2);
    assert_eq!(world.pair().outbox.len(), 1, "as the same entry");
    // Refused again, it is told again.
    world.wait(6);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::DeliveryFailed));
    assert_eq!(world.sent(R).len(), 2);
}

#[test]
fn what_was_refused_can_be_dropped() {
    let mut world = with_headless_reviewer();
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.reviewer.on_its_way = OnItsWay::Refused("it ended at once: no".to_owned());
    world.wait(6);
    world.control(&Control::Drop).unwrap();
    assert_eq!(world.pair().outbox[0].state, EntryState::Abandoned);
}

#[test]
fn a_session_whose_program_is_missing_is_gone() {
    let mut world = with_headless_reviewer();
    world.reviewer.transport = None;
    world.reviewer.process = ProcessFact::Unknown;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.wait(10);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::AgentGone));
    assert!(world.sent(R).is_empty());
}
