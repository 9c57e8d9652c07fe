//! A save that fails or is cut off at any call: the old record or the new one, never another.

use pretty_assertions::assert_eq;
use trellis::driver::ports::Records;
use trellis::model::ids::RecordKey;
use trellis::model::outbox::EntryState;
use trellis::model::pair::PairRecord;
use trellis::store::Store;
use trellis::store::sim_files::{Fault, SimFiles};

use super::io_error;
use super::making::{entry, pair, round, run, store};

/// The record before a save and after it; the save writes a text, moves an entry and a round out, and replaces the file.
fn two_states() -> (PairRecord, PairRecord) {
    let mut old = pair("p1");
    for n in 1..=50 {
        old.outbox.push(entry("p1", n, "the same message", EntryState::Delivered));
        old.rounds.push(round(n, "the same message"));
    }
    let mut new = old.clone();
    new.revision = 2;
    new.outbox.push(entry("p1", 51, &"the newest message ".repeat(600), EntryState::Prepared));
    new.rounds.push(round(51, "the same message"));
    (old, new)
}

/// What a save makes of it.
fn trimmed(mut pair: PairRecord) -> PairRecord {
    let _ = trellis::store::trim::pair(&mut pair);
    pair
}

fn prepared() -> (SimFiles, Store<SimFiles>, PairRecord, PairRecord) {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let (old, new) = two_states();
    writing.save_pair(&old).unwrap();
    (disk, writing, old, new)
}

/// What a start finds: exactly one whole record, nothing in quarantine, and every entry that was ever saved.
#[track_caller]
fn found(disk: &SimFiles, at: &str) -> PairRecord {
    let mut loaded = store(disk).load();
    assert_eq!(loaded.notices, Vec::<String>::new(), "{at}");
    assert_eq!((loaded.pairs.len(), loaded.read_only.len()), (1, 0), "{at}");
    let pair = loaded.pairs.remove(0);
    let moved = loaded.older_entries.remove(&RecordKey::Pair("p1".into())).unwrap_or_default();
    let held: std::collections::BTreeSet<_> =
        moved.iter().chain(&pair.outbox).map(|entry| entry.id.as_str().to_owned()).collect();
    assert!((50..=51).contains(&held.len()), "{at}: {} entries", held.len());
    pair
}

/// Calls of the save from `two_states`.
fn calls_of_a_save() -> u64 {
    let (disk, mut writing, _, new) = prepared();
    let before = disk.calls();
    writing.save_pair(&new).unwrap();
    disk.calls() - before
}

#[test]
fn s1_a_fault_at_any_call_leaves_the_old_record_or_the_new_and_the_next_try_succeeds() {
    let calls = calls_of_a_save();
    assert!(calls > 15, "{calls} calls");
    for fault in [Fault::NoSpace, Fault::Io, Fault::ReadOnly, Fault::ShortWrite] {
        for at in 0..calls {
            let (disk, mut writing, old, new) = prepared();
            disk.fail_at(at, fault);
            let result = writing.save_pair(&new);
            disk.heal();
            let label = format!("{fault:?} at call {at} of {calls}");
            let after = found(&disk, &label);
            if result.is_ok() {
                assert_eq!(after, trimmed(new.clone()), "{label}");
            } else {
                assert!(after == old || after == trimmed(new.clone()), "{label}");
            }
            writing.save_pair(&new).unwrap_or_else(|error| panic!("{label}: tried again: {error}"));
            assert_eq!(found(&disk, &label), trimmed(new), "{label}");
        }
    }
}

#[test]
fn a_process_killed_at_any_call_leaves_the_old_record_or_the_new() {
    for at in 0..calls_of_a_save() {
        let (disk, mut writing, old, new) = prepared();
        disk.fail_at(at, Fault::Kill);
        assert!(writing.save_pair(&new).is_err() || at + 1 == calls_of_a_save());
        disk.revive();
        let label = format!("killed at call {at}");
        let after = found(&disk, &label);
        assert!(after == old || after == trimmed(new.clone()), "{label}");
        // The next start goes on from there, whatever is left lying about.
        let mut again = store(&disk);
        let _ = again.load();
        again.save_pair(&new).unwrap();
        assert_eq!(found(&disk, &label), trimmed(new), "{label}");
        let left: Vec<_> = disk.paths().into_iter().filter(|path| path.to_string_lossy().contains(".tmp-")).collect();
        assert!(left.len() <= 1, "{label}: {left:?}");
    }
}

