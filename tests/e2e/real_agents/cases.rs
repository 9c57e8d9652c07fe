//! What goes wrong in a real day: used-up limits, a person who types, reports that come late, new conversations, dead
//! agents. Each is played with the real programs, and the loop goes on as `loops.md` says.

use std::time::Duration;

use serde_json::{Value, json};
use trellis::model::ids::Agent::{self, Claude, Codex};
use trellis::model::ids::SessionKey;

use super::install::{Part, Skip, told};
use super::pairs::{relays, verified};
use super::person::Dashboard;
use super::rig::{Plan, Rig, checklist, play};

const REVIEW: &str = "Review the implementer's work";
const ASK: [&str; 2] = ["--first-phase", "ask"];

#[test]
fn an_overloaded_implementer_is_asked_again_by_itself() {
    told(overloaded(Claude, Codex));
}

#[test]
fn an_overloaded_codex_is_asked_again_by_itself() {
    told(overloaded(Codex, Claude));
}

#[test]
fn a_used_up_limit_pauses_with_the_agents_words_and_goes_on() {
    told(limit());
}

#[test]
fn a_persons_message_in_the_middle_of_a_review_pauses_and_the_rest_is_right() {
    told(a_person_types(Claude, Codex));
}

#[test]
fn a_persons_message_to_codex_pauses_and_the_rest_is_right() {
    told(a_person_types(Codex, Claude));
}

#[test]
fn the_answer_after_the_report_of_a_background_agent_is_the_verdict() {
    told(background_agent());
}

#[test]
fn a_cleared_claude_is_followed_when_the_person_says_so() {
    told(another_conversation(Claude, Codex, "/clear"));
}

#[test]
fn a_new_thread_of_codex_is_followed_when_the_person_says_so() {
    told(another_conversation(Codex, Claude, "/new"));
}

#[test]
fn a_killed_claude_is_brought_back_and_the_message_arrives() {
    told(killed(Claude, Codex));
}

#[test]
fn a_killed_codex_is_brought_back_and_the_message_arrives() {
    told(killed(Codex, Claude));
}

/// One phase that is approved at the second look: relays 3. What the play needs is changed by the cases.
pub fn one_phase() -> Value {
    play(
        &json!([
            ["Feedback:", ["The remark is dealt with."]],
            ["Implement the next phase", ["Phase one is written.", "COMPLETED"]],
            ["", ["READY"]],
        ]),
        &json!([[REVIEW, ["One remark: a line is missing.", "LGTM"]], ["", ["READY"]]]),
    )
}

/// That phase is over, with so many relays, and the implementer was asked for each phase once.
fn is_over(rig: &Rig, expected: &[u64]) {
    assert_eq!(rig.run()["stop_reason"], "completed", "{}", rig.told());
    assert_eq!(relays(rig), expected, "{}", rig.told());
    verified(rig);
}

/// The whole checklist, but its first answer and its first review fail: everything else is as it is played.
fn overloaded(implementer: Agent, reviewer: Agent) -> Result<(), Skip> {
    let mut play = checklist();
    let fails = json!({"fail": {"status": 429, "message": "Rate limited"}});
    for (side, rule) in [("implementer", 1), ("reviewer", 0)] {
        play["sides"][side][rule][1].as_array_mut().unwrap().insert(0, fails.clone());
    }
    let rig =
        Rig::start(Part::Whole, Plan::of(vec![implementer, reviewer], play).with("CLAUDE_CODE_MAX_RETRIES", "1"))?;
    let (code, said) = rig.begin_run(&ASK).finish(Duration::from_mins(10));
    assert_eq!(code, Some(0), "{said}\n{}", rig.told());
    // Each message that met the failure went out a second time, as an entry of its own.
    assert_eq!(rig.count("implementer", "Implement the next phase"), 5, "{}", rig.told());
    assert_eq!(rig.count("reviewer", REVIEW), 7, "{}", rig.told());
    let again = rig.entries().iter().filter(|entry| entry["resend_of"].is_string()).count();
    assert_eq!(again, 2, "{}", rig.told());
    assert_eq!(relays(&rig), [3, 1, 5], "{}", rig.told());
    verified(&rig);
    Ok(())
}

