//! Faults of the machine around the program, made for real: disks, homes, limits of the system, locks, clocks. Each ends in
//! a sentence, a run that goes on or waits, and whole records. Which row of the matrix is held where stands in
//! `docs/coverage.md`; kills are in `kills` and `saves`.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;
use trellis::paths::Home;
use trellis::store::lock::Lock;

use super::demo::{Ended, assert_each_message_once, trellis};
use super::terminal::{PATIENCE, Terminal, WIDE, program};

/// This process is the one in a namespace of its own.
const INNER: &str = "TRELLIS_TEST_INNER";

/// Runs a test in namespaces of its own, where it may mount and set limits; where the system does not allow that, says so.
fn in_a_namespace(test: &str, options: &[&str], body: impl FnOnce()) {
    if std::env::var_os(INNER).is_some() {
        return body();
    }
    let folder = tempfile::tempdir().unwrap();
    let may = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none"]).arg(folder.path()).output();
    match may {
        Ok(may) if may.status.success() => {}
        Ok(may) => return println!("{test} is not tried: {}", text(&may.stderr)),
        Err(error) => return println!("{test} is not tried: unshare: {error}"),
    }
    let inner = Command::new("unshare")
        .args(options)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("faults::{test}"), "--nocapture"])
        .env(INNER, "1")
        .output()
        .unwrap();
    assert!(inner.status.success(), "{}{}", text(&inner.stdout), text(&inner.stderr));
}

fn mount(words: &[&str], target: &Path) {
    let end = Instant::now() + PATIENCE;
    loop {
        let done = Command::new("mount").args(words).arg(target).output().unwrap();
        let said = text(&done.stderr);
        if done.status.success() {
            return;
        }
        // A file that is just being written keeps it busy for a moment.
        assert!(said.contains("busy") && Instant::now() < end, "mount {words:?}: {said}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn run(home: &Path, words: &[&str]) -> Output {
    trellis(home).args(words).output().unwrap()
}

/// Its words without the ends of its lines.
fn unwrapped(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
pub fn ended(output: &Output, code: i32) -> String {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "--- stdout\n{out}\n--- stderr\n{err}");
    assert!(!err.contains("panicked") && !err.contains("RUST_BACKTRACE"), "{err}");
    format!("{out}{err}")
}

#[track_caller]
pub fn wait(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + 3 * PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// A demo without a screen; what it says stands in files.
pub struct Demo {
    child: Ended,
    said: PathBuf,
}

impl Demo {
    pub fn start(home: &Path, words: &[&str]) -> Self {
        let mut command = trellis(home);
        command.args(["demo", "--headless"]).args(words);
        Self::of(command, &home.with_extension("said"))
    }

    fn of(mut command: Command, said: &Path) -> Self {
        let file = File::create(said).unwrap();
        let child = command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap();
        Self { child: Ended(child), said: said.to_owned() }
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child.0
    }

    pub fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap()
    }

    #[track_caller]
    fn says(&self, part: &str) {
        wait(part, || self.said().contains(part));
    }

    /// Waits for its end; its code.
    pub fn code(&mut self) -> Option<i32> {
        let mut code = None;
        wait("the end", || {
            code = self.child().try_wait().unwrap();
            code.is_some()
        });
        code.unwrap().code()
    }
}

/// The records of a folder, whole.
pub fn records(home: &Path, folder: &str) -> Vec<Value> {
    let files = fs::read_dir(home.join(folder)).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.map(|path| serde_json::from_slice(&fs::read(&path).unwrap()).unwrap()).collect()
}

fn only(home: &Path, folder: &str) -> PathBuf {
    let files = fs::read_dir(home.join(folder)).into_iter().flatten().flatten().map(|entry| entry.path());
    files.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "json")).unwrap()
}

#[track_caller]
pub fn in_review(home: &Path) {
    wait("the first review", || home.join("pairs").is_dir() && !records(home, "pairs").is_empty());
}

#[track_caller]
fn completed(home: &Path) {
    wait("the run's end", || records(home, "checklist-runs")[0]["stop_reason"] == "completed");
}

/// Files that a save left behind.
fn left_over(home: &Path) -> Vec<PathBuf> {
    let mut folders = vec![home.to_owned()];
    let mut left = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().unwrap().to_string_lossy().starts_with(".tmp-") {
                left.push(path);
            }
        }
    }
    left
}

