//! `kill -9` at random moments of a save: a child saves without a pause and acknowledges each save on a pipe; behind each
//! kill the home holds what was acknowledged, or the save that was under way. What kills do to a loop is in `kills`.
//!
//! A few kills by default; the long proof is `TRELLIS_SAVE_KILLS=10000 cargo test --test e2e saves -- --nocapture`, and
//! `TRELLIS_KILL_SEED` gives its moments again.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use pretty_assertions::assert_eq;
use serde_json::json;
use trellis::driver::ports::Records as _;
use trellis::model::config::{PairConfig, RunConfig};
use trellis::model::event::{Event, EventKind};
use trellis::model::ids::{PairId, RecordKey};
use trellis::model::outbox::Entry;
use trellis::model::pair::{Direction, PairRecord, Round, SCHEMA};
use trellis::model::run::RunRecord;
use trellis::model::text::TextRef;
use trellis::paths::Home;
use trellis::store::{Store, trim};

use crate::kills::{Dice, setting};

/// Names the home that the child saves into; without it this is the parent.
const SAVER: &str = "TRELLIS_TEST_SAVER";
/// Kills a home sees; behind them a new one is begun, so that looking stays cheap.
const A_HOME: u64 = 250;

fn at(n: u64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + i64::try_from(n).unwrap()).unwrap()
}

/// What save `n` says: no two are equal.
fn words(n: u64) -> String {
    format!("the message of save {n}\n").repeat(25)
}

fn entry(n: u64) -> Entry {
    let entry = json!({
        "id": format!("p-e{n}"), "purpose": "to_reviewer", "target": "reviewer", "text": TextRef::of(&words(n)),
        "source_turn_id": format!("t{n}"), "source_message_id": format!("m{n}"), "prepared_at": at(n), "attempts": 1,
        "attempt_at": at(n), "last_key_at": at(n), "enters": 1, "state": "delivered", "delivered_turn_id": format!("d{n}"),
    });
    let mut entry: Entry = serde_json::from_value(entry).unwrap();
    entry.text = TextRef::of(&words(n));
    entry
}

fn round(n: u64) -> Round {
    Round {
        n: u32::try_from(n).unwrap(),
        direction: Direction::ToReviewer,
        at: at(n),
        source_turn_id: Some(format!("t{n}").as_str().into()),
        source_message_id: Some(format!("m{n}").as_str().into()),
        delivered_turn_id: format!("d{n}").as_str().into(),
        entry: None,
        text: TextRef::of(&words(n)),
        edited: false,
        work: None,
    }
}

fn sides() -> (serde_json::Value, serde_json::Value) {
    let side = |agent: &str, id: &str| json!({"agent": agent, "worktree": "/home/dev/shop", "session_id": id});
    (side("claude", "c-1"), side("codex", "x-1"))
}

/// The pair as save `n` leaves it.
fn pair(n: u64) -> PairRecord {
    let (implementer, reviewer) = sides();
    let pair = json!({
        "schema": SCHEMA, "revision": n, "id": "p", "owner": "checklist", "created_at": at(0), "state": "running",
        "step": "await_reviewer", "round_count": n, "last_persisted_at": at(n), "implementer": implementer,
        "reviewer": reviewer, "config": PairConfig::default(), "kickoff": "use_current", "human_mark": {}, "outbox": [],
    });
    let mut pair: PairRecord = serde_json::from_value(pair).unwrap();
    // A few more than are kept: each save moves the oldest out, also when a kill left one out.
    let first = n.saturating_sub(trim::KEPT as u64 + 4).max(1);
    pair.outbox = (first..=n).map(entry).collect();
    pair.rounds = (first..=n).map(round).collect();
    pair
}

/// The run as save `n` leaves it: large enough that its bytes do not go out in one page.
fn run(n: u64) -> RunRecord {
    let (implementer, reviewer) = sides();
    let config = RunConfig { advance_prompt: format!("phase {n} ").repeat(4_000), ..RunConfig::default() };
    let run = json!({
        "schema": SCHEMA, "revision": n, "id": "r", "name": "shop", "created_at": at(0), "state": "running",
        "step": "review", "phases_done": n, "implementer": implementer, "reviewer": reviewer, "config": config,
        "current_pair_id": "p", "after": "start", "human_mark": {}, "outbox": [], "phases": [],
    });
    serde_json::from_value(run).unwrap()
}

fn event(n: u64) -> Event {
    Event {
        seq: n,
        at: at(n),
        kind: EventKind::PairRound,
        run_id: None,
        pair_id: Some(PairId::new("p")),
        session_id: None,
        reason: None,
        revision: Some(n),
    }
}

/// The child: goes on from what it finds, and says each save once it is done. It ends with its killer.
fn save_for_ever(home: &Path) {
    let mut store = Store::new(Home::at(home));
    let found = store.load();
    let last = found.pairs.iter().map(|pair| pair.revision).chain(found.runs.iter().map(|run| run.revision)).max();
    for n in last.unwrap_or(0) + 1.. {
        let (run, pair, event) = (run(n), pair(n), event(n));
        let begun = Instant::now();
        store.save_run(&run).unwrap();
        store.save_pair(&pair).unwrap();
        store.append_event(&event).unwrap();
        eprintln!("saved {n} {}", begun.elapsed().as_micros());
    }
}

