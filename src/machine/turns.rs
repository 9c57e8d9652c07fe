//! Turns and answers as the loops judge them: which turn counts, what is newer than what, how a turn ended.
//! What follows from it is the machines' business.

use super::common::{Floor, Loop};
use super::draft::Draft;
use super::session::{self, Busy, IdleVerdict};
use crate::model::conversation::{Answer, Conversation, Failure, ItemKind, Outcome, Turn};
use crate::model::ids::{MessageId, Role, TurnId};
use crate::model::pair::AnswerId;
use crate::planted::{self, Fault};

/// Which turns of a side count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// All.
    Any,
    /// This one and no other.
    Exact(usize),
    /// This one and later ones.
    From(usize),
    /// Later ones; this one itself only if it was answered since.
    After(usize),
    /// None yet.
    Nothing,
    /// What is to count is not in the transcript any more.
    Lost,
}

/// What the newest turn of a side says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The side is not idle.
    Busy(IdleVerdict),
    /// Nothing to read until somebody prompts it.
    Prompt,
    /// Ready, with this turn's answer.
    Answer(usize),
    /// It ended without one.
    NoAnswer(usize),
    /// A person stopped it.
    Interrupted(usize),
    /// It failed.
    Failed(usize, Failure),
    /// What is to count is not in the transcript any more.
    Lost,
}

/// Whether the answer of turn `index` is newer than a floor: in a later turn, or another message of the same one.
pub(super) fn above(conversation: &Conversation, index: usize, (turn, message): &Floor) -> bool {
    let Some(floor) = conversation.turn_index(turn) else { return false };
    let answer = conversation.turns.get(index).and_then(|turn| turn.answer.as_ref());
    index > floor || (index == floor && answer.is_some_and(|answer| Some(&answer.message_id) != message.as_ref()))
}

/// Whether turn `index` has a completed answer newer than `than`.
pub(super) fn answered_after(conversation: &Conversation, index: usize, than: &AnswerId) -> bool {
    conversation.turns.get(index).is_some_and(Turn::is_answered)
        && above(conversation, index, &(than.turn_id.clone(), Some(than.message_id.clone())))
}

/// The newest completed answer after `than`.
pub(super) fn newest_answer_after(conversation: &Conversation, than: &AnswerId) -> Option<usize> {
    (0..conversation.turns.len()).rev().find(|index| answered_after(conversation, *index, than))
}

/// The newest completed answer.
pub(super) fn newest_answered(conversation: &Conversation) -> Option<&Turn> {
    conversation.turns.iter().rev().find(|turn| turn.is_answered())
}

/// The newest turn that has ended.
pub(super) fn newest_ended(conversation: &Conversation) -> Option<&Turn> {
    conversation.turns.iter().rev().find(|turn| turn.outcome.is_some())
}

/// The identity of a turn's answer.
pub(super) fn answer_id(turn: &Turn) -> Option<AnswerId> {
    turn.answer.as_ref().map(|answer| AnswerId { turn_id: turn.id.clone(), message_id: answer.message_id.clone() })
}

/// The message of a turn that was judged when the turn becomes a floor: its answer, if it was completed with one.
pub(super) fn judged_message(turn: &Turn) -> Option<MessageId> {
    turn.answer.as_ref().filter(|_| turn.is_answered()).map(|answer| answer.message_id.clone())
}

/// Whether turn `index` says something that was not there when a floor was taken: it is a later turn, or the same one
/// has gone on since.
fn says_more(conversation: &Conversation, index: usize, (turn, message): &Floor) -> bool {
    let Some(floor) = conversation.turn_index(turn) else { return false };
    let Some(turn) = conversation.turns.get(index) else { return false };
    if planted::is(Fault::TextForTurn) && has_text_of(turn, conversation.turns.get(floor)) {
        return false;
    }
    index > floor
        || (index == floor
            && match message {
                Some(_) => judged_message(turn) != *message,
                None => turn.is_answered(),
            })
}

/// Whether two turns say the same, which proves nothing: only a planted fault asks.
fn has_text_of(turn: &Turn, other: Option<&Turn>) -> bool {
    let text = |turn: &Turn| turn.answer.as_ref().map(|answer| answer.text.clone());
    other.is_some_and(|other| text(turn) == text(other))
}

/// The text of one message of a turn: its answer's, or what its blocks say.
pub(super) fn message_text(conversation: &Conversation, turn: &TurnId, message: &MessageId) -> Option<String> {
    let turn = conversation.turns.get(conversation.turn_index(turn)?)?;
    if let Some(answer) = turn.answer.as_ref().filter(|answer: &&Answer| &answer.message_id == message) {
        return Some(answer.text.to_string());
    }
    let blocks: Vec<&str> = turn
        .items
        .iter()
        .filter_map(|item| match &item.kind {
            ItemKind::Text { message_id, text } if message_id == message => Some(text.as_ref()),
            _ => None,
        })
        .collect();
    (!blocks.is_empty()).then(|| blocks.join("\n").trim().to_owned())
}

