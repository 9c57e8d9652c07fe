//! The step `review`: the attempt, its pair, and what the pair's end means for the run (`loops.md` §5.2, §6).

use super::super::grounds::Evidence;
use jiff::Timestamp;

use super::super::common::Loop as _;
use super::super::pair::{self, CHECKLIST, Successor};
use super::super::{Effect, PairOrder, Step, turns};
use super::asking;
use super::baseline::{self, Run};
use super::find;
use super::steps::{live_pair, stop};
use crate::model::command::{Control, Refusal};
use crate::model::config::PairConfig;
use crate::model::event::{Decision, EventKind, Ground};
use crate::model::ids::{PairId, RecordKey, Role, TurnId};
use crate::model::outbox::Purpose;
use crate::model::pair::{Kickoff, PairRecord, PairState, PairStop, PauseReason};
use crate::model::run::{After, Attempt, AttemptStatus, PendingCreate, RunRecord, RunState, RunStep, RunStop};
use crate::model::text::first_line;
use crate::verdict;

/// The implementer is ready with an answer in `probe`: the end of the checklist, or a phase to review.
pub(super) fn phase_answered(draft: &mut Run<'_>, pairs: &[&PairRecord], index: usize) {
    let Some(turn) = draft.turn(Role::Implementer, index) else { return };
    let Some(answer) = &turn.answer else { return };
    let verdict = verdict::completion_signal(&answer.text, &draft.rec.config.completion_signal);
    let mut whole_turn = false;
    if verdict.is_match() {
        // A tree that was never observed at the baseline proves nothing now.
        if draft.rec.baseline_git.is_some() && !baseline::tree_is_known(draft, Some(turn)) {
            return;
        }
        if !baseline::edited_since(draft, index) {
            let evidence = Evidence::answer(draft, Role::Implementer, &turn.id).and(&format!(": {}", verdict.why()));
            return stop(draft, pairs, RunStop::Completed, AttemptStatus::Stopped, evidence);
        }
        whole_turn = true;
        draft.decide(
            "the completion signal came with edited files: that is reviewed first",
            Evidence::answer(draft, Role::Implementer, &turn.id),
        );
    }
    let running = if whole_turn { draft.rec.edited_completions.saturating_add(1) } else { 0 };
    draft.rec.edited_completions = running;
    // What was typed in front of a phase started it; from here on a person's words pause the pair.
    super::super::prompts::mark_all_seen(draft);
    begin(draft, &turn.id, whole_turn);
}

/// Saves a new attempt and picks its pair's id; the pair is made at the next look.
pub(super) fn begin(draft: &mut Run<'_>, turn: &TurnId, whole_turn: bool) {
    let now = draft.now();
    let summary = draft
        .conversation(Role::Implementer)
        .and_then(|conversation| conversation.turns.get(conversation.turn_index(turn)?))
        .and_then(|turn| turn.answer.as_ref())
        .map_or_else(String::new, |answer| first_line(&answer.text));
    let asked_at = asked_at(draft, Some(turn));
    let run = &mut draft.rec;
    run.pairs_made = run.pairs_made.saturating_add(1);
    let id = PairId::new(format!("{}-p{}", run.id, run.pairs_made));
    let n = run.phases_done.saturating_add(1);
    run.phases.push(Attempt {
        n,
        status: AttemptStatus::Running,
        by: None,
        reviewed: false,
        pair_id: Some(id.clone()),
        turn_id: Some(turn.clone()),
        started_at: now,
        asked_at,
        ended_at: None,
        summary,
        relays: 0,
    });
    run.step = Some(RunStep::Review);
    run.current_pair_id = Some(id.clone());
    run.pair_seen = false;
    run.awaited = None;
    run.open_wait = None;
    run.retry = None;
    run.pending = Some(PendingCreate {
        create: id,
        continues: None,
        cap: None,
        turn_id: turn.clone(),
        whole_turn,
        blockers_only: false,
    });
    draft.decide(format!("phase {n} goes to the reviewer"), Evidence::answer(draft, Role::Implementer, turn));
    draft.event(EventKind::ChecklistPhaseStarted, None);
}

/// Since when the phase that now begins is built: its prompt was seen, or, without one, the phase before had ended or a
/// person had prompted it. `None`: it was tried before, and that attempt has its building.
pub(super) fn asked_at(draft: &Run<'_>, turn: Option<&TurnId>) -> Option<Timestamp> {
    let run = &draft.rec;
    let n = run.phases_done.saturating_add(1);
    if run.phases.iter().any(|attempt| attempt.n == n) {
        return None;
    }
    let advance = run.outbox.iter().rev().find(|entry| {
        entry.purpose == Purpose::Advance
            && entry.delivered_turn_id.is_some()
            && entry.delivered_turn_id == run.advance_turn_id
    });
    let before = || run.attempt().and_then(|attempt| attempt.ended_at);
    let prompted = || {
        let conversation = draft.conversation(Role::Implementer)?;
        let first = run.baseline_turn_id.as_ref().and_then(|turn| conversation.turn_index(turn)).map_or(0, |at| at + 1);
        let read = turn.and_then(|turn| conversation.turn_index(turn))?;
        conversation.turns.get(first.min(read))?.prompt.record.at
    };
    advance.and_then(|entry| entry.delivered_at).or_else(before).or_else(prompted)
}

