//! New pairs: from a person's order, from a run, or as the continuation of another.

use jiff::Timestamp;

use super::super::prompts::SIDES;
use super::super::{Scene, Side, TranscriptFact, limits, session, turns};
use crate::model::command::{NewPair, Refusal};
use crate::model::config::PairConfig;
use crate::model::ids::{PairId, RecordKey, Role, SessionRef};
use crate::model::outbox::Purpose;
use crate::model::pair::{
    Awaited, Direction, Due, HumanMarks, Kickoff, OpenWait, PairRecord, PairState, PairStep, SCHEMA,
};
use crate::model::reach::ProcessFact;
use crate::model::text::TextRef;
use crate::verdict;

/// A pair without a run.
pub(super) fn from_order(order: &NewPair, id: PairId, scene: &Scene<'_>) -> Result<PairRecord, Refusal> {
    refuse_sides(scene, |_| false)?;
    check(&order.config)?;
    let kickoff = order.kickoff.clone().unwrap_or_else(|| default_kickoff(scene, order.config.debounce));
    let mut pair = fresh(id, "", [&order.implementer, &order.reviewer], kickoff, &order.config, scene.now);
    pair.human_mark = marks(scene);
    begin(&mut pair, scene)?;
    Ok(pair)
}

/// Sets what follows from the kickoff.
pub(super) fn begin(pair: &mut PairRecord, scene: &Scene<'_>) -> Result<(), Refusal> {
    let conversation = scene.implementer.conversation;
    match &pair.kickoff {
        Kickoff::UseCurrent => {
            if conversation.and_then(turns::newest_answered).is_none() {
                let message = "the implementer has no completed answer yet: wait for its next one";
                return Err(Refusal::invalid("kickoff", message));
            }
        }
        Kickoff::WaitForNext => {
            let ended = conversation.and_then(turns::newest_ended);
            pair.baseline_turn_id = ended.map(|turn| turn.id.clone());
            pair.baseline_message_id = ended.and_then(turns::judged_message);
            pair.open_wait = Some(OpenWait { side: Role::Implementer, after_turn_id: pair.baseline_turn_id.clone() });
        }
        Kickoff::Turn { turn_id, .. } => {
            if conversation.is_none_or(|conversation| conversation.turn_index(turn_id).is_none()) {
                let message = format!("turn {turn_id} is not in the implementer's transcript");
                return Err(Refusal::invalid("kickoff", message));
            }
        }
    }
    Ok(())
}

/// An empty record.
pub(in crate::machine) fn fresh(
    id: PairId,
    owner: &str,
    [implementer, reviewer]: [&SessionRef; 2],
    kickoff: Kickoff,
    config: &PairConfig,
    now: Timestamp,
) -> PairRecord {
    PairRecord {
        schema: SCHEMA,
        revision: 0,
        id,
        owner: owner.to_owned(),
        continues: None,
        created_at: now,
        stopped_at: None,
        stop_reason: None,
        accepted_by: None,
        restart_unresolvable: false,
        state: PairState::Pending,
        step: Some(PairStep::AwaitImplementer),
        paused_reason: None,
        paused_detail: String::new(),
        paused_at: None,
        round_count: 0,
        last_persisted_at: None,
        implementer: implementer.clone(),
        reviewer: reviewer.clone(),
        participants_history: Vec::new(),
        config: config.clone(),
        config_history: Vec::new(),
        kickoff,
        baseline_turn_id: None,
        baseline_message_id: None,
        human_mark: HumanMarks::default(),
        open_wait: None,
        awaited: None,
        reviewed: None,
        spent: None,
        left_behind: None,
        owed: None,
        clarify: None,
        near_miss: None,
        retry: None,
        outbox: Vec::new(),
        entries_made: 0,
        pending_confirm: None,
        due: None,
        limit: None,
        rounds: Vec::new(),
        tree: None,
        extra: serde_json::Map::new(),
    }
}

/// How many more relays a continuing pair may make.
pub(in crate::machine) struct Successor<'a> {
    pub old: &'a PairRecord,
    pub id: PairId,
    /// Its cap, counted over both.
    pub cap: u32,
    /// The reviewer is to name blockers only.
    pub blockers_only: bool,
}

/// A pair that goes on where another reached its cap: with its due relay, its count and what it knew of the review.
pub(in crate::machine) fn succeed(next: &Successor<'_>, config: &PairConfig, scene: &Scene<'_>) -> Option<PairRecord> {
    let old = next.old;
    let due = old.due.clone()?;
    let mut config = PairConfig { max_rounds: next.cap, ..config.clone() };
    if next.blockers_only {
        config.review_prompt = only_blockers(&config.review_prompt);
    }
    let sides = [&old.implementer, &old.reviewer];
    let mut pair = fresh(next.id.clone(), &old.owner, sides, old.kickoff.clone(), &config, scene.now);
    let source = due.direction.target().other();
    pair.continues = Some(old.id.clone());
    pair.participants_history.clone_from(&old.participants_history);
    pair.round_count = old.round_count;
    pair.baseline_turn_id.clone_from(&old.baseline_turn_id);
    pair.baseline_message_id.clone_from(&old.baseline_message_id);
    pair.reviewed.clone_from(&old.reviewed);
    pair.near_miss.clone_from(&old.near_miss);
    pair.clarify.clone_from(&old.clarify);
    pair.step = Some(match source {
        Role::Implementer => PairStep::AwaitImplementer,
        Role::Reviewer => PairStep::AwaitReviewer,
    });
    pair.awaited = Some(Awaited { turn_id: Some(due.source_turn_id.clone()), since_record: None, any_prompter: true });
    pair.human_mark = marks(scene);
    pair.due = Some(with_prompt_of(due, old, &config));
    Some(pair)
}

