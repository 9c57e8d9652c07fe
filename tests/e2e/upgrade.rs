//! A newer program in the place of one that runs, and records of every schema under the program of today.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use trellis::model::pair::SCHEMA;
use trellis::paths::Home;
use trellis::store::lock::{Claim, Holder, Kind, holder};

use crate::demo::{assert_each_message_once, trellis};
use crate::terminal::{Terminal, WIDE, program};

fn claim(home: &Path) -> Claim {
    match holder(&Home::at(home)) {
        Ok(Holder::Process(Some(claim))) => claim,
        other => panic!("nobody drives: {other:?}"),
    }
}

/// As a package manager does: the new file is put in the place of the old one, which goes on running.
fn put(place: &Path) {
    let beside = place.with_extension("new");
    fs::copy(program(), &beside).unwrap();
    fs::rename(&beside, place).unwrap();
}

#[test]
fn a_newer_program_in_the_place_of_one_that_drives_takes_the_run_over_and_each_message_stands_once() {
    let terminal = Terminal::open(WIDE);
    let (home, own) = (terminal.home(), terminal.folder.path().join("trellis"));
    put(&own);
    let go = |words: &str| {
        terminal.run(&format!("clear; {} {words} --home {}; echo ended $?", own.display(), home.display()));
    };
    go("demo --speed 0.2");
    terminal.wait_for("shop");
    let old = claim(&home);
    put(&own);
    // The new one beside the old one looks on, and says who drives.
    let status =
        Command::new(&own).args(["status", "--home"]).arg(&home).env_clear().env("HOME", &home).output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains(&old.pid.to_string()), "{status}");
    assert_eq!(claim(&home), old, "the old one drives on");
    // What the old one leaves behind is the program that stands there now.
    terminal.press_for(&["q"], "b go on");
    terminal.keys(&["b"]);
    terminal.wait_for("ended 0");
    let now = claim(&home);
    assert!(now.kind == Kind::Background && now.pid != old.pid, "{now:?}");
    if let Ok(runs) = fs::read_link(format!("/proc/{}/exe", now.pid)) {
        assert_eq!(runs, own.canonicalize().unwrap());
    }
    go("demo --speed 10");
    terminal.wait_for("this process drives now");
    terminal.wait_for("completed");
    terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
    assert_each_message_once(&home);
}

/// A copy of the records of a schema; how many runs are among them.
pub fn corpus(schema: u32, home: &Path) -> usize {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/state/v{schema}"));
    let mut folders: Vec<PathBuf> = vec![from.clone()];
    let mut runs = 0;
    while let Some(folder) = folders.pop() {
        let to = home.join(folder.strip_prefix(&from).unwrap());
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
                runs += usize::from(
                    folder.ends_with("checklist-runs") && path.extension().is_some_and(|kind| kind == "json"),
                );
            }
        }
    }
    runs
}

#[test]
fn records_of_every_schema_are_listed_shown_and_explained_by_the_program_of_today() {
    for schema in 1..=SCHEMA {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let runs = corpus(schema, &home);
        let run = |words: &[&str]| {
            let output = trellis(&home).args(words).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{words:?}: {said}");
            String::from_utf8(output.stdout).unwrap()
        };
        let listed: Value = serde_json::from_str(&run(&["run", "list", "--json"])).unwrap();
        let listed = listed.as_array().unwrap();
        assert_eq!(listed.len(), runs);
        // Each starts the program thrice.
        for row in listed.iter().step_by(4) {
            let id = row["id"].as_str().unwrap();
            let shown: Value = serde_json::from_str(&run(&["run", "show", id, "--json"])).unwrap();
            assert_eq!(shown["run"]["id"], id);
            run(&["run", "show", id]);
            run(&["why", id]);
        }
        run(&["status"]);
        run(&["dump", "--screen", "runs", "--size", "120x40"]);
    }
}
