//! What an answer is worth: relayed, an approval, a near miss (`loops.md` §4.2, §4.3).

use super::super::common::Loop as _;
use super::super::draft::Message;
use super::super::grounds::Evidence;
use super::super::{delivery, turns};
use super::steps::{Pair, implementer_text, relay_due, relay_text, stop};
use super::{fill, prompt};
use crate::model::config::NearMissRule;
use crate::model::conversation::Turn;
use crate::model::ids::Role;
use crate::model::outbox::Purpose;
use crate::model::pair::{AnswerId, Clarify, Direction, Due, NearMiss, PairStop, PauseReason};
use crate::model::text::TextRef;
use crate::planted::{self, Fault};
use crate::verdict::{self, Verdict};

/// A side is ready with the answer of turn `index`.
pub(super) fn answer(draft: &mut Pair<'_>, role: Role, index: usize) {
    match role {
        Role::Implementer => to_reviewer(draft, index),
        Role::Reviewer => review(draft, index),
    }
}

/// The implementer's answer goes to the reviewer.
fn to_reviewer(draft: &mut Pair<'_>, index: usize) {
    let Some((source, text)) = for_reviewer(draft, index) else { return };
    draft.rec.left_behind = None;
    relay_due(draft, Direction::ToReviewer, source, &text);
}

fn for_reviewer(draft: &Pair<'_>, index: usize) -> Option<(AnswerId, String)> {
    let source = draft.turn(Role::Implementer, index).and_then(turns::answer_id)?;
    Some((source, relay_text(&prompt(&draft.rec.config, Role::Reviewer), &implementer_text(draft, index))))
}

/// Before the implementer is followed to another conversation: keeps its newest answer, if the reviewer was not given it
/// and no message carries it there.
pub(super) fn leave_behind(draft: &mut Pair<'_>) {
    let Some((source, text)) = newer_than_reviewed(draft).and_then(|index| for_reviewer(draft, index)) else { return };
    draft.rec.left_behind = Some(Due {
        direction: Direction::ToReviewer,
        source_turn_id: source.turn_id,
        source_message_id: Some(source.message_id),
        text: TextRef::of(&text),
    });
}

/// The reviewer's answer is read for the signal.
fn review(draft: &mut Pair<'_>, index: usize) {
    let Some(turn) = draft.turn(Role::Reviewer, index) else { return };
    let (Some(source), Some(answer)) = (turns::answer_id(turn), turn.answer.as_ref()) else { return };
    let evidence = Evidence::answer(draft, Role::Reviewer, &source.turn_id);
    match verdict::stop_signal(&answer.text, &draft.rec.config.stop_signal) {
        Verdict::Match { why, .. } => approved(draft, evidence.and(&format!(": {why}"))),
        Verdict::NearMiss { line, why, .. } => {
            near_miss(draft, source, &answer.text, &line, evidence.and(&format!(": {why}")));
        }
        Verdict::None { .. } => feedback(draft, source, &answer.text),
    }
}

/// The signal was given. It stands for what the reviewer was given, and only while the implementer has nothing newer.
fn approved(draft: &mut Pair<'_>, evidence: Evidence) {
    let idle = turns::idle(draft, Role::Implementer);
    if !idle.is_idle() {
        delivery::wake_when_free(draft, Role::Implementer, &idle);
        return;
    }
    if let Some(index) = newer_than_reviewed(draft) {
        let name = draft.name(Role::Implementer);
        draft.decide(format!("approved, but {name} has answered anew since: that is reviewed next"), evidence);
        return to_reviewer(draft, index);
    }
    if let Some(left) = draft.rec.left_behind.take()
        && let Some(message_id) = left.source_message_id
    {
        let name = draft.name(Role::Implementer);
        let what =
            format!("approved, but {name} had answered anew before its session was replaced: that is reviewed next");
        draft.decide(what, evidence);
        let source = AnswerId { turn_id: left.source_turn_id, message_id };
        return relay_due(draft, Direction::ToReviewer, source, left.text.text());
    }
    stop(draft, PairStop::Lgtm, evidence);
}

