//! The driver and the viewer with everything around them: which concrete store, watch, agents and options they get.
//! Started by `engine`; nothing is decided about a loop here.

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::convert::Infallible;
use std::future::poll_fn;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use jiff::tz::TimeZone;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::archive::Disk;
use super::engine::How;
use super::{Ground, Place, background, there};
use crate::agent::Transports;
use crate::agent::scripted::world::World;
use crate::clock;
use crate::driver::core::{Core, Options};
use crate::driver::handle::{Handle, Line};
use crate::driver::task::{Edges, drive};
use crate::driver::viewer::{Ended, LookOnly, ReadRecords, Shelf as _, view};
use crate::failure::Failure;
use crate::model::command::{Refusal, RefusalKind, Reply};
use crate::model::tempo::Tempo;
use crate::projection::DriverFact;
use crate::serve::server::{Facts, Server};
use crate::store::Store;
use crate::store::home_files::KeptSummaries;
use crate::store::lock::{Kind, Lock, Seat};
use crate::store::reader::Reader;
use crate::store::socket::Socket;
use crate::supervise::{StopReason, Supervisor};
use crate::watch::{self, Watch};

/// How long ago the last look must be when a driver looks whether its home is still there: with whatever wakes it, its own
/// tick at the latest. Nothing wakes for that alone.
const STILL_THERE: Duration = Duration::from_secs(10);

/// Outcomes that may wait for the driver.
const OUTCOMES: usize = 256;

/// What a driver is put together from.
pub(super) struct Crew {
    pub(super) ground: Ground,
    pub(super) how: How,
    pub(super) tempo: Tempo,
    pub(super) supervisor: Supervisor,
    /// What the driver is told through, by those who come over its socket too.
    pub(super) handle: Handle,
}

/// The driver's surroundings.
pub(super) struct Surroundings {
    transcripts: Watch,
    agents: Transports,
    edges: Edges,
    pub(super) world: Option<World>,
}

/// What was taken over, and who waits to hear of it.
type Taken = ((Lock, Surroundings), Option<oneshot::Sender<Reply>>);

impl Crew {
    pub(super) fn surroundings(&self, runtime: &tokio::runtime::Handle) -> Result<Surroundings, Failure> {
        let _entered = runtime.enter();
        let (transcripts, hints) = watch::start(&self.ground.watched_roots(), &self.supervisor);
        let transcripts = transcripts.remembering(Box::new(KeptSummaries(self.ground.home.clone())));
        let (tell, outcomes) = mpsc::channel(OUTCOMES);
        let world = match &self.ground.stage {
            None => None,
            Some(stage) => {
                let told = tell.clone();
                let report = Box::new(move |outcome| {
                    // The driver has ended: nobody waits for outcomes any more.
                    let _ = told.blocking_send(outcome);
                });
                Some(World::start(stage, self.tempo, &self.supervisor, report).map_err(Failure::refused)?)
            }
        };
        let mut agents = Transports::new(self.ground.transports(), tell, self.supervisor.clone());
        if let Some(world) = &world {
            agents = agents.beside(Box::new(world.clone()));
        }
        Ok(Surroundings { transcripts, agents, edges: Edges { outcomes, hints }, world })
    }

    fn options(&self, driver: DriverFact) -> Options {
        Options {
            tempo: self.tempo,
            seed: seed(),
            home: self.ground.home.root().display().to_string(),
            stop_command: self.ground.home.command("drive --stop"),
            message_file_above: self.ground.config.message_file_above,
            zone: TimeZone::system(),
            send_when_box_unknown: self.ground.config.send_when_box_unknown,
            starts_nothing: self
                .ground
                .stage
                .as_ref()
                .map(|_| "this is a demo's home, its agents are scripted: start one in a home of your own".to_owned()),
            as_root: self.ground.as_root(),
            records_only: self.how == How::RecordOnly,
            observes: matches!(driver, DriverFact::Here) || self.ground.stage.is_none(),
            driver,
        }
    }

    /// Drives or watches until everything stops: a viewer that takes over drives, a driver that gives the home up watches.
    pub(super) async fn work(
        self,
        runtime: tokio::runtime::Handle,
        mut line: Line,
        place: Option<(Lock, Surroundings)>,
    ) {
        // With what a person who took over waits for.
        let mut place = place.map(|place| (place, None));
        loop {
            let next = match place.take() {
                Some(((lock, around), asked)) => self.drive(lock, around, line, asked).await.map(|line| (line, None)),
                None => self.watch(&runtime, line).await.map(|(line, place)| (line, Some(place))),
            };
            match next {
                Some((given, taken)) => (line, place) = (given, taken),
                None => return,
            }
        }
    }

