//! The fields that pairs and runs have in common, behind one trait, so that a shared rule is written once.

use jiff::Timestamp;

use crate::model::event::EventKind;
use crate::model::ids::{EntryId, MessageId, RecordKey, Role, SessionRef, TurnId};
use crate::model::outbox::Entry;
use crate::model::pair::{
    Awaited, FormerParticipant, HumanMarks, Limit, OpenWait, PairRecord, PairState, PairStep, PauseReason, Retry,
};
use crate::model::run::{RunRecord, RunState, RunStep};

/// An answer that only newer ones count after.
pub(super) type Floor = (TurnId, Option<MessageId>);

/// Settings that both kinds have.
pub(super) struct Knobs<'a> {
    pub debounce: u64,
    pub continue_prompt: &'a str,
    pub resume_after_limit: bool,
}

/// See the module.
pub(super) trait Loop: Clone + PartialEq {
    const PAUSED: EventKind;
    const RESUMED: EventKind;

    fn key(&self) -> RecordKey;
    fn session(&self, role: Role) -> &SessionRef;
    fn session_mut(&mut self, role: Role) -> &mut SessionRef;
    fn former(&self) -> &[FormerParticipant];
    fn former_mut(&mut self) -> &mut Vec<FormerParticipant>;
    fn outbox(&self) -> &[Entry];
    fn outbox_mut(&mut self) -> &mut Vec<Entry>;
    fn next_entry_id(&mut self) -> EntryId;
    /// Messages made so far.
    fn entries_made(&self) -> u32;
    fn marks(&self) -> &HumanMarks;
    fn marks_mut(&mut self) -> &mut HumanMarks;
    /// When it was saved last.
    fn saved_at(&self) -> Option<Timestamp>;
    fn open_wait(&self) -> Option<&OpenWait>;
    fn open_wait_mut(&mut self) -> &mut Option<OpenWait>;
    fn awaited(&self) -> Option<&Awaited>;
    fn awaited_mut(&mut self) -> &mut Option<Awaited>;
    fn owed(&self) -> Option<&EntryId>;
    fn owed_mut(&mut self) -> &mut Option<EntryId>;
    fn retry(&self) -> Option<&Retry>;
    fn retry_mut(&mut self) -> &mut Option<Retry>;
    fn limit(&self) -> Option<&Limit>;
    fn limit_mut(&mut self) -> &mut Option<Limit>;
    fn paused_reason(&self) -> Option<PauseReason>;
    fn paused_at(&self) -> Option<Timestamp>;
    fn paused_at_mut(&mut self) -> &mut Option<Timestamp>;
    fn paused_detail(&self) -> &str;
    fn set_paused(&mut self, reason: PauseReason, detail: String, at: Timestamp);
    fn set_running(&mut self);
    fn running(&self) -> bool;
    fn knobs(&self) -> Knobs<'_>;
    /// The record, if it is a run.
    fn as_run(&self) -> Option<&RunRecord>;
    /// The side whose answer is waited for.
    fn awaited_side(&self) -> Option<Role>;
    /// Answers of a side that only newer ones count after.
    fn floors(&self, role: Role) -> Vec<Floor>;
    /// The prompts that may stand before an answer in an entry, for [`crate::machine::Delivery::prompt_bytes`].
    fn prompt_for(&self, role: Role) -> Option<String>;

    /// Position of the entry that is not yet delivered.
    fn open_index(&self) -> Option<usize> {
        self.outbox().iter().rposition(Entry::is_open)
    }

    /// That entry.
    fn open(&self) -> Option<&Entry> {
        self.open_index().and_then(|index| self.outbox().get(index))
    }

    /// The entry of this record that began a turn.
    fn entry_of_turn(&self, role: Role, turn: &TurnId) -> Option<&Entry> {
        self.outbox().iter().rev().find(|entry| {
            entry.target == role && (entry.delivered_turn_id.as_ref() == Some(turn) || entry.duplicates.contains(turn))
        })
    }
}

