//! What the person has seen: the projection of the last frame, and since when a banner is in view.

use std::sync::Arc;

use crate::projection::{Banner, RunView};

use super::app::{App, BANNER_GRACE};

impl App {
    /// After a frame was drawn: what the person sees from now on.
    pub fn frame_drawn(&mut self) {
        self.seen = Arc::clone(&self.projection);
        self.cursor_lost = false;
        self.follow_looks();
        self.read_what_is_shown();
        let now = self.now;
        let in_view = self.target().and_then(|key| {
            let run = self.run(&key)?;
            Some((key, banner_mark(run)?))
        });
        self.banner_seen = match (in_view, self.banner_seen.take()) {
            (Some((key, mark)), Some((old_key, old_mark, since))) if key == old_key && mark == old_mark => {
                Some((key, mark, since))
            }
            (Some((key, mark)), _) => Some((key, mark, now)),
            (None, _) => None,
        };
    }

    /// Whether the keys of a run's banner count already. A run without one is not held up.
    #[must_use]
    pub fn banner_counts(&self, run: &RunView) -> bool {
        let Some(mark) = banner_mark(run) else { return true };
        self.banner_seen.as_ref().is_some_and(|(key, seen, since)| {
            *key == run.key && *seen == mark && self.now.duration_since(*since) >= BANNER_GRACE
        })
    }
}

/// What tells one banner of a run from the next.
fn banner_mark(run: &RunView) -> Option<String> {
    let headline = match (&run.banner, &run.look_first) {
        (Some(Banner { headline, .. }), _) => headline.clone(),
        (None, Some(look)) => format!("look first {}", look.n),
        (None, None) => return None,
    };
    Some(format!("{headline}@{}", run.since))
}
