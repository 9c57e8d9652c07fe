//! Turns that failed, were interrupted or ended without an answer, and how the loop goes on after them (`loops.md` §2).

use super::grounds::Evidence;
use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};

use super::common::Loop;
use super::draft::{Draft, Message, later};
use super::prompts;
use super::turns;
use crate::model::conversation::{Failure, FailureClass, Turn};
use crate::model::ids::Role;
use crate::model::outbox::Purpose;
use crate::model::pair::{AnswerId, Limit, OpenWait, PauseReason, Retry};
use crate::model::text::TextRef;

/// Waits before going on by itself after a passing failure.
const RETRIES: [SignedDuration; 3] =
    [SignedDuration::from_secs(15), SignedDuration::from_secs(60), SignedDuration::from_secs(240)];
/// A limit whose told end has already passed is tried again after this, so that a wrong time makes no storm.
const PAST_LIMIT: SignedDuration = SignedDuration::from_secs(60);

/// When going on by itself after a failure that comes to pass now is due at the latest.
pub(super) fn longest_retry<R: Loop>(draft: &Draft<'_, R>) -> Timestamp {
    let longest = RETRIES.into_iter().max().unwrap_or_default();
    later(draft.now(), draft.scene.tempo.wait(longest))
}

/// A turn ended without an answer.
pub(super) fn no_answer<R: Loop>(draft: &mut Draft<'_, R>, role: Role, index: usize) {
    let detail = format!("{} ended its turn without an answer", draft.name(role));
    let evidence = ended(draft, role, index);
    draft.pause(PauseReason::NoAnswer, detail, evidence);
}

/// A person stopped a turn.
pub(super) fn interrupted<R: Loop>(draft: &mut Draft<'_, R>, role: Role, index: usize) {
    let detail = format!("you interrupted {}", draft.name(role));
    let evidence = ended(draft, role, index);
    draft.pause(PauseReason::UserTyped, detail, evidence);
}

/// A turn failed.
pub(super) fn failed<R: Loop>(draft: &mut Draft<'_, R>, role: Role, index: usize, failure: &Failure) {
    let evidence = ended(draft, role, index);
    match failure.class {
        FailureClass::Limit => {
            *draft.rec.retry_mut() = None;
            let detail = format!("{} is at its limit: {}", draft.name(role), failure.text);
            draft.pause(PauseReason::Limit, detail, evidence);
            *draft.rec.limit_mut() = Some(Limit { text: failure.text.clone(), resets_at: failure.resets_at });
        }
        FailureClass::Overloaded | FailureClass::Network => passing(draft, role, index, failure, evidence),
        FailureClass::Auth | FailureClass::Died | FailureClass::Other => {
            let attempts = draft.rec.retry().map_or(0, |retry| retry.n);
            for_good(draft, role, failure, attempts, evidence);
        }
    }
}

fn for_good<R: Loop>(draft: &mut Draft<'_, R>, role: Role, failure: &Failure, attempts: u32, evidence: Evidence) {
    let mut detail = format!("{} failed ({}): {}", draft.name(role), class(failure.class), failure.text);
    if attempts > 0 {
        let _ = write!(detail, ", after {attempts} attempts to go on");
    }
    draft.pause(PauseReason::AgentError, detail, evidence);
    *draft.rec.retry_mut() = None;
}

/// An overloaded service or a lost connection: the loop goes on by itself, three times.
fn passing<R: Loop>(draft: &mut Draft<'_, R>, role: Role, index: usize, failure: &Failure, evidence: Evidence) {
    let Some(turn) = draft.turn(role, index).map(|turn| turn.id.clone()) else { return };
    let before = draft.rec.retry().cloned();
    if let Some(retry) = before.as_ref().filter(|retry| retry.turn_id.as_ref() == Some(&turn)) {
        if draft.now() < retry.at {
            draft.wake(retry.at);
        } else {
            let what = format!("goes on by itself after a failure, attempt {} of {}", retry.n, RETRIES.len());
            draft.decide(what, Evidence::timer(retry.at));
            go_on_after(draft, role);
        }
        return;
    }
    let n = before.map_or(0, |retry| retry.n);
    let Some(wait) = RETRIES.get(usize::try_from(n).unwrap_or(usize::MAX)) else {
        return for_good(draft, role, failure, n, evidence);
    };
    let at = later(draft.now(), draft.scene.tempo.wait(*wait));
    let n = n.saturating_add(1);
    draft.decide(format!("{} failed ({}): goes on at {at}", draft.name(role), class(failure.class)), evidence);
    *draft.rec.retry_mut() = Some(Retry { n, at, turn_id: Some(turn) });
    draft.wake(at);
}

