//! The composition root: with the files below it the only place that knows every concrete type. It finds the home, takes
//! the lock, and puts store, watch, agents, driver and screen together. No rule of the loop lives here.

mod ahead;
mod archive;
pub mod background;
mod crew;
mod engine;
mod glance;
mod health;
mod screen;
mod tell;
mod there;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::agent::live::{self, LiveSession};
use crate::agent::scripted::home::{self as stage, Stage};
use crate::agent::{Settings, os, tmux};
use crate::clock;
use crate::config::{Config, ConfigProblem};
use crate::driver::ports::{FoundSession, Loaded, Transcripts as _};
use crate::failure::Failure;
use crate::machine::TranscriptFact;
use crate::model::conversation::Conversation;
use crate::model::event::{Decision, Event};
use crate::model::ids::{RecordKey, SessionRef, is_safe_name};
use crate::model::text::TextRef;
use crate::paths::{AgentRoots, Environment, Home};
use crate::small_file;
use crate::store::lock::{Claim, Holder, Kind, Lock, LockError, holder};
use crate::store::old_of;
use crate::store::reader::Reader;
use crate::supervise::Supervisor;
use crate::watch::{self, Roots};

pub use engine::{Engine, How};
pub use screen::problems;
pub use tell::{Outcome, Seat, Tried};

/// Which home and which tmux server a command is for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Named<'a> {
    /// The home that was named.
    pub home: Option<&'a Path>,
    /// The tmux server that was named.
    pub tmux_socket: Option<&'a str>,
}

/// A home and what it says of itself. Nothing runs yet, nothing was written.
#[derive(Debug)]
pub struct Ground {
    /// What the environment says.
    pub environment: Environment,
    /// The home.
    pub home: Home,
    /// Its settings.
    pub config: Config,
    /// What of them does not count.
    pub problems: Vec<ConfigProblem>,
    /// Where the agents keep their files.
    pub roots: AgentRoots,
    /// The scripted agents that live in it.
    pub stage: Option<Stage>,
    /// The tmux server that the command line names, before that of the settings.
    pub tmux_socket: Option<String>,
}

/// Refuses a home that is there and is no folder, before anything is said about files in it.
///
/// # Errors
/// It, or a part of its path, is a file.
pub fn is_folder(home: &Home) -> Result<(), Failure> {
    let above = home.root().ancestors().find_map(|path| Some((path, fs::metadata(path).ok()?)));
    match above {
        Some((path, found)) if !found.is_dir() => {
            Err(Failure::refused(format!("{} is a file, not a folder: name a folder with --home", path.display())))
        }
        _ => Ok(()),
    }
}

/// The text of the settings; empty where there are none. An error: why they cannot be read.
fn config_text(home: &Home) -> Result<String, String> {
    let path = home.config();
    match small_file::text(&path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error.to_string()),
    }
}

impl Ground {
    /// Finds the home that `flag`, or else the environment, names.
    ///
    /// # Errors
    /// No home is known, or its files cannot be read.
    pub fn find(flag: Option<&Path>) -> Result<Self, Failure> {
        let (environment, home) = Self::place(flag)?;
        is_folder(&home)?;
        let text = config_text(&home)
            .map_err(|why| Failure::refused(format!("can't read {}: {why}", home.config().display())))?;
        let stage = stage::open(home.root()).map_err(Failure::refused)?;
        Ok(Self::on(environment, home, &text, stage))
    }

    /// The home, whatever is wrong with it, for those who say what is: the files that cannot be read, and why. Their
    /// defaults count.
    ///
    /// # Errors
    /// No home is known.
    pub fn at_any_rate(place: &Named<'_>) -> Result<(Self, Vec<(PathBuf, String)>), Failure> {
        let (environment, home) = Self::place(place.home)?;
        let meant = |ground: Self| Self { tmux_socket: place.tmux_socket.map(str::to_owned), ..ground };
        if is_folder(&home).is_err() {
            // That its files cannot be read is said with it.
            return Ok((meant(Self::on(environment, home, "", None)), Vec::new()));
        }
        let mut unreadable = Vec::new();
        let text = config_text(&home).unwrap_or_else(|why| {
            unreadable.push((home.config(), why));
            String::new()
        });
        let stage = stage::open(home.root()).unwrap_or_else(|why| {
            unreadable.push((home.root().to_owned(), why));
            None
        });
        Ok((meant(Self::on(environment, home, &text, stage)), unreadable))
    }

    fn place(flag: Option<&Path>) -> Result<(Environment, Home), Failure> {
        let environment = Environment::read();
        let home = Home::locate(flag, &environment).map_err(|error| Failure::refused(error.to_string()))?;
        Ok((environment, home))
    }

    fn on(environment: Environment, home: Home, text: &str, stage: Option<Stage>) -> Self {
        let (config, problems) = Config::parse("config.toml", text);
        let roots =
            AgentRoots::resolve(&home, &environment, config.claude_home.as_deref(), config.codex_home.as_deref());
        Self { environment, home, config, problems, roots, stage, tmux_socket: None }
    }

