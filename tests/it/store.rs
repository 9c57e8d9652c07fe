//! The store on a disk in memory: faults between any two calls, crashes, foreign files, small records.
//! What the real file system does is in `files`.

#[path = "store/corpus.rs"]
mod corpus;
#[path = "store/faults.rs"]
mod faults;
#[path = "store/foreign.rs"]
mod foreign;
#[path = "store/growth.rs"]
mod growth;
#[path = "store/making.rs"]
pub mod making;

use making::{entry, home, pair, round, run, store};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use trellis::driver::ports::{Records, SaveError};
use trellis::model::config::{NearMissRule, PairConfig};
use trellis::model::event::{Decision, Event, EventKind};
use trellis::model::ids::{Agent, EntryId, PairId, RecordKey, SessionId, SessionKey};
use trellis::model::outbox::EntryState;
use trellis::model::pair::{Direction, Due, NearMiss, PairRecord, PauseReason};
use trellis::model::run::RunRecord;
use trellis::model::session::{Launch, SessionNote};
use trellis::model::text::TextRef;
use trellis::store::reader::Reader;
use trellis::store::sim_files::SimFiles;

#[test]
fn a_record_and_its_texts_come_back_as_they_were_saved() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let mut pair = pair("p1");
    pair.outbox.push(entry("p1", 1, "Feedback:\n\ntwo remarks", EntryState::Delivered));
    pair.outbox.push(entry("p1", 2, "Review this.\n\nBoth fixed.", EntryState::Sent));
    pair.rounds.push(round(1, "Feedback:\n\ntwo remarks"));
    pair.due = Some(Due {
        direction: Direction::ToReviewer,
        source_turn_id: "t9".into(),
        source_message_id: Some("m9".into()),
        text: TextRef::of("what was due"),
    });
    let mut run = run("r1");
    run.outbox.push(entry("r1", 1, "Implement the next phase.\u{2028}\u{0}x", EntryState::Prepared));
    writing.save_run(&run).unwrap();
    writing.save_pair(&pair).unwrap();
    let loaded = store(&disk).load();
    assert_eq!(loaded.notices, Vec::<String>::new());
    assert_eq!((loaded.runs, loaded.pairs), (vec![run], vec![pair.clone()]));
    // The text stands once, outside the record.
    let record = String::from_utf8(disk.get("/h/pairs/p1.json").unwrap()).unwrap();
    assert!(!record.contains("Both fixed"), "{record}");
    assert_eq!(disk.get(format!("/h/pairs/p1/{}", pair.outbox[1].text.file)).unwrap(), b"Review this.\n\nBoth fixed.");
    assert_eq!(disk.paths().iter().filter(|path| path.starts_with("/h/pairs/p1")).count(), 3);
}

#[test]
fn a_text_is_written_once_however_often_its_record_is_saved() {
    let disk = SimFiles::new();
    let mut store = store(&disk);
    let mut pair = pair("p1");
    pair.outbox.push(entry("p1", 1, &"long ".repeat(10_000), EntryState::Prepared));
    store.save_pair(&pair).unwrap();
    let first = disk.calls();
    store.save_pair(&pair).unwrap();
    let second = disk.calls() - first;
    pair.revision += 1;
    store.save_pair(&pair).unwrap();
    assert_eq!(disk.calls() - first - second, second);
    assert!(second < 12, "{second} calls for a save without a new text");
}

