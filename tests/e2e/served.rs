//! The stories of the manual, run as they stand there: a run on the demo's agents, from its beginning to its removal, by
//! the socket alone and by the commands.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use trellis::paths::Home;
use trellis::store::lock::{Holder, holder};

use crate::demo::{Ended, trellis};
use crate::terminal::{Terminal, WIDE};

/// The block of the manual that is called so.
fn story(name: &str) -> String {
    let manual = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manual.md")).unwrap();
    let (_, block) = manual.split_once(&format!("```sh {name}\n")).unwrap();
    block.split("\n```").next().unwrap().to_owned()
}

/// Runs a story in a home of its own, as a person would: with `trellis` on the path. The driver it leaves behind when it
/// fails is ended.
fn told(name: &str, folder: &Path) -> Output {
    let home = folder.join("home");
    let programs = Path::new(env!("CARGO_BIN_EXE_trellis")).parent().unwrap().display().to_string();
    let mut command = Command::new("timeout");
    command.args(["180", "sh", "-eu", "-c", &story(name)]).env_clear().current_dir(folder);
    command.env("PATH", format!("{programs}:/usr/local/bin:/usr/bin:/bin")).env("HOME", folder).env("LANG", "C.UTF-8");
    let output = command.env("TRELLIS_HOME", &home).output().unwrap();
    if let Ok(Holder::Process(Some(claim))) = holder(&Home::at(&home)) {
        let _ = Command::new("kill").arg(claim.pid.to_string()).status();
    }
    output
}

#[track_caller]
fn went_well(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    out.into_owned()
}

/// What the story is about, in the order in which it was heard.
#[track_caller]
fn assert_heard<'a>(kinds: impl Iterator<Item = &'a str>) {
    let kinds: Vec<&str> = kinds.filter(|kind| kind.starts_with("checklist.")).collect();
    let wanted = ["started", "phase_started", "paused", "resumed", "phase_converged", "stopped"];
    let mut heard = kinds.iter();
    for word in wanted {
        assert!(heard.any(|kind| *kind == format!("checklist.{word}")), "{word} in its place: {kinds:?}");
    }
}

fn assert_removed(folder: &Path) {
    let left = fs::read_dir(folder.join("home/checklist-runs")).unwrap();
    let records = left.filter(|entry| entry.as_ref().unwrap().path().is_file()).count();
    assert_eq!(records, 1, "the demo's own run is what is left");
}

#[test]
fn the_story_of_the_manual_by_curl_alone() {
    match Command::new("curl").args(["--unix-socket", "x", "--json", "{}", "--fail-with-body", "--version"]).output() {
        Ok(probe) if probe.status.success() => {}
        Ok(probe) => return println!("skipped: this curl is too old: {}", String::from_utf8_lossy(&probe.stderr)),
        Err(error) => return println!("skipped: no curl: {error}"),
    }
    let folder = tempfile::tempdir().unwrap();
    let out = went_well(&told("curl", folder.path()));
    let notes = out.matches("\"note\":").count();
    assert_eq!(notes, 6, "pause, resume, retry, accept, stop and its removal are each answered with a note: {out}");
    let heard = fs::read_to_string(folder.path().join("home/heard")).unwrap();
    assert_heard(heard.lines().filter_map(|line| line.strip_prefix("event: ")));
    for line in heard.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: Value = serde_json::from_str(line).unwrap();
        assert!(event["seq"].is_u64(), "{line}");
    }
    assert_removed(folder.path());
}

#[test]
fn the_story_of_the_manual_by_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let out = went_well(&told("commands", folder.path()));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 7, "each order is answered in a line: {out}");
    let removed: Value = serde_json::from_str(lines[6]).unwrap();
    assert_eq!((removed["kind"].as_str(), removed["note"].as_str()), (Some("run"), Some("removed")));
    let heard = fs::read_to_string(folder.path().join("home/heard")).unwrap();
    let events: Vec<Value> = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "each once, in order: {seqs:?}");
    let of_run = events.iter().filter(|event| event["run_id"] == removed["id"]);
    assert_heard(of_run.filter_map(|event| event["type"].as_str()));
    assert_removed(folder.path());
}

/// A home in which nobody drives and a run waits: the demo's, given up at once.
pub struct Left {
    pub folder: tempfile::TempDir,
    pub run: String,
    /// The demo's own run, which has ended.
    pub done: String,
}

