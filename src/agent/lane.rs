//! One lane for each session, work tree and the clipboard: jobs in order, on a thread that lives while there are any.
//! What a job does is its transport's business.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::Sender;

use super::claude::{ClaudeSession, stopped};
use super::codex::CodexSession;
use super::headless::{self, HeadlessSession, Tell};
use super::opening::Windows;
use super::os::{self, Process};
use super::tmux::Pane;
use super::{Settings, bring_back, by_hand, git, launch, runs_as};
use crate::driver::ports::{Job, Outcome};
use crate::machine::Delivery;
use crate::model::ids::{Agent, RecordKey, SessionKey};
use crate::model::reach::{LiveStatus, ProbeAsk, ProcessFact, Reach, SendReport, Tick, Transport};
use crate::model::session::Launch;
use crate::supervise::{Shutdown, Supervisor};

/// More jobs than this wait for one session only when something is badly stuck.
const MOST_WAITING: usize = 32;

/// What must be done in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Everything done to one session.
    Session(SessionKey),
    /// Everything looked up in one work tree.
    Worktree(String),
    /// The clipboard.
    Clipboard,
}

impl Place {
    pub(super) fn of(job: &Job) -> Self {
        match job {
            Job::Probe(ask) => Self::Session(ask.session.clone()),
            Job::Send(_, delivery) | Job::PressEnter(_, delivery) => Self::Session(delivery.session.clone()),
            Job::BringBack(comeback) => Self::Session(comeback.session.key()),
            Job::Launch(start) => Self::Session(start.session.clone()),
            Job::Git { worktree } | Job::Lines { worktree, .. } => Self::Worktree(worktree.clone()),
            Job::Clipboard(_) => Self::Clipboard,
        }
    }
}

/// The jobs of one place.
pub(super) struct Lane(Arc<Mutex<Jobs>>);

struct Jobs {
    waiting: VecDeque<(Job, Way)>,
    /// A thread works them off. It takes the memory with it and brings it back.
    running: bool,
    /// Outlives the threads: what was seen last proves what replaced it.
    memory: Memory,
}

/// How the session of a job is run when it has no pane.
type Way = Option<Arc<Launch>>;

/// What a lane remembers of its session.
#[derive(Default)]
struct Memory {
    session: Session,
    headless: Option<HeadlessSession>,
    /// The pane that was opened for it, until it came up or its program ended.
    opened: Option<Pane>,
    /// The process whose words were told last.
    told: Option<Process>,
}

/// A session in its pane, by its agent.
#[derive(Default)]
enum Session {
    Claude(ClaudeSession),
    Codex(CodexSession),
    #[default]
    None,
}

/// What every lane's thread needs.
#[derive(Clone)]
pub(super) struct Workshop {
    pub(super) settings: Arc<Settings>,
    pub(super) windows: Arc<Windows>,
    pub(super) outcomes: Sender<Outcome>,
    pub(super) supervisor: Supervisor,
}

impl Workshop {
    /// Says that a process on this session has ended, to whoever still listens.
    fn tell_left(&self, session: &SessionKey) -> Tell {
        let (outcomes, session) = (self.outcomes.clone(), session.clone());
        Arc::new(move || drop(outcomes.blocking_send(Outcome::Left(session.clone()))))
    }
}

impl Lane {
    pub(super) fn new(place: &Place) -> Self {
        let memory = match place {
            Place::Session(session) => Memory {
                session: match session.agent {
                    Agent::Claude => Session::Claude(ClaudeSession::new(session.session_id.clone())),
                    Agent::Codex => Session::Codex(CodexSession::new(session.session_id.clone())),
                },
                headless: Some(HeadlessSession::new(session.clone())),
                ..Memory::default()
            },
            Place::Worktree(_) | Place::Clipboard => Memory::default(),
        };
        Self(Arc::new(Mutex::new(Jobs { waiting: VecDeque::new(), running: false, memory })))
    }

