//! What must hold over a whole world: each message once, each answer relayed once, nothing overtaken.

use std::collections::{BTreeMap, BTreeSet};

use trellis::model::conversation::Conversation;
use trellis::model::ids::{MessageId, Role, SessionKey, SessionRef, TurnId};
use trellis::model::outbox::{Entry, EntryState, Purpose};
use trellis::model::pair::{PairRecord, PairStop};
use trellis::model::run::{AttemptStatus, RunRecord};
use trellis::model::text::fold;
use trellis::transcript::Reader;

use super::Invariant;
use crate::sim::agents::Chat;
use crate::sim::ingredients::Ingredient;
use crate::sim::world::{IMPLEMENTER, REVIEWER, World};

/// Broken promises, as they are found.
type Wrong = Vec<(Invariant, String)>;

/// Every violated promise, a line each. `moved_out`: messages that are too old for their records.
pub fn check(world: &World, runs: &[RunRecord], pairs: &[PairRecord], moved_out: &[Entry]) -> Wrong {
    let (conversations, written) = (conversations(world), written(world));
    let builder = [followed(world, runs, pairs, |chat| &chat.file), followed(world, runs, pairs, |chat| &chat.written)];
    let mut wrong = Vec::new();
    for (side, role) in [(IMPLEMENTER, Role::Implementer), (REVIEWER, Role::Reviewer)] {
        let entries = runs
            .iter()
            .flat_map(|run| &run.outbox)
            .chain(pairs.iter().flat_map(|pair| &pair.outbox))
            .chain(moved_out)
            .filter(|entry| entry.target == role);
        exactly_once(world, side, [&conversations[side], &written[side]], entries, &mut wrong);
    }
    for run in runs {
        nothing_overtaken(run, pairs, &builder, &mut wrong);
    }
    for pair in pairs {
        approved_the_newest(world, pair, &builder[0], &mut wrong);
        answered_once(pair, &conversations, &mut wrong);
    }
    wrong
}

/// What the transcripts of both sides say; the conversations of a side that was cleared stand behind each other.
pub fn conversations(world: &World) -> [Conversation; 2] {
    read(world, |chat| &chat.file)
}

/// The same of all that was ever written: what went with the end of a file stands there too.
pub fn written(world: &World) -> [Conversation; 2] {
    read(world, |chat| &chat.written)
}

fn read(world: &World, bytes: impl Fn(&Chat) -> &[u8]) -> [Conversation; 2] {
    [IMPLEMENTER, REVIEWER].map(|side| of_side(world, side, |_| true, &bytes))
}

/// The implementer's conversations that a record was ever in. Of one between two clears, which nobody followed, nothing is
/// known: a follow goes to the conversation that stands in the pane.
fn followed(world: &World, runs: &[RunRecord], pairs: &[PairRecord], bytes: impl Fn(&Chat) -> &[u8]) -> Conversation {
    let former = runs.iter().flat_map(|run| &run.participants_history);
    let former = former.chain(pairs.iter().flat_map(|pair| &pair.participants_history)).map(|former| &former.session);
    let now = runs.iter().map(|run| &run.implementer).chain(pairs.iter().map(|pair| &pair.implementer));
    let named: BTreeSet<SessionKey> = former.chain(now).map(SessionRef::key).collect();
    of_side(world, IMPLEMENTER, |chat| named.contains(&chat.session.key()), &bytes)
}

fn of_side(
    world: &World,
    side: usize,
    counts: impl Fn(&Chat) -> bool,
    bytes: &impl Fn(&Chat) -> &[u8],
) -> Conversation {
    let agent = &world.agents[side];
    let mut whole = Conversation::new(agent.kind);
    for chat in agent.chats.iter().filter(|chat| counts(chat)) {
        let mut reader = Reader::new(agent.kind);
        reader.push(bytes(chat));
        whole.turns.extend(reader.conversation().turns.iter().cloned());
    }
    whole
}

