//! `trellis uninstall`: what it names, what it refuses, and that the tree afterwards is the tree before trellis came.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use trellis::paths::Home;
use trellis::store::lock::{Holder, Lock, holder};

use crate::demo::Ended;
use crate::terminal::{PATIENCE, program};

/// A person's folder with an agent's settings in it, and a temporary folder.
struct Person(tempfile::TempDir);

impl Person {
    fn new() -> Self {
        let person = Self(tempfile::tempdir().unwrap());
        for folder in ["home/.claude/projects", "home/.codex/sessions", "home/work", "tmp"] {
            fs::create_dir_all(person.path(folder)).unwrap();
        }
        fs::write(person.path("home/.claude/settings.json"), "{\n  \"model\": \"opus\"\n}\n").unwrap();
        fs::write(person.path("home/work/precious"), "mine").unwrap();
        person
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn home(&self) -> PathBuf {
        self.path("home/.trellis")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(words).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.path("home"));
        command.env("TMPDIR", self.path("tmp")).env("TMUX_TMPDIR", self.path("tmp")).env("LANG", "C.UTF-8");
        command.current_dir(self.path("home/work")).stdin(Stdio::null());
        command
    }

    #[track_caller]
    fn run(&self, code: i32, words: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(words).output().unwrap();
        let said = String::from_utf8([stdout, stderr].concat()).unwrap();
        assert_eq!(status.code(), Some(code), "{words:?}: {said}");
        said
    }

    /// Everything below: what it is, its rights, and what is in it.
    fn tree(&self) -> BTreeMap<PathBuf, (u32, String)> {
        let mut tree = BTreeMap::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let facts = fs::symlink_metadata(&path).unwrap();
                let inside = if facts.is_dir() {
                    folders.push(path.clone());
                    String::new()
                } else if facts.is_symlink() {
                    fs::read_link(&path).unwrap().display().to_string()
                } else {
                    fs::read_to_string(&path).unwrap()
                };
                tree.insert(path, (facts.permissions().mode(), inside));
            }
        }
        tree
    }
}

#[test]
fn after_uninstall_the_tree_is_what_it_was_before_trellis_came() {
    let person = Person::new();
    let before = person.tree();
    assert!(person.run(0, &["uninstall"]).contains("nothing of trellis here but the program"));
    // Everything that puts something somewhere; twice, so that copies of settings stand beside copies.
    person.run(0, &["hooks", "install", "--agent", "claude", "--yes"]);
    person.run(0, &["hooks", "remove", "--agent", "claude", "--yes"]);
    person.run(0, &["hooks", "install", "--agent", "claude", "--yes"]);
    person.run(0, &["hooks", "install", "--agent", "codex", "--yes"]);
    person.run(0, &["demo", "--headless", "--speed", "50", "--home", person.home().to_str().unwrap()]);
    person.run(0, &["demo", "--headless", "--speed", "50"]);
    person.run(0, &["config", "check"]);
    // Links in the home lead out of it.
    symlink(person.path("home/work"), person.home().join("quarantine")).unwrap();
    symlink(person.path("home/work/precious"), person.home().join("logs/link")).unwrap();
    symlink(person.path("home/work"), person.home().join("checklist-runs/folder")).unwrap();
    let with = person.tree();

    let said = person.run(0, &["uninstall"]);
    assert_eq!(person.tree(), with, "it only names");
    for part in [
        "settings.json: 3 entries of trellis",
        "settings.json.before-trellis-",
        "hooks.json: 2 entries of trellis",
        "home  ",
        "/.trellis/checklist-runs\n",
        "demo  ",
        "/tmp/trellis-demo-",
        "nothing was removed: `trellis uninstall --yes`",
    ] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
    let said = person.run(0, &["uninstall", "--yes"]);
    assert!(said.contains("removed; what is left is the program"), "{said}");
    assert_eq!(person.tree(), before);
}

#[test]
fn what_is_not_trellis_stays_and_is_named() {
    let person = Person::new();
    let home = person.home();
    person.run(0, &["config", "init"]);
    fs::write(home.join("trellis.lock"), "").unwrap();
    fs::write(home.join("notes.txt"), "mine").unwrap();
    fs::create_dir(home.join("mine")).unwrap();
    // What only looks like a copy of settings.
    fs::write(person.path("home/.claude/settings.json.before-trellis-came"), "mine").unwrap();
    let said = person.run(0, &["uninstall", "--yes"]);
    assert!(
        said.contains("notes.txt is not trellis's and stays") && said.contains("/.trellis stays with what"),
        "{said}"
    );
    let mut left: Vec<_> = fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["mine", "notes.txt"]);
    assert!(person.path("home/.claude/settings.json.before-trellis-came").exists());
    // Settings that were changed by hand since keep the change.
    person.run(0, &["hooks", "install", "--agent", "claude", "--yes"]);
    let settings = person.path("home/.claude/settings.json");
    let changed = fs::read_to_string(&settings).unwrap().replace("opus", "sonnet");
    fs::write(&settings, changed).unwrap();
    person.run(0, &["uninstall", "--yes"]);
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\n  \"model\": \"sonnet\"\n}\n");
}

