//! What must not go unseen: a person's prompt in a running pair, an answer newer than the one that was approved, a
//! message answered twice. Checked from the transcripts and from how the pairs stood, over the whole of a world.

use std::collections::BTreeMap;

use jiff::Timestamp;
use trellis::model::conversation::{Conversation, Turn};
use trellis::model::ids::Role;
use trellis::model::outbox::Purpose;
use trellis::model::pair::{PairRecord, PairState, PairStop, PauseReason};
use trellis::model::run::RunRecord;
use trellis::model::text::fold;

use super::disk::Disk;
use super::oracle::conversations;
use super::world::{IMPLEMENTER, REVIEWER, World};

/// Every violated promise, a line each.
pub fn check(world: &World, runs: &[RunRecord], pairs: &[PairRecord], disk: &Disk) -> Vec<String> {
    let sides = conversations(world);
    let mut wrong = Vec::new();
    for pair in pairs {
        approved_the_newest(pair, &sides[IMPLEMENTER], &mut wrong);
        answered_once(pair, [&sides[IMPLEMENTER], &sides[REVIEWER]], &mut wrong);
        // After a turn of a person that came to nothing the loop waits for that person again: nothing pauses then.
        if world.plan.bad_turns == 0 {
            for side in [IMPLEMENTER, REVIEWER] {
                let ours = |turn: &Turn| {
                    let entries =
                        runs.iter().flat_map(|run| &run.outbox).chain(pairs.iter().flat_map(|pair| &pair.outbox));
                    entries.into_iter().any(|entry| {
                        entry.delivered_turn_id.as_ref() == Some(&turn.id) || entry.duplicates.contains(&turn.id)
                    })
                };
                let typed = |turn: &Turn| {
                    let text = fold(&turn.prompt.text);
                    world.agents[side].human.iter().any(|human| fold(human) == text) && !ours(turn)
                };
                people_are_noticed(pair, disk, &sides[side], typed, &mut wrong);
            }
        }
    }
    wrong
}

/// `people-are-noticed`: what a person typed into a session of a running pair pauses it, whether or not trellis ran then.
fn people_are_noticed(
    pair: &PairRecord,
    disk: &Disk,
    seen: &Conversation,
    typed: impl Fn(&Turn) -> bool,
    wrong: &mut Vec<String>,
) {
    let Some(stood) = disk.stood.get(&pair.id) else { return };
    let end = pair.stopped_at.unwrap_or(Timestamp::MAX);
    for turn in seen.turns.iter().filter(|turn| typed(turn)) {
        let Some(at) = turn.prompt.record.at else { continue };
        if at <= pair.created_at || at >= end || pair.stop_reason == Some(PairStop::Manual) {
            continue;
        }
        let then = stood.iter().rfind(|(since, _, _)| *since <= at);
        let running = then.is_some_and(|(_, state, _)| *state == PairState::Running);
        // A pause of its own right then is resumed by a person who has seen the prompt.
        let paused_after = stood.iter().any(|(since, state, _)| *since >= at && *state == PairState::Paused);
        let named = stood.iter().any(|(since, _, reason)| *since >= at && *reason == Some(PauseReason::UserTyped));
        if running && !named && !paused_after && (pair.stop_reason.is_some()) {
            wrong.push(format!("people-are-noticed: {} went on over the prompt {}", pair.id, turn.id));
        }
    }
}

/// `approved-the-newest`: when the reviewer's word ended a pair, the implementer had no answer newer than the reviewed one.
fn approved_the_newest(pair: &PairRecord, implementer: &Conversation, wrong: &mut Vec<String>) {
    let (Some(PairStop::Lgtm), None, Some(end)) = (pair.stop_reason, &pair.accepted_by, pair.stopped_at) else {
        return;
    };
    let Some(reviewed) = &pair.reviewed else { return };
    let newest =
        implementer.turns.iter().rfind(|turn| turn.is_answered() && turn.ended_at.is_some_and(|ended| ended < end));
    let Some((turn, answer)) = newest.and_then(|turn| Some((turn, turn.answer.as_ref()?))) else { return };
    if turn.id != reviewed.turn_id || answer.message_id != reviewed.message_id {
        wrong.push(format!("approved-the-newest: {} ended on {}, and {} is newer", pair.id, reviewed.turn_id, turn.id));
    }
}

/// The second half of `exactly-once`: of one answer at most one relay has a turn of its own that was answered.
fn answered_once(pair: &PairRecord, sides: [&Conversation; 2], wrong: &mut Vec<String>) {
    let mut answered = BTreeMap::new();
    for entry in
        pair.outbox.iter().filter(|entry| matches!(entry.purpose, Purpose::ToReviewer | Purpose::ToImplementer))
    {
        let (Some(turn), Some(message)) = (&entry.source_turn_id, &entry.source_message_id) else { continue };
        let target = match entry.target {
            Role::Implementer => sides[IMPLEMENTER],
            Role::Reviewer => sides[REVIEWER],
        };
        let delivered = entry.delivered_turn_id.as_ref().and_then(|id| target.turn_index(id));
        if delivered.is_some_and(|at| target.turns[at].is_answered())
            && let Some(before) = answered.insert((turn, message), &entry.id)
        {
            wrong.push(format!("exactly-once: {} and {before} carried one answer, and both were answered", entry.id));
        }
    }
}
