//! What a pair waits for, in words.

use super::super::draft::Draft;
use super::super::turns::{self, Reading};
use super::super::words;
use super::super::{By, Scene, Wait};
use super::steps::Pair;
use crate::model::ids::Role;
use crate::model::pair::{PairRecord, PairStep};
use crate::verdict;

/// What it waits for.
pub(super) fn wait(record: &PairRecord, scene: &Scene<'_>) -> Wait {
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
        Some(PairStep::AwaitReviewer) => review(&draft),
        Some(PairStep::AwaitImplementer) | None => words::side(&draft, Role::Implementer, "builds"),
        Some(PairStep::ConfirmRelay) => confirm(&draft),
    }
}

/// The reviewer works, or has approved while the implementer still does something.
fn review(draft: &Pair<'_>) -> Wait {
    let approved = match turns::read(draft, Role::Reviewer) {
        Reading::Answer(index) => draft
            .turn(Role::Reviewer, index)
            .and_then(|turn| turn.answer.as_ref())
            .is_some_and(|answer| verdict::stop_signal(&answer.text, &draft.rec.config.stop_signal).is_match()),
        _ => false,
    };
    if !approved {
        return words::side(draft, Role::Reviewer, "reviews");
    }
    let idle = turns::idle(draft, Role::Implementer);
    let name = draft.name(Role::Implementer);
    let (ends, by, deadline) = words::busy_ends(&name, &idle);
    Wait {
        who: format!("waits for {name} to finish"),
        what: words::busy(draft, Role::Implementer, &idle),
        since: draft.conversation(Role::Reviewer).and_then(|conversation| conversation.newest()?.ended_at),
        ends,
        by,
        deadline,
        ..Wait::default()
    }
}

fn confirm(draft: &Pair<'_>) -> Wait {
    let Some(pending) = &draft.rec.pending_confirm else { return Wait::default() };
    let (from, to) = (draft.name(pending.target.other()), draft.name(pending.target));
    let n = draft.rec.round_count.saturating_add(1);
    let missing = draft.side(pending.target).reach.and_then(|reach| reach.ticks.missing()).unwrap_or_default();
    Wait {
        who: "waits for you".to_owned(),
        what: [format!("look at relay {n}, {from} to {to}"), missing.to_owned()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("; "),
        // An answer may be older than the review of it.
        since: draft
            .conversation(pending.target.other())
            .and_then(|conversation| conversation.newest()?.ended_at)
            .map(|at| at.max(draft.rec.created_at)),
        ends: "ends when you send or drop it".to_owned(),
        by: By::Key,
        ..Wait::default()
    }
}
