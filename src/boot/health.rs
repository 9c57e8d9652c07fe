//! Gathers what the doctor judges: tmux, the agents' programs, their folders, the home. It looks and changes nothing.
//! What the facts mean is `doctor`'s.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::Ground;
use super::screen::read_looks;
use crate::agent::claude::Statuses;
use crate::agent::{Settings, installed, os, tmux};
use crate::clock;
use crate::doctor::facts::{
    DriverProcess, Facts, HomeFact, ProgramFact, RootContent, RootFact, ServerFact, WatchFact, WatchLimits,
};
use crate::driver::ports::{Cause, FoundSession, Loaded, Transcripts as _};
use crate::machine::TranscriptFact;
use crate::model::ids::{Agent, SessionKey};
use crate::model::reach::Transport;
use crate::model::run::RunState;
use crate::store::lock::{Holder, holder};
use crate::supervise::Supervisor;
use crate::watch;

/// Of each agent so many of the newest transcripts are read through, none of them longer than this.
const READ: usize = 10;
const LONGEST: u64 = 64 << 20;

impl Ground {
    /// Looks at everything a run depends on. Takes seconds: programs are run, transcripts are read. `unreadable`: files of
    /// the home that are known to be so.
    #[must_use]
    pub fn health(&self, unreadable: &[(PathBuf, String)]) -> Facts {
        let settings = self.transports();
        let loaded = self.records();
        let live = self.live_sessions();
        let (roots, watching) = self.transcripts_of_all();
        let absent = absent(&loaded, |side| live.iter().any(|seen| seen.session == *side));
        let live = live.into_iter().map(|seen| {
            let place = seen.pane.map(|pane| format!("pane {} of tmux", pane.id.as_str()));
            // Codex takes messages through its queue, wherever it runs; before a Claude a person sits who can paste.
            let elsewhere = match seen.session.agent {
                Agent::Codex => "its queue",
                Agent::Claude => "your own paste: it is in no pane of tmux",
            };
            let place = if seen.reached { Ok(place.unwrap_or_else(|_| elsewhere.to_owned())) } else { place };
            (seen.session, place)
        });
        let demo = self.stage.is_some();
        Facts {
            // A demo's agents live in the program itself.
            tmux: (!demo).then(tmux::about::version),
            servers: if demo { Vec::new() } else { servers(&settings) },
            programs: if demo {
                Vec::new()
            } else {
                vec![program(Agent::Claude, &settings), program(Agent::Codex, &settings)]
            },
            live: live.collect(),
            roots,
            watching,
            home: self.home_fact(&loaded),
            absent: if demo { Vec::new() } else { absent },
            signs: if demo { None } else { self.signs_refused() },
            // With them unread, what else stands there is not known.
            settings: if unreadable.is_empty() { self.mistakes() } else { Vec::new() },
            unreadable: unreadable.iter().map(|(path, why)| (path.display().to_string(), why.clone())).collect(),
            utf8: self.environment.is_utf8(),
            inside_tmux: self.environment.tmux.is_some(),
        }
    }

    fn transcripts_of_all(&self) -> (Vec<RootFact>, WatchFact) {
        let roots = self.watched_roots();
        let (mut watch, _woken) = watch::start(&roots, &Supervisor::new());
        // Sets the watches, of which is told below.
        let _ = watch.changed();
        let found = watch.sessions();
        let mut facts = Vec::new();
        for (agent, folder) in [(Agent::Claude, &roots.claude_projects), (Agent::Codex, &roots.codex_sessions)] {
            let content = match fs::read_dir(folder) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error.to_string()),
                // A part of it that nobody may list hides its sessions without a sign.
                Ok(_) if watch.refused(agent).is_some() => Err(watch.refused(agent).unwrap_or_default().to_owned()),
                Ok(_) => {
                    let of_agent: Vec<&FoundSession> = found.iter().filter(|one| one.session.agent == agent).collect();
                    Ok(Some(read_through(&of_agent, &mut watch)))
                }
            };
            facts.push(RootFact { agent, path: folder.display().to_string(), content });
        }
        let limits = os::watch_limits().map(|(watches, instances, instances_used)| WatchLimits {
            watches,
            instances,
            instances_used,
        });
        (facts, WatchFact { polling: watch.is_polling(), limits })
    }

    /// Where Claude's status files lie, if they cannot be read: the folder, or one of a process that runs.
    fn signs_refused(&self) -> Option<(String, String)> {
        let folder = self.roots.claude_status().display().to_string();
        let look = || match Statuses::read(&self.roots.claude) {
            Err(why) => Some(why),
            Ok(statuses) => statuses.torn().map(|file| format!("can't read {}", file.display())),
        };
        // A file may be caught while it is written.
        look().and_then(|_| look()).map(|why| (folder, why))
    }

    fn home_fact(&self, loaded: &Loaded) -> HomeFact {
        let root = self.home.root();
        let (driver, lock_refuses) = match holder(&self.home) {
            Ok(Holder::Nobody) => (None, None),
            Ok(Holder::Process(by)) => {
                let pid = by.map(|claim| claim.pid);
                let stopped = pid.and_then(os::process).is_some_and(|process| process.stopped);
                (Some(DriverProcess { pid, stopped }), None)
            }
            Err(error) => (None, Some(error.to_string())),
        };
        HomeFact {
            path: root.display().to_string(),
            exists: root.is_dir(),
            refuses: refuses(root),
            wide: wide(root),
            free: free(root),
            lock_refuses,
            strangers: strangers(root),
            // What is damaged lies in the quarantine, or will.
            foreign: loaded
                .read_only
                .iter()
                .filter(|one| one.cause != Cause::Damaged)
                .map(|one| (one.key.to_string(), one.why.clone()))
                .collect(),
            quarantined: fs::read_dir(self.home.quarantine()).map_or(0, Iterator::count),
            driver,
        }
    }

    /// What does not count in the files that a person writes.
    fn mistakes(&self) -> Vec<(String, String)> {
        let problems = match read_looks(self.home.root()) {
            Ok(looks) => looks.problems,
            Err(failure) => vec![failure.message],
        };
        let split = |problem: String| match problem.split_once(": ") {
            Some((file, rest)) => (file.to_owned(), rest.to_owned()),
            None => (String::from("settings"), problem),
        };
        problems.into_iter().map(split).collect()
    }
}

