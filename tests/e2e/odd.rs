//! Odd things in the place of what a home keeps: pipes, folders, links, garbage. Nothing waits for them, nothing is written
//! through them, and what was there before goes on when it is put back. Faults of the machine are in `faults`.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::demo::{Ended, trellis};
use super::faults::{Demo, assert_whole, ended, in_review, records, run};
use super::terminal::{PATIENCE, program};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Odd {
    /// Whoever opens it waits for who writes into it.
    Pipe,
    /// With a file in it.
    Folder,
    LinkToNowhere,
    /// A link to a file of the person's own.
    LinkOutside,
    Garbage,
}

const ALL: [Odd; 5] = [Odd::Pipe, Odd::Folder, Odd::LinkToNowhere, Odd::LinkOutside, Odd::Garbage];

/// A home, and beside it what is not its own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(place.own(), "a letter").unwrap();
        place
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A file of the person's own.
    fn own(&self) -> PathBuf {
        self.folder.path().join("own")
    }

    /// Puts something odd where `name` lies, does something, and puts back what was there.
    fn with<T>(&self, name: &str, odd: Odd, work: impl FnOnce() -> T) -> T {
        let (path, away) = (self.home().join(name), self.folder.path().join("away"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let was_there = fs::rename(&path, &away).is_ok();
        match odd {
            Odd::Pipe => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
            Odd::Folder => fs::create_dir(&path).and_then(|()| fs::write(path.join("x"), "x")).unwrap(),
            Odd::LinkToNowhere => symlink(self.folder.path().join("nowhere/x"), &path).unwrap(),
            Odd::LinkOutside => symlink(self.own(), &path).unwrap(),
            Odd::Garbage => fs::write(&path, b"\xff\x00{\"schema\": [\n1").unwrap(),
        }
        let done = work();
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
        if was_there {
            fs::rename(&away, &path).unwrap();
        }
        assert_eq!(fs::read_to_string(self.own()).unwrap(), "a letter", "{name} {odd:?}");
        assert!(!self.folder.path().join("nowhere").exists(), "{name} {odd:?}");
        done
    }

    /// Runs a command to its end; its code and its words.
    #[track_caller]
    fn ends(&self, words: &[&str], what: &str) -> (i32, String) {
        let said = self.folder.path().join("said");
        let file = File::create(&said).unwrap();
        let mut command = trellis(&self.home());
        command.args(words).stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        let mut child = Ended(command.spawn().unwrap());
        let end = Instant::now() + PATIENCE;
        let code = loop {
            if let Some(status) = child.0.try_wait().unwrap() {
                break status.code();
            }
            assert!(Instant::now() < end, "{what}: {words:?} does not end: {}", fs::read_to_string(&said).unwrap());
            std::thread::park_timeout(Duration::from_millis(10));
        };
        let said = String::from_utf8_lossy(&fs::read(said).unwrap()).into_owned();
        assert!(matches!(code, Some(0 | 1)), "{what}: {words:?} ends with {code:?}: {said}");
        assert!(!said.contains("panicked") && !said.contains('\u{0}'), "{what}: {words:?}: {said}");
        (code.unwrap(), said)
    }
}

#[test]
fn nothing_odd_in_a_home_is_waited_for_or_written_through() {
    let place = Place::new();
    let home = place.home();
    ended(&run(&home, &["demo", "--headless", "--speed", "50"]), 0);
    let id = records(&home, "checklist-runs")[0]["id"].as_str().unwrap().to_owned();
    let pair = records(&home, "pairs")[0]["id"].as_str().unwrap().to_owned();
    let names = [
        "trellis.lock".to_owned(),
        "trellis.sock".to_owned(),
        "events.jsonl".to_owned(),
        "logs".to_owned(),
        "logs/decisions.jsonl".to_owned(),
        "logs/trellis.log".to_owned(),
        "summaries.json".to_owned(),
        "state.toml".to_owned(),
        "config.toml".to_owned(),
        "keymap.toml".to_owned(),
        "pairs".to_owned(),
        "checklist-runs".to_owned(),
        "sessions".to_owned(),
        "quarantine".to_owned(),
        "hooks".to_owned(),
        "hooks/1-2.json".to_owned(),
        format!("checklist-runs/{id}"),
        format!("pairs/{pair}"),
    ];
    for name in &names {
        for odd in ALL {
            let what = format!("{name} {odd:?}");
            place.with(name, odd, || {
                place.ends(&["status"], &what);
                place.ends(&["drive"], &what);
            });
        }
        let _ = fs::remove_dir_all(home.join("quarantine"));
        let _ = fs::remove_dir_all(home.join("hooks"));
    }
    // A record that is no ordinary file, and a text that cannot be opened.
    for odd in ALL {
        place.with(&format!("pairs/{pair}"), odd, || place.ends(&["run", "verify", "shop"], &format!("{odd:?}")));
    }
    let texts = home.join(format!("pairs/{pair}"));
    for text in fs::read_dir(texts).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
        let name = format!("pairs/{pair}/{text}");
        place.with(&name, Odd::Pipe, || place.ends(&["run", "verify", "shop"], &name));
    }
    assert_whole(&home);
}

