//! What a message is to its reader, and the words for it: before it goes out, once it has, and as a thing. No other file
//! says these; which text goes out is decided elsewhere.

use crate::model::outbox::{Entry, Purpose};
use crate::model::run::RunRecord;

/// A purpose, with what it leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// The phase prompt before any phase of the run.
    Phase,
    /// The phase prompt behind a phase.
    NextPhase,
    /// An answer of one side for the other.
    Relay,
    /// Whether a near miss was an approval.
    Question,
    /// A word to go on.
    GoOn,
    /// The very text that was sent before.
    SameAgain,
    /// A person's own words.
    Yours,
}

impl Sending {
    /// Of a message. `same`: it is the text that was sent before; `first`: no phase came before it.
    #[must_use]
    pub const fn new(purpose: Purpose, same: bool, first: bool) -> Self {
        match purpose {
            Purpose::Advance if first => Self::Phase,
            Purpose::Advance => Self::NextPhase,
            Purpose::ToReviewer | Purpose::ToImplementer => Self::Relay,
            Purpose::Clarify => Self::Question,
            Purpose::Continue if same => Self::SameAgain,
            Purpose::Continue => Self::GoOn,
            Purpose::User => Self::Yours,
        }
    }

    /// Of an entry among the others of its record. `run`: the record, if it is a run.
    #[must_use]
    pub fn of(entry: &Entry, outbox: &[Entry], run: Option<&RunRecord>) -> Self {
        let first = run.is_some_and(|run| run.phases.iter().all(|phase| phase.started_at > entry.prepared_at));
        Self::new(entry.purpose, is_same_text(entry, outbox), first)
    }

    /// What is going to happen: `asks codex to go on`.
    #[must_use]
    pub fn does(self, name: &str) -> String {
        match self {
            Self::Phase => format!("asks {name} for the phase"),
            Self::NextPhase => format!("asks {name} for the next phase"),
            Self::Relay => format!("relays the answer to {name}"),
            Self::Question => format!("asks {name} whether that is an approval"),
            Self::GoOn => format!("asks {name} to go on"),
            Self::SameAgain => format!("sends the same message to {name} again"),
            Self::Yours => format!("sends your message to {name}"),
        }
    }

    /// What happened: `asked codex to go on`.
    #[must_use]
    pub fn done(self, name: &str) -> String {
        match self {
            Self::Phase => format!("asked {name} for the phase"),
            Self::NextPhase => format!("asked {name} for the next phase"),
            Self::Relay => format!("relay to {name}"),
            Self::Question => format!("asked {name} whether that is an approval"),
            Self::GoOn => format!("asked {name} to go on"),
            Self::SameAgain => format!("the same message to {name} again"),
            Self::Yours => format!("your message to {name}"),
        }
    }

    /// The message as a thing: `a request to go on`.
    #[must_use]
    pub const fn thing(self) -> &'static str {
        match self {
            Self::Phase | Self::NextPhase => "the phase prompt",
            Self::Relay => "a relay",
            Self::Question => "a question",
            Self::GoOn => "a request to go on",
            Self::SameAgain => "the same message",
            Self::Yours => "your message",
        }
    }

    /// The same without an article: `request to go on`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Phase | Self::NextPhase => "phase prompt",
            Self::Relay => "relay",
            Self::Question => "question",
            Self::GoOn => "request to go on",
            Self::SameAgain => "same message",
            Self::Yours => "message of yours",
        }
    }
}

/// Whether an entry is the very text of the one that it sends again.
#[must_use]
pub fn is_same_text(entry: &Entry, outbox: &[Entry]) -> bool {
    let before = entry.resend_of.as_ref().and_then(|id| outbox.iter().find(|entry| &entry.id == id));
    before.is_some_and(|before| before.text.sha256 == entry.text.sha256)
}
