//! What a list of sessions shows of a transcript, read from its two ends only.
//! Which bytes are read, and from where, is the caller's affair.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use memchr::memmem;

use super::lines::{cut_line, trim};
use super::{Reader, claude, codex};
use crate::model::conversation::{Conversation, ItemKind, Outcome};
use crate::model::ids::{Agent, SessionId};
use crate::model::text::first_line;

/// What the two ends of a transcript say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The session; by the records, else by the file's name. `None`: neither names one.
    pub session_id: Option<SessionId>,
    /// Newest folder that the records name.
    pub cwd: Option<String>,
    /// First line of the first prompt.
    pub title: Option<String>,
    /// First line of the newest message of the agent, or of its error.
    pub last_message: Option<String>,
    /// Newest git branch.
    pub branch: Option<String>,
    /// Newest version of the program.
    pub cli_version: Option<String>,
    /// Whether it is the thread of a sub-agent: no session of its own.
    pub is_subagent: bool,
    /// How the newest turn stands.
    pub state: State,
    /// Time of the newest record of the conversation.
    pub last_spoken_at: Option<Timestamp>,
    /// Lines at the two ends that were no record; worth a warning.
    pub damaged: u64,
    /// A longer head would say more: the session, its folder or its title is not known yet.
    pub wants_head: bool,
    /// A longer tail would say more: it does not show how the newest turn stands, or no message of the agent.
    pub wants_tail: bool,
}

/// How the newest turn of a session stands, as far as its transcript says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There was no prompt yet.
    Empty,
    /// A turn runs, a prompt waits, or an agent works in the background.
    Working,
    /// A question of the agent is open.
    Asking,
    /// The newest turn ended.
    Idle,
    /// The newest turn failed.
    Failed,
    /// A person stopped the newest turn.
    Interrupted,
}

/// The bytes of a transcript that a probe has.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    /// The first bytes of the file.
    pub head: &'a [u8],
    /// The last bytes of the file; may overlap the head, may begin anywhere in a line.
    pub tail: &'a [u8],
    /// Length of the whole file.
    pub length: u64,
}

/// Reads the two ends. If the head is the whole file, the tail is not looked at. Of a head as much is read as says what a
/// list needs, of a tail its last message and what stands behind it.
///
/// A first line may be megabytes long (a session's base instructions stand in it): while `wants_head` is set,
/// probing again with a longer head says more. A caller stops at a bound of its own: a file may hold no prompt at all.
#[must_use]
pub fn probe(agent: Agent, file_name: &str, ends: Ends<'_>) -> Summary {
    let whole = ends.head.len() as u64 >= ends.length;
    let mut reader = Reader::new(agent);
    if whole {
        reader.push(ends.head);
    } else {
        let mut rest = ends.head;
        while let Some((line, behind)) = cut_line(rest) {
            reader.push(line);
            rest = behind;
            if knows_start(&reader) {
                break;
            }
        }
    }
    let head = reader.conversation();
    let tail = if whole { None } else { Some(read_tail(agent, ends.tail)) };
    let end = tail.as_ref().unwrap_or(&head);
    let by_name = id_of_file(agent, file_name);
    let last_message = last_message(end);
    let says_enough = tail.is_none() || (says_something(end) && last_message.is_some());
    Summary {
        session_id: end.session_id.clone().or_else(|| head.session_id.clone()).or(by_name),
        cwd: end.cwd.clone().or_else(|| head.cwd.clone()),
        title: head.title.clone(),
        last_message,
        branch: end.branch.clone().or_else(|| head.branch.clone()),
        cli_version: end.cli_version.clone().or_else(|| head.cli_version.clone()),
        is_subagent: is_subagent(agent, file_name, ends.head),
        state: state(end),
        last_spoken_at: end.last_spoken_at.or(head.last_spoken_at),
        damaged: head.damaged + tail.as_ref().map_or(0, |tail| tail.damaged),
        wants_head: !whole && !knows_start(&reader),
        wants_tail: !says_enough && (ends.tail.len() as u64) < ends.length,
    }
}

fn knows_start(reader: &Reader) -> bool {
    let head = reader.conversation();
    (head.session_id.is_some() || reader.consumed() > 0) && head.cwd.is_some() && head.title.is_some()
}

