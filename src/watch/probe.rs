//! A look at both ends of a transcript for what a list shows: work tree, title, branch, last words, and whether it is a
//! sub-agent's.
//! Only as much is read as that takes; the records are read by the transcript readers.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::naming::Named;
use super::tail::Frames;
use crate::model::ids::Agent;
use crate::transcript::summary::{self, Ends};

/// First piece of a file's beginning, in bytes; grows fourfold.
const HEAD: usize = 8 * 1024;
/// So much of the beginning is read for a title. A work tree is looked for further on, up to [`META`].
const TITLE: usize = 256 * 1024;
/// First lines of this size are still read (a rollout's first line holds the whole instructions).
const META: usize = 8 * 1024 * 1024;
/// Bytes of the end, where a newer work tree and the last words may stand; grows fourfold.
const TAIL: usize = 16 * 1024;
/// So much of the end is read for the last words.
const LAST_WORDS: usize = 128 * 1024;

/// What a probe saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Probe {
    pub(super) cwd: Option<String>,
    pub(super) title: Option<Arc<str>>,
    pub(super) branch: Option<Arc<str>>,
    pub(super) subagent: bool,
    pub(super) last_words: Option<Arc<str>>,
}

/// Looks at a file. One that cannot be read shows nothing: it is listed by its name all the same.
pub(super) fn probe(named: &Named, path: &Path) -> Probe {
    let seen = if named.compressed { compressed(named.agent, path) } else { plain(named.agent, path) };
    seen.unwrap_or_else(|error| {
        tracing::debug!(%error, path = %path.display(), "transcript cannot be probed");
        Probe::default()
    })
}

fn plain(agent: Agent, path: &Path) -> io::Result<Probe> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut seen = grow(agent, &file, Some(length))?;
    if length <= HEAD as u64 {
        // The head was the whole file and has told of its end.
        return Ok(seen);
    }
    let mut size = TAIL;
    loop {
        let mut tail = vec![0; usize::try_from(length).unwrap_or(usize::MAX).min(size)];
        let at = length.saturating_sub(tail.len() as u64);
        let count = file.read_at(&mut tail, at)?;
        tail.truncate(count);
        let end = summary::probe(agent, "", Ends { head: &[], tail: &tail, length });
        if end.wants_tail && size < LAST_WORDS {
            size = size.saturating_mul(4);
            continue;
        }
        seen.cwd = end.cwd.or(seen.cwd);
        seen.branch = end.branch.map(Arc::from).or(seen.branch);
        seen.last_words = end.last_message.map(Arc::from).or(seen.last_words);
        return Ok(seen);
    }
}

fn compressed(agent: Agent, path: &Path) -> io::Result<Probe> {
    grow(agent, Frames::new(File::open(path)?), None)
}

/// Reads the beginning until it shows what a list needs, or long enough. Without a `length` it is known at the end.
fn grow(agent: Agent, mut source: impl Read, length: Option<u64>) -> io::Result<Probe> {
    let mut head = Vec::with_capacity(HEAD);
    let mut size = HEAD;
    loop {
        let missing = size.saturating_sub(head.len());
        let count = source.by_ref().take(missing as u64).read_to_end(&mut head)?;
        let at_end = count < missing;
        let known = if at_end { head.len() as u64 } else { u64::MAX };
        let seen = summary::probe(agent, "", Ends { head: &head, tail: &[], length: length.unwrap_or(known) });
        let long_enough = size >= META || (size >= TITLE && seen.cwd.is_some());
        if at_end || long_enough || !seen.wants_head {
            return Ok(Probe {
                cwd: seen.cwd,
                title: seen.title.map(Arc::from),
                branch: seen.branch.map(Arc::from),
                // What the names of Claude's files let through is a session, whatever rows it begins with: one that
                // holds nothing but side-chain rows so far gets its first message later.
                subagent: agent == Agent::Codex && seen.is_subagent,
                last_words: seen.last_message.map(Arc::from),
            });
        }
        size = size.saturating_mul(4);
    }
}
