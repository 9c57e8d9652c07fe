//! The records as a second process sees them: read without writing, moving or repairing anything, and cheaply again and again.
//! Never a store: whoever has only this may not drive.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::files::{FileMark, Files, OsFiles};
use super::load::{self, Read};
use super::lock::{self, Holder, Kind};
use super::schema::{Decoded, Kept, Need, decode_to_look};
use super::{journal, old_of, quarantine, show, spool};
use crate::driver::ports::Loaded;
use crate::driver::ports::Past;
use crate::driver::viewer::Shelf;
use crate::model::event::{Event, EventKind};
use crate::model::hook::HookNote;
use crate::model::ids::{RecordKey, SessionId, is_safe_name};
use crate::model::outbox::Entry;
use crate::model::pair::{PairRecord, SCHEMA};
use crate::model::run::RunRecord;
use crate::paths::Home;
use crate::projection::DriverFact;
use crate::supervise::each;

/// Bytes at the end of `events.jsonl` among which new events are looked for.
const NEW_EVENTS: u64 = 1 << 20;
/// Bytes at its end that hold the newest state of each session at work.
const LATE_EVENTS: u64 = 256 << 10;

/// A view of a home for a process that does not drive it.
#[derive(Debug)]
pub struct Reader<F = OsFiles> {
    home: Home,
    files: F,
    /// Only how each record stands is wanted.
    stands: bool,
    /// What the files were when they were last read.
    marks: BTreeMap<PathBuf, FileMark>,
    runs: BTreeMap<PathBuf, Cached<RunRecord>>,
    pairs: BTreeMap<PathBuf, Cached<PairRecord>>,
    /// The number of the last event that was handed on; `None` before the first look.
    seen: Option<u64>,
}

/// A record's file as it was read, with its texts.
#[derive(Clone, Debug)]
struct Cached<R> {
    read: Read<R>,
    /// What had moved out of it; that changes only when the record does.
    older: Vec<Entry>,
}

impl Reader<OsFiles> {
    /// A reader of a home. Nothing is read yet.
    #[must_use]
    pub fn new(home: Home) -> Self {
        Self::with_files(home, OsFiles)
    }
}

impl<F: Files + Sync> Reader<F> {
    /// A reader on other files than the system's.
    pub fn with_files(home: Home, files: F) -> Self {
        let (marks, runs, pairs) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { home, files, stands: false, marks, runs, pairs, seen: None }
    }

    /// The same for a glance at how everything stands: what has ended is told by its own record, so that its reviews, what
    /// moved out of records, and the log are not read.
    #[must_use]
    pub fn standing(self) -> Self {
        Self { stands: true, ..self }
    }

    /// Whether anything was written since the last call. Costs one look at each file's mark, no reading.
    pub fn changed_since(&mut self) -> bool {
        if self.stands {
            // A glance looks once.
            return true;
        }
        let mut now = BTreeMap::new();
        for dir in [self.home.runs(), self.home.pairs(), self.home.sessions(), self.home.quarantine()] {
            for name in self.files.list(&dir).unwrap_or_default() {
                self.mark(dir.join(name), &mut now);
            }
        }
        self.mark(self.home.events(), &mut now);
        self.mark(self.home.decisions(), &mut now);
        if now == self.marks {
            return false;
        }
        self.marks = now;
        true
    }

    fn mark(&self, path: PathBuf, marks: &mut BTreeMap<PathBuf, FileMark>) {
        if let Some(mark) = self.files.stat(&path).ok().flatten().filter(|mark| mark.is_file) {
            marks.insert(path, mark);
        }
    }

    /// Everything on the disk; files that did not change since the last call are not read again.
    pub fn load(&mut self) -> Loaded {
        let mut loaded = Loaded::default();
        let home = self.home.clone();
        let runs = load::names::<F, RunRecord>(&self.files, &home.runs(), &mut loaded);
        let pairs = load::names::<F, PairRecord>(&self.files, &home.pairs(), &mut loaded);
        let place = Place { files: &self.files, home: &home, stands: self.stands };
        loaded.runs = records(place, &home.runs(), runs, &mut self.runs, &mut loaded);
        let pairs = if self.stands { without_history(pairs, &loaded.runs) } else { pairs };
        loaded.pairs = records(place, &home.pairs(), pairs, &mut self.pairs, &mut loaded);
        quarantine::tell(&self.files, &home, &mut loaded);
        load::hold_with_their_pairs(&mut loaded);
        for note in load::read_notes(&self.files, &home) {
            match note.read {
                Ok((key, _, note)) if note.schema <= SCHEMA => {
                    loaded.sessions.insert(key, note);
                }
                Ok(_) => {}
                Err(why) => loaded.notices.push(format!("{} can't be read: {why}", show(&note.path))),
            }
        }
        if !self.stands {
            load::tails(&self.files, &home, &mut loaded);
        }
        loaded
    }