fn limit() -> Result<(), Skip> {
    let mut play = one_phase();
    let fails = json!({"fail": {"status": 429, "message": "You've hit your usage limit."}});
    play["sides"]["reviewer"][0][1].as_array_mut().unwrap().insert(0, fails);
    let rig = Rig::start(Part::Whole, Plan::of(vec![Codex, Claude], play).with("CLAUDE_CODE_MAX_RETRIES", "1"))?;
    let (code, said) = rig.begin_run(&ASK).finish(Duration::from_mins(5));
    assert_eq!(code, Some(1), "{said}\n{}", rig.told());
    assert_eq!(rig.paused().as_deref(), Some("limit"), "{said}\n{}", rig.told());
    let pair = rig.records().into_iter().find(|record| record["paused_reason"] == "limit").unwrap_or_default();
    let words = pair["limit"]["text"].as_str().unwrap_or_default();
    assert!(words.contains("hit your usage limit"), "{pair}");
    let person = Dashboard::open(&rig);
    person.go_on();
    person.completes();
    assert_eq!(rig.count("reviewer", REVIEW), 3, "the one that failed, again, and the second review: {}", rig.told());
    is_over(&rig, &[3]);
    Ok(())
}

/// While the reviewer thinks, the person says something to the implementer.
fn a_person_types(implementer: Agent, reviewer: Agent) -> Result<(), Skip> {
    let mut play = checklist();
    play["sides"]["reviewer"][0][1][0] =
        json!({"say": "One remark: src/one.txt has no closing line.", "gate": "remark"});
    play["sides"]["implementer"].as_array_mut().unwrap().insert(0, json!(["By the way", ["I see."]]));
    let rig = Rig::start(Part::Whole, Plan::of(vec![implementer, reviewer], play))?;
    let run = rig.begin_run(&ASK);
    rig.wait("the review", || rig.count("reviewer", REVIEW) == 1);
    rig.say("%0", "By the way, mind the line ends.");
    rig.wait("the person's message", || rig.count("implementer", "By the way") == 1);
    let (code, said) = run.finish(Duration::from_mins(2));
    assert_eq!(code, Some(1), "{said}\n{}", rig.told());
    assert_eq!(rig.paused().as_deref(), Some("user_typed"), "{}", rig.told());
    rig.open_gate("remark");
    let person = Dashboard::open(&rig);
    person.go_on();
    person.completes();
    assert_eq!(rig.count("implementer", "By the way"), 1);
    assert_eq!(rig.prompts().len(), 16, "the checklist's 15 and the person's: {}", rig.told());
    assert_eq!(relays(&rig), [3, 1, 5], "{}", rig.told());
    verified(&rig);
    Ok(())
}

/// The reviewer's turn ends with a few words while its helper still works; what it says after the report is the verdict.
fn background_agent() -> Result<(), Skip> {
    let mut play = one_phase();
    let helper = json!({"name": "Agent", "input":
        {"description": "Look closely", "prompt": "Look at the files.", "subagent_type": "general-purpose"}});
    play["sides"]["reviewer"] = json!([
        ["<task-notification>", ["The helper is content.\n\nLGTM"]],
        [REVIEW, [[{"say": "A helper looks.", "tool": helper}, "I wait for my helper's report."]]],
        ["", ["READY"]],
    ]);
    play["sides"]["helper"] = json!([["", [{"say": "All is well.", "gate": "report"}]]]);
    let rig = Rig::start(Part::Whole, Plan::of(vec![Codex, Claude], play))?;
    let run = rig.begin_run(&ASK);
    let ended = || rig.transcript(rig.reviewer()).contains("\"pendingBackgroundAgentCount\"");
    rig.wait("the end of the reviewer's first words", ended);
    let to_the_sides = || rig.prompts().iter().filter(|asked| asked.side != "helper").count();
    let asked = to_the_sides();
    rig.stays("the wait for the report", Duration::from_secs(15), || to_the_sides() == asked);
    rig.open_gate("report");
    let (code, said) = run.finish(Duration::from_mins(5));
    assert_eq!(code, Some(0), "{said}\n{}", rig.told());
    assert_eq!(rig.count("implementer", "Feedback:"), 0, "{}", rig.told());
    is_over(&rig, &[1]);
    Ok(())
}

