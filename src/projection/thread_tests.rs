//! Where a phase begins in the conversation, and where its review begins anew.

use super::super::samples::{Stage, after, pair, run, talk, turn};
use super::*;
use crate::model::ids::Agent;

/// Relays count from 1 again with each review: the place where that happens is marked, the phase is named once.
#[test]
fn a_review_that_begins_anew_is_marked_where_it_begins() {
    let mut run = run();
    let pair_id = Some(crate::model::ids::PairId::from("r1-p2"));
    let again = Attempt { pair_id, started_at: after(300), ..run.phases[0].clone() };
    // A person's word on it is no review.
    let accepted = Attempt { started_at: after(400), ..again.clone() };
    run.phases.extend([again, accepted]);
    let mut stage = Stage::new(Some(run), Some(pair()));
    stage.implementer = talk(Agent::Claude, vec![turn("c1", "do phase three", "Did it.", 10, 20)]);
    let thread = of_record(&stage.record());
    let marks: Vec<(Option<Timestamp>, String)> = thread
        .entries
        .iter()
        .filter_map(|entry| match &entry.kind {
            ThreadKind::Phase { n, .. } => Some((entry.at, format!("phase {n}"))),
            ThreadKind::Again { n } => Some((entry.at, format!("phase {n} again"))),
            _ => None,
        })
        .collect();
    assert_eq!(marks, [(Some(after(10)), "phase 3".to_owned()), (Some(after(300)), "phase 3 again".to_owned())]);
}
