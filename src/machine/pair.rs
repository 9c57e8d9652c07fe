//! The step machine of a pair (`loops.md` §4). Rules shared with runs are in `draft`, `delivery` and `turns`.

use jiff::Timestamp;

use super::{PairOrder, Scene, SentReport, Step, Wait};
use crate::model::command::{Control, NewPair, Refusal};
use crate::model::ids::PairId;
use crate::model::pair::PairRecord;
use crate::model::run::RunRecord;

/// Owner of a pair that a run made.
pub const CHECKLIST: &str = "checklist";

/// A pair without a run, from an order.
///
/// # Errors
/// The reasons of `loops.md` §4.1.
pub fn create(_order: &NewPair, _id: PairId, _scene: &Scene<'_>) -> Result<PairRecord, Refusal> {
    Err(Refusal::not_now("not yet"))
}

/// Everything that can be concluded now. `held_by_run`: its run is paused, so no step, no timer and no first byte.
#[must_use]
pub fn look(record: &PairRecord, _scene: &Scene<'_>, _held_by_run: bool) -> Step<PairRecord> {
    Step::unchanged(record.clone())
}

/// A send or Enter sequence ended.
#[must_use]
pub fn sent(record: &PairRecord, _report: &SentReport, _now: Timestamp) -> Step<PairRecord> {
    Step::unchanged(record.clone())
}

/// An order of a person.
///
/// # Errors
/// It is not possible now, with the reason.
pub fn control(record: &PairRecord, _control: &Control, _scene: &Scene<'_>) -> Result<Step<PairRecord>, Refusal> {
    Ok(Step::unchanged(record.clone()))
}

/// An order of its run (`Effect::OrderPair`). The scene is of the run's sides.
///
/// # Errors
/// Only for [`PairOrder::Control`]: as [`control`].
pub fn order(
    record: &PairRecord,
    _order: &PairOrder,
    _run: &RunRecord,
    _scene: &Scene<'_>,
) -> Result<Step<PairRecord>, Refusal> {
    Ok(Step::unchanged(record.clone()))
}

/// What it waits for.
#[must_use]
pub fn wait(_record: &PairRecord, _scene: &Scene<'_>) -> Wait {
    Wait::default()
}

/// Controls that are impossible now, by name, with the reason; every other one is possible.
#[must_use]
pub fn impossible(_record: &PairRecord, _scene: &Scene<'_>) -> Vec<(String, String)> {
    Vec::new()
}
