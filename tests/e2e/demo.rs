//! The demo and its scenes without a dashboard, as a person or a script runs them: output, exit codes, transcripts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use trellis::model::conversation::{Conversation, Turn};
use trellis::model::ids::Agent;
use trellis::transcript::read_all;

/// The program with an environment of its own: nothing of the person's leaks in, nothing is written outside `home`.
pub fn trellis(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trellis"));
    command
        .env_clear()
        .env("HOME", home.join("nobody"))
        .env("PATH", "/usr/bin:/bin")
        .env("TERM", "dumb")
        .arg("--home")
        .arg(home);
    command
}

fn run(home: &Path, words: &[&str]) -> Output {
    trellis(home).args(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn events(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Ends with this code, or says everything it printed.
fn assert_code(output: &Output, code: i32, what: &str) {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{what}\n--- stdout\n{out}\n--- stderr\n{err}");
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { below(&path, found) } else { found.push(path) }
    }
}

/// The transcripts of the pair that plays: the implementer's and the reviewer's.
pub fn transcripts(home: &Path) -> (Conversation, Conversation) {
    let cast: Value = serde_json::from_slice(&fs::read(home.join("demo/cast.json")).unwrap()).unwrap();
    let read = |place: usize, agent: Agent| {
        let path = cast["sessions"][place]["transcript"].as_str().unwrap();
        read_all(agent, &fs::read(home.join(path)).unwrap())
    };
    (read(0, Agent::Claude), read(1, Agent::Codex))
}

/// The demo's promise: who got which messages, and nothing twice.
pub fn assert_each_message_once(home: &Path) {
    let (implementer, reviewer) = transcripts(home);
    let count =
        |seen: &Conversation, part: &str| seen.turns.iter().filter(|turn| turn.prompt.text.contains(part)).count();
    let prompts: Vec<String> = implementer
        .turns
        .iter()
        .chain(&reviewer.turns)
        .map(|turn| turn.prompt.text.chars().take(60).collect())
        .collect();
    assert_eq!((implementer.turns.len(), reviewer.turns.len()), (7, 6), "{prompts:#?}");
    assert_eq!(count(&implementer, "Implement the next phase"), 3, "{prompts:#?}");
    assert_eq!(count(&implementer, "Feedback:"), 3, "{prompts:#?}");
    assert_eq!(count(&reviewer, "Review the implementer's work"), 6, "{prompts:#?}");
    for seen in [&implementer, &reviewer] {
        assert!(seen.turns.iter().all(Turn::is_answered), "{seen:?}");
        assert_eq!((seen.damaged, seen.unknown.len()), (0, 0));
    }
}

#[test]
fn the_demo_completes_with_three_one_and_five_relays_and_is_proven() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("demo");
    let output = run(&home, &["demo", "--headless", "--speed", "20"]);
    assert_code(&output, 0, "the demo");
    let events = events(&output);
    let last = events.last().unwrap();
    assert_eq!((last["type"].as_str(), last["reason"].as_str()), (Some("checklist.stopped"), Some("completed")));
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");
    let mut relays: BTreeMap<String, u32> = BTreeMap::new();
    for event in events.iter().filter(|event| event["type"] == "pair.round") {
        *relays.entry(event["pair_id"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    let mut order: Vec<String> = Vec::new();
    for event in events.iter().filter(|event| event["type"] == "pair.started") {
        order.push(event["pair_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(order.iter().map(|pair| relays[pair]).collect::<Vec<_>>(), [3, 1, 5]);
    let agreed = events.iter().filter(|event| event["type"] == "checklist.phase_converged").count();
    assert_eq!(agreed, 3);
    assert_each_message_once(&home);

    let id = last["run_id"].as_str().unwrap();
    let verify = run(&home, &["run", "verify", id]);
    assert_code(&verify, 0, "verify");
    assert_eq!(text(&verify.stdout).lines().filter(|line| line.starts_with("ok ")).count(), 12);
    let list = run(&home, &["run", "list"]);
    assert_code(&list, 0, "list");
    assert!(text(&list.stdout).contains(id) && text(&list.stdout).contains("completed"));
    let show = run(&home, &["run", "show", &id[..id.len() - 2], "--json"]);
    assert_code(&show, 0, "show");
    let shown: Value = serde_json::from_slice(&show.stdout).unwrap();
    assert_eq!(shown["run"]["phases_done"], 3);
    assert_code(&run(&home, &["run", "show", "nothing"]), 1, "an unknown run");
    for screen in ["runs", "run", "sessions"] {
        let frame = run(&home, &["dump", "--screen", screen, "--size", "120x40"]);
        assert_code(&frame, 0, screen);
        let drawn = text(&frame.stdout);
        assert!(drawn.lines().count() <= 40 && !drawn.contains('\u{1b}'), "{drawn}");
        assert!(!drawn.contains("reading the conversation"), "{drawn}");
    }

    let again = run(&home, &["demo", "--headless", "--speed", "20"]);
    assert_code(&again, 0, "the same command on a home whose run has stopped");
    assert_eq!(text(&again.stdout).lines().collect::<Vec<_>>(), [text(&output.stdout).lines().last().unwrap()]);
    assert_each_message_once(&home);
}

#[test]
fn a_proof_fails_when_a_message_stands_twice() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let output = run(home, &["demo", "--headless", "--speed", "50"]);
    assert_code(&output, 0, "the demo");
    let id = events(&output).last().unwrap()["run_id"].as_str().unwrap().to_owned();
    let mut files = Vec::new();
    below(&home.join("agents/claude"), &mut files);
    let file =
        files.iter().find(|file| fs::read_to_string(file).unwrap().contains("Implement the next phase")).unwrap();
    let lines = fs::read_to_string(file).unwrap();
    let prompt = lines.lines().find(|line| line.contains("Implement the next phase")).unwrap();
    let mut record: Value = serde_json::from_str(prompt).unwrap();
    record["uuid"] = "00000000-0000-4000-8000-000000000001".into();
    fs::write(file, format!("{lines}{record}\n")).unwrap();
    let verify = run(home, &["run", "verify", &id]);
    assert_code(&verify, 1, "verify");
    assert!(text(&verify.stdout).contains("FAIL"), "{}", text(&verify.stdout));
    assert!(text(&verify.stderr).contains("messages are not proven"), "{}", text(&verify.stderr));
}

#[test]
fn scenes_end_where_a_person_is_needed_and_say_why() {
    let cases = [
        ("near-miss", "near_miss"),
        ("no-agreement", "phase_not_converged"),
        ("typed", "user_typed"),
        ("look-first", "look"),
        ("gone", "agent_gone"),
        ("no-answer", "no_answer"),
    ];
    for (scene, words) in cases {
        let folder = tempfile::tempdir().unwrap();
        let output = run(folder.path(), &["demo", "--headless", "--speed", "20", "--scene", scene]);
        assert_code(&output, 1, scene);
        let said = text(&output.stderr);
        assert!(said.contains(words), "{scene}: {said}");
        let kept = fs::read(folder.path().join("events.jsonl")).unwrap();
        assert_eq!(text(&output.stdout), text(&kept), "{scene}: every event is printed, also the last");
        // List and status say the same of who is needed.
        let listed = run(folder.path(), &["run", "list"]);
        assert!(text(&listed.stdout).contains("needs you: "), "{scene}: {}", text(&listed.stdout));
        let again = run(folder.path(), &["demo", "--headless", "--speed", "20"]);
        assert_code(&again, 1, scene);
        let other = run(folder.path(), &["demo", "--headless", "--scene", "night"]);
        assert_code(&other, 1, "another scene in the same home");
        assert!(text(&other.stderr).contains("another --home"), "{}", text(&other.stderr));
    }
}

#[test]
fn a_limit_with_a_known_end_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["demo", "--headless", "--speed", "20", "--scene", "limit"]);
    assert_code(&output, 0, "limit");
    let events = events(&output);
    assert!(events.iter().any(|event| event["type"] == "pair.paused" && event["reason"] == "limit"), "{events:#?}");
}

#[test]
fn a_night_of_twelve_phases_goes_through() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["demo", "--headless", "--speed", "20", "--scene", "night"]);
    assert_code(&output, 0, "night");
    let agreed = events(&output).iter().filter(|event| event["type"] == "checklist.phase_converged").count();
    assert_eq!(agreed, 12);
}

#[test]
fn scenes_are_listed_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["demo", "--list"]);
    assert_code(&output, 0, "--list");
    let listed = text(&output.stdout);
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["near-miss", "no-agreement", "limit", "typed", "look-first", "gone", "no-answer", "night"]);
    assert!(listed.lines().all(|line| line.split_whitespace().count() > 4), "{listed}");
}