/// The due text under the prompt of the new settings.
fn with_prompt_of(due: Due, old: &PairRecord, config: &PairConfig) -> Due {
    let target = due.direction.target();
    let before = super::prompt(&old.config, target);
    let text = due.text.text();
    match text.strip_prefix(before.trim_end_matches('\n')).and_then(|rest| rest.strip_prefix("\n\n")) {
        Some(answer) if !before.trim().is_empty() => {
            Due { text: TextRef::of(&super::steps::relay_text(&super::prompt(config, target), answer)), ..due }
        }
        _ => due,
    }
}

const WISH: &str = "Name only what must change before this can go through; leave everything smaller out.";

/// Whether the reviewer is told to name blockers only.
pub(in crate::machine) fn names_blockers_only(config: &PairConfig) -> bool {
    config.review_prompt.contains(WISH)
}

/// A review prompt with the wish to hear of blockers only.
pub(in crate::machine) fn only_blockers(prompt: &str) -> String {
    if prompt.contains(WISH) {
        prompt.to_owned()
    } else {
        format!("{}\n{WISH}", prompt.trim_end()).trim_start().to_owned()
    }
}

/// The newest prompts on both sides.
pub(in crate::machine) fn marks(scene: &Scene<'_>) -> HumanMarks {
    let mut marks = HumanMarks::default();
    for role in SIDES {
        let newest = scene.side(role).conversation.and_then(|conversation| conversation.newest());
        marks.set(role, newest.map(|turn| turn.id.clone()));
    }
    marks
}

/// How a pair begins when nobody says otherwise.
#[must_use]
pub fn default_kickoff(scene: &Scene<'_>, debounce: u64) -> Kickoff {
    let newest = scene.implementer.conversation.and_then(|conversation| conversation.newest());
    let ready = session::idle(scene, Role::Implementer, debounce).is_idle();
    match newest.filter(|turn| ready && turn.is_answered()).and_then(turns::answer_id) {
        Some(answer) if !scene.ledger.relayed(&answer.turn_id, &answer.message_id) => Kickoff::UseCurrent,
        _ => Kickoff::WaitForNext,
    }
}

/// Refuses sides that cannot be joined. `own`: records that do not count as another one.
pub(in crate::machine) fn refuse_sides(scene: &Scene<'_>, own: impl Fn(&RecordKey) -> bool) -> Result<(), Refusal> {
    if scene.implementer.session.key() == scene.reviewer.session.key() {
        return Err(Refusal::invalid("reviewer", "the same session cannot build and review: choose another one"));
    }
    for role in SIDES {
        joinable(scene.side(role), field(role))?;
        let taken = scene.ledger.active_with(&scene.side(role).session.key());
        if let Some(record) = taken.into_iter().find(|record| !own(record)) {
            let message = format!("{} is already used by {record}: stop that first", scene.side(role).session.key());
            return Err(Refusal::invalid(field(role), message));
        }
    }
    Ok(())
}

fn field(role: Role) -> &'static str {
    match role {
        Role::Implementer => "implementer",
        Role::Reviewer => "reviewer",
    }
}

/// Refuses a session that is put away or exists nowhere.
pub(in crate::machine) fn joinable(side: &Side<'_>, field: &str) -> Result<(), Refusal> {
    let name = side.session.key();
    if side.put_away {
        return Err(Refusal::invalid(field, format!("{name} is put away: take it back first")));
    }
    let alive =
        side.reach.is_some_and(|reach| reach.transport.is_some() || matches!(reach.process, ProcessFact::Alive { .. }));
    let written = match side.transcript {
        TranscriptFact::Present(_) | TranscriptFact::Unreadable(_) => true,
        TranscriptFact::NotYet | TranscriptFact::Deleted => false,
    };
    if !(alive || written || side.noted) {
        let message = format!("{name} exists nowhere: there is no transcript, no process and no note of it");
        return Err(Refusal::invalid(field, message));
    }
    limits::path(field, &side.session.worktree)
}

/// Refuses settings that cannot be.
///
/// # Errors
/// A blank signal, a cap outside 1 to 1000, or a text that is too long for a record.
pub fn check(config: &PairConfig) -> Result<(), Refusal> {
    for (field, text) in [
        ("review_prompt", &config.review_prompt),
        ("feedback_prompt", &config.feedback_prompt),
        ("clarify_prompt", &config.clarify_prompt),
        ("continue_prompt", &config.continue_prompt),
    ] {
        limits::setting(field, text)?;
    }
    limits::name("stop_signal", &config.stop_signal)?;
    limits::setting("config", &serde_json::Value::Object(config.extra.clone()).to_string())?;
    verdict::check_signal(&config.stop_signal)
        .map_err(|problem| Refusal::invalid("stop_signal", problem.to_string()))?;
    if !(1..=1000).contains(&config.max_rounds) {
        return Err(Refusal::invalid("max_rounds", "give a number of relays from 1 to 1000"));
    }
    Ok(())
}

/// The purpose of a relay.
pub(super) const fn purpose(direction: Direction) -> Purpose {
    match direction {
        Direction::ToReviewer => Purpose::ToReviewer,
        Direction::ToImplementer => Purpose::ToImplementer,
    }
}
