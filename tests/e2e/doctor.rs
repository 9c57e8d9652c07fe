//! `trellis doctor` on machines made for it: programs that only tell a version, a search path of their own, fresh homes.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use crate::demo::Ended;
use crate::terminal::{PATIENCE, program};

/// A machine: `bin` is all of its search path, `home` the person's folder.
struct Machine(tempfile::TempDir);

impl Machine {
    /// One where all is well, but for what a test takes away.
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        for folder in ["bin", "home/.claude/projects", "home/.codex/sessions"] {
            fs::create_dir_all(machine.path(folder)).unwrap();
        }
        machine.tells("tmux", "tmux 3.3a");
        for agent in ["claude", "codex"] {
            let tried = trellis::doctor::TRIED.iter().find(|tried| tried.agent.to_string() == agent).unwrap();
            machine.tells(agent, &format!("{} (a stand-in)", tried.version));
        }
        machine
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    /// A program that tells a version and can do nothing else.
    fn tells(&self, name: &str, version: &str) {
        let file = self.path("bin").join(name);
        fs::write(
            &file,
            format!(
                "#!/bin/sh\n[ \"$1\" = {} ] && echo '{version}'\n",
                if name == "tmux" { "-V" } else { "--version" }
            ),
        )
        .unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn trellis(&self, words: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(words)
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("HOME", self.path("home"))
            .env("LANG", "C.UTF-8")
            .env("TMUX_TMPDIR", self.0.path());
        command
    }

    fn doctor(&self, words: &[&str]) -> Output {
        self.trellis(&[&["doctor"], words].concat()).output().unwrap()
    }

    /// What it says, with the code it ends with.
    #[track_caller]
    fn says(&self, code: i32, parts: &[&str]) -> String {
        let output = self.doctor(&[]);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{out}{err}");
        assert_eq!(out.lines().any(|line| line.starts_with("fix ")), code == 1, "{out}");
        for part in parts {
            assert!(out.contains(part), "{part:?} is not in:\n{out}");
        }
        out
    }
}

/// Every file below a folder, with its length.
fn tree(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let facts = entry.metadata().unwrap();
            found.push((entry.path(), facts.len()));
            if facts.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn all_well_ends_with_0_and_changes_nothing() {
    let machine = Machine::new();
    let before = tree(machine.0.path());
    let said =
        machine.says(0, &["tmux 3.3a", "0 sessions of claude", "0 sessions of codex", "is made when it is needed"]);
    assert!(!said.contains("fix "), "{said}");
    assert_eq!(tree(machine.0.path()), before, "it only looks");
}

#[test]
fn a_missing_tmux_is_said_with_what_to_do() {
    let machine = Machine::new();
    fs::remove_file(machine.path("bin/tmux")).unwrap();
    machine.says(1, &["tmux cannot be run", "install tmux 3.2 or newer"]);
}

#[test]
fn a_program_that_the_settings_name_is_the_one_that_is_judged() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("home/.trellis")).unwrap();
    let names = |name: &str, file: &str| {
        fs::write(machine.path("home/.trellis/config.toml"), format!("{name} = \"{file}\"\n")).unwrap();
    };
    // Missing: the one in PATH does not count.
    names("claude_program", "/no/such/claude");
    machine.says(
        0,
        &[
            "claude's program is not found: claude_program in config.toml names /no/such/claude, which can't be run",
            "put a program there, or correct claude_program in config.toml or take it out",
        ],
    );
    // Too old, while the one in PATH is not.
    machine.tells("old", "codex-cli 0.1.0");
    let old = machine.path("bin/old").display().to_string();
    names("codex_program", &old);
    machine.says(
        1,
        &[
            &format!("codex 0.1.0 is too old at {old}"),
            "update it to 0.",
            "or name another as codex_program in config.toml",
        ],
    );
    // A bare name is looked for in PATH, and one that is not there is said as it was written.
    names("codex_program", "codex-beta");
    machine.says(0, &["codex_program in config.toml names codex-beta, which can't be run"]);
}

