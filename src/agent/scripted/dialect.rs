//! Transcript lines as the real programs write them: one file a dialect, and what both need.
//! Pure: facts in, lines out. When something is written is the player's business.

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::model::conversation::Conversation;
use crate::model::ids::{Agent, SessionId};

use super::plan::{Block, Names};
use super::script::{Fault, ToolUse};

pub mod claude;
pub mod codex;

/// What a scripted session says of itself in its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Whose records it writes.
    pub agent: Agent,
    /// Its id.
    pub session_id: SessionId,
    /// The folder it works in.
    pub cwd: String,
}

/// Lines that are about to be appended in one write.
#[derive(Debug)]
pub struct Page<'a> {
    /// Who writes.
    pub who: &'a Identity,
    /// When.
    pub at: Timestamp,
    /// Bytes in front of it: together with the count of lines it names each record.
    from: u64,
    parent: Option<String>,
    ordinal: u64,
    lines: u64,
    text: String,
}

impl<'a> Page<'a> {
    /// A page that goes behind what was seen.
    #[must_use]
    pub fn after(who: &'a Identity, seen: &Conversation, at: Timestamp) -> Self {
        let last = seen.last_record.as_ref().map(|record| record.id.as_str());
        // Ordinals only have to rise: without one to go on from, the length does.
        let ordinal = last.map_or(0, |id| id.parse::<u64>().map_or(seen.length, |ordinal| ordinal + 1));
        let parent = last.filter(|id| !id.starts_with('@')).map(str::to_owned);
        Self { who, at, from: seen.length, parent, ordinal, lines: 0, text: String::new() }
    }

    /// The lines, each with its newline.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }

    /// A uuid for the record that is written next.
    fn next_uuid(&self) -> String {
        uuid(&self.who.session_id, &format!("r{}.{}", self.from, self.lines))
    }

    fn push(&mut self, record: &Value) {
        self.text.push_str(&record.to_string());
        self.text.push('\n');
        self.lines += 1;
    }

    fn time(&self) -> String {
        time(self.at)
    }
}

/// A time as both programs write it: UTC, milliseconds.
#[must_use]
pub fn time(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// 24 hexadecimal digits that stand for `what` of a session.
#[must_use]
pub fn name_of(session: &SessionId, what: &str) -> String {
    hex(session, what, 12)
}

/// A uuid that stands for `what` of a session.
#[must_use]
pub fn uuid(session: &SessionId, what: &str) -> String {
    let digits = hex(session, what, 16);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or("0");
    format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

fn hex(session: &SessionId, what: &str, bytes: usize) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::new_with_prefix(session.as_str()).chain_update([0]).chain_update(what).finalize();
    digest.iter().take(bytes).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The first lines of a new transcript: what a program leaves before its first prompt.
pub fn open(page: &mut Page<'_>) {
    match page.who.agent {
        Agent::Claude => claude::open(page),
        Agent::Codex => codex::open(page),
    }
}

/// A prompt that begins turn `turn`.
pub fn prompt(page: &mut Page<'_>, turn: usize, text: &str, queued: bool) {
    match page.who.agent {
        Agent::Claude => claude::prompt(page, turn, text, queued),
        Agent::Codex => codex::prompt(page, turn, text),
    }
}

/// A message of the agent: act `act` of its turn.
pub fn message(page: &mut Page<'_>, names: Names<'_>, act: usize, blocks: &[Block]) {
    match page.who.agent {
        Agent::Claude => claude::message(page, names, act, blocks),
        Agent::Codex => codex::message(page, names, act, blocks),
    }
}

/// The result of the call of act `act`.
pub fn result(page: &mut Page<'_>, names: Names<'_>, act: usize, tool: &ToolUse) {
    match page.who.agent {
        Agent::Claude => claude::result(page, names, act, tool),
        Agent::Codex => codex::result(page, names, act, tool),
    }
}

/// What is known of a turn when it ends.
#[derive(Clone, Debug)]
pub struct Ending<'a> {
    /// The turn's place.
    pub turn: usize,
    /// When it began.
    pub began: Timestamp,
    /// Its last words.
    pub last_words: Option<&'a str>,
}

/// The turn ends.
pub fn end(page: &mut Page<'_>, ending: &Ending<'_>) {
    match page.who.agent {
        Agent::Claude => claude::end(page, ending, 0),
        Agent::Codex => codex::end(page, ending),
    }
}

/// The turn fails.
pub fn fail(page: &mut Page<'_>, ending: &Ending<'_>, fault: &Fault) {
    match page.who.agent {
        Agent::Claude => claude::fail(page, ending, fault),
        Agent::Codex => codex::fail(page, ending, fault),
    }
}

/// A person stops the turn.
pub fn interrupt(page: &mut Page<'_>, ending: &Ending<'_>) {
    match page.who.agent {
        Agent::Claude => claude::interrupt(page, ending),
        Agent::Codex => codex::interrupt(page, ending),
    }
}

/// The words of a fault, with the end of a limit filled in.
fn words(fault: &Fault, at: Timestamp, resets: impl Fn(Timestamp) -> String) -> String {
    let end = fault.resets_ms.and_then(|wait| i64::try_from(wait).ok()).map(jiff::SignedDuration::from_millis);
    match end.and_then(|wait| at.checked_add(wait).ok()) {
        Some(end) => fault.text.replace("{resets}", &resets(end)),
        None => fault.text.clone(),
    }
}
