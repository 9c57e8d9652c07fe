//! Cleaning, and programs that are run for a person; runs for the tests beside this.

use std::time::Duration;

use jiff::Timestamp;

use super::*;
use crate::machine::Wait;
use crate::model::ids::{Agent, RecordKey, RunId, SessionId, SessionRef};
use crate::model::session::SessionState;
use crate::paths::Home;
use crate::projection::{DriverFact, Projection, RunView, Settings, SideView, Standing};

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_764_500_000 + seconds).unwrap()
}

pub fn projection(runs: Vec<RunView>) -> Projection {
    Projection { at: Some(at(0)), driver: DriverFact::Here, runs: runs.into(), ..Projection::default() }
}

/// A run that goes.
pub fn run(name: &str) -> RunView {
    let side = |agent: Agent| SideView {
        session: SessionRef { agent, worktree: "/w".to_owned(), session_id: SessionId::from("s") },
        label: agent.as_str().to_owned(),
        state: SessionState::Idle,
        place: String::new(),
        transport: None,
    };
    RunView {
        key: RecordKey::Run(RunId::from(name)),
        revision: 1,
        name: name.to_owned(),
        given_name: name.to_owned(),
        standing: Standing::Going,
        state_word: "going".to_owned(),
        since: at(0),
        sentence: "codex reviews · relay 3 of 10".to_owned(),
        wait: Wait::default(),
        stage: None,
        phase: None,
        phases_expected: None,
        relays: 3,
        max_relays: 10,
        phases: Vec::new(),
        relay_list: Vec::new(),
        reviews: Vec::new(),
        open_points: Vec::new(),
        implementer: side(Agent::Claude),
        reviewer: side(Agent::Codex),
        banner: None,
        look_first: None,
        delivery: None,
        impossible: Vec::new(),
        phase_asked: false,
        first_wait: false,
        unreviewed: false,
        read_only: None,
        settings: Settings::Run(Box::default()),
        created_at: at(0),
        stopped_at: None,
        stop_words: String::new(),
    }
}

fn news() -> news::News {
    news::News {
        run: RecordKey::Run(RunId::from("r1")),
        name: "shop".to_owned(),
        reason: "near_miss".to_owned(),
        text: "shop needs you: $(touch hit) `touch hit`; touch hit".to_owned(),
    }
}

/// Runs a future to its end on a runtime of its own.
fn wait_for<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_persons_program_gets_the_news_as_variables_and_no_shell_reads_them() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let out = folder.path().join("out").display().to_string();
    let script = "cd \"$TRELLIS_HOME\"; printf '%s|' \"$TRELLIS_RUN\" \"$TRELLIS_NAME\" \"$TRELLIS_REASON\" \"$TRELLIS_TEXT\" \"$1\" > \"$0\"";
    let words = argv(&["/bin/sh", "-c", script, &out, "$(touch hit)"]);
    wait_for(carry::command(&words, &news(), &home, carry::LIMIT)).unwrap();
    let told = std::fs::read_to_string(&out).unwrap();
    assert_eq!(told, "r1|shop|near_miss|shop needs you: $(touch hit) `touch hit`; touch hit|$(touch hit)|");
    assert!(!folder.path().join("hit").exists());
}

#[test]
fn a_program_that_is_not_there_or_fails_is_told() {
    let home = Home::at("/nowhere");
    let of = |words: &[&str]| wait_for(carry::command(&argv(words), &news(), &home, carry::LIMIT)).unwrap_err();
    assert!(of(&["/nowhere/at-all"]).contains("can't run /nowhere/at-all"));
    assert!(of(&["/bin/sh", "-c", "exit 3"]).contains("exit status: 3"));
}

#[test]
fn u17_a_program_that_hangs_is_ended_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let file = folder.path().join("pids").display().to_string();
    // What a shell starts outlives it, unless its group is ended.
    let words = argv(&["/bin/sh", "-c", "sleep 600 & echo $! $$ > \"$0\"; wait", &file]);
    let mut pids = String::new();
    for seconds in [2, 10, 60] {
        let why = wait_for(carry::command(&words, &news(), &home, Duration::from_secs(seconds))).unwrap_err();
        assert!(why.contains(&format!("did not end within {seconds} s")), "{why}");
        // A machine that is slow to start a shell gets more time for it.
        pids = std::fs::read_to_string(&file).unwrap_or_default();
        if pids.ends_with('\n') {
            break;
        }
    }
    assert_eq!(pids.split_whitespace().count(), 2, "{pids:?}");
    for pid in pids.split_whitespace() {
        let pid = pid.parse().unwrap();
        let mut tries = 0;
        // The grandchild is reaped by the system's first process, in its own time.
        while crate::agent::os::process(pid).is_some() {
            tries += 1;
            assert!(tries < 1_000, "{pid} still runs");
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

#[test]
fn u7_nothing_of_a_sequence_leaves_with_a_sentence() {
    let hostile = "shop\u{1b}]0;owned\u{7} \u{9d}9;x\u{9c} \u{1b}\\ a\nb\u{202e}c\u{7f} \u{1b}]9;never ended";
    let clean = clean(hostile);
    assert!(clean.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{clean:?}");
    assert!(clean.starts_with("shop") && clean.contains("a bc") && !clean.contains("owned"), "{clean:?}");
}

#[test]
fn a_long_text_is_cut_between_characters() {
    let cut = clean(&"é".repeat(500));
    assert_eq!((cut.chars().count(), cut.ends_with('…')), (LONGEST + 1, true));
}
