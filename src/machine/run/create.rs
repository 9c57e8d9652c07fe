//! New runs: from a person's order, or as the continuation of a stopped one.

use jiff::Timestamp;

use super::super::pair::{check_config, marks, refuse_sides};
use super::super::{Scene, limits, turns};
use super::baseline::edited_mark;
use crate::model::command::{NewRun, Refusal};
use crate::model::config::{FirstPhase, RunConfig};
use crate::model::ids::{RecordKey, RunId};
use crate::model::pair::{HumanMarks, SCHEMA};
use crate::model::run::{After, RunRecord, RunState, RunStep};
use crate::model::text::first_line;
use crate::verdict;

/// A run that prompts nobody, unless it was ordered to ask at once.
pub(super) fn from_order(order: &NewRun, id: RunId, scene: &Scene<'_>) -> Result<RunRecord, Refusal> {
    refuse_sides(scene, |_| false)?;
    check(&order.config)?;
    let conversation = scene.implementer.conversation;
    if order.config.first_phase == FirstPhase::Current && conversation.and_then(turns::newest_answered).is_none() {
        let message = "the implementer has no completed answer yet: take its next one as phase 1";
        return Err(Refusal::invalid("first_phase", message));
    }
    let mut run = fresh(order, id, scene.now);
    run.human_mark = marks(scene);
    match order.config.first_phase {
        FirstPhase::Next => {
            let ended = conversation.and_then(turns::newest_ended);
            run.baseline_turn_id = ended.map(|turn| turn.id.clone());
            run.baseline_message_id = ended.and_then(turns::judged_message);
            run.baseline_text =
                ended.and_then(|turn| turn.answer.as_ref()).map_or_else(String::new, |answer| first_line(&answer.text));
            run.baseline_git = edited_mark(scene, ended);
        }
        FirstPhase::Current => {}
        FirstPhase::Ask => run.step = Some(RunStep::Advance),
    }
    Ok(run)
}

fn fresh(order: &NewRun, id: RunId, now: Timestamp) -> RunRecord {
    RunRecord {
        schema: SCHEMA,
        revision: 0,
        id,
        name: order.config.name.clone(),
        continued_from: None,
        created_at: now,
        stopped_at: None,
        stop_reason: None,
        restart_unresolvable: false,
        state: RunState::Running,
        step: Some(RunStep::Probe),
        paused_reason: None,
        paused_detail: String::new(),
        paused_at: None,
        paused_pair: None,
        pair_seen: false,
        pending_pair_stop: None,
        phases_done: 0,
        last_persisted_at: None,
        implementer: order.implementer.clone(),
        reviewer: order.reviewer.clone(),
        participants_history: Vec::new(),
        config: order.config.clone(),
        config_history: Vec::new(),
        current_pair_id: None,
        pairs_made: 0,
        baseline_turn_id: None,
        baseline_message_id: None,
        baseline_text: String::new(),
        baseline_git: None,
        edited_completions: 0,
        owed: None,
        after: After::Start,
        advance_turn_id: None,
        human_mark: HumanMarks::default(),
        open_wait: None,
        awaited: None,
        retry: None,
        pending: None,
        outbox: Vec::new(),
        entries_made: 0,
        limit: None,
        phases: Vec::new(),
        extra: serde_json::Map::new(),
    }
}

/// A new run with the sides and settings of a stopped one, numbered on from its agreed phases.
pub(super) fn run_on(old: &RunRecord, scene: &Scene<'_>) -> Result<RunRecord, Refusal> {
    let config = RunConfig { first_phase: FirstPhase::Next, name: old.name.clone(), ..old.config.clone() };
    let order = NewRun { implementer: old.implementer.clone(), reviewer: old.reviewer.clone(), config };
    let mut run = from_order(&order, next_id(old, scene), scene)?;
    run.continued_from = Some(old.id.clone());
    run.phases_done = old.phases_done;
    Ok(run)
}

/// The id of the run that goes on from this one.
fn next_id(old: &RunRecord, scene: &Scene<'_>) -> RunId {
    let free = |id: &RunId| !scene.ledger.holds(&RecordKey::Run(id.clone()));
    let id = old.id.as_str();
    let (stem, from) = match id.rsplit_once("-n").map(|(stem, n)| (stem, n.parse::<u32>())) {
        Some((stem, Ok(n))) => (stem, n.saturating_add(1)),
        _ => (id, 2),
    };
    (from..u32::MAX).map(|n| RunId::new(format!("{stem}-n{n}"))).find(free).unwrap_or_else(|| old.id.clone())
}

/// Refuses settings that cannot be.
///
/// # Errors
/// A blank signal, a cap outside 1 to 1000, no phase at all, or a text that is too long for a record.
pub fn check(config: &RunConfig) -> Result<(), Refusal> {
    limits::name("name", &config.name)?;
    limits::setting("advance_prompt", &config.advance_prompt)?;
    limits::name("completion_signal", &config.completion_signal)?;
    limits::setting("config", &serde_json::Value::Object(config.extra.clone()).to_string())?;
    verdict::check_signal(&config.completion_signal)
        .map_err(|problem| Refusal::invalid("completion_signal", problem.to_string()))?;
    check_config(&config.for_pairs()).map_err(|refusal| match refusal.field.as_deref() {
        Some("stop_signal") => Refusal { field: Some("review_stop_signal".to_owned()), ..refusal },
        _ => refusal,
    })?;
    if config.max_phases == 0 {
        return Err(Refusal::invalid("max_phases", "give a number of phases, at least 1"));
    }
    Ok(())
}
