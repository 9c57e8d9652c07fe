//! Files of JSON lines: appended to, rotated, read from their end. A torn last line is ended by the next append and skipped by readers.
//! Which lines go where is decided elsewhere.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::atomic::{Writer, write_all};
use super::files::Files;

/// Bytes at which a file is rotated.
pub const ROTATE_AT: u64 = 8 << 20;

/// The one old file that is kept.
#[must_use]
pub fn old_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".1");
    path.with_file_name(name)
}

/// Whether a file is rotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// At [`ROTATE_AT`].
    Rotated,
    /// It belongs to one record and goes when the record goes.
    Unbounded,
}

/// Whether an append is brought to the disk before it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durable {
    Yes,
    No,
}

/// Appends values, a line each.
pub(super) fn append<F: Files, T: Serialize>(
    writer: &mut Writer<F>,
    path: &Path,
    values: &[T],
    growth: Growth,
    durable: Durable,
) -> io::Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    let mut lines = Vec::new();
    for value in values {
        serde_json::to_writer(&mut lines, value)?;
        lines.push(b'\n');
    }
    let dir = path.parent().unwrap_or(path);
    writer.folder(dir)?;
    let mut length = writer.files.stat(path)?.map_or(0, |mark| mark.length);
    if growth == Growth::Rotated && length > 0 && length.saturating_add(lines.len() as u64) > ROTATE_AT {
        writer.files.rename(path, &old_of(path))?;
        length = 0;
    }
    if length > 0 && last_byte(&writer.files, path, length)? != Some(b'\n') {
        lines.insert(0, b'\n');
    }
    let mut file = writer.files.append(path)?;
    write_all(&writer.files, &mut file, &lines)?;
    if durable == Durable::Yes {
        writer.files.sync(&file)?;
        if length == 0 {
            writer.files.sync_dir(dir)?;
        }
    }
    Ok(())
}

fn last_byte<F: Files>(files: &F, path: &Path, length: u64) -> io::Result<Option<u8>> {
    Ok(files.read(path, length.saturating_sub(1))?.0.last().copied())
}

/// The values at the end of a file: at most `bytes` of it are read, lines that are no such values are left out.
/// A file that is not there has none.
pub(super) fn tail<F: Files, T: DeserializeOwned>(files: &F, path: &Path, bytes: u64) -> io::Result<Vec<T>> {
    let Some(mark) = files.stat(path)? else { return Ok(Vec::new()) };
    let from = mark.length.saturating_sub(bytes);
    let (text, _) = files.read(path, from)?;
    let mut lines = text.split(|byte| *byte == b'\n');
    if from > 0 {
        // Most likely the rest of a line.
        lines.next();
    }
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}
