//! What is seen of an entry in flight: delivered, queued, or of a stopped record nothing any more.

use super::super::grounds::Evidence;
use jiff::SignedDuration;

use super::super::common::Loop;
use super::super::draft::{Draft, fresh, later};
use super::super::ledger::{self, Likeness};
use super::super::{TranscriptFact, prompts, session, words};
use crate::model::ids::Role;
use crate::model::outbox::{Entry, EntryState};
use crate::model::reach::OnItsWay;
use crate::model::text::fold;

/// A process that carries an entry is noted no more often.
const NOTED_EVERY: SignedDuration = SignedDuration::from_secs(15);

/// An entry that was just seen in its target's transcript.
#[derive(Clone, Debug)]
pub(in crate::machine) struct Arrived {
    pub entry: Entry,
    pub role: Role,
    pub turn: usize,
}

/// Looks for the evidence of the entry in flight; in every state of the record.
pub(in crate::machine) fn observe<R: Loop>(draft: &mut Draft<'_, R>) -> Option<Arrived> {
    let index = draft.rec.outbox().iter().rposition(Entry::in_flight)?;
    let entry = draft.rec.outbox().get(index)?;
    let role = entry.target;
    let found = draft.conversation(role).and_then(|conversation| {
        let session = draft.rec.session(role).key();
        draft.scene.ledger.delivery_of(&draft.rec.key(), &entry.id, &session, conversation)
    });
    if let Some((turn, likeness)) = found {
        return delivered(draft, index, turn, likeness);
    }
    queue(draft, index);
    carried(draft, index);
    entered(draft, index);
    None
}

/// Takes in that Enter was pressed on the entry where its sequence could not say so, since the driver was killed: from
/// then on it is not sent again by itself.
fn entered<R: Loop>(draft: &mut Draft<'_, R>, index: usize) {
    let Some(entry) = draft.rec.outbox().get(index).filter(|entry| !entry.entered) else { return };
    let side = draft.side(entry.target);
    let is_marked =
        fresh(side, draft.now(), entry.attempt_at).is_some_and(|reach| reach.on_its_way == OnItsWay::Entered);
    if side.sending.is_some() || !is_marked {
        return;
    }
    let Some(entry) = draft.rec.outbox_mut().get_mut(index) else { return };
    entry.entered = true;
    entry.quiet_since = None;
    if entry.state == EntryState::Prepared {
        entry.state = EntryState::Sent;
    }
    let what = format!("Enter was pressed on {}", entry.id);
    draft.decide(what, Evidence::seen("its pane, which keeps what was entered last"));
}

/// Notes that a process still carries the entry, so that no time runs against it: not each look, a save each time.
fn carried<R: Loop>(draft: &mut Draft<'_, R>, index: usize) {
    let now = draft.now();
    let every = draft.scene.tempo.wait(NOTED_EVERY);
    let Some(entry) = draft.rec.outbox().get(index) else { return };
    let after = entry.last_key_at.max(entry.attempt_at);
    let is_carried =
        fresh(draft.side(entry.target), now, after).is_some_and(|reach| reach.on_its_way == OnItsWay::Carried);
    let is_noted = entry.carried_at.max(after).is_some_and(|at| now < later(at, every));
    if is_carried
        && !is_noted
        && let Some(entry) = draft.rec.outbox_mut().get_mut(index)
    {
        entry.carried_at = Some(now);
    }
}

fn delivered<R: Loop>(draft: &mut Draft<'_, R>, index: usize, turn: usize, likeness: Likeness) -> Option<Arrived> {
    let now = draft.now();
    let role = draft.rec.outbox().get(index)?.target;
    let seen = draft.turn(role, turn)?;
    let entry = draft.rec.outbox_mut().get_mut(index)?;
    entry.state = EntryState::Delivered;
    entry.delivered_turn_id = Some(seen.id.clone());
    entry.delivered_at = Some(now);
    entry.altered = likeness == Likeness::Inside;
    entry.quiet_since = None;
    entry.clock_from = None;
    let entry = entry.clone();
    let how = if entry.altered { "was seen inside a longer text" } else { "was seen" };
    let what = format!("{} {how} by {}", words::sending(&draft.rec, &entry).thing(), draft.name(role));
    let evidence = Evidence::prompt(draft, role, seen).and(&format!(", message {}", entry.id));
    draft.decide(what, evidence);
    prompts::follow_delivery(draft, role, turn);
    Some(Arrived { entry, role, turn })
}

