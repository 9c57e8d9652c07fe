//! What the screen needs of the engine behind it, and of the person's small memory. Implemented outside; faked in tests.

use std::future::Future;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::oneshot;

use super::ahead::{Ahead, Side};
use super::app::Nearby;
use crate::model::command::{Command, Reply};
use crate::model::ids::SessionKey;
use crate::projection::summary::Summary;
use crate::projection::{Projection, Shown};

/// The engine: projections out, commands in.
pub trait Engine {
    /// The newest projection.
    fn projection(&self) -> Arc<Projection>;

    /// Ends when there is a newer one; false when the engine is gone and none will come.
    fn changed(&mut self) -> impl Future<Output = bool>;

    /// Sends an order. The receiver gets the reply once the order's effect is saved; it is dropped without one when
    /// the engine is gone.
    fn send(&self, command: Command) -> oneshot::Receiver<Reply>;

    /// Asks for a conversation to be in the projection.
    fn show(&self, what: Option<Shown>);

    /// Tells what happened since a time.
    fn happened_since(&self, since: Timestamp) -> oneshot::Receiver<Summary>;

    /// Hands the home to a driver in the background. The receiver learns when that one drives, or why it does not: then
    /// everything is as it was.
    fn go_on_in_background(&self) -> oneshot::Receiver<Result<(), String>>;

    /// Drives from now on, if nobody does, or a driver in the background ends for it. What comes of it is said.
    fn take_over(&self);

    /// Looks for the sessions in the window that the person stands in.
    fn look_around(&self) -> oneshot::Receiver<Nearby>;

    /// Looks whether a run of these sides would run alone.
    fn look_ahead(&self, sides: Vec<Side>) -> oneshot::Receiver<Vec<Ahead>>;

    /// Brings the pane of a session before the person.
    fn go_to_pane(&self, session: SessionKey);

    /// Puts a text where the terminal multiplexer around trellis keeps copied texts, if there is one: it may not let the
    /// terminal's own sequence through.
    fn copy(&self, text: String);
}

/// What is remembered between two starts of the screen (form values, dismissed notes).
pub trait Memory {
    /// The value kept under a name.
    fn remembered(&self, name: &str) -> Option<Value>;

    /// Keeps a value under a name. Losing it is no error.
    fn remember(&mut self, name: &str, value: Value);
}

/// A memory that lasts as long as the screen.
#[derive(Clone, Debug, Default)]
pub struct Forgetful(std::collections::BTreeMap<String, Value>);

impl Memory for Forgetful {
    fn remembered(&self, name: &str) -> Option<Value> {
        self.0.get(name).cloned()
    }

    fn remember(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }
}
