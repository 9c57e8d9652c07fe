//! Finding and following transcripts: hints from the system, reads from an offset, a slow look as the floor.
//! Never writes, and never takes a hint for the truth.

mod catalogue;
mod eyes;
mod folder;
mod followed;
#[cfg(target_os = "linux")]
mod inotify;
mod mailbox;
mod naming;
mod probe;
mod scan;
mod tail;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc;

use self::catalogue::{Catalogue, Recalled};
use self::eyes::{Eyes, MakeWatcher};
use self::followed::Followed;
use self::mailbox::{Interest, Mailbox};
use self::scan::{Folder, Root, RootState, Spotted, Stamp, settle};
use self::tail::Tail;
use crate::clock;
use crate::driver::ports::{FoundSession, Summaries, TranscriptRead, Transcripts};
use crate::machine::TranscriptFact;
use crate::model::ids::{Agent, SessionKey, SessionRef, is_safe_name};
use crate::supervise::{Supervisor, both};

pub use folder::FolderWatch;

/// Where the agents keep their transcripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// Claude Code's folder `projects`.
    pub claude_projects: PathBuf,
    /// Codex's folder `sessions`.
    pub codex_sessions: PathBuf,
    /// Folders of small files by which the agents tell their state: status files, notes of hooks.
    pub signs: Vec<PathBuf>,
}

/// How often a poll looks when hints are not to be had.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// How often files in use are looked at although no hint came.
const FLOOR: SignedDuration = SignedDuration::from_secs(15);
/// The same while polling, where the floor is all there is.
const FLOOR_POLLED: SignedDuration = SignedDuration::from_secs(1);
/// How old the last walk must be for a session without a transcript to cause another.
const WALK_AGAIN: SignedDuration = SignedDuration::from_millis(250);
/// How long a transcript has to be away before it counts as deleted: an editor that saves by moving the old file
/// aside leaves none for a moment.
const GONE_FOR: SignedDuration = SignedDuration::from_secs(2);
/// How old the last walk over everything may be: it alone shows what happens in folders that are not watched. Some
/// thousand sessions cost a few milliseconds each time.
const WALK_EVERY: SignedDuration = SignedDuration::from_mins(2);
/// The same while every folder is watched: then a walk finds what hints did not tell of, and nothing else does.
const WALK_WATCHED: SignedDuration = SignedDuration::from_mins(10);
/// Files that are read for the first list, as many as a screen shows; and for each further part of it.
const FIRST_PART: usize = 64;
const PART: usize = 256;
/// So many files are read before what they say is worth keeping while the program runs.
const WORTH_KEEPING: usize = 32;
/// Folders without a write for longer are not watched; they are seen by the walks.
const RECENT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Changes found by the floor alone, without any hint between them, after which hints are given up.
const STRIKES: u32 = 3;
/// Files kept open; beyond it those that nobody asked for lately are closed.
const MOST_TAILS: usize = 64;
/// What "lately" means there.
const LATELY: SignedDuration = SignedDuration::from_mins(10);

/// The transcripts under two roots.
pub struct Watch {
    roots: Vec<Root>,
    signs: Vec<PathBuf>,
    /// One of them changed since [`Transcripts::signs`] was asked.
    signed: bool,
    mailbox: Mailbox,
    eyes: Eyes,
    begun: Begun,
    /// Some folder with transcripts is too old to be watched.
    unwatched: bool,
    catalogue: Catalogue,
    summaries: Option<Box<dyn Summaries>>,
    /// What was kept is still to be taken over.
    to_recall: bool,
    /// As of the last walk.
    folders: BTreeMap<PathBuf, Folder>,
    states: BTreeMap<Agent, RootState>,
    walked_at: Option<Timestamp>,
    floor_at: Option<Timestamp>,
    strikes: u32,
    followed: BTreeMap<SessionKey, Followed>,
    /// Sessions that had a transcript at any time.
    known: BTreeSet<SessionKey>,
    /// To be told by the next `changed`.
    pending: BTreeSet<SessionKey>,
    buffer: Vec<u8>,
}

