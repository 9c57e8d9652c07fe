//! The home's socket `trellis.sock`: made, found and removed. A name in the file system, of no network.
//! What is spoken over it is `serve`'s and `call`'s.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::in_words;
use super::lock::Lock;
use crate::paths::Home;

/// What a socket's name holds on every system: 104 bytes with the zero behind them on macOS, 108 on Linux.
const LONGEST: usize = 103;
/// Through this folder Linux names an open folder in a few bytes.
const OPEN_FOLDERS: &str = "/proc/self/fd";
/// How long whoever holds the old socket is listened to.
const A_WORD: Duration = Duration::from_millis(500);

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Another process answers on it, though it does not hold the lock.
    #[error("another process answers on {}: no command and no viewer reaches this one; end that one", path.display())]
    Answers {
        /// The socket.
        path: PathBuf,
    },
    /// Something else bears its name.
    #[error("{} is no socket: move it away, then start again", path.display())]
    Other {
        /// What lies there.
        path: PathBuf,
    },
    /// The name is too long here.
    #[error("{} is too long for a socket ({LONGEST} bytes): name a shorter home with --home", path.display())]
    TooLong {
        /// The name.
        path: PathBuf,
    },
    /// The system refused.
    #[error("can't make {}: {}", path.display(), in_words(source))]
    Io {
        /// The socket.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// The name of a listening socket, removed when this is dropped, if it is still that socket's.
#[derive(Debug)]
pub struct Socket {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl Socket {
    /// Listens under the home's name, for this person alone. What a dead driver left there is replaced at once; what
    /// answers is left alone.
    ///
    /// # Errors
    /// Another process answers, something else lies there, or the system refuses.
    pub fn listen(home: &Home, lock: &Lock) -> Result<(Self, UnixListener), SocketError> {
        // Only its holder may replace what lies there.
        let _ = lock;
        let path = home.socket();
        look_at(&path)?;
        // Under its name it is from the first moment what it is to be: made where nobody else may look, then renamed.
        let aside = home.root().join(".socket");
        let made = make_aside(&aside).and_then(|()| {
            let listener = named(&aside.join("s"), |name| UnixListener::bind(name))?;
            fs::set_permissions(aside.join("s"), Permissions::from_mode(0o600))?;
            fs::rename(aside.join("s"), &path)?;
            Ok(listener)
        });
        let _ = fs::remove_dir_all(&aside);
        match made {
            Ok(listener) => Ok((Self { identity: identity(&path), path }, listener)),
            Err(source) if source.kind() == io::ErrorKind::InvalidFilename => Err(SocketError::TooLong { path }),
            Err(source) => Err(SocketError::Io { path, source }),
        }
    }
}

impl Socket {
    /// Whether its name still leads to it.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.identity.is_none() || identity(&self.path) == self.identity
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A name under which a home's socket is reached, as long as this is kept.
#[derive(Debug)]
pub struct Name {
    path: PathBuf,
    _folder: Option<File>,
}

impl Name {
    /// Of a home.
    ///
    /// # Errors
    /// The home is not there, or the name is too long here.
    pub fn of(home: &Home) -> io::Result<Self> {
        fitting(&home.socket())
    }

    /// It fits.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// An empty folder that nobody else may look into.
fn make_aside(aside: &Path) -> io::Result<()> {
    match fs::remove_dir_all(aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    DirBuilder::new().mode(0o700).create(aside)
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

/// Whether what lies there may be replaced.
fn look_at(path: &Path) -> Result<(), SocketError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(SocketError::Io { path: path.to_owned(), source }),
        Ok(found) if !found.file_type().is_socket() => Err(SocketError::Other { path: path.to_owned() }),
        Ok(_) if answers(path) => Err(SocketError::Answers { path: path.to_owned() }),
        Ok(_) => Ok(()),
    }
}

/// A child that a killed driver was just making may hold its socket for an instant: only a word is an answer.
fn answers(path: &Path) -> bool {
    let asked = named(path, |name| UnixStream::connect(name)).and_then(|mut stream| {
        stream.set_read_timeout(Some(A_WORD))?;
        stream.set_write_timeout(Some(A_WORD))?;
        stream.write_all(b"GET /api/v1/health HTTP/1.1\r\nhost: trellis\r\nconnection: close\r\n\r\n")?;
        stream.read(&mut [0; 1])
    });
    asked.is_ok_and(|count| count > 0)
}

/// Does something with a name that fits.
fn named<T>(path: &Path, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    work(fitting(path)?.path())
}

/// A name that is too long is reached through its open folder, where there is a way.
fn fitting(path: &Path) -> io::Result<Name> {
    if path.as_os_str().len() <= LONGEST {
        return Ok(Name { path: path.to_owned(), _folder: None });
    }
    let (Some(folder), Some(name), true) = (path.parent(), path.file_name(), Path::new(OPEN_FOLDERS).is_dir()) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    let folder = File::open(folder)?;
    let path = Path::new(OPEN_FOLDERS).join(folder.as_raw_fd().to_string()).join(name);
    Ok(Name { path, _folder: Some(folder) })
}
