//! Everything on the disk, read once at the start; what cannot be read goes to the quarantine and is said.
//! The same reading, without moving anything, is the viewer's (`reader`).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::files::{FileMark, Files, in_words};
use super::schema::{Decoded, Kept, Need, decode};
use super::{Store, journal, old_of, ours_of, quarantine, show};
use crate::driver::ports::{Cause, Loaded, ReadOnly};
use crate::model::event::{Decision, Event};
use crate::model::ids::{Agent, RecordKey, SessionId, SessionKey, is_safe_name};
use crate::model::outbox::{Entry, EntryState};
use crate::model::pair::{PairRecord, Round, SCHEMA};
use crate::model::run::RunRecord;
use crate::model::session::SessionNote;
use crate::model::text::TextRef;
use crate::paths::Home;

/// Entries that moved out of a record, in its folder.
pub(super) const OUTBOX: &str = "outbox.jsonl";
/// Rounds that moved out of a record, in its folder.
pub(super) const ROUNDS: &str = "rounds.jsonl";
/// Stopped records whose texts are loaded all the same: late copies of their messages can still arrive.
const RECENT: usize = 20;
/// How what a person mended is taken in: the records are read at a start.
pub(super) const AGAIN: &str = "start trellis again";
/// Decisions that are shown.
const DECISIONS: usize = 1_000;
/// Bytes at the end of `decisions.jsonl` that hold as many.
const DECISION_TAIL: u64 = 2 << 20;
/// Bytes at the end of `events.jsonl` that hold a whole event.
const EVENT_TAIL: u64 = 64 << 10;

/// One record's file as it was read.
#[derive(Clone, Debug)]
pub(super) struct Read<R> {
    pub(super) path: PathBuf,
    pub(super) stem: String,
    /// `None` when the file could not be read at all.
    pub(super) mark: Option<FileMark>,
    pub(super) decoded: Decoded<R>,
}

/// A text that a record names and that is not there as it says.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    pub(super) need: Need,
    pub(super) why: String,
}

impl<F: Files> Store<F> {
    pub(super) fn load_all(&mut self) -> Loaded {
        let mut loaded = Loaded::default();
        self.repair(&mut loaded);
        let home = self.home.clone();
        self.settle(&home.runs(), &mut loaded);
        self.settle(&home.pairs(), &mut loaded);
        let runs: Vec<RunRecord> = self.load_records(&home.runs(), &mut loaded);
        let pairs: Vec<PairRecord> = self.load_records(&home.pairs(), &mut loaded);
        (loaded.runs, loaded.pairs) = (runs, pairs);
        quarantine::tell(&self.writer.files, &home, &mut loaded);
        hold_with_their_pairs(&mut loaded);
        self.load_notes(&mut loaded);
        tails(&self.writer.files, &home, &mut loaded);
        loaded
    }

    /// What a crash left half done: temporary files, and a record of ours whose displaced file is gone already.
    fn repair(&mut self, loaded: &mut Loaded) {
        for dir in [self.home.runs(), self.home.pairs(), self.home.sessions(), self.home.root().to_owned()] {
            self.writer.sweep(&dir);
        }
        for dir in [self.home.runs(), self.home.pairs()] {
            for name in self.writer.files.list(&dir).unwrap_or_default() {
                let Some(stem) = name.strip_suffix(".ours.json").filter(|stem| is_safe_name(stem)) else { continue };
                let path = dir.join(format!("{stem}.json"));
                if !matches!(self.writer.files.stat(&path), Ok(None)) {
                    continue;
                }
                let taken =
                    self.writer.files.rename(&ours_of(&path), &path).and_then(|()| self.writer.files.sync_dir(&dir));
                loaded.notices.push(match taken {
                    Ok(()) => format!("{} was gone; the copy of trellis that stood beside it counts", show(&path)),
                    Err(error) => format!("{} is gone and its copy can't be used: {}", show(&path), in_words(&error)),
                });
            }
        }
    }

    /// Brings a folder's names to the disk before anything in it is believed. A killed save may have renamed its file and
    /// not have got to this: what is read now would be acted on, and could still be undone by a loss of power.
    fn settle(&self, dir: &Path, loaded: &mut Loaded) {
        if matches!(self.writer.files.stat(dir), Ok(Some(_)))
            && let Err(error) = self.writer.files.sync_dir(dir)
        {
            loaded.notices.push(format!("{} can't be brought to the disk: {}", show(dir), in_words(&error)));
        }
    }

