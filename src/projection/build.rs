//! The whole projection from facts. Pure: called after each step, cheap for what did not change.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::{Projection, RunView, record, sessions, words};
use crate::driver::ports::ReadOnly;
use crate::model::ids::RecordKey;

/// Everything a viewer draws.
#[must_use]
pub fn projection(facts: &Facts<'_>) -> Projection {
    let mut runs: Vec<_> = facts.records.iter().filter_map(|one| record::view(one, facts)).collect();
    // The pair of a run that is told itself is no row of its own.
    let is_told = |unread: &ReadOnly| match &unread.key {
        RecordKey::Run(_) => false,
        RecordKey::Pair(pair) => facts.read_only.iter().any(|run| run.owns(pair)),
    };
    let unread = facts.read_only.iter().filter(|unread| !is_told(unread));
    runs.extend(unread.filter_map(|unread| super::foreign::view(unread, facts.now)));
    tell_apart(&mut runs);
    Projection {
        seq: facts.seq,
        at: Some(facts.now),
        looking: false,
        unread: 0,
        driver: facts.driver.clone(),
        takes_orders: false,
        home: facts.home.to_owned(),
        notices: facts.notices.to_vec(),
        runs,
        sessions: sessions::list(facts),
        launches: Vec::new(),
        log: facts.log.clone(),
        shown: facts.shown.clone(),
    }
}

/// Of several with one name the later ones get a number, everywhere they are named.
fn tell_apart(runs: &mut [RunView]) {
    let mut oldest_first: Vec<&mut RunView> = runs.iter_mut().collect();
    oldest_first.sort_by(|a, b| (a.created_at, &a.key).cmp(&(b.created_at, &b.key)));
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for run in oldest_first {
        let before = seen.entry(run.name.clone()).or_default();
        run.name = words::numbered(&run.name, *before);
        *before += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Stage, after, run};
    use super::*;

    #[test]
    fn of_several_with_one_name_the_later_ones_have_a_number() {
        let of = |id: &str, name: &str, at: i64| {
            let mut record = run();
            record.id = id.into();
            name.clone_into(&mut record.name);
            record.created_at = after(at);
            let stage = Stage::new(Some(record), None);
            record::view(&stage.record(), &stage.facts()).unwrap()
        };
        // Without a name a run is called as its folder is.
        let mut runs = vec![of("c", "", 30), of("a", "shop", 10), of("b", "other", 20), of("d", "shop", 40)];
        tell_apart(&mut runs);
        let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["shop 2", "shop", "other", "shop 3"]);
        assert_eq!((runs[0].given_name.as_str(), runs[3].given_name.as_str()), ("", "shop"));
    }
}
