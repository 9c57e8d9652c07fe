//! `history-append-only`: what a save may not take back, record by record.

use trellis::model::outbox::{Entry, EntryState};
use trellis::model::pair::{PairRecord, PairState, Round};
use trellis::model::run::{AttemptStatus, RunRecord, RunState};

use super::Invariant;
use crate::sim::world::World;

/// A run before and after a save.
pub fn run(before: Option<&RunRecord>, after: &RunRecord, world: &mut World) {
    let Some(before) = before else { return };
    let mut wrong = Vec::new();
    revision(before.revision, after.revision, &mut wrong);
    entries(&before.outbox, &after.outbox, &mut wrong);
    if before.state == RunState::Stopped
        && (after.state != RunState::Stopped || after.stop_reason != before.stop_reason)
    {
        wrong.push("a stopped run goes again".to_owned());
    }
    if after.phases_done < before.phases_done {
        wrong.push(format!("{} phases were done, {} are", before.phases_done, after.phases_done));
    }
    for (n, attempt) in before.phases.iter().enumerate() {
        let kept = after.phases.get(n).is_some_and(|now| {
            let ended = attempt.status != AttemptStatus::Running;
            now.n == attempt.n && now.pair_id == attempt.pair_id && (!ended || now.status == attempt.status)
        });
        if !kept {
            wrong.push(format!("attempt {n} became {:?}", after.phases.get(n)));
        }
    }
    tell(after.id.as_str(), wrong, world);
}

/// A pair before and after a save.
pub fn pair(before: Option<&PairRecord>, after: &PairRecord, world: &mut World) {
    let Some(before) = before else { return };
    let mut wrong = Vec::new();
    revision(before.revision, after.revision, &mut wrong);
    entries(&before.outbox, &after.outbox, &mut wrong);
    if before.state == PairState::Stopped
        && (after.state != PairState::Stopped || after.stop_reason != before.stop_reason)
    {
        wrong.push("a stopped pair goes again".to_owned());
    }
    if after.round_count < before.round_count {
        wrong.push(format!("{} relays were counted, {} are", before.round_count, after.round_count));
    }
    let oldest = after.rounds.first().map_or(0, |round| round.n);
    for round in before.rounds.iter().filter(|round| round.n >= oldest) {
        let same = |now: &Round| {
            // What had been changed for it is looked up later.
            *round == Round { work: round.work.clone(), ..now.clone() }
        };
        if !after.rounds.iter().any(same) {
            wrong.push(format!("relay {} is not there any more", round.n));
        }
    }
    tell(after.id.as_str(), wrong, world);
}

fn revision(before: u64, after: u64, wrong: &mut Vec<String>) {
    if after != before + 1 {
        wrong.push(format!("revision {after} follows {before}"));
    }
}

/// Messages keep their order; what is delivered stays so; only the oldest of a long list may have moved out.
fn entries(before: &[Entry], after: &[Entry], wrong: &mut Vec<String>) {
    let moved_out = before.iter().take_while(|entry| after.first().is_none_or(|first| first.id != entry.id)).count();
    if moved_out > 0 && after.len() < 50 {
        wrong.push(format!("{moved_out} messages are not there any more"));
    }
    for (was, is) in before.iter().skip(moved_out).zip(after) {
        let delivered = was.state == EntryState::Delivered;
        if was.id != is.id || (delivered && (is.state != was.state || is.delivered_turn_id != was.delivered_turn_id)) {
            wrong.push(format!("{} ({:?}) became {} ({:?})", was.id, was.state, is.id, is.state));
        }
    }
}

fn tell(id: &str, wrong: Vec<String>, world: &mut World) {
    for what in wrong {
        world.breaks(Invariant::HistoryAppendOnly, format!("{id}: {what}"));
    }
}
