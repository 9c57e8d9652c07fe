//! The real Claude Code and Codex in panes of a tmux server of their own, with scripted models on loopback: a fresh home,
//! nothing of the person's own. Runs when `TRELLIS_REAL_AGENTS` is set. What fails outside (no npm, no registry, a program
//! that does not come up) is a skip with a printed reason; only a broken promise of trellis is red.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, channel};
use trellis::agent::live::{self, LiveSession};
use trellis::agent::tmux::Whereabouts;
use trellis::agent::{Settings, Transports};
use trellis::driver::ports::{Agents, Job, Outcome};
use trellis::machine::Delivery;
use trellis::model::ids::{Agent, EntryId, RecordKey, RunId, SessionKey};
use trellis::model::reach::{InFlight, InputBox, LiveStatus, OnItsWay, ProbeAsk, Reach, SendReport, Tick, Transport};
use trellis::model::text::fold;
use trellis::supervise::Supervisor;

const CLAUDE: &str = "@anthropic-ai/claude-code@2.1.332";
const CODEX: &str = "@openai/codex@0.171.0";
const KEY: &str = "sk-ant-dummy-0000000000-trellis-test";

/// Why nothing was tested.
type Skip = String;

#[test]
fn each_agent_is_found_and_takes_one_message() {
    told(one_message_each());
}

#[test]
fn claude_builds_codex_reviews_and_the_checklist_completes() {
    told(a_checklist());
}

fn told(outcome: Result<(), Skip>) {
    if let Err(why) = outcome {
        println!("skipped: {why}");
    }
}

fn one_message_each() -> Result<(), Skip> {
    let pair = Pair::start()?;
    let mut port = Port::new(&pair);
    let texts = [
        (&pair.claude, "/status is not what I mean.\n\nLook at these:\n- one\n- two\n\tthree \\"),
        (&pair.codex, "-- look at \u{1b}[201~ these:\n\n- one\n- two"),
    ];
    for (session, text) in texts {
        let reach = port.probe(session, None);
        assert_eq!(reach.ticks.missing(), None, "{reach:?}");
        assert_eq!((reach.transport, reach.input), (Some(Transport::Tmux), InputBox::Empty));
        assert_eq!((reach.on_its_way, reach.replaced_by), (OnItsWay::No, None));
        let report = port.send(session, text);
        assert_eq!(report.stopped, None, "{report:?}");
        assert!(report.entered && report.last_key_at.is_some());
        let wanted = fold(report.sent_text.as_deref().unwrap_or(&trellis::agent::message::cleaned(text)));
        pair.wait("the prompt", || pair.prompts().iter().filter(|(_, prompt)| fold(prompt) == wanted).count() == 1);
        let entry = InFlight { text: text.into(), queue_id: report.queue_id, carrier: None };
        pair.wait("nothing on its way", || port.probe(session, Some(&entry)).on_its_way == OnItsWay::No);
    }
    // A person's half sentence in Claude's box holds a message; Codex's queue does not mind one in its.
    pair.tmux(&["send-keys", "-t", "%0", "-l", "half a sen"]);
    pair.wait("the half sentence", || port.probe(&pair.claude, None).input == InputBox::Other);
    assert!(matches!(port.probe(&pair.claude, None).ticks.box_empty, Tick::Missing(_)));
    assert_eq!(port.send(&pair.claude, "glued").last_key_at, None);
    Ok(())
}

fn a_checklist() -> Result<(), Skip> {
    let pair = Pair::start()?;
    let (claude, codex) = (pair.claude.to_string(), pair.codex.to_string());
    let (code, said) = pair.trellis(
        &["run", "start", "--implementer", &claude, "--reviewer", &codex, "--first-phase", "ask", "--headless"],
        Duration::from_mins(8),
    );
    assert_eq!(code, Some(0), "{said}\n{}", pair.screens());
    let last: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "checklist.stopped", "{said}");
    // Three phases: relays 3, 1 and 5, and a fourth question that is answered COMPLETED.
    let prompts = pair.prompts();
    let count =
        |who: &str, words: &str| prompts.iter().filter(|(role, prompt)| role == who && prompt.contains(words)).count();
    assert_eq!(count("implementer", "Implement the next phase"), 4, "{prompts:?}");
    assert_eq!(count("implementer", "Feedback:"), 3, "{prompts:?}");
    assert_eq!(count("reviewer", "Review the implementer's work"), 6, "{prompts:?}");
    assert_eq!(prompts.len(), 4 + 3 + 6 + 2, "and the two greetings, and nothing else: {prompts:?}");

    let run = last["run_id"].as_str().unwrap_or_default().to_owned();
    let (code, said) = pair.trellis(&["run", "verify", &run], Duration::from_mins(1));
    assert_eq!(code, Some(0), "{said}");
    Ok(())
}

