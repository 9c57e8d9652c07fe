//! The one writer of standard output, and the one line on standard error. A reader that went away ends quietly.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde::Serialize;

use crate::failure::Failure;
use crate::ui::sanitise::{clean_block, clean_line, is_unwanted};

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
    line(&escaped(&text))
}

/// JSON without a character that could do anything to a terminal; it means the same.
fn escaped(json: &str) -> Cow<'_, str> {
    if !json.chars().any(is_unwanted) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_unwanted(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
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

#[cfg(test)]
#[path = "out_tests.rs"]
mod tests;