/// How far it is: a list can be shown before anything is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begun {
    /// Nothing was looked at.
    Not,
    /// The folders were walked once.
    Listed,
    /// They are watched.
    Watched,
}

/// Begins to watch. The receiver gets a wake-up, at most one at a time, when [`Transcripts::changed`] may have news; the
/// first one at once. Folders are looked at when something is asked for: a list costs one walk, all else sets the watches.
///
/// A root that is not there yet is waited for. What cannot be watched is polled, and [`Transcripts::notices`] says so.
#[must_use]
pub fn start(roots: &Roots, supervisor: &Supervisor) -> (Watch, mpsc::Receiver<()>) {
    start_with(roots, supervisor, eyes::system_watcher, POLL_EVERY, clock::now())
}

fn start_with(
    roots: &Roots,
    supervisor: &Supervisor,
    make: MakeWatcher,
    poll_every: Duration,
    now: Timestamp,
) -> (Watch, mpsc::Receiver<()>) {
    let signs: Vec<PathBuf> = roots.signs.iter().map(|folder| settle(folder)).collect();
    let roots = vec![
        Root { agent: Agent::Claude, folder: settle(&roots.claude_projects) },
        Root { agent: Agent::Codex, folder: settle(&roots.codex_sessions) },
    ];
    let folders = roots.iter().map(|root| root.folder.clone()).collect();
    let (mailbox, woken) = Mailbox::new(Interest::Below { roots: folders, signs: signs.clone() });
    let eyes = Eyes::open(mailbox.clone(), supervisor, make, poll_every);
    let watch = Watch {
        roots,
        signs,
        signed: false,
        mailbox,
        eyes,
        begun: Begun::Not,
        unwatched: false,
        catalogue: Catalogue::default(),
        summaries: None,
        to_recall: false,
        folders: BTreeMap::new(),
        states: BTreeMap::new(),
        walked_at: None,
        floor_at: Some(now),
        strikes: 0,
        followed: BTreeMap::new(),
        known: BTreeSet::new(),
        pending: BTreeSet::new(),
        buffer: tail::buffer(),
    };
    watch.mailbox.wake();
    (watch, woken)
}

impl Transcripts for Watch {
    fn read(&mut self, session: &SessionRef, now: Timestamp) -> TranscriptRead {
        let key = session.key();
        if !is_safe_name(key.session_id.as_str()) {
            let why = format!("{} is no session id, give it as the agent shows it", key.session_id);
            return TranscriptRead { fact: TranscriptFact::Unreadable(why), conversation: None };
        }
        let mut followed = self.followed.remove(&key).unwrap_or_else(|| Followed::new(now));
        followed.asked_at = now;
        followed.end = None;
        let before = followed.path();
        let fact = self.follow(&key, &mut followed, now);
        let opened = followed.path().filter(|path| before.as_ref() != Some(path));
        if let Some(tail) = &followed.tail {
            self.known.insert(key.clone());
            followed.missing_since = None;
            // What was just read is no news to the next walk.
            self.catalogue.put(tail.path(), Some(tail.spotted(key.session_id.clone())));
        }
        if followed.tail.is_some() || matches!(fact, TranscriptFact::NotYet | TranscriptFact::Deleted) {
            followed.last = None;
        }
        let conversation = followed.tail.as_ref().map(Tail::conversation).or_else(|| followed.last.clone());
        self.followed.insert(key, followed);
        if let Some(path) = opened
            && (self.begun != Begun::Watched || self.point_eyes(now))
        {
            // What was appended after the read and before the watch was not heard of: it is looked at once more.
            self.mailbox.mark(path);
        }
        self.tell_later();
        TranscriptRead { fact, conversation }
    }

    fn read_to_show(&mut self, session: &SessionRef, whole: bool, now: Timestamp) -> TranscriptRead {
        match self.show_end(&session.key(), whole, now) {
            Some(read) => read,
            None => self.read(session, now),
        }
    }

    fn sessions(&mut self) -> Vec<FoundSession> {
        self.sessions_at(clock::now())
    }

