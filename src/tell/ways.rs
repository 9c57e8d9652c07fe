//! Which ways to a person there are here: by the settings, the environment, and what tmux lets through.
//! Pure; each way that is not taken says why.

use std::path::PathBuf;

use super::bytes::{BELL, Dialect, through_tmux};
use crate::config::{Config, Notification};
use crate::paths::Environment;

/// What tmux hands on to the terminal around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passthrough {
    /// Nothing (`allow-passthrough off`, the default since tmux 3.3).
    #[default]
    Nothing,
    /// What comes from a pane that is in sight (`on`).
    InSight,
    /// Everything (`all`, or a tmux that knows no such option).
    Everything,
}

impl Passthrough {
    /// By the value of tmux's option; empty where there is no such option.
    #[must_use]
    pub fn of_option(value: &str) -> Self {
        match value.trim() {
            "on" => Self::InSight,
            "all" | "" => Self::Everything,
            _ => Self::Nothing,
        }
    }
}

/// The tmux that trellis runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tmux {
    /// Its socket.
    pub socket: PathBuf,
    /// Our pane.
    pub pane: Option<String>,
}

impl Tmux {
    /// The one the environment names.
    #[must_use]
    pub fn around(environment: &Environment) -> Option<Self> {
        let socket = crate::agent::tmux::socket_of(environment.tmux.as_deref()?)?;
        Some(Self { socket, pane: environment.tmux_pane.clone() })
    }
}

/// A notification of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfTerminal {
    /// Which one.
    pub dialect: Dialect,
    /// tmux stands between.
    pub wrapped: bool,
}

/// Each way, or why it is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ways {
    /// The bell.
    pub bell: Result<(), String>,
    /// The terminal's notification.
    pub terminal: Result<OfTerminal, String>,
    /// A message of tmux.
    pub tmux: Result<Tmux, String>,
    /// The person's program: name and arguments.
    pub command: Result<Vec<String>, String>,
}

impl Ways {
    /// Those of a process that has a terminal or has none.
    #[must_use]
    pub fn of(config: &Config, environment: &Environment, passthrough: Passthrough, has_terminal: bool) -> Self {
        let around = Tmux::around(environment);
        let terminal = terminal(config.notification, environment, around.is_some(), passthrough, has_terminal);
        let tmux = match (config.notification, &terminal, around) {
            (Notification::Off, ..) => Err("notification is \"off\"".to_owned()),
            (_, _, None) => Err("trellis does not run inside tmux".to_owned()),
            (_, Ok(_), Some(_)) if passthrough == Passthrough::Everything => {
                Err("the terminal's own notification goes through tmux".to_owned())
            }
            // What comes from a pane out of sight does not get through: that is when a person must be told.
            (_, _, Some(tmux)) => Ok(tmux),
        };
        let bell = match (config.bell, has_terminal) {
            (false, _) => Err("bell is false".to_owned()),
            (true, false) => Err("there is no terminal here".to_owned()),
            (true, true) => Ok(()),
        };
        let command = match config.notify_command.as_slice() {
            [] => Err("notify_command is empty".to_owned()),
            argv => Ok(argv.to_vec()),
        };
        Self { bell, terminal, tmux, command }
    }

    /// What the terminal is sent for a sentence; nothing where it has no part in it.
    #[must_use]
    pub fn bytes(&self, text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Ok(of) = &self.terminal {
            let notification = of.dialect.notification(text);
            bytes.extend(if of.wrapped { through_tmux(&notification) } else { notification });
        }
        if self.bell.is_ok() {
            bytes.extend(BELL);
        }
        bytes
    }
}

fn terminal(
    wanted: Notification,
    environment: &Environment,
    inside_tmux: bool,
    passthrough: Passthrough,
    has_terminal: bool,
) -> Result<OfTerminal, String> {
    let dialect = match wanted {
        Notification::Off => return Err("notification is \"off\"".to_owned()),
        Notification::Tmux => return Err("notification is \"tmux\"".to_owned()),
        Notification::Osc9 => Some(Dialect::Osc9),
        Notification::Osc777 => Some(Dialect::Osc777),
        Notification::Osc99 => Some(Dialect::Osc99),
        Notification::Auto => None,
    };
    if !has_terminal {
        return Err("there is no terminal here".to_owned());
    }
    match (dialect, inside_tmux) {
        // Which terminal is attached to tmux, now and later, no variable says.
        (None, true) => Err("inside tmux its own message is used".to_owned()),
        (None, false) => known(environment).map(|dialect| OfTerminal { dialect, wrapped: false }).ok_or_else(|| {
            let term = environment.term.as_deref().unwrap_or("empty");
            format!(
                "TERM is {}: not known to notify; set notification to \"osc9\", \"osc777\" or \"osc99\" if it can",
                super::clean(term)
            )
        }),
        (Some(_), true) if passthrough == Passthrough::Nothing => {
            Err("tmux hands nothing on: `set -g allow-passthrough all` lets it through".to_owned())
        }
        (Some(dialect), wrapped) => Ok(OfTerminal { dialect, wrapped }),
    }
}

/// What the terminal is known to understand, by its own documentation. Over SSH little but `TERM` comes along.
fn known(environment: &Environment) -> Option<Dialect> {
    let of_program = match (environment.term_program.as_deref(), environment.lc_terminal.as_deref()) {
        (Some("iTerm.app" | "WezTerm" | "ghostty"), _) | (_, Some("iTerm2")) => Some(Dialect::Osc9),
        _ => None,
    };
    of_program.or_else(|| {
        let term = environment.term.as_deref()?;
        match term {
            "xterm-kitty" => Some(Dialect::Osc99),
            "xterm-ghostty" | "wezterm" => Some(Dialect::Osc9),
            _ if term == "foot" || term.starts_with("foot-") || term.starts_with("rxvt-unicode") => {
                Some(Dialect::Osc777)
            }
            _ => None,
        }
    })
}

#[cfg(test)]
#[path = "ways_tests.rs"]
mod tests;
