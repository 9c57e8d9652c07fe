//! `trellis completions`: what a shell completes commands with, made from the command line's own definition. Installs nothing.

use clap::{Command as Definition, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, Failure, out};

/// Prints it.
///
/// # Errors
/// The output refuses.
pub fn completions(shell: Shell) -> Result<(), Failure> {
    out::text(&script(shell))
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut without_hidden(&Cli::command()), "trellis", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// What the help does not list is completed by no shell.
fn without_hidden(command: &Definition) -> Definition {
    let arguments = command.get_arguments().filter(|one| !one.is_hide_set()).cloned();
    let commands = command.get_subcommands().filter(|one| !one.is_hide_set()).map(without_hidden);
    let mut shown = Definition::new(command.get_name().to_owned()).args(arguments).subcommands(commands);
    shown = shown
        .disable_help_subcommand(true)
        .version(super::VERSION)
        .disable_version_flag(command.get_version().is_none());
    match command.get_about() {
        Some(about) => shown.about(about.clone()),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_completes_what_the_help_lists_and_nothing_hidden() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            for word in ["verify", "first-phase", "tmux-socket", "completions"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
            assert!(!script.contains("detached") && !script.contains("hook "), "{shell}");
        }
    }
}
