//! House rules as tests: what every source file must be like, and which part may know which.
//! Rules that clippy can hold (unwrap, the clock, spawning) are in `.clippy.toml` and `Cargo.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines a file of the program may have; a longer one is split by subject.
const LINES: usize = 600;
/// Lines that no file may exceed, tests and their scenery included.
const LINES_AT_MOST: usize = 800;

/// Which parts of the program each part may know: itself, and these. A path narrows it to that module.
/// `boot` and `cli` put the program together and may know all.
const MAY_KNOW: [(&str, &[&str]); 25] = [
    ("build", &[]),
    ("failure", &["supervise"]),
    ("out", &["failure", "model", "ui::sanitise"]),
    ("small_file", &[]),
    ("clock", &[]),
    ("planted", &[]),
    ("model", &[]),
    ("verdict", &["model"]),
    ("config", &[]),
    ("supervise", &[]),
    ("paths", &["model"]),
    ("transcript", &["model"]),
    ("machine", &["model", "verdict", "planted"]),
    ("doctor", &["model"]),
    ("projection", &["model", "machine", "verdict", "driver::ports"]),
    ("store", &["model", "config", "paths", "projection", "supervise", "driver::ports", "driver::viewer"]),
    ("watch", &["model", "machine", "transcript", "paths", "clock", "supervise", "driver::ports"]),
    ("agent", &["small_file", "model", "machine", "transcript", "paths", "clock", "supervise", "driver::ports"]),
    ("driver", &["model", "machine", "verdict", "projection", "supervise", "store::trim"]),
    ("ui", &["model", "projection", "config", "verdict", "clock", "supervise", "driver::handle"]),
    ("tell", &["model", "projection", "config", "paths", "agent::tmux", "ui::sanitise"]),
    ("serve", &["model", "projection", "driver::handle", "driver::ports", "supervise"]),
    ("call", &["model", "paths", "store::socket"]),
    ("logging", &["clock", "paths", "store"]),
    ("main", &["boot", "cli"]),
];

/// Parts that are functions of what they are given: none of the words below may stand in them.
const PURE: [&str; 7] = ["model", "machine", "transcript", "verdict", "projection", "config", "doctor"];
const IMPURE: [&str; 10] = [
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "SystemTime",
    "tokio::",
    "crate::clock",
    "rand::",
];

/// Words that say nothing about what a file is for.
const EMPTY_WORDS: [&str; 7] = ["manager", "handler", "helper", "helpers", "util", "utils", "misc"];
/// Words that say as little about a file, though a type may be named so where it means just that.
const EMPTY_FILES: [&str; 3] = ["process", "data", "info"];

struct Source {
    /// Below the package's folder, with `/`.
    path: String,
    text: String,
}

impl Source {
    /// The top-level part of `src` it belongs to.
    fn part(&self) -> &str {
        let below = self.path.strip_prefix("src/").unwrap_or(&self.path);
        let first = below.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    fn is_test(&self) -> bool {
        self.path.starts_with("tests/") || self.path.ends_with("_tests.rs") || self.path.contains("_tests/")
    }

    /// The lines that are neither comments nor documentation, with their numbers.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(at, line)| (at + 1, line));
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    let mut folders: Vec<PathBuf> = ["src", "tests", "benches"].iter().map(|dir| root().join(dir)).collect();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let below = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
                sources.push(Source { path: below, text: fs::read_to_string(&path).unwrap() });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(sources.len() > 50, "only {} files were found", sources.len());
    sources
}

#[track_caller]
fn none(broken: &[String], rule: &str) {
    assert!(broken.is_empty(), "{rule}:\n{}", broken.join("\n"));
}

#[test]
fn each_file_begins_by_saying_what_lives_in_it() {
    let broken: Vec<String> = sources()
        .iter()
        .filter(|source| {
            let first = source.text.lines().next().unwrap_or_default();
            // The library's page is `ARCHITECTURE.md`.
            !first.starts_with("//! ") && !first.starts_with("#![doc = include_str!(")
        })
        .map(|source| source.path.clone())
        .collect();
    none(&broken, "the first line of a file is `//!` and says what lives there");
}

#[test]
fn no_file_is_too_long_to_be_read_at_once() {
    let broken: Vec<String> = sources()
        .iter()
        .map(|source| (source, source.text.lines().count()))
        .filter(|(source, lines)| *lines > if source.path.starts_with("src/") { LINES } else { LINES_AT_MOST })
        .map(|(source, lines)| format!("{}: {lines} lines", source.path))
        .collect();
    none(&broken, "a file that is too long is split by subject");
}

/// What a file names of the program: each `crate::…` path, also inside braces, as `part` or `part::module`.
fn known(source: &Source) -> BTreeSet<(usize, String)> {
    let mut known = BTreeSet::new();
    for (number, line) in source.code() {
        let line = line.split("//").next().unwrap_or_default();
        for rest in line.split("crate::").skip(1) {
            let names: Vec<&str> = match rest.strip_prefix('{') {
                Some(list) => list.split(',').collect(),
                None => vec![rest],
            };
            for name in names {
                let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                let path: String = name.trim().chars().take_while(|c| is_name(*c)).collect();
                let path: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).take(2).collect();
                if !path.is_empty() {
                    known.insert((number, path.join("::")));
                }
            }
        }
    }
    known
}

