//! `trellis hook` as an agent calls it, with everything that can go wrong; and `trellis hooks` on an agent's settings.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::demo::trellis;

const ASKS: &str = r#"{"session_id":"d597c3e8","transcript_path":"/h/.claude/projects/-w/d597c3e8.jsonl","cwd":"/w","hook_event_name":"PermissionRequest","tool_name":"Write","tool_input":{"file_path":"/w/x.txt","content":"CONTENT"}}"#;

fn call(home: &Path, words: &[&str], json: &[u8]) -> Output {
    let mut command = trellis(home);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    // It may have ended before all was written.
    let _ = running.stdin.take().unwrap().write_all(json);
    running.wait_with_output().unwrap()
}

fn notes(home: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(home.join("hooks")).into_iter().flatten();
    entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

const HOOK: [&str; 3] = ["hook", "--agent", "claude"];

#[track_caller]
fn silent(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_hook_leaves_a_note_and_says_nothing() {
    let home = tempfile::tempdir().unwrap();
    // On a machine with much to do it may give up in time: then the agent calls again at the next dialog.
    for _ in 0..50 {
        silent(&call(home.path(), &HOOK, ASKS.as_bytes()));
        if !notes(home.path()).is_empty() {
            break;
        }
    }
    let notes = notes(home.path());
    let note: serde_json::Value = serde_json::from_str(&notes[0]).unwrap();
    assert_eq!(note["event"]["asks"]["what"], "Write: /w/x.txt");
    assert_eq!(note["session"]["session_id"], "d597c3e8");
    assert!(!notes[0].contains("CONTENT"), "no more than the first words is kept");
}

#[test]
fn whatever_happens_a_hook_ends_well_and_makes_no_home() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("none");
    silent(&call(&home, &HOOK, ASKS.as_bytes()));
    assert!(!home.exists());

    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    silent(&call(&file, &HOOK, ASKS.as_bytes()));

    // A folder of notes that is none, and a spool on a device that takes nothing.
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("hooks"), "").unwrap();
    silent(&call(&home, &HOOK, ASKS.as_bytes()));
    std::fs::remove_file(home.join("hooks")).unwrap();
    std::os::unix::fs::symlink("/proc", home.join("hooks")).unwrap();
    silent(&call(&home, &HOOK, ASKS.as_bytes()));
    std::fs::remove_file(home.join("hooks")).unwrap();

    let huge = ASKS.replace("CONTENT", &"x".repeat(20 * 1024 * 1024));
    for json in [b"".as_slice(), b"{", b"\xff\xfe\x00", huge.as_bytes(), b"[1]"] {
        silent(&call(&home, &HOOK, json));
    }
    for words in [&["hook"][..], &["hook", "--agent", "other"], &["hook", "--what"], &["hook", "--agent"]] {
        silent(&call(&home, words, ASKS.as_bytes()));
    }
    let hostile = ASKS.replace("d597c3e8", "../../x");
    silent(&call(&home, &HOOK, hostile.as_bytes()));
    assert_eq!(notes(&home), Vec::<String>::new());

    // An input that never ends, and none at all.
    let mut command = trellis(&home);
    let mut running = command.args(HOOK).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let open = running.stdin.take();
    assert_eq!(running.wait().unwrap().code(), Some(0));
    drop(open);
    let closed = Command::new("sh")
        .args(["-c", "exec \"$0\" --home \"$1\" hook --agent claude <&-", env!("CARGO_BIN_EXE_trellis")])
        .arg(&home)
        .output()
        .unwrap();
    silent(&closed);
}

#[test]
fn hooks_are_put_in_shown_and_taken_out_only_when_a_person_agrees() {
    let folder = tempfile::tempdir().unwrap();
    let (home, claude) = (folder.path().join("home"), folder.path().join("claude"));
    std::fs::create_dir_all(&claude).unwrap();
    std::fs::create_dir_all(&home).unwrap();
    let settings = claude.join("settings.json");
    let mine = "{\n  \"model\": \"opus\",\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}\n}\n";
    std::fs::write(&settings, mine).unwrap();
    let run = |what: &str, more: &[&str]| {
        let words = [&["hooks", what, "--agent", "claude", "--home-of-agent", claude.to_str().unwrap()], more].concat();
        let output = call(&home, &words, b"");
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, _, said) = run("install", &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("--yes"), "{said}");
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), mine);

    let (code, shown, said) = run("install", &["--yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(shown.contains("\n+ ") && shown.contains("hook --agent claude"), "{shown}");
    assert!(std::fs::read_to_string(&settings).unwrap().contains("say done"));
    let copies: Vec<String> = std::fs::read_dir(&claude)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("before-trellis"))
        .collect();
    assert_eq!(std::fs::read_to_string(claude.join(&copies[0])).unwrap(), mine);
    assert!(run("status", &[]).1.contains("SessionStart, PermissionRequest, SessionEnd"), "{:?}", run("status", &[]));
    assert!(run("install", &["--yes"]).1.contains("already"));

    assert_eq!(run("remove", &["--yes"]).0, Some(0));
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), mine);
    assert!(run("status", &[]).1.contains("no hooks"));

    std::fs::write(&settings, "{\n  \"a\": 1,\n}\n").unwrap();
    let (code, _, said) = run("install", &["--yes"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("line 3"), "{said}");
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), "{\n  \"a\": 1,\n}\n");
}
