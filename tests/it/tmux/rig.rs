//! A tmux server of a test's own with fake agents in its panes, and what they were given. No rule is checked here.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use trellis::agent::Settings;
use trellis::agent::claude::ClaudeSession;
use trellis::agent::tmux::{Pane, PaneId, Server, Whereabouts};
use trellis::machine::Delivery;
use trellis::model::ids::{Agent, EntryId, SessionId, SessionKey};
use trellis::model::reach::SendReport;
use trellis::model::text::fold;

/// The session of the agent in the first pane.
pub const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// Waits that end as soon as what they wait for holds; only a broken promise lets them run out.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Whether the machine has what the fakes need; a missing program is printed.
pub fn can_run() -> bool {
    ["tmux", "python3"].into_iter().all(|program| {
        let found = Command::new(program).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
        if !found {
            println!("skipped: {program} is not installed");
        }
        found
    })
}

/// Looks until something holds.
#[track_caller]
pub fn until(mut holds: impl FnMut() -> bool, otherwise: impl Fn() -> String) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{}", otherwise());
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// A tmux server in a folder of its own; it ends with the test.
pub struct Panes {
    pub folder: tempfile::TempDir,
}

impl Panes {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    pub fn tmux(&self, words: &[&str]) -> String {
        // A plain locale: nothing may depend on the one that the server was started in.
        let mut command = Command::new("tmux");
        command.env("LC_ALL", "C.UTF-8").env_remove("TMUX").arg("-S").arg(self.socket()).args(["-f", "/dev/null"]);
        let output = command.args(words).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Opens a session that runs a program; gives its pane. A server that is about to end may still take the order and
    /// answer nothing: then it is given again.
    pub fn open(&self, words: &[&str]) -> String {
        let folder = self.folder.path().to_str().unwrap();
        let mut all = vec!["new-session", "-d", "-P", "-F", "#{pane_id}", "-x", "100", "-y", "60", "-c", folder, "--"];
        all.extend(words);
        let mut pane = String::new();
        let mut opened = || {
            self.tmux(&all).trim().clone_into(&mut pane);
            !pane.is_empty()
        };
        until(&mut opened, || format!("tmux opened nothing for {words:?}"));
        pane
    }

    pub fn shown(&self, pane: &str) -> String {
        self.tmux(&["capture-pane", "-p", "-t", pane])
    }
}

impl Drop for Panes {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// One fake agent, as a person has it open.
pub struct Fake {
    pub agent: Agent,
    /// What it was given, and what else happened to it.
    pub log: PathBuf,
    /// Files in it act while they are there.
    pub control: PathBuf,
    pub pane: String,
}

impl Fake {
    /// Opens it in a pane and waits until it has drawn its box.
    pub fn open(panes: &Panes, agent: Agent, session: &str, options: &[&str]) -> Self {
        let words = Self::words(panes, agent, session, options);
        let pane = panes.open(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let fake = Self { pane, ..Self::named(panes, agent, session) };
        until(
            || {
                let shown = panes.shown(&fake.pane);
                shown.contains('❯') || shown.contains('›') || shown.contains('│')
            },
            || format!("the fake agent did not draw:\n{}", panes.shown(&fake.pane)),
        );
        fake
    }

    /// Opens it in a terminal that belongs to no tmux.
    pub fn open_elsewhere(panes: &Panes, agent: Agent, session: &str, options: &[&str]) -> (Self, Elsewhere) {
        let words = Self::words(panes, agent, session, &[&["--in-pty"], options].concat());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env_remove("TMUX").env_remove("TMUX_PANE").current_dir(panes.folder.path());
        let terminal = Elsewhere(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap());
        // It draws where nobody looks; its status file comes last before that.
        let sessions = panes.folder.path().join("claude/sessions");
        let names = || std::fs::read_dir(&sessions).into_iter().flatten().filter_map(|file| Some(file.ok()?.path()));
        let is_up = || names().any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains(session)));
        until(is_up, || String::from("the fake agent did not start"));
        (Self::named(panes, agent, session), terminal)
    }

    /// A person pastes and presses Enter, in a terminal that belongs to no tmux.
    pub fn paste(&self, text: &str) {
        let half = self.control.join("half");
        std::fs::write(&half, format!("\u{1b}[200~{text}\u{1b}[201~\r")).unwrap();
        std::fs::rename(half, self.control.join("keys")).unwrap();
    }

    /// Where it keeps its things; it is not opened.
    pub fn named(panes: &Panes, agent: Agent, session: &str) -> Self {
        let folder = panes.folder.path();
        let control = folder.join(format!("control-{session}"));
        std::fs::create_dir_all(&control).unwrap();
        let log = folder.join(format!("log-{session}"));
        Self { agent, log, control, pane: String::new() }
    }

