//! Sessions without a pane, through the transports as the driver has them: small programs that write transcripts as the
//! real ones do, and misbehave.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, channel};
use trellis::agent::{Settings, Transports, headless};
use trellis::driver::ports::{Agents, Comeback, Job, Outcome};
use trellis::machine::Delivery;
use trellis::model::conversation::Conversation;
use trellis::model::ids::{Agent, EntryId, RecordKey, RunId, SessionId, SessionKey, SessionRef};
use trellis::model::reach::{
    InFlight, InputBox, LiveStatus, OnItsWay, ProbeAsk, ProcessFact, ProcessMark, Reach, SendReport, Tick, Transport,
};
use trellis::model::session::{Launch, SessionNote};
use trellis::model::text::fold;
use trellis::supervise::Supervisor;
use trellis::transcript::read_all;

/// A home with both fake programs; what they left running ends with it.
struct Rig {
    folder: tempfile::TempDir,
}

impl Rig {
    fn start() -> Self {
        let rig = Self { folder: tempfile::tempdir().unwrap() };
        for name in ["bin", "home", "work", "logs"] {
            fs::create_dir_all(rig.path(name)).unwrap();
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_cli/turn.py");
        for agent in ["claude", "codex"] {
            let (home, folder) = (rig.path("home"), rig.folder.path().to_owned());
            let text = format!(
                "#!/bin/sh\nHOME='{}' exec python3 '{script}' {agent} '{}' \"$@\"\n",
                home.display(),
                folder.display()
            );
            let path = rig.path("bin").join(agent);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        rig
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn does(&self, what: &str) {
        fs::write(self.path("does"), what).unwrap();
    }

    fn go(&self) {
        fs::write(self.path("go"), "").unwrap();
    }

    fn settings(&self) -> Settings {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.path("bin").display());
        Settings {
            claude_home: self.path("home/.claude"),
            codex_home: self.path("home/.codex"),
            path: Some(path.into()),
            logs: Some(self.path("logs")),
            ..Settings::default()
        }
    }

    fn launch(&self) -> Launch {
        Launch { worktree: self.path("work").to_string_lossy().into_owned(), ..Launch::default() }
    }

    /// A Codex thread that has had its first turn.
    fn codex(&self) -> SessionKey {
        let id = headless::open(Agent::Codex, None, &self.launch(), "greetings", &self.settings()).unwrap();
        let key = SessionKey { agent: Agent::Codex, session_id: id };
        wait("the first answer", || self.conversation(&key).is_some_and(|seen| !seen.is_open()));
        key
    }

    fn transcript(&self, key: &SessionKey) -> Option<PathBuf> {
        let mut folders = vec![self.path("home")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.to_string_lossy().ends_with(&format!("{}.jsonl", key.session_id)) {
                    return Some(path);
                }
            }
        }
        None
    }

    fn conversation(&self, key: &SessionKey) -> Option<Conversation> {
        Some(read_all(key.agent, &fs::read(self.transcript(key)?).ok()?))
    }

    fn prompts(&self, key: &SessionKey) -> Vec<String> {
        let turns = self.conversation(key).map(|seen| seen.turns).unwrap_or_default();
        turns.iter().map(|turn| turn.prompt.text.to_string()).collect()
    }

    /// How the programs were started.
    fn starts(&self) -> Vec<serde_json::Value> {
        let text = fs::read_to_string(self.path("starts")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // Whatever still waits ends by itself.
        let _ = fs::write(self.path("go"), "");
    }
}

/// A trellis as far as its transports go.
struct Port {
    transports: Transports,
    outcomes: Receiver<Outcome>,
}

impl Port {
    fn new(rig: &Rig, sessions: &[&SessionKey]) -> Self {
        Self::with(rig, sessions, rig.launch())
    }

    fn with(rig: &Rig, sessions: &[&SessionKey], launch: Launch) -> Self {
        let (sender, outcomes) = channel(16);
        let mut transports = Transports::new(rig.settings(), sender, Supervisor::new());
        let note = SessionNote { transport: Some(Transport::Headless), launch: Some(launch), ..SessionNote::default() };
        for session in sessions {
            transports.noted(session, &note);
        }
        Self { transports, outcomes }
    }

    fn probe(&mut self, session: &SessionKey, in_flight: Option<&InFlight>) -> Reach {
        self.transports.begin(Job::Probe(ProbeAsk {
            session: session.clone(),
            in_flight: in_flight.cloned(),
            last_seen: None,
        }));
        loop {
            match self.outcomes.blocking_recv() {
                Some(Outcome::Probed(key, reach)) if key == *session => return *reach,
                Some(Outcome::Left(_)) => {}
                other => panic!("no observation but {other:?}"),
            }
        }
    }

    fn send(&mut self, session: &SessionKey, text: &str) -> SendReport {
        let delivery = Delivery {
            entry: EntryId::new("r.1"),
            session: session.clone(),
            text: text.into(),
            prompt_bytes: 0,
            attempt: 1,
            allow_unknown_box: false,
        };
        self.transports.begin(Job::Send(RecordKey::Run(RunId::new("r")), delivery));
        loop {
            match self.outcomes.blocking_recv() {
                Some(Outcome::Sent { report, .. }) => return report,
                Some(Outcome::Left(_)) => {}
                other => panic!("no report but {other:?}"),
            }
        }
    }

    /// Sends and expects a process for it; the entry as it is then saved.
    fn carry(&mut self, session: &SessionKey, text: &str) -> InFlight {
        let report = self.send(session, text);
        assert_eq!((report.stopped.as_deref(), report.entered), (None, true), "{report:?}");
        InFlight { text: text.into(), carrier: report.carrier, ..InFlight::default() }
    }

    /// Waits for the end of whatever runs on a session.
    fn quiet(&mut self, session: &SessionKey, entry: &InFlight) -> Reach {
        let mut last = None;
        wait("the end of the process", || {
            let reach = self.probe(session, Some(entry));
            let over = reach.process == ProcessFact::Dead;
            last = Some(reach);
            over
        });
        last.unwrap()
    }
}

fn wait(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// A session of its own for each test: processes are told by the words they were started with, on the whole machine.
fn claude() -> SessionKey {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let id = format!("{:08x}-0000-4000-8000-{:012x}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    SessionKey { agent: Agent::Claude, session_id: SessionId::new(id) }
}

/// A long text with everything that a shell, an option parser, a terminal or a command of the agent could take for its own.
fn hostile(bytes: usize) -> String {
    let line = "$(touch x) `id` 'q' \"d\" \\ %s --flag -x /status !ls @file #tag & ; | \t é e\u{301} 日本 \u{200b}\n";
    let mut text = "--resume other\n\n".to_owned();
    while text.len() < bytes {
        text.push_str(line);
    }
    text
}

#[test]
fn a_message_of_400_kb_arrives_whole_whatever_it_holds() {
    let rig = Rig::start();
    let (claude, codex) = (claude(), rig.codex());
    let mut port = Port::new(&rig, &[&claude, &codex]);
    let text = hostile(400_000);
    for session in [&claude, &codex] {
        let before = rig.prompts(session).len();
        let reach = port.probe(session, None);
        assert_eq!(reach.ticks.missing(), None, "{reach:?}");
        assert_eq!((reach.transport, reach.process), (Some(Transport::Headless), ProcessFact::Dead));
        assert_eq!((reach.status, reach.input, reach.on_its_way), (LiveStatus::Silent, InputBox::Empty, OnItsWay::No));
        let entry = port.carry(session, &text);
        let reach = port.quiet(session, &entry);
        assert_eq!(reach.last_words, "", "the turn ended well");
        let prompts = rig.prompts(session);
        assert_eq!(prompts.len(), before + 1);
        assert_eq!(fold(prompts.last().unwrap()), fold(&text));
        assert!(prompts.last().unwrap().contains("$(touch x) `id` 'q' \"d\" \\ %s --flag"));
    }
    assert!(!rig.path("work/x").exists());
    for start in rig.starts() {
        assert_eq!(start["tmux"], serde_json::Value::Null);
        assert!(start["words"].to_string().len() < 400, "the text is in no argument: {start}");
    }
}

#[test]
fn the_first_message_begins_a_session_and_the_next_goes_on_with_it() {
    let rig = Rig::start();
    let (claude, codex) = (claude(), rig.codex());
    let launch =
        Launch { permission_mode: Some("acceptEdits".to_owned()), model: Some("m-1".to_owned()), ..rig.launch() };
    let mut port = Port::with(&rig, &[&claude], launch);
    assert_eq!(port.probe(&claude, None).place, "headless · acceptEdits · m-1");
    for text in ["one", "two"] {
        let entry = port.carry(&claude, text);
        port.quiet(&claude, &entry);
    }
    assert_eq!(rig.prompts(&claude), ["one", "two"]);
    let launch = Launch { permission_mode: Some("read-only/never".to_owned()), ..rig.launch() };
    let mut port = Port::with(&rig, &[&codex], launch);
    let entry = port.carry(&codex, "three");
    port.quiet(&codex, &entry);
    assert_eq!(rig.prompts(&codex), ["greetings", "three"]);
    let words: Vec<String> = rig.starts().iter().map(|start| start["words"].to_string()).collect();
    let (id, first) = (&codex.session_id, &claude.session_id);
    assert_eq!(words[0], r#"["exec","--json","-"]"#);
    let choices = r#""--permission-mode","acceptEdits","--model","m-1""#;
    assert_eq!(words[1], format!(r#"["-p","--session-id","{first}",{choices}]"#));
    assert_eq!(words[2], format!(r#"["-p","--resume","{first}",{choices}]"#));
    assert_eq!(words[3], format!(r#"["exec","--sandbox","read-only","resume","--json","{id}","-"]"#));
    let work = rig.path("work").canonicalize().unwrap();
    assert!(rig.starts().iter().all(|start| start["folder"] == work.to_str().unwrap()));
}

#[test]
fn what_refuses_a_message_is_told_in_its_words() {
    let rig = Rig::start();
    let claude = claude();
    let mut port = Port::new(&rig, &[&claude]);
    rig.does("refuse");
    let entry = port.carry(&claude, "hello");
    let reach = port.quiet(&claude, &entry);
    let OnItsWay::Refused(why) = &reach.on_its_way else { panic!("{reach:?}") };
    assert!(why.contains("not logged in") && !why.chars().any(char::is_control), "{why}");
    assert!(reach.last_words.starts_with("exit code 3: "), "{reach:?}");
    // After a start of trellis nobody knows its exit code; its words are still there.
    let reach = Port::new(&rig, &[&claude]).probe(&claude, Some(&entry));
    assert!(matches!(&reach.on_its_way, OnItsWay::Refused(why) if why.contains("not logged in")), "{reach:?}");
    rig.does("vanish");
    let entry = port.carry(&claude, "hello");
    let reach = port.quiet(&claude, &entry);
    assert!(matches!(&reach.on_its_way, OnItsWay::Refused(why) if why.contains("without taking")), "{reach:?}");
    assert_eq!(rig.transcript(&claude), None);
}

#[test]
fn a_thread_that_codex_does_not_know_is_refused_in_its_words() {
    let rig = Rig::start();
    let codex = SessionKey { agent: Agent::Codex, session_id: SessionId::new("01a22cf1-8d88-7a51-a54c-5dba51b18483") };
    let mut port = Port::new(&rig, &[&codex]);
    let entry = port.carry(&codex, "hello");
    let reach = port.quiet(&codex, &entry);
    assert!(matches!(&reach.on_its_way, OnItsWay::Refused(why) if why.contains("no rollout found")), "{reach:?}");
}

#[test]
fn an_id_that_no_agent_resumes_starts_nothing() {
    let rig = Rig::start();
    let codex = SessionKey { agent: Agent::Codex, session_id: SessionId::new("my thread") };
    let mut port = Port::new(&rig, &[&codex]);
    let reach = port.probe(&codex, None);
    assert_eq!(reach.transport, None);
    assert!(matches!(&reach.ticks.alive, Tick::Missing(why) if why.contains("my thread")), "{reach:?}");
    let report = port.send(&codex, "hello");
    assert_eq!((report.last_key_at, report.entered), (None, false));
    assert!(rig.starts().is_empty());
}

#[test]
fn without_its_program_or_its_folder_a_session_is_gone() {
    let rig = Rig::start();
    let claude = claude();
    let mut nowhere = Port::with(&rig, &[&claude], Launch { worktree: "/no/such/folder".to_owned(), ..rig.launch() });
    let gone = Launch { argv: vec!["/no/such/claude".to_owned()], ..rig.launch() };
    let mut without = Port::with(&rig, &[&claude], gone);
    for (port, word) in [(&mut nowhere, "folder"), (&mut without, "/no/such/claude")] {
        let reach = port.probe(&claude, None);
        assert_eq!((reach.transport, &reach.process), (None, &ProcessFact::Unknown));
        assert!(reach.ticks.missing().is_some_and(|why| why.contains(word)), "{reach:?}");
        assert_eq!(port.send(&claude, "hello").last_key_at, None);
    }
}

#[test]
fn what_dies_inside_its_turn_leaves_its_last_words() {
    let rig = Rig::start();
    let claude = claude();
    let mut port = Port::new(&rig, &[&claude]);
    rig.does("die");
    let entry = port.carry(&claude, "hello");
    let reach = port.quiet(&claude, &entry);
    assert_eq!(reach.last_words, "exit code 137: Error: out of memory");
    assert!(rig.conversation(&claude).unwrap().is_open());
    // A look that was begun after its last record proves that the turn died with it.
    let reach = port.probe(&claude, None);
    assert!(reach.at > rig.conversation(&claude).unwrap().newest().unwrap().last_record.at.unwrap());
}

#[test]
fn an_orphan_of_a_killed_trellis_still_carries_its_message() {
    let rig = Rig::start();
    let (claude, codex) = (claude(), rig.codex());
    // Killed between the start of the process and the report: no mark was saved, and nothing is in the transcript yet.
    rig.does("late");
    for session in [&claude, &codex] {
        let saved = Port::new(&rig, &[session]).carry(session, "hello");
        let unsaved = InFlight { carrier: None, ..saved.clone() };
        let mut port = Port::new(&rig, &[session]);
        for entry in [&unsaved, &saved] {
            let reach = port.probe(session, Some(entry));
            assert_eq!(reach.on_its_way, OnItsWay::Carried, "{reach:?}");
            assert_eq!(reach.status, LiveStatus::Busy);
            assert!(matches!(reach.process, ProcessFact::Alive { .. }));
        }
        // A second message waits for its end.
        let report = port.send(session, "second");
        assert!(report.stopped.is_some_and(|why| why.contains("still runs")), "nothing is started beside it");
    }
    rig.go();
    for session in [&claude, &codex] {
        let entry = InFlight { text: "hello".into(), ..InFlight::default() };
        Port::new(&rig, &[session]).quiet(session, &entry);
        assert_eq!(rig.prompts(session).iter().filter(|prompt| *prompt == "hello").count(), 1);
        assert!(!rig.conversation(session).unwrap().is_open());
    }
}

#[test]
fn a_mark_names_its_process_and_no_later_one() {
    let rig = Rig::start();
    let claude = claude();
    let mut other = Other::start();
    let process = trellis::agent::os::process(other.0.id()).unwrap();
    let mark = ProcessMark { pid: process.pid, started_at: process.started_at, start_mark: process.start_mark.clone() };
    let entry = |mark: &ProcessMark| InFlight { text: "x".into(), carrier: Some(mark.clone()), ..InFlight::default() };
    let mut port = Port::new(&rig, &[&claude]);
    assert_eq!(port.probe(&claude, Some(&entry(&mark))).on_its_way, OnItsWay::Carried);
    // The same pid, started another time: another program's now.
    let older = ProcessMark { start_mark: format!("{}1", mark.start_mark), ..mark.clone() };
    assert_eq!(port.probe(&claude, Some(&entry(&older))).on_its_way, OnItsWay::No);
    let before_the_boot = ProcessMark { started_at: Some("2020-01-01T00:00:00Z".parse().unwrap()), ..mark.clone() };
    assert_eq!(port.probe(&claude, Some(&entry(&before_the_boot))).on_its_way, OnItsWay::No);
    other.0.kill().unwrap();
    other.0.wait().unwrap();
    assert_eq!(port.probe(&claude, Some(&entry(&mark))).on_its_way, OnItsWay::No);
}

#[test]
fn a_program_that_goes_on_in_a_child_still_carries_it() {
    let rig = Rig::start();
    let codex = rig.codex();
    let mut port = Port::new(&rig, &[&codex]);
    rig.does("fork");
    let entry = port.carry(&codex, "hello");
    wait("the parent's end", || trellis::agent::os::process(entry.carrier.as_ref().unwrap().pid).is_none());
    assert_eq!(port.probe(&codex, Some(&entry)).on_its_way, OnItsWay::Carried);
    rig.go();
    port.quiet(&codex, &entry);
    assert_eq!(rig.prompts(&codex), ["greetings", "hello"]);
}

#[test]
fn a_program_that_answered_and_stays_keeps_the_session_busy() {
    let rig = Rig::start();
    let claude = claude();
    let mut port = Port::new(&rig, &[&claude]);
    rig.does("stay");
    let entry = port.carry(&claude, "hello");
    wait("the answer", || rig.conversation(&claude).is_some_and(|seen| !seen.is_open()));
    let reach = port.probe(&claude, None);
    assert_eq!(reach.status, LiveStatus::Busy);
    assert!(reach.place.contains("pid "), "{reach:?}");
    assert_eq!(port.send(&claude, "more").last_key_at, None);
    rig.go();
    port.quiet(&claude, &entry);
    assert_eq!(rig.prompts(&claude), ["hello"]);
}

#[test]
fn a_session_that_is_open_for_a_person_is_never_run_beside_it() {
    let rig = Rig::start();
    let claude = claude();
    let mut port = Port::new(&rig, &[&claude]);
    let person = Other::start();
    let sessions = rig.path("home/.claude/sessions");
    fs::create_dir_all(&sessions).unwrap();
    let status = serde_json::json!({"pid": person.0.id(), "sessionId": claude.session_id, "entrypoint": "cli", "status": "idle"});
    fs::write(sessions.join(format!("{}.json", person.0.id())), status.to_string()).unwrap();
    let reach = port.probe(&claude, None);
    let why = format!("{claude} is open in a terminal (pid {}, sleep", person.0.id());
    assert!(reach.ticks.missing().is_some_and(|missing| missing.contains(&why)), "{reach:?}");
    let report = port.send(&claude, "hello");
    assert!(report.last_key_at.is_none() && report.stopped.is_some_and(|missing| missing.contains(&why)));
    drop(person);
    // The status file stays after a kill; the process is what counts.
    assert_eq!(port.probe(&claude, None).ticks.missing(), None);
    let entry = port.carry(&claude, "hello");
    port.quiet(&claude, &entry);
    assert_eq!((rig.starts().len(), rig.prompts(&claude).len()), (1, 1));
}

#[test]
fn words_that_another_program_keeps_hold_nothing_up() {
    let rig = Rig::start();
    let (claude, codex) = (claude(), rig.codex());
    let mut port = Port::new(&rig, &[&claude, &codex]);
    // A shell and a tmux server that once started the agent.
    let shell = |words: &[&str]| {
        let mut command = Command::new("bash");
        command.args(["-c", "read -r line; true", "x"]).args(words).stdin(Stdio::piped());
        Other(command.spawn().unwrap())
    };
    let _shells = [
        shell(&["--resume", claude.session_id.as_str()]),
        shell(&["resume", codex.session_id.as_str()]),
        shell(&["-p", "--resume", claude.session_id.as_str()]),
    ];
    for session in [&claude, &codex] {
        let reach = port.probe(session, None);
        assert_eq!((reach.ticks.missing(), &reach.process), (None, &ProcessFact::Dead), "{reach:?}");
        let entry = port.carry(session, "hello");
        port.quiet(session, &entry);
    }
    // The agent's own program counts, by whatever shell it runs, and is named.
    let program = rig.path("claude");
    fs::write(&program, "#!/bin/sh\nread -r line\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let open = |program: &PathBuf| {
        let words = ["--resume", claude.session_id.as_str()];
        Other(Command::new(program).args(words).stdin(Stdio::piped()).spawn().unwrap())
    };
    let own = open(&program);
    let missing = |port: &mut Port| port.probe(&claude, None).ticks.missing().map(str::to_owned);
    let why = format!("{claude} is open in a terminal (pid {}, claude): end it there", own.0.id());
    assert!(missing(&mut port).is_some_and(|missing| missing.contains(&why)), "{:?}", missing(&mut port));
    drop(own);
    // What may be it is waited for; nobody is told to end it.
    let other = rig.path("start");
    fs::rename(&program, &other).unwrap();
    let other = open(&other);
    let said = missing(&mut port).unwrap();
    assert!(said.starts_with(&format!("pid {}, start names {claude}", other.0.id())), "{said}");
    assert!(!said.contains("end it"), "{said}");
    assert!(port.send(&claude, "second").stopped.is_some());
}

#[test]
fn the_end_of_a_process_is_told() {
    let rig = Rig::start();
    let claude = claude();
    let mut port = Port::new(&rig, &[&claude]);
    port.carry(&claude, "hello");
    assert_eq!(port.outcomes.blocking_recv(), Some(Outcome::Left(claude)));
}

#[test]
fn nothing_has_to_be_brought_back() {
    let rig = Rig::start();
    let claude = claude();
    let mut port = Port::new(&rig, &[&claude]);
    let session = SessionRef { agent: Agent::Claude, worktree: String::new(), session_id: claude.session_id.clone() };
    let comeback = Comeback { session, launch: None, order: String::new() };
    port.transports.begin(Job::BringBack(Box::new(comeback)));
    let Some(Outcome::BroughtBack(_, Ok(words))) = port.outcomes.blocking_recv() else { panic!("not brought back") };
    assert!(words.contains("nothing has to be resumed"), "{words}");
    assert!(rig.starts().is_empty());
}

#[test]
fn a_process_of_ours_has_a_session_of_its_own() {
    let rig = Rig::start();
    let claude = claude();
    let mut port = Port::new(&rig, &[&claude]);
    let entry = port.carry(&claude, "hello");
    port.quiet(&claude, &entry);
    let start = &rig.starts()[0];
    assert_eq!(start["session"], start["pid"], "no key and no end of our terminal reaches it");
}

/// Some other program.
struct Other(Child);

impl Other {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
