//! The notes of the agents' hooks on their way to the driver: one small file each below `hooks/`, newest name last.
//! Written by the hook's own process, beside whoever drives; a note that is lost costs a moment, so nothing is synced.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use crate::model::hook::HookNote;
use crate::model::ids::is_safe_name;
use crate::paths::Home;

/// More notes than this are not kept: the oldest go first.
const MOST: usize = 256;
/// A note says nothing any more after this.
const KEPT: SignedDuration = SignedDuration::from_hours(24);
/// A larger file is none of ours.
const LARGEST: u64 = 64 * 1024;

/// Puts a note there. A home that is not there is not made.
///
/// # Errors
/// There is no home, or it takes no file.
pub fn put(home: &Home, note: &HookNote, pid: u32) -> io::Result<()> {
    let folder = home.hooks();
    if !home.root().is_dir() {
        return Err(io::ErrorKind::NotFound.into());
    }
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    make_room(&folder);
    // Names are in the order of their times; two of one instant differ by their process.
    let name = format!("{:020}-{pid}", note.at.as_nanosecond());
    let (beside, path) = (folder.join(format!("{name}.tmp")), folder.join(format!("{name}.json")));
    let text = serde_json::to_vec(note).map_err(io::Error::other)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    let written = file.write_all(&text).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// The files of the spool by name, those half written too.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| is_safe_name(name)).collect()
}

fn make_room(folder: &Path) {
    let names = names(folder);
    for name in names.iter().take((names.len() + 1).saturating_sub(MOST)) {
        let _ = fs::remove_file(folder.join(name));
    }
}

/// All notes that are there, oldest first, each with its name; `None` for what is no note or is too old to say anything.
#[must_use]
pub fn notes(home: &Home, now: Timestamp) -> Vec<(String, Option<HookNote>)> {
    let folder = home.hooks();
    let is_whole = |name: &String| Path::new(name).extension().is_some_and(|ending| ending == "json");
    let names = names(&folder).into_iter().filter(is_whole);
    let counts = |note: &HookNote| now.duration_since(note.at) <= KEPT;
    names.map(|name| (note(&folder.join(&name)).filter(counts), name)).map(|(note, name)| (name, note)).collect()
}

fn note(path: &PathBuf) -> Option<HookNote> {
    // A pipe of that name would be waited for without end.
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Removes notes that are done with. One that stays is read again: no harm.
pub fn forget(home: &Home, names: &[String]) {
    for name in names.iter().filter(|name| is_safe_name(name)) {
        if let Err(error) = fs::remove_file(home.hooks().join(name)) {
            tracing::debug!(%error, name, "a hook's note stays");
        }
    }
}

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