/// A folder of records that is none holds what belongs to it, says so and ends; put back, nothing is lost or doubled.
#[test]
fn a_folder_of_records_that_is_no_folder_holds_its_runs_until_it_is_back() {
    for folder in ["pairs", "checklist-runs"] {
        for odd in [Odd::Pipe, Odd::LinkToNowhere, Odd::Garbage] {
            let place = Place::new();
            let home = place.home();
            let mut demo = Demo::start(&home, &["--speed", "4"]);
            in_review(&home);
            demo.child().kill().unwrap();
            demo.child().wait().unwrap();
            let what = format!("{folder} {odd:?}");
            place.with(folder, odd, || {
                // Who only looks, and who drives, says the same; nobody begins anything beside it.
                for (words, code) in [(&["status"][..], 0), (&["drive"], 1), (&["demo", "--headless"], 1)] {
                    let (ended, said) = place.ends(words, &what);
                    assert_eq!(ended, code, "{what} {words:?}: {said}");
                    let names_it = said.contains(&format!("{folder} can't be read"));
                    assert!(names_it || words == ["demo", "--headless"], "{what} {words:?}: {said}");
                }
            });
            ended(&run(&home, &["demo", "--headless", "--speed", "10"]), 0);
            assert_whole(&home);
        }
    }
}

/// A home that belongs to somebody else, who lets others read it.
#[test]
fn a_home_of_another_user_is_only_looked_at() {
    let place = Place::new();
    let home = place.home();
    ended(&run(&home, &["demo", "--headless", "--speed", "50"]), 0);
    let open = Command::new("chmod").args(["-R", "a+rX"]).arg(place.folder.path()).status().unwrap();
    assert!(open.success());
    let before = listed(&home);
    let as_another = |words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=54321", "--clear-groups", program().to_str().unwrap(), "--home"]).arg(&home);
        command.args(words).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/nobody").env("TERM", "dumb");
        command.output().unwrap()
    };
    let may = Command::new("setpriv").args(["--reuid=54321", "--clear-groups", "true"]).output();
    if !may.is_ok_and(|may| may.status.success()) || !as_another(&["--version"]).status.success() {
        return println!("not tried: this user may not become another, or that one may not run the program");
    }
    ended(&as_another(&["status"]), 0);
    ended(&as_another(&["run", "list"]), 0);
    for words in [&["drive"][..], &["demo", "--headless"], &["run", "pause", "shop"], &["uninstall", "--yes"]] {
        let said = ended(&as_another(words), 1);
        assert!(said.contains("permission denied"), "{words:?}: {said}");
    }
    assert_eq!(listed(&home), before);
    assert_whole(&home);
}

/// Every file and folder, with its length and time.
fn listed(folder: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let facts = fs::symlink_metadata(&path).unwrap();
            if facts.is_dir() {
                folders.push(path.clone());
            }
            all.push((path, facts.len(), facts.modified().unwrap()));
        }
    }
    all.sort();
    all
}
