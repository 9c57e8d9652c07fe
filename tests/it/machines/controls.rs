//! Control × state × step: each is possible, and then does something, or is refused with a reason and does nothing.

use trellis::machine::{pair, run};
use trellis::model::command::{Confirm, Control};
use trellis::model::config::{FirstPhase, NearMissRule, PairConfig, RunConfig};
use trellis::model::conversation::Outcome;
use trellis::model::ids::SessionId;
use trellis::model::pair::Kickoff;

use super::world::{I, R, World, reviewing, run_in_review, with_answer};

fn every() -> Vec<Control> {
    vec![
        Control::Pause,
        Control::Resume,
        Control::Ask,
        Control::Retry,
        Control::More { n: 2, blockers_only: false },
        Control::Accept,
        Control::Skip,
        Control::AsFeedback,
        Control::Rename { name: "new name".to_owned() },
        Control::ForceRelay,
        Control::Confirm(Confirm::Send { edited_text: None }),
        Control::Write { side: I, text: "words".to_owned(), go_on: false },
        Control::Follow,
        Control::BringBack,
        Control::CheckDelivery,
        Control::SendAgain,
        Control::Drop,
        Control::ByHand,
        Control::Stop,
        Control::RunOn,
        Control::Discard,
    ]
}

/// Checks which controls are possible in a position, and that the others are refused with a reason.
fn check(position: &str, world: impl Fn() -> World, possible: &[&str]) {
    let mut found = Vec::new();
    for control in every() {
        let mut world = world();
        let before = (world.runs.clone(), world.pairs.clone());
        match world.control_only(&control) {
            Ok(()) => found.push(control.name()),
            Err(refusal) => {
                assert!(!refusal.message.is_empty(), "{position}: {} without a reason", control.name());
                assert_eq!(before, (world.runs.clone(), world.pairs.clone()), "{position}: {}", control.name());
            }
        }
        world.settle();
    }
    assert_eq!(found, possible, "{position}");
    listed(position, &world(), possible);
}

/// What the screen says is impossible is what is refused.
fn listed(position: &str, world: &World, possible: &[&str]) {
    let parts = world.scene();
    let impossible = if let Some(record) = world.runs.last() {
        let pairs = world.pairs_of(record);
        run::impossible(record, &pairs, &world.scene_of(&parts, &record.implementer, &record.reviewer))
    } else {
        let record = world.pairs.values().next_back().unwrap();
        pair::impossible(record, &world.scene_of(&parts, &record.implementer, &record.reviewer))
    };
    for (name, reason) in impossible {
        assert!(!possible.contains(&name.as_str()), "{position}: {name} is possible, but listed: {reason}");
        assert!(!reason.is_empty());
    }
}

fn paused(mut world: World) -> World {
    world.control(&Control::Pause).unwrap();
    world
}

fn run_at(first_phase: FirstPhase) -> World {
    let mut world = World::new();
    world.prompt(I, "an old question");
    world.answer(I, "An old answer.");
    world.pass(10);
    world.new_run(RunConfig { first_phase, ..RunConfig::default() }).unwrap();
    world.wait(4);
    world
}

#[test]
fn a_run_in_probe() {
    let probe = || run_at(FirstPhase::Next);
    check("probe, running", probe, &["pause", "ask", "retry", "skip", "rename", "write", "stop"]);
    check("probe, paused", || paused(probe()), &["resume", "retry", "skip", "rename", "write", "stop"]);
    let unanswered = || {
        let mut world = World::new();
        world.new_run(RunConfig::default()).unwrap();
        world
    };
    check("probe, no answer yet", unanswered, &["pause", "ask", "skip", "rename", "write", "stop"]);
}

#[test]
fn a_run_in_advance() {
    let flying = || run_at(FirstPhase::Ask);
    check(
        "advance, in flight",
        flying,
        &["pause", "rename", "check_delivery", "send_again", "drop", "by_hand", "stop"],
    );
    let held = || {
        let mut world = World::new();
        world.missing_tick(I, "a draft");
        world.new_run(RunConfig { first_phase: FirstPhase::Ask, ..RunConfig::default() }).unwrap();
        world.wait(3);
        world
    };
    check("advance, prepared", held, &["pause", "skip", "rename", "drop", "by_hand", "stop"]);
    check("advance, paused", || paused(held()), &["resume", "skip", "rename", "drop", "by_hand", "stop"]);
}

