//! The preview of a relay that waits for a look, and where it is scrolled to.

use crate::model::ids::RecordKey;

/// The open preview.
#[derive(Debug)]
pub struct Look {
    /// Of which run.
    pub run: RecordKey,
    /// Its revision when the preview was opened: what the person sees.
    pub revision: u64,
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
    pub const fn new(run: RecordKey, revision: u64) -> Self {
        Self { run, revision, top: 0, height: 1, lines: 0, edited: None }
    }

    /// Scrolls.
    pub fn move_by(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by).min(self.lines.saturating_sub(self.height));
    }
}
