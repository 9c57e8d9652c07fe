//! The fall from hints to polling.
#![allow(
    clippy::disallowed_methods,
    clippy::unnecessary_wraps,
    reason = "tests write files and look at the clock; a stub has the shape it stands for"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::mpsc::Receiver;

use super::{Eyes, MakeWatcher, Notifier};
use crate::supervise::Supervisor;
use crate::watch::mailbox::{Heard, Interest, Mailbox};

/// A notifier that never tells anything, and has only so many watches.
pub(in crate::watch) struct Stub {
    left: usize,
}

impl Notifier for Stub {
    fn watch(&mut self, path: &Path) -> notify::Result<()> {
        if self.left == 0 {
            return Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch).add_path(path.to_owned()));
        }
        self.left -= 1;
        Ok(())
    }

    fn unwatch(&mut self, _: &Path) {
        self.left += 1;
    }
}

pub(in crate::watch) fn two_watches(_: Mailbox, _: &Supervisor) -> notify::Result<Box<dyn Notifier>> {
    Ok(Box::new(Stub { left: 2 }))
}

pub(in crate::watch) fn deaf(_: Mailbox, _: &Supervisor) -> notify::Result<Box<dyn Notifier>> {
    Ok(Box::new(Stub { left: usize::MAX / 2 }))
}

fn no_instance(_: Mailbox, _: &Supervisor) -> notify::Result<Box<dyn Notifier>> {
    Err(notify::Error::io(rustix::io::Errno::MFILE.into()))
}

fn open(make: MakeWatcher) -> (Eyes, Mailbox, Receiver<()>) {
    let (mailbox, woken) = Mailbox::new(Interest::Below { roots: vec!["/nowhere".into()], signs: Vec::new() });
    let eyes = Eyes::open(mailbox.clone(), &Supervisor::new(), make, Duration::from_millis(5));
    (eyes, mailbox, woken)
}

fn wait(woken: &mut Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), woken.recv()).await }).unwrap().unwrap();
}

fn set(paths: &[&Path]) -> BTreeSet<PathBuf> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn w1_out_of_watches_it_polls_and_says_so_once() {
    let (mut eyes, mailbox, mut woken) = open(two_watches);
    let dir = tempfile::tempdir().unwrap();
    let (a, b, c) = (dir.path().join("a"), dir.path().join("b"), dir.path().join("c"));
    assert!(eyes.look_at(set(&[&a, &b]), BTreeSet::new()));
    assert!(!eyes.is_polling());
    std::fs::write(&c, "1").unwrap();
    eyes.look_at(set(&[&a, &b, dir.path()]), set(&[&c]));
    assert!(eyes.is_polling());
    eyes.out_of_watches();
    let notices = eyes.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("max_user_watches") && notices[0].contains("0.005 s"), "{notices:?}");
    assert_eq!(eyes.notices(), Vec::<String>::new());

    let mut heard = BTreeSet::new();
    while !(heard.contains(&c) && heard.contains(dir.path())) {
        wait(&mut woken);
        heard.extend(mailbox.take().paths);
    }
    std::fs::write(&c, "22").unwrap();
    let mut heard = Heard::default();
    // A wake-up that was given before the last look tells nothing new.
    while heard.paths.is_empty() {
        wait(&mut woken);
        heard = mailbox.take();
    }
    assert_eq!(heard, Heard { paths: set(&[&c]), ..Heard::default() });
}

#[test]
fn without_an_instance_it_polls_from_the_start() {
    let (mut eyes, _mailbox, _woken) = open(no_instance);
    assert!(eyes.is_polling());
    let notices = eyes.notices();
    assert!(notices[0].contains("max_user_instances"), "{notices:?}");
}

#[test]
fn the_poll_ends_with_its_owner() {
    let (mailbox, _woken) = Mailbox::new(Interest::Exactly(vec![]));
    let supervisor = Supervisor::new();
    let eyes = Eyes::open(mailbox, &supervisor, no_instance, Duration::from_hours(1));
    drop(eyes);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    assert!(runtime.block_on(supervisor.finished(Duration::from_secs(20))));
}
