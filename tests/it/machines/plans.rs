//! What is said of going on is what the next order does: every reason for a pause, in every position of the loop, and in
//! random histories. The plan is compared with the records and with what reached the agents.

use trellis::machine::plan::{self, Act, Plan, When};
use trellis::model::command::{Confirm, Control};
use trellis::model::config::{FirstPhase, NearMissRule, PairConfig, RunConfig};
use trellis::model::conversation::{FailureClass, Outcome};
use trellis::model::ids::{Role, SessionId};
use trellis::model::outbox::{Entry, Purpose};
use trellis::model::pair::{Kickoff, PairRecord, PauseReason};
use trellis::model::reach::LiveStatus;
use trellis::model::run::RunStep;

use super::world::{I, R, World, reviewing, run_in_review, with_answer};

/// What going on would do now.
pub fn planned(world: &World) -> Plan {
    let parts = world.scene();
    if let Some(run) = world.runs.last() {
        let scene = world.scene_of(&parts, &run.implementer, &run.reviewer);
        return plan::of_run(run, &world.pairs_of(run), &scene);
    }
    let pair = newest_pair(world).unwrap();
    plan::of_pair(pair, &world.scene_of(&parts, &pair.implementer, &pair.reviewer))
}

fn newest_pair(world: &World) -> Option<&PairRecord> {
    match world.runs.last() {
        Some(run) => world.pairs.get(run.current_pair_id.as_ref()?),
        None => world.pairs.values().next_back(),
    }
}

/// The message that the loop still waits for; what an ended pair had under way is nobody's wait any more.
fn open_entry(world: &World) -> Option<&Entry> {
    let of_run = world.runs.last().and_then(|run| run.open_entry());
    of_run.or_else(|| newest_pair(world).filter(|pair| pair.is_active()).and_then(|pair| pair.open_entry()))
}

fn entry_sent_last(world: &World, role: Role) -> Option<&Entry> {
    let id = match role {
        Role::Implementer => &world.implementer.inbox.last()?.entry,
        Role::Reviewer => &world.reviewer.inbox.last()?.entry,
    };
    let of_runs = world.runs.iter().flat_map(|run| &run.outbox);
    of_runs.chain(world.pairs.values().flat_map(|pair| &pair.outbox)).find(|entry| &entry.id == id)
}

fn pause(world: &World) -> Option<PauseReason> {
    let of_run = world.runs.last().and_then(|run| run.paused_reason);
    of_run.or_else(|| newest_pair(world).filter(|pair| pair.is_active()).and_then(|pair| pair.paused_reason))
}

fn sent(world: &World) -> (usize, usize) {
    (world.implementer.inbox.len(), world.reviewer.inbox.len())
}

/// Lets the loop go on, and holds what comes of it against what was said before.
pub fn go_on_as_said(world: &mut World) -> Plan {
    let said = planned(world);
    let before = sent(world);
    let flying = open_entry(world).filter(|entry| entry.attempts > 0).map(|entry| entry.id.clone());
    let was_refused = world.control(&Control::Resume).err();
    let told = format!("said {said:?}, sent {before:?} → {:?}, open {:?}", sent(world), open_entry(world));
    if let Act::Refused(why) = &said.act {
        assert_eq!(was_refused.map(|refusal| refusal.message).as_ref(), Some(why));
        return said;
    }
    assert_eq!(was_refused, None, "{told}");
    if said.when == When::Soon {
        world.wait(6);
    }
    let now = sent(world);
    let grew = |role: Role| match role {
        Role::Implementer => now.0 - before.0,
        Role::Reviewer => now.1 - before.1,
    };
    let is_silent = before == now;
    match (&said.act, said.when) {
        (Act::Sends { purpose, to, .. }, When::Now | When::Soon) => {
            assert_eq!((grew(*to), grew(to.other())), (1, 0), "{told}");
            assert_eq!(entry_sent_last(world, *to).map(|entry| entry.purpose), Some(*purpose), "{told}");
        }
        (Act::Sends { purpose: Purpose::Advance, .. }, When::Free) => assert!(is_silent, "{told}"),
        (Act::Sends { purpose, to, .. }, When::Free | When::Clear) => {
            assert!(is_silent, "{told}");
            assert_eq!(open_entry(world).map(|entry| (entry.purpose, entry.target)), Some((*purpose, *to)), "{told}");
        }
        (Act::LooksFor { purpose, to }, _) => {
            assert!(is_silent, "{told}");
            let open = open_entry(world).unwrap();
            assert_eq!((open.purpose, open.target, Some(&open.id)), (*purpose, *to, flying.as_ref()), "{told}");
        }
        (Act::Shows { to, .. }, _) => {
            assert!(is_silent, "{told}");
            assert_eq!(newest_pair(world).unwrap().pending_confirm.as_ref().unwrap().target, *to, "{told}");
        }
        (Act::TakesPhase(_), _) => assert_eq!(world.run().step, Some(RunStep::Review), "{told}"),
        (Act::WaitsForEnd(_) | Act::WaitsForFree(_) | Act::WaitsForAnswer(_), _) => {
            assert!(is_silent, "{told}");
            assert!(open_entry(world).is_none(), "{told}");
            assert_eq!(pause(world), None, "{told}");
        }
        (Act::EndsRun(stop), _) => assert_eq!(world.run().stop_reason, Some(*stop), "{told}"),
        (Act::EndsPair(stop), _) => assert_eq!(newest_pair(world).unwrap().stop_reason, Some(*stop), "{told}"),
        (Act::Pauses(reason, _), _) => {
            assert!(is_silent, "{told}");
            assert_eq!(pause(world), Some(*reason), "{told}");
        }
        (Act::Refused(_), _) => {}
    }
    said
}

