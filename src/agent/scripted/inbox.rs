//! What was typed to a scripted agent and not yet taken up: kept in a file of the demo's home, as a real agent keeps it in
//! its own process. So it outlives whoever plays, and is taken up once.

use std::fs;
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::home::write_whole;
use super::player::Pending;
use crate::model::conversation::Conversation;

/// A message as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Typed {
    text: String,
    due: Timestamp,
    /// Turns that its transcript held then: an equal prompt in a later one is this message.
    after_turns: usize,
}

/// The messages, oldest first.
#[derive(Debug)]
pub(super) struct Inbox {
    path: PathBuf,
    typed: Vec<Typed>,
    pending: Vec<Pending>,
}

impl Inbox {
    /// What is kept in a file; one that is not there or damaged holds nothing.
    pub(super) fn open(path: PathBuf) -> Self {
        let typed: Vec<Typed> =
            fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let pending = typed.iter().map(pending).collect();
        Self { path, typed, pending }
    }

    /// What was taken up and not struck out: a kill came between the two.
    pub(super) fn forget_what_was_taken(&mut self, seen: &Conversation) {
        let is_there = |typed: &Typed| {
            let later = seen.turns.iter().skip(typed.after_turns);
            later
                .map(|turn| &turn.prompt.text)
                .chain(seen.queued.iter().map(|queued| &queued.text))
                .any(|text| **text == *typed.text)
        };
        self.typed.retain(|typed| !is_there(typed));
        self.pending = self.typed.iter().map(pending).collect();
    }

    /// The messages, as the player wants them.
    pub(super) fn pending(&self) -> &[Pending] {
        &self.pending
    }

    /// A message is typed, when the transcript holds so many turns.
    pub(super) fn push(&mut self, message: Pending, turns: usize) -> io::Result<()> {
        let (text, due) = (message.text.to_string(), message.due);
        self.typed.push(Typed { text, due, after_turns: turns });
        let kept = self.keep();
        if kept.is_err() {
            self.typed.pop();
        } else {
            self.pending.push(message);
        }
        kept
    }

    /// A message was taken up.
    pub(super) fn remove(&mut self, place: usize) -> io::Result<()> {
        if place >= self.typed.len() {
            return Ok(());
        }
        self.typed.remove(place);
        self.pending.remove(place);
        self.keep()
    }

    /// Nobody is there any more to take anything up.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        if self.typed.is_empty() {
            return Ok(());
        }
        self.typed.clear();
        self.pending.clear();
        self.keep()
    }

    fn keep(&self) -> io::Result<()> {
        let text = serde_json::to_string(&self.typed)?;
        write_whole(&self.path, &text).map_err(io::Error::other)
    }
}

fn pending(typed: &Typed) -> Pending {
    Pending { text: typed.text.as_str().into(), due: typed.due }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::Agent;
    use crate::transcript::read_all;

    fn message(text: &str) -> Pending {
        Pending { text: text.into(), due: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn what_was_typed_outlives_the_player_and_is_struck_out_once_it_stands_in_the_transcript() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.json");
        let mut inbox = Inbox::open(path.clone());
        inbox.push(message("one"), 0).unwrap();
        inbox.push(message("two"), 0).unwrap();
        inbox.remove(0).unwrap();
        let mut again = Inbox::open(path.clone());
        assert_eq!(again.pending(), [message("two")]);
        let prompt = r#"{"type":"user","uuid":"u1","timestamp":"2026-03-01T12:00:00Z","sessionId":"s","message":{"role":"user","content":"two"}}"#;
        let seen = read_all(Agent::Claude, format!("{prompt}\n").as_bytes());
        assert_eq!(seen.turns.len(), 1);
        again.forget_what_was_taken(&seen);
        assert_eq!(again.pending(), []);
        // The same words typed again later are another message.
        let mut later = Inbox::open(path);
        later.clear().unwrap();
        later.push(message("two"), 1).unwrap();
        later.forget_what_was_taken(&seen);
        assert_eq!(later.pending(), [message("two")]);
    }
}
