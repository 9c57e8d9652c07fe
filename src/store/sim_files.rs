//! A disk in memory for tests and the simulator: fails on demand, and forgets at a crash what was not brought to it.
//! Deterministic: no clock, no randomness of its own.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::files::{FileMark, Files};

/// What a call that is to fail does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No space left.
    NoSpace,
    /// An error of the device.
    Io,
    /// The file system is read-only.
    ReadOnly,
    /// A write takes half of its bytes; any other call fails as the device's error.
    ShortWrite,
    /// This call and every later one fail: the process is dead. See [`SimFiles::revive`] and [`SimFiles::crash`].
    Kill,
}

/// The disk. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub struct SimFiles {
    disk: Arc<Mutex<Disk>>,
}

/// An open file.
#[derive(Debug)]
pub struct SimFile {
    inode: u64,
}

#[derive(Debug, Default)]
struct Disk {
    /// What programs see.
    names: BTreeMap<PathBuf, Node>,
    /// What a crash leaves.
    durable: BTreeMap<PathBuf, Node>,
    files: BTreeMap<u64, Content>,
    inodes: u64,
    tick: i128,
    calls: u64,
    fault: Option<(u64, Fault)>,
    dead: bool,
    full: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Dir,
    File(u64),
}

#[derive(Debug, Default)]
struct Content {
    now: Vec<u8>,
    durable: Vec<u8>,
    modified: i128,
}

impl SimFiles {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls made so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.disk().calls
    }

    /// Lets the `n`-th call from now (0: the next) fail.
    pub fn fail_at(&self, n: u64, fault: Fault) {
        let mut disk = self.disk();
        disk.fault = Some((disk.calls + n, fault));
    }

    /// Whether a fault that was laid has not struck yet.
    #[must_use]
    pub fn is_fault_ahead(&self) -> bool {
        self.disk().fault.is_some()
    }

    /// Whether the process is dead: see [`Fault::Kill`].
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.disk().dead
    }

    /// Takes back a fault that has not struck.
    pub fn heal(&self) {
        self.disk().fault = None;
    }

    /// A full disk: every write fails until it is set free.
    pub fn set_full(&self, full: bool) {
        self.disk().full = full;
    }

    /// The process is started again after it was killed: the system still holds all that was written.
    pub fn revive(&self) {
        let mut disk = self.disk();
        (disk.dead, disk.fault) = (false, None);
    }

    /// The machine lost its power. For each name and each content that was not brought to the disk, `keep` says whether it
    /// survived all the same; `|| false` is the strictest disk.
    pub fn crash(&self, mut keep: impl FnMut() -> bool) {
        let mut disk = self.disk();
        let disk = &mut *disk;
        (disk.dead, disk.fault) = (false, None);
        let mut names: Vec<PathBuf> = disk.names.keys().chain(disk.durable.keys()).cloned().collect();
        names.sort_unstable();
        names.dedup();
        let mut left: BTreeMap<PathBuf, Node> = BTreeMap::new();
        for name in names {
            let (now, durable) = (disk.names.get(&name), disk.durable.get(&name));
            let survivor = if now == durable || keep() { now } else { durable };
            let reachable = name.parent().is_none_or(|parent| parent == Path::new("/") || left.contains_key(parent));
            if let (Some(node), true) = (survivor, reachable) {
                left.insert(name, *node);
            }
        }
        for content in disk.files.values_mut() {
            if content.now != content.durable && !keep() {
                content.now.clone_from(&content.durable);
            }
            content.durable.clone_from(&content.now);
        }
        disk.names.clone_from(&left);
        disk.durable = left;
    }

    /// Puts a file there as another program would: at once and for good.
    pub fn put(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        let path = path.as_ref();
        let mut disk = self.disk();
        for parent in path.ancestors().skip(1).filter(|parent| parent.parent().is_some()) {
            disk.names.insert(parent.to_owned(), Node::Dir);
            disk.durable.insert(parent.to_owned(), Node::Dir);
        }
        let inode = disk.new_file();
        let tick = disk.tick;
        if let Some(content) = disk.files.get_mut(&inode) {
            *content = Content { now: bytes.to_vec(), durable: bytes.to_vec(), modified: tick };
        }
        disk.names.insert(path.to_owned(), Node::File(inode));
        disk.durable.insert(path.to_owned(), Node::File(inode));
    }

    /// The content of a file, without a call that could fail.
    #[must_use]
    pub fn get(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let disk = self.disk();
        match disk.names.get(path.as_ref())? {
            Node::File(inode) => disk.files.get(inode).map(|content| content.now.clone()),
            Node::Dir => None,
        }
    }

    /// All files there, sorted.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        let disk = self.disk();
        disk.names.iter().filter(|(_, node)| **node != Node::Dir).map(|(path, _)| path.clone()).collect()
    }
}

impl Disk {
    /// Counts a call and lets it fail if it is to.
    fn call(&mut self, write: Option<usize>) -> io::Result<Option<usize>> {
        if self.dead {
            return Err(io::Error::other("the process is dead"));
        }
        let this = self.calls;
        self.calls += 1;
        if self.full && write.is_some() {
            return Err(ErrorKind::StorageFull.into());
        }
        let Some((_, fault)) = self.fault.filter(|(at, _)| *at == this) else { return Ok(write) };
        self.fault = None;
        match fault {
            Fault::NoSpace => Err(ErrorKind::StorageFull.into()),
            Fault::ReadOnly => Err(ErrorKind::ReadOnlyFilesystem.into()),
            Fault::ShortWrite => match write {
                Some(length) if length > 1 => Ok(Some(length / 2)),
                _ => Err(io::Error::other("input/output error")),
            },
            Fault::Io => Err(io::Error::other("input/output error")),
            Fault::Kill => {
                self.dead = true;
                Err(io::Error::other("the process is dead"))
            }
        }
    }

