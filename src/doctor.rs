//! What would keep a run from going, in words that say what to do. Facts in, findings out: nothing is looked up here.
//! Each finding knows which of its words may be shown to strangers.

pub mod facts;

mod judge;
mod versions;

use std::fmt;

pub use judge::judge;
pub use versions::{TRIED, Tried};

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Well,
    /// A run goes, but something is less than it could be.
    Note,
    /// A run would not go, or not here.
    Stops,
}

impl Level {
    /// The word in front of a finding.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Well => "ok",
            Self::Note => "note",
            Self::Stops => "fix",
        }
    }
}

/// A part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// trellis's own words, numbers and versions.
    Words(String),
    /// Of this machine or person: left out of a report. What it is, and it.
    Own(&'static str, String),
}

/// A sentence, made of parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence(Vec<Part>);

impl Sentence {
    /// Begins with own words.
    fn new(words: impl Into<String>) -> Self {
        Self::default().then(words)
    }

    /// Goes on with own words.
    fn then(mut self, words: impl Into<String>) -> Self {
        self.0.push(Part::Words(words.into()));
        self
    }

    fn path(self, path: impl Into<String>) -> Self {
        self.own("path", path)
    }

    fn own(mut self, what: &'static str, it: impl Into<String>) -> Self {
        self.0.push(Part::Own(what, it.into()));
        self
    }

    /// With what belongs to the person left out.
    #[must_use]
    pub fn redacted(&self) -> String {
        let part = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Own(what, _) => format!("<{what}>"),
        };
        self.0.iter().map(part).collect()
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Words(words) | Part::Own(_, words) => f.write_str(words),
        })
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// What was looked at, one word.
    pub about: &'static str,
    /// How it stands.
    pub says: Sentence,
    /// What to do; nothing where all is well.
    pub advice: Option<Sentence>,
}

impl Finding {
    fn well(about: &'static str, says: Sentence) -> Self {
        Self { level: Level::Well, about, says, advice: None }
    }

    fn note(about: &'static str, says: Sentence, advice: Sentence) -> Self {
        Self { level: Level::Note, about, says, advice: Some(advice) }
    }

    fn stops(about: &'static str, says: Sentence, advice: Sentence) -> Self {
        Self { level: Level::Stops, about, says, advice: Some(advice) }
    }
}
