//! What must hold over a whole world: each message once, each answer relayed once, nothing overtaken.

use std::collections::BTreeMap;

use trellis::model::conversation::Conversation;
use trellis::model::ids::{MessageId, Role, TurnId};
use trellis::model::outbox::{Entry, EntryState, Purpose};
use trellis::model::pair::{PairRecord, PairStop};
use trellis::model::run::{AttemptStatus, RunRecord};
use trellis::model::text::fold;
use trellis::transcript::Reader;

use super::Invariant;
use crate::sim::ingredients::Ingredient;
use crate::sim::world::{IMPLEMENTER, REVIEWER, World};

/// Broken promises, as they are found.
type Wrong = Vec<(Invariant, String)>;

/// Every violated promise, a line each. `moved_out`: messages that are too old for their records.
pub fn check(world: &World, runs: &[RunRecord], pairs: &[PairRecord], moved_out: &[Entry]) -> Wrong {
    let conversations = conversations(world);
    let mut wrong = Vec::new();
    for (side, role) in [(IMPLEMENTER, Role::Implementer), (REVIEWER, Role::Reviewer)] {
        let entries = runs
            .iter()
            .flat_map(|run| &run.outbox)
            .chain(pairs.iter().flat_map(|pair| &pair.outbox))
            .chain(moved_out)
            .filter(|entry| entry.target == role);
        exactly_once(world, side, &conversations[side], entries, &mut wrong);
    }
    for run in runs {
        nothing_overtaken(world, run, pairs, &conversations[IMPLEMENTER], &mut wrong);
    }
    for pair in pairs {
        approved_the_newest(world, pair, &conversations[IMPLEMENTER], &mut wrong);
        answered_once(pair, &conversations, &mut wrong);
    }
    wrong
}

/// What the transcripts of both sides say; the conversations of a side that was cleared stand behind each other.
pub fn conversations(world: &World) -> [Conversation; 2] {
    [IMPLEMENTER, REVIEWER].map(|side| {
        let agent = &world.agents[side];
        let mut whole = Conversation::new(agent.kind);
        for chat in &agent.chats {
            let mut reader = Reader::new(agent.kind);
            reader.push(&chat.file);
            whole.turns.extend(reader.conversation().turns.iter().cloned());
        }
        whole
    })
}

/// `exactly-once`: each delivered entry stands once in its target; nothing stands there that nobody sent.
fn exactly_once<'a>(
    world: &World,
    side: usize,
    conversation: &Conversation,
    entries: impl Iterator<Item = &'a Entry>,
    wrong: &mut Wrong,
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
                wrong.push((Invariant::ExactlyOnce, format!("{} is delivered but was never sent", entry.id)));
            }
            continue;
        }
        if let Some(turn) = &entry.delivered_turn_id
            && let Some(other) = turns.insert(turn.clone(), entry.id.clone())
        {
            wrong.push((Invariant::ExactlyOnce, format!("one prompt {turn} proves {other} and {}", entry.id)));
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
    // What the agent itself took up again, and what went with the end of its file, was not trellis' doing.
    let mut doubled: BTreeMap<String, i64> = BTreeMap::new();
    for text in &world.agents[side].doubled {
        *doubled.entry(fold(text)).or_default() += 1;
    }
    let whole = !world.struck.contains_key(&Ingredient::LostTail);
    for (text, (delivered, open)) in &sent {
        let typed_by_people = by_people.get(text).copied().unwrap_or(0);
        let there = prompts.get(text).copied().unwrap_or(0) - typed_by_people;
        let open = open + doubled.get(text).copied().unwrap_or(0);
        if there < *delivered && whole {
            wrong.push((
                Invariant::ExactlyOnce,
                format!("{delivered} delivered to {side}, {there} there: {}", short(text)),
            ));
        }
        if there > delivered + open {
            wrong.push((
                Invariant::ExactlyOnce,
                format!("{there} in {side}, {delivered} (+{open}) sent: {}", short(text)),
            ));
        }
    }
    for (text, there) in &prompts {
        let known = by_people.get(text).copied().unwrap_or(0);
        if !sent.contains_key(text) && *there > known {
            wrong.push((Invariant::ExactlyOnce, format!("a prompt in {side} that nobody sent: {}", short(text))));
        }
    }
}

/// No advance prompt overtakes an answer that nobody judged.
fn nothing_overtaken(
    world: &World,
    run: &RunRecord,
    pairs: &[PairRecord],
    implementer: &Conversation,
    wrong: &mut Wrong,
) {
    // Where the end of a file was lost, a later answer that was reviewed may not be there any more: the one before it has
    // been judged when it was relayed.
    let whole = !world.struck.contains_key(&Ingredient::LostTail);
    let judged = |turn: &TurnId, message: &MessageId| {
        pairs.iter().any(|pair| {
            let relayed = pair.outbox.iter().any(|entry| {
                entry.purpose == Purpose::ToReviewer
                    && entry.state == EntryState::Delivered
                    && entry.source_turn_id.as_ref() == Some(turn)
                    && entry.source_message_id.as_ref() == Some(message)
            });
            let newest = pair.reviewed.as_ref();
            newest.is_some_and(|reviewed| &reviewed.turn_id == turn && &reviewed.message_id == message)
                || (!whole && relayed)
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
            wrong.push((
                Invariant::NoUnreviewedConvergence,
                format!("{} overtook the unjudged answer of {}", entry.id, turn.id),
            ));
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

/// When the reviewer's word ended a pair, the implementer had no answer newer than the reviewed one.
fn approved_the_newest(world: &World, pair: &PairRecord, implementer: &Conversation, wrong: &mut Wrong) {
    // Times tell nothing where the clock went back, nor order where the end of a file was lost.
    if [Ingredient::JumpBack, Ingredient::LostTail].iter().any(|what| world.struck.contains_key(what)) {
        return;
    }
    let (Some(PairStop::Lgtm), None, Some(end)) = (pair.stop_reason, &pair.accepted_by, pair.stopped_at) else {
        return;
    };
    let Some(reviewed) = &pair.reviewed else { return };
    let newest =
        implementer.turns.iter().rfind(|turn| turn.is_answered() && turn.ended_at.is_some_and(|ended| ended < end));
    let Some((turn, answer)) = newest.and_then(|turn| Some((turn, turn.answer.as_ref()?))) else { return };
    if turn.id != reviewed.turn_id || answer.message_id != reviewed.message_id {
        let what = format!("{} ended on {}, and {} is newer", pair.id, reviewed.turn_id, turn.id);
        wrong.push((Invariant::NoUnreviewedConvergence, what));
    }
}

/// The second half of `exactly-once`: of one answer at most one relay has a turn of its own that was answered.
fn answered_once(pair: &PairRecord, sides: &[Conversation; 2], wrong: &mut Wrong) {
    let mut answered = BTreeMap::new();
    for entry in
        pair.outbox.iter().filter(|entry| matches!(entry.purpose, Purpose::ToReviewer | Purpose::ToImplementer))
    {
        let (Some(turn), Some(message)) = (&entry.source_turn_id, &entry.source_message_id) else { continue };
        let target = match entry.target {
            Role::Implementer => &sides[IMPLEMENTER],
            Role::Reviewer => &sides[REVIEWER],
        };
        let delivered = entry.delivered_turn_id.as_ref().and_then(|id| target.turn_index(id));
        if delivered.is_some_and(|at| target.turns[at].is_answered())
            && let Some(before) = answered.insert((turn, message), &entry.id)
        {
            let what = format!("{} and {before} carried one answer, and both were answered", entry.id);
            wrong.push((Invariant::ExactlyOnce, what));
        }
    }
}
