//! The real Claude Code and Codex without panes: sessions that were closed, run by trellis for each message. What is skipped
//! and when is said in `real_agents`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use trellis::model::ids::{Agent, SessionKey};

use crate::real_agents::install::{self, Part, Skip, told};
use crate::real_agents::rig::{Plan, Rig, checklist};

#[test]
fn codex_builds_claude_reviews_without_panes() {
    told(a_checklist(Part::Small, Agent::Codex));
}

#[test]
fn claude_builds_codex_reviews_without_panes() {
    told(a_checklist(Part::Whole, Agent::Claude));
}

#[test]
fn kills_inside_turns_without_panes_leave_each_message_once() {
    told(killed_inside_turns(Part::Whole, Agent::Claude));
}

#[test]
fn kills_inside_turns_of_codex_without_panes_leave_each_message_once() {
    told(killed_inside_turns(Part::Whole, Agent::Codex));
}

#[test]
fn what_the_real_programs_refuse_is_told() {
    told(refusals(Part::Whole));
}

/// Two closed sessions, implementer first, and where their programs are found.
struct Closed {
    rig: Rig,
    sides: [SessionKey; 2],
    _programs: tempfile::TempDir,
}

impl Closed {
    fn start(part: Part, implementer: Agent, play: Value) -> Result<Self, Skip> {
        part.asked_for()?;
        let programs = install::install()?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        symlink(&programs.claude, folder.path().join("claude")).unwrap();
        symlink(&programs.codex, folder.path().join("codex")).unwrap();
        let mut plan = Plan::of(Vec::new(), play);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.path().display());
        plan.variables.push(("PATH", path));
        let rig = Rig::start(part, plan)?;
        let reviewer = if implementer == Agent::Claude { Agent::Codex } else { Agent::Claude };
        let sides = [(implementer, "implementer"), (reviewer, "reviewer")];
        let sides = sides.map(|(agent, side)| greet(&rig, folder.path(), agent, side));
        let [Some(builds), Some(reviews)] = sides else { return Err(String::from("an agent gave no first answer")) };
        let closed = Self { rig, sides: [builds, reviews], _programs: folder };
        for session in &closed.sides {
            let mode = if session.agent == Agent::Claude { "acceptEdits" } else { "workspace-write" };
            let words = ["session", "reach", &session.to_string(), "headless", "--permission-mode", mode];
            let (code, said) = closed.rig.trellis(&words, Duration::from_mins(1));
            assert_eq!(code, Some(0), "{said}");
        }
        Ok(closed)
    }

    fn start_words(&self) -> Vec<String> {
        let [builds, reviews] = self.sides.clone().map(|side| side.to_string());
        let words = ["run", "start", "--implementer", &builds, "--reviewer", &reviews, "--headless"];
        words.iter().chain(&["--first-phase", "ask"]).map(|word| (*word).to_owned()).collect()
    }

    fn run_record(&self) -> Value {
        self.rig.records().into_iter().find(|record| record["phases"].is_array()).unwrap_or_default()
    }

    /// Relays 3, 1 and 5 and a fourth question; nothing reached a model twice, and the transcripts prove it.
    fn assert_complete(&self) {
        let (rig, record) = (&self.rig, self.run_record());
        let told = rig.told();
        assert_eq!((&record["stop_reason"], &record["phases_done"]), (&json!("completed"), &json!(3)), "{told}");
        assert_eq!(rig.count("implementer", "Implement the next phase"), 4, "{told}");
        assert_eq!(rig.count("implementer", "Feedback:"), 3, "{told}");
        assert_eq!(rig.count("reviewer", "Review the implementer's work"), 6, "{told}");
        assert_eq!(rig.prompts().len(), 4 + 3 + 6 + 2, "and the two greetings, and nothing else: {told}");
        let (code, said) = rig.trellis(&["run", "verify", record["id"].as_str().unwrap()], Duration::from_mins(1));
        assert_eq!(code, Some(0), "{said}\n{told}");
    }
}

