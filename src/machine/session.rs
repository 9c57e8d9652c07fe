//! What a session is doing, from its transcript and its transport: idle, its state for people, dead or reachable.
//! What follows from it for a loop is the machines' business.

use jiff::{SignedDuration, Timestamp};

use super::clock;
use super::draft::later;
use super::{Scene, Side};
use crate::model::conversation::{Conversation, Failure, FailureClass, ItemKind, Outcome, Turn};
use crate::model::hook::Asked;
use crate::model::ids::{EntryId, RecordKey, Role};
use crate::model::reach::{LiveStatus, ProcessFact, Reach, Tick, Transport};
use crate::model::session::{Need, SessionState, StateFact, TURN_ENDED};
use crate::model::text::first_line;

/// Why a session is not idle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Busy {
    /// A turn runs.
    Turn,
    /// The agent itself says that it works.
    Says,
    /// A dialog is open, in its words.
    Dialog(String),
    /// A question of the agent is open.
    Question(String),
    /// A prompt waits in the agent's queue.
    QueuedPrompt,
    /// Background agents are out.
    Background(u32),
    /// Something was written a moment ago: quiet enough at this time.
    Quiet(Timestamp),
    /// A message of ours is on its way to it (of this record).
    InFlight(String),
}

/// Everything that keeps a session from being idle; none: it is idle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdleVerdict {
    /// The reasons.
    pub because: Vec<Busy>,
}

impl IdleVerdict {
    /// Nothing keeps it.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.because.is_empty()
    }
}

/// Whether a side is idle (`loops.md` §1). `debounce` in milliseconds.
#[must_use]
pub fn idle(scene: &Scene<'_>, role: Role, debounce: u64) -> IdleVerdict {
    idle_but_for(scene, role, debounce, None)
}

/// The same, with one entry in flight left out of account.
pub(super) fn idle_but_for(
    scene: &Scene<'_>,
    role: Role,
    debounce: u64,
    own: Option<(&RecordKey, &EntryId)>,
) -> IdleVerdict {
    let side = scene.side(role);
    let mut because = Vec::new();
    if let Some(conversation) = side.conversation {
        let alive = !writer_gone(side);
        if conversation.is_open() && died(side).is_none() {
            because.push(Busy::Turn);
        }
        if let Some(question) = conversation.question.as_ref().filter(|_| alive) {
            because.push(Busy::Question(question.clone()));
        }
        if conversation.queued.iter().any(|queued| !queue_gone(side, queued.at)) {
            because.push(Busy::QueuedPrompt);
        }
        let away = agents_away(side.reach, conversation);
        if away > 0 && alive {
            because.push(Busy::Background(away));
        }
        if let Some(spoken) = conversation.last_spoken_at {
            let wait = SignedDuration::from_millis(i64::try_from(debounce).unwrap_or(i64::MAX));
            let quiet_at = later(spoken, scene.tempo.wait(wait));
            if scene.now < quiet_at && !clock::is_from_before(spoken, scene.now) {
                because.push(Busy::Quiet(quiet_at));
            }
        }
    }
    because.extend(said_by_agent(side, scene.now));
    for (record, entry) in scene.ledger.in_flight_to(&side.session.key()) {
        if own != Some((record, entry)) {
            because.push(Busy::InFlight(record.to_string()));
        }
    }
    // What only a person can end comes first: nothing else goes on before it.
    because.sort_by_key(|busy| !matches!(busy, Busy::Dialog(_) | Busy::Question(_)));
    IdleVerdict { because }
}

