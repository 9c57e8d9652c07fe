//! Cells as bytes, in the plain ANSI colours 30–37 and 90–97 that every terminal with colours knows. What is drawn and
//! when the terminal is entered or left is decided elsewhere.

use std::io::{self, Write};

use crossterm::cursor::MoveTo;
use crossterm::queue;
use crossterm::style::Print;
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};

/// A terminal that takes bytes. Crossterm writes colours as `38;5;1`, which older terminals do not know: here they are
/// written, with the attributes, as one sequence of the first standard.
#[derive(Debug)]
pub struct Cells<W: Write>(CrosstermBackend<W>);

impl<W: Write> Cells<W> {
    /// Onto `out`.
    pub const fn new(out: W) -> Self {
        Self(CrosstermBackend::new(out))
    }
}

type Style = (Color, Color, Modifier);
const PLAIN: Style = (Color::Reset, Color::Reset, Modifier::empty());

/// Everything off, then what holds: `0;1;31`.
fn sequence((fg, bg, modifier): Style) -> String {
    let attributes = [
        (Modifier::BOLD, 1),
        (Modifier::DIM, 2),
        (Modifier::ITALIC, 3),
        (Modifier::UNDERLINED, 4),
        (Modifier::SLOW_BLINK, 5),
        (Modifier::RAPID_BLINK, 6),
        (Modifier::REVERSED, 7),
        (Modifier::HIDDEN, 8),
        (Modifier::CROSSED_OUT, 9),
    ];
    let mut parts = vec!["0".to_owned()];
    parts.extend(attributes.iter().filter(|(bit, _)| modifier.contains(*bit)).map(|(_, n)| n.to_string()));
    parts.extend(colour(fg, 30));
    parts.extend(colour(bg, 40));
    parts.join(";")
}

/// The parameter of a colour; `base`: 30 in front, 40 behind.
fn colour(colour: Color, base: u16) -> Option<String> {
    let n = match colour {
        Color::Reset => return None,
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
        Color::Indexed(n) => u16::from(n),
        Color::Rgb(r, g, b) => return Some(format!("{};2;{r};{g};{b}", base + 8)),
    };
    Some(match n {
        0..8 => (base + n).to_string(),
        8..16 => (base + 60 + n - 8).to_string(),
        _ => format!("{};5;{n}", base + 8),
    })
}

impl<W: Write> Backend for Cells<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut style = PLAIN;
        let mut next: Option<(u16, u16)> = None;
        for (x, y, cell) in content {
            if next != Some((x, y)) {
                queue!(self.0, MoveTo(x, y))?;
            }
            next = Some((x.saturating_add(1), y));
            let wanted = (cell.fg, cell.bg, cell.modifier);
            if wanted != style {
                queue!(self.0, Print(format_args!("\x1b[{}m", sequence(wanted))))?;
                style = wanted;
            }
            queue!(self.0, Print(cell.symbol()))?;
        }
        if style == PLAIN { Ok(()) } else { queue!(self.0, Print("\x1b[0m")) }
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.0.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.0.clear_region(region)
    }

    fn size(&self) -> io::Result<Size> {
        self.0.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.0.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.0)
    }
}

impl<W: Write> Write for Cells<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Write::flush(&mut self.0)
    }
}

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