/// The run of the demo completed, and each of its messages stands once where it was sent.
#[track_caller]
pub fn assert_whole(home: &Path) {
    assert_each_message_once(home);
    ended(&run(home, &["run", "verify", "shop"]), 0);
    assert_eq!(records(home, "checklist-runs")[0]["stop_reason"], "completed");
    assert!(!home.join("quarantine").exists());
}

#[test]
fn a_full_disk_is_said_on_the_screen_and_the_run_goes_on_when_there_is_room() {
    in_a_namespace("a_full_disk_is_said_on_the_screen_and_the_run_goes_on_when_there_is_room", &["-rm"], || {
        let terminal = Terminal::open(WIDE);
        let home = terminal.home();
        fs::create_dir(&home).unwrap();
        mount(&["-t", "tmpfs", "-o", "size=256k", "none"], &home);
        terminal.trellis("demo --speed 4");
        in_review(&home);
        let before = records(&home, "pairs");
        let mut ballast = File::create(home.join("ballast")).unwrap();
        while ballast.write_all(&[0; 512]).is_ok() {}
        terminal.wait_for("no space");
        // Whatever the run waited for: what ends it now is said from outside, too.
        let why = unwrapped(&ended(&run(&home, &["why", "shop"]), 0));
        assert!(why.contains("now: waits for the disk") && why.contains("no space left"), "{why}");
        assert!(why.contains("ends when it can be saved"), "{why}");
        // The records are those of before or newer ones, whole; nothing half written lies about.
        assert!(records(&home, "pairs")[0]["revision"].as_u64() >= before[0]["revision"].as_u64());
        assert_eq!(records(&home, "checklist-runs").len(), 1);
        assert_eq!(left_over(&home), Vec::<PathBuf>::new());
        drop(ballast);
        fs::remove_file(home.join("ballast")).unwrap();
        completed(&home);
        terminal.wait_for("completed");
        terminal.press_for(&["q"], "ended 0");
        assert_whole(&home);
    });
}

#[test]
fn records_that_become_read_only_hold_the_run_until_they_can_be_written() {
    in_a_namespace("records_that_become_read_only_hold_the_run_until_they_can_be_written", &["-rm"], || {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let mut demo = Demo::start(&home, &["--speed", "4"]);
        in_review(&home);
        let pairs = home.join("pairs");
        mount(&["--bind", pairs.to_str().unwrap()], &pairs);
        mount(&["-o", "remount,bind,ro"], &pairs);
        demo.says("the file system is read-only");
        assert!(demo.child().try_wait().unwrap().is_none(), "it waits: {}", demo.said());
        let done = Command::new("umount").arg(&pairs).status().unwrap();
        assert!(done.success());
        assert_eq!(demo.code(), Some(0), "{}", demo.said());
        assert_whole(&home);
    });
}

#[test]
fn a_home_that_cannot_be_written_is_only_watched_and_says_so() {
    in_a_namespace("a_home_that_cannot_be_written_is_only_watched_and_says_so", &["-rm"], || {
        let terminal = Terminal::open(WIDE);
        let home = terminal.home();
        let mut demo = Demo::start(&home, &["--speed", "4"]);
        in_review(&home);
        demo.child().kill().unwrap();
        demo.child().wait().unwrap();
        let before = fs::read(only(&home, "checklist-runs")).unwrap();
        mount(&["--bind", home.to_str().unwrap()], &home);
        mount(&["-o", "remount,bind,ro"], &home);
        // The dashboard is a view and says why.
        terminal.trellis("");
        let screen = terminal.wait("the run", |screen| screen.contains("shop") && screen.contains("read-only"));
        assert!(screen.contains("nobody drives"), "{screen}");
        terminal.press_for(&["q"], "ended 0");
        // What only looks looks; what would write says that it cannot.
        for words in [&["status"][..], &["run", "list"], &["session", "list"], &["run", "show", "shop"], &["doctor"]] {
            let output = run(&home, words);
            assert!(!text(&output.stderr).contains("panicked"), "{words:?}: {}", text(&output.stderr));
            assert!(output.status.code() == Some(0) || words == ["doctor"], "{words:?}: {}", text(&output.stderr));
        }
        for words in [&["drive"][..], &["demo", "--headless"], &["drive", "--background"]] {
            let said = ended(&run(&home, words), 1);
            assert!(said.contains("read-only"), "{words:?}: {said}");
        }
        assert_eq!(fs::read(only(&home, "checklist-runs")).unwrap(), before);
        assert!(Command::new("umount").arg(&home).status().unwrap().success());
        ended(&run(&home, &["demo", "--headless", "--speed", "10"]), 0);
        assert_whole(&home);
    });
}