    fn new_file(&mut self) -> u64 {
        self.inodes += 1;
        self.tick += 1;
        self.files.insert(self.inodes, Content { modified: self.tick, ..Content::default() });
        self.inodes
    }

    fn has_dir(&self, path: &Path) -> io::Result<()> {
        let parent = path.parent().unwrap_or(path);
        let there = parent.parent().is_none() || self.names.get(parent) == Some(&Node::Dir);
        if there { Ok(()) } else { Err(ErrorKind::NotFound.into()) }
    }

    fn mark(&self, node: Node) -> FileMark {
        match node {
            Node::Dir => FileMark { identity: (0, 0), length: 0, modified: 0, is_file: false },
            Node::File(inode) => {
                let content = self.files.get(&inode);
                FileMark {
                    identity: (1, inode),
                    length: content.map_or(0, |content| content.now.len() as u64),
                    modified: content.map_or(0, |content| content.modified),
                    is_file: true,
                }
            }
        }
    }
}

impl Files for SimFiles {
    type File = SimFile;

    fn make_dir(&self, dir: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        disk.call(None)?;
        disk.has_dir(dir)?;
        match disk.names.get(dir) {
            Some(Node::File(_)) => return Err(ErrorKind::AlreadyExists.into()),
            Some(Node::Dir) => {}
            None => {
                disk.names.insert(dir.to_owned(), Node::Dir);
            }
        }
        Ok(())
    }

    fn create(&self, path: &Path) -> io::Result<SimFile> {
        let mut disk = self.disk();
        disk.call(None)?;
        disk.has_dir(path)?;
        if disk.names.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let inode = disk.new_file();
        disk.names.insert(path.to_owned(), Node::File(inode));
        Ok(SimFile { inode })
    }

    fn append(&self, path: &Path) -> io::Result<SimFile> {
        let mut disk = self.disk();
        disk.call(None)?;
        disk.has_dir(path)?;
        match disk.names.get(path) {
            Some(Node::File(inode)) => Ok(SimFile { inode: *inode }),
            Some(Node::Dir) => Err(ErrorKind::IsADirectory.into()),
            None => {
                let inode = disk.new_file();
                disk.names.insert(path.to_owned(), Node::File(inode));
                Ok(SimFile { inode })
            }
        }
    }

    fn write(&self, file: &mut SimFile, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = self.disk();
        let taken = disk.call(Some(bytes.len()))?.unwrap_or(bytes.len());
        disk.tick += 1;
        let tick = disk.tick;
        let content = disk.files.entry(file.inode).or_default();
        content.now.extend(bytes.iter().take(taken));
        content.modified = tick;
        Ok(taken)
    }

    fn sync(&self, file: &SimFile) -> io::Result<()> {
        let mut disk = self.disk();
        disk.call(None)?;
        if let Some(content) = disk.files.get_mut(&file.inode) {
            content.durable.clone_from(&content.now);
        }
        Ok(())
    }

    fn mark(&self, file: &SimFile) -> io::Result<FileMark> {
        let mut disk = self.disk();
        disk.call(None)?;
        Ok(disk.mark(Node::File(file.inode)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        disk.call(None)?;
        disk.has_dir(to)?;
        let node = disk.names.remove(from).ok_or(ErrorKind::NotFound)?;
        disk.names.insert(to.to_owned(), node);
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        disk.call(None)?;
        let disk = &mut *disk;
        disk.durable.retain(|path, _| path.parent() != Some(dir));
        for (path, node) in disk.names.iter().filter(|(path, _)| path.parent() == Some(dir)) {
            disk.durable.insert(path.clone(), *node);
        }
        Ok(())
    }

    fn read(&self, path: &Path, from: u64) -> io::Result<(Vec<u8>, FileMark)> {
        let mut disk = self.disk();
        disk.call(None)?;
        let node = *disk.names.get(path).ok_or(ErrorKind::NotFound)?;
        let Node::File(inode) = node else {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is no ordinary file"));
        };
        let skipped = usize::try_from(from).unwrap_or(usize::MAX);
        let bytes = disk.files.get(&inode).map(|content| content.now.iter().skip(skipped).copied().collect());
        Ok((bytes.unwrap_or_default(), disk.mark(node)))
    }

    fn stat(&self, path: &Path) -> io::Result<Option<FileMark>> {
        let mut disk = self.disk();
        disk.call(None)?;
        Ok(disk.names.get(path).map(|node| disk.mark(*node)))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut disk = self.disk();
        disk.call(None)?;
        let below = disk.names.keys().filter(|path| path.parent() == Some(dir));
        Ok(below.filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        disk.call(None)?;
        disk.names.remove(path);
        Ok(())
    }

    fn remove_dir(&self, dir: &Path) -> io::Result<()> {
        let mut disk = self.disk();
        disk.call(None)?;
        if disk.names.keys().any(|path| path.parent() == Some(dir)) {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        disk.names.remove(dir);
        Ok(())
    }
}
