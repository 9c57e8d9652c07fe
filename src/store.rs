//! The disk: the only writer of files below the home. Records, texts, events, sessions' notes, lock, quarantine.
//! Which records there are to be, and when they are saved, is the driver's business.
//!
//! A record is written in this order: texts it names that are not there yet, entries and rounds that are too old for it
//! (`trim`), the record itself. So whatever a crash leaves names only what is there.
//! Texts are loaded with the records that may still need them; those of records that stopped long ago are read when asked for.

mod atomic;
pub mod files;
pub mod home_files;
mod journal;
pub mod leave;
mod load;
pub mod lock;
mod quarantine;
pub mod reader;
mod schema;
pub mod sim_files;
pub mod socket;
pub mod spool;
pub mod trim;
mod unknown;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use atomic::Writer;
use files::{FileMark, Files, OsFiles, in_words};
use journal::{Durable, Growth};
pub use journal::{ROTATE_AT, old_of};
use schema::{Decoded, Kept, decode};
use unknown::Unknown;

use crate::driver::ports::{Loaded, Records, SaveError};
use crate::model::event::{Decision, Event};
use crate::model::hook::HookNote;
use crate::model::ids::{EntryId, PairId, RecordKey, RunId, SessionKey, is_safe_name};
use crate::model::pair::{PairRecord, SCHEMA};
use crate::model::run::RunRecord;
use crate::model::session::SessionNote;
use crate::model::text::TextRef;
use crate::paths::Home;

/// Everything trellis keeps. Whoever has one must hold the home's lock.
#[derive(Debug)]
pub struct Store<F = OsFiles> {
    home: Home,
    writer: Writer<F>,
    /// What each record's and note's file was when trellis last wrote or read it.
    marks: HashMap<PathBuf, FileMark>,
    /// What has moved out of each record.
    moved: HashMap<RecordKey, Moved>,
    /// Texts known to be on the disk.
    texts: HashSet<PathBuf>,
    /// Records whose `{id}.ours.json` is there.
    ours_beside: HashSet<RecordKey>,
    /// What the records' parts hold beyond what this version knows.
    unknown: HashMap<RecordKey, Unknown>,
}

/// What has moved out of a record into the files beside it.
#[derive(Debug, Default)]
struct Moved {
    entries: HashSet<EntryId>,
    rounds: u32,
}

impl Store<OsFiles> {
    /// The store of a home. Nothing is read or written yet.
    #[must_use]
    pub fn new(home: Home) -> Self {
        Self::with_files(home, OsFiles)
    }
}

impl<F: Files> Store<F> {
    /// A store on other files than the system's.
    pub fn with_files(home: Home, files: F) -> Self {
        Self {
            writer: Writer::new(home.root().to_owned(), files),
            home,
            marks: HashMap::new(),
            moved: HashMap::new(),
            texts: HashSet::new(),
            ours_beside: HashSet::new(),
            unknown: HashMap::new(),
        }
    }

    fn record_path(&self, key: &RecordKey) -> Result<PathBuf, SaveError> {
        self.home.record(key).ok_or_else(|| unsafe_name(key.as_str()))
    }

    fn texts_folder(&self, key: &RecordKey) -> Result<PathBuf, SaveError> {
        self.home.texts(key).ok_or_else(|| unsafe_name(key.as_str()))
    }

