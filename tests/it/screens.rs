//! Every screen as a frame, at every class of size; what keys do to it; what no text and no size may do to it.

mod first_use;
mod forms;
mod frames;
mod glance;
mod keys;
mod layout;
mod limits;
mod lists;
mod looks;
mod needs_you;
mod newcomer;
mod overlays;
mod scenes;
mod since;
mod starting;
mod talk;

use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use trellis::projection::Projection;
use trellis::ui::app::{App, Effect, Msg};
use trellis::ui::draw;
use trellis::ui::dump;
use trellis::ui::keymap::Keymap;
use trellis::ui::theme::{Symbols, Theme};

/// A screen without a terminal, and the time it is.
pub struct Rig {
    pub app: App,
    pub now: Timestamp,
}

impl Rig {
    pub fn new(projection: Projection, size: (u16, u16)) -> Self {
        let now = scenes::now();
        let app = App::new(Arc::new(projection), Keymap::standard().unwrap(), now, TimeZone::UTC, size);
        let mut rig = Self { app, now };
        rig.send(Msg::Woken);
        rig.draw();
        rig.pass(1_000);
        rig
    }

    pub fn send(&mut self, msg: Msg) -> Vec<Effect> {
        self.app.update(msg, self.now)
    }

    /// Presses keys by name, one after another, a frame after each; gives the effects of all.
    pub fn press(&mut self, keys: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        for key in keys.split_whitespace() {
            effects.extend(self.send(Msg::Key(key.parse().unwrap())));
            self.draw();
            self.pass(500);
        }
        effects.retain(|effect| !matches!(effect, Effect::Show(_) | Effect::LookAhead(_)));
        effects
    }

    pub fn pass(&mut self, milliseconds: i64) {
        self.now += SignedDuration::from_millis(milliseconds);
        self.send(Msg::Woken);
    }

    pub fn buffer(&mut self) -> Buffer {
        let (width, height) = self.app.size;
        let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
        let _ = draw::frame(&mut self.app, &Theme::standard(false), Symbols::Unicode, &mut buffer);
        buffer
    }

    /// A frame, looked at by the person.
    pub fn draw(&mut self) -> Buffer {
        let buffer = self.buffer();
        self.app.frame_drawn();
        buffer
    }

    pub fn text(&mut self) -> String {
        dump::plain(&self.draw())
    }
}

/// The frame with its styles; a blank one is refused.
pub fn picture(rig: &mut Rig) -> String {
    let buffer = rig.draw();
    assert!(!dump::plain(&buffer).trim().is_empty(), "a blank screen");
    dump::with_styles(&buffer)
}
