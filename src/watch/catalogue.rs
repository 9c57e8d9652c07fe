//! The sessions under the roots, newest first, from the last walk and cheap probes that are kept until a file changes.
//! Walks nothing itself; what a record means is the transcript readers' business.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::probe::{Probe, probe};
use super::scan::{Spotted, Stamp};
use crate::driver::ports::FoundSession;
use crate::model::ids::{SessionKey, SessionRef};
use crate::supervise::each;

/// What is known of the files under the roots.
#[derive(Default)]
pub(super) struct Catalogue {
    /// By their bytes: paths are compared part by part, which costs more than all else of a walk.
    files: BTreeMap<Arc<OsStr>, Spotted>,
    /// Most have one file.
    by_key: BTreeMap<SessionKey, Vec<Arc<OsStr>>>,
    probes: BTreeMap<Arc<OsStr>, (Stamp, Probe)>,
    /// The sessions, and how many of them were not read yet.
    list: Option<(Vec<FoundSession>, usize)>,
    /// Files that were read since it was last said what to keep.
    learnt: usize,
}

fn key_of(spotted: &Spotted) -> SessionKey {
    SessionKey { agent: spotted.named.agent, session_id: spotted.named.id.clone() }
}

impl Catalogue {
    /// Takes a whole walk over; the sessions whose files are new, changed or gone.
    pub(super) fn adopt(&mut self, files: BTreeMap<Arc<OsStr>, Spotted>) -> BTreeSet<SessionKey> {
        let mut changed = BTreeSet::new();
        for (path, new) in &files {
            if self.files.get(path) != Some(new) {
                changed.insert(key_of(new));
            }
        }
        for (path, old) in &self.files {
            if !files.contains_key(path) {
                changed.insert(key_of(old));
                self.probes.remove(path);
            }
        }
        self.files = files;
        self.by_key.clear();
        for (path, spotted) in &self.files {
            self.by_key.entry(key_of(spotted)).or_default().push(Arc::clone(path));
        }
        if !changed.is_empty() {
            self.list = None;
        }
        changed
    }

    /// Takes one file over as it is now; `None`: it is gone.
    pub(super) fn put(&mut self, path: &Path, now: Option<Spotted>) {
        let path = path.as_os_str();
        if self.files.get(path) == now.as_ref() {
            return;
        }
        self.list = None;
        if let Some(spotted) = now {
            let known = self.files.get_key_value(path).map(|(path, _)| Arc::clone(path));
            let path = known.unwrap_or_else(|| Arc::from(path));
            let paths = self.by_key.entry(key_of(&spotted)).or_default();
            if !paths.contains(&path) {
                paths.push(Arc::clone(&path));
            }
            self.files.insert(path, spotted);
        } else {
            self.probes.remove(path);
            let paths = self.files.remove(path).and_then(|old| self.by_key.get_mut(&key_of(&old)));
            if let Some(paths) = paths {
                paths.retain(|known| **known != *path);
            }
        }
    }

    /// The file of a session: the plain one before the compressed one, then the one written last.
    pub(super) fn find(&self, key: &SessionKey) -> Option<(&Path, &Spotted)> {
        best(&self.files, self.by_key.get(key)?)
    }

    /// Whether a probe showed that this is a sub-agent's thread: nobody has to hear of it.
    pub(super) fn is_subagent(&self, key: &SessionKey) -> bool {
        let mut paths = self.by_key.get(key).into_iter().flatten();
        paths.any(|path| self.probes.get(path).is_some_and(|(_, probe)| probe.subagent))
    }

    /// Every session that a person or trellis may talk to, newest activity first.
    pub(super) fn sessions(&mut self) -> &[FoundSession] {
        self.so_far(usize::MAX).0
    }

    /// The same, of which this many files at most are read that were not yet, the newest first; and how many are left.
    pub(super) fn so_far(&mut self, most: usize) -> (&[FoundSession], usize) {
        let (list, left) = self.list.take().filter(|(_, left)| *left == 0).unwrap_or_else(|| self.build(most));
        let (list, left) = self.list.insert((list, left));
        (list, *left)
    }

    /// Takes over what was kept of an earlier start. What changed since then is told by its stamp.
    pub(super) fn recall(&mut self, recalled: Recalled) {
        let learnt = mem::replace(&mut self.probes, recalled.0);
        self.probes.extend(learnt);
        self.list = None;
    }

