//! What a run waits for, in words.

use super::super::draft::Draft;
use super::super::{By, Scene, Wait, pair, turns, words};
use super::baseline::Run;
use super::find;
use crate::model::ids::Role;
use crate::model::pair::PairRecord;
use crate::model::run::{After, RunRecord, RunStep};

/// What it waits for.
pub(super) fn wait(record: &RunRecord, pairs: &[&PairRecord], scene: &Scene<'_>) -> Wait {
    let draft = Draft::new(record, scene);
    if !record.is_active() {
        return Wait { who: "it has ended".to_owned(), since: record.stopped_at, ..Wait::default() };
    }
    if let Some(wait) = words::paused(&draft) {
        return wait;
    }
    if let Some(wait) = words::delivery(&draft) {
        return wait;
    }
    match record.step {
        Some(RunStep::Review) => match find(pairs, record.current_pair_id.as_ref()) {
            Some(pair) => pair::wait(pair, scene),
            None => Wait {
                who: format!("{} is to review the phase", draft.name(Role::Reviewer)),
                what: "the review is being set up".to_owned(),
                since: record.attempt().map(|attempt| attempt.started_at),
                ends: "ends at once".to_owned(),
                by: By::Itself,
                ..Wait::default()
            },
        },
        Some(RunStep::Advance) => advance(&draft),
        Some(RunStep::Probe) | None => probe(&draft),
    }
}

fn advance(draft: &Run<'_>) -> Wait {
    let wait = words::side(draft, Role::Implementer, "is at work");
    let name = draft.name(Role::Implementer);
    let idle = turns::idle(draft, Role::Implementer);
    let first = draft.rec.phases.is_empty();
    // What keeps it ends the wait; then the next look asks it.
    let (ends, by, deadline) = words::busy_ends(&name, &idle);
    if !idle.is_idle() && wait.who != format!("{name} has answered") {
        let what = words::busy(draft, Role::Implementer, &idle);
        return Wait { who: format!("waits for {name} to be free"), what, ends, by, deadline, ..wait };
    }
    let (who, which) = if first {
        (format!("the phase prompt goes to {name}"), "the phase")
    } else {
        (format!("the phase is done, {name} is next"), "the next phase")
    };
    let what = if first && idle.is_idle() { String::new() } else { wait.what };
    Wait { who, what, ends: format!("then {name} is asked for {which}"), by, deadline, ..wait }
}

fn probe(draft: &Run<'_>) -> Wait {
    let name = draft.name(Role::Implementer);
    // Whether there is another phase is known with the answer.
    let works = if draft.rec.phases_done > 0 { "works on the next phase" } else { "works on the phase" };
    let wait = words::side(draft, Role::Implementer, works);
    let first = draft.rec.after == After::Start && draft.rec.phases.is_empty() && draft.rec.advance_turn_id.is_none();
    let unprompted = wait.who == format!("waits for {name}'s next answer");
    if !unprompted {
        return wait;
    }
    let which = if first { "first" } else { "next" };
    let since = wait.since.max(Some(draft.rec.created_at));
    let what = words::newer_session(draft, Role::Implementer).unwrap_or_else(|| "nothing was sent".to_owned());
    Wait { who: format!("waits for {name}'s {which} answer"), what, since, ..wait }
}
