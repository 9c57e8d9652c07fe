//! Files that are not what trellis wrote: bad ones, newer ones, another program's, changed ones.

use pretty_assertions::assert_eq;
use serde_json::json;
use trellis::driver::ports::{Cause, Loaded, Records, SaveError};
use trellis::model::ids::RecordKey;
use trellis::model::outbox::EntryState;
use trellis::model::run::RunState;
use trellis::paths::Home;
use trellis::store::files::Files as _;
use trellis::store::reader::Reader;
use trellis::store::sim_files::{Fault, SimFiles};

use super::making::{at, entry, pair, run, stopped, store};

#[test]
fn s1_bad_files_go_to_quarantine_by_name_and_the_others_load() {
    let disk = SimFiles::new();
    store(&disk).save_pair(&pair("good")).unwrap();
    store(&disk).save_run(&run("good")).unwrap();
    let whole = disk.get("/h/pairs/good.json").unwrap();
    disk.put("/h/pairs/empty.json", b"");
    disk.put("/h/pairs/half.json", &whole[..whole.len() / 2]);
    disk.put("/h/pairs/list.json", b"[1,2]");
    disk.put("/h/pairs/copy-of-good.json", &whole);
    disk.put("/h/checklist-runs/shape.json", br#"{"schema":1,"id":"shape"}"#);
    disk.put("/h/quarantine/empty.json", b"an older one");
    let loaded = store(&disk).load();
    assert_eq!((loaded.pairs.len(), loaded.runs.len()), (1, 1));
    for name in ["empty", "half", "list", "copy-of-good", "shape"] {
        assert!(loaded.notices.iter().any(|notice| notice.contains(&format!("/{name}.json"))), "{name}");
    }
    assert_eq!(loaded.notices.len(), 5);
    assert_eq!(disk.get("/h/quarantine/empty.json").unwrap(), b"an older one");
    assert_eq!(disk.get("/h/quarantine/empty.json.1").unwrap(), b"");
    assert_eq!(disk.get("/h/quarantine/half.json").unwrap(), &whole[..whole.len() / 2]);
    // Said once; shown for as long as it lies there, with what can be done.
    let rows = |loaded: &Loaded| {
        let keys: Vec<String> = loaded.read_only.iter().map(|unread| unread.key.as_str().to_owned()).collect();
        assert!(loaded.read_only.iter().all(|unread| unread.cause == Cause::Damaged), "{:?}", loaded.read_only);
        keys
    };
    assert_eq!(rows(&loaded), ["copy-of-good", "empty", "half", "list", "shape"]);
    let again = store(&disk).load();
    assert_eq!((again.notices.len(), rows(&again)), (0, rows(&loaded)));
    let half = again.read_only.iter().find(|unread| unread.key.as_str() == "half").unwrap().sentence();
    assert!(half.starts_with("it is no whole JSON; mend"), "{half}");
    let remedy = "mend quarantine/half.json and move it back to checklist-runs/half.json, or remove it, then start";
    assert!(half.contains(remedy), "{half}");
    // The newest of one name counts, and what was taken out is told no more.
    let empty = again.read_only.iter().find(|unread| unread.key.as_str() == "empty").unwrap().sentence();
    assert!(empty.contains("quarantine/empty.json.1"), "{empty}");
    for name in ["empty.json", "empty.json.1", "list.json", "copy-of-good.json", "shape.json", "half.json"] {
        disk.remove(std::path::Path::new(&format!("/h/quarantine/{name}"))).unwrap();
    }
    assert_eq!(store(&disk).load().read_only.len(), 0);
}

/// Whatever one byte of a record becomes: it is read as a record, or shown; its bytes stay, and the others load.
#[test]
fn a_byte_that_flips_anywhere_in_a_record_loses_nothing_of_it_or_of_others() {
    let disk = SimFiles::new();
    let mut talking = pair("p1");
    talking.outbox.push(entry("p1", 1, "a message", EntryState::Delivered));
    store(&disk).save_pair(&talking).unwrap();
    store(&disk).save_run(&run("r1")).unwrap();
    store(&disk).save_pair(&pair("good")).unwrap();
    store(&disk).save_run(&run("good")).unwrap();
    let mut met = [0, 0];
    for (folder, name) in [("pairs", "p1"), ("checklist-runs", "r1")] {
        let path = format!("/h/{folder}/{name}.json");
        let whole = disk.get(&path).unwrap();
        for at in 0..whole.len() {
            for bit in [0x01, 0x20, 0x80] {
                let mut flipped = whole.clone();
                flipped[at] ^= bit;
                disk.put(&path, &flipped);
                let loaded = store(&disk).load();
                let what = format!("{path}, byte {at}, bit {bit:#x}: {:?}", loaded.notices);
                let is_read = loaded.pairs.len() + loaded.runs.len() == 4;
                met[usize::from(is_read)] += 1;
                assert!(loaded.pairs.iter().any(|pair| pair.id.as_str() == "good"), "{what}");
                assert!(loaded.runs.iter().any(|run| run.id.as_str() == "good"), "{what}");
                assert_eq!(is_read, loaded.read_only.is_empty(), "{what}");
                // Where it lay, or in the quarantine, and nowhere twice.
                let away = format!("/h/quarantine/{name}.json");
                let kept = [&path, &away].map(|place| disk.get(place) == Some(flipped.clone()));
                assert_eq!(kept.iter().filter(|kept| **kept).count(), 1, "{what}");
                disk.remove(std::path::Path::new(&away)).unwrap();
            }
        }
        disk.put(&path, &whole);
    }
    assert!(met.iter().all(|count| *count > 100), "{met:?}");
}

/// A run that cannot be read is no reason to take its pairs for orphans: neither now nor at a later start.
#[test]
fn a_run_that_was_put_away_still_owns_its_pairs() {
    let disk = SimFiles::new();
    store(&disk).save_run(&run("r1")).unwrap();
    store(&disk).save_run(&run("r12")).unwrap();
    store(&disk).save_pair(&pair("r1-p1")).unwrap();
    let whole = disk.get("/h/checklist-runs/r1.json").unwrap();
    disk.put("/h/checklist-runs/r1.json", &whole[..whole.len() - 20]);
    for start in 0..3 {
        let loaded = store(&disk).load();
        assert_eq!((loaded.pairs.len(), loaded.runs.len(), loaded.read_only.len()), (1, 1, 1), "start {start}");
        assert_eq!(loaded.read_only[0].key, RecordKey::Run("r1".into()));
        let owns = |id: &str| loaded.read_only[0].owns(&id.into());
        assert!(owns("r1-p1") && owns("r1-p12-n2") && !owns("r12-p1") && !owns("r1"));
    }
    // Mended where it lies it is still not back.
    disk.put("/h/quarantine/r1.json", &whole);
    let loaded = store(&disk).load();
    assert!(loaded.read_only[0].sentence().contains("move quarantine/r1.json back"), "{:?}", loaded.read_only);
    disk.rename(std::path::Path::new("/h/quarantine/r1.json"), std::path::Path::new("/h/checklist-runs/r1.json"))
        .unwrap();
    let loaded = store(&disk).load();
    assert_eq!((loaded.runs.len(), loaded.read_only.len()), (2, 0));
}

/// A run that took its pair for gone would write the review off: it is held as long as the pair cannot be read.
#[test]
fn a_run_whose_pair_cannot_be_read_is_held_with_it() {
    let disk = SimFiles::new();
    let mut reviewing = run("r1");
    reviewing.current_pair_id = Some("r1-p1".into());
    let other = run("r2");
    store(&disk).save_run(&reviewing).unwrap();
    store(&disk).save_run(&other).unwrap();
    store(&disk).save_pair(&pair("r1-p1")).unwrap();
    let whole = disk.get("/h/pairs/r1-p1.json").unwrap();
    disk.put("/h/pairs/r1-p1.json", &whole[1..]);
    for start in 0..2 {
        let loaded = store(&disk).load();
        assert_eq!(loaded.runs, std::slice::from_ref(&other), "start {start}");
        let held = loaded.read_only.iter().find(|held| held.key == RecordKey::Run("r1".into())).unwrap();
        assert!(held.why.starts_with("the record of its review: it is no whole JSON"), "{held:?}");
        assert!(held.remedy.contains("quarantine/r1-p1.json"), "{held:?}");
        assert!(reviewing.implementer.key() != reviewing.reviewer.key() && held.uses(&reviewing.reviewer.key()));
    }
    let loaded = Reader::with_files(super::home(), disk.clone()).load();
    assert_eq!(loaded.runs, std::slice::from_ref(&other), "a viewer sees the same");
    disk.put("/h/pairs/r1-p1.json", &whole);
    disk.remove(std::path::Path::new("/h/quarantine/r1-p1.json")).unwrap();
    let loaded = store(&disk).load();
    assert_eq!((loaded.runs, loaded.read_only.len()), (vec![reviewing, other], 0));
}

/// A folder that cannot be listed is no empty one.
#[test]
fn runs_whose_folder_cannot_be_read_are_not_gone() {
    let disk = SimFiles::new();
    let mut reviewing = run("r1");
    reviewing.current_pair_id = Some("r1-p1".into());
    store(&disk).save_run(&reviewing).unwrap();
    store(&disk).save_pair(&pair("r1-p1")).unwrap();
    let before = disk.calls();
    let _ = store(&disk).load();
    let calls = disk.calls() - before;
    let mut met = 0;
    for at in 0..calls {
        disk.fail_at(at, Fault::Io);
        let loaded = store(&disk).load();
        disk.heal();
        let has_run = !loaded.runs.is_empty();
        let keeps_pair = loaded.runs_unread || loaded.read_only.iter().any(|unread| unread.owns(&"r1-p1".into()));
        met += u32::from(!has_run);
        assert!(has_run || keeps_pair, "call {at}: the pair would be taken for an orphan");
        assert!(!has_run || !loaded.pairs.is_empty(), "call {at}: the pair would be taken for gone");
        // Whoever only looks takes them for gone as little.
        disk.fail_at(at, Fault::Io);
        let seen = Reader::with_files(super::home(), disk.clone()).load();
        disk.heal();
        assert!(!seen.runs.is_empty() || seen.runs_unread || !seen.read_only.is_empty(), "a viewer, call {at}");
    }
    assert!(met >= 4, "both folders and both records: {met}");
}

#[test]
fn s5_a_newer_or_foreign_record_is_shown_and_its_bytes_stay() {
    let disk = SimFiles::new();
    let mut newer = serde_json::to_value(pair("newer")).unwrap();
    newer["schema"] = json!(2);
    newer["what_it_is"] = json!({"unknown": [1, 2]});
    let newer = serde_json::to_vec_pretty(&newer).unwrap();
    let foreign = br#"{"id":"go","state":"running","rounds":[]}"#;
    disk.put("/h/pairs/newer.json", &newer);
    disk.put("/h/checklist-runs/go.json", foreign);
    disk.put("/h/checklist-runs/odd.json", br#"{"schema":"one"}"#);
    let mut loading = store(&disk);
    let loaded = loading.load();
    assert_eq!((loaded.pairs.len(), loaded.runs.len(), loaded.notices.len()), (0, 0, 0));
    let shown: Vec<_> = loaded.read_only.iter().map(|shown| (shown.key.as_str(), shown.why.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("go", "written by another program (it names no schema)"),
            ("odd", "written by another program (it names no schema)"),
            ("newer", "written by a newer trellis (schema 2)"),
        ]
    );
    assert_eq!(loaded.read_only[2].value["what_it_is"], json!({"unknown": [1, 2]}));
    // Neither written over, nor removed, nor taken as ours.
    assert!(matches!(loading.save_pair(&pair("newer")), Err(SaveError::Changed { .. })));
    assert!(loading.discard(&RecordKey::Pair("newer".into())).is_err());
    assert!(loading.adopt_pair(&"newer".into()).is_err());
    assert_eq!(disk.get("/h/pairs/newer.json").unwrap(), newer);
    assert_eq!(disk.get("/h/checklist-runs/go.json").unwrap(), foreign);
}

/// Two readings of one home list its records alike, by name: what a script finds in the third row stays there.
#[test]
fn records_that_are_not_ours_are_listed_by_name_by_the_driver_and_by_a_viewer() {
    let disk = SimFiles::new();
    let names: Vec<String> = (0..12).map(|number| format!("run-{number:02}")).collect();
    for name in names.iter().rev() {
        disk.put(format!("/h/checklist-runs/{name}.json"), br#"{"schema": 99}"#);
    }
    let listed = |loaded: Loaded| -> Vec<String> {
        loaded.read_only.iter().map(|unread| unread.key.as_str().to_owned()).collect()
    };
    assert_eq!(listed(Reader::with_files(super::home(), disk.clone()).load()), names);
    assert_eq!(listed(store(&disk).load()), names);
}

#[test]
fn record_changed_writes_nothing_over_it_and_keeps_ours_beside_it() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let mut ours = pair("p1");
    writing.save_pair(&ours).unwrap();
    let foreign = serde_json::to_vec(&json!({"schema": 1, "note": "not whole"})).unwrap();
    disk.put("/h/pairs/p1.json", &foreign);
    ours.revision = 2;
    ours.outbox.push(entry("p1", 1, "a message", EntryState::Prepared));
    let changed = writing.save_pair(&ours).unwrap_err();
    let expected =
        SaveError::Changed { file: "/h/pairs/p1.json".to_owned(), kept_as: "/h/pairs/p1.ours.json".to_owned() };
    assert_eq!(changed, expected);
    assert_eq!(disk.get("/h/pairs/p1.json").unwrap(), foreign);
    let kept: trellis::model::pair::PairRecord =
        serde_json::from_slice(&disk.get("/h/pairs/p1.ours.json").unwrap()).unwrap();
    assert_eq!(kept.revision, 2);
    // Not taken away by trying again.
    assert_eq!(writing.save_pair(&ours).unwrap_err(), expected);
    // Resume: it cannot be read, so it is refused.
    assert!(writing.adopt_pair(&"p1".into()).is_err());
    // Stop: the foreign file is put away and ours is written.
    writing.displace(&RecordKey::Pair("p1".into())).unwrap();
    assert_eq!(disk.get("/h/quarantine/p1.json").unwrap(), foreign);
    writing.save_pair(&ours).unwrap();
    assert_eq!(store(&disk).load().pairs, [ours]);
    assert_eq!(disk.get("/h/pairs/p1.ours.json"), None);
}

#[test]
fn record_changed_resume_takes_the_file_on_the_disk() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let mut ours = run("r1");
    ours.outbox.push(entry("r1", 1, "a message", EntryState::Delivered));
    writing.save_run(&ours).unwrap();
    let mut theirs = ours.clone();
    theirs.name = "by hand".to_owned();
    theirs.revision = 9;
    disk.put("/h/checklist-runs/r1.json", &serde_json::to_vec_pretty(&theirs).unwrap());
    ours.revision = 2;
    assert!(matches!(writing.save_run(&ours), Err(SaveError::Changed { .. })));
    let adopted = writing.adopt_run(&"r1".into()).unwrap();
    assert_eq!(adopted, theirs, "with its texts");
    writing.save_run(&adopted).unwrap();
    assert_eq!(store(&disk).load().runs, [theirs]);
}

#[test]
fn a_record_that_somebody_removed_is_changed_too() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    writing.save_pair(&pair("p1")).unwrap();
    disk.remove(std::path::Path::new("/h/pairs/p1.json")).unwrap();
    assert!(matches!(writing.save_pair(&pair("p1")), Err(SaveError::Changed { .. })));
    assert!(writing.adopt_pair(&"p1".into()).is_err());
    writing.displace(&RecordKey::Pair("p1".into())).unwrap();
    writing.save_pair(&pair("p1")).unwrap();
}