/// The implementer's newest completed answer, if it is newer than the one the reviewer was given last. In a conversation
/// that was followed any answer is.
fn newer_than_reviewed(draft: &Pair<'_>) -> Option<usize> {
    if planted::is(Fault::StaleVerdict) {
        return None;
    }
    let conversation = draft.conversation(Role::Implementer)?;
    let given = given(draft)?;
    if conversation.turn_index(&given.turn_id).is_none() {
        // Or it went with the end of its file: what is left had its relay before.
        return conversation.turns.iter().rposition(Turn::is_answered).filter(|index| {
            let answer = draft.turn(Role::Implementer, *index).and_then(turns::answer_id);
            answer.is_none_or(|answer| !draft.scene.ledger.relayed(&answer.turn_id, &answer.message_id))
        });
    }
    turns::newest_answer_after(conversation, &given)
}

/// The answer that the reviewer is being given, or was given last.
fn given(draft: &Pair<'_>) -> Option<AnswerId> {
    let open = draft.rec.open_entry().filter(|entry| entry.purpose == Purpose::ToReviewer);
    let (turn_id, message_id) = match open {
        Some(entry) => (entry.source_turn_id.clone(), entry.source_message_id.clone()),
        None => (None, None),
    };
    let carried = turn_id.zip(message_id).map(|(turn_id, message_id)| AnswerId { turn_id, message_id });
    carried.or_else(|| draft.rec.reviewed.clone())
}

/// The answer goes back to the implementer; after a question about a near miss, with the answer that missed before it.
fn feedback(draft: &mut Pair<'_>, source: AnswerId, answer: &str) {
    let whole = with_first_answer(draft, answer);
    let text = relay_text(&prompt(&draft.rec.config, Role::Implementer), &whole);
    relay_due(draft, Direction::ToImplementer, source, &text);
}

/// The answer that missed, a blank line, and what the reviewer said when it was asked.
fn with_first_answer(draft: &Pair<'_>, answer: &str) -> String {
    match draft.rec.clarify.as_ref().filter(|clarify| clarify.asked).and_then(|clarify| clarify.first_answer.as_ref()) {
        Some(first) => format!("{}\n\n{answer}", first.text()),
        None => answer.to_owned(),
    }
}

fn near_miss(draft: &mut Pair<'_>, source: AnswerId, answer: &str, line: &str, evidence: Evidence) {
    let asked = draft.rec.clarify.as_ref().is_some_and(|clarify| clarify.asked);
    let rule = match draft.rec.config.near_miss {
        // In front of a person's look there is no question to the reviewer either, and without words none can be asked.
        NearMissRule::Ask if !asked && (draft.rec.config.confirm_before_relay || wordless(draft)) => NearMissRule::Wait,
        rule => rule,
    };
    if rule == NearMissRule::Feedback {
        draft.decide("a near miss is relayed as feedback", evidence);
        return feedback(draft, source, answer);
    }
    draft.rec.near_miss = Some(NearMiss {
        turn_id: source.turn_id.clone(),
        message_id: source.message_id.clone(),
        line: line.to_owned(),
    });
    if rule == NearMissRule::Wait || asked {
        let name = draft.name(Role::Reviewer);
        return draft.pause(PauseReason::NearMiss, format!("{name} nearly approved: {line}"), evidence);
    }
    draft.rec.clarify = Some(Clarify { asked: true, first_answer: Some(TextRef::of(answer)) });
    draft.decide("a near miss: the reviewer is asked once", evidence);
    let question = fill(&draft.rec.config.clarify_prompt, &draft.rec.config.stop_signal);
    draft.prepare(Message {
        purpose: Purpose::Clarify,
        target: Role::Reviewer,
        text: TextRef::of(&question),
        source: Some(source),
        resend_of: None,
    });
}

fn wordless(draft: &Pair<'_>) -> bool {
    draft.rec.config.clarify_prompt.trim().is_empty()
}

/// Relays the near miss that is kept, as a person ordered. `None`: its text is not in the transcript any more.
pub(super) fn as_feedback(draft: &mut Pair<'_>) -> Option<()> {
    let near = draft.rec.near_miss.clone()?;
    let conversation = draft.conversation(Role::Reviewer)?;
    let answer = turns::message_text(conversation, &near.turn_id, &near.message_id)?;
    *draft.rec.open_wait_mut() = None;
    feedback(draft, AnswerId { turn_id: near.turn_id, message_id: near.message_id }, &answer);
    Some(())
}
