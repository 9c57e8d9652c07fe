//! A loop that runs for long: the record stays small, a relay costs the same, nothing that moved out is lost.

use pretty_assertions::assert_eq;
use trellis::driver::ports::Records;
use trellis::model::config::ConfigChange;
use trellis::model::ids::RecordKey;
use trellis::model::outbox::EntryState;
use trellis::store::sim_files::SimFiles;
use trellis::store::trim::{KEPT, RECORD_LIMIT};

use super::id;
use super::making::{at, entry, pair, round, store};

#[test]
fn five_hundred_rounds_stay_small_and_cost_the_same() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let mut pair = pair("p1");
    let mut early = 0;
    for n in 1..=500 {
        let text = format!("relay {n}: two remarks about the cart\n{}", "body ".repeat(200));
        pair.outbox.push(entry("p1", n, &text, EntryState::Delivered));
        pair.rounds.push(round(n, &text));
        pair.config_history.push(ConfigChange {
            at: at(1),
            changed_fields: vec!["max_rounds".to_owned()],
            by: "api".to_owned(),
        });
        (pair.entries_made, pair.round_count) = (n, n);
        let before = disk.calls();
        writing.save_pair(&pair).unwrap();
        let _ = trellis::store::trim::pair(&mut pair);
        let calls = disk.calls() - before;
        if n == 60 {
            early = calls;
        }
        assert!(n < 60 || calls == early, "round {n} took {calls} calls, round 60 took {early}");
        assert!(disk.get("/h/pairs/p1.json").unwrap().len() < RECORD_LIMIT, "round {n}");
    }
    let loaded = store(&disk).load();
    assert_eq!(loaded.pairs, [pair.clone()], "memory and disk agree");
    assert_eq!(pair.rounds.last().unwrap().n, 500);
    let moved: Vec<_> =
        loaded.older_entries[&RecordKey::Pair("p1".into())].iter().map(|entry| entry.id.clone()).collect();
    let held: Vec<_> = pair.outbox.iter().map(|entry| entry.id.clone()).collect();
    assert_eq!([moved, held].concat(), (1..=500).map(|n| id("p1", n)).collect::<Vec<_>>());
    let rounds = String::from_utf8(disk.get("/h/pairs/p1/rounds.jsonl").unwrap()).unwrap();
    assert_eq!(rounds.lines().count() + pair.rounds.len(), 500);
}

#[test]
fn a_record_stays_under_its_limit_whatever_it_names() {
    let mut pair = pair("p1");
    for n in 1..=120 {
        // A long first line of wide characters: the worst a reference can be.
        let text = format!("{}\n", "\u{10000}".repeat(300));
        pair.outbox.push(entry("p1", n, &text, EntryState::Delivered));
        pair.outbox[usize::try_from(n).unwrap() - 1].sent_text = Some("read the file ".repeat(200));
        pair.rounds.push(round(n, &text));
    }
    let disk = SimFiles::new();
    store(&disk).save_pair(&pair).unwrap();
    let _ = trellis::store::trim::pair(&mut pair);
    assert!(disk.get("/h/pairs/p1.json").unwrap().len() < RECORD_LIMIT);
    assert!((4..KEPT).contains(&pair.outbox.len()), "{}", pair.outbox.len());
    assert_eq!(store(&disk).load().pairs, [pair]);
}

#[test]
fn fifty_rounds_stay_in_the_record_when_they_are_of_usual_size() {
    let mut pair = pair("p1");
    for n in 1..=80 {
        pair.outbox.push(entry("p1", n, "message", EntryState::Delivered));
        pair.rounds.push(round(n, "message"));
    }
    let overflow = trellis::store::trim::pair(&mut pair);
    assert_eq!((pair.outbox.len(), pair.rounds.len()), (KEPT, KEPT));
    assert_eq!((overflow.entries.len(), overflow.rounds.len()), (30, 30));
    assert_eq!(trellis::store::trim::pair(&mut pair), trellis::store::trim::Overflow::default());
}

#[test]
fn a_caller_that_never_trims_moves_nothing_out_twice() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let mut pair = pair("p1");
    for n in 1..=70 {
        pair.outbox.push(entry("p1", n, &format!("message {n}"), EntryState::Delivered));
        pair.rounds.push(round(n, &format!("message {n}")));
        writing.save_pair(&pair).unwrap();
    }
    let mut again = store(&disk);
    let _ = again.load();
    again.save_pair(&pair).unwrap();
    for file in ["outbox", "rounds"] {
        let lines = String::from_utf8(disk.get(format!("/h/pairs/p1/{file}.jsonl")).unwrap()).unwrap();
        assert_eq!(lines.lines().count(), 20, "{file}");
    }
}

#[test]
fn an_open_message_never_moves_out() {
    let mut pair = pair("p1");
    pair.outbox.push(entry("p1", 1, "held for long", EntryState::Sent));
    for n in 2..=70 {
        pair.outbox.push(entry("p1", n, "message", EntryState::Delivered));
    }
    let overflow = trellis::store::trim::pair(&mut pair);
    assert_eq!((overflow.entries.len(), pair.outbox.len()), (0, 70));
}