    fn save<R: Kept>(&mut self, record: &R) -> Result<(), SaveError> {
        let mut record = record.clone();
        let key = record.key();
        let path = self.record_path(&key)?;
        let folder = self.texts_folder(&key)?;
        // Before trimming: a text goes to the disk even if its entry moves out at once.
        let texts: Vec<TextRef> = record.texts().into_iter().map(|(_, text)| text.clone()).collect();
        let (overflow, mut bytes) = trim::trim(&mut record);
        if let Some(unknown) = self.unknown.get(&key) {
            bytes = trim::encode_with(&record, unknown);
        }
        if bytes.is_empty() {
            return Err(SaveError::Io { file: show(&path), why: "it cannot be written as JSON".to_owned() });
        }
        self.check_unchanged(&key, &path, &bytes)?;
        self.write_texts(&folder, &texts)?;
        self.move_out(&key, &folder, &overflow)?;
        match self.writer.replace(&path, &bytes) {
            Ok(mark) => self.marks.insert(path.clone(), mark),
            Err(failed) => {
                // The name may bear the new content already: that is then what trellis wrote last.
                if let Some(mark) = failed.replaced {
                    self.marks.insert(path.clone(), mark);
                }
                return Err(refused(&path, &failed.error));
            }
        };
        if self.ours_beside.remove(&key) {
            let _ = self.writer.files.remove(&ours_of(&path));
        }
        Ok(())
    }

    /// The file must be what trellis last wrote or read; else ours is kept beside it.
    fn check_unchanged(&mut self, key: &RecordKey, path: &Path, ours: &[u8]) -> Result<(), SaveError> {
        let now = self.writer.files.stat(path).map_err(|error| refused(path, &error))?;
        if now == self.marks.get(path).copied() {
            return Ok(());
        }
        // Not this file was taken away, but all of them.
        if now.is_none() && matches!(self.writer.files.stat(self.home.root()), Ok(None)) {
            return Err(SaveError::Io { file: show(path), why: "the home was removed".to_owned() });
        }
        let beside = ours_of(path);
        let kept_as = match self.writer.replace(&beside, ours) {
            Ok(_) => {
                self.ours_beside.insert(key.clone());
                show(&beside)
            }
            Err(failed) => {
                format!("a copy in memory only, for {} can't be written: {}", show(&beside), in_words(&failed.error))
            }
        };
        Err(SaveError::Changed { file: show(path), kept_as })
    }

    fn write_texts(&mut self, folder: &Path, texts: &[TextRef]) -> Result<(), SaveError> {
        let mut written = Vec::new();
        for text in texts {
            // Not in memory: it was loaded from the disk, or is empty and needs no file.
            if text.inline.is_empty() || !is_safe_name(&text.file) {
                continue;
            }
            let path = folder.join(&*text.file);
            if self.texts.contains(&path) || written.contains(&path) {
                continue;
            }
            self.write_text(&path, text).map_err(|error| refused(&path, &error))?;
            written.push(path);
        }
        if !written.is_empty() {
            self.writer.files.sync_dir(folder).map_err(|error| refused(folder, &error))?;
            self.texts.extend(written);
        }
        Ok(())
    }

    fn write_text(&mut self, path: &Path, text: &TextRef) -> io::Result<()> {
        // Its name is its content's hash: one of this length that is there was written whole.
        let there = self.writer.files.stat(path)?;
        if there.is_some_and(|mark| mark.is_file && mark.length == text.bytes) {
            return Ok(());
        }
        self.writer.put(path, text.inline.as_bytes()).map(|_| ())
    }

    /// Appends what is too old for the record, once.
    fn move_out(&mut self, key: &RecordKey, folder: &Path, overflow: &trim::Overflow) -> Result<(), SaveError> {
        let known = self.moved.entry(key.clone()).or_default();
        let entries: Vec<_> = overflow.entries.iter().filter(|entry| !known.entries.contains(&entry.id)).collect();
        let rounds: Vec<_> = overflow.rounds.iter().filter(|round| round.n > known.rounds).collect();
        let path = folder.join(load::OUTBOX);
        journal::append(&mut self.writer, &path, &entries, Growth::Unbounded, Durable::Yes)
            .map_err(|error| refused(&path, &error))?;
        known.entries.extend(entries.iter().map(|entry| entry.id.clone()));
        let path = folder.join(load::ROUNDS);
        journal::append(&mut self.writer, &path, &rounds, Growth::Unbounded, Durable::Yes)
            .map_err(|error| refused(&path, &error))?;
        known.rounds = rounds.last().map_or(known.rounds, |round| round.n);
        Ok(())
    }

