//! Makes a failing world smaller while it still fails in the same way: ingredients are left out, then kills, phases and
//! single times at which something struck.

use trellis::model::ids::Agent;

use super::ingredients::{Ingredient, Odds};
use super::invariants::Invariant;
use super::plan::Plan;
use super::planted::Planted;
use super::play::{Report, Simulation};

/// Worlds that one shrinking may play.
const TRIES: u32 = 600;

/// The smallest plan found, and its report.
pub fn shrink(plan: &Plan, planted: Option<Planted>, invariant: Invariant) -> (Plan, Report) {
    let report = Simulation::new(plan.clone(), planted).play();
    let mut search = Search { plan: plan.clone(), report, planted, invariant, tries: TRIES };
    search.leave_out_ingredients();
    search.simplify();
    search.spare_single_times();
    (search.plan, search.report)
}

struct Search {
    plan: Plan,
    report: Report,
    planted: Option<Planted>,
    invariant: Invariant,
    tries: u32,
}

impl Search {
    /// Takes a smaller plan if it fails in the same way.
    fn try_plan(&mut self, plan: Plan) -> bool {
        if self.tries == 0 {
            return false;
        }
        self.tries -= 1;
        let report = Simulation::new(plan.clone(), self.planted).play();
        let same = report.wrong.iter().any(|wrong| wrong.invariant == self.invariant);
        if same {
            (self.plan, self.report) = (plan, report);
        }
        same
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
            let mut findings = self.plan.findings.clone();
            findings[phase] = 0;
            self.try_plan(Plan { findings, ..self.plan.clone() });
        }
        self.try_plan(Plan { near_misses: false, ..self.plan.clone() });
        self.try_plan(Plan { identical: false, ..self.plan.clone() });
        self.try_plan(Plan { implementer: Agent::Claude, ..self.plan.clone() });
        self.try_plan(Plan { reviewer: Agent::Claude, ..self.plan.clone() });
    }

    /// From the last time to the first: what comes later depends on what came before.
    fn spare_single_times(&mut self) {
        let struck: Vec<(Ingredient, u32)> = self
            .report
            .struck
            .iter()
            .map(|(what, times)| (*what, *times))
            .filter(|(what, _)| what.odds() != Odds::Comes)
            .collect();
        for (what, times) in struck {
            for time in (1..=times.min(40)).rev() {
                let mut plan = self.plan.clone();
                if plan.spared.insert((what, time)) {
                    self.try_plan(plan);
                }
            }
        }
    }
}