    fn load_records<R: Kept>(&mut self, dir: &Path, loaded: &mut Loaded) -> Vec<R> {
        let mut records = Vec::new();
        for read in read_records::<F, R>(&self.writer.files, dir, loaded) {
            if let Some(unread) = unread(&self.home, &read) {
                loaded.read_only.push(unread);
            }
            match read.decoded {
                Decoded::Ours(record, unknown) => {
                    self.keep_unknown(&record.key(), unknown);
                    self.marks.extend(read.mark.map(|mark| (read.path, mark)));
                    records.push(*record);
                }
                Decoded::Foreign(..) => {}
                Decoded::Broken(why) => match self.quarantine(&read.path, &why) {
                    Ok(notice) => {
                        // It is told from there.
                        loaded.read_only.retain(|unread| unread.key != R::key_of(&read.stem));
                        loaded.notices.push(notice);
                    }
                    Err(notice) => loaded.notices.push(notice),
                },
            }
        }
        let recent = recent(&records);
        records.retain_mut(|record| {
            let key = record.key();
            let Some(folder) = self.home.texts(&key) else { return false };
            let least = if record.active() || recent.contains(&key) { Need::History } else { Need::Later };
            let lost = fill(&self.writer.files, &folder, record, least);
            if record.active() {
                self.writer.sweep(&folder);
            }
            self.settle(&folder, loaded);
            self.texts.extend(present(&folder, record));
            let older = self.note_moved(&key, &folder);
            if !older.is_empty() {
                loaded.older_entries.insert(key.clone(), older);
            }
            judge(record, lost, loaded)
        });
        records
    }

    /// Puts a file away; the sentence about it. An error: it stays where it is.
    fn quarantine(&mut self, path: &Path, why: &str) -> Result<String, String> {
        let to = self.home.quarantine();
        match self.writer.put_away(path, &to) {
            Ok(at) => Ok(format!("{} can't be read: {why}; it was moved to {}", show(path), show(&at))),
            Err(error) => {
                Err(format!("{} can't be read: {why}; it can't be moved either: {}", show(path), in_words(&error)))
            }
        }
    }

    fn load_notes(&mut self, loaded: &mut Loaded) {
        for note in read_notes(&self.writer.files, &self.home) {
            match note.read {
                Ok((key, mark, note)) if note.schema <= SCHEMA => {
                    self.marks
                        .insert(self.home.sessions().join(format!("{}-{}.json", key.agent, key.session_id)), mark);
                    loaded.sessions.insert(key, note);
                }
                Ok((_, _, _)) => {
                    loaded.notices.push(format!("{} was written by a newer trellis; left alone", show(&note.path)));
                }
                Err(why) => {
                    let (Ok(notice) | Err(notice)) = self.quarantine(&note.path, &why);
                    loaded.notices.push(notice);
                }
            }
        }
    }
}

/// Whether a record may be driven with the texts it lost; says so if any.
pub(super) fn judge<R: Kept>(record: &R, lost: Vec<Lost>, loaded: &mut Loaded) -> bool {
    let key = record.key();
    let mut may_drive = true;
    for lost in lost {
        loaded.notices.push(format!("{} {key}: {}", R::WORD, lost.why));
        if lost.need == Need::Vital && may_drive {
            may_drive = false;
            let why = format!("a message of it is not on the disk any more: {}", lost.why);
            let value = serde_json::to_value(record).unwrap_or_default();
            let remedy = format!("bring it back, then {AGAIN}");
            let cause = Cause::Unreadable;
            loaded.read_only.push(ReadOnly { key: key.clone(), cause, why, remedy, written_at: None, value });
        }
    }
    may_drive
}

/// A path as it is called below the home.
pub(super) fn below(home: &Home, path: &Path) -> String {
    show(path.strip_prefix(home.root()).unwrap_or(path))
}

/// What is shown of a record that is not driven.
pub(super) fn unread<R: Kept>(home: &Home, read: &Read<R>) -> Option<ReadOnly> {
    let (cause, why, value) = match &read.decoded {
        Decoded::Ours(..) => return None,
        Decoded::Foreign(cause, why, value) => (*cause, why.clone(), value.clone()),
        // Its notice names it.
        Decoded::Broken(_) if !is_safe_name(&read.stem) => return None,
        Decoded::Broken(why) => (Cause::Damaged, brief(why), serde_json::Value::Null),
    };
    let path = below(home, &read.path);
    let remedy = match cause {
        Cause::Newer => "go on with that one, or update this one".to_owned(),
        Cause::Stranger => "that program goes on with it; nothing here changes it".to_owned(),
        Cause::Unreadable => format!("mend that at {path}, then {AGAIN}"),
        Cause::Damaged => format!("mend {path}, or remove it, then {AGAIN}"),
    };
    let written_at = read.mark.and_then(written_at);
    Some(ReadOnly { key: R::key_of(&read.stem), cause, why, remedy, written_at, value })
}

