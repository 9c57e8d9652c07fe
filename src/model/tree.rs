//! What a work tree differs in from a commit, small enough to be kept in a record; and what changed between two of these.
//! Who asks git is `agent::git`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Changed lines of one file of which each is told apart; of a file with more only the counts are known.
pub const LINES_OF_A_FILE: usize = 500;
/// Changed lines of all files of which each is told apart.
pub const LINES: usize = 2_000;
/// Files that are looked at.
pub const FILES: usize = 500;

/// A work tree beside a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeState {
    /// The commit it is compared with.
    pub base: String,
    /// Files that differ from it, by the hash of their path (8 hex digits).
    pub files: BTreeMap<String, FileState>,
}

/// One file beside the same file of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Hash of all its changed lines.
    pub sum: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// Hashes of the added lines, 8 hex digits each; empty when they are too many.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub plus: String,
    /// Hashes of the removed lines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub minus: String,
}

/// What changed in a work tree since the review before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "seen")]
pub enum Work {
    /// There is no repository, or git cannot read it.
    Unknown,
    /// There was no review before.
    First,
    /// So much, by git.
    Changed {
        /// Files that changed.
        files: u32,
        /// Lines that came in.
        added: u32,
        /// Lines that went away.
        removed: u32,
    },
}

impl TreeState {
    /// What changed from an earlier state beside the same commit. A line that was moved counts as none.
    #[must_use]
    pub fn since(&self, before: &Self) -> Work {
        let none = FileState::default();
        let (mut files, mut added, mut removed) = (0_u32, 0_u32, 0_u32);
        let names = before.files.keys().filter(|name| !self.files.contains_key(*name)).chain(self.files.keys());
        for name in names {
            let (old, new) = (before.files.get(name).unwrap_or(&none), self.files.get(name).unwrap_or(&none));
            if old.sum == new.sum {
                continue;
            }
            files = files.saturating_add(1);
            let (came, went) = changed(old, new);
            added = added.saturating_add(came);
            removed = removed.saturating_add(went);
        }
        Work::Changed { files, added, removed }
    }
}

/// Lines that came into a file and that went from it, told by what it added and removed before and does now.
fn changed(old: &FileState, new: &FileState) -> (u32, u32) {
    if !old.is_told_apart() || !new.is_told_apart() {
        let more = |now: u32, before: u32| now.saturating_sub(before);
        return (
            more(new.added, old.added).saturating_add(more(old.removed, new.removed)),
            more(new.removed, old.removed).saturating_add(more(old.added, new.added)),
        );
    }
    (
        surplus(&new.plus, &old.plus).saturating_add(surplus(&old.minus, &new.minus)),
        surplus(&new.minus, &old.minus).saturating_add(surplus(&old.plus, &new.plus)),
    )
}

impl FileState {
    const fn is_told_apart(&self) -> bool {
        (!self.plus.is_empty() || self.added == 0) && (!self.minus.is_empty() || self.removed == 0)
    }
}

/// How many hashes of `more` have no partner in `less`.
fn surplus(more: &str, less: &str) -> u32 {
    let mut left: BTreeMap<&[u8], u32> = BTreeMap::new();
    for hash in less.as_bytes().chunks(8) {
        *left.entry(hash).or_default() += 1;
    }
    let mut count = 0;
    for hash in more.as_bytes().chunks(8) {
        match left.get_mut(hash) {
            Some(partners) if *partners > 0 => *partners -= 1,
            _ => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(plus: &str, minus: &str) -> TreeState {
        let count = |hashes: &str| u32::try_from(hashes.len() / 8).unwrap();
        let file = FileState {
            sum: format!("{plus}/{minus}"),
            added: count(plus),
            removed: count(minus),
            plus: plus.to_owned(),
            minus: minus.to_owned(),
        };
        TreeState { base: "c".to_owned(), files: [("f".to_owned(), file)].into() }
    }

    #[test]
    fn lines_written_anew_in_the_same_place_count_as_changed() {
        let (before, after) = (state("aaaaaaaabbbbbbbb", ""), state("aaaaaaaacccccccc", ""));
        assert_eq!(after.since(&before), Work::Changed { files: 1, added: 1, removed: 1 });
        assert_eq!(before.since(&before), Work::Changed { files: 0, added: 0, removed: 0 });
    }

    #[test]
    fn a_line_that_is_back_counts_as_added_and_a_file_that_is_as_committed_again_as_changed() {
        let (before, none) = (state("aaaaaaaa", "dddddddd"), TreeState::default());
        assert_eq!(none.since(&before), Work::Changed { files: 1, added: 1, removed: 1 });
        assert_eq!(before.since(&none), Work::Changed { files: 1, added: 1, removed: 1 });
    }

    #[test]
    fn of_very_many_lines_the_counts_are_compared() {
        let many = |added, sum: &str| {
            let file = FileState { sum: sum.to_owned(), added, ..FileState::default() };
            TreeState { base: "c".to_owned(), files: [("f".to_owned(), file)].into() }
        };
        assert_eq!(many(900, "b").since(&many(700, "a")), Work::Changed { files: 1, added: 200, removed: 0 });
    }
}
