//! The person of the simulated world: types into panes, leaves drafts, opens dialogs, and answers what needs an answer.

use trellis::model::command::Control;
use trellis::model::ids::Agent;
use trellis::model::pair::{PairRecord, PairState, PauseReason};
use trellis::model::run::{RunRecord, RunState, RunStep};

use super::world::{Happening, IMPLEMENTER, REVIEWER, World};

/// Something in the panes.
pub fn fiddle(world: &mut World) {
    let side = if world.rng.chance(50) { IMPLEMENTER } else { REVIEWER };
    let claude = world.agents[side].session.agent == Agent::Claude;
    let draft = !world.agents[side].input.is_empty();
    match world.rng.between(0, 9) {
        0..=3 => {
            let n = world.id("");
            let text = format!("by the way, look at number {n} too");
            if claude && draft {
                // What stands in the box goes with it: the person pressed Enter on a mixed text.
                let glued = format!("{}{text}", world.agents[side].input);
                world.agents[side].input.clear();
                world.submit(side, glued, true);
            } else {
                world.submit(side, text, true);
            }
        }
        4..=5 if claude && !draft => {
            let n = world.id("");
            world.say(format!("person leaves a draft in {side}"));
            world.agents[side].input = format!("half a sentence {n}");
        }
        4..=6 if claude && draft => {
            if world.rng.chance(50) {
                // Enter on a text of trellis' that lay there makes it no text of the person's.
                let text = std::mem::take(&mut world.agents[side].input);
                let own = text.contains("half a sentence");
                world.submit(side, text, own);
            } else {
                world.say(format!("person clears the box of {side}"));
                world.agents[side].input.clear();
            }
        }
        7 if !world.agents[side].dialog => {
            world.say(format!("a dialog opens in {side}"));
            world.agents[side].dialog = true;
            let wait = world.rng.between(500, 30_000);
            world.after(wait, Happening::DialogCloses { side });
        }
        _ => {}
    }
}

/// What a sensible person answers to what the run or its pair says. `None`: nothing needs an answer.
pub fn answer(world: &mut World, run: &RunRecord, pair: Option<&PairRecord>) -> Option<Control> {
    let run_reason = (run.state == RunState::Paused).then_some(run.paused_reason).flatten();
    let pair_reason = pair
        .filter(|pair| pair.state == PairState::Paused && run.step == Some(RunStep::Review))
        .and_then(|pair| pair.paused_reason);
    let reason = run_reason.or(pair_reason)?;
    if reason == PauseReason::DeliveryFailed {
        // The person looks into the pane first: what lies there unsent is taken away before trellis may try again.
        for side in [IMPLEMENTER, REVIEWER] {
            if world.rng.chance(70) {
                world.agents[side].input.clear();
            }
        }
        let idle =
            world.agents.iter().all(|agent| agent.submitted == 0 && agent.queue.is_empty() && agent.input.is_empty());
        let nothing_coming = !world
            .agenda
            .values()
            .any(|what| matches!(what, Happening::QueueInsert { .. } | Happening::TakeUp { .. } | Happening::Key(..)));
        if idle && nothing_coming && world.rng.chance(50) {
            return Some(Control::SendAgain);
        }
        return Some(Control::CheckDelivery);
    }
    if reason == PauseReason::PhaseNotConverged && world.rng.chance(50) {
        return Some(Control::More { n: 5, blockers_only: false });
    }
    Some(Control::Resume)
}

/// A control out of the blue.
pub fn whim(world: &mut World, run: &RunRecord) -> Option<Control> {
    match world.rng.between(0, 19) {
        0..=2 if run.state == RunState::Running => Some(Control::Pause),
        3 => Some(Control::Retry),
        4 => Some(Control::Accept),
        5 => Some(Control::Skip),
        6 => Some(Control::Write {
            side: trellis::model::ids::Role::Implementer,
            text: format!("a word from the dashboard, number {}", world.id("")),
            go_on: world.rng.chance(50),
        }),
        _ => None,
    }
}

/// The person leaves: no draft stays behind, no dialog stays open.
pub fn tidies_up(world: &mut World) {
    for side in [IMPLEMENTER, REVIEWER] {
        world.agents[side].dialog = false;
        if world.agents[side].input.starts_with("half a sentence") {
            world.agents[side].input.clear();
        }
    }
}
