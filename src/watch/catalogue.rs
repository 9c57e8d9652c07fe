//! The sessions under the roots, newest first, from the last walk and cheap probes that are kept until a file changes.
//! Walks nothing itself; what a record means is the transcript readers' business.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::probe::{Probe, probe};
use super::scan::{Spotted, Stamp};
use crate::driver::ports::FoundSession;
use crate::model::ids::{SessionKey, SessionRef};

/// What is known of the files under the roots.
#[derive(Default)]
pub(super) struct Catalogue {
    files: BTreeMap<PathBuf, Spotted>,
    by_key: BTreeMap<SessionKey, BTreeSet<PathBuf>>,
    probes: BTreeMap<PathBuf, (Stamp, Probe)>,
    list: Option<Vec<FoundSession>>,
}

fn key_of(spotted: &Spotted) -> SessionKey {
    SessionKey { agent: spotted.named.agent, session_id: spotted.named.id.clone() }
}

impl Catalogue {
    /// Takes a whole walk over; the sessions whose files are new, changed or gone.
    pub(super) fn adopt(&mut self, files: BTreeMap<PathBuf, Spotted>) -> BTreeSet<SessionKey> {
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
            self.by_key.entry(key_of(spotted)).or_default().insert(path.clone());
        }
        if !changed.is_empty() {
            self.list = None;
        }
        changed
    }

    /// Takes one file over as it is now; `None`: it is gone.
    pub(super) fn put(&mut self, path: &Path, now: Option<Spotted>) {
        if self.files.get(path) == now.as_ref() {
            return;
        }
        self.list = None;
        if let Some(spotted) = now {
            self.by_key.entry(key_of(&spotted)).or_default().insert(path.to_owned());
            self.files.insert(path.to_owned(), spotted);
        } else {
            self.probes.remove(path);
            let paths = self.files.remove(path).and_then(|old| self.by_key.get_mut(&key_of(&old)));
            if let Some(paths) = paths {
                paths.remove(path);
            }
        }
    }

    /// The file of a session: the plain one before the compressed one, then the one written last.
    pub(super) fn find(&self, key: &SessionKey) -> Option<(&Path, &Spotted)> {
        let paths = self.by_key.get(key)?.iter();
        paths.filter_map(|path| Some((path.as_path(), self.files.get(path)?))).max_by_key(|(_, spotted)| rank(spotted))
    }

    /// Whether a probe showed that this is a sub-agent's thread: nobody has to hear of it.
    pub(super) fn is_subagent(&self, key: &SessionKey) -> bool {
        let mut paths = self.by_key.get(key).into_iter().flatten();
        paths.any(|path| self.probes.get(path).is_some_and(|(_, probe)| probe.subagent))
    }

    /// Every session that a person or trellis may talk to, newest activity first.
    pub(super) fn sessions(&mut self) -> &[FoundSession] {
        let list = self.list.take().unwrap_or_else(|| self.build());
        self.list.insert(list)
    }

    fn build(&mut self) -> Vec<FoundSession> {
        let mut found: Vec<(Stamp, FoundSession)> = Vec::with_capacity(self.by_key.len());
        let mut fresh = Vec::new();
        for key in self.by_key.keys() {
            let Some((path, spotted)) = self.find(key) else { continue };
            let kept = self.probes.get(path).filter(|(stamp, _)| *stamp == spotted.stamp);
            let probe = kept.map_or_else(|| probe(&spotted.named, path), |(_, probe)| probe.clone());
            if kept.is_none() {
                fresh.push((path.to_owned(), (spotted.stamp, probe.clone())));
            }
            if !probe.subagent {
                found.push((spotted.stamp, found_session(key.clone(), path, spotted, probe)));
            }
        }
        self.probes.extend(fresh);
        found.sort_by(|(a, one), (b, two)| {
            b.modified.cmp(&a.modified).then_with(|| one.session.session_id.cmp(&two.session.session_id))
        });
        found.into_iter().map(|(_, session)| session).collect()
    }
}

fn found_session(key: SessionKey, path: &Path, spotted: &Spotted, probe: Probe) -> FoundSession {
    FoundSession {
        session: SessionRef { agent: key.agent, worktree: probe.cwd.unwrap_or_default(), session_id: key.session_id },
        path: path.display().to_string(),
        title: probe.title,
        modified_at: spotted.stamp.modified_at(),
        branch: probe.branch,
    }
}

fn rank(spotted: &Spotted) -> (bool, (i64, i64)) {
    (!spotted.named.compressed, spotted.stamp.modified)
}
