//! Leaving a run driving in the background and coming back to it: who drives is never in doubt, and no message is lost or
//! sent twice over it.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use trellis::paths::Home;
use trellis::store::lock::{Claim, Holder, Kind, holder};

use super::demo::{assert_each_message_once, trellis};
use super::terminal::{NARROW, PATIENCE, Terminal, WIDE};

fn run(home: &Path, words: &[&str]) -> Output {
    trellis(home).args(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn claim(home: &Path) -> Option<Claim> {
    match holder(&Home::at(home)) {
        Ok(Holder::Process(claim)) => claim,
        _ => None,
    }
}

fn wait(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// The driver in the background; the test fails when it is another one's turn.
fn background(home: &Path) -> u32 {
    let claim = claim(home).expect("somebody drives");
    assert_eq!(claim.kind, Kind::Background, "{claim:?}");
    claim.pid
}

fn events(home: &Path) -> usize {
    fs::read_to_string(home.join("events.jsonl")).unwrap_or_default().lines().count()
}

/// Leaves the dashboard with a driver in the background behind.
fn leave(terminal: &Terminal) {
    terminal.press_for(&["q"], "b go on");
    terminal.keys(&["b"]);
    terminal.wait_for("ended 0");
}

#[test]
fn a_run_goes_on_in_the_background_and_comes_back_five_times_and_each_message_stands_once() {
    let terminal = Terminal::open(WIDE);
    let home = terminal.home();
    for turn in 0..5 {
        // So slow that it is not over before all five were done.
        terminal.trellis("demo --speed 0.2");
        terminal.wait_for("shop");
        if turn > 0 {
            terminal.wait_for("this process drives now");
        }
        let claim = claim(&home).unwrap();
        assert_eq!(claim.kind, Kind::Foreground, "{claim:?}");
        leave(&terminal);
        let pid = background(&home);
        assert!(terminal.screen().contains("It goes on in the background"), "{}", terminal.screen());
        assert_eq!(terminal.fact("alternate_on"), "0");
        // It does something before it is called back.
        let before = events(&home);
        wait("the driver in the background", || events(&home) > before);
        assert_eq!(background(&home), pid);
    }
    terminal.trellis("demo --speed 10");
    terminal.wait_for("this process drives now");
    let end = Instant::now() + PATIENCE * 6;
    while !terminal.screen().contains("✓ shop") {
        assert!(Instant::now() < end, "{}", terminal.screen());
        std::thread::park_timeout(Duration::from_millis(100));
    }
    terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
    assert_each_message_once(&home);
    let list = text(&run(&home, &["run", "list", "--json"]).stdout);
    let runs: Value = serde_json::from_str(&list).unwrap();
    let id = runs[0]["id"].as_str().unwrap();
    assert_eq!(run(&home, &["run", "verify", id]).status.code(), Some(0));
    let seqs: Vec<u64> = fs::read_to_string(home.join("events.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap())
        .collect();
    assert!(seqs.is_sorted_by(|a, b| a < b), "one driver after the other: {seqs:?}");
}

/// The words that the driver in the background was started with.
fn words(home: &Path) -> Vec<String> {
    let words = fs::read(format!("/proc/{}/cmdline", background(home))).unwrap();
    text(&words).split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn the_driver_in_the_background_uses_the_same_tmux_server() {
    let terminal = Terminal::open(WIDE);
    let home = terminal.home();
    terminal.trellis("demo --speed 0.7");
    terminal.wait_for("shop");
    terminal.press_for(&["q"], "Esc stay");
    terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
    // A path counts from where it was named, a name stays one.
    terminal.trellis("--tmux-socket ./other");
    terminal.wait_for("shop");
    leave(&terminal);
    let said = words(&home);
    let [.., flag, socket] = &said[..] else { panic!("{said:?}") };
    assert_eq!(flag, "--tmux-socket");
    assert!(socket.starts_with('/') && socket.ends_with("/other"), "{said:?}");
    assert_eq!(run(&home, &["drive", "--stop"]).status.code(), Some(0));
    terminal.trellis("drive --background --tmux-socket other");
    // The end of the one before still stands on the screen.
    wait("the driver in the background", || claim(&home).is_some_and(|claim| claim.kind == Kind::Background));
    assert!(words(&home).ends_with(&["--tmux-socket".to_owned(), "other".to_owned()]), "{:?}", words(&home));
    assert_eq!(run(&home, &["drive", "--stop"]).status.code(), Some(0));
}

#[test]
fn the_question_at_the_end_names_all_three_ways() {
    let terminal = Terminal::running(NARROW, "demo");
    terminal.wait_for("phase 1");
    let asked = terminal.press_for(&["q"], "Esc stay");
    terminal.keep("quit-question");
    let words = asked.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = "1 run is going: q quit, it waits for the next start · b go on in the background · Esc stay";
    assert!(words.contains(wanted), "{asked}");
    terminal.keys(&["Escape"]);
    terminal.wait_for("trellis stays open");
    terminal.press_until(&["q", "q"], "the end", |screen| screen.contains("ended 0"));
    assert_eq!(claim(&terminal.home()), None, "nobody drives");
}

#[test]
fn a_driver_in_the_background_that_can_not_start_leaves_the_dashboard_as_it_was() {
    let terminal = Terminal::running(WIDE, "demo");
    terminal.wait_for("phase 1");
    let home = terminal.home();
    let before = claim(&home).unwrap();
    // A new process cannot read the home.
    fs::rename(home.join("config.toml"), home.join("config.saved")).unwrap();
    fs::create_dir(home.join("config.toml")).unwrap();
    terminal.press_for(&["q"], "b go on");
    terminal.keys(&["b"]);
    terminal.wait_for("is not a file");
    assert_eq!(claim(&home), Some(before));
    fs::remove_dir(home.join("config.toml")).unwrap();
    fs::rename(home.join("config.saved"), home.join("config.toml")).unwrap();
    terminal.press_for(&["p"], "paused");
    leave_at_once(&terminal);
}

/// Nothing goes: nothing is asked.
fn leave_at_once(terminal: &Terminal) {
    terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
}

#[test]
fn on_quit_decides_without_a_question() {
    let terminal = Terminal::open(NARROW);
    let home = terminal.home();
    terminal.trellis("demo");
    terminal.wait_for("phase 1");
    let config = fs::read_to_string(home.join("config.toml")).unwrap();
    fs::write(home.join("config.toml"), format!("{config}on_quit = \"background\"\n")).unwrap();
    terminal.wait_for("the changed settings count");
    terminal.keys(&["q"]);
    terminal.wait_for("ended 0");
    background(&home);
    fs::write(home.join("config.toml"), format!("{config}on_quit = \"quit\"\n")).unwrap();
    terminal.trellis("demo");
    terminal.wait_for("this process drives");
    terminal.keys(&["q"]);
    terminal.wait_for("ended 0");
    assert_eq!(claim(&home), None);
}

#[test]
fn a_driver_in_the_background_is_started_stopped_and_told_from_one_in_the_foreground() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    // A demo that is ended half-way leaves a run that goes.
    let mut playing = trellis(&home);
    let mut playing = playing.args(["demo", "--headless"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait("a run", || events(&home) > 0);
    let foreground = run(&home, &["drive", "--stop"]);
    assert_eq!(foreground.status.code(), Some(1));
    assert!(text(&foreground.stderr).contains("in the foreground"), "{}", text(&foreground.stderr));
    assert_eq!(run(&home, &["drive", "--background"]).status.code(), Some(1), "two do not drive");
    playing.kill().unwrap();
    playing.wait().unwrap();

    let _stopped = Stopped(&home);
    let started = run(&home, &["drive", "--background"]);
    assert_eq!(started.status.code(), Some(0), "{}", text(&started.stderr));
    let pid = background(&home);
    assert!(text(&started.stdout).contains(&format!("process {pid} drives")), "{}", text(&started.stdout));
    let refused = run(&home, &["drive"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("drive --stop"), "{}", text(&refused.stderr));
    let before = events(&home);
    wait("the driver in the background", || events(&home) > before);
    let ended = run(&home, &["drive", "--stop"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert_eq!(claim(&home), None);
    let again = run(&home, &["drive", "--stop"]);
    assert_eq!((again.status.code(), text(&again.stdout).contains("nobody drives")), (Some(0), true));
    assert_eq!(run(&home, &["demo", "--headless", "--speed", "50"]).status.code(), Some(0));
    assert_each_message_once(&home);
}

/// It has no terminal, belongs to no session of one, and ends with the last run.
#[test]
fn a_driver_in_the_background_has_no_terminal_and_ends_with_the_last_run() {
    let terminal = Terminal::running(NARROW, "demo --speed 10");
    terminal.wait_for("phase 1");
    leave(&terminal);
    let home = terminal.home();
    if let Some(claim) = claim(&home) {
        // Unless it has come to the end already.
        if let Some(process) = trellis::agent::os::process(claim.pid) {
            assert_eq!(process.terminal, None, "{process:?}");
        }
    }
    wait("the end of the run", || claim(&home).is_none());
    // The first frame says what was missed; what was looked at once is not told again.
    terminal.trellis("demo");
    let shown = terminal.wait_for("since you looked");
    assert!(shown.contains("relays, each seen once") && shown.contains("completed at"), "{shown}");
    terminal.keep("since-you-looked");
    terminal.keys(&["y"]);
    terminal.wait_for("copied the summary as Markdown");
    terminal.keys(&["Enter"]);
    terminal.wait_for("✓ done");
    terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
    terminal.trellis("demo");
    terminal.wait_for("── ended");
    terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
    let told = text(&run(&home, &["run", "show", "shop", "--since", "1h"]).stdout);
    assert!(told.contains("- 3 phases agreed\n") && told.contains("relays, each seen once"), "{told}");
    assert!(told.contains("- completed at"), "{told}");
    assert_eq!(text(&run(&home, &["status", "--since", "1h"]).stdout), told);
    let value: Value = serde_json::from_slice(&run(&home, &["status", "--since", "1h", "--json"]).stdout).unwrap();
    assert_eq!(value["runs"][0]["phases"].as_array().unwrap().len(), 3);
    assert_eq!(run(&home, &["status", "--since", "soon"]).status.code(), Some(2));
    let list = text(&run(&home, &["run", "list"]).stdout);
    assert!(list.contains("  completed  "), "{list}");
    assert_each_message_once(&home);
}

/// A process whose output is read line by line; ended with the test.
struct Talking {
    child: std::process::Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Talking {
    fn start(home: &Path, words: &[&str]) -> Self {
        let mut child = trellis(home).args(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = std::io::BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in std::io::BufRead::lines(out).map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        Self { child, lines }
    }

    /// The lines up to the first that holds a text.
    fn until(&self, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => lines.push(line),
                Err(why) => panic!("{why}: {text} was not said: {lines:#?}"),
            }
            if lines.last().is_some_and(|line| line.contains(text)) {
                return lines;
            }
        }
    }

    fn interrupt(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Talking {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn watching_says_each_change_once_and_drives_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let driver = Talking::start(&home, &["demo", "--headless", "--speed", "4"]);
    driver.until("pair.started");
    let watcher = Talking::start(&home, &["watch", "shop"]);
    let said = watcher.until("done: 3 phases");
    let all = said.join("\n");
    assert!(said[0].contains(" process ") && said[0].ends_with(" drives"), "{all}");
    assert!(all.contains("shop phase 1 agreed after 3 relays") && all.contains("shop phase 3 agreed"), "{all}");
    assert!(said.iter().all(|line| !line.contains('\u{1b}') && line.as_bytes()[2] == b':'), "{all}");
    let words: Vec<&str> = said.iter().map(|line| &line[9..]).collect();
    assert!(words.windows(2).all(|pair| pair[0] != pair[1]), "{all}");
    let mut watcher = watcher;
    assert_eq!(watcher.child.wait().unwrap().code(), Some(0), "it ends with the run");
    let everything = Talking::start(&home, &["watch"]);
    everything.until("shop");
    assert_eq!(everything.interrupt(), Some(0));
    assert_each_message_once(&home);
}

/// `plain = true`: the dashboard's part in sentences. It drives, and takes over from a driver in the background.
#[test]
fn plain_sentences_instead_of_the_screen_drive_as_it_would() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let driver = Talking::start(&home, &["demo", "--headless", "--speed", "4"]);
    driver.until("pair.started");
    drop(driver);
    let config = home.join("config.toml");
    fs::write(&config, format!("{}plain = true\n", fs::read_to_string(&config).unwrap())).unwrap();
    let _stopped = Stopped(&home);
    assert!(run(&home, &["drive", "--background"]).status.success());
    let pid = background(&home);
    let plain = Talking::start(&home, &[]);
    plain.until(&format!("takes over from process {pid}"));
    plain.until("this process drives");
    assert_eq!(claim(&home).unwrap().kind, Kind::Foreground);
    assert_eq!(plain.interrupt(), Some(0));
    assert_eq!(claim(&home), None);
}

#[test]
fn a_driver_in_the_background_ends_when_its_home_is_removed() {
    let terminal = Terminal::running(NARROW, "demo");
    terminal.wait_for("phase 1");
    leave(&terminal);
    let pid = background(&terminal.home());
    // Moved away first: what it writes meanwhile must not keep the folder from going.
    let gone = terminal.folder.path().join("gone");
    fs::rename(terminal.home(), &gone).unwrap();
    wait("the end of the driver", || trellis::agent::os::process(pid).is_none());
}

/// Ends a driver in the background with its test.
struct Stopped<'a>(&'a Path);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let _ = trellis(self.0).args(["drive", "--stop"]).output();
    }
}
