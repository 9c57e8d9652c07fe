//! Runs what tells a person outside a terminal: their own program, and tmux. Argv only, never a shell; in a group of its
//! own, without a terminal, ended with all it started when it takes too long. Never on the thread of a loop.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

use super::bytes::tmux_literal;
use super::news::News;
use super::ways::{Passthrough, Tmux};
use crate::paths::Home;

/// How long a person's program may take.
pub const LIMIT: Duration = Duration::from_secs(10);
/// How long tmux may take.
const TMUX_LIMIT: Duration = Duration::from_secs(3);
/// How long tmux shows a message, in milliseconds: its own default is gone before anybody looks.
const SHOWN: &str = "8000";

/// Runs a person's program for a piece of news, which it finds in its environment.
///
/// # Errors
/// A sentence: it cannot be started, it took too long and was ended, or it ended otherwise than with 0.
pub async fn command(argv: &[String], news: &News, home: &Home, limit: Duration) -> Result<(), String> {
    let (program, arguments) = argv.split_first().ok_or("notify_command is empty")?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("TRELLIS_HOME", home.root())
        .env("TRELLIS_RUN", news.run.as_str())
        .env("TRELLIS_NAME", &news.name)
        .env("TRELLIS_REASON", &news.reason)
        .env("TRELLIS_TEXT", &news.text)
        .stdout(Stdio::null());
    ended(program, run(program, command, limit).await?.0)
}

/// Shows a sentence in tmux's message line.
///
/// # Errors
/// A sentence: tmux is not there or refuses.
pub async fn tmux_message(tmux: &Tmux, text: &str) -> Result<(), String> {
    let text = tmux_literal(&format!("trellis: {text}"));
    let show = |time: &[&str]| {
        let mut command = asked(tmux);
        command.arg("display-message").args(time).arg(&text).stdout(Stdio::null());
        command
    };
    let (status, _) = run("tmux", show(&["-d", SHOWN]), TMUX_LIMIT).await?;
    if status.success() {
        return Ok(());
    }
    // Older than 3.2: it knows no time.
    ended("tmux", run("tmux", show(&[]), TMUX_LIMIT).await?.0)
}

/// What tmux hands on to the terminal around it; nothing where it cannot be asked.
pub async fn passthrough(tmux: &Tmux) -> Passthrough {
    let mut command = asked(tmux);
    command.args(["show-options", "-Apqv"]);
    if let Some(pane) = &tmux.pane {
        command.args(["-t", pane]);
    }
    command.arg("allow-passthrough").stdout(Stdio::piped());
    match run("tmux", command, TMUX_LIMIT).await {
        Ok((status, told)) if status.success() => Passthrough::of_option(&told),
        _ => Passthrough::Nothing,
    }
}

fn asked(tmux: &Tmux) -> Command {
    let mut command = Command::new("tmux");
    command.arg("-S").arg(&tmux.socket);
    command
}

async fn run(name: &str, mut command: Command, limit: Duration) -> Result<(ExitStatus, String), String> {
    let name = super::clean(name);
    let child = command.stdin(Stdio::null()).stderr(Stdio::null()).process_group(0).kill_on_drop(true).spawn();
    let mut child = child.map_err(|error| format!("can't run {name}: {error}"))?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let mut told = String::new();
    let work = async {
        if let Some(mut output) = child.stdout.take() {
            let mut bytes = Vec::new();
            let _ = tokio::io::AsyncReadExt::read_to_end(&mut output, &mut bytes).await;
            told = String::from_utf8_lossy(&bytes).into_owned();
        }
        child.wait().await
    };
    if let Ok(status) = tokio::time::timeout(limit, work).await {
        let status = status.map_err(|error| format!("can't wait for {name}: {error}"))?;
        return Ok((status, told));
    }
    // With what it started: a shell that is ended leaves its `sleep` behind.
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill().await;
    Err(format!("{name} did not end within {} s and was ended", limit.as_secs()))
}

fn ended(name: &str, status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", super::clean(name))) }
}
