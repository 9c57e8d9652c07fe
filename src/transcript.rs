//! Transcripts: bytes in, records and turns out, however the bytes are cut. Pure; only the files below know field names of an agent.

mod claude;
mod codex;
mod cut;
mod failure;
pub mod hooks;
mod lines;
mod loose;
pub mod permission;
mod resets;
pub mod summary;
mod tools;
mod turns;

use std::io::{self, Read};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use memchr::memchr;

use crate::model::conversation::{Conversation, RecordPos};
use crate::model::ids::{Agent, RecordId};
use lines::Lines;
use resets::Resets;
use turns::Turns;

/// How two recordings of one message are compared (`loops.md` §3, Evidence).
pub mod compare {
    pub use crate::model::text::{fold, unwrap_pastes};
}

/// Reads one transcript as it grows.
///
/// The chunks may be cut anywhere: the same bytes give the same conversation. A last line without its end stays pending.
#[derive(Debug)]
pub struct Reader {
    lines: Lines,
    turns: Turns,
    dialect: Dialect,
}

#[derive(Debug)]
enum Dialect {
    Claude(claude::Claude),
    Codex(codex::Codex),
}

impl Dialect {
    /// Takes in one record. `false`, with nothing done, if the bytes are not one whole record.
    fn record(&mut self, turns: &mut Turns, offset: u64, body: &[u8]) -> bool {
        match self {
            Self::Claude(claude) => claude.record(turns, offset, body),
            Self::Codex(codex) => codex.record(turns, offset, body),
        }
    }
}

impl Reader {
    /// A reader at the start of a file. Reset times that name no zone are taken for UTC.
    #[must_use]
    pub fn new(agent: Agent) -> Self {
        Self::with_zone(agent, TimeZone::UTC)
    }

    /// A reader that takes reset times without a zone for times of `zone`, which should be the machine's.
    #[must_use]
    pub fn with_zone(agent: Agent, zone: TimeZone) -> Self {
        let dialect = match agent {
            Agent::Claude => Dialect::Claude(claude::Claude::default()),
            Agent::Codex => Dialect::Codex(codex::Codex::default()),
        };
        Self { lines: Lines::default(), turns: Turns::new(agent, Resets::new(zone)), dialect }
    }

    /// A reader that begins somewhere inside a file: what it reads belongs to a turn that began before.
    pub(crate) fn inside_a_turn(agent: Agent) -> Self {
        Self::inside(agent, TimeZone::UTC, 0)
    }

    /// The same at a known place: the beginning of a line.
    pub(crate) fn inside(agent: Agent, zone: TimeZone, offset: u64) -> Self {
        let mut reader = Self::with_zone(agent, zone);
        reader.lines = Lines::at(offset);
        let pos = position(None, offset, None);
        reader.turns.begin_inside(&pos);
        if let Dialect::Codex(codex) = &mut reader.dialect {
            codex.assume_prompted();
        }
        reader
    }

    /// Takes the bytes that follow those of the last call.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { lines, turns, dialect } = self;
        lines.push(bytes, |offset, line| take_line(turns, dialect, offset, line));
        turns.consumed(lines.consumed());
    }

    /// Offset behind the last complete line, in bytes; equals the conversation's `length`.
    #[must_use]
    pub fn consumed(&self) -> u64 {
        self.lines.consumed()
    }

    /// What was read so far. Cheap: the next [`Reader::push`] copies what is shared only if this is still held then.
    #[must_use]
    pub fn conversation(&self) -> Arc<Conversation> {
        Arc::clone(self.turns.conversation())
    }
}

/// Reads a whole transcript. A last line without its end is left out, as a growing file's is.
#[must_use]
pub fn read_all(agent: Agent, bytes: &[u8]) -> Conversation {
    let mut reader = Reader::new(agent);
    reader.push(bytes);
    Arc::unwrap_or_clone(reader.conversation())
}

/// Unpacks a `.jsonl.zst` rollout, all frames of it.
///
/// # Errors
/// The source cannot be read, or is no zstd.
pub fn unzst(mut source: impl Read) -> io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    source.read_to_end(&mut packed)?;
    let mut rest = packed.as_slice();
    let mut bytes = Vec::new();
    while !rest.is_empty() {
        let mut frame = ruzstd::decoding::StreamingDecoder::new(&mut rest).map_err(io::Error::other)?;
        frame.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Whether a sub-agent's file, of either agent, holds a call of a tool that is named for editing files.
#[must_use]
pub fn edits_in(bytes: &[u8]) -> bool {
    let mut found = false;
    let mut look = |_: u64, line: &[u8]| {
        let (_, body) = lines::trim(line);
        found = found || claude::edits(body) || codex::edits(body);
    };
    let mut lines = Lines::default();
    lines.push(bytes, &mut look);
    // A sub-agent that was killed may leave its last line without an end; `\n` completes it.
    lines.push(b"\n", &mut look);
    found
}

/// Most places of one broken line at which a record is looked for.
const SALVAGE_TRIES: u32 = 64;

fn take_line(turns: &mut Turns, dialect: &mut Dialect, offset: u64, line: &[u8]) {
    let (front, body) = lines::trim(line);
    if !body.is_empty() && !dialect.record(turns, offset + front as u64, body) {
        salvage(turns, dialect, offset + front as u64, body);
    }
}

/// Reads what there is in a line that is not one record: records glued together, NUL bytes between them,
/// a torn one before a whole one.
fn salvage(turns: &mut Turns, dialect: &mut Dialect, offset: u64, body: &[u8]) {
    let (mut at, mut tries, mut broken) = (0, 0, false);
    let mut chunk_end = 0;
    loop {
        at += lines::trim(body.get(at..).unwrap_or_default()).0;
        if at >= chunk_end {
            // Found once a stretch: a line may hold very many records.
            chunk_end = memchr(0, body.get(at..).unwrap_or_default()).map_or(body.len(), |nul| at + nul);
        }
        let Some(chunk) = body.get(at..chunk_end).filter(|chunk| !chunk.is_empty()) else { return };
        if let Some(end) = record_end(chunk)
            && let Some(record) = chunk.get(..end)
            && dialect.record(turns, offset + at as u64, record)
        {
            at += end;
            broken = false;
            continue;
        }
        if !broken {
            turns.damaged();
        }
        broken = true;
        tries += 1;
        if tries > SALVAGE_TRIES {
            return;
        }
        at = lines::next_beginning(chunk, 1).map_or(chunk_end, |next| at + next);
    }
}

/// Where the record that begins `chunk` ends, provided that nothing or another record follows: an object inside
/// a torn record is followed by more of that record.
fn record_end(chunk: &[u8]) -> Option<usize> {
    let end = lines::value_end(chunk)?;
    let (_, behind) = lines::trim(chunk.get(end..)?);
    (behind.is_empty() || behind.starts_with(b"{")).then_some(end)
}

/// Position of a record; one without an id of its own is named by its offset.
fn position(id: Option<&str>, offset: u64, at: Option<Timestamp>) -> RecordPos {
    let id = id.map_or_else(|| RecordId::new(format!("@{offset}")), RecordId::new);
    RecordPos { id, offset, at }
}

fn time(text: Option<&str>) -> Option<Timestamp> {
    text?.parse().ok()
}

/// A raw scalar of a peeked line as text.
fn raw_text(bytes: Option<&[u8]>) -> Option<&str> {
    bytes.and_then(|bytes| std::str::from_utf8(bytes).ok())
}