/// The program with nothing but a `HOME`, or without one.
fn at_home(user: Option<&Path>, words: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.env_clear().env("PATH", "/usr/bin:/bin").env("TERM", "dumb").args(words);
    command.envs(user.map(|user| ("HOME", user))).output().unwrap()
}

const COMMANDS: [&[&str]; 9] = [
    &["status"],
    &["run", "list"],
    &["session", "list"],
    &["drive"],
    &["drive", "--background"],
    &["config", "init"],
    &["config", "check"],
    &["watch"],
    &["dump", "--screen", "runs"],
];

#[test]
fn a_file_in_the_place_of_the_home_is_named_and_kept() {
    let user = tempfile::tempdir().unwrap();
    let file = user.path().join(".trellis");
    fs::write(&file, "not a folder").unwrap();
    for words in COMMANDS {
        let said = ended(&at_home(Some(user.path()), words), 1);
        assert!(said.contains(".trellis is a file, not a folder"), "{words:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{words:?}: {said}");
    }
    let doctor = at_home(Some(user.path()), &["doctor"]);
    assert!(ended(&doctor, 1).contains("not a folder"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a folder");
    assert_eq!(fs::read_dir(user.path()).unwrap().count(), 1, "nothing was made beside it");
}

#[test]
fn a_person_without_a_folder_is_told_to_name_one() {
    // Nobody of this number is known to the system, so that nothing stands in for `HOME`.
    in_a_namespace("a_person_without_a_folder_is_told_to_name_one", &["--map-user=54321", "-U"], || {
        for words in COMMANDS {
            let said = ended(&at_home(None, words), 1);
            assert!(said.contains("can't tell your home folder; name one"), "{words:?}: {said}");
        }
        // The demo has a folder of its own all the same, and a hook never fails its agent.
        ended(&at_home(None, &["demo", "--list"]), 0);
        ended(&at_home(None, &["hook", "--agent", "claude"]), 0);
    });
    // One that is named and is not there: looking makes nothing.
    let user = tempfile::tempdir().unwrap();
    let away = user.path().join("away");
    for words in [&["status"][..], &["run", "list"], &["session", "list"], &["dump", "--screen", "runs"]] {
        ended(&at_home(Some(&away), words), 0);
        assert!(!away.exists(), "{words:?} made it");
    }
}

#[test]
fn thirty_two_open_files_are_enough_and_fewer_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let limited = |files: u32, words: &[&str]| {
        let mut command = Command::new("sh");
        command.env_clear().env("HOME", "/nobody").env("PATH", "/usr/bin:/bin").env("TERM", "dumb");
        let script = format!("ulimit -n {files} && exec \"$@\"");
        command.args(["-c", &script, "sh"]).arg(program()).arg("--home").arg(&home).args(words).output().unwrap()
    };
    for files in [31, 16, 8] {
        let said = ended(&limited(files, &["demo", "--headless"]), 1);
        assert!(said.contains("open files") || said.contains("files may be open here"), "{files}: {said}");
    }
    ended(&limited(32, &["demo", "--headless", "--speed", "20"]), 0);
    assert_whole(&home);
    for words in [&["status"][..], &["run", "verify", "shop"], &["dump", "--screen", "run"], &["session", "list"]] {
        ended(&limited(32, words), 0);
    }
}

#[test]
fn without_watches_it_says_what_to_raise_once_and_goes_on() {
    in_a_namespace("without_watches_it_says_what_to_raise_once_and_goes_on", &["-rm"], || {
        for (limit, value) in [("max_inotify_instances", 0), ("max_inotify_watches", 3)] {
            let file = Path::new("/proc/sys/user").join(limit);
            let before = fs::read_to_string(&file).unwrap();
            fs::write(&file, value.to_string()).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let home = folder.path().join("home");
            let said = ended(&run(&home, &["demo", "--headless", "--speed", "10"]), 0);
            let sysctl = limit.replace("max_inotify", "fs.inotify.max_user");
            assert_eq!(said.matches(&sysctl).count(), 1, "{said}");
            assert_whole(&home);
            fs::write(&file, before.trim()).unwrap();
        }
    });
}

#[test]
fn transcripts_whose_folder_vanishes_pause_the_run_until_they_are_back() {
    let terminal = Terminal::running(WIDE, "demo --speed 4");
    let home = terminal.home();
    in_review(&home);
    let (there, away) = (home.join("agents/codex"), home.join("agents/away"));
    fs::rename(&there, &away).unwrap();
    let screen = terminal.wait_for("codex is gone");
    assert!(screen.contains("needs you"), "{screen}");
    assert_eq!(records(&home, "pairs")[0]["state"], "paused");
    fs::rename(&away, &there).unwrap();
    terminal.press_until(&["p"], "going on", |screen| !screen.contains("needs you"));
    completed(&home);
    terminal.wait_for("completed");
    terminal.press_for(&["q"], "ended 0");
    assert_whole(&home);
}

#[test]
fn a_lock_is_its_holders_and_that_of_a_dead_process_is_nobodys() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let mut demo = Demo::start(&home, &["--speed", "4"]);
    in_review(&home);
    demo.child().kill().unwrap();
    demo.child().wait().unwrap();
    // The killed process is still named in it, and holds it no more.
    let named = fs::read_to_string(home.join("trellis.lock")).unwrap();
    assert!(named.starts_with(&demo.child().id().to_string()), "{named}");
    let lock = Lock::take(&Home::at(&home)).unwrap();
    let me = format!("pid {}", std::process::id());
    for words in [&["drive"][..], &["demo", "--headless"]] {
        assert!(ended(&run(&home, words), 1).contains(&me), "{words:?}");
    }
    assert!(ended(&run(&home, &["status"]), 0).contains(&format!("process {} drives", std::process::id())));
    drop(lock);
    ended(&run(&home, &["demo", "--headless", "--speed", "10"]), 0);
    assert_whole(&home);
}

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

