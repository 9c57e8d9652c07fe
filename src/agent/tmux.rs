//! tmux as a program that is asked: servers, panes, and one guarded key at a time. Argv only, never a shell.
//! What an agent's screen means is in `tmux::screen`, `input_box` and `dialog`; the order of a send is `typing`'s, a new
//! window is `opening`'s.

pub mod about;
pub mod dialog;
mod drawn;
pub mod input_box;
pub mod opening;
pub mod screen;
pub mod typing;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::os::{self, Process};
use super::program::{Ended, Program};
use crate::model::ids::EntryId;

/// Every fact that tells one pane from all others and says whether keys would go where they should. The title comes
/// last because it may hold anything.
const FACTS: &str = "#{pid} #{start_time} #{pane_id} #{pane_pid} #{pane_tty} #{window_id} #{pane_dead} #{pane_in_mode} \
                     #{pane_input_off} #{pane_synchronized} -#{pane_mode} #{pane_index} #{pane_height} #{session_id} \
                     #{session_name}\u{1f}#{pane_current_command}\u{1f}#{pane_title}";

/// The option of a pane that keeps which message Enter was pressed on last.
const ENTERED: &str = "@trellis_entered";

/// Where tmux servers may be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// A socket that a person named: a name as for `tmux -L`, or a path.
    pub named: Option<String>,
    /// The value of `TMUX` that trellis was started with.
    pub inside: Option<String>,
    /// The pane that trellis was started in (`TMUX_PANE`).
    pub inside_pane: Option<String>,
    /// The folder of the sockets, `TMUX_TMPDIR`; `/tmp` without it.
    pub folder: Option<PathBuf>,
}

impl Whereabouts {
    /// The folder that holds this user's sockets.
    #[must_use]
    pub fn socket_folder(&self) -> PathBuf {
        let base = self.folder.clone().unwrap_or_else(|| PathBuf::from("/tmp"));
        base.join(format!("tmux-{}", rustix::process::getuid().as_raw()))
    }

    /// The server that a person named, else the one trellis runs in, else the default one.
    #[must_use]
    pub fn preferred(&self) -> Server {
        let inside = self.inside.as_deref().and_then(socket_of);
        let named = self
            .named
            .as_deref()
            .map(|named| if named.contains('/') { PathBuf::from(named) } else { self.socket_folder().join(named) });
        Server::at(named.or(inside).unwrap_or_else(|| self.socket_folder().join("default")))
    }

    /// Every server worth asking, the likeliest first.
    #[must_use]
    pub fn servers(&self) -> Vec<Server> {
        let mut servers = vec![self.preferred()];
        let mut add = |socket: PathBuf| {
            if !servers.iter().any(|server| server.socket == socket) {
                servers.push(Server::at(socket));
            }
        };
        if let Some(socket) = self.inside.as_deref().and_then(socket_of) {
            add(socket);
        }
        if let Ok(entries) = std::fs::read_dir(self.socket_folder()) {
            let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            found.sort();
            found.into_iter().for_each(add);
        }
        servers
    }
}

/// The socket in a value of `TMUX`: `socket,server pid,session`. The path may hold commas itself.
#[must_use]
pub fn socket_of(variable: &str) -> Option<PathBuf> {
    let mut parts = variable.rsplitn(3, ',');
    let (_, _) = (parts.next()?, parts.next()?);
    parts.next().filter(|path| path.starts_with('/')).map(PathBuf::from)
}

/// A tmux server, by its socket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    socket: PathBuf,
}

/// A pane's id as tmux gives it: `%` and a number, checked, so that no target is ever guessed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PaneId(String);