#[test]
fn a_crash_between_putting_theirs_away_and_writing_ours_loses_neither() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let ours = pair("p1");
    writing.save_pair(&ours).unwrap();
    disk.put("/h/pairs/p1.json", b"{}");
    assert!(writing.save_pair(&ours).is_err());
    writing.displace(&RecordKey::Pair("p1".into())).unwrap();
    disk.crash(|| false);
    let mut again = store(&disk);
    let loaded = again.load();
    assert_eq!(loaded.pairs, std::slice::from_ref(&ours));
    assert_eq!(loaded.notices.len(), 1, "{:?}", loaded.notices);
    assert_eq!(disk.get("/h/quarantine/p1.json").unwrap(), b"{}");
    again.save_pair(&ours).unwrap();
}

/// A status line asks every few seconds: what has ended costs it one small record, however many reviews it had.
#[test]
fn a_glance_reads_no_review_of_a_run_that_has_ended() {
    let disk = SimFiles::new();
    let mut store = store(&disk);
    let mut ended = run("old");
    (ended.state, ended.stopped_at, ended.current_pair_id) = (RunState::Stopped, Some(at(9)), Some("old-p2".into()));
    store.save_run(&ended).unwrap();
    store.save_run(&run("new")).unwrap();
    // One whose id begins like that of the run, and one by itself.
    for id in ["old-p1", "old-p2", "new-p1", "older-p1", "alone"] {
        store.save_pair(&stopped(pair(id), 9)).unwrap();
    }
    let read = |reader: Reader<SimFiles>| {
        let loaded = { reader }.load();
        loaded.pairs.iter().map(|pair| pair.id.as_str().to_owned()).collect::<Vec<_>>()
    };
    let home = Home::at("/h");
    assert_eq!(
        read(Reader::with_files(home.clone(), disk.clone()).standing()),
        ["alone", "new-p1", "old-p2", "older-p1"]
    );
    assert_eq!(read(Reader::with_files(home, disk.clone())).len(), 5);
}
