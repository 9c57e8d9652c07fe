//! What looks at folders and files for news: the system's notifier or, when it has no watch left, a slow poll.
//! What the news means is decided by those who read the mailbox.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::mailbox::{Mailbox, is_exhausted};
use super::scan::Stamp;
use crate::supervise::Supervisor;

/// What tells of changes in folders, but not below them.
pub(super) trait Notifier: Send {
    /// Tells of a folder from now on.
    fn watch(&mut self, folder: &Path) -> notify::Result<()>;
    /// Tells no more of it.
    fn unwatch(&mut self, folder: &Path);
}

#[cfg(not(target_os = "linux"))]
impl<W: notify::Watcher + Send> Notifier for W {
    fn watch(&mut self, folder: &Path) -> notify::Result<()> {
        notify::Watcher::watch(self, folder, notify::RecursiveMode::NonRecursive)
    }

    fn unwatch(&mut self, folder: &Path) {
        // A folder that was removed is not watched any more: nothing to undo.
        let _ = notify::Watcher::unwatch(self, folder);
    }
}

/// Makes the notifier that fills a mailbox.
pub(super) type MakeWatcher = fn(Mailbox, &Supervisor) -> notify::Result<Box<dyn Notifier>>;

/// The system's own.
#[cfg(target_os = "linux")]
pub(super) fn system_watcher(mailbox: Mailbox, supervisor: &Supervisor) -> notify::Result<Box<dyn Notifier>> {
    Ok(Box::new(super::inotify::Inotify::start(mailbox, supervisor)?))
}

/// The system's own.
#[cfg(not(target_os = "linux"))]
pub(super) fn system_watcher(mailbox: Mailbox, _: &Supervisor) -> notify::Result<Box<dyn Notifier>> {
    Ok(Box::new(notify::recommended_watcher(move |event| mailbox.hear(event))?))
}

/// Looks at a set of folders and files.
pub(super) struct Eyes {
    mailbox: Mailbox,
    supervisor: Supervisor,
    poll_every: Duration,
    mode: Mode,
    folders: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
    notices: Vec<String>,
}

enum Mode {
    Notified(Box<dyn Notifier>),
    Polled(Poll),
    /// Not even a thread could be had: only the reader's own looks are left.
    Blind,
}

impl Eyes {
    pub(super) fn open(mailbox: Mailbox, supervisor: &Supervisor, make: MakeWatcher, poll_every: Duration) -> Self {
        let made = make(mailbox.clone(), supervisor);
        let mut eyes = Self {
            mailbox,
            supervisor: supervisor.clone(),
            poll_every,
            mode: Mode::Blind,
            folders: BTreeSet::new(),
            files: BTreeSet::new(),
            notices: Vec::new(),
        };
        match made {
            Ok(watcher) => eyes.mode = Mode::Notified(watcher),
            Err(error) if is_exhausted(&error) => {
                eyes.poll(&exhausted("fs.inotify.max_user_instances", "no file watcher"));
            }
            Err(error) => eyes.poll(&format!("file changes are not reported by the system ({error})")),
        }
        eyes
    }

    /// Whether hints come from a poll.
    pub(super) fn is_polling(&self) -> bool {
        !matches!(self.mode, Mode::Notified(_))
    }

    /// Says what is to be looked at from now on, and nothing else. `true`: a folder is looked at that was not before,
    /// so what came into it until now was not heard of.
    pub(super) fn look_at(&mut self, folders: BTreeSet<PathBuf>, files: BTreeSet<PathBuf>) -> bool {
        let mut fresh = BTreeSet::new();
        let mut out_of_watches = false;
        if let Mode::Notified(watcher) = &mut self.mode {
            for gone in self.folders.difference(&folders) {
                watcher.unwatch(gone);
            }
            for folder in folders.difference(&self.folders) {
                match watcher.watch(folder) {
                    Ok(()) => {
                        fresh.insert(folder.clone());
                    }
                    Err(error) if is_exhausted(&error) => {
                        out_of_watches = true;
                        break;
                    }
                    Err(error) => tracing::debug!(%error, folder = %folder.display(), "folder is not watched"),
                }
            }
            self.folders.retain(|folder| folders.contains(folder));
            self.folders.extend(fresh.iter().cloned());
        } else {
            self.folders = folders.clone();
        }
        self.files = files;
        if out_of_watches {
            self.folders = folders;
            self.out_of_watches();
        } else if let Mode::Polled(poll) = &self.mode {
            poll.look_at(&self.folders, &self.files);
        }
        !fresh.is_empty()
    }

