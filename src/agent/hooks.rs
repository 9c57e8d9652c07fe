//! trellis's entries in the agents' own hook settings: put in, found, taken out. The one part that writes a file of an agent,
//! and only when a person asked for it. Everything else in the file keeps its bytes.

mod splice;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub use splice::Problem;

use crate::model::ids::Agent;
use crate::small_file;
use crate::transcript::hooks::events;

/// Seconds that the agent may wait for the hook; it takes some milliseconds.
const TIMEOUT: u32 = 5;

/// As many links are followed, as the system does.
const MOST_LINKS: u32 = 40;

/// The settings of one agent, as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The file itself, links followed.
    pub path: PathBuf,
    /// Its text; `None`: there is no file yet.
    pub text: Option<String>,
    agent: Agent,
}

/// Why settings are not read or written.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// They cannot be edited without guessing.
    #[error("{}: {problem}", path.display())]
    Unclear {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: Problem,
    },
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Nobody is to write it.
    #[error(
        "{} is read-only and was left as it is: `chmod u+w` it and try again, or put the lines in yourself",
        path.display()
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// It was written by another program meanwhile.
    #[error("{} was changed meanwhile; nothing was written", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

/// The command line of a hook, for the shell that the agents start.
///
/// # Errors
/// The program's path cannot stand in a line.
pub fn command(program: &Path, home: Option<&Path>, agent: Agent) -> Result<String, String> {
    let quoted = |path: &Path| {
        let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
        let text = text.ok_or_else(|| format!("the path {} cannot stand in a setting", path.display()))?;
        Ok::<_, String>(format!("'{}'", text.replace('\'', r"'\''")))
    };
    let home = home.map(|home| Ok::<_, String>(format!(" --home {}", quoted(home)?))).transpose()?;
    Ok(format!("{}{}{}", quoted(program)?, home.unwrap_or_default(), ending(agent)))
}

fn ending(agent: Agent) -> String {
    format!(" hook --agent {agent}")
}

/// Whether a hook's command is one that [`command`] makes, of this trellis or another one: letter by letter, whatever the
/// program's file is called, or in a person's own spelling when that is `trellis`. Always one simple command: what pipes,
/// chains or expands anything is somebody else's.
fn is_ours(line: &str, agent: Agent) -> bool {
    let Some(words) = plain_words(line) else { return false };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (program, home) = match words.as_slice() {
        [program, "hook", "--agent", named] if *named == agent.as_str() => (Path::new(program), None),
        [program, "--home", home, "hook", "--agent", named] if *named == agent.as_str() => {
            (Path::new(program), Some(Path::new(home)))
        }
        _ => return false,
    };
    command(program, home, agent).is_ok_and(|ours| ours == line)
        || program.file_name().is_some_and(|name| name == "trellis")
}

/// The words of a line that a shell takes for one simple command and as they stand; `None` where it would do more.
fn plain_words(line: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match sign {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let open = word.get_or_insert_default();
                loop {
                    match signs.next()? {
                        '\'' => break,
                        inner => open.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(signs.next().filter(|next| !next.is_control())?),
            plain if plain.is_alphanumeric() || "/._-+,:@".contains(plain) => {
                word.get_or_insert_default().push(plain);
            }
            _ => return None,
        }
    }
    words.extend(word);
    Some(words)
}

/// The file that a path leads to, links followed, also where the last of them leads to nothing yet.
fn target_of(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&path) else { break };
        path = path.parent().map(|folder| folder.join(&next)).unwrap_or(next);
    }
    path.canonicalize().unwrap_or(path)
}

