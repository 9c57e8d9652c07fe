//! The first screen, and what all sessions say of themselves: beside `less`, a walk, and reads of heads and tails.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trellis::driver::ports::{Summaries, Transcripts as _};
use trellis::paths::Home;
use trellis::supervise::Supervisor;
use trellis::watch;

use crate::Plan;
use crate::corpus::{Corpus, NEWEST};
use crate::gauge;
use crate::pty::{Pty, cells, holds, installed};

const ROUNDS: usize = 11;
const PATIENCE: Duration = Duration::from_mins(1);
/// Cells by which a screen counts as one.
const ENOUGH: usize = 200;

fn walk(folder: &Path, found: &mut Vec<(PathBuf, u64)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), found);
        } else {
            found.push((entry.path(), entry.metadata().unwrap().len()));
        }
    }
}

fn walked(corpus: &Corpus) -> Vec<(PathBuf, u64)> {
    let (roots, mut found) = (corpus.roots(), Vec::new());
    walk(&roots.claude_projects, &mut found);
    walk(&roots.codex_sessions, &mut found);
    found
}

/// What any list must read: 8 KiB of each head, 16 KiB of each tail.
fn ends(corpus: &Corpus) -> usize {
    let mut buffer = vec![0; 16 * 1_024];
    let mut bytes = 0;
    for (path, length) in walked(corpus) {
        let file = File::open(path).unwrap();
        bytes += file.read_at(&mut buffer[..8 * 1_024], 0).unwrap();
        bytes += file.read_at(&mut buffer, length.saturating_sub(16 * 1_024)).unwrap();
    }
    bytes
}

/// trellis on a terminal, with a home.
pub fn trellis(variables: &[(&'static str, std::ffi::OsString)]) -> Pty {
    let variables: Vec<(&str, &OsStr)> = variables.iter().map(|(name, value)| (*name, value.as_os_str())).collect();
    Pty::start(Path::new(env!("CARGO_BIN_EXE_trellis")), &[], &variables)
}

pub fn run(plan: &Plan) {
    let corpus = Corpus::of(plan);
    let long = Corpus::long(plan, plan.long);
    let home = tempfile::tempdir_in(&plan.data).unwrap();
    let variables = corpus.homes(&Home::at(home.path()));
    let less = installed("less");
    if less.is_none() {
        gauge::skipped("the first screen beside less", "less is not installed");
    }
    let (mut first, mut listed, mut paged) = (Vec::new(), Vec::new(), Vec::new());
    let (mut resident, mut own, mut peak) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        let mut screen = trellis(&variables);
        let drawn = screen.until(PATIENCE, |bytes| cells(bytes) >= ENOUGH).expect("a first screen");
        first.push(drawn - screen.begun);
        screen.settle(Duration::from_millis(700));
        drop(screen);
        let mut screen = trellis(&variables);
        screen.press("2");
        let drawn = screen.until(PATIENCE, |bytes| holds(bytes, NEWEST)).expect("the newest session");
        listed.push(drawn - screen.begun);
        screen.settle(Duration::from_millis(700));
        let vitals = gauge::vitals(screen.pid());
        (resident, own) = (resident.max(vitals.resident), own.max(vitals.own));
        peak = peak.max(vitals.peak);
        drop(screen);
        if let Some(less) = &less {
            let mut screen = Pty::start(less, &[long.as_os_str()], &[]);
            let drawn = screen.until(PATIENCE, |bytes| cells(bytes) >= ENOUGH).expect("a first screen");
            paged.push(drawn - screen.begun);
        }
    }
    let paged = gauge::at(&mut paged, 0.5);
    gauge::beside("first screen (200 cells) | less", gauge::at(&mut first, 0.5), paged, 2.0);
    gauge::beside("the newest of all sessions is listed | less", gauge::at(&mut listed, 0.5), paged, 2.0);
    gauge::at_most("resident with the list, idle", resident, "MiB", 12.0);
    gauge::note("  of that its own; the rest is the program's file", &format!("{own:.1} MiB"));
    gauge::note("  at most until then", &format!("{peak:.1} MiB"));
    let roots = corpus.roots();
    let mut found = 0;
    let all = || {
        let sessions = watch::start(&roots, &Supervisor::new()).0.sessions();
        found = sessions.len();
    };
    let (all, read) = gauge::medians(ROUNDS, all, || ends(&corpus));
    gauge::beside(&format!("what all {found} say of themselves | their ends read"), all, read, 1.6);
}

/// What an earlier start kept, in a file.
struct Kept(PathBuf);

impl Summaries for Kept {
    fn load(&mut self) -> Vec<u8> {
        fs::read(&self.0).unwrap_or_default()
    }

    fn keep(&mut self, text: &str) {
        fs::write(&self.0, text).unwrap();
    }
}

pub fn second(plan: &Plan) {
    let corpus = Corpus::of(plan);
    let roots = corpus.roots();
    let folder = tempfile::tempdir_in(&plan.data).unwrap();
    let file = folder.path().join("summaries.json");
    let again = || {
        let watch = watch::start(&roots, &Supervisor::new()).0;
        watch.remembering(Box::new(Kept(file.clone()))).sessions().len()
    };
    let (again, walk) = gauge::medians(ROUNDS, again, || walked(&corpus));
    gauge::beside("second start: the list | walk and stat", again, walk, 1.5);
}