#[test]
fn a_script_of_ones_own_is_played_and_a_mistake_in_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let script = r#"
about = "one phase"
[[person]]
to = "implementer"
when = [{ side = "implementer", prompts = 0 }]
text = "begin"
[implementer]
agent = "claude"
[[implementer.rules]]
name = "phases"
contains = ["begin"]
replies = [{ beats = [{ say = "Done." }] }]
[[implementer.rules]]
name = "no more"
then = "last"
replies = [{ beats = [{ say = "COMPLETED" }] }]
[reviewer]
agent = "codex"
[[reviewer.rules]]
name = "all"
then = "last"
replies = [{ beats = [{ say = "LGTM" }] }]
"#;
    fs::write(&file, script).unwrap();
    let home = folder.path().join("home");
    let output = run(&home, &["demo", "--headless", "--speed", "20", "--script", file.to_str().unwrap()]);
    assert_code(&output, 0, "a script");
    fs::write(&file, script.replace("say = \"Done.\"", "sya = \"Done.\"")).unwrap();
    let output = run(&folder.path().join("other"), &["demo", "--headless", "--script", file.to_str().unwrap()]);
    assert_code(&output, 1, "a mistake");
    assert!(text(&output.stderr).contains("line 12: unknown field `sya`"), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr).lines().count(), 1);
}