/// Follows the agent's own queue: in it no time runs; gone from it without a trace, all times begin there.
fn queue<R: Loop>(draft: &mut Draft<'_, R>, index: usize) {
    let now = draft.now();
    let Some(entry) = draft.rec.outbox().get(index) else { return };
    let queued = stands_in_queue(draft, entry);
    let was = entry.state == EntryState::Queued;
    if queued == was {
        return;
    }
    let Some(entry) = draft.rec.outbox_mut().get_mut(index) else { return };
    entry.quiet_since = None;
    entry.state = if queued { EntryState::Queued } else { EntryState::Sent };
    entry.clock_from = (!queued).then_some(now);
    let (what, evidence) = if queued {
        (format!("{} waits in the agent's own queue", entry.id), "its queue")
    } else {
        (format!("{} left the agent's queue and was not seen", entry.id), "its queue or its process is gone")
    };
    draft.decide(what, Evidence::seen(evidence));
}

fn stands_in_queue<R: Loop>(draft: &Draft<'_, R>, entry: &Entry) -> bool {
    let side = draft.side(entry.target);
    let told = side.reach.is_some_and(|reach| {
        reach.on_its_way == OnItsWay::Queued && entry.attempt_at.is_none_or(|begun| reach.at > begun)
    });
    let Some(conversation) = side.conversation else { return told };
    let Some(from) = entry.transcript_mark.as_ref().and_then(|mark| ledger::after_mark(conversation, mark)) else {
        return told;
    };
    let ours = fold(entry.text_on_the_wire());
    told || conversation.queued.iter().any(|row| {
        row.offset >= from && !session::queue_gone(side, row.at) && ledger::likeness(&ours, &fold(&row.text)).is_some()
    })
}

/// Observes what a stopped record left in flight: without a sign of it for a minute it is given up, so that it keeps
/// no session busy for ever. A late copy of it is still ours.
pub(in crate::machine) fn settle<R: Loop>(draft: &mut Draft<'_, R>) {
    if observe(draft).is_some() {
        return;
    }
    let Some(index) = draft.rec.outbox().iter().rposition(Entry::in_flight) else { return };
    let Some(entry) = draft.rec.outbox().get(index) else { return };
    let role = entry.target;
    let last = entry.last_key_at.or(entry.attempt_at).unwrap_or(entry.prepared_at).max(entry.prepared_at);
    let at = later(last, draft.scene.tempo.wait(super::GIVE_UP));
    if draft.now() < at {
        draft.wake(at);
        return;
    }
    draft.keep_an_eye_on(role);
    let Some(entry) = draft.rec.outbox().get(index) else { return };
    let side = draft.side(role);
    // What was seen before the minute was over proves nothing about its end.
    if side.reach.is_some() && fresh(side, draft.now(), Some(last)).is_none() {
        return draft.recheck(role);
    }
    let left = entry.state == EntryState::Queued
        || side.sending == Some(&entry.id)
        || match side.reach {
            None => true,
            Some(reach) => match &reach.on_its_way {
                OnItsWay::No | OnItsWay::Entered | OnItsWay::Refused(_) => false,
                OnItsWay::Queued | OnItsWay::Carried => true,
                OnItsWay::Unknown(_) => session::gone(side).is_none() && reach.transport.is_some(),
            },
        };
    if left {
        draft.recheck(role);
        return;
    }
    if let Some(entry) = draft.rec.outbox_mut().get_mut(index) {
        entry.state = EntryState::Abandoned;
        let what = format!("{} of a stopped record is given up", entry.id);
        draft.decide(what, Evidence::seen("no sign of it for a minute, and nothing of it is on its way"));
    }
}

/// Whether the transcript's file is still the one in which the entry's mark was taken.
pub(super) fn mark_holds<R: Loop>(draft: &Draft<'_, R>, entry: &Entry) -> bool {
    let Some(mark) = &entry.transcript_mark else { return false };
    let side = draft.side(entry.target);
    let Some(conversation) = side.conversation else { return mark.last_record_id.is_none() };
    if ledger::after_mark(conversation, mark).is_none() {
        return false;
    }
    // Ordinals and offsets are found in any file; only a name that is unique proves that it is the same one.
    let by_place = mark.last_record_id.as_ref().is_some_and(|id| !id.as_str().contains('-'));
    match side.transcript {
        TranscriptFact::Present(now) => !by_place || now.file_identity == mark.file_identity,
        TranscriptFact::NotYet | TranscriptFact::Deleted | TranscriptFact::Unreadable(_) => false,
    }
}
