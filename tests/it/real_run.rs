//! The transcripts of a run that trellis drove between the real programs, trimmed: each message stands in them once, every
//! turn ended, and the answers are those that were relayed.

use trellis::model::conversation::{Conversation, Outcome};
use trellis::model::ids::Agent;
use trellis::transcript::read_all;

fn prompts(told: &Conversation) -> Vec<&str> {
    told.turns.iter().map(|turn| &*turn.prompt.text).collect()
}

fn starting_with(told: &Conversation, words: &str) -> usize {
    prompts(told).iter().filter(|prompt| prompt.starts_with(words)).count()
}

#[test]
fn three_phases_of_the_real_programs_hold_each_message_once() {
    let claude = read_all(Agent::Claude, include_bytes!("../fixtures/real_run/claude.jsonl"));
    let codex = read_all(Agent::Codex, include_bytes!("../fixtures/real_run/codex.jsonl"));
    // One greeting each; relays 3, 1 and 5, so six to the reviewer and three back; four questions for a phase.
    assert_eq!((claude.turns.len(), codex.turns.len()), (8, 7));
    assert_eq!(starting_with(&claude, "Implement the next phase"), 4);
    assert_eq!(starting_with(&claude, "Feedback:"), 3);
    assert_eq!(starting_with(&codex, "Review the implementer's work"), 6);
    for told in [&claude, &codex] {
        assert!(told.turns.iter().all(|turn| turn.outcome == Some(Outcome::Completed) && turn.answer.is_some()));
        assert_eq!((told.damaged, told.background_agents), (0, 0));
    }
    // What was relayed is the answer of the other side, whole.
    let answers = |told: &Conversation| {
        told.turns.iter().filter_map(|turn| turn.answer.as_ref()).map(|a| a.text.to_string()).collect::<Vec<_>>()
    };
    let to_reviewer: Vec<&str> = prompts(&codex).into_iter().skip(1).collect();
    let built = answers(&claude);
    for (prompt, answer) in to_reviewer.iter().zip(built.iter().skip(1)) {
        assert!(prompt.ends_with(answer.as_str()), "{prompt} does not end with {answer}");
    }
    assert_eq!(built.last().map(String::as_str), Some("COMPLETED"));
}
