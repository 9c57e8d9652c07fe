//! What trellis costs beside what the machine can do at best: each figure with its limit, measured in the same run.
//! One file a subject; none of them asserts. `cargo bench --bench limits -- [NAMES] [--data DIR] [--mib N] [--files N]`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::too_many_lines,
    clippy::items_after_statements,
    clippy::cast_sign_loss,
    reason = "a bench is about the clock and files, prints, and may fail"
)]

mod corpus;
mod echo;
mod frame;
mod gauge;
mod idle;
mod ingest;
mod open;
mod persist;
mod pty;
mod start;
mod tail;

use std::path::PathBuf;

/// What a run is told.
pub struct Plan {
    /// Where the data lies, or is made.
    pub data: PathBuf,
    /// Size of the corpus, in MiB.
    pub mib: u64,
    /// Its files.
    pub files: usize,
    /// Size of the long transcript, in MiB.
    pub long: u64,
    /// Appends of the bench of echoes.
    pub appends: usize,
    /// Seconds of the bench of idling.
    pub seconds: u64,
}

/// A bench: its name and what it does.
type Bench = (&'static str, fn(&Plan));

const BENCHES: [Bench; 9] = [
    ("ingest", ingest::run),
    ("start", start::run),
    ("cache", start::second),
    ("tail", tail::run),
    ("open", open::run),
    ("echo", echo::run),
    ("frame", frame::run),
    ("persist", persist::run),
    ("idle", idle::run),
];

fn main() {
    let mut plan = Plan {
        data: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench"),
        mib: 1_233,
        files: 2_000,
        long: 200,
        appends: 1_000,
        seconds: 60,
    };
    let mut names: Vec<String> = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).expect("a number behind it");
        match word.as_str() {
            // Cargo's own word.
            "--bench" => {}
            "--data" => plan.data = PathBuf::from(words.next().expect("a folder behind --data")),
            "--mib" => plan.mib = number(),
            "--files" => plan.files = number() as usize,
            "--long" => plan.long = number(),
            "--appends" => plan.appends = number() as usize,
            "--seconds" => plan.seconds = number(),
            _ => names.push(word),
        }
    }
    let known = |name: &String| BENCHES.iter().any(|(known, _)| known == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        eprintln!("there is no bench {unknown}: {}", BENCHES.map(|(name, _)| name).join(", "));
        std::process::exit(2);
    }
    gauge::head();
    for (name, bench) in BENCHES {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            println!("== {name}");
            bench(&plan);
        }
    }
}