/// Plays until the run waits for the end of a limit; when that is.
fn limited(home: &Path) -> Timestamp {
    let mut end = None;
    wait("the limit", || {
        end = records(home, "pairs").iter().find_map(|pair| pair["limit"]["resets_at"].as_str()?.parse().ok());
        end.is_some()
    });
    end.unwrap()
}

#[test]
fn l23_a_process_that_was_stopped_over_the_end_of_a_limit_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let mut demo = Demo::start(&home, &["--scene", "limit", "--speed", "10"]);
    let end = limited(&home);
    signal(demo.child(), "STOP");
    wait("the end of the limit", || Timestamp::now() > end);
    let asleep = records(&home, "pairs");
    signal(demo.child(), "CONT");
    assert_eq!(demo.code(), Some(0), "{}", demo.said());
    assert_eq!(asleep[0]["paused_reason"], "limit");
    ended(&run(&home, &["run", "verify", "shop"]), 0);
}

#[test]
fn l23_another_time_zone_changes_what_is_said_and_not_when_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let with = |zone: &str, words: &[&str]| {
        let mut command = trellis(&home);
        command.env("TZ", zone).args(words);
        command
    };
    let play = ["demo", "--headless", "--scene", "limit", "--speed", "4"];
    let mut demo = Demo::of(with("Asia/Tokyo", &play), &home.with_extension("said"));
    let end = limited(&home);
    demo.child().kill().unwrap();
    demo.child().wait().unwrap();
    let said = |zone: &str| text(&with(zone, &["status"]).output().unwrap().stdout);
    let at = |zone: &str| end.in_tz(zone).unwrap().strftime("%H:%M").to_string();
    for zone in ["Asia/Tokyo", "America/St_Johns", "UTC"] {
        let words = said(zone);
        assert!(words.contains(&at(zone)), "{zone}: {words}");
    }
    assert_eq!(limited(&home), end, "a look changes nothing");
    let mut demo = Demo::of(with("America/St_Johns", &play), &home.with_extension("said"));
    assert_eq!(demo.code(), Some(0), "{}", demo.said());
    ended(&run(&home, &["run", "verify", "shop"]), 0);
}

#[test]
fn a_home_that_is_removed_ends_its_driver_with_a_sentence_and_is_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let (home, away) = (folder.path().join("home"), folder.path().join("away"));
    let mut demo = Demo::start(&home, &["--speed", "1"]);
    in_review(&home);
    fs::rename(&home, &away).unwrap();
    assert_eq!(demo.code(), Some(1), "{}", demo.said());
    let said = demo.said();
    assert!(said.contains("was removed or replaced while it was driven"), "{said}");
    assert!(!home.exists(), "it was made again");
    // Nothing of it is lost: put back, the run goes on.
    fs::rename(&away, &home).unwrap();
    ended(&run(&home, &["demo", "--headless", "--speed", "10"]), 0);
    assert_whole(&home);
}

