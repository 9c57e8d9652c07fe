//! How often a frame is drawn. What is drawn, and why it changed, is decided elsewhere.

use std::time::Duration;

use tokio::time::Instant;

/// The least time between two frames, of which one may come early after a rest: with it at most thirty in any second.
const FRAME: Duration = Duration::from_nanos(34_482_759);

/// Whether something changed since the last frame, and when that was drawn.
#[derive(Debug)]
pub struct Pace {
    dirty: bool,
    /// When a frame may be drawn. A frame sets it on by [`FRAME`], from no earlier than one such time ago: after a rest two
    /// frames may follow each other at once, so that a change that nobody waits for holds up none that somebody does.
    free_at: Option<Instant>,
}

impl Default for Pace {
    /// Nothing was drawn yet.
    fn default() -> Self {
        Self { dirty: true, free_at: None }
    }
}

impl Pace {
    /// Something visible may have changed.
    pub const fn changed(&mut self) {
        self.dirty = true;
    }

    /// When the next frame is due; `None`: nothing changed.
    #[must_use]
    pub fn due(&self, now: Instant) -> Option<Instant> {
        self.dirty.then(|| self.free_at.unwrap_or(now))
    }

    /// A frame was drawn.
    pub fn drawn(&mut self, now: Instant) {
        self.dirty = false;
        let rested = now.checked_sub(FRAME).unwrap_or(now);
        self.free_at = Some(self.free_at.map_or(rested, |free| free.max(rested)) + FRAME);
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