/// A run in review that goes: its pair is made, and from then on it is the pair that moves.
pub(super) fn look(draft: &mut Run<'_>, pairs: &[&PairRecord]) {
    if let Some(pair) = find(pairs, draft.rec.current_pair_id.as_ref()) {
        if !pair.is_active() && draft.rec.pending_pair_stop.is_none() {
            undecided(draft, pair);
        }
        return;
    }
    if draft.rec.pair_seen {
        close(draft, pairs, AttemptStatus::Stopped, None);
        return draft.pause(PauseReason::PairStopped, "the record of its pair is gone", "no pair file");
    }
    // The pair before must have ended: two of them on the same sessions would speak at once.
    let before = find(pairs, draft.rec.pending_pair_stop.as_ref());
    if before.is_some_and(PairRecord::is_active) {
        return;
    }
    match make(draft, pairs) {
        Ok(pair) => draft.effect(Effect::CreatePair(Box::new(pair))),
        Err(refusal) => {
            close(draft, pairs, AttemptStatus::Error, None);
            draft.rec.pending = None;
            draft.pause(PauseReason::ReviewStartFailed, refusal.message, "its pair was refused");
        }
    }
}

/// A review that has ended without a decision waits for one, whatever let the run go on.
fn undecided(draft: &mut Run<'_>, pair: &PairRecord) {
    let status = draft.rec.attempt().map(|attempt| attempt.status);
    let (reason, detail) = match status {
        Some(AttemptStatus::NotConverged) => (PauseReason::PhaseNotConverged, no_agreement(pair.round_count)),
        Some(AttemptStatus::Error) => (PauseReason::ReviewStartFailed, "its review failed".to_owned()),
        _ => (PauseReason::PairStopped, "its review was stopped".to_owned()),
    };
    draft.pause(reason, detail, format!("pair {}", pair.id));
}

/// The pair of the current attempt, from what was saved.
fn make(draft: &Run<'_>, pairs: &[&PairRecord]) -> Result<PairRecord, Refusal> {
    let run = &draft.rec;
    let Some(pending) = &run.pending else {
        return Err(Refusal::not_now("it is not known how the review was to begin: review it again"));
    };
    let own = |record: &RecordKey| {
        *record == run.key() || matches!(record, RecordKey::Pair(id) if pairs.iter().any(|pair| &pair.id == id))
    };
    pair::refuse_sides(draft.scene, own)?;
    let mut config = run.config.for_pairs();
    pair::check_config(&config)?;
    if let Some(old) = find(pairs, pending.continues.as_ref()) {
        let blockers_only = pending.blockers_only;
        let cap = pending.cap.unwrap_or(config.max_rounds);
        let next = Successor { old, id: pending.create.clone(), cap, blockers_only };
        let made = pair::succeed(&next, &config, draft.scene);
        let mut pair =
            made.ok_or_else(|| Refusal::not_now("nothing was due when the cap was reached: review it again"))?;
        pair.implementer.clone_from(&run.implementer);
        pair.reviewer.clone_from(&run.reviewer);
        pair.human_mark.clone_from(&run.human_mark);
        return Ok(pair);
    }
    if let Some(cap) = pending.cap {
        config = PairConfig { max_rounds: cap, ..config };
    }
    let kickoff = Kickoff::Turn { turn_id: pending.turn_id.clone(), whole_turn: pending.whole_turn };
    let sides = [&run.implementer, &run.reviewer];
    let mut pair = pair::fresh(pending.create.clone(), CHECKLIST, sides, kickoff, &config, draft.now());
    // What a person had the implementer do in between is part of the phase; the reviewer's mark is the saved one.
    pair.human_mark = pair::marks(draft.scene);
    pair.human_mark.reviewer.clone_from(&run.human_mark.reviewer);
    Ok(pair)
}

