//! The law: step → save → act → publish. The one place where a record changes and where its effects leave.

use jiff::{SignedDuration, Timestamp};

use super::Core;
use super::acts::Acted;
use super::books::Shelved;
use super::kept::Trouble;
use crate::driver::ports::{Agents, Records, SaveError, Transcripts};
use crate::machine::Step;
use crate::model::event::{Decision, Event, EventKind};
use crate::model::ids::{RecordKey, SessionKey};

/// A failed save is tried again after this.
const RETRY: SignedDuration = SignedDuration::from_secs(5);

/// The least time between two looks of which the first changed nothing, unless something was seen meanwhile.
const MOMENT: SignedDuration = SignedDuration::from_millis(100);

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Saves what a step made of a record, then carries out its effects, then publishes.
    ///
    /// # Errors
    /// The save failed: the step did not happen. Memory holds the old record, nothing was done, nothing was published;
    /// why is noted on the record, and the step comes again by itself when the save is tried again.
    pub(super) fn law<K: Shelved>(&mut self, step: Step<K>, now: Timestamp) -> Result<Acted, SaveError> {
        let key = step.record.key();
        let changed = step.changed;
        if changed {
            let mut record = step.record;
            record.stamp(self.books.revision(&key).saturating_add(1), now);
            if let Err(error) = record.save(&mut self.records) {
                self.not_saved::<K>(&key, &error, now);
                return Err(error);
            }
            record.trim();
            record.put(&mut self.books);
            self.keep_ledger(&key);
            self.dirty.extend(self.books.related(&key));
            self.dirty.insert(key.clone());
            self.screen.outdate();
        }
        // A look that changed nothing and asks for another at once would spin: it gets one a moment later.
        let soonest = if changed { now } else { later(now, self.options.tempo.wait(MOMENT)) };
        if let Some(held) = K::held_mut(&mut self.books, &key) {
            held.wake_at = step.wake_at.map(|at| at.max(soonest));
            if !changed && !held.is_changed() {
                // What could not be saved is not wanted any more.
                held.trouble = None;
            }
        }
        let mut acted = Acted { changed, ..Acted::default() };
        for effect in step.effects {
            self.act(&key, effect, &mut acted, now);
        }
        for (kind, reason) in step.events {
            self.publish(kind, &key, reason, now);
        }
        for decision in step.decisions {
            if decision.decided {
                acted.words = Some(decision.what.clone());
            }
            self.tell(decision, now);
        }
        Ok(acted)
    }

    /// A save failed: say so, and hold the record.
    fn not_saved<K: Shelved>(&mut self, key: &RecordKey, error: &SaveError, now: Timestamp) {
        let why = error.to_string();
        let retry_at = later(now, self.options.tempo.wait(RETRY));
        let is_changed = matches!(error, SaveError::Changed { .. });
        let mut newly_changed = None;
        if let Some(held) = K::held_mut(&mut self.books, key) {
            if is_changed {
                newly_changed = (!held.is_changed()).then(|| held.record.paused());
                held.shown = Some(held.record.shown_changed(&why));
                held.trouble = Some(Trouble::Changed { why: why.clone() });
            } else {
                held.trouble = Some(Trouble::Unsaved { why: why.clone(), retry_at });
                held.refused_at = Some(now);
            }
        }
        if let Some(kind) = newly_changed {
            self.publish(kind, key, Some("record_changed".to_owned()), now);
            self.dirty.extend(self.books.related(key));
        }
        self.notice(why, true, now);
        self.screen.outdate();
    }

    fn keep_ledger(&mut self, key: &RecordKey) {
        match key {
            RecordKey::Run(id) => {
                if let Some(held) = self.books.run(id) {
                    self.ledger.add_run(&held.record);
                }
            }
            RecordKey::Pair(id) => {
                if let Some(held) = self.books.pair(id) {
                    self.ledger.add_pair(&held.record);
                }
            }
        }
    }

    /// Publishes an event of a record that is saved.
    pub(super) fn publish(&mut self, kind: EventKind, key: &RecordKey, reason: Option<String>, now: Timestamp) {
        let (run_id, pair_id) = match key {
            RecordKey::Run(id) => {
                (Some(id.clone()), self.books.run(id).and_then(|held| held.record.current_pair_id.clone()))
            }
            RecordKey::Pair(id) => {
                let owner = self.books.pair(id).and_then(|held| self.books.owner(&held.record));
                (owner.map(|held| held.record.id.clone()), Some(id.clone()))
            }
        };
        let revision = Some(self.books.revision(key));
        self.emit(Event { seq: 0, at: now, kind, run_id, pair_id, session_id: None, reason, revision }, now);
    }

    /// Publishes a session's new state.
    pub(super) fn publish_session(&mut self, session: &SessionKey, word: String, now: Timestamp) {
        let event = Event {
            seq: 0,
            at: now,
            kind: EventKind::SessionStateChanged,
            run_id: None,
            pair_id: None,
            session_id: Some(session.session_id.clone()),
            reason: Some(word),
            revision: None,
        };
        self.emit(event, now);
    }

    fn emit(&mut self, mut event: Event, now: Timestamp) {
        self.seq = self.seq.saturating_add(1);
        event.seq = self.seq;
        if let Err(error) = self.records.append_event(&event) {
            self.notice(error.to_string(), true, now);
        }
        self.events.push_back(event);
    }

    /// Keeps a decision and its evidence.
    pub(super) fn tell(&mut self, decision: Decision, now: Timestamp) {
        let Some(kept) = self.why.tell(decision) else { return };
        if let Err(error) = self.records.append_decision(&kept) {
            self.notice(error.to_string(), true, now);
        }
        self.screen.outdate();
    }
}

/// A time moved on by a span.
fn later(at: Timestamp, span: SignedDuration) -> Timestamp {
    at.checked_add(span).unwrap_or(at)
}
