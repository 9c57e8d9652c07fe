//! What an order would do: it and the looks that follow it are carried out on copies, and nothing of that is kept. So
//! what is said before a key is pressed is what the key does. No sentence, and no rule of the loops, lives here.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::common::Loop;
use super::delivery::{self, Next};
use super::draft::Draft;
use super::prompts::SIDES;
use super::session::{self, Busy};
use super::turns::{self, Reading};
use super::{Effect, PairOrder, Scene, pair, run, sending};
use crate::model::command::Control;
use crate::model::ids::{EntryId, Role, SessionKey, TurnId};
use crate::model::outbox::{Entry, Purpose};
use crate::model::pair::{PairRecord, PairStop, PauseReason};
use crate::model::run::{RunRecord, RunState, RunStep, RunStop};

/// Looks that may follow the order; a loop comes to rest after a handful.
const LOOKS: u32 = 16;

/// What going on would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The first thing that a person would see of it.
    pub act: Act,
    /// When that comes.
    pub when: When,
    /// A phase is agreed on by it, before.
    pub agrees: bool,
}

impl Plan {
    /// Why going on from this pause would be none: a side is not there, and it would stop again at once. A pause by hand
    /// ends all the same: then it is said who is missing, and what helps.
    #[must_use]
    pub fn stops_again(&self, paused: PauseReason) -> Option<String> {
        match &self.act {
            Act::Pauses(PauseReason::AgentGone, why) if paused != PauseReason::Manual => {
                Some(format!("it would stop again at once: {why}"))
            }
            _ => None,
        }
    }
}

/// The first thing that a person would see of an order to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Nothing: the order is refused, and why.
    Refused(String),
    /// A message goes out.
    Sends {
        /// What for.
        purpose: Purpose,
        /// To which side.
        to: Role,
        /// The turn whose answer it carries.
        source: Option<TurnId>,
        /// Which relay it would be, if it is one.
        relay: Option<u32>,
        /// The very text that was sent before.
        is_same_text: bool,
    },
    /// A message that may be on its way is looked for.
    LooksFor {
        /// What for.
        purpose: Purpose,
        /// To which side.
        to: Role,
    },
    /// A relay is shown before it is sent.
    Shows {
        /// To which side it would go.
        to: Role,
        /// Which one it would be.
        relay: u32,
    },
    /// The builder's answer is taken as a phase.
    TakesPhase(TurnId),
    /// A side's turn is waited for.
    WaitsForEnd(Role),
    /// A side is at work otherwise.
    WaitsForFree(Role),
    /// A side is waited for that nobody of us prompts.
    WaitsForAnswer(Role),
    /// The pair ends, and how.
    EndsPair(PairStop),
    /// The run ends, and how.
    EndsRun(RunStop),
    /// It stops again at once: why, in the record's words.
    Pauses(PauseReason, String),
}

/// When something comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// With the order.
    Now,
    /// A look or a quiet moment later.
    Soon,
    /// Once its target is free.
    Free,
    /// Once nothing lies in its way.
    Clear,
}

/// What [`Control::Resume`] would do to a run.
#[must_use]
pub fn of_run(record: &RunRecord, pairs: &[&PairRecord], scene: &Scene<'_>) -> Plan {
    let known = ids(&record.outbox).chain(pairs.iter().flat_map(|pair| ids(&pair.outbox))).collect();
    Copied::of(Some(record), pairs, scene, known).plan()
}

/// What [`Control::Resume`] would do to a pair without a run.
#[must_use]
pub fn of_pair(record: &PairRecord, scene: &Scene<'_>) -> Plan {
    let known = ids(&record.outbox).collect();
    Copied::of(None, &[record], scene, known).plan()
}

/// The sides whose sessions [`Control::BringBack`] would resume; none: it would be refused.
#[must_use]
pub fn brings_back(run: Option<&RunRecord>, pairs: &[&PairRecord], scene: &Scene<'_>) -> Vec<Role> {
    let mut copied = Copied::of(run, pairs, scene, BTreeSet::new());
    if copied.order(&Control::BringBack).is_err() {
        return Vec::new();
    }
    let of = |role: Role| copied.resumed.contains(&scene.side(role).session.key());
    SIDES.into_iter().filter(|role| of(*role)).collect()
}

fn ids(outbox: &[Entry]) -> impl Iterator<Item = EntryId> {
    outbox.iter().filter(|entry| entry.attempts > 0).map(|entry| entry.id.clone())
}