#[test]
fn a_folder_that_is_no_home_or_holds_a_persons_own_is_left_alone() {
    let person = Person::new();
    let before = person.tree();
    let named = |path: &Path| person.run(1, &["uninstall", "--yes", "--home", path.to_str().unwrap()]);
    // The agents' own folders have names in them that a home has too.
    fs::write(person.path("home/.codex/config.toml"), "").unwrap();
    assert!(named(&person.path("home/.codex")).contains("lies in it"));
    assert!(named(&person.path("home")).contains("lies in it"));
    assert!(named(Path::new("/")).contains("is left alone"));
    fs::create_dir_all(person.path("other/logs")).unwrap();
    fs::write(person.path("other/mine"), "").unwrap();
    assert!(named(&person.path("other")).contains("it is no home of trellis"));
    symlink(person.path("other"), person.path("link")).unwrap();
    assert!(named(&person.path("link")).contains("it is a link"));
    assert!(named(&person.path("home/work/precious")).contains("it is not a folder"));
    for made in ["link", "home/.codex/config.toml"] {
        fs::remove_file(person.path(made)).unwrap();
    }
    fs::remove_dir_all(person.path("other")).unwrap();
    assert_eq!(person.tree(), before);
}

#[test]
fn settings_that_cannot_be_understood_are_said_and_the_rest_goes() {
    let person = Person::new();
    person.run(0, &["config", "init"]);
    fs::write(person.path("home/.claude/settings.json"), "{ // mine\n}").unwrap();
    let said = person.run(1, &["uninstall", "--yes"]);
    assert!(said.contains("can't tell, look yourself") && said.contains("settings.json"), "{said}");
    assert!(!person.home().exists());
}

#[test]
fn nothing_is_removed_while_something_drives() {
    let person = Person::new();
    let home = person.home();
    let mut demo = person.command(&["demo", "--headless", "--speed", "0.1", "--home", home.to_str().unwrap()]);
    let driver = Ended(demo.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let until = Instant::now() + PATIENCE;
    while !matches!(holder(&Home::at(&home)), Ok(Holder::Process(Some(_)))) || !home.join("demo/cast.json").exists() {
        assert!(Instant::now() < until, "it does not drive");
    }
    let who = format!("another trellis (pid {}) drives", driver.0.id());
    // What is there is named all the same, and which of it is in use.
    let said = person.run(0, &["uninstall"]);
    let named = format!("home   {}: in use\n", home.display());
    assert!(said.contains(&named) && said.contains("/.trellis/demo\n") && said.contains(&who), "{said}");
    let said = person.run(1, &["uninstall", "--yes"]);
    assert!(said.contains(&who) && said.contains("end it first"), "{said}");
    assert!(home.join("trellis.lock").exists() && home.join("demo/cast.json").exists());
}

#[test]
fn with_a_named_home_only_that_one_goes() {
    let person = Person::new();
    for name in ["tmp/trellis-demo-one", "tmp/trellis-demo-two", "third"] {
        person.run(0, &["demo", "--headless", "--speed", "50", "--home", person.path(name).to_str().unwrap()]);
    }
    // Another demo that is played does not matter to it.
    let _lock = Lock::take(&Home::at(person.path("tmp/trellis-demo-two"))).unwrap();
    for name in ["third", "tmp/trellis-demo-one"] {
        let home = person.path(name);
        let said = person.run(0, &["uninstall", "--yes", "--home", home.to_str().unwrap()]);
        assert!(!home.exists() && !said.contains("trellis-demo-two"), "{said}");
    }
    assert!(person.path("tmp/trellis-demo-two/trellis.lock").exists());
}

/// The names of a demo's folder are those that a demo makes for itself.
#[test]
fn a_demo_that_is_played_in_the_temporary_folder_holds_everything_back() {
    let person = Person::new();
    let own = person.path("tmp/trellis-demo-mine");
    person.run(0, &["demo", "--headless", "--speed", "50", "--home", own.to_str().unwrap()]);
    let lock = Lock::take(&Home::at(&own)).unwrap();
    person.run(0, &["hooks", "install", "--agent", "claude", "--yes"]);
    let with = person.tree();
    assert!(person.run(1, &["uninstall", "--yes"]).contains("trellis-demo-mine; end it first"));
    assert_eq!(person.tree(), with);
    drop(lock);
    // Another one's folder of such a name is none of ours.
    fs::create_dir(person.path("tmp/trellis-demo-other")).unwrap();
    symlink(person.path("home/work"), person.path("tmp/trellis-demo-link")).unwrap();
    let said = person.run(0, &["uninstall", "--yes"]);
    assert!(!own.exists() && !said.contains("-other") && !said.contains("-link"), "{said}");
    assert!(person.path("tmp/trellis-demo-other").exists() && person.path("tmp/trellis-demo-link").exists());
}
