//! The real Claude Code and Codex started by `trellis session new`, and brought back after their tmux server has died. What is
//! skipped and when is said in `real_agents`.

use std::process::Command;
use std::time::Duration;

use serde_json::json;
use trellis::agent::tmux::dialog;
use trellis::model::ids::Agent::{self, Claude, Codex};
use trellis::model::ids::SessionKey;
use trellis::model::reach::LiveStatus;

use crate::real_agents::cases::one_phase;
use crate::real_agents::install::{Part, Skip, told};
use crate::real_agents::pairs::{relays, verified};
use crate::real_agents::person::Dashboard;
use crate::real_agents::port::Port;
use crate::real_agents::rig::{Plan, Rig};

const REVIEW: &str = "Review the implementer's work";

#[test]
fn agents_started_with_a_message_come_back_in_one_window_after_their_server_died() {
    told(started_and_brought_back());
}

#[test]
fn agents_started_without_a_message_run_to_the_end() {
    told(started_without_a_message());
}

#[test]
fn the_questions_of_a_real_start_are_named_and_wait_for_a_person() {
    told(questions());
}

#[test]
fn sessions_begun_without_a_window_run_to_the_end() {
    told(without_a_window());
}

#[test]
fn what_runs_or_has_no_conversation_is_not_brought_back() {
    told(not_brought_back());
}

/// Orders an agent; what was said last.
fn start(rig: &Rig, agent: Agent, more: &[&str]) -> Result<String, Skip> {
    let socket = rig.path("s").to_string_lossy().into_owned();
    let words = ["--tmux-socket", &socket, "session", "new", "--agent", agent.as_str()];
    let (code, said) = rig.trellis(&[&words, more].concat(), Duration::from_mins(2));
    assert_eq!(code, Some(0), "{said}\n{}", rig.told());
    println!("{said}");
    if said.contains("has not come up yet") {
        return Err(format!("{agent} did not come up: {said}"));
    }
    Ok(said.lines().last().unwrap_or_default().to_owned())
}

/// The session that a start names.
fn named(line: &str) -> SessionKey {
    let (session, _) = line.split_once("  ").unwrap_or_else(|| panic!("no session: {line}"));
    let (agent, id) = session.split_once(':').unwrap();
    let agent = if agent == "claude" { Claude } else { Codex };
    SessionKey { agent, session_id: id.into() }
}

/// Both agents with a first message; the sides in that order.
fn start_both(rig: &mut Rig) -> Result<(), Skip> {
    for (agent, side, mode) in [(Claude, "implementer", "acceptEdits"), (Codex, "reviewer", "workspace-write/never")] {
        let prompt = format!("You are the {side}. Reply READY.");
        let line = start(rig, agent, &["--permission-mode", mode, "--prompt", &prompt])?;
        let pane = if agent == Claude { "%0" } else { "%1" };
        assert!(line.contains(&format!("{agent} is up in {pane}")), "{line}");
        let session = named(&line);
        let seen = rig.wait_for("its first answer", || rig.greeted(agent, pane));
        assert_eq!(seen, session, "{}", rig.told());
        assert_eq!(rig.count(side, &prompt), 1, "{}", rig.told());
        rig.adopt(session);
    }
    Ok(())
}

fn started_and_brought_back() -> Result<(), Skip> {
    let mut play = one_phase();
    // The answer to the first review dies with the server: that prompt goes out again.
    let remark = "One remark: a line is missing.";
    play["sides"]["reviewer"][0][1] = json!([{"say": remark, "gate": "remark"}, remark, "LGTM"]);
    let mut rig = Rig::start(Part::Whole, Plan::of(Vec::new(), play))?;
    start_both(&mut rig)?;
    let sides = [rig.implementer().clone(), rig.reviewer().clone()];
    let run = rig.begin_run(&["--first-phase", "ask", "--set", "debounce=0"]);
    rig.wait("the review", || rig.count("reviewer", REVIEW) == 1);
    rig.tmux(&["kill-server"]);
    let (code, said) = run.finish(Duration::from_mins(2));
    assert_eq!(code, Some(1), "{said}\n{}", rig.told());
    assert_eq!(rig.paused().as_deref(), Some("agent_gone"), "{said}\n{}", rig.told());
    rig.open_gate("remark");
    let person = Dashboard::open(&rig);
    let both = || sides.iter().all(|side| rig.sessions_now().contains(side));
    person.press_until("b", "both agents' return", both);
    let windows: Vec<String> = rig
        .panes()
        .into_iter()
        .filter(|pane| rig.session_in(pane).is_some())
        .map(|pane| rig.tmux(&["display-message", "-p", "-t", &pane, "#{window_id}"]))
        .collect();
    assert_eq!(windows.len(), 2, "{}", rig.told());
    assert_eq!(windows[0], windows[1], "side by side: {}", rig.told());
    if rig.paused().is_some() {
        person.go_on();
    }
    person.completes();
    assert_eq!(rig.count("reviewer", REVIEW), 3, "{}", rig.told());
    assert_eq!(rig.count("implementer", "Implement the next phase"), 2, "{}", rig.told());
    assert_eq!(rig.count("implementer", "Feedback:"), 1, "{}", rig.told());
    is_over(&rig, &[3]);
    Ok(())
}

