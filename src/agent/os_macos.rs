//! Process facts on macOS, from `ps` and `lsof`: portable standard library only, so that Linux compiles and tests it.
//! Only what `os` promises is here.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::{Process, Variables};

/// One line a process: numbers, terminal, state, start (five words), program.
const COLUMNS: &str = "pid=,ppid=,pgid=,tpgid=,tty=,stat=,lstart=,comm=";

pub(super) fn process(pid: u32) -> Option<Process> {
    let listed = ask("ps", &["-o", COLUMNS, "-p", &pid.to_string()])?;
    listed.lines().find_map(parse_process)
}

pub(super) fn processes() -> Vec<Process> {
    ask("ps", &["-axo", COLUMNS]).map_or_else(Vec::new, |listed| listed.lines().filter_map(parse_process).collect())
}

pub(super) fn environment(pid: u32) -> Option<Variables> {
    let with = ask("ps", &["-wwE", "-o", "command=", "-p", &pid.to_string()])?;
    let without = ask("ps", &["-ww", "-o", "command=", "-p", &pid.to_string()])?;
    let shown = with.trim_end().strip_prefix(without.trim_end())?;
    (!shown.trim().is_empty()).then(|| parse_environment(shown))
}

pub(super) fn argv(pid: u32) -> Option<Vec<String>> {
    let shown = ask("ps", &["-ww", "-o", "command=", "-p", &pid.to_string()])?;
    // The system joins the words with spaces; what a word held itself can no longer be told apart.
    Some(shown.trim_end().split(' ').map(ToOwned::to_owned).collect())
}

pub(super) fn executable(pid: u32) -> Option<PathBuf> {
    let listed = ask("lsof", &["-a", "-p", &pid.to_string(), "-d", "txt", "-Fn"])?;
    parse_names(&listed).into_iter().next()
}

pub(super) fn user(pid: u32) -> Option<u32> {
    ask("ps", &["-o", "uid=", "-p", &pid.to_string()])?.trim().parse().ok()
}

pub(super) fn folder(pid: u32) -> Option<PathBuf> {
    let listed = ask("lsof", &["-a", "-p", &pid.to_string(), "-d", "cwd", "-Fn"])?;
    parse_names(&listed).into_iter().next()
}

/// FSEvents knows no such limits.
pub(super) const fn watch_limits() -> Option<(u64, u64, u64)> {
    None
}

pub(super) fn written_files(pid: u32) -> Option<Vec<PathBuf>> {
    ask("lsof", &["-p", &pid.to_string(), "-Fan"]).map(|listed| parse_written(&listed))
}

fn ask(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn parse_process(line: &str) -> Option<Process> {
    let mut words = line.split_whitespace();
    let pid = words.next()?.parse().ok()?;
    let parent = words.next()?.parse().ok()?;
    let group: i64 = words.next()?.parse().ok()?;
    let foreground: i64 = words.next()?.parse().ok()?;
    let terminal = words.next()?;
    let state = words.next()?;
    if state.starts_with('Z') {
        return None;
    }
    let start: Vec<&str> = words.by_ref().take(5).collect();
    let start_mark = start.join(" ");
    let program = words.collect::<Vec<_>>().join(" ");
    Some(Process {
        pid,
        parent,
        name: program.rsplit('/').next().unwrap_or(&program).to_owned(),
        terminal: (!terminal.starts_with('?')).then(|| format!("/dev/{terminal}")),
        foreground: foreground == group,
        stopped: state.starts_with('T'),
        started_at: parse_start(&start_mark),
        start_mark,
    })
}

/// `Mon Nov 30 11:58:04 2026`, in the system's own zone.
fn parse_start(text: &str) -> Option<Timestamp> {
    let civil = DateTime::strptime("%a %b %d %H:%M:%S %Y", text).ok()?;
    TimeZone::system().to_timestamp(civil).ok()
}

/// `NAME=value NAME=value`: a value with a space in it goes on until the next word that looks like a name.
fn parse_environment(shown: &str) -> Variables {
    let mut variables = Variables::new();
    let mut open: Option<(String, String)> = None;
    for word in shown.split(' ').filter(|word| !word.is_empty()) {
        let named = word.split_once('=').filter(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        match (named, &mut open) {
            (Some((name, value)), _) => {
                if let Some((name, value)) = open.replace((name.to_owned(), value.to_owned())) {
                    variables.insert(name, value);
                }
            }
            (None, Some((_, value))) => {
                value.push(' ');
                value.push_str(word);
            }
            (None, None) => {}
        }
    }
    variables.extend(open);
    variables
}

/// The names of an `lsof -Fan` listing that are paths and open to write to: each file's access comes before its name.
fn parse_written(listed: &str) -> Vec<PathBuf> {
    let mut access = "";
    let mut written = Vec::new();
    for line in listed.lines() {
        match line.split_at_checked(1) {
            Some(("f", _)) => access = "",
            Some(("a", now)) => access = now,
            Some(("n", name)) if name.starts_with('/') && matches!(access, "w" | "u") => {
                written.push(PathBuf::from(name));
            }
            _ => {}
        }
    }
    written
}

/// The names of an `lsof -Fn` listing that are paths.
fn parse_names(listed: &str) -> Vec<PathBuf> {
    listed
        .lines()
        .filter_map(|line| line.strip_prefix('n'))
        .filter(|name| name.starts_with('/'))
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
#[path = "os_macos_tests.rs"]
mod tests;
