//! Makes a failing world smaller while it still fails in the same way: ingredients are left out, then kills, phases and
//! times at which something struck; and the dice are thrown anew, for a failure that comes sooner.

use std::collections::BTreeSet;

use trellis::model::ids::Agent;

use super::ingredients::{Ingredient, Odds};
use super::invariants::Invariant;
use super::plan::Plan;
use super::planted::Planted;
use super::play::{Report, Simulation};

/// Worlds that one shrinking may play.
const TRIES: u32 = 600;

/// Other dice that are tried in each pass.
const THROWS: u64 = 30;

/// The smallest plan found, and its report.
pub fn shrink(plan: &Plan, planted: Option<Planted>, invariant: Invariant) -> (Plan, Report) {
    let report = Simulation::new(plan.clone(), planted).play();
    let mut search = Search { plan: plan.clone(), report, planted, invariant, tries: TRIES, took: 0 };
    loop {
        let before = search.took;
        search.throw_anew();
        search.leave_out_ingredients();
        search.simplify();
        search.spare_times();
        if search.took == before || search.tries == 0 {
            return (search.plan, search.report);
        }
    }
}

struct Search {
    plan: Plan,
    report: Report,
    planted: Option<Planted>,
    invariant: Invariant,
    tries: u32,
    /// Plans that were smaller.
    took: u32,
}

impl Search {
    /// Takes a smaller plan if it fails in the same way, with no longer a timeline.
    fn try_plan(&mut self, plan: Plan) -> bool {
        if self.tries == 0 {
            return false;
        }
        self.tries -= 1;
        let report = Simulation::new(plan.clone(), self.planted).play();
        let same = report.wrong.iter().any(|wrong| wrong.invariant == self.invariant);
        let smaller = same && report.timeline.len() <= self.report.timeline.len();
        if smaller {
            (self.plan, self.report) = (plan, report);
            self.took += 1;
        }
        smaller
    }

    /// The same world with other dice, where that is much shorter.
    fn throw_anew(&mut self) {
        for throw in 1..=THROWS {
            let plan = Plan { seed: self.plan.seed.wrapping_add(throw), spared: BTreeSet::new(), ..self.plan.clone() };
            let before = self.report.timeline.len();
            let (old, took) = (self.plan.clone(), self.took);
            if self.try_plan(plan) && self.report.timeline.len() * 10 > before * 9 {
                // Not worth it: the dice of before have times spared already.
                (self.plan, self.took) = (old, took);
                self.report = Simulation::new(self.plan.clone(), self.planted).play();
            }
        }
    }

    /// Half of them at a time, then each alone.
    fn leave_out_ingredients(&mut self) {
        let mut size = self.plan.odds.len() / 2;
        while size > 0 {
            let all: Vec<Ingredient> =
                self.plan.odds.keys().copied().filter(|what| what.odds() != Odds::Comes).collect();
            for part in all.chunks(size) {
                let mut plan = self.plan.clone();
                plan.odds.retain(|what, _| !part.contains(what));
                self.try_plan(plan);
            }
            size /= 2;
        }
    }

    fn simplify(&mut self) {
        while self.plan.kills > 0 {
            let kills = self.plan.kills - 1;
            if !self.try_plan(Plan { kills, ..self.plan.clone() }) {
                break;
            }
        }
        while self.plan.findings.len() > 1 {
            let mut findings = self.plan.findings.clone();
            findings.pop();
            if !self.try_plan(Plan { findings, ..self.plan.clone() }) {
                break;
            }
        }
        for phase in 0..self.plan.findings.len() {
            if self.plan.findings[phase] == 0 {
                continue;
            }
            let mut findings = self.plan.findings.clone();
            findings[phase] = 0;
            self.try_plan(Plan { findings, ..self.plan.clone() });
        }
        let simpler: [fn(&mut Plan); 4] = [
            |plan| plan.near_misses = false,
            |plan| plan.identical = false,
            |plan| plan.implementer = Agent::Claude,
            |plan| plan.reviewer = Agent::Claude,
        ];
        for simplify in simpler {
            let mut plan = self.plan.clone();
            simplify(&mut plan);
            let of = |plan: &Plan| (plan.near_misses, plan.identical, plan.implementer, plan.reviewer);
            if of(&plan) != of(&self.plan) {
                self.try_plan(plan);
            }
        }
    }

    /// The last times first, half of them at once, then each alone: what comes later depends on what came before.
    fn spare_times(&mut self) {
        let mut all: Vec<(Ingredient, u32)> = self.report.struck.iter().map(|(what, times)| (*what, *times)).collect();
        all.retain(|(what, _)| what.odds() != Odds::Comes);
        for (what, times) in all {
            let mut size = times;
            while size > 0 {
                let mut to = self.report.struck.get(&what).copied().unwrap_or(0);
                while to > 0 {
                    let mut plan = self.plan.clone();
                    let before = plan.spared.len();
                    plan.spared.extend((to.saturating_sub(size) + 1..=to).map(|time| (what, time)));
                    if plan.spared.len() > before {
                        self.try_plan(plan);
                    }
                    to = to.saturating_sub(size);
                }
                size /= 2;
            }
        }
    }
}