#[test]
fn ids_that_could_leave_the_home_are_refused_and_nothing_is_written() {
    let disk = SimFiles::new();
    let mut store = store(&disk);
    for id in ["../../etc/x", "a/b", "", ".", "..", ".hidden", "a\0b", "a\nb", "a\u{202e}b", &"x".repeat(81)] {
        assert!(store.save_pair(&pair(id)).is_err(), "{id:?}");
        assert!(store.save_run(&run(id)).is_err(), "{id:?}");
        assert!(store.adopt_pair(&PairId::new(id)).is_err(), "{id:?}");
        assert!(store.displace(&RecordKey::Pair(PairId::new(id))).is_err(), "{id:?}");
        assert!(store.discard(&RecordKey::Pair(PairId::new(id))).is_err(), "{id:?}");
        let key = SessionKey { agent: Agent::Codex, session_id: SessionId::new(id) };
        let error = store.save_session(&key, &SessionNote::default()).unwrap_err();
        assert!(!error.to_string().contains(['\0', '\n', '\u{202e}']), "{error}");
    }
    let mut hostile = pair("p1");
    hostile.outbox.push(entry("p1", 1, "text", EntryState::Prepared));
    hostile.outbox[0].text.file = "../../../evil.txt".into();
    store.save_pair(&hostile).unwrap();
    assert_eq!(disk.paths(), [std::path::Path::new("/h/pairs/p1.json")]);
    let loaded = making::store(&disk).load();
    assert_eq!(loaded.pairs.len(), 0);
    assert_eq!(loaded.read_only.len(), 1, "a message that cannot be read is never sent as something else");
}

#[test]
fn a_missing_text_of_an_open_message_keeps_the_record_from_being_driven() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let mut open = pair("open");
    open.outbox.push(entry("open", 1, "still to go", EntryState::Prepared));
    let mut done = pair("done");
    done.outbox.push(entry("done", 1, "went out", EntryState::Delivered));
    writing.save_pair(&open).unwrap();
    writing.save_pair(&done).unwrap();
    disk.put(format!("/h/pairs/open/{}", open.outbox[0].text.file), b"something else");
    disk.put(format!("/h/pairs/done/{}", done.outbox[0].text.file), b"went ou\xff");
    let loaded = store(&disk).load();
    assert_eq!(loaded.pairs.iter().map(|pair| pair.id.as_str()).collect::<Vec<_>>(), ["done"]);
    assert_eq!(loaded.pairs[0].outbox[0].text.text(), "");
    assert_eq!(loaded.read_only[0].key, RecordKey::Pair("open".into()));
    assert_eq!(loaded.notices.len(), 2, "{:?}", loaded.notices);
}

#[test]
fn texts_of_records_that_stopped_long_ago_are_read_when_asked_for() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    for n in 0..30 {
        let mut pair = making::stopped(pair(&format!("p{n:02}")), n);
        pair.outbox.push(entry("p", 1, "an old message", EntryState::Delivered));
        pair.outbox.push(entry("p", 2, "given up", EntryState::Abandoned));
        writing.save_pair(&pair).unwrap();
    }
    let mut reading = store(&disk);
    let loaded = reading.load();
    let texts =
        |id: &str, at: usize| loaded.pairs.iter().find(|p| p.id.as_str() == id).unwrap().outbox[at].text.clone();
    assert_eq!(texts("p29", 0).text(), "an old message");
    assert_eq!(texts("p00", 0).text(), "");
    assert_eq!(texts("p00", 1).text(), "given up");
    let key = RecordKey::Pair("p00".into());
    assert_eq!(reading.text(&key, &texts("p00", 0)).as_deref(), Some("an old message"));
    let mut lost = texts("p00", 0);
    lost.file = TextRef::of("never written").file;
    assert_eq!(reading.text(&key, &lost), None);
}

#[test]
fn a_discarded_record_leaves_nothing_and_a_foreign_one_is_not_removed() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let mut gone = making::stopped(pair("gone"), 1);
    gone.outbox.push(entry("gone", 1, "text", EntryState::Delivered));
    writing.save_pair(&gone).unwrap();
    writing.save_pair(&pair("stays")).unwrap();
    writing.discard(&RecordKey::Pair("gone".into())).unwrap();
    assert_eq!(disk.paths(), [std::path::Path::new("/h/pairs/stays.json")]);
    writing.discard(&RecordKey::Pair("gone".into())).unwrap();
    disk.put("/h/pairs/stays.json", b"{\"schema\":2}");
    assert!(writing.discard(&RecordKey::Pair("stays".into())).is_err());
    assert_eq!(disk.get("/h/pairs/stays.json").unwrap(), b"{\"schema\":2}");
    // The same id may be used again: its folder is made anew.
    writing.save_pair(&gone).unwrap();
    assert_eq!(store(&disk).load().pairs.len(), 1);
}

