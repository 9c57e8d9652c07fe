//! The promises, checked from outside: only the transcripts' bytes and the records on the disk are believed.

use std::collections::BTreeMap;
use std::sync::Arc;

use trellis::model::conversation::Conversation;
use trellis::model::ids::Role;
use trellis::model::outbox::{Entry, EntryState, Purpose};
use trellis::model::pair::PairRecord;
use trellis::model::run::{AttemptStatus, RunRecord};
use trellis::model::text::fold;
use trellis::transcript::Reader;
use trellis::verdict;

use super::world::{IMPLEMENTER, REVIEWER, World};

/// Every violated promise, a line each.
pub fn check(world: &World, runs: &[RunRecord], pairs: &[PairRecord]) -> Vec<String> {
    let conversations = conversations(world);
    let mut wrong = Vec::new();
    for (side, role) in [(IMPLEMENTER, Role::Implementer), (REVIEWER, Role::Reviewer)] {
        let entries = runs
            .iter()
            .flat_map(|run| &run.outbox)
            .chain(pairs.iter().flat_map(|pair| &pair.outbox))
            .filter(|entry| entry.target == role);
        exactly_once(world, side, &conversations[side], entries, &mut wrong);
    }
    for run in runs {
        nothing_unreviewed(run, pairs, &conversations, &mut wrong);
    }
    wrong
}

/// What the transcripts of both sides say.
pub fn conversations(world: &World) -> [Arc<Conversation>; 2] {
    [IMPLEMENTER, REVIEWER].map(|side| {
        let agent = &world.agents[side];
        let mut reader = Reader::new(agent.session.agent);
        reader.push(&agent.file);
        reader.conversation()
    })
}

/// `exactly-once`: each delivered entry stands once in its target; nothing stands there that nobody sent.
fn exactly_once<'a>(
    world: &World,
    side: usize,
    conversation: &Conversation,
    entries: impl Iterator<Item = &'a Entry>,
    wrong: &mut Vec<String>,
) {
    let mut prompts: BTreeMap<String, i64> = BTreeMap::new();
    for turn in &conversation.turns {
        *prompts.entry(fold(&turn.prompt.text)).or_default() += 1;
    }
    let mut by_people: BTreeMap<String, i64> = BTreeMap::new();
    for text in &world.agents[side].human {
        *by_people.entry(fold(text)).or_default() += 1;
    }
    let mut sent: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    let mut turns = BTreeMap::new();
    for entry in entries {
        if entry.attempts == 0 {
            if entry.state == EntryState::Delivered {
                wrong.push(format!("exactly-once: {} is delivered but was never sent", entry.id));
            }
            continue;
        }
        if let Some(turn) = &entry.delivered_turn_id
            && let Some(other) = turns.insert(turn.clone(), entry.id.clone())
        {
            wrong.push(format!("exactly-once: one prompt {turn} proves {other} and {}", entry.id));
        }
        if entry.altered {
            continue;
        }
        let counts = sent.entry(fold(entry.text_on_the_wire())).or_default();
        if entry.state == EntryState::Delivered {
            counts.0 += 1;
        } else {
            counts.1 += 1;
        }
    }
    for (text, (delivered, open)) in &sent {
        let typed_by_people = by_people.get(text).copied().unwrap_or(0);
        let there = prompts.get(text).copied().unwrap_or(0) - typed_by_people;
        if there < *delivered {
            wrong.push(format!("exactly-once: {delivered} delivered to {side}, {there} there: {}", short(text)));
        }
        if there > delivered + open {
            wrong.push(format!("exactly-once: {there} in {side}, {delivered} (+{open}) sent: {}", short(text)));
        }
    }
    for (text, there) in &prompts {
        let known = by_people.get(text).copied().unwrap_or(0);
        if !sent.contains_key(text) && *there > known {
            wrong.push(format!("exactly-once: a prompt in {side} that nobody sent: {}", short(text)));
        }
    }
}