    fn adopt<R: Kept>(&mut self, id: &str) -> Result<R, SaveError> {
        let key = R::key_of(id);
        let path = self.record_path(&key)?;
        let folder = self.texts_folder(&key)?;
        let (bytes, mark) = self.writer.files.read(&path, 0).map_err(|error| cannot_read(&path, &in_words(&error)))?;
        let mut record = match decode::<R>(id, &bytes) {
            Decoded::Ours(record, unknown) => {
                self.keep_unknown(&key, unknown);
                *record
            }
            Decoded::Foreign(_, why, _) | Decoded::Broken(why) => return Err(cannot_read(&path, &why)),
        };
        let missing = load::fill(&self.writer.files, &folder, &mut record, schema::Need::History);
        if let Some(lost) = missing.iter().find(|lost| lost.need == schema::Need::Vital) {
            return Err(cannot_read(&path, &lost.why));
        }
        self.note_moved(&key, &folder);
        self.marks.insert(path, mark);
        Ok(record)
    }

    fn keep_unknown(&mut self, key: &RecordKey, unknown: Option<Unknown>) {
        match unknown {
            Some(unknown) => self.unknown.insert(key.clone(), unknown),
            None => self.unknown.remove(key),
        };
    }

    /// Learns what has moved out of a record before.
    fn note_moved(&mut self, key: &RecordKey, folder: &Path) -> Vec<crate::model::outbox::Entry> {
        let (entries, last_round) = load::moved(&self.writer.files, folder);
        let moved = Moved { entries: entries.iter().map(|entry| entry.id.clone()).collect(), rounds: last_round };
        self.moved.insert(key.clone(), moved);
        entries
    }

    fn put_away(&mut self, key: &RecordKey) -> Result<(), SaveError> {
        let path = self.record_path(key)?;
        let there = self.writer.files.stat(&path).map_err(|error| refused(&path, &error))?;
        if there.is_some() {
            let quarantine = self.home.quarantine();
            self.writer.put_away(&path, &quarantine).map_err(|error| refused(&path, &error))?;
        }
        self.marks.remove(&path);
        Ok(())
    }

    fn remove(&mut self, key: &RecordKey) -> Result<(), SaveError> {
        let path = self.record_path(key)?;
        let folder = self.texts_folder(key)?;
        let now = self.writer.files.stat(&path).map_err(|error| refused(&path, &error))?;
        if now.is_some() && now != self.marks.get(&path).copied() {
            let why = "it is not what trellis last wrote; remove it yourself".to_owned();
            return Err(SaveError::Io { file: show(&path), why });
        }
        // The record goes last: as long as anything is left, it can be asked for again.
        let names = self.writer.files.list(&folder).map_err(|error| refused(&folder, &error))?;
        for name in names {
            let text = folder.join(name);
            self.writer.files.remove(&text).map_err(|error| refused(&text, &error))?;
            self.texts.remove(&text);
        }
        self.writer.files.remove_dir(&folder).map_err(|error| refused(&folder, &error))?;
        self.writer.forget(&folder);
        for file in [ours_of(&path), path.clone()] {
            self.writer.files.remove(&file).map_err(|error| refused(&file, &error))?;
        }
        let parent = path.parent().unwrap_or(&path);
        self.writer.files.sync_dir(parent).map_err(|error| refused(parent, &error))?;
        self.marks.remove(&path);
        self.moved.remove(key);
        self.ours_beside.remove(key);
        self.unknown.remove(key);
        Ok(())
    }