    fn sessions_so_far(&mut self) -> (Vec<FoundSession>, usize) {
        let now = clock::now();
        let most = if self.begun == Begun::Not { FIRST_PART } else { PART };
        self.look_over(now);
        let (list, left) = self.catalogue.so_far(most);
        let list = list.to_vec();
        if left > 0 {
            self.mailbox.wake();
        } else {
            self.keep_summaries(WORTH_KEEPING);
        }
        (list, left)
    }

    fn changed(&mut self) -> Vec<SessionKey> {
        self.changed_at(clock::now())
    }

    fn signs(&mut self) -> bool {
        self.absorb(clock::now());
        mem::take(&mut self.signed)
    }

    fn had_transcript(&mut self, session: &SessionKey) {
        self.known.insert(session.clone());
    }

    fn notices(&mut self) -> Vec<String> {
        self.eyes.notices()
    }
}

impl Watch {
    /// Takes over, with the first list, what an earlier start kept of the transcripts' ends, and keeps there what this one
    /// learns.
    #[must_use]
    pub fn remembering(mut self, summaries: Box<dyn Summaries>) -> Self {
        (self.summaries, self.to_recall) = (Some(summaries), true);
        self
    }

    /// [`Transcripts::sessions`] at a given time.
    pub fn sessions_at(&mut self, now: Timestamp) -> Vec<FoundSession> {
        self.look_over(now);
        self.catalogue.sessions().to_vec()
    }

    /// Walks the folders for a list, if that is due, and takes over meanwhile what was kept.
    fn look_over(&mut self, now: Timestamp) {
        let to_recall = mem::take(&mut self.to_recall);
        let mut summaries = self.summaries.take();
        match summaries.as_mut().filter(|_| to_recall) {
            None => self.look_around(now),
            Some(summaries) => {
                let (recalled, ()) = both(|| Recalled::of(&summaries.load()), || self.look_around(now));
                self.catalogue.recall(recalled);
            }
        }
        self.summaries = summaries;
        self.tell_later();
    }

    fn look_around(&mut self, now: Timestamp) {
        if self.begun == Begun::Not {
            self.begun = Begun::Listed;
            self.list(now);
            self.mailbox.wake();
        } else {
            self.absorb(now);
            if Self::is_due(self.walked_at, self.walk_every(), now) {
                self.walk(now);
            }
        }
    }

    fn keep_summaries(&mut self, least: usize) {
        if let Some(summaries) = &mut self.summaries
            && let Some(text) = self.catalogue.worth_keeping(least)
        {
            summaries.keep(&text);
        }
    }

    /// [`Transcripts::changed`] at a given time.
    pub fn changed_at(&mut self, now: Timestamp) -> Vec<SessionKey> {
        self.absorb(now);
        self.look_without_hint(now);
        let pending = mem::take(&mut self.pending);
        pending.into_iter().filter(|key| !self.catalogue.is_subagent(key)).collect()
    }

    /// Why an agent's root, or a folder in it, could not be read at the last walk.
    #[must_use]
    pub fn refused(&self, agent: Agent) -> Option<&str> {
        match self.states.get(&agent) {
            Some(RootState::Unreadable(why)) => Some(why),
            Some(RootState::Whole | RootState::Missing) | None => None,
        }
    }

    /// Whether hints are not to be had, so that a poll stands in for them.
    #[must_use]
    pub fn is_polling(&self) -> bool {
        self.eyes.is_polling()
    }

    /// What was noticed on the way is told by `changed`, so somebody has to call it.
    fn tell_later(&self) {
        if !self.pending.is_empty() {
            self.mailbox.wake();
        }
    }

    fn walk_every(&self) -> SignedDuration {
        match (self.eyes.is_polling(), self.unwatched) {
            (true, _) => FLOOR,
            (false, true) => WALK_EVERY,
            (false, false) => WALK_WATCHED,
        }
    }

    fn floor(&self) -> SignedDuration {
        if self.eyes.is_polling() { FLOOR_POLLED } else { FLOOR }
    }

    fn is_due(last: Option<Timestamp>, every: SignedDuration, now: Timestamp) -> bool {
        // A clock that was set back makes everything due: better one look too many.
        last.is_none_or(|last| now < last || now.duration_since(last) >= every)
    }