impl Left {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let demo = trellis(&home).args(["demo", "--headless", "--speed", "50"]).output().unwrap();
        assert!(demo.status.success());
        let mut left = Self { folder, run: String::new(), done: String::new() };
        left.json(&["run", "list", "--json"])[0]["id"].as_str().unwrap().clone_into(&mut left.done);
        let sessions = left.json(&["session", "list", "--json"]);
        let of = |agent: &str| {
            let fits = |session: &&Value| {
                let key = session["session"].as_str().unwrap();
                key.starts_with(agent) && session["worktree"].as_str().unwrap().ends_with("docs-site")
            };
            sessions.as_array().unwrap().iter().find(fits).unwrap()["session"].as_str().unwrap().to_owned()
        };
        let (claude, codex) = (of("claude"), of("codex"));
        let words = ["run", "start", "--implementer", &claude, "--reviewer", &codex, "--set", "name=docs", "--json"];
        let run = left.json(&words)["id"].as_str().unwrap().to_owned();
        Self { run, ..left }
    }

    pub fn ask(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = trellis(&self.folder.path().join("home"));
        // Not below the home of trellis: that is to be nobody's.
        command.env("HOME", self.folder.path()).args(words);
        command
    }

    /// Waits until the socket answers.
    pub fn until_driven(&self) {
        let home = Home::at(self.folder.path().join("home"));
        let is_there = || std::os::unix::net::UnixStream::connect(home.socket()).is_ok();
        let end = Instant::now() + Duration::from_mins(1);
        while !is_there() {
            assert!(Instant::now() < end, "nobody drives");
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&went_well(&self.ask(words))).unwrap()
    }

    fn record(&self) -> Value {
        self.json(&["run", "show", &self.run, "--json"])["run"].clone()
    }
}

#[test]
fn without_a_driver_a_command_changes_the_record_itself() {
    let left = Left::new();
    let short = &left.run[..left.run.len() - 2];
    assert!(went_well(&left.ask(&["run", "pause", short])).contains("paused"));
    assert_eq!(
        (left.record()["state"].as_str(), left.record()["paused_reason"].as_str()),
        (Some("paused"), Some("manual"))
    );
    went_well(&left.ask(&["run", "resume", "docs"]));
    went_well(&left.ask(&["run", "edit", &left.run, "--set", "max_rounds=3", "--set", "review_stop_signal=7"]));
    let record = left.record();
    assert_eq!(
        (record["config"]["max_rounds"].as_u64(), record["config"]["review_stop_signal"].as_str()),
        (Some(3), Some("7"))
    );
    assert_eq!(record["config_history"][0]["by"], "command");
    went_well(&left.ask(&["run", "rename", &left.run, "the docs"]));
    let answer = left.json(&["run", "stop", "the docs", "--json"]);
    assert_eq!((answer["id"].as_str(), answer["kind"].as_str()), (Some(left.run.as_str()), Some("run")));
    let next = left.json(&["run", "run-on", &left.run, "--json"])["id"].as_str().unwrap().to_owned();
    assert_ne!(next, left.run);
    went_well(&left.ask(&["run", "delete", &left.run]));
    went_well(&left.ask(&["run", "stop", &next]));
    // A pair without a run, and what is said about a session.
    let sides = left.json(&["run", "show", &next, "--json"])["run"].clone();
    let of = |side: &str, agent: &str| format!("{agent}:{}", sides[side]["session_id"].as_str().unwrap());
    let (claude, codex) = (of("implementer", "claude"), of("reviewer", "codex"));
    let pair =
        left.json(&["pair", "start", "--implementer", &claude, "--reviewer", &codex, "--kickoff", "next", "--json"]);
    let pair = pair["id"].as_str().unwrap();
    assert_eq!(left.json(&["pair", "list", "--json"])[0]["id"], pair);
    let sent = left.json(&["session", "send", &codex, "Look at the links.", "--json"]);
    assert_eq!(sent["kind"], "session");
    let shown = left.json(&["pair", "show", pair, "--json"]);
    assert_eq!(
        (shown["kickoff"].as_str(), shown["outbox"][0]["purpose"].as_str()),
        (Some("wait_for_next"), Some("user"))
    );
    assert!(went_well(&left.ask(&["session", "put-away", &codex])).contains("put away"));
    assert!(went_well(&left.ask(&["session", "take-back", &codex])).contains("taken back"));
    went_well(&left.ask(&["session", "rename", &codex, "reader"]));
    let page = left.json(&["session", "transcript", &claude, "--json"]);
    assert!(page["entries"].as_array().is_some_and(|entries| !entries.is_empty()), "{page}");
}

