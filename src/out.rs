//! The one writer of standard output, and the one line on standard error. A reader that went away ends quietly.

use std::io::{self, Write};

use serde::Serialize;

use crate::failure::Failure;

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

/// Prints a value as one line of JSON.
///
/// # Errors
/// As [`text`].
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::internal(error.to_string()))?;
    line(&text)
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

/// What an agent, a file or a branch is called may hold escape sequences; the person's terminal gets none of them.
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