macro_rules! looped {
    ($record:ty, $state:ident, $key:path, $paused:ident, $resumed:ident, { $($own:item)* }) => {
        impl Loop for $record {
            const PAUSED: EventKind = EventKind::$paused;
            const RESUMED: EventKind = EventKind::$resumed;

            fn key(&self) -> RecordKey {
                $key(self.id.clone())
            }
            fn session(&self, role: Role) -> &SessionRef {
                self.side(role)
            }
            fn session_mut(&mut self, role: Role) -> &mut SessionRef {
                match role {
                    Role::Implementer => &mut self.implementer,
                    Role::Reviewer => &mut self.reviewer,
                }
            }
            fn former(&self) -> &[FormerParticipant] {
                &self.participants_history
            }
            fn former_mut(&mut self) -> &mut Vec<FormerParticipant> {
                &mut self.participants_history
            }
            fn outbox(&self) -> &[Entry] {
                &self.outbox
            }
            fn outbox_mut(&mut self) -> &mut Vec<Entry> {
                &mut self.outbox
            }
            fn next_entry_id(&mut self) -> EntryId {
                self.entries_made = self.entries_made.saturating_add(1);
                EntryId::of(self.id.as_str(), self.entries_made)
            }
            fn entries_made(&self) -> u32 {
                self.entries_made
            }
            fn marks(&self) -> &HumanMarks {
                &self.human_mark
            }
            fn marks_mut(&mut self) -> &mut HumanMarks {
                &mut self.human_mark
            }
            fn saved_at(&self) -> Option<Timestamp> {
                self.last_persisted_at
            }
            fn open_wait(&self) -> Option<&OpenWait> {
                self.open_wait.as_ref()
            }
            fn open_wait_mut(&mut self) -> &mut Option<OpenWait> {
                &mut self.open_wait
            }
            fn awaited(&self) -> Option<&Awaited> {
                self.awaited.as_ref()
            }
            fn awaited_mut(&mut self) -> &mut Option<Awaited> {
                &mut self.awaited
            }
            fn owed(&self) -> Option<&EntryId> {
                self.owed.as_ref()
            }
            fn owed_mut(&mut self) -> &mut Option<EntryId> {
                &mut self.owed
            }
            fn retry(&self) -> Option<&Retry> {
                self.retry.as_ref()
            }
            fn retry_mut(&mut self) -> &mut Option<Retry> {
                &mut self.retry
            }
            fn limit(&self) -> Option<&Limit> {
                self.limit.as_ref()
            }
            fn limit_mut(&mut self) -> &mut Option<Limit> {
                &mut self.limit
            }
            fn paused_reason(&self) -> Option<PauseReason> {
                self.paused_reason
            }
            fn paused_at(&self) -> Option<Timestamp> {
                self.paused_at
            }
            fn paused_at_mut(&mut self) -> &mut Option<Timestamp> {
                &mut self.paused_at
            }
            fn paused_detail(&self) -> &str {
                &self.paused_detail
            }
            fn set_paused(&mut self, reason: PauseReason, detail: String, at: Timestamp) {
                self.state = $state::Paused;
                self.paused_reason = Some(reason);
                self.paused_detail = detail;
                self.paused_at = Some(at);
            }
            fn set_running(&mut self) {
                self.state = $state::Running;
                self.paused_reason = None;
                self.paused_detail = String::new();
                self.paused_at = None;
            }
            fn running(&self) -> bool {
                self.state == $state::Running
            }
            fn knobs(&self) -> Knobs<'_> {
                Knobs {
                    debounce: self.config.debounce,
                    continue_prompt: &self.config.continue_prompt,
                    resume_after_limit: self.config.resume_after_limit,
                }
            }
            $($own)*
        }
    };
}

looped!(PairRecord, PairState, RecordKey::Pair, PairPaused, PairResumed, {
    fn as_run(&self) -> Option<&RunRecord> {
        None
    }
    fn awaited_side(&self) -> Option<Role> {
        match self.step? {
            PairStep::AwaitImplementer => Some(Role::Implementer),
            PairStep::AwaitReviewer => Some(Role::Reviewer),
            PairStep::ConfirmRelay => self.pending_confirm.as_ref().map(|pending| pending.target.other()),
        }
    }
    fn floors(&self, role: Role) -> Vec<Floor> {
        let mut floors = Vec::new();
        if role == Role::Implementer
            && let Some(turn) = &self.baseline_turn_id
        {
            floors.push((turn.clone(), self.baseline_message_id.clone()));
        }
        if role == Role::Reviewer
            && let Some(near) = &self.near_miss
        {
            floors.push((near.turn_id.clone(), Some(near.message_id.clone())));
        }
        if self.awaited_side() == Some(role)
            && let Some(spent) = &self.spent
        {
            floors.push((spent.turn_id.clone(), Some(spent.message_id.clone())));
        }
        floors
    }
    fn prompt_for(&self, role: Role) -> Option<String> {
        Some(super::pair::prompt(&self.config, role))
    }
});

looped!(RunRecord, RunState, RecordKey::Run, ChecklistPaused, ChecklistResumed, {
    fn as_run(&self) -> Option<&RunRecord> {
        Some(self)
    }
    fn awaited_side(&self) -> Option<Role> {
        matches!(self.step?, RunStep::Probe | RunStep::Advance).then_some(Role::Implementer)
    }
    fn floors(&self, role: Role) -> Vec<Floor> {
        match &self.baseline_turn_id {
            Some(turn) if role == Role::Implementer => vec![(turn.clone(), self.baseline_message_id.clone())],
            _ => Vec::new(),
        }
    }
    fn prompt_for(&self, _role: Role) -> Option<String> {
        None
    }
});
