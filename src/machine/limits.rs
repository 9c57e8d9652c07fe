//! How long may be what a person gives that stands in a record itself: a record is small (`loops.md` §7), however many
//! settings somebody fills. Messages are not among it: they are texts beside the record.

use crate::model::command::Refusal;

/// Bytes of a setting that is a text. There are five in a record, and a record has 256 KB.
const SETTING: usize = 16 << 10;
/// Letters of a name.
const NAME: usize = 200;
/// Bytes of a folder's path. Systems allow 4,096.
const PATH: usize = 4_096;

/// Refuses a text that is longer than a setting may be, or that would be as it stands in a file.
///
/// # Errors
/// It is, at its field.
pub fn setting(field: &str, text: &str) -> Result<(), Refusal> {
    // Control characters take six bytes there.
    let in_file: usize = text.chars().map(|c| if c < ' ' && c != '\n' { 6 } else { c.len_utf8() }).sum();
    within(field, in_file, SETTING, "bytes: put it into a file and name that file in it")
}

/// Refuses a name that is too long.
///
/// # Errors
/// It is, at its field.
pub fn name(field: &str, text: &str) -> Result<(), Refusal> {
    within(field, text.chars().count(), NAME, "letters")
}

/// Refuses a folder whose path is longer than any system's.
///
/// # Errors
/// It is, at its field.
pub fn path(field: &str, text: &str) -> Result<(), Refusal> {
    within(field, text.len(), PATH, "bytes")
}

fn within(field: &str, is: usize, most: usize, of: &str) -> Result<(), Refusal> {
    if is <= most { Ok(()) } else { Err(Refusal::invalid(field, format!("at most {most} {of}"))) }
}
