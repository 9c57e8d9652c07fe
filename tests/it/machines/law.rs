//! The law of the driver in a few lines, for the small world: look, save, act, until nothing changes; and a kill.

use jiff::SignedDuration;
use trellis::machine::ledger::Ledger;
use trellis::machine::{Delivery, Effect, PairOrder, Scene, SentReport, Side, Step, pair, restart, run};
use trellis::model::command::{Control, Refusal};
use trellis::model::ids::{PairId, SessionRef};
use trellis::model::pair::PairRecord;
use trellis::model::reach::SendReport;
use trellis::model::run::RunRecord;
use trellis::model::tempo::Tempo;

use super::world::{I, R, SceneParts, World};

impl World {
    pub fn scene(&self) -> SceneParts {
        SceneParts { facts: [self.implementer.fact(), self.reviewer.fact()] }
    }

    pub fn pass(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        self.settle();
    }

    /// Passes time in ticks of a second, so that timers come as they would.
    pub fn wait(&mut self, seconds: i64) {
        for _ in 0..seconds {
            self.pass(1);
        }
    }

    /// Looks at everything until nothing changes.
    pub fn settle(&mut self) {
        for _ in 0..200 {
            if !self.look() {
                return;
            }
        }
        panic!("the machines do not come to rest: {:#?}", self.decisions.iter().rev().take(8).collect::<Vec<_>>());
    }

    /// One look at every record. True: something changed or was observed.
    pub fn look(&mut self) -> bool {
        let mut moved = false;
        for index in 0..self.runs.len() {
            let parts = self.scene();
            let step = {
                let record = &self.runs[index];
                let pairs: Vec<&PairRecord> = self.pairs_of(record);
                run::look(record, &pairs, &self.scene_of(&parts, &record.implementer, &record.reviewer))
            };
            moved |= self.apply_run(index, step);
        }
        let ids: Vec<PairId> = self.pairs.keys().cloned().collect();
        for id in ids {
            let parts = self.scene();
            let step = {
                let record = &self.pairs[&id];
                let held = self
                    .runs
                    .iter()
                    .any(|run| run.current_pair_id.as_ref() == Some(&id) && run.paused_reason.is_some());
                pair::look(record, &self.scene_of(&parts, &record.implementer, &record.reviewer), held)
            };
            moved |= self.apply_pair(step);
        }
        moved
    }

    pub fn pairs_of(&self, run: &RunRecord) -> Vec<&PairRecord> {
        self.pairs.values().filter(|pair| pair.id.as_str().starts_with(run.id.as_str())).collect()
    }

