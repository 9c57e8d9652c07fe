//! Who drives, as far as keys go: why an order is not given here, and taking over. Who drives is never decided here.

use crate::projection::DriverFact;

use super::action::Action;
use super::app::{App, Effect};

impl App {
    /// Why this screen gives no orders: nobody drives, or somebody who takes none from here.
    #[must_use]
    pub fn only_looks(&self) -> Option<String> {
        match &self.projection.driver {
            DriverFact::Nobody => {
                let key = self.keymap.key(self.screen_place(), Action::TakeOver);
                let takes_over = key.map_or_else(|| "take over first".to_owned(), |key| format!("{key} takes over"));
                Some(format!("nobody drives this home: {takes_over}"))
            }
            driver => driver.refuses().filter(|_| !self.projection.takes_orders),
        }
    }

    /// Why this process cannot be made the driver.
    pub(super) fn why_not_take_over(&self) -> Option<String> {
        match &self.projection.driver {
            DriverFact::Nobody | DriverFact::Elsewhere { background: true, .. } => None,
            DriverFact::Here => Some("this process drives already".to_owned()),
            DriverFact::Starting => Some("still starting: try again in a moment".to_owned()),
            DriverFact::Elsewhere { pid, .. } => {
                let who = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
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