#[test]
fn a_run_in_review_at_every_stage() {
    let review = || run_in_review(RunConfig::default());
    check("review, running", review, &["pause", "retry", "accept", "skip", "rename", "write", "stop"]);
    check("review, paused", || paused(review()), &["resume", "retry", "accept", "skip", "rename", "write", "stop"]);
    let looked_at = || {
        let mut world = World::new();
        world.new_run(RunConfig { confirm_before_relay: true, ..RunConfig::default() }).unwrap();
        world.prompt(I, "one");
        world.answer(I, "One.");
        world.wait(5);
        world
    };
    check("review, look first", looked_at, &["pause", "retry", "accept", "skip", "rename", "confirm", "stop"]);
    let near = || {
        let mut world = run_in_review(RunConfig { near_miss: NearMissRule::Wait, ..RunConfig::default() });
        world.answer(R, "Verdict: LGTM");
        world.wait(5);
        world
    };
    check(
        "review, near miss",
        near,
        &["pause", "resume", "retry", "accept", "skip", "as_feedback", "rename", "write", "stop"],
    );
    let capped = || {
        let mut world = run_in_review(RunConfig { max_rounds: 1, ..RunConfig::default() });
        world.answer(R, "Fix the total.");
        world.wait(5);
        world
    };
    check("review, not converged", capped, &["resume", "retry", "more", "accept", "skip", "rename", "write", "stop"]);
}

#[test]
fn a_run_that_needs_somebody() {
    let failed = || {
        let mut world = run_at(FirstPhase::Ask);
        world.implementer.input = trellis::model::reach::InputBox::Unknown;
        world.wait(65);
        world
    };
    check(
        "advance, delivery failed",
        failed,
        &["resume", "rename", "check_delivery", "send_again", "drop", "by_hand", "stop"],
    );
    let gone = || {
        let mut world = run_at(FirstPhase::Next);
        world.kill_agent(I);
        world.wait(12);
        world
    };
    check("probe, gone", gone, &["resume", "retry", "skip", "rename", "bring_back", "stop"]);
    let changed = || {
        let mut world = run_at(FirstPhase::Next);
        world.implementer.replaced_by = Some((SessionId::new("new"), "status file".to_owned()));
        world.wait(12);
        world
    };
    check("probe, session changed", changed, &["retry", "skip", "rename", "follow", "stop"]);
}

#[test]
fn a_stopped_run() {
    let stopped = || {
        let mut world = run_in_review(RunConfig::default());
        world.control(&Control::Stop).unwrap();
        world
    };
    check("stopped", stopped, &["rename", "run_on", "discard"]);
}

#[test]
fn a_pair_without_a_run() {
    let review = || reviewing(PairConfig::default());
    check("pair, reviewing", review, &["pause", "retry", "accept", "write", "stop"]);
    check("pair, paused", || paused(review()), &["resume", "retry", "accept", "write", "stop"]);
    let flying = || {
        let mut world = with_answer();
        world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
        world
    };
    check(
        "pair, in flight",
        flying,
        &["pause", "retry", "accept", "check_delivery", "send_again", "drop", "by_hand", "stop"],
    );
    let background = || {
        let mut world = reviewing(PairConfig::default());
        world.answer(R, "Fix the total.");
        world.reviewer.conversation.background_agents = 1;
        world.wait(5);
        world
    };
    check("pair, background agents", background, &["pause", "retry", "accept", "force_relay", "write", "stop"]);
    let interrupted = || {
        let mut world = reviewing(PairConfig::default());
        world.end(R, Outcome::Interrupted);
        world.wait(5);
        world
    };
    check("pair, interrupted", interrupted, &["resume", "retry", "accept", "write", "stop"]);
    let agreed = || {
        let mut world = reviewing(PairConfig::default());
        world.answer(R, "LGTM");
        world.wait(5);
        world
    };
    check("pair, agreed", agreed, &["discard"]);
    let capped = || {
        let mut world = reviewing(PairConfig { max_rounds: 1, ..PairConfig::default() });
        world.answer(R, "Fix the total.");
        world.wait(5);
        world
    };
    check("pair, capped", capped, &["retry", "more", "discard"]);
}
