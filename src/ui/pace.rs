//! How often a frame is drawn. What is drawn, and why it changed, is decided elsewhere.

use std::time::Duration;

use tokio::time::Instant;

/// The least time between two frames: a thirtieth of a second, rounded up.
const FRAME: Duration = Duration::from_nanos(33_333_334);

/// Whether something changed since the last frame, and when that was drawn.
#[derive(Debug)]
pub struct Pace {
    dirty: bool,
    drawn_at: Option<Instant>,
}

impl Default for Pace {
    /// Nothing was drawn yet.
    fn default() -> Self {
        Self { dirty: true, drawn_at: None }
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
        self.dirty.then(|| self.drawn_at.map_or(now, |drawn| drawn + FRAME))
    }

    /// A frame was drawn.
    pub const fn drawn(&mut self, now: Instant) {
        self.dirty = false;
        self.drawn_at = Some(now);
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
