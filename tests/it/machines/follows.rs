//! A side that is followed while a person's message is open: what was asked of it is asked again behind that message.
//! Follows of other records are in `traces_runs`.

use trellis::model::command::{Confirm, Control};
use trellis::model::config::{FirstPhase, PairConfig, RunConfig};
use trellis::model::ids::{Role, SessionId};
use trellis::model::outbox::Purpose;
use trellis::model::pair::{Kickoff, PairStep, PairStop, PauseReason};
use trellis::model::run::RunStep;

use super::world::{I, R, World, reviewing, with_answer};

const WORDS: &str = "mind the docs";

/// A person writes to a side whose box holds their own text: it waits.
fn write(world: &mut World, side: Role, go_on: bool) {
    world.missing_tick(side, "a draft stands in the box");
    world.control(&Control::Write { side, text: WORDS.to_owned(), go_on }).unwrap();
    world.wait(6);
    assert_ne!(world.sent(side).last(), Some(&WORDS), "it waits");
}

/// A side goes over to an empty conversation, and the person follows it there.
fn follow(world: &mut World, role: Role) {
    let new = SessionId::new("new");
    world.side(role).replaced_by = Some((new.clone(), "the pane answers under another id".to_owned()));
    let now = world.now;
    world.side(role).observe(now);
    world.wait(12);
    world.control_only(&Control::Follow).unwrap();
    let side = world.side(role);
    side.session.session_id = new;
    side.replaced_by = None;
    side.conversation.turns.clear();
    side.reach = None;
    world.wait(4);
}

/// The draft is gone: the message goes out and is taken.
fn let_through(world: &mut World, side: Role) {
    world.clear_box(side);
    world.wait(12);
    assert_eq!(world.sent(side).last(), Some(&WORDS));
    world.take(side);
    world.wait(4);
}

/// To the other side, whether or not the loop is to go on with it (seed 5011009).
#[test]
fn what_was_asked_of_a_followed_reviewer_is_asked_again_behind_a_message_of_a_person() {
    for go_on in [false, true] {
        let mut world = reviewing(PairConfig::default());
        write(&mut world, I, go_on);
        follow(&mut world, R);
        assert_eq!(world.sent(R).len(), 1, "one message at a time");
        let_through(&mut world, I);
        if !go_on {
            assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
            assert_eq!(world.sent(R).len(), 1, "nothing begins while it is paused");
            world.control(&Control::Resume).unwrap();
            world.wait(4);
        }
        assert_eq!(world.sent(R).len(), 2);
        assert_eq!(world.sent(R)[0], world.sent(R)[1]);
        let again = world.pair().outbox.last().unwrap();
        assert_eq!((again.purpose, &again.resend_of), (Purpose::Continue, &Some(world.pair().outbox[0].id.clone())));
        world.take(R);
        world.answer(I, "The docs say so.");
        world.answer(R, "Fix the total.");
        world.wait(12);
        assert_eq!(world.pair().round_count, 1, "it counts as no other relay");
        assert!(world.sent(I).last().unwrap().contains("Fix the total."));
    }
}

/// The same with the other side (seed 5007692).
#[test]
fn what_was_asked_of_a_followed_implementer_is_asked_again_behind_a_message_of_a_person() {
    let mut world = reviewing(PairConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(4);
    world.take(I);
    world.wait(1);
    write(&mut world, R, true);
    follow(&mut world, I);
    assert_eq!(world.sent(I).len(), 1);
    let_through(&mut world, R);
    assert_eq!(world.sent(I).len(), 2);
    assert!(world.sent(I)[1].contains("Fix the total."));
    assert_eq!(world.pair().step, Some(PairStep::AwaitImplementer));
}

/// To the side that is followed: it answers the person, and is then asked for its review all the same, since its new
/// conversation knows nothing of the work.
#[test]
fn a_followed_reviewer_that_a_person_writes_to_is_given_the_work_again() {
    let mut world = reviewing(PairConfig::default());
    write(&mut world, R, true);
    follow(&mut world, R);
    let_through(&mut world, R);
    world.answer(R, "LGTM");
    world.wait(12);
    assert_eq!(world.pair().stop_reason, None, "what it was not given it cannot approve");
    assert!(world.sent(R).last().unwrap().contains("Phase one is built."), "{:?}", world.pair());
    world.take(R);
    world.answer(R, "LGTM");
    world.wait(12);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm));
}

