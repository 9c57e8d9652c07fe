//! The whole projection from facts. Pure: called after each step, cheap for what did not change.

use super::facts::Facts;
use super::{Projection, record, sessions};

/// Everything a viewer draws.
#[must_use]
pub fn projection(facts: &Facts<'_>) -> Projection {
    let mut runs: Vec<_> = facts.records.iter().filter_map(|one| record::view(one, facts)).collect();
    runs.extend(facts.read_only.iter().filter_map(super::foreign::view));
    Projection {
        seq: facts.seq,
        at: Some(facts.now),
        looking: false,
        driver: facts.driver.clone(),
        home: facts.home.to_owned(),
        notices: facts.notices.to_vec(),
        runs,
        sessions: sessions::list(facts),
        launches: Vec::new(),
        log: facts.log.clone(),
        shown: facts.shown.clone(),
    }
}
