//! `config.toml`: what a person can set, with the defaults. A bad value falls back and is said; nothing here is fatal.
//! Pure: text in, settings and problems out. The store reads the file.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

/// The commented default that `trellis config init` writes.
pub const DEFAULT_FILE: &str = include_str!("../assets/config.toml");

/// The smallest and the largest `message_file_above`, in bytes: a queue command takes less than 128 KB.
const MESSAGE_FILE_RANGE: std::ops::RangeInclusive<u64> = 1_024..=100_000;

/// The settings of a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Claude Code's folder, instead of `CLAUDE_CONFIG_DIR` or `~/.claude`; a relative one starts at the home.
    pub claude_home: Option<String>,
    /// Codex's folder, instead of `CODEX_HOME` or `~/.codex`.
    pub codex_home: Option<String>,
    /// Claude Code's program, for sessions that trellis starts or brings back: a path, or a name that `PATH` is searched for.
    pub claude_program: Option<String>,
    /// Codex's program.
    pub codex_program: Option<String>,
    /// The tmux server whose panes are used: a socket's name (`-L`) or path (`-S`).
    pub tmux_socket: Option<String>,
    /// The script whose agents live in this home (a demo home); a relative path starts at the home.
    pub script: Option<String>,
    /// A first message may be typed although the input box cannot be read.
    pub send_when_box_unknown: bool,
    /// Bytes above which a message goes into a file and only the file's name is typed.
    pub message_file_above: u64,
    /// Which signs the screens are drawn with.
    pub symbols: Symbols,
    /// Which colours.
    pub theme: ThemeName,
    /// Mouse reporting from the start.
    pub mouse: bool,
    /// Sentences, one a line, instead of the screen.
    pub plain: bool,
    /// What quitting does while a run is going.
    pub on_quit: OnQuit,
    /// Ring the bell when a run needs a person or completes.
    pub bell: bool,
    /// The terminal's own notification.
    pub notification: Notification,
    /// A program told of it: argv, never a shell line. Empty: none.
    pub notify_command: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            claude_home: None,
            codex_home: None,
            claude_program: None,
            codex_program: None,
            tmux_socket: None,
            script: None,
            send_when_box_unknown: false,
            message_file_above: 65_536,
            symbols: Symbols::Auto,
            theme: ThemeName::Terminal,
            mouse: false,
            plain: false,
            on_quit: OnQuit::Ask,
            bell: true,
            notification: Notification::Auto,
            notify_command: Vec::new(),
        }
    }
}

/// Which signs the screens are drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symbols {
    /// Unicode where locale and terminal can show it.
    #[default]
    Auto,
    /// ASCII only.
    Ascii,
    /// Unicode, whatever the locale says.
    Unicode,
}

/// The named themes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThemeName {
    /// The terminal's own foreground and background.
    #[default]
    Terminal,
    /// No colours.
    Mono,
    /// Strong contrast.
    HighContrast,
    /// No meaning on red against green.
    ColourBlind,
}

/// What quitting does while a run is going.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnQuit {
    /// Ask.
    #[default]
    Ask,
    /// Go on in the background.
    Background,
    /// Quit; the run waits for the next start.
    Quit,
}

/// How the terminal is asked to notify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Notification {
    /// What the terminal is known to understand.
    #[default]
    Auto,
    /// Not at all.
    Off,
    /// OSC 9.
    Osc9,
    /// OSC 777.
    Osc777,
    /// OSC 99.
    Osc99,
    /// `tmux display-message`.
    Tmux,
}

/// Something in a configuration file that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The file, for people.
    pub file: String,
    /// The key; empty when the file as a whole cannot be read.
    pub key: String,
    /// What is wrong and what counts instead.
    pub problem: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.key.is_empty() {
            write!(f, "{}: {}", self.file, self.problem)
        } else {
            write!(f, "{}: {}: {}", self.file, self.key, self.problem)
        }
    }
}

impl Config {
    /// Reads the text of a `config.toml`. `file` is only named in the problems.
    #[must_use]
    pub fn parse(file: &str, text: &str) -> (Self, Vec<ConfigProblem>) {
        let default = Self::default();
        let mut read = match Reading::of(file, text) {
            Ok(read) => read,
            Err(problem) => return (default, vec![problem]),
        };
        let mut config = Self {
            claude_home: read.path("claude_home"),
            codex_home: read.path("codex_home"),
            claude_program: read.path("claude_program"),
            codex_program: read.path("codex_program"),
            tmux_socket: read.path("tmux_socket"),
            script: read.path("script"),
            send_when_box_unknown: read.value("send_when_box_unknown", default.send_when_box_unknown),
            message_file_above: read.value("message_file_above", default.message_file_above),
            symbols: read.value("symbols", default.symbols),
            theme: read.value("theme", default.theme),
            mouse: read.value("mouse", default.mouse),
            plain: read.value("plain", default.plain),
            on_quit: read.value("on_quit", default.on_quit),
            bell: read.value("bell", default.bell),
            notification: read.value("notification", default.notification),
            notify_command: read.value("notify_command", default.notify_command),
        };
        if !MESSAGE_FILE_RANGE.contains(&config.message_file_above) {
            let (low, high) = (MESSAGE_FILE_RANGE.start(), MESSAGE_FILE_RANGE.end());
            config.message_file_above = default.message_file_above;
            read.say("message_file_above", format!("give {low} to {high}; {} counts", default.message_file_above));
        }
        for (key, program) in
            [("claude_program", &mut config.claude_program), ("codex_program", &mut config.codex_program)]
        {
            if let Some(why) = program.as_deref().and_then(no_program) {
                *program = None;
                read.say(key, format!("{why}; left out"));
            }
        }
        if let Some(why) = config.tmux_socket.as_deref().and_then(no_socket) {
            config.tmux_socket = None;
            read.say("tmux_socket", format!("{why}; left out"));
        }
        if config.notify_command.first().is_some_and(|program| program.trim().is_empty()) {
            config.notify_command.clear();
            read.say("notify_command", "its first element must name a program; none is run".to_owned());
        }
        (config, read.finish())
    }
}

