//! The order of a send into a pane: check, paste, look, check, Enter. It stops at the first thing that is not as it was.
//! Never a Ctrl-C, an Esc or a stash; never Enter on a text that is not ours.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use jiff::SignedDuration;

use super::input_box::{self, Box};
use super::{Pane, Pressed, drawn};
use crate::clock;
use crate::machine::wire;
use crate::model::ids::{Agent, EntryId};
use crate::model::reach::{InputBox, SendReport};

/// Codex takes an Enter within about 120 ms of a paste for a line feed.
const BEFORE_ENTER: Duration = Duration::from_millis(200);
/// How often the box is looked at while the agent draws what was pasted, and for how long: agents that show nothing
/// for 8 s were seen.
const DRAWING: Duration = Duration::from_millis(15);
const DRAWN_WITHIN: SignedDuration = SignedDuration::from_secs(20);
/// How often copy mode is left within one send: a person who scrolls again and again is not fought.
const SCROLLS: u32 = 5;

/// The moment of a check that tmux cannot make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Nothing of the message stands in the box: the agent must be free.
    BeforeTheFirst,
    /// Something of the message stands in the box.
    BeforeAnother,
}

/// One send into a pane.
pub struct Typing<'a> {
    /// The pane as it was found.
    pub pane: &'a Pane,
    /// The agent in it.
    pub agent: Agent,
    /// The message that is sent.
    pub entry: &'a EntryId,
    /// Looks whether the agent still lives and has no dialog open; an error says what is missing.
    pub check: &'a dyn Fn(Moment) -> Result<(), String>,
}

/// How far a send came.
struct Progress {
    typed: String,
    report: SendReport,
    scrolls: u32,
    box_known: bool,
}

