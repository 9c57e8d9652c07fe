//! Signals as stops and as a stream. What is done at them is the business of those who listen.

use std::io;

use rustix::process::{Signal as Raw, getpid, kill_process};
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

use super::{Signal, Supervisor};

pub(super) fn listen(supervisor: &Supervisor) -> io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let owner = supervisor.clone();
    let mut token = supervisor.token();
    supervisor.spawn("signals", async move {
        let seen = tokio::select! {
            _ = interrupt.recv() => Signal::Interrupt,
            _ = terminate.recv() => Signal::Terminate,
            _ = hang_up.recv() => Signal::HangUp,
            _ = token.wait() => return,
        };
        owner.stop(super::StopReason::Signal(seen));
    });
    Ok(())
}

/// Requests to suspend (SIGTSTP, `kill -TSTP`). While one of these exists, and ever after, the system's own way to
/// suspend is off: whoever listens restores the terminal, calls [`stop_self`], and draws afresh when it returns.
#[derive(Debug)]
pub struct Suspends(Stream);

impl Suspends {
    /// Begins to listen.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn listen() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::from_raw(Raw::TSTP.as_raw()))?))
    }

    /// The next request. `None`: none will come any more.
    pub async fn next(&mut self) -> Option<()> {
        self.0.recv().await
    }
}

/// Stops this process as the shell's job control expects it; returns when it is continued.
///
/// # Errors
/// The system refuses.
pub fn stop_self() -> io::Result<()> {
    Ok(kill_process(getpid(), Raw::STOP)?)
}