/// One turn of an agent by hand, in the test's home; its session.
fn greet(rig: &Rig, programs: &Path, agent: Agent, side: &str) -> Option<SessionKey> {
    let id = format!(
        "{:08x}-0000-4000-8000-{:012x}",
        std::process::id(),
        rig.path("x").to_string_lossy().len() + side.len()
    );
    let (name, mut words) = match agent {
        Agent::Claude => ("claude", vec!["-p", "--session-id", &id]),
        Agent::Codex => ("codex", vec!["exec", "--json"]),
    };
    let prompt = format!("You are the {side}. Reply READY.");
    words.push(&prompt);
    let output = Command::new(programs.join(name))
        .args(&words)
        .env_clear()
        .envs(variables(rig))
        .current_dir(rig.path("repo"))
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{agent}: {:?}", output.status);
    let named = said.lines().find_map(|line| {
        let event: Value = serde_json::from_str(line).ok()?;
        event["thread_id"].as_str().map(str::to_owned)
    });
    let session_id = if agent == Agent::Claude { id } else { named? };
    output.status.success().then(|| SessionKey { agent, session_id: session_id.as_str().into() })
}

/// What stands in the agents' environment.
fn variables(rig: &Rig) -> Vec<(OsString, OsString)> {
    let command = rig.command(&[]);
    command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect()
}

fn strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn a_checklist(part: Part, implementer: Agent) -> Result<(), Skip> {
    let closed = Closed::start(part, implementer, checklist())?;
    let words = closed.start_words();
    let (code, said) = closed.rig.trellis(&strs(&words), Duration::from_mins(10));
    assert_eq!(code, Some(0), "{said}\n{}", closed.rig.told());
    closed.assert_complete();
    Ok(())
}

/// Each side's first answer is held back; trellis is killed while the agent waits for it, and while nobody is there the turn
/// ends. The second time the turn ends only when trellis is back.
fn killed_inside_turns(part: Part, implementer: Agent) -> Result<(), Skip> {
    let mut play = checklist();
    gate(&mut play["sides"]["implementer"], "Implement the next phase", "builds");
    gate(&mut play["sides"]["reviewer"], "Review the implementer's work", "reviews");
    let closed = Closed::start(part, implementer, play)?;
    let rig = &closed.rig;
    let words = closed.start_words();
    let first = rig.begin(&strs(&words));
    rig.wait("the implementer's turn", || rig.count("implementer", "Implement the next phase") == 1);
    drop(first);
    fs::write(rig.path("GATE-builds"), "").unwrap();
    let second = rig.begin(&["drive"]);
    rig.wait("the reviewer's turn", || rig.count("reviewer", "Review the implementer's work") == 1);
    drop(second);
    let third = rig.begin(&["drive"]);
    rig.wait("the entry to be seen", || {
        rig.entries().iter().filter(|entry| entry["state"] == "delivered").count() >= 2
    });
    fs::write(rig.path("GATE-reviews"), "").unwrap();
    let end = std::time::Instant::now() + Duration::from_mins(8);
    while !closed.run_record()["stop_reason"].is_string() {
        assert!(std::time::Instant::now() < end, "{}\n{}", third.said(), rig.told());
        std::thread::park_timeout(Duration::from_millis(200));
    }
    drop(third);
    closed.assert_complete();
    Ok(())
}

/// Lets the first answer of a rule wait for a file.
fn gate(side: &mut Value, rule: &str, name: &str) {
    let rules = side.as_array_mut().unwrap();
    let rule = rules.iter_mut().find(|known| known[0] == rule).unwrap();
    let answer = rule[1][0].take();
    rule[1][0] = match answer {
        Value::Array(mut steps) => {
            steps[0]["gate"] = json!(name);
            Value::Array(steps)
        }
        Value::String(say) => json!([{"say": say, "gate": name}]),
        other => panic!("an answer that is {other}"),
    };
}

/// A mode that Claude refuses as root, and a sandbox that Codex does not know: the run pauses with their words.
fn refusals(part: Part) -> Result<(), Skip> {
    for (implementer, mode, words) in
        [(Agent::Claude, "nonsense", "is invalid"), (Agent::Codex, "nonsense", "invalid value")]
    {
        let closed = Closed::start(part, implementer, checklist())?;
        let rig = &closed.rig;
        let session = closed.sides[0].to_string();
        let order = ["session", "reach", &session, "headless", "--permission-mode", mode];
        let (code, said) = rig.trellis(&order, Duration::from_mins(1));
        assert_eq!(code, Some(0), "{said}");
        let start = closed.start_words();
        let running = rig.begin(&strs(&start));
        rig.wait("the pause", || closed.run_record()["paused_reason"] == "delivery_failed");
        let detail = closed.run_record()["paused_detail"].to_string();
        assert!(detail.contains(words), "{detail}");
        drop(running);
    }
    Ok(())
}
