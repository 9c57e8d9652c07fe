//! Tests of `agent::message`.

use super::*;
use crate::model::ids::{EntryId, SessionId, SessionKey};
use crate::model::text::fold;

fn delivery(text: &str, prompt_bytes: usize, folder: &str) -> Delivery {
    Delivery {
        entry: EntryId::new("pair-1.3"),
        session: SessionKey { agent: Agent::Claude, session_id: SessionId::new("s") },
        text: text.into(),
        prompt_bytes,
        attempt: 1,
        allow_unknown_box: false,
        file_folder: folder.to_owned(),
    }
}

fn outgoing(text: &str, prompt_bytes: usize) -> Outgoing {
    Outgoing::of(&delivery(text, prompt_bytes, "/nowhere"), Agent::Claude, 65_536).unwrap()
}

#[test]
fn d13_a_paste_end_inside_the_text_loses_its_escape() {
    let out = outgoing("stop\u{1b}[201~\nrm -rf x\u{9b}5n\u{7f}\u{0}\tend", 0);
    assert_eq!(out.text, "stop[201~\nrm -rf x5n\tend");
}

#[test]
fn d15_what_would_be_a_command_gets_a_blank_in_front() {
    for text in ["!important", "# Findings", "@src/a.rs is wrong", "- item"] {
        let out = outgoing(text, 0);
        assert_eq!(out.text, format!(" {text}"));
        assert_eq!(fold(&out.text), fold(text), "the evidence compares alike");
    }
    assert_eq!(outgoing("look at C:\\", 0).text, "look at C:\\ ");
    assert_eq!(outgoing("look at @src", 0).text, "look at @src ");
    assert_eq!(outgoing("plain", 0).text, "plain");
    for text in ["/clear the cache first", " \n/clear the cache first", "\u{200b}/clear it"] {
        let out = outgoing(text, 0);
        assert_eq!(out.text, format!("Message:\n{text}"));
        assert!(out.differs, "the evidence is compared with what was sent");
    }
}

#[test]
fn line_ends_are_line_feeds() {
    assert_eq!(outgoing("a\r\nb\rc", 0).text, "a\nb\nc");
}

#[test]
fn nothing_to_send_is_refused() {
    assert!(Outgoing::of(&delivery("\u{1b}\u{7}", 0, "/nowhere"), Agent::Claude, 65_536).is_err());
}

#[test]
fn pieces_are_small_and_whole() {
    let text = "a line\n".repeat(20) + &"x".repeat(2_000);
    let out = outgoing(&text, 0);
    let pastes = out.pastes(Agent::Claude);
    assert_eq!(pastes.concat(), out.text);
    for piece in &pastes {
        assert!(piece.chars().count() <= 700);
        assert!(piece.matches('\n').count() <= 2);
    }
    assert_eq!(out.pastes(Agent::Codex).len(), 1);
}

#[test]
fn a_long_answer_goes_in_one_paste_behind_the_prompt() {
    let prompt = "Feedback:\n\n";
    let text = format!("{prompt}{}", "a finding\n".repeat(60));
    let pastes = outgoing(&text, prompt.len()).pastes(Agent::Claude);
    assert_eq!(pastes.len(), 2);
    assert_eq!(pastes[0], prompt);
    let hostile = format!("!{prompt}{}", "a finding\n".repeat(60));
    let pastes = outgoing(&hostile, prompt.len() + 1).pastes(Agent::Claude);
    assert_eq!(pastes[0], format!(" !{prompt}"));
}

#[test]
fn d11_a_very_long_text_goes_into_a_file_and_one_line_names_it() {
    let folder = tempfile::tempdir().unwrap();
    for size in [70_000, 140_000, 400_000] {
        let text = "y".repeat(size);
        let given = delivery(&text, 0, folder.path().join("pairs/p").to_str().unwrap());
        let out = Outgoing::of(&given, Agent::Codex, 65_536).unwrap();
        assert!(out.differs);
        assert_eq!(out.text.lines().count(), 1);
        let path = folder.path().join("pairs/p/message-pair-1.3.txt");
        assert!(out.text.contains(path.to_str().unwrap()));
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }
    assert!(!outgoing(&"y".repeat(20_000), 0).differs);
}
