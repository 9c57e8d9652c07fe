//! What one simulated world is like: drawn from the seed, printed with a failure, made smaller by `shrink`.

use std::collections::{BTreeMap, BTreeSet};

use trellis::model::ids::Agent;

use super::ingredients::{Ingredient, Needs, Odds};
use super::rng::Rng;

/// One world.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub implementer: Agent,
    pub reviewer: Agent,
    /// Per phase: how many times the reviewer finds something before it approves.
    pub findings: Vec<u32>,
    /// All answers of a side are the same text.
    pub identical: bool,
    /// The reviewer sometimes approves in a way that is a near miss.
    pub near_misses: bool,
    /// The person begins phase 1 (else `first_phase: ask`).
    pub person_begins: bool,
    /// Relays at most per attempt.
    pub max_rounds: u32,
    /// Kills at most.
    pub kills: u32,
    /// What can happen, and how often: percent of its occasions, or mean seconds between two times.
    pub odds: BTreeMap<Ingredient, u64>,
    /// Times at which an ingredient would strike and does not: its n-th, from 1.
    pub spared: BTreeSet<(Ingredient, u32)>,
}

impl Plan {
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let agent = |rng: &mut Rng| if rng.chance(60) { Agent::Claude } else { Agent::Codex };
        let (implementer, reviewer) = (agent(&mut rng), agent(&mut rng));
        let phases = rng.between(1, 4);
        let findings = (0..phases).map(|_| u32::try_from(rng.between(0, 3)).unwrap()).collect();
        let (identical, near_misses, person_begins) = (rng.chance(20), rng.chance(25), rng.chance(40));
        let kills = u32::try_from(rng.between(0, 6)).unwrap();
        // Each world has some of the ingredients: what only shows without the others is met too.
        let calm = rng.chance(30);
        let mut odds = BTreeMap::new();
        for what in Ingredient::ALL {
            let is_in = rng.chance(if calm { 35 } else { 28 });
            let drawn = match what.odds() {
                Odds::Of(low, high) | Odds::Every(low, high) => rng.between(low, high),
                Odds::Comes => 0,
            };
            let always = matches!(what, Ingredient::KillAtBoundary | Ingredient::KillBetween | Ingredient::PowerLoss);
            let allowed = !calm || what.needs() == Needs::Nobody;
            if what.odds() == Odds::Comes || always || (is_in && allowed) {
                odds.insert(*what, drawn);
            }
        }
        // Behind a clock that went back a process that began anew cannot be told by its start, and a limit ends a day later.
        if odds.contains_key(&Ingredient::JumpBack) {
            odds.retain(|what, _| !matches!(what, Ingredient::Crash | Ingredient::Limit));
        }
        Self {
            seed,
            implementer,
            reviewer,
            findings,
            identical,
            near_misses,
            person_begins,
            max_rounds: 10,
            kills,
            odds,
            spared: BTreeSet::new(),
        }
    }

    /// Nothing happens that a run does not come through by itself.
    pub fn is_fair(&self) -> bool {
        let drawn = self.odds.keys().filter(|what| what.odds() != Odds::Comes);
        drawn.into_iter().all(|what| what.needs() == Needs::Nobody)
    }

    pub fn has(&self, what: Ingredient) -> bool {
        self.odds.contains_key(&what)
    }
}

/// In a few lines, for the head of a timeline.
impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let yes = [
            (self.identical, "all answers equal"),
            (self.near_misses, "near misses"),
            (self.person_begins, "a person begins"),
        ];
        let yes: Vec<&str> = yes.into_iter().filter_map(|(holds, word)| holds.then_some(word)).collect();
        writeln!(
            f,
            "world {}: {} builds, {} reviews, findings per phase {:?}, {} kills at most; {}",
            self.seed,
            self.implementer,
            self.reviewer,
            self.findings,
            self.kills,
            yes.join(", ")
        )?;
        for (what, odds) in &self.odds {
            let unit = match what.odds() {
                Odds::Of(..) => format!("{odds} % of its occasions"),
                Odds::Every(..) => format!("every {odds} s"),
                Odds::Comes => continue,
            };
            let spared = self.spared.iter().filter(|(of, _)| of == what).count();
            let but = if spared > 0 { format!(", but for {spared} times") } else { String::new() };
            writeln!(f, "  {what:?}: {unit}{but}")?;
        }
        Ok(())
    }
}
