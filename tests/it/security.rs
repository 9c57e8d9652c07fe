//! What no part of the sources may do, and where exactly what is dangerous may be done: shells, programs, sockets.
//! What the program does when it runs is in the end-to-end tests (`sealed`); the threat model is `docs/security.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each line of code below `src` that is no test and no comment: file, number, line.
fn code() -> Vec<(String, usize, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = vec![root.join("src")];
    let mut lines = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if Path::new(&name).extension().is_none_or(|ending| ending != "rs") || name.contains("_tests") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let own = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            let numbered = own.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            lines.extend(numbered.map(|(at, line)| (name.clone(), at + 1, line.to_owned())));
        }
    }
    assert!(lines.len() > 10_000, "{} lines", lines.len());
    lines
}

/// Where one of `words` stands, by file.
fn places(words: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, number, line) in code() {
        if words.iter().any(|word| line.contains(word)) {
            found.entry(file).or_default().push(format!("{number}: {}", line.trim()));
        }
    }
    found
}

/// Only the known places hold them, and each of those still does.
#[track_caller]
fn only(found: &BTreeMap<String, Vec<String>>, known: &[(&str, &str)]) {
    let strange: Vec<_> = found.iter().filter(|(file, _)| known.iter().all(|(name, _)| name != file)).collect();
    assert!(strange.is_empty(), "{strange:#?}");
    let gone: Vec<_> = known.iter().filter(|(name, _)| !found.contains_key(*name)).collect();
    assert!(gone.is_empty(), "take these out of the list: {gone:?}");
}

/// Programs are started by their argument vector: no line is ever handed to a shell.
#[test]
fn no_shell_is_started_anywhere() {
    let words = [
        "\"sh\"",
        "\"bash\"",
        "\"zsh\"",
        "\"dash\"",
        "\"fish\"",
        "\"-c\"",
        "\"-lc\"",
        "\"eval\"",
        "/bin/sh",
        "/bin/bash",
        "/usr/bin/env",
    ];
    only(
        &places(&words),
        &[
            ("src/agent/headless/whose.rs", "names of shells, to know which process is no agent"),
            ("src/transcript/codex/calls.rs", "the words of a command that Codex ran, to show its script"),
            ("src/agent/git.rs", "git's own `-c NAME=VALUE`, to switch off what a repository configures"),
            ("src/agent/runs_as.rs", "Codex's own `-c NAME=VALUE`, read from a process's words"),
            (
                "src/agent/scripted/dialect/codex.rs",
                "a record of a command in a transcript of the demo; nothing is started",
            ),
            (
                "src/agent/tmux/opening.rs",
                "tmux's `-c FOLDER`, and `env` so that tmux takes one word for no shell line",
            ),
        ],
    );
}

/// Who starts a program, and which; a new place is thought about here.
#[test]
fn programs_are_started_in_known_places_only() {
    only(
        &places(&["Command::new(", "Program::new(", "exec()"]),
        &[
            ("src/agent/codex/queue.rs", "codex queue, with the message as one argument"),
            ("src/agent/codex/start.rs", "codex --help, to know how it is started"),
            ("src/agent/git.rs", "git, with everything off that a repository could have run"),
            ("src/agent/headless/carry.rs", "an agent for one message, by its argument vector"),
            ("src/agent/installed.rs", "an agent's --version"),
            ("src/agent/os_macos.rs", "ps and lsof"),
            ("src/agent/program.rs", "the one that runs them"),
            ("src/agent/tmux.rs", "tmux"),
            ("src/agent/tmux/about.rs", "tmux -V"),
            ("src/agent/tmux/opening.rs", "tmux, on a socket by name"),
            ("src/build.rs", "git, when a release is built: which commit it is made from"),
            ("src/boot/background.rs", "trellis itself, as a driver in the background"),
            ("src/tell/carry.rs", "the person's notify_command, and tmux's message line"),
            ("src/ui/outside.rs", "the person's editor and pager"),
        ],
    );
}

/// tmux could run a line as well: it is asked for nothing of that kind. `if-shell -F` reads a format and starts nothing,
/// and the two options that are set are set to a word of ours.
#[test]
fn tmux_is_asked_for_nothing_that_runs_a_line() {
    let words = [
        "run-shell",
        "pipe-pane",
        "source-file",
        "set-hook",
        "bind-key",
        "command-prompt",
        "respawn-",
        "set-environment",
    ];
    only(&places(&words), &[]);
    for (file, lines) in places(&["\"if-shell\""]) {
        assert!(lines.iter().all(|line| line.contains("\"if-shell\", \"-F\"")), "{file}: {lines:#?}");
    }
    for (file, lines) in places(&["\"set-option\"", "\"set-window-option\""]) {
        assert!(lines.iter().all(|line| line.contains("\"remain-on-exit\", \"failed\"")), "{file}: {lines:#?}");
    }
    for (file, lines) in places(&["set-option "]) {
        let ours = |line: &String| line.contains("{ENTERED} {entry}") || line.contains("-u -t {target} remain-on-exit");
        assert!(lines.iter().all(ours), "{file}: {lines:#?}");
    }
}

/// One socket, and that is a name in the home's folder. Nothing can be said that would name a place in a network.
#[test]
fn no_part_opens_a_socket_of_a_network() {
    let network =
        ["std::net", "rustix::net", "TcpStream", "TcpListener", "TcpSocket", "UdpSocket", "SocketAddr", "lookup_host"];
    only(&places(&network), &[]);
    only(
        &places(&["tokio::net", "os::unix::net", "UnixStream", "UnixListener", "UnixDatagram"]),
        &[
            ("src/call.rs", "speaks to the driver over the home's socket"),
            ("src/serve/server.rs", "takes in who comes over the home's socket"),
            ("src/store/socket.rs", "makes and finds the home's socket, by a path"),
        ],
    );
}

/// There is no unsafe code: what others wrote can make nothing worse than a panic, which the supervisor holds.
#[test]
fn no_part_is_unsafe() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml")).unwrap().parse().unwrap();
    assert_eq!(manifest["lints"]["rust"]["unsafe_code"].as_str(), Some("forbid"));
    only(&places(&["unsafe "]), &[]);
}

/// What the threat model says to be held is held by tests that exist.
#[test]
fn the_threat_model_names_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut tests = String::new();
    let mut folders: Vec<PathBuf> = vec![root.join("src"), root.join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                tests.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }
    let is_name = |word: &&str| {
        word.matches('_').count() > 1
            && word.bytes().all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == b'_')
    };
    let rows = page.lines().filter(|line| line.starts_with("| ") || line.contains("(`"));
    let named: Vec<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).filter(is_name).collect();
    assert!(named.len() >= 25, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|name| !tests.contains(&format!("fn {name}("))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