fn sends(plan: &Plan) -> Option<(Purpose, Role)> {
    match plan.act {
        Act::Sends { purpose, to, .. } => Some((purpose, to)),
        _ => None,
    }
}

fn paused_by(world: &World, reason: PauseReason) {
    assert_eq!(pause(world), Some(reason), "{:?}", world.decisions.last());
}

/// A run whose builder works on what the reviewer found.
fn run_in_building() -> World {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "Two remarks.");
    world.wait(4);
    world.take(I);
    world.pass(1);
    world
}

/// A run whose builder was asked for the second phase.
fn run_asked() -> World {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "LGTM");
    world.wait(6);
    world.take(I);
    world.pass(1);
    world
}

/// The finding of a person with two real agents: an interrupted turn that was prompted by us is asked to go on.
#[test]
fn an_interrupted_builder_is_asked_to_go_on_and_that_is_what_is_said() {
    for (mut world, does_something) in
        [(run_in_building(), true), (run_asked(), true), (run_in_building(), false), (run_asked(), false)]
    {
        if does_something {
            world.tool(I, true);
        }
        world.end(I, Outcome::Interrupted);
        world.wait(4);
        paused_by(&world, PauseReason::UserTyped);
        let said = go_on_as_said(&mut world);
        assert_eq!(sends(&said), Some((Purpose::Continue, I)), "{said:?}");
        let Act::Sends { is_same_text, .. } = said.act else { panic!() };
        assert_eq!(is_same_text, !does_something);
        // The log and the reply say what went out.
        let words = if does_something { "asks claude to go on" } else { "sends the same message to claude again" };
        let decided = world.decisions.iter().rev().any(|decision| decision.what == words);
        assert!(decided, "{:?}", world.decisions);
    }
    // A turn of the person's own is theirs: the loop waits for the next one.
    let mut world = run_in_building();
    world.answer(I, "Done.");
    world.prompt(I, "no, wait");
    world.wait(1);
    world.end(I, Outcome::Interrupted);
    world.wait(4);
    paused_by(&world, PauseReason::UserTyped);
    assert_eq!(go_on_as_said(&mut world).act, Act::WaitsForAnswer(I));
}

