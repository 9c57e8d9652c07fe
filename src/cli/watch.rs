//! `trellis watch`: a sentence for every change, one a line, without moving a cursor; and `plain = true`, the same instead
//! of the dashboard. The first only looks; the second drives as the dashboard would.

use std::path::Path;

use jiff::tz::TimeZone;
use tokio::sync::mpsc;

use super::{Failure, drive, out, show};
use crate::boot::{Engine, Ground, How, Place, Seat};
use crate::clock;
use crate::model::ids::RecordKey;
use crate::model::tempo::Tempo;
use crate::store::lock::Kind;
use crate::supervise::{Signal, StopReason};
use crate::tell::lines::Lines;
use crate::ui::Outside;

/// Sentences that may wait to be printed.
const SENTENCES: usize = 16;

/// Watches all runs, or one until it is over. Whoever drives is followed; nobody is replaced.
///
/// # Errors
/// There is no such run, or the home cannot be opened.
pub fn watch(home: Option<&Path>, run: Option<&str>, json: bool) -> Result<(), Failure> {
    let ground = Ground::find(home)?;
    drive::tell_problems(&ground);
    let only = match run {
        Some(id) => Some(RecordKey::Run(show::find(&ground.records(), id)?.id.clone())),
        None => None,
    };
    let engine = Engine::watch(ground, Tempo::REAL)?;
    let (_call, calls) = mpsc::channel(1);
    let said = follow(&engine, only.as_ref(), calls, json);
    quietly(engine, said)
}

/// The dashboard's part without a screen: drives where nobody does, and takes over from a driver in the background.
///
/// # Errors
/// The home cannot be opened.
pub fn plain(ground: Ground) -> Result<(), Failure> {
    drive::tell_problems(&ground);
    let mut engine = match Place::take(&ground.home, Kind::Foreground)? {
        Place::Ours(lock) => Engine::start_in(ground, lock, How::Drive, Tempo::REAL)?,
        Place::Theirs(_) => Engine::watch(ground, Tempo::REAL)?,
    };
    engine.tell(Seat::Plain);
    let (call, calls) = mpsc::channel(SENTENCES);
    engine.come_back(call);
    let said = follow(&engine, None, calls, false);
    let waits = engine.handle.projection().runs.iter().filter(|run| !drive::is_over(run)).count();
    let is_asked = matches!(engine.supervisor.reason(), Some(StopReason::Signal(Signal::Interrupt | Signal::Quit)));
    quietly(engine, said)?;
    match waits {
        1.. if is_asked => {
            out::line(&format!("{waits} not driven until the next start; trellis drive --background goes on"))
        }
        _ => Ok(()),
    }
}

/// Ends; a reader that went away is no failure.
fn quietly(engine: Engine, said: Result<(), Failure>) -> Result<(), Failure> {
    let finished = engine.finish();
    match said {
        Err(failure) if failure == Failure::said() => finished,
        said => finished.and(said),
    }
}

fn follow(
    engine: &Engine,
    only: Option<&RecordKey>,
    mut calls: mpsc::Receiver<Outside>,
    json: bool,
) -> Result<(), Failure> {
    let mut lines = Lines::new(only.cloned());
    let zone = TimeZone::system();
    let say = |words: &str| {
        if json {
            return out::json(&serde_json::json!({"at": clock::now(), "says": words}));
        }
        let clock = clock::now().to_zoned_datetime(zone.clone()).strftime("%H:%M:%S").to_string();
        out::line(&out::plain(&format!("{clock} {words}")))
    };
    engine.block_on(async {
        let mut projections = engine.handle.projections();
        let mut is_called = true;
        loop {
            let projection = projections.borrow_and_update().clone();
            for line in lines.look(&projection) {
                say(&line)?;
            }
            // What is still being looked at was not said yet.
            if let Some(run) = only.and_then(|key| projection.runs.iter().find(|run| run.key == *key))
                && drive::is_over(run)
                && !projection.looking
            {
                return Ok(());
            }
            tokio::select! {
                changed = projections.changed() => if changed.is_err() { return Ok(()) },
                call = calls.recv(), if is_called => match call {
                    Some(Outside::Say { words, .. }) => say(&words)?,
                    Some(Outside::Bytes(_) | Outside::Suspend) => {}
                    None => is_called = false,
                },
                _ = engine.supervisor.stopped() => return Ok(()),
            }
        }
    })
}
