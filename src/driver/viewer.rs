//! A second process on the same home: it shows what whoever drives tells, or, where nobody tells, what the records and the
//! transcripts say; it never acts. When the driver is gone it offers to take over; who holds the lock is the store's knowledge.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::core::{Core, Input};
use super::handle::{Line, Request};
use super::ports::{Agents, FoundSession, Job, Loaded, Records, SaveError, TranscriptRead, Transcripts};
use super::task::Edges;
use crate::machine::TranscriptFact;
use crate::model::command::{Refusal, RefusalKind, Reply};
use crate::model::event::{Decision, Event};
use crate::model::hook::HookNote;
use crate::model::ids::{PairId, RecordKey, RunId, SessionKey, SessionRef};
use crate::model::pair::PairRecord;
use crate::model::run::RunRecord;
use crate::model::session::SessionNote;
use crate::projection::{DriverFact, Projection};
use crate::supervise::Shutdown;
use jiff::Timestamp;

/// What is heard of whoever drives.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Heard {
    /// Nobody tells what it shows.
    #[default]
    Nothing,
    /// It has a socket, and has not answered for some seconds.
    Silence,
    /// This is what it shows.
    Shows(Arc<Projection>),
}

/// The same at each change.
pub type Theirs = watch::Receiver<Heard>;

/// How often the records are read anew while nobody tells what it shows.
const PERIOD: Duration = Duration::from_millis(500);

/// The disk as a viewer needs it.
pub trait Shelf {
    /// Everything on the disk, read without writing, moving or repairing anything; `None` when nothing changed since.
    fn read(&mut self) -> Option<Loaded>;
    /// Events the driver has published since the last call, oldest first.
    fn events(&mut self) -> Vec<Event>;
    /// Who holds the lock.
    fn driver(&mut self) -> DriverFact;
    /// What the agents' hooks told, as [`Records::hook_notes`].
    fn hook_notes(&mut self, _now: Timestamp) -> Vec<(String, Option<HookNote>)> {
        Vec::new()
    }
}

/// Records that can only be read.
#[derive(Debug)]
pub struct ReadRecords<S> {
    shelf: S,
    newest: Loaded,
}

impl<S: Shelf> ReadRecords<S> {
    /// Those of a shelf.
    pub fn new(mut shelf: S) -> Self {
        let newest = shelf.read().unwrap_or_default();
        Self { shelf, newest }
    }

    /// Whether something changed on the disk since it was loaded.
    pub fn refresh(&mut self) -> bool {
        match self.shelf.read() {
            Some(loaded) => {
                self.newest = loaded;
                true
            }
            None => false,
        }
    }
}

fn refused<V>(file: &str) -> Result<V, SaveError> {
    Err(SaveError::Io { file: file.to_owned(), why: "another process drives this home".to_owned() })
}

impl<S: Shelf> Records for ReadRecords<S> {
    fn load(&mut self) -> Loaded {
        self.newest.clone()
    }

    fn save_run(&mut self, record: &RunRecord) -> Result<(), SaveError> {
        refused(record.id.as_str())
    }

    fn save_pair(&mut self, record: &PairRecord) -> Result<(), SaveError> {
        refused(record.id.as_str())
    }

    fn adopt_run(&mut self, id: &RunId) -> Result<RunRecord, SaveError> {
        refused(id.as_str())
    }

    fn adopt_pair(&mut self, id: &PairId) -> Result<PairRecord, SaveError> {
        refused(id.as_str())
    }

    fn displace(&mut self, key: &RecordKey) -> Result<(), SaveError> {
        refused(key.as_str())
    }

    fn discard(&mut self, key: &RecordKey) -> Result<(), SaveError> {
        refused(key.as_str())
    }

    fn save_session(&mut self, key: &SessionKey, _note: &SessionNote) -> Result<(), SaveError> {
        refused(key.session_id.as_str())
    }

    fn hook_notes(&mut self, now: Timestamp) -> Vec<(String, Option<HookNote>)> {
        self.shelf.hook_notes(now)
    }

    fn forget_session(&mut self, key: &SessionKey) -> Result<(), SaveError> {
        refused(key.session_id.as_str())
    }

    fn append_event(&mut self, _event: &Event) -> Result<(), SaveError> {
        Ok(())
    }

    fn append_decision(&mut self, _decision: &Decision) -> Result<(), SaveError> {
        Ok(())
    }
}

/// No agent is reached at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAgents;

impl Agents for NoAgents {
    fn begin(&mut self, _job: Job) {}
}

/// No transcript is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTranscripts;

impl Transcripts for NoTranscripts {
    fn read(&mut self, _session: &SessionRef, _now: Timestamp) -> TranscriptRead {
        TranscriptRead { fact: TranscriptFact::NotYet, conversation: None }
    }

    fn sessions(&mut self) -> Vec<FoundSession> {
        Vec::new()
    }

    fn changed(&mut self) -> Vec<SessionKey> {
        Vec::new()
    }
}

/// Agents that are looked at and never touched: what a viewer may do.
#[derive(Clone, Copy, Debug)]
pub struct LookOnly<A>(pub A);

impl<A: Agents> Agents for LookOnly<A> {
    fn begin(&mut self, job: Job) {
        match job {
            Job::Probe(_) => self.0.begin(job),
            Job::Send(..)
            | Job::PressEnter(..)
            | Job::Git { .. }
            | Job::Lines { .. }
            | Job::Clipboard(_)
            | Job::BringBack(_)
            | Job::Launch(_) => {
                tracing::error!("a viewer was to do more than look; it did nothing");
            }
        }
    }

