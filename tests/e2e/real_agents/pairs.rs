//! Whole checklists between two real agents: each completes, with relays 3, 1 and 5, and each message once.

use std::time::Duration;

use trellis::model::ids::Agent::{self, Claude, Codex};

use super::install::{Part, Skip, setting, told};
use super::rig::{Plan, Rig};

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
    for _ in 0..setting("TRELLIS_REPEATS", 1) {
        let rig = Rig::start(part, Plan::pair(implementer, reviewer))?;
        a_checklist(&rig, &["--first-phase", "ask"]);
    }
    Ok(())
}

/// Drives the checklist to its end, and proves that it went as it is played.
pub fn a_checklist(rig: &Rig, more: &[&str]) {
    let words = rig.start_words(more);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (code, said) = rig.trellis(&words, Duration::from_mins(10));
    assert_eq!(code, Some(0), "{said}\n{}", rig.told());
    is_complete(rig, &said);
}

/// What a run of the checklist says at its end, what the models were asked, and what `run verify` proves.
pub fn is_complete(rig: &Rig, said: &str) {
    let last: serde_json::Value = serde_json::from_str(said.lines().last().unwrap_or_default()).unwrap_or_default();
    assert_eq!(last["type"], "checklist.stopped", "{said}");
    let told = rig.told();
    // Three phases: relays 3, 1 and 5, and a fourth question that is answered COMPLETED.
    assert_eq!(rig.count("implementer", "Implement the next phase"), 4, "{told}");
    assert_eq!(rig.count("implementer", "Feedback:"), 3, "{told}");
    assert_eq!(rig.count("reviewer", "Review the implementer's work"), 6, "{told}");
    assert_eq!(rig.prompts().len(), 4 + 3 + 6 + 2, "and the two greetings, and nothing else: {told}");
    let mut relays: Vec<(String, u64)> = rig
        .records()
        .iter()
        .filter_map(|record| Some((record["created_at"].as_str()?.to_owned(), record["round_count"].as_u64()?)))
        .collect();
    relays.sort();
    assert_eq!(relays.iter().map(|(_, relays)| *relays).collect::<Vec<_>>(), [3, 1, 5], "{told}");
    verified(rig, last["run_id"].as_str().unwrap_or_default());
}

/// `run verify` proves that each message stands in its target once.
pub fn verified(rig: &Rig, run: &str) {
    let (code, said) = rig.trellis(&["run", "verify", run], Duration::from_mins(1));
    assert_eq!(code, Some(0), "{said}\n{}", rig.told());
}
