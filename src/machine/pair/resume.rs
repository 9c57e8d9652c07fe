//! How a pair goes on: after a delivery, after a pause, with a near miss that waits (`loops.md` §2, §4.3, §5.3).

use super::super::common::Loop as _;
use super::super::delivery::{self, evidence::Arrived};
use super::super::grounds::Evidence;
use super::super::turns::{self, Reading};
use super::super::{orders, prompts, setback};
use super::judge;
use super::steps::{Pair, relayed};
use crate::model::command::Refusal;
use crate::model::ids::Role;
use crate::model::outbox::{Entry, Purpose};
use crate::model::pair::{AnswerId, Awaited, Direction, PauseReason};

/// The entry in flight was seen: only now the machine moves on.
pub(super) fn arrived(draft: &mut Pair<'_>, arrived: &Arrived) {
    let Some(turn) = draft.turn(arrived.role, arrived.turn) else { return };
    let awaited = Awaited {
        turn_id: Some(turn.id.clone()),
        since_record: Some(turn.prompt.record.id.clone()),
        any_prompter: false,
    };
    let carried = arrived.entry.source_turn_id.as_ref();
    match arrived.entry.purpose {
        Purpose::ToReviewer => {
            prompts::end_open_wait(draft, carried);
            relayed(draft, &arrived.entry, Direction::ToReviewer, awaited);
        }
        Purpose::ToImplementer => {
            prompts::end_open_wait(draft, carried);
            relayed(draft, &arrived.entry, Direction::ToImplementer, awaited);
        }
        Purpose::Clarify | Purpose::Continue | Purpose::Advance => {
            prompts::end_open_wait(draft, carried);
            draft.rec.awaited = Some(awaited);
        }
        Purpose::User => persons_words(draft, &arrived.entry, awaited),
    }
}

/// What a person wrote from trellis arrived: it pauses like typing, unless the loop is to go on.
fn persons_words(draft: &mut Pair<'_>, entry: &Entry, awaited: Awaited) {
    if !entry.go_on {
        if draft.rec.running() {
            let detail = format!("you wrote to {}: {}", draft.name(entry.target), entry.text.first_line);
            draft.pause(PauseReason::UserTyped, detail, entry.id.to_string());
        }
        return;
    }
    if draft.rec.awaited_side() == Some(entry.target) && draft.rec.pending_confirm.is_none() {
        draft.rec.open_wait = None;
        draft.rec.awaited = Some(awaited);
    }
    let held = matches!(draft.rec.paused_reason, Some(PauseReason::SessionChanged | PauseReason::RecordChanged));
    if draft.rec.paused_reason.is_some() && !held {
        draft.go_on("goes on with what you wrote", entry.id.to_string());
    }
}

/// A person lets the pair go on.
pub(super) fn resume(draft: &mut Pair<'_>) -> Result<(), Refusal> {
    let reason = draft.rec.paused_reason;
    if reason == Some(PauseReason::SessionChanged)
        && prompts::SIDES.iter().any(|role| draft.side(*role).reach.is_some_and(|reach| reach.replaced_by.is_some()))
    {
        return Err(Refusal::not_now("another session answers there: follow it, or stop"));
    }
    prompts::mark_all_seen(draft);
    draft.go_on("goes on, as you said", Evidence::key());
    draft.rec.retry = None;
    if reason == Some(PauseReason::NearMiss) && !reviewer_answered_anew(draft) {
        return judge::as_feedback(draft).ok_or_else(|| {
            Refusal::not_now("that answer is not in the reviewer's transcript any more: write to a side")
        });
    }
    settle(draft);
    Ok(())
}

/// Whether the reviewer has a completed answer after the near miss.
fn reviewer_answered_anew(draft: &Pair<'_>) -> bool {
    let near = draft.rec.near_miss.as_ref().zip(draft.conversation(Role::Reviewer));
    near.is_some_and(|(near, conversation)| {
        let missed = AnswerId { turn_id: near.turn_id.clone(), message_id: near.message_id.clone() };
        turns::newest_answer_after(conversation, &missed).is_some()
    })
}

/// From now on the newest completed turn of the awaited side counts, whoever prompted it; an undelivered message goes
/// first, unless its source has answered anew and nothing of it was typed.
pub(super) fn settle(draft: &mut Pair<'_>) {
    delivery::begin_times_anew(draft);
    if draft.rec.pending_confirm.is_some() {
        return;
    }
    let Some(role) = draft.rec.awaited_side() else { return };
    if let Some(awaited) = &mut draft.rec.awaited {
        awaited.any_prompter = true;
    }
    let Some(entry) = draft.rec.open().cloned() else {
        if !orders::ask_owed(draft) {
            setback::go_on_after(draft, role);
        }
        return;
    };
    if entry.purpose == Purpose::User || !delivery::is_as_good_as_prepared(draft, &entry) {
        return;
    }
    if answered_anew(draft, role, &entry) {
        delivery::take_back(draft, "its source has answered anew, and nothing of it was typed");
        if entry.purpose == Purpose::Clarify {
            draft.rec.clarify = None;
        }
    }
}

/// Whether the awaited side is ready with another answer than the one an entry carries.
fn answered_anew(draft: &Pair<'_>, role: Role, entry: &Entry) -> bool {
    let Reading::Answer(index) = turns::read(draft, role) else { return false };
    let answer = draft.turn(role, index).and_then(turns::answer_id);
    let carried = entry.source_turn_id.clone().zip(entry.source_message_id.clone());
    answer.is_some_and(|answer| carried != Some((answer.turn_id, answer.message_id)))
}
