//! A text in a program of the person's own, an editor or a pager: out in a file, and back. Who lends the terminal and
//! what becomes of the text is the shell's.

use std::process::Command as Program;

use anyhow::Context as _;

use crate::supervise::in_foreground;

/// Hands a text to a program in a file of its own and gives back what is in the file afterwards. `suspending` is called
/// before the program's Ctrl-Z stops this process with it.
///
/// # Errors
/// The file cannot be made, or the program cannot be started or does not end well: the text is as it was.
pub fn through_program(argv: &[String], text: &str, suspending: impl FnMut()) -> anyhow::Result<String> {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;
    let (program, arguments) = argv.split_first().context("name a program")?;
    // In a folder for the person alone: what an editor leaves beside the file is nobody else's and goes with it.
    let folder = tempfile::Builder::new()
        .prefix("trellis-")
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir()
        .context("make a folder for the text")?;
    let mut file = tempfile::Builder::new()
        .prefix("message-")
        .suffix(".md")
        .tempfile_in(folder.path())
        .context("make a file for the text")?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).context("write the text to a file")?;
    let status = in_foreground(Program::new(program).args(arguments).arg(file.path()), suspending);
    let status = status.with_context(|| format!("start {program}"))?;
    anyhow::ensure!(status.success(), "{program} ended with {status}: the text is as it was");
    std::fs::read_to_string(file.path()).with_context(|| format!("read {}", file.path().display()))
}

#[cfg(test)]
#[path = "outside_tests.rs"]
mod tests;