/// `exactly-once`: each delivered entry was written once by its target; nothing stands there that nobody sent. What went
/// with the end of a file may rightly have been sent once more.
fn exactly_once<'a>(
    world: &World,
    side: usize,
    [left, written]: [&Conversation; 2],
    entries: impl Iterator<Item = &'a Entry>,
    wrong: &mut Wrong,
) {
    let count = |conversation: &Conversation| {
        let mut prompts: BTreeMap<String, i64> = BTreeMap::new();
        for turn in &conversation.turns {
            *prompts.entry(fold(&turn.prompt.text)).or_default() += 1;
        }
        prompts
    };
    let (prompts, ever) = (count(left), count(written));
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
    // What the agent itself took up again was not trellis' doing.
    let mut doubled: BTreeMap<String, i64> = BTreeMap::new();
    for text in &world.agents[side].doubled {
        *doubled.entry(fold(text)).or_default() += 1;
    }
    for (text, (delivered, open)) in &sent {
        let typed_by_people = by_people.get(text).copied().unwrap_or(0);
        let there = prompts.get(text).copied().unwrap_or(0) - typed_by_people;
        let open = open + doubled.get(text).copied().unwrap_or(0);
        let written = ever.get(text).copied().unwrap_or(0) - typed_by_people;
        if written < *delivered {
            wrong.push((
                Invariant::ExactlyOnce,
                format!("{delivered} delivered to {side}, {written} written there: {}", short(text)),
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

/// No advance prompt overtakes an answer that nobody judged. Where the end of a file was lost, the answer that was reviewed
/// last may not be there any more, or one stood there that trellis never saw: one of the two views must hold.
fn nothing_overtaken(run: &RunRecord, pairs: &[PairRecord], implementer: &[Conversation; 2], wrong: &mut Wrong) {
    let judged = |turn: &TurnId, message: &MessageId| {
        pairs.iter().any(|pair| {
            let newest = pair.reviewed.as_ref();
            newest.is_some_and(|reviewed| &reviewed.turn_id == turn && &reviewed.message_id == message)
        })
    };
    let by_person = run.phases.iter().any(|attempt| {
        attempt.by.as_deref() == Some("user")
            || matches!(attempt.status, AttemptStatus::Skipped | AttemptStatus::Stopped)
    });
    for entry in
        run.outbox.iter().filter(|entry| entry.purpose == Purpose::Advance && entry.state == EntryState::Delivered)
    {
        let first =
            run.outbox.iter().find(|entry| entry.purpose == Purpose::Advance).is_some_and(|first| first.id == entry.id)
                && run.config.first_phase == trellis::model::config::FirstPhase::Ask;
        if first || by_person || entry.resend_of.is_some() {
            continue;
        }
        let overtaken = implementer.each_ref().map(|conversation| {
            let at = conversation.turn_index(entry.delivered_turn_id.as_ref()?)?;
            let turn = conversation.turns.iter().take(at).rev().find(|turn| turn.is_answered())?;
            // What a person asked for while the prompt was already on its way cannot be overtaken any more; edits of it
            // keep the run from completing, and the next review sees them.
            let meanwhile = entry.attempt_at.is_some_and(|begun| turn.prompt.record.at.is_some_and(|at| at >= begun));
            (!meanwhile && !judged(&turn.id, &turn.answer.as_ref()?.message_id)).then_some(&turn.id)
        });
        if let [Some(turn), Some(_)] = overtaken {
            wrong.push((
                Invariant::NoUnreviewedConvergence,
                format!("{} overtook the unjudged answer of {turn}", entry.id),
            ));
        }
    }
}

/// The beginning and the end of a text: many begin alike.
fn short(text: &str) -> String {
    let signs: Vec<char> = text.chars().collect();
    if signs.len() <= 90 {
        return text.to_owned();
    }
    let (head, tail) = (&signs[..40], &signs[signs.len() - 40..]);
    head.iter().chain(['…'].iter()).chain(tail).collect()
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