#[test]
fn a_crash_that_drops_what_was_not_synced_leaves_the_old_record_or_the_new() {
    // A small generator, so that each failing case can be told by its numbers.
    for at in 0..calls_of_a_save() {
        for seed in 0..8_u64 {
            let (disk, mut writing, old, new) = prepared();
            disk.fail_at(at, Fault::Kill);
            let saved = writing.save_pair(&new).is_ok();
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ at;
            disk.crash(|| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                seed > 0 && state & 1 == 0
            });
            let label = format!("crash at call {at}, seed {seed}");
            let after = found(&disk, &label);
            assert!(after == old || after == trimmed(new.clone()), "{label}");
            assert!(!saved || after == trimmed(new), "{label}: what was acknowledged is there");
        }
    }
}

#[test]
fn a_crash_right_after_a_first_save_keeps_it() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let mut run = run("r1");
    run.outbox.push(entry("r1", 1, "go", EntryState::Prepared));
    writing.save_run(&run).unwrap();
    disk.crash(|| false);
    assert_eq!(store(&disk).load().runs, [run]);
}

#[test]
fn a_failed_fsync_is_followed_by_a_new_temporary_file() {
    let (disk, mut writing, _, new) = prepared();
    // Which call writes into which temporary file: seen by dying at each.
    let mut names = Vec::new();
    for at in 0..calls_of_a_save() {
        let (disk, mut writing, _, new) = prepared();
        disk.fail_at(at, Fault::Kill);
        let _ = writing.save_pair(&new);
        disk.revive();
        let temporary = disk.paths().into_iter().find(|path| path.to_string_lossy().contains(".tmp-"));
        names.push(temporary);
    }
    let at = names.iter().position(Option::is_some).unwrap();
    let first = names[at].clone().unwrap();
    // The call after the one that writes into it is its fsync.
    let sync = u64::try_from(at).unwrap() + 1;
    disk.fail_at(sync, Fault::Io);
    assert_eq!(io_error(writing.save_pair(&new)), "input/output error");
    assert_eq!(disk.get(&first), None, "it was given up");
    // After a failure the folders are brought to the disk again first, so the call that writes comes a little later.
    let second = (sync..sync + 8).find_map(|at| {
        disk.fail_at(at, Fault::Kill);
        let _ = writing.save_pair(&new);
        disk.revive();
        disk.paths().into_iter().find(|path| path.to_string_lossy().contains(".tmp-"))
    });
    assert_ne!(second.unwrap(), first);
}

#[test]
fn s1_a_full_disk_says_so_and_nothing_is_lost() {
    let (disk, mut writing, old, new) = prepared();
    disk.set_full(true);
    for _ in 0..3 {
        assert_eq!(io_error(writing.save_pair(&new)), "no space left");
    }
    assert_eq!(found(&disk, "full"), old);
    disk.set_full(false);
    writing.save_pair(&new).unwrap();
    assert_eq!(found(&disk, "free again"), trimmed(new));
}

/// A folder that is there may still not be on the disk: its maker was refused, or killed, before its parent was.
#[test]
fn a_folder_whose_parent_was_not_brought_to_the_disk_is_not_lost_with_the_power() {
    let pair = prepared().3;
    for at in 0..40 {
        let disk = SimFiles::new();
        let mut writing = store(&disk);
        disk.fail_at(at, Fault::Io);
        let refused = writing.save_pair(&pair).is_err();
        disk.heal();
        writing.save_pair(&pair).unwrap();
        disk.crash(|| false);
        assert_eq!(store(&disk).load().pairs, vec![trimmed(pair.clone())], "refused at call {at}");
        if !refused {
            return;
        }
    }
    panic!("a save takes more than 40 calls");
}

/// What a start reads it acts on, so it must be on the disk before it is believed.
#[test]
fn what_a_start_reads_cannot_be_undone_by_a_loss_of_power() {
    for at in 0..calls_of_a_save() {
        let (disk, mut writing, _, new) = prepared();
        disk.fail_at(at, Fault::Kill);
        let _ = writing.save_pair(&new);
        disk.revive();
        let believed = store(&disk).load().pairs;
        disk.crash(|| false);
        assert_eq!(store(&disk).load().pairs, believed, "killed at call {at}");
    }
}