fn started_without_a_message() -> Result<(), Skip> {
    let mut play = one_phase();
    play["strangers"] = json!({"messages": "implementer", "responses": "reviewer"});
    let mut rig = Rig::start(Part::Whole, Plan::of(Vec::new(), play))?;
    let line = start(&rig, Claude, &["--permission-mode", "acceptEdits"])?;
    assert!(line.contains("claude is up in %0"), "{line}");
    let claude = named(&line);
    let seen = rig.session_in("%0").expect("claude");
    assert_eq!((seen.session, seen.status), (claude.clone(), LiveStatus::Idle));
    let line = start(&rig, Codex, &["--permission-mode", "workspace-write/never", "--name", "second"])?;
    // This Codex opens its thread before its first message, a moment after its box.
    assert!(line.contains("codex is up in %1"), "{line}");
    let codex = rig.wait_for("its thread", || rig.session_in("%1")).session;
    assert!(named(&line) == codex || line.contains("its session begins with its first message"), "{line}");
    assert!(rig.prompts().is_empty(), "nobody was prompted: {}", rig.told());
    rig.adopt(claude);
    rig.adopt(codex);
    let (code, said) = rig.begin_run(&["--first-phase", "ask", "--set", "debounce=0"]).finish(Duration::from_mins(4));
    assert_eq!(code, Some(0), "{said}\n{}", rig.told());
    assert_eq!(rig.count("implementer", "Implement the next phase"), 2, "{}", rig.told());
    is_over(&rig, &[3]);
    let (_, said) = rig.trellis(&["session", "list", "--json"], Duration::from_mins(1));
    println!("{said}");
    assert!(said.contains("second"), "its name went over to it: {said}");
    assert!(!said.contains("starting-"), "{said}");
    Ok(())
}

fn is_over(rig: &Rig, expected: &[u64]) {
    assert_eq!(rig.run()["stop_reason"], "completed", "{}", rig.told());
    assert_eq!(relays(rig), expected, "{}", rig.told());
    verified(rig);
}

/// Each agent alive, and then dead and without its transcript.
fn not_brought_back() -> Result<(), Skip> {
    let rig = Rig::start(Part::Whole, Plan::pair(Claude, Codex))?;
    let mut port = Port::new(&rig);
    let repo = rig.path("repo").to_string_lossy().into_owned();
    // The server outlives its agents, with its variables.
    let kept = rig.open_window(&[String::from("cat")]);
    for (session, pane) in [(rig.implementer(), "%0"), (rig.reviewer(), "%1")] {
        let told = port.bring_back(session, &repo).unwrap_err();
        assert!(told.contains(&format!("{} runs already on this session", session.agent)), "{told}");
        rig.kill_agent(pane);
        rig.wait("its end", || !rig.panes().iter().any(|known| known == pane));
        std::fs::remove_file(rig.transcript_path(session).unwrap()).unwrap();
        let told = port.bring_back(session, &repo).unwrap_err();
        println!("{told}");
        assert!(told.contains("has no such conversation any more, trying again is of no use"), "{told}");
    }
    assert_eq!(rig.panes(), [kept], "nothing else was opened, and no pane is left");
    assert!(rig.sessions_now().is_empty());
    Ok(())
}

