//! What kind of failure an agent's words and numbers describe.
//! When a limit ends is `resets`.

use jiff::Timestamp;

use crate::model::conversation::{Failure, FailureClass};

/// What a record says about its failure.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hints<'a> {
    /// HTTP status.
    pub(super) status: Option<i64>,
    /// The agent's own name for it.
    pub(super) kind: &'a str,
    /// The agent's words.
    pub(super) text: &'a str,
}

/// Most characters that are kept of an agent's words: they go into records that stay small.
const WORDS: usize = 2_000;

/// Words that say an allowance is used up. "Rate limited" and "retry limit" are not among them: those pass by themselves.
const USED_UP: [&str; 24] = [
    "hit your limit",
    "hit your usage limit",
    "hit your session limit",
    "hit your weekly limit",
    "reached your limit",
    "reached your usage limit",
    "usage limit reached",
    "usage_limit_reached",
    "usage limit has been reached",
    "usage limit exceeded",
    "usage_limit_exceeded",
    "hour limit reached",
    "session limit reached",
    "weekly limit reached",
    "weekly limit",
    "daily limit reached",
    "opus limit reached",
    "out of extra usage",
    "out of credits",
    "credit balance is too low",
    "exceeded your current quota",
    "quota exceeded",
    "insufficient_quota",
    "used up your",
];

const AUTH: [&str; 10] = [
    "invalid api key",
    "please run /login",
    "authentication_error",
    "authentication_failed",
    "oauth token",
    "not logged in",
    "unauthorized",
    "permission_error",
    "invalid authentication",
    "token has expired",
];

const OVERLOADED: [&str; 7] = [
    "overloaded",
    "high demand",
    "at capacity",
    "rate_limit",
    "rate limit",
    "too many requests",
    "internal_server_error",
];

const NETWORK: [&str; 18] = [
    "connection",
    "econnreset",
    "econnrefused",
    "etimedout",
    "enotfound",
    "eai_again",
    "epipe",
    "socket",
    "network",
    "stream disconnected",
    "stream idle timeout",
    "stream ended",
    "timed out",
    "timeout",
    "fetch failed",
    "unable to connect",
    "dns error",
    "error sending request",
];

/// The failure that the hints describe; `resets_at` is the time that its words name.
pub(super) fn of(hints: &Hints<'_>, resets_at: Option<Timestamp>) -> Failure {
    let class = class(hints, resets_at.is_some());
    let resets_at = resets_at.filter(|_| class == FailureClass::Limit);
    Failure { class, text: hints.text.trim().chars().take(WORDS).collect(), resets_at }
}

fn class(hints: &Hints<'_>, has_reset_time: bool) -> FailureClass {
    let words = format!("{} {}", hints.kind, hints.text).to_lowercase().replace('\u{2019}', "'");
    let says = |known: &[&str]| known.iter().any(|word| words.contains(word));
    let limited = hints.status == Some(429) || words.contains("limit") || words.contains("quota");
    if says(&USED_UP) || (has_reset_time && limited) {
        return FailureClass::Limit;
    }
    match hints.status {
        Some(401 | 403) => FailureClass::Auth,
        // A server that fails is taken for an overloaded one: both pass, and both are worth another try.
        Some(408 | 429 | 500..=599) => FailureClass::Overloaded,
        Some(400..=499) => FailureClass::Other,
        _ if says(&AUTH) => FailureClass::Auth,
        _ if says(&OVERLOADED) => FailureClass::Overloaded,
        _ if says(&NETWORK) => FailureClass::Network,
        _ => FailureClass::Other,
    }
}

/// How a message begins that is nothing but the news of a used-up allowance.
const NOTICE_BEGINNINGS: [&str; 14] = [
    "you've hit your",
    "you have hit your",
    "you've reached your",
    "you have reached your",
    "you're out of extra usage",
    "you are out of extra usage",
    "you've used up your",
    "claude usage limit reached",
    "claude ai usage limit reached",
    "usage limit reached",
    "session limit reached",
    "weekly limit reached",
    "5-hour limit reached",
    "limit reached",
];

const RESET_HINTS: [&str; 5] = ["reset", "try again at", "try again in", "available again", "|"];

/// Whether the whole text is a short notice that a limit is reached, with a hint of when it ends.
/// An answer that quotes one says more than that.
pub(super) fn is_limit_notice(text: &str) -> bool {
    let text = text.trim();
    if text.len() > 240 || text.lines().filter(|line| !line.trim().is_empty()).count() > 2 {
        return false;
    }
    let text = text.to_lowercase().replace('\u{2019}', "'");
    let bare = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    NOTICE_BEGINNINGS.iter().any(|start| bare.starts_with(start))
        && USED_UP.iter().any(|word| bare.contains(word)) | bare.contains("limit")
        && RESET_HINTS.iter().any(|hint| bare.contains(hint))
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
