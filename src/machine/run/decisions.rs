//! Decisions of a person about a phase: review it again, more relays, accept it, leave it out (`loops.md` §5.3).

use super::super::grounds::Evidence;
use super::super::{pair, prompts};
use super::baseline::Run;
use super::controls::{Outcome, no, refuse_in_flight};
use super::find;
use super::review::{agreed, asked_at, begin, close, newest_turn, to_advance};
use super::steps::live_pair;
use crate::model::outbox::EntryState;
use crate::model::pair::{PairRecord, PauseReason};
use crate::model::run::{After, Attempt, AttemptStatus, RunStep};

/// A new pair on the implementer's newest answer, for the same phase, with its count from 0.
pub(super) fn retry(draft: &mut Run<'_>, pairs: &[&PairRecord]) -> Outcome {
    refuse_in_flight(draft)?;
    let Some(turn) = newest_turn(draft) else { return no("the implementer has no completed answer to review") };
    match draft.rec.step {
        Some(RunStep::Review) => {
            if find(pairs, draft.rec.current_pair_id.as_ref()).is_none() && draft.rec.pending.is_some() {
                return no("the review is about to begin");
            }
            let live = live_pair(draft, pairs);
            close(draft, pairs, AttemptStatus::Stopped, None);
            draft.rec.pending_pair_stop = live.or_else(|| draft.rec.pending_pair_stop.clone());
        }
        Some(RunStep::Probe) => {}
        Some(RunStep::Advance) | None => return no("the phase is agreed: there is nothing to review again"),
    }
    withdraw(draft);
    prompts::mark_all_seen(draft);
    begin(draft, &turn, false);
    unpause(draft, "reviews the newest answer again");
    Ok(())
}

/// A new pair that goes on where the last one reached its cap.
pub(super) fn more(draft: &mut Run<'_>, pairs: &[&PairRecord], n: u32, blockers_only: bool) -> Outcome {
    let ended = draft.rec.attempt().is_some_and(|attempt| attempt.status == AttemptStatus::NotConverged);
    if !ended || draft.rec.step != Some(RunStep::Review) {
        return no("only after the cap was reached there can be more relays");
    }
    let Some(old) = find(pairs, draft.rec.current_pair_id.as_ref()) else {
        return no("the record of its pair is gone: review it again instead");
    };
    let Some(due) = &old.due else { return no("nothing was due when the cap was reached: review it again instead") };
    let cap = pair::more_cap(old, n)?;
    let turn = old.reviewed.as_ref().map_or_else(|| due.source_turn_id.clone(), |reviewed| reviewed.turn_id.clone());
    prompts::mark_all_seen(draft);
    begin(draft, &turn, false);
    if let Some(pending) = &mut draft.rec.pending {
        pending.continues = Some(old.id.clone());
        pending.cap = Some(cap);
        pending.blockers_only = blockers_only;
    }
    unpause(draft, "goes on with more relays");
    Ok(())
}

/// Agrees without the reviewer's word. An attempt that has ended keeps its status, a new entry follows it.
pub(super) fn accept(draft: &mut Run<'_>, pairs: &[&PairRecord]) -> Outcome {
    refuse_in_flight(draft)?;
    if draft.rec.step != Some(RunStep::Review) {
        return no("no phase is under review");
    }
    let Some(last) = draft.rec.attempt().cloned() else { return no("no phase is under review") };
    match last.status {
        AttemptStatus::Running => {}
        AttemptStatus::NotConverged | AttemptStatus::Stopped | AttemptStatus::Error => {
            let now = draft.now();
            draft.rec.phases.push(Attempt {
                status: AttemptStatus::Running,
                started_at: now,
                asked_at: None,
                ended_at: None,
                ..last
            });
        }
        AttemptStatus::Converged | AttemptStatus::Skipped => return no("the phase is decided already"),
    }
    let live = live_pair(draft, pairs);
    prompts::mark_all_seen(draft);
    draft.rec.pending_pair_stop = live.or_else(|| draft.rec.pending_pair_stop.clone());
    agreed(draft, pairs, "user", After::Accept);
    unpause(draft, "accepted by you");
    Ok(())
}

/// Leaves the phase out.
pub(super) fn skip(draft: &mut Run<'_>, pairs: &[&PairRecord]) -> Outcome {
    refuse_in_flight(draft)?;
    let now = draft.now();
    let live = live_pair(draft, pairs);
    let running = draft.rec.attempt().is_some_and(|attempt| attempt.status == AttemptStatus::Running);
    if running {
        close(draft, pairs, AttemptStatus::Skipped, None);
    } else {
        // Of one that was never asked for nobody knows since when.
        let asked_at = asked_at(draft, None).filter(|_| draft.rec.advance_turn_id.is_some());
        draft.rec.phases.push(Attempt {
            n: draft.rec.phases_done.saturating_add(1),
            status: AttemptStatus::Skipped,
            by: Some("user".to_owned()),
            reviewed: false,
            pair_id: None,
            turn_id: None,
            started_at: now,
            asked_at,
            ended_at: Some(now),
            summary: String::new(),
            relays: 0,
        });
    }
    draft.rec.pending_pair_stop = live.or_else(|| draft.rec.pending_pair_stop.clone());
    draft.rec.phases_done = draft.rec.phases_done.saturating_add(1);
    withdraw(draft);
    prompts::mark_all_seen(draft);
    draft.decide(format!("phase {} is left out", draft.rec.phases_done), Evidence::key());
    to_advance(draft, After::Skip);
    unpause(draft, "goes on with the next phase");
    Ok(())
}

/// A phase prompt that was not begun goes with the decision.
fn withdraw(draft: &mut Run<'_>) {
    for entry in &mut draft.rec.outbox {
        if entry.state == EntryState::Prepared && entry.attempts == 0 {
            entry.state = EntryState::Withdrawn;
        }
    }
}

/// A decision lets a run go on that waited for one; what a person paused stays paused.
fn unpause(draft: &mut Run<'_>, why: &str) {
    if !matches!(draft.rec.paused_reason, None | Some(PauseReason::Manual)) && draft.rec.is_active() {
        draft.go_on(why, Evidence::key());
    }
}
