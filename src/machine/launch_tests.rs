//! Which sessions may be started.

use super::*;

fn wanted(agent: Agent, transport: Transport) -> NewSession {
    NewSession {
        agent,
        worktree: "/src/shop".to_owned(),
        transport,
        permission_mode: None,
        model: None,
        prompt: None,
        name: None,
    }
}

fn field(wanted: &NewSession, root: bool) -> Option<String> {
    check(wanted, root).err().and_then(|refusal| refusal.field)
}

#[test]
fn permission_modes_are_those_of_the_agent() {
    for agent in [Agent::Claude, Agent::Codex] {
        for mode in modes(agent) {
            let one = NewSession { permission_mode: Some(mode.name.to_owned()), ..wanted(agent, Transport::Tmux) };
            assert_eq!(field(&one, false), None, "{}", mode.name);
        }
    }
    let other = NewSession { permission_mode: Some("acceptEdits".to_owned()), ..wanted(Agent::Codex, Transport::Tmux) };
    let refusal = check(&other, false).unwrap_err();
    assert_eq!(refusal.field.as_deref(), Some("permission_mode"));
    assert!(refusal.message.contains("workspace-write"), "{refusal}");
}

#[test]
fn what_root_cannot_have_is_said_before() {
    let bypass = NewSession { permission_mode: Some(NOT_AS_ROOT.to_owned()), ..wanted(Agent::Claude, Transport::Tmux) };
    assert_eq!(field(&bypass, true).as_deref(), Some("permission_mode"));
    assert_eq!(field(&bypass, false), None);
}

#[test]
fn codex_without_a_window_needs_a_first_message() {
    let silent = wanted(Agent::Codex, Transport::Headless);
    assert_eq!(field(&silent, false).as_deref(), Some("prompt"));
    assert_eq!(field(&NewSession { prompt: Some("Hello".to_owned()), ..silent.clone() }, false), None);
    assert_eq!(field(&wanted(Agent::Claude, Transport::Headless), false), None);
    let asks = NewSession {
        permission_mode: Some("workspace-write/never".to_owned()),
        prompt: Some("Hello".to_owned()),
        ..silent
    };
    assert_eq!(field(&asks, false).as_deref(), Some("permission_mode"), "it never asks anyway");
}

#[test]
fn folders_models_messages_and_names_are_checked() {
    let good = || wanted(Agent::Claude, Transport::Tmux);
    for worktree in ["", "shop", "../shop", "/src/\u{1b}[31mshop"] {
        assert_eq!(field(&NewSession { worktree: worktree.to_owned(), ..good() }, false).as_deref(), Some("worktree"));
    }
    for model in ["", "-p", "--resume", "two words"] {
        assert_eq!(field(&NewSession { model: Some(model.to_owned()), ..good() }, false).as_deref(), Some("model"));
    }
    for prompt in ["", "  \n", "a\0b", &"x".repeat(LONGEST_PROMPT + 1)] {
        assert_eq!(field(&NewSession { prompt: Some(prompt.to_owned()), ..good() }, false).as_deref(), Some("prompt"));
    }
    assert_eq!(field(&NewSession { name: Some("n".repeat(81)), ..good() }, false).as_deref(), Some("name"));
    assert_eq!(field(&NewSession { transport: Transport::ByHand, ..good() }, false).as_deref(), Some("transport"));
}