/// What the agent's own state file or screen says, if that was seen after the newest record.
fn said_by_agent(side: &Side<'_>, now: Timestamp) -> Option<Busy> {
    let reach = side.reach?;
    let spoken = side.conversation.and_then(|conversation| conversation.last_spoken_at);
    let spoken = spoken.filter(|spoken| !clock::is_from_before(*spoken, now));
    if reach.process == ProcessFact::Dead || spoken.is_some_and(|spoken| reach.at < spoken) {
        return None;
    }
    match (&reach.status, &reach.ticks.no_dialog) {
        (LiveStatus::Waiting { what }, _) => Some(Busy::Dialog(what.clone())),
        (_, Tick::Missing(why)) => Some(Busy::Dialog(why.clone())),
        (LiveStatus::Busy, Tick::Holds) => Some(Busy::Says),
        (LiveStatus::Silent | LiveStatus::Idle, Tick::Holds) => None,
    }
}

/// Whether the process that wrote the newest records is gone: dead, or another was started since.
fn writer_gone(side: &Side<'_>) -> bool {
    let newest = side.conversation.and_then(|conversation| {
        conversation.newest().and_then(|turn| turn.last_record.at).max(conversation.last_spoken_at)
    });
    process_gone_since(side, newest)
}

/// Background agents that are out: those of a process that is gone went with it.
fn agents_away(reach: Option<&Reach>, conversation: &Conversation) -> u32 {
    let gone = reach.is_some_and(|reach| gone_since(reach, conversation.background_since));
    if gone { 0 } else { conversation.background_agents }
}

/// Whether a queued prompt went with its process.
pub(super) fn queue_gone(side: &Side<'_>, queued_at: Option<Timestamp>) -> bool {
    process_gone_since(side, queued_at)
}

/// Whether the process that lived at `then` is gone. Without a time, only a dead process proves it.
fn process_gone_since(side: &Side<'_>, then: Option<Timestamp>) -> bool {
    side.reach.is_some_and(|reach| gone_since(reach, then))
}

fn gone_since(reach: &Reach, then: Option<Timestamp>) -> bool {
    match &reach.process {
        // A process that runs for one turn only leaves nothing behind; an older look says nothing about a newer record.
        ProcessFact::Dead => then.is_none_or(|then| reach.at > then),
        ProcessFact::Alive { started_at: Some(started), .. } => then.is_some_and(|then| *started > then),
        ProcessFact::Alive { started_at: None, .. } | ProcessFact::Unknown => false,
    }
}

/// The failure of an open turn whose process is dead or was started after the turn's last record.
#[must_use]
pub fn died(side: &Side<'_>) -> Option<Failure> {
    let turn = side.conversation?.newest().filter(|turn| turn.outcome.is_none())?;
    died_in(turn, side.reach?)
}

fn died_in(turn: &Turn, reach: &Reach) -> Option<Failure> {
    gone_since(reach, turn.last_record.at).then(|| Failure {
        class: FailureClass::Died,
        text: match &reach.process {
            ProcessFact::Alive { .. } => "its process was started anew inside the turn".to_owned(),
            _ if reach.last_words.is_empty() => "its process ended inside the turn".to_owned(),
            _ => format!("its process ended inside the turn ({})", reach.last_words),
        },
        resets_at: None,
    })
}

/// Why nothing can be sent to a side because its agent is not there any more, in words.
pub(super) fn gone(side: &Side<'_>) -> Option<String> {
    let reach = side.reach?;
    let one_process = matches!(reach.transport, None | Some(Transport::Tmux));
    (reach.process == ProcessFact::Dead && one_process).then(|| {
        if reach.place.is_empty() {
            "its process has ended".to_owned()
        } else {
            format!("its process has ended ({})", reach.place)
        }
    })
}

/// A session's state and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateView {
    /// The state; `Idle` is shown as awaiting input outside a run.
    pub state: SessionState,
    /// Since when, why, and what said so.
    pub fact: StateFact,
}

/// How much later than a hook's call a record must be to show that its dialog was answered: the call of the tool itself
/// comes into the file about then.
const ANSWERED: SignedDuration = SignedDuration::from_millis(1_500);
/// How much later an agent's own word must be: its status file follows its hooks by some milliseconds.
const SAYS_SO: SignedDuration = SignedDuration::from_secs(1);

