//! What a mailbox takes, and how it wakes.

use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode, CreateKind, DataChange, Event, EventKind, Flag, ModifyKind, RemoveKind};

use super::{Heard, Interest, MOST_PATHS, Mailbox};

fn event(kind: EventKind, path: &str) -> Event {
    Event::new(kind).add_path(PathBuf::from(path))
}

const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));

#[test]
fn what_is_dirty_is_remembered_once_and_wakes_once() {
    let (mailbox, mut woken) = Mailbox::new(Interest::Below { roots: vec!["/r".into()], signs: Vec::new() });
    for _ in 0..3 {
        mailbox.hear(Ok(event(WRITTEN, "/r/p/x.jsonl")));
    }
    mailbox.hear(Ok(event(EventKind::Create(CreateKind::Folder), "/r/q")));
    assert!(woken.try_recv().is_ok());
    assert!(woken.try_recv().is_err(), "wake-ups do not pile up");
    let heard = mailbox.take();
    assert_eq!(
        heard.paths.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
        [Path::new("/r/p/x.jsonl"), Path::new("/r/q")]
    );
    assert_eq!(mailbox.take(), Heard::default());
}

#[test]
fn noise_does_not_wake() {
    let (mailbox, mut woken) = Mailbox::new(Interest::Below { roots: vec!["/h/r".into()], signs: Vec::new() });
    let opened = EventKind::Access(AccessKind::Open(AccessMode::Any));
    let closed = EventKind::Access(AccessKind::Close(AccessMode::Write));
    mailbox.hear(Ok(event(opened, "/h/r/p/x.jsonl")));
    mailbox.hear(Ok(event(closed, "/h/r/p/x.jsonl")));
    mailbox.hear(Ok(event(WRITTEN, "/h/r/p/notes.md")));
    mailbox.hear(Ok(event(EventKind::Create(CreateKind::File), "/h/r/p/notes.md")));
    mailbox.hear(Ok(event(WRITTEN, "/h/other.jsonl")));
    mailbox.hear(Ok(event(EventKind::Create(CreateKind::Folder), "/h/other")));
    assert!(woken.try_recv().is_err());
    assert_eq!(mailbox.take(), Heard::default());
    mailbox.hear(Ok(event(EventKind::Remove(RemoveKind::Folder), "/h")));
    assert!(woken.try_recv().is_ok(), "a folder above the root went away");
}

#[test]
fn a_lost_hint_means_a_look_at_everything() {
    let (mailbox, mut woken) = Mailbox::new(Interest::Below { roots: vec!["/r".into()], signs: Vec::new() });
    mailbox.hear(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)));
    assert!(woken.try_recv().is_ok());
    assert!(mailbox.take().rescan);

    for n in 0..=MOST_PATHS {
        mailbox.hear(Ok(event(WRITTEN, &format!("/r/p/{n}.jsonl"))));
    }
    let heard = mailbox.take();
    assert!(heard.rescan && heard.paths.is_empty());
}

#[test]
fn exhaustion_is_told_from_other_errors() {
    let (mailbox, _woken) = Mailbox::new(Interest::Exactly(vec!["/c/config.toml".into()]));
    mailbox.hear(Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch)));
    assert_eq!(mailbox.take(), Heard { exhausted: true, ..Heard::default() });
    mailbox.hear(Err(notify::Error::io(std::io::Error::from_raw_os_error(28))));
    assert_eq!(mailbox.take(), Heard { exhausted: true, ..Heard::default() });
    mailbox.hear(Err(notify::Error::generic("odd")));
    assert_eq!(mailbox.take(), Heard { rescan: true, ..Heard::default() });
}
