//! Tests of `agent::os`.

use super::*;

#[test]
fn this_process_is_seen_with_its_start_and_its_ancestors() {
    let own = process(std::process::id()).unwrap();
    assert!(own.still_runs());
    assert!(own.started_at.is_some());
    let line = lineage(&own);
    assert_eq!(line.first(), Some(&own.pid));
    assert_eq!(line.get(1), Some(&own.parent));
    assert!(!argv(own.pid).unwrap().is_empty());
    assert!(processes().iter().any(|seen| seen.pid == own.pid));
}

#[test]
fn another_start_under_the_same_pid_is_another_process() {
    let mut own = process(std::process::id()).unwrap();
    own.start_mark.push('9');
    assert!(!own.still_runs());
}

#[test]
fn a_file_that_is_open_to_write_is_listed_and_one_that_is_only_read_is_not() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().canonicalize().unwrap();
    assert!(written_files(std::process::id()).unwrap().contains(&path));
    let reading = std::fs::File::open(&path).unwrap();
    drop(file.into_file());
    assert!(!written_files(std::process::id()).unwrap().contains(&path), "{reading:?}");
}

#[test]
fn a_process_that_has_ended_holds_nothing() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    assert_eq!(written_files(child.id()), Some(Vec::new()));
}

#[test]
fn the_superusers_first_process_is_no_others() {
    assert!(may_be_of_this_user(std::process::id()));
    assert_eq!(
        may_be_of_this_user(1),
        rustix::process::geteuid().is_root() || system::user(1) == system::user(std::process::id())
    );
}
