//! The floor below the hints, with notifiers that fail, and given times.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and look at the clock; a stub has the shape it stands for"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use notify::event::{Event, EventKind, Flag};
use tokio::sync::mpsc::Receiver;

use super::eyes::MakeWatcher;
use super::eyes::tests::{deaf, two_watches};
use super::{Roots, STRIKES, Watch, start_with};
use crate::driver::ports::Transcripts;
use crate::machine::TranscriptFact;
use crate::model::ids::{Agent, SessionId, SessionKey, SessionRef};
use crate::supervise::Supervisor;

fn desk(make: MakeWatcher) -> (tempfile::TempDir, Watch, Receiver<()>, Timestamp) {
    desk_with(make, &[])
}

fn desk_with(make: MakeWatcher, signs: &[&str]) -> (tempfile::TempDir, Watch, Receiver<()>, Timestamp) {
    let home = tempfile::tempdir().unwrap();
    let roots = Roots {
        claude_projects: home.path().join("projects"),
        codex_sessions: home.path().join("sessions"),
        signs: signs.iter().map(|name| home.path().join(name)).collect(),
    };
    fs::create_dir_all(&roots.claude_projects).unwrap();
    fs::create_dir_all(&roots.codex_sessions).unwrap();
    let now = crate::clock::now();
    let (mut watch, mut woken) = start_with(&roots, &Supervisor::new(), make, Duration::from_millis(5), now);
    // From here on it watches; what it was woken for at the start is done.
    watch.changed_at(now);
    watch.signs();
    while woken.try_recv().is_ok() {}
    (home, watch, woken, now)
}

fn put(home: &Path, folder: &str, id: &str) -> PathBuf {
    let path = home.join("projects").join(folder).join(format!("{id}.jsonl"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "{\"type\":\"mode\"}\n").unwrap();
    path
}

fn append(path: &Path) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(b"{\"type\":\"mode\"}\n").unwrap();
}

fn key(id: &str) -> SessionKey {
    SessionKey { agent: Agent::Claude, session_id: SessionId::new(id) }
}

fn read(watch: &mut Watch, id: &str, now: Timestamp) -> TranscriptFact {
    let session = SessionRef { agent: Agent::Claude, worktree: String::new(), session_id: SessionId::new(id) };
    watch.read(&session, now).fact
}

const SECOND: SignedDuration = SignedDuration::from_secs(1);

#[test]
fn an_overflow_of_hints_leads_to_a_walk() {
    let (home, mut watch, mut woken, now) = desk(deaf);
    put(home.path(), "-a", "one");
    assert_eq!(watch.changed_at(now), vec![], "nothing was heard");
    watch.mailbox.hear(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)));
    assert!(woken.try_recv().is_ok());
    assert_eq!(watch.changed_at(now), vec![key("one")]);
    assert_eq!(watch.changed_at(now), vec![]);
    let path = put(home.path(), "-b", "two");
    append(&path);
    fs::remove_file(home.path().join("projects/-a/one.jsonl")).unwrap();
    watch.mailbox.hear(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)));
    assert_eq!(watch.changed_at(now), vec![key("one"), key("two")], "new and gone alike");
}

#[test]
fn files_in_use_are_looked_at_without_hints() {
    let (home, mut watch, _woken, now) = desk(deaf);
    let path = put(home.path(), "-a", "one");
    assert_eq!(read(&mut watch, "one", now), TranscriptFact::NotYet, "a walk of just now is not repeated");
    let mut now = now + SECOND;
    assert!(matches!(read(&mut watch, "one", now), TranscriptFact::Present(_)));
    watch.changed_at(now);
    append(&path);
    assert_eq!(watch.changed_at(now), vec![]);
    now += SECOND * 15;
    assert_eq!(watch.changed_at(now), vec![key("one")]);
    assert!(!watch.is_polling());
    read(&mut watch, "one", now);
    now += SECOND * 15;
    assert_eq!(watch.changed_at(now), vec![]);
}

#[test]
fn hints_that_never_come_are_given_up() {
    let (home, mut watch, _woken, mut now) = desk(deaf);
    let path = put(home.path(), "-a", "one");
    now += SECOND;
    read(&mut watch, "one", now);
    watch.changed_at(now);
    for _ in 0..STRIKES {
        assert!(!watch.is_polling());
        append(&path);
        now += SECOND * 15;
        watch.changed_at(now);
        read(&mut watch, "one", now);
    }
    assert!(watch.is_polling());
    assert_eq!(watch.notices().len(), 1);
}

#[test]
fn a_clock_set_back_stops_no_look() {
    let (home, mut watch, _woken, now) = desk(deaf);
    let path = put(home.path(), "-a", "one");
    read(&mut watch, "one", now + SECOND);
    watch.changed_at(now + SECOND * 40);
    append(&path);
    assert_eq!(watch.changed_at(now - SECOND * 86_400), vec![key("one")]);
}

#[test]
fn w1_a_watch_without_watches_hears_by_polling() {
    let (home, mut watch, mut woken, mut now) = desk(two_watches);
    assert!(!watch.is_polling(), "two watches do for two roots");
    let path = put(home.path(), "-a", "one");
    now += SECOND;
    assert!(matches!(read(&mut watch, "one", now), TranscriptFact::Present(_)));
    assert!(watch.is_polling());
    let notices = watch.notices();
    assert!(notices.len() == 1 && notices[0].contains("max_user_watches"), "{notices:?}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut hear = |watch: &mut Watch, wanted: SessionKey| {
        while !watch.changed_at(now).contains(&wanted) {
            let heard = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), woken.recv()).await });
            assert!(matches!(heard, Ok(Some(()))));
        }
    };
    append(&path);
    hear(&mut watch, key("one"));
    put(home.path(), "-new", "two");
    hear(&mut watch, key("two"));
    assert_eq!(watch.notices(), Vec::<String>::new());
}

#[test]
fn old_folders_are_not_watched_but_listed() {
    let (home, mut watch, _woken, now) = desk(deaf);
    put(home.path(), "-a", "one");
    let later = now + SignedDuration::from_hours(24 * 60);
    assert_eq!(watch.sessions_at(later).len(), 1);
    let folder = super::settle(&home.path().join("projects/-a"));
    assert!(!watch.eyes.looks_at(&folder));
    read(&mut watch, "one", later);
    assert!(watch.eyes.looks_at(&folder), "what is read is watched, however old");
}

#[test]
fn a_sign_wakes_and_what_lies_beside_it_does_not() {
    let (home, mut watch, mut woken, _) = desk_with(super::eyes::system_watcher, &["signs"]);
    let signs = home.path().join("signs");
    let until = |watch: &mut Watch, what: &str| {
        let end = std::time::Instant::now() + Duration::from_secs(20);
        while !watch.signs() {
            assert!(std::time::Instant::now() < end, "no word of {what}");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    };
    // The folder comes later.
    fs::create_dir(&signs).unwrap();
    until(&mut watch, "the folder");
    fs::write(signs.join("4242.json"), "{}").unwrap();
    until(&mut watch, "a new file");
    fs::write(signs.join("4242.json"), "{\"status\":\"waiting\"}").unwrap();
    until(&mut watch, "a file written in place");
    while watch.signs() {}
    while woken.try_recv().is_ok() {}
    assert!(!super::mailbox::is_sign(&signs, &signs.join("4242.abc.key")));
    assert!(!super::mailbox::is_sign(&signs, &signs.join("deeper/4242.json")));
}
