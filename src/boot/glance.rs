//! One look at a home by its files alone: no runtime, no watching, no transcript, no agent. For a status line.

use jiff::tz::TimeZone;

use super::Ground;
use crate::clock;
use crate::driver::core::{Core, Options};
use crate::driver::viewer::{NoAgents, NoTranscripts, ReadRecords, Shelf as _};
use crate::projection::{DriverFact, Projection, RunView, Standing};
use crate::store::reader::Reader;

impl Ground {
    /// How everything stands, as far as the records and the events of whoever drives tell.
    #[must_use]
    pub fn glance(&self) -> Projection {
        let now = clock::now();
        let mut reader = Reader::new(self.home.clone());
        let driver = reader.driver();
        let asks = match driver {
            DriverFact::Elsewhere { .. } => reader.sessions_that_ask(),
            DriverFact::Starting | DriverFact::Here | DriverFact::Nobody => Vec::new(),
        };
        let options = Options {
            home: self.home.root().display().to_string(),
            zone: TimeZone::system(),
            observes: false,
            driver: driver.clone(),
            ..Options::default()
        };
        let mut core = Core::start(ReadRecords::new(reader), NoTranscripts, NoAgents, options, now);
        let mut projection = (*core.projection(now)).clone();
        projection.driver = driver;
        for run in &mut projection.runs {
            let side =
                [&run.implementer, &run.reviewer].into_iter().find(|side| asks.contains(&side.session.session_id));
            if let Some(label) = side.map(|side| side.label.clone()) {
                ask(run, &label);
            }
        }
        projection
    }
}

/// An open dialog stands in no record: it shows only where whoever drives has seen it.
fn ask(run: &mut RunView, label: &str) {
    if matches!(run.standing, Standing::Going | Standing::Waits) {
        run.standing = Standing::NeedsYou;
        "needs you".clone_into(&mut run.state_word);
        run.sentence = format!("{label} asks for approval");
    }
}
