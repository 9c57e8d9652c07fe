//! `trellis drive`, the dashboard, and what every foreground run without a dashboard does: print events, end with the run.
//! Nothing is decided about a loop here.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;

use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::{Failure, out, watch};
use crate::boot::{Engine, Ground, How, Place, Seat};
use crate::model::event::{Event, EventKind};
use crate::model::growing::Growing;
use crate::model::ids::{RecordKey, RunId};
use crate::model::pair::PauseReason;
use crate::model::run::RunStop;
use crate::model::tempo::Tempo;
use crate::paths::Home;
use crate::projection::{Projection, RunView, Standing};
use crate::store::files::{Files as _, OsFiles};
use crate::store::lock::Kind;
use crate::supervise::StopReason;

/// Opens the dashboard.
///
/// # Errors
/// There is no terminal, or the home cannot be opened.
pub fn dashboard(place: &super::Named<'_>) -> Result<(), Failure> {
    let ground = Ground::of(place)?;
    if ground.config.plain {
        return watch::plain(ground);
    }
    need_terminal()?;
    match Place::take(&ground.home, Kind::Foreground) {
        Ok(Place::Ours(lock)) => Engine::start_in(ground, lock, How::Drive, Tempo::REAL)?.dashboard(),
        Ok(Place::Theirs(_)) => Engine::watch(ground, Tempo::REAL)?.dashboard(),
        // A home that cannot be written can still be looked at.
        Err(failure) => {
            let mut engine = Engine::watch(ground, Tempo::REAL)?;
            engine.complain(failure.message);
            engine.dashboard()
        }
    }
}

/// Refuses the dashboard where nobody could see it or press a key.
///
/// # Errors
/// There is no terminal.
pub fn need_terminal() -> Result<(), Failure> {
    let has_keys = || std::io::stdin().is_terminal() || std::fs::File::open("/dev/tty").is_ok();
    if std::io::stdout().is_terminal() && has_keys() {
        return Ok(());
    }
    let words = "the dashboard needs a terminal; without one use `trellis run …` or `trellis demo --headless`";
    Err(Failure::refused(words))
}

/// Drives all runs of the home until none is left (unless it is to stay) or a signal ends it.
///
/// # Errors
/// Another process drives, the home cannot be opened, or what is left cannot be driven before a person has mended it.
pub fn drive(place: &super::Named<'_>, tempo: Tempo, stay: bool) -> Result<(), Failure> {
    let ground = Ground::of(place)?;
    tell_problems(&ground);
    let home = ground.home.clone();
    let mut engine = Engine::start(ground, How::Drive, tempo)?;
    engine.tell(Seat::Plain);
    engine.let_person_act();
    let mut listener = Listener::of(&engine);
    let ended: Result<Option<String>, Failure> = engine.block_on(async {
        let mut projections = engine.handle.projections();
        loop {
            let projection = projections.borrow_and_update().clone();
            listener.tell_needs(&projection, None);
            if !stay && projection.at.is_some() && projection.runs.iter().all(is_over) {
                listener.drain()?;
                break left(&home, &projection.runs).map(Some);
            }
            tokio::select! {
                event = listener.events.recv() => match event {
                    Err(RecvError::Closed) => break Ok(None),
                    event => { heard(event)?; }
                },
                changed = projections.changed() => if changed.is_err() { break Ok(None) },
                _ = engine.supervisor.stopped() => break Ok(None),
            }
        }
    });
    engine.finish()?;
    if let Some(words) = ended? {
        out::note(&words);
    }
    Ok(())
}

/// What is said when there is nothing to drive.
///
/// # Errors
/// Runs are held: their records, or the folder of all of them, cannot be read, and a person has to mend that.
pub fn left(home: &Home, runs: &Growing<RunView>) -> Result<String, Failure> {
    let held = runs.iter().filter(|run| run.read_only.is_some() && run.standing == Standing::NeedsYou).count();
    match held {
        _ if OsFiles.list(&home.runs()).is_err() => {
            let folder = home.runs();
            Err(Failure::refused(format!("{} can't be read: mend that, then start again", folder.display())))
        }
        0 => Ok("no run is left to drive".to_owned()),
        1 => Err(Failure::refused("no run is left to drive but one that is held: its record can't be read")),
        n => {
            Err(Failure::refused(format!("no run is left to drive but {n} that are held: their records can't be read")))
        }
    }
}

