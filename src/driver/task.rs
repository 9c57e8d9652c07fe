//! The driver's task: it gives [`Core`] the clock, the orders, the outcomes and the hints, and hands out what comes of them.
//! Nothing is decided here. Whoever starts it gives it a thread of its own: saves are synchronous.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

use super::core::{Core, Input};
use super::handle::{Line, Request};
use super::ports::{Agents, Outcome, Records, Transcripts};
use crate::model::command::{Refusal, Reply};
use crate::supervise::{self, Shutdown, Supervisor};

/// The longest sleep: the wall clock may jump, and a suspended machine does not count its sleep. As long as the core's own
/// tick: nothing more is done while nothing happens.
const LONGEST_SLEEP: Duration = Duration::from_secs(15);

/// Outcomes, and requests, that are taken in before the next projection is made.
const AT_ONCE: usize = 64;

/// How long the end waits for a send sequence that runs.
const LAST_WAIT: Duration = Duration::from_secs(3);

/// What reaches the driver from the edges.
#[derive(Debug)]
pub struct Edges {
    /// Ended jobs.
    pub outcomes: mpsc::Receiver<Outcome>,
    /// Transcripts may have changed.
    pub hints: mpsc::Receiver<()>,
}

/// What is left of a driver that ended.
#[derive(Debug)]
pub struct Over<R, T, A> {
    /// The driver; as long as it is held, its ports are.
    pub core: Core<R, T, A>,
    /// Its end of the handle.
    pub line: Line,
    /// Somebody asked for the home to be given up, and waits to hear that its lock is free.
    pub handed: Option<oneshot::Sender<Reply>>,
}

/// Runs a driver until it is told to end. A step that has begun is finished; nothing is left half.
pub async fn drive<R: Records, T: Transcripts, A: Agents>(
    core: Core<R, T, A>,
    line: Line,
    edges: Edges,
    mut shutdown: Shutdown,
    clock: fn() -> Timestamp,
) -> Over<R, T, A> {
    let Edges { mut outcomes, mut hints } = edges;
    let mut task = Task { core, line, waiting: BTreeMap::new(), next_ticket: 0, handed: None, clock };
    let (mut has_outcomes, mut has_hints) = (true, true);
    task.hand_out();
    loop {
        let sleep = task.sleep();
        let mut is_last = false;
        tokio::select! {
            biased;
            _ = shutdown.wait() => break,
            outcome = outcomes.recv(), if has_outcomes => match outcome {
                Some(outcome) => task.input(Input::Outcome(Box::new(outcome))),
                None => has_outcomes = false,
            },
            request = task.line.requests.recv() => is_last = request.is_none_or(|request| task.request(request)),
            hint = hints.recv(), if has_hints => match hint {
                Some(()) => task.input(Input::Hint),
                None => has_hints = false,
            },
            () = supervise::sleep(sleep) => task.input(Input::Tick),
        }
        is_last = is_last || task.gather(&mut outcomes);
        task.hand_out();
        if is_last {
            break;
        }
    }
    task.refuse_waiting();
    task.finish_sending(&mut outcomes).await;
    Over { core: task.core, line: task.line, handed: task.handed }
}

/// Starts a thread that makes a driver and runs it until everything stops.
///
/// # Errors
/// The system gives no thread, or no timer for it.
pub fn start<R, T, A>(
    supervisor: &Supervisor,
    make: impl FnOnce() -> Core<R, T, A> + Send + 'static,
    line: Line,
    edges: Edges,
    clock: fn() -> Timestamp,
) -> io::Result<()>
where
    R: Records + 'static,
    T: Transcripts + 'static,
    A: Agents + 'static,
{
    let shutdown = supervisor.token();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    supervisor.thread("driver", move || {
        let core = make();
        drop(runtime.block_on(drive(core, line, edges, shutdown, clock)));
    })
}

struct Task<R, T, A> {
    core: Core<R, T, A>,
    line: Line,
    waiting: BTreeMap<u64, oneshot::Sender<Reply>>,
    next_ticket: u64,
    handed: Option<oneshot::Sender<Reply>>,
    clock: fn() -> Timestamp,
}

impl<R: Records, T: Transcripts, A: Agents> Task<R, T, A> {
    fn sleep(&self) -> Duration {
        let Some(deadline) = self.core.deadline() else { return LONGEST_SLEEP };
        let wait = deadline.duration_since((self.clock)());
        let wait = Duration::try_from(wait).unwrap_or(Duration::ZERO);
        // A millisecond more: the wall clock must have passed the deadline, not merely reached its millisecond.
        wait.saturating_add(Duration::from_millis(1)).min(LONGEST_SLEEP)
    }

    fn input(&mut self, input: Input) {
        self.core.input(input, (self.clock)());
    }

    /// Takes in what came meanwhile, outcomes and requests in turns: a busy driver makes one projection of it all, and no
    /// order waits for the last of the outcomes. True when it was the last request.
    fn gather(&mut self, outcomes: &mut mpsc::Receiver<Outcome>) -> bool {
        for _ in 0..AT_ONCE {
            let (outcome, request) = (outcomes.try_recv().ok(), self.line.requests.try_recv().ok());
            if outcome.is_none() && request.is_none() {
                break;
            }
            if let Some(outcome) = outcome {
                self.input(Input::Outcome(Box::new(outcome)));
            }
            if request.is_some_and(|request| self.request(request)) {
                return true;
            }
        }
        false
    }

    /// True when it was the last one.
    fn request(&mut self, request: Request) -> bool {
        match request {
            Request::Order(command, answer) => {
                self.next_ticket = self.next_ticket.saturating_add(1);
                self.waiting.insert(self.next_ticket, answer);
                self.input(Input::Command { ticket: self.next_ticket, command });
            }
            Request::Show(shown) => self.core.show(shown, (self.clock)()),
            Request::Complain(words) => self.core.complain(words, (self.clock)()),
            Request::LookAround => self.core.observe_all((self.clock)()),
            Request::TakeOver(answer) => {
                let _ = answer.send(Reply::Done { record: None, note: "this process drives already".to_owned() });
            }
            Request::HandOver(answer) => {
                self.handed = Some(answer);
                return true;
            }
            Request::Shutdown => return true,
        }
        false
    }

    /// Events, the projection and answers, in this order: whoever sees a state has heard what led to it, and whoever has
    /// an answer finds its effect on the screen.
    fn hand_out(&mut self) {
        let projection = self.core.projection((self.clock)());
        for event in self.core.take_events() {
            let _ = self.line.events.send(event);
        }
        self.line.projection.send_if_modified(|last| {
            let is_newer = last.seq != projection.seq;
            if is_newer {
                last.clone_from(&projection);
            }
            is_newer
        });
        for (ticket, reply) in self.core.take_replies() {
            if let Some(answer) = self.waiting.remove(&ticket) {
                let _ = answer.send(reply);
            }
        }
    }

    /// A sequence that has begun runs to its Enter; what it reports is saved before the end.
    async fn finish_sending(&mut self, outcomes: &mut mpsc::Receiver<Outcome>) {
        self.core.close();
        let wait = async {
            while self.core.is_sending() {
                let Some(outcome) = outcomes.recv().await else { return };
                self.core.input(Input::Outcome(Box::new(outcome)), (self.clock)());
            }
        };
        let _ = tokio::time::timeout(LAST_WAIT, wait).await;
        self.hand_out();
    }

    fn refuse_waiting(&mut self) {
        for (_, answer) in std::mem::take(&mut self.waiting) {
            let _ = answer
                .send(Reply::Refused(Refusal::not_now("trellis is ending: start it again, then repeat the order")));
        }
    }
}