/// A damaged record is shown as what it is wherever runs are told of, nothing of its run moves, and nothing is lost.
#[test]
fn s1_a_damaged_record_holds_its_run_until_it_is_restored() {
    for folder in ["checklist-runs", "pairs"] {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        let mut demo = Demo::start(&home, &["--speed", "4"]);
        in_review(&home);
        demo.child().kill().unwrap();
        demo.child().wait().unwrap();
        let record = only(&home, folder);
        let whole = fs::read(&record).unwrap();
        fs::write(&record, &whole[..whole.len() / 2]).unwrap();
        let others = |home: &Path| [records(home, "pairs"), records(home, "checklist-runs")].concat();
        let told = |home: &Path| {
            let said = ended(&run(home, &["status"]), 0);
            assert!(said.contains("1 run needs you") && said.contains("damaged: "), "{folder}: {said}");
            assert!(said.contains("it is no whole JSON; mend "), "{folder}: {said}");
            assert_eq!(ended(&run(home, &["status", "--short"]), 0), "trellis !1\n", "{folder}");
            let json: Value = serde_json::from_slice(&run(home, &["status", "--json"]).stdout).unwrap();
            assert_eq!(json["runs"].as_array().unwrap().len(), 1, "{folder}: {json}");
            assert_eq!((&json["needs_you"], &json["runs"][0]["state"]), (&Value::from(1), &Value::from("damaged")));
            for size in ["38x20", "100x24"] {
                let frame = ended(&run(home, &["dump", "--screen", "runs", "--size", size]), 0);
                assert!(frame.contains("damaged"), "{folder}: {frame}");
            }
            let why = unwrapped(&ended(&run(home, &["why", json["runs"][0]["id"].as_str().unwrap()]), 0));
            assert!(why.contains("it is no whole JSON; mend "), "{folder}: {why}");
        };
        // Before a driver comes by, and after it put the record away: at the first start and at later ones.
        fs::rename(&record, place.path().join("half")).unwrap();
        let left = others(&home);
        fs::rename(place.path().join("half"), &record).unwrap();
        told(&home);
        for _ in 0..2 {
            let said = ended(&run(&home, &["drive"]), 1);
            assert!(said.contains("quarantine/") && said.contains("that is held"), "{folder}: {said}");
            told(&home);
        }
        assert_eq!(others(&home), left, "{folder}: nothing else was touched");
        // Restored, as the sentence says.
        let name = record.file_name().unwrap();
        fs::remove_file(home.join("quarantine").join(name)).unwrap();
        fs::remove_dir(home.join("quarantine")).unwrap();
        fs::write(&record, &whole).unwrap();
        ended(&run(&home, &["demo", "--headless", "--speed", "10"]), 0);
        assert_whole(&home);
    }
}

/// S5: a newer trellis's record is shown as that, with its true age, and counts as one that only another program drives.
#[test]
fn s5_a_newer_record_is_told_as_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    ended(&run(home, &["demo", "--headless", "--speed", "50"]), 0);
    let newer = "{\"schema\": 99, \"id\": \"later\", \"state\": \"running\", \"news\": [1]}";
    fs::write(home.join("checklist-runs/later.json"), newer).unwrap();
    let said = ended(&run(home, &["status"]), 0);
    let line = said.lines().find(|line| line.starts_with("later: ")).unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains("read-only: written by a newer trellis (schema 99); go on with that one"), "{line}");
    assert!(line.contains("(written ") && line.contains("s ago)"), "{line}");
    assert!(said.contains("0 going, 1 only shown"), "{said}");
    assert_eq!(ended(&run(home, &["status", "--short"]), 0), "trellis ?1\n");
    let frame = ended(&run(home, &["dump", "--screen", "runs", "--size", "80x24"]), 0);
    let row = frame.lines().find(|line| line.contains("later")).unwrap();
    assert!(row.contains(" run ") && !row.contains("pair"), "{frame}");
    assert_eq!(fs::read_to_string(home.join("checklist-runs/later.json")).unwrap(), newer);
}
