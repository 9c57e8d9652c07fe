//! The panic hook: it logs, stops everything and, on the screen's thread alone, restores the terminal. Prints nothing.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Arc;
use std::thread;

use super::{StopReason, Supervisor};

/// Gives the terminal back to the shell. Called at a panic, so it must not panic, and maybe twice.
pub type Restore = Arc<dyn Fn() + Send + Sync>;

/// What the screen is called, whatever thread it sits on.
pub(super) const SCREEN: &str = "the screen";

thread_local! {
    /// Set on the screen's thread only, while the screen runs: the hook must not draw over it from any other.
    static UI: RefCell<Option<Restore>> = const { RefCell::new(None) };
}

tokio::task_local! {
    /// The name of the task that is polled: threads of the runtime have none that says anything.
    pub(super) static TASK: String;
}

/// The screen sits on this thread for as long as this lives.
pub(super) struct UiSeat(());

impl UiSeat {
    pub(super) fn take(restore: Restore) -> Self {
        UI.with_borrow_mut(|seat| *seat = Some(restore));
        Self(())
    }
}

impl Drop for UiSeat {
    fn drop(&mut self) {
        UI.with_borrow_mut(|seat| *seat = None);
    }
}

pub(super) fn install(supervisor: Supervisor) {
    panic::set_hook(Box::new(move |info| {
        restore_if_ui();
        let (task, message) = describe(info);
        tracing::error!(task, message, "panic");
        supervisor.stop(StopReason::Panicked { task, message });
    }));
}

fn restore_if_ui() {
    // A panic while the seat is being changed must not become a second one.
    let restore = UI.try_with(|seat| seat.try_borrow().ok().and_then(|seat| seat.clone()));
    if let Ok(Some(restore)) = restore {
        restore();
    }
}

fn describe(info: &PanicHookInfo<'_>) -> (String, String) {
    let seated = UI.try_with(|seat| seat.try_borrow().is_ok_and(|seat| seat.is_some())).unwrap_or(false);
    let task = TASK.try_with(Clone::clone).unwrap_or_else(|_| {
        let thread = thread::current();
        if seated { SCREEN } else { thread.name().unwrap_or("a thread without a name") }.to_owned()
    });
    let said = message_of(info.payload());
    let message = match info.location() {
        Some(place) => format!("{said} ({}:{})", place.file(), place.line()),
        None => said,
    };
    (task, message)
}

/// What a panic said.
pub(super) fn message_of(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&'static str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