/// `no-unreviewed-convergence` and `no-stale-verdict`.
fn nothing_unreviewed(
    run: &RunRecord,
    pairs: &[PairRecord],
    conversations: &[Arc<Conversation>; 2],
    wrong: &mut Vec<String>,
) {
    let [implementer, reviewer] = conversations;
    for attempt in run.phases.iter().filter(|attempt| attempt.status == AttemptStatus::Converged) {
        if attempt.by.as_deref() == Some("user") {
            continue;
        }
        let n = attempt.n;
        let Some(pair) = pairs.iter().find(|pair| Some(&pair.id) == attempt.pair_id.as_ref()) else {
            wrong.push(format!("no-unreviewed-convergence: phase {n} has no pair"));
            continue;
        };
        let Some(reviewed) = &pair.reviewed else {
            wrong.push(format!("no-unreviewed-convergence: phase {n} converged, nothing was reviewed"));
            continue;
        };
        // The relay that carried the reviewed answer to the reviewer.
        let chain: Vec<&PairRecord> = chain_of(pair, pairs);
        let relay = chain.iter().flat_map(|pair| &pair.outbox).rfind(|entry| {
            entry.purpose == Purpose::ToReviewer
                && entry.source_turn_id.as_ref() == Some(&reviewed.turn_id)
                && entry.source_message_id.as_ref() == Some(&reviewed.message_id)
                && entry.state == EntryState::Delivered
        });
        let Some(prompt) = relay.and_then(|entry| entry.delivered_turn_id.as_ref()) else {
            wrong.push(format!("no-unreviewed-convergence: phase {n}: the reviewed answer was never relayed"));
            continue;
        };
        let from = reviewer.turn_index(prompt).unwrap_or(usize::MAX);
        let approves = reviewer.turns.iter().skip(from).any(|turn| {
            turn.is_answered()
                && turn.answer.as_ref().is_some_and(|answer| {
                    matches!(
                        verdict::stop_signal(&answer.text, &pair.config.stop_signal),
                        verdict::Verdict::Match { .. }
                    )
                })
        });
        if !approves {
            wrong.push(format!("no-stale-verdict: phase {n}: no approval at or after the prompt {prompt}"));
        }
    }
    // No advance prompt overtakes an answer that nobody judged.
    let judged = |turn: &trellis::model::ids::TurnId, message: &trellis::model::ids::MessageId| {
        pairs.iter().any(|pair| {
            pair.reviewed.as_ref().is_some_and(|reviewed| &reviewed.turn_id == turn && &reviewed.message_id == message)
        })
    };
    let by_person = run.phases.iter().any(|attempt| {
        attempt.by.as_deref() == Some("user")
            || matches!(attempt.status, AttemptStatus::Skipped | AttemptStatus::Stopped)
    });
    for entry in
        run.outbox.iter().filter(|entry| entry.purpose == Purpose::Advance && entry.state == EntryState::Delivered)
    {
        let Some(at) = entry.delivered_turn_id.as_ref().and_then(|turn| implementer.turn_index(turn)) else { continue };
        let before = implementer.turns.iter().take(at).rev().find(|turn| turn.is_answered());
        let Some(turn) = before else { continue };
        let Some(answer) = &turn.answer else { continue };
        let first =
            run.outbox.iter().find(|entry| entry.purpose == Purpose::Advance).is_some_and(|first| first.id == entry.id)
                && run.config.first_phase == trellis::model::config::FirstPhase::Ask;
        // What a person asked for while the prompt was already on its way cannot be overtaken any more; edits of it keep
        // the run from completing, and the next review sees them.
        let meanwhile = entry.attempt_at.is_some_and(|begun| turn.prompt.record.at.is_some_and(|at| at >= begun));
        if !first && !meanwhile && !by_person && entry.resend_of.is_none() && !judged(&turn.id, &answer.message_id) {
            wrong.push(format!("no-unreviewed-convergence: {} overtook the unjudged answer of {}", entry.id, turn.id));
        }
    }
}

fn chain_of<'a>(pair: &'a PairRecord, pairs: &'a [PairRecord]) -> Vec<&'a PairRecord> {
    let mut chain = vec![pair];
    let mut at = pair;
    while let Some(before) = at.continues.as_ref().and_then(|id| pairs.iter().find(|pair| &pair.id == id)) {
        chain.push(before);
        at = before;
    }
    chain
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}