/// Claude with its first message and Codex with its, and then a Claude whose first message is the run's own.
fn without_a_window() -> Result<(), Skip> {
    let mut play = one_phase();
    play["strangers"] = json!({"messages": "implementer", "responses": "reviewer"});
    let rig = Rig::start(Part::Whole, Plan::of(Vec::new(), play))?;
    let new = |agent: Agent, more: &[&str]| start(&rig, agent, &[&["--transport", "headless"], more].concat());
    let begin = |agent: Agent, side: &str, mode: &str| {
        let prompt = format!("You are the {side}. Reply READY.");
        let line = new(agent, &["--permission-mode", mode, "--prompt", &prompt])?;
        assert!(line.ends_with(&format!("{agent} has its first message, without a window")), "{line}");
        rig.wait("its first answer", || rig.transcript(&named(&line)).contains("READY\""));
        assert_eq!(rig.count(side, &prompt), 1, "{}", rig.told());
        Ok::<_, Skip>(named(&line))
    };
    let codex = begin(Codex, "reviewer", "workspace-write")?;
    let claude = begin(Claude, "implementer", "acceptEdits")?;
    let kept = new(Claude, &["--permission-mode", "acceptEdits"])?;
    assert!(kept.contains("is kept: its first message starts it, without a window"), "{kept}");
    // The second run finds nothing left to do: the play is over.
    for (builds, asked) in [(claude, 2), (named(&kept), 3)] {
        let words = ["run", "start", "--implementer", &builds.to_string(), "--reviewer", &codex.to_string()];
        let more = ["--headless", "--first-phase", "ask", "--set", "debounce=0"];
        let (code, said) = rig.trellis(&[&words[..], &more].concat(), Duration::from_mins(4));
        assert_eq!(code, Some(0), "{said}\n{}", rig.told());
        assert_eq!(rig.count("implementer", "Implement the next phase"), asked, "{}", rig.told());
        assert_eq!(rig.run()["stop_reason"], "completed", "{}", rig.told());
        verified(&rig);
    }
    assert!(rig.panes().is_empty());
    Ok(())
}

/// Each agent in a folder that it has never seen; then each without a way to its model.
fn questions() -> Result<(), Skip> {
    let rig = Rig::start(Part::Whole, Plan::of(Vec::new(), one_phase()))?;
    for (agent, side, pane) in [(Claude, "implementer", "%0"), (Codex, "reviewer", "%1")] {
        let folder = rig.path(&format!("fresh-{agent}"));
        std::fs::create_dir(&folder).unwrap();
        let made = Command::new("git").arg("-C").arg(&folder).args(["init", "-q"]).status().unwrap();
        assert!(made.success());
        let prompt = format!("You are the {side}. Reply READY.");
        let folder = folder.to_string_lossy().into_owned();
        let line = start(&rig, agent, &["--worktree", &folder, "--prompt", &prompt])?;
        let wanted = format!("{agent} waits for you in {pane}: its question whether to trust the folder");
        assert!(line.contains(&wanted), "{line}\n{}", rig.told());
        println!("{}", rig.screen(pane));
        let asks = |rig: &Rig| rig.screen(pane).contains("trust");
        rig.stays("the question", Duration::from_secs(4), || {
            asks(&rig) && rig.prompts().len() <= usize::from(agent == Codex)
        });
        if agent == Claude {
            rig.press(pane, "Down");
            rig.wait("the other answer", || rig.screen(pane).contains("❯ Yes"));
        }
        rig.press(pane, "Enter");
        let session = rig.wait_for("its first answer", || rig.greeted(agent, pane));
        assert_eq!(rig.count(side, &prompt), 1, "{}", rig.told());
        if agent == Claude {
            assert_eq!(session, named(&line));
        }
    }
    // Homes that know nothing of the person: which key, which account.
    let key = rig.path("key");
    let account = rig.path("account");
    for home in [&key, &account] {
        std::fs::create_dir(home).unwrap();
    }
    let settings = json!({"hasCompletedOnboarding": true, "projects": {&*rig.path("repo").to_string_lossy(): {"hasTrustDialogAccepted": true}}});
    std::fs::write(key.join(".claude.json"), settings.to_string()).unwrap();
    let port = std::fs::read_to_string(rig.path("port")).unwrap();
    let config =
        format!("chatgpt_base_url = \"http://127.0.0.1:{port}\"\n[tui]\nscreen_reader_detection_done = true\n");
    std::fs::write(account.join("config.toml"), config).unwrap();
    for (agent, variable, home, pane, asks) in [
        (Claude, "CLAUDE_CONFIG_DIR", &key, "%2", "its question whether to use the API key it found"),
        (Codex, "CODEX_HOME", &account, "%3", "its question how to sign in"),
    ] {
        let socket = rig.path("s").to_string_lossy().into_owned();
        let words = ["--tmux-socket", &socket, "session", "new", "--agent", agent.as_str()];
        let output = rig.command(&words).env(variable, home).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        println!("{said}\n{}", rig.screen(pane));
        assert!(said.contains(&format!("{agent} waits for you in {pane}: {asks}")), "{said}\n{}", rig.told());
        rig.stays("the question", Duration::from_secs(4), || dialog::find(agent, &rig.screen(pane)).is_some());
    }
    Ok(())
}
