//! What starts every task and thread, and what ends the program: an order, a signal, or a panic in any of them.
//! Nothing here knows what the tasks do; the terminal is restored through a callback that the screen registers.

mod alone;
mod foreground;
mod panics;
mod signals;
mod together;

use std::fmt;
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::watch;

pub use alone::{alone, sleep};
pub use foreground::{in_foreground, suspend_what_is_in_front};
pub use panics::Restore;
pub use signals::{Ends, Suspends, stop_self};
pub use together::{both, each};

/// Exit code of a program that ended by an error of its own.
pub const EXIT_INTERNAL: u8 = 70;

/// Why everything stops. The first reason counts; later ones are dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It was ordered: a person quit, or the work is done.
    Ordered,
    /// A signal asked for it.
    Signal(Signal),
    /// What it works on is gone: a sentence.
    Lost(String),
    /// A task or thread panicked.
    Panicked {
        /// Its name.
        task: String,
        /// What it said, and where if that is known.
        message: String,
    },
}

impl StopReason {
    /// 70 after a panic, 1 when what it works on is gone, else 0: a signal is an orderly way to end.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Ordered | Self::Signal(_) => 0,
            Self::Lost(_) => 1,
            Self::Panicked { .. } => EXIT_INTERNAL,
        }
    }

    /// The one line for the person after the terminal was restored; `None` if nothing went wrong. `log`: where more of it
    /// stands, if it does.
    #[must_use]
    pub fn line(&self, log: Option<&str>) -> Option<String> {
        match self {
            Self::Ordered | Self::Signal(_) => None,
            Self::Lost(sentence) => Some(sentence.clone()),
            Self::Panicked { task, message } => {
                let first = message.lines().next().unwrap_or_default();
                let more = log.map_or_else(String::new, |log| format!(", see {log}"));
                Some(format!("internal error in {task}: {first}; everything was stopped{more}"))
            }
        }
    }
}

/// The signals that end the program in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C, or `kill -INT`.
    Interrupt,
    /// `kill`.
    Terminate,
    /// The terminal went away.
    HangUp,
    /// Ctrl-\\, or `kill -QUIT`.
    Quit,
    /// `kill -USR1`: it means nothing here, and ends a program by default.
    User1,
    /// `kill -USR2`: the same.
    User2,
    /// A clock that whoever started us set before.
    Alarm,
    /// The same, of time at work.
    VirtualAlarm,
    /// The same, of a measurement.
    Profiling,
    /// The allowed processor time is used up.
    CpuTime,
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::HangUp => "SIGHUP",
            Self::Quit => "SIGQUIT",
            Self::User1 => "SIGUSR1",
            Self::User2 => "SIGUSR2",
            Self::Alarm => "SIGALRM",
            Self::VirtualAlarm => "SIGVTALRM",
            Self::Profiling => "SIGPROF",
            Self::CpuTime => "SIGXCPU",
        })
    }
}

/// Starts tasks and threads, and remembers why all of them have to stop. Cheap to clone; every clone is the same one.
#[derive(Clone, Debug)]
pub struct Supervisor {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    reason: watch::Sender<Option<StopReason>>,
    alive: watch::Sender<usize>,
}

impl Shared {
    fn stop(&self, reason: StopReason) {
        self.reason.send_if_modified(|slot| {
            let first = slot.is_none();
            if first {
                *slot = Some(reason);
            }
            first
        });
    }
}

/// Counts one task or thread for as long as it lives, also through a panic.
struct Alive(Arc<Shared>);

impl Alive {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.alive.send_modify(|count| *count = count.saturating_add(1));
        Self(Arc::clone(shared))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.alive.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl Default for Supervisor {
    fn default() -> Self {
        Self::new()
    }
}

impl Supervisor {
    /// One that runs nothing yet. Touches neither the panic hook nor the signals.
    #[must_use]
    pub fn new() -> Self {
        Self { shared: Arc::new(Shared { reason: watch::Sender::new(None), alive: watch::Sender::new(0) }) }
    }

    /// Replaces the process's panic hook: from now on a panic anywhere is logged instead of printed and stops
    /// everything; only one on the thread of [`Supervisor::on_ui_thread`] touches the terminal, by restoring it.
    pub fn install_panic_hook(&self) {
        panics::install(self.clone());
    }

