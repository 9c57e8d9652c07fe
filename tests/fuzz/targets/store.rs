//! The store's loader and its record decoders, on a disk in memory: whatever stands in a file of the home, a start reads
//! it without a panic, loses no byte of it, and what it takes for a record survives being saved.

use std::path::PathBuf;

use jiff::Timestamp;
use trellis::driver::ports::{Loaded, Records as _};
use trellis::paths::Home;
use trellis::store::reader::Reader;
use trellis::store::sim_files::SimFiles;
use trellis::store::{Store, trim};

const HOME: &str = "/h";

/// One file of the home, which one is the last byte.
pub fn load(bytes: &[u8]) {
    let (kind, bytes) = super::choice(bytes, 8);
    let file = match kind {
        0 | 1 => "checklist-runs/r1.json",
        2 | 3 => "pairs/r1-p1.json",
        4 => "sessions/claude-c-1.json",
        5 => "events.jsonl",
        6 => "logs/decisions.jsonl",
        _ => "pairs/r1-p1.ours.json",
    };
    let disk = SimFiles::new();
    let path = PathBuf::from(HOME).join(file);
    disk.put(&path, bytes);
    // Beside it what belongs to a record: texts and what has moved out of it.
    disk.put(format!("{HOME}/pairs/r1-p1/outbox.jsonl"), bytes);
    disk.put(format!("{HOME}/checklist-runs/r1/outbox.jsonl"), bytes);
    disk.put(format!("{HOME}/pairs/r1-p1/rounds.jsonl"), bytes);

    let seen = Reader::with_files(Home::at(HOME), disk.clone()).load();
    let mut store = Store::with_files(Home::at(HOME), disk.clone());
    let loaded = store.load();
    if kind != 7 {
        assert_eq!((&seen.runs, &seen.pairs), (&loaded.runs, &loaded.pairs), "who looks sees what is driven");
    }
    // The bytes of a record are where they were, or in the quarantine.
    if kind < 4 {
        assert!(disk.paths().iter().any(|path| disk.get(path).is_some_and(|there| there == bytes)), "bytes are lost");
    }
    for notice in &loaded.notices {
        let line = trellis::ui::sanitise::clean_line(notice);
        super::is_harmless(&line);
    }
    survives(&disk, &mut store, loaded);
    let _ = store.hook_notes(Timestamp::UNIX_EPOCH);
}

/// What was loaded can be saved, and is then loaded alike.
fn survives(disk: &SimFiles, store: &mut Store<SimFiles>, mut loaded: Loaded) {
    for run in &mut loaded.runs {
        run.revision = run.revision.wrapping_add(1);
        let _ = trim::run(run);
        store.save_run(run).expect("a run that was loaded can be saved");
    }
    for pair in &mut loaded.pairs {
        pair.revision = pair.revision.wrapping_add(1);
        let _ = trim::pair(pair);
        store.save_pair(pair).expect("a pair that was loaded can be saved");
    }
    for (key, note) in &loaded.sessions {
        let _ = store.save_session(key, note);
    }
    let again = Store::with_files(Home::at(HOME), disk.clone()).load();
    assert_eq!(again.runs, loaded.runs, "a run is what was saved");
    assert_eq!(again.pairs, loaded.pairs, "a pair is what was saved");
}