    /// What is to be kept for the next start, if enough was learnt for that since the last call.
    pub(super) fn worth_keeping(&mut self, least: usize) -> Option<String> {
        if self.learnt < least.max(1) {
            return None;
        }
        self.learnt = 0;
        let known = self.probes.iter().filter(|(path, _)| self.files.contains_key(*path));
        let kept: Vec<Kept<'_>> = known
            .map(|(path, (stamp, probe))| Kept(Cow::Borrowed(Path::new(&**path)), *stamp, Cow::Borrowed(probe)))
            .collect();
        // A path that is no text cannot be kept so; it is read again.
        serde_json::to_string(&kept).ok()
    }

    fn build(&mut self, most: usize) -> (Vec<FoundSession>, usize) {
        let mut files: Vec<(&SessionKey, &Path, &Spotted)> = Vec::with_capacity(self.by_key.len());
        let best = |paths| best(&self.files, paths);
        files.extend(self.by_key.iter().filter_map(|(key, paths)| best(paths).map(|(path, file)| (key, path, file))));
        files.sort_by(|(one, _, a), (two, _, b)| {
            b.stamp.modified.cmp(&a.stamp.modified).then_with(|| one.session_id.cmp(&two.session_id))
        });
        let is_new = |path: &Path, file: &Spotted| {
            self.probes.get(path.as_os_str()).is_none_or(|(stamp, _)| *stamp != file.stamp)
        };
        let files_of = files.iter().map(|(_, path, file)| (*path, *file));
        let mut unread: Vec<_> = files_of.filter(|(path, file)| is_new(path, file)).collect();
        let left = unread.len().saturating_sub(most);
        unread.truncate(most);
        let said = each(&unread, |(path, file)| probe(&file.named, path));
        let read: Vec<_> = unread.into_iter().map(|(path, file)| (Arc::from(path.as_os_str()), file.stamp)).collect();
        self.learnt += read.len();
        self.probes.extend(read.into_iter().zip(said).map(|((path, stamp), said)| (path, (stamp, said))));
        // What one said before it changed is better than nothing.
        let said = |path: &Path| self.probes.get(path.as_os_str()).map(|(_, probe)| probe.clone()).unwrap_or_default();
        let listed = files.into_iter().map(|(key, path, spotted)| (key, path, spotted, said(path)));
        let found = listed
            .filter(|(.., probe)| !probe.subagent)
            .map(|(key, path, spotted, probe)| found_session(key.clone(), path, spotted, probe));
        (found.collect(), left)
    }
}

/// What an earlier start kept of the files that it read.
pub(super) struct Recalled(BTreeMap<Arc<OsStr>, (Stamp, Probe)>);

impl Recalled {
    /// What cannot be read is learnt anew.
    pub(super) fn of(kept: &[u8]) -> Self {
        let kept: Vec<Kept<'_>> = serde_json::from_slice(kept).unwrap_or_default();
        let kept = kept.into_iter();
        Self(kept.map(|Kept(path, stamp, probe)| (Arc::from(path.as_os_str()), (stamp, probe.into_owned()))).collect())
    }
}

/// A file, what it was when it was read, and what it said.
#[derive(Serialize, Deserialize)]
struct Kept<'a>(Cow<'a, Path>, Stamp, Cow<'a, Probe>);

fn found_session(key: SessionKey, path: &Path, spotted: &Spotted, probe: Probe) -> FoundSession {
    FoundSession {
        session: SessionRef { agent: key.agent, worktree: probe.cwd.unwrap_or_default(), session_id: key.session_id },
        path: path.display().to_string().into(),
        title: probe.title,
        modified_at: spotted.stamp.modified_at(),
        branch: probe.branch,
        last_words: probe.last_words,
    }
}

fn best<'a>(files: &'a BTreeMap<Arc<OsStr>, Spotted>, paths: &'a [Arc<OsStr>]) -> Option<(&'a Path, &'a Spotted)> {
    let spotted = paths.iter().filter_map(|path| Some((Path::new(&**path), files.get(path)?)));
    spotted.max_by_key(|(_, spotted)| rank(spotted))
}

fn rank(spotted: &Spotted) -> (bool, (i64, i64)) {
    (!spotted.named.compressed, spotted.stamp.modified)
}
