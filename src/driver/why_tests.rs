//! A remark is kept once; what was decided is kept always.

use super::{KEPT, Why};
use crate::model::event::Decision;

fn decision(record: &str, what: &str, decided: bool) -> Decision {
    Decision {
        at: "2026-03-01T12:00:00Z".parse().unwrap(),
        record: Some(record.to_owned()),
        what: what.to_owned(),
        evidence: "record 7".to_owned(),
        ground: None,
        decided,
    }
}

#[test]
fn a_remark_that_is_said_again_is_left_out() {
    let mut why = Why::default();
    assert!(why.tell(decision("r1", "waits for codex", false)).is_some());
    assert!(why.tell(decision("r1", "waits for codex", false)).is_none());
    assert!(why.tell(decision("r2", "waits for codex", false)).is_some(), "of another record");
    assert!(why.tell(decision("r1", "relayed", true)).is_some());
    assert!(why.tell(decision("r1", "relayed", true)).is_some(), "a decision is never left out");
    assert_eq!(why.lines().len(), 4);
}

#[test]
fn the_newest_are_kept() {
    let why = Why::of((0..KEPT + 10).map(|n| decision("r1", &n.to_string(), true)).collect());
    assert_eq!(why.lines().len(), KEPT);
    assert_eq!(why.lines()[0].what, "10");
}