/// The records as they would become.
struct Copied<'a> {
    run: Option<RunRecord>,
    pairs: Vec<PairRecord>,
    scene: Scene<'a>,
    /// A quiet moment was passed over.
    is_early: bool,
    /// Entries of which something may be on its way already.
    flying: BTreeSet<EntryId>,
    phases_done: u32,
    /// Something would be typed, entered or copied.
    acts: bool,
    /// Something must be looked at first.
    looks: bool,
    /// Sessions that would be brought back.
    resumed: Vec<SessionKey>,
}

impl<'a> Copied<'a> {
    fn of(run: Option<&RunRecord>, pairs: &[&PairRecord], scene: &Scene<'a>, flying: BTreeSet<EntryId>) -> Self {
        let debounce = run.map(|run| run.config.debounce).or_else(|| pairs.last().map(|pair| pair.config.debounce));
        let quiet = quiet_at(scene, debounce.unwrap_or_default());
        Self {
            run: run.cloned(),
            pairs: pairs.iter().map(|pair| (*pair).clone()).collect(),
            scene: Scene { now: quiet.unwrap_or(scene.now), ..scene.clone() },
            is_early: quiet.is_some(),
            flying,
            phases_done: run.map_or(0, |run| run.phases_done),
            acts: false,
            looks: false,
            resumed: Vec::new(),
        }
    }

    fn plan(mut self) -> Plan {
        if let Err(why) = self.order(&Control::Resume) {
            return Plan { act: Act::Refused(why), when: When::Now, agrees: false };
        }
        self.settle();
        let (act, when) = self.outcome();
        let when = if self.is_early && when == When::Now { When::Soon } else { when };
        let agrees = self.run.as_ref().is_some_and(|run| run.phases_done > self.phases_done);
        Plan { act, when, agrees }
    }

    fn order(&mut self, control: &Control) -> Result<(), String> {
        let effects = if let Some(record) = &self.run {
            let pairs: Vec<&PairRecord> = self.pairs.iter().collect();
            let step = run::control(record, &pairs, control, &self.scene).map_err(|refusal| refusal.message)?;
            self.run = Some(step.record);
            step.effects
        } else {
            let Some(record) = self.pairs.last_mut() else { return Ok(()) };
            let step = pair::control(record, control, &self.scene).map_err(|refusal| refusal.message)?;
            *record = step.record;
            step.effects
        };
        self.take(effects);
        Ok(())
    }

