//! A future that a thread runs by itself, and sleeps that wake no other thread: a runtime's timers are kept by its workers, in
//! a wheel that wakes several times on the way to a far time. What the future does is not known here.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use tokio::time::Instant;

/// When this thread is to wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// It runs no future by itself.
    Elsewhere,
    /// When it is woken.
    Never,
    /// Then at the latest.
    At(Instant),
}

thread_local! {
    static NEXT: Cell<Next> = const { Cell::new(Next::Elsewhere) };
}

/// Wakes the thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread to its end. What it starts on a runtime, and that one's timers, need the runtime to be
/// entered.
pub fn alone<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        NEXT.set(Next::Never);
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            NEXT.set(Next::Elsewhere);
            return output;
        }
        match NEXT.get() {
            Next::At(at) => thread::park_timeout(at.saturating_duration_since(Instant::now())),
            Next::Never | Next::Elsewhere => thread::park(),
        }
    }
}

/// Sleeps this long. In a thread that runs [`alone`] nothing else is woken; it has to be polled whenever that one is, as all
/// that is waited for together is. Elsewhere it is a timer of the runtime.
pub async fn sleep(time: Duration) {
    if NEXT.get() == Next::Elsewhere {
        return tokio::time::sleep(time).await;
    }
    let end = Instant::now() + time;
    poll_fn(|_| {
        if Instant::now() >= end {
            return Poll::Ready(());
        }
        NEXT.set(match NEXT.get() {
            Next::At(earlier) if earlier <= end => Next::At(earlier),
            Next::At(_) | Next::Never | Next::Elsewhere => Next::At(end),
        });
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[test]
    fn it_sleeps_without_a_runtime_and_is_woken_by_what_comes() {
        let (send, mut receive) = mpsc::channel(1);
        let other = thread::spawn(move || send.blocking_send(7));
        let (mut heard, mut slept, mut polled) = (None, 0, 0);
        alone(async {
            while heard.is_none() || slept < 3 {
                tokio::select! {
                    value = receive.recv(), if heard.is_none() => heard = value,
                    () = sleep(Duration::from_millis(2)) => slept += 1,
                    () = poll_fn(|_| { polled += 1; Poll::Pending }) => {}
                }
            }
        });
        assert_eq!(heard, Some(7));
        assert!(other.join().unwrap().is_ok());
        assert!(polled >= 4, "everything is looked at whenever it wakes");
        assert_eq!(NEXT.get(), Next::Elsewhere);
    }

    #[test]
    fn the_earlier_of_two_sleeps_counts() {
        let order = alone(async {
            let mut order = Vec::new();
            let (mut late, mut soon) = (pin!(sleep(Duration::from_millis(30))), pin!(sleep(Duration::from_millis(1))));
            let mut is_soon = true;
            while order.len() < 2 {
                tokio::select! {
                    () = &mut late => order.push("late"),
                    () = &mut soon, if is_soon => {
                        is_soon = false;
                        order.push("soon");
                    }
                }
            }
            order
        });
        assert_eq!(order, ["soon", "late"]);
    }
}
