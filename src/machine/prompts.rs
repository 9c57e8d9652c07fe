//! Prompts of people and the marks up to which they were taken into account (`loops.md` §2).

use super::common::Loop;
use super::draft::Draft;
use super::grounds::Evidence;
use super::ledger::Origin;
use crate::model::conversation::{Conversation, Turn};
use crate::model::ids::{EntryId, RecordKey, Role, TurnId};
use crate::model::text::first_line;

/// The two sides.
pub(super) const SIDES: [Role; 2] = [Role::Implementer, Role::Reviewer];

/// A prompt that the loop did not expect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stranger {
    pub role: Role,
    pub index: usize,
    pub origin: Origin,
}

/// Sets the marks of both sides to the newest prompt that is seen: a person lets the loop go on.
pub(super) fn mark_all_seen<R: Loop>(draft: &mut Draft<'_, R>) {
    for role in SIDES {
        mark_seen(draft, role);
    }
}

/// The same for one side.
pub(super) fn mark_seen<R: Loop>(draft: &mut Draft<'_, R>, role: Role) {
    if let Some(turn) = draft.conversation(role).and_then(Conversation::newest) {
        let id = turn.id.clone();
        draft.rec.marks_mut().set(role, Some(id));
    }
}

/// Moves a side's mark up to a delivery, over prompts of ours only; it stops before the first human one.
pub(super) fn follow_delivery<R: Loop>(draft: &mut Draft<'_, R>, role: Role, delivered: usize) {
    let Some(conversation) = draft.conversation(role) else { return };
    let from = first_unmarked(draft, role);
    let session = draft.rec.session(role).key();
    let mut mark = None;
    for index in from..=delivered {
        let ours = index == delivered || draft.scene.ledger.origin(&session, conversation, index) != Origin::Human;
        let Some(turn) = conversation.turns.get(index).filter(|_| ours) else { break };
        mark = Some(turn.id.clone());
    }
    if mark.is_some() {
        draft.rec.marks_mut().set(role, mark);
    }
}

/// A delivery ends the wait for a prompt of somebody else. What was waited for is taken into account with its answer:
/// the side's mark moves up to the turn that the delivered message carries, and no further.
pub(super) fn end_open_wait<R: Loop>(draft: &mut Draft<'_, R>, carried: Option<&TurnId>) {
    let Some(wait) = draft.rec.open_wait_mut().take() else { return };
    let Some(conversation) = draft.conversation(wait.side) else { return };
    let Some(index) = carried.and_then(|turn| conversation.turn_index(turn)) else { return };
    if index >= first_unmarked(draft, wait.side) {
        draft.rec.marks_mut().set(wait.side, carried.cloned());
    }
}

/// Index of the first turn that no mark covers.
pub(super) fn first_unmarked<R: Loop>(draft: &Draft<'_, R>, role: Role) -> usize {
    let Some(conversation) = draft.conversation(role) else { return 0 };
    match draft.rec.marks().of(role) {
        Some(mark) => conversation.turn_index(mark).map_or(conversation.turns.len(), |index| index.saturating_add(1)),
        None => followed_at(draft, role, conversation),
    }
}

/// After a follow the new conversation has no mark yet: what stood there when the person followed is accounted for.
/// Only as long as the clock is the one of that moment: see `clock::take_back`.
fn followed_at<R: Loop>(draft: &Draft<'_, R>, role: Role, conversation: &Conversation) -> usize {
    let Some(until) = draft.rec.former().iter().filter(|was| was.side == role).map(|was| was.until).max() else {
        return 0;
    };
    let before = |turn: &Turn| turn.prompt.record.at.is_some_and(|at| at <= until);
    conversation.turns.iter().rposition(before).map_or(0, |index| index.saturating_add(1))
}

/// The first human prompt behind a mark on either side, whatever is waited for.
pub(super) fn first_human<R: Loop>(draft: &Draft<'_, R>) -> Option<Stranger> {
    SIDES.into_iter().find_map(|role| {
        unmarked(draft, role).find(|stranger| stranger.origin == Origin::Human && !covered(draft, role, stranger.index))
    })
}

/// The first prompt that pauses a running pair; second copies of the awaited entry take its turn's place on the way.
pub(super) fn first_stranger<R: Loop>(draft: &mut Draft<'_, R>) -> Option<Stranger> {
    for role in SIDES {
        let found: Vec<Stranger> = unmarked(draft, role).collect();
        for stranger in found {
            if covered(draft, role, stranger.index) {
                continue;
            }
            match &stranger.origin {
                Origin::Human => return Some(stranger),
                Origin::LateCopy { record, entry } => {
                    let (record, entry) = (record.clone(), entry.clone());
                    if !take_copy(draft, &stranger, &record, &entry) && behind_awaited(draft, role, stranger.index) {
                        return Some(stranger);
                    }
                }
                Origin::Ours { record, entry } => {
                    let current = record == &draft.rec.key() && is_current(draft, entry);
                    if !current && behind_awaited(draft, role, stranger.index) {
                        return Some(stranger);
                    }
                }
            }
        }
    }
    None
}

