//! Effects on their way out: jobs for the agents, orders to pairs, records to be made. Called by the law alone, after the save.

use jiff::Timestamp;

use super::Core;
use super::books::Shelved;
use super::kept::Kept;
use crate::driver::ports::{Agents, Job, Records, SaveError, Transcripts};
use crate::machine::{Delivery, Effect, PairOrder, SentReport, Step, pair, run};
use crate::model::command::{Control, Refusal, RefusalKind};
use crate::model::ids::{PairId, RecordKey, Role, SessionKey, SessionRef};
use crate::model::pair::PairRecord;
use crate::model::reach::SendReport;
use crate::model::run::RunRecord;

/// What came of the effects of a step, for the answer to a person.
#[derive(Clone, Debug, Default)]
pub struct Acted {
    /// The record was saved.
    pub changed: bool,
    /// The record that was made.
    pub made: Option<RecordKey>,
    /// What was refused.
    pub refused: Option<Refusal>,
    /// The decision, in words.
    pub words: Option<String>,
    /// Sessions that are brought back.
    pub resumes: Vec<SessionKey>,
}

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Carries out one effect of a record that is saved.
    pub(super) fn act(&mut self, key: &RecordKey, effect: Effect, acted: &mut Acted, now: Timestamp) {
        match effect {
            Effect::Probe(ask) => self.probe(ask, now),
            Effect::LookAtGit { worktree } => self.look_at_git(worktree),
            Effect::CountLines { worktree, base } => self.count_lines(worktree, base),
            Effect::Send(delivery) => self.begin_sending(key, delivery, false),
            Effect::PressEnter(delivery) => self.begin_sending(key, delivery, true),
            Effect::Clipboard { text } => self.agents.begin(Job::Clipboard(text)),
            Effect::BringBack(session) => {
                acted.resumes.push(session.key());
                self.bring_back(session, format!("{key} {now}"));
            }
            Effect::CreatePair(record) => self.create_pair_for(key, *record, acted, now),
            Effect::OrderPair(id, order) => self.order_pair(key, &id, &order, acted, now),
            Effect::CreateRun(record) => self.create_run_on(*record, acted, now),
            Effect::Discard => self.discard(key, acted),
        }
    }

    /// Begins a send sequence; one at a time to a session, whoever's it is.
    fn begin_sending(&mut self, key: &RecordKey, mut delivery: Delivery, enter_only: bool) {
        let known = self.sessions.entry(delivery.session.clone()).or_default();
        if known.sending.is_some() {
            let stopped = Some("another message is being typed there".to_owned());
            let report = SendReport { stopped, ..SendReport::default() };
            self.report(key, SentReport { entry: delivery.entry, enter_only, report });
            return;
        }
        known.sending = Some((key.clone(), delivery.entry.clone()));
        known.facts.sending = true;
        delivery.allow_unknown_box &= self.options.send_when_box_unknown;
        self.agents.begin(if enter_only {
            Job::PressEnter(key.clone(), delivery)
        } else {
            Job::Send(key.clone(), delivery)
        });
    }

    /// Keeps the report of a send sequence until its step is saved.
    pub(super) fn report(&mut self, key: &RecordKey, report: SentReport) {
        match key {
            RecordKey::Run(_) => {
                if let Some(held) = RunRecord::held_mut(&mut self.books, key) {
                    held.reports.push_back(report);
                }
            }
            RecordKey::Pair(_) => {
                if let Some(held) = PairRecord::held_mut(&mut self.books, key) {
                    held.reports.push_back(report);
                }
            }
        }
        self.dirty.insert(key.clone());
    }

    /// Creates the pair that a run has picked, or that a pair without a run goes on in. A run's comes again with its
    /// next look when the save fails; a person is told.
    fn create_pair_for(&mut self, key: &RecordKey, record: PairRecord, acted: &mut Acted, now: Timestamp) {
        if self.books.pair(&record.id).is_some() {
            return;
        }
        if let Some(refusal) = self.taken_by_other(key, [&record.implementer, &record.reviewer]) {
            let step = RunRecord::held(&self.books, key).map(|held| run::pair_refused(&held.record, &refusal, now));
            if let Some(step) = step {
                let _ = self.law(step, now);
            }
            acted.refused = Some(refusal);
            return;
        }
        // A run is saved with the pair's id: what was ordered is done as soon as the disk allows, nobody has to repeat it.
        if matches!(key, RecordKey::Run(_)) {
            let _ = self.bring_into_being(record, now);
            return;
        }
        let made = record.key();
        match self.made(record, now) {
            Ok(()) => acted.made = Some(made),
            Err(refusal) => acted.refused = Some(refusal),
        }
    }

    /// A session that another active record took meanwhile.
    fn taken_by_other(&self, run: &RecordKey, sides: [&SessionRef; 2]) -> Option<Refusal> {
        sides.into_iter().find_map(|side| {
            let others = self.ledger.active_with(&side.key()).into_iter();
            let other = others.filter(|other| *other != run).find(|other| !self.is_pair_of(other, run))?;
            Some(Refusal::not_now(format!("{} is in use by {other}: stop that first", side.key())))
        })
    }

    fn is_pair_of(&self, pair: &RecordKey, run: &RecordKey) -> bool {
        let owner = PairRecord::held(&self.books, pair).and_then(|held| self.books.owner(&held.record));
        owner.is_some_and(|owner| &owner.record.key() == run)
    }

    /// The first save of a record.
    ///
    /// # Errors
    /// It is not on the disk; nothing of it is in memory either.
    pub(super) fn bring_into_being<K: Shelved>(&mut self, record: K, now: Timestamp) -> Result<(), SaveError> {
        let key = record.key();
        let mut step = Step::unchanged(record);
        step.changed = true;
        step.events.push((step.record.created(), None));
        self.law(step, now)?;
        for role in [Role::Implementer, Role::Reviewer] {
            if let Some(session) = K::held(&self.books, &key).map(|held| held.record.session(role).key()) {
                self.observe(&session, now);
            }
        }
        Ok(())
    }

    /// An order of a run to its pair, or a control that reached the run and belongs to its pair.
    pub(super) fn order_pair(
        &mut self,
        run: &RecordKey,
        id: &PairId,
        order: &PairOrder,
        acted: &mut Acted,
        now: Timestamp,
    ) {
        let key = RecordKey::Pair(id.clone());
        let Some(held) = self.books.pair(id) else { return };
        if held.is_changed() {
            match order {
                PairOrder::Stop | PairOrder::Control(Control::Stop) => {
                    if let Err(error) = self.records.displace(&key) {
                        self.notice(error.to_string(), true, now);
                        return;
                    }
                }
                PairOrder::Control(Control::Resume) => {
                    acted.refused = self.adopt_pair(id, now).err();
                    return;
                }
                PairOrder::Pause | PairOrder::ResumeIfManual | PairOrder::Follow | PairOrder::Control(_) => return,
            }
        }
        let step = self.pair_step(run, id, order, now);
        match step {
            Some(Ok(step)) => match self.law(step, now) {
                Ok(of_pair) => {
                    acted.words = of_pair.words.or(acted.words.take());
                    acted.resumes.extend(of_pair.resumes);
                }
                Err(error) => acted.refused = Some(not_saved(&error)),
            },
            Some(Err(refusal)) => acted.refused = Some(refusal),
            None => {}
        }
    }

    fn pair_step(
        &self,
        run: &RecordKey,
        id: &PairId,
        order: &PairOrder,
        now: Timestamp,
    ) -> Option<Result<Step<PairRecord>, Refusal>> {
        let held = self.books.pair(id)?;
        let owner = RunRecord::held(&self.books, run)?;
        // Its own sides: an order to follow finds there what the conversation that is left had said.
        let scene = self.shown_scene(&held.record.implementer, &held.record.reviewer, now);
        Some(pair::order(&held.record, order, &owner.record, &scene))
    }

    /// Removes a stopped record and its texts; a run's pairs go with it, before it.
    fn discard(&mut self, key: &RecordKey, acted: &mut Acted) {
        let mut keys: Vec<RecordKey> = match key {
            RecordKey::Run(id) => self.books.run(id).map(|held| self.books.pairs_of(&held.record)).unwrap_or_default(),
            RecordKey::Pair(_) => Vec::new(),
        }
        .into_iter()
        .map(Kept::key)
        .collect();
        keys.push(key.clone());
        for key in keys {
            if let Err(error) = self.records.discard(&key) {
                acted.refused = Some(not_saved(&error));
                return;
            }
            self.books.remove(&key);
            self.ledger.remove(&key);
            self.dirty.remove(&key);
        }
        self.screen.outdate();
    }
}

/// The answer to an order whose save failed.
pub(super) fn not_saved(error: &SaveError) -> Refusal {
    Refusal { kind: RefusalKind::NotSaved, message: error.to_string(), field: None }
}
