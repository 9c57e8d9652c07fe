//! What a look concludes for a run, in the order of `loops.md` §2. Review is in `review`, the next phase in `asking`.

use super::super::delivery::{self, evidence};
use super::super::grounds::Evidence;
use super::super::guard::{self, End};
use super::super::turns::Reading;
use super::super::{clock, orders, prompts, setback, words};
use super::baseline::Run;
use super::{asking, baseline, find, review};
use crate::model::conversation::FailureClass;
use crate::model::event::EventKind;
use crate::model::ids::Role;
use crate::model::outbox::{EntryState, Purpose};
use crate::model::pair::{PairRecord, PauseReason};
use crate::model::run::{AttemptStatus, RunState, RunStep, RunStop};

/// Everything that can be concluded now.
pub(super) fn look(draft: &mut Run<'_>, pairs: &[&PairRecord]) {
    clock::take_back(draft);
    review::order_stop(draft, pairs);
    if !draft.rec.is_active() {
        evidence::settle(draft);
        return;
    }
    if let Some(end) = guard::ends(draft) {
        return ended(draft, pairs, end);
    }
    if let Some(arrived) = evidence::observe(draft) {
        asking::arrived(draft, &arrived);
    }
    if draft.rec.step == Some(RunStep::Review) {
        review::outcome(draft, pairs);
    }
    if !draft.rec.is_active() {
        return;
    }
    if draft.rec.state == RunState::Paused {
        setback::limit_over(draft, false);
    }
    review::keep_in_step(draft, pairs);
    if draft.rec.state == RunState::Paused {
        return silent(draft);
    }
    match draft.rec.step {
        Some(RunStep::Review) => review::look(draft, pairs),
        Some(RunStep::Probe) => alone(draft, |draft| probe(draft, pairs)),
        Some(RunStep::Advance) => {
            alone(draft, |draft| asking::look(draft, find(pairs, draft.rec.current_pair_id.as_ref())));
        }
        None => {}
    }
}

/// The steps without a pair: what holds any loop holds them, then the run's own message goes first. The reviewer counts
/// only where a message of a person goes to it.
fn alone(draft: &mut Run<'_>, step: impl FnOnce(&mut Run<'_>)) {
    let to_reviewer = draft.rec.open_entry().is_some_and(|entry| entry.target == Role::Reviewer);
    let sides = if to_reviewer { &prompts::SIDES[..] } else { &[Role::Implementer] };
    if guard::blocks(draft, sides) {
        return;
    }
    step(draft);
}

/// A paused run: nothing but what a person wrote goes out.
fn silent(draft: &mut Run<'_>) {
    draft.watch_over();
    let Some((role, persons)) = draft.rec.open_entry().map(|entry| (entry.target, entry.purpose == Purpose::User))
    else {
        return;
    };
    let structural = matches!(draft.rec.paused_reason, Some(PauseReason::SessionChanged | PauseReason::RecordChanged));
    if persons && !structural { delivery::drive(draft) } else { draft.keep_an_eye_on(role) }
}

/// Waits for the implementer's answer of the phase.
fn probe(draft: &mut Run<'_>, pairs: &[&PairRecord]) {
    if draft.rec.open_entry().is_some() {
        return delivery::drive(draft);
    }
    if orders::ask_owed(draft) {
        return;
    }
    baseline::complete(draft);
    match super::super::turns::read(draft, Role::Implementer) {
        Reading::Answer(index) => review::phase_answered(draft, pairs, index),
        reading => unanswered(draft, reading),
    }
}

/// The implementer has no answer to read: its failures pause the run as they would a pair.
pub(super) fn unanswered(draft: &mut Run<'_>, reading: Reading) {
    let role = Role::Implementer;
    match reading {
        Reading::Answer(_) => {}
        Reading::NoAnswer(index) => setback::no_answer(draft, role, index),
        Reading::Interrupted(index) => setback::interrupted(draft, role, index),
        Reading::Failed(index, failure) => {
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
            let detail = format!("{}: what is waited for is not in its transcript any more", draft.name(role));
            draft.pause(PauseReason::AgentGone, detail, Evidence::seen("its transcript"));
        }
    }
}

fn ended(draft: &mut Run<'_>, pairs: &[&PairRecord], end: End) {
    let (reason, why) = match end {
        End::PutAway(role) => (RunStop::SessionTrashed, format!("{} was put away", draft.name(role))),
        End::Deleted(role) => {
            let at_start = guard::at_start(draft, draft.rec.last_persisted_at);
            draft.rec.restart_unresolvable = at_start;
            let reason = if at_start { RunStop::ServerRestarted } else { RunStop::PeerError };
            (reason, format!("the transcript of {} was deleted", draft.name(role)))
        }
    };
    stop(draft, pairs, reason, AttemptStatus::Error, why);
}

/// Ends the run: its attempt is closed, its pair is ordered to stop, what was never begun is withdrawn.
pub(super) fn stop(
    draft: &mut Run<'_>,
    pairs: &[&PairRecord],
    reason: RunStop,
    attempt: AttemptStatus,
    why: impl Into<Evidence>,
) {
    let now = draft.now();
    if draft.rec.step == Some(RunStep::Review) {
        review::close(draft, pairs, attempt, None);
        let live = live_pair(draft, pairs);
        draft.rec.pending_pair_stop = live.or_else(|| draft.rec.pending_pair_stop.clone());
    }
    for entry in &mut draft.rec.outbox {
        if entry.state == EntryState::Prepared && entry.attempts == 0 {
            entry.state = EntryState::Withdrawn;
        }
    }
    let run = &mut draft.rec;
    run.state = RunState::Stopped;
    run.step = None;
    run.stop_reason = Some(reason);
    run.stopped_at = Some(now);
    run.paused_reason = None;
    run.paused_detail = String::new();
    run.paused_at = None;
    run.paused_pair = None;
    run.pending = None;
    run.retry = None;
    draft.decide(words::run_stop(reason), why);
    draft.event(EventKind::ChecklistStopped, Some(reason.as_str()));
}

/// The run's pair, if it exists and is active.
pub(super) fn live_pair(draft: &Run<'_>, pairs: &[&PairRecord]) -> Option<crate::model::ids::PairId> {
    find(pairs, draft.rec.current_pair_id.as_ref()).filter(|pair| pair.is_active()).map(|pair| pair.id.clone())
}
