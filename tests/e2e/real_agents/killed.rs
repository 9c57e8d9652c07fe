//! trellis is killed at the two worst instants of a send to a real agent: between paste and Enter, and between Enter and
//! evidence. Whatever was killed, each message arrives once.

use std::time::{Duration, Instant};

use serde_json::Value;
use trellis::agent::tmux::input_box::{self, Box};
use trellis::model::ids::Agent::{self, Claude, Codex};

use super::install::{Part, Skip, setting, told};
use super::pairs::is_complete;
use super::rig::{Plan, Rig, Running};
use crate::kills::Dice;

#[test]
fn a_trellis_killed_between_paste_and_evidence_sends_nothing_twice() {
    told(kills(Part::Small, Claude, Codex));
}

#[test]
fn a_trellis_killed_between_paste_and_evidence_sends_nothing_twice_to_two_claudes() {
    told(kills(Part::Whole, Claude, Claude));
}

fn kills(part: Part, implementer: Agent, reviewer: Agent) -> Result<(), Skip> {
    part.asked_for()?;
    let wanted = setting("TRELLIS_REAL_KILLS", 2);
    let seed = setting("TRELLIS_REAL_SEED", u64::from(std::process::id()));
    println!("TRELLIS_REAL_KILLS={wanted} TRELLIS_REAL_SEED={seed}");
    let mut dice = Dice(seed);
    let (mut pasted, mut entered, mut cleared) = (0, 0, 0);
    while pasted + entered < wanted {
        let rig = Rig::start(part, Plan::pair(implementer, reviewer))?;
        let mut run = rig.begin_run(&["--first-phase", "ask"]);
        let mut at = pasted + entered;
        while at < wanted {
            let between_paste_and_enter = at.is_multiple_of(2);
            let hit = if between_paste_and_enter { paste_stands(&rig, &mut run) } else { sent(&rig, &mut run) };
            if !hit {
                break;
            }
            // trellis waits 200 ms before Enter; the evidence comes 200 to 800 ms behind it.
            std::thread::park_timeout(Duration::from_millis(dice.below(if between_paste_and_enter {
                160
            } else {
                120
            })));
            run.kill();
            let open = |entry: &Value| entry["attempts"].as_u64() > Some(0) && is_open(entry);
            if rig.entries().iter().any(open) {
                if between_paste_and_enter { pasted += 1 } else { entered += 1 }
            }
            at = pasted + entered;
            run = rig.begin(&["drive"]);
            cleared += u64::from(clear_a_part(&rig, &mut run));
        }
        let (code, said) = run.finish(Duration::from_mins(10));
        assert_eq!(code, Some(0), "{said}\n{}", rig.told());
        is_complete(&rig);
        println!(
            "{pasted} kills between paste and Enter ({cleared} left a part, which the person took away), {entered} between \
             Enter and evidence: each message once"
        );
    }
    Ok(())
}

fn is_open(entry: &Value) -> bool {
    matches!(entry["state"].as_str(), Some("prepared" | "sent" | "queued"))
}

/// Waits until a message that is being sent stands in a Claude's box; false when the run ended before.
fn paste_stands(rig: &Rig, run: &mut Running<'_>) -> bool {
    until(rig, run, || {
        rig.entries().iter().any(|entry| {
            let pane = if entry["target"] == "implementer" { "%0" } else { "%1" };
            let begun = entry["state"] == "prepared" && entry["attempts"].as_u64() > Some(0);
            begun
                && matches!(input_box::find(Claude, &rig.tmux(&["capture-pane", "-p", "-e", "-t", pane])), Box::Text(_))
        })
    })
}

/// Waits until a message is sent and not proven; false when the run ended before.
fn sent(rig: &Rig, run: &mut Running<'_>) -> bool {
    until(rig, run, || rig.entries().iter().any(|entry| matches!(entry["state"].as_str(), Some("sent" | "queued"))))
}

/// A message of several pieces may stand in the box in part: that is held, and told. The person looks, and takes it away;
/// then it goes out again by itself. Whether that was so.
fn clear_a_part(rig: &Rig, run: &mut Running<'_>) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    let in_flight = |entry: &Value| is_open(entry) && entry["attempts"].as_u64() > Some(0);
    while rig.entries().iter().any(in_flight) && run.ended().is_none() {
        if Instant::now() > end {
            let stands = |pane: &&str| matches!(box_of(rig, pane), Box::Text(_));
            let Some(pane) = ["%0", "%1"].into_iter().find(stands) else { return false };
            rig.press(pane, "C-c");
            rig.wait("an empty box", || box_of(rig, pane) == Box::Empty);
            return true;
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
    false
}

fn box_of(rig: &Rig, pane: &str) -> Box {
    input_box::find(Claude, &rig.tmux(&["capture-pane", "-p", "-e", "-t", pane]))
}

fn until(rig: &Rig, run: &mut Running<'_>, mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_mins(3);
    loop {
        if holds() {
            return true;
        }
        if run.ended().is_some() {
            return false;
        }
        assert!(Instant::now() < end, "no message is sent:\n{}", rig.told());
        std::thread::park_timeout(Duration::from_millis(2));
    }
}