impl Typing<'_> {
    /// Types a message and presses Enter. `blind`: it may go out although the box cannot be read.
    #[must_use]
    pub fn send(&self, pastes: &[String], blind: bool) -> SendReport {
        let mut progress = Progress::new();
        let outcome = self.run(pastes, blind, &mut progress);
        progress.end(outcome)
    }

    /// Presses Enter on a text that already stands in the box. `typed`: this program typed it and saw it stand there.
    #[must_use]
    pub fn enter_alone(&self, text: &str, typed: bool) -> SendReport {
        let mut progress = Progress::new();
        let outcome = self.run_enter(text, typed, &mut progress);
        progress.end(outcome)
    }

    fn run(&self, pastes: &[String], blind: bool, progress: &mut Progress) -> Result<(), String> {
        self.make_ready(progress)?;
        (self.check)(Moment::BeforeTheFirst)?;
        if let Some(why) = input_box::too_low(self.agent, self.pane.height).filter(|_| !blind) {
            return Err(why);
        }
        progress.box_known = match self.look(None, false)? {
            InputBox::Empty => true,
            InputBox::Unknown if blind => false,
            InputBox::Unknown => return Err(input_box::unreadable(self.agent, self.pane.height)),
            InputBox::Ours | InputBox::Other | InputBox::Command => {
                return Err(format!("unsent text in {}'s input box", self.agent));
            }
        };
        for (at, piece) in pastes.iter().enumerate() {
            if at > 0 {
                (self.check)(Moment::BeforeAnother)?;
            }
            self.paste(piece, progress)?;
            self.wait_until_drawn(progress)?;
        }
        thread::sleep(BEFORE_ENTER);
        (self.check)(Moment::BeforeAnother)?;
        self.press_enter(progress)
    }

    fn run_enter(&self, text: &str, typed: bool, progress: &mut Progress) -> Result<(), String> {
        self.make_ready(progress)?;
        (self.check)(Moment::BeforeTheFirst)?;
        match self.look(Some(text), typed)? {
            InputBox::Ours => self.press_enter(progress),
            InputBox::Empty => Err(format!("{}'s input box is empty", self.agent)),
            InputBox::Other | InputBox::Command => {
                Err(format!("{}'s input box does not hold exactly our text", self.agent))
            }
            InputBox::Unknown => Err(input_box::unreadable(self.agent, self.pane.height)),
        }
    }

    /// The pane is the one that was found and takes keys; copy mode is left.
    fn make_ready(&self, progress: &mut Progress) -> Result<(), String> {
        let now = self.pane.server.pane(&self.pane.id)?;
        if !now.same_as(self.pane) {
            return Err(format!("pane {} is not the one it was", self.pane.id.as_str()));
        }
        if let Some(why) = now.refuses() {
            return Err(why.to_owned());
        }
        if now.is_in_foreign_mode() {
            return Err(String::from("a tmux chooser is open in its pane"));
        }
        if now.mode.is_some() { self.leave_copy_mode(progress) } else { Ok(()) }
    }

    fn leave_copy_mode(&self, progress: &mut Progress) -> Result<(), String> {
        progress.scrolls += 1;
        if progress.scrolls > SCROLLS {
            return Err(String::from("its pane is in copy mode again and again"));
        }
        self.pane.leave_copy_mode()
    }

    fn look(&self, ours: Option<&str>, typed: bool) -> Result<InputBox, String> {
        Ok(input_box::read(self.agent, &self.pane.server.capture(&self.pane.id)?, ours, typed))
    }

    fn paste(&self, piece: &str, progress: &mut Progress) -> Result<(), String> {
        let buffer = unique_buffer();
        loop {
            match self.pane.paste(&buffer, piece)? {
                Pressed::Done => break,
                Pressed::Scrolled => self.leave_copy_mode(progress)?,
                Pressed::Refused => return Err(self.refused()),
            }
        }
        progress.typed.push_str(piece);
        progress.report.last_key_at = Some(clock::now());
        Ok(())
    }

    /// Waits until the box shows all that was typed. Before that nothing more is typed: what an agent has not taken yet
    /// would reach whatever reads its terminal after it.
    fn wait_until_drawn(&self, progress: &Progress) -> Result<(), String> {
        // Of blank lines alone nothing is seen.
        if !progress.box_known || wire::is_nothing(&progress.typed) {
            thread::sleep(BEFORE_ENTER);
            return Ok(());
        }
        let begun = clock::now();
        while clock::now().duration_since(begun) < DRAWN_WITHIN {
            let captured = self.pane.server.capture(&self.pane.id)?;
            if input_box::read(self.agent, &captured, Some(&progress.typed), true) == InputBox::Ours {
                return Ok(());
            }
            let moment = match input_box::find(self.agent, &captured) {
                Box::Text(shown) | Box::Cut(shown) if !drawn::shows_beginning(&shown, &progress.typed) => {
                    return Err(format!("{}'s input box was changed while trellis typed", self.agent));
                }
                // Not drawn yet; or taken already, as a message of its own.
                Box::Empty => Moment::BeforeTheFirst,
                Box::Text(_) | Box::End(_) | Box::Cut(_) | Box::Unknown => Moment::BeforeAnother,
            };
            (self.check)(moment)?;
            thread::sleep(DRAWING);
        }
        Err(format!("{}'s input box does not show what was typed", self.agent))
    }

    fn press_enter(&self, progress: &mut Progress) -> Result<(), String> {
        loop {
            match self.pane.enter(self.entry)? {
                Pressed::Done => break,
                Pressed::Scrolled => self.leave_copy_mode(progress)?,
                Pressed::Refused => return Err(self.refused()),
            }
        }
        progress.report.last_key_at = Some(clock::now());
        progress.report.entered = true;
        Ok(())
    }

    fn refused(&self) -> String {
        format!("pane {} changed while trellis typed", self.pane.id.as_str())
    }
}

impl Progress {
    fn new() -> Self {
        let report = SendReport::default();
        Self { typed: String::new(), report, scrolls: 0, box_known: true }
    }

    fn end(mut self, outcome: Result<(), String>) -> SendReport {
        self.report.stopped = outcome.err();
        self.report
    }
}

/// A buffer name that no other send of this or another trellis uses.
fn unique_buffer() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("trellis-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