/// The transports as the driver has them.
struct Port {
    transports: Transports,
    outcomes: Receiver<Outcome>,
    folder: String,
}

impl Port {
    fn new(pair: &Pair) -> Self {
        let (sender, outcomes) = channel(16);
        let folder = pair.path("files").to_string_lossy().into_owned();
        Self { transports: Transports::new(pair.settings(), sender, Supervisor::new()), outcomes, folder }
    }

    fn probe(&mut self, session: &SessionKey, in_flight: Option<&InFlight>) -> Reach {
        self.transports.begin(Job::Probe(ProbeAsk { session: session.clone(), in_flight: in_flight.cloned() }));
        match self.outcomes.blocking_recv() {
            Some(Outcome::Probed(key, reach)) if key == *session => reach,
            other => panic!("no observation but {other:?}"),
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
            file_folder: self.folder.clone(),
        };
        self.transports.begin(Job::Send(RecordKey::Run(RunId::new("r")), delivery));
        match self.outcomes.blocking_recv() {
            Some(Outcome::Sent { report, .. }) => report,
            other => panic!("no report but {other:?}"),
        }
    }
}

/// Both agents, their models and their tmux server; all of it ends with the test.
struct Pair {
    folder: tempfile::TempDir,
    models: Child,
    claude: SessionKey,
    codex: SessionKey,
}