/// What a line holds that says, or may say, a message of the agent.
const MESSAGES: [&[u8]; 3] = [b"\"text\"", b"\"agent_message\"", b"\"output_text\""];
/// What may stand before the last message and still counts at the end: a prompt that waits, an agent in the background,
/// an open question.
const LASTING: [&[u8]; 3] = [b"queue-operation", b"async_launched", b"AskUserQuestion"];

/// The tail as a conversation whose running turn began before it, from its last message on. The first line is cut and
/// left out.
fn read_tail(agent: Agent, tail: &[u8]) -> Arc<Conversation> {
    let first = memchr::memchr(b'\n', tail).map_or(tail.len(), |end| end + 1);
    let holds = |bytes: &[u8], words: &[&[u8]]| words.iter().any(|word| memmem::find(bytes, word).is_some());
    let read = |from: usize| {
        let mut reader = Reader::inside_a_turn(agent);
        reader.push(tail.get(from..).unwrap_or_default());
        reader.conversation()
    };
    let mut end = tail.len();
    if !holds(tail, &LASTING) {
        while end > first {
            // Before the line's own end.
            let before = tail.get(first..end - 1).unwrap_or_default();
            let start = memchr::memrchr(b'\n', before).map_or(first, |at| first + at + 1);
            if tail.get(start..end).is_some_and(|line| holds(line, &MESSAGES)) {
                let told = read(start);
                if last_message(&told).is_some() {
                    return told;
                }
            }
            end = start;
        }
    }
    read(first)
}

/// Whether a tail says how the turn stands in which it begins, or holds a later one.
fn says_something(tail: &Conversation) -> bool {
    match tail.turns.first() {
        Some(before) if tail.turns.len() == 1 => before.outcome.is_some() || !before.items.is_empty(),
        first => first.is_some(),
    }
}

fn state(told: &Conversation) -> State {
    let Some(turn) = told.newest() else { return State::Empty };
    match &turn.outcome {
        _ if told.question.is_some() => State::Asking,
        None => State::Working,
        Some(_) if !told.queued.is_empty() || told.background_agents > 0 => State::Working,
        Some(Outcome::Completed | Outcome::Superseded) => State::Idle,
        Some(Outcome::Failed(_)) => State::Failed,
        Some(Outcome::Interrupted) => State::Interrupted,
    }
}

fn last_message(told: &Conversation) -> Option<String> {
    let items = told.turns.iter().rev().flat_map(|turn| turn.items.iter().rev());
    items
        .filter_map(|item| match &item.kind {
            ItemKind::Text { text, .. } | ItemKind::Notice { text } => Some(first_line(text)),
            _ => None,
        })
        .find(|line| !line.is_empty())
}

/// The newest name of each thread in Codex's list of names (one JSON object a line, newest last).
#[must_use]
pub fn codex_names(list: &[u8]) -> BTreeMap<SessionId, String> {
    #[derive(serde::Deserialize)]
    struct Named {
        id: String,
        thread_name: String,
    }
    let lines = list.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Named>(line).ok());
    lines.map(|named| (SessionId::new(named.id), named.thread_name)).collect()
}

/// The session that a transcript's file name names: all of it for Claude, its last part for Codex.
#[must_use]
pub fn id_of_file(agent: Agent, file_name: &str) -> Option<SessionId> {
    let stem = file_name.strip_suffix(".zst").unwrap_or(file_name).strip_suffix(".jsonl")?;
    let id = match agent {
        Agent::Claude => stem,
        // rollout-2026-11-30T09-50-14-<36 characters>
        Agent::Codex => {
            let (time, id) = stem.strip_prefix("rollout-")?.split_at_checked(20)?;
            Some(id).filter(|_| time.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'T')))?
        }
    };
    (!id.is_empty()).then(|| SessionId::new(id))
}

/// Whether the file is the thread of a sub-agent, by its name or its first records.
#[must_use]
pub fn is_subagent(agent: Agent, file_name: &str, head: &[u8]) -> bool {
    if agent == Agent::Claude && file_name.starts_with("agent-") {
        return true;
    }
    let mut rest = head;
    while let Some((line, behind)) = cut_line(rest) {
        let (_, body) = trim(line);
        let told = match agent {
            Agent::Claude => claude::is_side_chain(body),
            Agent::Codex => codex::is_subagent_thread(body),
        };
        if let Some(told) = told {
            return told;
        }
        rest = behind;
    }
    false
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