/// Why a text cannot name the tmux server: a name is one file's in tmux's own folder, a path is one that is written out.
#[must_use]
pub fn no_socket(named: &str) -> Option<&'static str> {
    if named.chars().any(char::is_control) {
        return Some("it holds a sign that is no letter");
    }
    let is_path = named.contains('/');
    let is_whole = is_path && !named.ends_with('/');
    match named {
        "" => Some("name a socket, or give its path"),
        "." | ".." => Some("a folder is no socket"),
        _ if is_path && !is_whole => Some("a folder is no socket"),
        _ if named.starts_with('-') => Some("a name does not begin with -"),
        _ if !is_path && named.contains(char::is_whitespace) => Some("a name has no blanks"),
        _ if !is_path && named.starts_with('~') => Some("write a path as ~/NAME"),
        _ => None,
    }
}

/// Why a text cannot name a program: no shell reads it, so that it has no words behind it.
fn no_program(named: &str) -> Option<&'static str> {
    if named.chars().any(char::is_control) {
        return Some("it holds a sign that is no letter");
    }
    match named {
        "." | ".." => Some("a folder is no program"),
        _ if named.ends_with('/') => Some("a folder is no program"),
        _ if named.starts_with('-') => Some("a program's name does not begin with -"),
        _ if !named.contains('/') && named.contains(char::is_whitespace) => {
            Some("name the program alone, without options: what it is started with is trellis' business")
        }
        _ if named.split_whitespace().skip(1).any(|word| word.starts_with('-')) => {
            Some("name the program alone, without options: what it is started with is trellis' business")
        }
        _ => None,
    }
}

/// A table that is being read: what was taken leaves it, so that the rest is known to be unknown.
struct Reading {
    file: String,
    table: Table,
    problems: Vec<ConfigProblem>,
}

impl Reading {
    fn of(file: &str, text: &str) -> Result<Self, ConfigProblem> {
        match text.trim_start_matches('\u{feff}').parse::<Table>() {
            Ok(table) => Ok(Self { file: file.to_owned(), table, problems: Vec::new() }),
            Err(error) => {
                let line = error
                    .span()
                    .and_then(|span| text.get(..span.start))
                    .map_or(1, |head| head.bytes().filter(|byte| *byte == b'\n').count() + 1);
                let problem = format!("line {line}: {}; the defaults count", one_line(error.message()));
                Err(ConfigProblem { file: file.to_owned(), key: String::new(), problem })
            }
        }
    }

    fn value<T: DeserializeOwned + Serialize>(&mut self, key: &str, default: T) -> T {
        let Some(value) = self.table.remove(key) else { return default };
        match value.clone().try_into() {
            Ok(read) => read,
            Err(error) => {
                let instead = Value::try_from(&default).map_or_else(|_| String::from("the default"), |v| v.to_string());
                self.say(key, format!("{value} does not fit: {}; {instead} counts", wanted(error.message())));
                default
            }
        }
    }

    fn path(&mut self, key: &str) -> Option<String> {
        let value = self.table.remove(key)?;
        match value {
            Value::String(path) if path.trim().is_empty() => None,
            Value::String(path) => Some(path),
            other => {
                self.say(key, format!("{other} is no text in quotes; left out"));
                None
            }
        }
    }

    fn say(&mut self, key: &str, problem: String) {
        self.problems.push(ConfigProblem { file: self.file.clone(), key: key.to_owned(), problem });
    }

    fn finish(mut self) -> Vec<ConfigProblem> {
        let unknown: Vec<String> = self.table.keys().cloned().collect();
        for key in unknown {
            self.say(&key, "trellis knows no such key; left out".to_owned());
        }
        self.problems
    }
}

/// What a key takes, in words, from the message of the reader of its type.
fn wanted(message: &str) -> String {
    let message = one_line(message);
    let Some((said, expected)) = message.split_once("expected ") else { return message };
    let names: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    match expected {
        _ if said.contains("unknown variant") && !names.is_empty() => format!("give one of {}", names.join(", ")),
        "a string" => "give a text in quotes".to_owned(),
        "a boolean" => "give true or false".to_owned(),
        "a sequence" => "give a list of texts in quotes, [\"program\", \"word\"]".to_owned(),
        number if number.starts_with(['u', 'i']) => "give a whole number that is not negative".to_owned(),
        other => format!("give {other}"),
    }
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