#[test]
fn each_part_knows_only_the_parts_below_it() {
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| source.path.starts_with("src/") && !source.is_test()) {
        let part = source.part();
        if matches!(part, "boot" | "cli" | "lib") {
            continue;
        }
        let Some((_, allowed)) = MAY_KNOW.iter().find(|(name, _)| *name == part) else {
            broken.push(format!("{}: `{part}` has no place in the order of the parts", source.path));
            continue;
        };
        for (number, path) in known(source) {
            let first = path.split("::").next().unwrap_or_default();
            let fits = first == part || allowed.iter().any(|may| *may == first || path == *may);
            if !fits {
                broken.push(format!("{}:{number}: `{part}` may not know `{path}`", source.path));
            }
        }
    }
    none(&broken, "dependencies point one way");
}

#[test]
fn the_pure_parts_name_nothing_of_the_world() {
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| source.path.starts_with("src/") && !source.is_test()) {
        if !PURE.contains(&source.part()) {
            continue;
        }
        for (number, line) in source.code() {
            for word in IMPURE.iter().filter(|word| line.contains(*word)) {
                broken.push(format!("{}:{number}: `{word}`", source.path));
            }
        }
    }
    none(&broken, "pure parts know no clock, file, channel, task, environment or random number");
}

#[test]
fn only_the_parts_that_own_it_write_files() {
    let writes = ["fs::write", "File::create", "OpenOptions", "fs::rename", "fs::remove_", "create_dir", "DirBuilder"];
    // The scripted agents write transcripts, as the real ones do; those are the agents' files, not ours.
    // The agents' own settings are written in one place, when a person installs or removes hooks.
    let owners = ["src/store", "src/agent/scripted", "src/agent/hooks.rs"];
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| source.path.starts_with("src/") && !source.is_test()) {
        if owners.iter().any(|owner| source.path.starts_with(owner)) {
            continue;
        }
        for (number, line) in source.code() {
            for word in writes.iter().filter(|word| line.contains(*word)) {
                broken.push(format!("{}:{number}: `{word}`", source.path));
            }
        }
    }
    none(&broken, "only the store writes below the home");
}

#[test]
fn names_say_what_a_thing_is_for() {
    let mut broken = Vec::new();
    for source in sources() {
        for name in Path::new(&source.path).iter().filter_map(|part| part.to_str()) {
            let stem = name.strip_suffix(".rs").unwrap_or(name);
            if stem.split('_').any(|word| EMPTY_WORDS.contains(&word) || EMPTY_FILES.contains(&word)) {
                broken.push(source.path.clone());
            }
        }
        for (number, line) in source.code() {
            let mut words = line.split_whitespace();
            let declares = words.any(|word| matches!(word, "struct" | "enum" | "trait" | "mod"));
            let name = words.next().unwrap_or_default().to_lowercase();
            let name = name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
            if declares && EMPTY_WORDS.iter().any(|word| name.ends_with(word)) {
                broken.push(format!("{}:{number}: {name}", source.path));
            }
        }
    }
    none(&broken, "a name says what a thing is for");
}

#[test]
fn no_test_is_left_out_or_passes_by_failing() {
    let marks = [["#[", "ignore"].concat(), ["#[", "should_panic"].concat()];
    let mut broken = Vec::new();
    for source in sources() {
        for (number, line) in source.code() {
            if marks.iter().any(|mark| line.contains(mark.as_str())) {
                broken.push(format!("{}:{number}", source.path));
            }
        }
    }
    none(&broken, "every test runs");
}

/// The text behind each number of a numbered list, with the lines that go on below it.
fn numbered(page: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut open = false;
    for line in page.lines() {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && line[digits..].starts_with(". ") {
            items.push(line.to_owned());
            open = true;
        } else if line.starts_with('#') {
            open = false;
        } else if open && let Some(item) = items.last_mut() {
            item.push(' ');
            item.push_str(line.trim());
        }
    }
    items
}

#[test]
fn each_invariant_names_a_test_that_exists() {
    let page = fs::read_to_string(root().join("src/ARCHITECTURE.md")).unwrap();
    let tests: BTreeSet<String> = sources()
        .iter()
        .flat_map(|source| {
            let names = source.text.split("fn ").skip(1);
            names
                .filter_map(|rest| rest.split(['(', '<']).next())
                .map(|name| name.trim().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    let mut broken = Vec::new();
    let list = numbered(&page);
    assert!(list.len() >= 15, "only {} invariants are numbered", list.len());
    // What is said to be held above the list is held by tests as well.
    let above = page.split("# Invariants").next().unwrap_or_default().replace('\n', " ");
    let above: Vec<String> =
        above.split("Held by").skip(1).map(|held| format!("Held by{}", held.split('.').next().unwrap())).collect();
    for item in list.into_iter().chain(above) {
        let Some((_, held)) = item.split_once("Held by") else {
            broken.push(format!("names no test: {item}"));
            continue;
        };
        let names: Vec<&str> = held.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            broken.push(format!("names no test: {item}"));
        }
        for name in names {
            let last = name.rsplit("::").next().unwrap_or(name);
            if !tests.contains(last) {
                broken.push(format!("`{name}` is no test: {item}"));
            }
        }
    }
    none(&broken, "each invariant is held by a test");
}

/// Each case and each trace that is listed names tests, and each of them exists.
#[test]
fn the_table_of_cases_names_tests_that_exist() {
    let page = fs::read_to_string(root().join("docs/coverage.md")).unwrap();
    let text: String = sources().iter().map(|source| source.text.as_str()).collect();
    let mut broken = Vec::new();
    for line in page.lines().filter(|line| {
        line.starts_with("| ") && !["| case", "| trace", "| what"].iter().any(|head| line.starts_with(head))
    }) {
        let names: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            broken.push(format!("names no test: {line}"));
        }
        for name in names.into_iter().filter(|name| !text.contains(&format!("fn {name}("))) {
            broken.push(format!("`{name}` is no test: {line}"));
        }
    }
    none(&broken, "each case is held by a test");
}
