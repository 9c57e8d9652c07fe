//! Tests of `agent::git`.

#![expect(clippy::disallowed_methods, reason = "a test writes files of its own")]

use super::*;
use crate::model::tree::Work;

fn git(folder: &Path, words: &[&str]) {
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
    fs::write(folder.path().join("a"), "1").unwrap();
    let added = mark(path).unwrap();
    assert_ne!(added.status_sha256, unborn.status_sha256);
    git(folder.path(), &["add", "a"]);
    git(folder.path(), &["commit", "-qm", "a"]);
    let committed = mark(path).unwrap();
    assert_eq!(committed.head.len(), 40);
    assert_eq!(committed.status_sha256, unborn.status_sha256);
}

/// A repository with one commit of one file.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q"]);
    fs::write(folder.path().join("a"), "one\ntwo\nthree\n").unwrap();
    git(folder.path(), &["add", "a"]);
    git(folder.path(), &["commit", "-qm", "a"]);
    folder
}

#[test]
fn what_changed_between_two_looks_is_told_by_lines() {
    let folder = repository();
    let (path, file) = (folder.path().to_str().unwrap(), folder.path().join("a"));
    fs::write(&file, "one\ntwo\nthree\nfour\n").unwrap();
    let first = lines(path, None).unwrap();
    // The line that was added is written anew, and another file comes that git does not know.
    fs::write(&file, "one\ntwo\nthree\nFOUR\n").unwrap();
    fs::write(folder.path().join("new ü"), "x\ny\n").unwrap();
    let second = lines(path, Some(&first.base)).unwrap();
    assert_eq!(second.since(&first), Work::Changed { files: 2, added: 3, removed: 1 });
    // A commit in between changes nothing.
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-qm", "b"]);
    let third = lines(path, Some(&first.base)).unwrap();
    assert_eq!(third.since(&second), Work::Changed { files: 0, added: 0, removed: 0 }, "{second:?}\n{third:?}");
}

#[test]
fn without_a_repository_or_a_known_commit_nothing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(lines(folder.path().to_str().unwrap(), None), None);
    let folder = repository();
    let path = folder.path().to_str().unwrap();
    assert_eq!(lines(path, Some("1234567890123456789012345678901234567890")), None);
    assert_eq!(lines(path, Some("--output=/tmp/x")), None);
    let unborn = tempfile::tempdir().unwrap();
    git(unborn.path(), &["init", "-q"]);
    fs::write(unborn.path().join("a"), "1\n").unwrap();
    assert_eq!(lines(unborn.path().to_str().unwrap(), None).unwrap().files.len(), 1);
}

#[test]
fn a_very_large_diff_is_kept_as_counts() {
    let folder = repository();
    let many = (0..3_000).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    fs::write(folder.path().join("a"), many).unwrap();
    let state = lines(folder.path().to_str().unwrap(), None).unwrap();
    let file = state.files.values().next().unwrap();
    assert_eq!((file.added, file.removed, file.plus.as_str()), (3_000, 3, ""));
    assert!(serde_json::to_string(&state).unwrap().len() < 1_000);
}

#[test]
fn looking_writes_nothing_and_runs_nothing_of_the_repositorys_own() {
    let folder = repository();
    let path = folder.path().to_str().unwrap();
    let ran = folder.path().join("RAN");
    let program = format!("touch '{}' #", ran.display());
    for key in [
        "core.fsmonitor",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.a=b.clean",
        "filter.long.process",
        "core.pager",
        "pager.diff",
    ] {
        git(folder.path(), &["config", key, &program]);
    }
    git(folder.path(), &["config", "filter.evil.required", "true"]);
    git(folder.path(), &["config", "core.hooksPath", path]);
    fs::write(folder.path().join(".git/info/attributes"), "a filter=evil diff=evil\nb filter=a=b\nc filter=long\n")
        .unwrap();
    for name in ["a", "b", "c"] {
        fs::write(folder.path().join(name), "changed\n").unwrap();
    }
    let index = fs::read(folder.path().join(".git/index")).unwrap();
    let state = lines(path, None).unwrap();
    assert_eq!(state.files.len(), 3, "{state:?}");
    assert!(mark(path).is_some());
    assert!(!ran.exists(), "a program of the repository was run");
    assert_eq!(fs::read(folder.path().join(".git/index")).unwrap(), index);
}

#[test]
fn changes_are_counted_where_there_is_a_repository() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    assert_eq!(uncommitted(path), None);
    git(folder.path(), &["init", "-q"]);
    assert_eq!(uncommitted(path), Some(0));
    fs::write(folder.path().join("new"), "").unwrap();
    assert_eq!(uncommitted(path), Some(1));
}

/// What an agent wrote into the repository's configuration is a program of its choice: nobody runs it by opening a form.
#[test]
fn no_program_of_the_repository_runs_when_changes_are_counted() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = repository();
    let path = folder.path();
    let (script, ran) = (path.join("monitor"), path.join("ran"));
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\ncat\n", ran.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(path.join(".gitattributes"), "* filter=own\n").unwrap();
    fs::write(path.join("a"), "changed\n").unwrap();
    let script = script.to_str().unwrap();
    for name in ["core.fsmonitor", "filter.own.clean", "filter.own.process", "diff.external"] {
        git(path, &["config", name, script]);
    }
    let name = path.to_str().unwrap();
    assert_eq!(uncommitted(name), Some(3), "the changed file, the attributes, the script");
    assert!(mark(name).is_some() && lines(name, None).is_some());
    assert!(!ran.exists(), "a program of the repository was run");
}
