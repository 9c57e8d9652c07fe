//! The person of a test: the dashboard in a window of its own, and keys in the agents' panes.

use std::time::{Duration, Instant};

use super::install;
use super::rig::Rig;

/// How long a key is given before it is pressed again: an order is refused when the run has just moved.
const BETWEEN_KEYS: Duration = Duration::from_secs(5);
/// How long a key may take to come to something.
const PATIENCE: Duration = Duration::from_mins(2);

/// The dashboard that drives this test's home. It ends with the rig.
pub struct Dashboard<'a> {
    rig: &'a Rig,
    pane: String,
}

impl<'a> Dashboard<'a> {
    /// Opens it on the newest run.
    pub fn open(rig: &'a Rig) -> Self {
        let home = rig.home().to_string_lossy().into_owned();
        let pane = rig.open_window(&[install::trellis().to_string_lossy().into_owned(), String::from("--home"), home]);
        let dashboard = Self { rig, pane };
        dashboard.until("runs", |screen| screen.contains("runs"));
        rig.press(&dashboard.pane, "Enter");
        dashboard
    }

    /// What it shows.
    pub fn screen(&self) -> String {
        self.rig.screen(&self.pane)
    }

    /// Waits for its screen.
    pub fn until(&self, what: &str, mut shows: impl FnMut(&str) -> bool) {
        self.rig.wait(what, || shows(&self.screen()));
    }

    /// Presses a key, again after a while, until something holds.
    pub fn press_until(&self, key: &str, what: &str, mut holds: impl FnMut() -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut again_at = Instant::now() + Duration::from_secs(2);
        while !holds() {
            assert!(Instant::now() < end, "{key} does not lead to {what}:\n{}", self.rig.told());
            if Instant::now() >= again_at {
                self.rig.press(&self.pane, key);
                again_at = Instant::now() + BETWEEN_KEYS;
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }

    /// Lets the loop go on.
    pub fn go_on(&self) {
        self.press_until("p", "going on", || self.rig.paused().is_none());
    }

    /// Waits until the run has completed.
    pub fn completes(&self) {
        let end = Instant::now() + Duration::from_mins(8);
        while !self.rig.records().iter().any(|record| record["stop_reason"] == "completed") {
            assert!(Instant::now() < end, "the run does not complete:\n{}", self.rig.told());
            assert_eq!(self.rig.paused(), None, "{}", self.rig.told());
            std::thread::park_timeout(Duration::from_millis(100));
        }
        // It gives up its home before anything else looks at that.
        let gone = || !self.rig.panes().contains(&self.pane);
        self.press_until("q", "the dashboard's end", gone);
    }
}