impl Pair {
    fn start() -> Result<Self, Skip> {
        if std::env::var_os("TRELLIS_REAL_AGENTS").is_none() {
            return Err(String::from("TRELLIS_REAL_AGENTS is not set"));
        }
        let programs = install()?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let models = start_models(folder.path())?;
        let nobody = |agent| SessionKey { agent, session_id: "".into() };
        let mut pair = Self { folder, models, claude: nobody(Agent::Claude), codex: nobody(Agent::Codex) };
        let port = pair.came_up("the model server", || std::fs::read_to_string(pair.path("port")).ok())?;
        pair.configure(&port);
        pair.open(&programs, &port);
        let claude = pair.came_up("claude", || {
            // It says idle also before its first turn: that turn's end is what counts.
            let seen = pair.session(Agent::Claude).filter(|seen| seen.status == LiveStatus::Idle)?;
            pair.claude_transcript(&seen.session).contains("\"turn_duration\"").then_some(seen.session)
        })?;
        let codex = pair.came_up("codex", || {
            let seen = pair.session(Agent::Codex)?;
            pair.codex_transcript().contains("\"task_complete\"").then_some(seen.session)
        })?;
        (pair.claude, pair.codex) = (claude, codex);
        Ok(pair)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn settings(&self) -> Settings {
        let socket = self.path("s").to_string_lossy().into_owned();
        Settings {
            claude_home: self.path("home/.claude"),
            codex_home: self.path("home/.codex"),
            tmux: Whereabouts { named: Some(socket), ..Whereabouts::default() },
            message_file_above: 65_536,
            ..Settings::default()
        }
    }

    /// The session of an agent in our own server: what else runs on this machine is nobody's business here.
    fn session(&self, agent: Agent) -> Option<LiveSession> {
        let ours = |seen: &LiveSession| seen.pane.as_ref().is_ok_and(|pane| pane.server.socket() == self.path("s"));
        live::discover(&self.settings()).into_iter().find(|seen| seen.session.agent == agent && ours(seen))
    }

    /// Settings that let both start without a dialog.
    fn configure(&self, port: &str) {
        let repo = self.path("repo");
        for name in ["repo", "tmp", "home/.claude", "home/.codex"] {
            std::fs::create_dir_all(self.path(name)).unwrap();
        }
        std::fs::write(repo.join("CHECKLIST.md"), "- [ ] one\n- [ ] two\n- [ ] three\n").unwrap();
        git(&repo, &["init", "-q"]);
        git(&repo, &["add", "-A"]);
        git(&repo, &["-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "-qm", "checklist"]);
        let repo = repo.to_string_lossy();
        let claude = serde_json::json!({
            "hasCompletedOnboarding": true,
            "customApiKeyResponses": {"approved": [&KEY[KEY.len() - 20..]], "rejected": []},
            "projects": {&*repo: {"hasTrustDialogAccepted": true}},
        });
        std::fs::write(self.path("home/.claude.json"), claude.to_string()).unwrap();
        let codex = format!(
            "model = \"gpt-5-codex\"\nmodel_provider = \"test\"\n[model_providers.test]\nname = \"test\"\n\
             base_url = \"http://127.0.0.1:{port}/v1\"\nwire_api = \"responses\"\nenv_key = \"TEST_KEY\"\n\
             [tui]\nscreen_reader_detection_done = true\n[projects.\"{repo}\"]\ntrust_level = \"trusted\"\n"
        );
        std::fs::write(self.path("home/.codex/config.toml"), codex).unwrap();
    }

    fn variables(&self, port: &str) -> BTreeMap<&'static str, String> {
        let path = |name: &str| self.path(name).to_string_lossy().into_owned();
        BTreeMap::from([
            ("PATH", String::from("/usr/local/bin:/usr/bin:/bin")),
            ("HOME", path("home")),
            ("TMPDIR", path("tmp")),
            ("TERM", String::from("xterm-256color")),
            ("LANG", String::from("C.UTF-8")),
            ("SHELL", String::from("/bin/sh")),
            ("USER", String::from("dev")),
            ("TEST_KEY", String::from("dummy")),
            ("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")),
            ("ANTHROPIC_API_KEY", KEY.to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", String::from("1")),
            ("DISABLE_TELEMETRY", String::from("1")),
            ("DISABLE_AUTOUPDATER", String::from("1")),
            ("DISABLE_ERROR_REPORTING", String::from("1")),
        ])
    }

    /// One window, two panes; the programs themselves are the panes' processes.
    fn open(&self, programs: &Programs, port: &str) {
        let repo = self.path("repo").to_string_lossy().into_owned();
        let id = format!("{:08x}-0000-4000-8000-{:012x}", std::process::id(), self.models.id());
        let claude = programs.claude.to_string_lossy();
        let codex = programs.codex.to_string_lossy();
        let first = ["new-session", "-d", "-x", "200", "-y", "60", "-c", &repo, "--", &claude, "--permission-mode"];
        let more = ["acceptEdits", "--session-id", &id, "You are the implementer. Reply READY."];
        self.tmux_with(&self.variables(port), &[&first[..], &more[..]].concat());
        let first = ["split-window", "-h", "-c", &repo, "--", &codex, "-a", "never", "-s", "workspace-write"];
        let more = ["--no-daemon", "You are the reviewer. Reply READY."];
        self.tmux_with(&self.variables(port), &[&first[..], &more[..]].concat());
    }

    /// Runs the built program as a person with this home would; its exit code and its output.
    fn trellis(&self, words: &[&str], limit: Duration) -> (Option<i32>, String) {
        let output = self.path("said");
        let file = std::fs::File::create(&output).unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_trellis"))
            .args(words)
            .arg("--home")
            .arg(self.path("trellis"))
            .env_clear()
            .envs([("HOME", self.path("home")), ("PATH", PathBuf::from("/usr/local/bin:/usr/bin:/bin"))])
            .stdin(Stdio::null())
            .stderr(file.try_clone().unwrap())
            .stdout(file)
            .spawn()
            .expect("trellis");
        let end = Instant::now() + limit;
        let said = || std::fs::read_to_string(&output).unwrap_or_default();
        loop {
            if let Some(status) = program.try_wait().unwrap() {
                return (status.code(), said());
            }
            if Instant::now() > end {
                let _ = program.kill();
                panic!("trellis {words:?} did not end:\n{}\n{}", said(), self.screens());
            }
            std::thread::park_timeout(Duration::from_millis(100));
        }
    }

    fn tmux(&self, words: &[&str]) -> String {
        self.tmux_with(&BTreeMap::from([("PATH", String::from("/usr/local/bin:/usr/bin:/bin"))]), words)
    }

    fn tmux_with(&self, variables: &BTreeMap<&str, String>, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.env_clear().envs(variables).args(["-u", "-f", "/dev/null", "-S"]).arg(self.path("s")).args(words);
        let output = command.output().expect("tmux");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    /// What the models were asked: role and prompt.
    fn prompts(&self) -> Vec<(String, String)> {
        let log = std::fs::read_to_string(self.path("log")).unwrap_or_default();
        let line = |line: &str| {
            let value: serde_json::Value = serde_json::from_str(line).ok()?;
            Some((value["role"].as_str()?.to_owned(), value["prompt"].as_str()?.to_owned()))
        };
        log.lines().filter_map(line).collect()
    }

    fn claude_transcript(&self, session: &SessionKey) -> String {
        let Ok(projects) = std::fs::read_dir(self.path("home/.claude/projects")) else { return String::new() };
        let name = format!("{}.jsonl", session.session_id);
        projects.filter_map(|project| std::fs::read_to_string(project.ok()?.path().join(&name)).ok()).collect()
    }

    fn codex_transcript(&self) -> String {
        fn newest(folder: &Path) -> Option<PathBuf> {
            let mut entries: Vec<PathBuf> =
                std::fs::read_dir(folder).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
            entries.sort();
            entries.pop()
        }
        let mut path = self.path("home/.codex/sessions");
        while path.is_dir() {
            let Some(next) = newest(&path) else { return String::new() };
            path = next;
        }
        std::fs::read_to_string(path).unwrap_or_default()
    }

    fn came_up<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T, Skip> {
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            if let Some(found) = look() {
                return Ok(found);
            }
            if Instant::now() > end {
                return Err(format!("{what} did not come up in 60 s:\n{}", self.screens()));
            }
            std::thread::park_timeout(Duration::from_millis(150));
        }
    }

    fn wait(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_mins(1);
        while !holds() {
            assert!(Instant::now() < end, "waited in vain for {what}:\n{}\n{:?}", self.screens(), self.prompts());
            std::thread::park_timeout(Duration::from_millis(100));
        }
    }

    fn screens(&self) -> String {
        let shown = |pane| self.tmux(&["capture-pane", "-p", "-t", pane]).replace("\n\n", "\n");
        format!("{}\n{}", shown("%0"), shown("%1"))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
        let _ = self.models.kill();
        let _ = self.models.wait();
    }
}

fn start_models(folder: &Path) -> Result<Child, Skip> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/model_server.py");
    Command::new("python3")
        .arg(script)
        .args([folder.join("port"), folder.join("log")])
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| format!("python3: {error}"))
}

