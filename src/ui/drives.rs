//! Who drives, as far as the screen and its keys go: why an order is not given here, taking over, and how runs that nobody
//! drives look. Who drives is never decided here.

use std::sync::Arc;

use crate::model::growing::Growing;
use crate::projection::{DriverFact, Projection, RunView, Standing, wakes};

use super::action::Action;
use super::app::{App, Effect};
use super::keymap::{Keymap, Place};
use super::order::is_over;

/// What came from whoever drives, or from the disk where nobody does: there no run goes, waits or ends a limit by itself.
pub(super) fn as_driven(projection: Arc<Projection>, keymap: &Keymap) -> Arc<Projection> {
    let why = match &projection.driver {
        DriverFact::Nobody => {
            let key = key_of(keymap);
            Still {
                sentence: format!("nobody drives, {key} takes over"),
                who: "nobody drives this run".to_owned(),
                what: format!("{key} takes over, then it goes on"),
            }
        }
        silent @ DriverFact::Silent { pid, .. } => {
            let sentence = format!("{} does not answer", silent.who().unwrap_or_default());
            Still { who: sentence.clone(), sentence, what: format!("suspended, or hangs: {}", wakes(*pid)) }
        }
        DriverFact::Here | DriverFact::Starting | DriverFact::Elsewhere { .. } => return projection,
    };
    let mut projection = Arc::unwrap_or_clone(projection);
    let runs =
        projection.runs.shares().map(|run| if seems_to_go(run) { stands_still(run, &why) } else { Arc::clone(run) });
    projection.runs = Growing::of_shared(runs.collect::<Vec<_>>());
    Arc::new(projection)
}

fn seems_to_go(run: &RunView) -> bool {
    !is_over(run) && matches!(run.standing, Standing::Going | Standing::Waits | Standing::Limit)
}

/// Why no run goes on.
struct Still {
    sentence: String,
    who: String,
    what: String,
}

fn stands_still(run: &RunView, why: &Still) -> Arc<RunView> {
    let mut run = run.clone();
    run.standing = Standing::Paused;
    "not driven".clone_into(&mut run.state_word);
    run.sentence.clone_from(&why.sentence);
    run.first_wait = false;
    std::mem::take(&mut run.wait);
    run.wait.who.clone_from(&why.who);
    run.wait.what.clone_from(&why.what);
    Arc::new(run)
}

/// The key that takes over, as a person reads it.
fn key_of(keymap: &Keymap) -> String {
    keymap.key(Place::Run, Action::TakeOver).map_or_else(|| "the palette".to_owned(), |key| key.to_string())
}

impl App {
    /// Why this screen gives no orders: nobody drives, or somebody who takes none from here.
    #[must_use]
    pub fn only_looks(&self) -> Option<String> {
        match &self.projection.driver {
            DriverFact::Nobody => Some(format!("nobody drives this home: {} takes over", self.takes_over())),
            _ if self.projection.takes_orders => None,
            driver @ DriverFact::Elsewhere { background: true, .. } => {
                let who = driver.who().unwrap_or_default();
                Some(format!("{who} drives in the background: {} takes over", self.takes_over()))
            }
            driver => driver.refuses(),
        }
    }

    /// The key that takes over, as a person reads it.
    #[must_use]
    pub fn takes_over(&self) -> String {
        key_of(&self.keymap)
    }

    /// Why this process cannot be made the driver.
    pub(super) fn why_not_take_over(&self) -> Option<String> {
        match &self.projection.driver {
            DriverFact::Nobody
            | DriverFact::Elsewhere { background: true, .. }
            | DriverFact::Silent { background: true, .. } => None,
            silent @ DriverFact::Silent { .. } => silent.refuses(),
            DriverFact::Here => Some("this process drives already".to_owned()),
            DriverFact::Starting => Some("still starting: try again in a moment".to_owned()),
            driver @ DriverFact::Elsewhere { .. } => {
                let who = driver.who().unwrap_or_default();
                Some(format!("{who} drives, and somebody sits in front of it: quit it there (q) first"))
            }
        }
    }

    /// Drives from now on, where that is possible.
    pub(super) fn take_over(&mut self) -> Vec<Effect> {
        if let Some(why) = self.why_not_take_over() {
            self.refuse(why);
            return Vec::new();
        }
        self.say("takes over", false);
        vec![Effect::TakeOver]
    }
}