#[test]
fn the_tmux_server_that_is_named_is_the_one_that_is_looked_at() {
    let machine = Machine::new();
    fs::write(
        machine.path("bin/tmux"),
        "#!/bin/sh\nexec /usr/bin/env -u TMUX PATH=/usr/local/bin:/usr/bin:/bin tmux \"$@\"\n",
    )
    .unwrap();
    let own = |words: &[&str]| {
        let socket = machine.path("own socket");
        let done = Command::new("tmux").arg("-S").arg(&socket).args(["-f", "/dev/null"]).args(words).status().unwrap();
        assert!(done.success(), "tmux {words:?}");
    };
    own(&["new-session", "-d", "cat"]);
    let socket = machine.path("own socket").display().to_string();
    let said = machine.says(0, &[]);
    assert!(!said.contains(&socket), "{said}");
    let output = machine.doctor(&["--tmux-socket", &socket]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    own(&["kill-server"]);
    assert!(said.contains(&format!("a server with 1 pane answers at {socket}")), "{said}");
}

#[test]
fn an_agent_that_is_too_old_is_said_with_what_to_do() {
    let machine = Machine::new();
    machine.tells("claude", "2.0.1 (Claude Code)");
    machine.says(1, &["claude 2.0.1 is too old", "update it to 2."]);
}

#[test]
fn a_folder_of_transcripts_that_cannot_be_read_is_said() {
    let machine = Machine::new();
    // Not a folder: nobody can list it, root neither.
    fs::remove_dir(machine.path("home/.codex/sessions")).unwrap();
    fs::write(machine.path("home/.codex/sessions"), "").unwrap();
    machine.says(1, &["codex's transcripts cannot be read", "another one in config.toml"]);
}

#[test]
fn a_home_that_is_driven_names_the_process_and_one_that_was_stopped_is_to_be_mended() {
    let machine = Machine::new();
    let home = machine.path("home/.trellis").display().to_string();
    let mut demo = machine.trellis(&["demo", "--headless", "--speed", "0.1", "--home", &home]);
    let driver = Ended(demo.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let pid = driver.0.id().to_string();
    let until = Instant::now() + PATIENCE;
    while !String::from_utf8_lossy(&machine.doctor(&[]).stdout).contains(&format!("trellis (pid {pid}) drives")) {
        assert!(Instant::now() < until, "it does not drive");
    }
    machine.says(0, &["drives this home; other commands look on"]);
    let stop = |signal: &str| assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    stop("-STOP");
    machine.says(1, &["is stopped: nothing goes on", "fg"]);
}

#[test]
fn another_program_in_the_home_is_named() {
    let machine = Machine::new();
    let home = machine.path("home/.trellis");
    fs::create_dir_all(&home).unwrap();
    let open = fs::File::create(home.join("other.db")).unwrap();
    let other = Ended(Command::new("sleep").arg("600").stdin(open).spawn().unwrap());
    let said = machine.says(1, &["another program has files of this home open: sleep", "two writers lose messages"]);
    assert!(said.contains(&format!("(pid {})", other.0.id())), "{said}");
}

#[test]
fn a_report_holds_no_path_of_the_machine_and_json_can_be_read() {
    let machine = Machine::new();
    let home = machine.path("home/.trellis");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("config.toml"), "theme = \"chartreuse\"\n").unwrap();
    machine.says(0, &["chartreuse"]);
    let report = String::from_utf8(machine.doctor(&["--report"]).stdout).unwrap();
    let folder = machine.0.path().display().to_string();
    assert!(report.starts_with("trellis ") && report.contains("<path>"), "{report}");
    assert!(!report.contains(&folder) && !report.contains("chartreuse"), "{report}");
    let json: serde_json::Value = serde_json::from_slice(&machine.doctor(&["--json"]).stdout).unwrap();
    let levels: Vec<&str> = json.as_array().unwrap().iter().map(|finding| finding["level"].as_str().unwrap()).collect();
    assert!(levels.contains(&"ok") && levels.contains(&"note") && !levels.contains(&"fix"), "{json}");
}

/// A report is for a stranger: nothing that a person, an agent or this machine named stands in it, however it is spelled.
#[test]
fn a_report_of_a_hostile_home_names_no_user_host_path_session_run_or_text() {
    let machine = Machine::new();
    let marks =
        ["eve-the-user", "secret-host", "SECRET-TITLE", "SECRET-PROMPT", "SECRET-SESSION", "secret-key", "secret.json"];
    let user = machine.path("home/eve-the-user \u{1b}[31m@secret-host");
    fs::create_dir_all(user.join(".codex")).unwrap();
    let home = user.join(".trellis");
    let run = |words: &[&str]| {
        let mut command = machine.trellis(words);
        let host = "secret-host";
        let output = command.env("HOME", &user).env("USER", marks[0]).env("LOGNAME", marks[0]).env("HOSTNAME", host);
        output.output().unwrap()
    };
    crate::upgrade::corpus(1, &home);
    let record = home.join("checklist-runs/running-probe.json");
    let text = fs::read_to_string(&record).unwrap().replace("builder-claude", "SECRET-SESSION");
    let mut running: serde_json::Value = serde_json::from_str(&text).unwrap();
    running["name"] = serde_json::json!("SECRET-TITLE \u{1b}[31m\u{202e}");
    running["implementer"]["worktree"] = serde_json::json!("/srv/eve-the-user/secret-host");
    fs::write(&record, running.to_string()).unwrap();
    // Every kind of finding that has words of others in it: settings, records, transcripts, quarantine.
    fs::write(home.join("config.toml"), "\"secret-key\" = 1\ntheme = \"SECRET-TITLE\"\n").unwrap();
    fs::write(home.join("keymap.toml"), "[[runs]]\nkeys = [\"secret-key\"]\naction = \"SECRET-PROMPT\"\n").unwrap();
    fs::write(home.join("pairs/secret.json"), "{\"schema\": 99, \"title\": \"SECRET-TITLE\"}").unwrap();
    fs::create_dir_all(home.join("quarantine")).unwrap();
    fs::write(home.join("quarantine/secret.json"), "SECRET-PROMPT").unwrap();
    let project = user.join(".claude/projects/-srv-eve-the-user");
    fs::create_dir_all(&project).unwrap();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts/claude/01-plain-turn.jsonl");
    let unknown = "{\"type\":\"SECRET-PROMPT of eve-the-user\",\"uuid\":\"u\"}\n";
    let text = fs::read_to_string(sample).unwrap() + unknown;
    fs::write(project.join("00000000-0000-4000-8000-000000000001.jsonl"), text).unwrap();
    let whole = run(&["doctor", "--home", home.to_str().unwrap()]);
    let whole = String::from_utf8([whole.stdout, whole.stderr].concat()).unwrap();
    for mark in ["SECRET-TITLE", "SECRET-SESSION", "SECRET-PROMPT", "secret-key", "eve-the-user"] {
        assert!(whole.contains(mark), "the doctor itself says {mark}:\n{whole}");
    }
    for words in [&["doctor", "--report"][..], &["doctor", "--report", "--json"]] {
        let output = run(&[words, &["--home", home.to_str().unwrap()]].concat());
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let folder = machine.0.path().display().to_string();
        let user = user.display().to_string();
        for secret in marks.into_iter().chain([folder.as_str(), user.as_str()]) {
            assert!(!said.contains(secret), "{secret} stands in:\n{said}\nfrom\n{whole}");
        }
        assert!(said.contains("<session>") && said.contains("<path>") && said.contains("<problem>"), "{said}");
        assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "{said:?}");
    }
}

