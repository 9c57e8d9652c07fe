//! Opening a file that others may have put there, and reading a small one: settings, signs of agents, scripts. What is no
//! ordinary file is never waited for, and no more is read than such a file can hold. Nothing here knows what a file means.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags, open};

/// The most that is read, in bytes.
pub const MOST: u64 = 4 * 1024 * 1024;

/// A file of any length, opened for reading; links are followed.
///
/// # Errors
/// It cannot be opened, or is no ordinary file (a pipe, a device, a folder).
pub fn opened(path: &Path) -> io::Result<File> {
    // Opening a pipe would wait for who writes into it.
    let file = File::from(open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file; move it away"));
    }
    Ok(file)
}

/// The bytes of a file of at most [`MOST`]; links are followed.
///
/// # Errors
/// As [`opened`], or it is larger.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    opened(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::other(format!("it is larger than {} MB", MOST / 1024 / 1024)));
    }
    Ok(bytes)
}

/// Its text.
///
/// # Errors
/// As [`bytes`], or it is no UTF-8.
pub fn text(path: &Path) -> io::Result<String> {
    String::from_utf8(bytes(path)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8 text"))
}

#[cfg(test)]
#[path = "small_file_tests.rs"]
mod tests;
