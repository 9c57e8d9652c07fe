//! Starting agents and bringing them back: stand-ins for both programs in a tmux server of the test's own, reached as the
//! driver reaches them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, channel};
use trellis::agent::live;
use trellis::agent::tmux::opening::{Opening, Place};
use trellis::agent::tmux::{Server, Whereabouts};
use trellis::agent::{Settings, Transports};
use trellis::driver::ports::{Agents, Comeback, Job, Launched, Outcome};
use trellis::model::ids::{Agent, SessionId, SessionKey, SessionRef};
use trellis::model::launch::{Start, unnamed};
use trellis::model::reach::{LiveStatus, ProbeAsk, ProcessFact, Reach, Tick, Transport};
use trellis::model::session::Launch;
use trellis::supervise::Supervisor;

/// An id that no other test has: processes are seen across the whole machine.
fn fresh_id() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("{:08x}-2222-4333-8444-{:012x}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Both programs, their homes and a tmux server; all of it ends with the test.
struct Rig {
    folder: tempfile::TempDir,
    transports: Transports,
    outcomes: Receiver<Outcome>,
    around: Option<String>,
    /// Ids of this test's own: Claude's session, Codex's thread.
    session: SessionId,
    thread: SessionId,
}

impl Rig {
    /// `None`, with a printed reason, where the machine has no tmux or no python3.
    fn new() -> Option<Self> {
        let says = |program: &str, words: &[&str]| {
            let output =
                Command::new(program).args(words).output().map_err(|_| println!("skipped: no {program}")).ok()?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        says("tmux", &["-V"])?;
        let python = says("python3", &["-c", "import sys; print(sys.executable)"])?;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["bin", "shop", "claude", "codex", "fake"] {
            fs::create_dir(at(name)).unwrap();
        }
        let script = include_str!("../fixtures/fake_cli/start.py");
        for name in ["claude", "codex"] {
            // The interpreter directly: a process is then called as its script is.
            install(&at("bin").join(name), &format!("#!{python}\n{script}"));
        }
        Some(Self::in_folder(folder, None))
    }

    fn in_folder(folder: tempfile::TempDir, around: Option<String>) -> Self {
        let (sender, outcomes) = channel(64);
        let settings = settings(folder.path(), around.clone());
        let transports = Transports::new(settings, sender, Supervisor::new());
        let (session, thread) = (SessionId::new(fresh_id()), SessionId::new(fresh_id()));
        Self { folder, transports, outcomes, around, session, thread }
    }

    /// The same agents and folders with a trellis that was just started.
    fn again(mut self, around: Option<String>) -> Self {
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        let (session, thread) = (self.session.clone(), self.thread.clone());
        std::mem::forget(self);
        let mut rig = Self::in_folder(folder, around);
        (rig.session, rig.thread) = (session, thread);
        rig
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn shop(&self) -> String {
        self.at("shop").to_string_lossy().into_owned()
    }

    fn settings(&self) -> Settings {
        settings(self.folder.path(), self.around.clone())
    }

    fn behave(&self, how: &str) {
        fs::write(self.at("fake/behave"), how).unwrap();
    }

    /// The words of each start.
    fn starts(&self) -> Vec<Vec<String>> {
        let log = fs::read_to_string(self.at("fake/starts")).unwrap_or_default();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn tmux(&self, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.env_remove("TMUX").arg("-S").arg(self.at("s")).args(["-f", "/dev/null"]);
        let output = command.args(words).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn panes(&self) -> Vec<String> {
        let listed = self.tmux(&["list-panes", "-a", "-F", "#{session_name} #{window_id} #{pane_id}"]);
        listed.lines().map(str::to_owned).collect()
    }

    fn outcome(&mut self) -> Outcome {
        loop {
            match self.outcomes.blocking_recv().unwrap() {
                Outcome::RunsAs(..) => {}
                outcome => return outcome,
            }
        }
    }

    fn launch(&mut self, agent: Agent, id: SessionId, prompt: Option<&str>) -> Result<Launched, String> {
        let launch = Launch { worktree: self.shop(), ..Launch::default() };
        self.launch_with(agent, id, prompt, launch)
    }

    fn launch_with(
        &mut self,
        agent: Agent,
        session_id: SessionId,
        prompt: Option<&str>,
        launch: Launch,
    ) -> Result<Launched, String> {
        let session = SessionKey { agent, session_id };
        let start = Start { session, transport: Transport::Tmux, launch, prompt: prompt.map(str::to_owned) };
        self.transports.begin(Job::Launch(Box::new(start)));
        match self.outcome() {
            Outcome::Launched(_, result) => result,
            other => panic!("{other:?}"),
        }
    }

    fn side(&self, agent: Agent) -> SessionRef {
        let id = if agent == Agent::Claude { &self.session } else { &self.thread };
        SessionRef { agent, worktree: self.shop(), session_id: id.clone() }
    }

    fn back(&mut self, agents: &[Agent], launch: Option<Launch>) -> Vec<Result<String, String>> {
        for agent in agents {
            let session = self.side(*agent);
            let comeback = Comeback { session, launch: launch.clone(), order: "one order".to_owned() };
            self.transports.begin(Job::BringBack(Box::new(comeback)));
        }
        let mut results = Vec::new();
        while results.len() < agents.len() {
            match self.outcome() {
                Outcome::BroughtBack(_, result) => results.push(result),
                other => panic!("{other:?}"),
            }
        }
        results
    }

    fn probe(&mut self, agent: Agent, id: &SessionId) -> Reach {
        let session = SessionKey { agent, session_id: id.clone() };
        self.transports.begin(Job::Probe(ProbeAsk { session, in_flight: None, last_seen: None }));
        match self.outcome() {
            Outcome::Probed(_, reach) => *reach,
            other => panic!("{other:?}"),
        }
    }

    fn probe_until(&mut self, agent: Agent, id: &SessionId, what: &str, holds: impl Fn(&Reach) -> bool) -> Reach {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let reach = self.probe(agent, id);
            if holds(&reach) {
                return reach;
            }
            assert!(Instant::now() < end, "waited in vain for {what}: {reach:?}\n{:?}", self.panes());
            std::thread::park_timeout(Duration::from_millis(40));
        }
    }

    fn wait(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(30);
        while !holds() {
            assert!(Instant::now() < end, "waited in vain for {what}: {:?}", self.panes());
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

fn install(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn settings(folder: &Path, around: Option<String>) -> Settings {
    let path = |name: &str| folder.join(name).into_os_string();
    let variables = [("CLAUDE_CONFIG_DIR", "claude"), ("CODEX_HOME", "codex"), ("FAKE_CLI", "fake")];
    let socket = folder.join("s").to_string_lossy().into_owned();
    Settings {
        claude_home: folder.join("claude"),
        codex_home: folder.join("codex"),
        path: Some(path("bin")),
        launch_variables: variables.into_iter().map(|(name, value)| (name.into(), path(value))).collect(),
        tmux: Whereabouts {
            named: Some(socket.clone()),
            inside: around.as_ref().map(|_| format!("{socket},1,0")),
            inside_pane: around,
            ..Whereabouts::default()
        },
        ..Settings::default()
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn a_started_claude_comes_up_on_the_id_it_was_given_with_what_was_chosen() {
    let Some(mut rig) = Rig::new() else { return };
    let launch = Launch {
        worktree: rig.shop(),
        permission_mode: Some("acceptEdits".to_owned()),
        model: Some("opus".to_owned()),
        ..Launch::default()
    };
    let hostile = "Look; at this $(touch x) `id` \"quoted\" 'single' #{pane_id};";
    let launched = rig.launch_with(Agent::Claude, rig.session.clone(), Some(hostile), launch).unwrap();
    assert_eq!(launched.launch.argv, [rig.at("bin/claude").to_string_lossy()]);
    let reach = rig.probe_until(Agent::Claude, &rig.session.clone(), "idle", |reach| reach.status == LiveStatus::Idle);
    assert_eq!((reach.transport, reach.place.as_str()), (Some(Transport::Tmux), "%0"));
    let mut wanted =
        words(&format!("claude --permission-mode acceptEdits --model opus --session-id {} --", rig.session));
    wanted.push(hostile.to_owned());
    assert_eq!(rig.starts(), [wanted], "as it was written, through no shell");
    assert!(!rig.at("shop/x").exists());
    let kept = rig.tmux(&["show-options", "-w", "-v", "-t", "%0", "remain-on-exit"]);
    assert_eq!(kept, "", "once it is up its pane goes with it, as any other");
}

#[test]
fn a_program_without_a_message_is_one_word_and_no_line_for_a_shell() {
    let Some(mut rig) = Rig::new() else { return };
    let spaced = rig.at("bin/with blank; and more");
    fs::create_dir(&spaced).unwrap();
    fs::rename(rig.at("bin/codex"), spaced.join("codex")).unwrap();
    let settings = Settings { path: Some(spaced.into_os_string()), ..rig.settings() };
    let (sender, outcomes) = channel(64);
    (rig.transports, rig.outcomes) = (Transports::new(settings, sender, Supervisor::new()), outcomes);
    rig.launch(Agent::Codex, unnamed("a"), None).unwrap();
    let reach = rig.probe_until(Agent::Codex, &unnamed("a"), "its box", |reach| reach.status == LiveStatus::Idle);
    assert_eq!(reach.replaced_by, None, "it has no session before its first message");
    assert_eq!(rig.starts(), [words("codex --no-daemon")]);
}

#[test]
fn a_started_codex_is_known_by_its_mark_until_it_names_its_thread() {
    let Some(mut rig) = Rig::new() else { return };
    rig.launch(Agent::Codex, unnamed("a"), None).unwrap();
    rig.launch(Agent::Codex, unnamed("b"), Some("Hello")).unwrap();
    let other = rig.probe_until(Agent::Codex, &unnamed("b"), "a thread", |reach| reach.replaced_by.is_some());
    let (other, _) = other.replaced_by.unwrap();
    let reach = rig.probe_until(Agent::Codex, &unnamed("a"), "its box", |reach| reach.status == LiveStatus::Idle);
    assert_eq!(reach.replaced_by, None, "the other one's thread is not taken for its own");
    fs::write(rig.at("fake/thread"), rig.thread.as_str()).unwrap();
    let reach = rig.probe_until(Agent::Codex, &unnamed("a"), "a thread", |reach| reach.replaced_by.is_some());
    let (id, proof) = reach.replaced_by.unwrap();
    assert_eq!(id, rig.thread.clone());
    assert!(proof.contains("holds the rollout"), "{proof}");
    assert_ne!(other, id);
    // A trellis that was started meanwhile knows it as well.
    let mut rig = rig.again(None);
    let reach = rig.probe(Agent::Codex, &unnamed("a"));
    assert_eq!(reach.replaced_by.map(|(id, _)| id), Some(rig.thread.clone()));
}

#[test]
fn a_dialog_of_the_start_is_named_with_its_pane_and_gets_no_key() {
    let Some(mut rig) = Rig::new() else { return };
    rig.behave("dialog");
    rig.launch(Agent::Claude, rig.session.clone(), Some("Hello")).unwrap();
    rig.launch(Agent::Codex, unnamed("a"), Some("Hello")).unwrap();
    for (agent, id, pane) in [(Agent::Claude, rig.session.clone(), "%0"), (Agent::Codex, unnamed("a"), "%1")] {
        let asks =
            |reach: &Reach| matches!(&reach.status, LiveStatus::Waiting { what } if what.contains("trust the folder"));
        let reach = rig.probe_until(agent, &id, "the question", asks);
        assert_eq!(reach.place, pane);
        assert!(matches!(reach.ticks.no_dialog, Tick::Missing(_)));
        assert!(matches!(reach.process, ProcessFact::Alive { .. }), "held, not gone");
    }
    fs::write(rig.at("fake/answered"), "").unwrap();
    rig.probe_until(Agent::Claude, &rig.session.clone(), "idle", |reach| reach.status == LiveStatus::Idle);
    rig.probe_until(Agent::Codex, &unnamed("a"), "a thread", |reach| reach.replaced_by.is_some());
}

#[test]
fn what_a_program_says_when_it_ends_at_once_is_told_and_its_pane_is_closed() {
    let Some(mut rig) = Rig::new() else { return };
    rig.behave("in-use");
    rig.launch(Agent::Claude, rig.session.clone(), None).unwrap();
    let reach =
        rig.probe_until(Agent::Claude, &rig.session.clone(), "its end", |reach| reach.process == ProcessFact::Dead);
    let Tick::Missing(why) = &reach.ticks.alive else { panic!("{reach:?}") };
    assert!(why.contains(&format!("Session ID {} is already in use", rig.session)), "{why}");
    rig.wait("the pane's end", || rig.panes().is_empty());
}

#[test]
fn d23_a_tmux_session_that_exists_is_an_error_and_never_attached_to() {
    let Some(mut rig) = Rig::new() else { return };
    rig.tmux(&["new-session", "-d", "-s", "trellis-old", "cat"]);
    let server = Server::at(rig.at("s"));
    let argv = words("cat -");
    let place = Place::Session("trellis-old".to_owned());
    let opening = Opening { place: &place, name: "w", folder: &rig.shop(), variables: &[], argv: &argv };
    let told = server.open(&opening).unwrap_err();
    assert!(told.contains("duplicate session"), "{told}");
    assert_eq!(rig.panes().len(), 1);
    // Two at one moment, and the old one alive: three tmux sessions.
    rig.launch(Agent::Claude, rig.session.clone(), None).unwrap();
    rig.launch(Agent::Codex, unnamed("a"), None).unwrap();
    let panes = rig.panes();
    let names: std::collections::BTreeSet<&str> = panes.iter().filter_map(|pane| pane.split(' ').next()).collect();
    assert_eq!((panes.len(), names.len()), (3, 3), "{panes:?}");
}

#[test]
fn inside_tmux_a_start_opens_a_window_beside_trellis_whatever_the_numbers_begin_with() {
    let Some(rig) = Rig::new() else { return };
    rig.tmux(&["new-session", "-d", "-s", "other", "cat"]);
    rig.tmux(&["set-option", "-g", "base-index", "7"]);
    rig.tmux(&["set-option", "-g", "pane-base-index", "3"]);
    rig.tmux(&["new-session", "-d", "-s", "my work", "cat"]);
    let mut rig = rig.again(Some("%1".to_owned()));
    rig.launch(Agent::Claude, rig.session.clone(), None).unwrap();
    let panes = rig.panes();
    assert!(panes.contains(&"my work @2 %2".to_owned()), "{panes:?}");
    let active = rig.tmux(&["display-message", "-p", "-t", "my work:", "#{window_id}"]);
    assert_eq!(active.trim(), "@1", "what the person looks at stays");
    rig.probe_until(Agent::Claude, &rig.session.clone(), "idle", |reach| reach.status == LiveStatus::Idle);
}

#[test]
fn missing_programs_folders_and_tmux_are_said_with_what_to_do() {
    let Some(mut rig) = Rig::new() else { return };
    let nowhere = Launch { worktree: "/no/such/folder".to_owned(), ..Launch::default() };
    let told = rig.launch_with(Agent::Claude, rig.session.clone(), None, nowhere).unwrap_err();
    assert_eq!(told, "the folder /no/such/folder is not there");
    fs::remove_file(rig.at("bin/claude")).unwrap();
    let told = rig.launch(Agent::Claude, rig.session.clone(), None).unwrap_err();
    assert_eq!(told, "can't find claude in PATH: install it, or name it as claude_program in config.toml");
    assert!(rig.panes().is_empty() && rig.starts().is_empty());
}

#[test]
fn both_sides_come_back_side_by_side_with_what_they_were_launched_with() {
    let Some(mut rig) = Rig::new() else { return };
    let launch = Launch { permission_mode: Some("workspace-write".to_owned()), ..Launch::default() };
    let results = rig.back(&[Agent::Claude, Agent::Codex], Some(launch));
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let panes = rig.panes();
    let windows: std::collections::BTreeSet<&str> = panes.iter().filter_map(|pane| pane.split(' ').nth(1)).collect();
    assert_eq!((panes.len(), windows.len()), (2, 1), "{panes:?}");
    let mut starts = rig.starts();
    starts.sort();
    assert_eq!(
        starts,
        [
            words(&format!("claude --permission-mode workspace-write --resume {}", rig.session)),
            words(&format!("codex -s workspace-write resume {}", rig.thread)),
        ]
    );
    let again = rig.back(&[Agent::Claude, Agent::Codex], None);
    assert!(again.iter().all(|result| result.as_ref().is_err_and(|why| why.contains("runs already"))), "{again:?}");
    assert_eq!(rig.panes().len(), 2, "nothing runs twice");
}

#[test]
fn s07_after_the_server_died_a_session_comes_back_on_a_new_one() {
    let Some(mut rig) = Rig::new() else { return };
    rig.launch(Agent::Claude, rig.session.clone(), Some("Hello")).unwrap();
    rig.probe_until(Agent::Claude, &rig.session.clone(), "idle", |reach| reach.status == LiveStatus::Idle);
    rig.tmux(&["kill-server"]);
    rig.probe_until(Agent::Claude, &rig.session.clone(), "its end", |reach| reach.process == ProcessFact::Dead);
    let results = rig.back(&[Agent::Claude], None);
    let [Ok(back)] = results.as_slice() else { panic!("{results:?}") };
    assert!(back.starts_with("claude is back in pane %0, window 0 of tmux's session trellis-"), "{back}");
    let live = live::discover(&rig.settings());
    assert!(live.iter().any(|seen| seen.session.session_id == rig.session.clone() && seen.pane.is_ok()), "{live:?}");
}

#[test]
fn s09_an_agent_that_comes_up_on_another_conversation_is_not_taken_for_this_one() {
    let Some(mut rig) = Rig::new() else { return };
    rig.behave("other");
    let session = rig.side(Agent::Claude);
    let comeback = Comeback { session: session.clone(), launch: None, order: "one order".to_owned() };
    rig.transports.begin(Job::BringBack(Box::new(comeback)));
    rig.wait("the start", || !rig.starts().is_empty());
    match rig.outcome() {
        Outcome::BroughtBack(_, Err(why)) => assert!(why.contains("came up on another session"), "{why}"),
        other => panic!("{other:?}"),
    }
    let reach = rig.probe(Agent::Claude, &session.session_id);
    assert_eq!(reach.transport, None, "{reach:?}");
}

#[test]
fn a_conversation_that_is_gone_for_good_is_told_apart() {
    let Some(mut rig) = Rig::new() else { return };
    rig.behave("unknown");
    for agent in [Agent::Claude, Agent::Codex] {
        let results = rig.back(&[agent], None);
        let why = results[0].as_ref().unwrap_err();
        assert!(why.contains("no such conversation any more") && why.contains("No conversation found"), "{why}");
    }
    rig.wait("the panes' end", || rig.panes().is_empty());
    rig.behave("in-use");
    let results = rig.back(&[Agent::Claude], None);
    assert!(results[0].as_ref().is_err_and(|why| why.starts_with("claude ended at once; it said: ")), "{results:?}");
}

#[test]
fn a_session_that_waits_at_a_dialog_is_back_and_says_so() {
    let Some(mut rig) = Rig::new() else { return };
    rig.behave("dialog");
    let results = rig.back(&[Agent::Claude], None);
    let words = results[0].as_ref().unwrap();
    assert_eq!(words, "claude waits for you in pane %0: its question whether to trust the folder");
    let again = rig.back(&[Agent::Claude], None);
    assert!(again[0].as_ref().is_err_and(|why| why.contains("runs already")), "{again:?}");
}

#[test]
fn a_running_agents_own_program_and_words_are_learnt_from_it() {
    let Some(mut rig) = Rig::new() else { return };
    let launch = Launch { worktree: rig.shop(), permission_mode: Some("plan".to_owned()), ..Launch::default() };
    rig.launch_with(Agent::Claude, rig.session.clone(), Some("--not a flag"), launch).unwrap();
    rig.probe_until(Agent::Claude, &rig.session.clone(), "idle", |reach| reach.status == LiveStatus::Idle);
    // A trellis that did not start it.
    let mut rig = rig.again(None);
    let session = SessionKey { agent: Agent::Claude, session_id: rig.session.clone() };
    rig.transports.begin(Job::Probe(ProbeAsk { session, in_flight: None, last_seen: None }));
    let learnt = loop {
        match rig.outcomes.blocking_recv().unwrap() {
            Outcome::RunsAs(_, launch) => break launch,
            Outcome::Probed(..) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(learnt.permission_mode.as_deref(), Some("plan"));
    assert_eq!(learnt.argv.last().map(String::as_str), Some(rig.at("bin/claude").to_str().unwrap()));
    assert_eq!(learnt.worktree, fs::canonicalize(rig.shop()).unwrap().to_string_lossy());
    rig.tmux(&["kill-server"]);
    rig.wait("its end", || live::discover(&rig.settings()).is_empty());
    // Not on the search path any more: its own program is used.
    let settings = Settings { path: None, ..rig.settings() };
    let (sender, outcomes) = channel(64);
    (rig.transports, rig.outcomes) = (Transports::new(settings, sender, Supervisor::new()), outcomes);
    let results = rig.back(&[Agent::Claude], Some(learnt));
    let [Ok(back)] = results.as_slice() else { panic!("{results:?}") };
    assert!(back.starts_with("claude is back in pane %0, window 0 of tmux's session trellis-"), "{back}");
    assert_eq!(rig.starts()[1], words(&format!("claude --permission-mode plan --resume {}", rig.session)));
}

#[test]
fn the_agents_of_the_window_come_in_the_order_of_their_panes() {
    let Some(rig) = Rig::new() else { return };
    rig.tmux(&["new-session", "-d", "-s", "work", "cat"]);
    rig.tmux(&["set-option", "-g", "pane-base-index", "5"]);
    let shop = rig.shop();
    let start = |name: &str, words: &[&str]| {
        let variable = |name: &str, value: &str| format!("{name}={}", rig.at(value).display());
        let (claude, codex, fake) =
            (variable("CLAUDE_CONFIG_DIR", "claude"), variable("CODEX_HOME", "codex"), variable("FAKE_CLI", "fake"));
        let program = rig.at("bin").join(name).to_string_lossy().into_owned();
        let first = ["split-window", "-b", "-t", "%0", "-c", &shop, "-e", &claude, "-e", &codex, "-e", &fake, "--"];
        rig.tmux(&[&first[..], &[program.as_str()], words].concat());
        rig.tmux(&["select-layout", "-t", "%0", "even-vertical"]);
    };
    let second = fresh_id();
    let (first, second) = (rig.session.as_str(), second.as_str());
    // Opened above each other: the last one has the lowest index.
    start("claude", &["--session-id", rig.session.as_str()]);
    start("claude", &["--session-id", second]);
    let mut settings = rig.settings();
    settings.tmux.inside = Some(format!("{},1,0", rig.at("s").display()));
    settings.tmux.inside_pane = Some("%0".to_owned());
    rig.wait("both", || live::of_window(&live::discover(&settings)).len() == 2);
    let window = live::of_window(&live::discover(&settings));
    let ids: Vec<&str> = window.iter().map(|key| key.session_id.as_str()).collect();
    let above = rig.tmux(&["list-panes", "-t", "%0", "-F", "#{pane_index} #{pane_id}"]);
    let wanted = if above.contains("5 %2") { [second, first] } else { [first, second] };
    assert_eq!(ids, wanted, "{above}");
}

#[test]
fn d17_an_agent_of_another_server_is_found_by_its_own_word_whatever_the_socket_is_called() {
    let Some(rig) = Rig::new() else { return };
    let odd = rig.at("s, with 'odd' #{signs} é");
    let shop = rig.shop();
    let pairs = [("CLAUDE_CONFIG_DIR", "claude"), ("CODEX_HOME", "codex"), ("FAKE_CLI", "fake")]
        .map(|(name, value)| (name.into(), rig.at(value).into_os_string()));
    let argv =
        [rig.at("bin/claude").to_string_lossy().into_owned(), "--session-id".to_owned(), rig.session.to_string()];
    let place = Place::Session("a".to_owned());
    let opening = Opening { place: &place, name: "w", folder: &shop, variables: &pairs, argv: &argv };
    let other = Server::at(&odd);
    other.open(&opening).unwrap();
    // The named server is another one: the agent's own environment says where it is.
    rig.wait("the agent", || {
        let live = live::discover(&rig.settings());
        live.iter().any(|seen| seen.pane.as_ref().is_ok_and(|pane| pane.server == other))
    });
    let _ = Command::new("tmux").arg("-S").arg(&odd).arg("kill-server").stderr(Stdio::null()).status();
}