/// Runs a command as a user who may not pass over rights.
fn as_nobody(machine: &Machine, words: &[&str]) -> Output {
    if !rustix::process::geteuid().is_root() {
        return machine.trellis(words).output().unwrap();
    }
    let nobody = 65534;
    let own = machine.path("bin/trellis-of-nobody");
    fs::copy(program(), &own).unwrap();
    for (path, _) in tree(machine.0.path()) {
        lchown(&path, Some(nobody), Some(nobody)).unwrap();
    }
    lchown(machine.0.path(), Some(nobody), Some(nobody)).unwrap();
    let wanted = machine.trellis(words);
    let mut command = Command::new(own);
    command.args(wanted.get_args()).env_clear();
    command.envs(wanted.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.uid(nobody).gid(nobody).current_dir("/").output().unwrap()
}

#[test]
fn settings_that_cannot_be_read_are_a_finding_and_no_path_stands_in_the_report() {
    let machine = Machine::new();
    let folder = machine.0.path().display().to_string();
    fs::create_dir_all(machine.path("home/.trellis/config.toml")).unwrap();
    machine.says(1, &["config.toml cannot be read: it is not a file", "move it away", "tmux 3.3a"]);
    let report = machine.doctor(&["--report"]);
    let said = String::from_utf8([report.stdout, report.stderr].concat()).unwrap();
    assert!(said.contains("<path> cannot be read: <reason>") && !said.contains(&folder), "{said}");
    // A home where none can be.
    let report = machine.doctor(&["--report", "--home", "/dev/null/x"]);
    let said = String::from_utf8([report.stdout, report.stderr].concat()).unwrap();
    assert!(said.contains("<path> cannot be written: <reason>") && !said.contains("/dev/null"), "{said}");
}

#[test]
fn a_folder_that_this_user_may_not_read_is_named_wherever_it_is() {
    for (part, says) in [
        ("home/.claude/projects/-work", "claude's transcripts cannot be read"),
        ("home/.claude/sessions", "claude's status files cannot be read"),
        ("home/.codex/sessions/2026", "codex's transcripts cannot be read"),
        ("home/.trellis/config.toml", "config.toml cannot be read"),
    ] {
        let machine = Machine::new();
        let path = machine.path(part);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if part.ends_with("toml") {
            fs::write(&path, "").unwrap()
        } else {
            fs::create_dir_all(&path).unwrap()
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        let output = as_nobody(&machine, &["doctor"]);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.code() == Some(1) && said.contains(says), "{part}: {said}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }
}