#[test]
fn notes_about_sessions_come_back_and_another_programs_word_is_not_lost() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let key = SessionKey { agent: Agent::Claude, session_id: SessionId::new("11-22") };
    let launch = Launch { argv: vec!["claude".to_owned()], worktree: "/w".to_owned(), ..Launch::default() };
    let mut note =
        SessionNote { schema: 1, name: Some("shop".to_owned()), launch: Some(launch), ..SessionNote::default() };
    note.extra.insert("colour".to_owned(), json!("red"));
    writing.save_session(&key, &note).unwrap();
    assert_eq!(store(&disk).load().sessions.get(&key), Some(&note));
    disk.put("/h/sessions/claude-11-22.json", br#"{"name":"by hand"}"#);
    writing.save_session(&key, &note).unwrap();
    assert_eq!(disk.get("/h/quarantine/claude-11-22.json").unwrap(), br#"{"name":"by hand"}"#);
    disk.put("/h/sessions/codex-x.json", br#"{"schema":9}"#);
    disk.put("/h/sessions/codex-y.json", b"{");
    let mut reading = store(&disk);
    let loaded = reading.load();
    assert_eq!(loaded.sessions.into_iter().collect::<Vec<_>>(), [(key, note.clone())]);
    assert_eq!(loaded.notices.len(), 2, "{:?}", loaded.notices);
    let newer = SessionKey { agent: Agent::Codex, session_id: SessionId::new("x") };
    assert!(reading.save_session(&newer, &note).is_err());
    assert_eq!(disk.get("/h/sessions/codex-x.json").unwrap(), br#"{"schema":9}"#);
}

fn event(seq: u64) -> Event {
    Event {
        seq,
        at: making::at(seq),
        kind: EventKind::PairRound,
        run_id: None,
        pair_id: Some("p1".into()),
        session_id: None,
        reason: Some("x".repeat(20_000)),
        revision: Some(seq),
    }
}

#[test]
fn events_go_on_counting_over_torn_lines_restarts_and_rotation() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    for seq in 1..=3 {
        writing.append_event(&event(seq)).unwrap();
    }
    let mut torn = disk.get("/h/events.jsonl").unwrap();
    torn.truncate(torn.len() - 20);
    disk.put("/h/events.jsonl", &torn);
    let mut again = store(&disk);
    assert_eq!(again.load().last_seq, 2, "the torn line does not count");
    again.append_event(&event(3)).unwrap();
    assert_eq!(store(&disk).load().last_seq, 3);
    let lines = String::from_utf8(disk.get("/h/events.jsonl").unwrap()).unwrap();
    assert_eq!(lines.lines().count(), 4);
    assert!(serde_json::from_str::<Event>(lines.lines().last().unwrap()).is_ok());
    let mut seq = 3;
    while disk.get("/h/events.jsonl.1").is_none() {
        seq += 1;
        again.append_event(&event(seq)).unwrap();
    }
    assert!(disk.get("/h/events.jsonl.1").unwrap().len() as u64 <= trellis::store::ROTATE_AT);
    assert_eq!(store(&disk).load().last_seq, seq);
    disk.put("/h/events.jsonl", b"");
    assert_eq!(store(&disk).load().last_seq, seq - 1, "the old file is looked at too");
}

#[test]
fn the_newest_decisions_come_back() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    for n in 0..1_200 {
        let decision = Decision {
            at: making::at(n),
            record: Some("p1".to_owned()),
            what: format!("decision {n}"),
            evidence: "record 7 at 1234".to_owned(),
            ground: None,
            decided: true,
        };
        writing.append_decision(&decision).unwrap();
    }
    let decisions = store(&disk).load().decisions;
    assert_eq!(decisions.len(), 1_000);
    assert_eq!(decisions[0].what, "decision 200");
    assert_eq!(decisions[999].what, "decision 1199");
}

#[test]
fn a_reader_follows_without_writing_and_reads_only_what_changed() {
    let disk = SimFiles::new();
    let mut writing = store(&disk);
    let mut first = pair("p1");
    first.outbox.push(entry("p1", 1, "hello", EntryState::Prepared));
    writing.save_pair(&first).unwrap();
    disk.put("/h/pairs/broken.json", b"{\"schema\":1");
    disk.put("/h/pairs/newer.json", b"{\"schema\":2}");
    let mut reader = Reader::with_files(home(), disk.clone());
    assert!(reader.changed_since());
    let before = disk.paths();
    let loaded = reader.load();
    assert_eq!(disk.paths(), before, "nothing is moved or made");
    assert_eq!(loaded.pairs, [first.clone()]);
    assert_eq!((loaded.read_only.len(), loaded.notices.len()), (2, 1));
    assert!(!reader.changed_since());
    assert_eq!(reader.new_events(), []);
    first.outbox[0].state = EntryState::Delivered;
    writing.save_pair(&first).unwrap();
    writing.append_event(&event(7)).unwrap();
    assert!(reader.changed_since());
    assert_eq!(reader.load().pairs, [first]);
    assert_eq!(reader.new_events(), [event(7)]);
    assert_eq!(reader.new_events(), []);
    writing.discard(&RecordKey::Pair("p1".into())).unwrap();
    assert!(reader.changed_since());
    assert_eq!(reader.load().pairs, []);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Unknown fields, under names that no version will use.
fn extra() -> impl Strategy<Value = Map<String, Value>> {
    proptest::collection::btree_map("x_[a-z]{1,6}", value(), 0..4).prop_map(|map| map.into_iter().collect())
}

prop_compose! {
    fn any_pair()(
        texts in proptest::collection::vec(".{0,40}", 0..6),
        states in proptest::collection::vec(0..6_usize, 6),
        extra in extra(),
        config_extra in extra(),
        line in ".{0,30}",
        detail in "\\PC{0,30}",
        rounds in 0..4_u32,
        paused in any::<bool>(),
        seconds in 0..4_000_000_000_u64,
    ) -> PairRecord {
        let all = [EntryState::Prepared, EntryState::Sent, EntryState::Queued, EntryState::Delivered, EntryState::Withdrawn, EntryState::Abandoned];
        let mut pair = pair("p1");
        pair.extra = extra;
        pair.config = PairConfig { extra: config_extra, near_miss: NearMissRule::Wait, stop_signal: line.clone(), ..PairConfig::default() };
        pair.created_at = making::at(seconds);
        pair.near_miss = Some(NearMiss { turn_id: "t".into(), message_id: "m".into(), line });
        pair.paused_reason = paused.then_some(PauseReason::NearMiss);
        pair.paused_detail = detail;
        pair.rounds = (1..=rounds).map(|n| round(n, "what went out")).collect();
        for (n, (text, state)) in texts.iter().zip(states).enumerate() {
            pair.outbox.push(entry("p1", u32::try_from(n).unwrap() + 1, text, all[state]));
        }
        pair
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn saving_and_loading_is_identity_and_keeps_unknown_fields(pair in any_pair(), of_run in extra()) {
        let disk = SimFiles::new();
        let mut writing = store(&disk);
        let mut run: RunRecord = run("r1");
        run.extra = of_run;
        run.outbox.clone_from(&pair.outbox);
        writing.save_pair(&pair).unwrap();
        writing.save_run(&run).unwrap();
        let mut reading = store(&disk);
        let loaded = reading.load();
        prop_assert_eq!(&loaded.notices, &Vec::<String>::new());
        prop_assert_eq!(&loaded.pairs, &[pair]);
        prop_assert_eq!(&loaded.runs, &[run]);
        // And once more from what was loaded: the bytes stay the same.
        let bytes = disk.get("/h/pairs/p1.json").unwrap();
        reading.save_pair(&loaded.pairs[0]).unwrap();
        prop_assert_eq!(disk.get("/h/pairs/p1.json").unwrap(), bytes);
    }

    #[test]
    fn no_bytes_in_the_home_panic_or_are_lost(bytes in proptest::collection::vec(any::<u8>(), 0..200), name in "[a-z.]{1,8}") {
        let disk = SimFiles::new();
        for dir in ["checklist-runs", "pairs", "sessions"] {
            disk.put(format!("/h/{dir}/{name}.json"), &bytes);
        }
        disk.put("/h/events.jsonl", &bytes);
        disk.put("/h/logs/decisions.jsonl", &bytes);
        let _ = store(&disk).load();
        let kept = disk.paths().iter().filter(|path| disk.get(path) == Some(bytes.clone())).count();
        prop_assert_eq!(kept, 5);
    }
}

#[test]
fn unknown_fields_inside_lists_and_parts_survive_a_save() {
    let disk = SimFiles::new();
    let mut old = pair("p1");
    for n in 1..=50 {
        old.outbox.push(entry("p1", n, "message", EntryState::Delivered));
        old.rounds.push(round(n, "message"));
    }
    store(&disk).save_pair(&old).unwrap();
    let mut value: Value = serde_json::from_slice(&disk.get("/h/pairs/p1.json").unwrap()).unwrap();
    value["implementer"]["nick"] = json!("bob");
    value["outbox"][49]["later"] = json!({"a": [1]});
    value["outbox"][0]["gone"] = json!(1);
    value["outbox"][49]["text"]["language"] = json!("en");
    value["rounds"][49]["weight"] = json!(3);
    disk.put("/h/pairs/p1.json", &serde_json::to_vec(&value).unwrap());
    let mut again = store(&disk);
    let mut loaded = again.load().pairs.remove(0);
    loaded.outbox.push(entry("p1", 51, "message", EntryState::Prepared));
    loaded.rounds.push(round(51, "message"));
    again.save_pair(&loaded).unwrap();
    let after: Value = serde_json::from_slice(&disk.get("/h/pairs/p1.json").unwrap()).unwrap();
    assert_eq!(after["implementer"]["nick"], json!("bob"));
    assert_eq!(after["outbox"][48]["later"], json!({"a": [1]}));
    assert_eq!(after["outbox"][48]["text"]["language"], json!("en"));
    assert_eq!(after["rounds"][48]["weight"], json!(3));
    assert_eq!((&after["outbox"][0]["gone"], &after["outbox"][49]["later"]), (&Value::Null, &Value::Null));
}

/// A file that was edited may give two items one number: what one of them lacks is not put into the other.
#[test]
fn unknown_fields_of_items_with_one_identity_are_not_mixed() {
    let disk = SimFiles::new();
    let mut two = pair("p1");
    two.rounds = vec![round(1, "one"), round(1, "another")];
    two.rounds[0].work = Some(trellis::model::tree::Work::First);
    store(&disk).save_pair(&two).unwrap();
    let mut again = store(&disk);
    let mut loaded = again.load().pairs.remove(0);
    loaded.revision += 1;
    again.save_pair(&loaded).unwrap();
    assert_eq!(store(&disk).load().pairs, [loaded]);
}

#[test]
fn a_disk_that_fails_while_loading_loses_nothing() {
    let disk = SimFiles::new();
    let mut open = pair("p1");
    open.outbox.push(entry("p1", 1, "still to go", EntryState::Prepared));
    store(&disk).save_pair(&open).unwrap();
    store(&disk).save_run(&run("r1")).unwrap();
    let before = disk.calls();
    let _ = store(&disk).load();
    let calls = disk.calls() - before;
    for at in 0..calls {
        disk.fail_at(at, trellis::store::sim_files::Fault::Io);
        let mut first = store(&disk);
        let _ = first.load();
        disk.heal();
        let loaded = store(&disk).load();
        assert_eq!((loaded.pairs.len(), loaded.runs.len()), (1, 1), "call {at}: {:?}", loaded.notices);
    }
}

/// For the other files of this module.
fn io_error(result: Result<(), SaveError>) -> String {
    match result {
        Err(SaveError::Io { why, .. }) => why,
        other => panic!("expected a refusal of the system, got {other:?}"),
    }
}

/// For the other files of this module.
fn id(pair: &str, n: u32) -> EntryId {
    EntryId::new(format!("{pair}-e{n}"))
}
