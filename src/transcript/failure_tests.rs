//! Classes of failures, and which texts are nothing but the news of a limit.

use super::{Hints, is_limit_notice, of};
use crate::model::conversation::FailureClass::{self, Auth, Limit, Network, Other, Overloaded};

fn class(status: Option<i64>, kind: &str, text: &str, resets: bool) -> FailureClass {
    let time = resets.then(|| "2026-11-30T17:00:00Z".parse().unwrap());
    of(&Hints { status, kind, text }, time).class
}

#[test]
fn failures_fall_into_their_classes() {
    let cases = [
        (Some(429), "rate_limit", "API Error: Request rejected (429) · Rate limited", Overloaded),
        (Some(429), "rate_limit", "You've hit your limit · resets 5pm (Europe/Berlin)", Limit),
        (Some(429), "rate_limit", "You\u{2019}ve hit your weekly limit", Limit),
        (Some(529), "server_error", "API Error: Repeated 529 Overloaded errors.", Overloaded),
        (Some(500), "server_error", "API Error: 500 Internal server error.", Overloaded),
        (None, "connection_failed server_error", "API Error: Connection dropped (ECONNRESET).", Network),
        (None, "unknown", "API Error: Stream idle timeout - partial response received", Network),
        (Some(401), "authentication_failed", "Please run /login", Auth),
        (None, "", "Invalid API key · Please run /login", Auth),
        (Some(400), "invalid_request", "API Error: 400 messages: text content blocks must be non-empty", Other),
        (None, "unknown", "API Error: Claude's response exceeded the 32000 output token maximum.", Other),
        (None, "billing_error", "Credit balance is too low", Limit),
        (Some(429), "{\"response_too_many_failed_attempts\":{}}", "exceeded retry limit, last status: 429", Overloaded),
        (None, "\"internal_server_error\"", "We\u{2019}re currently experiencing high demand", Overloaded),
        (None, "\"usage_limit_exceeded\"", "Upgrade to Pro or try again later.", Limit),
        (None, "\"other\"", "stream disconnected before completion: error sending request", Network),
        (None, "\"unauthorized\"", "", Auth),
    ];
    for (status, kind, text, expected) in cases {
        assert_eq!(class(status, kind, text, false), expected, "{text}");
    }
}

#[test]
fn a_reset_time_makes_a_429_a_limit() {
    assert_eq!(class(Some(429), "rate_limit", "Rate limited, try again at 17:00", true), Limit);
    assert_eq!(class(Some(500), "server_error", "Internal error, try again at 17:00", true), Overloaded);
}

#[test]
fn only_a_limit_keeps_its_reset_time() {
    let time = Some("2026-11-30T17:00:00Z".parse().unwrap());
    assert_eq!(of(&Hints { text: "hit your limit", ..Hints::default() }, time).resets_at, time);
    assert_eq!(of(&Hints { status: Some(500), ..Hints::default() }, time).resets_at, None);
}

#[test]
fn a_notice_is_short_and_nothing_else() {
    for notice in [
        "You've hit your limit · resets 5pm (Europe/Berlin)",
        "  You\u{2019}ve hit your session limit · resets 3:30am\n",
        "Claude AI usage limit reached|1796030284",
        "Claude usage limit reached. Your limit will reset at 5pm (America/New_York).",
        "5-hour limit reached ∙ resets 8pm\n     /upgrade to increase your usage limit.",
        "You've hit your usage limit. Upgrade to Pro or try again in 2 hours 5 minutes.",
    ] {
        assert!(is_limit_notice(notice), "{notice}");
    }
    for answer in [
        "LGTM",
        "The banner says: You've hit your limit · resets 5pm. Please quote the reset time in local time.",
        "You've hit your limit of nested ifs in src/lib.rs; please split the function.",
        "You've hit your limit · resets 5pm\n\nThat text must not be relayed.\n\nLGTM",
        "Usage limit reached is handled now.",
    ] {
        assert!(!is_limit_notice(answer), "{answer}");
    }
}
