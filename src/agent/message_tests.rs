//! Tests of `agent::message`.

use super::*;
use crate::model::ids::{EntryId, SessionId, SessionKey};

fn delivery(agent: Agent, text: &str, prompt_bytes: usize) -> Delivery {
    Delivery {
        entry: EntryId::new("pair-1.3"),
        session: SessionKey { agent, session_id: SessionId::new("s") },
        text: text.into(),
        prompt_bytes,
        attempt: 1,
        allow_unknown_box: false,
    }
}

#[test]
fn pieces_are_small_and_whole() {
    let text = "a line\n".repeat(20) + &"x".repeat(2_000);
    let pastes = pastes(&delivery(Agent::Claude, &text, 0));
    assert_eq!(pastes.concat(), text);
    for piece in &pastes {
        assert!(piece.chars().count() <= 700);
        assert!(piece.matches('\n').count() <= 2);
    }
    assert_eq!(super::pastes(&delivery(Agent::Codex, &text, 0)), [text]);
}

#[test]
fn a_long_answer_goes_in_one_paste_behind_the_prompt() {
    let prompt = "Feedback:\n\n";
    let text = format!("{prompt}{}", "a finding\n".repeat(60));
    let pastes = pastes(&delivery(Agent::Claude, &text, prompt.len()));
    assert_eq!(pastes.len(), 2);
    assert_eq!(pastes[0], prompt);
}

#[test]
fn a_short_answer_goes_in_pieces_behind_the_prompt() {
    let prompt = "Feedback:\n\n";
    let text = format!("{prompt}one\ntwo\nthree");
    let pastes = pastes(&delivery(Agent::Claude, &text, prompt.len()));
    assert_eq!(pastes, [prompt, "one\ntwo\n", "three"]);
}