    /// Drives. The line comes back when the home was given up.
    async fn drive(
        &self,
        lock: Lock,
        around: Surroundings,
        line: Line,
        asked: Option<oneshot::Sender<Reply>>,
    ) -> Option<Line> {
        let options = self.options(DriverFact::Here);
        let records = Store::new(self.ground.home.clone());
        let mut core = Core::start(records, around.transcripts, around.agents, options, clock::now());
        if let Some(asked) = asked {
            // Whoever reads that it drives sees so: a key that comes right behind it means the runs that are driven here.
            line.projection.send_replace(core.projection(clock::now()));
            let _ = asked.send(Reply::Done { record: None, note: "this process drives now".to_owned() });
        }
        let served = RefCell::new(self.serve(&lock));
        let driven = drive(core, line, around.edges, self.supervisor.token(), clock::now);
        let over = tokio::select! {
            over = driven => over,
            never = self.while_there(lock.seat(), || self.serve_again(&lock, &served)) => match never {},
        };
        // The lock goes last: whoever takes it finds everything on the disk, nobody else playing the agents, and a free
        // socket.
        if let Some((server, socket)) = served.into_inner() {
            server.end().await;
            drop(socket);
        }
        drop(over.core);
        if let Some(world) = around.world {
            world.end();
        }
        drop(lock);
        let Some(answer) = over.handed else {
            self.supervisor.shutdown();
            return None;
        };
        let _ = answer.send(Reply::Done { record: None, note: "the home was given up".to_owned() });
        Some(over.line)
    }

    /// Serves the home's socket. A driver without one drives all the same, and says so.
    fn serve(&self, lock: &Lock) -> Option<(Server, Socket)> {
        if self.how == How::RecordOnly {
            return None;
        }
        let started = Socket::listen(&self.ground.home, lock).map_err(|error| error.to_string());
        let started = started.and_then(|(socket, listener)| {
            let archive = Arc::new(Disk::of(&self.ground));
            let background = background::driver(&self.ground.home).is_some();
            let facts = Facts { home: self.ground.home.root().display().to_string(), background };
            let server = Server::start(listener, self.handle.clone(), archive, facts, &self.supervisor);
            server
                .map(|server| (server, socket))
                .map_err(|error| format!("can't serve {}: {error}", self.ground.home.socket().display()))
        });
        started.map_err(|why| self.handle.complain(why)).ok()
    }

    /// Serves the socket anew when it was removed: nobody reached this process otherwise.
    fn serve_again(&self, lock: &Lock, served: &RefCell<Option<(Server, Socket)>>) {
        let mut served = served.borrow_mut();
        if served.as_ref().is_some_and(|(_, socket)| !socket.is_kept()) {
            tracing::warn!("{} was removed; it is made anew", self.ground.home.socket().display());
            // Whoever is still connected comes again, as to a new driver.
            *served = None;
            *served = self.serve(lock);
        }
    }

    /// Ends everything when the home was removed or replaced: what is saved from then on is lost, or another's. As long as
    /// it is there, this is done now and then.
    async fn while_there(&self, seat: Seat, meanwhile: impl Fn()) -> Infallible {
        let mut looked_at = None::<Instant>;
        poll_fn(|_| {
            let now = Instant::now();
            if looked_at.is_some_and(|at| now.duration_since(at) < STILL_THERE) {
                return Poll::Pending;
            }
            looked_at = Some(now);
            if !seat.is_kept() {
                return Poll::Ready(());
            }
            meanwhile();
            Poll::Pending
        })
        .await;
        let home = self.ground.home.root().display();
        let words = format!("{home} was removed or replaced while it was driven: nothing more is sent or saved there");
        self.supervisor.stop(StopReason::Lost(words));
        std::future::pending().await
    }

    /// Watches. The line comes back with the lock when a person takes over.
    async fn watch(&self, runtime: &tokio::runtime::Handle, mut line: Line) -> Option<(Line, Taken)> {
        loop {
            let (transcripts, hints) = watch::start(&self.ground.watched_roots(), &self.supervisor);
            let mut reader = Reader::new(self.ground.home.clone());
            // Who drives is known before the first frame is drawn: a dump draws no second one.
            let options = self.options(reader.driver());
            let records = ReadRecords::new(reader);
            let (tell, outcomes) = mpsc::channel(OUTCOMES);
            let agents = LookOnly(Transports::new(self.ground.transports(), tell, self.supervisor.clone()));
            let core = Core::start(records, transcripts, agents, options, clock::now());
            let edges = Edges { outcomes, hints };
            let theirs = there::follow(&self.ground.home, &self.supervisor);
            let (given, answer) = match view(core, line, edges, theirs, self.supervisor.token(), clock::now).await {
                Ended::Shutdown => return None,
                Ended::TakeOver(line, answer) => (line, answer),
            };
            match self.take_over(runtime) {
                Ok(place) => {
                    return Some((given, (place, Some(answer))));
                }
                Err(message) => {
                    let refusal = Refusal { kind: RefusalKind::NotDriver, message, field: None };
                    let _ = answer.send(Reply::Refused(refusal));
                    line = given;
                }
            }
        }
    }

    fn take_over(&self, runtime: &tokio::runtime::Handle) -> Result<(Lock, Surroundings), String> {
        match Place::take(&self.ground.home, Kind::Foreground).map_err(|failure| failure.message)? {
            Place::Ours(lock) => {
                let around = self.surroundings(runtime).map_err(|failure| failure.message)?;
                if let Some(world) = &around.world {
                    world.let_person_act();
                }
                Ok((lock, around))
            }
            Place::Theirs(driver) => Err(driver.refusal().message),
        }
    }
}

/// Entropy for new ids: the hasher's keys come from the system.
fn seed() -> u64 {
    RandomState::new().hash_one(clock::now())
}
