//! The spool of the hooks' notes: what is kept, what goes, and that no home is made for it.

use super::*;
use crate::model::hook::HookEvent;
use crate::model::ids::{Agent, SessionId, SessionRef};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_796_000_000 + second).unwrap()
}

fn note(second: i64) -> HookNote {
    let session = SessionRef {
        agent: Agent::Claude,
        worktree: "/w".to_owned(),
        session_id: SessionId::new(format!("s{second}")),
    };
    HookNote { at: at(second), session, transcript: None, process: None, event: HookEvent::Started }
}

#[test]
fn a_note_arrives_whole_and_goes_when_it_is_done_with() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    put(&home, &note(2), 7).unwrap();
    put(&home, &note(1), 7).unwrap();
    let found = notes(&home, at(10));
    let told: Vec<_> = found.iter().filter_map(|(_, note)| note.clone()).collect();
    assert_eq!(told, [note(1), note(2)], "oldest first");
    assert!(notes(&home, at(2 * 86_400)).iter().all(|(_, note)| note.is_none()), "what is of yesterday says nothing");
    forget(&home, &[found[0].0.clone(), "../x".to_owned()]);
    assert_eq!(notes(&home, at(10)).len(), 1);
}

#[test]
fn the_spool_has_a_bound_and_the_newest_stay() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    for second in 0..300 {
        put(&home, &note(second), 7).unwrap();
    }
    let found = notes(&home, at(400));
    assert_eq!(found.len(), MOST);
    assert_eq!(found.last().unwrap().1, Some(note(299)));
}

#[test]
fn no_home_is_made_and_what_is_no_note_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("none"));
    assert!(put(&home, &note(1), 7).is_err());
    assert!(!home.root().exists());

    let home = Home::at(folder.path());
    put(&home, &note(1), 7).unwrap();
    for (name, text) in [("00000000000000000001-1.json", "{"), ("x.json", "[]"), ("00000000000000000002-1.tmp", "")] {
        File::create(home.hooks().join(name)).unwrap().write_all(text.as_bytes()).unwrap();
    }
    std::os::unix::fs::symlink("/dev/zero", home.hooks().join("endless.json")).unwrap();
    let found = notes(&home, at(2));
    assert_eq!(found.iter().filter(|(_, note)| note.is_some()).count(), 1);
    let names: Vec<String> = found.into_iter().map(|(name, _)| name).collect();
    forget(&home, &names);
    assert_eq!(names.len(), 4);
    assert_eq!(notes(&home, at(2)), []);
}

#[test]
fn the_notes_are_for_the_person_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    put(&home, &note(1), 7).unwrap();
    let (name, _) = notes(&home, at(2)).remove(0);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&home.hooks()), mode(&home.hooks().join(name))), (0o700, 0o600));
}
