//! Notes for the first days: one at a time below the list of runs, put away for ever by the action `hide-note`.

use serde_json::Value;

use crate::projection::{DriverFact, Standing};

use super::app::{App, Effect};

/// The name under which the notes that were put away are remembered.
pub const DISMISSED: &str = "dismissed";

/// Each note's name and words, in the order in which they come.
const NOTES: [(&str, &str); 2] = [
    ("driving", "Runs go on while trellis runs. To leave them going without it: q, then b."),
    ("told", "trellis notify --test shows how you are told when a run needs you."),
];

impl App {
    fn dismissed(&self) -> Vec<String> {
        let kept = self.memory.get(DISMISSED).and_then(Value::as_array);
        kept.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The note to show now: its name and its words. There is one only where a run goes that this process drives.
    #[must_use]
    pub fn note(&self) -> Option<(&'static str, &'static str)> {
        let goes = self.projection.runs.iter().any(|run| matches!(run.standing, Standing::Going | Standing::Waits));
        if !self.has_notes || !goes || self.projection.driver != DriverFact::Here {
            return None;
        }
        let dismissed = self.dismissed();
        let tried = self.memory.get(super::ahead::TRIED).and_then(Value::as_bool).unwrap_or(false);
        let is_done = |name: &str| (name == "told" && tried) || dismissed.iter().any(|known| known == name);
        NOTES.into_iter().find(|(name, _)| !is_done(name))
    }

    /// Puts the note away for ever.
    pub(super) fn hide_note(&mut self) -> Vec<Effect> {
        let Some((name, _)) = self.note() else {
            self.say("there is no note", false);
            return Vec::new();
        };
        let mut dismissed = self.dismissed();
        dismissed.push(name.to_owned());
        vec![Effect::Remember(DISMISSED, dismissed.into())]
    }
}
