//! The task that tells a person of what the driver or viewer shows: hears it, asks `tell` what is news, and carries it out.
//! A driver tells by every way; a viewer of a background driver only by its own terminal, which that one does not have.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};

use crate::clock;
use crate::model::event::Event;
use crate::paths::{Environment, Home};
use crate::projection::{DriverFact, Projection};
use crate::store::home_files::read_config;
use crate::supervise::Supervisor;
use crate::tell::carry::{self, LIMIT};
use crate::tell::news::{News, Teller};
use crate::tell::ways::{Passthrough, Tmux, Ways};
use crate::ui::Outside;

/// How long the last projection of an ending driver is waited for: as long as it may wait for a send sequence, and more.
const LAST_NEWS: Duration = Duration::from_secs(5);
/// How long what is told at the very end may take.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The terminal that a person sits at, if there is one.
#[derive(Clone, Debug)]
pub enum Seat {
    /// The dashboard's: it writes what it is given between two frames.
    Screen(mpsc::Sender<Outside>),
    /// Standard error, where that is a terminal.
    Plain,
}

impl Seat {
    fn has_terminal(&self) -> bool {
        match self {
            Self::Screen(_) => true,
            Self::Plain => std::io::stderr().is_terminal(),
        }
    }

    fn write(&self, bytes: Vec<u8>) {
        match self {
            _ if bytes.is_empty() => {}
            Self::Screen(screen) => {
                // A screen that is lent to an editor takes it later; one that has too much already goes without.
                let _ = screen.try_send(Outside::Bytes(bytes));
            }
            Self::Plain => {
                let mut out = std::io::stderr().lock();
                let _ = out.write_all(&bytes).and_then(|()| out.flush());
            }
        }
    }
}

/// What the task hears: from before the driver's first step.
pub(super) struct Ears {
    pub(super) events: broadcast::Receiver<Event>,
    pub(super) projections: watch::Receiver<Arc<Projection>>,
}

/// Begins to tell.
pub(super) fn start(ears: Ears, seat: Seat, home: Home, environment: Environment, supervisor: &Supervisor) {
    let task = Task { ears, seat, home, environment, supervisor: supervisor.clone(), teller: Teller::default() };
    supervisor.spawn("tell", task.run());
}

struct Task {
    ears: Ears,
    seat: Seat,
    home: Home,
    environment: Environment,
    supervisor: Supervisor,
    teller: Teller,
}

impl Task {
    async fn run(mut self) {
        let mut shutdown = self.supervisor.token();
        loop {
            let wake = self.teller.wake_at().map(|at| at.duration_since(clock::now()));
            let wake = wake.map(|left| Duration::try_from(left).unwrap_or(Duration::ZERO));
            tokio::select! {
                biased;
                _ = shutdown.wait() => break,
                event = self.ears.events.recv() => match event {
                    Ok(event) => self.teller.heard(&event),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break,
                },
                changed = self.ears.projections.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    self.look();
                }
                () = sleep(wake) => self.look(),
            }
        }
        // What an ending driver did last is news as well, and whoever starts after it will take it for old.
        let gone = async { while self.ears.projections.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(LAST_NEWS, gone).await;
        while let Ok(event) = self.ears.events.try_recv() {
            self.teller.heard(&event);
        }
        let (news, driver) = self.news();
        let told = async {
            for one in &news {
                tell(one, &driver, &self.seat, &self.home, &self.environment).await;
            }
        };
        let _ = tokio::time::timeout(LAST_WORDS, told).await;
    }

    fn news(&mut self) -> (Vec<News>, DriverFact) {
        let projection = self.ears.projections.borrow_and_update().clone();
        (self.teller.look(&projection, clock::now()), projection.driver.clone())
    }

    fn look(&mut self) {
        let (news, driver) = self.news();
        for one in news {
            let (driver, seat, home) = (driver.clone(), self.seat.clone(), self.home.clone());
            let (environment, mut shutdown) = (self.environment.clone(), self.supervisor.token());
            self.supervisor.spawn("tell one", async move {
                let told = tell(&one, &driver, &seat, &home, &environment);
                let end = async {
                    shutdown.wait().await;
                    tokio::time::sleep(LAST_WORDS).await;
                };
                tokio::select! {
                    () = told => {}
                    () = end => {}
                }
            });
        }
    }
}

