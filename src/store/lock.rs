//! One driver a home: a lock of the operating system on `trellis.lock`, which ends with the process however it ends.
//! What stands inside decides nothing about the lock: it says who holds it, for people, and for a start that asks a
//! background driver to end. One line: pid, kind, and the system's mark of the process's start.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::{in_words, no_follow};
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
    file: File,
    path: PathBuf,
}

/// Where a lock lies, to be looked at by whoever does not hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl Seat {
    /// Whether the file that was locked is still the home's. When it is not, the home was removed or replaced, and another
    /// process may take the lock of the new one.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        let now = std::fs::symlink_metadata(&self.path).map(|meta| (meta.dev(), meta.ino()));
        self.identity.is_none() || now.ok() == self.identity
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Whoever takes it next is not taken for us before its own name stands there.
        let _ = self.file.set_len(0);
    }
}

/// How a driver was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Somebody sits in front of it, or started it by hand: nobody ends it unasked.
    #[default]
    Foreground,
    /// It goes on without a terminal until a dashboard comes back.
    Background,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Foreground => "foreground",
            Self::Background => "background",
        }
    }
}

/// Who holds a lock, as it says itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Its process.
    pub pid: u32,
    /// How it was started. A lock that does not say is one of the foreground.
    pub kind: Kind,
    /// The system's mark of its start: with the pid it names one process and never another. Empty: not known.
    pub start_mark: String,
}

impl Claim {
    /// Of this process; `start_mark` as the system gives it.
    #[must_use]
    pub fn of_this(kind: Kind, start_mark: String) -> Self {
        Self { pid: std::process::id(), kind, start_mark }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let pid = words.next()?.parse().ok()?;
        let kind = if words.next() == Some(Kind::Background.word()) { Kind::Background } else { Kind::Foreground };
        Some(Self { pid, kind, start_mark: words.collect::<Vec<_>>().join(" ") })
    }
}

/// Why the lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process drives this home.
    #[error("{} is held by {}; only one process can drive a home", home.display(), by_whom(by.as_ref()))]
    Held {
        /// The home.
        home: PathBuf,
        /// The other process, if the file names one.
        by: Option<Claim>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Nobody.
    Nobody,
    /// A process, if the file names one.
    Process(Option<Claim>),
}

fn by_whom(by: Option<&Claim>) -> String {
    by.map_or_else(|| "another process".to_owned(), |claim| format!("pid {}", claim.pid))
}

impl Lock {
    /// Takes the lock as a driver of the foreground; makes the home's folder if it is not there.
    ///
    /// # Errors
    /// It is held, or the file cannot be opened.
    pub fn take(home: &Home) -> Result<Self, LockError> {
        Self::take_as(home, &Claim::of_this(Kind::Foreground, String::new()))
    }

    /// Takes the lock and says who has it.
    ///
    /// # Errors
    /// As [`Lock::take`].
    pub fn take_as(home: &Home, claim: &Claim) -> Result<Self, LockError> {
        let path = home.lock();
        let fault = |source| LockError::Io { path: path.clone(), source };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(home.root()).map_err(fault)?;
        let mut file = open(&path, true).map_err(fault)?;
        for attempt in 1.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < patience(claim_in(&mut file).as_ref()) => {
                    std::thread::sleep(BETWEEN_TRIES);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Held { home: home.root().to_owned(), by: claim_in(&mut file) });
                }
                Err(TryLockError::Error(source)) => return Err(fault(source)),
            }
        }
        // The lock is what counts: a name that cannot be written is only missing in a sentence.
        let line = format!("{} {} {}", claim.pid, claim.kind.word(), claim.start_mark);
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", line.trim_end()));
        Ok(Self { file, path })
    }

    /// Where it lies.
    #[must_use]
    pub fn seat(&self) -> Seat {
        let identity = self.file.metadata().map(|meta| (meta.dev(), meta.ino())).ok();
        Seat { path: self.path.clone(), identity }
    }
}

/// How often a held lock is tried.
fn patience(holder: Option<&Claim>) -> u32 {
    let pid = holder.and_then(|claim| i32::try_from(claim.pid).ok()).and_then(rustix::process::Pid::from_raw);
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
        Err(TryLockError::WouldBlock) => Ok(Holder::Process(claim_in(&mut file))),
        Err(TryLockError::Error(source)) => Err(LockError::Io { path, source }),
    }
}

/// What is no ordinary file is neither followed, written over nor waited for.
fn open(path: &Path, create: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(create).create(create).truncate(false).mode(0o600).custom_flags(no_follow());
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no ordinary file; move it away"));
    }
    Ok(file)
}

fn claim_in(file: &mut File) -> Option<Claim> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(256).read_to_string(&mut text).ok()?;
    Claim::parse(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_of_an_older_trellis_is_one_of_the_foreground() {
        let old = Claim { pid: 4_242, kind: Kind::Foreground, start_mark: String::new() };
        assert_eq!(Claim::parse("4242\n"), Some(old));
        let new = Claim { pid: 7, kind: Kind::Background, start_mark: "81 5".to_owned() };
        assert_eq!(Claim::parse("7 background 81 5\n"), Some(new));
        assert_eq!((Claim::parse(""), Claim::parse("background")), (None, None));
    }
}
