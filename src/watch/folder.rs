//! A few files of one folder (settings, key maps) watched through their folder, since an editor that saves by renaming
//! leaves a watch on the file itself dead. Reads no file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tokio::sync::mpsc;

use super::POLL_EVERY;
use super::eyes::{Eyes, MakeWatcher, system_watcher};
use super::mailbox::{Interest, Mailbox};
use super::scan::{Stamp, settle};
use crate::supervise::Supervisor;

/// Watches named files of a folder that need not be there yet.
pub struct FolderWatch {
    folder: PathBuf,
    eyes: Eyes,
    mailbox: Mailbox,
    seen: BTreeMap<PathBuf, Option<Stamp>>,
}

impl FolderWatch {
    /// Begins to watch. The receiver gets a wake-up, at most one at a time, when [`FolderWatch::changed`] may have news.
    #[must_use]
    pub fn start(folder: &Path, names: &[&str], supervisor: &Supervisor) -> (Self, mpsc::Receiver<()>) {
        Self::start_with(folder, names, supervisor, system_watcher)
    }

    fn start_with(
        folder: &Path,
        names: &[&str],
        supervisor: &Supervisor,
        make: MakeWatcher,
    ) -> (Self, mpsc::Receiver<()>) {
        let folder = settle(folder);
        let files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        let (mailbox, woken) = Mailbox::new(Interest::Exactly(files.clone()));
        let eyes = Eyes::open(mailbox.clone(), supervisor, make, POLL_EVERY);
        let seen = files.into_iter().map(|file| (file.clone(), Stamp::at(&file))).collect();
        let mut watch = Self { folder, eyes, mailbox, seen };
        watch.point_eyes();
        (watch, woken)
    }

    /// The files that came, went or were written since the last call (or since the start).
    pub fn changed(&mut self) -> Vec<PathBuf> {
        let heard = self.mailbox.take();
        if heard.exhausted {
            self.eyes.out_of_watches();
        }
        for path in heard.paths.iter().filter(|path| self.folder.starts_with(path)) {
            self.eyes.forget(path);
        }
        self.point_eyes();
        let mut changed = Vec::new();
        for (file, old) in &mut self.seen {
            let new = Stamp::at(file);
            if new != *old {
                *old = new;
                changed.push(file.clone());
            }
        }
        changed
    }

    /// What the person has to be told; each sentence is returned once.
    pub fn notices(&mut self) -> Vec<String> {
        self.eyes.notices()
    }

    fn point_eyes(&mut self) {
        // While the folder is not there, its coming is waited for at the nearest folder above it.
        let place = self.folder.ancestors().find(|folder| folder.is_dir());
        let folders: BTreeSet<PathBuf> = place.into_iter().map(Path::to_owned).collect();
        self.eyes.look_at(folders, self.seen.keys().cloned().collect());
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