#[test]
fn the_spare_pair_can_be_taken_into_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    assert_code(&run(home, &["demo", "--headless", "--speed", "50"]), 0, "the demo");
    let cast: Value = serde_json::from_slice(&fs::read(home.join("demo/cast.json")).unwrap()).unwrap();
    let id = |place: usize| cast["sessions"][place]["session_id"].as_str().unwrap().to_owned();
    let (builder, reviewer) = (format!("claude:{}", id(2)), format!("codex:{}", id(3)));
    let start = ["run", "start", "--implementer", &builder, "--reviewer", &reviewer, "--first-phase", "ask"];
    let output = run(home, &start);
    assert_code(&output, 0, "recorded");
    assert!(text(&output.stdout).contains("drive it with"), "{}", text(&output.stdout));
    let taken = run(home, &start);
    assert_code(&taken, 1, "a session that is in a run already");
    let output = run(home, &["drive"]);
    assert_code(&output, 0, "drive");
    let list = text(&run(home, &["run", "list"]).stdout);
    assert_eq!(list.lines().filter(|line| line.contains("completed")).count(), 2, "{list}");
    let unknown = ["run", "start", "--implementer", "claude:none", "--reviewer", &reviewer];
    let output = run(home, &unknown);
    assert_code(&output, 1, "a session that exists nowhere");
    assert!(text(&output.stderr).contains("claude:none"), "{}", text(&output.stderr));
}

