//! The stories of the manual, run as they stand there: a run on the demo's agents, from its beginning to its removal, by
//! the socket alone and by the commands.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use trellis::paths::Home;
use trellis::store::lock::{Holder, holder};

/// The block of the manual that is called so.
fn story(name: &str) -> String {
    let manual = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manual.md")).unwrap();
    let (_, block) = manual.split_once(&format!("```sh {name}\n")).unwrap();
    block.split("\n```").next().unwrap().to_owned()
}

/// Runs a story in a home of its own, as a person would: with `trellis` on the path. The driver it leaves behind when it
/// fails is ended.
fn told(name: &str, folder: &Path) -> Output {
    let home = folder.join("home");
    let programs = Path::new(env!("CARGO_BIN_EXE_trellis")).parent().unwrap().display().to_string();
    let mut command = Command::new("timeout");
    command.args(["180", "sh", "-eu", "-c", &story(name)]).env_clear().current_dir(folder);
    command.env("PATH", format!("{programs}:/usr/local/bin:/usr/bin:/bin")).env("HOME", folder).env("LANG", "C.UTF-8");
    let output = command.env("TRELLIS_HOME", &home).output().unwrap();
    if let Ok(Holder::Process(Some(claim))) = holder(&Home::at(&home)) {
        let _ = Command::new("kill").arg(claim.pid.to_string()).status();
    }
    output
}

#[track_caller]
fn went_well(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    out.into_owned()
}

/// What the story is about, in the order in which it was heard.
#[track_caller]
fn assert_heard<'a>(kinds: impl Iterator<Item = &'a str>) {
    let kinds: Vec<&str> = kinds.filter(|kind| kind.starts_with("checklist.")).collect();
    let wanted = ["started", "phase_started", "paused", "resumed", "phase_converged", "stopped"];
    let mut heard = kinds.iter();
    for word in wanted {
        assert!(heard.any(|kind| *kind == format!("checklist.{word}")), "{word} in its place: {kinds:?}");
    }
}

fn assert_removed(folder: &Path) {
    let left = fs::read_dir(folder.join("home/checklist-runs")).unwrap();
    let records = left.filter(|entry| entry.as_ref().unwrap().path().is_file()).count();
    assert_eq!(records, 1, "the demo's own run is what is left");
}

#[test]
fn the_story_of_the_manual_by_curl_alone() {
    match Command::new("curl").args(["--unix-socket", "x", "--json", "{}", "--fail-with-body", "--version"]).output() {
        Ok(probe) if probe.status.success() => {}
        Ok(probe) => return println!("skipped: this curl is too old: {}", String::from_utf8_lossy(&probe.stderr)),
        Err(error) => return println!("skipped: no curl: {error}"),
    }
    let folder = tempfile::tempdir().unwrap();
    let out = went_well(&told("curl", folder.path()));
    let notes = out.matches("\"note\":").count();
    assert_eq!(notes, 6, "pause, resume, retry, accept, stop and its removal are each answered with a note: {out}");
    let heard = fs::read_to_string(folder.path().join("home/heard")).unwrap();
    assert_heard(heard.lines().filter_map(|line| line.strip_prefix("event: ")));
    for line in heard.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: Value = serde_json::from_str(line).unwrap();
        assert!(event["seq"].is_u64(), "{line}");
    }
    assert_removed(folder.path());
}