    /// Program and arguments.
    pub fn words(panes: &Panes, agent: Agent, session: &str, options: &[&str]) -> Vec<String> {
        let fake = Self::named(panes, agent, session);
        let folder = panes.folder.path();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_cli/agent.py");
        let (program, transcript) = match agent {
            Agent::Claude => ("python3".to_owned(), folder.join(format!("claude/projects/fake/{session}.jsonl"))),
            Agent::Codex => {
                // Codex is known by its program's name.
                let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
                let python = String::from_utf8(python.unwrap().stdout).unwrap();
                let link = folder.join("codex-fake");
                let _ = std::os::unix::fs::symlink(python.trim(), &link);
                let name = format!("codex/sessions/2026/11/30/rollout-2026-11-30T12-00-00-{session}.jsonl");
                (link.display().to_string(), folder.join(name))
            }
        };
        let mut words = vec![program, script.to_owned()];
        let home = folder.join("claude");
        for (option, value) in
            [("--home", &home), ("--log", &fake.log), ("--control", &fake.control), ("--transcript", &transcript)]
        {
            words.extend([option.to_owned(), value.display().to_string()]);
        }
        words.extend(["--session".to_owned(), session.to_owned()]);
        if agent == Agent::Codex {
            words.push("--codex".to_owned());
        }
        words.extend(options.iter().map(|&option| option.to_owned()));
        words
    }

    /// What it was given, message by message.
    pub fn submitted(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// What else happened to it: approvals, keys nobody may press, bytes that reached a shell.
    pub fn happened(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let values = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        values.filter_map(|value| Some(value.get("happened")?.as_str()?.to_owned())).collect()
    }

    pub fn set(&self, name: &str) {
        std::fs::write(self.control.join(name), "").unwrap();
    }

    pub fn unset(&self, name: &str) {
        let _ = std::fs::remove_file(self.control.join(name));
    }
}

/// A terminal that belongs to no tmux; it ends with the test.
pub struct Elsewhere(std::process::Child);

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How trellis reaches the agents of these panes.
pub fn settings(panes: &Panes) -> Settings {
    let socket = panes.socket().to_string_lossy().into_owned();
    Settings {
        claude_home: panes.folder.path().join("claude"),
        codex_home: panes.folder.path().join("codex"),
        tmux: Whereabouts { named: Some(socket), ..Whereabouts::default() },
        ..Settings::default()
    }
}

/// One fake Claude in the first pane of a server, for tests of the transport alone.
pub struct Rig {
    pub panes: Panes,
    pub fake: Fake,
}

impl Rig {
    /// `None`, with a printed reason, where the machine has no tmux or no python3.
    pub fn start(options: &[&str]) -> Option<Self> {
        if !can_run() {
            return None;
        }
        let panes = Panes::new();
        let fake = Fake::open(&panes, Agent::Claude, SESSION, options);
        Some(Self { panes, fake })
    }

    pub fn tmux(&self, words: &[&str]) -> String {
        self.panes.tmux(words)
    }

    pub fn open(&self, words: &[&str]) {
        self.panes.open(words);
    }

    pub fn socket(&self) -> PathBuf {
        self.panes.socket()
    }

    pub fn home(&self) -> PathBuf {
        self.panes.folder.path().join("claude")
    }

    pub fn submitted(&self) -> Vec<String> {
        self.fake.submitted()
    }

    pub fn happened(&self) -> Vec<String> {
        self.fake.happened()
    }

    pub fn set(&self, name: &str) {
        self.fake.set(name);
    }

    pub fn unset(&self, name: &str) {
        self.fake.unset(name);
    }

    pub fn settings(&self) -> Settings {
        settings(&self.panes)
    }

    pub fn pane(&self) -> Pane {
        Server::at(self.socket()).pane(&PaneId::new("%0").unwrap()).unwrap()
    }

    pub fn send(&self, text: &str) -> SendReport {
        ClaudeSession::new(SessionId::new(SESSION)).send(&self.settings(), &Self::delivery(text))
    }

    pub fn delivery(text: &str) -> Delivery {
        Delivery {
            entry: EntryId::new("p.1"),
            session: SessionKey { agent: Agent::Claude, session_id: SessionId::new(SESSION) },
            text: trellis::machine::wire::whole(text, 0, Agent::Claude).unwrap().text.into(),
            prompt_bytes: 0,
            attempt: 1,
            allow_unknown_box: false,
        }
    }

    #[track_caller]
    pub fn wait(&self, what: &str, holds: impl FnMut() -> bool) {
        until(holds, || format!("waited in vain for {what}:\n{}", self.panes.shown("%0")));
    }

    #[track_caller]
    pub fn arrives_once(&self, text: &str) {
        self.wait("the message", || !self.submitted().is_empty());
        let got = self.submitted();
        assert_eq!(got.len(), 1, "{got:?}");
        assert_eq!(fold(&got[0]), fold(text));
    }
}
