//! What the rest of the program holds of the driver: the newest projection, a way to order, a way to listen. Cheap to clone.
//! Everything that goes over it is serialisable, so that the same could stand on the other end of a socket.

use std::sync::Arc;

use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::model::command::{Command, Refusal, RefusalKind, Reply};
use crate::model::event::Event;
use crate::projection::{Projection, Shown};

/// Orders that may wait at once.
const ORDERS: usize = 64;
/// Events a slow listener may be behind before it loses the oldest.
const EVENTS: usize = 1_024;

/// The driver from outside.
#[derive(Clone, Debug)]
pub struct Handle {
    requests: mpsc::Sender<Request>,
    projection: watch::Receiver<Arc<Projection>>,
    events: broadcast::Sender<Event>,
}

/// What reaches the driver's task.
#[derive(Debug)]
pub enum Request {
    /// An order, and where its answer goes.
    Order(Box<Command>, oneshot::Sender<Reply>),
    /// The conversation that is to be shown.
    Show(Option<Shown>),
    /// A person looks for sessions: each is to be observed anew.
    LookAround,
    /// A viewer is to become the driver, if nobody else is.
    TakeOver(oneshot::Sender<Reply>),
    /// The driver is to finish its step, save and give the home up to another process; the line goes on as a viewer's.
    HandOver(oneshot::Sender<Reply>),
    /// Something that the person is to read: it does not work, and the driver goes on without it.
    Complain(String),
    /// Finish the step and end.
    Shutdown,
}

/// The driver's end of a handle. It outlives one task: a viewer hands it to the driver that takes over.
#[derive(Debug)]
pub struct Line {
    /// Orders and wishes.
    pub requests: mpsc::Receiver<Request>,
    /// Where projections go.
    pub projection: watch::Sender<Arc<Projection>>,
    /// Where events go.
    pub events: broadcast::Sender<Event>,
}

/// A handle and its other end.
#[must_use]
pub fn line() -> (Handle, Line) {
    let (ask, requests) = mpsc::channel(ORDERS);
    let (projection, seen) = watch::channel(Arc::new(Projection::default()));
    let (events, _) = broadcast::channel(EVENTS);
    let handle = Handle { requests: ask, projection: seen, events: events.clone() };
    (handle, Line { requests, projection, events })
}

impl Handle {
    /// The newest projection.
    #[must_use]
    pub fn projection(&self) -> Arc<Projection> {
        self.projection.borrow().clone()
    }

    /// Wakes with each new projection; the latest wins.
    #[must_use]
    pub fn projections(&self) -> watch::Receiver<Arc<Projection>> {
        self.projection.clone()
    }

    /// Every event from now on. A listener that is too slow is told how many it missed.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    /// Gives an order; the answer comes when its effect is saved.
    pub async fn send(&self, command: Command) -> Reply {
        let (answer, answered) = oneshot::channel();
        if self.requests.send(Request::Order(Box::new(command), answer)).await.is_err() {
            return gone();
        }
        answered.await.unwrap_or_else(|_| gone())
    }

    /// Gives an order and does not wait. The receiver gets the answer; it is closed without one when the driver has
    /// ended or is too busy to take an order.
    #[must_use]
    pub fn order(&self, command: Command) -> oneshot::Receiver<Reply> {
        let (answer, answered) = oneshot::channel();
        let _ = self.requests.try_send(Request::Order(Box::new(command), answer));
        answered
    }

    /// Gives an order from a thread without a runtime.
    #[must_use]
    pub fn send_blocking(&self, command: Command) -> Reply {
        let (answer, answered) = oneshot::channel();
        if self.requests.blocking_send(Request::Order(Box::new(command), answer)).is_err() {
            return gone();
        }
        answered.blocking_recv().unwrap_or_else(|_| gone())
    }

    /// Says which conversation is on the screen. Left out when the driver is too busy: the next one counts.
    pub fn show(&self, shown: Option<Shown>) {
        let _ = self.requests.try_send(Request::Show(shown));
    }

    /// Has the driver say what does not work, once. Left out when it is too busy.
    pub fn complain(&self, words: String) {
        let _ = self.requests.try_send(Request::Complain(words));
    }

    /// Says that a person looks for sessions. Left out when the driver is too busy.
    pub fn look_around(&self) {
        let _ = self.requests.try_send(Request::LookAround);
    }

    /// Asks a viewer to become the driver.
    pub async fn take_over(&self) -> Reply {
        let (answer, answered) = oneshot::channel();
        if self.requests.send(Request::TakeOver(answer)).await.is_err() {
            return gone();
        }
        answered.await.unwrap_or_else(|_| gone())
    }

    /// Asks the driver to give the home up. The answer comes when its lock is free.
    pub async fn hand_over(&self) -> Reply {
        let (answer, answered) = oneshot::channel();
        if self.requests.send(Request::HandOver(answer)).await.is_err() {
            return gone();
        }
        answered.await.unwrap_or_else(|_| gone())
    }

    /// Asks the driver to finish its step and end.
    pub async fn shutdown(&self) {
        let _ = self.requests.send(Request::Shutdown).await;
    }
}

fn gone() -> Reply {
    let message = "the driver has ended: start trellis again".to_owned();
    Reply::Refused(Refusal { kind: RefusalKind::NotDriver, message, field: None })
}