    /// Takes the hints in.
    fn absorb(&mut self, now: Timestamp) {
        if self.begun != Begun::Watched {
            self.begun = Begun::Watched;
            self.walk(now);
            // What happened to them before they were watched was not heard of.
            self.signed = true;
        }
        let heard = self.mailbox.take();
        if heard.exhausted {
            self.eyes.out_of_watches();
        }
        let (mut walk, mut moved) = (heard.rescan, false);
        self.signed |= heard.rescan;
        for path in heard.paths {
            if self.signs.iter().any(|sign| mailbox::is_sign(sign, &path)) {
                self.signed = true;
                continue;
            }
            if self.signs.iter().any(|sign| sign.starts_with(&path)) {
                self.eyes.forget(&path);
                (self.signed, moved) = (true, true);
            }
            let named = self.roots.iter().find_map(|root| naming::parse(root.agent, &root.folder, &path));
            if let Some(named) = named {
                self.strikes = 0;
                let key = SessionKey { agent: named.agent, session_id: named.id.clone() };
                let spotted = fs::metadata(&path)
                    .ok()
                    .filter(fs::Metadata::is_file)
                    .map(|meta| Spotted { named, stamp: Stamp::of(&meta) });
                if spotted.is_some() {
                    self.known.insert(key.clone());
                }
                self.catalogue.put(&path, spotted);
                self.pending.insert(key);
            } else if !naming::looks_like_one(&path) {
                // A folder came or went: what was written into it before it could be watched is found by a walk.
                self.eyes.forget(&path);
                walk = true;
            }
        }
        if walk {
            self.walk(now);
        } else if moved {
            self.point_eyes(now);
        }
    }

    /// Walks the roots, watches what is new, and walks again while there was anything new to watch: a file may have
    /// come into a folder after it was listed and before it was watched.
    fn walk(&mut self, now: Timestamp) {
        for _ in 0..4 {
            self.list(now);
            if !self.point_eyes(now) {
                break;
            }
        }
    }

    fn list(&mut self, now: Timestamp) {
        let mut found = scan::scan(&self.roots);
        self.folders = mem::take(&mut found.folders);
        self.states = mem::take(&mut found.roots);
        let changed = self.catalogue.adopt(found.files);
        // Also one that is gone: it was there once.
        self.known.extend(changed.iter().cloned());
        self.pending.extend(changed);
        self.walked_at = Some(now);
    }

    /// Watches what matters now. `true`: something new is watched.
    fn point_eyes(&mut self, now: Timestamp) -> bool {
        let since = now.checked_sub(RECENT).map_or(i64::MIN, Timestamp::as_second);
        let files: BTreeSet<PathBuf> =
            self.followed.values().filter_map(Followed::open).map(|tail| tail.path().to_owned()).collect();
        let mut folders: BTreeSet<PathBuf> =
            files.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
        self.unwatched = false;
        for (path, folder) in &self.folders {
            if !folder.is_leaf || folder.newest >= since {
                folders.insert(path.clone());
            } else {
                self.unwatched = true;
            }
        }
        for root in &self.roots {
            if !self.folders.contains_key(&root.folder) {
                // It is waited for at the nearest folder above it.
                folders.extend(root.folder.ancestors().find(|above| above.is_dir()).map(Path::to_owned));
            }
        }
        for sign in &self.signs {
            folders.extend(sign.ancestors().find(|above| above.is_dir()).map(Path::to_owned));
        }
        self.eyes.look_at(folders, files)
    }

    /// Tells the end of a long transcript, and reads a part of the rest if that is wanted; `None`: it is read whole at once, or
    /// is by now.
    fn show_end(&mut self, key: &SessionKey, whole: bool, now: Timestamp) -> Option<TranscriptRead> {
        let (path, spotted) = self.catalogue.find(key)?;
        let (path, compressed) = (path.to_owned(), spotted.named.compressed);
        let mut followed = self.followed.remove(key).unwrap_or_else(|| Followed::new(now));
        followed.asked_at = now;
        let is_new = followed.open().is_none();
        let told = followed.next_part(key.agent, &path, (compressed, whole), &mut self.buffer);
        self.followed.insert(key.clone(), followed);
        if is_new && self.begun == Begun::Watched {
            self.point_eyes(now);
        }
        if told.is_some() && (is_new || whole) {
            // The next part comes with the next hint; whatever else there is to do comes between. Of an end what was appended
            // before it was watched.
            self.mailbox.mark(path);
        }
        told
    }

