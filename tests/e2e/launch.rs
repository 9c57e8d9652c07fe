//! Starting agents from the command line and by a key, in a real terminal; the programs are stand-ins.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::terminal::{NARROW, Terminal, WIDE};

/// A terminal in which `claude` and `codex` are stand-ins that keep their files below the test's own folder.
pub fn terminal(size: (u16, u16)) -> Option<Terminal> {
    let said = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let Ok(said) = said else {
        // Not by `println!`, which is kept back for a test that passes.
        let _ = writeln!(std::io::stderr(), "skipped: no python3");
        return None;
    };
    let python = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    let terminal = Terminal::open(size);
    let at = |name: &str| terminal.folder.path().join(name);
    for name in ["bin", "shop", "fake", ".claude", ".codex"] {
        fs::create_dir(at(name)).unwrap();
    }
    for name in ["claude", "codex"] {
        let script = include_str!("../fixtures/fake_cli/start.py");
        fs::write(at("bin").join(name), format!("#!{python}\n{script}")).unwrap();
        fs::set_permissions(at("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    // The programs are started by the tmux server, with its variables and those that trellis gives them.
    for (name, value) in [("FAKE_CLI", "fake"), ("CLAUDE_CONFIG_DIR", ".claude"), ("CODEX_HOME", ".codex")] {
        terminal.tmux(&["set-environment", "-g", name, at(value).to_str().unwrap()]);
    }
    // As a shell in this pane has them: a new window goes to this very server.
    let inside = format!("TMUX={},{},0 TMUX_PANE=%0", terminal.fact("socket_path"), terminal.fact("pid"));
    let (bin, shop) = (at("bin"), at("shop"));
    terminal.run(&format!("cd {}; export {inside} PATH={}:$PATH; clear", shop.display(), bin.display()));
    terminal.wait("an empty screen", |screen| screen.trim() == "ready$");
    Some(terminal)
}

pub fn starts(terminal: &Terminal) -> Vec<Vec<String>> {
    let log = fs::read_to_string(terminal.folder.path().join("fake/starts")).unwrap_or_default();
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn session_new_starts_an_agent_and_says_where_and_how_far() {
    let Some(terminal) = terminal(WIDE) else { return };
    terminal
        .trellis("session new --agent claude --permission-mode plan --model opus --prompt 'Hello; there' --name first");
    let screen = terminal.wait_for("ended 0");
    assert!(screen.contains("claude is up in %1"), "{screen}");
    let [start] = &starts(&terminal)[..] else { panic!("{:?}", starts(&terminal)) };
    assert_eq!(start[..5], ["claude", "--permission-mode", "plan", "--model", "opus"]);
    assert_eq!(start.last().map(String::as_str), Some("Hello; there"));
    terminal.trellis("session list");
    let screen = terminal.wait_for("“first”");
    assert!(screen.contains("%1"), "{screen}");
    // A mistake is one line and starts nothing.
    terminal.trellis("session new --agent claude --permission-mode yolo");
    terminal.wait("its refusal", |screen| {
        screen.contains("permission_mode: claude knows no yolo") && screen.contains("ended 1")
    });
    terminal.trellis("session new --agent codex --worktree /no/such/folder");
    terminal.wait("its refusal", |screen| {
        screen.contains("the folder /no/such/folder is not there") && screen.contains("ended 1")
    });
    // A question of its start is said with its pane, and is no failure.
    fs::write(terminal.folder.path().join("fake/behave"), "dialog").unwrap();
    terminal.trellis("session new --agent codex --prompt Hello");
    let screen = terminal.wait_for("ended 0");
    assert!(screen.contains("codex waits for you in %2: its question whether to trust the folder"), "{screen}");
    assert_eq!(starts(&terminal).len(), 2);
}

#[test]
fn the_folders_that_trellis_was_told_go_with_a_start() {
    let Some(terminal) = terminal(WIDE) else { return };
    terminal.tmux(&["set-environment", "-g", "-u", "CLAUDE_CONFIG_DIR"]);
    let elsewhere = terminal.folder.path().join("elsewhere");
    terminal.run(&format!("export CLAUDE_CONFIG_DIR={}; clear", elsewhere.display()));
    terminal.trellis("session new --agent claude");
    let screen = terminal.wait_for("ended 0");
    assert!(screen.contains("claude is up in %1"), "the server does not know that folder: {screen}");
    assert!(elsewhere.join("sessions").is_dir());
}

#[test]
fn a_key_starts_an_agent_from_the_dashboard() {
    for size in [NARROW, WIDE] {
        let Some(terminal) = terminal(size) else { return };
        terminal.trellis("");
        terminal.wait_for("No run yet");
        terminal.press_for(&["2"], "No session of Claude");
        terminal.press_for(&["S"], "start an agent");
        terminal.keep("start_agent");
        // The folder is the one trellis was started in; the agent is claude; Enter starts.
        terminal.keys(&["Enter"]);
        terminal.wait("the session in the list", |screen| screen.contains("%1") && !screen.contains("start an agent"));
        terminal.wait("its start", |_| starts(&terminal).len() == 1);
        terminal.keep("started_agent");
        let panes = terminal.tmux(&["list-panes", "-a", "-F", "#{session_name} #{window_index}"]).stdout;
        assert_eq!(String::from_utf8_lossy(&panes), "t 0\nt 1\n", "a window beside trellis");
        // What a person looks at stays.
        assert_eq!(terminal.fact("window_index"), "0");
        terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
    }
}

/// Opened with the first key, whatever is known by then, it comes to propose both agents.
#[test]
fn a_new_run_form_fills_itself_in_when_the_sessions_are_found() {
    for size in [NARROW, WIDE] {
        let Some(terminal) = terminal(size) else { return };
        terminal.trellis("session new --agent claude --prompt Hello");
        terminal.wait_for("ended 0");
        terminal.trellis("session new --agent codex --prompt Hello");
        terminal.wait("both starts", |screen| starts(&terminal).len() == 2 && screen.contains("ended 0"));
        // Outside of tmux the only two that live are meant.
        terminal.run("unset TMUX TMUX_PANE; clear");
        terminal.wait("an empty screen", |screen| screen.trim() == "ready$");
        terminal.trellis("");
        terminal.wait_for("No run yet");
        terminal.keys(&["n"]);
        terminal.wait("the form", |screen| screen.contains("new run"));
        terminal.wait("both sides", |screen| {
            let side =
                |field: &str, agent: &str| screen.lines().any(|line| line.contains(field) && line.contains(agent));
            side("builds", "claude") && side("reviews", "codex") && !screen.contains("pick a session")
        });
        terminal.keep("filled-form");
        terminal.press_until(&["Escape"], "no form", |screen| !screen.contains("new run"));
        terminal.press_until(&["q"], "the end", |screen| screen.contains("ended 0"));
    }
}

#[test]
fn where_another_process_drives_that_one_starts_the_agent() {
    let Some(terminal) = terminal(NARROW) else { return };
    terminal.trellis("");
    terminal.wait_for("No run yet");
    let output = Command::new(crate::terminal::program())
        .args(["session", "new", "--agent", "claude", "--json", "--home"])
        .arg(terminal.home())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", terminal.folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    // It ends when the agent is up, not when its window is open.
    let came = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(came.contains("claude is up in %1"), "{came}{said}");
    crate::shapes::is_as_the_manual_says("session new", &came);
    terminal.wait("the start", |_| starts(&terminal).len() == 1);
}