/// A reason without what only helps to find the place: the notice has that.
pub(super) fn brief(why: &str) -> String {
    why.split(" (").next().unwrap_or(why).to_owned()
}

/// When a file was written last.
pub(super) fn written_at(mark: FileMark) -> Option<Timestamp> {
    Timestamp::from_nanosecond(mark.modified).ok()
}

/// A run whose pair is there and cannot be read is held: what became of its review stands in that record, and a run that
/// took it for gone would write the review off.
pub(super) fn hold_with_their_pairs(loaded: &mut Loaded) {
    let mut held = Vec::new();
    loaded.runs.retain(|run| {
        let Some(pair) = run.current_pair_id.as_ref().filter(|_| run.is_active()) else { return true };
        let key = RecordKey::Pair(pair.clone());
        let unread = loaded.read_only.iter().find(|unread| unread.key == key);
        let (cause, why, remedy) = match unread {
            Some(unread) => (unread.cause, unread.why.clone(), unread.remedy.clone()),
            None if loaded.pairs_unread => {
                (Cause::Unreadable, "its folder can't be read".to_owned(), format!("mend that, then {AGAIN}"))
            }
            None => return true,
        };
        held.push(ReadOnly {
            key: RecordKey::Run(run.id.clone()),
            cause,
            why: format!("the record of its review: {why}"),
            remedy,
            written_at: run.last_persisted_at,
            value: serde_json::to_value(run).unwrap_or_default(),
        });
        false
    });
    loaded.read_only.extend(held);
}

/// Reads all records of a folder. What is no ordinary file or cannot be opened is said and shown, never moved.
pub(super) fn read_records<F: Files, R: Kept>(files: &F, dir: &Path, loaded: &mut Loaded) -> Vec<Read<R>> {
    names::<F, R>(files, dir, loaded).iter().filter_map(|name| read_record(files, dir, name, decode)).collect()
}

/// The names in a folder of records. One that cannot be listed is no empty one: that is said and noted.
pub(super) fn names<F: Files, R: Kept>(files: &F, dir: &Path, loaded: &mut Loaded) -> Vec<String> {
    files.list(dir).unwrap_or_else(|error| {
        loaded.notices.push(format!("{} can't be read: {}", show(dir), in_words(&error)));
        match R::key_of("") {
            RecordKey::Run(_) => loaded.runs_unread = true,
            RecordKey::Pair(_) => loaded.pairs_unread = true,
        }
        Vec::new()
    })
}

