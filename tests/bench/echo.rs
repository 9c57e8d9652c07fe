//! From a write into a transcript to its bytes on the terminal, beside `tail -f` on the same file. Each write has words of
//! its own; one that does not come within a second is missed.

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use trellis::paths::Home;

use crate::Plan;
use crate::corpus::{Corpus, Dice, LAST_WORDS, One, homes};
use crate::gauge;
use crate::pty::{Pty, cells, holds, installed};
use crate::start::trellis;

const PATIENCE: Duration = Duration::from_mins(1);

/// Words that share no cell with those before them.
fn words(dice: &mut Dice, n: usize) -> String {
    let from = if n.is_multiple_of(2) { b'A' } else { b'0' };
    let many = if n.is_multiple_of(2) { 26 } else { 10 };
    (0..10).map(|_| char::from(from + dice.below(many) as u8)).collect()
}

struct Echoes {
    times: Vec<Duration>,
    bytes: Vec<usize>,
    missed: usize,
}

fn echoes(screen: &mut Pty, one: &mut One, count: usize) -> Echoes {
    let mut dice = Dice::new(5);
    let mut found = Echoes { times: Vec::new(), bytes: Vec::new(), missed: 0 };
    for n in 0..count {
        // Longer than a frame: each is drawn by itself.
        screen.rest(Duration::from_micros(36_000 + dice.below(20_000)));
        // Digits first: the words that stand there have none.
        let words = words(&mut dice, n + 1);
        let line = one.line(&words);
        let (before, begun) = (screen.bytes.len(), Instant::now());
        one.append(line.as_bytes());
        match screen.until(Duration::from_secs(1), |bytes| holds(bytes, &words)) {
            Some(at) => found.times.push(at - begun),
            None => found.missed += 1,
        }
        screen.rest(Duration::from_millis(1));
        found.bytes.push(screen.bytes.len() - before);
    }
    found
}

pub fn run(plan: &Plan) {
    for mib in [1, plan.long] {
        let mut one = One::of(plan, Some(&Corpus::long(plan, mib)));
        let home = tempfile::tempdir_in(&plan.data).unwrap();
        let mut screen = trellis(&homes(one.folder.path(), &Home::at(home.path())));
        screen.until(PATIENCE, |bytes| cells(bytes) >= 200).expect("a first screen");
        screen.press("2");
        screen.until(PATIENCE, |bytes| holds(bytes, LAST_WORDS)).expect("its last words");
        screen.settle(Duration::from_secs(2));
        let mut ours = echoes(&mut screen, &mut one, plan.appends);
        drop(screen);
        let name = format!("{mib} MiB: ");
        gauge::at_most(&format!("{name}missed of {}", plan.appends), ours.missed as f64, "", 0.0);
        ours.bytes.sort_unstable();
        let bytes = ours.bytes.get(ours.bytes.len() / 2).copied().unwrap_or_default();
        gauge::at_most(&format!("{name}bytes to the terminal, median"), bytes as f64, "B", 100.0);
        let Some(tail) = installed("tail") else {
            gauge::skipped(&format!("{name}beside tail -f"), "tail is not installed");
            continue;
        };
        let words: [&OsStr; 4] = ["-n".as_ref(), "1".as_ref(), "-f".as_ref(), one.path.as_os_str()];
        let mut screen = Pty::start(&tail, &words, &[]);
        screen.until(PATIENCE, |bytes| holds(bytes, "uuid")).expect("the last line");
        let mut theirs = echoes(&mut screen, &mut one, plan.appends);
        for (what, part, goal) in [("median", 0.5, 3.0), ("p99", 0.99, 3.0)] {
            let (ours, theirs) = (gauge::at(&mut ours.times, part), gauge::at(&mut theirs.times, part));
            gauge::beside(&format!("{name}write to terminal, {what} | tail -f"), ours, theirs, goal);
        }
        let p99 = gauge::at(&mut ours.times, 0.99);
        gauge::at_most(&format!("{name}write to terminal, p99"), p99.as_secs_f64() * 1e3, "ms", 5.0);
    }
}
