//! The fuzz targets as tests: each seed and everything that once broke something as it is, then a counted number of
//! mutations of them, always the same. The search that is guided by coverage is `guided`, started by `run`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test fails by panicking and reads files of its own"
)]

mod mutate;
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use mutate::{Dice, mutated};
use targets::{ALL, Target};

/// Mutations of each target when nothing else is said (`TRELLIS_FUZZ_TRIES`).
const TRIES: usize = 1_500;
/// Bytes of a mutation, as many as the guided search tries.
const MOST: usize = 16 * 1024;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of a folder in the order of their names, or the one file.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// Its seeds, and what the search has found for it.
fn inputs(target: &Target) -> Vec<(String, Vec<u8>)> {
    let found = format!("tests/fuzz/found/{}", target.name);
    let places = target.seeds.iter().copied().chain([found.as_str()]);
    places
        .flat_map(|place| files(&root().join(place)))
        .map(|file| (file.display().to_string(), fs::read(&file).unwrap()))
        .collect()
}

fn replay(name: &str) {
    let target = targets::named(name).unwrap();
    let inputs = inputs(&target);
    assert!(inputs.len() >= 3, "{name} has only {} inputs", inputs.len());
    let mut longest = 0;
    let mut run = |what: &str, bytes: &[u8]| {
        longest = longest.max(bytes.len());
        if catch_unwind(AssertUnwindSafe(|| (target.check)(bytes))).is_err() {
            let kept = std::env::temp_dir().join(format!("trellis-fuzz-{name}-{}", std::process::id()));
            fs::write(&kept, bytes).unwrap();
            panic!("{name} fails on {what}; its bytes are kept in {}", kept.display());
        }
    };
    for (file, bytes) in &inputs {
        run(file, bytes);
    }
    let tries = std::env::var("TRELLIS_FUZZ_TRIES").ok().and_then(|tries| tries.parse().ok()).unwrap_or(TRIES);
    for n in 0..tries {
        let mut dice = Dice::new(n as u64);
        let (one, two) = (dice.below(inputs.len()), dice.below(inputs.len()));
        let bytes = mutated(&inputs[one].1, &inputs[two].1, MOST, &mut dice);
        run(&format!("mutation {n} of {}", inputs[one].0), &bytes);
    }
    println!("{name}: {} inputs and {tries} mutations, the longest of {longest} bytes", inputs.len());
}

#[test]
fn fuzz_transcripts_of_claude() {
    replay("claude");
}

#[test]
fn fuzz_transcripts_of_codex() {
    replay("codex");
}

#[test]
fn fuzz_the_stores_loader() {
    replay("store");
}

#[test]
fn fuzz_verdicts() {
    replay("verdicts");
}

#[test]
fn fuzz_markdown_and_layout() {
    replay("markdown");
}

#[test]
fn fuzz_hook_input() {
    replay("hooks");
}

#[test]
fn fuzz_config_and_keymap() {
    replay("settings");
}

#[test]
fn fuzz_captured_panes() {
    replay("panes");
}

#[test]
fn fuzz_words_on_their_way_out() {
    replay("outward");
}

#[test]
fn each_target_is_replayed() {
    let text = include_str!("main.rs");
    for target in ALL {
        assert!(text.contains(&format!("replay(\"{}\")", target.name)), "{} has no test", target.name);
    }
}
