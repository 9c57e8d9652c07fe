//! Where things are: the home, the agents' roots, and the environment, read once at the start.
//! Only names are made here; no file is opened, and nothing else reads the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::model::ids::{Agent, RecordKey, SessionKey, is_safe_name};

/// The facts that the environment gives, read once and handed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The person's own home folder.
    pub user_home: Option<PathBuf>,
    /// The folder that trellis was started in.
    pub current_dir: Option<PathBuf>,
    /// `TRELLIS_HOME`.
    pub trellis_home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude_config_dir: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex_home: Option<PathBuf>,
    /// `TMUX`: socket, server pid and session of the tmux that trellis runs in.
    pub tmux: Option<String>,
    /// `TMUX_PANE`.
    pub tmux_pane: Option<String>,
    /// `TMUX_TMPDIR`: where tmux keeps its sockets.
    pub tmux_tmpdir: Option<PathBuf>,
    /// `TERM`.
    pub term: Option<String>,
    /// `TERM_PROGRAM`.
    pub term_program: Option<String>,
    /// `LC_TERMINAL`: the terminal's name where SSH carries it along (iTerm2).
    pub lc_terminal: Option<String>,
    /// `NO_COLOR` is set and not empty, or the terminal has no colours.
    pub no_color: bool,
    /// `VISUAL`, else `EDITOR`.
    pub editor: Option<String>,
    /// `PAGER`.
    pub pager: Option<String>,
    /// The locale of characters: the first of `LC_ALL`, `LC_CTYPE`, `LANG` that is not empty.
    pub locale: Option<String>,
    /// `PATH`, for finding the agents' programs.
    pub path: Option<OsString>,
    /// `IS_SANDBOX` is `1`: Claude Code then runs as root without asking for anything.
    pub is_sandbox: bool,
    /// `SSH_CONNECTION` is set: the terminal is on another machine.
    pub over_ssh: bool,
    /// `TRELLIS_LOG`: a filter for the log file, in the notation of `tracing`.
    pub log_filter: Option<String>,
    /// `TRELLIS_TEST_PANIC`: where to panic when a run is opened (`screen`, `task`, `thread`), so that a test can see the
    /// terminal given back. Not part of a release build.
    #[cfg(debug_assertions)]
    pub test_panic: Option<String>,
}

/// Terminals without colours, by what `TERM` says.
fn has_no_colours(term: &str) -> bool {
    term == "dumb" || term.starts_with("vt")
}

impl Environment {
    /// Reads it.
    #[must_use]
    pub fn read() -> Self {
        Self {
            user_home: directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned()),
            current_dir: std::env::current_dir().ok(),
            trellis_home: path("TRELLIS_HOME"),
            claude_config_dir: path("CLAUDE_CONFIG_DIR"),
            codex_home: path("CODEX_HOME"),
            tmux: text("TMUX"),
            tmux_pane: text("TMUX_PANE"),
            tmux_tmpdir: path("TMUX_TMPDIR"),
            term: text("TERM"),
            term_program: text("TERM_PROGRAM"),
            lc_terminal: text("LC_TERMINAL"),
            no_color: text("NO_COLOR").is_some() || text("TERM").as_deref().is_some_and(has_no_colours),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            pager: text("PAGER"),
            locale: text("LC_ALL").or_else(|| text("LC_CTYPE")).or_else(|| text("LANG")),
            path: raw("PATH"),
            is_sandbox: text("IS_SANDBOX").as_deref() == Some("1"),
            over_ssh: text("SSH_CONNECTION").is_some(),
            log_filter: text("TRELLIS_LOG"),
            #[cfg(debug_assertions)]
            test_panic: text("TRELLIS_TEST_PANIC"),
        }
    }

    /// Whether the locale can show more than ASCII.
    #[must_use]
    pub fn is_utf8(&self) -> bool {
        self.locale.as_deref().is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
    }

    /// An absolute path: `~/` is the person's home, a relative one starts at `base`.
    #[must_use]
    pub fn absolute(&self, base: &Path, path: &Path) -> PathBuf {
        if let (Ok(rest), Some(home)) = (path.strip_prefix("~"), &self.user_home) {
            return home.join(rest);
        }
        base.join(path)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one file that reads the environment")]
fn raw(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn text(name: &str) -> Option<String> {
    raw(name).map(|value| value.to_string_lossy().into_owned())
}

fn path(name: &str) -> Option<PathBuf> {
    raw(name).map(PathBuf::from)
}

/// The file of this program. One that was replaced while it runs (an upgrade) is the file that stands there now.
///
/// # Errors
/// The system does not say.
pub fn own_program() -> std::io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    // What Linux calls a file that is not there any more.
    let before = path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    Ok(before.filter(|before| before.is_file() && !path.exists()).unwrap_or(path))
}

/// There is no folder to keep anything in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("can't tell your home folder; name one for trellis with --home or TRELLIS_HOME")]
pub struct NoHome;

/// A path as a shell takes it for one word.
#[must_use]
pub fn for_shell(path: &Path) -> String {
    let words = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:,@%=".contains(c);
    if words.chars().all(is_plain) { words } else { format!("'{}'", words.replace('\'', "'\\''")) }
}

/// The folder that holds everything trellis keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
    /// It is found without being named.
    is_usual: bool,
}

