//! `every-wait-has-an-end` and `no-busy-wake`: whatever waits says for what, and something does come; whoever has nothing
//! to do rests.

use jiff::{SignedDuration, Timestamp};
use trellis::machine::By;
use trellis::projection::{Projection, Standing};

use super::Invariant;
use crate::sim::ingredients::Ingredient;
use crate::sim::world::World;

/// Lived time without a movement after which the person looks why.
const REST: SignedDuration = SignedDuration::from_mins(5);
/// Lived time without a movement after which nothing will come.
const STILL: SignedDuration = SignedDuration::from_mins(20);
/// Wakes at one moment.
const WAKES: u32 = 100;

/// Each wait on the screen names what ends it.
pub fn named(projection: &Projection, world: &mut World) {
    for run in projection.runs.iter().filter(|run| run.stage.is_some()) {
        if run.wait.ends.is_empty() && run.wait.deadline.is_none() && run.banner.is_none() {
            world.breaks(Invariant::EveryWaitHasAnEnd, format!("{}: nothing ends {:?}", run.key, run.wait));
        }
    }
}

/// What is to be done about a world in which nothing moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Still {
    /// Nothing: it moves, or something will come.
    Moves,
    /// The run says that it waits for a person's prompt.
    PromptIsDue,
    /// The run says that something in a pane holds it up.
    PaneIsHeld,
}

/// A world at rest and a run that goes: either it says that it waits for a prompt of somebody else, or it would hang.
pub fn comes(projection: &Projection, world: &mut World) -> Still {
    let moves = world.still_for() < REST;
    if !moves && projection.runs.iter().any(|run| run.stage.is_some() && run.wait.by == By::Pane) {
        return Still::PaneIsHeld;
    }
    let at_rest = world.agents.iter().all(super::super::agents::FakeAgent::is_at_rest);
    if !at_rest || moves {
        return Still::Moves;
    }
    let going = projection.runs.iter().find(|run| run.banner.is_none() && run.stage.is_some());
    match going.map(|run| (run.standing, &run.wait)) {
        None => Still::Moves,
        Some((Standing::Waits, _)) => Still::PromptIsDue,
        Some((_, wait)) if wait.deadline.is_some_and(|deadline| deadline > world.now) => Still::Moves,
        // The end of a turn went with the end of its file: who sees that nothing comes writes to that side.
        Some(_) if world.struck.contains_key(&Ingredient::LostTail) => Still::PromptIsDue,
        Some((standing, wait)) => {
            if world.still_for() > STILL {
                let what = format!("nothing moves and nobody is asked: {standing:?}, {wait:?}");
                world.breaks(Invariant::EveryWaitHasAnEnd, what);
            }
            Still::Moves
        }
    }
}

/// Counts wakes at one moment.
#[derive(Debug, Default)]
pub struct Wakes(Option<Timestamp>, u32);

impl Wakes {
    /// True when a driver does not rest; time has to go on then.
    pub fn woke(&mut self, at: Timestamp) -> bool {
        if self.0 != Some(at) {
            *self = Self(Some(at), 0);
        }
        self.1 += 1;
        self.1 >= WAKES
    }
}
