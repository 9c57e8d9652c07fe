//! What a test with real agents stands on: the models' server, a home and a repository of their own, the agents in their
//! panes, and trellis beside them. All of it ends with the test. What is tried with it is in the files beside this one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trellis::agent::Settings;
use trellis::agent::live::{self, LiveSession};
use trellis::agent::tmux::Whereabouts;
use trellis::model::ids::{Agent, SessionKey};
use trellis::model::reach::LiveStatus;

use super::install::{self, Part, Programs, Skip};

const KEY: &str = "sk-ant-dummy-0000000000-trellis-test";
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// How long anything may take before a test calls it broken.
const PATIENCE: Duration = Duration::from_mins(2);

/// One pair at a time: the machine would be the one that is tested otherwise.
static TURN: Mutex<()> = Mutex::new(());

/// Which agents, and what their models say.
#[derive(Clone)]
pub struct Plan {
    /// The agents to open in panes of their own, in this order: the implementer, then the reviewer.
    pub panes: Vec<Agent>,
    /// See `model_server.py`.
    pub play: Value,
    /// What else stands in the agents' environment, and in trellis's.
    pub variables: Vec<(&'static str, String)>,
    /// Arguments of Claude: by default edits are made unasked.
    pub claude: Vec<&'static str>,
    /// Arguments of Codex: by default it never asks, and is a process of its own.
    pub codex: Vec<&'static str>,
    /// Codex runs from a file that is gone by then, and the only other one to be found does not know `queue`.
    pub codex_without_queue: bool,
}

impl Plan {
    /// An implementer and a reviewer in two panes, with the play of the checklist.
    pub fn pair(implementer: Agent, reviewer: Agent) -> Self {
        Self::of(vec![implementer, reviewer], checklist())
    }

    /// Agents in panes, and a play.
    pub fn of(panes: Vec<Agent>, play: Value) -> Self {
        let claude = vec!["--permission-mode", "acceptEdits"];
        let codex = vec!["-a", "never", "-s", "workspace-write", "--no-daemon"];
        Self { panes, play, variables: Vec::new(), claude, codex, codex_without_queue: false }
    }

    /// With another variable.
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }
}

/// Three phases with the default prompts: relays 3, 1 and 5, and a fourth question that is answered COMPLETED.
pub fn checklist() -> Value {
    let wrote = |name: &str, text: &str, say: &str| json!([{"write": [name, text]}, say]);
    play(
        &json!([
            [
                "Feedback:",
                [
                    wrote("src/one.txt", "one\nend\n", "The closing line is there now."),
                    wrote("src/three.txt", "three\n2026\n", "The third file has its date."),
                    wrote("src/three.txt", "2026\nthree\n", "The date stands first."),
                ]
            ],
            [
                "Implement the next phase",
                [
                    wrote("src/one.txt", "one\n", "Phase one is written: src/one.txt."),
                    wrote("src/two.txt", "two\n", "Done."),
                    wrote("src/three.txt", "three\n", "Done."),
                    "COMPLETED",
                ]
            ],
            ["", ["READY"]],
        ]),
        &json!([
            [
                "Review the implementer's work",
                [
                    "One remark: src/one.txt has no closing line.",
                    "The remark is dealt with.\n\nLGTM",
                    "LGTM",
                    "The third file needs a date.",
                    "The date has to stand first.",
                    "LGTM",
                ]
            ],
            ["", ["READY"]],
        ]),
    )
}

/// A play of both sides' rules.
pub fn play(implementer: &Value, reviewer: &Value) -> Value {
    json!({"sides": {"implementer": implementer, "reviewer": reviewer}})
}

/// Both agents, their models and their tmux server.
pub struct Rig {
    folder: tempfile::TempDir,
    models: Child,
    pub programs: Programs,
    plan: Plan,
    variables: BTreeMap<&'static str, String>,
    sessions: Vec<SessionKey>,
    home: String,
    /// Processes of panes, to be waited for at the end.
    pids: RefCell<Vec<u32>>,
    _turn: MutexGuard<'static, ()>,
}