    /// One record as it was last saved, with its texts and nothing else of the home; it alone is read.
    pub fn one(&self, key: &RecordKey) -> Loaded {
        let mut loaded = Loaded::default();
        let name = vec![format!("{}.json", key.as_str())];
        let home = &self.home;
        let place = Place { files: &self.files, home, stands: false };
        if !is_safe_name(key.as_str()) {
            return loaded;
        }
        match key {
            RecordKey::Run(_) => {
                loaded.runs = records(place, &home.runs(), name, &mut BTreeMap::new(), &mut loaded);
            }
            RecordKey::Pair(_) => {
                loaded.pairs = records(place, &home.pairs(), name, &mut BTreeMap::new(), &mut loaded);
            }
        }
        loaded
    }

    /// The sessions in which an agent asks for approval, by the newest events of the driver that holds the lock.
    pub fn sessions_that_ask(&self) -> Vec<SessionId> {
        let since = self.files.stat(&self.home.lock()).ok().flatten().map(|mark| mark.modified);
        let events: Vec<Event> = journal::tail(&self.files, &self.home.events(), LATE_EVENTS).unwrap_or_default();
        let mut asks: Vec<SessionId> = Vec::new();
        for event in events.iter().filter(|event| event.kind == EventKind::SessionStateChanged) {
            let Some(session) = &event.session_id else { continue };
            asks.retain(|known| known != session);
            let is_of_this_driver = since.is_none_or(|taken| event.at.as_nanosecond() >= taken);
            if is_of_this_driver && event.reason.as_deref() == Some("needs_approval") {
                asks.push(session.clone());
            }
        }
        asks
    }

    /// Events published after one, oldest first, at most this many; with the numbers of the oldest and the newest that
    /// are kept.
    pub fn events_after(&self, seq: u64, most: usize) -> Past {
        let path = self.home.events();
        let read =
            |path: &Path, bytes: u64| -> Vec<Event> { journal::tail(&self.files, path, bytes).unwrap_or_default() };
        let mut events = read(&path, NEW_EVENTS);
        let reaches = |events: &[Event]| events.first().is_some_and(|first| first.seq <= seq.saturating_add(1));
        if !reaches(&events) {
            let mut older = read(&old_of(&path), u64::MAX);
            older.extend(read(&path, u64::MAX));
            events = older;
        }
        let ends = (events.first().map(|event| event.seq), events.last().map_or(0, |event| event.seq));
        events.retain(|event| event.seq > seq);
        events.truncate(most);
        Past { events, oldest: ends.0, newest: ends.1 }
    }

    /// Events published since the last call, oldest first; none at the first.
    pub fn new_events(&mut self) -> Vec<Event> {
        let path = self.home.events();
        let mut events: Vec<Event> = journal::tail(&self.files, &path, NEW_EVENTS).unwrap_or_default();
        let Some(seen) = self.seen else {
            self.seen = Some(events.last().map_or(0, |event| event.seq));
            return Vec::new();
        };
        if events.first().is_some_and(|first| first.seq > seen.saturating_add(1)) {
            // Rotated since the last look: the missing ones stand at the end of the old file.
            let mut older: Vec<Event> = journal::tail(&self.files, &old_of(&path), NEW_EVENTS).unwrap_or_default();
            older.append(&mut events);
            events = older;
        }
        events.retain(|event| event.seq > seen);
        self.seen = Some(events.last().map_or(seen, |event| event.seq));
        events
    }
}

impl<F: Files + Sync> Shelf for Reader<F> {
    fn read(&mut self) -> Option<Loaded> {
        // The marks are taken before reading: what is written meanwhile shows at the next call.
        let is_first = self.marks.is_empty();
        (self.changed_since() || is_first).then(|| self.load())
    }

