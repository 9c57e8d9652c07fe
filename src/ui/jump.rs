//! Through a conversation by its parts: phases and relays of a run, turns of a session. Where a view stands is in `scroll`.

use super::app::{App, Pane, Screen};
use crate::projection::{ThreadEntry, ThreadKind};

impl App {
    pub(super) fn jump_part(&mut self, forward: bool) {
        let in_session = matches!(self.screen(), Screen::Session(_));
        let begins_part = |entry: &ThreadEntry| match entry.kind {
            ThreadKind::Human { .. } | ThreadKind::Carried { .. } => in_session,
            ThreadKind::Phase { .. } => !in_session,
            _ => false,
        };
        let times = self.times();
        self.pane = Some(Pane::Talk);
        if !self.talk.jump(forward, begins_part, &times) && forward {
            self.talk.follow();
        }
    }

    pub(super) fn jump_relay(&mut self, forward: bool) {
        let times = self.times();
        self.pane = Some(Pane::Talk);
        self.talk.jump(forward, |entry| matches!(entry.kind, ThreadKind::Relay { .. }), &times);
    }
}