#[test]
fn a_command_that_is_refused_says_why_in_a_line_and_ends_with_1() {
    let left = Left::new();
    let run = left.run.as_str();
    for (words, code, says) in [
        (&["run", "resume", run][..], 1, ""),
        (&["run", "accept", run], 1, ""),
        (&["run", "delete", run], 1, ""),
        (&["run", "pause", "no-such-run"], 1, "there is no run no-such-run"),
        (&["run", "pause", "../../etc/passwd"], 1, "there is no run"),
        (&["run", "pause", "2"], 1, "several runs are 2"),
        (&["pair", "stop", "none"], 1, "there is no pair none"),
        (&["run", "pause", run, "--expect", "999999"], 0, ""),
        (&["run", "resume", run, "--expect", "999999"], 1, "it moved while you looked"),
        (&["run", "edit", run, "--set", "max_rounds=many"], 1, "max_rounds"),
        (&["run", "edit", run, "--set", "max_round=1"], 1, "max_round"),
        (&["run", "bring-back", run], 1, "drive --background --stay"),
        (&["session", "send", "claude:nobody", "hello"], 1, "is in no run and no pair"),
        (&["session", "transcript", "claude:nobody"], 1, "has no transcript"),
        (&["run", "confirm", run, "drop", "--text", "x"], 2, "--text goes with send alone"),
        (&["run", "edit", run], 2, ""),
        (&["run", "pause"], 2, ""),
        (&["events", "--since", "soon"], 2, "or the number of an event"),
    ] {
        let output = left.ask(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
        assert!(said.contains(says), "{words:?}: {said}");
        assert!(code == 0 || said.trim_end().lines().count() == 1, "{words:?}: {said}");
    }
}

/// A driver has the home a moment before it has its socket, and a socket below a temporary folder may be tidied away.
#[test]
fn a_command_reaches_a_driver_that_has_only_just_begun_and_one_whose_socket_was_removed() {
    let left = Left::new();
    let home = left.folder.path().join("home");
    let driver = left.command(&["drive", "--stay"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let _driver = Ended(driver);
    while left.json(&["status", "--json"])["driver"].is_null() {
        std::thread::yield_now();
    }
    went_well(&left.ask(&["run", "pause", &left.run]));
    left.until_driven();
    fs::remove_file(Home::at(&home).socket()).unwrap();
    left.until_driven();
    went_well(&left.ask(&["run", "resume", &left.run]));
}

/// A script that orders over the socket needs no loop around its first request.
#[test]
fn a_driver_in_the_background_is_reached_as_soon_as_its_start_has_ended() {
    let left = Left::new();
    for _ in 0..3 {
        went_well(&left.ask(&["drive", "--background", "--stay"]));
        std::os::unix::net::UnixStream::connect(left.folder.path().join("home/trellis.sock")).unwrap();
        went_well(&left.ask(&["drive", "--stop"]));
    }
}

/// Colours would go into files and other programs; words for people have none, on a terminal neither.
#[test]
fn no_command_colours_what_it_prints() {
    let terminal = Terminal::open(WIDE);
    let home = terminal.home();
    assert!(trellis(&home).args(["demo", "--headless", "--speed", "50"]).output().unwrap().status.success());
    let raw = terminal.folder.path().join("raw");
    terminal.tmux(&["pipe-pane", "-O", &format!("cat >> {}", raw.display())]);
    let program = crate::terminal::program();
    let commands =
        ["run list", "status", "session list", "doctor", "events", "why shop", "run frob", "--help", "run show shop"];
    for (n, words) in commands.iter().enumerate() {
        terminal.run(&format!(
            "clear; TERM=xterm-256color {} {words} --home {}; echo ended-{n}",
            program.display(),
            home.display()
        ));
        terminal.wait_for(&format!("ended-{n}"));
    }
    let coloured = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes)
            .split("\u{1b}[")
            .skip(1)
            .filter(|rest| {
                let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';');
                end.is_some_and(|end| rest[end..].starts_with('m') && !matches!(&rest[..end], "" | "0"))
            })
            .count()
    };
    assert_eq!(coloured(b"\x1b[31mred\x1b[0m"), 1);
    assert_eq!(coloured(&fs::read(&raw).unwrap()), 0);
}

#[test]
fn a_reader_that_goes_away_ends_a_command_quietly() {
    let left = Left::new();
    let home = left.folder.path().join("home");
    for words in ["events", "events --since 0", "run list --json", "session list", "pair list --all"] {
        let script = format!("\"$0\" --home \"$1\" {words} 2> \"$1/said\" | head -c 1 > /dev/null");
        let mut command = Command::new("timeout");
        command.args(["60", "sh", "-c", &script, env!("CARGO_BIN_EXE_trellis")]).arg(&home);
        assert!(command.status().unwrap().success(), "{words}");
        assert_eq!(fs::read_to_string(home.join("said")).unwrap(), "", "{words}");
    }
}

/// Nothing happens any more in this home: that nobody reads is seen by itself.
#[test]
fn following_events_ends_when_its_reader_goes_although_no_event_comes() {
    let left = Left::new();
    let mut follow = trellis(&left.folder.path().join("home"))
        .args(["events", "--follow", "--since", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut reader = BufReader::new(follow.stdout.take().unwrap());
    reader.read_line(&mut first).unwrap();
    assert!(first.contains("\"seq\":1"), "{first}");
    drop(reader);
    let ended = follow.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn events_are_told_from_where_they_are_asked_for() {
    let left = Left::new();
    let seqs = |words: &[&str]| -> Vec<u64> {
        let out = went_well(&left.ask(words));
        out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap()).collect()
    };
    let all = seqs(&["events"]);
    assert!(all.len() > 10 && all[0] == 1, "{all:?}");
    assert_eq!(seqs(&["events", "--since", &all[3].to_string()]), all[4..]);
    assert_eq!(seqs(&["events", "--since", "1d"]), all);
    assert_eq!(seqs(&["events", "--since", "999999"]), [0; 0]);
}