    /// The floor below the hints.
    fn look_without_hint(&mut self, now: Timestamp) {
        if !Self::is_due(self.floor_at, self.floor(), now) {
            return;
        }
        self.floor_at = Some(now);
        let mut missed = false;
        for (key, followed) in &self.followed {
            if followed.open().is_some_and(Tail::is_behind) {
                missed |= self.pending.insert(key.clone());
            }
        }
        self.strikes = if missed { self.strikes.saturating_add(1) } else { self.strikes };
        if self.strikes >= STRIKES && !self.eyes.is_polling() {
            self.eyes.no_hints();
        }
        if Self::is_due(self.walked_at, self.walk_every(), now) {
            self.walk(now);
        }
        self.close_unused(now);
    }

    fn close_unused(&mut self, now: Timestamp) {
        if self.followed.len() > MOST_TAILS {
            self.followed.retain(|_, followed| now.duration_since(followed.asked_at) < LATELY);
        }
    }

    fn follow(&mut self, key: &SessionKey, followed: &mut Followed, now: Timestamp) -> TranscriptFact {
        if let Some(tail) = followed.tail.as_mut().filter(|tail| !tail.is_superseded()) {
            match tail.catch_up(&mut self.buffer) {
                Ok(()) => return TranscriptFact::Present(tail.mark()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return TranscriptFact::Unreadable(scan::unreadable(tail.path(), &error)),
            }
        }
        let lost = followed.tail.take();
        followed.last = lost.as_ref().map(Tail::conversation).or(followed.last.take());
        // What was just listed need not be walked again before it can be read.
        if self.begun != Begun::Listed {
            self.absorb(now);
        }
        if lost.is_some() || (self.catalogue.find(key).is_none() && Self::is_due(self.walked_at, WALK_AGAIN, now)) {
            self.walk(now);
        }
        for _ in 0..2 {
            let Some((path, spotted)) = self.catalogue.find(key) else { break };
            let (path, compressed) = (path.to_owned(), spotted.named.compressed);
            match Tail::open(key.agent, &path, compressed).and_then(|mut tail| {
                tail.catch_up(&mut self.buffer)?;
                Ok(tail)
            }) {
                Ok(tail) => {
                    let fact = TranscriptFact::Present(tail.mark());
                    followed.tail = Some(tail);
                    return fact;
                }
                // It went away since the walk: maybe it was compressed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.walk(now),
                Err(error) => return TranscriptFact::Unreadable(scan::unreadable(&path, &error)),
            }
        }
        self.absent(key, followed, now)
    }

    /// There is no file: what that means.
    fn absent(&mut self, key: &SessionKey, followed: &mut Followed, now: Timestamp) -> TranscriptFact {
        let known = self.known.contains(key);
        if known && self.walked_at != Some(now) {
            // Only a walk of just now proves it.
            self.walk(now);
        }
        match self.states.get(&key.agent) {
            Some(RootState::Whole) if known => {
                let since = *followed.missing_since.get_or_insert(now);
                if Self::is_due(Some(since), GONE_FOR, now) {
                    TranscriptFact::Deleted
                } else {
                    TranscriptFact::Unreadable(format!("the transcript of {key} is gone, look again in a moment"))
                }
            }
            Some(RootState::Unreadable(why)) => TranscriptFact::Unreadable(why.clone()),
            Some(RootState::Missing) | None if known => {
                let root = self.roots.iter().find(|root| root.agent == key.agent);
                let folder = root.map(|root| root.folder.display().to_string()).unwrap_or_default();
                TranscriptFact::Unreadable(format!("{folder} is not there, look for where it went"))
            }
            // An agent that was never given a message on this machine has no root yet.
            Some(RootState::Whole | RootState::Missing) | None => TranscriptFact::NotYet,
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.keep_summaries(1);
    }
}

#[cfg(test)]
#[path = "watch/watch_tests.rs"]
mod tests;
