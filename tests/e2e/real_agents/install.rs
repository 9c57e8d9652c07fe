//! The agents' programs: which versions, where they are found, and how much of the matrix was asked for.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

/// Why nothing was tested.
pub type Skip = String;

const VERSIONS: &str = include_str!("../../../assets/agents.toml");

#[derive(Deserialize)]
struct Versions {
    agent: Vec<Version>,
}

#[derive(Deserialize)]
struct Version {
    package: String,
    version: String,
}

/// How much of the matrix a test belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Runs before each change lands.
    Small,
    /// Runs when the whole matrix is asked for.
    Whole,
}

impl Part {
    /// Whether this part was asked for.
    pub fn asked_for(self) -> Result<(), Skip> {
        match (std::env::var("TRELLIS_REAL_AGENTS").as_deref(), self) {
            (Err(_), _) => Err(String::from("TRELLIS_REAL_AGENTS is not set")),
            (Ok("all"), _) | (Ok(_), Self::Small) => Ok(()),
            (Ok(_), Self::Whole) => Err(String::from("only TRELLIS_REAL_AGENTS=all runs it")),
        }
    }
}

/// Prints a skip; everything else that goes wrong has panicked.
pub fn told(outcome: Result<(), Skip>) {
    if let Err(why) = outcome {
        println!("skipped: {why}");
    }
}

/// A number from the environment.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The program under test.
pub fn trellis() -> PathBuf {
    std::env::var_os("TRELLIS_PROGRAM").map_or_else(crate::terminal::program, PathBuf::from)
}

/// The native programs, so that a pane's process is the agent itself.
#[derive(Clone, Debug)]
pub struct Programs {
    pub claude: PathBuf,
    pub codex: PathBuf,
}

/// Installed once for each pair of versions, below the build's own folder.
pub fn install() -> Result<Programs, Skip> {
    let packages: Vec<String> = toml::from_str::<Versions>(VERSIONS)
        .expect("assets/agents.toml")
        .agent
        .iter()
        .map(|wanted| format!("{}@{}", wanted.package, wanted.version))
        .collect();
    let own = || {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("agents-{}", packages.join("-").replace(['@', '/'], "_")))
    };
    let folder = std::env::var_os("TRELLIS_NPM").map_or_else(own, PathBuf::from);
    let find = || {
        let scope = |scope: &str| folder.join("node_modules").join(scope);
        let claude = find_program(&scope("@anthropic-ai"), &["claude", "claude.exe"])?;
        Some(Programs { claude, codex: find_program(&scope("@openai"), &["codex"])? })
    };
    if let Some(programs) = find() {
        return Ok(programs);
    }
    let output = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--prefix"])
        .arg(&folder)
        .args(&packages)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("npm: {error}"))?;
    find().ok_or_else(|| format!("npm gave no programs: {}", String::from_utf8_lossy(&output.stderr)))
}

/// A file of this name that is no script: the native program is large.
fn find_program(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).ok()?.filter_map(Result::ok) {
            let (path, facts) = (entry.path(), entry.metadata().ok()?);
            let named = path.file_name().is_some_and(|name| names.iter().any(|wanted| name == *wanted));
            if facts.is_dir() {
                folders.push(path);
            } else if named && facts.is_file() && facts.len() > 1 << 20 {
                return Some(path);
            }
        }
    }
    None
}