fn git(folder: &Path, words: &[&str]) {
    let done = Command::new("git").arg("-C").arg(folder).args(words).status().expect("git");
    assert!(done.success());
}

/// The native programs, so that a pane's process is the agent itself.
struct Programs {
    claude: PathBuf,
    codex: PathBuf,
}

/// Installed once for each pair of versions, below the build's own folder.
fn install() -> Result<Programs, Skip> {
    let name = format!("agents-{CLAUDE}-{CODEX}").replace(['@', '/'], "_");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let find = || {
        let scope = |scope: &str| folder.join("node_modules").join(scope);
        let claude = find_program(&scope("@anthropic-ai"), &["claude", "claude.exe"])?;
        Some(Programs { claude, codex: find_program(&scope("@openai"), &["codex"])? })
    };
    if let Some(programs) = find() {
        return Ok(programs);
    }
    let output = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--prefix"])
        .arg(&folder)
        .args([CLAUDE, CODEX])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("npm: {error}"))?;
    find().ok_or_else(|| format!("npm gave no programs: {}", String::from_utf8_lossy(&output.stderr)))
}

/// A file of this name that is no script: the native program is large.
fn find_program(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).ok()?.filter_map(Result::ok) {
            let (path, facts) = (entry.path(), entry.metadata().ok()?);
            let named = path.file_name().is_some_and(|name| names.iter().any(|wanted| name == *wanted));
            if facts.is_dir() {
                folders.push(path);
            } else if named && facts.is_file() && facts.len() > 1 << 20 {
                return Some(path);
            }
        }
    }
    None
}
