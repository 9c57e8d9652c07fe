//! Runs of a home that nobody drives: they stand still whatever their records say, and the key that takes them over.
//! Who drives is found out elsewhere.

use std::sync::Arc;

use crate::projection::{DriverFact, Projection, RunView, Standing};

use super::action::Action;
use super::app::App;
use super::keymap::{Keymap, Place};
use super::order::is_over;

/// The state word of such a run.
const WORD: &str = "not driven";

/// What came from the driver, or from the disk where nobody drives: then no run goes, waits or ends a limit by itself.
pub(super) fn as_driven(projection: Arc<Projection>, keymap: &Keymap) -> Arc<Projection> {
    if projection.driver != DriverFact::Nobody {
        return projection;
    }
    let key = key_of(keymap);
    let mut projection = Arc::unwrap_or_clone(projection);
    for run in projection.runs.iter_mut().filter(|run| !is_over(run)) {
        if matches!(run.standing, Standing::Going | Standing::Waits | Standing::Limit) {
            run.standing = Standing::Paused;
            WORD.clone_into(&mut run.state_word);
            run.sentence = format!("nobody drives, {key} goes on");
            run.first_wait = false;
            std::mem::take(&mut run.wait);
            "nobody drives this run".clone_into(&mut run.wait.who);
            run.wait.what = format!("{key} takes over, then it goes on");
        }
    }
    Arc::new(projection)
}

/// The key that takes over, as a person reads it.
fn key_of(keymap: &Keymap) -> String {
    keymap.key(Place::Run, Action::PauseOrGoOn).map_or_else(|| "your first order".to_owned(), |key| key.to_string())
}

impl App {
    /// Whether a run stands still for no other reason than that nobody drives it.
    pub(super) fn is_undriven(&self, run: &RunView) -> bool {
        self.projection.driver == DriverFact::Nobody && run.standing == Standing::Paused && run.state_word == WORD
    }

    /// The key that takes over, as a person reads it.
    #[must_use]
    pub fn takes_over(&self) -> String {
        key_of(&self.keymap)
    }
}