impl PaneId {
    /// Takes an id, if it is one.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let number = text.strip_prefix('%')?;
        let good = (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
        good.then(|| Self(text.to_owned()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A pane as its server shows it at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    /// The server.
    pub server: Server,
    /// The server's process.
    pub server_pid: u32,
    /// When the server was started, as it says itself.
    pub server_started: String,
    /// The pane.
    pub id: PaneId,
    /// The process that the pane was opened with.
    pub pid: u32,
    /// Its terminal.
    pub terminal: String,
    /// The window it is in (`@1`).
    pub window: String,
    /// Its place in the window, from `pane-base-index` on.
    pub index: u32,
    /// Its height in rows.
    pub height: u32,
    /// The session it is in, by its id (`$3`).
    pub session_id: String,
    /// The session it is in.
    pub session: String,
    /// Its process has ended.
    pub dead: bool,
    /// The mode it is in (`copy-mode`), if any.
    pub mode: Option<String>,
    /// tmux passes no keys to it.
    pub input_off: bool,
    /// Keys go to all panes of its window.
    pub synchronized: bool,
    /// The program that reads its terminal, as tmux names it.
    pub command: String,
    /// The title that the program in it set. Hostile text.
    pub title: String,
}

impl Pane {
    fn parse<'a>(server: &Server, line: &'a str) -> Option<Self> {
        // tmux writes the separator as digits where it takes it for no printable sign.
        let cut = |text: &'a str| text.split_once('\u{1f}').or_else(|| text.split_once("\\037"));
        let (facts, rest) = cut(line)?;
        let (command, title) = cut(rest)?;
        let words: Vec<&str> = facts.splitn(15, ' ').collect();
        let [
            server_pid,
            started,
            id,
            pid,
            terminal,
            window,
            dead,
            in_mode,
            off,
            synchronized,
            mode,
            index,
            height,
            session_id,
            session,
        ] = words.as_slice()
        else {
            return None;
        };
        Some(Self {
            server: server.clone(),
            server_pid: server_pid.parse().ok()?,
            server_started: (*started).to_owned(),
            id: PaneId::new(id)?,
            pid: pid.parse().ok()?,
            terminal: (*terminal).to_owned(),
            window: (*window).to_owned(),
            index: index.parse().ok()?,
            height: height.parse().ok()?,
            session_id: (*session_id).to_owned(),
            session: (*session).to_owned(),
            dead: *dead == "1",
            mode: (*in_mode != "0").then(|| mode.trim_start_matches('-').to_owned()),
            input_off: *off == "1",
            synchronized: *synchronized == "1",
            command: command.to_owned(),
            title: title.to_owned(),
        })
    }

    /// The same pane of the same server with the same process: everything that must not change between two looks.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        self.server == other.server
            && self.server_pid == other.server_pid
            && self.server_started == other.server_started
            && self.id == other.id
            && self.pid == other.pid
    }

    /// Why keys must not go to it, apart from a mode that may be left.
    #[must_use]
    pub fn refuses(&self) -> Option<&'static str> {
        if self.dead {
            Some("the process in its pane has ended")
        } else if self.input_off {
            Some("its pane takes no input (select-pane -e turns it on)")
        } else if self.synchronized {
            Some("its window sends keys to all panes (turn synchronize-panes off)")
        } else {
            None
        }
    }

    /// It shows a mode that is no scrolled copy of itself, such as a chooser: that is not left for the person.
    #[must_use]
    pub fn is_in_foreign_mode(&self) -> bool {
        self.mode.as_deref().is_some_and(|mode| !matches!(mode, "copy-mode" | "view-mode"))
    }
}

/// What a guarded key came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// It went to the pane.
    Done,
    /// The pane is in copy mode: nothing was pressed.
    Scrolled,
    /// The pane is not what it was: nothing was pressed.
    Refused,
}