impl Rig {
    /// Starts everything and greets each agent; a skip when something outside is missing.
    pub fn start(part: Part, plan: Plan) -> Result<Self, Skip> {
        part.asked_for()?;
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let programs = install::install()?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        std::fs::write(folder.path().join("play"), plan.play.to_string()).unwrap();
        let models = start_models(folder.path())?;
        let (variables, sessions, pids) = (BTreeMap::new(), Vec::new(), RefCell::default());
        let home = String::from("trellis");
        let mut rig = Self { folder, models, programs, plan, variables, sessions, home, pids, _turn: turn };
        let port = rig.came_up("the model server", || std::fs::read_to_string(rig.path("port")).ok())?;
        rig.configure(&port);
        for (at, agent) in rig.plan.panes.clone().into_iter().enumerate() {
            let side = ["implementer", "reviewer"][at];
            let pane = rig.open(agent, &format!("You are the {side}. Reply READY."));
            assert_eq!(pane, format!("%{at}"));
        }
        for (at, agent) in rig.plan.panes.clone().into_iter().enumerate() {
            let session = rig.came_up(&format!("{agent} in pane {at}"), || rig.greeted(agent, &format!("%{at}")))?;
            rig.sessions.push(session);
        }
        if rig.plan.codex_without_queue {
            std::fs::remove_file(&rig.programs.codex).unwrap();
        }
        Ok(rig)
    }

    /// A session that was not opened by this rig: the implementer's, then the reviewer's.
    pub fn adopt(&mut self, session: SessionKey) {
        self.sessions.push(session);
    }

    /// The panes of this test's server; none when it does not run.
    pub fn panes(&self) -> Vec<String> {
        let listed = self.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
        listed.lines().filter(|line| line.starts_with('%')).map(str::to_owned).collect()
    }

    /// The session of the first pane.
    pub fn implementer(&self) -> &SessionKey {
        &self.sessions[0]
    }

    /// The session of the second pane.
    pub fn reviewer(&self) -> &SessionKey {
        &self.sessions[1]
    }

    /// A file or folder of this test.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lets the steps of the play go on that wait for this gate.
    pub fn open_gate(&self, name: &str) {
        std::fs::write(self.path(&format!("GATE-{name}")), "").unwrap();
    }

    /// How trellis sees this test's agents.
    pub fn settings(&self) -> Settings {
        let socket = self.path("s").to_string_lossy().into_owned();
        Settings {
            claude_home: self.path("home/.claude"),
            codex_home: self.path("home/.codex"),
            tmux: Whereabouts { named: Some(socket), ..Whereabouts::default() },
            path: self.variables.get("PATH").map(OsString::from),
            ..Settings::default()
        }
    }

    /// The session that lives in a pane of our own server: what else runs on this machine is nobody's business here.
    pub fn session_in(&self, pane: &str) -> Option<LiveSession> {
        live::discover(&self.settings()).into_iter().find(|seen| {
            let found = seen.pane.as_ref();
            found.is_ok_and(|found| found.server.socket() == self.path("s") && found.id.as_str() == pane)
        })
    }

    /// The session of a pane once its greeting is answered.
    pub fn greeted(&self, agent: Agent, pane: &str) -> Option<SessionKey> {
        let seen = self.session_in(pane).filter(|seen| seen.session.agent == agent)?;
        // Claude says idle also before its first turn: that turn's end is what counts.
        let (end, free) = match agent {
            Agent::Claude => ("\"turn_duration\"", seen.status == LiveStatus::Idle),
            Agent::Codex => ("\"task_complete\"", true),
        };
        (free && self.transcript(&seen.session).contains(end)).then_some(seen.session)
    }