    /// Starts a task on the runtime. A panic in it stops everything.
    ///
    /// Has to be called on a thread of the runtime.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that spawns")]
    pub fn spawn(&self, name: impl Into<String>, task: impl Future<Output = ()> + Send + 'static) {
        let name = name.into();
        let alive = Alive::new(&self.shared);
        let running = tokio::spawn(panics::TASK.scope(name.clone(), task));
        tokio::spawn(async move {
            let shared = &alive.0;
            if let Err(error) = running.await
                && error.is_panic()
            {
                let message = panics::message_of(error.into_panic().as_ref());
                shared.stop(StopReason::Panicked { task: name, message });
            }
        });
    }

    /// Starts a thread with a name (at most 15 bytes of it are shown by the system). A panic in it stops everything.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn thread(&self, name: impl Into<String>, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let name = name.into();
        let alive = Alive::new(&self.shared);
        thread::Builder::new().name(name.clone()).spawn(move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
                let message = panics::message_of(panic.as_ref());
                alive.0.stop(StopReason::Panicked { task: name, message });
            }
        })?;
        Ok(())
    }

    /// Runs a blocking function beside the runtime's own threads and waits for what it returns. `None`: it panicked,
    /// and everything stops.
    pub async fn blocking<T: Send + 'static>(
        &self,
        name: &str,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let alive = Alive::new(&self.shared);
        match tokio::task::spawn_blocking(body).await {
            Ok(value) => Some(value),
            Err(error) => {
                if error.is_panic() {
                    let message = panics::message_of(error.into_panic().as_ref());
                    alive.0.stop(StopReason::Panicked { task: name.to_owned(), message });
                }
                None
            }
        }
    }

    /// Runs the screen on this thread. If it panics, `restore` is called before anything else and the reason is
    /// returned; `restore` has to be idempotent, since it may be called twice. After a normal return the terminal is
    /// the screen's own affair.
    ///
    /// # Errors
    /// The screen panicked: why, as [`Supervisor::stopped`] says it too.
    pub fn on_ui_thread<T>(&self, restore: &Restore, screen: impl FnOnce() -> T) -> Result<T, StopReason> {
        let seat = panics::UiSeat::take(Arc::clone(restore));
        let outcome = catch_unwind(AssertUnwindSafe(screen));
        drop(seat);
        outcome.map_err(|panic| {
            restore();
            let message = panics::message_of(panic.as_ref());
            self.shared.stop(StopReason::Panicked { task: panics::SCREEN.to_owned(), message });
            self.reason().unwrap_or(StopReason::Ordered)
        })
    }

    /// Turns each signal of [`Ends`] into a stop. Their default, death at once, is off from then on.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn stop_on_signals(&self) -> io::Result<()> {
        signals::listen(self)
    }

    /// Asks everything to stop, by order.
    pub fn shutdown(&self) {
        self.stop(StopReason::Ordered);
    }

    /// Asks everything to stop for this reason, if nothing asked before.
    pub fn stop(&self, reason: StopReason) {
        self.shared.stop(reason);
    }

    /// What tasks hold to learn that they have to stop.
    #[must_use]
    pub fn token(&self) -> Shutdown {
        Shutdown(self.shared.reason.subscribe())
    }

    /// Why everything stops, if it does.
    #[must_use]
    pub fn reason(&self) -> Option<StopReason> {
        self.shared.reason.borrow().clone()
    }

    /// Waits until something asks everything to stop.
    pub async fn stopped(&self) -> StopReason {
        self.token().wait().await
    }

    /// Waits for every task and thread to end, at most this long. `false`: some still run.
    pub async fn finished(&self, patience: Duration) -> bool {
        let mut alive = self.shared.alive.subscribe();
        let all_gone = alive.wait_for(|count| *count == 0);
        matches!(tokio::time::timeout(patience, all_gone).await, Ok(Ok(_)))
    }
}

/// Learns that everything has to stop. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<Option<StopReason>>);

impl Shutdown {
    /// Whether it was asked for.
    #[must_use]
    pub fn requested(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Waits until it is asked for. Safe to drop and call again (`select!`).
    pub async fn wait(&mut self) -> StopReason {
        match self.0.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or(StopReason::Ordered),
            // The supervisor is gone, so nobody is left to work for.
            Err(_) => StopReason::Ordered,
        }
    }
}

#[cfg(test)]
#[path = "supervise/supervise_tests.rs"]
mod tests;