/// What the pair's end means, recorded at once, in a paused run too.
pub(super) fn outcome(draft: &mut Run<'_>, pairs: &[&PairRecord]) {
    let Some(pair) = find(pairs, draft.rec.current_pair_id.as_ref()) else { return };
    if !draft.rec.pair_seen {
        draft.rec.pair_seen = true;
        draft.rec.pending = None;
        draft.decide("the review has begun", format!("pair {}", pair.id));
    }
    let expected = draft.rec.pending_pair_stop.as_ref() == Some(&pair.id);
    let running = draft.rec.attempt().is_some_and(|attempt| attempt.status == AttemptStatus::Running);
    if pair.state != PairState::Stopped || expected || !running {
        return;
    }
    let evidence = format!("pair {}", pair.id);
    match pair.stop_reason {
        Some(PairStop::Lgtm) => {
            let by = pair.accepted_by.clone().unwrap_or_else(|| "reviewer".to_owned());
            let after = if by == "user" { After::Accept } else { After::Lgtm };
            agreed(draft, pairs, &by, after);
        }
        Some(PairStop::MaxRounds) => {
            close(draft, pairs, AttemptStatus::NotConverged, None);
            let detail = no_agreement(pair.round_count);
            needs_person(draft, PauseReason::PhaseNotConverged, detail, evidence);
        }
        Some(reason @ (PairStop::PeerError | PairStop::SessionTrashed)) => {
            let at_start = pair.restart_unresolvable;
            draft.rec.restart_unresolvable = at_start;
            let stopped = match reason {
                PairStop::SessionTrashed => RunStop::SessionTrashed,
                _ if at_start => RunStop::ServerRestarted,
                _ => RunStop::PeerError,
            };
            stop(draft, pairs, stopped, AttemptStatus::Error, evidence);
        }
        Some(PairStop::Manual) | None => {
            close(draft, pairs, AttemptStatus::Stopped, None);
            needs_person(draft, PauseReason::PairStopped, "its review was stopped".to_owned(), evidence);
        }
    }
}

/// Pauses for a person; of a run that a person paused it takes the reason's place.
fn needs_person(draft: &mut Run<'_>, reason: PauseReason, detail: String, evidence: String) {
    if matches!(draft.rec.paused_reason, None | Some(PauseReason::Manual)) {
        draft.rec.paused_pair = None;
        draft.pause(reason, detail, evidence);
    }
}

/// A phase is agreed: by the reviewer, or by a person.
pub(super) fn agreed(draft: &mut Run<'_>, pairs: &[&PairRecord], by: &str, after: After) {
    let reviewed = find(pairs, draft.rec.current_pair_id.as_ref()).and_then(|pair| pair.reviewed.clone());
    let whole = asking::newest_is(draft, reviewed.as_ref());
    close(draft, pairs, AttemptStatus::Converged, Some(by));
    if let Some(attempt) = draft.rec.phases.last_mut() {
        attempt.reviewed = whole;
    }
    draft.rec.phases_done = draft.rec.phases_done.saturating_add(1);
    draft.event(EventKind::ChecklistPhaseConverged, None);
    let (who, evidence) = match by {
        "user" => ("accepted by you", Evidence::key()),
        _ => ("agreed by the reviewer", Evidence::from("the end of its review")),
    };
    draft.decide(format!("phase {} is {who}", draft.rec.phases_done), evidence);
    if draft.rec.edited_completions >= 2 {
        return stop(
            draft,
            pairs,
            RunStop::Completed,
            AttemptStatus::Converged,
            "the completion signal came twice with edited files, and both were agreed on",
        );
    }
    to_advance(draft, after);
}

/// The next phase is to be asked for.
pub(super) fn to_advance(draft: &mut Run<'_>, after: After) {
    let run = &mut draft.rec;
    run.step = Some(RunStep::Advance);
    run.after = after;
    run.advance_turn_id = None;
    run.awaited = None;
    run.open_wait = None;
    run.retry = None;
    run.pending = None;
    run.paused_pair = None;
}

/// Closes the running attempt, if there is one.
pub(super) fn close(draft: &mut Run<'_>, pairs: &[&PairRecord], status: AttemptStatus, by: Option<&str>) {
    let now = draft.now();
    let pair = find(pairs, draft.rec.current_pair_id.as_ref());
    if let Some(attempt) = draft.rec.phases.last_mut().filter(|attempt| attempt.status == AttemptStatus::Running) {
        attempt.status = status;
        attempt.by = by.map(str::to_owned);
        attempt.ended_at = Some(now);
        attempt.relays =
            pair.filter(|pair| Some(&pair.id) == attempt.pair_id.as_ref()).map_or(0, |pair| pair.round_count);
    }
}

