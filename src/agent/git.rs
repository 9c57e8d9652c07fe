//! A work tree as git shows it. Read-only: no lock is taken, no hook and no monitor of the repository is run.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::program::Program;
use crate::model::run::GitMark;

/// A large tree on a cold disk takes a while.
const LIMIT: Duration = Duration::from_mins(1);

/// The mark of a work tree; `None` when there is no repository or git cannot read it.
#[must_use]
pub fn mark(worktree: &str) -> Option<GitMark> {
    let status = ask(worktree, &["status", "--porcelain"])?;
    // A repository without a commit has a status and no head.
    let head = ask(worktree, &["rev-parse", "--verify", "--quiet", "HEAD"]).unwrap_or_default();
    let mut status_sha256 = String::with_capacity(64);
    for byte in Sha256::digest(status.as_bytes()) {
        use std::fmt::Write as _;
        let _ = write!(status_sha256, "{byte:02x}");
    }
    Some(GitMark { head: head.trim().to_owned(), status_sha256 })
}

fn ask(worktree: &str, words: &[&str]) -> Option<String> {
    let first = ["-c", "core.fsmonitor=false", "-C", worktree];
    let asked = Program::new("git", first.iter().chain(words))
        .with("GIT_OPTIONAL_LOCKS", "0")
        .with("LC_ALL", "C")
        .without("GIT_DIR")
        .without("GIT_WORK_TREE")
        .without("GIT_INDEX_FILE")
        .limit(LIMIT)
        .run();
    asked.ok()?.content().ok()
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