impl Server {
    /// The server behind a socket; it is not asked yet.
    pub fn at(socket: impl Into<PathBuf>) -> Self {
        Self { socket: socket.into() }
    }

    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Runs one command sequence. `-u`: without it a client in a plain locale turns every other letter into `_`.
    fn ask<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8]) -> Result<Ended, String> {
        let socket = self.socket.as_os_str();
        let words = ["-u".as_ref(), "-S".as_ref(), socket].into_iter().chain(arguments.iter().map(AsRef::as_ref));
        Program::new("tmux", words).without("TMUX").input(input).limit(Duration::from_secs(10)).run()
    }

    pub(in crate::agent) fn told<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8]) -> Result<String, String> {
        self.ask(arguments, input)?.content()
    }

    /// All panes of the server.
    ///
    /// # Errors
    /// No server answers there, or no tmux is installed.
    pub fn panes(&self) -> Result<Vec<Pane>, String> {
        let listed = self.told(&["list-panes", "-a", "-F", FACTS], &[])?;
        Ok(listed.lines().filter_map(|line| Pane::parse(self, line)).collect())
    }

    /// One pane; the server must name the very id that was asked for.
    ///
    /// # Errors
    /// No server answers, or it has no such pane.
    pub fn pane(&self, id: &PaneId) -> Result<Pane, String> {
        let line = self.told(&["display-message", "-p", "-t", id.as_str(), FACTS], &[])?;
        Pane::parse(self, line.trim_end_matches('\n'))
            .filter(|pane| pane.id == *id)
            .ok_or_else(|| format!("tmux has no pane {}", id.as_str()))
    }

    /// What stands on a pane, with its attributes.
    ///
    /// # Errors
    /// No server answers, or it has no such pane.
    pub fn capture(&self, id: &PaneId) -> Result<String, String> {
        self.told(&["capture-pane", "-p", "-e", "-t", id.as_str()], &[])
    }

    /// Puts a text on tmux's own clipboard and, where the terminal lets it, on the person's.
    ///
    /// # Errors
    /// No server answers.
    pub fn copy(&self, text: &str) -> Result<(), String> {
        self.told(&["load-buffer", "-w", "-"], text.as_bytes()).map(|_| ())
    }
}

/// Acts on a pane that has been seen: each act checks, in the same command sequence, that it is still that pane.
impl Pane {
    /// Pastes a text (bracketed where the program asked for it), line feeds kept as they are.
    ///
    /// # Errors
    /// No server answers.
    pub fn paste(&self, buffer: &str, text: &str) -> Result<Pressed, String> {
        let target = self.id.as_str();
        let paste = format!("paste-buffer -p -r -d -b {buffer} -t {target} ; display-message -p done");
        let drop = format!("delete-buffer -b {buffer} ; {}", self.say_why());
        let guard = self.guard();
        let words = ["load-buffer", "-b", buffer, "-", ";", "if-shell", "-F", "-t", target, &guard, &paste, &drop];
        self.server.told(&words, text.as_bytes()).map(|said| pressed(&said))
    }

    /// Presses Enter on a message. The server notes it in the same command sequence, on the pane: a kill of this program
    /// leaves both or neither.
    ///
    /// # Errors
    /// No server answers.
    pub fn enter(&self, entry: &EntryId) -> Result<Pressed, String> {
        let target = self.id.as_str();
        let note = if is_plain(entry.as_str()) {
            format!("set-option -p -t {target} {ENTERED} {entry} ; ")
        } else {
            String::new()
        };
        let press = format!("send-keys -t {target} Enter ; {note}display-message -p done");
        let words = ["if-shell", "-F", "-t", target, &self.guard(), &press, &self.say_why()];
        self.server.told(&words, &[]).map(|said| pressed(&said))
    }

    /// Whether Enter was pressed on this message last. What the program in the pane writes there itself can only make a
    /// person be asked.
    #[must_use]
    pub fn has_entered(&self, entry: Option<&EntryId>) -> bool {
        let noted = self.server.told(&["show-options", "-p", "-q", "-v", "-t", self.id.as_str(), ENTERED], &[]);
        entry.is_some_and(|entry| noted.is_ok_and(|noted| noted.trim_end() == entry.as_str()))
    }

    /// Leaves copy mode, if the pane is still that pane and in it.
    ///
    /// # Errors
    /// No server answers.
    pub fn leave_copy_mode(&self) -> Result<(), String> {
        let target = self.id.as_str();
        let scrolled = format!("#{{&&:{},#{{m:*-mode,#{{pane_mode}}}}}}", self.identity());
        let leave = format!("send-keys -t {target} -X cancel");
        self.server.told(&["if-shell", "-F", "-t", target, &scrolled, &leave], &[]).map(|_| ())
    }

