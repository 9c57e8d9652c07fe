//! Every command line of README and manual, run as it is written: in a home of its own, with stand-ins for the agents and a
//! tmux server of its own. A line that is not run here stands in a list with its reason, and every command that stands
//! inside of a sentence is one that the program understands.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::demo::Ended;
use crate::terminal::{Terminal, WIDE, program};

/// What is done with a line that does not simply run and end well.
enum How {
    /// It wants a terminal, and ends there.
    InTerminal,
    /// It is run with these words behind it, so that it does not take its time.
    With(&'static str),
    /// It takes the whole terminal; this stands on it.
    Screen(&'static str),
    /// It asks, and is told yes.
    Asks,
    /// It goes on until it is ended.
    GoesOn,
    /// It is not run here; why.
    NotHere(&'static str),
}

/// By the line's beginning, comments taken away.
const SPECIAL: [(&str, How); 13] = [
    ("cargo install --path", How::NotHere("builds a release; `.ci/run` does it")),
    ("cargo install --git", How::NotHere("builds; `.ci/run` does it from a clone")),
    ("cargo uninstall trellis", How::NotHere("would take away what the person of this machine installed")),
    ("trellis demo --headless", How::With("--speed 50")),
    ("trellis demo --scene near-miss", How::Screen("nearly approved")),
    ("trellis demo --list", How::With("")),
    ("trellis demo", How::Screen("shop")),
    ("trellis run start", How::With("--set debounce=0")),
    ("trellis watch ID", How::With("")),
    ("trellis watch", How::GoesOn),
    ("trellis hooks install", How::Asks),
    ("trellis hooks remove", How::Asks),
    ("trellis notify", How::InTerminal),
];

/// Words in a sentence that begin with the program's name and are no command.
const NO_COMMANDS: [&str; 4] = ["trellis !1 >2", "trellis !1 >3 ?1", "trellis to codex", "trellis --version"];

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The lines of the blocks of a language, without their comments.
fn lines(page: &str, language: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            inside = !inside && fence == language;
        } else if inside {
            let words = line.split(" #").next().unwrap_or_default().trim();
            lines.extend((!words.is_empty()).then(|| words.to_owned()));
        }
    }
    lines
}

/// A person who has both agents, with a session of each, and trellis in the search path.
struct Person {
    terminal: Terminal,
    claude: String,
    codex: String,
}

impl Person {
    fn new() -> Self {
        let terminal = Terminal::open(WIDE);
        let mut person = Self { terminal, claude: String::new(), codex: String::new() };
        for name in ["bin", "stand-ins", "work", "tmp", ".claude", ".codex"] {
            fs::create_dir(person.path(name)).unwrap();
        }
        symlink(program(), person.path("bin/trellis")).unwrap();
        let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
        let python = String::from_utf8(python.stdout).unwrap();
        let start = include_str!("../fixtures/fake_cli/start.py");
        let turn = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_cli/turn.py");
        let folder = person.path("");
        for agent in ["claude", "codex"] {
            let tried = trellis::doctor::TRIED.iter().find(|tried| tried.agent.to_string() == agent).unwrap();
            let stand_in = person.path("stand-ins").join(agent);
            let wrapper = format!(
                "#!/bin/sh\nfor word; do case $word in\n--version) echo '{agent} {}'; exit;;\n-p|exec) exec python3 '{turn}' \
                 {agent} '{}' \"$@\";;\nesac; done\nexec '{}' \"$@\"\n",
                tried.version,
                folder.display(),
                stand_in.display(),
            );
            for (file, text) in
                [(stand_in, format!("#!{}\n{start}", python.trim())), (person.path("bin").join(agent), wrapper)]
            {
                fs::write(&file, text).unwrap();
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        let plan = json!({
            "claude": [["Implement the next phase", ["Phase one is written.", "COMPLETED"]], ["", ["READY"]]],
            "codex": [["Review the implementer's work", ["LGTM"]], ["", ["READY"]]],
        });
        fs::write(person.path("plan.json"), plan.to_string()).unwrap();
        fs::write(person.path("work/answer.md"), "All of it is done.\n\nLGTM\n").unwrap();
        let id = format!("{:08x}-0000-4000-8000-000000000001", std::process::id());
        person.greet(&["claude", "-p", "--session-id", &id]);
        let said = person.greet(&["codex", "exec", "--json", "-"]);
        let first: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
        (person.claude, person.codex) = (id, first["thread_id"].as_str().unwrap().to_owned());
        person
    }

    fn path(&self, below: &str) -> PathBuf {
        self.terminal.folder.path().join(below)
    }

    /// The search path, and the variables that part this person from everybody else on the machine.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let own = |name: &str| self.path(name).display().to_string();
        vec![
            ("HOME", own("")),
            ("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", own("bin"))),
            ("CLAUDE_CONFIG_DIR", own(".claude")),
            ("CODEX_HOME", own(".codex")),
            ("FAKE_CLI", own("tmp")),
            ("TMPDIR", own("tmp")),
            ("TMUX_TMPDIR", own("tmp")),
            ("LANG", "C.UTF-8".to_owned()),
        ]
    }

    fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]).env_clear().env("TERM", "dumb").envs(self.environment());
        command.current_dir(self.path("work")).stdin(Stdio::null());
        command
    }

    /// A first turn of an agent.
    fn greet(&self, words: &[&str]) -> String {
        let output = self.shell(&format!("echo hello | {}", words.join(" "))).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The line with what a person puts into it.
    fn filled_in(&self, line: &str) -> String {
        let runs = self.shell("trellis run list --json").output().unwrap();
        let runs: Value = serde_json::from_slice(&runs.stdout).unwrap_or_default();
        let run = runs[0]["id"].as_str().unwrap_or("no-run-yet");
        let line = line.replace("claude:SESSION", &format!("claude:{}", self.claude));
        let line = line.replace("codex:SESSION", &format!("codex:{}", self.codex));
        let words = line.split(' ').map(|word| match word {
            "ID" => run,
            "MODEL" => "opus",
            "FILE" => "answer.md",
            word => word,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Runs one line as its kind says.
    fn run(&self, line: &str) {
        let how = SPECIAL.iter().find(|(begins, _)| line.starts_with(begins)).map(|(_, how)| how);
        let filled = self.filled_in(line);
        match how {
            Some(How::NotHere(_)) => {}
            Some(How::Screen(text)) => {
                self.type_in(&filled);
                self.terminal.wait_for(text);
                self.terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
            }
            Some(How::Asks) => {
                self.type_in(&filled);
                self.terminal.wait_for("y or n");
                self.terminal.keys(&["y", "Enter"]);
                self.terminal.wait_for("ended 0");
            }
            Some(How::GoesOn) => {
                let mut command = self.shell(&format!("exec {filled}"));
                let mut child = Ended(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
                assert!(child.0.try_wait().unwrap().is_none(), "{line} ends at once");
            }
            Some(How::InTerminal) => {
                self.type_in(&filled);
                self.terminal.wait_for("ended 0");
            }
            Some(How::With(more)) => self.ends_well(&format!("{filled} {more}")),
            None => self.ends_well(&filled),
        }
    }

    fn ends_well(&self, line: &str) {
        let output = self.shell(line).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {}", said(&output));
    }

    fn type_in(&self, line: &str) {
        let variables: Vec<String> =
            self.environment().iter().map(|(name, value)| format!("{name}='{value}'")).collect();
        let work = self.path("work");
        self.terminal.run(&format!("cd {}; clear; env {} {line}; echo ended $?", work.display(), variables.join(" ")));
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        // The stand-ins end by themselves, and with them the server they were started on.
        let _ = fs::write(self.path("tmp/end"), "");
        let _ = self.shell("tmux kill-server").output();
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[track_caller]
fn run_all(name: &str, least: usize) {
    let lines = lines(&page(name), "sh");
    assert!(lines.len() >= least, "{name}: {lines:?}");
    let person = Person::new();
    // The manual's first lines are about sessions that can be reached already.
    for agent in ["claude", "codex"] {
        let reach = person.filled_in(&format!("trellis session reach {agent}:SESSION headless"));
        person.ends_well(&reach);
    }
    for line in lines {
        person.run(&line);
    }
}

#[test]
fn every_command_line_of_the_readme_runs_as_written() {
    run_all("README.md", 18);
}

#[test]
fn every_command_line_of_the_manual_runs_as_written() {
    run_all("docs/manual.md", 25);
}

#[test]
fn what_is_said_of_command_lines_here_is_said_of_lines_that_are_there() {
    let all: Vec<String> = ["README.md", "docs/manual.md"].iter().flat_map(|name| lines(&page(name), "sh")).collect();
    let mut left = all;
    for (begins, how) in &SPECIAL {
        let before = left.len();
        left.retain(|line| !line.starts_with(begins));
        assert!(left.len() < before, "no line begins with {begins}, or one above it takes them all");
        assert!(!matches!(how, How::NotHere("")));
    }
}

/// What a person writes in the place of a word in capitals.
fn example(word: &str) -> &str {
    match word {
        "SESSION" | "ID" | "RUN" => "x-1",
        "claude:SESSION" | "AGENT:SESSION" => "claude:x-1",
        "codex:SESSION" => "codex:x-1",
        "KEY=VALUE" => "max_rounds=3",
        "SHELL" => "bash",
        word => word,
    }
}

#[test]
fn every_command_inside_of_a_sentence_is_understood() {
    let mut seen = 0;
    for name in ["README.md", "docs/manual.md", "docs/contributing.md", "docs/security.md", "CHANGELOG.md"] {
        let page = page(name);
        let prose: Vec<&str> = page.split("```").step_by(2).collect();
        for span in prose.iter().flat_map(|part| part.split('`').skip(1).step_by(2)) {
            let span = span.split_whitespace().collect::<Vec<_>>().join(" ");
            if !span.starts_with("trellis ") || NO_COMMANDS.contains(&span.as_str()) {
                continue;
            }
            seen += 1;
            let words = span.split(' ').map(|word| OsString::from(example(word)));
            if let Err(Err(failure)) = trellis::cli::parse(words)
                && !failure.message.contains("needs one of")
                && !failure.message.contains("required arguments were not provided")
            {
                panic!("{name}: `{span}`: {}", failure.message);
            }
        }
    }
    assert!(seen >= 25, "{seen}");
}

/// The line for tmux is one that tmux takes.
#[test]
fn the_manuals_line_for_tmux_is_one() {
    let lines = lines(&page("docs/manual.md"), "tmux");
    assert_eq!(lines.len(), 1, "{lines:?}");
    let terminal = Terminal::open(WIDE);
    let file = terminal.folder.path().join("tmux.conf");
    fs::write(&file, format!("{}\n", lines[0])).unwrap();
    terminal.tmux(&["source-file", file.to_str().unwrap()]);
    let set = terminal.tmux(&["show-options", "-gv", "status-right"]).stdout;
    assert!(String::from_utf8_lossy(&set).contains("trellis status --short"));
}
