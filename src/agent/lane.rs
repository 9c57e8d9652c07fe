//! One lane for each session, work tree and the clipboard: jobs in order, each on a thread of the lane's own.
//! A thread ends when its lane has been quiet for a while; the next job starts another.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc::Sender;

use super::claude::{ClaudeSession, stopped};
use super::codex::CodexSession;
use super::{Settings, bring_back, by_hand, git};
use crate::driver::ports::{Job, Outcome};
use crate::machine::Delivery;
use crate::model::ids::{Agent, RecordKey, SessionKey};
use crate::model::reach::{ProbeAsk, Reach, SendReport};

/// More jobs than this wait for one session only when something is badly stuck.
const MOST_WAITING: usize = 32;
/// After this long without a job a lane's thread ends.
const QUIET: Duration = Duration::from_secs(60);

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
            Job::Git { worktree } => Self::Worktree(worktree.clone()),
            Job::Clipboard(_) => Self::Clipboard,
        }
    }
}

/// The worker of one place.
pub(super) struct Lane {
    place: Place,
    jobs: Option<SyncSender<Job>>,
    /// Outlives the threads: what was seen last proves what replaced it.
    memory: Arc<Mutex<Memory>>,
}

/// What a lane remembers of its session.
enum Memory {
    Claude(ClaudeSession),
    Codex(CodexSession),
    None,
}

impl Lane {
    pub(super) fn new(place: Place) -> Self {
        let memory = match &place {
            Place::Session(session) => match session.agent {
                Agent::Claude => Memory::Claude(ClaudeSession::new(session.session_id.clone())),
                Agent::Codex => Memory::Codex(CodexSession::new(session.session_id.clone())),
            },
            Place::Worktree(_) | Place::Clipboard => Memory::None,
        };
        Self { place, jobs: None, memory: Arc::new(Mutex::new(memory)) }
    }

    pub(super) fn begin(&mut self, job: Job, settings: &Arc<Settings>, outcomes: &Sender<Outcome>) {
        let job = match self.jobs.as_ref().map(|jobs| jobs.try_send(job.clone())) {
            Some(Ok(())) => return,
            Some(Err(TrySendError::Full(job))) => {
                tracing::warn!(place = ?self.place, "too many jobs wait");
                if let Some(outcome) = refused(&job, "trellis has too much to do with this session") {
                    // The driver's channel may be full as well; it asks again at its next tick.
                    let _ = outcomes.try_send(outcome);
                }
                return;
            }
            Some(Err(TrySendError::Disconnected(_))) | None => job,
        };
        let (jobs, waiting) = sync_channel(MOST_WAITING);
        let (memory, settings, outcomes) = (Arc::clone(&self.memory), Arc::clone(settings), outcomes.clone());
        let started = thread::Builder::new()
            .name(String::from("agent"))
            .spawn(move || work(&waiting, &memory, &settings, &outcomes));
        match started {
            Ok(_) => {
                let _ = jobs.try_send(job);
                self.jobs = Some(jobs);
            }
            Err(error) => tracing::error!(%error, "can't start a thread for an agent"),
        }
    }
}

/// Works off a lane's jobs until none has come for a while.
fn work(waiting: &Receiver<Job>, memory: &Mutex<Memory>, settings: &Settings, outcomes: &Sender<Outcome>) {
    loop {
        let job = match waiting.recv_timeout(QUIET) {
            Ok(job) => job,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
        };
        let outcome = {
            let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
            perform(job, &mut memory, settings)
        };
        if outcomes.blocking_send(outcome).is_err() {
            return;
        }
    }
}

fn perform(job: Job, memory: &mut Memory, settings: &Settings) -> Outcome {
    match job {
        Job::Probe(ask) => {
            let reach = probe(&ask, memory, settings);
            Outcome::Probed(ask.session, reach)
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
        Job::Clipboard(text) => Outcome::Copied(by_hand::copy(&text, &settings.tmux)),
        Job::BringBack(session) => Outcome::BroughtBack(session.key(), bring_back::bring_back(&session, settings)),
    }
}

fn probe(ask: &ProbeAsk, memory: &mut Memory, settings: &Settings) -> Reach {
    let in_flight = ask.in_flight.as_ref();
    match memory {
        Memory::Codex(session) => session.probe(settings, in_flight),
        Memory::Claude(session) => session.probe(settings, in_flight),
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

/// The outcome of a job that was not begun; a probe and a look at git have none and are asked for again.
fn refused(job: &Job, why: &str) -> Option<Outcome> {
    match job {
        Job::Send(record, delivery) => {
            Some(sent(record.clone(), delivery.clone(), false, stopped(why.to_owned())))
        }
        Job::PressEnter(record, delivery) => {
            Some(sent(record.clone(), delivery.clone(), true, stopped(why.to_owned())))
        }
        Job::BringBack(session) => Some(Outcome::BroughtBack(session.key(), Err(why.to_owned()))),
        Job::Clipboard(_) => Some(Outcome::Copied(Err(why.to_owned()))),
        Job::Probe(_) | Job::Git { .. } => None,
    }
}