/// Orders the pair that is to stop until it has; that outcome is expected and ignored.
pub(super) fn order_stop(draft: &mut Run<'_>, pairs: &[&PairRecord]) {
    let Some(id) = draft.rec.pending_pair_stop.clone() else { return };
    match find(pairs, Some(&id)).filter(|pair| pair.is_active()) {
        Some(_) => {
            let accepted = draft.rec.phases.iter().any(|attempt| {
                attempt.pair_id.as_ref() == Some(&id)
                    && attempt.status == AttemptStatus::Converged
                    && attempt.by.as_deref() == Some("user")
            });
            let order = if accepted { PairOrder::Control(Control::Accept) } else { PairOrder::Stop };
            draft.effect(Effect::OrderPair(id, order));
        }
        None => draft.rec.pending_pair_stop = None,
    }
}

/// Keeps the pair as the run wants it: its sessions, paused or going with the run, its settings.
pub(super) fn keep_in_step(draft: &mut Run<'_>, pairs: &[&PairRecord]) {
    let run_paused = draft.rec.state == RunState::Paused;
    if let Some(pair) = find(pairs, draft.rec.paused_pair.as_ref()) {
        let by_run = pair.paused_reason == Some(PauseReason::Manual);
        match (run_paused, pair.is_active(), pair.state == PairState::Paused) {
            (true, true, false) => draft.effect(Effect::OrderPair(pair.id.clone(), PairOrder::Pause)),
            (false, true, true) if by_run => {
                draft.effect(Effect::OrderPair(pair.id.clone(), PairOrder::ResumeIfManual));
            }
            (false, _, _) => draft.rec.paused_pair = None,
            (true, _, _) => {}
        }
    } else if !run_paused {
        draft.rec.paused_pair = None;
    }
    let Some(pair) = find(pairs, live_pair(draft, pairs).as_ref()) else { return };
    if draft.rec.step != Some(RunStep::Review) || draft.rec.pending_pair_stop.as_ref() == Some(&pair.id) {
        return;
    }
    if pair.implementer.key() != draft.rec.implementer.key() || pair.reviewer.key() != draft.rec.reviewer.key() {
        draft.effect(Effect::OrderPair(pair.id.clone(), PairOrder::Follow));
    }
    let mut wanted = draft.rec.config.for_pairs();
    if pair::names_blockers_only(&pair.config) {
        wanted.review_prompt = pair::only_blockers(&wanted.review_prompt);
    }
    // The cap is ordered when it is changed: a pair that goes on after a cap has another one than its run.
    if let Some(changes) = differences(&pair.config, &PairConfig { max_rounds: pair.config.max_rounds, ..wanted }) {
        let by = draft.rec.config_history.last().map_or_else(|| "run".to_owned(), |change| change.by.clone());
        draft.effect(Effect::OrderPair(pair.id.clone(), PairOrder::Control(Control::Configure { changes, by })));
    }
}

/// The settings in which a pair differs from what is wanted.
pub(super) fn differences(is: &PairConfig, wanted: &PairConfig) -> Option<serde_json::Map<String, serde_json::Value>> {
    let (serde_json::Value::Object(is), serde_json::Value::Object(wanted)) =
        (serde_json::to_value(is).ok()?, serde_json::to_value(wanted).ok()?)
    else {
        return None;
    };
    let changes: serde_json::Map<_, _> =
        wanted.into_iter().filter(|(field, value)| is.get(field) != Some(value)).collect();
    (!changes.is_empty()).then_some(changes)
}

/// The driver refused the pair.
pub(super) fn refused(record: &RunRecord, refusal: &Refusal, now: Timestamp) -> Step<RunRecord> {
    let waits = record.step == Some(RunStep::Review) && record.pending.is_some() && !record.pair_seen;
    if !waits || !record.is_active() {
        return Step::unchanged(record.clone());
    }
    let mut run = record.clone();
    if let Some(attempt) = run.phases.last_mut().filter(|attempt| attempt.status == AttemptStatus::Running) {
        attempt.status = AttemptStatus::Error;
        attempt.ended_at = Some(now);
    }
    run.pending = None;
    run.set_paused(PauseReason::ReviewStartFailed, refusal.message.clone(), now);
    let decision = Decision {
        at: now,
        record: Some(run.id.to_string()),
        what: format!("paused: {}", refusal.message),
        evidence: "its pair was refused".to_owned(),
        ground: Some(Ground::Own),
        decided: true,
    };
    Step {
        changed: true,
        events: vec![(EventKind::ChecklistPaused, Some(PauseReason::ReviewStartFailed.as_str().to_owned()))],
        decisions: vec![decision],
        wake_at: Some(now),
        ..Step::unchanged(run)
    }
}

fn no_agreement(relays: u32) -> String {
    if relays == 1 { "no agreement after 1 relay".to_owned() } else { format!("no agreement after {relays} relays") }
}

/// The turn that a new attempt on the newest answer begins with.
pub(super) fn newest_turn(draft: &Run<'_>) -> Option<TurnId> {
    draft.conversation(Role::Implementer).and_then(turns::newest_answered).map(|turn| turn.id.clone())
}
