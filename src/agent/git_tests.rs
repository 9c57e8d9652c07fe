//! Tests of `agent::git`.

#![expect(clippy::disallowed_methods, reason = "a test writes files of its own")]

use super::*;

fn git(folder: &std::path::Path, words: &[&str]) {
    let all = ["-C", folder.to_str().unwrap(), "-c", "user.name=dev", "-c", "user.email=dev@example.com"];
    let ended = Program::new("git", all.iter().chain(words)).run().unwrap();
    assert_eq!(ended.code, Some(0), "{}", ended.complaint);
}

#[test]
fn a_mark_changes_with_the_tree_and_with_the_head() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    assert_eq!(mark(path), None, "no repository");
    git(folder.path(), &["init", "-q"]);
    let unborn = mark(path).unwrap();
    assert_eq!(unborn.head, "");
    std::fs::write(folder.path().join("a"), "1").unwrap();
    let added = mark(path).unwrap();
    assert_ne!(added.status_sha256, unborn.status_sha256);
    git(folder.path(), &["add", "a"]);
    git(folder.path(), &["commit", "-qm", "a"]);
    let committed = mark(path).unwrap();
    assert_eq!(committed.head.len(), 40);
    assert_eq!(committed.status_sha256, unborn.status_sha256);
}