/// S3: one process drives a home; what changes something is refused with its pid, what only looks goes through.
#[test]
fn s3_a_second_process_is_refused_by_pid_and_may_look() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let mut driver = trellis(home);
    let driver = driver.args(["demo", "--headless"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut driver = Ended(driver);
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(driver.0.stdout.take().unwrap()), &mut line).unwrap();
    let pid = format!("pid {}", driver.0.id());
    let start = ["run", "start", "--headless", "--implementer", "claude:any", "--reviewer", "codex:any"];
    for words in [&["drive"][..], &["demo", "--headless"], &start] {
        let output = run(home, words);
        assert_code(&output, 1, &words.join(" "));
        assert!(text(&output.stderr).contains(&pid), "{words:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr).lines().count(), 1);
    }
    for words in [&["run", "list"][..], &["dump", "--screen", "runs", "--size", "80x24"]] {
        assert_code(&run(home, words), 0, &words.join(" "));
    }
}

/// A process of this test, ended with it.
pub struct Ended(pub std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// S1, S5: a damaged record is told by name and put away; one of a newer trellis is listed and keeps its bytes.
#[test]
fn s1_s5_damaged_and_newer_records_are_told_without_a_dashboard() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    assert_code(&run(home, &["demo", "--headless", "--speed", "50"]), 0, "the demo");
    let records = home.join("checklist-runs");
    fs::write(records.join("half.json"), "{\"schema\": 1, \"id\": \"ha").unwrap();
    let newer = "{\"schema\": 99, \"id\": \"later\", \"state\": \"running\", \"news\": [1]}";
    fs::write(records.join("later.json"), newer).unwrap();
    let list = run(home, &["run", "list", "--json"]);
    assert_code(&list, 0, "list");
    assert!(text(&list.stderr).contains("half.json"), "{}", text(&list.stderr));
    let rows: Vec<Value> = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!((rows.len(), &rows[1]["id"], &rows[2]["id"]), (3, &Value::from("half"), &Value::from("later")));
    assert!(rows[2]["read_only"].as_str().unwrap().contains("newer"), "{rows:?}");
    let shown = run(home, &["run", "show", "later"]);
    assert_code(&shown, 1, "show");
    assert!(text(&shown.stderr).contains("newer"), "{}", text(&shown.stderr));
    // What is left is held until a person has mended it: that is no good end.
    for words in [&["drive"][..], &["drive", "--background"]] {
        let drive = run(home, words);
        assert_code(&drive, 1, "drive");
        let said = text(&drive.stderr);
        assert!(said.contains("half.json") || words.len() == 2, "{said}");
        assert!(said.contains("no run is left to drive but one that is held: its record can't be read"), "{said}");
    }
    assert!(home.join("quarantine/half.json").exists() && !records.join("half.json").exists());
    assert_eq!(fs::read_to_string(records.join("later.json")).unwrap(), newer);
}

/// Every folder and file of a home is the person's alone; the environment's home is played in only if it is a demo's.
#[test]
fn a_demos_home_is_private_and_found_by_the_environment() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("demo");
    let first = run(&home, &["demo", "--headless", "--speed", "50"]);
    assert_code(&first, 0, "the demo");
    let mut found = vec![home.clone()];
    while let Some(path) = found.pop() {
        let is_folder = path.is_dir();
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if is_folder { 0o700 } else { 0o600 }, "{}", path.display());
        if is_folder {
            found.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    let around = |named: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trellis"));
        command.env_clear().env("HOME", folder.path().join("nobody")).env("PATH", "/usr/bin:/bin");
        command.env("TMPDIR", folder.path()).env("TRELLIS_HOME", named);
        command.args(["demo", "--headless", "--speed", "50"]).output().unwrap()
    };
    let again = around(&home);
    assert_code(&again, 0, "the same home, named by the environment");
    assert_eq!(text(&again.stdout).lines().last(), text(&first.stdout).lines().last());
    let own = folder.path().join("own");
    assert_code(&around(&own), 0, "a home that is to be the person's");
    assert!(!own.exists(), "nothing is played in it");
    let made = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
    let made: Vec<_> = made.filter(|entry| entry.file_name().to_string_lossy().starts_with("trellis-demo-")).collect();
    assert_eq!(made.len(), 1, "its own folder: {made:?}");
    assert_eq!(made[0].metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let folder = tempfile::tempdir().unwrap();
    let mut child =
        trellis(folder.path()).args(["demo", "--list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn verdicts_are_words_with_reasons_and_codes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answer");
    for (answer, word, code) in
        [("Fine.\n\nLGTM", "match", 0), ("LGTM with one nit", "near_miss", 1), ("no", "none", 1)]
    {
        fs::write(&file, answer).unwrap();
        let output = run(folder.path(), &["verdict", "--signal", "LGTM", file.to_str().unwrap()]);
        assert_code(&output, code, answer);
        assert_eq!(text(&output.stdout).lines().next(), Some(word));
        assert!(text(&output.stdout).lines().count() == 2 && output.stderr.is_empty());
    }
    fs::write(&file, "COMPLETED").unwrap();
    let output = run(folder.path(), &["verdict", "--signal", "COMPLETED", "--completion", file.to_str().unwrap()]);
    assert_code(&output, 0, "completion");
    assert_code(&run(folder.path(), &["verdict", "--signal", " ", file.to_str().unwrap()]), 2, "a blank signal");
    assert_code(&run(folder.path(), &["verdict", "--signal", "LGTM", "/nonexistent"]), 1, "no file");
}

/// A signal at any moment is an orderly end: code 1 with a sentence, and the run goes on at the next start.
#[test]
fn signals_at_any_moment_end_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("demo");
    for (nth, signal) in ["TERM", "INT", "HUP"].into_iter().cycle().take(12).enumerate() {
        let child = trellis(&home)
            .args(["demo", "--headless", "--speed", "1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Whatever it writes first says that its signals are heard.
        let started = Instant::now();
        while !home.join("logs").exists() || started.elapsed() < Duration::from_millis(250 + 30 * nth as u64) {
            assert!(started.elapsed() < Duration::from_mins(1), "nothing was begun");
            std::thread::yield_now();
        }
        let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let ended = child.wait_with_output().unwrap();
        assert_code(&ended, 1, signal);
        assert!(text(&ended.stderr).contains("told to end"), "{signal}: {}", text(&ended.stderr));
    }
}

#[test]
fn a_home_that_is_no_folder_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    for words in [&["run", "list"][..], &["drive"], &["demo", "--headless"]] {
        let output = run(&file, words);
        assert_code(&output, 1, "a home that is a file");
        assert!(text(&output.stderr).contains("is a file, not a folder"), "{}", text(&output.stderr));
    }
}

#[test]
fn a_demo_leaves_a_folder_that_holds_something_else_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "mine").unwrap();
    let output = run(folder.path(), &["demo", "--headless"]);
    assert_code(&output, 1, "a foreign folder");
    assert!(text(&output.stderr).contains("thesis.tex"), "{}", text(&output.stderr));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was written");
}