    /// Whether this folder is among them.
    #[cfg(test)]
    pub(super) fn looks_at(&self, folder: &Path) -> bool {
        self.folders.contains(folder)
    }

    /// A folder came, went or was replaced: it has to be watched anew.
    pub(super) fn forget(&mut self, folder: &Path) {
        if !self.is_polling() {
            self.folders.retain(|watched| !watched.starts_with(folder));
        }
    }

    /// The system has no watch left.
    pub(super) fn out_of_watches(&mut self) {
        self.poll(&exhausted("fs.inotify.max_user_watches", "no file watch"));
    }

    /// Changes happen that no hint tells of (network file systems, some container mounts).
    pub(super) fn no_hints(&mut self) {
        self.poll("changes of transcripts are not reported by their file system");
    }

    /// What the person has to be told; each is returned once.
    pub(super) fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    fn poll(&mut self, why: &str) {
        if matches!(self.mode, Mode::Polled(_)) {
            return;
        }
        match Poll::start(self.mailbox.clone(), &self.supervisor, self.poll_every) {
            Ok(poll) => {
                poll.look_at(&self.folders, &self.files);
                self.mode = Mode::Polled(poll);
                let pace = self.poll_every.as_secs_f64();
                self.notices.push(format!("{why}; files are looked at every {pace} s instead"));
            }
            Err(error) => {
                self.mode = Mode::Blind;
                self.notices.push(format!("{why}, and no thread is left to look instead: {error}"));
            }
        }
    }
}

fn exhausted(sysctl: &str, what: &str) -> String {
    if cfg!(target_os = "linux") {
        format!("the system has {what} left (raise {sysctl})")
    } else {
        format!("the system has {what} left")
    }
}

type Stamps = Arc<Mutex<BTreeMap<PathBuf, Option<Stamp>>>>;

/// A thread that stats a set of paths at a pace and marks those that changed; it ends when this is dropped.
struct Poll {
    stamps: Stamps,
    _stop: SyncSender<()>,
}

impl Poll {
    fn start(mailbox: Mailbox, supervisor: &Supervisor, every: Duration) -> io::Result<Self> {
        let (stop, stopped) = sync_channel(0);
        let stamps = Stamps::default();
        let seen = Arc::clone(&stamps);
        supervisor.thread("file-poll", move || run(&mailbox, &seen, &stopped, every))?;
        Ok(Self { stamps, _stop: stop })
    }

    /// New paths are marked at the first round, whatever they are: what came before it was not looked at.
    fn look_at(&self, folders: &BTreeSet<PathBuf>, files: &BTreeSet<PathBuf>) {
        let mut stamps = self.stamps.lock().unwrap_or_else(PoisonError::into_inner);
        stamps.retain(|path, _| folders.contains(path) || files.contains(path));
        for path in folders.iter().chain(files) {
            stamps.entry(path.clone()).or_insert(None);
        }
    }
}

fn run(mailbox: &Mailbox, stamps: &Stamps, stopped: &Receiver<()>, every: Duration) {
    while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        // The lock is not held while the system is asked: a slow file system must not hold up the reader.
        let before = stamps.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (path, old) in before {
            let new = Stamp::at(&path);
            if new == old {
                continue;
            }
            if let Some(slot) = stamps.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&path) {
                *slot = new;
            }
            mailbox.mark(path);
        }
    }
}

#[cfg(test)]
#[path = "eyes_tests.rs"]
pub(super) mod tests;
