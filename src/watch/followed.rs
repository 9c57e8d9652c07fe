//! One session that somebody reads: its file as far as it was read, or no more than its end. When it is read, and what its
//! absence means, is not decided here.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::tail::Tail;
use crate::driver::ports::TranscriptRead;
use crate::machine::TranscriptFact;
use crate::model::conversation::Conversation;
use crate::model::ids::Agent;

/// Bytes of a transcript that are read at once for a screen.
const AT_ONCE: u64 = 4 * 1_024 * 1_024;

/// A session that somebody reads.
pub(super) struct Followed {
    pub(super) tail: Option<Tail>,
    /// Its end, which is shown until the tail has read what stands before.
    pub(super) end: Option<Tail>,
    /// What was read before the file was lost. Not kept beside a tail: a shared conversation is copied when it grows.
    pub(super) last: Option<Arc<Conversation>>,
    pub(super) missing_since: Option<Timestamp>,
    pub(super) asked_at: Timestamp,
}

impl Followed {
    pub(super) const fn new(now: Timestamp) -> Self {
        Self { tail: None, end: None, last: None, missing_since: None, asked_at: now }
    }

    pub(super) fn path(&self) -> Option<PathBuf> {
        self.tail.as_ref().map(|tail| tail.path().to_owned())
    }

    /// What is read of it: the file, or its end.
    pub(super) fn open(&self) -> Option<&Tail> {
        self.tail.as_ref().or(self.end.as_ref())
    }

    /// Tells the end of a long file, and reads the next part of the rest if that is wanted; `None`: what is left is no more
    /// than a part, or cannot be read so.
    pub(super) fn next_part(
        &mut self,
        agent: Agent,
        path: &Path,
        (compressed, whole): (bool, bool),
        buffer: &mut [u8],
    ) -> Option<TranscriptRead> {
        if whole {
            let mut tail = self.tail.take().or_else(|| Tail::open(agent, path, compressed).ok())?;
            let is_long = !compressed && tail.missing().ok()? > AT_ONCE;
            let is_whole = !is_long || tail.read_some(buffer, AT_ONCE).ok()?;
            self.tail = Some(tail);
            if is_whole {
                return None;
            }
        } else {
            if compressed || fs::metadata(path).ok()?.len() <= AT_ONCE {
                return None;
            }
            self.tail = None;
        }
        let mut end = self.end.take().or_else(|| Tail::open_end(agent, path, buffer).ok())?;
        end.catch_up(buffer).ok()?;
        let fact = TranscriptFact::Present(end.mark());
        let read = TranscriptRead { fact, conversation: Some(end.conversation()) };
        self.end = Some(end);
        Some(read)
    }
}
