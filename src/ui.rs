//! The screen: keys in, commands out; a projection in, a frame out. Knows no machine, store, transport or transcript file.
//!
//! `shell` is the loop and `terminal` and `input` are its edges; everything else is pure: `app` is the state, `update`
//! and the files beside it change it, `draw` turns it into cells.

pub mod action;
pub mod ahead;
pub mod app;
pub mod change;
pub mod compare;
mod copies;
pub mod draw;
mod drives;
pub mod dump;
pub mod editor;
mod elsewhere;
pub mod engine;
pub mod form;
pub mod forms;
pub mod input;
mod jump;
pub mod key;
pub mod keymap;
pub mod layout;
pub mod line_edit;
pub mod list;
pub mod look;
pub mod markdown;
pub mod meaning;
pub mod menu;
pub mod notes;
pub mod order;
pub mod order_keys;
mod outside;
pub mod overlay;
mod pace;
pub mod paint;
pub mod parting;
mod quit;
mod reply;
pub mod row;
pub mod sanitise;
pub mod scroll;
pub mod search;
mod seen;
pub mod shell;
pub mod since;
pub mod start_form;
pub mod talk;
pub mod terminal;
pub mod theme;
pub mod times;
pub mod update;
pub mod width;
pub mod wrap;

use std::sync::Arc;

use jiff::SignedDuration;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::model::ids::RecordKey;
use crate::projection::Projection;

use self::key::Key;

pub use crate::projection::Shown;
pub use app::{Exit, Nearby, Tmux};
pub use engine::{Engine, Forgetful, Memory};
pub use shell::{Fresh, LOOKED_AT, Outside, Settings, run};

/// A screen that can be drawn once, without a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Still {
    /// The list of runs.
    Runs,
    /// One run; `None`: the newest.
    Run(Option<RecordKey>),
    /// The list of sessions.
    Sessions,
    /// The log.
    Log,
    /// The keys of the list of runs.
    Help,
}

impl Still {
    /// Which conversation the projection has to hold for it, at this size.
    ///
    /// # Errors
    /// As [`still`].
    pub fn shows(
        &self,
        keys: &[Key],
        size: (u16, u16),
        projection: &Arc<Projection>,
        now: Timestamp,
    ) -> Result<Option<Shown>, String> {
        posed(self, keys, size, projection, now, TimeZone::UTC).map(|app| app.wants_shown())
    }
}

/// The run that was created last.
fn newest(projection: &Projection) -> Option<RecordKey> {
    projection.runs.iter().max_by_key(|run| run.created_at).map(|run| run.key.clone())
}

/// One frame of a screen, after some keys, in the colours of the default theme. What the keys order is not done.
///
/// # Errors
/// When the keymap that comes with the program does not read.
pub fn still(
    screen: &Still,
    keys: &[Key],
    size: (u16, u16),
    projection: &Arc<Projection>,
    now: Timestamp,
    zone: TimeZone,
) -> Result<Buffer, String> {
    let mut app = posed(screen, keys, size, projection, now, zone)?;
    let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width: size.0, height: size.1 });
    let theme = theme::Theme::standard(false);
    let _ = draw::frame(&mut app, &theme, theme::Symbols::Unicode, &mut buffer);
    Ok(buffer)
}

/// The screens with this one in front.
fn posed(
    screen: &Still,
    keys: &[Key],
    size: (u16, u16),
    projection: &Arc<Projection>,
    now: Timestamp,
    zone: TimeZone,
) -> Result<app::App, String> {
    let mut app = app::App::new(Arc::clone(projection), keymap::Keymap::standard()?, now, zone, size);
    match screen {
        Still::Runs => {}
        Still::Run(key) => {
            if let Some(key) = key.clone().or_else(|| newest(projection)) {
                app.trail = vec![app::Screen::Runs, app::Screen::Run(key)];
            }
        }
        Still::Sessions => app.trail = vec![app::Screen::Runs, app::Screen::Sessions],
        Still::Log => app.trail = vec![app::Screen::Runs, app::Screen::Log(None)],
        Still::Help => {
            let _ = app.act(action::Action::Help, None);
        }
    }
    let _ = app.update(app::Msg::Woken, now);
    let mut at = now;
    for key in keys {
        // Each meets a frame that was in view long enough for it to count.
        let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width: size.0, height: size.1 });
        let _ = draw::frame(&mut app, &theme::Theme::standard(false), theme::Symbols::Unicode, &mut buffer);
        app.frame_drawn();
        at += SignedDuration::from_millis(500);
        let _ = app.update(app::Msg::Woken, at);
        let _ = app.update(app::Msg::Key(*key), at);
    }
    Ok(app)
}

/// How a frame is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// As text: at most as many lines and columns as its size says, no escape sequence.
    Text,
    /// As an SVG picture.
    Picture,
}

/// One frame, written.
///
/// # Errors
/// As [`still`].
pub fn dump(
    paper: Paper,
    screen: &Still,
    keys: &[Key],
    size: (u16, u16),
    projection: &Arc<Projection>,
    now: Timestamp,
    zone: TimeZone,
) -> Result<String, String> {
    let buffer = still(screen, keys, size, projection, now, zone)?;
    Ok(match paper {
        Paper::Text => dump::plain(&buffer),
        Paper::Picture => dump::svg(&buffer, "trellis"),
    })
}
