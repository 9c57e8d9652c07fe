//! Taking a home away: what in it is trellis's own, by name, and its removal. A link is removed as a link and never
//! followed, and what trellis did not put there stays. Whether it may be done is asked elsewhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::atomic::TEMPORARY;

/// What a driver, a command or a person for trellis puts into a home. The lock goes last: while it stands, what is left is
/// known as a home.
const OWN: [&str; 15] = [
    "checklist-runs",
    "pairs",
    "sessions",
    "hooks",
    "quarantine",
    "logs",
    "events.jsonl",
    "events.jsonl.1",
    "config.toml",
    "keymap.toml",
    "theme.toml",
    "state.toml",
    "summaries.json",
    "trellis.sock",
    "trellis.lock",
];
/// Any of these shows that trellis drove here.
const SIGNS: [&str; 3] = ["trellis.lock", "checklist-runs", "pairs"];

/// What lies in a home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// trellis's own, in the order in which it goes.
    pub own: Vec<PathBuf>,
    /// What somebody else put there, by name.
    pub strange: Vec<PathBuf>,
    /// trellis drove here, or nothing but its own lies here.
    pub is_home: bool,
}

/// Looks at a folder; `also` are further names of its own. `None`: there is nothing. Nothing is changed.
///
/// # Errors
/// It is a link or no folder, or cannot be read.
pub fn look(root: &Path, also: &[&str]) -> io::Result<Option<Content>> {
    match fs::symlink_metadata(root) {
        Ok(found) if found.is_dir() => {}
        Ok(found) if found.is_symlink() => return Err(io::Error::other("it is a link, and no link is followed")),
        Ok(_) => return Err(io::Error::other("it is not a folder")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut content = Content::default();
    for entry in fs::read_dir(root)? {
        let name = entry?.file_name();
        let known = name
            .to_str()
            .is_some_and(|name| OWN.contains(&name) || also.contains(&name) || name.starts_with(TEMPORARY));
        if known { &mut content.own } else { &mut content.strange }.push(root.join(name));
    }
    content.own.sort_by_key(|path| (path.file_name().is_some_and(|name| name == "trellis.lock"), path.clone()));
    content.strange.sort();
    let has = |name: &str| content.own.iter().any(|path| path.file_name().is_some_and(|own| own == name));
    content.is_home = (content.strange.is_empty() && !content.own.is_empty()) || SIGNS.iter().any(|name| has(name));
    Ok(Some(content))
}

/// Removes what [`look`] called trellis's own, and the folder itself where nothing else is in it. Whether it is gone.
///
/// # Errors
/// Something cannot be removed; what stood before it is gone.
pub fn remove(root: &Path, content: &Content) -> io::Result<bool> {
    for path in &content.own {
        let gone = match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(error) => Err(error),
        };
        match gone {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
            }
            Ok(()) | Err(_) => {}
        }
    }
    match fs::remove_dir(root) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        Err(error) => Err(error),
    }
}
