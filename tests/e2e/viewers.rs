//! Dashboards beside a driver: they follow it live, their orders are done there, and one takes over when it is gone. A run
//! notices nothing of who comes and goes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use trellis::paths::Home;
use trellis::store::lock::{Holder, Kind, holder};

use super::demo::{Ended, assert_each_message_once, trellis};
use super::terminal::{PATIENCE, Terminal, WIDE, program};

/// Who drives a home.
fn driver(home: &Path) -> Option<(u32, Kind)> {
    match holder(&Home::at(home)) {
        Ok(Holder::Process(Some(claim))) => Some((claim.pid, claim.kind)),
        _ => None,
    }
}

/// The dashboard in a terminal: the one child of its shell.
fn dashboard(terminal: &Terminal) -> u32 {
    let shell = terminal.fact("pane_pid");
    let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
    children.split_whitespace().next().unwrap().parse().unwrap()
}

fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

/// Opens the demo of a home, as whatever it becomes there.
fn open(terminal: &Terminal, home: &Path, speed: &str) {
    let (program, home) = (program(), home.display());
    terminal.run(&format!("clear; {} demo --speed {speed} --home {home}; echo ended $?", program.display()));
}

fn run_of(home: &Path) -> Value {
    let list = trellis(home).args(["run", "list", "--json"]).output().unwrap();
    serde_json::from_slice::<Value>(&list.stdout).unwrap()[0].clone()
}

const FOLLOWS: &str = "what you order here is done there";

/// A driver that is suspended shows its last state for ever: whoever looks on says so, and so does a command.
#[test]
fn a_driver_that_was_suspended_is_said_to_give_no_answer_and_is_followed_again_when_it_goes_on() {
    let terminal = Terminal::open(WIDE);
    let home = terminal.home();
    let demo = trellis(&home).args(["demo", "--headless", "--speed", "50"]).output().unwrap();
    assert!(demo.status.success());
    let mut driver = trellis(&home);
    let driver = driver.args(["drive", "--stay"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let driver = Ended(driver);
    let pid = driver.0.id();
    let signal = |name: &str| assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
    open(&terminal, &home, "1");
    terminal.wait_for(FOLLOWS);
    signal("-STOP");
    terminal.wait_for(&format!("process {pid} does not answer"));
    let rename = trellis(&home).args(["run", "rename", "shop", "till"]).output().unwrap();
    assert_eq!(rename.status.code(), Some(1));
    let said = String::from_utf8_lossy(&rename.stderr).into_owned();
    assert!(said.contains("does not answer") && said.contains("it may still take the order"), "{said}");
    signal("-CONT");
    terminal.wait_for(FOLLOWS);
    // It did: what was sent was heard when it went on.
    terminal.wait_for("till");
    terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
}

#[test]
fn viewers_and_drivers_are_killed_and_taken_over_and_each_message_stands_once() {
    let (one, other) = (Terminal::open(WIDE), Terminal::open(WIDE));
    let home = one.home();
    // So slow that it is not over before everything was done.
    open(&one, &home, "0.1");
    one.wait_for("shop");
    let (first, _) = driver(&home).unwrap();
    assert_eq!(first, dashboard(&one));
    open(&other, &home, "0.1");
    other.wait_for(FOLLOWS);
    assert!(other.screen().contains(&format!("process {first} drives this home")), "{}", other.screen());
    // What a person orders in the view is done by the driver, saved, and seen on both screens.
    other.press_for(&["p"], "paused");
    one.wait_for("paused");
    assert_eq!(run_of(&home)["paused_reason"], "manual");
    other.press_until(&["p"], "it goes on", |_| run_of(&home)["state"] == "running");
    // The viewer is killed: the driver does not notice.
    kill(dashboard(&other));
    other.wait_for("ended 137");
    assert_eq!(driver(&home), Some((first, Kind::Foreground)));
    open(&other, &home, "0.1");
    // What the killed one left on the screen says the same.
    other.wait(FOLLOWS, |screen| screen.contains(FOLLOWS) && !screen.contains("ended 137"));
    // The driver is killed: the view says so, gives no order, and one key takes over.
    kill(first);
    one.wait_for("ended 137");
    other.wait_for("nobody drives, so no run goes on: O takes over");
    other.press_then(&["p"], "an order is refused", |screen| screen.matches("O takes over").count() > 1);
    assert_eq!(run_of(&home)["state"], "running");
    other.keys(&["O"]);
    other.wait_for("this process drives now");
    assert_eq!(driver(&home), Some((dashboard(&other), Kind::Foreground)));
    // The other way round, and a driver that somebody sits in front of is not replaced.
    open(&one, &home, "10");
    one.wait_for(FOLLOWS);
    one.press_for(&["O"], "quit it there (q) first");
    // To the background, which the view follows too, and back.
    other.press_for(&["q"], "b go on");
    other.keys(&["b"]);
    other.wait_for("ended 0");
    let (background, kind) = driver(&home).unwrap();
    assert_eq!(kind, Kind::Background);
    one.wait(&format!("{background} is followed"), |screen| {
        screen.contains(&format!("process {background} drives this home in the background; {FOLLOWS}"))
    });
    one.keys(&["O"]);
    one.wait_for("this process drives now");
    assert_eq!(driver(&home), Some((dashboard(&one), Kind::Foreground)));
    let end = Instant::now() + PATIENCE * 6;
    while !one.screen().contains("✓ shop") {
        assert!(Instant::now() < end, "{}", one.screen());
        std::thread::park_timeout(Duration::from_millis(100));
    }
    one.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
    assert_each_message_once(&home);
    let id = run_of(&home)["id"].as_str().unwrap().to_owned();
    assert_eq!(trellis(&home).args(["run", "verify", &id]).status().unwrap().code(), Some(0));
    let events = fs::read_to_string(home.join("events.jsonl")).unwrap();
    let seqs = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap());
    assert!(seqs.is_sorted_by(|a, b| a < b), "one driver after the other: {events}");
}
