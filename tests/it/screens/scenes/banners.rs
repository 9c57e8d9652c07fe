//! One run under each banner, built by hand as the scenes beside it.

use super::*;

/// Every other reason of the banner table, by name.
pub fn banners() -> Vec<(&'static str, RunView)> {
    use PauseReason as R;
    let typed = "your words in claude's pane at 14:17: \"use the other table\"";
    let mut limit = needs(
        R::Limit,
        "claude is at its limit",
        &["\"5-hour limit reached\"", "Goes on by itself at 17:00, as “try now” does."],
        &[("p", "try now", "sends relay 4 to claude"), ("x", "stop", "end this run")],
    );
    limit.standing = Standing::Limit;
    limit.state_word = "limit".into();
    limit.wait.ends = "goes on at 17:00".into();
    limit.wait.deadline = Some("2026-03-14T17:00:00Z".parse().unwrap());
    let mut failed = needs(
        R::DeliveryFailed,
        "relay 4 could not be delivered",
        &["claude's box holds text of yours"],
        &[
            ("p", "look again", "sends it once the box is empty"),
            ("y", "copy", "and paste it yourself"),
            ("t", "pane", "claude's pane"),
            ("x", "stop", "end this run"),
        ],
    );
    failed.delivery = Some(delivery());
    let mut approval = needs(
        R::Manual,
        "claude waits for your approval",
        &["Bash: cargo test checkout"],
        &[("t", "pane", "answer it in claude's pane")],
    );
    approval.banner.as_mut().unwrap().reason = None;
    vec![
        (
            "near_miss",
            needs(
                R::NearMiss,
                "almost approved",
                &["\"LGTM, but rename the helper\" in line 1 of 4"],
                &[
                    ("a", "accept", "take it as an approval"),
                    ("p", "as feedback", "sends it to claude (relay 4)"),
                    ("w", "write", "ask codex"),
                    ("x", "stop", "end this run"),
                ],
            ),
        ),
        (
            "pair_stopped",
            needs(
                R::PairStopped,
                "the review was stopped elsewhere",
                &["by trellis pair stop at 14:17"],
                &[
                    ("r", "again", "review claude's answer of 14:14"),
                    ("s", "skip", "leave it, next phase"),
                    ("x", "stop", "end this run"),
                ],
            ),
        ),
        (
            "review_start_failed",
            needs(
                R::ReviewStartFailed,
                "its review did not start",
                &["codex is used by docs-site already"],
                &[
                    ("r", "again", "review claude's answer of 14:14, count 0"),
                    ("s", "skip", "leave it, next phase"),
                    ("x", "stop", "end this run"),
                ],
            ),
        ),
        (
            "phase_limit",
            needs(
                R::PhaseLimit,
                "100 phases went through",
                &["that is the most this run was allowed"],
                &[("p", "go on", "for 100 more"), ("x", "stop", "end this run")],
            ),
        ),
        (
            "user_typed",
            needs(
                R::UserTyped,
                "you typed into claude",
                &[typed],
                &[
                    ("p", "go on", "sends claude's answer of 14:20 to codex (relay 5)"),
                    ("w", "write", "tell one of them something"),
                    ("t", "pane", "claude's pane"),
                    ("x", "stop", "end this run"),
                ],
            ),
        ),
        (
            "no_answer",
            needs(
                R::NoAnswer,
                "claude's turn ended without a word",
                &[],
                &[
                    ("p", "ask again", "asks claude to go on"),
                    ("t", "pane", "claude's pane"),
                    ("x", "stop", "end this run"),
                ],
            ),
        ),
        ("needs_approval", approval),
        ("limit", limit),
        (
            "session_changed",
            needs(
                R::SessionChanged,
                "another session answers in claude's pane",
                &["old 0a1b2c3d, new 4e5f6a7b: \"start over\""],
                &[
                    ("f", "follow", "go on with the new one"),
                    ("t", "pane", "claude's pane"),
                    ("x", "stop", "end this run"),
                ],
            ),
        ),
        (
            "agent_gone",
            needs(
                R::AgentGone,
                "claude is gone",
                &["its process 4242 ended at 14:17"],
                &[
                    ("b", "bring back", "resumes claude in a new pane"),
                    ("t", "pane", "its window"),
                    ("x", "stop", "end this run"),
                ],
            ),
        ),
        (
            "agent_error",
            needs(
                R::AgentError,
                "claude's turn failed",
                &["overloaded: \"API Error 529\", tried 3 times"],
                &[
                    ("p", "again", "asks claude to go on"),
                    ("t", "pane", "claude's pane"),
                    ("x", "stop", "end this run"),
                ],
            ),
        ),
        ("delivery_failed", failed),
        (
            "record_changed",
            needs(
                R::RecordChanged,
                "the record on the disk is not ours",
                &["checklist-runs/checkout.json was written by another program; ours is kept beside it"],
                &[("p", "take it", "the file on the disk counts from now on"), ("x", "stop", "end this run")],
            ),
        ),
    ]
}

fn delivery() -> DeliveryView {
    DeliveryView {
        purpose: Purpose::ToImplementer,
        to: Role::Implementer,
        state: EntryState::Prepared,
        held: Some("the box is not empty".to_owned()),
        text: "Feedback:\n\nTwo remarks".into(),
        ticks: Some(box_holds_text()),
        by_hand: false,
    }
}
