//! Events as one listener gets them: those it missed from the journal, then each as it is published. A listener that is
//! too slow reads the journal again; what the journal no longer has, it is told. The driver waits for nobody.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::server::Desk;
use crate::driver::ports::Past;
use crate::model::event::Event;
use crate::model::ids::RecordKey;

/// Events that are read from the journal at once.
const PAGE: usize = 1_000;

/// Which events a listener wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Kinds that begin so; `None`: all.
    pub prefix: Option<&'static str>,
    /// Of this run alone.
    pub run: Option<String>,
    /// Of this pair alone.
    pub pair: Option<String>,
    /// Of this session, and of the runs and pairs it takes part in.
    pub session: Option<String>,
}

/// What a listener gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// An event.
    Event(Box<Event>),
    /// Events between these two numbers are lost to it: the journal no longer has them.
    Missed {
        /// The last it had.
        after: u64,
        /// The first it gets again.
        before: u64,
    },
}

impl Told {
    /// As JSON.
    #[must_use]
    pub fn value(&self) -> Value {
        match self {
            Self::Event(event) => serde_json::to_value(event).unwrap_or_default(),
            Self::Missed { after, before } => json!({"type": "missed", "after": after, "before": before}),
        }
    }
}

/// The events of one listener.
#[derive(Debug)]
pub struct Feed {
    desk: Arc<Desk>,
    live: broadcast::Receiver<Event>,
    wanted: Wanted,
    ready: VecDeque<Told>,
    /// The number of the last one that was looked at.
    last: u64,
    /// The journal has more than was read.
    more: bool,
    /// One that came before those in front of it were read.
    held: Option<Event>,
}

impl Feed {
    /// From now on, or from behind an event that the listener had.
    pub async fn open(desk: Arc<Desk>, wanted: Wanted, since: Option<u64>) -> Self {
        // First: what is published while the journal is read is not missed.
        let live = desk.handle.events();
        let mut feed = Self { desk, live, wanted, ready: VecDeque::new(), last: 0, more: false, held: None };
        let newest = feed.past(u64::MAX).await.newest;
        match since {
            Some(since) if since < newest => {
                feed.last = since;
                feed.catch_up().await;
            }
            // One of another home, or of a journal that was lost, is behind nothing.
            _ => feed.last = newest,
        }
        feed
    }

    /// The next one; `None`: the driver has ended. Safe to drop and call again (`select!`).
    pub async fn next(&mut self) -> Option<Told> {
        loop {
            if let Some(told) = self.ready.pop_front() {
                return Some(told);
            }
            if self.more {
                self.catch_up().await;
                continue;
            }
            if let Some(event) = self.held.take() {
                if event.seq > self.last.saturating_add(1) {
                    // It could not be written down.
                    self.ready.push_back(Told::Missed { after: self.last, before: event.seq });
                }
                self.take(event);
                continue;
            }
            match self.live.recv().await {
                Ok(event) if event.seq > self.last.saturating_add(1) => {
                    self.held = Some(event);
                    self.more = true;
                }
                Ok(event) => self.take(event),
                Err(RecvError::Lagged(_)) => self.more = true,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Takes what the journal has behind the last one.
    async fn catch_up(&mut self) {
        let past = self.past(self.last).await;
        self.more = past.events.len() >= PAGE;
        if let Some(before) = past.oldest.filter(|oldest| *oldest > self.last.saturating_add(1)) {
            self.ready.push_back(Told::Missed { after: self.last, before });
        }
        for event in past.events {
            self.take(event);
        }
    }

    async fn past(&self, seq: u64) -> Past {
        let archive = Arc::clone(&self.desk.archive);
        let Ok(_turn) = self.desk.journal.acquire().await else { return Past::default() };
        self.desk.blocking(move || archive.events_after(seq, PAGE)).await.unwrap_or_default()
    }

    /// Keeps it ready, if it is new and wanted.
    fn take(&mut self, event: Event) {
        if event.seq <= self.last {
            return;
        }
        self.last = event.seq;
        if self.wants(&event) {
            self.ready.push_back(Told::Event(Box::new(event)));
        }
    }

    fn wants(&self, event: &Event) -> bool {
        let kind = serde_json::to_value(event.kind).unwrap_or_default();
        let of_kind = |prefix: &str| kind.as_str().is_some_and(|kind| kind.starts_with(prefix));
        let is = |wanted: &Option<String>, id: Option<&str>| wanted.as_deref().is_none_or(|wanted| id == Some(wanted));
        self.wanted.prefix.is_none_or(of_kind)
            && is(&self.wanted.run, event.run_id.as_ref().map(crate::model::ids::RunId::as_str))
            && is(&self.wanted.pair, event.pair_id.as_ref().map(crate::model::ids::PairId::as_str))
            && self.wanted.session.as_deref().is_none_or(|session| self.concerns(event, session))
    }

    /// Whether it is about a session, or about a record that the session is a side of.
    fn concerns(&self, event: &Event, session: &str) -> bool {
        let bare = session.split_once(':').map_or(session, |(_, id)| id);
        if let Some(id) = &event.session_id {
            return id.as_str() == bare;
        }
        let of_run = event.run_id.clone().map(RecordKey::Run);
        let Some(key) = of_run.or_else(|| event.pair_id.clone().map(RecordKey::Pair)) else { return false };
        let projection = self.desk.handle.projection();
        let view = projection.runs.iter().find(|view| view.key == key);
        view.is_some_and(|view| {
            [&view.implementer, &view.reviewer].iter().any(|side| side.session.session_id.as_str() == bare)
        })
    }
}
