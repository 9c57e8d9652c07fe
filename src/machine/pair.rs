//! The step machine of a pair (`loops.md` §4): its doors. Rules shared with runs are in `delivery`, `prompts`, `setback`.

mod controls;
mod create;
mod judge;
mod resume;
mod steps;
mod words;
mod work;

use jiff::Timestamp;

pub(super) use controls::more_cap;
pub(super) use create::{Successor, fresh, marks, names_blockers_only, only_blockers, refuse_sides, succeed};
pub use create::{check as check_config, default_kickoff};

use super::draft::Draft;
use super::{PairOrder, Scene, SentReport, Step, Wait, delivery};
use crate::model::command::{Control, NewPair, Refusal};
use crate::model::config::PairConfig;
use crate::model::ids::{PairId, Role};
use crate::model::pair::{PairRecord, PairStop};
use crate::model::run::RunRecord;

/// Owner of a pair that a run made.
pub const CHECKLIST: &str = "checklist";

/// A pair without a run, from an order.
///
/// # Errors
/// The reasons of `loops.md` §4.1.
pub fn create(order: &NewPair, id: PairId, scene: &Scene<'_>) -> Result<PairRecord, Refusal> {
    create::from_order(order, id, scene)
}

/// Everything that can be concluded now. `held_by_run`: its run is paused, so no step, no timer and no first byte.
#[must_use]
pub fn look(record: &PairRecord, scene: &Scene<'_>, held_by_run: bool) -> Step<PairRecord> {
    let mut draft = Draft::new(record, scene);
    steps::look(&mut draft, held_by_run);
    draft.finish()
}

/// A send or Enter sequence ended.
#[must_use]
pub fn sent(record: &PairRecord, report: &SentReport, now: Timestamp) -> Step<PairRecord> {
    delivery::reported(record, report, now)
}

/// An order of a person.
///
/// # Errors
/// It is not possible now, with the reason. A pair of a run takes its orders from the run.
pub fn control(record: &PairRecord, control: &Control, scene: &Scene<'_>) -> Result<Step<PairRecord>, Refusal> {
    // An orphan is stopped without its run.
    if record.owner == CHECKLIST && record.is_active() && *control != Control::Stop {
        return Err(Refusal::not_now("this pair belongs to a run: give the order to the run"));
    }
    controls::control(record, control, scene)
}

/// An order of its run (`Effect::OrderPair`). The scene is of the run's sides.
///
/// # Errors
/// Only for [`PairOrder::Control`]: as [`control`].
pub fn order(
    record: &PairRecord,
    order: &PairOrder,
    run: &RunRecord,
    scene: &Scene<'_>,
) -> Result<Step<PairRecord>, Refusal> {
    controls::order(record, order, run, scene)
}

/// Whether [`PairOrder::Control`] would be carried out.
pub(super) fn would_take(record: &PairRecord, control: &Control, scene: &Scene<'_>) -> Result<(), Refusal> {
    controls::control(record, control, scene).map(|_| ())
}

/// A side's agent refuses to resume its session: the pair ends `peer_error`.
#[must_use]
pub fn unresumable(record: &PairRecord, role: Role, why: &str, scene: &Scene<'_>) -> Step<PairRecord> {
    let mut draft = Draft::new(record, scene);
    if record.is_active() {
        let name = draft.name(role);
        steps::stop(&mut draft, PairStop::PeerError, format!("{name} refuses to resume: {why}"));
    }
    draft.finish()
}

/// What it waits for.
#[must_use]
pub fn wait(record: &PairRecord, scene: &Scene<'_>) -> Wait {
    words::wait(record, scene)
}

/// Controls that are impossible now, by name, with the reason; every other one is possible.
#[must_use]
pub fn impossible(record: &PairRecord, scene: &Scene<'_>) -> Vec<(String, String)> {
    super::orders::impossible(|control| self::control(record, control, scene).err())
}

/// The prompt that stands before an answer relayed to `target`, with its placeholder filled.
pub(super) fn prompt(config: &PairConfig, target: Role) -> String {
    match target {
        Role::Reviewer => fill(&config.review_prompt, &config.stop_signal),
        Role::Implementer => fill(&config.feedback_prompt, &config.stop_signal),
    }
}

/// Fills the placeholder of a prompt.
pub(super) fn fill(prompt: &str, signal: &str) -> String {
    prompt.replace("{stop_signal}", signal).replace("{review_stop_signal}", signal)
}