/// A relay that waits while its side is followed goes to the new session and is known there (seen in seed 5007692: it
/// passed for a person's prompt, and was asked about again and again).
#[test]
fn a_message_that_waits_while_its_side_is_followed_is_known_in_the_new_session() {
    let mut world = with_answer();
    world.missing_tick(R, "a draft stands in the box");
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.wait(6);
    follow(&mut world, R);
    assert_eq!(world.sent(R).len(), 0);
    world.clear_box(R);
    world.wait(12);
    world.take(R);
    world.wait(4);
    assert_eq!((world.pair().round_count, world.pair().paused_reason), (1, None));
    world.answer(R, "LGTM");
    world.wait(12);
    assert_eq!((world.pair().stop_reason, world.sent(R).len()), (Some(PairStop::Lgtm), 1));
}

/// In front of a phase: the prompt for the phase goes to the new conversation behind a message to the reviewer. What a
/// person writes to the implementer there is what the phase is, and nothing else is asked.
#[test]
fn a_phase_prompt_is_asked_again_behind_a_message_of_a_person() {
    for side in [R, I] {
        let mut world = World::new();
        world.new_run(RunConfig { first_phase: FirstPhase::Ask, ..RunConfig::default() }).unwrap();
        world.wait(4);
        world.take(I);
        world.wait(1);
        assert_eq!((world.run().step, world.sent(I).len()), (Some(RunStep::Probe), 1));
        write(&mut world, side, false);
        follow(&mut world, I);
        let_through(&mut world, side);
        let phase_prompts = world.sent(I).iter().filter(|text| **text != WORDS).count();
        assert_eq!(phase_prompts, if side == R { 2 } else { 1 });
    }
}

/// A pair whose reviewer answered, with the relay of it waiting for the person's look, and was followed then.
fn followed_with_a_relay_to_look_at() -> World {
    let mut world = reviewing(PairConfig::default());
    let changes = serde_json::json!({ "confirm_before_relay": true });
    let changes = changes.as_object().unwrap().clone();
    world.control(&Control::Configure { changes, by: "user".to_owned() }).unwrap();
    world.answer(R, "The key is missing.");
    world.wait(4);
    assert_eq!(world.pair().step, Some(PairStep::ConfirmRelay));
    follow(&mut world, R);
    assert!(world.pair().pending_confirm.is_some());
    assert_eq!((world.pair().outbox.len(), world.sent(R).len()), (1, 1), "{:?}", world.pair().outbox);
    world
}

/// An answer whose relay waits for the person's look is not asked for again: that relay is the one thing that goes out.
#[test]
fn a_side_whose_answer_waits_for_a_look_is_followed_without_being_asked_again() {
    let mut world = followed_with_a_relay_to_look_at();
    world.control(&Control::Confirm(Confirm::Send { edited_text: None })).unwrap();
    world.wait(4);
    assert!(world.sent(I).last().unwrap().contains("The key is missing."));
    world.take(I);
    world.answer(I, "The key is there.");
    world.wait(4);
    assert!(world.pair().pending_confirm.is_some(), "the next relay waits for a look");
    assert_eq!(world.sent(R).len(), 1);
}

/// The same, and the person drops it: what the new session answers next is offered.
#[test]
fn a_dropped_answer_of_a_session_that_was_left_is_followed_by_the_next_of_the_new_one() {
    let mut world = followed_with_a_relay_to_look_at();
    world.control(&Control::Confirm(Confirm::Drop)).unwrap();
    world.wait(4);
    assert_eq!((world.pair().outbox.len(), world.sent(R).len()), (1, 1), "{:?}", world.pair().outbox);
    world.prompt(R, "look at it once more");
    world.answer(R, "The key is still missing.");
    world.wait(12);
    if world.pair().paused_reason == Some(PauseReason::UserTyped) {
        world.control(&Control::Resume).unwrap();
        world.wait(12);
    }
    let pending = world.pair().pending_confirm.as_ref().map(|pending| pending.text.text().to_owned());
    assert!(pending.is_some_and(|text| text.contains("still missing")), "{:?}", world.pair());
}