/// Says which settings of the home do not count.
pub fn tell_problems(ground: &Ground) {
    for problem in &ground.problems {
        out::note(&problem.to_string());
    }
}

/// How a followed run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It stopped, and why.
    Stopped(Option<RunStop>),
    /// A person is needed: the sentence.
    NeedsPerson(String),
    /// The process was told to end.
    Told,
}

impl End {
    /// What the command says at its end.
    ///
    /// # Errors
    /// Anything but a completed run.
    pub fn outcome(self, run: &RunId) -> Result<(), Failure> {
        match self {
            Self::Stopped(Some(RunStop::Completed)) => Ok(()),
            Self::Stopped(reason) => {
                let reason = reason.map_or("unknown", RunStop::as_str);
                Err(Failure::refused(format!("the run {run} stopped: {reason}")))
            }
            Self::NeedsPerson(words) => Err(Failure::refused(words)),
            Self::Told => Err(Failure::refused(format!("told to end; the run {run} waits for the next start"))),
        }
    }
}

/// Events as they come, printed; and what was said already.
pub struct Listener {
    /// Events from the moment this was made.
    pub events: tokio::sync::broadcast::Receiver<Event>,
    said: BTreeSet<String>,
}

impl Listener {
    /// One that hears everything from now on: made before the driver's first step.
    #[must_use]
    pub fn of(engine: &Engine) -> Self {
        Self { events: engine.handle.events(), said: BTreeSet::new() }
    }

    /// Prints events until the run stops or needs a person.
    ///
    /// # Errors
    /// The output refuses, or the driver is gone.
    pub async fn follow(&mut self, engine: &Engine, run: &RunId) -> Result<End, Failure> {
        let mut projections = engine.handle.projections();
        loop {
            let projection = projections.borrow_and_update().clone();
            if let Some(words) = self.tell_needs(&projection, Some(run)) {
                self.drain()?;
                return Ok(End::NeedsPerson(words));
            }
            tokio::select! {
                biased;
                event = self.events.recv() => {
                    if matches!(event, Err(RecvError::Closed)) {
                        return driver_gone(engine.supervisor.reason().as_ref());
                    }
                    if let Some(stop) = heard(event)?.filter(|event| is_stop_of(event, run)) {
                        return Ok(End::Stopped(stop.reason.as_deref().and_then(stop_reason)));
                    }
                }
                changed = projections.changed() => if changed.is_err() {
                    return driver_gone(engine.supervisor.reason().as_ref());
                },
                _ = engine.supervisor.stopped() => return Ok(End::Told),
            }
        }
    }

    /// Ends the engine. What it published while it ended is printed as well; only a stop of the run is to come last.
    ///
    /// # Errors
    /// A task of the engine panicked, or the run did not complete.
    pub fn end(mut self, engine: Engine, ended: Result<(RunId, End), Failure>) -> Result<(), Failure> {
        // A panic ends the run's driver too: it is what is to be said then.
        engine.finish()?;
        if !matches!(ended, Ok((_, End::Stopped(_)))) {
            self.drain()?;
        }
        ended.and_then(|(run, end)| end.outcome(&run))
    }

    /// Prints what was published before the state that was just seen: nothing of it is left out at an end.
    fn drain(&mut self) -> Result<(), Failure> {
        loop {
            match self.events.try_recv() {
                Ok(event) => heard(Ok(event))?,
                Err(TryRecvError::Lagged(missed)) => heard(Err(RecvError::Lagged(missed)))?,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Ok(()),
            };
        }
    }

