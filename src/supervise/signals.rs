//! Signals as stops and as a stream. What is done at them is the business of those who listen.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use rustix::process::{Signal as Raw, getpid, kill_process};
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

use super::{Signal, Supervisor};

pub(super) fn listen(supervisor: &Supervisor) -> io::Result<()> {
    let mut ends = Ends::listen()?;
    let owner = supervisor.clone();
    let mut token = supervisor.token();
    supervisor.spawn("signals", async move {
        tokio::select! {
            seen = ends.next() => owner.stop(super::StopReason::Signal(seen)),
            _ = token.wait() => {}
        }
    });
    Ok(())
}

/// Every signal by which a person or the system asks a program to end. Those that tell of a fault in it (SIGSEGV, SIGABRT
/// and their kind) are not among them, SIGKILL cannot be. While one of these exists, and ever after, the default of those
/// signals, death at once, is off: whoever listens ends in order.
#[derive(Debug)]
pub struct Ends(Vec<(Signal, Stream)>);

impl Ends {
    /// Begins to listen.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn listen() -> io::Result<Self> {
        let stream = |end: Signal| Ok((end, signal(SignalKind::from_raw(end.raw().as_raw()))?));
        Signal::ALL.into_iter().map(stream).collect::<io::Result<_>>().map(Self)
    }

    /// The next one. Safe to drop and call again (`select!`).
    pub async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            let seen = self.0.iter_mut().find_map(|(end, stream)| match stream.poll_recv(context) {
                Poll::Ready(Some(())) => Some(*end),
                Poll::Ready(None) | Poll::Pending => None,
            });
            seen.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

impl Signal {
    const ALL: [Self; 10] = [
        Self::Interrupt,
        Self::Terminate,
        Self::HangUp,
        Self::Quit,
        Self::User1,
        Self::User2,
        Self::Alarm,
        Self::VirtualAlarm,
        Self::Profiling,
        Self::CpuTime,
    ];

    const fn raw(self) -> Raw {
        match self {
            Self::Interrupt => Raw::INT,
            Self::Terminate => Raw::TERM,
            Self::HangUp => Raw::HUP,
            Self::Quit => Raw::QUIT,
            Self::User1 => Raw::USR1,
            Self::User2 => Raw::USR2,
            Self::Alarm => Raw::ALARM,
            Self::VirtualAlarm => Raw::VTALARM,
            Self::Profiling => Raw::PROF,
            Self::CpuTime => Raw::XCPU,
        }
    }
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
