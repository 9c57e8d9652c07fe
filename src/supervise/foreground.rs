//! Another program in the foreground of our terminal, as a shell runs one: while it is there the keys that make signals
//! (Ctrl-C, Ctrl-\, Ctrl-Z) are its alone. Which program, and what the screen does meanwhile, is the caller's.

use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

use nix::sys::signal::{SigSet, SigmaskHow, Signal as Masked};
use rustix::process::{Pid, Signal, WaitOptions, getpgrp, kill_process_group, waitpid};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};

use super::stop_self;

/// The process group that has our terminal; 0: none but our own.
static IN_FRONT: AtomicI32 = AtomicI32::new(0);

/// Suspends what has the terminal: another program of ours, with which this process stops too; else this process alone.
///
/// # Errors
/// The system refuses.
pub fn suspend_what_is_in_front() -> io::Result<()> {
    match Pid::from_raw(IN_FRONT.load(Ordering::SeqCst)) {
        Some(group) => Ok(kill_process_group(group, Signal::TSTP)?),
        None => stop_self(),
    }
}

/// Runs a program in the foreground and waits for its end. The terminal has its settings of before afterwards, whatever
/// became of the program. When it is stopped (Ctrl-Z), `suspending` is called, this process stops too, and both go on
/// together. Without a terminal in whose foreground we are, it is run as it is.
///
/// # Errors
/// The program cannot be started.
pub fn in_foreground(command: &mut Command, suspending: impl FnMut()) -> io::Result<ExitStatus> {
    let Some(seat) = Seat::ours() else { return command.status() };
    // A group of its own: what its keys send does not reach us.
    let child = command.process_group(0).spawn()?;
    let child = Pid::from_child(&child);
    IN_FRONT.store(child.as_raw_pid(), Ordering::SeqCst);
    let ended = seat.wait(child, suspending);
    seat.take_back();
    ended
}

/// The terminal in whose foreground our process group is.
struct Seat {
    terminal: File,
    own: Pid,
    settings: Termios,
}

impl Seat {
    fn ours() -> Option<Self> {
        let terminal = File::open("/dev/tty").ok()?;
        let own = getpgrp();
        let is_ours = tcgetpgrp(&terminal).is_ok_and(|group| group == own);
        let settings = tcgetattr(&terminal).ok()?;
        is_ours.then_some(Self { terminal, own, settings })
    }

    fn wait(&self, child: Pid, mut suspending: impl FnMut()) -> io::Result<ExitStatus> {
        // A start is not a going on: what stopped itself meanwhile stays so until it was seen.
        let mut was_stopped = false;
        loop {
            // Where somebody put us into the background the terminal is not ours to give: we wait for `fg`.
            while tcgetpgrp(&self.terminal).is_ok_and(|group| group != self.own && group != child) {
                stop_self()?;
            }
            self.give(child);
            if was_stopped {
                let _ = kill_process_group(child, Signal::CONT);
            }
            let status = loop {
                match waitpid(Some(child), WaitOptions::UNTRACED) {
                    Err(rustix::io::Errno::INTR) | Ok(None) => {}
                    waited => break waited?,
                }
            };
            let Some((_, status)) = status else { continue };
            was_stopped = status.stopped();
            match status.stopping_signal().and_then(Signal::from_named_raw) {
                None if !status.stopped() => {
                    IN_FRONT.store(0, Ordering::SeqCst);
                    return Ok(ExitStatus::from_raw(status.as_raw()));
                }
                // It asked for the terminal before it had it.
                Some(Signal::TTIN | Signal::TTOU) => {}
                _ => {
                    self.give(self.own);
                    suspending();
                    stop_self()?;
                }
            }
        }
    }

    /// Puts a group into the foreground. Fails only where the terminal or the group is gone; the wait tells that.
    fn give(&self, group: Pid) {
        // From the background the system stops who does this, unless they hold this signal back.
        let mut held = SigSet::empty();
        held.add(Masked::SIGTTOU);
        let before = held.thread_swap_mask(SigmaskHow::SIG_BLOCK);
        let _ = tcsetpgrp(&self.terminal, group);
        if let Ok(before) = before {
            let _ = before.thread_set_mask();
        }
    }

    fn take_back(&self) {
        self.give(self.own);
        let _ = tcsetattr(&self.terminal, OptionalActions::Drain, &self.settings);
    }
}
