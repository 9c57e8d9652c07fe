//! `no-unreviewed-convergence` and `no-stale-verdict`: when the reviewer's word ends a phase, that word answers the prompt
//! that carried this phase's work, and the work is no earlier phase's. Looked up at the moment of the save, when nothing
//! later stands in the transcripts.

use trellis::model::conversation::Turn;
use trellis::model::ids::TurnId;
use trellis::model::outbox::{EntryState, Purpose};
use trellis::model::pair::{AnswerId, PairRecord};
use trellis::model::run::{Attempt, AttemptStatus, RunRecord, RunStop};
use trellis::verdict::{self, Verdict};

use super::{Invariant, endings};
use crate::sim::disk::Disk;
use crate::sim::ingredients::Ingredient;
use crate::sim::world::{IMPLEMENTER, REVIEWER, World};

/// A run before and after a save.
pub fn agreed(disk: &Disk, before: Option<&RunRecord>, after: &RunRecord, world: &mut World) {
    let was = |n: usize| before.and_then(|run| run.phases.get(n)).map(|attempt| attempt.status);
    let newly = after.phases.iter().enumerate().filter(|(n, attempt)| {
        attempt.status == AttemptStatus::Converged
            && was(*n) != Some(AttemptStatus::Converged)
            && attempt.by.as_deref() != Some("user")
    });
    let newly: Vec<(usize, &Attempt)> = newly.collect();
    for (place, attempt) in newly {
        if let Err((invariant, what)) = on_its_own_work(disk, after, place, attempt, world) {
            world.breaks(invariant, format!("phase {} of {}: {what}", attempt.n, after.id));
        }
    }
}

/// A run that completes does so on an answer that is newer than what it began from.
pub fn completed(before: Option<&RunRecord>, after: &RunRecord, world: &mut World) {
    let Some(before) = before.filter(|before| before.stop_reason.is_none()) else { return };
    if after.stop_reason != Some(RunStop::Completed) {
        return;
    }
    let implementer = &endings::conversations(world)[IMPLEMENTER];
    let place = |turn: &TurnId| implementer.turn_index(turn);
    let Some(baseline) = before.baseline_turn_id.as_ref().and_then(place) else { return };
    let newest = implementer.turns.iter().rposition(Turn::is_answered);
    let message = newest.and_then(|at| implementer.turns[at].answer.as_ref()).map(|answer| &answer.message_id);
    let is_newer =
        newest > Some(baseline) || (newest == Some(baseline) && message != before.baseline_message_id.as_ref());
    if !is_newer {
        world.breaks(Invariant::NoStaleVerdict, format!("{} completed on an answer from before it asked", after.id));
    }
}

fn on_its_own_work(
    disk: &Disk,
    run: &RunRecord,
    place: usize,
    attempt: &Attempt,
    world: &World,
) -> Result<(), (Invariant, String)> {
    let unreviewed = |what: &str| Err((Invariant::NoUnreviewedConvergence, what.to_owned()));
    let Some(pair) = attempt.pair_id.as_ref().and_then(|id| disk.pairs.get(id)) else {
        return unreviewed("it has no pair");
    };
    let Some(reviewed) = &pair.reviewed else { return unreviewed("nothing was reviewed") };
    let earlier = run.phases.iter().take(place).filter(|earlier| earlier.status == AttemptStatus::Converged);
    let mut of_earlier = earlier.filter_map(|earlier| disk.pairs.get(earlier.pair_id.as_ref()?)?.reviewed.as_ref());
    // Where an answer was lost with the end of its file, a person let the loop go on with what is left.
    let whole = !world.struck.contains_key(&Ingredient::LostTail);
    if whole && of_earlier.any(|of_earlier| of_earlier == reviewed) {
        return unreviewed("it was agreed on the work of an earlier phase");
    }
    let Some(prompt) = carrier(disk, pair, reviewed) else {
        return unreviewed("the reviewed answer was never relayed");
    };
    // The word was given in the pair; until its run is saved too it may have gone with the end of its file.
    let reviewer = &endings::written(world)[REVIEWER];
    let Some(from) = reviewer.turn_index(&prompt) else {
        return unreviewed("the prompt that carried it was never written");
    };
    let approves = reviewer.turns.iter().skip(from).filter(|turn| turn.is_answered()).any(|turn| {
        let answer = turn.answer.as_ref().map_or("", |answer| &answer.text);
        matches!(verdict::stop_signal(answer, &pair.config.stop_signal), Verdict::Match { .. })
    });
    if approves { Ok(()) } else { Err((Invariant::NoStaleVerdict, format!("no approval at or after {prompt}"))) }
}

/// The prompt that carried the reviewed answer to the reviewer, in a pair or in one that it goes on from.
fn carrier(disk: &Disk, pair: &PairRecord, reviewed: &AnswerId) -> Option<TurnId> {
    let mut at = Some(pair);
    while let Some(pair) = at {
        let relay = pair.outbox.iter().rfind(|entry| {
            entry.purpose == Purpose::ToReviewer
                && entry.source_turn_id.as_ref() == Some(&reviewed.turn_id)
                && entry.source_message_id.as_ref() == Some(&reviewed.message_id)
                && entry.state == EntryState::Delivered
        });
        if let Some(entry) = relay {
            return entry.delivered_turn_id.clone();
        }
        at = pair.continues.as_ref().and_then(|id| disk.pairs.get(id));
    }
    None
}