    /// The home that a command names, with the tmux server it names.
    ///
    /// # Errors
    /// As [`Ground::find`].
    pub fn of(place: &Named<'_>) -> Result<Self, Failure> {
        let ground = Self::find(place.home)?;
        Ok(Self { tmux_socket: place.tmux_socket.map(str::to_owned), ..ground })
    }

    pub(crate) fn watched_roots(&self) -> Roots {
        Roots {
            claude_projects: self.roots.claude_projects(),
            codex_sessions: self.roots.codex_sessions(),
            signs: vec![self.roots.claude_status(), self.home.hooks()],
        }
    }

    pub(crate) fn transports(&self) -> Settings {
        Settings {
            claude_home: self.roots.claude.clone(),
            codex_home: self.roots.codex.clone(),
            claude_program: self.program(self.config.claude_program.as_deref()),
            codex_program: self.program(self.config.codex_program.as_deref()),
            launch_variables: self.launch_variables(),
            path: self.environment.path.clone(),
            tmux: tmux::Whereabouts {
                named: self.tmux_socket(),
                inside: self.environment.tmux.clone(),
                inside_pane: self.environment.tmux_pane.clone(),
                folder: self.environment.tmux_tmpdir.clone(),
            },
            variables: self.moved_roots(),
            logs: Some(self.home.logs()),
        }
    }

    /// The variables that name the agents' folders where this home's settings move them.
    fn moved_roots(&self) -> Vec<(&'static str, PathBuf)> {
        let own = AgentRoots::resolve(&self.home, &self.environment, None, None);
        let roots =
            [("CLAUDE_CONFIG_DIR", &self.roots.claude, own.claude), ("CODEX_HOME", &self.roots.codex, own.codex)];
        let moved = roots.into_iter().filter(|(_, here, own)| *here != own);
        moved.map(|(name, here, _)| (name, here.clone())).collect()
    }

    /// Agents would run as root, and nothing says that this is a sandbox.
    pub(crate) fn as_root(&self) -> bool {
        rustix::process::geteuid().is_root() && !self.environment.is_sandbox
    }

    /// A program that a person named; a relative path starts at the home, a bare name stays one.
    fn program(&self, named: Option<&str>) -> Option<PathBuf> {
        let named = Path::new(named?);
        let is_bare = named.components().count() == 1;
        Some(if is_bare { named.to_owned() } else { self.environment.absolute(self.home.root(), named) })
    }

    /// The socket that a person named: its name, or its whole path.
    fn tmux_socket(&self) -> Option<String> {
        let in_config = self.config.tmux_socket.as_ref().map(|named| (named, self.home.root().to_owned()));
        let here = || self.environment.current_dir.clone().unwrap_or_else(|| PathBuf::from("/"));
        let (named, base) = self.tmux_socket.as_ref().map(|named| (named, here())).or(in_config)?;
        if !named.contains('/') {
            return Some(named.clone());
        }
        Some(self.environment.absolute(&base, Path::new(named)).to_string_lossy().into_owned())
    }

    /// What an agent that trellis starts gets beside the variables of its tmux server: it must find what trellis finds,
    /// and keep its files where trellis reads them.
    fn launch_variables(&self) -> Vec<(OsString, OsString)> {
        // Claude keeps one file elsewhere as soon as its folder is named, so that it is named only where somebody named it.
        let claude = self.config.claude_home.is_some() || self.environment.claude_config_dir.is_some();
        let codex = self.config.codex_home.is_some() || self.environment.codex_home.is_some();
        let all = [
            ("CLAUDE_CONFIG_DIR", claude.then(|| self.roots.claude.clone().into_os_string())),
            ("CODEX_HOME", codex.then(|| self.roots.codex.clone().into_os_string())),
            ("PATH", self.environment.path.clone()),
            ("IS_SANDBOX", self.environment.is_sandbox.then(|| OsString::from("1"))),
        ];
        all.into_iter().filter_map(|(name, value)| Some((OsString::from(name), value?))).collect()
    }

    /// Refuses, naming the process, if another one drives the home. Nothing is made.
    ///
    /// # Errors
    /// Another process drives it, or its lock cannot be looked at.
    pub fn refuse_if_driven(&self) -> Result<(), Failure> {
        refuse_if_driven(&self.home)
    }

    /// The sessions that run on this machine now.
    #[must_use]
    pub fn live_sessions(&self) -> Vec<LiveSession> {
        // A demo's home reaches nobody but its own agents.
        if self.stage.is_some() { Vec::new() } else { live::discover(&self.transports()) }
    }

    /// Every record of the home, read without changing anything.
    #[must_use]
    pub fn records(&self) -> Loaded {
        Reader::new(self.home.clone()).load()
    }

