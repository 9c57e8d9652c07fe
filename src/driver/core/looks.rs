//! Which record is looked at, and until when: runs before their pairs, until nothing changes any more.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::Core;
use super::books::Shelved;
use super::kept::{Held, Kept};
use crate::driver::ports::{Agents, Records, Transcripts};
use crate::machine::{SentReport, Step, pair, run};
use crate::model::command::Control;
use crate::model::event::{Decision, Ground};
use crate::model::ids::{PairId, RecordKey, RunId, SessionRef};
use crate::model::pair::PairRecord;
use crate::model::run::RunRecord;

/// Steps a record may take on one input. A loop needs a handful; more means that a machine never settles.
const STEPS: u32 = 64;

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Looks at every record that may have changed, until nothing changes.
    pub(super) fn settle(&mut self, now: Timestamp) {
        let mut steps: BTreeMap<RecordKey, u32> = BTreeMap::new();
        while let Some(key) = self.dirty.pop_first() {
            self.screen.looked_at(&key);
            let looks = self.drives() && !self.options.records_only;
            let stepped = looks && self.look(&key, now);
            if !looks && (!self.screen.follows() || self.screen.shows_record(&key)) {
                self.read_sides(&key, now);
            }
            if !stepped {
                continue;
            }
            let taken = steps.entry(key.clone()).or_default();
            *taken = taken.saturating_add(1);
            if *taken >= STEPS {
                self.dirty.remove(&key);
                self.unsettled(&key, now);
            }
        }
        self.tell_states(now);
    }

    /// One look, with the reports of ended send sequences first. True when the record changed.
    fn look(&mut self, key: &RecordKey, now: Timestamp) -> bool {
        match key {
            RecordKey::Run(id) => self.look_at_run(id, now),
            RecordKey::Pair(id) => self.look_at_pair(id, now),
        }
    }

    fn look_at_run(&mut self, id: &RunId, now: Timestamp) -> bool {
        let key = RecordKey::Run(id.clone());
        if !self.may_look::<RunRecord>(&key, now) {
            return false;
        }
        if let Some(report) = next_report(self.books.run(id)) {
            let step = self.books.run(id).map(|held| run::sent(&held.record, &report, now));
            return step.is_some_and(|step| self.report_step(step, &report, now));
        }
        if self.closing {
            return false;
        }
        self.read_sides(&key, now);
        let Some(held) = self.books.run(id) else { return false };
        let pairs = self.books.pairs_of(&held.record);
        let scene = self.scene_for(held, now);
        let step = run::look(&held.record, &pairs, &scene);
        self.law(step, now).is_ok_and(|acted| acted.changed)
    }

    fn look_at_pair(&mut self, id: &PairId, now: Timestamp) -> bool {
        let key = RecordKey::Pair(id.clone());
        if !self.may_look::<PairRecord>(&key, now) {
            return false;
        }
        if let Some(report) = next_report(self.books.pair(id)) {
            let step = self.books.pair(id).map(|held| pair::sent(&held.record, &report, now));
            return step.is_some_and(|step| self.report_step(step, &report, now));
        }
        if self.closing {
            return false;
        }
        let Some(held) = self.books.pair(id) else { return false };
        if self.books.is_orphan(&held.record) {
            return self.stop_orphan(id, now);
        }
        self.read_sides(&key, now);
        let Some(held) = self.books.pair(id) else { return false };
        let held_by_run = self.books.is_held_by_run(&held.record);
        let scene = self.scene_for(held, now);
        let step = pair::look(&held.record, &scene, held_by_run);
        self.law(step, now).is_ok_and(|acted| acted.changed)
    }

    fn may_look<K: Shelved>(&mut self, key: &RecordKey, now: Timestamp) -> bool {
        let Some(held) = K::held(&self.books, key) else { return false };
        if held.is_changed() {
            let entries: Vec<_> = held.reports.iter().map(|report| report.entry.clone()).collect();
            for entry in entries {
                self.sending_over(key, &entry);
            }
            return false;
        }
        held.is_watched() && held.may_step(now)
    }

    /// Saves what a report says. The report is kept until that is done.
    fn report_step<K: Shelved>(&mut self, step: Step<K>, report: &SentReport, now: Timestamp) -> bool {
        let key = step.record.key();
        if self.law(step, now).is_err() {
            return false;
        }
        if let Some(held) = K::held_mut(&mut self.books, &key) {
            held.reports.pop_front();
        }
        self.sending_over(&key, &report.entry);
        self.dirty.extend(self.books.related(&key));
        true
    }

    /// Reads both transcripts of a record to their end.
    pub(super) fn read_sides(&mut self, key: &RecordKey, now: Timestamp) {
        let sides: Vec<SessionRef> = self.books.sides(key).into_iter().flatten().cloned().collect();
        for side in sides {
            self.read(&side, now);
        }
    }

    /// At a start: active pairs that no active run names are stopped before anything else is done. Those of a run that
    /// could not be read are not among them.
    pub(super) fn stop_orphans(&mut self, now: Timestamp) {
        let active = self.books.pairs().filter(|held| held.record.is_active());
        let orphans: Vec<PairId> =
            active.filter(|held| self.books.is_orphan(&held.record)).map(|held| held.record.id.clone()).collect();
        for id in orphans {
            self.stop_orphan(&id, now);
        }
    }

    fn stop_orphan(&mut self, id: &PairId, now: Timestamp) -> bool {
        if self.is_of_unread_run(id) {
            return false;
        }
        let Some(held) = self.books.pair(id) else { return false };
        let scene = self.scene_for(held, now);
        match pair::control(&held.record, &Control::Stop, &scene) {
            Ok(step) => self.law(step, now).is_ok_and(|acted| acted.changed),
            Err(refusal) => {
                self.notice(format!("pair {id} belongs to no run and can't be stopped: {refusal}"), true, now);
                false
            }
        }
    }

    /// A pair whose run is there and cannot be read, or is another program's, is left alone with it: whether it is an
    /// orphan stands in that run.
    fn is_of_unread_run(&self, id: &PairId) -> bool {
        self.runs_unread || self.read_only.iter().any(|unread| unread.owns(id))
    }

    fn unsettled(&mut self, key: &RecordKey, now: Timestamp) {
        self.notice(format!("{key} does not come to rest; it is looked at again in 15 s"), true, now);
        self.tell(
            Decision {
                at: now,
                record: Some(key.as_str().to_owned()),
                what: "stopped looking: the record changes with every look".to_owned(),
                evidence: format!("{STEPS} steps on one input"),
                ground: Some(Ground::Own),
                decided: true,
            },
            now,
        );
    }
}

fn next_report<K: Kept>(held: Option<&Held<K>>) -> Option<SentReport> {
    held.and_then(|held| held.reports.front().cloned())
}
