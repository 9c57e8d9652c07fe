//! Whole checklists between two real agents: each completes, with relays 3, 1 and 5, and each message once.

use std::time::{Duration, Instant};

use trellis::model::ids::Agent::{self, Claude, Codex};

use super::install::{Part, Skip, setting, told};
use super::rig::{Plan, Rig};
use super::times;

#[test]
fn claude_builds_codex_reviews_and_the_checklist_completes() {
    told(again_and_again(Part::Small, Claude, Codex));
}

#[test]
fn codex_builds_claude_reviews_and_the_checklist_completes() {
    told(again_and_again(Part::Whole, Codex, Claude));
}

#[test]
fn claude_builds_claude_reviews_and_the_checklist_completes() {
    told(again_and_again(Part::Whole, Claude, Claude));
}

#[test]
fn codex_builds_codex_reviews_and_the_checklist_completes() {
    told(again_and_again(Part::Whole, Codex, Codex));
}

fn again_and_again(part: Part, implementer: Agent, reviewer: Agent) -> Result<(), Skip> {
    let name = format!("{implementer}→{reviewer}");
    let mut all = Vec::new();
    for at in 1..=setting("TRELLIS_REPEATS", 1) {
        let rig = Rig::start(part, Plan::pair(implementer, reviewer))?;
        let begun = Instant::now();
        a_checklist(&rig, &["--first-phase", "ask", "--set", "debounce=0"]);
        let relays = times::relays(&rig);
        let (date, took) = (jiff::Timestamp::now(), begun.elapsed().as_secs());
        println!("{date:.0} {}", times::line(&format!("{name} no. {at}, {took} s"), &relays));
        all.extend(relays);
    }
    println!("{}", times::line(&format!("{name} altogether"), &all));
    Ok(())
}

/// Drives the checklist to its end, and proves that it went as it is played.
pub fn a_checklist(rig: &Rig, more: &[&str]) {
    let (code, said) = rig.begin_run(more).finish(Duration::from_mins(10));
    assert_eq!(code, Some(0), "{said}\n{}", rig.told());
    is_complete(rig);
}

/// The played checklist is done: three phases with relays 3, 1 and 5, and a fourth question that is answered COMPLETED.
pub fn is_complete(rig: &Rig) {
    let told = rig.told();
    assert_eq!(rig.count("implementer", "Implement the next phase"), 4, "{told}");
    assert_eq!(rig.count("implementer", "Feedback:"), 3, "{told}");
    assert_eq!(rig.count("reviewer", "Review the implementer's work"), 6, "{told}");
    assert_eq!(rig.prompts().len(), 4 + 3 + 6 + 2, "and the two greetings, and nothing else: {told}");
    assert_eq!(relays(rig), [3, 1, 5], "{told}");
    verified(rig);
}

/// The relays of each pair, in order.
pub fn relays(rig: &Rig) -> Vec<u64> {
    let mut relays: Vec<(String, u64)> = rig
        .records()
        .iter()
        .filter_map(|record| Some((record["created_at"].as_str()?.to_owned(), record["round_count"].as_u64()?)))
        .collect();
    relays.sort();
    relays.into_iter().map(|(_, relays)| relays).collect()
}

/// `run verify` proves that each message of the run stands in its target once.
pub fn verified(rig: &Rig) {
    let run = rig.run()["id"].as_str().unwrap_or_default().to_owned();
    let (code, said) = rig.trellis(&["run", "verify", &run], Duration::from_mins(1));
    assert_eq!(code, Some(0), "{said}\n{}", rig.told());
}
