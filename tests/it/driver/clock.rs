//! What a wall clock that is set, and a machine that slept, do to a run: nothing fires wrongly, nothing waits for a day.

use jiff::SignedDuration;
use trellis::driver::ports::Job;
use trellis::model::config::FirstPhase;
use trellis::model::event::EventKind;
use trellis::model::ids::RecordKey;
use trellis::model::run::RunStop;

use super::straight;
use super::world::{World, codex, seconds};

fn hours(n: i64) -> SignedDuration {
    SignedDuration::from_hours(n)
}

/// The run goes through two phases; at its n-th step the clock is moved.
fn moved_at(step: usize, by: SignedDuration) -> (World, RecordKey) {
    let mut world = World::new();
    straight(&mut world, 2);
    let run = world.new_run(FirstPhase::Ask);
    for _ in 0..step {
        world.step();
    }
    world.set_clock(by);
    world.until(seconds(180), "completed", |world| world.run(&run).stop_reason == Some(RunStop::Completed));
    (world, run)
}

#[test]
fn a_clock_that_is_set_back_at_any_step_holds_nothing_up() {
    for step in 0..60 {
        let (world, _) = moved_at(step, -hours(24));
        assert_eq!(world.prompts(&codex()).len(), 3, "step {step}: hello and two relays");
    }
}

#[test]
fn a_sleep_of_the_machine_at_any_step_asks_nobody_and_sends_nothing_twice() {
    // Hours of sleep, and a clock that was set a day ahead.
    for by in [hours(8), hours(24)] {
        for step in 0..60 {
            let (world, _) = moved_at(step, by);
            assert_eq!(world.prompts(&codex()).len(), 3, "step {step}: hello and two relays");
            let pauses = |kind: &EventKind| matches!(kind, EventKind::ChecklistPaused | EventKind::PairPaused);
            let paused = world.events().into_iter().find(pauses);
            assert_eq!(paused, None, "step {step}: {}", world.story());
        }
    }
}

/// An answer from before the clock was set back lies in the future: the work tree is not looked at without an end.
#[test]
fn a_turn_that_ended_in_the_future_does_not_have_the_work_tree_looked_at_again_and_again() {
    for step in 0..60 {
        let mut world = World::new();
        straight(&mut world, 2);
        let run = world.new_run(FirstPhase::Ask);
        for _ in 0..step {
            world.step();
        }
        world.set_clock(-hours(24));
        let mut looks = 0;
        let end = world.now + seconds(60);
        while world.now < end && world.run(&run).stop_reason.is_none() {
            world.step();
            looks += world.jobs.borrow().iter().filter(|job| matches!(job, Job::Git { .. })).count();
        }
        assert!(looks < 60, "step {step}: {looks} looks in a minute");
    }
}
