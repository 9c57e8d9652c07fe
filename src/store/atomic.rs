//! How a file comes to the disk whole: temporary file, fsync, rename, fsync of the folder. The only writer below the home.
//! What the bytes mean is not known here.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::files::{FileMark, Files};

/// Said of a home that was removed: it is not made again.
const GONE: &str = "the home was removed";
/// How the name of a temporary file begins; what is left over after a crash is removed at the next start.
pub(super) const TEMPORARY: &str = ".tmp-";

/// Writes whole files, and remembers which folders it has made.
#[derive(Debug)]
pub(super) struct Writer<F> {
    pub(super) files: F,
    /// The home. Once it was there it is never made again: whoever removed it, or moved it away, meant it.
    root: PathBuf,
    had_root: bool,
    made: BTreeSet<PathBuf>,
    count: u64,
}

/// A write that did not do all it should.
#[derive(Debug)]
pub(super) struct Failed {
    /// Why.
    pub(super) error: io::Error,
    /// The file bears its new content already, but the folder may not be on the disk yet.
    pub(super) replaced: Option<FileMark>,
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self { error, replaced: None }
    }
}

impl<F: Files> Writer<F> {
    pub(super) fn new(root: PathBuf, files: F) -> Self {
        Self { files, root, had_root: false, made: BTreeSet::new(), count: 0 }
    }

    /// Makes a folder that outlives a crash.
    pub(super) fn folder(&mut self, dir: &Path) -> io::Result<()> {
        if self.made.contains(dir) {
            return Ok(());
        }
        if self.files.stat(dir)?.is_none() {
            if dir == self.root && self.had_root {
                return Err(io::Error::new(io::ErrorKind::NotFound, GONE));
            }
            if let Some(parent) = dir.parent().filter(|parent| parent.parent().is_some()) {
                self.folder(parent)?;
            }
            self.files.make_dir(dir)?;
        }
        // Also for a folder that is there: its maker may have been killed, or refused, before its name was on the disk.
        if let Some(parent) = dir.parent() {
            self.files.sync_dir(parent)?;
        }
        self.had_root |= dir == self.root;
        self.made.insert(dir.to_owned());
        Ok(())
    }

    /// Writes a file whole and durably. At every moment its name bears the old content or the new.
    pub(super) fn replace(&mut self, path: &Path, bytes: &[u8]) -> Result<FileMark, Failed> {
        let mark = self.put(path, bytes)?;
        let dir = path.parent().unwrap_or(path);
        match self.files.sync_dir(dir) {
            Ok(()) => Ok(mark),
            Err(error) => Err(Failed { error, replaced: Some(mark) }),
        }
    }

    /// As [`Writer::replace`], without bringing the folder to the disk: for several files in a row.
    pub(super) fn put(&mut self, path: &Path, bytes: &[u8]) -> io::Result<FileMark> {
        let dir = path.parent().unwrap_or(path);
        self.folder(dir)?;
        let (temporary, mut file) = self.temporary(dir)?;
        let done = self.fill(&mut file, bytes).and_then(|mark| self.files.rename(&temporary, path).map(|()| mark));
        if done.is_err() {
            // After a failed fsync the pages may be gone for good: this file is never tried again.
            let _ = self.files.remove(&temporary);
            // A folder that somebody removed is made again at the next try.
            self.made.clear();
        }
        done
    }

    fn fill(&self, file: &mut F::File, bytes: &[u8]) -> io::Result<FileMark> {
        write_all(&self.files, file, bytes)?;
        self.files.sync(file)?;
        self.files.mark(file)
    }

    fn temporary(&mut self, dir: &Path) -> io::Result<(PathBuf, F::File)> {
        loop {
            self.count += 1;
            let path = dir.join(format!("{TEMPORARY}{}", self.count));
            match self.files.create(&path) {
                Ok(file) => return Ok((path, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.count < u64::MAX => {}
                Err(error) => {
                    self.made.remove(dir);
                    return Err(error);
                }
            }
        }
    }

    /// Moves a file into a folder under a name that is free there; gives that name.
    pub(super) fn put_away(&mut self, path: &Path, dir: &Path) -> io::Result<PathBuf> {
        self.folder(dir)?;
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("unnamed");
        let mut to = dir.join(name);
        let mut n = 1_u32;
        while self.files.stat(&to)?.is_some() {
            to = dir.join(format!("{name}.{n}"));
            n = n.saturating_add(1);
        }
        self.files.rename(path, &to)?;
        self.files.sync_dir(dir)?;
        if let Some(from) = path.parent() {
            self.files.sync_dir(from)?;
        }
        Ok(to)
    }

    /// A folder was removed: it has to be made again.
    pub(super) fn forget(&mut self, dir: &Path) {
        self.made.remove(dir);
    }

    /// Removes temporary files that a crash left in a folder.
    pub(super) fn sweep(&mut self, dir: &Path) {
        for name in self.files.list(dir).unwrap_or_default() {
            if name.starts_with(TEMPORARY) {
                let _ = self.files.remove(&dir.join(name));
            }
        }
    }
}

/// Writes all bytes, however many calls it takes.
pub(super) fn write_all<F: Files>(files: &F, file: &mut F::File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let taken = files.write(file, bytes)?;
        if taken == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(taken..).unwrap_or_default();
    }
    Ok(())
}
