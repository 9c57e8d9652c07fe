//! `trellis drive --background` and `--stop`, and the process itself that drives without a terminal.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::{Failure, Named, drive, out};
use crate::boot::background::{self, DRIVES, Detached, READY, WAITS};
use crate::boot::{Engine, Ground, How, Place, Seat};
use crate::model::tempo::Tempo;
use crate::paths::Home;
use crate::store::lock::{Holder, Kind, holder};

/// Starts a driver that goes on after this command has ended.
///
/// # Errors
/// Another process drives, nothing is left to drive, or it does not start.
pub fn start(place: &Named<'_>, tempo: Tempo, stay: bool, json: bool) -> Result<(), Failure> {
    let ground = Ground::of(place)?;
    drive::tell_problems(&ground);
    ground.refuse_if_driven()?;
    let runs = ground.glance().runs;
    if !stay && runs.iter().all(drive::is_over) {
        return tell(None, &ground.home, &drive::left(&ground.home, &runs)?, json);
    }
    let tmux = ground.transports().tmux.named;
    let pid = wait_for(async {
        let detached = Detached::start(&ground.home, tempo, tmux.as_deref(), stay).await?;
        detached.drives(&ground.home).await
    })?
    .map_err(Failure::refused)?;
    let (home, back) = (ground.home.root().display(), ground.home.command(""));
    tell(
        Some(pid),
        &ground.home,
        &format!("process {pid} drives {home} in the background; `{back}` comes back to it"),
        json,
    )
}

/// Which process it is about, if there is one, and what is to be said.
fn tell(pid: Option<u32>, home: &Home, words: &str, json: bool) -> Result<(), Failure> {
    if json {
        return out::json(&json!({"pid": pid, "home": home.root().display().to_string(), "says": words}));
    }
    out::line(&out::plain(words))
}

/// Ends a driver in the background; one in the foreground is left alone.
///
/// # Errors
/// Somebody sits in front of the driver, or it does not end.
pub fn stop(home: Option<&Path>, json: bool) -> Result<(), Failure> {
    let ground = Ground::find(home)?;
    let place = ground.home.root().display();
    if let Some(claim) = background::driver(&ground.home) {
        wait_for(background::end(&ground.home, &claim))?.map_err(Failure::refused)?;
        let words = format!("process {} has ended; the runs of {place} wait for the next start", claim.pid);
        return tell(Some(claim.pid), &ground.home, &words, json);
    }
    match holder(&ground.home) {
        Ok(Holder::Nobody) => tell(None, &ground.home, &format!("nobody drives {place}"), json),
        Ok(Holder::Process(Some(claim))) if claim.kind == Kind::Foreground => {
            Err(Failure::refused(format!("process {} drives {place} in the foreground: end it there", claim.pid)))
        }
        Ok(Holder::Process(_)) => Err(Failure::refused(format!(
            "another process drives {place}, and which one is not proven: look for it, then end it there"
        ))),
        Err(error) => Err(Failure::refused(error.to_string())),
    }
}

/// The process in the background: waits for the lock, and drives until no run is left, unless it is to stay, or it is asked to end.
///
/// # Errors
/// The home cannot be opened, or its lock did not come free.
pub fn detached(place: &Named<'_>, tempo: Tempo, stay: bool) -> Result<(), Failure> {
    // From now on the terminal that it was started in is nothing to it. An error: it leads a session already.
    let _ = rustix::process::setsid();
    let ground = Ground::of(place)?;
    out::line(READY)?;
    let lock = wait_for(async {
        let mut tries = tokio::time::interval(Duration::from_millis(20));
        let taken = async {
            loop {
                tries.tick().await;
                match Place::take(&ground.home, Kind::Background)? {
                    Place::Ours(lock) => return Ok::<_, Failure>(lock),
                    Place::Theirs(_) => {}
                }
            }
        };
        tokio::time::timeout(WAITS, taken).await
    })?;
    let lock = lock.map_err(|_| Failure::refused("the lock did not come free"))??;
    let mut engine = Engine::start_in(ground, lock, How::Drive, tempo)?;
    engine.tell(Seat::Plain);
    engine.let_person_act();
    // Behind its socket comes its first look: whoever hears that it drives reaches it.
    engine.block_on(async {
        let mut projections = engine.handle.projections();
        tokio::select! {
            _ = projections.wait_for(|projection| projection.at.is_some()) => {}
            _ = engine.supervisor.stopped() => {}
        }
    });
    out::line(DRIVES)?;
    drop_terminal();
    engine.block_on(async {
        let mut projections = engine.handle.projections();
        loop {
            let projection = projections.borrow_and_update().clone();
            if !stay && projection.at.is_some() && projection.runs.iter().all(drive::is_over) {
                return;
            }
            tokio::select! {
                changed = projections.changed() => if changed.is_err() { return },
                _ = engine.supervisor.stopped() => return,
            }
        }
    });
    engine.finish()
}

/// Whoever started this process reads no more; a terminal it was started in may go.
fn drop_terminal() {
    if let Ok(nothing) = std::fs::File::open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nothing);
        let _ = rustix::stdio::dup2_stderr(&nothing);
    }
}

fn wait_for<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::internal(format!("can't start the runtime: {error}")))?;
    Ok(runtime.block_on(work))
}