    /// Looks, runs before their pairs, until nothing changes or something would leave.
    fn settle(&mut self) {
        for _ in 0..LOOKS {
            let before = (self.run.clone(), self.pairs.clone());
            self.looks = false;
            if let Some(record) = &self.run {
                let pairs: Vec<&PairRecord> = self.pairs.iter().collect();
                let step = run::look(record, &pairs, &self.scene);
                self.run = Some(step.record);
                self.take(step.effects);
            }
            let held = self.run.as_ref().is_some_and(|run| run.state == RunState::Paused);
            for at in 0..self.pairs.len() {
                let Some(record) = self.pairs.get(at).filter(|pair| pair.is_active()) else { continue };
                let step = pair::look(record, &self.scene, held);
                if let Some(slot) = self.pairs.get_mut(at) {
                    *slot = step.record;
                }
                self.take(step.effects);
            }
            if self.acts || before == (self.run.clone(), self.pairs.clone()) {
                return;
            }
        }
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send(_) | Effect::PressEnter(_) | Effect::Clipboard { .. } => self.acts = true,
                Effect::LookAtGit { .. } => self.looks = true,
                Effect::CreatePair(made) => {
                    if self.pairs.iter().all(|pair| pair.id != made.id) {
                        self.pairs.push(*made);
                    }
                }
                Effect::OrderPair(id, order) => self.order_pair(&id, &order),
                Effect::BringBack(session) => self.resumed.push(session.key()),
                Effect::Probe(_) | Effect::CountLines { .. } | Effect::CreateRun(_) | Effect::Discard => {}
            }
        }
    }

    fn order_pair(&mut self, id: &crate::model::ids::PairId, order: &PairOrder) {
        let Some(run) = &self.run else { return };
        let Some(slot) = self.pairs.iter_mut().find(|pair| &pair.id == id) else { return };
        if let Ok(step) = pair::order(slot, order, run, &self.scene) {
            *slot = step.record;
            self.take(step.effects);
        }
    }

    fn pair(&self) -> Option<&PairRecord> {
        match &self.run {
            Some(run) => self.pairs.iter().find(|pair| Some(&pair.id) == run.current_pair_id.as_ref()),
            None => self.pairs.last(),
        }
    }

    /// What stands in the copies when all has come to rest.
    fn outcome(&self) -> (Act, When) {
        if let Some(run) = &self.run {
            match (run.stop_reason, run.paused_reason) {
                (Some(stop), _) => return (Act::EndsRun(stop), When::Now),
                (None, Some(reason)) => return (Act::Pauses(reason, run.paused_detail.clone()), When::Now),
                (None, None) => {}
            }
            if run.open_entry().is_some() || run.step != Some(RunStep::Review) {
                return self.of_loop(&Draft::new(run, &self.scene), run.step, None);
            }
        }
        let Some(pair) = self.pair() else { return (Act::WaitsForAnswer(Role::Implementer), When::Soon) };
        match (pair.stop_reason, pair.paused_reason) {
            (Some(stop), _) => return (Act::EndsPair(stop), When::Now),
            (None, Some(reason)) => return (Act::Pauses(reason, pair.paused_detail.clone()), When::Now),
            (None, None) => {}
        }
        let relay = pair.round_count.saturating_add(1);
        if let Some(pending) = &pair.pending_confirm {
            return (Act::Shows { to: pending.target, relay }, When::Now);
        }
        self.of_loop(&Draft::new(pair, &self.scene), None, Some(relay))
    }

    fn of_loop<R: Loop>(&self, draft: &Draft<'_, R>, step: Option<RunStep>, relay: Option<u32>) -> (Act, When) {
        if let Some(index) = draft.rec.open_index() {
            return self.of_entry(draft, index, relay);
        }
        let Some(role) = draft.rec.awaited_side() else {
            return (Act::WaitsForAnswer(Role::Implementer), When::Now);
        };
        let reading = turns::read(draft, role);
        if step == Some(RunStep::Advance) {
            let asks = Act::Sends {
                purpose: Purpose::Advance,
                to: Role::Implementer,
                source: None,
                relay: None,
                is_same_text: false,
            };
            let is_free = turns::idle(draft, Role::Implementer).is_idle();
            return (asks, if is_free { When::Soon } else { When::Free });
        }
        match reading {
            Reading::Busy(idle) if idle.because.contains(&Busy::Turn) => (Act::WaitsForEnd(role), When::Now),
            Reading::Busy(_) => (Act::WaitsForFree(role), When::Now),
            Reading::Answer(index) => match (draft.turn(role, index), step, role) {
                (Some(turn), Some(RunStep::Probe), _) => (Act::TakesPhase(turn.id.clone()), When::Soon),
                // An approval waits for the builder's end.
                (_, _, Role::Reviewer) if !turns::idle(draft, Role::Implementer).is_idle() => {
                    (Act::WaitsForEnd(Role::Implementer), When::Now)
                }
                _ => (Act::WaitsForAnswer(role), When::Soon),
            },
            Reading::Prompt | Reading::NoAnswer(_) | Reading::Interrupted(_) | Reading::Failed(..) | Reading::Lost => {
                (Act::WaitsForAnswer(role), When::Now)
            }
        }
    }

    fn of_entry<R: Loop>(&self, draft: &Draft<'_, R>, index: usize, relay: Option<u32>) -> (Act, When) {
        let Some(entry) = draft.rec.outbox().get(index) else {
            return (Act::WaitsForAnswer(Role::Implementer), When::Now);
        };
        let (purpose, to) = (entry.purpose, entry.target);
        if self.flying.contains(&entry.id) {
            return (Act::LooksFor { purpose, to }, When::Now);
        }
        let act = Act::Sends {
            purpose,
            to,
            source: entry.source_turn_id.clone(),
            relay: relay.filter(|_| purpose.is_relay()),
            is_same_text: sending::is_same_text(entry, draft.rec.outbox()),
        };
        if self.acts {
            return (act, When::Now);
        }
        let when = match delivery::next(draft, index) {
            Next::Busy(_) => When::Free,
            Next::Held(_) | Next::Paste => When::Clear,
            _ => When::Soon,
        };
        (act, when)
    }
}

/// When both sides have been quiet for long enough, if they are not yet.
fn quiet_at(scene: &Scene<'_>, debounce: u64) -> Option<Timestamp> {
    let of = |role: Role| {
        session::idle(scene, role, debounce).because.into_iter().find_map(|busy| match busy {
            Busy::Quiet(at) => Some(at),
            _ => None,
        })
    };
    SIDES.into_iter().filter_map(of).max()
}