    /// Puts a job at the end. Never waits for one that runs.
    pub(super) fn begin(&self, job: Job, way: Way, workshop: &Workshop) {
        let mut jobs = lock(&self.0);
        if jobs.waiting.len() >= MOST_WAITING {
            drop(jobs);
            tracing::warn!(?job, "too many jobs wait");
            give_back(&job, "trellis has too much to do with this session", workshop);
            return;
        }
        jobs.waiting.push_back((job, way));
        if jobs.running {
            return;
        }
        jobs.running = true;
        let mut memory = std::mem::take(&mut jobs.memory);
        drop(jobs);
        let (shared, shop) = (Arc::clone(&self.0), workshop.clone());
        let stop = workshop.supervisor.token();
        let started = workshop.supervisor.thread("agent", move || {
            while let Some((job, way)) = next(&shared, &mut memory, &stop) {
                for outcome in perform(job, way.as_deref(), &mut memory, &shop) {
                    if shop.outcomes.blocking_send(outcome).is_err() {
                        return;
                    }
                }
            }
        });
        if let Err(error) = started {
            tracing::error!(%error, "can't start a thread for an agent");
            let mut jobs = lock(&self.0);
            jobs.running = false;
            let waiting = std::mem::take(&mut jobs.waiting);
            drop(jobs);
            for (job, _) in waiting {
                give_back(&job, "the system has no thread left", workshop);
            }
        }
    }
}

fn lock(jobs: &Mutex<Jobs>) -> MutexGuard<'_, Jobs> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next job; at the end of them the memory goes back. A job that was not begun when everything stops stays undone.
fn next(jobs: &Mutex<Jobs>, memory: &mut Memory, stop: &Shutdown) -> Option<(Job, Way)> {
    let mut jobs = lock(jobs);
    let job = if stop.requested() { None } else { jobs.waiting.pop_front() };
    if job.is_none() {
        jobs.running = false;
        jobs.memory = std::mem::take(memory);
    }
    job
}

/// What came of a job: one outcome, and what else was learnt.
fn perform(job: Job, way: Option<&Launch>, memory: &mut Memory, shop: &Workshop) -> Vec<Outcome> {
    let settings = &*shop.settings;
    vec![match job {
        Job::Probe(ask) => {
            let mut reach = probe(&ask, way, memory, settings);
            memory.follow(&mut reach);
            let runs_as = memory.runs_as(&ask.session);
            return std::iter::once(Outcome::Probed(ask.session, Box::new(reach))).chain(runs_as).collect();
        }
        Job::Send(record, delivery) => {
            let report = match (way, &mut memory.headless, &mut memory.session) {
                (Some(launch), Some(session), _) => {
                    session.send(launch, settings, &delivery, &shop.tell_left(&delivery.session))
                }
                (_, _, Session::Claude(session)) => session.send(settings, &delivery),
                (_, _, Session::Codex(session)) => session.send(settings, &delivery),
                (_, _, Session::None) => nothing_reaches(),
            };
            sent(record, delivery, false, report)
        }
        Job::PressEnter(record, delivery) => {
            let report = match (way, &mut memory.session) {
                (Some(_), _) => stopped(String::from("it has no pane in which Enter could be pressed")),
                (None, Session::Claude(session)) => session.press_enter(settings, &delivery),
                (None, Session::Codex(session)) => session.press_enter(settings, &delivery),
                (None, Session::None) => nothing_reaches(),
            };
            sent(record, delivery, true, report)
        }
        Job::Git { worktree } => {
            let mark = git::mark(&worktree);
            Outcome::Git { worktree, mark }
        }
        Job::Lines { worktree, base } => {
            let state = git::lines(&worktree, base.as_deref());
            Outcome::Lines { worktree, base, state }
        }
        Job::Clipboard(text) => Outcome::Copied(by_hand::copy(&text, &settings.tmux)),
        Job::BringBack(comeback) => {
            let key = comeback.session.key();
            let result = match way {
                Some(launch) => headless::bring_back(&key, launch, settings),
                None => bring_back::bring_back(&comeback, settings, &shop.windows),
            };
            Outcome::BroughtBack(key, result)
        }
        Job::Launch(start) => {
            let result = if start.transport == Transport::Headless {
                launch::without_window(&start, settings)
            } else {
                launch::in_tmux(&start, settings, &shop.windows).map(|(launched, pane)| {
                    memory.opened = Some(pane);
                    launched
                })
            };
            Outcome::Launched(start.session, result)
        }
    }]
}