/// Which turns of the awaited side count now.
pub(super) fn bound<R: Loop>(draft: &Draft<'_, R>, role: Role) -> Bound {
    let Some(conversation) = draft.conversation(role) else { return Bound::Any };
    let place = |turn: &TurnId, bound: fn(usize) -> Bound| conversation.turn_index(turn).map_or(Bound::Lost, bound);
    if let Some(wait) = draft.rec.open_wait().filter(|wait| wait.side == role) {
        return wait.after_turn_id.as_ref().map_or(Bound::Any, |turn| place(turn, Bound::After));
    }
    match draft.rec.awaited().filter(|_| draft.rec.awaited_side() == Some(role)) {
        None => Bound::Any,
        Some(awaited) if awaited.any_prompter => awaited.since_record.as_ref().map_or(Bound::Any, |record| {
            conversation
                .turns
                .iter()
                .rposition(|turn| &turn.prompt.record.id == record)
                .map_or(Bound::Lost, Bound::From)
        }),
        Some(awaited) => awaited.turn_id.as_ref().map_or(Bound::Nothing, |turn| place(turn, Bound::Exact)),
    }
}

/// What the newest turn of the awaited side says.
pub(super) fn read<R: Loop>(draft: &Draft<'_, R>, role: Role) -> Reading {
    let idle = idle(draft, role);
    let Some(newest) = newest_that_counts(draft, role) else {
        return match bound(draft, role) {
            Bound::Lost => Reading::Lost,
            _ if idle.is_idle() => Reading::Prompt,
            _ => Reading::Busy(idle),
        };
    };
    let Some(turn) = draft.turn(role, newest) else { return Reading::Prompt };
    let ended = match ended_unanswered(draft, role, turn) {
        Some(_) if still_moving(&idle) => None,
        other => other,
    };
    match ended {
        Some(Outcome::Failed(failure)) => Reading::Failed(newest, failure),
        Some(Outcome::Interrupted) => Reading::Interrupted(newest),
        Some(Outcome::Completed | Outcome::Superseded) if idle.is_idle() => Reading::NoAnswer(newest),
        None if idle.is_idle() && turn.is_answered() => Reading::Answer(newest),
        _ => Reading::Busy(idle),
    }
}

/// The newest turn of the awaited side if it is one that counts, whether or not it has ended.
pub(super) fn newest_that_counts<R: Loop>(draft: &Draft<'_, R>, role: Role) -> Option<usize> {
    let conversation = draft.conversation(role)?;
    if planted::is(Fault::NewestTurn) {
        return conversation.turns.iter().rposition(Turn::is_answered);
    }
    let newest = conversation.turns.len().checked_sub(1)?;
    let turn = conversation.turns.get(newest)?;
    let counts = match bound(draft, role) {
        Bound::Any => Some(newest),
        Bound::Exact(at) => Some(at),
        Bound::From(at) => (newest >= at).then_some(newest),
        Bound::After(at) => (newest > at || (newest == at && turn.is_answered())).then_some(newest),
        Bound::Nothing | Bound::Lost => None,
    }?;
    // An answer at or below a floor was judged before; a turn that is still open may bring a newer one.
    let floors = draft.rec.floors(role);
    let open = conversation.turns.get(counts).is_some_and(|turn| turn.outcome.is_none());
    (open && counts == newest || floors.iter().all(|floor| says_more(conversation, counts, floor))).then_some(counts)
}

/// The newest turn that counts if it ended without an answer: what `going on` starts from.
pub(super) fn stuck<R: Loop>(draft: &Draft<'_, R>, role: Role) -> Option<usize> {
    let newest = newest_that_counts(draft, role)?;
    let turn = draft.turn(role, newest)?;
    ended_unanswered(draft, role, turn).map(|_| newest)
}

/// How a turn ended, if it ended and has no answer to be read.
fn ended_unanswered<R: Loop>(draft: &Draft<'_, R>, role: Role, turn: &Turn) -> Option<Outcome> {
    match &turn.outcome {
        None => session::died(draft.side(role))
            .filter(|_| {
                draft.conversation(role).and_then(Conversation::newest).is_some_and(|newest| newest.id == turn.id)
            })
            .map(Outcome::Failed),
        Some(Outcome::Completed) if turn.answer.is_some() => None,
        Some(outcome) => Some(outcome.clone()),
    }
}

/// A turn that failed is told of when it is over, dialogs and background agents or not.
fn still_moving(idle: &IdleVerdict) -> bool {
    idle.because.iter().any(|busy| matches!(busy, Busy::Turn | Busy::Quiet(_) | Busy::QueuedPrompt))
}

/// Whether a side is idle for this record (its own entries in flight count too).
pub(super) fn idle<R: Loop>(draft: &Draft<'_, R>, role: Role) -> IdleVerdict {
    let mut idle = session::idle(draft.scene, role, draft.rec.knobs().debounce);
    if draft.force {
        idle.because.retain(|busy| !matches!(busy, Busy::Background(_) | Busy::Quiet(_)));
    }
    idle
}

/// Whether everything that this record builds on is still in a side's transcript.
pub(super) fn anchors_hold<R: Loop>(draft: &Draft<'_, R>, role: Role) -> bool {
    let mark = draft.rec.marks().of(role);
    let Some(conversation) = draft.conversation(role) else { return mark.is_none() };
    let known = |turn: &TurnId| conversation.turn_index(turn).is_some();
    mark.is_none_or(known)
        && draft.rec.floors(role).iter().all(|(turn, _)| known(turn))
        && (draft.rec.awaited_side() != Some(role) || bound(draft, role) != Bound::Lost)
}