impl Settings {
    /// Reads them.
    ///
    /// # Errors
    /// They are there and cannot be read as text.
    pub fn read(path: &Path, agent: Agent) -> Result<Self, Refused> {
        // A link stays a link: what it leads to is edited.
        let path = target_of(path);
        let text = match small_file::bytes(&path) {
            Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| io::Error::other("it is no text")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        match text {
            Ok(text) => Ok(Self { path, text, agent }),
            Err(error) => Err(Refused::Io { path, error }),
        }
    }

    fn old(&self) -> &str {
        self.text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or("{}\n")
    }

    fn unclear(&self) -> impl Fn(Problem) -> Refused {
        let path = self.path.clone();
        move |problem| Refused::Unclear { path: path.clone(), problem }
    }

    /// The events for which ours stand there, with their commands.
    ///
    /// # Errors
    /// The file cannot be understood.
    pub fn installed(&self) -> Result<Vec<(String, String)>, Refused> {
        let groups = splice::commands(self.old()).map_err(self.unclear())?;
        Ok(groups.into_iter().filter(|(_, command)| is_ours(command, self.agent)).collect())
    }

    /// The text with ours in it, once for each event, and those of another place or form replaced.
    ///
    /// # Errors
    /// The file cannot be understood.
    pub fn with(&self, command: &str) -> Result<String, Refused> {
        let wanted: Vec<(String, String)> =
            events(self.agent).iter().map(|event| ((*event).to_owned(), command.to_owned())).collect();
        let mut there = self.installed()?;
        there.sort();
        let mut sorted = wanted.clone();
        sorted.sort();
        if there == sorted {
            return Ok(self.text.clone().unwrap_or_default());
        }
        let mut text = self.without()?;
        if text.trim().is_empty() {
            self.old().clone_into(&mut text);
        }
        for (event, command) in wanted {
            let entry: Value = json!({"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT}]});
            text = splice::put_in(&text, &event, &entry).map_err(self.unclear())?;
        }
        Ok(text)
    }

    /// The text without ours.
    ///
    /// # Errors
    /// The file cannot be understood.
    pub fn without(&self) -> Result<String, Refused> {
        let Some(text) = &self.text else { return Ok(String::new()) };
        if self.installed()?.is_empty() {
            return Ok(text.clone());
        }
        splice::take_out(self.old(), |command| is_ours(command, self.agent)).map_err(self.unclear())
    }

    /// Whether it may be written: a file without a right to write is kept from changes on purpose.
    ///
    /// # Errors
    /// It may not.
    pub fn may_write(&self) -> Result<(), Refused> {
        let Ok(facts) = fs::metadata(&self.path) else { return Ok(()) };
        // The superuser may write everything; the right is what says how it is meant.
        if facts.permissions().readonly() || rustix::fs::access(&self.path, rustix::fs::Access::WRITE_OK).is_err() {
            return Err(Refused::ReadOnly { path: self.path.clone() });
        }
        Ok(())
    }

    /// Writes the new text, whole or not at all, after a copy of the old one was put beside it. The copy's path; `None`:
    /// there was no file.
    ///
    /// # Errors
    /// The old file is still there.
    pub fn write(&self, text: &str, stamp: &str) -> Result<Option<PathBuf>, Refused> {
        self.may_write()?;
        let failed = |error| Refused::Io { path: self.path.clone(), error };
        let changed = || Refused::Changed { path: self.path.clone() };
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or("settings").to_owned();
        let old = fs::metadata(&self.path).ok();
        let put = |path: &Path, text: &str| {
            let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(text.as_bytes())?;
            if let Some(old) = &old {
                let now = file.metadata()?;
                if (now.uid(), now.gid()) != (old.uid(), old.gid()) {
                    fchown(&file, Some(old.uid()), Some(old.gid()))?;
                }
                file.set_permissions(old.permissions())?;
            }
            file.sync_all()
        };
        // Two changes within a second have the same time in their names.
        let named = |n: u32| if n == 0 { String::new() } else { format!("-{n}") };
        let copies = (0_u32..).map(|n| self.path.with_file_name(format!("{name}.before-trellis-{stamp}{}", named(n))));
        let copy = { copies }.find(|copy| !copy.exists()).unwrap_or_default();
        if let Some(old) = &self.text {
            put(&copy, old).map_err(failed)?;
        } else if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let beside = self.path.with_file_name(format!("{name}.trellis-{stamp}.tmp"));
        let outcome = put(&beside, text).map_err(failed).and_then(|()| {
            if Self::read(&self.path, self.agent)?.text == self.text {
                fs::rename(&beside, &self.path).map_err(failed)
            } else {
                Err(changed())
            }
        });
        if outcome.is_err() {
            let _ = fs::remove_file(&beside);
        }
        outcome.map(|()| self.text.as_ref().map(|_| copy))
    }

    /// The copies of older settings that [`Settings::write`] kept beside the file, oldest first.
    #[must_use]
    pub fn copies(&self) -> Vec<PathBuf> {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or("settings");
        let begin = format!("{name}.before-trellis-");
        let is_stamp = |rest: &str| !rest.is_empty() && rest.bytes().all(|sign| sign.is_ascii_digit() || sign == b'-');
        let is_copy = |path: &PathBuf| {
            let named = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(&begin));
            named.is_some_and(is_stamp) && fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
        };
        let entries = self.path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
        let mut copies: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_copy).collect();
        copies.sort();
        copies
    }

    /// Whether the file is trellis's own: nothing but ours was ever in it, as far as it and its copies tell.
    fn is_made_by_us(&self, without: &str, copies: &[PathBuf]) -> bool {
        let was_here = !copies.is_empty() || self.installed().is_ok_and(|ours| !ours.is_empty());
        let is_empty = serde_json::from_str::<Value>(without).is_ok_and(|left| left == json!({}));
        let held_ours = |copy: &PathBuf| {
            let old =
                small_file::text(copy).map(|text| Self { path: copy.clone(), text: Some(text), agent: self.agent });
            old.is_ok_and(|old| old.installed().is_ok_and(|ours| !ours.is_empty()))
        };
        was_here && is_empty && copies.iter().all(held_ours)
    }

    /// Takes ours out and leaves nothing of trellis beside it: no copy, and no file in which only ours stood.
    ///
    /// # Errors
    /// As [`Settings::write`]; what was done before it stays done.
    pub fn leave(&self, stamp: &str) -> Result<(), Refused> {
        let without = self.without()?;
        let mut copies = self.copies();
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| Refused::Io { path, error }
        };
        if self.text.is_some() && self.is_made_by_us(&without, &copies) {
            self.may_write()?;
            fs::remove_file(&self.path).map_err(failed(&self.path))?;
        } else if self.text.as_ref().is_some_and(|text| *text != without) {
            copies.extend(self.write(&without, stamp)?);
        }
        copies.iter().try_for_each(|copy| fs::remove_file(copy).map_err(failed(copy)))
    }
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;