/// The person begins another conversation in the implementer's pane while the review is on.
fn another_conversation(implementer: Agent, reviewer: Agent, command: &str) -> Result<(), Skip> {
    let mut play = one_phase();
    play["sides"]["reviewer"][0][1][0] = json!({"say": "One remark: a line is missing.", "gate": "remark"});
    play["strangers"] = json!({"messages": "implementer", "responses": "implementer"});
    let rig = Rig::start(Part::Whole, Plan::of(vec![implementer, reviewer], play))?;
    let run = rig.begin_run(&ASK);
    rig.wait("the review", || rig.count("reviewer", REVIEW) == 1);
    rig.say("%0", command);
    if implementer == Codex {
        let asks = || rig.screen("%0").contains("Where should the new conversation run?");
        rig.wait("the question", asks);
        rig.press("%0", "Enter");
        rig.wait("the new thread", || !asks() && rig.screen("%0").contains("Ask Codex to do anything"));
        // A message that is typed too early was seen to be lost, and the thread is there with its first message.
        std::thread::park_timeout(Duration::from_secs(3));
        rig.say("%0", "You are new here.");
        rig.wait("the person's message", || rig.count("implementer", "You are new here.") == 1);
    }
    let (old, other) = (rig.implementer().clone(), rig.reviewer().clone());
    let is_fresh = |seen: &SessionKey| *seen != old && *seen != other;
    let fresh = rig.wait_for("the new session", || rig.sessions_now().into_iter().find(is_fresh));
    rig.open_gate("remark");
    let (code, said) = run.finish(Duration::from_mins(2));
    assert_eq!(code, Some(1), "{said}\n{}", rig.told());
    assert_eq!(rig.paused().as_deref(), Some("session_changed"), "{said}\n{}", rig.told());
    assert_eq!(rig.count("implementer", "Feedback:"), 0, "never followed by itself: {}", rig.told());
    let person = Dashboard::open(&rig);
    let named = || rig.run()["implementer"]["session_id"] == fresh.session_id.as_str();
    person.press_until("f", "the new session", named);
    if rig.paused().is_some() {
        person.go_on();
    }
    person.completes();
    assert_eq!(rig.count("implementer", "Feedback:"), 1, "{}", rig.told());
    assert!(rig.transcript(&fresh).contains("One remark"), "{}", rig.told());
    assert!(!rig.transcript(&old).contains("One remark"), "{}", rig.told());
    is_over(&rig, &[3]);
    Ok(())
}

/// The implementer dies while the review is on; the remark waits for it.
fn killed(implementer: Agent, reviewer: Agent) -> Result<(), Skip> {
    let mut play = one_phase();
    play["sides"]["reviewer"][0][1][0] = json!({"say": "One remark: a line is missing.", "gate": "remark"});
    let rig = Rig::start(Part::Whole, Plan::of(vec![implementer, reviewer], play))?;
    let run = rig.begin_run(&ASK);
    rig.wait("the review", || rig.count("reviewer", REVIEW) == 1);
    rig.kill_agent("%0");
    rig.open_gate("remark");
    let (code, said) = run.finish(Duration::from_mins(2));
    assert_eq!(code, Some(1), "{said}\n{}", rig.told());
    assert_eq!(rig.paused().as_deref(), Some("agent_gone"), "{said}\n{}", rig.told());
    let person = Dashboard::open(&rig);
    let is_back = || rig.sessions_now().contains(rig.implementer());
    person.press_until("b", "the agent's return", is_back);
    person.go_on();
    person.completes();
    assert_eq!(rig.count("implementer", "Feedback:"), 1, "{}", rig.told());
    is_over(&rig, &[3]);
    Ok(())
}
