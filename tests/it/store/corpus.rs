//! Records of every schema that was ever written, kept as files: each is read by the program of today, loses nothing when it
//! is saved again, and every state that a record can be in is among them. Nothing may be made anew here: a file of the
//! corpus is what a program wrote then.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use trellis::driver::ports::{Loaded, Records as _};
use trellis::model::event::{Decision, Event};
use trellis::model::outbox::EntryState;
use trellis::model::pair::{PairState, PairStep, PairStop, PauseReason, SCHEMA};
use trellis::model::run::{AttemptStatus, RunState, RunStep, RunStop};
use trellis::paths::Home;
use trellis::store::Store;

fn corpus(schema: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/state/v{schema}"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let place = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &place);
        } else {
            fs::copy(&path, &place).unwrap();
        }
    }
}

fn values(folder: &Path) -> Vec<(String, Value)> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let records = paths.filter(|path| path.extension().is_some_and(|kind| kind == "json"));
    let mut values: Vec<(String, Value)> = records
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, serde_json::from_slice(&fs::read(&path).unwrap()).unwrap())
        })
        .collect();
    values.sort_by(|a, b| a.0.cmp(&b.0));
    values
}

/// What stands in the old value and not, or otherwise, in the new one.
fn lost(at: &str, old: &Value, new: &Value) -> Vec<String> {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let of = |key: &String| new.get(key).unwrap_or(&Value::Null);
            old.iter().flat_map(|(key, value)| lost(&format!("{at}.{key}"), value, of(key))).collect()
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            old.iter().zip(new).flat_map(|(old, new)| lost(&format!("{at}[]"), old, new)).collect()
        }
        (old, new) if old == new => Vec::new(),
        (old, new) => vec![format!("{at}: {old} became {new}")],
    }
}

#[test]
fn every_record_of_every_schema_is_read_and_loses_nothing() {
    for schema in 1..=SCHEMA {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        copy(&corpus(schema), home.root());
        let (runs, pairs) = (values(&home.runs()), values(&home.pairs()));
        let mut store = Store::new(home.clone());
        let Loaded { runs: read_runs, pairs: read_pairs, read_only, sessions, notices, .. } = store.load();
        assert!(read_only.is_empty() && notices.is_empty(), "{read_only:?} {notices:?}");
        assert_eq!((read_runs.len(), read_pairs.len()), (runs.len(), pairs.len()));
        assert_eq!(sessions.len(), values(&home.sessions()).len());
        for record in &read_runs {
            store.save_run(record).unwrap();
        }
        for record in &read_pairs {
            store.save_pair(record).unwrap();
        }
        let mut wrong = Vec::new();
        let written = [(runs, values(&home.runs())), (pairs, values(&home.pairs()))];
        for (old, new) in written.iter().flat_map(|(old, new)| old.iter().zip(new)) {
            assert_eq!(old.0, new.0);
            wrong.extend(lost(&old.0, &old.1, &new.1));
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        let again = Store::new(home.clone()).load();
        let by_id = |mut ids: Vec<String>| {
            ids.sort();
            ids
        };
        assert_eq!(
            by_id(again.runs.iter().map(|run| format!("{run:?}")).collect()),
            by_id(read_runs.iter().map(|run| format!("{run:?}")).collect())
        );
        assert_eq!(
            by_id(again.pairs.iter().map(|pair| format!("{pair:?}")).collect()),
            by_id(read_pairs.iter().map(|pair| format!("{pair:?}")).collect())
        );
        for line in fs::read_to_string(home.events()).unwrap().lines() {
            serde_json::from_str::<Event>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        }
        for line in fs::read_to_string(home.decisions()).unwrap().lines() {
            serde_json::from_str::<Decision>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        }
    }
}

/// The names of all values of a kind; a new one does not compile before it is put here, and then wants its record.
macro_rules! all {
    ($kind:ident: $($value:ident),+) => {{
        let known = |value: $kind| match value { $($kind::$value => serde_json::to_value(value).unwrap(),)+ };
        [$(known($kind::$value)),+].into_iter().map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<String>>()
    }};
}

#[test]
fn every_state_a_record_can_be_in_is_among_those_of_the_newest_schema() {
    let root = Home::at(corpus(SCHEMA));
    let reasons = all!(PauseReason: Manual, UserTyped, NearMiss, NoAnswer, Limit, AgentError, AgentGone, DeliveryFailed,
        SessionChanged, RecordChanged, PhaseNotConverged, PairStopped, ReviewStartFailed, PhaseLimit);
    let entries = all!(EntryState: Prepared, Sent, Queued, Delivered, Withdrawn, Abandoned);
    let (of_pairs, of_runs): (Vec<String>, Vec<String>) = (
        // The last four are a run's, near misses a pair's.
        reasons[..10].to_vec(),
        reasons.iter().filter(|reason| *reason != "near_miss").cloned().collect(),
    );
    let wanted = [
        (root.runs(), "state", all!(RunState: Running, Paused, Stopped)),
        (root.runs(), "step", all!(RunStep: Probe, Review, Advance)),
        (root.runs(), "stop_reason", all!(RunStop: Completed, Manual, PeerError, SessionTrashed, ServerRestarted)),
        (root.runs(), "paused_reason", of_runs),
        (root.pairs(), "state", all!(PairState: Pending, Running, Paused, Stopped)),
        (root.pairs(), "step", all!(PairStep: AwaitImplementer, AwaitReviewer, ConfirmRelay)),
        (root.pairs(), "stop_reason", all!(PairStop: Lgtm, MaxRounds, Manual, PeerError, SessionTrashed)),
        (root.pairs(), "paused_reason", of_pairs),
    ];
    let mut missing = Vec::new();
    for (folder, key, names) in wanted {
        let there: BTreeSet<String> =
            values(&folder).iter().filter_map(|(_, record)| record[key].as_str().map(str::to_owned)).collect();
        missing.extend(names.iter().filter(|name| !there.contains(*name)).map(|name| format!("{key} {name}")));
    }
    let part = |folder: &Path, list: &str, key: &str| -> BTreeSet<String> {
        let records = values(folder);
        let parts = records.iter().flat_map(|(_, record)| record[list].as_array().into_iter().flatten());
        parts.filter_map(|part| part[key].as_str().map(str::to_owned)).collect()
    };
    let attempts = all!(AttemptStatus: Running, Converged, NotConverged, Skipped, Stopped, Error);
    let there = part(&root.runs(), "phases", "status");
    missing.extend(attempts.iter().filter(|name| !there.contains(*name)).map(|name| format!("attempt {name}")));
    for folder in [root.runs(), root.pairs()] {
        let there = part(&folder, "outbox", "state");
        missing.extend(entries.iter().filter(|name| !there.contains(*name)).map(|name| format!("entry {name}")));
    }
    assert!(missing.is_empty(), "no record of the corpus shows {missing:?}");
}
