//! Finding agents in panes: idle or not, gone over to another session, of another home.

use std::process::Command;

use trellis::agent::Settings;
use trellis::agent::claude::ClaudeSession;
use trellis::agent::codex::CodexSession;
use trellis::model::ids::{Agent, SessionId};
use trellis::model::reach::{InputBox, LiveStatus, ProcessFact, ProcessMark};

use super::rig::{Rig, SESSION};

fn session() -> ClaudeSession {
    ClaudeSession::new(SessionId::new(SESSION))
}

/// I5: a pane that repaints a clock all the time says nothing; the agent's own word and its transcript do.
#[test]
fn i5_a_pane_that_repaints_all_the_time_is_idle() {
    let Some(rig) = Rig::start(&["--clock"]) else { return };
    let shown = || rig.tmux(&["capture-pane", "-p", "-t", "%0"]);
    let before = shown();
    rig.wait("the clock to move", || shown() != before);
    let reach = session().probe(&rig.settings(), None);
    assert_eq!((reach.status, reach.input), (LiveStatus::Idle, InputBox::Empty));
    assert_eq!(reach.ticks.missing(), None, "{:?}", reach.ticks);
}

/// The status file of the fake agent, with the session that it names changed.
fn clear(rig: &Rig, id: &str) {
    let folder = rig.home().join("sessions");
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let mut status: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    status["sessionId"] = id.into();
    std::fs::write(&file, status.to_string()).unwrap();
}

/// T17: `/clear` while trellis was not running: the process that was kept proves it, and without it nothing is claimed.
#[test]
fn t17_a_clear_is_proven_after_a_restart_too() {
    let Some(rig) = Rig::start(&[]) else { return };
    let before = session().probe(&rig.settings(), None);
    let mark = before.seen.expect("the process is told");
    assert_eq!(before.sign.unwrap().source, format!("sessions/{}.json: idle", mark.pid));
    clear(&rig, "22222222-2222-4333-8444-555555555555");
    let mut after = session();
    after.remember(Some(&mark));
    let reach = after.probe(&rig.settings(), None);
    let (id, proof) = reach.replaced_by.expect("proven");
    assert_eq!(id.as_str(), "22222222-2222-4333-8444-555555555555");
    assert!(proof.contains(&mark.pid.to_string()), "{proof}");
    assert_eq!(after.send(&rig.settings(), &Rig::delivery("for the old one")).last_key_at, None);
    // A process of the same pid that was started at another time proves nothing.
    for other in [
        None,
        Some(ProcessMark { start_mark: "1".to_owned(), ..mark.clone() }),
        Some(ProcessMark { started_at: Some(jiff::Timestamp::UNIX_EPOCH), ..mark.clone() }),
    ] {
        let mut unknown = session();
        unknown.remember(other.as_ref());
        let reach = unknown.probe(&rig.settings(), None);
        assert_eq!((reach.replaced_by, reach.process), (None, ProcessFact::Dead), "{other:?}");
    }
}

/// An agent that works for another folder of Claude is not ours, whatever its words name.
#[test]
fn an_agent_of_another_home_is_not_ours() {
    let Some(rig) = Rig::start(&[]) else { return };
    let elsewhere = Settings { claude_home: rig.panes.folder.path().join("other"), ..rig.settings() };
    let reach = session().probe(&elsewhere, None);
    assert_eq!((reach.process, reach.transport), (ProcessFact::Dead, None));
    assert!(trellis::agent::live::discover(&elsewhere).iter().all(|live| live.session.agent != Agent::Claude));
}

/// After `/new` a Codex goes on holding the thread it left. What its pane shows is told by the title.
#[test]
fn t17_a_codex_that_went_over_to_a_new_thread_is_found_out_by_its_title() {
    const HOLD: &str = "import os,sys,time\nheld={}\nwhile True:\n  for top,_,names in os.walk(sys.argv[1]):\n    \
        for n in names:\n      p=os.path.join(top,n)\n      if p not in held and n.endswith(('.lock','.jsonl')): held[p]=open(p,'a')\n  time.sleep(0.02)";
    let Some(rig) = Rig::start(&[]) else { return };
    let home = rig.panes.folder.path().join("codex-home");
    let threads = home.join("sessions/2026/11/30");
    let locks = home.join("thread-writer-locks");
    std::fs::create_dir_all(&threads).unwrap();
    std::fs::create_dir_all(&locks).unwrap();
    std::fs::write(home.join("session_index.jsonl"), "{\"id\":\"01a2-old\",\"thread_name\":\"First words\"}\n")
        .unwrap();
    std::fs::write(locks.join("01a2-old.lock"), "").unwrap();
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let program = rig.panes.folder.path().join("codex");
    std::os::unix::fs::symlink(String::from_utf8_lossy(&python.stdout).trim(), &program).unwrap();
    let place = rig.panes.folder.path().to_str().unwrap();
    let words = [program.to_str().unwrap(), "-c", HOLD, home.to_str().unwrap()];
    rig.tmux(&[&["split-window", "-d", "-c", place, "--"], &words[..]].concat());
    let folder = rig.panes.folder.path().canonicalize().unwrap();
    let folder = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let title = |name: &str| rig.tmux(&["select-pane", "-t", "%1", "-T", name]);
    title(&format!("First words | {folder}"));

    let settings = Settings { codex_home: home.clone(), ..rig.settings() };
    let mut session = CodexSession::new(SessionId::new("01a2-old"));
    rig.wait("the thread to be held", || {
        let reach = session.probe(&settings, None);
        matches!(reach.process, ProcessFact::Alive { .. }) && reach.seen.is_some() && reach.replaced_by.is_none()
    });
    assert_eq!(session.probe(&settings, None).place, "%1");
    std::fs::write(locks.join("01a2-new.lock"), "").unwrap();
    title(&folder);
    // Nothing is remembered: the process itself holds both.
    let mut started_anew = CodexSession::new(SessionId::new("01a2-old"));
    rig.wait("the new thread", || started_anew.probe(&settings, None).replaced_by.is_some());
    let (id, proof) = started_anew.probe(&settings, None).replaced_by.unwrap();
    assert_eq!(id.as_str(), "01a2-new");
    assert!(proof.starts_with("pane %1 of codex's pid"), "{proof}");
    assert_eq!(started_anew.send(&settings, &Rig::delivery("unseen")).last_key_at, None);
    // A title that says nothing proves nothing; and one that went back is back.
    title("mine");
    assert_eq!(started_anew.probe(&settings, None).replaced_by, None);
    title(&format!("First words | {folder}"));
    assert_eq!(started_anew.probe(&settings, None).replaced_by, None);
    // Another Codex folder's processes are not looked at.
    let elsewhere = Settings { codex_home: rig.panes.folder.path().join("none"), ..settings };
    let reach = CodexSession::new(SessionId::new("01a2-old")).probe(&elsewhere, None);
    assert_eq!(reach.process, ProcessFact::Dead);
}
