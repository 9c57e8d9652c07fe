//! When a session's state is told: once it has held for a while, and only if it is another kind of state.

use jiff::{SignedDuration, Timestamp};

use super::{Known, STEADY};
use crate::model::session::{Need, SessionState};

fn at(milliseconds: i64) -> Timestamp {
    "2026-03-01T12:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_millis(milliseconds)
}

fn working(activity: &str) -> SessionState {
    SessionState::Working { activity: activity.to_owned() }
}

#[test]
fn the_first_state_and_a_flicker_are_not_told() {
    let mut known = Known::default();
    assert_eq!(known.settle_state(SessionState::Idle, at(0), STEADY), None);
    assert_eq!(known.settle_state(working("reads"), at(100), STEADY), None);
    assert_eq!(known.wake(), Some(at(1_100)));
    assert_eq!(known.settle_state(SessionState::Idle, at(200), STEADY), None);
    assert_eq!(known.wake(), None, "back where it was: nothing to tell");
}

#[test]
fn a_state_that_holds_is_told_once() {
    let mut known = Known::default();
    known.settle_state(SessionState::Idle, at(0), STEADY);
    known.settle_state(working("reads"), at(100), STEADY);
    assert_eq!(known.settle_state(working("writes"), at(1_100), STEADY), Some("working"));
    assert_eq!(known.settle_state(working("tests"), at(9_000), STEADY), None);
    known.settle_state(SessionState::NeedsYou(Need::Limit), at(10_000), STEADY);
    assert_eq!(known.settle_state(SessionState::NeedsYou(Need::Limit), at(11_000), STEADY), Some("limit"));
}
