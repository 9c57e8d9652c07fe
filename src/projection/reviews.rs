//! Relays and reviews of the attempt that is looked at: what was carried, how many points, which repeat.

use std::collections::BTreeSet;

use super::facts::RecordFacts;
use super::{OpenPoint, RelayView, Repeated, ReviewView};
use crate::model::conversation::{Conversation, ItemKind, Turn};
use crate::model::growing::Iter;
use crate::model::ids::{MessageId, Role, TurnId};
use crate::model::outbox::{Entry, EntryState};
use crate::model::pair::{Direction, PairRecord, Round};
use crate::model::text::first_line;
use crate::model::tree::Work;
use crate::verdict::points;
use crate::verdict::points::Point;

/// Relays of the current pair and of those it continues, oldest first; an undelivered one is the last.
#[must_use]
pub fn relay_list(record: &RecordFacts<'_>) -> Vec<RelayView> {
    let chain = chain(record);
    let judged = judged_answers(record, &chain);
    let mut list: Vec<RelayView> = Vec::new();
    for pair in &chain {
        for round in &pair.rounds {
            if list.iter().any(|relay| relay.n == round.n) {
                continue;
            }
            let entry = pair.outbox.iter().find(|entry| Some(&entry.id) == round.entry.as_ref());
            list.push(delivered(record, round, entry, &judged));
        }
    }
    if let Some(pair) = record.pair
        && let Some(entry) = pair.open_entry().filter(|entry| entry.purpose.is_relay())
    {
        list.push(undelivered(record, entry, pair, &judged));
    }
    list
}

/// One row for each answer of the reviewer in this attempt.
#[must_use]
pub fn reviews(record: &RecordFacts<'_>) -> Vec<ReviewView> {
    let chain = chain(record);
    judged_answers(record, &chain)
        .into_iter()
        .enumerate()
        .map(|(at, answer)| ReviewView {
            n: u32::try_from(at + 1).unwrap_or(u32::MAX),
            points: answer.points,
            repeated: answer.repeated,
            lines: answer.lines,
            files: answer.files,
            by_git: answer.by_git,
        })
        .collect()
}

/// Answers of this attempt that repeat points of earlier ones, with the places of these.
#[must_use]
pub fn repeated(record: &RecordFacts<'_>) -> Vec<Repeated> {
    let judged = judged_answers(record, &chain(record));
    let with_repeats = judged.into_iter().filter(|answer| answer.repeated > 0);
    with_repeats
        .filter_map(|answer| {
            let lines = answer.found.iter().filter(|(_, since)| since.is_some()).map(|(point, _)| point.line);
            let lines = lines.filter_map(|line| u32::try_from(line).ok()).collect();
            Some(Repeated { message_id: answer.message_id?, lines })
        })
        .collect()
}

/// Points of the newest review that were named before, each with the review that named it first.
#[must_use]
pub fn open_points(record: &RecordFacts<'_>) -> Vec<OpenPoint> {
    let newest = judged_answers(record, &chain(record)).pop();
    let found = newest.map(|answer| answer.found).unwrap_or_default();
    found
        .into_iter()
        .filter_map(|(point, since)| Some(OpenPoint { words: first_line(&point.text), since: since? }))
        .collect()
}

/// The current pair and, before it, those it continues.
fn chain<'a>(record: &RecordFacts<'a>) -> Vec<&'a PairRecord> {
    let mut chain: Vec<&PairRecord> = Vec::new();
    let mut next = record.pair;
    while let Some(pair) = next {
        if chain.iter().any(|seen| seen.id == pair.id) {
            break;
        }
        chain.push(pair);
        next = pair.continues.as_ref().and_then(|id| record.pairs.iter().copied().find(|other| &other.id == id));
    }
    chain.reverse();
    chain
}

/// An answer of the reviewer, counted.
struct Judged {
    turn_id: TurnId,
    message_id: Option<MessageId>,
    points: u32,
    repeated: u32,
    lines: Option<u32>,
    files: Option<u32>,
    by_git: bool,
    /// Its points, and for a repeated one the review that named it first, from 1.
    found: Vec<(Point, Option<u32>)>,
}

/// The reviewer's answer to each relay it got, in order.
fn judged_answers(record: &RecordFacts<'_>, chain: &[&PairRecord]) -> Vec<Judged> {
    let Some(reviewer) = record.conversation(Role::Reviewer) else { return Vec::new() };
    let builder = record.conversation(Role::Implementer);
    let mut earlier: Vec<Vec<String>> = Vec::new();
    let mut judged: Vec<Judged> = Vec::new();
    let to_reviewer =
        chain.iter().flat_map(|pair| &pair.rounds).filter(|round| round.direction == Direction::ToReviewer);
    let mut last_n = 0;
    let mut last_source: Option<&TurnId> = None;
    for round in to_reviewer {
        if round.n <= last_n {
            continue;
        }
        last_n = round.n;
        let Some(turn) = answering_turn(reviewer, &round.delivered_turn_id) else { continue };
        let Some(answer) = &turn.answer else { continue };
        let signal = record.pair.map_or("", |pair| &pair.config.stop_signal);
        let points = points::located(&answer.text, signal);
        let texts: Vec<String> = points.iter().map(|point| point.text.clone()).collect();
        let since = points::first_named(&texts, &earlier);
        let repeated = since.iter().flatten().count();
        let turns = builder.and_then(|builder| worked(builder, last_source, round.source_turn_id.as_ref()));
        last_source = round.source_turn_id.as_ref().or(last_source);
        let (lines, files) = match round.work {
            Some(Work::Changed { files, added, .. }) => (Some(added), Some(files)),
            _ => (turns.clone().and_then(changed_lines), turns.and_then(changed_files)),
        };
        judged.push(Judged {
            turn_id: turn.id.clone(),
            message_id: Some(answer.message_id.clone()),
            points: u32::try_from(points.len()).unwrap_or(u32::MAX),
            repeated: u32::try_from(repeated).unwrap_or(u32::MAX),
            lines,
            files,
            by_git: matches!(round.work, Some(Work::Changed { .. })),
            found: points.into_iter().zip(since).collect(),
        });
        earlier.push(texts);
    }
    judged
}