    /// Settings that let both start without a dialog.
    fn configure(&mut self, port: &str) {
        let repo = self.path("repo");
        for name in ["repo", "tmp", "bin", "home/.claude", "home/.codex"] {
            std::fs::create_dir_all(self.path(name)).unwrap();
        }
        std::fs::write(repo.join("CHECKLIST.md"), "- [ ] one\n- [ ] two\n- [ ] three\n").unwrap();
        git(&repo, &["init", "-q"]);
        git(&repo, &["add", "-A"]);
        git(&repo, &["-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "-qm", "checklist"]);
        let repo = repo.to_string_lossy();
        let claude = json!({
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
        // Where a person's PATH would find them.
        std::os::unix::fs::symlink(&self.programs.claude, self.path("bin/claude")).unwrap();
        std::os::unix::fs::symlink(&self.programs.codex, self.path("bin/codex")).unwrap();
        let path = |name: &str| self.path(name).to_string_lossy().into_owned();
        self.variables = BTreeMap::from([
            ("PATH", format!("{}:{PATH}", path("bin"))),
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
        ]);
        self.variables.extend(self.plan.variables.iter().cloned());
        if self.plan.codex_without_queue {
            self.hide_queue();
        }
    }

    /// Puts the Codex of this test where it can be taken away, and one without `queue` in front of `PATH`.
    fn hide_queue(&mut self) {
        let own = self.path("codex");
        if std::fs::hard_link(&self.programs.codex, &own).is_err() {
            std::fs::copy(&self.programs.codex, &own).unwrap();
        }
        self.programs.codex = own;
        std::fs::remove_file(self.path("bin/codex")).unwrap();
        write_script(&self.path("bin/codex"), "exit 2");
    }

    /// A shell script in the repository, committed.
    pub fn script(&self, name: &str, text: &str) {
        let repo = self.path("repo");
        write_script(&repo.join(name), text);
        git(&repo, &["add", "-A"]);
        git(&repo, &["-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "-qm", name]);
    }

    /// Opens an agent with a first prompt in a pane of its own, beside those that are there; gives the pane. The program
    /// itself is the pane's process.
    pub fn open(&self, agent: Agent, prompt: &str) -> String {
        let mut words = match agent {
            Agent::Claude => vec![self.programs.claude.to_string_lossy().into_owned()],
            Agent::Codex => vec![self.programs.codex.to_string_lossy().into_owned()],
        };
        let arguments = if agent == Agent::Claude { &self.plan.claude } else { &self.plan.codex };
        words.extend(arguments.iter().map(|word| (*word).to_owned()));
        words.push(prompt.to_owned());
        self.open_words(&words)
    }

    /// Opens a pane that runs a program in the repository; gives the pane.
    pub fn open_words(&self, words: &[String]) -> String {
        let repo = self.path("repo").to_string_lossy().into_owned();
        let is_first = self.pids.borrow().is_empty();
        let begin: &[&str] =
            if is_first { &["new-session", "-d", "-x", "200", "-y", "60"] } else { &["split-window", "-h"] };
        let given = ["-c", &repo, "-P", "-F", "#{pane_id} #{pane_pid}", "--"];
        let words: Vec<&str> = begin.iter().chain(&given).copied().chain(words.iter().map(String::as_str)).collect();
        let said = self.tmux_with(&self.variables, &words);
        let (pane, pid) = said.trim().split_once(' ').unwrap_or_else(|| panic!("tmux {words:?}: {said}"));
        self.pids.borrow_mut().push(pid.parse().unwrap());
        pane.to_owned()
    }

    /// Opens a window that runs a program, in a server of its own where none runs; gives its pane.
    pub fn open_window(&self, words: &[String]) -> String {
        let begin: &[&str] =
            if self.panes().is_empty() { &["new-session", "-x", "200", "-y", "60"] } else { &["new-window"] };
        let given = ["-d", "-P", "-F", "#{pane_id}", "--"];
        let words: Vec<&str> = begin.iter().chain(&given).copied().chain(words.iter().map(String::as_str)).collect();
        self.tmux_with(&self.variables, &words).trim().to_owned()
    }

    /// The home of trellis.
    pub fn home(&self) -> PathBuf {
        self.path(&self.home)
    }

    /// Another home from now on.
    pub fn use_home(&mut self, name: &str) {
        name.clone_into(&mut self.home);
    }

    /// `trellis` with these words, this test's home, and the agents' environment.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(install::trellis());
        command.args(words).arg("--home").arg(self.home()).env_clear().envs(&self.variables);
        command.current_dir(self.path("repo")).stdin(Stdio::null());
        command
    }

    /// Begins it; what it says is kept in a file.
    pub fn begin(&self, words: &[&str]) -> Running<'_> {
        let file = tempfile::NamedTempFile::new_in(self.folder.path()).unwrap();
        let mut command = self.command(words);
        let said = file.reopen().unwrap();
        command.stdout(said.try_clone().unwrap()).stderr(said);
        let child = command.spawn().expect("trellis");
        Running { rig: self, words: format!("{words:?}"), child, file }
    }

    /// Runs it to its end; its exit code and its output.
    pub fn trellis(&self, words: &[&str], limit: Duration) -> (Option<i32>, String) {
        self.begin(words).finish(limit)
    }

    /// Begins a run between both panes, driven in the foreground.
    pub fn begin_run(&self, more: &[&str]) -> Running<'_> {
        self.begin_start(&[&["--headless"], more].concat())
    }

    /// Records a run between both panes, to be driven by somebody else.
    pub fn record_run(&self, more: &[&str]) {
        let (code, said) = self.begin_start(more).finish(PATIENCE);
        assert_eq!(code, Some(0), "{said}");
    }

    fn begin_start(&self, more: &[&str]) -> Running<'_> {
        let (implementer, reviewer) = (self.implementer().to_string(), self.reviewer().to_string());
        let words = ["run", "start", "--implementer", &implementer, "--reviewer", &reviewer];
        self.begin(&[&words, more].concat())
    }

    /// A tmux command on this test's server.
    pub fn tmux(&self, words: &[&str]) -> String {
        self.tmux_with(&BTreeMap::from([("PATH", PATH.to_owned())]), words)
    }

    fn tmux_with(&self, variables: &BTreeMap<&str, String>, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.env_clear().envs(variables).args(["-u", "-f", "/dev/null", "-S"]).arg(self.path("s")).args(words);
        let output = command.output().expect("tmux");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    /// What stands on a pane.
    pub fn screen(&self, pane: &str) -> String {
        self.tmux(&["capture-pane", "-p", "-t", pane])
    }

    /// What the Claude of a pane waits for, by its own word.
    pub fn claude_waits_for(&self, pane: &str) -> Option<String> {
        match self.session_in(pane)?.status {
            LiveStatus::Waiting { what } => Some(what),
            LiveStatus::Idle | LiveStatus::Busy | LiveStatus::Silent => None,
        }
    }

    /// Types a text as a person does.
    pub fn type_in(&self, pane: &str, text: &str) {
        self.tmux(&["send-keys", "-t", pane, "-l", text]);
    }

    /// Says something to an agent as a person does: types it, and presses Enter when it stands there.
    pub fn say(&self, pane: &str, text: &str) {
        self.type_in(pane, text);
        self.wait("what was typed", || self.screen(pane).contains(text));
        // Codex takes an Enter right behind a burst of keys for a line feed.
        std::thread::park_timeout(Duration::from_millis(400));
        self.press(pane, "Enter");
    }

    /// Ends the process of an agent's pane at once.
    pub fn kill_agent(&self, pane: &str) {
        let seen = self.session_in(pane).expect("the agent to kill");
        let done = Command::new("kill").args(["-9", &seen.process.pid.to_string()]).status().unwrap();
        assert!(done.success());
    }

    /// The sessions that live now in panes of our own server.
    pub fn sessions_now(&self) -> Vec<SessionKey> {
        let ours = |seen: &LiveSession| seen.pane.as_ref().is_ok_and(|pane| pane.server.socket() == self.path("s"));
        live::discover(&self.settings()).into_iter().filter(ours).map(|seen| seen.session).collect()
    }

    /// Presses a key.
    pub fn press(&self, pane: &str, key: &str) {
        self.tmux(&["send-keys", "-t", pane, key]);
    }

    /// Waits for a program from outside: a skip when it does not come.
    pub fn came_up<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T, Skip> {
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

    /// Waits until something holds.
    pub fn wait(&self, what: &str, mut holds: impl FnMut() -> bool) {
        self.wait_for(what, || holds().then_some(()));
    }

    /// Waits for something.
    pub fn wait_for<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < end, "waited in vain for {what}:\n{}", self.told());
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }

    /// Looks for a while whether something stays as it is. One look may fail: Claude rewrites its status file in place.
    pub fn stays(&self, what: &str, time: Duration, mut holds: impl FnMut() -> bool) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            let mut looks = 0;
            while !holds() {
                looks += 1;
                assert!(looks < 5, "{what} did not stay:\n{}", self.told());
                std::thread::park_timeout(Duration::from_millis(100));
            }
            std::thread::park_timeout(Duration::from_millis(100));
        }
    }

