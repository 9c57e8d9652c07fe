//! New windows for agents: a program in a pane of its own, by argv, with its words kept when it ends at once.
//! Never an attach to anything that is there already: what cannot be new is an error.

use std::ffi::OsString;
use std::time::Duration;

use super::{Ended, Pane, PaneId, Program, Server};

/// How much of a dead pane is read for the last words of its program, in lines.
const LAST_LINES: &str = "-60";
/// Lines of the last words.
const MOST_LINES: usize = 4;
/// Letters of the last words.
const LONGEST_WORDS: usize = 300;

/// Where a new pane goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A new window of the tmux session with this id (`$3`).
    Window(String),
    /// A new tmux session of this name; the server is started if it does not run.
    Session(String),
    /// Beside a pane that was opened for the same order.
    Beside(PaneId),
}

/// A pane to open.
#[derive(Clone, Debug)]
pub struct Opening<'a> {
    /// Where.
    pub place: &'a Place,
    /// A name for the window, of letters, digits and dashes that nothing else has.
    pub name: &'a str,
    /// The folder of the program.
    pub folder: &'a str,
    /// Variables it gets beside those of the server.
    pub variables: &'a [(OsString, OsString)],
    /// Program and arguments.
    pub argv: &'a [String],
}

impl Server {
    /// Opens a pane that runs a program. Should the program end with an error, the pane stays until [`Pane::close_dead`].
    ///
    /// # Errors
    /// tmux is not there or refuses: no such folder or session, a session of that name exists.
    pub fn open(&self, opening: &Opening<'_>) -> Result<PaneId, String> {
        let mut words: Vec<OsString> = Vec::new();
        let mut add = |all: &[&str]| words.extend(all.iter().map(OsString::from));
        // The new window, by names that only it has.
        let window = match opening.place {
            Place::Session(name) => {
                add(&["new-session", "-d", "-s", name, "-n", opening.name, "-x", "160", "-y", "50"]);
                Some(format!("={name}:={}", opening.name))
            }
            Place::Window(session) => {
                add(&["new-window", "-d", "-t", &format!("{session}:"), "-n", opening.name]);
                Some(format!("{session}:={}", opening.name))
            }
            Place::Beside(pane) => {
                add(&["split-window", "-h", "-d", "-t", pane.as_str()]);
                None
            }
        };
        add(&["-P", "-F", "#{pane_id}", "-c", opening.folder]);
        for (name, value) in opening.variables {
            let mut pair = name.clone();
            pair.push("=");
            pair.push(value);
            words.extend([OsString::from("-e"), pair]);
        }
        words.push(OsString::from("--"));
        // A single word would be a line for a shell.
        if opening.argv.len() == 1 {
            words.push(OsString::from("/usr/bin/env"));
        }
        words.extend(opening.argv.iter().map(|word| OsString::from(escaped(word))));
        // In one sequence: a program that ends at once must not take its words with it. A pane beside has its window's.
        if let Some(window) = window {
            words.extend([";", "set-option", "-w", "-t", &window, "remain-on-exit", "failed"].map(OsString::from));
        }
        let ended = if matches!(opening.place, Place::Session(_)) && !self.has_folder() {
            self.ask_by_name(&words)?
        } else {
            self.ask(&words, &[])?
        };
        // A server that can't be started is complained about, with exit code 0.
        let complaint = ended.complaint.clone();
        let said = ended.content()?;
        PaneId::new(said.trim()).ok_or_else(|| match crate::model::text::first_line(&complaint) {
            why if why.is_empty() => String::from("tmux did not name the new pane"),
            why => why,
        })
    }

    fn has_folder(&self) -> bool {
        self.socket.parent().is_some_and(std::path::Path::is_dir)
    }

    /// tmux makes the folder of its sockets itself, where it is told a name and no path.
    fn ask_by_name(&self, arguments: &[OsString]) -> Result<Ended, String> {
        let name = self.socket.file_name().unwrap_or_default();
        let words = ["-u".as_ref(), "-L".as_ref(), name].into_iter().chain(arguments.iter().map(OsString::as_os_str));
        Program::new("tmux", words).without("TMUX").limit(Duration::from_secs(10)).run()
    }

    /// The names of its tmux sessions; none when it does not run.
    #[must_use]
    pub fn sessions(&self) -> Vec<String> {
        let listed = self.told(&["list-sessions", "-F", "#{session_name}"], &[]).unwrap_or_default();
        listed.lines().map(str::to_owned).collect()
    }
}

impl Pane {
    /// Whether its program still runs in it.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.server.pane(&self.id).is_ok_and(|now| now.same_as(self) && !now.dead)
    }

    /// What the program of a dead pane said last, in one line; nothing while it lives.
    #[must_use]
    pub fn last_words(&self) -> Option<String> {
        let now = self.server.pane(&self.id).ok().filter(|now| now.dead)?;
        let words = ["capture-pane", "-p", "-J", "-S", LAST_LINES, "-t", now.id.as_str()];
        let shown = self.server.told(&words, &[]).ok()?;
        Some(last_words_of(&shown))
    }

    /// Closes the pane if its program has ended; one that lives is left alone.
    ///
    /// # Errors
    /// No server answers.
    pub fn close_dead(&self) -> Result<(), String> {
        let target = self.id.as_str();
        let dead = format!("#{{&&:{},#{{pane_dead}}}}", self.identity());
        let close = format!("kill-pane -t {target}");
        self.server.told(&["if-shell", "-F", "-t", target, &dead, &close], &[]).map(|_| ())
    }

    /// From now on the pane goes with its program, as any other does: it came up.
    ///
    /// # Errors
    /// No server answers.
    pub fn came_up(&self) -> Result<(), String> {
        let target = self.id.as_str();
        let usual = format!("set-option -w -u -t {target} remain-on-exit");
        self.server.told(&["if-shell", "-F", "-t", target, &self.identity(), &usual], &[]).map(|_| ())
    }
}

/// The last lines in one, as many of them as there is room for: why a program ended stands last.
fn last_words_of(shown: &str) -> String {
    let lines = shown.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("Pane is dead"));
    let mut said: Vec<&str> = Vec::new();
    let mut room = LONGEST_WORDS;
    for line in lines.rev().take(MOST_LINES) {
        let letters = line.chars().count() + 1;
        if letters > room && !said.is_empty() {
            break;
        }
        room = room.saturating_sub(letters);
        said.push(line);
    }
    said.reverse();
    said.join(" ").chars().take(LONGEST_WORDS).collect()
}

/// A word as tmux takes it: a semicolon at its end would end the command.
fn escaped(word: &str) -> String {
    match word.strip_suffix(';') {
        Some(rest) => format!("{rest}\\;"),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_said_last_is_kept_before_what_it_said_first() {
        let notice = "A notice that is long. ".repeat(9);
        let shown = format!("first\n{notice}\n\nNo conversation found with session ID: x\nPane is dead (status 1)\n");
        let both = last_words_of(&shown);
        assert!(
            both.starts_with("first A notice") && both.ends_with("No conversation found with session ID: x"),
            "{both}"
        );
        let longer = shown.replace("first", &"longer ".repeat(40)).replace("A notice", &"A notice ".repeat(9));
        assert_eq!(last_words_of(&longer), "No conversation found with session ID: x");
        assert_eq!(last_words_of("one\n two \n\nthree\nPane is dead (status 1)"), "one two three");
        assert_eq!(last_words_of(&"x".repeat(900)).len(), LONGEST_WORDS, "a line alone is cut at its end");
        assert_eq!(last_words_of(""), "");
    }
}