/// Prompts of a side behind its mark, with their origin.
fn unmarked<'d, R: Loop>(draft: &'d Draft<'_, R>, role: Role) -> impl Iterator<Item = Stranger> + 'd {
    let session = draft.rec.session(role).key();
    let conversation = draft.conversation(role);
    let from = first_unmarked(draft, role);
    let to = conversation.map_or(0, |conversation| conversation.turns.len());
    (from..to).filter_map(move |index| {
        let origin = draft.scene.ledger.origin(&session, conversation?, index);
        Some(Stranger { role, index, origin })
    })
}

/// Whether the loop waits for exactly such a prompt.
fn covered<R: Loop>(draft: &Draft<'_, R>, role: Role, index: usize) -> bool {
    let Some(wait) = draft.rec.open_wait().filter(|wait| wait.side == role) else { return false };
    match (&wait.after_turn_id, draft.conversation(role)) {
        (Some(turn), Some(conversation)) => conversation.turn_index(turn).is_some_and(|after| index > after),
        _ => true,
    }
}

/// Whether a prompt stands in the awaited session after the turn whose answer is awaited.
fn behind_awaited<R: Loop>(draft: &Draft<'_, R>, role: Role, index: usize) -> bool {
    let Some(turn) = draft.rec.awaited().and_then(|awaited| awaited.turn_id.as_ref()) else { return false };
    draft.rec.awaited_side() == Some(role)
        && draft
            .conversation(role)
            .and_then(|conversation| conversation.turn_index(turn))
            .is_some_and(|awaited| index > awaited)
}

/// The entry that is on its way, or the one whose answer is awaited.
fn is_current<R: Loop>(draft: &Draft<'_, R>, entry: &EntryId) -> bool {
    draft.rec.open().is_some_and(|open| &open.id == entry) || awaited_entry(draft).as_ref() == Some(entry)
}

fn awaited_entry<R: Loop>(draft: &Draft<'_, R>) -> Option<EntryId> {
    let role = draft.rec.awaited_side()?;
    let turn = draft.rec.awaited()?.turn_id.clone()?;
    draft.rec.entry_of_turn(role, &turn).map(|entry| entry.id.clone())
}

/// Notes a second copy of an entry of this record; a copy of the awaited one takes its turn's place. True: dealt with.
fn take_copy<R: Loop>(draft: &mut Draft<'_, R>, stranger: &Stranger, record: &RecordKey, entry: &EntryId) -> bool {
    if record != &draft.rec.key() {
        return false;
    }
    let Some(turn) = draft.turn(stranger.role, stranger.index) else { return false };
    let (id, evidence) = (turn.id.clone(), Evidence::prompt(draft, stranger.role, turn));
    let awaited = awaited_entry(draft).as_ref() == Some(entry) && behind_awaited(draft, stranger.role, stranger.index);
    note_copy(draft, entry, &id, evidence);
    if awaited {
        if let Some(waiting) = draft.rec.awaited_mut() {
            waiting.turn_id = Some(id);
        }
        follow_delivery(draft, stranger.role, stranger.index);
    }
    awaited
}

fn note_copy<R: Loop>(draft: &mut Draft<'_, R>, entry: &EntryId, turn: &TurnId, evidence: Evidence) {
    let Some(found) = draft.rec.outbox_mut().iter_mut().find(|known| &known.id == entry) else { return };
    if found.delivered_turn_id.as_ref() == Some(turn) || found.duplicates.contains(turn) {
        return;
    }
    found.duplicates.push(turn.clone());
    draft.decide("a second copy of a message was seen", evidence.and(&format!(", message {entry}")));
}

/// A prompt of somebody else in words: whose, where, what.
pub(super) fn describe<R: Loop>(draft: &Draft<'_, R>, stranger: &Stranger) -> String {
    let name = draft.name(stranger.role);
    let words =
        draft.turn(stranger.role, stranger.index).map_or_else(String::new, |turn| first_line(&turn.prompt.text));
    match &stranger.origin {
        Origin::Human => format!("you wrote to {name}: {words}"),
        Origin::Ours { record, .. } => format!("a message of {record} reached {name}: {words}"),
        Origin::LateCopy { record, entry } => format!("a late copy of {entry} of {record} reached {name}: {words}"),
    }
}

/// Where the prompt of somebody else stands.
pub(super) fn evidence<R: Loop>(draft: &Draft<'_, R>, stranger: &Stranger) -> Evidence {
    draft
        .turn(stranger.role, stranger.index)
        .map_or_else(|| Evidence::from(""), |turn| Evidence::prompt(draft, stranger.role, turn))
}
