//! A list to choose from by typing: the palette of all actions, a picker of sessions, a small choice.

use super::action::Action;
use super::app::{Effect, Purpose};
use super::line_edit::LineEdit;

/// What choosing an item does.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// An action of the screen below.
    Act(Action),
    /// Effects.
    Do(Vec<Effect>),
    /// Begin to write.
    Write(Purpose, String),
    /// The value of a field of the form below.
    Field(&'static str, usize),
}

/// One item.
#[derive(Clone, Debug, PartialEq)]
pub struct MenuItem {
    /// What it says.
    pub words: String,
    /// A sentence about it, shown where there is room; typing finds it too.
    pub explains: String,
    /// At its right: a key, a state.
    pub right: String,
    /// Why it is impossible now.
    pub impossible: Option<String>,
    /// What it does.
    pub choice: Choice,
}

/// The open list.
#[derive(Clone, Debug, PartialEq)]
pub struct Menu {
    /// Above it.
    pub title: String,
    /// All items.
    pub items: Vec<MenuItem>,
    /// Letters filter; else `j` and `k` move.
    pub by_typing: bool,
    /// What is typed.
    pub filter: LineEdit,
    /// Selected, among those that pass.
    pub at: usize,
    /// First item in view.
    pub top: usize,
    /// From here on the items are shown only to a filter.
    pub older_from: usize,
    /// Each item shows its sentence, not only the selected one.
    pub tells_each: bool,
    /// What Enter does.
    pub does: &'static str,
    /// What stands there when nothing passes.
    pub none: &'static str,
}

impl Menu {
    /// With these items, the first selected.
    #[must_use]
    pub fn new(title: impl Into<String>, items: Vec<MenuItem>) -> Self {
        Self {
            title: title.into(),
            items,
            by_typing: true,
            filter: LineEdit::default(),
            at: 0,
            top: 0,
            older_from: usize::MAX,
            tells_each: false,
            does: "do it",
            none: "nothing holds that",
        }
    }

    /// A few items that need no filter.
    #[must_use]
    pub fn few(title: impl Into<String>, does: &'static str, items: Vec<MenuItem>) -> Self {
        Self { by_typing: false, does, ..Self::new(title, items) }
    }

    /// The items that pass the filter: each typed word must be in them.
    #[must_use]
    pub fn passing(&self) -> Vec<&MenuItem> {
        let filter = self.filter.text().to_lowercase();
        let words: Vec<&str> = filter.split_whitespace().collect();
        let shown = if words.is_empty() { self.older_from } else { usize::MAX };
        self.items
            .iter()
            .take(shown)
            .filter(|item| {
                let text = format!("{} {}", item.words, item.explains).to_lowercase();
                words.iter().all(|word| text.contains(word))
            })
            .collect()
    }

    /// Moves the cursor.
    pub fn move_by(&mut self, by: isize) {
        let last = self.passing().len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
    }

    /// What is selected.
    #[must_use]
    pub fn selected(&self) -> Option<&MenuItem> {
        self.passing().get(self.at).copied()
    }
}