    /// A note another program wrote meanwhile goes to the quarantine: a person's newest word counts, and nothing is lost.
    fn write_note(&mut self, key: &SessionKey, note: &SessionNote) -> Result<(), SaveError> {
        let path = self.home.session(key).ok_or_else(|| unsafe_name(key.session_id.as_str()))?;
        let fault = |error: &io::Error| refused(&path, error);
        let now = self.writer.files.stat(&path).map_err(|error| fault(&error))?;
        if now.is_some() && now != self.marks.get(&path).copied() {
            let (bytes, _) = self.writer.files.read(&path, 0).map_err(|error| fault(&error))?;
            if load::note_of(&bytes).is_ok_and(|note| note.schema > SCHEMA) {
                return Err(SaveError::Io { file: show(&path), why: "it was written by a newer trellis".to_owned() });
            }
            let quarantine = self.home.quarantine();
            self.writer.put_away(&path, &quarantine).map_err(|error| fault(&error))?;
            self.marks.remove(&path);
        }
        let mut bytes = serde_json::to_vec_pretty(note).map_err(|error| fault(&io::Error::other(error)))?;
        bytes.push(b'\n');
        let written = self.writer.replace(&path, &bytes);
        let mark = written.as_ref().map_or_else(|failed| failed.replaced, |mark| Some(*mark));
        if let Some(mark) = mark {
            self.marks.insert(path.clone(), mark);
        }
        written.map(|_| ()).map_err(|failed| fault(&failed.error))
    }
}

impl<F: Files> Records for Store<F> {
    fn load(&mut self) -> Loaded {
        self.load_all()
    }

    fn save_run(&mut self, record: &RunRecord) -> Result<(), SaveError> {
        self.save(record)
    }

    fn save_pair(&mut self, record: &PairRecord) -> Result<(), SaveError> {
        self.save(record)
    }

    fn adopt_run(&mut self, id: &RunId) -> Result<RunRecord, SaveError> {
        self.adopt(id.as_str())
    }

    fn adopt_pair(&mut self, id: &PairId) -> Result<PairRecord, SaveError> {
        self.adopt(id.as_str())
    }

    fn displace(&mut self, key: &RecordKey) -> Result<(), SaveError> {
        self.put_away(key)
    }

    fn text(&mut self, key: &RecordKey, text: &TextRef) -> Option<Arc<str>> {
        load::text(&self.writer.files, &self.home.texts(key)?, text).ok()
    }

    fn discard(&mut self, key: &RecordKey) -> Result<(), SaveError> {
        self.remove(key)
    }

    fn save_session(&mut self, key: &SessionKey, note: &SessionNote) -> Result<(), SaveError> {
        self.write_note(key, note)
    }

    fn hook_notes(&mut self, now: Timestamp) -> Vec<(String, Option<HookNote>)> {
        spool::notes(&self.home, now)
    }

    fn forget_hook_notes(&mut self, names: &[String]) {
        spool::forget(&self.home, names);
    }

    fn forget_session(&mut self, key: &SessionKey) -> Result<(), SaveError> {
        let path = self.home.session(key).ok_or_else(|| unsafe_name(key.session_id.as_str()))?;
        self.writer.files.remove(&path).map_err(|error| refused(&path, &error))?;
        let parent = path.parent().unwrap_or(&path);
        self.writer.files.sync_dir(parent).map_err(|error| refused(parent, &error))?;
        self.marks.remove(&path);
        Ok(())
    }

    fn append_event(&mut self, event: &Event) -> Result<(), SaveError> {
        let path = self.home.events();
        journal::append(&mut self.writer, &path, &[event], Growth::Rotated, Durable::Yes)
            .map_err(|error| refused(&path, &error))
    }

    fn append_decision(&mut self, decision: &Decision) -> Result<(), SaveError> {
        let path = self.home.decisions();
        journal::append(&mut self.writer, &path, &[decision], Growth::Rotated, Durable::No)
            .map_err(|error| refused(&path, &error))
    }
}

/// Where ours is kept when the record's file is somebody else's.
fn ours_of(path: &Path) -> PathBuf {
    path.with_extension("ours.json")
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

fn refused(path: &Path, error: &io::Error) -> SaveError {
    SaveError::Io { file: show(path), why: in_words(error) }
}

fn cannot_read(path: &Path, why: &str) -> SaveError {
    SaveError::Io { file: show(path), why: format!("the file on the disk can't be taken: {why}") }
}

fn unsafe_name(id: &str) -> SaveError {
    SaveError::Io { file: id.escape_debug().collect(), why: "this id can't name a file".to_owned() }
}