    fn noted(&mut self, session: &SessionKey, note: &SessionNote) {
        self.0.noted(session, note);
    }
}

/// How a viewer ended.
#[derive(Debug)]
pub enum Ended {
    /// It was told to.
    Shutdown,
    /// A person wants this process to drive now: take the lock, start a driver on the same line, answer through it.
    TakeOver(Line, tokio::sync::oneshot::Sender<Reply>),
}

/// Runs a viewer until it is told to end or to take over.
pub async fn view<S: Shelf, T: Transcripts, A: Agents>(
    mut core: Core<ReadRecords<S>, T, LookOnly<A>>,
    mut line: Line,
    edges: Edges,
    mut theirs: Theirs,
    mut shutdown: Shutdown,
    clock: fn() -> Timestamp,
) -> Ended {
    let Edges { mut outcomes, mut hints } = edges;
    let (mut has_outcomes, mut has_hints, mut has_theirs) = (true, true, true);
    let mut is_silent = false;
    // What only whoever drives knows (a disk that refuses) is not left out for want of a moment.
    let mut is_unheard = matches!(core.ports().0.shelf.driver(), DriverFact::Elsewhere { .. });
    let mut again = tokio::time::interval(PERIOD);
    again.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let now = clock();
        tokio::select! {
            biased;
            _ = shutdown.wait() => return Ended::Shutdown,
            request = line.requests.recv() => match request {
                Some(Request::Order(command, answer)) => {
                    let reply = core.order(*command, now);
                    let _ = answer.send(reply.unwrap_or_else(|| Reply::Refused(someone_drives())));
                }
                Some(Request::Show(shown)) => {
                    core.show(shown, now);
                    read_anew(&mut core, now);
                }
                Some(Request::Complain(words)) => core.complain(words, now),
                Some(Request::LookAround) => core.observe_all(now),
                Some(Request::TakeOver(answer)) => {
                    if core.ports().0.shelf.driver() == DriverFact::Nobody {
                        return Ended::TakeOver(line, answer);
                    }
                    let _ = answer.send(Reply::Refused(someone_drives()));
                }
                Some(Request::HandOver(answer)) => {
                    let _ = answer.send(Reply::Refused(someone_drives()));
                }
                Some(Request::Shutdown) | None => return Ended::Shutdown,
            },
            outcome = outcomes.recv(), if has_outcomes => match outcome {
                Some(outcome) => core.input(Input::Outcome(Box::new(outcome)), now),
                None => has_outcomes = false,
            },
            hint = hints.recv(), if has_hints => match hint {
                Some(()) => core.input(Input::Hint, now),
                None => has_hints = false,
            },
            told = theirs.changed(), if has_theirs => {
                has_theirs = told.is_ok();
                is_unheard = false;
                let heard = theirs.borrow_and_update().clone();
                is_silent = has_theirs && heard == Heard::Silence;
                let shown = if let Heard::Shows(shown) = heard { Some(shown).filter(|_| has_theirs) } else { None };
                hear(&mut core, shown, is_silent, &line, now);
            }
            _ = again.tick(), if !core.follows() => look_again(&mut core, is_silent, &line, now),
        }
        // What this process finds out is no event of the home: those come from its driver.
        drop(core.take_events());
        let mut projection = core.projection(now);
        if is_unheard {
            Arc::make_mut(&mut projection).looking = true;
        }
        line.projection.send_if_modified(|last| {
            let is_newer = last.seq != projection.seq || last.looking != projection.looking;
            last.clone_from(&projection);
            is_newer
        });
    }
}

fn look_again<S: Shelf, T: Transcripts, A: Agents>(
    core: &mut Core<ReadRecords<S>, T, A>,
    is_silent: bool,
    line: &Line,
    now: Timestamp,
) {
    see_who_drives(core, is_silent);
    if core.ports().0.refresh() {
        core.reload(now);
    }
    hand_on_events(core, line);
    core.input(Input::Tick, now);
}

fn see_who_drives<S: Shelf, T: Transcripts, A: Agents>(core: &mut Core<ReadRecords<S>, T, A>, is_silent: bool) {
    let driver = core.ports().0.shelf.driver();
    core.driven_by(if is_silent { driver.silent() } else { driver });
}

/// Whoever drives tells what it shows, or has ceased to.
fn hear<S: Shelf, T: Transcripts, A: Agents>(
    core: &mut Core<ReadRecords<S>, T, A>,
    theirs: Option<Arc<Projection>>,
    is_silent: bool,
    line: &Line,
    now: Timestamp,
) {
    let follows = theirs.is_some();
    if follows != core.follows() {
        see_who_drives(core, is_silent);
    }
    core.follow(theirs, now);
    if follows {
        read_anew(core, now);
        hand_on_events(core, line);
    } else {
        look_again(core, is_silent, line, now);
    }
}

/// Where another process tells what it shows, the records are read for a conversation alone.
fn read_anew<S: Shelf, T: Transcripts, A: Agents>(core: &mut Core<ReadRecords<S>, T, A>, now: Timestamp) {
    if core.follows() && core.shows_a_record() && core.ports().0.refresh() {
        core.reload(now);
    }
}

fn hand_on_events<S: Shelf, T: Transcripts, A: Agents>(core: &mut Core<ReadRecords<S>, T, A>, line: &Line) {
    for event in core.ports().0.shelf.events() {
        let _ = line.events.send(event);
    }
}

fn someone_drives() -> Refusal {
    let message = "another process drives this home: end it first, then take over".to_owned();
    Refusal { kind: RefusalKind::NotDriver, message, field: None }
}
