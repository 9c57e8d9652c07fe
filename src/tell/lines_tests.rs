//! The sentences that `trellis watch` prints.

use super::*;
use crate::projection::Standing;
use crate::tell::tests::{at, projection, run};

fn phase(n: u32, status: AttemptStatus) -> PhaseView {
    PhaseView {
        n,
        status,
        by_user: false,
        reviewed: true,
        summary: "Cart model".to_owned(),
        relays: 3,
        started_at: at(0),
        ended_at: None,
        needs_you: false,
    }
}

#[test]
fn each_change_is_one_sentence_and_nothing_is_said_twice() {
    let mut lines = Lines::new(None);
    let going = RunView { phases: vec![phase(1, AttemptStatus::Running)], phase: Some(1), ..run("shop") };
    let first = lines.look(&projection(vec![going.clone()]));
    assert_eq!(first, ["this process drives", "shop phase 1: codex reviews · relay 3 of 10"]);
    assert_eq!(lines.look(&projection(vec![going.clone()])), [""; 0]);
    let agreed = RunView {
        phases: vec![phase(1, AttemptStatus::Converged)],
        phase: Some(2),
        sentence: "claude works on the phase".to_owned(),
        ..going
    };
    assert_eq!(
        lines.look(&projection(vec![agreed.clone()])),
        ["shop phase 1 agreed after 3 relays: Cart model", "shop phase 2: claude works on the phase"]
    );
    let waits = RunView {
        standing: Standing::NeedsYou,
        state_word: "needs you".to_owned(),
        sentence: "you typed".to_owned(),
        ..agreed
    };
    assert_eq!(lines.look(&projection(vec![waits])), ["shop phase 2: needs you: you typed"]);
    assert_eq!(lines.look(&projection(Vec::new())), ["shop was removed"]);
}

#[test]
fn one_run_alone_can_be_watched() {
    let mut lines = Lines::new(Some(run("docs").key));
    let said = lines.look(&projection(vec![run("shop"), run("docs")]));
    assert_eq!(said, ["this process drives", "docs: codex reviews · relay 3 of 10"]);
}
