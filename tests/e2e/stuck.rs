//! A home whose run stands still: the reviewer never ends its turn. States that no scene leads to are written into its
//! records while nobody drives it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use super::demo::trellis;
use super::terminal::{PATIENCE, Terminal};

/// A script in which the builder answers at once and the reviewer reads for ever, with settings of the run and a last beat.
pub fn script(settings: &str, beat: &str) -> String {
    format!(
        r#"about = "the reviewer never ends its turn"
worktree = "shop"

[run]
name = "shop"
debounce = 600
{settings}

[[person]]
to = "implementer"
after_ms = 100
when = [{{ side = "implementer", prompts = 0 }}]
text = "Build the first part."

[implementer]
agent = "claude"
[[implementer.rules]]
name = "any"
then = "last"
[[implementer.rules.replies]]
beats = [
  {{ think = "One part." }},
  {{ write = "src/part.rs", content = "pub fn part() {{}}\n" }},
  {{ say = "The part is built.\n\n```rust\npub fn part() -> Result<Part, Error> {{ Part::with(Everything::that(is, needed, here)) }}\n```\n\nSay if the needle is in it." }},
]

[reviewer]
agent = "codex"
[[reviewer.rules]]
name = "any"
then = "last"
[[reviewer.rules.replies]]
beats = [{{ think = "I look." }}, {{ read = "src/part.rs", output = "pub fn part() {{}}" }}, {beat}]
"#
    )
}

/// Plays a script in the terminal's home until its run is in review of the first relay, then ends the player.
pub fn in_review(terminal: &Terminal, text: &str) {
    let file = terminal.folder.path().join("script.toml");
    fs::write(&file, text).unwrap();
    let mut player = trellis(&terminal.home());
    player.args(["demo", "--headless", "--speed", "20", "--script"]).arg(&file);
    let mut child = player.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + PATIENCE;
    while !is_in_review(&terminal.home()) {
        assert!(Instant::now() < end, "the first relay was not seen to arrive");
        std::thread::park_timeout(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

fn is_in_review(home: &Path) -> bool {
    let pair = only(&home.join("pairs")).and_then(|path| fs::read_to_string(path).ok());
    pair.and_then(|text| serde_json::from_str::<Value>(&text).ok()).is_some_and(|pair| pair["round_count"] == 1)
}

/// The only record of a folder.
fn only(folder: &Path) -> Option<PathBuf> {
    let paths = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    paths.into_iter().find(|path| path.extension().is_some_and(|kind| kind == "json"))
}

/// Changes the run's record (`checklist-runs`) or the pair's (`pairs`), as another program would.
pub fn change(home: &Path, folder: &str, edit: impl FnOnce(&mut Value)) {
    let path = only(&home.join(folder)).unwrap();
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    edit(&mut record);
    fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
}

/// The run waits for a person for a reason; its pair ended as `pair_stop` says, or goes.
pub fn pause_run(home: &Path, reason: &str, pair_stop: Option<&str>) {
    change(home, "checklist-runs", |run| {
        let at = run["last_persisted_at"].clone();
        run["state"] = json!("paused");
        run["paused_reason"] = json!(reason);
        run["paused_at"] = at.clone();
        if pair_stop.is_some() {
            run["phases"][0]["status"] = json!("not_converged");
            run["phases"][0]["ended_at"] = at;
        }
    });
    if let Some(stop) = pair_stop {
        change(home, "pairs", |pair| {
            pair["state"] = json!("stopped");
            pair["step"] = Value::Null;
            pair["awaited"] = Value::Null;
            pair["stop_reason"] = json!(stop);
            pair["stopped_at"] = pair["last_persisted_at"].clone();
        });
    }
}

/// The pair waits for a person for a reason.
pub fn pause_pair(home: &Path, reason: &str) {
    change(home, "pairs", |pair| {
        pair["state"] = json!("paused");
        pair["paused_reason"] = json!(reason);
        pair["paused_at"] = pair["last_persisted_at"].clone();
    });
}

/// The relay was typed and never seen: its entry is open again, and no round came of it.
pub fn not_seen(home: &Path) {
    change(home, "pairs", |pair| {
        pair["outbox"][0]["state"] = json!("sent");
        pair["outbox"][0]["delivered_turn_id"] = Value::Null;
        pair["outbox"][0]["delivered_at"] = Value::Null;
        pair["rounds"] = json!([]);
        pair["round_count"] = json!(0);
        pair["step"] = json!("await_implementer");
        pair["awaited"] = Value::Null;
        pair["reviewed"] = Value::Null;
        pair["human_mark"]["reviewer"] = Value::Null;
        // What was typed never came: the transcript is as it was before.
        let mark = &pair["outbox"][0]["transcript_mark"];
        let file = fs::OpenOptions::new().write(true).open(mark["path"].as_str().unwrap()).unwrap();
        file.set_len(mark["length"].as_u64().unwrap()).unwrap();
    });
}