#[test]
fn a_pause_by_hand_goes_on_as_it_says_in_every_position() {
    type Case = (&'static str, fn() -> World, fn(&Plan) -> bool);
    let cases: [Case; 8] = [
        ("the reviewer works", || run_in_review(RunConfig::default()), |plan| plan.act == Act::WaitsForEnd(R)),
        ("the builder works", run_in_building, |plan| plan.act == Act::WaitsForEnd(I)),
        ("the builder was asked", run_asked, |plan| plan.act == Act::WaitsForEnd(I)),
        (
            "the reviewer found something",
            || {
                let mut world = run_in_review(RunConfig::default());
                world.control(&Control::Pause).unwrap();
                world.answer(R, "Two remarks.");
                world.wait(4);
                world
            },
            |plan| sends(plan) == Some((Purpose::ToImplementer, I)) && !plan.agrees,
        ),
        (
            "the reviewer has just answered",
            || {
                let mut world = run_in_review(RunConfig::default());
                world.control(&Control::Pause).unwrap();
                world.answer(R, "Two remarks.");
                world.pass(1);
                world
            },
            |plan| sends(plan) == Some((Purpose::ToImplementer, I)) && plan.when == When::Soon,
        ),
        (
            "the reviewer approves",
            || {
                let mut world = run_in_review(RunConfig::default());
                world.control(&Control::Pause).unwrap();
                world.answer(R, "LGTM");
                world.wait(4);
                world
            },
            |plan| sends(plan) == Some((Purpose::Advance, I)) && plan.agrees,
        ),
        (
            "the reviewer is at work otherwise",
            || {
                let mut world = run_in_building();
                world.control(&Control::Pause).unwrap();
                world.answer(I, "Fixed.");
                world.side(R).status = LiveStatus::Busy;
                world.wait(8);
                world
            },
            |plan| sends(plan) == Some((Purpose::ToReviewer, R)) && plan.when == When::Free,
        ),
        (
            "the reviewer's box is full",
            || {
                let mut world = run_in_building();
                world.control(&Control::Pause).unwrap();
                world.answer(I, "Fixed.");
                world.missing_tick(R, "the box holds text of yours");
                world.wait(8);
                world
            },
            |plan| sends(plan) == Some((Purpose::ToReviewer, R)) && plan.when == When::Clear,
        ),
    ];
    for (name, world, expected) in cases {
        let mut world = world();
        if pause(&world).is_none() {
            world.control(&Control::Pause).unwrap();
        }
        paused_by(&world, PauseReason::Manual);
        let said = go_on_as_said(&mut world);
        assert!(expected(&said), "{name}: {said:?}");
    }
}

#[test]
fn each_reason_goes_on_as_it_says() {
    let mut world = run_in_building();
    world.prompt(R, "what do you think?");
    world.wait(2);
    paused_by(&world, PauseReason::UserTyped);
    assert_eq!(go_on_as_said(&mut world).act, Act::WaitsForEnd(I), "typed to the side that is not awaited");

    let mut world = run_in_building();
    world.answer(I, "Fixed.");
    world.prompt(I, "and the tests");
    world.answer(I, "Tests too.");
    world.wait(4);
    paused_by(&world, PauseReason::UserTyped);
    assert_eq!(sends(&go_on_as_said(&mut world)), Some((Purpose::ToReviewer, R)), "the answer to the person");

    // What an accepted phase still had on its way to the reviewer is no part of what comes next.
    let mut world = World::new();
    world.new_run(RunConfig::default()).unwrap();
    world.pass(5);
    world.prompt(I, "please build phase one");
    world.answer(I, "Phase one is built.");
    world.wait(4);
    assert_eq!((world.sent(R).len(), world.reviewer.conversation.turns.len()), (1, 0), "typed and not yet seen");
    world.control(&Control::Accept).unwrap();
    world.wait(100);
    paused_by(&world, PauseReason::DeliveryFailed);
    world.take(I);
    assert_eq!(go_on_as_said(&mut world).act, Act::WaitsForEnd(I), "the phase prompt was seen while it was paused");

    for asked in [run_in_building(), run_asked()] {
        let mut world = asked;
        world.end(I, Outcome::Completed);
        world.wait(4);
        paused_by(&world, PauseReason::NoAnswer);
        assert_eq!(sends(&go_on_as_said(&mut world)), Some((Purpose::Continue, I)), "no answer");
    }
    for (class, reason) in [
        (FailureClass::Limit, PauseReason::Limit),
        (FailureClass::Auth, PauseReason::AgentError),
        (FailureClass::Other, PauseReason::AgentError),
    ] {
        for world in [run_in_building(), run_asked()] {
            let mut world = world;
            world.tool(I, false);
            world.fail(I, class, None);
            world.wait(4);
            paused_by(&world, reason);
            assert_eq!(sends(&go_on_as_said(&mut world)), Some((Purpose::Continue, I)), "{class:?}");
        }
    }
}

#[test]
fn near_misses_and_looks_go_on_as_they_say() {
    let wait = || PairConfig { near_miss: NearMissRule::Wait, ..PairConfig::default() };
    let mut world = reviewing(wait());
    world.answer(R, "Verdict: LGTM");
    world.wait(4);
    paused_by(&world, PauseReason::NearMiss);
    assert_eq!(sends(&go_on_as_said(&mut world)), Some((Purpose::ToImplementer, I)));

    let mut world = reviewing(wait());
    world.answer(R, "Verdict: LGTM");
    world.wait(4);
    world.prompt(R, "yes or no?");
    world.answer(R, "LGTM");
    world.wait(4);
    let said = go_on_as_said(&mut world);
    assert!(matches!(said.act, Act::EndsPair(trellis::model::pair::PairStop::Lgtm)), "{said:?}");

    let config = PairConfig { confirm_before_relay: true, ..PairConfig::default() };
    let mut world = with_answer();
    world.new_pair(Kickoff::UseCurrent, config).unwrap();
    world.wait(3);
    world.control(&Control::Pause).unwrap();
    assert!(matches!(go_on_as_said(&mut world).act, Act::Shows { to: R, relay: 1 }));
    world.control(&Control::Confirm(Confirm::Drop)).unwrap();
    world.control(&Control::Pause).unwrap();
    assert_eq!(go_on_as_said(&mut world).act, Act::WaitsForAnswer(I));
}

#[test]
fn agents_that_went_and_messages_that_are_lost_go_on_as_they_say() {
    // An agent that ended while the run waited for its person: going on would only stop again.
    let mut world = run_in_building();
    world.tool(I, true);
    world.end(I, Outcome::Interrupted);
    world.wait(4);
    paused_by(&world, PauseReason::UserTyped);
    world.kill_agent(I);
    world.wait(12);
    let said = go_on_as_said(&mut world);
    assert!(matches!(said.act, Act::Pauses(PauseReason::AgentGone, _)), "{said:?}");
    world.wait(2);
    assert!(matches!(go_on_as_said(&mut world).act, Act::Pauses(PauseReason::AgentGone, _)));
    world.bring_agent(I);
    world.side(I).reach = None;
    world.wait(12);
    assert_eq!(sends(&go_on_as_said(&mut world)), Some((Purpose::Continue, I)));

    // A message that is not seen.
    let mut world = run_in_building();
    world.answer(I, "Fixed.");
    world.wait(70);
    paused_by(&world, PauseReason::DeliveryFailed);
    assert_eq!(go_on_as_said(&mut world).act, Act::LooksFor { purpose: Purpose::ToReviewer, to: R });

    // Another conversation is followed or left, never gone on with.
    let mut world = run_in_building();
    world.side(I).replaced_by = Some((SessionId::from("another"), "same pane".to_owned()));
    world.side(I).reach = None;
    world.wait(12);
    paused_by(&world, PauseReason::SessionChanged);
    let said = planned(&world);
    assert_eq!(world.control(&Control::Resume).is_err(), matches!(said.act, Act::Refused(_)), "{said:?}");
}

#[test]
fn ends_of_reviews_go_on_as_they_say() {
    let mut world = run_in_review(RunConfig { max_rounds: 1, ..RunConfig::default() });
    world.answer(R, "Two remarks.");
    world.wait(4);
    paused_by(&world, PauseReason::PhaseNotConverged);
    assert_eq!(sends(&go_on_as_said(&mut world)), Some((Purpose::ToReviewer, R)), "as a review again");

    let mut world = run_in_review(RunConfig { max_phases: 1, ..RunConfig::default() });
    world.answer(R, "LGTM");
    world.wait(6);
    paused_by(&world, PauseReason::PhaseLimit);
    assert_eq!(sends(&go_on_as_said(&mut world)), Some((Purpose::Advance, I)));

    let mut world = World::new();
    world.new_run(RunConfig { first_phase: FirstPhase::Next, ..RunConfig::default() }).unwrap();
    world.control(&Control::Pause).unwrap();
    assert_eq!(go_on_as_said(&mut world).act, Act::WaitsForAnswer(I), "nobody is prompted");
    world.control(&Control::Pause).unwrap();
    world.prompt(I, "build phase one");
    world.answer(I, "Built.");
    world.wait(4);
    assert_eq!(sends(&go_on_as_said(&mut world)), Some((Purpose::ToReviewer, R)), "the first phase");
}
