//! Words of the screen (`dashboard.md` §3): how sides, times, steps and outcomes are named. No sentence about one record.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::model::config::{PairConfig, RunConfig};
use crate::model::conversation::{FailureClass, Outcome};
use crate::model::ids::{Role, SessionRef};
use crate::model::pair::{PairStop, PauseReason};
use crate::model::reach::Transport;
use crate::model::run::RunStop;

/// The two sides' names: the agent's, numbered when both are of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Of the side that builds.
    pub implementer: String,
    /// Of the side that reviews.
    pub reviewer: String,
}

impl Labels {
    /// Those of two sessions.
    #[must_use]
    pub fn of(implementer: &SessionRef, reviewer: &SessionRef) -> Self {
        let (first, second) = (implementer.agent.as_str(), reviewer.agent.as_str());
        if implementer.agent == reviewer.agent {
            return Self { implementer: format!("{first}·1"), reviewer: format!("{second}·2") };
        }
        Self { implementer: first.to_owned(), reviewer: second.to_owned() }
    }

    /// That of a side.
    #[must_use]
    pub fn side(&self, role: Role) -> &str {
        match role {
            Role::Implementer => &self.implementer,
            Role::Reviewer => &self.reviewer,
        }
    }
}

/// What a run is called: as a person named it, else as its folder is called.
#[must_use]
pub fn run_name<'a>(given: &'a str, worktree: &'a str) -> Option<&'a str> {
    let folder = || worktree.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty());
    Some(given.trim()).filter(|name| !name.is_empty()).or_else(folder)
}

/// The name of a run before which as many others had the same: `shop`, `shop 2`.
#[must_use]
pub fn numbered(name: &str, before: usize) -> String {
    if before == 0 { name.to_owned() } else { format!("{name} {}", before + 1) }
}

/// Why there is no pane to go to, if there is none.
#[must_use]
pub fn no_pane(way: Option<Transport>, label: &str, place: &str) -> Option<String> {
    match way {
        Some(Transport::Scripted) => Some("a scripted agent has no pane".to_owned()),
        Some(Transport::Headless) => Some(format!("{label} runs without a pane")),
        Some(Transport::Tmux) if place.is_empty() => None,
        _ if place.starts_with('%') => None,
        _ if place.is_empty() => Some(format!("{label} is in no tmux pane that trellis sees")),
        _ => Some(format!("{label} is in no tmux pane: {place}")),
    }
}

/// Where a person finds an agent.
#[must_use]
pub fn where_it_is(has_pane: bool, label: &str) -> String {
    if has_pane { format!("in {label}'s pane") } else { format!("where {label} runs") }
}

/// A clock time of the person's day, `14:20`.
#[must_use]
pub fn clock(at: Timestamp, zone: &TimeZone) -> String {
    zone.to_datetime(at).strftime("%H:%M").to_string()
}

/// A clock time, with the date when it is not today's.
#[must_use]
pub fn moment(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (there, here) = (zone.to_datetime(at), zone.to_datetime(now));
    if there.date() == here.date() { clock(at, zone) } else { there.strftime("%b %-d %H:%M").to_string() }
}

/// A span as the screen says it: `12s`, `4m`, `3h19m`, `2d`.
#[must_use]
pub fn span(length: SignedDuration) -> String {
    let seconds = length.as_secs().max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, minutes) => format!("{minutes}m"),
        (0, hours, minutes) if minutes % 60 == 0 => format!("{hours}h"),
        (0, hours, minutes) => format!("{hours}h{}m", minutes % 60),
        (days, _, _) => format!("{days}d"),
    }
}

/// `1 relay`, `5 relays`.
#[must_use]
pub fn count(n: u32, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// A line of somebody's text, quoted, at most 80 characters.
#[must_use]
pub fn quoted(text: &str) -> String {
    let line = crate::model::text::first_line(text);
    let mut cut: String = line.chars().take(80).collect();
    if cut.chars().count() < line.chars().count() {
        cut.push('…');
    }
    format!("“{cut}”")
}

/// A line of Markdown without its marks, for titles.
#[must_use]
pub fn unmarked(line: &str) -> String {
    line.trim_start_matches(['#', '>', ' ']).replace('`', "").replace("**", "")
}

/// A line as the name of what it begins: without the marks, and without the colon that leads on.
#[must_use]
pub fn as_name(line: &str) -> String {
    unmarked(line).trim_end_matches([':', ' ']).to_owned()
}

/// How a turn ended, when that needs words.
#[must_use]
pub fn ending(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Completed => None,
        Outcome::Superseded => Some("another prompt came before it ended".to_owned()),
        Outcome::Interrupted => Some("interrupted by you".to_owned()),
        Outcome::Failed(failure) => {
            let class = failure_class(failure.class);
            Some(if failure.text.is_empty() { class.to_owned() } else { format!("{class}: {}", failure.text) })
        }
    }
}

/// The kind of a failure, in words.
#[must_use]
pub const fn failure_class(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Limit => "at its limit",
        FailureClass::Auth => "not logged in",
        FailureClass::Overloaded => "overloaded",
        FailureClass::Network => "connection lost",
        FailureClass::Died => "its program died",
        FailureClass::Other => "error",
    }
}

/// Why a run stopped.
#[must_use]
pub const fn run_stop(stop: RunStop) -> &'static str {
    match stop {
        RunStop::Completed => "completed",
        RunStop::Manual => "stopped by you",
        RunStop::PeerError => "a side's transcript is gone",
        RunStop::SessionTrashed => "a side was put away",
        RunStop::ServerRestarted => "could not go on after a restart: a transcript is gone",
    }
}

/// Why a pair stopped.
#[must_use]
pub fn pair_stop(stop: PairStop, accepted_by: Option<&str>, relays: u32) -> String {
    match stop {
        PairStop::Lgtm if accepted_by.is_some() => "accepted by you".to_owned(),
        PairStop::Lgtm => "agreed".to_owned(),
        PairStop::MaxRounds => format!("no agreement after {}", count(relays, "relay")),
        PairStop::Manual => "stopped by you".to_owned(),
        PairStop::PeerError => "a side's transcript is gone".to_owned(),
        PairStop::SessionTrashed => "a side was put away".to_owned(),
    }
}

/// A pause in a few words, for lists.
#[must_use]
pub const fn pause(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::Manual => "paused by you",
        PauseReason::UserTyped => "you typed",
        PauseReason::NearMiss => "nearly an approval",
        PauseReason::NoAnswer => "a turn ended without an answer",
        PauseReason::Limit => "at its limit",
        PauseReason::AgentError => "an agent's turn failed",
        PauseReason::AgentGone => "an agent is gone",
        PauseReason::DeliveryFailed => "a message was not seen to arrive",
        PauseReason::SessionChanged => "another conversation answers",
        PauseReason::RecordChanged => "its file was changed",
        PauseReason::PhaseNotConverged => "no agreement",
        PauseReason::PairStopped => "its review was stopped",
        PauseReason::ReviewStartFailed => "its review did not start",
        PauseReason::PhaseLimit => "enough phases for now",
    }
}

/// The prompt of an outgoing advance message, with its placeholder filled.
#[must_use]
pub fn advance_prompt(config: &RunConfig) -> String {
    config.advance_prompt.replace("{completion_signal}", &config.completion_signal)
}

/// The review prompt of a pair, with its placeholder filled.
#[must_use]
pub fn review_prompt(config: &PairConfig) -> String {
    config.review_prompt.replace("{stop_signal}", &config.stop_signal)
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