/// Whether a permission that a hook told of is still asked for, as far as anything newer says.
#[must_use]
pub fn still_asks(asked: &Asked, conversation: Option<&Conversation>, reach: Option<&Reach>) -> bool {
    let ended = conversation.and_then(Conversation::newest).and_then(|turn| turn.ended_at);
    if ended.is_some_and(|ended| ended > asked.at) {
        return false;
    }
    let Some(reach) = reach.filter(|reach| reach.at > later(asked.at, SAYS_SO)) else { return true };
    match &reach.status {
        _ if is_gone(reach) || reach.replaced_by.is_some() => false,
        LiveStatus::Waiting { .. } => true,
        LiveStatus::Idle | LiveStatus::Busy => false,
        LiveStatus::Silent => {
            let spoken = conversation.and_then(|conversation| conversation.last_spoken_at);
            spoken.is_none_or(|spoken| spoken <= later(asked.at, ANSWERED))
        }
    }
}

/// The state of any session, in a record or not. The agent's own word counts before its transcript, since a dialog
/// stands in no transcript; no state follows from how old anything is.
#[must_use]
pub fn state(
    conversation: Option<&Conversation>,
    reach: Option<&Reach>,
    asked: Option<&Asked>,
    now: Timestamp,
) -> StateView {
    let newest = conversation.and_then(Conversation::newest);
    let spoken = conversation.and_then(|conversation| conversation.last_spoken_at).filter(|spoken| *spoken <= now);
    if let Some(reach) = reach {
        if let Some((id, proof)) = &reach.replaced_by {
            return view(SessionState::Gone, spoken, format!("its agent went over to session {id}"), proof.clone());
        }
        if is_gone(reach) {
            // When it was looked is no part of it: every look would be another state.
            return view(SessionState::Gone, spoken, "no process holds it".to_owned(), reach.place.clone());
        }
        if let LiveStatus::Waiting { what } = &reach.status {
            let said = conversation.and_then(|conversation| conversation.question.clone());
            let told = reach.sign.as_ref().and_then(|sign| sign.since);
            let since = told.or(asked.map(|asked| asked.at)).or(spoken);
            let state = SessionState::NeedsYou(Need::NeedsApproval);
            let because = said.or_else(|| asked.map(|asked| asked.what.clone())).unwrap_or_else(|| what.clone());
            return view(state, since, because, source(reach, "it says that it waits"));
        }
    }
    if let Some(asked) = asked {
        let evidence = "its PermissionRequest hook".to_owned();
        return view(SessionState::NeedsYou(Need::NeedsApproval), Some(asked.at), asked.what.clone(), evidence);
    }
    if let Some(question) = conversation.and_then(|conversation| conversation.question.as_ref()) {
        let evidence = newest.map(record).unwrap_or_default();
        return view(SessionState::NeedsYou(Need::NeedsApproval), spoken, question.clone(), evidence);
    }
    let says_busy = reach.filter(|reach| reach.status == LiveStatus::Busy && spoken.is_none_or(|at| reach.at >= at));
    let busy = |reach: &Reach| {
        let since = reach.sign.as_ref().and_then(|sign| sign.since);
        let working = SessionState::Working { activity: String::new() };
        view(working, since, "its own state says busy".to_owned(), source(reach, "its own state says busy"))
    };
    let Some(turn) = newest else {
        let starts = reach.filter(|reach| is_alive(reach) && reach.status == LiveStatus::Silent);
        if let Some(Tick::Missing(why)) = starts.map(|reach| &reach.ticks.no_dialog) {
            let working = SessionState::Working { activity: "starts".to_owned() };
            return view(working, None, "it starts".to_owned(), why.clone());
        }
        return says_busy.map_or_else(
            || {
                view(
                    SessionState::Idle,
                    None,
                    "no message yet".to_owned(),
                    "no prompt stands in its transcript".to_owned(),
                )
            },
            busy,
        );
    };
    let folder = conversation.and_then(|conversation| conversation.cwd.as_deref());
    let away = conversation.map_or(0, |conversation| agents_away(reach, conversation));
    if let Some(failure) = reach.filter(|_| turn.outcome.is_none()).and_then(|reach| died_in(turn, reach)) {
        return view(SessionState::NeedsYou(Need::Error), turn.last_record.at, failure.text, record(turn));
    }
    match &turn.outcome {
        None => {
            let activity = activity(turn, folder);
            let because = if activity.is_empty() { "its turn runs".to_owned() } else { activity.clone() };
            view(SessionState::Working { activity }, turn.prompt.record.at, because, record(turn))
        }
        Some(Outcome::Failed(failure)) => {
            let need = if failure.class == FailureClass::Limit { Need::Limit } else { Need::Error };
            view(SessionState::NeedsYou(need), turn.ended_at, first_line(&failure.text), record(turn))
        }
        Some(_) if away > 0 => {
            let waits = waits_for(away);
            view(SessionState::Working { activity: waits.clone() }, turn.ended_at, waits, record(turn))
        }
        Some(outcome) => says_busy.map_or_else(
            || {
                let because = if *outcome == Outcome::Interrupted { "its turn was interrupted" } else { TURN_ENDED };
                view(SessionState::Idle, turn.ended_at, because.to_owned(), record(turn))
            },
            busy,
        ),
    }
}