async fn sleep(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait.saturating_add(Duration::from_millis(1))).await,
        None => std::future::pending().await,
    }
}

/// Tells one piece of news. The settings are read each time: what a person changed counts at once.
async fn tell(news: &News, driver: &DriverFact, seat: &Seat, home: &Home, environment: &Environment) {
    let (drives, looks) = match driver {
        DriverFact::Here => (true, true),
        DriverFact::Elsewhere { background, .. } | DriverFact::Silent { background, .. } => (false, *background),
        DriverFact::Starting | DriverFact::Nobody => (false, false),
    };
    let ways = ways(home, environment, seat.has_terminal()).await;
    if looks {
        seat.write(ways.bytes(&news.text));
    }
    if !drives {
        return;
    }
    tracing::info!("told: {}", news.text);
    let tmux = async {
        if let Ok(tmux) = &ways.tmux
            && let Err(why) = carry::tmux_message(tmux, &news.text).await
        {
            tracing::warn!("can't tell through tmux: {why}");
        }
    };
    let command = async {
        if let Ok(argv) = &ways.command
            && let Err(why) = carry::command(argv, news, home, LIMIT).await
        {
            tracing::warn!("can't tell through the notify_command: {why}");
        }
    };
    tokio::join!(tmux, command);
}

/// The ways there are now.
pub(super) async fn ways(home: &Home, environment: &Environment, has_terminal: bool) -> Ways {
    let passthrough = match Tmux::around(environment) {
        Some(tmux) => carry::passthrough(&tmux).await,
        None => Passthrough::Nothing,
    };
    Ways::of(&read_config(home).0, environment, passthrough, has_terminal)
}

/// Whether each way told it, or why not.
pub struct Tried {
    /// The way, as the settings call it.
    pub way: &'static str,
    /// What was done, or why it was not.
    pub outcome: Outcome,
}

/// What came of one way.
pub enum Outcome {
    /// It was used.
    Used(String),
    /// It is not configured, or there is none here.
    Left(String),
    /// It should have worked and did not.
    Failed(String),
}

/// Tells a test sentence by every way there is, and says what came of each.
pub(super) async fn test(seat: &Seat, home: &Home, environment: &Environment) -> Vec<Tried> {
    let text = "this is a test";
    let news = News {
        run: crate::model::ids::RecordKey::Run("test".into()),
        name: "test".to_owned(),
        reason: "test".to_owned(),
        text: text.to_owned(),
    };
    let ways = ways(home, environment, seat.has_terminal()).await;
    seat.write(ways.bytes(text));
    let done = |result: Result<(), String>, words: String| match result {
        Ok(()) => Outcome::Used(words),
        Err(why) => Outcome::Failed(why),
    };
    let bell = match &ways.bell {
        Ok(()) => Outcome::Used("rung".to_owned()),
        Err(why) => Outcome::Left(why.clone()),
    };
    let terminal = match &ways.terminal {
        Ok(of) => {
            let through = if of.wrapped { ", through tmux" } else { "" };
            Outcome::Used(format!(
                "sent as {}{through}; whether it is shown is the terminal's choice",
                of.dialect.name()
            ))
        }
        Err(why) => Outcome::Left(why.clone()),
    };
    let tmux = match &ways.tmux {
        Ok(tmux) => done(carry::tmux_message(tmux, text).await, "shown by display-message".to_owned()),
        Err(why) => Outcome::Left(why.clone()),
    };
    let command = match &ways.command {
        Ok(argv) => {
            let name = argv.first().cloned().unwrap_or_default();
            done(carry::command(argv, &news, home, LIMIT).await, format!("{name} ended well"))
        }
        Err(why) => Outcome::Left(why.clone()),
    };
    [("bell", bell), ("terminal", terminal), ("tmux", tmux), ("command", command)]
        .into_iter()
        .map(|(way, outcome)| Tried { way, outcome })
        .collect()
}
