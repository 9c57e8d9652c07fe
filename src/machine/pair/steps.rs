//! What a look concludes for a pair, in the order of `loops.md` §2: evidence, human prompts, sending, the steps.
//! What an answer is worth is in `judge`.

use super::super::common::Loop as _;
use super::super::delivery::{self, evidence};
use super::super::draft::{Draft, Message};
use super::super::grounds::Evidence;
use super::super::guard::{self, End};
use super::super::turns::{self, Reading};
use super::super::{clock, orders, prompts, setback, words};
use super::{create, judge, resume, work};
use crate::model::conversation::{Conversation, FailureClass, Turn};
use crate::model::event::EventKind;
use crate::model::ids::Role;
use crate::model::outbox::{Entry, EntryState, Purpose};
use crate::model::pair::{
    AnswerId, Awaited, Direction, Due, Kickoff, PairRecord, PairState, PairStep, PairStop, PauseReason, PendingConfirm,
    Round,
};
use crate::model::text::TextRef;

pub(super) type Pair<'a> = Draft<'a, PairRecord>;

/// Everything that can be concluded now.
pub(super) fn look(draft: &mut Pair<'_>, held: bool) {
    clock::take_back(draft);
    if !draft.rec.is_active() {
        evidence::settle(draft);
        return;
    }
    if let Some(end) = guard::ends(draft) {
        return ended(draft, end);
    }
    if draft.rec.state == PairState::Pending && !held {
        draft.rec.state = PairState::Running;
        draft.decide("the review begins", "a new record");
    }
    if let Some(arrived) = evidence::observe(draft) {
        resume::arrived(draft, &arrived);
    }
    work::count(draft);
    if !held && draft.rec.state == PairState::Paused {
        setback::limit_over(draft, true);
    }
    if held || !draft.rec.running() {
        return silent(draft);
    }
    goes(draft);
}

/// A pair that goes: prompts, then sending, then its step.
pub(super) fn goes(draft: &mut Pair<'_>) {
    if guard::blocks(draft, &prompts::SIDES) {
        return;
    }
    if let Some(stranger) = prompts::first_stranger(draft) {
        let detail = prompts::describe(draft, &stranger);
        let evidence = prompts::evidence(draft, &stranger);
        return draft.pause(PauseReason::UserTyped, detail, evidence);
    }
    if draft.rec.open().is_some() {
        return delivery::drive(draft);
    }
    if orders::ask_owed(draft) {
        return;
    }
    match draft.rec.step {
        Some(PairStep::AwaitImplementer) => await_answer(draft, Role::Implementer),
        Some(PairStep::AwaitReviewer) => await_answer(draft, Role::Reviewer),
        Some(PairStep::ConfirmRelay) => confirm(draft),
        None => {}
    }
}

/// A paused or held pair: nothing but what a person wrote goes out; what is in flight is observed.
fn silent(draft: &mut Pair<'_>) {
    draft.watch_over();
    let Some((role, persons)) = draft.rec.open().map(|entry| (entry.target, entry.purpose == Purpose::User)) else {
        return;
    };
    let structural = matches!(draft.rec.paused_reason, Some(PauseReason::SessionChanged | PauseReason::RecordChanged));
    if persons && !structural {
        delivery::drive(draft);
    } else {
        draft.keep_an_eye_on(role);
    }
}

fn ended(draft: &mut Pair<'_>, end: End) {
    match end {
        End::PutAway(role) => {
            let name = draft.name(role);
            stop(draft, PairStop::SessionTrashed, format!("{name} was put away"));
        }
        End::Deleted(role) => {
            draft.rec.restart_unresolvable = guard::at_start(draft, draft.rec.last_persisted_at);
            let name = draft.name(role);
            stop(draft, PairStop::PeerError, Evidence::seen(format!("the transcript of {name} was deleted")));
        }
    }
}