/// Reads one file of a folder of records in this way; `None` when its name says that it is no record.
pub(super) fn read_record<F: Files, R: Kept>(
    files: &F,
    dir: &Path,
    name: &str,
    decode: fn(&str, &[u8]) -> Decoded<R>,
) -> Option<Read<R>> {
    let stem =
        name.strip_suffix(".json").filter(|stem| stem.strip_suffix(".ours").is_none() && !stem.starts_with('.'))?;
    let path = dir.join(name);
    let (mark, decoded) = match files.read(&path, 0) {
        Ok((_, mark)) if !is_safe_name(stem) => (Some(mark), Decoded::Broken("its name can't be an id".to_owned())),
        Ok((bytes, mark)) => (Some(mark), decode(stem, &bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            let why = format!("it can't be read: {}", in_words(&error));
            let mark = files.stat(&path).ok().flatten();
            (mark, Decoded::Foreign(Cause::Unreadable, why, serde_json::Value::Null))
        }
    };
    Some(Read { path, stem: stem.to_owned(), mark, decoded })
}

/// The keys of the records that stopped last.
pub(super) fn recent<R: Kept>(records: &[R]) -> Vec<RecordKey> {
    let mut stopped: Vec<_> =
        records.iter().filter(|record| !record.active()).map(|record| (record.stopped_at(), record.key())).collect();
    stopped.sort_unstable();
    stopped.into_iter().rev().take(RECENT).map(|(_, key)| key).collect()
}

/// Fills in the texts that are needed at least as much as `least`; says which are not there.
pub(super) fn fill<F: Files, R: Kept>(files: &F, folder: &Path, record: &mut R, least: Need) -> Vec<Lost> {
    let mut lost = Vec::new();
    let mut known: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
    for (need, reference) in record.texts() {
        if need < least {
            continue;
        }
        // A round and its entry name the same text.
        if let Some(text) = known.get(&reference.sha256) {
            reference.inline = Arc::clone(text);
            continue;
        }
        match text(files, folder, reference) {
            Ok(text) => {
                known.insert(Arc::clone(&reference.sha256), Arc::clone(&text));
                reference.inline = text;
            }
            Err(why) => lost.push(Lost { need, why }),
        }
    }
    lost
}

/// The text of a reference, proven by its hash.
pub(super) fn text<F: Files>(files: &F, folder: &Path, reference: &TextRef) -> Result<Arc<str>, String> {
    if reference.inline.len() as u64 == reference.bytes {
        return Ok(Arc::clone(&reference.inline));
    }
    if !is_safe_name(&reference.file) {
        return Err("a text has a name that can't be a file's".to_owned());
    }
    let path = folder.join(&*reference.file);
    let (bytes, _) =
        files.read(&path, 0).map_err(|error| format!("{} can't be read: {}", show(&path), in_words(&error)))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{} is no text", show(&path)))?;
    if TextRef::of(&text).sha256 != reference.sha256 {
        return Err(format!("{} is not the text that was written there", show(&path)));
    }
    Ok(text.into())
}

fn present<R: Kept>(folder: &Path, record: &mut R) -> Vec<PathBuf> {
    let texts = record.texts().into_iter().map(|(_, text)| text);
    texts.filter(|text| !text.inline.is_empty()).map(|text| folder.join(&*text.file)).collect()
}

/// What moved out of a record before: its entries (each once, the newest line counts) and the number of the last round.
pub(super) fn moved<F: Files>(files: &F, folder: &Path) -> (Vec<Entry>, u32) {
    let mut entries: Vec<Entry> = Vec::new();
    let mut places = BTreeMap::new();
    for entry in journal::tail::<F, Entry>(files, &folder.join(OUTBOX), u64::MAX).unwrap_or_default() {
        let known = places.get(entry.id.as_str()).and_then(|place: &usize| entries.get_mut(*place));
        if let Some(known) = known {
            *known = entry;
        } else {
            places.insert(entry.id.as_str().to_owned(), entries.len());
            entries.push(entry);
        }
    }
    // A late copy of one that was given up is known by its text.
    for entry in entries.iter_mut().filter(|entry| entry.state == EntryState::Abandoned) {
        if let Ok(text) = text(files, folder, &entry.text) {
            entry.text.inline = text;
        }
    }
    let rounds = journal::tail::<F, Round>(files, &folder.join(ROUNDS), EVENT_TAIL).unwrap_or_default();
    (entries, rounds.iter().map(|round| round.n).max().unwrap_or(0))
}

/// A note's file as it was read.
pub(super) struct ReadNote {
    pub(super) path: PathBuf,
    pub(super) read: Result<(SessionKey, FileMark, SessionNote), String>,
}

/// Reads all notes about sessions.
pub(super) fn read_notes<F: Files>(files: &F, home: &Home) -> Vec<ReadNote> {
    let dir = home.sessions();
    let mut notes = Vec::new();
    for name in files.list(&dir).unwrap_or_default() {
        let Some(stem) = name.strip_suffix(".json").filter(|stem| !stem.starts_with('.')) else { continue };
        let path = dir.join(&name);
        let read = match (session_of(stem), files.read(&path, 0)) {
            (_, Err(_)) => continue,
            (None, Ok(_)) => Err("its name is no session's".to_owned()),
            (Some(key), Ok((bytes, mark))) => note_of(&bytes).map(|note| (key, mark, note)),
        };
        notes.push(ReadNote { path, read });
    }
    notes
}

pub(super) fn note_of(bytes: &[u8]) -> Result<SessionNote, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("it is no note about a session ({error})"))
}

pub(super) fn session_of(stem: &str) -> Option<SessionKey> {
    let (agent, id) = stem.split_once('-')?;
    let agent = [Agent::Claude, Agent::Codex].into_iter().find(|known| known.as_str() == agent)?;
    is_safe_name(id).then(|| SessionKey { agent, session_id: SessionId::new(id) })
}

/// The number of the last event, and the newest decisions.
pub(super) fn tails<F: Files>(files: &F, home: &Home, loaded: &mut Loaded) {
    let (events, decisions) = (home.events(), home.decisions());
    for path in [events.clone(), old_of(&events)] {
        let last = journal::tail::<F, Event>(files, &path, EVENT_TAIL).unwrap_or_default();
        loaded.last_seq = last.iter().map(|event| event.seq).fold(loaded.last_seq, u64::max);
    }
    let mut newest: Vec<Decision> = Vec::new();
    for path in [old_of(&decisions), decisions] {
        newest.extend(journal::tail::<F, Decision>(files, &path, DECISION_TAIL).unwrap_or_default());
    }
    newest.drain(..newest.len().saturating_sub(DECISIONS));
    loaded.decisions = newest;
}