    /// Brings the pane before the person: its window, and its session where a terminal shows that server.
    ///
    /// # Errors
    /// No server answers, or it has no such pane any more.
    pub fn bring_to_front(&self) -> Result<(), String> {
        let target = self.id.as_str();
        let select = format!("select-window -t {target} ; select-pane -t {target}");
        self.server.told(&["if-shell", "-F", "-t", target, &self.identity(), &select], &[])?;
        // Without a terminal on that server there is nothing to switch, and the pane is in front all the same.
        let _ = self.server.told(&["switch-client", "-t", target], &[]);
        Ok(())
    }

    /// True on the server only for this very pane.
    fn identity(&self) -> String {
        let same = |name: &str, value: &str| format!("#{{==:#{{{name}}},{value}}}");
        [
            same("pid", &self.server_pid.to_string()),
            same("start_time", &self.server_started),
            same("pane_id", self.id.as_str()),
            same("pane_pid", &self.pid.to_string()),
        ]
        .into_iter()
        .reduce(|all, one| format!("#{{&&:{all},{one}}}"))
        .unwrap_or_default()
    }

    /// True on the server only while a key would reach the program in this very pane and no other: when the agent ends
    /// between the last look at it and the key, its shell reads the terminal, and that has another name.
    fn guard(&self) -> String {
        let open = "#{==:#{pane_dead}#{pane_in_mode}#{pane_input_off}#{pane_synchronized},0000}";
        let guard = format!("#{{&&:{},{open}}}", self.identity());
        // A name that a format could take for a part of itself is left out: the look right before the key has to do.
        if !is_plain(&self.command) {
            return guard;
        }
        format!("#{{&&:{guard},#{{==:#{{pane_current_command}},{}}}}}", self.command)
    }

    fn say_why(&self) -> String {
        let scrolled = format!("#{{?#{{&&:{},#{{pane_in_mode}}}},scrolled,refused}}", self.identity());
        format!("display-message -p -t {} \"{scrolled}\"", self.id.as_str())
    }
}

/// Whether a word is one word to tmux, and no part of a format.
fn is_plain(word: &str) -> bool {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '.' | '-' | '_');
    !word.is_empty() && word.chars().all(is_plain)
}

fn pressed(said: &str) -> Pressed {
    match said.trim() {
        "done" => Pressed::Done,
        "scrolled" => Pressed::Scrolled,
        _ => Pressed::Refused,
    }
}

/// The pane that a process lives in, looked for where its own environment says.
///
/// # Errors
/// As [`pane_of`].
pub fn of(process: &Process, whereabouts: &Whereabouts) -> Result<Pane, String> {
    let variables = os::environment(process.pid);
    let variable = variables.as_ref().and_then(|all| all.get("TMUX")).map(String::as_str);
    pane_of(process, variable, whereabouts)
}

/// The pane that a process lives in, proven: the pane's process is the agent or an ancestor of it, and its terminal is
/// the agent's own. An error says in words what is missing.
///
/// # Errors
/// No pane of any server holds the process.
pub fn pane_of(process: &Process, variable: Option<&str>, whereabouts: &Whereabouts) -> Result<Pane, String> {
    let own = variable.and_then(socket_of);
    let servers = match &own {
        Some(socket) => vec![Server::at(socket)],
        None => whereabouts.servers(),
    };
    let line = os::lineage(process);
    let mut silent = None;
    for server in servers {
        match server.panes() {
            Ok(panes) => {
                let found = panes.into_iter().find(|pane| {
                    line.contains(&pane.pid)
                        && process.terminal.as_ref().is_none_or(|terminal| *terminal == pane.terminal)
                });
                if let Some(pane) = found {
                    return Ok(pane);
                }
            }
            Err(why) => silent = Some(why),
        }
    }
    Err(match (own, silent) {
        (Some(socket), Some(why)) => format!("tmux does not answer at {}: {why}", socket.display()),
        (Some(socket), None) => {
            format!("no pane of tmux at {} holds pid {}; the server may be a new one", socket.display(), process.pid)
        }
        (None, _) => {
            format!("pid {} is in no tmux pane; name the server with --tmux-socket, or paste by hand", process.pid)
        }
    })
}

#[cfg(test)]
#[path = "tmux_tests.rs"]
mod tests;