impl Memory {
    /// A pane that was opened for this session: its program came up, or it ended and its last words are told.
    fn follow(&mut self, reach: &mut Reach) {
        let Some(pane) = &self.opened else { return };
        match (&reach.process, &reach.status) {
            // What its pane was opened with may be a script that has not started the agent yet.
            (ProcessFact::Dead, _) if pane.is_alive() => {
                reach.process = ProcessFact::Alive { pid: pane.pid, started_at: None };
                reach.transport = Some(Transport::Tmux);
                pane.id.as_str().clone_into(&mut reach.place);
                reach.ticks.no_dialog = Tick::Missing(String::from("it is starting"));
            }
            (ProcessFact::Dead, _) => {
                let words = pane.last_words().filter(|words| !words.is_empty());
                let words =
                    words.map_or_else(|| String::from("and said nothing"), |words| format!("and said: {words}"));
                reach.ticks.alive = Tick::Missing(format!("it ended at once {words}"));
                let _ = pane.close_dead();
                self.opened = None;
            }
            (ProcessFact::Alive { .. }, LiveStatus::Idle | LiveStatus::Busy) => {
                let _ = pane.came_up();
                self.opened = None;
            }
            _ => {}
        }
    }

    /// What its process was started with, once a process.
    fn runs_as(&mut self, key: &SessionKey) -> Option<Outcome> {
        let process = match &self.session {
            Session::Claude(session) => session.last_seen(),
            Session::Codex(session) => session.last_seen(),
            Session::None => None,
        }?;
        if self.told.as_ref() == Some(&process) {
            return None;
        }
        let folder = os::folder(process.pid)?;
        let launch = runs_as::launch_of(key.agent, &process, &folder.to_string_lossy())?;
        self.told = Some(process);
        Some(Outcome::RunsAs(key.clone(), launch))
    }
}

fn probe(ask: &ProbeAsk, way: Option<&Launch>, memory: &mut Memory, settings: &Settings) -> Reach {
    let in_flight = ask.in_flight.as_ref();
    if let (Some(launch), Some(session)) = (way, &memory.headless) {
        return session.probe(launch, settings, in_flight);
    }
    match &mut memory.session {
        Session::Codex(session) => {
            session.remember(ask.last_seen.as_ref());
            session.probe(settings, in_flight)
        }
        Session::Claude(session) => {
            session.remember(ask.last_seen.as_ref());
            session.probe(settings, in_flight)
        }
        // A probe's place is always a session.
        Session::None => ClaudeSession::new(ask.session.session_id.clone()).probe(settings, in_flight),
    }
}

fn nothing_reaches() -> SendReport {
    stopped(String::from("nothing reaches this session"))
}

fn sent(record: RecordKey, delivery: Delivery, enter_only: bool, report: SendReport) -> Outcome {
    Outcome::Sent { record, entry: delivery.entry, session: delivery.session, enter_only, report }
}

/// Tells the outcome of a job that was not begun; a probe and a look at git have none and are asked for again.
fn give_back(job: &Job, why: &str, workshop: &Workshop) {
    let outcome = match job {
        Job::Send(record, delivery) => sent(record.clone(), delivery.clone(), false, stopped(why.to_owned())),
        Job::PressEnter(record, delivery) => sent(record.clone(), delivery.clone(), true, stopped(why.to_owned())),
        Job::BringBack(comeback) => Outcome::BroughtBack(comeback.session.key(), Err(why.to_owned())),
        Job::Launch(start) => Outcome::Launched(start.session.clone(), Err(why.to_owned())),
        Job::Clipboard(_) => Outcome::Copied(Err(why.to_owned())),
        Job::Lines { worktree, base } => Outcome::Lines { worktree: worktree.clone(), base: base.clone(), state: None },
        Job::Probe(_) | Job::Git { .. } => return,
    };
    if workshop.outcomes.try_send(outcome).is_err() {
        tracing::error!(why, "an outcome was lost");
    }
}
