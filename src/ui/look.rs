//! The preview of a relay that waits for a look, and where it is scrolled to.

use std::sync::Arc;

use super::app::{App, Over, Purpose};
use crate::model::ids::RecordKey;
use crate::projection::{LookFirst, RunView};

/// The open preview.
#[derive(Debug)]
pub struct Look {
    /// Of which run.
    pub run: RecordKey,
    /// Its revision when this relay was last drawn: what the person sees.
    pub revision: u64,
    /// Number and text of the relay it was opened for.
    relay: (u32, Arc<str>),
    /// First line in view.
    pub top: usize,
    /// Lines in view, as last drawn.
    pub height: usize,
    /// Lines in all, as last drawn.
    pub lines: usize,
    /// The text as a person changed it.
    pub edited: Option<String>,
}

impl Look {
    /// At its beginning.
    #[must_use]
    pub fn new(run: &RunView, relay: &LookFirst) -> Self {
        Self {
            run: run.key.clone(),
            revision: run.revision,
            relay: (relay.n, Arc::clone(&relay.text)),
            top: 0,
            height: 1,
            lines: 0,
            edited: None,
        }
    }

    /// Goes along with the run while it is the same relay that waits; of another one it keeps the old revision, so that an
    /// order given for what was shown is refused.
    fn follow(&mut self, run: &RunView) {
        if self.still_waits(run) {
            self.revision = run.revision;
        }
    }

    fn still_waits(&self, run: &RunView) -> bool {
        run.look_first.as_ref().is_some_and(|relay| (relay.n, &relay.text) == (self.relay.0, &self.relay.1))
    }

    /// Scrolls.
    pub fn move_by(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by).min(self.lines.saturating_sub(self.height));
    }
}

impl App {
    /// After a frame: a preview, and what is written over it, name the run as that frame showed it.
    pub(super) fn follow_looks(&mut self) {
        let projection = Arc::clone(&self.projection);
        // Another relay is not shown in the place of the one that was opened, unless words of the person's would be lost.
        let is_stale = |look: &Look| {
            look.edited.is_none() && projection.runs.iter().any(|run| run.key == look.run && !look.still_waits(run))
        };
        if matches!(self.over.last(), Some(Over::Look(look)) if is_stale(look)) {
            self.over.pop();
        }
        let mut open: Option<(RecordKey, u64)> = None;
        for over in &mut self.over {
            match over {
                Over::Look(look) => {
                    if let Some(run) = projection.runs.iter().find(|run| run.key == look.run) {
                        look.follow(run);
                    }
                    open = Some((look.run.clone(), look.revision));
                }
                Over::Editor(writing) => {
                    if let (Purpose::Relay { run, revision }, Some((of, seen))) = (&mut writing.purpose, &open)
                        && run == of
                    {
                        *revision = *seen;
                    }
                }
                _ => {}
            }
        }
    }
}
