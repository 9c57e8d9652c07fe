//! Linux's own notifier of what happens in folders. It asks for changes alone: of opening and reading, which trellis does
//! itself all the time, nothing is told. What the news means is decided by those who read the mailbox.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{self, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::event::{CreateKind, DataChange, EventKind, Flag, ModifyKind, RemoveKind, RenameMode};
use notify::{Error, Event, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch};
use rustix::io::Errno;

use super::eyes::Notifier;
use super::mailbox::Mailbox;
use crate::supervise::Supervisor;

/// Bytes of events that are taken at once.
const BUFFER: usize = 16 * 1_024;

/// What is asked of each folder.
const CHANGES: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF);

/// The watches of one reader; its thread ends when this is dropped.
pub(super) struct Inotify {
    queue: Arc<OwnedFd>,
    watched: Arc<Mutex<Watched>>,
    _stop: PipeWriter,
}

/// Which number stands for which folder.
#[derive(Default)]
struct Watched {
    folders: HashMap<i32, PathBuf>,
    numbers: HashMap<PathBuf, i32>,
}

impl Watched {
    fn forget(&mut self, number: i32) {
        if let Some(folder) = self.folders.remove(&number) {
            self.numbers.remove(&folder);
        }
    }
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inotify {
    /// Tells a mailbox what happens from now on.
    ///
    /// # Errors
    /// The system has no notifier, pipe or thread left.
    pub(super) fn start(mailbox: Mailbox, supervisor: &Supervisor) -> Result<Self> {
        let queue = Arc::new(init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(refused)?);
        let (stopped, stop) = io::pipe().map_err(Error::io)?;
        let watched: Arc<Mutex<Watched>> = Arc::default();
        let (events, names) = (Arc::clone(&queue), Arc::clone(&watched));
        supervisor.thread("inotify", move || follow(&events, &names, &stopped, &mailbox)).map_err(Error::io)?;
        Ok(Self { queue, watched, _stop: stop })
    }
}

impl Notifier for Inotify {
    fn watch(&mut self, folder: &Path) -> Result<()> {
        // Held until the number is known: its first event may come before.
        let mut watched = lock(&self.watched);
        let number = add_watch(&*self.queue, folder, CHANGES | WatchFlags::ONLYDIR).map_err(refused)?;
        watched.forget(number);
        watched.folders.insert(number, folder.to_owned());
        watched.numbers.insert(folder.to_owned(), number);
        Ok(())
    }

    fn unwatch(&mut self, folder: &Path) {
        let mut watched = lock(&self.watched);
        if let Some(number) = watched.numbers.remove(folder) {
            watched.folders.remove(&number);
            // A folder that was removed is not watched any more: nothing to undo.
            let _ = remove_watch(&*self.queue, number);
        }
    }
}

fn refused(errno: Errno) -> Error {
    Error::io(errno.into())
}

/// Hands on what happens until nobody listens any more.
fn follow(queue: &OwnedFd, watched: &Mutex<Watched>, stopped: &PipeReader, mailbox: &Mailbox) {
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    let mut events = Reader::new(queue, &mut buffer);
    loop {
        match events.next() {
            Ok(event) => {
                let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                if let Some(event) = told(watched, event.wd(), event.events(), name) {
                    mailbox.hear(Ok(event));
                }
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let mut waited = [PollFd::new(queue, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
                let polled = poll(&mut waited, None);
                // The other end of the pipe is closed by a drop.
                let [_, end] = &waited;
                let is_over = !end.revents().is_empty();
                if is_over || polled.is_err_and(|errno| errno != Errno::INTR) {
                    return;
                }
            }
            Err(errno) => {
                mailbox.hear(Err(refused(errno)));
                return;
            }
        }
    }
}

/// One event in the notifier's own words; `None`: it says nothing.
fn told(watched: &Mutex<Watched>, number: i32, what: ReadFlags, name: Option<&OsStr>) -> Option<Event> {
    if what.contains(ReadFlags::QUEUE_OVERFLOW) {
        return Some(Event::new(EventKind::Other).set_flag(Flag::Rescan));
    }
    let mut watched = lock(watched);
    if what.contains(ReadFlags::IGNORED) {
        watched.forget(number);
        return None;
    }
    let folder = watched.folders.get(&number)?;
    let path = name.map_or_else(|| folder.clone(), |name| folder.join(name));
    let is_folder = what.contains(ReadFlags::ISDIR);
    let kind = if what.contains(ReadFlags::MODIFY) {
        EventKind::Modify(ModifyKind::Data(DataChange::Any))
    } else if what.contains(ReadFlags::CREATE) {
        EventKind::Create(if is_folder { CreateKind::Folder } else { CreateKind::File })
    } else if what.intersects(ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO | ReadFlags::MOVE_SELF) {
        EventKind::Modify(ModifyKind::Name(RenameMode::Any))
    } else {
        EventKind::Remove(if is_folder || name.is_none() { RemoveKind::Folder } else { RemoveKind::File })
    };
    Some(Event::new(kind).add_path(path))
}
