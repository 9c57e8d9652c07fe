//! The whole projection from its parts. Pure: called after each step, cheap for what did not change.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::facts::Facts;
use super::{Projection, RunView, SessionView, words};
use crate::driver::ports::ReadOnly;
use crate::model::growing::Growing;
use crate::model::ids::RecordKey;

/// Everything a viewer draws. The runs have their names already.
#[must_use]
pub fn projection(facts: &Facts<'_>, runs: Growing<RunView>, sessions: Growing<SessionView>) -> Projection {
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
        sessions,
        launches: Vec::new(),
        log: facts.log.clone(),
        shown: facts.shown.clone(),
    }
}

/// The rows of records that are shown and never driven.
pub fn foreign<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = RunView> + 'a {
    // The pair of a run that is told itself is no row of its own.
    let is_told = |unread: &ReadOnly| match &unread.key {
        RecordKey::Run(_) => false,
        RecordKey::Pair(pair) => facts.read_only.iter().any(|run| run.owns(pair)),
    };
    let unread = facts.read_only.iter().filter(move |unread| !is_told(unread));
    unread.filter_map(|unread| super::foreign::view(unread, facts.now))
}

/// How many of the same name are older than each.
#[must_use]
pub fn older_namesakes(runs: &[Arc<RunView>]) -> Vec<usize> {
    let mut oldest_first: Vec<(usize, &Arc<RunView>)> = runs.iter().enumerate().collect();
    oldest_first.sort_by(|(_, a), (_, b)| (a.created_at, &a.key).cmp(&(b.created_at, &b.key)));
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut older = vec![0; runs.len()];
    for (at, run) in oldest_first {
        let before = seen.entry(&run.name).or_default();
        if let Some(older) = older.get_mut(at) {
            *older = *before;
        }
        *before += 1;
    }
    older
}

/// Of several with one name the later ones get a number, everywhere they are named.
#[must_use]
pub fn numbered(run: &Arc<RunView>, older: usize) -> Arc<RunView> {
    if older == 0 {
        return Arc::clone(run);
    }
    Arc::new(RunView { name: words::numbered(&run.name, older), ..(**run).clone() })
}

#[cfg(test)]
mod tests {
    use super::super::record;
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
            Arc::new(record::view(&stage.record(), &stage.facts()).unwrap())
        };
        // Without a name a run is called as its folder is.
        let runs = vec![of("c", "", 30), of("a", "shop", 10), of("b", "other", 20), of("d", "shop", 40)];
        let older = older_namesakes(&runs);
        let runs: Vec<_> = runs.iter().zip(older).map(|(run, older)| numbered(run, older)).collect();
        let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["shop 2", "shop", "other", "shop 3"]);
        assert_eq!((runs[0].given_name.as_str(), runs[3].given_name.as_str()), ("", "shop"));
    }
}