    /// Says once what needs a person. The followed run's need comes back; those of others and dialogs are only told.
    fn tell_needs(&mut self, projection: &Projection, followed: Option<&RunId>) -> Option<String> {
        // A damaged record, a full disk, a foreign file: what the dashboard says in red.
        for notice in projection.notices.iter().filter(|notice| notice.is_error) {
            if self.said.insert(notice.text.clone()) {
                out::note(&notice.text);
            }
        }
        for run in &projection.runs {
            let Some(words) = need(run) else { continue };
            let is_followed = matches!((&run.key, followed), (RecordKey::Run(id), Some(followed)) if id == followed);
            if is_followed && is_held(run) {
                return Some(words);
            }
            if self.said.insert(words.clone()) {
                out::note(&words);
            }
        }
        None
    }
}

/// The driver's lines were closed. It ends before the others when everything is told to, and that may be heard first.
fn driver_gone(told: Option<&StopReason>) -> Result<End, Failure> {
    match told {
        Some(_) => Ok(End::Told),
        None => Err(Failure::internal("the driver ended without a word")),
    }
}

/// Prints an event, and gives it back.
fn heard(event: Result<Event, RecvError>) -> Result<Option<Event>, Failure> {
    match event {
        Ok(event) => {
            out::json(&event)?;
            Ok(Some(event))
        }
        Err(RecvError::Lagged(missed)) => {
            out::note(&format!("{missed} events were not printed; events.jsonl has them"));
            Ok(None)
        }
        Err(RecvError::Closed) => Err(Failure::internal("the driver ended without a word")),
    }
}

/// Whether the event is the run's stop.
#[must_use]
pub fn is_stop_of(event: &Event, run: &RunId) -> bool {
    event.kind == EventKind::ChecklistStopped && event.run_id.as_ref() == Some(run)
}

/// The stop reason of that name.
#[must_use]
pub fn stop_reason(name: &str) -> Option<RunStop> {
    use RunStop::{Completed, Manual, PeerError, ServerRestarted, SessionTrashed};
    [Completed, Manual, PeerError, SessionTrashed, ServerRestarted].into_iter().find(|stop| stop.as_str() == name)
}

/// Whether nothing is left to drive of a run.
#[must_use]
pub fn is_over(run: &RunView) -> bool {
    matches!(run.standing, Standing::Done | Standing::Ended | Standing::Failed) || run.read_only.is_some()
}

/// Whether the run or its pair is held until a person acts; a limit with a known end is not, nor a mere dialog.
fn is_held(run: &RunView) -> bool {
    match run.standing {
        // Its record cannot be driven: nothing comes before a start that can.
        _ if run.read_only.is_some() => true,
        Standing::NeedsYou => run.look_first.is_some() || run.banner.as_ref().is_some_and(|b| b.reason.is_some()),
        Standing::Paused => true,
        Standing::Limit => run.wait.deadline.is_none(),
        Standing::Going | Standing::Waits | Standing::Done | Standing::Ended | Standing::Failed => false,
    }
}

/// What a person is told of a run that needs one.
fn need(run: &RunView) -> Option<String> {
    let (key, name) = (&run.key, &run.name);
    let say = |what: &str| Some(format!("{name} needs you: {what} ({key}); open trellis on this home"));
    match (run.standing, &run.banner, &run.look_first) {
        (Standing::NeedsYou, _, Some(look)) => say(&format!("message {} waits for your look", look.n)),
        (Standing::NeedsYou, Some(banner), None) => {
            let reason = banner.reason.map_or(String::new(), |reason| format!("{}: ", PauseReason::as_str(reason)));
            say(&format!("{reason}{}", banner.headline))
        }
        (Standing::NeedsYou, None, None) => say(&run.sentence),
        (Standing::Paused, _, _) => say("it is paused"),
        (Standing::Limit, _, _) if run.wait.deadline.is_none() => say(&run.sentence),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::Signal;

    /// A signal ends the driver and its lines at one moment; hearing of the lines first is no error of ours.
    #[test]
    fn a_driver_that_was_told_to_end_has_not_failed() {
        let told = StopReason::Signal(Signal::Terminate);
        assert_eq!(driver_gone(Some(&told)), Ok(End::Told));
        assert_eq!(driver_gone(None).map_err(|failure| failure.code()), Err(70));
    }
}
