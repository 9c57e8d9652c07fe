//! "Since you looked": what opens after a long silence, its keys, and what is copied of it.
//! What happened is the projection's to say.

use jiff::{SignedDuration, Timestamp};

use crate::model::ids::RecordKey;
use crate::projection::summary::Summary;
use crate::projection::{RunView, Standing};

use super::action::Action;
use super::app::{App, Effect, Over};
use super::key::Key;
use super::keymap::Place;

/// After this long without a key the next one opens what happened meanwhile.
pub const SILENCE: SignedDuration = SignedDuration::from_mins(30);

/// What happened, as it is shown.
#[derive(Debug)]
pub struct Since {
    /// What.
    pub summary: Summary,
    /// The selected run, by place.
    pub at: usize,
    /// First line in view.
    pub top: usize,
    /// The cursor moved since the last frame: its run is brought into view.
    pub moved: bool,
}

impl App {
    /// The moment of the last key, when the key that is pressed now ends a silence in which something happened.
    pub(super) fn ends_silence(&mut self) -> Option<Timestamp> {
        let before = self.looked_at;
        if self.now.duration_since(before) > SILENCE && !self.over.is_empty() {
            // What is being written goes first: the key after it opens the summary.
            return None;
        }
        self.looked_at = self.now;
        let is_long = self.now.duration_since(before) > SILENCE;
        (is_long && self.projection.runs.iter().any(|run| happened(run, before))).then_some(before)
    }

    /// Shows what happened, unless that is nothing.
    pub fn open_summary(&mut self, summary: Summary) {
        if summary.is_empty() || self.over.iter().any(|over| matches!(over, Over::Since(_))) {
            return;
        }
        self.over.push(Over::Since(Box::new(Since { summary, at: 0, top: 0, moved: false })));
    }

    /// Keys of it.
    pub fn since_key(&mut self, key: Key) -> Vec<Effect> {
        let action = self.keymap.action(Place::Summary, key);
        let page = usize::from(self.size.1.saturating_sub(4)).max(1);
        let zone = self.zone.clone();
        let Some(Over::Since(since)) = self.over.last_mut() else { return Vec::new() };
        match action {
            Some(Action::Open) => {
                let run: Option<RecordKey> = since.summary.runs.get(since.at).map(|run| run.key.clone());
                self.over.pop();
                if let Some(key) = run.filter(|key| self.run(key).is_some()) {
                    self.open_run(&key);
                }
            }
            Some(Action::Back) => {
                self.over.pop();
            }
            Some(Action::Copy) => {
                let text = since.summary.markdown(&zone);
                return vec![Effect::Copy { text, what: "the summary as Markdown".to_owned() }];
            }
            Some(Action::Down) if since.at + 1 < since.summary.runs.len() => {
                since.at += 1;
                since.moved = true;
            }
            Some(Action::Up) if since.at > 0 => {
                since.at -= 1;
                since.moved = true;
            }
            Some(Action::Down) => since.top += 1,
            Some(Action::Up) => since.top = since.top.saturating_sub(1),
            Some(Action::PageDown) => since.top += page,
            Some(Action::PageUp) => since.top = since.top.saturating_sub(page),
            Some(Action::First) => since.top = 0,
            Some(Action::Last) => since.top = usize::MAX / 2,
            _ => {}
        }
        Vec::new()
    }
}

/// Whether something happened in a run after a time, as far as its row tells.
fn happened(run: &RunView, since: Timestamp) -> bool {
    let after = |at: Option<Timestamp>| at.is_some_and(|at| at > since);
    run.created_at > since
        || after(run.stopped_at)
        || run.standing == Standing::NeedsYou && run.since > since
        || run.phases.iter().any(|phase| after(phase.ended_at))
        || run.relay_list.iter().any(|relay| after(relay.seen_at))
}