/// The turn that answers a delivery: its own, or the one that took its place.
fn answering_turn<'a>(conversation: &'a Conversation, delivered: &TurnId) -> Option<&'a Turn> {
    let at = conversation.turn_index(delivered)?;
    conversation.turns.iter().skip(at).find(|turn| turn.answer.is_some() && turn.outcome.is_some())
}

/// Whether no file was edited since the review before the newest relay to the reviewer, as far as the tools tell.
#[must_use]
pub fn carries_no_edit(record: &RecordFacts<'_>) -> bool {
    let newest = || {
        let rounds = record.pair?.rounds.iter().rev();
        let mut sources = rounds.filter(|round| round.direction == Direction::ToReviewer);
        let source = sources.next()?.source_turn_id.as_ref();
        let before = sources.next().and_then(|round| round.source_turn_id.as_ref());
        changed_lines(worked(record.conversation(Role::Implementer)?, before, source)?)
    };
    newest() == Some(0)
}

/// The builder's turns since the one that was reviewed before, up to the one that is reviewed; of the first review that
/// one alone. What a person asked for in between is reviewed as well.
fn worked<'a>(
    conversation: &'a Conversation,
    before: Option<&TurnId>,
    turn: Option<&TurnId>,
) -> Option<Iter<'a, Turn>> {
    let end = conversation.turn_index(turn?)?;
    let begin = before.and_then(|before| conversation.turn_index(before)).map_or(end, |before| before + 1);
    Some(conversation.turns.range(begin.min(end), end + 1))
}

/// Lines that some turns added: 0 when they called no tool that edits, `None` when one of these did not say.
fn changed_lines(turns: Iter<'_, Turn>) -> Option<u32> {
    let mut sum = (!turns.clone().any(|turn| turn.edited_files)).then_some(0);
    for item in turns.flat_map(|turn| &turn.items) {
        if let ItemKind::Tool { lines: Some((added, _)), .. } = item.kind {
            sum = Some(sum.unwrap_or(0_u32).saturating_add(added));
        }
    }
    sum
}

/// Files that the tools of some turns name as edited: 0 when they called none that edits, `None` when they do not say.
fn changed_files(mut turns: Iter<'_, Turn>) -> Option<u32> {
    let files: BTreeSet<&str> = turns
        .clone()
        .flat_map(|turn| &turn.items)
        .filter_map(|item| match &item.kind {
            ItemKind::Tool { summary, lines: Some(_), .. } => Some(summary.as_str()),
            _ => None,
        })
        .collect();
    let edited = turns.any(|turn| turn.edited_files);
    (!edited || !files.is_empty()).then(|| u32::try_from(files.len()).unwrap_or(u32::MAX))
}

/// First line of the answer that is carried; of the whole message when the answer can't be found any more.
fn carried_line(record: &RecordFacts<'_>, from: Role, turn: Option<&TurnId>, whole: &str) -> String {
    let found = record.conversation(from).zip(turn).and_then(|(conversation, turn)| {
        let turn = conversation.turns.get(conversation.turn_index(turn)?)?;
        turn.answer.as_ref().map(|answer| super::words::unmarked(&first_line(&answer.text)))
    });
    found.unwrap_or_else(|| whole.to_owned())
}

fn delivered(record: &RecordFacts<'_>, round: &Round, entry: Option<&Entry>, judged: &[Judged]) -> RelayView {
    let found = counted(judged, round.direction, round.source_turn_id.as_ref(), round.source_message_id.as_ref());
    RelayView {
        n: round.n,
        to: round.direction.target(),
        sent_at: entry.and_then(|entry| entry.last_key_at),
        seen_at: Some(round.at),
        state: EntryState::Delivered,
        first_line: carried_line(
            record,
            round.direction.target().other(),
            round.source_turn_id.as_ref(),
            &round.text.first_line,
        ),
        edited: round.edited,
        points: found.map(|judged| judged.points),
        repeated: found.map(|judged| judged.repeated),
    }
}

fn undelivered(record: &RecordFacts<'_>, entry: &Entry, pair: &PairRecord, judged: &[Judged]) -> RelayView {
    let direction = if entry.target == Role::Reviewer { Direction::ToReviewer } else { Direction::ToImplementer };
    let found = counted(judged, direction, entry.source_turn_id.as_ref(), entry.source_message_id.as_ref());
    RelayView {
        n: pair.round_count.saturating_add(1),
        to: entry.target,
        sent_at: entry.last_key_at,
        seen_at: None,
        state: entry.state,
        first_line: carried_line(record, entry.target.other(), entry.source_turn_id.as_ref(), &entry.text.first_line),
        edited: entry.edited,
        points: found.map(|judged| judged.points),
        repeated: found.map(|judged| judged.repeated),
    }
}

fn counted<'a>(
    judged: &'a [Judged],
    direction: Direction,
    turn: Option<&TurnId>,
    message: Option<&MessageId>,
) -> Option<&'a Judged> {
    if direction == Direction::ToReviewer {
        return None;
    }
    judged
        .iter()
        .find(|judged| Some(&judged.turn_id) == turn && (message.is_none() || judged.message_id.as_ref() == message))
}
