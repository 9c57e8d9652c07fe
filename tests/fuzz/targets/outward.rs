//! Words of an agent on their way out: into a terminal, a notification, tmux, an agent's box, a file's name.

use std::sync::Arc;

use trellis::agent::message::pastes;
use trellis::machine::Delivery;
use trellis::machine::wire;
use trellis::model::ids::{Agent, EntryId, RecordKey, RunId, SessionId, SessionKey, is_safe_name};
use trellis::paths::Home;
use trellis::tell::bytes::{Dialect, through_tmux, tmux_literal};
use trellis::transcript::compare::{fold, unwrap_pastes};
use trellis::ui::sanitise::{clean_block, clean_line};

/// The last byte says where the prompt ends and how high the pane is.
pub fn outward(bytes: &[u8]) {
    let (number, bytes) = super::choice(bytes, 255);
    let text = String::from_utf8_lossy(bytes);
    super::is_harmless(&clean_line(&text));
    clean_block(&text).split('\n').for_each(super::is_harmless);
    assert_eq!(clean_line(&clean_line(&text)), clean_line(&text), "clean is clean");
    told(&text);
    named(&text);
    typed(&text, number);
}

/// A notification begins and ends where we say, and nowhere else.
fn told(text: &str) {
    for dialect in [Dialect::Osc9, Dialect::Osc777, Dialect::Osc99] {
        let bytes = dialect.notification(text);
        let sent = String::from_utf8(bytes.clone()).expect("a notification is text");
        let escapes = if dialect == Dialect::Osc99 { 4 } else { 1 };
        assert_eq!(sent.matches('\u{1b}').count(), escapes, "{sent:?}");
        assert!(!sent.contains(['\u{9c}', '\u{9b}', '\u{9d}', '\u{90}', '\n', '\r']), "{sent:?}");
        let wrapped = through_tmux(&bytes);
        assert!(wrapped.starts_with(b"\x1bPtmux;") && wrapped.ends_with(b"\x1b\\"));
    }
    // Of tmux's formats nothing is left: `#` and `%` come twice.
    let literal = tmux_literal(text);
    super::is_harmless(&literal);
    for sign in ['#', '%'] {
        assert!(literal.split(|c| c != sign).all(|run| run.len() % 2 == 0), "{literal:?}");
    }
}

/// No id leads out of its folder.
fn named(text: &str) {
    let home = Home::at("/h");
    for path in [
        home.record(&RecordKey::Run(RunId::new(text))),
        home.texts(&RecordKey::Run(RunId::new(text))),
        home.session(&SessionKey { agent: Agent::Codex, session_id: SessionId::new(text) }),
    ]
    .into_iter()
    .flatten()
    {
        assert!(is_safe_name(text), "{text:?}");
        assert_eq!(path.components().count(), 4, "{}", path.display());
        assert!(path.to_str().is_some_and(|path| !path.contains("..") && !path.contains(char::is_control)));
    }
}

/// What is typed holds no control sign but tab and line feed, begins no command, and is the message.
fn typed(text: &str, number: u8) {
    let prompt =
        (0..=text.len()).rev().find(|at| *at <= usize::from(number) && text.is_char_boundary(*at)).unwrap_or(0);
    for agent in [Agent::Claude, Agent::Codex] {
        let Some(sent) = wire::whole(text, prompt, agent) else { continue };
        assert!(sent.text.chars().all(|sign| matches!(sign, '\t' | '\n') || !sign.is_control()), "{:?}", sent.text);
        assert!(!sent.text.starts_with(['/', '!', '#', '@']), "no command: {:?}", sent.text);
        assert!(!sent.text.ends_with('\\'), "no line feed out of Enter: {:?}", sent.text);
        assert!(sent.text.is_char_boundary(sent.prompt_bytes), "{} of {:?}", sent.prompt_bytes, sent.text);
        assert!(fold(&sent.text).ends_with(&fold(text)), "the message is in it: {text:?} became {:?}", sent.text);
        let delivery = Delivery {
            entry: EntryId::new("r1-e1"),
            session: SessionKey { agent, session_id: SessionId::new("s") },
            text: Arc::from(&*sent.text),
            prompt_bytes: sent.prompt_bytes,
            attempt: 1,
            allow_unknown_box: false,
        };
        let pieces = pastes(&delivery, u32::from(number % 40));
        assert_eq!(fold(&pieces.concat()), fold(&sent.text), "the pieces are the message");
    }
    let _ = unwrap_pastes(text);
    let naming = wire::naming(text, 70_000).text;
    assert!(!naming.contains(char::is_control), "one line: {naming:?}");
}
