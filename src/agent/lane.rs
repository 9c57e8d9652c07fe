//! One lane for each session, work tree and the clipboard: jobs in order, on a thread that lives while there are any.
//! What a job does is its transport's business.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::Sender;

use super::claude::{ClaudeSession, stopped};
use super::codex::CodexSession;
use super::{Settings, bring_back, by_hand, git};
use crate::driver::ports::{Job, Outcome};
use crate::machine::Delivery;
use crate::model::ids::{Agent, RecordKey, SessionKey};
use crate::model::reach::{ProbeAsk, Reach, SendReport};
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
            Job::BringBack(session) => Self::Session(session.key()),
            Job::Git { worktree } | Job::Lines { worktree, .. } => Self::Worktree(worktree.clone()),
            Job::Clipboard(_) => Self::Clipboard,
        }
    }
}

/// The jobs of one place.
pub(super) struct Lane(Arc<Mutex<Jobs>>);

struct Jobs {
    waiting: VecDeque<Job>,
    /// A thread works them off. It takes the memory with it and brings it back.
    running: bool,
    /// Outlives the threads: what was seen last proves what replaced it.
    memory: Memory,
}

/// What a lane remembers of its session.
#[derive(Default)]
enum Memory {
    Claude(ClaudeSession),
    Codex(CodexSession),
    #[default]
    None,
}

/// What every lane's thread needs.
#[derive(Clone)]
pub(super) struct Workshop {
    pub(super) settings: Arc<Settings>,
    pub(super) outcomes: Sender<Outcome>,
    pub(super) supervisor: Supervisor,
}

impl Lane {
    pub(super) fn new(place: &Place) -> Self {
        let memory = match place {
            Place::Session(session) => match session.agent {
                Agent::Claude => Memory::Claude(ClaudeSession::new(session.session_id.clone())),
                Agent::Codex => Memory::Codex(CodexSession::new(session.session_id.clone())),
            },
            Place::Worktree(_) | Place::Clipboard => Memory::None,
        };
        Self(Arc::new(Mutex::new(Jobs { waiting: VecDeque::new(), running: false, memory })))
    }

    /// Puts a job at the end. Never waits for one that runs.
    pub(super) fn begin(&self, job: Job, workshop: &Workshop) {
        let mut jobs = lock(&self.0);
        if jobs.waiting.len() >= MOST_WAITING {
            drop(jobs);
            tracing::warn!(?job, "too many jobs wait");
            give_back(&job, "trellis has too much to do with this session", workshop);
            return;
        }
        jobs.waiting.push_back(job);
        if jobs.running {
            return;
        }
        jobs.running = true;
        let mut memory = std::mem::take(&mut jobs.memory);
        drop(jobs);
        let (shared, shop) = (Arc::clone(&self.0), workshop.clone());
        let stop = workshop.supervisor.token();
        let started = workshop.supervisor.thread("agent", move || {
            while let Some(job) = next(&shared, &mut memory, &stop) {
                let outcome = perform(job, &mut memory, &shop.settings);
                if shop.outcomes.blocking_send(outcome).is_err() {
                    return;
                }
            }
        });
        if let Err(error) = started {
            tracing::error!(%error, "can't start a thread for an agent");
            let mut jobs = lock(&self.0);
            jobs.running = false;
            let waiting = std::mem::take(&mut jobs.waiting);
            drop(jobs);
            for job in waiting {
                give_back(&job, "the system has no thread left", workshop);
            }
        }
    }
}

fn lock(jobs: &Mutex<Jobs>) -> MutexGuard<'_, Jobs> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next job; at the end of them the memory goes back. A job that was not begun when everything stops stays undone.
fn next(jobs: &Mutex<Jobs>, memory: &mut Memory, stop: &Shutdown) -> Option<Job> {
    let mut jobs = lock(jobs);
    let job = if stop.requested() { None } else { jobs.waiting.pop_front() };
    if job.is_none() {
        jobs.running = false;
        jobs.memory = std::mem::take(memory);
    }
    job
}

fn perform(job: Job, memory: &mut Memory, settings: &Settings) -> Outcome {
    match job {
        Job::Probe(ask) => {
            let reach = probe(&ask, memory, settings);
            Outcome::Probed(ask.session, Box::new(reach))
        }
        Job::Send(record, delivery) => {
            let report = match memory {
                Memory::Claude(session) => session.send(settings, &delivery),
                Memory::Codex(session) => session.send(settings, &delivery),
                Memory::None => nothing_reaches(),
            };
            sent(record, delivery, false, report)
        }
        Job::PressEnter(record, delivery) => {
            let report = match memory {
                Memory::Claude(session) => session.press_enter(settings, &delivery),
                Memory::Codex(session) => session.press_enter(settings, &delivery),
                Memory::None => nothing_reaches(),
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
        Job::BringBack(session) => Outcome::BroughtBack(session.key(), bring_back::bring_back(&session, settings)),
    }
}

fn probe(ask: &ProbeAsk, memory: &mut Memory, settings: &Settings) -> Reach {
    let in_flight = ask.in_flight.as_ref();
    match memory {
        Memory::Codex(session) => {
            session.remember(ask.last_seen.as_ref());
            session.probe(settings, in_flight)
        }
        Memory::Claude(session) => {
            session.remember(ask.last_seen.as_ref());
            session.probe(settings, in_flight)
        }
        // A probe's place is always a session.
        Memory::None => ClaudeSession::new(ask.session.session_id.clone()).probe(settings, in_flight),
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
        Job::BringBack(session) => Outcome::BroughtBack(session.key(), Err(why.to_owned())),
        Job::Clipboard(_) => Outcome::Copied(Err(why.to_owned())),
        Job::Lines { worktree, base } => Outcome::Lines { worktree: worktree.clone(), base: base.clone(), state: None },
        Job::Probe(_) | Job::Git { .. } => return,
    };
    if workshop.outcomes.try_send(outcome).is_err() {
        tracing::error!(why, "an outcome was lost");
    }
}
