//! What is one phase and what is another try at it, and how they are counted.

use super::super::samples::{after, pair, run};
use super::*;

fn attempt(status: AttemptStatus, pair: Option<&str>, from: i64, relays: u32) -> Attempt {
    let ended_at = (status != AttemptStatus::Running).then(|| after(from + 60));
    let summary = if pair.is_some() { "# Phase three".to_owned() } else { String::new() };
    let pair_id = pair.map(PairId::from);
    Attempt { status, pair_id, started_at: after(from), ended_at, relays, summary, ..run().phases[0].clone() }
}

fn accepted(attempt: Attempt) -> Attempt {
    Attempt { by: Some("user".to_owned()), ..attempt }
}

fn of(phases: Vec<Attempt>) -> RunRecord {
    RunRecord { phases, ..run() }
}

fn rows(run: &RunRecord, pairs: &[&PairRecord]) -> Vec<(u32, Option<PhaseHow>, u32, String)> {
    tried(run, pairs).iter().map(|phase| (phase.last.n, phase.how(), phase.relays, phase.summary())).collect()
}

fn named(how: PhaseHow, relays: u32) -> (u32, Option<PhaseHow>, u32, String) {
    (3, Some(how), relays, "Phase three".to_owned())
}

#[test]
fn a_phase_that_a_person_accepts_after_its_cap_is_one_phase_and_its_relays_count_once() {
    let capped = attempt(AttemptStatus::NotConverged, Some("p1"), 0, 6);
    let run = of(vec![capped, accepted(attempt(AttemptStatus::Converged, Some("p1"), 100, 6))]);
    assert_eq!(rows(&run, &[]), [named(PhaseHow::Accepted, 6)]);
    let seen = tried(&run, &[]);
    assert_eq!(seen[0].since(), after(0), "its time is from its beginning");
    assert!(!seen[0].last.reviewed);
}

#[test]
fn a_phase_that_is_left_out_after_its_cap_keeps_its_name_and_its_relays() {
    let capped = attempt(AttemptStatus::NotConverged, Some("p1"), 0, 6);
    let run = of(vec![capped, accepted(attempt(AttemptStatus::Skipped, None, 100, 0))]);
    assert_eq!(rows(&run, &[]), [named(PhaseHow::Skipped, 6)]);
}

/// More relays are counted over the pair before, also while the next one is still to be made.
#[test]
fn a_phase_that_goes_on_after_its_cap_is_one_phase() {
    let capped = attempt(AttemptStatus::NotConverged, Some("p1"), 0, 6);
    let mut run = of(vec![capped, attempt(AttemptStatus::Running, Some("p2"), 100, 0)]);
    let old = PairRecord { id: PairId::from("p1"), round_count: 6, ..pair() };
    let new = PairRecord { id: PairId::from("p2"), continues: Some(PairId::from("p1")), round_count: 9, ..pair() };
    assert_eq!(rows(&run, &[&old, &new]), [(3, None, 9, "Phase three".to_owned())]);
    let pending =
        serde_json::json!({"create": "p2", "continues": "p1", "cap": 11, "turn_id": "c1", "whole_turn": false});
    run.pending = Some(serde_json::from_value(pending).unwrap());
    assert_eq!(rows(&run, &[&old]), [(3, None, 6, "Phase three".to_owned())]);
}

#[test]
fn a_phase_that_is_reviewed_again_from_nought_has_a_row_of_its_own() {
    let capped = attempt(AttemptStatus::NotConverged, Some("p1"), 0, 6);
    let run = of(vec![capped, attempt(AttemptStatus::Converged, Some("p2"), 100, 3)]);
    let other = PairRecord { id: PairId::from("p2"), round_count: 3, ..pair() };
    assert_eq!(rows(&run, &[&other]), [named(PhaseHow::NotAgreed, 6), named(PhaseHow::Agreed, 3)]);
}

#[test]
fn what_went_through_without_a_review_is_told_apart() {
    use PhaseHow::{Accepted, Agreed, NotAgreed, Skipped};
    let all =
        [(Accepted, false), (Agreed, true), (Agreed, true), (Accepted, true), (Skipped, false), (NotAgreed, false)];
    assert_eq!(
        tally(all.into_iter()).unwrap(),
        "2 phases agreed · 1 accepted by you · 1 accepted by you, not reviewed · 1 skipped by you · 1 not agreed"
    );
    assert_eq!(tally([(Accepted, false)].into_iter()).unwrap(), "1 phase accepted by you, not reviewed");
    assert_eq!(tally(std::iter::empty()), None);
}