#[test]
fn without_a_home_a_terminal_or_a_session_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("none");
    let list = run(&home, &["run", "list"]);
    assert_code(&list, 0, "a list");
    assert!(text(&list.stderr).contains("there is no trellis home at "), "{}", text(&list.stderr));
    let status = run(&home, &["status"]);
    assert_code(&status, 0, "how it stands");
    assert!(text(&status.stderr).contains("there is no trellis home at "), "{}", text(&status.stderr));
    assert!(run(&home, &["status", "--short"]).stderr.is_empty());
    for words in [&[][..], &["demo"]] {
        let output = run(&home, words);
        assert_code(&output, 1, "no terminal");
        assert!(text(&output.stderr).contains("the dashboard needs a terminal"), "{}", text(&output.stderr));
    }
    let sides = ["run", "start", "--implementer", "claude:nobody", "--reviewer", "codex:nobody"];
    let start = run(&home, &sides);
    assert_code(&start, 1, "unknown sessions");
    assert!(text(&start.stderr).contains("trellis session list"), "{}", text(&start.stderr));
    assert!(!home.exists(), "nothing was made");
}

#[test]
fn sessions_and_runs_are_named_without_a_dashboard() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("demo");
    let output = run(&home, &["demo", "--headless", "--speed", "50"]);
    assert_code(&output, 0, "the demo");
    let list = run(&home, &["session", "list"]);
    assert_code(&list, 0, "the sessions");
    let words = text(&list.stdout);
    assert_eq!(words.lines().filter(|line| line.starts_with("claude:")).count(), 2, "{words}");
    assert!(!words.contains("gone"), "nobody looked: {words}");
    let list = run(&home, &["session", "list", "--json"]);
    let sessions: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(sessions.as_array().unwrap().len(), 4);
    let frame = run(&home, &["dump", "--screen", "sessions"]);
    assert!(!text(&frame.stdout).contains("gone"), "{}", text(&frame.stdout));
    let runs: Value = serde_json::from_slice(&run(&home, &["run", "list", "--json"]).stdout).unwrap();
    let worktree = runs[0]["implementer"]["worktree"].as_str().unwrap().to_owned();
    let name = worktree.rsplit('/').next().unwrap();
    let listed = text(&run(&home, &["run", "list"]).stdout);
    assert!(listed.trim_end().ends_with(&format!(" {name}")), "{listed}");
    assert_code(&run(&home, &["run", "show", name]), 0, "by name");
    let proof = run(&home, &["run", "verify", name, "--json"]);
    assert_code(&proof, 0, "a proof as JSON");
    let proof: Value = serde_json::from_slice(&proof.stdout).unwrap();
    assert_eq!((proof["holds"].as_bool(), proof["messages"].as_array().unwrap().len()), (Some(true), 12));
}

#[test]
fn a_frame_printed_beside_a_driver_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let home = trellis::paths::Home::at(folder.path());
    let lock = trellis::store::lock::Lock::take(&home).unwrap();
    let drawn = text(&run(folder.path(), &["dump", "--screen", "runs", "--size", "80x24"]).stdout);
    assert!(drawn.contains(&format!("process {} drives this home", std::process::id())), "{drawn}");
    drop(lock);
    let drawn = text(&run(folder.path(), &["dump", "--screen", "runs", "--size", "80x24"]).stdout);
    assert!(drawn.contains("nobody drives, so no run goes on"), "{drawn}");
}
