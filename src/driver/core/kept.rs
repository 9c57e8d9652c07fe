//! A record as the driver holds it in memory: the value that is on the disk, and what stands between it and the next save.

use std::collections::VecDeque;

use jiff::Timestamp;

use crate::driver::ports::{Records, SaveError};
use crate::machine::SentReport;
use crate::model::event::EventKind;
use crate::model::ids::{RecordKey, Role, SessionRef};
use crate::model::outbox::Entry;
use crate::model::pair::{PairRecord, PairState, PauseReason};
use crate::model::run::{RunRecord, RunState};
use crate::store::trim;

/// What the law needs of either kind of record.
pub trait Kept: Clone {
    /// Which it is.
    fn key(&self) -> RecordKey;
    /// Its revision.
    fn revision(&self) -> u64;
    /// Marks it as saved once more, at `now`.
    fn stamp(&mut self, revision: u64, now: Timestamp);
    /// Writes it.
    ///
    /// # Errors
    /// As [`Records::save_run`].
    fn save(&self, records: &mut impl Records) -> Result<(), SaveError>;
    /// Lets go of what the save moved to the files beside the record, so that memory is what the disk has.
    fn trim(&mut self);
    /// Not stopped.
    fn active(&self) -> bool;
    /// Its messages.
    fn outbox(&self) -> &[Entry];
    /// A side.
    fn session(&self, role: Role) -> &SessionRef;
    /// The event of its creation.
    fn created(&self) -> EventKind;
    /// The event of a pause.
    fn paused(&self) -> EventKind;
    /// The record as it is shown while its file is somebody else's.
    #[must_use]
    fn shown_changed(&self, why: &str) -> Self;
}

impl Kept for RunRecord {
    fn key(&self) -> RecordKey {
        RecordKey::Run(self.id.clone())
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn stamp(&mut self, revision: u64, now: Timestamp) {
        self.revision = revision;
        self.last_persisted_at = Some(now);
    }

    fn save(&self, records: &mut impl Records) -> Result<(), SaveError> {
        records.save_run(self)
    }

    fn trim(&mut self) {
        let _ = trim::run(self);
    }

    fn active(&self) -> bool {
        self.is_active()
    }

    fn outbox(&self) -> &[Entry] {
        &self.outbox
    }

    fn session(&self, role: Role) -> &SessionRef {
        self.side(role)
    }

    fn created(&self) -> EventKind {
        EventKind::ChecklistStarted
    }

    fn paused(&self) -> EventKind {
        EventKind::ChecklistPaused
    }

    fn shown_changed(&self, why: &str) -> Self {
        let mut shown = self.clone();
        if shown.state != RunState::Stopped {
            shown.state = RunState::Paused;
            shown.paused_reason = Some(PauseReason::RecordChanged);
            why.clone_into(&mut shown.paused_detail);
        }
        shown
    }
}

impl Kept for PairRecord {
    fn key(&self) -> RecordKey {
        RecordKey::Pair(self.id.clone())
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn stamp(&mut self, revision: u64, now: Timestamp) {
        self.revision = revision;
        self.last_persisted_at = Some(now);
    }

    fn save(&self, records: &mut impl Records) -> Result<(), SaveError> {
        records.save_pair(self)
    }

    fn trim(&mut self) {
        let _ = trim::pair(self);
    }

    fn active(&self) -> bool {
        self.is_active()
    }

    fn outbox(&self) -> &[Entry] {
        &self.outbox
    }

    fn session(&self, role: Role) -> &SessionRef {
        self.side(role)
    }

    fn created(&self) -> EventKind {
        EventKind::PairStarted
    }

    fn paused(&self) -> EventKind {
        EventKind::PairPaused
    }

    fn shown_changed(&self, why: &str) -> Self {
        let mut shown = self.clone();
        if shown.state != PairState::Stopped {
            shown.state = PairState::Paused;
            shown.paused_reason = Some(PauseReason::RecordChanged);
            why.clone_into(&mut shown.paused_detail);
        }
        shown
    }
}

/// What keeps a record from being saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The disk refused; tried again at this time.
    Unsaved {
        /// In words.
        why: String,
        /// When.
        retry_at: Timestamp,
    },
    /// The file is somebody else's: a person decides.
    Changed {
        /// In words.
        why: String,
    },
}

/// A record in memory.
#[derive(Clone, Debug)]
pub struct Held<R> {
    /// As it was last saved.
    pub record: R,
    /// How often it was replaced since it is held.
    pub times: u64,
    /// The copy that is shown instead while the file is somebody else's.
    pub shown: Option<R>,
    /// What keeps it from being saved.
    pub trouble: Option<Trouble>,
    /// When the disk refused it last.
    pub refused_at: Option<Timestamp>,
    /// Reports of send sequences whose step is not saved yet, oldest first.
    pub reports: VecDeque<SentReport>,
    /// When it wants to be looked at again.
    pub wake_at: Option<Timestamp>,
}

impl<R: Kept> Held<R> {
    /// One that is as the disk has it.
    #[must_use]
    pub fn new(record: R) -> Self {
        Self { record, times: 0, shown: None, trouble: None, refused_at: None, reports: VecDeque::new(), wake_at: None }
    }

    /// It is to be looked at now, and a save that was refused is tried again.
    pub fn wake(&mut self, now: Timestamp) {
        self.wake_at = self.wake_at.map(|_| now);
        if let Some(Trouble::Unsaved { retry_at, .. }) = &mut self.trouble {
            *retry_at = now;
        }
        // What begins anew begins now; behind a clock that was set back that time would lie ahead.
        self.refused_at = None;
    }

    /// The record as machines and screens are to see it.
    #[must_use]
    pub fn seen(&self) -> &R {
        self.shown.as_ref().unwrap_or(&self.record)
    }

    /// Its file is somebody else's.
    #[must_use]
    pub const fn is_changed(&self) -> bool {
        matches!(self.trouble, Some(Trouble::Changed { .. }))
    }

    /// Why the last save failed, if it waits to be tried again.
    #[must_use]
    pub fn unsaved(&self) -> Option<&str> {
        match &self.trouble {
            Some(Trouble::Unsaved { why, .. }) => Some(why),
            Some(Trouble::Changed { .. }) | None => None,
        }
    }

    /// Whether there is anything to look for: it is active, or a message of it may still arrive.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.record.active() || !self.reports.is_empty() || self.record.outbox().iter().any(Entry::in_flight)
    }

    /// Whether a look may step it at `now`.
    #[must_use]
    pub fn may_step(&self, now: Timestamp) -> bool {
        match &self.trouble {
            None => true,
            Some(Trouble::Unsaved { retry_at, .. }) => *retry_at <= now,
            Some(Trouble::Changed { .. }) => false,
        }
    }
}
