//! Runs another program to its end: argv only, never a shell, with a time limit and a bounded output.
//! Which programs, and what their words mean, is the callers' business.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// No program that is asked here has more to say.
const MOST_OUTPUT: u64 = 16 * 1024 * 1024;

/// A program to run.
#[derive(Debug)]
pub(crate) struct Program {
    command: Command,
    name: String,
    input: Vec<u8>,
    limit: Duration,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Its exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
    /// What it wrote to its output.
    pub(crate) output: String,
    /// What it wrote to its error output, trimmed.
    pub(crate) complaint: String,
}

impl Ended {
    /// The output of a program that was content; else its complaint, one line.
    pub(crate) fn content(self) -> Result<String, String> {
        if self.code == Some(0) { Ok(self.output) } else { Err(self.why()) }
    }

    /// Its complaint as one line.
    pub(crate) fn why(&self) -> String {
        let said = if self.complaint.is_empty() { self.output.trim() } else { &self.complaint };
        match (crate::model::text::first_line(said), self.code) {
            (line, _) if !line.is_empty() => line,
            (_, Some(code)) => format!("it ended with exit code {code}"),
            (_, None) => String::from("it was ended by a signal"),
        }
    }
}

impl Program {
    /// A program with its arguments, in the environment of trellis.
    pub(crate) fn new<S: AsRef<OsStr>>(program: impl AsRef<OsStr>, arguments: impl IntoIterator<Item = S>) -> Self {
        let mut command = Command::new(&program);
        command.args(arguments);
        let name = program.as_ref().to_string_lossy().into_owned();
        Self { command, name, input: Vec::new(), limit: Duration::from_secs(10) }
    }

    /// What it reads from its input; nothing otherwise.
    pub(crate) fn input(mut self, input: &[u8]) -> Self {
        input.clone_into(&mut self.input);
        self
    }

    /// How long it may take.
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Sets a variable.
    pub(crate) fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Takes a variable away.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Only these variables, instead of those of trellis.
    pub(crate) fn only_with(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.command.env_clear().envs(variables);
        self
    }

    /// Runs it. An error: it could not be started, or it took too long and was ended.
    pub(crate) fn run(mut self) -> Result<Ended, String> {
        // A group of its own: Ctrl-C in our terminal must not end a message half-way.
        let mut child = self
            .command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("can't run {}: {error}", self.name))?;
        let (done, ends) = mpsc::sync_channel(2);
        let pipes: [Option<Box<dyn Read + Send>>; 2] =
            [child.stdout.take().map(|pipe| Box::new(pipe) as _), child.stderr.take().map(|pipe| Box::new(pipe) as _)];
        for (which, pipe) in pipes.into_iter().enumerate() {
            let done = done.clone();
            thread::spawn(move || {
                let mut bytes = Vec::new();
                if let Some(pipe) = pipe {
                    let _ = pipe.take(MOST_OUTPUT).read_to_end(&mut bytes);
                }
                let _ = done.send((which, bytes));
            });
        }
        feed(&mut child, std::mem::take(&mut self.input));
        let mut said = [Vec::new(), Vec::new()];
        for _ in 0..2 {
            let Ok((which, bytes)) = ends.recv_timeout(self.limit) else {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{} did not end within {} s", self.name, self.limit.as_secs()));
            };
            if let Some(slot) = said.get_mut(which) {
                *slot = bytes;
            }
        }
        let status = child.wait().map_err(|error| format!("can't wait for {}: {error}", self.name))?;
        let [output, complaint] = said.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(Ended { code: status.code(), output, complaint: complaint.trim().to_owned() })
    }
}

/// From a thread of its own: a program that does not read must not hold us up beyond its limit.
fn feed(child: &mut Child, input: Vec<u8>) {
    if let Some(mut pipe) = child.stdin.take()
        && !input.is_empty()
    {
        thread::spawn(move || {
            let _ = pipe.write_all(&input);
        });
    }
}

/// The first file of this name on a search path that may be run.
pub(crate) fn on_path(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?).map(|folder| folder.join(name)).find(|file| may_run(file))
}

/// Whether a file is a program.
pub(crate) fn may_run(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
