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
    let pastes = pastes(&delivery(Agent::Claude, &text, 0), 60);
    assert_eq!(pastes.concat(), text);
    for piece in &pastes {
        assert!(piece.encode_utf16().count() <= 700);
        assert!(piece.matches('\n').count() <= 2);
    }
    assert_eq!(super::pastes(&delivery(Agent::Codex, &text, 0), 60), [text]);
}

#[test]
fn a_long_answer_goes_in_one_paste_behind_the_prompt() {
    let prompt = "Feedback:\n\n";
    let text = format!("{prompt}{}", "a finding\n".repeat(60));
    let pastes = pastes(&delivery(Agent::Claude, &text, prompt.len()), 60);
    assert_eq!(pastes.len(), 2);
    assert_eq!(pastes[0], prompt);
}

#[test]
fn a_short_answer_goes_in_pieces_behind_the_prompt() {
    let prompt = "Feedback:\n\n";
    let text = format!("{prompt}one\ntwo\nthree");
    let pastes = pastes(&delivery(Agent::Claude, &text, prompt.len()), 60);
    assert_eq!(pastes, [prompt, "one\ntwo\n", "three"]);
}

#[test]
fn signs_are_counted_as_claude_counts_them() {
    for (sign, each) in [('😀', 2), ('\t', 4), ('é', 1)] {
        let text = sign.to_string().repeat(690);
        let pastes = pastes(&delivery(Agent::Claude, &text, text.len()), 60);
        assert_eq!(pastes.concat(), text);
        for piece in &pastes {
            assert!(piece.chars().count() * each <= 700, "{} of {sign:?}", piece.chars().count());
        }
    }
}

#[test]
fn a_low_pane_gets_pieces_of_fewer_lines() {
    let text = "Feedback:\n\none\ntwo\nthree";
    let of = |rows| pastes(&delivery(Agent::Claude, text, 11), rows);
    assert_eq!(of(12), ["Feedback:\n\n", "one\ntwo\n", "three"]);
    assert_eq!(of(11), ["Feedback:\n", "\n", "one\n", "two\n", "three"]);
    for rows in [0, 5, 10] {
        assert_eq!(of(rows), ["Feedback:", "\n\none\ntwo\nthree"], "one paste that is folded, behind the first line");
    }
    assert_eq!(pastes(&delivery(Agent::Claude, "one line", 0), 8), ["one line"]);
}

#[test]
fn a_long_prompt_begins_with_pieces_and_ends_in_one_paste() {
    let text = "a line of the prompt\n".repeat(3_300);
    for prompt_bytes in [0, text.len(), text.len() - 21] {
        let pastes = pastes(&delivery(Agent::Claude, &text, prompt_bytes), 60);
        assert_eq!(pastes.concat(), text);
        assert_eq!(pastes.len(), FEW_PIECES + 1);
    }
}

#[test]
fn signs_that_turn_the_order_are_not_typed_to_claude() {
    let text = "Feedback:\n\n\u{202e}turned\u{202c} \u{2067}apart\u{2069} and \u{200b}so";
    for rows in [10, 60] {
        let pastes = pastes(&delivery(Agent::Claude, text, 11), rows);
        assert_eq!(pastes.concat(), "Feedback:\n\nturned apart and \u{200b}so");
    }
    assert_eq!(pastes(&delivery(Agent::Codex, text, 11), 60), [text]);
}