/// Kills a child at a moment after its first save, within two times that one's; the saves that it acknowledged.
fn kill_one(home: &Path, dice: &mut Dice) -> Vec<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "saves::a_kill_at_any_moment_of_a_save_tears_nothing_and_loses_nothing", "--nocapture"])
        .env(SAVER, home)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    told.read_line(&mut said).unwrap();
    assert!(said.starts_with("saved "), "the child did not save: {said}{}", rest(&mut told));
    let took: u64 = said.split_whitespace().last().and_then(|micros| micros.parse().ok()).unwrap();
    // The moment itself is what is tried, to the microsecond: a pause by the system is coarser than the calls of a save.
    let (begun, moment) = (Instant::now(), Duration::from_micros(dice.below(2 * took.max(1_000))));
    while begun.elapsed() < moment {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    said.push_str(&rest(&mut told));
    // An acknowledgement may be cut too: then its save counts as one under way.
    let whole = said.lines().zip(said.split_inclusive('\n')).filter(|(_, line)| line.ends_with('\n'));
    whole.filter_map(|(line, _)| line.split(' ').nth(1)?.parse().ok()).collect()
}

fn rest(told: &mut impl Read) -> String {
    let mut rest = String::new();
    let _ = told.read_to_string(&mut rest);
    rest
}

/// What a start finds behind a kill of whoever acknowledged these saves. True when the kill came inside a save.
fn check(home: &Path, acknowledged: &BTreeSet<u64>) -> bool {
    let last = *acknowledged.last().unwrap();
    let temporary = |folder: &str| {
        let names = fs::read_dir(home.join(folder)).into_iter().flatten().flatten();
        names.filter(|entry| entry.file_name().to_string_lossy().starts_with(".tmp-")).count()
    };
    let left = temporary("pairs") + temporary("pairs/p") + temporary("checklist-runs");
    let mut store = Store::new(Home::at(home));
    let loaded = store.load();
    assert_eq!(loaded.notices, Vec::<String>::new(), "torn");
    assert_eq!((loaded.runs.len(), loaded.pairs.len(), loaded.read_only.len()), (1, 1, 0));
    let (run_at, pair_at) = (loaded.runs[0].revision, loaded.pairs[0].revision);
    assert!((last..=last + 1).contains(&run_at), "run {run_at}, acknowledged {last}");
    assert!((last..=run_at).contains(&pair_at), "pair {pair_at}, acknowledged {last}");
    assert_eq!(loaded.runs[0], run(run_at));
    let mut expected = pair(pair_at);
    let _ = trim::pair(&mut expected);
    assert_eq!(loaded.pairs[0], expected);
    // Each message once, in the record or beside it, and its text is there.
    let key = RecordKey::Pair(PairId::new("p"));
    let older = loaded.older_entries.get(&key).map(Vec::as_slice).unwrap_or_default();
    let ids: BTreeSet<String> = older.iter().chain(&loaded.pairs[0].outbox).map(|e| e.id.as_str().to_owned()).collect();
    assert!((1..=pair_at).all(|n| ids.contains(&format!("p-e{n}"))), "of {pair_at} messages only {}", ids.len());
    for n in pair_at.saturating_sub(60).max(1)..=pair_at {
        assert_eq!(store.text(&key, &entry(n).text).as_deref(), Some(words(n).as_str()), "the text of {n}");
    }
    let events = fs::read_to_string(home.join("events.jsonl")).unwrap();
    let lines = events.lines().filter_map(|line| serde_json::from_str::<Event>(line).ok());
    let mut missing = acknowledged.clone();
    for event in lines {
        assert!(missing.remove(&event.seq) || !acknowledged.contains(&event.seq), "event {} stands twice", event.seq);
    }
    assert_eq!(missing, BTreeSet::new(), "events are lost");
    left > 0 || run_at > last
}

#[test]
fn a_kill_at_any_moment_of_a_save_tears_nothing_and_loses_nothing() {
    if let Some(home) = std::env::var_os(SAVER) {
        return save_for_ever(Path::new(&home));
    }
    let kills = setting("TRELLIS_SAVE_KILLS", 20);
    let seed = setting("TRELLIS_KILL_SEED", u64::from(std::process::id()));
    println!("TRELLIS_SAVE_KILLS={kills} TRELLIS_KILL_SEED={seed}");
    let mut dice = Dice(seed);
    let (mut done, mut inside, mut saves) = (0, 0, 0);
    while done < kills {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let here = (kills - done).min(A_HOME);
        let mut acknowledged = BTreeSet::new();
        for _ in 0..here {
            let told = kill_one(&home, &mut dice);
            assert!(acknowledged.last() < told.first(), "a save that was acknowledged is gone");
            acknowledged.extend(told);
            done += 1;
            inside += u64::from(check(&home, &acknowledged));
        }
        saves += acknowledged.len();
        println!("{done} kills, {inside} inside a save, {saves} saves: nothing torn, nothing lost");
    }
}
