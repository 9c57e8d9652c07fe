//! The system calls a store is made of, as a trait, and the real ones.
//! What is written in which order, so that nothing tears, is `atomic`'s business.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// The most a single file is read for, in bytes: what is larger was not written by trellis.
const READ_LIMIT: u64 = 64 << 20;

/// What tells whether a file is still the one that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMark {
    /// Device and inode.
    pub identity: (u64, u64),
    /// Length in bytes.
    pub length: u64,
    /// Time of the last change of its content, in nanoseconds of the epoch.
    pub modified: i128,
    /// Whether it is an ordinary file (no link, pipe or folder).
    pub is_file: bool,
}

/// The calls. `&self`: the state is the system's.
pub trait Files {
    /// An open file.
    type File;

    /// Makes a folder in one that is there, for the person alone. One that is there already is fine.
    ///
    /// # Errors
    /// The system's.
    fn make_dir(&self, dir: &Path) -> io::Result<()>;
    /// Opens a file that must not be there yet, for the person alone.
    ///
    /// # Errors
    /// The system's; `AlreadyExists` when it is there.
    fn create(&self, path: &Path) -> io::Result<Self::File>;
    /// Opens a file for writing at its end and makes it if it is not there, for the person alone.
    ///
    /// # Errors
    /// The system's.
    fn append(&self, path: &Path) -> io::Result<Self::File>;
    /// Writes; may take fewer bytes than given.
    ///
    /// # Errors
    /// The system's.
    fn write(&self, file: &mut Self::File, bytes: &[u8]) -> io::Result<usize>;
    /// Brings a file's content to the disk.
    ///
    /// # Errors
    /// The system's. The file must then be given up: a second call may claim success for lost pages.
    fn sync(&self, file: &Self::File) -> io::Result<()>;
    /// The mark of an open file.
    ///
    /// # Errors
    /// The system's.
    fn mark(&self, file: &Self::File) -> io::Result<FileMark>;
    /// Gives a file another name, over what bears that name.
    ///
    /// # Errors
    /// The system's.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Brings a folder's entries to the disk.
    ///
    /// # Errors
    /// The system's.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Reads an ordinary file from an offset to its end, with its mark as it was before reading.
    ///
    /// # Errors
    /// The system's; `NotFound`; `InvalidInput` when it is no ordinary file; `FileTooLarge`.
    fn read(&self, path: &Path, from: u64) -> io::Result<(Vec<u8>, FileMark)>;
    /// The mark of a path, without following a link; `None` when nothing is there.
    ///
    /// # Errors
    /// The system's.
    fn stat(&self, path: &Path) -> io::Result<Option<FileMark>>;
    /// Names in a folder, sorted; none when it is not there.
    ///
    /// # Errors
    /// The system's.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Removes a file; one that is not there is fine.
    ///
    /// # Errors
    /// The system's.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder; one that is not there is fine.
    ///
    /// # Errors
    /// The system's.
    fn remove_dir(&self, dir: &Path) -> io::Result<()>;
}

/// The real system.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsFiles;

impl Files for OsFiles {
    type File = File;

    fn make_dir(&self, dir: &Path) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
            made => made,
        }
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
    }

    fn append(&self, path: &Path) -> io::Result<File> {
        // Readable too, so that the last byte can be looked at.
        OpenOptions::new().read(true).append(true).create(true).mode(0o600).custom_flags(no_follow()).open(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn mark(&self, file: &File) -> io::Result<FileMark> {
        file.metadata().map(|meta| mark_of(&meta))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        // What is no folder is refused, and a pipe in its place not waited for.
        OpenOptions::new().read(true).custom_flags(bits(OFlags::DIRECTORY)).open(dir)?.sync_all()
    }

    fn read(&self, path: &Path, from: u64) -> io::Result<(Vec<u8>, FileMark)> {
        let mut file = OpenOptions::new().read(true).custom_flags(no_follow()).open(path)?;
        let mark = mark_of(&file.metadata()?);
        if !mark.is_file {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no ordinary file"));
        }
        if mark.length.saturating_sub(from) > READ_LIMIT {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is far too large"));
        }
        file.seek(SeekFrom::Start(from))?;
        // One byte more: that it has ended is seen without another piece.
        let length = usize::try_from(mark.length.saturating_sub(from)).unwrap_or_default();
        let mut bytes = Vec::with_capacity(length.saturating_add(1));
        file.take(READ_LIMIT).read_to_end(&mut bytes)?;
        Ok((bytes, mark))
    }

    fn stat(&self, path: &Path) -> io::Result<Option<FileMark>> {
        match std::fs::symlink_metadata(path) {
            Ok(meta) => Ok(Some(mark_of(&meta))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            // A link that leads nowhere is no empty folder: what it led to may come back.
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.stat(dir)?.is_none() => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        // A name that is no text was not made by trellis.
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok().and_then(|entry| entry.file_name().into_string().ok())).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        gone_is_fine(std::fs::remove_file(path))
    }

    fn remove_dir(&self, dir: &Path) -> io::Result<()> {
        gone_is_fine(std::fs::remove_dir(dir))
    }
}

fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Neither follow a link nor wait at a pipe.
pub(super) fn no_follow() -> i32 {
    bits(OFlags::NOFOLLOW | OFlags::NONBLOCK)
}

fn bits(flags: OFlags) -> i32 {
    i32::try_from(flags.bits()).unwrap_or(0)
}

fn mark_of(meta: &std::fs::Metadata) -> FileMark {
    FileMark {
        identity: (meta.dev(), meta.ino()),
        length: meta.len(),
        modified: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
        is_file: meta.is_file(),
    }
}

/// Why the system refused, in a few words.
#[must_use]
pub fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "no space left".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotFound => "it is not there".to_owned(),
        _ => {
            let text = error.to_string();
            text.split_once(" (os error").map_or(text.clone(), |(words, _)| words.to_owned()).to_lowercase()
        }
    }
}
