//! What a transcript's path says: which agent, which session, compressed or not. Reads nothing; never decodes a
//! folder's name, which is lossy (the work tree stands in the records).

use std::path::{Component, Path};

use crate::model::ids::{Agent, SessionId, is_safe_name};

/// What a file's name says about a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) agent: Agent,
    pub(super) id: SessionId,
    pub(super) compressed: bool,
}

/// Bytes of `YYYY-MM-DDThh-mm-ss` in a rollout's name.
const STAMP: usize = 19;

/// Reads a path below an agent's root; `None` if it is no session's transcript there: a sub-agent's file, a file at
/// another depth, another kind of file.
pub(super) fn parse(agent: Agent, root: &Path, path: &Path) -> Option<Named> {
    let below = path.strip_prefix(root).ok()?;
    let mut folders = Vec::with_capacity(4);
    for part in below.components() {
        let Component::Normal(name) = part else { return None };
        folders.push(name.to_str());
    }
    let name = folders.pop()??;
    match agent {
        Agent::Claude if folders.len() == leaf_depth(agent) => claude(name),
        Agent::Codex
            if folders.len() == leaf_depth(agent) && folders.iter().all(|folder| folder.is_some_and(is_number)) =>
        {
            codex(name)
        }
        Agent::Claude | Agent::Codex => None,
    }
}

/// How many folders below the root the transcripts stand.
pub(super) const fn leaf_depth(agent: Agent) -> usize {
    match agent {
        Agent::Claude => 1,
        Agent::Codex => 3,
    }
}

/// Whether a folder may hold transcripts, or folders that do, at this depth below the root (the root's own is 0).
pub(super) fn is_folder_of_interest(agent: Agent, depth: usize, name: Option<&str>) -> bool {
    match agent {
        // A project's folder may have any name, one that is no text included.
        Agent::Claude => depth == 1,
        Agent::Codex => (1..=3).contains(&depth) && name.is_some_and(is_number),
    }
}

fn is_number(text: &str) -> bool {
    (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn claude(name: &str) -> Option<Named> {
    let id = name.strip_suffix(".jsonl")?;
    // Old versions put the sub-agents' files beside the sessions'.
    if id.starts_with("agent-") || !is_safe_name(id) {
        return None;
    }
    Some(Named { agent: Agent::Claude, id: SessionId::new(id), compressed: false })
}

fn codex(name: &str) -> Option<Named> {
    let (stem, compressed) = match name.strip_suffix(".zst") {
        Some(plain) => (plain.strip_suffix(".jsonl")?, true),
        None => (name.strip_suffix(".jsonl")?, false),
    };
    let id = stem.strip_prefix("rollout-")?.get(STAMP..)?.strip_prefix('-')?;
    is_safe_name(id).then(|| Named { agent: Agent::Codex, id: SessionId::new(id), compressed })
}

/// Whether a path could be a transcript by its ending alone.
pub(super) fn looks_like_one(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl" || ending == "zst")
}

#[cfg(test)]
#[path = "naming_tests.rs"]
mod tests;
