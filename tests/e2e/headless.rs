//! Runs between sessions without panes, with the built program and small programs in the agents' place that write
//! transcripts as the real ones do: whole checklists, kills, and what is refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trellis::model::conversation::{Conversation, Turn};
use trellis::model::ids::Agent;
use trellis::transcript::read_all;

use crate::demo::trellis;

/// A home of trellis and of both agents; what is left running ends with it.
struct Rig {
    folder: tempfile::TempDir,
    claude: String,
    codex: String,
}

impl Rig {
    /// Both sessions have had a first turn and are closed; both are to be run without a pane.
    fn start(implementer: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut rig = Self { folder, claude: String::new(), codex: String::new() };
        for name in ["bin", "home", "work", "trellis"] {
            fs::create_dir_all(rig.path(name)).unwrap();
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_cli/turn.py");
        for agent in ["claude", "codex"] {
            let path = rig.path("bin").join(agent);
            let text = format!("#!/bin/sh\nexec python3 '{script}' {agent} '{}' \"$@\"\n", rig.folder.path().display());
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let reviewer = if implementer == "claude" { "codex" } else { "claude" };
        fs::write(rig.path("plan.json"), plan(implementer, reviewer)).unwrap();
        let stamp = std::process::id();
        let place =
            rig.folder.path().to_string_lossy().bytes().fold(7_u64, |sum, byte| sum * 31 % 9_999_991 + u64::from(byte));
        let id = format!("{stamp:08x}-0000-4000-8000-{place:012x}");
        assert!(rig.agent(&["claude", "-p", "--session-id", &id]).status.success());
        let said = String::from_utf8(rig.agent(&["codex", "exec", "--json", "-"]).stdout).unwrap();
        let first: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
        rig.codex = format!("codex:{}", first["thread_id"].as_str().unwrap());
        rig.claude = format!("claude:{id}");
        rig
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn agent(&self, words: &[&str]) -> Output {
        let input = self.path("greeting");
        fs::write(&input, "hello").unwrap();
        let mut command = Command::new(self.path("bin").join(words[0]));
        command.args(&words[1..]).env("HOME", self.path("home")).current_dir(self.path("work"));
        command.stdin(fs::File::open(input).unwrap()).output().unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = trellis(&self.path("trellis"));
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.path("bin").display());
        command.args(words).env("HOME", self.path("home")).env("PATH", path);
        command.current_dir(self.path("work")).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> (Option<i32>, String) {
        let output = self.command(words).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    }

    fn reach(&self) {
        for (session, mode) in [(&self.claude, "acceptEdits"), (&self.codex, "workspace-write")] {
            let (code, said) = self.run(&["session", "reach", session, "headless", "--permission-mode", mode]);
            assert_eq!(code, Some(0), "{said}");
        }
    }

    fn start_words(&self, implementer: &str) -> Vec<String> {
        let (builds, reviews) =
            if implementer == "claude" { (&self.claude, &self.codex) } else { (&self.codex, &self.claude) };
        let words = ["run", "start", "--implementer", builds, "--reviewer", reviews, "--headless"];
        let more = ["--first-phase", "ask", "--set", "debounce=0"];
        words.iter().chain(&more).map(|word| (*word).to_owned()).collect()
    }

    /// Begins a trellis in a group of its own, as a shell does.
    fn begin(&self, words: &[&str]) -> Running {
        let file = fs::File::create(self.path("said")).unwrap();
        let mut command = self.command(words);
        command.stdout(file.try_clone().unwrap()).stderr(file).process_group(0);
        Running(command.spawn().unwrap())
    }

    fn said(&self) -> String {
        fs::read_to_string(self.path("said")).unwrap_or_default()
    }

    fn does(&self, what: &str) {
        fs::write(self.path("does"), what).unwrap();
    }

    fn conversation(&self, session: &str) -> Conversation {
        let (agent, id) = session.split_once(':').unwrap();
        let mut files = Vec::new();
        below(&self.path("home"), &mut files);
        let file = files.into_iter().find(|file| file.to_string_lossy().ends_with(&format!("{id}.jsonl")));
        let agent = if agent == "claude" { Agent::Claude } else { Agent::Codex };
        read_all(agent, &file.map(|file| fs::read(file).unwrap()).unwrap_or_default())
    }

    fn run_record(&self) -> Value {
        let mut files = Vec::new();
        below(&self.path("trellis/checklist-runs"), &mut files);
        let file = files.into_iter().find(|file| file.extension().is_some_and(|end| end == "json"));
        file.and_then(|file| serde_json::from_slice(&fs::read(file).ok()?).ok()).unwrap_or_default()
    }

    fn wait(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_mins(3);
        while !holds() {
            assert!(Instant::now() < end, "waited in vain for {what}:\n{}\n{:#}", self.said(), self.run_record());
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// Relays 3, 1 and 5, each message once, and the record proves it.
    fn assert_complete(&self, implementer: &str) {
        let (builds, reviews) =
            if implementer == "claude" { (&self.claude, &self.codex) } else { (&self.codex, &self.claude) };
        let (builds, reviews) = (self.conversation(builds), self.conversation(reviews));
        let count =
            |seen: &Conversation, part: &str| seen.turns.iter().filter(|turn| turn.prompt.text.contains(part)).count();
        let counts = [
            count(&builds, "Implement the next phase"),
            count(&builds, "Feedback:"),
            builds.turns.len(),
            count(&reviews, "Review the implementer's work"),
            reviews.turns.len(),
        ];
        assert_eq!(counts, [4, 3, 8, 6, 7], "{}", self.said());
        assert!(builds.turns.iter().chain(&reviews.turns).all(Turn::is_answered));
        let record = self.run_record();
        assert_eq!((&record["stop_reason"], &record["phases_done"]), (&json!("completed"), &json!(3)), "{record:#}");
        let (code, said) = self.run(&["run", "verify", record["id"].as_str().unwrap()]);
        assert_eq!(code, Some(0), "{said}");
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // Whatever still waits ends by itself.
        let _ = fs::write(self.path("go"), "");
    }
}

struct Running(Child);

impl Running {
    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// As a terminal's Ctrl-C does: to the whole group.
    fn interrupt(&self) {
        let group = format!("-{}", self.0.id());
        assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { below(&path, found) } else { found.push(path) }
    }
}

fn plan(implementer: &str, reviewer: &str) -> String {
    let builds = json!([
        ["Feedback:", ["The closing line is there now.", "The date is there.", "The date stands first."]],
        ["Implement the next phase", ["Phase one is written.", "Done.", "Done.", "COMPLETED"]],
        ["", ["READY"]],
    ]);
    let reviews = json!([
        [
            "Review the implementer's work",
            ["There is no closing line.", "Good.\n\nLGTM", "LGTM", "It needs a date.", "Date first.", "LGTM"]
        ],
        ["", ["READY"]],
    ]);
    json!({implementer: builds, reviewer: reviews}).to_string()
}

fn strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// A session that `session new` says it began or kept.
fn named(said: &str) -> String {
    let line = said.lines().find(|line| line.starts_with("claude:") || line.starts_with("codex:"));
    line.and_then(|line| line.split("  ").next()).unwrap_or_else(|| panic!("no session: {said}")).to_owned()
}

fn new_words<'a>(agent: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["session", "new", "--transport", "headless", "--agent", agent], more].concat()
}

#[test]
fn sessions_begun_without_a_window_take_their_first_message_and_run_a_checklist() {
    let mut rig = Rig::start("claude");
    for (agent, mode) in [("claude", "acceptEdits"), ("codex", "workspace-write")] {
        let hostile = "-- Look; at `this` $(touch x)\nand \"that\"";
        let more = ["--permission-mode", mode, "--name", "first", "--prompt", hostile];
        let (code, said) = rig.run(&new_words(agent, &more));
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(&format!("{agent} has its first message, without a window")), "{said}");
        let session = named(&said);
        rig.wait("its first answer", || rig.conversation(&session).turns.iter().any(Turn::is_answered));
        let conversation = rig.conversation(&session);
        let prompts: Vec<&str> = conversation.turns.iter().map(|turn| &*turn.prompt.text).collect();
        // A dash in front gets a blank before it, in every message.
        assert_eq!(prompts, [format!(" {hostile}")], "once, and as it was written");
        let (_, listed) = rig.run(&["session", "list"]);
        assert!(listed.contains(&format!("headless · {mode}")) && listed.contains("“first”"), "{listed}");
        if agent == "claude" { rig.claude = session } else { rig.codex = session }
    }
    assert!(!rig.path("work/x").exists());
    let (code, said) = rig.run(&strs(&rig.start_words("claude")));
    assert_eq!(code, Some(0), "{said}");
    rig.assert_complete("claude");
}

#[test]
fn without_a_message_claude_is_kept_for_the_first_one_and_codex_is_refused() {
    let mut rig = Rig::start("claude");
    let starts = || fs::read_to_string(rig.path("starts")).unwrap_or_default().lines().count();
    let before = starts();
    let (code, said) = rig.run(&new_words("codex", &[]));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("prompt: codex without a window has no session before its first message"), "{said}");
    let (code, said) = rig.run(&new_words("claude", &["--name", "later"]));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("is kept: its first message starts it, without a window"), "{said}");
    assert_eq!(starts(), before, "nothing was started");
    let (_, listed) = rig.run(&["session", "list"]);
    assert!(listed.contains("“later”"), "{listed}");
    rig.claude = named(&said);
    rig.reach();
    let (code, said) = rig.run(&strs(&rig.start_words("claude")));
    assert_eq!(code, Some(0), "{said}");
    let prompts = rig.conversation(&rig.claude).turns.len();
    assert_eq!((prompts, &rig.run_record()["stop_reason"]), (7, &json!("completed")), "{said}");
}

/// Real Claude Code 2.1.332 resumes no session of which only the enqueue was written, and begins none of that id either.
#[test]
fn a_claude_that_was_ended_before_it_kept_its_first_message_is_told_with_what_to_do() {
    let mut rig = Rig::start("claude");
    let (code, said) = rig.run(&new_words("claude", &[]));
    assert_eq!(code, Some(0), "{said}");
    rig.claude = named(&said);
    rig.reach();
    rig.does("enqueue");
    let words = rig.start_words("claude");
    let words: Vec<&str> = strs(&words).into_iter().filter(|word| *word != "--headless").collect();
    let (code, said) = rig.run(&words);
    assert_eq!(code, Some(0), "{said}");
    // What was written of its queue is given its time before a person is asked.
    let running = rig.begin(&["drive", "--speed", "20"]);
    rig.wait("the pause", || rig.run_record()["paused_reason"].is_string());
    let record = rig.run_record();
    assert_eq!(record["paused_reason"], "delivery_failed", "{record:#}");
    let detail = record["paused_detail"].as_str().unwrap();
    assert!(detail.contains("was ended before it kept its first message"), "{detail}");
    assert!(detail.contains("trellis session new"), "{detail}");
    running.kill();
    let starts = fs::read_to_string(rig.path("starts")).unwrap();
    assert_eq!(starts.matches(rig.claude.split_once(':').unwrap().1).count(), 1, "not tried again: {starts}");
}

#[test]
fn what_the_program_says_against_a_first_message_is_told_and_nothing_is_kept() {
    for agent in ["claude", "codex"] {
        for (does, words) in [("refuse", "not logged in"), ("vanish", "it ended")] {
            let rig = Rig::start("claude");
            rig.does(does);
            let (code, said) = rig.run(&new_words(agent, &["--name", "gone", "--prompt", "Hello"]));
            assert_eq!(code, Some(1), "{does}: {said}");
            assert!(said.contains(&format!("can't start {agent}")) && said.contains(words), "{does}: {said}");
            let (_, listed) = rig.run(&["session", "list"]);
            assert!(!listed.contains("“gone”"), "{listed}");
        }
    }
}

#[test]
fn a_checklist_completes_between_two_sessions_without_panes() {
    for implementer in ["claude", "codex"] {
        let rig = Rig::start(implementer);
        rig.reach();
        let (code, said) = rig.run(&strs(&rig.start_words(implementer)));
        assert_eq!(code, Some(0), "{said}");
        rig.assert_complete(implementer);
    }
}

/// Killed while a process has not yet written anything, and while a turn runs: the process goes on, is found again, and
/// each message stands once.
#[test]
fn a_trellis_killed_inside_a_turn_finds_it_again() {
    for does in ["late", "wait"] {
        let rig = Rig::start("claude");
        rig.reach();
        rig.does(does);
        let first = rig.begin(&strs(&rig.start_words("claude")));
        let started = || fs::read_to_string(rig.path("starts")).unwrap_or_default().lines().count();
        // Two greetings, then the first message of the run.
        rig.wait("the first process", || started() == 3);
        if does == "wait" {
            rig.wait("its turn", || rig.conversation(&rig.claude).is_open());
        }
        first.kill();
        let again = rig.begin(&["drive"]);
        rig.wait("trellis to look again", || rig.run_record()["last_persisted_at"].is_string());
        rig.does("answer");
        fs::write(rig.path("go"), "").unwrap();
        rig.wait("the run's end", || rig.run_record()["stop_reason"].is_string());
        again.kill();
        rig.assert_complete("claude");
    }
}

#[test]
fn an_interrupted_trellis_leaves_the_turn_to_its_end() {
    let rig = Rig::start("codex");
    rig.reach();
    rig.does("wait");
    let mut first = rig.begin(&strs(&rig.start_words("codex")));
    rig.wait("the turn", || rig.conversation(&rig.codex).is_open());
    first.interrupt();
    rig.wait("trellis to end", || first.0.try_wait().unwrap().is_some());
    rig.does("answer");
    fs::write(rig.path("go"), "").unwrap();
    rig.wait("the turn's end", || !rig.conversation(&rig.codex).is_open());
    assert!(rig.conversation(&rig.codex).turns.iter().all(Turn::is_answered), "nothing cut it");
    let again = rig.begin(&["drive"]);
    rig.wait("the run's end", || rig.run_record()["stop_reason"].is_string());
    again.kill();
    rig.assert_complete("codex");
}

#[test]
fn what_the_program_refuses_pauses_the_run_with_its_words() {
    let rig = Rig::start("claude");
    rig.reach();
    rig.does("refuse");
    let running = rig.begin(&strs(&rig.start_words("claude")));
    rig.wait("the pause", || rig.run_record()["paused_reason"] == "delivery_failed");
    let record = rig.run_record();
    assert!(record["paused_detail"].as_str().unwrap().contains("not logged in"), "{record:#}");
    running.kill();
}

#[test]
fn a_closed_session_is_refused_with_the_ways_to_reach_it() {
    let rig = Rig::start("claude");
    let (code, said) = rig.run(&strs(&rig.start_words("claude")));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("trellis session reach {} headless", rig.claude)), "{said}");
    // By the beginning of its id, and back again.
    let short = &rig.claude[..rig.claude.len() - 4];
    let (code, said) = rig.run(&["session", "reach", short, "headless", "--model", "m-1"]);
    assert_eq!((code, said.contains("headless from its next message on")), (Some(0), true), "{said}");
    let (_, said) = rig.run(&["session", "list"]);
    assert!(said.contains("headless · m-1"), "{said}");
    let (code, said) = rig.run(&["session", "reach", &rig.claude, "tmux"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = rig.run(&strs(&rig.start_words("claude")));
    assert_eq!((code, said.contains("is not open")), (Some(1), true), "{said}");
    let (code, said) = rig.run(&["session", "reach", "claude:no-such-session", "headless"]);
    assert_eq!((code, said.contains("no session")), (Some(1), true), "{said}");
}

#[test]
fn the_agents_of_another_user_hold_nothing_up() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: two users are needed, and only the superuser can be both");
        return;
    }
    let rig = Rig::start("claude");
    // Ours here is `nobody`; the superuser's programs may not be looked at by it.
    let nobody = 65534;
    fs::copy(env!("CARGO_BIN_EXE_trellis"), rig.path("bin/trellis")).unwrap();
    fs::copy("/bin/sleep", rig.path("bin/codex-other")).unwrap();
    let mut all = ["bin", "home", "work", "trellis"].map(|name| rig.path(name)).to_vec();
    below(rig.folder.path(), &mut all);
    for path in all.iter().flat_map(|path| path.ancestors()).filter(|path| path.starts_with(rig.folder.path())) {
        chown(path, Some(nobody), Some(nobody)).unwrap();
    }
    let mut others: Vec<Child> = Vec::new();
    let program = rig.path("bin/codex-other");
    others.push(Command::new(&program).arg("600").spawn().unwrap());
    let id = rig.claude.split_once(':').unwrap().1;
    let mut claude = Command::new("bash");
    claude.arg0("claude").args(["-s", "--", "--resume", id]).stdin(Stdio::piped());
    others.push(claude.spawn().unwrap());
    for session in [&rig.codex, &rig.claude] {
        let as_us = rig.command(&["session", "reach", session, "headless"]);
        let mut command = Command::new(rig.path("bin/trellis"));
        command.args(as_us.get_args()).env_clear();
        command.envs(as_us.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.uid(nobody).gid(nobody).current_dir(rig.path("work")).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
    }
    for mut other in others {
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

#[test]
fn a_session_at_work_is_not_given_another_way() {
    let rig = Rig::start("claude");
    rig.does("wait");
    let id = rig.claude.split_once(':').unwrap().1.to_owned();
    fs::write(rig.path("greeting"), "hello").unwrap();
    let mut person = Command::new(rig.path("bin/claude"));
    person.args(["-p", "--resume", &id]).env("HOME", rig.path("home")).current_dir(rig.path("work"));
    let mut person = person.stdin(fs::File::open(rig.path("greeting")).unwrap()).stdout(Stdio::null()).spawn().unwrap();
    rig.wait("its turn", || rig.conversation(&rig.claude).is_open());
    let (code, said) = rig.run(&["session", "reach", &rig.claude, "headless"]);
    assert_eq!((code, said.contains("is open")), (Some(1), true), "{said}");
    fs::write(rig.path("go"), "").unwrap();
    person.wait().unwrap();
    let (code, said) = rig.run(&["session", "reach", &rig.claude, "headless"]);
    assert_eq!(code, Some(0), "{said}");
}