impl Home {
    /// `--home`, else `TRELLIS_HOME`, else `~/.trellis`; always absolute.
    ///
    /// # Errors
    /// None of the three is known.
    pub fn locate(flag: Option<&Path>, environment: &Environment) -> Result<Self, NoHome> {
        let base = environment.current_dir.clone().unwrap_or_else(|| PathBuf::from("/"));
        let root = flag
            .or(environment.trellis_home.as_deref())
            .map(|path| environment.absolute(&base, path))
            .or_else(|| environment.user_home.as_ref().map(|home| home.join(".trellis")))
            .ok_or(NoHome)?;
        let is_usual = environment.user_home.as_ref().is_some_and(|home| home.join(".trellis") == root);
        Ok(Self { root, is_usual })
    }

    /// A home at a given folder.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), is_usual: false }
    }

    /// A whole command for this home, to be typed into a shell: `trellis drive --stop --home /tmp/demo`.
    #[must_use]
    pub fn command(&self, words: &str) -> String {
        let mut command = ["trellis", words].join(" ").trim_end().to_owned();
        if !self.is_usual {
            command.push_str(" --home ");
            command.push_str(&for_shell(&self.root));
        }
        command
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `checklist-runs/`.
    #[must_use]
    pub fn runs(&self) -> PathBuf {
        self.root.join("checklist-runs")
    }

    /// `pairs/`.
    #[must_use]
    pub fn pairs(&self) -> PathBuf {
        self.root.join("pairs")
    }

    /// `sessions/`.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// `hooks/`: what the agents' hooks told, until it is taken in.
    #[must_use]
    pub fn hooks(&self) -> PathBuf {
        self.root.join("hooks")
    }

    /// `quarantine/`: what could not be read, and what another program wrote over ours.
    #[must_use]
    pub fn quarantine(&self) -> PathBuf {
        self.root.join("quarantine")
    }

    /// `logs/`.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// `logs/trellis.log`.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.logs().join("trellis.log")
    }

    /// `logs/decisions.jsonl`: why the runs did what they did.
    #[must_use]
    pub fn decisions(&self) -> PathBuf {
        self.logs().join("decisions.jsonl")
    }

    /// `events.jsonl`.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.root.join("events.jsonl")
    }

    /// `config.toml`.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.root.join("config.toml")
    }

    /// `keymap.toml`.
    #[must_use]
    pub fn keymap(&self) -> PathBuf {
        self.root.join("keymap.toml")
    }

    /// `theme.toml`.
    #[must_use]
    pub fn theme(&self) -> PathBuf {
        self.root.join("theme.toml")
    }

    /// `state.toml`: remembered form values and dismissed notes.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.root.join("state.toml")
    }

    /// `summaries.json`: what was read of the transcripts' ends. It may be removed at any time.
    #[must_use]
    pub fn summaries(&self) -> PathBuf {
        self.root.join("summaries.json")
    }

    /// `trellis.lock`.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.root.join("trellis.lock")
    }

    /// `trellis.sock`.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.root.join("trellis.sock")
    }

    /// The record's file; `None` when its id may not name a file (`../x`).
    #[must_use]
    pub fn record(&self, key: &RecordKey) -> Option<PathBuf> {
        self.kept(key, |id| format!("{id}.json"))
    }

    /// The folder of the record's texts; `None` as for [`Home::record`].
    #[must_use]
    pub fn texts(&self, key: &RecordKey) -> Option<PathBuf> {
        self.kept(key, str::to_owned)
    }

    /// The note about a session; `None` when the agent's id may not name a file.
    #[must_use]
    pub fn session(&self, key: &SessionKey) -> Option<PathBuf> {
        let id = key.session_id.as_str();
        is_safe_name(id).then(|| self.sessions().join(format!("{}-{id}.json", key.agent)))
    }

    fn kept(&self, key: &RecordKey, name: impl Fn(&str) -> String) -> Option<PathBuf> {
        let folder = match key {
            RecordKey::Run(_) => self.runs(),
            RecordKey::Pair(_) => self.pairs(),
        };
        is_safe_name(key.as_str()).then(|| folder.join(name(key.as_str())))
    }
}