    pub fn scene_of<'a>(
        &'a self,
        parts: &'a SceneParts,
        implementer: &'a SessionRef,
        reviewer: &'a SessionRef,
    ) -> Scene<'a> {
        Scene {
            now: self.now,
            driver_started_at: self.started,
            kept_since: self.started,
            implementer: self.side_of(parts, implementer),
            reviewer: self.side_of(parts, reviewer),
            ledger: &self.ledger,
            git: self.git.clone(),
            trees: &self.trees,
            box_may_be_unknown: self.box_may_be_unknown,
            home: "/home",
            message_file_above: 65_536,
            tempo: Tempo::REAL,
        }
    }

    fn side_of<'a>(&'a self, parts: &'a SceneParts, session: &'a SessionRef) -> Side<'a> {
        let (agency, fact) = if session.key() == self.implementer.session.key() {
            (&self.implementer, &parts.facts[0])
        } else {
            (&self.reviewer, &parts.facts[1])
        };
        // A record may still name the session that an agency had before.
        let known = session.key() == agency.session.key();
        let written = known && !agency.conversation.turns.is_empty();
        Side {
            session,
            conversation: written.then_some(&agency.conversation),
            transcript: fact,
            reach: agency.reach.as_ref(),
            sending: agency.sending.as_ref(),
            put_away: agency.put_away,
            noted: true,
            newer_in_folder: None,
        }
    }

    pub fn apply_run(&mut self, index: usize, step: Step<RunRecord>) -> bool {
        let changed = step.changed;
        let Step { mut record, effects, events, decisions, .. } = step;
        if changed {
            record.revision += 1;
            record.last_persisted_at = Some(self.now);
            self.ledger.add_run(&record);
            self.runs[index] = record;
        }
        self.decisions.extend(decisions);
        self.events.extend(events);
        let mut moved = changed;
        for effect in effects {
            moved |= self.act(Some(index), None, effect);
        }
        moved
    }

    pub fn apply_pair(&mut self, step: Step<PairRecord>) -> bool {
        let changed = step.changed;
        let Step { mut record, effects, events, decisions, .. } = step;
        let id = record.id.clone();
        if changed {
            record.revision += 1;
            record.last_persisted_at = Some(self.now);
            self.ledger.add_pair(&record);
            self.pairs.insert(id.clone(), record);
        }
        self.decisions.extend(decisions);
        self.events.extend(events);
        let mut moved = changed;
        for effect in effects {
            moved |= self.act(None, Some(&id), effect);
        }
        moved
    }

    fn act(&mut self, run: Option<usize>, pair: Option<&PairId>, effect: Effect) -> bool {
        match effect {
            Effect::Probe(ask) => {
                let now = self.now;
                let role = if ask.session == self.implementer.session.key() { I } else { R };
                let side = self.side(role);
                let fresh = side.reach.as_ref().is_some_and(|reach| reach.at == now);
                side.observe(now);
                !fresh
            }
            Effect::LookAtGit { .. } => {
                let fresh = self.git.as_ref().is_some_and(|(at, _)| *at == self.now);
                self.git = Some((self.now, self.tree.clone()));
                !fresh
            }
            Effect::CountLines { worktree, base } => {
                let seen = (self.now, self.lines.clone().map(std::sync::Arc::new));
                self.trees.insert((worktree, base), seen).is_none_or(|(at, _)| at != self.now)
            }
            Effect::Send(delivery) => self.send(run, pair, delivery, false),
            Effect::PressEnter(delivery) => self.send(run, pair, delivery, true),
            Effect::CreatePair(record) => {
                if self.pairs.contains_key(&record.id) {
                    return false;
                }
                self.ledger.add_pair(&record);
                self.pairs.insert(record.id.clone(), *record);
                true
            }
            Effect::CreateRun(record) => {
                self.ledger.add_run(&record);
                self.runs.push(*record);
                true
            }
            Effect::OrderPair(id, order) => !self.die_on_order && self.order(run.unwrap(), &id, &order).unwrap(),
            other @ (Effect::Clipboard { .. } | Effect::BringBack(_) | Effect::Discard) => {
                self.other_effects.push(other);
                false
            }
        }
    }

    fn order(&mut self, run: usize, id: &PairId, order: &PairOrder) -> Result<bool, Refusal> {
        let parts = self.scene();
        let step = {
            let owner = &self.runs[run];
            let scene = self.scene_of(&parts, &owner.implementer, &owner.reviewer);
            pair::order(&self.pairs[id], order, owner, &scene)?
        };
        Ok(self.apply_pair(step))
    }

    fn send(&mut self, run: Option<usize>, pair: Option<&PairId>, delivery: Delivery, enter_only: bool) -> bool {
        let now = self.now;
        let role = if delivery.session == self.implementer.session.key() { I } else { R };
        let (die, hold) = (self.die_on_send, self.hold_reports);
        let side = self.side(role);
        assert!(side.sending.is_none(), "two sequences to one session at once");
        let report = side.reports.pop_front().unwrap_or(SendReport {
            last_key_at: Some(now),
            entered: true,
            queue_id: None,
            carrier: None,
            stopped: None,
        });
        let report = SentReport { entry: delivery.entry.clone(), enter_only, report };
        if enter_only {
            side.enters += 1;
        } else {
            side.inbox.push(delivery);
        }
        if die {
            return true;
        }
        if hold {
            side.sending = Some(report.entry.clone());
            self.waiting_reports.push((role, report));
            return true;
        }
        self.reported(run, pair, &report);
        true
    }

    fn reported(&mut self, run: Option<usize>, pair: Option<&PairId>, report: &SentReport) {
        if let Some(index) = run {
            let step = run::sent(&self.runs[index], report, self.now);
            self.apply_run(index, step);
        } else if let Some(id) = pair {
            let step = pair::sent(&self.pairs[id], report, self.now);
            self.apply_pair(step);
        }
    }

    /// Reports that were held back come in.
    pub fn report(&mut self) {
        for (role, report) in std::mem::take(&mut self.waiting_reports) {
            self.side(role).sending = None;
            for index in 0..self.runs.len() {
                let step = run::sent(&self.runs[index], &report, self.now);
                self.apply_run(index, step);
            }
            let ids: Vec<PairId> = self.pairs.keys().cloned().collect();
            for id in ids {
                let step = pair::sent(&self.pairs[&id], &report, self.now);
                self.apply_pair(step);
            }
        }
        self.settle();
    }

    /// The driver was killed and begins again: what was in memory is gone.
    pub fn restart(&mut self) {
        self.started = self.now;
        self.implementer.reach = None;
        self.reviewer.reach = None;
        self.implementer.sending = None;
        self.reviewer.sending = None;
        self.waiting_reports.clear();
        self.die_on_send = false;
        self.die_on_order = false;
        self.git = None;
        self.ledger = Ledger::new();
        for run in &self.runs {
            self.ledger.add_run(run);
        }
        for pair in self.pairs.values() {
            self.ledger.add_pair(pair);
        }
        let orphans = {
            let runs: Vec<&RunRecord> = self.runs.iter().collect();
            let pairs: Vec<&PairRecord> = self.pairs.values().collect();
            restart::orphans(&runs, &pairs)
        };
        for id in orphans {
            let parts = self.scene();
            let step = {
                let record = &self.pairs[&id];
                let scene = self.scene_of(&parts, &record.implementer, &record.reviewer);
                pair::control(record, &Control::Stop, &scene).unwrap()
            };
            self.apply_pair(step);
        }
        self.settle();
    }
}
