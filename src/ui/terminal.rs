//! The terminal: entered, left, and given back whatever happens. Escape sequences are written here and in `cells` alone.
//! Panics elsewhere than on the screen's thread are the supervisor's: this file only keeps them from drawing over it.

use std::io::{self, Stdout, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    SetTitle, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::Terminal;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

pub mod cells;

use cells::Cells;

/// Whether the terminal is ours now: what the panic hook and every way out look at.
static ENTERED: AtomicBool = AtomicBool::new(false);
/// Whether the title is ours now.
static TITLED: AtomicBool = AtomicBool::new(false);

/// Keeps the title that stands (`CSI 22 ; 2 t`), and gives it back (`CSI 23 ; 2 t`).
const KEEP_TITLE: &str = "\x1b[22;2t";
const KEPT_TITLE: &str = "\x1b[23;2t";

/// The terminal while the screen has it; given back when this is dropped.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<Cells<Stdout>>,
    mouse: bool,
    /// What the title says; `None`: it is not ours to set.
    title: Option<String>,
    /// What stands on the terminal: the cells and where its cursor is.
    shown: Option<Frame>,
}

type Frame = (Buffer, Option<(u16, u16)>);

impl Screen {
    /// Takes the terminal and sees to it that a panic gives it back before it says anything.
    ///
    /// # Errors
    /// When standard output is no terminal or refuses.
    pub fn enter(mouse: bool, title: bool) -> anyhow::Result<Self> {
        give_back_on_panic();
        take().context("open trellis in a terminal")?;
        let terminal = match Terminal::new(Cells::new(stdout())) {
            Ok(terminal) => terminal,
            Err(error) => {
                give_back();
                return Err(error).context("open trellis in a terminal");
            }
        };
        let mut screen = Self { terminal, mouse: false, shown: None, title: title.then(String::new) };
        screen.set_mouse(mouse)?;
        // Terminals without an alternate screen keep what was there before: the first frame starts from nothing.
        screen.clear()?;
        Ok(screen)
    }

    /// Columns and rows now.
    #[must_use]
    pub fn size(&self) -> (u16, u16) {
        self.terminal.size().map_or((80, 24), |size| (size.width, size.height))
    }

    /// Draws a frame: only cells that differ are written, as one synchronised update; of an equal frame not a byte.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, frame: impl FnOnce(&mut Buffer) -> Option<(u16, u16)>) -> anyhow::Result<()> {
        let size = self.terminal.size().context("read the terminal's size")?;
        let mut buffer = Buffer::empty(Rect::from((Position::ORIGIN, size)));
        let cursor = frame(&mut buffer);
        if self.shown.as_ref().is_some_and(|(cells, place)| *cells == buffer && *place == cursor) {
            return Ok(());
        }
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate).context("write to the terminal")?;
        let drawn = self
            .terminal
            .draw(|target| {
                let cells = target.buffer_mut();
                // The size changed since it was asked: the event that says so draws anew.
                if cells.area == buffer.area {
                    cells.content.clone_from(&buffer.content);
                }
                if let Some((x, y)) = cursor {
                    target.set_cursor_position(Position::new(x, y));
                }
            })
            .map(|_| ());
        let ended = execute!(self.terminal.backend_mut(), EndSynchronizedUpdate);
        self.shown = Some((buffer, cursor));
        drawn.and(ended).context("write to the terminal")
    }

    /// Forgets what is on the terminal, so that the next frame is written whole.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn clear(&mut self) -> anyhow::Result<()> {
        self.shown = None;
        // Taking a size forgets the last frame. Ratatui's own `clear` asks the terminal where the cursor is, and the
        // answer would come in between keys that are read elsewhere.
        let size = self.terminal.size().context("read the terminal's size")?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size))).context("write to the terminal")
    }

    /// Mouse reports on or off.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn set_mouse(&mut self, on: bool) -> anyhow::Result<()> {
        if on == self.mouse {
            return Ok(());
        }
        self.mouse = on;
        let backend = self.terminal.backend_mut();
        if on { execute!(backend, EnableMouseCapture) } else { execute!(backend, DisableMouseCapture) }
            .context("write to the terminal")
    }

    /// Sets the title, where it is ours and says something else. The one before comes back with the terminal.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn set_title(&mut self, words: &str) -> anyhow::Result<()> {
        if self.title.as_deref().is_none_or(|title| title == words) {
            return Ok(());
        }
        if !TITLED.swap(true, Ordering::SeqCst) {
            execute!(self.terminal.backend_mut(), Print(KEEP_TITLE)).context("write to the terminal")?;
        }
        self.title = Some(words.to_owned());
        execute!(self.terminal.backend_mut(), SetTitle(words)).context("write to the terminal")
    }

    /// Sends bytes that draw nothing: a bell, a notification.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let out = self.terminal.backend_mut();
        out.write_all(bytes).and_then(|()| Write::flush(out)).context("write to the terminal")
    }

    /// Puts a text on the clipboard through the terminal (OSC 52).
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn copy(&mut self, text: &str) -> anyhow::Result<()> {
        execute!(self.terminal.backend_mut(), CopyToClipboard::to_clipboard_from(text)).context("write to the terminal")
    }

    /// Gives the terminal to something else for as long as `meanwhile` runs, then takes it back and forgets what is on it.
    /// Nothing of ours may read keys meanwhile: the caller has dropped its stream of events.
    ///
    /// # Errors
    /// When the terminal cannot be given or taken back.
    pub fn lend<T>(&mut self, meanwhile: impl FnOnce() -> T) -> anyhow::Result<T> {
        give_back();
        let result = meanwhile();
        if let Some(title) = &mut self.title {
            title.clear();
        }
        take().context("take the terminal back")?;
        if self.mouse {
            execute!(self.terminal.backend_mut(), EnableMouseCapture).context("write to the terminal")?;
        }
        self.clear()?;
        Ok(result)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    ENTERED.store(true, Ordering::SeqCst);
    let entered = execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide, Clear(ClearType::All));
    if entered.is_err() {
        give_back();
    }
    entered
}

/// Whether the terminal is ours now, and not lent to another program.
#[must_use]
pub fn is_ours() -> bool {
    ENTERED.load(Ordering::SeqCst)
}

/// Gives the terminal back as it was found. Harmless when it is not ours.
pub fn give_back() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = stdout();
    // Each may fail on a terminal that is gone; the others are tried all the same.
    let _ = execute!(out, DisableMouseCapture);
    let _ = execute!(out, DisableBracketedPaste, EndSynchronizedUpdate);
    if TITLED.swap(false, Ordering::SeqCst) {
        let _ = execute!(out, Print(KEPT_TITLE));
    }
    // Where there is no alternate screen the last frame would stay below what the shell writes.
    let _ = execute!(out, Clear(ClearType::All), cursor::MoveTo(0, 0));
    let _ = execute!(out, LeaveAlternateScreen, cursor::Show);
    let _ = disable_raw_mode();
    let _ = out.flush();
}

/// A panic on this thread gives the terminal back before its message is written; one on another thread writes nothing
/// while the terminal is ours, because the message would stand in the middle of a frame.
fn give_back_on_panic() {
    let own = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == own {
            give_back();
            before(info);
        } else if ENTERED.load(Ordering::SeqCst) {
            tracing::error!("{info}");
        } else {
            before(info);
        }
    }));
}