/// Where the agents keep their own files. trellis reads there and never writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRoots {
    /// Claude Code's folder (`~/.claude`).
    pub claude: PathBuf,
    /// Codex's folder (`~/.codex`).
    pub codex: PathBuf,
}

impl AgentRoots {
    /// `config.toml` first (relative to the home, so that a demo home can be moved), then the agents' own
    /// variables, then the person's home.
    #[must_use]
    pub fn resolve(home: &Home, environment: &Environment, claude: Option<&str>, codex: Option<&str>) -> Self {
        let base = environment.current_dir.clone().unwrap_or_else(|| PathBuf::from("/"));
        let root = |set: Option<&str>, own: Option<&Path>, usual: &str| {
            set.map(|path| environment.absolute(home.root(), Path::new(path)))
                .or_else(|| own.map(|path| environment.absolute(&base, path)))
                .unwrap_or_else(|| environment.user_home.as_deref().unwrap_or(&base).join(usual))
        };
        Self {
            claude: root(claude, environment.claude_config_dir.as_deref(), ".claude"),
            codex: root(codex, environment.codex_home.as_deref(), ".codex"),
        }
    }

    /// Claude's transcripts: `projects/`.
    #[must_use]
    pub fn claude_projects(&self) -> PathBuf {
        self.claude.join("projects")
    }

    /// Claude's live status files: `sessions/`. Only `{pid}.json` may be read there; the `.key` files are secrets.
    #[must_use]
    pub fn claude_status(&self) -> PathBuf {
        self.claude.join("sessions")
    }

    /// Where an agent's hooks are set up.
    #[must_use]
    pub fn hooks(&self, agent: Agent) -> PathBuf {
        match agent {
            Agent::Claude => self.claude.join("settings.json"),
            Agent::Codex => self.codex.join("hooks.json"),
        }
    }

    /// Codex's transcripts: `sessions/`.
    #[must_use]
    pub fn codex_sessions(&self) -> PathBuf {
        self.codex.join("sessions")
    }

    /// Codex's message queue: `queue_1.sqlite`.
    #[must_use]
    pub fn codex_queue(&self) -> PathBuf {
        self.codex.join("queue_1.sqlite")
    }
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
