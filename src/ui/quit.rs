//! Leaving the dashboard: when it asks, what it asks, and the driver in the background that may stay behind. What an
//! answer does is in `reply`.

use crate::config::OnQuit;
use crate::projection::{DriverFact, Standing};

use super::app::{Answer, App, Effect, Exit, Over, Question};
use super::key::Key;
use super::order::is_over;

impl App {
    /// Leaves, or asks first: with a run going as `on_quit` says, and where a text that is being written would be lost.
    pub(super) fn quit(&mut self, key: Option<Key>) -> Vec<Effect> {
        let driven = matches!(self.projection.driver, DriverFact::Here | DriverFact::Starting);
        let going = self.projection.runs.iter().filter(|run| {
            !is_over(run) && run.read_only.is_none() && !matches!(run.standing, Standing::Paused | Standing::NeedsYou)
        });
        let going = if driven { going.count() } else { 0 };
        let is_changed = |over: &Over| matches!(over, Over::Editor(writing) if writing.editor.is_changed());
        let written = self.over.iter().any(is_changed);
        let key = key.unwrap_or(Key::char('q'));
        match self.on_quit {
            _ if going == 0 && !written => return vec![Effect::Quit(Exit::Quit)],
            OnQuit::Quit if !written => return vec![Effect::Quit(Exit::Quit)],
            OnQuit::Background if !written => return self.go_on(),
            _ => {}
        }
        let lost = if written { "what you wrote is not sent and will not be kept; " } else { "" };
        let (runs, they, wait) = if going == 1 { ("run is", "it", "waits") } else { ("runs are", "they", "wait") };
        let words = if going == 0 {
            format!("{lost}{key} quit · Esc stay")
        } else {
            format!(
                "{lost}{going} {runs} going: {key} quit, {they} {wait} for the next start · b go on in the background · \
                 Esc stay"
            )
        };
        self.over.push(Over::Question(Question { words, key: Some(key), yes: Answer::Leave }));
        Vec::new()
    }

    /// Hands the home to a driver in the background.
    pub fn go_on(&mut self) -> Vec<Effect> {
        if self.handing {
            self.say("a driver in the background is being started already", false);
            return Vec::new();
        }
        self.handing = true;
        self.say("starts a driver in the background", false);
        vec![Effect::GoOn]
    }
}