/// Waits for the answer of a side, and does what its newest turn leads to.
fn await_answer(draft: &mut Pair<'_>, role: Role) {
    if due_again(draft, role) {
        return;
    }
    match turns::read(draft, role) {
        Reading::Answer(index) => judge::answer(draft, role, index),
        Reading::NoAnswer(index) => setback::no_answer(draft, role, index),
        Reading::Interrupted(index) => setback::interrupted(draft, role, index),
        Reading::Failed(index, failure) => {
            // An agent that is not there cannot be told to go on: bringing it back comes first.
            if failure.class == FailureClass::Died && guard::gone(draft, role) {
                return;
            }
            setback::failed(draft, role, index, &failure);
        }
        Reading::Busy(idle) => delivery::wake_when_free(draft, role, &idle),
        Reading::Prompt => {
            guard::gone(draft, role);
        }
        Reading::Lost => {
            let name = draft.name(role);
            let detail = format!("{name}: what is waited for is not in its transcript any more");
            draft.pause(PauseReason::AgentGone, detail, Evidence::seen("its transcript"));
        }
    }
}

/// A pair that goes on after a cap sends what was due, unless its source has answered anew.
fn due_again(draft: &mut Pair<'_>, role: Role) -> bool {
    let Some(due) = draft.rec.due.clone() else { return false };
    let source = AnswerId {
        turn_id: due.source_turn_id.clone(),
        message_id: due.source_message_id.clone().unwrap_or_else(|| "".into()),
    };
    let newer =
        draft.conversation(role).and_then(|conversation| turns::newest_answer_after(conversation, &source)).is_some();
    let working = draft.conversation(role).is_some_and(Conversation::is_open);
    if newer || working || due.source_message_id.is_none() {
        draft.rec.due = None;
        draft.decide("what was due is replaced by a newer answer", Evidence::answer(draft, role, &due.source_turn_id));
        return true;
    }
    draft.rec.due = None;
    relay_due(draft, due.direction, source, due.text.text());
    true
}

/// A relay that waits for a person's look: a newer answer of its source takes its place.
fn confirm(draft: &mut Pair<'_>) {
    let Some(pending) = draft.rec.pending_confirm.clone() else {
        draft.rec.step = Some(PairStep::AwaitImplementer);
        return;
    };
    let source = pending.direction.target().other();
    let shown = AnswerId { turn_id: pending.source_turn_id, message_id: pending.source_message_id };
    let newer = draft
        .conversation(source)
        .and_then(|conversation| turns::newest_answer_after(conversation, &shown).map(|at| (conversation, at)));
    if let Some((conversation, at)) = newer {
        let evidence = conversation
            .turns
            .get(at)
            .map_or_else(|| Evidence::from(""), |turn| Evidence::answer(draft, source, &turn.id));
        draft.rec.pending_confirm = None;
        draft.rec.step = Some(awaiting(source));
        let name = draft.name(source);
        draft.decide(format!("{name} answered anew: the relay that waited for a look is withdrawn"), evidence);
        return;
    }
    draft.keep_an_eye_on(pending.target);
}

pub(super) const fn awaiting(role: Role) -> PairStep {
    match role {
        Role::Implementer => PairStep::AwaitImplementer,
        Role::Reviewer => PairStep::AwaitReviewer,
    }
}

/// A message from one side to the other is due: at the cap it ends the pair, else it waits for a look or goes out.
pub(super) fn relay_due(draft: &mut Pair<'_>, direction: Direction, source: AnswerId, text: &str) {
    *draft.rec.retry_mut() = None;
    if draft.rec.round_count >= draft.rec.config.max_rounds {
        let made = draft.rec.round_count;
        let detail = if made == 1 { "1 relay was made".to_owned() } else { format!("{made} relays were made") };
        draft.rec.due = Some(Due {
            direction,
            source_turn_id: source.turn_id,
            source_message_id: Some(source.message_id),
            text: TextRef::of(text),
        });
        return stop(draft, PairStop::MaxRounds, detail);
    }
    if answered_before(draft, direction, &source) {
        draft.decide(
            "that answer was relayed and answered before: it is not sent again",
            Evidence::answer(draft, direction.target().other(), &source.turn_id),
        );
        draft.rec.spent = Some(source);
        return;
    }
    if draft.rec.config.confirm_before_relay {
        draft.rec.step = Some(PairStep::ConfirmRelay);
        let evidence = Evidence::answer(draft, direction.target().other(), &source.turn_id);
        draft.decide("a relay waits for your look", evidence);
        draft.event(EventKind::PairConfirmPending, None);
        draft.rec.pending_confirm = Some(PendingConfirm {
            direction,
            target: direction.target(),
            source_turn_id: source.turn_id,
            source_message_id: source.message_id,
            text: TextRef::of(text),
        });
        return;
    }
    let text = TextRef::of(text);
    let purpose = create::purpose(direction);
    draft.prepare(Message { purpose, target: direction.target(), text, source: Some(source), resend_of: None });
}

