//! One driver a home: a lock of the operating system on `trellis.lock`, which ends with the process however it ends.
//! The pid inside is for people only; it decides nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::in_words;
use crate::paths::Home;

/// A viewer that looks whether the lock is free holds it for an instant; a driver that starts then tries again.
const TRIES: u32 = 5;
/// When the process that is named is dead: a child it was just making may hold its files until it becomes another
/// program, or ends.
const TRIES_BEHIND_THE_DEAD: u32 = 400;
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// The lock, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process drives this home.
    #[error("{} is held by {}; only one process can drive a home", home.display(), by_whom(*pid))]
    Held {
        /// The home.
        home: PathBuf,
        /// The other process, if the file names one.
        pid: Option<u32>,
    },
    /// The file cannot be made or locked.
    #[error("can't lock {}: {}; give --home a folder that can be written", path.display(), in_words(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Who drives a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Nobody.
    Nobody,
    /// A process, with its pid if the file names one.
    Process(Option<u32>),
}

fn by_whom(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("pid {pid}"))
}

impl Lock {
    /// Takes the lock; makes the home's folder if it is not there.
    ///
    /// # Errors
    /// It is held, or the file cannot be opened.
    pub fn take(home: &Home) -> Result<Self, LockError> {
        let path = home.lock();
        let fault = |source| LockError::Io { path: path.clone(), source };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(home.root()).map_err(fault)?;
        let mut file = open(&path, true).map_err(fault)?;
        for attempt in 1.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < patience(pid_in(&mut file)) => {
                    std::thread::sleep(BETWEEN_TRIES);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Held { home: home.root().to_owned(), pid: pid_in(&mut file) });
                }
                Err(TryLockError::Error(source)) => return Err(fault(source)),
            }
        }
        // The lock is what counts: a pid that cannot be written is only missing in a sentence.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

/// How often a held lock is tried.
fn patience(holder: Option<u32>) -> u32 {
    let pid = holder.and_then(|pid| i32::try_from(pid).ok()).and_then(rustix::process::Pid::from_raw);
    let is_dead = pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH));
    if is_dead { TRIES_BEHIND_THE_DEAD } else { TRIES }
}

/// Who drives a home now, without making anything.
///
/// # Errors
/// The file is there and cannot be opened.
pub fn holder(home: &Home) -> Result<Holder, LockError> {
    let path = home.lock();
    let mut file = match open(&path, false) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Holder::Nobody),
        Err(source) => return Err(LockError::Io { path, source }),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Holder::Nobody),
        Err(TryLockError::WouldBlock) => Ok(Holder::Process(pid_in(&mut file))),
        Err(TryLockError::Error(source)) => Err(LockError::Io { path, source }),
    }
}

fn open(path: &Path, create: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(create).create(create).truncate(false).mode(0o600).open(path)
}

fn pid_in(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
