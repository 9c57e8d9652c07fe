//! One walk over the agents' roots: which transcripts and folders are there, and what could not be read. Opens no file.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::naming::{self, Named};
use crate::model::ids::Agent;
use crate::supervise::both;

/// Where an agent keeps its transcripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Whose.
    pub agent: Agent,
    /// Claude Code: the folder `projects`; Codex: the folder `sessions`.
    pub folder: PathBuf,
}

/// What `stat` says: equal stamps mean that a file was most likely not touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) length: u64,
    /// Seconds and nanoseconds.
    pub(super) modified: (i64, i64),
    /// The same of the inode, which no program can set.
    pub(super) changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            length: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Of what a path leads to; `None` if it leads to nothing that can be asked.
    pub(super) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|meta| Self::of(&meta))
    }

    /// Device and inode, as text.
    pub(super) fn identity(&self) -> String {
        format!("{}:{}", self.device, self.inode)
    }

    /// Newest write.
    pub(super) fn modified_at(&self) -> Option<Timestamp> {
        let nanos = i32::try_from(self.modified.1).ok()?;
        Timestamp::new(self.modified.0, nanos).ok()
    }
}

/// A transcript that a walk met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spotted {
    pub(super) named: Named,
    pub(super) stamp: Stamp,
}

/// How an agent's root was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum RootState {
    /// Every folder of it that matters.
    #[default]
    Whole,
    /// It is not there.
    Missing,
    /// Not, or not all of it: a sentence.
    Unreadable(String),
}

/// A folder that may hold transcripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Folder {
    /// Newest change of it or of a transcript in it, in seconds since 1970.
    pub(super) newest: i64,
    /// Whether transcripts, and no more folders, are in it.
    pub(super) is_leaf: bool,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) files: BTreeMap<Arc<OsStr>, Spotted>,
    /// The roots included.
    pub(super) folders: BTreeMap<PathBuf, Folder>,
    pub(super) roots: BTreeMap<Agent, RootState>,
}

/// Walks the roots, at the same time.
pub(super) fn scan(roots: &[Root]) -> Scan {
    match roots {
        [] => Scan::default(),
        [root] => scan_one(root),
        [root, others @ ..] => {
            let (mut found, more) = both(|| scan_one(root), || scan(others));
            found.files.extend(more.files);
            found.folders.extend(more.folders);
            found.roots.extend(more.roots);
            found
        }
    }
}

fn scan_one(root: &Root) -> Scan {
    let (mut found, mut why) = (Scan::default(), None);
    let state = match fs::metadata(&root.folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => RootState::Missing,
        Err(error) => RootState::Unreadable(unreadable(&root.folder, &error)),
        Ok(meta) => {
            walk(root, &root.folder, &meta, 0, &mut found, &mut why);
            why.map_or(RootState::Whole, RootState::Unreadable)
        }
    };
    found.roots.insert(root.agent, state);
    found
}

/// The sentence for a path that cannot be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("can't read {}: {error}", path.display())
}

fn walk(root: &Root, folder: &Path, meta: &Metadata, depth: usize, found: &mut Scan, why: &mut Option<String>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // It went away since its parent was listed: as if it had not been.
        Err(error) if depth > 0 && error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            why.get_or_insert_with(|| unreadable(folder, &error));
            return;
        }
    };
    let mut newest = meta.mtime();
    for entry in entries {
        let (path, entry) = match entry {
            Ok(entry) => (entry.path(), entry),
            Err(error) => {
                why.get_or_insert_with(|| unreadable(folder, &error));
                continue;
            }
        };
        let named = naming::parse(root.agent, &root.folder, &path);
        let name = path.file_name().and_then(|name| name.to_str());
        let inside = naming::is_folder_of_interest(root.agent, depth.saturating_add(1), name);
        if named.is_none() && !inside {
            continue;
        }
        // The name in its folder is asked for, not the whole path; a link leads elsewhere.
        let meta = match entry.metadata() {
            Ok(meta) if meta.is_symlink() => fs::metadata(&path),
            met => met,
        };
        let meta = match meta {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                why.get_or_insert_with(|| unreadable(&path, &error));
                continue;
            }
        };
        if meta.is_dir() && inside {
            walk(root, &path, &meta, depth.saturating_add(1), found, why);
        } else if let Some(named) = named.filter(|_| meta.is_file()) {
            newest = newest.max(meta.mtime());
            found.files.insert(path.into_os_string().into(), Spotted { named, stamp: Stamp::of(&meta) });
        }
    }
    let is_leaf = depth == naming::leaf_depth(root.agent);
    found.folders.insert(folder.to_owned(), Folder { newest, is_leaf });
}

/// The path as the system reports it in events: absolute, symlinks resolved as far as it exists.
pub(super) fn settle(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for ancestor in absolute.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), absolute.strip_prefix(ancestor)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    absolute
}
