//! The person of the simulated world: types into panes, leaves drafts, opens dialogs, and answers what needs an answer.

use trellis::model::command::Control;
use trellis::model::ids::{Agent, Role};
use trellis::model::pair::{PairRecord, PairState, PauseReason};
use trellis::model::run::{RunRecord, RunState, RunStep};

use super::agents::Prompt;
use super::ingredients::Ingredient;
use super::world::{Happening, IMPLEMENTER, REVIEWER, World};

/// How a draft of the person begins.
const DRAFT: &str = "half a sentence";

impl World {
    fn some_side(&mut self, what: Ingredient) -> usize {
        usize::try_from(self.between(what, 0, 1)).unwrap()
    }

    /// The person types a prompt; what stands in the box of a Claude goes with it.
    pub fn types(&mut self) {
        let side = self.some_side(Ingredient::Types);
        if !self.agents[side].alive || self.agents[side].dialog || !self.strikes(Ingredient::Types) {
            return;
        }
        let n = self.id("");
        let mut text = format!("by the way, look at number {n} too");
        if self.agents[side].kind == Agent::Claude {
            text = format!("{}{text}", std::mem::take(&mut self.agents[side].input));
        }
        self.submit(side, Prompt::new(text, true));
    }

    /// The person begins a sentence, sends what stands there, or clears it.
    pub fn drafts(&mut self) {
        let side = self.some_side(Ingredient::Drafts);
        let agent = &self.agents[side];
        if agent.kind != Agent::Claude || !agent.alive || agent.dialog || !self.strikes(Ingredient::Drafts) {
            return;
        }
        if self.agents[side].input.is_empty() {
            let n = self.id("");
            self.agents[side].input = format!("{DRAFT} {n}");
        } else if self.between(Ingredient::Drafts, 0, 1) == 0 {
            // Enter on a text of trellis' that lay there makes it no text of the person's.
            let text = std::mem::take(&mut self.agents[side].input);
            let own = text.contains(DRAFT);
            self.submit(side, Prompt::new(text, own));
        } else {
            self.agents[side].input.clear();
        }
    }

    /// A dialog opens, and the person closes it after a while.
    pub fn dialog_opens(&mut self) {
        let side = self.some_side(Ingredient::Dialog);
        if self.agents[side].alive && !self.agents[side].dialog && self.strikes(Ingredient::Dialog) {
            self.agents[side].dialog = true;
            let wait = self.between(Ingredient::Dialog, 500, 120_000);
            self.after(wait, Happening::DialogCloses { side });
        }
    }

    /// The pane is too low to read its box, for a while.
    pub fn box_hides(&mut self) {
        let side = self.some_side(Ingredient::BoxUnknown);
        if self.strikes(Ingredient::BoxUnknown) {
            let wait = i64::try_from(self.between(Ingredient::BoxUnknown, 1_000, 150_000)).unwrap();
            self.agents[side].box_unknown_until = Some(self.now + jiff::SignedDuration::from_millis(wait));
        }
    }

    /// When everything is calm no draft stays behind, and no dialog.
    pub fn tidy_up(&mut self) {
        for side in [IMPLEMENTER, REVIEWER] {
            self.agents[side].dialog = false;
            self.agents[side].box_unknown_until = None;
            if self.agents[side].input.contains(DRAFT) {
                self.agents[side].input.clear();
            }
        }
    }

    /// The screen says what stands in a pane: the person looks there and takes it away.
    pub fn free_panes(&mut self) {
        for side in [IMPLEMENTER, REVIEWER] {
            if !self.agents[side].input.is_empty() || self.agents[side].dialog {
                self.agents[side].input.clear();
                self.agents[side].dialog = false;
                self.say(format!("person frees the pane of {side}"));
            }
        }
    }

    /// Whether nothing of any message can still be on its way.
    fn nothing_is_coming(&self) -> bool {
        let idle =
            |agent: &super::agents::FakeAgent| agent.submitted == 0 && agent.queue.is_empty() && agent.input.is_empty();
        self.agents.iter().all(idle)
            && !self.coming().any(|what| {
                matches!(what, Happening::QueueInsert { .. } | Happening::TakeUp { .. } | Happening::Key(..))
            })
    }
}

/// What a person is asked: the reason that the run gives, or its pair.
pub fn asked(run: &RunRecord, pair: Option<&PairRecord>) -> Option<PauseReason> {
    let of_run = (run.state == RunState::Paused).then_some(run.paused_reason).flatten();
    let of_pair = pair
        .filter(|pair| pair.state == PairState::Paused && run.step == Some(RunStep::Review))
        .and_then(|pair| pair.paused_reason);
    let goes_on_by_itself = |reason: &PauseReason| {
        let limit = run.limit.as_ref().or(pair.and_then(|pair| pair.limit.as_ref()));
        *reason == PauseReason::Limit && limit.is_some_and(|limit| limit.resets_at.is_some())
    };
    of_run.or(of_pair).filter(|reason| !goes_on_by_itself(reason))
}

/// What a sensible person answers. `times`: how often the same was asked in a row.
pub fn answer(world: &mut World, reason: PauseReason, times: u32) -> Control {
    let dead = (0..2).find(|side| !world.agents[*side].alive);
    if let Some(side) = dead {
        // Started again by hand in its pane, or by the key for it.
        if reason != PauseReason::AgentGone || world.rng.chance(50) {
            world.revive(side);
            return Control::Resume;
        }
        return Control::BringBack;
    }
    match reason {
        // What can't be helped is ended; another run goes on from there.
        _ if times > 8 => Control::Stop,
        PauseReason::DeliveryFailed => {
            // The person looks into the pane first: what lies there unsent is taken away before trellis may try again.
            for side in [IMPLEMENTER, REVIEWER] {
                if world.rng.chance(70) {
                    world.agents[side].input.clear();
                }
            }
            if world.nothing_is_coming() && world.rng.chance(50) {
                world.strikes(Ingredient::SendsAgain);
                return Control::SendAgain;
            }
            Control::CheckDelivery
        }
        PauseReason::PhaseNotConverged if world.rng.chance(50) => Control::More { n: 5, blockers_only: false },
        PauseReason::SessionChanged => {
            world.strikes(Ingredient::Follows);
            Control::Follow
        }
        _ => Control::Resume,
    }
}

/// An order out of the blue, of the ingredient that struck.
pub fn whim(world: &mut World, what: Ingredient, run: &RunRecord) -> Option<Control> {
    let control = match what {
        Ingredient::Pauses if run.state == RunState::Running => Control::Pause,
        Ingredient::Retries => Control::Retry,
        Ingredient::Accepts => Control::Accept,
        Ingredient::Skips => Control::Skip,
        Ingredient::Stops => Control::Stop,
        Ingredient::Writes => {
            let side = [Role::Implementer, Role::Reviewer][world.some_side(what)];
            let text = format!("a word from the dashboard, number {}", world.id(""));
            Control::Write { side, text, go_on: world.between(what, 0, 1) == 1 }
        }
        _ => return None,
    };
    world.strikes(what).then_some(control)
}
