//! What is known of work trees: git's mark, and what they differ in from commits. Each question is asked once at a time.
//! What an answer means to a run is not known here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::Core;
use crate::driver::ports::{Agents, Job, Records, Transcripts};
use crate::machine::Trees;
use crate::model::run::GitMark;
use crate::model::tree::TreeState;

/// Work trees as last observed.
#[derive(Clone, Debug, Default)]
pub struct WorkTrees {
    pub(super) seen: BTreeMap<String, (Timestamp, Option<GitMark>)>,
    pub(super) asked: BTreeSet<String>,
    lines: Trees,
    /// How often something was learnt of each.
    changes: BTreeMap<String, u64>,
    lines_asked: BTreeSet<(String, Option<String>)>,
}

impl WorkTrees {
    /// The newest observation.
    #[must_use]
    pub fn seen(&self, worktree: &str) -> Option<(Timestamp, Option<GitMark>)> {
        self.seen.get(worktree).cloned()
    }

    /// How often something was learnt of one.
    #[must_use]
    pub fn changes_of(&self, worktree: &str) -> u64 {
        self.changes.get(worktree).copied().unwrap_or_default()
    }

    pub(super) fn changed(&mut self, worktree: &str) {
        *self.changes.entry(worktree.to_owned()).or_default() += 1;
    }

    /// What they differ in from commits.
    #[must_use]
    pub const fn beside_commits(&self) -> &Trees {
        &self.lines
    }

    /// Takes an observation in; those of long ago are dropped.
    pub(super) fn counted(&mut self, key: (String, Option<String>), at: Timestamp, state: Option<TreeState>) {
        const KEPT: usize = 64;
        self.lines_asked.remove(&key);
        self.changed(&key.0);
        if self.lines.len() >= KEPT {
            let oldest = self.lines.iter().min_by_key(|(_, (at, _))| *at).map(|(key, _)| key.clone());
            oldest.map(|key| self.lines.remove(&key));
        }
        self.lines.insert(key, (at, state.map(Arc::new)));
    }
}

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Observes a work tree, once at a time.
    pub(super) fn look_at_git(&mut self, worktree: String) {
        if self.trees.asked.insert(worktree.clone()) {
            self.agents.begin(Job::Git { worktree });
        }
    }

    /// Looks up what a work tree differs in from a commit, once at a time.
    pub(super) fn count_lines(&mut self, worktree: String, base: Option<String>) {
        if self.trees.lines_asked.insert((worktree.clone(), base.clone())) {
            self.agents.begin(Job::Lines { worktree, base });
        }
    }
}