/// Sides of runs that go on and need a process of their own.
fn absent(loaded: &Loaded, is_live: impl Fn(&SessionKey) -> bool) -> Vec<(String, SessionKey)> {
    let by_itself = |side: &SessionKey| {
        let chosen = loaded.sessions.get(side).and_then(|note| note.transport);
        chosen == Some(Transport::Headless)
    };
    let going = loaded.runs.iter().filter(|run| run.state != RunState::Stopped);
    let sides = going.flat_map(|run| {
        let name = run.id.to_string();
        [run.implementer.key(), run.reviewer.key()].map(|side| (name.clone(), side))
    });
    sides.filter(|(_, side)| !is_live(side) && !by_itself(side)).collect()
}

fn read_through(found: &[&FoundSession], watch: &mut watch::Watch) -> RootContent {
    let mut content = RootContent { sessions: found.len(), ..RootContent::default() };
    let fits = |one: &&&FoundSession| fs::metadata(&*one.path).is_ok_and(|facts| facts.len() <= LONGEST);
    for one in found.iter().filter(fits).take(READ) {
        let read = watch.read(&one.session, clock::now());
        content.refused += usize::from(matches!(read.fact, TranscriptFact::Unreadable(_)));
        let Some(conversation) = read.conversation else { continue };
        content.read += 1;
        for (name, n) in &conversation.unknown {
            *content.unknown.entry(name.clone()).or_default() += n;
        }
    }
    content
}

fn servers(settings: &Settings) -> Vec<ServerFact> {
    let all = settings.tmux.servers().into_iter();
    let answering = all.filter_map(|server| {
        let panes = server.panes().ok()?.len();
        Some(ServerFact { socket: server.socket().display().to_string(), panes, options: server.options() })
    });
    answering.collect()
}

fn program(agent: Agent, settings: &Settings) -> ProgramFact {
    let file = installed::find(agent, settings);
    let version = file.as_ref().ok().map(|file| installed::version(file, settings));
    let named = settings.named(agent).is_some();
    ProgramFact { agent, named, file: file.map(|file| file.display().to_string()), version }
}

/// The mode of a folder in which others than its owner may do something.
fn wide(root: &Path) -> Option<u32> {
    let mode = fs::metadata(root).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Why nothing can be written in the home, or in the folder it would be made in.
fn refuses(root: &Path) -> Option<String> {
    let there = root.ancestors().find(|folder| folder.exists())?;
    if !there.is_dir() {
        let what = if there == root { String::from("it") } else { there.display().to_string() };
        return Some(format!("{what} is no folder"));
    }
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(there, access).err().map(|error| std::io::Error::from(error).to_string())
}

fn free(root: &Path) -> Option<u64> {
    let there = root.ancestors().find(|folder| folder.exists())?;
    let facts = rustix::fs::statvfs(there).ok()?;
    Some(facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// Programs other than trellis that have files of the home open to write to. trellis itself keeps its log open.
fn strangers(root: &Path) -> Vec<(u32, String)> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let log = root.join("logs");
    let lock = root.join("trellis.lock");
    let mut strangers = Vec::new();
    for process in os::processes().into_iter().filter(|process| process.pid != std::process::id()) {
        let open = os::written_files(process.pid).unwrap_or_default();
        let ours = open.iter().any(|file| file.starts_with(&log) || *file == lock);
        if !ours && open.iter().any(|file| file.starts_with(&root)) {
            strangers.push((process.pid, process.name));
        }
    }
    strangers
}
