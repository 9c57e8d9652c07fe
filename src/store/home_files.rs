//! The small files of a home beside the records: `config.toml` and `state.toml`, and long messages that go out as files.
//! What their values mean is known elsewhere.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::atomic::Writer;
use super::files::{Files, OsFiles, in_words};
use crate::config::{Config, ConfigProblem};
use crate::driver::ports::Summaries;
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
    let file = String::from("config.toml");
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
    let written = Writer::new(PathBuf::new(), OsFiles).replace(path, text.as_bytes());
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
    let path = folder.join(&*TextRef::of(text).file);
    match OsFiles.stat(&path) {
        Ok(Some(mark)) if mark.is_file && mark.length == text.len() as u64 => Ok(path),
        // Records lie there: a home that was removed is not made again by a message.
        _ if !folder.ancestors().nth(2).is_some_and(Path::is_dir) => {
            Err(WriteError { path, source: io::ErrorKind::NotFound.into() })
        }
        _ => write(&path, text).map(|()| path),
    }
}

/// `state.toml`: what the screens remember for the person, by name. It belongs to the dashboards: whoever shows a home
/// writes it, whether it drives or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remembered(toml::Table);

impl Remembered {
    /// Reads it; one that is not there or cannot be read remembers nothing.
    #[must_use]
    pub fn load(home: &Home) -> Self {
        let text = OsFiles.read(&home.state(), 0).map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned());
        text.ok().and_then(|text| text.parse().ok()).map(Self).unwrap_or_default()
    }

    /// The value under a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).and_then(|value| serde_json::to_value(value).ok())
    }

    /// Puts a value under a name. What is nothing is left out: TOML has no word for it.
    ///
    /// # Errors
    /// TOML cannot hold it.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), String> {
        let value =
            toml::Value::try_from(without_nulls(value)).map_err(|error| format!("can't keep {name}: {error}"))?;
        self.0.insert(name.to_owned(), value);
        Ok(())
    }

    /// Writes it.
    ///
    /// # Errors
    /// The old file is still there.
    pub fn save(&self, home: &Home) -> Result<(), WriteError> {
        write(&home.state(), &self.0.to_string())
    }
}

/// `summaries.json`: belongs to whoever drives the home.
#[derive(Clone, Debug)]
pub struct KeptSummaries(pub Home);

impl Summaries for KeptSummaries {
    fn load(&mut self) -> Vec<u8> {
        OsFiles.read(&self.0.summaries(), 0).map(|(bytes, _)| bytes).unwrap_or_default()
    }

    fn keep(&mut self, text: &str) {
        // A home that was removed is not made again by this.
        if self.0.root().is_dir()
            && let Err(error) = write(&self.0.summaries(), text)
        {
            tracing::debug!(%error, "summaries are not kept");
        }
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(fields.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
