//! What a decision rests on: in words for people, and as the ground itself for programs. What is decided is elsewhere.

use jiff::Timestamp;

use super::TranscriptFact;
use super::common::Loop;
use super::draft::Draft;
use crate::model::conversation::Turn;
use crate::model::event::Ground;
use crate::model::ids::{Role, TurnId};

/// Both of them. A text alone is a ground among trellis' own records and settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    pub words: String,
    pub ground: Ground,
}

impl Evidence {
    /// An order of a person.
    pub fn key() -> Self {
        Self::order("a key")
    }

    /// The same, in other words.
    pub fn order(words: &str) -> Self {
        Self { words: words.to_owned(), ground: Ground::Key }
    }

    /// A time that has come.
    pub fn timer(at: Timestamp) -> Self {
        Self { words: format!("timer of {at}"), ground: Ground::Timer { at } }
    }

    /// Something of a process, a pane, a queue or a file.
    pub fn seen(words: impl Into<String>) -> Self {
        Self { words: words.into(), ground: Ground::Seen }
    }

    /// Where a turn's prompt stands.
    pub fn prompt<R: Loop>(draft: &Draft<'_, R>, role: Role, turn: &Turn) -> Self {
        let (record, offset) = (turn.prompt.record.id.as_str(), turn.prompt.record.offset);
        let words = format!("record {record} at byte {offset}");
        Self { words, ground: place(draft, role, record, offset) }
    }

    /// Where a turn's answer stands; what is known of the turn where it has none or is not there any more.
    pub fn answer<R: Loop>(draft: &Draft<'_, R>, role: Role, turn: &TurnId) -> Self {
        let found = draft.conversation(role).and_then(|told| told.turns.get(told.turn_index(turn)?));
        match (found, found.and_then(|turn| turn.answer.as_ref())) {
            (_, Some(answer)) => Self {
                words: format!("turn {turn}, message {} at byte {}", answer.message_id, answer.offset),
                ground: place(draft, role, answer.message_id.as_str(), answer.offset),
            },
            (Some(found), None) => Self::end(draft, role, found),
            (None, None) => Self::from(format!("turn {turn}")),
        }
    }

    /// Where a turn ends.
    pub fn end<R: Loop>(draft: &Draft<'_, R>, role: Role, turn: &Turn) -> Self {
        let (record, offset) = (turn.last_record.id.as_str(), turn.last_record.offset);
        let words = format!("turn {}, record {record} at byte {offset}", turn.id);
        Self { words, ground: place(draft, role, record, offset) }
    }

    /// With more words behind.
    pub fn and(mut self, words: &str) -> Self {
        self.words.push_str(words);
        self
    }
}

impl From<&str> for Evidence {
    fn from(words: &str) -> Self {
        Self::from(words.to_owned())
    }
}

impl From<String> for Evidence {
    fn from(words: String) -> Self {
        Self { words, ground: Ground::Own }
    }
}

/// A place in a side's transcript.
fn place<R: Loop>(draft: &Draft<'_, R>, role: Role, record: &str, offset: u64) -> Ground {
    let file = match draft.side(role).transcript {
        TranscriptFact::Present(mark) => mark.path.clone(),
        TranscriptFact::NotYet | TranscriptFact::Deleted | TranscriptFact::Unreadable(_) => String::new(),
    };
    Ground::Record { session: draft.rec.session(role).key(), file, record: record.to_owned(), offset }
}
