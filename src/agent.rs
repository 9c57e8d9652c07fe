//! The agents as things to reach: is it alive, may we type, send, prove that nothing is on its way. One folder a transport.
//! What a message means, and when it may go out, is the machines' business.

pub mod by_hand;
pub mod claude;
pub mod codex;
pub mod git;
pub mod headless;
pub mod hooks;
pub mod installed;
pub mod live;
pub mod message;
pub mod os;
pub mod scripted;
pub mod tmux;

mod bring_back;
mod lane;
mod launch;
mod opening;
mod program;
mod runs_as;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc::Sender;

use crate::driver::ports::{Agents, Job, Outcome};
use crate::model::ids::{Agent, SessionKey};
use crate::model::reach::Transport;
use crate::model::session::{Launch, SessionNote};
use crate::supervise::Supervisor;
use lane::{Lane, Place, Workshop};
use opening::Windows;

/// What the transports need to know of this machine and of the person's choices.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Claude's folder (`CLAUDE_CONFIG_DIR`, `~/.claude`).
    pub claude_home: PathBuf,
    /// Codex's folder (`CODEX_HOME`, `~/.codex`), where no running process says otherwise.
    pub codex_home: PathBuf,
    /// Claude's program, when a person named it; a session's own comes first. Without a folder it is looked for.
    pub claude_program: Option<PathBuf>,
    /// Codex's program, when a person named it; a session's own comes first. Without a folder it is looked for.
    pub codex_program: Option<PathBuf>,
    /// Variables that an agent is started with beside those of its tmux server.
    pub launch_variables: Vec<(OsString, OsString)>,
    /// Where programs are looked for (`PATH`).
    pub path: Option<OsString>,
    /// Where tmux servers may be.
    pub tmux: tmux::Whereabouts,
    /// What an agent that trellis starts needs in its environment to keep its files where trellis reads them.
    pub variables: Vec<(&'static str, PathBuf)>,
    /// Where what such an agent says is kept; `None`: nowhere.
    pub logs: Option<PathBuf>,
}

impl Settings {
    /// The program that a person named for an agent.
    #[must_use]
    pub const fn named(&self, agent: Agent) -> Option<&PathBuf> {
        match agent {
            Agent::Claude => self.claude_program.as_ref(),
            Agent::Codex => self.codex_program.as_ref(),
        }
    }
}

/// All transports behind the driver's port. Each session has a lane of its own, so that what is done to it is done in
/// order and one that is slow holds up no other.
pub struct Transports {
    workshop: Workshop,
    lanes: BTreeMap<Place, Lane>,
    others: Vec<Box<dyn Elsewhere>>,
    /// The sessions that are run without a pane, and how.
    headless: BTreeMap<SessionKey, Arc<Launch>>,
}

/// A transport that plays some sessions itself, such as the built-in demo agents.
pub trait Elsewhere: Agents + Send {
    /// Whether it plays this session.
    fn plays(&self, session: &SessionKey) -> bool;
}

impl Transports {
    /// Outcomes go to `outcomes`; a lane whose outcome cannot be taken yet waits, and nothing else does.
    #[must_use]
    pub fn new(settings: Settings, outcomes: Sender<Outcome>, supervisor: Supervisor) -> Self {
        let workshop =
            Workshop { settings: Arc::new(settings), windows: Arc::new(Windows::default()), outcomes, supervisor };
        Self { workshop, lanes: BTreeMap::new(), others: Vec::new(), headless: BTreeMap::new() }
    }

    /// Adds a transport that is asked before the real ones.
    #[must_use]
    pub fn beside(mut self, other: Box<dyn Elsewhere>) -> Self {
        self.others.push(other);
        self
    }
}

impl Agents for Transports {
    fn begin(&mut self, job: Job) {
        let place = Place::of(&job);
        if let Place::Session(session) = &place
            && let Some(other) = self.others.iter_mut().find(|other| other.plays(session))
        {
            other.begin(job);
            return;
        }
        let launch = match &place {
            Place::Session(session) => self.headless.get(session).cloned(),
            Place::Worktree(_) | Place::Clipboard => None,
        };
        let lane = match self.lanes.entry(place) {
            Entry::Occupied(lane) => lane.into_mut(),
            Entry::Vacant(free) => {
                let lane = Lane::new(free.key());
                free.insert(lane)
            }
        };
        lane.begin(job, launch, &self.workshop);
    }

    fn noted(&mut self, session: &SessionKey, note: &SessionNote) {
        if note.transport == Some(Transport::Headless) {
            self.headless.insert(session.clone(), Arc::new(note.launch.clone().unwrap_or_default()));
        } else {
            self.headless.remove(session);
        }
    }
}
