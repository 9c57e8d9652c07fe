//! Versions of tmux and the agents: which trellis was tried with, and how two are compared.
//! Which one is installed is looked up elsewhere.

use serde::Deserialize;

use crate::model::ids::Agent;

/// The file that the test with the real programs reads as well.
const FILE: &str = include_str!("../../assets/agents.toml");

/// tmux: what trellis was tried with, and the first that has all it uses (`load-buffer -w` came with 3.2).
pub(super) const TMUX_TRIED: &str = "3.3a";
pub(super) const TMUX_OLDEST: &str = "3.2";

/// What trellis was tried with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Tried {
    /// Which agent.
    pub agent: Agent,
    /// The version that the test with the real programs last passed with.
    pub version: String,
    /// When that was.
    pub passed: String,
    /// The oldest that ran a whole checklist through trellis.
    pub oldest: String,
    /// What is known of older ones.
    pub before: String,
}

#[derive(Deserialize)]
struct File {
    agent: Vec<Tried>,
}

/// What trellis was tried with, one an agent.
pub static TRIED: std::sync::LazyLock<Vec<Tried>> =
    std::sync::LazyLock::new(|| toml::from_str::<File>(FILE).map(|file| file.agent).unwrap_or_default());

/// A version in a text: numbers with dots between, and a letter behind them as tmux has.
pub(super) fn version_in(text: &str) -> Option<&str> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '.';
    text.split(|sign: char| !is_part(sign)).find(|word| {
        let starts = word.starts_with(|sign: char| sign.is_ascii_digit());
        starts && word.split('.').count() >= 2 && word.split('.').all(|part| !part.is_empty())
    })
}

/// Whether a version is older than another. A part that is no number counts by its number, then by its letters.
pub(super) fn is_older(one: &str, other: &str) -> bool {
    parts(one) < parts(other)
}

fn parts(version: &str) -> Vec<(u64, String)> {
    let part = |part: &str| {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, letters) = part.split_at(digits);
        (number.parse().unwrap_or(u64::MAX), letters.to_owned())
    };
    version.split('.').map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_was_tried_with_one_version() {
        let agents: Vec<Agent> = TRIED.iter().map(|tried| tried.agent).collect();
        assert_eq!(agents, [Agent::Claude, Agent::Codex]);
        for tried in TRIED.iter() {
            assert_eq!(version_in(&tried.version), Some(tried.version.as_str()));
            assert!(is_older(&tried.oldest, &tried.version), "{tried:?}");
            assert!(tried.passed.parse::<jiff::civil::Date>().is_ok() && !tried.before.is_empty(), "{tried:?}");
        }
    }

    #[test]
    fn a_version_is_found_in_what_a_program_says_of_itself() {
        for (said, version) in [
            ("2.1.332 (Claude Code)", Some("2.1.332")),
            ("codex-cli 0.171.0", Some("0.171.0")),
            ("tmux 3.3a", Some("3.3a")),
            ("tmux next-3.6", Some("3.6")),
            ("tmux master", None),
            ("v20", None),
            ("", None),
        ] {
            assert_eq!(version_in(said), version, "{said}");
        }
    }

    #[test]
    fn versions_are_compared_by_number_and_then_by_letter() {
        for (older, newer) in
            [("2.1.99", "2.1.100"), ("3.3", "3.3a"), ("3.2b", "3.3"), ("0.99.0", "0.150.0"), ("3.2", "3.10")]
        {
            assert!(is_older(older, newer) && !is_older(newer, older), "{older} {newer}");
        }
        assert!(!is_older("3.3a", "3.3a"));
    }
}