fn view(state: SessionState, since: Option<Timestamp>, because: String, evidence: String) -> StateView {
    StateView { state, fact: StateFact { since, because, evidence } }
}

/// Whether nothing holds the session any more, as far as an observation tells.
#[must_use]
pub fn is_gone(reach: &Reach) -> bool {
    let dead = reach.process == ProcessFact::Dead && matches!(reach.transport, None | Some(Transport::Tmux));
    dead || (reach.transport.is_none() && reach.process == ProcessFact::Unknown)
}

fn source(reach: &Reach, otherwise: &str) -> String {
    reach.sign.as_ref().map_or_else(|| otherwise.to_owned(), |sign| sign.source.clone())
}

fn record(turn: &Turn) -> String {
    format!("record {} at byte {}", turn.last_record.id, turn.last_record.offset)
}

fn is_alive(reach: &Reach) -> bool {
    matches!(reach.process, ProcessFact::Alive { .. })
}

/// Background agents in words.
pub(super) fn background(count: u32) -> String {
    if count == 1 { "1 background agent works".to_owned() } else { format!("{count} background agents work") }
}

fn waits_for(count: u32) -> String {
    if count == 1 { "waits for 1 background agent".to_owned() } else { format!("waits for {count} background agents") }
}

/// What a running turn does, in a few words: its newest tool call.
#[must_use]
pub fn activity(turn: &Turn, folder: Option<&str>) -> String {
    let newest = turn.items.iter().rev().find(|item| !matches!(item.kind, ItemKind::Notice { .. }));
    match newest.map(|item| &item.kind) {
        Some(ItemKind::Tool { name, summary, .. }) => {
            let summary = below(summary, folder);
            let verb = match name.as_str() {
                "Read" | "NotebookRead" | "read_file" | "view" => "reads",
                "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "apply_patch" => "edits",
                "Bash" | "shell" | "exec_command" | "local_shell" => "runs",
                "Grep" | "Glob" | "WebSearch" | "search" => "searches",
                "Task" | "Agent" => "has an agent do",
                other => return format!("{other} {summary}").trim().to_owned(),
            };
            format!("{verb} {summary}").trim().to_owned()
        }
        Some(ItemKind::Thinking { .. }) => "thinks".to_owned(),
        Some(ItemKind::Text { .. }) => "writes".to_owned(),
        _ => String::new(),
    }
}

/// A tool's words with paths below the folder as one writes them there.
fn below(summary: &str, folder: Option<&str>) -> String {
    match folder.map(|folder| folder.trim_end_matches('/')).filter(|folder| !folder.is_empty()) {
        Some(folder) => summary.replace(&format!("{folder}/"), ""),
        None => summary.to_owned(),
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
