//! A home at work, from outside: the runtime, the supervisor, the driver's handle. Started, asked, ended.
//! What the driver is made of is `crew`, what a person sees of it is `screen`.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::crew::Crew;
use super::screen::Looks;
use super::tell::{self, Ears, Seat};
use super::{Ground, Place, background};
use crate::agent::scripted::world::World;
use crate::driver::handle::{self, Handle, Line};
use crate::failure::Failure;
use crate::logging;
use crate::model::tempo::Tempo;
use crate::paths::{Environment, Home};
use crate::store::lock::{Kind, Lock};
use crate::supervise::{StopReason, Supervisor, alone};
use crate::ui::Outside;

/// How long tasks get to finish what they began: longer than the driver waits for a send sequence.
const PATIENCE: Duration = Duration::from_secs(15);

/// The fewest files a process must be allowed to have open. With less, what fails first is chance.
const OPEN_FILES: u64 = 32;

/// What a started engine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It drives every run of the home.
    Drive,
    /// It carries out orders and drives nothing.
    RecordOnly,
}

/// Refuses where too few files may be open.
fn enough_files() -> Result<(), Failure> {
    match rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        Some(most) if most < OPEN_FILES => Err(Failure::refused(format!(
            "only {most} files may be open here and trellis needs {OPEN_FILES}: raise it with `ulimit -n`"
        ))),
        _ => Ok(()),
    }
}

/// A home that is at work (or watched), from outside.
pub struct Engine {
    /// What the driver says and is told.
    pub handle: Handle,
    /// What starts and ends everything.
    pub supervisor: Supervisor,
    pub(super) looks: Option<Looks>,
    pub(super) home: Home,
    pub(super) tempo: Tempo,
    /// It began as a viewer.
    watches: bool,
    ears: Option<Ears>,
    environment: Environment,
    runtime: Runtime,
    world: Option<World>,
    log: String,
}

impl Engine {
    /// Takes the lock of the home and drives it.
    ///
    /// # Errors
    /// Another process drives it: its pid is named. Or something of the home cannot be opened.
    pub fn start(ground: Ground, how: How, tempo: Tempo) -> Result<Self, Failure> {
        match Place::take(&ground.home, Kind::Foreground)? {
            Place::Ours(lock) => Self::start_in(ground, lock, how, tempo),
            Place::Theirs(driver) => Err(driver.refusal()),
        }
    }

    /// Drives a home whose lock was taken.
    ///
    /// # Errors
    /// Something of the home cannot be opened.
    pub fn start_in(ground: Ground, lock: Lock, how: How, tempo: Tempo) -> Result<Self, Failure> {
        let (mut engine, line) = Self::empty(&ground, tempo)?;
        let crew = Crew { ground, how, tempo, supervisor: engine.supervisor.clone(), handle: engine.handle.clone() };
        let runtime = engine.runtime.handle().clone();
        let around = crew.surroundings(&runtime)?;
        engine.world.clone_from(&around.world);
        let supervisor = engine.supervisor.clone();
        let started = supervisor.thread("driver", move || {
            let _entered = runtime.enter();
            alone(crew.work(runtime.clone(), line, Some((lock, around))));
        });
        started.map_err(|error| Failure::internal(format!("can't start the driver: {error}")))?;
        Ok(engine)
    }

    /// Shows a home that another process drives, or nobody. `tempo` counts once it drives itself.
    ///
    /// # Errors
    /// Something of the home cannot be opened.
    pub fn watch(ground: Ground, tempo: Tempo) -> Result<Self, Failure> {
        let (mut engine, line) = Self::empty(&ground, tempo)?;
        engine.watches = true;
        let (supervisor, handle) = (engine.supervisor.clone(), engine.handle.clone());
        let crew = Crew { ground, how: How::Drive, tempo, supervisor, handle };
        let runtime = engine.runtime.handle().clone();
        let supervisor = engine.supervisor.clone();
        let started = supervisor.thread("viewer", move || {
            let _entered = runtime.enter();
            alone(crew.work(runtime.clone(), line, None));
        });
        started.map_err(|error| Failure::internal(format!("can't start the viewer: {error}")))?;
        Ok(engine)
    }

    fn empty(ground: &Ground, tempo: Tempo) -> Result<(Self, Line), Failure> {
        enough_files()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| Failure::internal(format!("can't start the runtime: {error}")))?;
        let supervisor = Supervisor::new();
        supervisor.install_panic_hook();
        {
            let _entered = runtime.enter();
            supervisor
                .stop_on_signals()
                .map_err(|error| Failure::internal(format!("can't listen to signals: {error}")))?;
        }
        let (handle, line) = handle::line();
        logging::start(&ground.home, &ground.environment);
        let log = ground.home.log().display().to_string();
        let looks = Some(Looks::of(ground)?);
        // Before the driver's first step: what that concludes is news already.
        let ears = Some(Ears { events: handle.events(), projections: handle.projections() });
        let (home, environment) = (ground.home.clone(), ground.environment.clone());
        let engine = Self {
            handle,
            supervisor,
            looks,
            home,
            tempo,
            watches: false,
            ears,
            environment,
            runtime,
            world: None,
            log,
        };
        Ok((engine, line))
    }

    /// From now on the person is told what needs them and what completes, there where they sit.
    pub fn tell(&mut self, seat: Seat) {
        if let Some(ears) = self.ears.take() {
            let _entered = self.runtime.enter();
            tell::start(ears, seat, self.home.clone(), self.environment.clone(), &self.supervisor);
        }
    }

    /// Something that the person is to read on the screen first.
    pub fn complain(&mut self, words: String) {
        if let Some(looks) = &mut self.looks {
            looks.problems.push(words);
        }
    }

    /// A viewer of a driver in the background asks that one to end and drives itself then; what comes of it is said.
    pub fn come_back(&self, call: mpsc::Sender<Outside>) {
        if self.watches {
            let _entered = self.runtime.enter();
            background::come_back(&self.home, &self.handle, call, &self.supervisor);
        }
    }

    /// Runs a future of this thread to its end, beside everything else.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// The scripted person may begin, where there is one.
    pub fn let_person_act(&self) {
        if let Some(world) = &self.world {
            world.let_person_act();
        }
    }

    /// Ends everything: what was begun is finished.
    ///
    /// # Errors
    /// A task panicked: one line, with the log's path if there is one. Or the home is gone.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.supervisor.shutdown();
        // The scripted agents end when nobody holds them any more.
        self.world = None;
        let in_time = self.runtime.block_on(self.supervisor.finished(PATIENCE));
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        // A home that cannot be written has no log.
        let log = Path::new(&self.log).exists().then_some(self.log.as_str());
        match self.supervisor.reason() {
            Some(reason @ StopReason::Panicked { .. }) => Err(Failure::internal(reason.line(log).unwrap_or_default())),
            Some(StopReason::Lost(sentence)) => Err(Failure::refused(sentence)),
            _ if !in_time => Err(Failure::internal("a task did not end and was left behind")),
            _ => Ok(()),
        }
    }
}
