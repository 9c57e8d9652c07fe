//! Sending into panes: small programs that draw an agent's input box and misbehave, in a tmux server of the test's own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use trellis::agent::Settings;
use trellis::agent::claude::ClaudeSession;
use trellis::agent::codex::CodexSession;
use trellis::agent::tmux::typing::{Moment, Typing};
use trellis::agent::tmux::{Pane, PaneId, Pressed, Server, Whereabouts};
use trellis::machine::Delivery;
use trellis::model::ids::{Agent, EntryId, SessionId, SessionKey};
use trellis::model::reach::{
    InFlight, InputBox, LiveStatus, OnItsWay, ProcessFact, ProcessMark, SendReport, Tick, Transport,
};
use trellis::model::text::fold;

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// A tmux server of its own with one fake agent in its first pane; both end with the test.
struct Rig {
    folder: tempfile::TempDir,
    socket: PathBuf,
}

impl Rig {
    /// `None`, with a printed reason, where the machine has no tmux or no python3.
    fn start(options: &[&str]) -> Option<Self> {
        for program in ["tmux", "python3"] {
            let found = Command::new(program).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
            if found.is_err() {
                println!("skipped: {program} is not installed");
                return None;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let rig = Self { socket: folder.path().join("s"), folder };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_cli/agent.py");
        let (home, log) = (rig.home(), rig.log());
        let mut words = vec!["python3", script, "--home", home.to_str().unwrap(), "--session", SESSION, "--log", &log];
        words.extend(options);
        rig.open(&words);
        rig.wait("the fake agent to draw", || {
            let shown = rig.tmux(&["capture-pane", "-p", "-t", "%0"]);
            shown.contains('❯') || shown.contains('›') || shown.contains('│')
        });
        Some(rig)
    }

    fn open(&self, words: &[&str]) {
        let mut all =
            vec!["new-session", "-d", "-x", "100", "-y", "60", "-c", self.folder.path().to_str().unwrap(), "--"];
        all.extend(words);
        self.tmux(&all);
    }

    fn tmux(&self, words: &[&str]) -> String {
        // A plain locale: nothing may depend on the one that the server was started in.
        let mut command = Command::new("tmux");
        command.env("LC_ALL", "C.UTF-8").env_remove("TMUX").arg("-S").arg(&self.socket).args(["-f", "/dev/null"]);
        let output = command.args(words).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("claude")
    }

    fn log(&self) -> String {
        self.folder.path().join("log").to_string_lossy().into_owned()
    }

    /// What the agent was given, message by message.
    fn submitted(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn settings(&self) -> Settings {
        let tmux = Whereabouts { named: Some(self.socket.to_string_lossy().into_owned()), ..Whereabouts::default() };
        Settings { claude_home: self.home(), tmux, message_file_above: 65_536, ..Settings::default() }
    }

    fn pane(&self) -> Pane {
        Server::at(&self.socket).pane(&PaneId::new("%0").unwrap()).unwrap()
    }

    fn send(&self, text: &str) -> SendReport {
        session().send(&self.settings(), &self.delivery(text))
    }

    fn delivery(&self, text: &str) -> Delivery {
        Delivery {
            entry: EntryId::new("p.1"),
            session: SessionKey { agent: Agent::Claude, session_id: SessionId::new(SESSION) },
            text: text.into(),
            prompt_bytes: 0,
            attempt: 1,
            allow_unknown_box: false,
            file_folder: self.folder.path().join("files").to_string_lossy().into_owned(),
        }
    }

    fn wait(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !holds() {
            assert!(
                Instant::now() < end,
                "waited in vain for {what}:\n{}",
                self.tmux(&["capture-pane", "-p", "-t", "%0"])
            );
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }

    fn arrives_once(&self, text: &str) {
        self.wait("the message", || !self.submitted().is_empty());
        let got = self.submitted();
        assert_eq!(got.len(), 1, "{got:?}");
        assert_eq!(fold(&got[0]), fold(text));
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn session() -> ClaudeSession {
    ClaudeSession::new(SessionId::new(SESSION))
}

fn forty_lines() -> String {
    let mut lines =
        vec!["Findings:", "", "```rust", "fn main() {", "    println!(\"日本語\");", "}", "```", "- one", "* two", ""];
    lines.extend(["a line of the answer"; 30]);
    lines.join("\n")
}

fn entered(report: &SendReport) {
    assert_eq!(report.stopped, None);
    assert!(report.entered && report.last_key_at.is_some());
}

#[test]
fn d1_forty_lines_arrive_as_one_message() {
    let Some(rig) = Rig::start(&["--clock"]) else { return };
    entered(&rig.send(&forty_lines()));
    rig.arrives_once(&forty_lines());
}

#[test]
fn d3_enter_comes_late_enough_for_an_agent_that_takes_an_early_one_for_a_line_feed() {
    let Some(rig) = Rig::start(&["--codex", "--newline-within", "120"]) else { return };
    let pane = rig.pane();
    let typing = Typing { pane: &pane, agent: Agent::Codex, check: &|_: Moment| Ok(()) };
    entered(&typing.send(&[forty_lines()], false));
    rig.arrives_once(&forty_lines());
}

#[test]
fn d5_a_slow_agent_gets_the_message_once_and_no_ctrl_c() {
    let signal = tempfile::tempdir().unwrap();
    let file = signal.path().join("draw");
    let Some(rig) = Rig::start(&["--draw-when", file.to_str().unwrap()]) else { return };
    let mut session = session();
    let report = session.send(&rig.settings(), &rig.delivery("slowly now"));
    assert!(report.last_key_at.is_some() && !report.entered, "Enter is pressed only on a text that is seen");
    std::fs::write(file, "").unwrap();
    let entry = InFlight { text: "slowly now".into(), ..InFlight::default() };
    rig.wait("our own text", || session.probe(&rig.settings(), Some(&entry)).input == InputBox::Ours);
    entered(&session.press_enter(&rig.settings(), &rig.delivery("slowly now")));
    rig.arrives_once("slowly now");
}

#[test]
fn d9_half_a_sentence_of_a_person_holds_the_message_until_the_box_is_empty() {
    let Some(rig) = Rig::start(&[]) else { return };
    rig.tmux(&["send-keys", "-t", "%0", "-l", "only after the tests"]);
    rig.tmux(&["send-keys", "-t", "%0", "Home"]);
    let seen = || session().probe(&rig.settings(), None);
    rig.wait("the half sentence", || seen().input == InputBox::Other);
    assert!(matches!(&seen().ticks.box_empty, Tick::Missing(why) if why.contains("unsent text")));
    let report = rig.send("a relay");
    assert_eq!(report.last_key_at, None, "nothing was typed");
    assert_eq!(report.stopped.as_deref(), Some("unsent text in claude's input box"));
    rig.tmux(&["send-keys", "-t", "%0", "C-u"]);
    rig.wait("the empty box", || seen().input == InputBox::Empty);
    entered(&rig.send("a relay"));
    rig.arrives_once("a relay");
}

#[test]
fn d13_an_end_of_paste_inside_the_message_ends_nothing() {
    let Some(rig) = Rig::start(&[]) else { return };
    let text = "before\u{1b}[201~\nrm -rf x\u{1b}]0;t\u{7}\tafter";
    entered(&rig.send(text));
    rig.arrives_once("before[201~\nrm -rf x]0;t\tafter");
}

#[test]
fn d15_what_looks_like_a_command_arrives_as_text() {
    let Some(rig) = Rig::start(&[]) else { return };
    let texts = ["/clear the cache first", "!important", "# Findings", "@src/a.rs is wrong", "ends in a \\"];
    for (at, text) in texts.into_iter().enumerate() {
        entered(&rig.send(text));
        rig.wait("the message", || rig.submitted().len() > at);
        let got = &rig.submitted()[at];
        assert!(fold(got).ends_with(&fold(text)));
        assert!(!got.starts_with(['/', '!', '#', '@']) && !got.ends_with('\\'), "{got}");
    }
}

#[test]
fn d17_after_a_restart_of_the_server_nothing_goes_to_the_pane_of_the_same_number() {
    let Some(rig) = Rig::start(&[]) else { return };
    let pane = rig.pane();
    let mut session = session();
    let before = session.probe(&rig.settings(), None);
    assert!(matches!(before.process, ProcessFact::Alive { .. }));
    assert_eq!((before.transport, before.place.as_str()), (Some(Transport::Tmux), "%0"));
    rig.tmux(&["kill-server"]);
    rig.wait("the server to end", || Server::at(&rig.socket).panes().is_err());
    rig.open(&["cat"]);
    rig.wait("the new server", || Server::at(&rig.socket).panes().is_ok());
    assert_ne!(pane.paste("trellis-test", "typed into a stranger").unwrap_or(Pressed::Refused), Pressed::Done);
    assert_ne!(pane.enter().unwrap_or(Pressed::Refused), Pressed::Done);
    let typing = Typing { pane: &pane, agent: Agent::Claude, check: &|_: Moment| Ok(()) };
    assert_eq!(typing.send(&[String::from("typed into a stranger")], true).last_key_at, None);
    assert!(!rig.tmux(&["capture-pane", "-p", "-t", "%0"]).contains("stranger"));
    assert_eq!(rig.tmux(&["list-buffers"]), "", "no text is left in a buffer");
    rig.wait("the agent's end", || session.probe(&rig.settings(), None).process == ProcessFact::Dead);
    let after = session.probe(&rig.settings(), None);
    assert!(matches!(after.ticks.alive, Tick::Missing(_)));
    assert_eq!(after.transport, None);
    assert!(session.send(&rig.settings(), &rig.delivery("x")).stopped.is_some());
}

#[test]
fn d19_a_pane_that_is_not_there_is_an_error_and_never_another_one() {
    let Some(rig) = Rig::start(&[]) else { return };
    assert!(Server::at(&rig.socket).pane(&PaneId::new("%9999").unwrap()).is_err());
    let gone = Pane { id: PaneId::new("%9999").unwrap(), ..rig.pane() };
    assert_ne!(gone.paste("trellis-test", "astray").unwrap_or(Pressed::Refused), Pressed::Done);
    assert_ne!(gone.enter().unwrap_or(Pressed::Refused), Pressed::Done);
    assert!(rig.submitted().is_empty());
    assert_eq!(session().probe(&rig.settings(), None).input, InputBox::Empty);
}

#[test]
fn d21_keys_that_are_not_taken_do_not_matter() {
    let Some(rig) = Rig::start(&["--ignore-typed"]) else { return };
    entered(&rig.send("through a paste"));
    rig.arrives_once("through a paste");
}

#[test]
fn d25_signs_and_titles_are_read_whatever_the_locale() {
    let Some(rig) = Rig::start(&["--title", "会話 ❯ titel"]) else { return };
    rig.wait("the title", || rig.pane().title.starts_with("会話"));
    assert_eq!(rig.pane().title, "会話 ❯ titel");
    assert_eq!(session().probe(&rig.settings(), None).input, InputBox::Empty);
}

#[test]
fn copy_mode_is_left_before_the_first_key_and_before_enter() {
    let Some(rig) = Rig::start(&[]) else { return };
    rig.tmux(&["copy-mode", "-t", "%0"]);
    assert_eq!(session().probe(&rig.settings(), None).ticks.not_scrolled, Tick::Holds, "trellis leaves it itself");
    entered(&rig.send("scrolled"));
    rig.arrives_once("scrolled");

    let Some(rig) = Rig::start(&["--on-paste", "copy-mode"]) else { return };
    entered(&rig.send("scrolled between"));
    rig.arrives_once("scrolled between");
}

#[test]
fn a_chooser_of_tmux_is_not_closed_for_the_person() {
    let Some(rig) = Rig::start(&[]) else { return };
    rig.tmux(&["choose-tree", "-t", "%0"]);
    assert!(matches!(session().probe(&rig.settings(), None).ticks.not_scrolled, Tick::Missing(_)));
    assert_eq!(rig.send("x").last_key_at, None);
}

#[test]
fn a_dialog_gets_no_key_also_when_it_opens_between_paste_and_enter() {
    let Some(rig) = Rig::start(&["--on-paste", "dialog"]) else { return };
    let report = rig.send("at the worst moment");
    assert!(!report.entered, "{report:?}");
    let reach = session().probe(&rig.settings(), None);
    assert_eq!(reach.status, LiveStatus::Waiting { what: String::from("permission prompt") });
    assert!(matches!(reach.ticks.no_dialog, Tick::Missing(_)));
    assert_eq!(rig.send("again").last_key_at, None);
    assert!(rig.submitted().is_empty(), "nothing was approved: {:?}", rig.submitted());
}

#[test]
fn a_lost_enter_is_pressed_again_alone_and_only_on_our_own_text() {
    let Some(rig) = Rig::start(&["--drop-enters", "1"]) else { return };
    let mut session = session();
    entered(&session.send(&rig.settings(), &rig.delivery("lost once")));
    let entry = InFlight { text: "lost once".into(), ..InFlight::default() };
    let seen = session.probe(&rig.settings(), Some(&entry));
    assert_eq!((seen.input, seen.on_its_way), (InputBox::Ours, OnItsWay::No));
    rig.tmux(&["send-keys", "-t", "%0", "-l", " and mine"]);
    rig.wait("the added words", || session.probe(&rig.settings(), Some(&entry)).input == InputBox::Other);
    assert!(!session.press_enter(&rig.settings(), &rig.delivery("lost once")).entered);
    rig.tmux(&["send-keys", "-t", "%0", "C-u"]);
    rig.wait("the empty box", || session.probe(&rig.settings(), Some(&entry)).input == InputBox::Empty);
    entered(&session.send(&rig.settings(), &rig.delivery("lost once")));
    rig.arrives_once("lost once");
}

#[test]
fn a_box_that_nobody_knows_holds_the_message_unless_a_person_allowed_it() {
    let Some(rig) = Rig::start(&["--no-box"]) else { return };
    assert_eq!(session().probe(&rig.settings(), None).input, InputBox::Unknown);
    assert_eq!(rig.send("x").last_key_at, None);
    let allowed = Delivery { allow_unknown_box: true, ..rig.delivery("allowed") };
    entered(&session().send(&rig.settings(), &allowed));
    rig.arrives_once("allowed");
}

#[test]
fn panes_that_share_their_keys_get_none() {
    let Some(rig) = Rig::start(&[]) else { return };
    rig.tmux(&["split-window", "-t", "%0", "cat"]);
    rig.tmux(&["set-option", "-w", "-t", "%0", "synchronize-panes", "on"]);
    let reach = session().probe(&rig.settings(), None);
    assert!(matches!(&reach.ticks.pane, Tick::Missing(why) if why.contains("all panes")));
    assert_eq!(rig.send("x").last_key_at, None);
}

#[test]
fn an_agent_that_ends_after_the_paste_leaves_no_enter_to_what_comes_after_it() {
    let Some(rig) = Rig::start(&["--on-paste", "exit"]) else { return };
    rig.tmux(&["split-window", "-t", "%0", "cat"]);
    let report = rig.send("into nothing");
    assert!(!report.entered);
    assert!(report.stopped.is_some());
}

#[test]
fn a_session_that_went_over_to_another_is_named_with_its_proof() {
    let Some(rig) = Rig::start(&[]) else { return };
    let mut session = session();
    session.probe(&rig.settings(), None);
    let status = only_file(&rig.home().join("sessions"));
    let text = std::fs::read_to_string(&status).unwrap().replace(SESSION, "another");
    std::fs::write(&status, text).unwrap();
    let reach = session.probe(&rig.settings(), None);
    let (id, proof) = reach.replaced_by.unwrap();
    assert_eq!(id, SessionId::new("another"));
    assert!(proof.contains("status file"));
    assert_eq!(session.send(&rig.settings(), &rig.delivery("x")).last_key_at, None);
}

fn only_file(folder: &Path) -> PathBuf {
    std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
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
    assert_eq!(after.send(&rig.settings(), &rig.delivery("for the old one")).last_key_at, None);
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
    let elsewhere = Settings { claude_home: rig.folder.path().join("other"), ..rig.settings() };
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
    let home = rig.folder.path().join("codex-home");
    let threads = home.join("sessions/2026/11/30");
    let locks = home.join("thread-writer-locks");
    std::fs::create_dir_all(&threads).unwrap();
    std::fs::create_dir_all(&locks).unwrap();
    std::fs::write(home.join("session_index.jsonl"), "{\"id\":\"01a2-old\",\"thread_name\":\"First words\"}\n")
        .unwrap();
    std::fs::write(locks.join("01a2-old.lock"), "").unwrap();
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let program = rig.folder.path().join("codex");
    std::os::unix::fs::symlink(String::from_utf8_lossy(&python.stdout).trim(), &program).unwrap();
    let place = rig.folder.path().to_str().unwrap();
    let words = [program.to_str().unwrap(), "-c", HOLD, home.to_str().unwrap()];
    rig.tmux(&[&["split-window", "-d", "-c", place, "--"], &words[..]].concat());
    let folder = rig.folder.path().canonicalize().unwrap();
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
    assert_eq!(started_anew.send(&settings, &rig.delivery("unseen")).last_key_at, None);
    // A title that says nothing proves nothing; and one that went back is back.
    title("mine");
    assert_eq!(started_anew.probe(&settings, None).replaced_by, None);
    title(&format!("First words | {folder}"));
    assert_eq!(started_anew.probe(&settings, None).replaced_by, None);
    // Another Codex folder's processes are not looked at.
    let elsewhere = Settings { codex_home: rig.folder.path().join("none"), ..settings };
    let reach = CodexSession::new(SessionId::new("01a2-old")).probe(&elsewhere, None);
    assert_eq!(reach.process, ProcessFact::Dead);
}
