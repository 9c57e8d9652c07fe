//! The step machine of a checklist run (`loops.md` §5): its doors. Rules shared with pairs are in `delivery`, `prompts`,
//! `setback`.

mod asking;
mod baseline;
mod controls;
mod create;
mod decisions;
mod review;
mod steps;
mod words;

use jiff::Timestamp;

pub use create::check as check_config;

use super::draft::Draft;
use super::{Scene, SentReport, Step, Wait, delivery};
use crate::model::command::{Control, NewRun, Refusal};
use crate::model::ids::{PairId, Role, RunId};
use crate::model::pair::PairRecord;
use crate::model::run::{AttemptStatus, RunRecord, RunStop};

/// A run, from an order.
///
/// # Errors
/// The reasons of `loops.md` §4.1 and §5.1.
pub fn create(order: &NewRun, id: RunId, scene: &Scene<'_>) -> Result<RunRecord, Refusal> {
    create::from_order(order, id, scene)
}

/// Everything that can be concluded now. `pairs`: those of this run that exist.
#[must_use]
pub fn look(record: &RunRecord, pairs: &[&PairRecord], scene: &Scene<'_>) -> Step<RunRecord> {
    let mut draft = Draft::new(record, scene);
    steps::look(&mut draft, pairs);
    draft.finish()
}

/// A send or Enter sequence of the run's own entry ended.
#[must_use]
pub fn sent(record: &RunRecord, report: &SentReport, now: Timestamp) -> Step<RunRecord> {
    delivery::reported(record, report, now)
}

/// An order of a person. A control that belongs to the pair comes back as [`super::Effect::OrderPair`], already
/// checked: the driver carries it out and answers the person with the pair's answer.
///
/// # Errors
/// It is not possible now, with the reason.
pub fn control(
    record: &RunRecord,
    pairs: &[&PairRecord],
    control: &Control,
    scene: &Scene<'_>,
) -> Result<Step<RunRecord>, Refusal> {
    controls::control(record, pairs, control, scene)
}

/// The pair that the run wanted was refused by the driver (another record took a session meanwhile).
#[must_use]
pub fn pair_refused(record: &RunRecord, refusal: &Refusal, now: Timestamp) -> Step<RunRecord> {
    review::refused(record, refusal, now)
}

/// A side's agent refuses to resume its session: the run ends `peer_error`, and its pair with it.
#[must_use]
pub fn unresumable(
    record: &RunRecord,
    pairs: &[&PairRecord],
    role: Role,
    why: &str,
    scene: &Scene<'_>,
) -> Step<RunRecord> {
    let mut draft = Draft::new(record, scene);
    if record.is_active() {
        let name = draft.name(role);
        let why = format!("{name} refuses to resume: {why}");
        steps::stop(&mut draft, pairs, RunStop::PeerError, AttemptStatus::Error, why);
    }
    draft.finish()
}

/// What it waits for (its pair's wait in `review`).
#[must_use]
pub fn wait(record: &RunRecord, pairs: &[&PairRecord], scene: &Scene<'_>) -> Wait {
    words::wait(record, pairs, scene)
}

/// Controls that are impossible now, by name, with the reason; every other one is possible.
#[must_use]
pub fn impossible(record: &RunRecord, pairs: &[&PairRecord], scene: &Scene<'_>) -> Vec<(String, String)> {
    super::orders::impossible(|control| self::control(record, pairs, control, scene).err())
}

/// The pair of a name among those of a run.
pub(super) fn find<'p>(pairs: &[&'p PairRecord], id: Option<&PairId>) -> Option<&'p PairRecord> {
    pairs.iter().copied().find(|pair| Some(&pair.id) == id)
}
