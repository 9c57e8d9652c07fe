//! The preview of a relay that waits for a look: bound to that relay, never to the one after it; and its keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::command::{Confirm, Control};
use crate::model::ids::{RecordKey, Role};
use crate::projection::{LookFirst, RunView};

use super::action::Action;
use super::app::{Answer, App, Effect, Over, Purpose, Question, Writing};
use super::editor::Editor;
use super::key::Key;
use super::keymap::Place;
use super::order_keys::send;

/// The name under which edits of waiting relays are remembered.
pub const EDITS: &str = "edits";

/// The open preview.
#[derive(Debug)]
pub struct Look {
    /// Of which run.
    pub run: RecordKey,
    /// Source and text of the relay it was opened on.
    relay: (String, Arc<str>),
    /// The run's revision in the last frame that showed this relay: what the person saw.
    pub revision: u64,
    /// An order is on its way.
    pub waits: bool,
    /// First line in view.
    pub top: usize,
    /// Lines in view, as last drawn.
    pub height: usize,
    /// Lines in all, as last drawn.
    pub lines: usize,
}

/// The text of a waiting relay as a person changed it. It outlives the preview and the screen, and goes with its relay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptEdit {
    /// Of which run.
    run: RecordKey,
    /// Source and text of the relay it was made of.
    relay: (String, Arc<str>),
    /// The text as it would be sent.
    text: String,
}

impl Look {
    /// At its beginning.
    #[must_use]
    pub fn new(run: &RunView, relay: &LookFirst) -> Self {
        Self {
            run: run.key.clone(),
            relay: (relay.source.clone(), Arc::clone(&relay.text)),
            revision: run.revision,
            waits: false,
            top: 0,
            height: 1,
            lines: 0,
        }
    }

    /// Whether the relay it was opened on is the one that waits in this run.
    #[must_use]
    pub fn is_of(&self, run: &RunView) -> bool {
        waits_in(run, &self.run, &self.relay)
    }

    /// Scrolls.
    pub fn move_by(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by).min(self.lines.saturating_sub(self.height));
    }
}

/// Whether a relay, by its source and text, is the one that waits in a run.
fn waits_in(run: &RunView, of: &RecordKey, (source, text): &(String, Arc<str>)) -> bool {
    let is_it = |waiting: &LookFirst| waiting.source == *source && waiting.text == *text;
    run.key == *of && run.look_first.as_ref().is_some_and(is_it)
}

impl App {
    /// The text of a run's waiting relay as the person changed it, if they did.
    #[must_use]
    pub fn edit_of(&self, run: &RunView) -> Option<&str> {
        let kept = self.edits.iter().find(|edit| waits_in(run, &edit.run, &edit.relay));
        kept.map(|edit| edit.text.as_str())
    }

    /// Keeps what the person made of the relay of the open preview; its own text again is no edit.
    pub(super) fn keep_edit(&mut self, text: String) -> Option<Effect> {
        let Some(Over::Look(look)) = self.over.last() else { return None };
        let (run, relay) = (look.run.clone(), look.relay.clone());
        let before = self.edits.clone();
        self.edits.retain(|edit| edit.run != run);
        if *text != *relay.1 {
            self.edits.push(KeptEdit { run, relay, text });
        }
        self.remember_edits(&before)
    }

    /// An edit goes with its relay: when that was sent or dropped, or the run is gone.
    pub(super) fn drop_edits(&mut self) -> Option<Effect> {
        let projection = Arc::clone(&self.projection);
        // Before the home was read nothing waits anywhere.
        projection.at?;
        let before = self.edits.clone();
        self.edits.retain(|edit| projection.runs.iter().any(|run| waits_in(run, &edit.run, &edit.relay)));
        self.remember_edits(&before)
    }

    /// What was remembered when the screen was left.
    pub fn recall(&mut self, memory: BTreeMap<String, Value>) {
        let kept = memory.get(EDITS).and_then(|edits| serde_json::from_value(edits.clone()).ok());
        self.edits = kept.unwrap_or_default();
        self.memory = memory;
    }

    /// Keeps the edits for the next start, where they are others than before.
    fn remember_edits(&self, before: &[KeptEdit]) -> Option<Effect> {
        let edits = serde_json::to_value(&self.edits).ok().filter(|_| self.edits != before)?;
        Some(Effect::Remember(EDITS, edits))
    }