    /// What stands on all panes.
    pub fn screens(&self) -> String {
        self.panes().iter().map(|pane| format!("--- {pane}\n{}\n", self.screen(pane).trim_end())).collect()
    }

    /// Everything that helps to understand a failure.
    pub fn told(&self) -> String {
        let entries: Vec<String> = self.entries().iter().map(ToString::to_string).collect();
        let prompts: Vec<String> = self.prompts().iter().map(|asked| format!("{asked:?}")).collect();
        format!("{}\n{}\n{}", self.screens(), entries.join("\n"), prompts.join("\n"))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if std::thread::panicking() && std::env::var_os("TRELLIS_KEEP").is_some() {
            let kept = std::env::temp_dir().join(format!("trellis-kept-{}", self.models.id()));
            let copied = Command::new("cp").arg("-a").arg(self.folder.path()).arg(&kept).status();
            println!("kept in {}: {copied:?}", kept.display());
        }
        let running = self.tmux(&["list-panes", "-a", "-F", "#{pane_pid}"]);
        self.pids.borrow_mut().extend(running.lines().filter_map(|pid| pid.parse::<u32>().ok()));
        self.tmux(&["kill-server"]);
        // A Codex that was brought back leaves its background server behind.
        for name in ["daemon.pid", "daemon-updater.pid"] {
            let told = std::fs::read(self.path("home/.codex/app-server-daemon").join(name)).unwrap_or_default();
            let told: Value = serde_json::from_slice(&told).unwrap_or_default();
            if let Some(pid) = told["pid"].as_u64() {
                let _ = Command::new("kill").arg(pid.to_string()).status();
                self.pids.borrow_mut().extend(u32::try_from(pid));
            }
        }
        let _ = self.models.kill();
        let _ = self.models.wait();
        let end = Instant::now() + Duration::from_secs(10);
        let lives = |pid: &u32| Path::new("/proc").join(pid.to_string()).exists();
        while self.pids.borrow().iter().any(lives) && Instant::now() < end {
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

/// A trellis that runs.
pub struct Running<'a> {
    rig: &'a Rig,
    words: String,
    child: Child,
    file: tempfile::NamedTempFile,
}

impl Running<'_> {
    /// What it has said so far.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.file.path()).unwrap_or_default()
    }

    /// How it ended, once it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits for its end.
    pub fn finish(mut self, limit: Duration) -> (Option<i32>, String) {
        let end = Instant::now() + limit;
        loop {
            if let Some(status) = self.ended() {
                return (status.code(), self.said());
            }
            assert!(Instant::now() < end, "trellis {} did not end:\n{}\n{}", self.words, self.said(), self.rig.told());
            std::thread::park_timeout(Duration::from_millis(100));
        }
    }

    /// Ends it at once, as a loss of power would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start_models(folder: &Path) -> Result<Child, Skip> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/model_server.py");
    Command::new("python3")
        .arg(script)
        .args([folder.join("port"), folder.join("log"), folder.join("play")])
        .stdin(Stdio::null())
        .spawn()
        .map_err(|error| format!("python3: {error}"))
}

fn write_script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn git(folder: &Path, words: &[&str]) {
    let done = Command::new("git").arg("-C").arg(folder).args(words).status().expect("git");
    assert!(done.success());
}