    fn events(&mut self) -> Vec<Event> {
        self.new_events()
    }

    fn hook_notes(&mut self, now: Timestamp) -> Vec<(String, Option<HookNote>)> {
        spool::notes(&self.home, now)
    }

    fn driver(&mut self) -> DriverFact {
        match lock::holder(&self.home) {
            Ok(Holder::Nobody) => DriverFact::Nobody,
            Ok(Holder::Process(by)) => DriverFact::Elsewhere {
                background: by.as_ref().is_some_and(|claim| claim.kind == Kind::Background),
                pid: by.map(|claim| claim.pid),
            },
            // It cannot be told: as long as that is so, nobody takes over.
            Err(_) => DriverFact::Elsewhere { pid: None, background: false },
        }
    }
}

/// Where is read, and how much.
#[derive(Debug)]
struct Place<'a, F> {
    files: &'a F,
    home: &'a Home,
    stands: bool,
}

impl<F> Clone for Place<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Place<'_, F> {}

/// The files of pairs without those of runs that have stopped, but for the review that such a run ended in.
fn without_history(mut pairs: Vec<String>, runs: &[RunRecord]) -> Vec<String> {
    let ended: BTreeMap<&str, &RunRecord> =
        runs.iter().filter(|run| !run.is_active()).map(|run| (run.id.as_str(), run)).collect();
    pairs.retain(|name| {
        let stem = name.strip_suffix(".json").unwrap_or(name);
        let of = stem.rmatch_indices('-').find_map(|(at, _)| ended.get(stem.get(..at)?));
        of.is_none_or(|run| run.current_pair_id.as_ref().is_some_and(|pair| pair.as_str() == stem))
    });
    pairs
}

fn records<F: Files + Sync, R: Kept>(
    Place { files, home, stands }: Place<'_, F>,
    dir: &Path,
    names: Vec<String>,
    cache: &mut BTreeMap<PathBuf, Cached<R>>,
    loaded: &mut Loaded,
) -> Vec<R> {
    let mut left = std::mem::take(cache);
    let mut changed = Vec::new();
    for name in names {
        let path = dir.join(&name);
        let now = files.stat(&path).ok().flatten();
        match left.remove(&path).filter(|cached| now.is_some() && cached.read.mark == now) {
            Some(cached) => {
                cache.insert(path, cached);
            }
            None => changed.push((path, name)),
        }
    }
    let read = each(&changed, |(_, name)| {
        let read = load::read_record(files, dir, name, decode_to_look)?;
        let folder = home.texts(&R::key_of(&read.stem)).filter(|_| !stands);
        let older = folder.map(|folder| load::moved(files, &folder).0).unwrap_or_default();
        Some(Cached { read, older })
    });
    cache.extend(changed.into_iter().zip(read).filter_map(|((path, _), read)| Some((path, read?))));
    let recent = if stands {
        Vec::new()
    } else {
        load::recent(&cache.values().filter_map(|cached| ours(&cached.read)).cloned().collect::<Vec<R>>())
    };
    let mut records = Vec::new();
    for cached in cache.values_mut() {
        loaded.read_only.extend(load::unread(home, &cached.read));
        match &mut cached.read.decoded {
            Decoded::Ours(record, _) => {
                let key = record.key();
                let Some(folder) = home.texts(&key) else { continue };
                let least = if record.active() || recent.contains(&key) { Need::History } else { Need::Later };
                // Texts that are there already are not read again.
                let lost = load::fill(files, &folder, record.as_mut(), least);
                if !cached.older.is_empty() {
                    loaded.older_entries.insert(key, cached.older.clone());
                }
                if load::judge(record.as_ref(), lost, loaded) {
                    records.push(record.as_ref().clone());
                }
            }
            Decoded::Foreign(..) => {}
            Decoded::Broken(why) => loaded.notices.push(format!("{} can't be read: {why}", show(&cached.read.path))),
        }
    }
    records.sort_by_key(Kept::key);
    records
}

fn ours<R>(read: &Read<R>) -> Option<&R> {
    match &read.decoded {
        Decoded::Ours(record, _) => Some(record),
        Decoded::Foreign(..) | Decoded::Broken(_) => None,
    }
}
