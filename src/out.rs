//! The one writer of standard output, and the one line on standard error. A reader that went away ends quietly.

use std::io::{self, Write as _};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use serde::Serialize;

use crate::failure::Failure;
use crate::model::harmless;
use crate::ui::sanitise::{clean_block, clean_line};

/// Prints a text as it is.
///
/// # Errors
/// The output refuses; quiet when only its reader went away.
pub fn text(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Prints a line.
///
/// # Errors
/// As [`text`].
pub fn line(line: &str) -> Result<(), Failure> {
    text(&format!("{line}\n"))
}

/// Prints lines with words of others in them, cleaned as the screen's are.
///
/// # Errors
/// As [`text`].
pub fn page(lines: &str) -> Result<(), Failure> {
    text(&clean_block(lines))
}

/// Prints a value as one line of JSON. What the screen would strip from a text stands in it as an escape (`\u202e`).
///
/// # Errors
/// As [`text`].
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::internal(error.to_string()))?;
    line(&harmless::escaped(&text))
}

/// Waits until nobody can read standard output any more: the other end of a pipe was closed, a terminal is gone. For who
/// prints rarely and would learn of it only by the next line. Blocks its thread, for ever where the output is a file.
pub fn wait_for_no_reader() {
    let out = io::stdout();
    // What is asked for is nothing: that the other end is gone is told all the same.
    let mut fds = [PollFd::new(&out, PollFlags::empty())];
    loop {
        match poll(&mut fds, None) {
            Ok(_) => return,
            Err(error) if error == rustix::io::Errno::INTR => {}
            Err(_) => std::thread::park(),
        }
    }
}

/// One line on standard error; nothing for an empty one.
pub fn complain(message: &str) {
    if !message.is_empty() {
        note(&format!("trellis: {message}"));
    }
}

/// A remark beside the output.
pub fn note(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", plain(message));
}

/// What an agent, a file or a branch is called may hold escape sequences and invisible characters that turn a line
/// around; the person's terminal gets none of them. One line, cleaned as the screen's are.
#[must_use]
pub fn plain(text: &str) -> String {
    clean_line(text).into_owned()
}

/// Columns of the terminal behind an output; where there is none a line may be as long as it likes.
pub fn columns(of: impl AsFd) -> usize {
    rustix::termios::tcgetwinsize(of).map_or(usize::MAX, |size| usize::from(size.ws_col).max(1))
}

#[cfg(test)]
#[path = "out_tests.rs"]
mod tests;
