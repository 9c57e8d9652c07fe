//! `kill -9` at any point of a demo, restarted each time: every message stands in its transcript exactly once.
//!
//! Half of the kills come at a random instant, half within 0 to 300 ms after a record was seen to hold an entry that is
//! `prepared` or `sent`. The small number that runs by default is raised by the environment:
//! `TRELLIS_KILLS=100 cargo test --test e2e kills -- --nocapture`; `TRELLIS_KILL_SPEED` (4) and `TRELLIS_KILL_SEED` too.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::demo::{assert_each_message_once, trellis};

/// SplitMix64: a seed that is printed gives the same kills again, as far as the machine does.
pub struct Dice(pub u64);

impl Dice {
    /// A number below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) % limit
    }
}

/// A number from the environment.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A running demo; the channel closes when its output ends, that is, with the process.
struct Running {
    child: Child,
    ended: Receiver<()>,
}

impl Running {
    fn start(home: &Path, speed: u64) -> Self {
        let mut child = trellis(home)
            .args(["demo", "--headless", "--speed", &speed.to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        let (alive, ended) = channel::<()>();
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut out, &mut std::io::sink());
            drop(alive);
        });
        Self { child, ended }
    }

    /// Waits; false when the process ended before.
    fn lives_for(&self, wait: Duration) -> bool {
        matches!(self.ended.recv_timeout(wait), Err(RecvTimeoutError::Timeout))
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its own end: exit code 0, or what it said.
    fn finish(mut self, limit: Duration) {
        let in_time = !self.lives_for(limit);
        if !in_time {
            let _ = self.child.kill();
        }
        let output = self.child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(in_time, "the demo did not end within {limit:?}: {said}");
        assert!(output.status.success(), "{:?}: {said}", output.status);
    }
}

/// The states of the entries that are open, of all records of the home, with whether something of them may have left.
fn open_entries(home: &Path) -> Vec<(String, bool)> {
    let mut open = Vec::new();
    for folder in ["checklist-runs", "pairs"] {
        for file in fs::read_dir(home.join(folder)).into_iter().flatten().flatten() {
            if file.path().extension().is_none_or(|ext| ext != "json") {
                continue;
            }
            let record: Value =
                fs::read(file.path()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
            for entry in record["outbox"].as_array().into_iter().flatten() {
                let state = entry["state"].as_str().unwrap_or_default();
                if matches!(state, "prepared" | "sent" | "queued") {
                    open.push((state.to_owned(), entry["attempts"].as_u64() > Some(0)));
                }
            }
        }
    }
    open
}

#[test]
fn kills_at_any_point_leave_each_message_once() {
    let (kills, speed) = (setting("TRELLIS_KILLS", 3), setting("TRELLIS_KILL_SPEED", 4));
    let seed = setting("TRELLIS_KILL_SEED", u64::from(std::process::id()));
    println!("TRELLIS_KILLS={kills} TRELLIS_KILL_SPEED={speed} TRELLIS_KILL_SEED={seed}");
    let mut dice = Dice(seed);
    let (mut done, mut homes, mut hits, mut sent_hits) = (0, 0, 0, 0);
    while done < kills {
        let folder = tempfile::tempdir().unwrap();
        homes += 1;
        // A few kills a home, so that the later phases are hit too.
        let here = (kills - done).min(6 + dice.below(5));
        for _ in 0..here {
            let running = Running::start(folder.path(), speed);
            let lives = if done % 2 == 0 {
                running.lives_for(Duration::from_millis(dice.below(9_000 / speed)))
            } else {
                let wait = Duration::from_millis(dice.below(300));
                sees_open_entry(&running, folder.path()) && running.lives_for(wait)
            };
            if !lives {
                running.finish(Duration::from_secs(5));
                break;
            }
            running.kill();
            done += 1;
            let open = open_entries(folder.path());
            hits += u64::from(!open.is_empty());
            sent_hits += u64::from(open.iter().any(|(_, left)| *left));
        }
        Running::start(folder.path(), speed).finish(Duration::from_mins(10));
        assert_each_message_once(folder.path());
        let id = newest_run(folder.path());
        let verify = trellis(folder.path()).args(["run", "verify", &id]).output().unwrap();
        assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
        println!("home {homes}: {done} kills, {hits} hit an undelivered entry, {sent_hits} of them one in flight");
    }
}

fn sees_open_entry(running: &Running, home: &Path) -> bool {
    let started = Instant::now();
    while started.elapsed() < Duration::from_mins(1) {
        if !open_entries(home).is_empty() {
            return true;
        }
        if !running.lives_for(Duration::from_millis(2)) {
            return false;
        }
    }
    panic!("no entry was prepared within a minute");
}

fn newest_run(home: &Path) -> String {
    let list = trellis(home).args(["run", "list", "--json"]).output().unwrap();
    let rows: Value = serde_json::from_slice(&list.stdout).unwrap();
    rows[0]["id"].as_str().unwrap().to_owned()
}