    /// The events that were published, oldest first, as far as they are kept.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        events(&self.home)
    }

    /// Every decision that the log holds, oldest first; the log is rotated.
    #[must_use]
    pub fn decisions(&self) -> Vec<Decision> {
        journal(&self.home.decisions())
    }

    /// A text that a record names.
    ///
    /// # Errors
    /// It is not there, or not what was written.
    pub fn text(&self, record: &RecordKey, reference: &TextRef) -> Result<Arc<str>, Failure> {
        if reference.inline.len() as u64 == reference.bytes {
            return Ok(Arc::clone(&reference.inline));
        }
        let unknown = || Failure::refused(format!("{record} names a text that can't be a file's"));
        let folder = self.home.texts(record).filter(|_| is_safe_name(&reference.file)).ok_or_else(unknown)?;
        let path = folder.join(&*reference.file);
        let read = small_file::opened(&path).and_then(std::io::read_to_string);
        let text = read.map_err(|error| Failure::refused(format!("can't read {}: {error}", path.display())))?;
        if TextRef::of(&text).sha256 != reference.sha256 {
            return Err(Failure::refused(format!("{} is not the text that was written there", path.display())));
        }
        Ok(text.into())
    }

    /// The sessions that left a transcript, newest first.
    #[must_use]
    pub fn found_sessions(&self) -> Vec<FoundSession> {
        watch::start(&self.watched_roots(), &Supervisor::new()).0.sessions()
    }

    /// A session's transcript, read from its first byte. `None`: there is none.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn transcript(&self, session: &SessionRef) -> Result<Option<Arc<Conversation>>, Failure> {
        let (mut watch, _woken) = watch::start(&self.watched_roots(), &Supervisor::new());
        let read = watch.read(session, clock::now());
        match read.fact {
            TranscriptFact::Unreadable(why) => Err(Failure::refused(why)),
            _ => Ok(read.conversation),
        }
    }
}

/// As [`Ground::refuse_if_driven`], for a home of which nothing else is read.
///
/// # Errors
/// The same.
pub fn refuse_if_driven(home: &Home) -> Result<(), Failure> {
    match holder(home) {
        Ok(Holder::Nobody) => Ok(()),
        Ok(Holder::Process(by)) => Err(Driver { by, home: home.clone() }.refusal()),
        Err(error) => Err(Failure::refused(error.to_string())),
    }
}

fn events(home: &Home) -> Vec<Event> {
    journal(&home.events())
}

/// The lines of a journal and of the one before it that can be read, oldest first.
fn journal<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    let files = [old_of(path), path.to_owned()];
    let lines = files.iter().filter_map(|file| ordinary(file)).flatten().collect::<Vec<u8>>();
    lines.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// The bytes of a file that is one; it may be long.
fn ordinary(path: &Path) -> Option<Vec<u8>> {
    fs::metadata(path).is_ok_and(|found| found.is_file()).then(|| fs::read(path).ok()).flatten()
}

/// This process, as it names itself in a lock.
fn claim(kind: Kind) -> Claim {
    let start_mark = os::process(std::process::id()).map(|process| process.start_mark).unwrap_or_default();
    Claim::of_this(kind, start_mark)
}

/// Tells a test sentence by every way that is configured.
///
/// # Errors
/// There is no runtime for it.
pub fn test_ways(ground: &Ground) -> Result<Vec<Tried>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(format!("can't start the runtime: {error}")))?;
    Ok(runtime.block_on(tell::test(&Seat::Plain, &ground.home, &ground.environment)))
}

/// The lock of a home: ours, or another process's.
pub enum Place {
    /// Ours from now on.
    Ours(Lock),
    /// Another process drives.
    Theirs(Driver),
}

/// The process that drives a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// What it says of itself, if it does.
    pub by: Option<Claim>,
    home: Home,
}

impl Driver {
    /// Why nothing is changed here.
    #[must_use]
    pub fn refusal(&self) -> Failure {
        let home = self.home.root().display();
        Failure::refused(match &self.by {
            None => format!("another trellis drives {home}; end it first"),
            Some(Claim { pid, kind: Kind::Foreground, .. }) => {
                format!("another trellis (pid {pid}) drives {home}; end it first")
            }
            Some(Claim { pid, kind: Kind::Background, .. }) => {
                format!(
                    "another trellis (pid {pid}) drives {home} in the background; {} ends it",
                    self.home.command("drive --stop")
                )
            }
        })
    }
}

impl Place {
    /// Takes the lock, if it is free.
    ///
    /// # Errors
    /// The home cannot be made or opened.
    pub fn take(home: &Home, kind: Kind) -> Result<Self, Failure> {
        is_folder(home)?;
        match Lock::take_as(home, &claim(kind)) {
            Ok(lock) => Ok(Self::Ours(lock)),
            Err(LockError::Held { by, .. }) => Ok(Self::Theirs(Driver { by, home: home.clone() })),
            Err(error) => Err(Failure::refused(error.to_string())),
        }
    }
}
