//! The frames `start_*` were captured from Claude Code 2.1.332 and Codex CLI 0.171.0 with fresh homes.

use super::*;

macro_rules! frame {
    ($name:literal) => {
        include_str!(concat!("../../../tests/fixtures/panes/", $name, ".ansi"))
    };
}

const KNOWN: [(Agent, Dialog, [&str; 2]); 6] = [
    (Agent::Claude, Dialog::Trust, [frame!("start_claude_trust_100"), frame!("start_claude_trust_60")]),
    (Agent::Claude, Dialog::Bypass, [frame!("start_claude_bypass_100"), frame!("start_claude_bypass_60")]),
    (Agent::Claude, Dialog::ApiKey, [frame!("start_claude_key_100"), frame!("start_claude_key_60")]),
    (Agent::Codex, Dialog::Trust, [frame!("start_codex_trust_100"), frame!("start_codex_trust_60")]),
    (Agent::Codex, Dialog::Hooks, [frame!("start_codex_hooks_100"), frame!("start_codex_hooks_60")]),
    (Agent::Codex, Dialog::Login, [frame!("start_codex_login_100"), frame!("start_codex_login_60")]),
];

#[test]
fn each_dialog_of_a_start_is_named_at_any_width() {
    for (agent, dialog, frames) in KNOWN {
        for frame in frames {
            assert_eq!(find(agent, frame), Some(dialog), "{frame}");
        }
    }
}

#[test]
fn a_question_that_has_no_name_is_still_one() {
    let renamed = frame!("start_claude_trust_100").replace("Quick", "Slow");
    assert_eq!(find(Agent::Claude, &renamed), Some(Dialog::Other));
    let renamed = frame!("start_codex_hooks_60").replace("Hooks", "Plugins");
    assert_eq!(find(Agent::Codex, &renamed), Some(Dialog::Other));
}

#[test]
fn an_agent_at_its_box_or_at_work_has_no_dialog() {
    for frame in [frame!("claude_empty"), frame!("claude_fresh"), frame!("claude_typed"), frame!("claude_busy")] {
        assert_eq!(find(Agent::Claude, frame), None);
    }
    for frame in [frame!("codex_empty"), frame!("codex_fresh"), frame!("codex_typed"), frame!("codex_done")] {
        assert_eq!(find(Agent::Codex, frame), None);
    }
    for frame in ["", "\n\n", "$ claude\n", "❯ 1. Yes", "Enter to confirm"] {
        assert_eq!(find(Agent::Claude, frame), None, "{frame}");
        assert_eq!(find(Agent::Codex, frame), None, "{frame}");
    }
}

/// An answer may quote a whole dialog: the box stands below it.
#[test]
fn a_quoted_dialog_is_none() {
    let quoted = format!("{}\n{}", frame!("start_claude_trust_100"), frame!("claude_empty"));
    assert_eq!(find(Agent::Claude, &quoted), None);
    let quoted = format!("{}\n{}", frame!("start_codex_trust_100"), frame!("codex_empty"));
    assert_eq!(find(Agent::Codex, &quoted), None);
}
