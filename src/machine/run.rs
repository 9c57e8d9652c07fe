//! The step machine of a checklist run (`loops.md` §5). Rules shared with pairs are in `draft`, `delivery` and `turns`.

use jiff::Timestamp;

use super::{Scene, SentReport, Step, Wait};
use crate::model::command::{Control, NewRun, Refusal};
use crate::model::ids::RunId;
use crate::model::pair::PairRecord;
use crate::model::run::RunRecord;

/// A run, from an order.
///
/// # Errors
/// The reasons of `loops.md` §4.1 and §5.1.
pub fn create(_order: &NewRun, _id: RunId, _scene: &Scene<'_>) -> Result<RunRecord, Refusal> {
    Err(Refusal::not_now("not yet"))
}

/// Everything that can be concluded now. `pairs`: those of this run that exist.
#[must_use]
pub fn look(record: &RunRecord, _pairs: &[&PairRecord], _scene: &Scene<'_>) -> Step<RunRecord> {
    Step::unchanged(record.clone())
}

/// A send or Enter sequence of the run's own entry ended.
#[must_use]
pub fn sent(record: &RunRecord, _report: &SentReport, _now: Timestamp) -> Step<RunRecord> {
    Step::unchanged(record.clone())
}

/// An order of a person. A control that belongs to the pair comes back as [`super::Effect::OrderPair`], already
/// checked: the driver carries it out and answers the person with the pair's answer.
///
/// # Errors
/// It is not possible now, with the reason.
pub fn control(
    record: &RunRecord,
    _pairs: &[&PairRecord],
    _control: &Control,
    _scene: &Scene<'_>,
) -> Result<Step<RunRecord>, Refusal> {
    Ok(Step::unchanged(record.clone()))
}

/// The pair that the run wanted was refused by the driver (another record took a session meanwhile).
#[must_use]
pub fn pair_refused(record: &RunRecord, _refusal: &Refusal, _now: Timestamp) -> Step<RunRecord> {
    Step::unchanged(record.clone())
}

/// What it waits for (its pair's wait in `review`).
#[must_use]
pub fn wait(_record: &RunRecord, _pairs: &[&PairRecord], _scene: &Scene<'_>) -> Wait {
    Wait::default()
}

/// Controls that are impossible now, by name, with the reason; every other one is possible.
#[must_use]
pub fn impossible(_record: &RunRecord, _pairs: &[&PairRecord], _scene: &Scene<'_>) -> Vec<(String, String)> {
    Vec::new()
}
