//! Work of a moment that is shared with other processors and is whole when the call returns. Nothing here outlives its
//! call or waits for anything but that work; what runs on is the supervisor's.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

/// Threads that one call uses at most, its own included.
const MOST: usize = 4;
/// Fewer pieces for a thread are not worth its start.
const WORTH_A_THREAD: usize = 16;

/// Does two things at once. Where no thread is to be had, one after the other.
///
/// # Panics
/// As either of them does.
pub fn both<A: Send, B>(aside: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
    // Kept where it is found again if the thread cannot be started.
    let aside = Mutex::new(Some(aside));
    let run = || aside.lock().unwrap_or_else(PoisonError::into_inner).take().map(|aside| aside());
    thread::scope(|scope| {
        let other = start(scope, "aside", run);
        let here = here();
        let aside = other.and_then(joined).or_else(run);
        #[expect(clippy::expect_used, reason = "taken once: by the thread or, if there is none, here")]
        (aside.expect("done once"), here)
    })
}

/// Does one thing for each item, several at once; what came of them, in the order of the items.
///
/// # Panics
/// As one of them does.
pub fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let wanted = items.len().div_ceil(WORTH_A_THREAD).min(MOST);
    let threads = if wanted > 1 { wanted.min(thread::available_parallelism().map_or(1, NonZeroUsize::get)) } else { 1 };
    let next = AtomicUsize::new(0);
    let run = || {
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        taken.map_while(|at| Some((at, work(items.get(at)?)))).collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).filter_map(|_| start(scope, "share", run)).collect();
        let mut done = run();
        done.extend(others.into_iter().flat_map(joined));
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn start<'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> R + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, R>> {
    Builder::new().name(name.into()).spawn_scoped(scope, work).ok()
}

fn joined<R>(thread: ScopedJoinHandle<'_, R>) -> R {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
#[path = "together_tests.rs"]
mod tests;
