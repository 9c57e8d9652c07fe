//! The step `advance`: the next phase is asked for, unless somebody has begun it already (`loops.md` §5.2).

use super::super::common::Loop as _;
use super::super::delivery::{self, evidence::Arrived};
use super::super::draft::Message;
use super::super::grounds::Evidence;
use super::super::turns;
use super::super::{ledger::Origin, prompts};
use super::baseline::{self, Run};
use crate::model::conversation::{Conversation, Turn};
use crate::model::ids::Role;
use crate::model::outbox::Purpose;
use crate::model::pair::{AnswerId, Awaited, PairRecord, PauseReason};
use crate::model::run::{After, RunStep};
use crate::model::text::TextRef;

/// Asks for the next phase. `pair`: that of the phase before.
pub(super) fn look(draft: &mut Run<'_>, pair: Option<&PairRecord>) {
    let open = draft.rec.open_entry().map(|entry| (entry.purpose, entry.in_flight()));
    if let Some((purpose, in_flight)) = open
        && (in_flight || purpose != Purpose::Advance)
    {
        return delivery::drive(draft);
    }
    if draft.rec.phases_done >= draft.rec.config.max_phases {
        let done = draft.rec.phases_done;
        let detail = if done == 1 { "1 phase went through".to_owned() } else { format!("{done} phases went through") };
        if open.is_some() {
            delivery::take_back(draft, "the number of phases is reached");
        }
        return draft.pause(PauseReason::PhaseLimit, detail, format!("max_phases is {}", draft.rec.config.max_phases));
    }
    if begun_by_somebody(draft, pair) {
        return;
    }
    let idle = turns::idle(draft, Role::Implementer);
    if !idle.is_idle() {
        return delivery::wake_when_free(draft, Role::Implementer, &idle);
    }
    let ended = draft.conversation(Role::Implementer).and_then(turns::newest_ended);
    if !baseline::tree_is_known(draft, ended) {
        return;
    }
    baseline::set_to_newest_ended(draft);
    if open.is_some() {
        return delivery::drive(draft);
    }
    ask(draft);
}

/// Prepares the phase prompt, its placeholder filled.
pub(super) fn ask(draft: &mut Run<'_>) {
    let text = draft.rec.config.advance_prompt.replace("{completion_signal}", &draft.rec.config.completion_signal);
    draft.prepare(Message {
        purpose: Purpose::Advance,
        target: Role::Implementer,
        text: TextRef::of(&text),
        source: None,
        resend_of: None,
    });
}

/// Whether the implementer has gone on by itself or for somebody else: that is the next phase, and nobody is asked.
fn begun_by_somebody(draft: &mut Run<'_>, pair: Option<&PairRecord>) -> bool {
    match draft.rec.after {
        After::Lgtm => {
            let Some(reviewed) = pair.and_then(|pair| pair.reviewed.clone()) else { return false };
            let Some(conversation) = draft.conversation(Role::Implementer) else { return false };
            let untouched = conversation
                .newest()
                .is_some_and(|turn| turn.is_answered() && turns::answer_id(turn).as_ref() == Some(&reviewed));
            if untouched {
                return false;
            }
            let evidence = conversation
                .newest()
                .map_or_else(|| Evidence::from(""), |turn| Evidence::answer(draft, Role::Implementer, &turn.id));
            baseline::set_to_answer(draft, Some(&reviewed));
            to_probe(draft, "has gone on since the reviewed answer: that is the next phase", evidence);
            true
        }
        // A person decided with this screen in front of them: only what somebody has prompted since is a new phase.
        After::Accept | After::Skip => {
            let Some(first) = first_human_since_decision(draft) else { return false };
            let Some(conversation) = draft.conversation(Role::Implementer) else { return false };
            let evidence = conversation
                .turns
                .get(first)
                .map_or_else(|| Evidence::from(""), |turn| Evidence::prompt(draft, Role::Implementer, turn));
            let before = conversation.turns.range(0, first).rev().find(|turn| turn.outcome.is_some());
            set_to_turn(draft, before);
            to_probe(draft, "was prompted by you: that is the next phase", evidence);
            true
        }
        After::Start => false,
    }
}

fn first_human_since_decision(draft: &Run<'_>) -> Option<usize> {
    let conversation = draft.conversation(Role::Implementer)?;
    let session = draft.rec.session(Role::Implementer).key();
    let from = prompts::first_unmarked(draft, Role::Implementer);
    (from..conversation.turns.len())
        .find(|index| draft.scene.ledger.origin(&session, conversation, *index) == Origin::Human)
}

fn set_to_turn(draft: &mut Run<'_>, turn: Option<&Turn>) {
    let answer = turn.filter(|turn| turn.is_answered()).and_then(turns::answer_id);
    baseline::set_to_answer(draft, answer.as_ref());
    draft.rec.baseline_turn_id = turn.map(|turn| turn.id.clone());
}

/// No prompt: what comes next is the phase.
fn to_probe(draft: &mut Run<'_>, what: &str, evidence: Evidence) {
    if draft.rec.open_entry().is_some() {
        delivery::take_back(draft, "the implementer has gone on without it");
    }
    let name = draft.name(Role::Implementer);
    draft.decide(format!("{name} {what}"), evidence);
    let run = &mut draft.rec;
    run.step = Some(RunStep::Probe);
    run.advance_turn_id = None;
    run.awaited = None;
    run.retry = None;
    run.open_wait = None;
}

/// The run's own entry was seen.
pub(super) fn arrived(draft: &mut Run<'_>, arrived: &Arrived) {
    let Some(turn) = draft.turn(arrived.role, arrived.turn) else { return };
    let awaited = Awaited {
        turn_id: Some(turn.id.clone()),
        since_record: Some(turn.prompt.record.id.clone()),
        // What the implementer answers is the phase, whoever prompted it.
        any_prompter: true,
    };
    match arrived.entry.purpose {
        Purpose::Advance => {
            draft.rec.advance_turn_id = Some(turn.id.clone());
            moved_on(draft, awaited);
            if draft.rec.step == Some(RunStep::Advance) {
                draft.rec.step = Some(RunStep::Probe);
            }
        }
        Purpose::Continue => moved_on(draft, awaited),
        Purpose::User => persons_words(draft, arrived),
        Purpose::ToReviewer | Purpose::ToImplementer | Purpose::Clarify => {}
    }
}

fn moved_on(draft: &mut Run<'_>, awaited: Awaited) {
    draft.rec.open_wait = None;
    draft.rec.awaited = Some(awaited);
}

/// What a person wrote from trellis. In front of a phase it pauses nothing: it is how phases get started.
fn persons_words(draft: &mut Run<'_>, arrived: &Arrived) {
    let paused = draft.rec.paused_reason;
    // Words to a side decide nothing about a phase, and take no record or session back.
    let undecided = matches!(
        paused,
        Some(
            PauseReason::SessionChanged
                | PauseReason::RecordChanged
                | PauseReason::PhaseNotConverged
                | PauseReason::PairStopped
                | PauseReason::ReviewStartFailed
                | PauseReason::PhaseLimit
        )
    );
    if arrived.entry.go_on && paused.is_some() && !undecided {
        draft.go_on("goes on with what you wrote", arrived.entry.id.to_string());
    }
}

/// Whether the implementer's newest turn is exactly this answer.
pub(super) fn newest_is(draft: &Run<'_>, reviewed: Option<&AnswerId>) -> bool {
    let newest = draft.conversation(Role::Implementer).and_then(Conversation::newest);
    newest.is_some_and(|turn| turn.is_answered() && turns::answer_id(turn).as_ref() == reviewed)
}
