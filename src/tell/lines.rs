//! A sentence for every change of a run: what `trellis watch` prints, for screen readers, logs and slow lines. Pure.

use std::collections::BTreeMap;

use super::clean;
use crate::model::ids::RecordKey;
use crate::model::run::AttemptStatus;
use crate::projection::words::count;
use crate::projection::{DriverFact, PhaseView, Projection, RunView};

/// What was said of a run last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    line: String,
    phases: Vec<(u32, AttemptStatus)>,
}

/// Remembers what was said, so that each change is said once.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    only: Option<RecordKey>,
    driver: Option<DriverFact>,
    notices: usize,
    runs: BTreeMap<RecordKey, Said>,
}

impl Lines {
    /// Of every run, or of one.
    #[must_use]
    pub fn new(only: Option<RecordKey>) -> Self {
        Self { only, ..Self::default() }
    }

    /// The sentences that are new, oldest first. The first look says how everything stands.
    pub fn look(&mut self, projection: &Projection) -> Vec<String> {
        if projection.at.is_none() || projection.looking {
            return Vec::new();
        }
        let mut lines = Vec::new();
        if self.driver.as_ref() != Some(&projection.driver) {
            lines.extend(driver(&projection.driver));
            self.driver = Some(projection.driver.clone());
        }
        for notice in projection.notices.iter().skip(self.notices) {
            lines.push(clean(&notice.text));
        }
        self.notices = projection.notices.len();
        let only = self.only.as_ref();
        for run in projection.runs.iter().filter(|run| only.is_none_or(|key| run.key == *key)) {
            let is_new = !self.runs.contains_key(&run.key);
            let said = self.runs.entry(run.key.clone()).or_default();
            let phases: Vec<(u32, AttemptStatus)> = run.phases.iter().map(|phase| (phase.n, phase.status)).collect();
            if !is_new {
                let ended = run
                    .phases
                    .iter()
                    .enumerate()
                    .filter(|(at, phase)| said.phases.get(*at).is_none_or(|(_, before)| *before != phase.status));
                lines.extend(ended.filter_map(|(_, phase)| phase_line(run, phase)));
            }
            let line = line(run);
            if said.line != line {
                lines.push(line.clone());
            }
            *said = Said { line, phases };
        }
        let gone: Vec<RecordKey> =
            self.runs.keys().filter(|key| !projection.runs.iter().any(|run| run.key == **key)).cloned().collect();
        for key in gone {
            self.runs.remove(&key);
            lines.push(format!("{} was removed", clean(key.as_str())));
        }
        lines
    }
}

fn driver(fact: &DriverFact) -> Option<String> {
    Some(match fact {
        DriverFact::Starting => return None,
        DriverFact::Here => "this process drives".to_owned(),
        DriverFact::Elsewhere { background: true, .. } => format!("{} drives in the background", fact.who()?),
        DriverFact::Elsewhere { .. } => format!("{} drives", fact.who()?),
        DriverFact::Silent { .. } => format!("{}; nothing goes on", fact.refuses()?),
        DriverFact::Nobody => "nobody drives".to_owned(),
    })
}

/// How a run stands, in a sentence.
#[must_use]
pub fn line(run: &RunView) -> String {
    let phase = match run.phase.filter(|_| run.stopped_at.is_none()) {
        Some(_) if run.phase_asked => " next phase".to_owned(),
        Some(n) => format!(" phase {n}"),
        None => String::new(),
    };
    let state = if run.state_word == "going" { String::new() } else { format!("{}: ", run.state_word) };
    clean(&format!("{}{phase}: {state}{}", run.name, run.sentence))
}

fn phase_line(run: &RunView, phase: &PhaseView) -> Option<String> {
    let how = match (phase.how(), phase.status) {
        (Some(how), _) => how.word(phase.reviewed),
        (None, AttemptStatus::Stopped) => "stopped",
        (None, AttemptStatus::Error) => "failed",
        (None, _) => return None,
    };
    let relays = count(phase.relays, "relay");
    Some(clean(&format!("{} phase {} {how} after {relays}: {}", run.name, phase.n, phase.summary)))
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
