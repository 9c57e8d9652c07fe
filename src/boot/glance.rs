//! One look at a home by its files alone: no runtime, no watching, no transcript, no agent. For a status line.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Ground;
use crate::clock;
use crate::driver::core::{Core, Options};
use crate::driver::viewer::{NoAgents, NoTranscripts, ReadRecords, Shelf as _};
use crate::paths::Home;
use crate::projection::summary::{Past, Summary};
use crate::projection::{DriverFact, Projection, RunView, Standing};
use crate::store::reader::Reader;

impl Ground {
    /// How everything stands, as far as the records and the events of whoever drives tell.
    #[must_use]
    pub fn glance(&self) -> Projection {
        glance(&self.home)
    }

    /// What happened since a time, by the files alone.
    #[must_use]
    pub fn happened_since(&self, since: Timestamp) -> Summary {
        happened(&self.home, since, &self.glance())
    }
}

/// How a home stands.
pub(super) fn glance(home: &Home) -> Projection {
    let now = clock::now();
    let mut reader = Reader::new(home.clone()).standing();
    let driver = reader.driver();
    let asks = match driver {
        DriverFact::Elsewhere { .. } | DriverFact::Silent { .. } => reader.sessions_that_ask(),
        DriverFact::Starting | DriverFact::Here | DriverFact::Nobody => Vec::new(),
    };
    let options = Options {
        home: home.root().display().to_string(),
        zone: TimeZone::system(),
        observes: false,
        driver: driver.clone(),
        ..Options::default()
    };
    let mut core = Core::start(ReadRecords::new(reader), NoTranscripts, NoAgents, options, now);
    let mut projection = (*core.projection(now)).clone();
    projection.driver = driver;
    for at in 0..projection.runs.len() {
        let Some(run) = projection.runs.get(at) else { continue };
        let side = [&run.implementer, &run.reviewer].into_iter().find(|side| asks.contains(&side.session.session_id));
        let label = side.map(|side| side.label.clone());
        if let Some((label, run)) = label.zip(projection.runs.get_mut(at)) {
            ask(run, &label);
        }
    }
    projection
}

/// What happened in a home since a time, from its files; `now`: how everything stands.
pub(super) fn happened(home: &Home, since: Timestamp, now: &Projection) -> Summary {
    let loaded = Reader::new(home.clone()).load();
    let events = super::events(home);
    let past = Past { runs: &loaded.runs, pairs: &loaded.pairs, events: &events, now };
    Summary::of(past, since, clock::now())
}

/// An open dialog stands in no record: it shows only where whoever drives has seen it.
fn ask(run: &mut RunView, label: &str) {
    if matches!(run.standing, Standing::Going | Standing::Waits) {
        run.standing = Standing::NeedsYou;
        "needs you".clone_into(&mut run.state_word);
        run.sentence = format!("{label} asks for approval");
    }
}