/// A limit's known end has come: goes on by itself, which is no resume (the marks stay).
///
/// `watched`: human prompts behind the marks make it a pause for a person instead (a pair; not a run without one).
pub(super) fn limit_over<R: Loop>(draft: &mut Draft<'_, R>, watched: bool) {
    if draft.rec.paused_reason() != Some(PauseReason::Limit) || !draft.rec.knobs().resume_after_limit {
        return;
    }
    let Some(told) = draft.rec.limit().and_then(|limit| limit.resets_at) else { return };
    let at = goes_on_at(draft, told);
    if draft.now() < at {
        draft.wake(at);
        return;
    }
    if let Some(stranger) = prompts::first_human(draft).filter(|_| watched) {
        let detail = prompts::describe(draft, &stranger);
        let evidence = prompts::evidence(draft, &stranger);
        draft.pause(PauseReason::UserTyped, detail, evidence);
        *draft.rec.limit_mut() = None;
        return;
    }
    draft.go_on("goes on: the limit is over", Evidence::timer(at));
    if let Some(role) = draft.rec.awaited_side().filter(|_| draft.rec.open().is_none() && draft.rec.owed().is_none()) {
        go_on_after(draft, role);
    }
}

/// When a limit ends for us.
pub(super) fn goes_on_at<R: Loop>(draft: &Draft<'_, R>, told: Timestamp) -> Timestamp {
    match draft.rec.paused_at() {
        Some(paused) if told <= paused => later(paused, draft.scene.tempo.wait(PAST_LIMIT)),
        _ => told,
    }
}

/// Goes on after a turn that failed, was interrupted or ended without an answer; without effect after any other.
///
/// Our own message is sent on or again; for a prompt of somebody else that turn is settled and the loop waits.
pub(super) fn go_on_after<R: Loop>(draft: &mut Draft<'_, R>, role: Role) {
    let Some(index) = turns::stuck(draft, role) else { return };
    let Some(turn) = draft.turn(role, index) else { return };
    let own = draft.rec.entry_of_turn(role, &turn.id).cloned();
    let Some(own) = own else {
        let evidence = Evidence::prompt(draft, role, turn);
        *draft.rec.open_wait_mut() = Some(OpenWait { side: role, after_turn_id: Some(turn.id.clone()) });
        let name = draft.name(role);
        draft.decide(format!("that turn is settled: waits for the next prompt to {name}"), evidence);
        return;
    };
    let text = continuation(draft, turn, &own.text);
    let source = own.source_turn_id.clone().zip(own.source_message_id.clone());
    draft.prepare(Message {
        purpose: Purpose::Continue,
        target: role,
        text,
        source: source.map(|(turn_id, message_id)| AnswerId { turn_id, message_id }),
        resend_of: Some(own.id),
    });
}

/// What goes out: a word to go on if the turn left anything, otherwise the same text again.
fn continuation<R: Loop>(draft: &Draft<'_, R>, turn: &Turn, same: &TextRef) -> TextRef {
    let prompt = draft.rec.knobs().continue_prompt;
    if turn.has_output() && !prompt.trim().is_empty() { TextRef::of(prompt) } else { same.clone() }
}

fn ended<R: Loop>(draft: &Draft<'_, R>, role: Role, index: usize) -> Evidence {
    draft.turn(role, index).map_or_else(|| Evidence::from(""), |turn| Evidence::end(draft, role, turn))
}

/// The class of a failure in words.
pub(super) fn class(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Limit => "limit",
        FailureClass::Auth => "not logged in",
        FailureClass::Overloaded => "overloaded",
        FailureClass::Network => "network",
        FailureClass::Died => "died",
        FailureClass::Other => "error",
    }
}