    /// After a frame: a preview names its run as that frame showed it, while its relay is the one that waits. Of another
    /// one it keeps the old revision.
    pub(super) fn follow_looks(&mut self) {
        for over in &mut self.over {
            if let Over::Look(look) = over
                && let Some(run) = self.projection.runs.iter().find(|run| look.is_of(run))
            {
                look.revision = run.revision;
            }
        }
    }

    /// The revision at which the relay of the open preview was seen to wait.
    pub(super) fn look_revision(&self, run: &RecordKey) -> Option<u64> {
        let seen = self.run_as_seen(run)?;
        self.over.iter().find_map(|over| match over {
            Over::Look(look) if look.is_of(seen) => Some(look.revision),
            _ => None,
        })
    }

    /// Keys of the preview of a relay.
    pub fn look_key(&mut self, key: Key) -> Vec<Effect> {
        let Some(action) = self.keymap.action(Place::LookFirst, key) else { return Vec::new() };
        let Some(Over::Look(look)) = self.over.last_mut() else { return Vec::new() };
        let page = isize::try_from(look.height.saturating_sub(1).max(1)).unwrap_or(1);
        match action {
            Action::Down => look.move_by(1),
            Action::Up => look.move_by(-1),
            Action::PageDown => look.move_by(page),
            Action::PageUp => look.move_by(-page),
            Action::First => look.top = 0,
            Action::Last => look.move_by(isize::MAX),
            Action::Back => {
                self.over.pop();
            }
            _ => return self.look_order(action, key),
        }
        Vec::new()
    }

    fn look_order(&mut self, action: Action, key: Key) -> Vec<Effect> {
        let Some(Over::Look(look)) = self.over.last() else { return Vec::new() };
        let (target, revision, waits) = (look.run.clone(), look.revision, look.waits);
        let Some(run) = self.run_as_seen(&target).cloned() else { return Vec::new() };
        let edited = self.edit_of(&run).map(str::to_owned);
        let waiting = run.look_first.clone().filter(|_| look.is_of(&run));
        match action {
            Action::Help => return self.act(Action::Help, Some(key)),
            Action::GoToPane => {
                let side = waiting.map_or_else(|| super::meaning::at_work(&run), |waiting| waiting.to);
                let view = if side == Role::Implementer { &run.implementer } else { &run.reviewer };
                return self.go_to_pane(view.session.key(), view.transport, &view.label, &view.place);
            }
            Action::Stop => return self.order_key(Action::Stop, Some(key)),
            _ if waits => return Vec::new(),
            _ => {}
        }
        let Some(waiting) = waiting else {
            // The relay it was opened on is gone: nothing can be sent from here, and one key less is needed.
            if action == Action::Open {
                self.over.pop();
                self.pane = None;
            } else {
                self.refuse("this relay is no longer waiting: Esc goes back");
            }
            return Vec::new();
        };
        if let Some(why) = self.only_looks().filter(|_| action != Action::Copy) {
            self.refuse(why);
            return Vec::new();
        }
        let text = edited.clone().unwrap_or_else(|| waiting.text.to_string());
        match action {
            Action::Open => {
                // The key that opens a preview is the one that sends from it: a press too many never sends.
                let to = if waiting.to == Role::Implementer { &run.implementer } else { &run.reviewer };
                let how = if edited.is_some() { " as you edited it" } else { "" };
                let words = format!("send relay {} to {}{how}?  y yes · any other key no", waiting.n, to.label);
                let order = send(&target, revision, Control::Confirm(Confirm::Send { edited_text: edited }));
                self.over.push(Over::Question(Question { words, key: Some(key), yes: Answer::Do(vec![order]) }));
            }
            Action::Drop => {
                let words = "drop this message? It is not sent, now or later.  y yes · any other key no".to_owned();
                let yes = Answer::Do(vec![send(&target, revision, Control::Confirm(Confirm::Drop))]);
                self.over.push(Over::Question(Question { words, key: Some(key), yes }));
            }
            Action::Edit => {
                let mut editor = Editor::new(&waiting.text);
                editor.replace(&text);
                let title = format!("relay {} as it will be sent", waiting.n);
                let purpose = Purpose::Relay { run: target };
                let editor = editor.at_start();
                self.over.push(Over::Editor(Box::new(Writing { editor, purpose, title, waits: false, problem: None })));
            }
            Action::Outside => return vec![Effect::EditOutside(text)],
            Action::Copy => return self.copied(text, format!("relay {}", waiting.n)),
            _ => {}
        }
        Vec::new()
    }
}
