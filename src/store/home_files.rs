//! The small files of a home beside the records: `config.toml` and `state.toml`, and long messages that go out as files.
//! What their values mean is known elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::atomic::Writer;
use super::files::{Files, OsFiles, in_words};
use crate::config::{Config, ConfigProblem};
use crate::model::text::TextRef;
use crate::paths::Home;

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("can't write {}: {}", path.display(), in_words(source))]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

/// The settings of a home. A file that is not there has no problems; one that cannot be read is one.
#[must_use]
pub fn read_config(home: &Home) -> (Config, Vec<ConfigProblem>) {
    let path = home.config();
    let file = path.display().to_string();
    match OsFiles.read(&path, 0) {
        Ok((bytes, _)) => Config::parse(&file, &String::from_utf8_lossy(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (Config::default(), Vec::new()),
        Err(error) => {
            let problem = format!("it can't be read: {}; the defaults count", in_words(&error));
            (Config::default(), vec![ConfigProblem { file, key: String::new(), problem }])
        }
    }
}

/// Writes a file of the home whole, over one that is there.
///
/// # Errors
/// The old file, if any, is still there.
pub fn write(path: &Path, text: &str) -> Result<(), WriteError> {
    let written = Writer::new(OsFiles).replace(path, text.as_bytes());
    written.map(|_| ()).map_err(|failed| WriteError { path: path.to_owned(), source: failed.error })
}

/// Writes a file of the home that must not be there yet.
///
/// # Errors
/// It is there, or cannot be written.
pub fn write_new(path: &Path, text: &str) -> Result<(), WriteError> {
    match OsFiles.stat(path) {
        Ok(None) => write(path, text),
        Ok(Some(_)) => Err(WriteError {
            path: path.to_owned(),
            source: io::Error::new(io::ErrorKind::AlreadyExists, "it is there already; move it away first"),
        }),
        Err(source) => Err(WriteError { path: path.to_owned(), source }),
    }
}

/// Puts a message that is too long to type into a file of its record's folder; its name is the text's hash.
///
/// # Errors
/// It cannot be written.
pub fn write_message(folder: &Path, text: &str) -> Result<PathBuf, WriteError> {
    let path = folder.join(TextRef::of(text).file);
    match OsFiles.stat(&path) {
        Ok(Some(mark)) if mark.is_file && mark.length == text.len() as u64 => Ok(path),
        _ => write(&path, text).map(|()| path),
    }
}

/// `state.toml`: what the screens remember for the person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    /// Mouse reporting, when it was turned by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mouse: Option<bool>,
    /// When a key was last pressed: what happened since is the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_key_at: Option<jiff::Timestamp>,
    /// Notes that were dismissed.
    pub dismissed: BTreeSet<String>,
    /// Values of the forms, by form and field (`new_run`, `max_rounds`).
    pub forms: BTreeMap<String, BTreeMap<String, String>>,
    /// Unknown values are kept.
    #[serde(flatten)]
    pub extra: BTreeMap<String, toml::Value>,
}

impl Remembered {
    /// Reads it; one that is not there or cannot be read remembers nothing.
    #[must_use]
    pub fn load(home: &Home) -> Self {
        let text = OsFiles.read(&home.state(), 0).map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned());
        text.ok().and_then(|text| toml::from_str(&text).ok()).unwrap_or_default()
    }

    /// Writes it.
    ///
    /// # Errors
    /// The old file is still there.
    pub fn save(&self, home: &Home) -> Result<(), WriteError> {
        let path = home.state();
        let text = toml::to_string(self)
            .map_err(|error| WriteError { path: path.clone(), source: io::Error::other(error.to_string()) })?;
        write(&path, &text)
    }
}
