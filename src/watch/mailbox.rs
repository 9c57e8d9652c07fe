//! Where hints of the system land: a set of dirty paths, filled by the notifier's thread and emptied by the reader.
//! The filling side never waits; nothing here reads a file.

use std::collections::BTreeSet;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify::EventKind;
use notify::event::{CreateKind, ModifyKind};
use tokio::sync::mpsc;

/// More dirty paths than this are not remembered one by one: looking at everything is cheaper.
const MOST_PATHS: usize = 4_096;

/// What was heard since the last look.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    /// Paths that may have changed.
    pub(super) paths: BTreeSet<PathBuf>,
    /// Hints were lost: everything may have changed.
    pub(super) rescan: bool,
    /// The system has no watch left.
    pub(super) exhausted: bool,
}

impl Heard {
    fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.rescan && !self.exhausted
    }
}

/// Which paths a mailbox takes.
#[derive(Clone, Debug)]
pub(super) enum Interest {
    /// Transcripts and folders below the roots, and the coming and going of these themselves.
    Below {
        /// Folders of transcripts.
        roots: Vec<PathBuf>,
        /// Folders of the agents' own signs: what stands in them, and their coming and going.
        signs: Vec<PathBuf>,
    },
    /// These files, and the coming and going of the folders they are in.
    Exactly(Vec<PathBuf>),
}

impl Interest {
    fn takes(&self, path: &Path, kind: EventKind) -> bool {
        match self {
            Self::Exactly(files) => {
                files.iter().any(|file| file == path || (moves_folders(kind) && file.starts_with(path)))
            }
            Self::Below { roots, signs } => {
                let of_root = |root: &PathBuf| {
                    if super::naming::looks_like_one(path) {
                        path.starts_with(root)
                    } else {
                        moves_folders(kind) && (path.starts_with(root) || root.starts_with(path))
                    }
                };
                let of_sign = |sign: &PathBuf| is_sign(sign, path) || (moves_folders(kind) && sign.starts_with(path));
                roots.iter().any(of_root) || signs.iter().any(of_sign)
            }
        }
    }
}

/// Whether a path is a whole note in a folder of signs. The agents keep other things beside them, secrets too.
pub(super) fn is_sign(folder: &Path, path: &Path) -> bool {
    path.parent() == Some(folder) && path.extension().is_some_and(|ending| ending == "json")
}

/// Whether an event of this kind may mean that a folder came or went.
const fn moves_folders(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Create(CreateKind::Folder | CreateKind::Any | CreateKind::Other)
            | EventKind::Modify(ModifyKind::Name(_))
            | EventKind::Remove(_)
    )
}

/// The shared end; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Mailbox {
    heard: Arc<Mutex<Heard>>,
    wake: mpsc::Sender<()>,
    interest: Arc<Interest>,
}

impl Mailbox {
    /// The receiver holds at most one wake-up, however much is heard.
    pub(super) fn new(interest: Interest) -> (Self, mpsc::Receiver<()>) {
        let (wake, woken) = mpsc::channel(1);
        (Self { heard: Arc::default(), wake, interest: Arc::new(interest) }, woken)
    }

    /// What the notifier calls. Takes a lock that is held for no longer than a set's insertion or swap.
    pub(super) fn hear(&self, event: notify::Result<notify::Event>) {
        match event {
            Ok(event) if event.need_rescan() => self.put(|heard| heard.rescan = true),
            // Our own reading opens and closes files: that is no news.
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
            Ok(event) => {
                let kind = event.kind;
                let mut paths = event.paths.into_iter().filter(|path| self.interest.takes(path, kind)).peekable();
                if paths.peek().is_some() {
                    self.put(|heard| heard.paths.extend(paths));
                }
            }
            Err(error) if is_exhausted(&error) => self.put(|heard| heard.exhausted = true),
            Err(error) => {
                tracing::debug!(%error, "hint lost");
                self.put(|heard| heard.rescan = true);
            }
        }
    }

    /// Marks one path by other means than an event.
    pub(super) fn mark(&self, path: PathBuf) {
        self.put(|heard| {
            heard.paths.insert(path);
        });
    }

    /// Empties it.
    pub(super) fn take(&self) -> Heard {
        mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, change: impl FnOnce(&mut Heard)) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut heard);
        if heard.paths.len() > MOST_PATHS {
            heard.paths.clear();
            heard.rescan = true;
        }
        let news = !heard.is_empty();
        drop(heard);
        if news {
            self.wake();
        }
    }

    /// Wakes whoever listens.
    pub(super) fn wake(&self) {
        // Full means that a wake-up is already waiting; closed, that nobody listens any more.
        let _ = self.wake.try_send(());
    }
}

/// Whether an error means that the system has no watch or watcher left. Inotify says so with ENOSPC for watches and
/// with EMFILE for instances.
pub(super) fn is_exhausted(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => true,
        notify::ErrorKind::Io(error) => {
            use rustix::io::Errno;
            let code = error.raw_os_error();
            [Errno::NOSPC, Errno::MFILE, Errno::NFILE].iter().any(|full| code == Some(full.raw_os_error()))
        }
        _ => false,
    }
}

#[cfg(test)]
#[path = "mailbox_tests.rs"]
mod tests;