/// At most one entry per source and direction may have been answered.
fn answered_before(draft: &Pair<'_>, direction: Direction, source: &AnswerId) -> bool {
    let target = direction.target();
    let Some(conversation) = draft.conversation(target) else { return false };
    draft.rec.outbox.iter().any(|entry| {
        entry.target == target
            && entry.purpose != Purpose::Clarify
            && entry.source_turn_id.as_ref() == Some(&source.turn_id)
            && entry.source_message_id.as_ref() == Some(&source.message_id)
            && entry.delivered_turn_id.as_ref().is_some_and(|turn| {
                conversation.turn_index(turn).and_then(|at| conversation.turns.get(at)).is_some_and(Turn::is_answered)
            })
    })
}

/// The prompt with its trailing newlines cut, one blank line, the answer; an empty prompt sends the answer alone.
pub(super) fn relay_text(prompt: &str, answer: &str) -> String {
    let prompt = prompt.trim_end_matches('\n');
    if prompt.is_empty() { answer.to_owned() } else { format!("{prompt}\n\n{answer}") }
}

/// The text of the implementer's answer: of a kickoff turn that asks for it, all of its text.
pub(super) fn implementer_text(draft: &Pair<'_>, index: usize) -> String {
    let Some(turn) = draft.turn(Role::Implementer, index) else { return String::new() };
    match &draft.rec.kickoff {
        Kickoff::Turn { turn_id, whole_turn: true } if *turn_id == turn.id => turn.whole_text(),
        _ => turn.answer.as_ref().map_or_else(String::new, |answer| answer.text.to_string()),
    }
}

/// A relay was seen: it counts, and its answer is awaited.
pub(super) fn relayed(draft: &mut Pair<'_>, entry: &Entry, direction: Direction, awaited: Awaited) {
    let pair = &mut draft.rec;
    pair.round_count = pair.round_count.saturating_add(1);
    pair.rounds.push(Round {
        n: pair.round_count,
        direction,
        at: draft.scene.now,
        source_turn_id: entry.source_turn_id.clone(),
        source_message_id: entry.source_message_id.clone(),
        delivered_turn_id: entry.delivered_turn_id.clone().unwrap_or_else(|| "".into()),
        entry: Some(entry.id.clone()),
        text: entry.text.clone(),
        edited: entry.edited,
        work: None,
    });
    if direction == Direction::ToReviewer {
        let source = entry.source_turn_id.clone().zip(entry.source_message_id.clone());
        pair.reviewed = source.map(|(turn_id, message_id)| AnswerId { turn_id, message_id });
    }
    pair.step = Some(awaiting(direction.target()));
    pair.awaited = Some(awaited);
    pair.clarify = None;
    pair.near_miss = None;
    pair.spent = None;
    pair.due = None;
    pair.retry = None;
    draft.event(EventKind::PairRound, None);
}

/// Ends the pair: what was never begun is withdrawn, what is in flight is observed until it ends.
pub(super) fn stop(draft: &mut Pair<'_>, reason: PairStop, why: impl Into<Evidence>) {
    let now = draft.now();
    for entry in &mut draft.rec.outbox {
        if entry.state == EntryState::Prepared && entry.attempts == 0 {
            entry.state = EntryState::Withdrawn;
        }
    }
    let pair = &mut draft.rec;
    pair.state = PairState::Stopped;
    pair.step = None;
    pair.stop_reason = Some(reason);
    pair.stopped_at = Some(now);
    pair.paused_reason = None;
    pair.paused_detail = String::new();
    pair.paused_at = None;
    pair.pending_confirm = None;
    pair.retry = None;
    draft.decide(words::pair_stop(reason), why);
    draft.event(EventKind::PairStopped, Some(reason.as_str()));
}
