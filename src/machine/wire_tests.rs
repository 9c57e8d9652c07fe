//! Tests of `machine::wire`.

use super::*;

fn sent(text: &str) -> Wire {
    whole(text, 0, Agent::Claude).unwrap()
}

#[test]
fn d13_a_paste_end_inside_the_text_loses_its_escape() {
    assert_eq!(sent("stop\u{1b}[201~\nrm -rf x\u{9b}5n\u{7f}\u{0}\tend").text, "stop[201~\nrm -rf x5n\tend");
}

#[test]
fn d13_nothing_is_left_that_a_newer_tmux_writes_in_another_way() {
    let all: String = ('\0'..='\u{2fff}').chain(['\u{feff}', '\u{e0001}', '\u{1f600}']).collect();
    let text = sent(&all).text;
    // Since 3.7 tmux pastes each control character but these as visible signs (`^[`).
    assert!(text.chars().all(|sign| matches!(sign, '\t' | '\n') || !sign.is_control()));
    assert!(text.contains('\u{200b}') && text.contains('\u{202e}'), "the rest stays as it is");
}

#[test]
fn d15_what_would_be_a_command_gets_a_blank_in_front() {
    for text in ["!important", "# Findings", "@src/a.rs is wrong", "- item"] {
        let out = sent(text);
        assert_eq!(out.text, format!(" {text}"));
        assert_eq!(fold(&out.text), fold(text), "the evidence compares alike");
        assert!(!out.differs);
    }
    assert_eq!(sent("look at C:\\").text, "look at C:\\ ");
    assert_eq!(sent("look at @src").text, "look at @src ");
    assert_eq!(sent("plain").text, "plain");
    for text in ["/clear the cache first", " \n/clear the cache first", "\u{200b}/clear it"] {
        let out = sent(text);
        assert_eq!(out.text, format!("Message:\n{text}"));
        assert!(out.differs, "the evidence is compared with what was sent");
    }
    for text in ["\u{3164}/clear", "\u{115f}!touch x", "\u{fe0f}!touch x", "\u{34f} !touch x", "\u{e0100}/clear"] {
        assert!(sent(text).text.starts_with(&format!("Message:\n{text}")), "what is not seen may be taken out");
        assert!(whole(text, 0, Agent::Codex).unwrap().text.starts_with(&format!(" {text}")));
    }
    assert_eq!(sent("\u{3164} words").text, "\u{3164} words");
    assert_eq!(whole("/clear it", 0, Agent::Codex).unwrap().text, " /clear it");
}

#[test]
fn a_last_word_that_opens_a_list_gets_a_blank_behind() {
    for agent in [Agent::Claude, Agent::Codex] {
        for text in ["that made me :smile", "ok :+1", "tail :", "look at @CHECK", "see @", "use $", "word (/mod", "a #"]
        {
            assert_eq!(whole(text, 0, agent).unwrap().text, format!("{text} "));
        }
        for text in ["plain words", "a :smile and more", "ends;", "done."] {
            assert_eq!(whole(text, 0, agent).unwrap().text, text);
        }
    }
}

#[test]
fn line_ends_are_line_feeds() {
    assert_eq!(sent("a\r\nb\rc").text, "a\nb\nc");
}

#[test]
fn of_control_and_unseen_signs_alone_nothing_is_left() {
    assert_eq!(whole("\u{1b}\u{7}", 0, Agent::Claude), None);
    assert_eq!(whole(" \u{200b}\n", 0, Agent::Codex), None);
}

#[test]
fn the_prompts_length_is_that_of_what_is_sent() {
    let prompt = "!Feed\u{7}back:\n\n";
    let out = whole(&format!("{prompt}fine"), prompt.len(), Agent::Claude).unwrap();
    assert_eq!(out.text, " !Feedback:\n\nfine");
    assert_eq!(out.text.split_at(out.prompt_bytes), (" !Feedback:\n\n", "fine"));
}

#[test]
fn d11_one_line_names_the_file() {
    let out = naming("/home/a\u{1b}[2J\nb/pairs/p/0.txt", 70_001);
    assert_eq!(out.text.lines().count(), 1);
    assert!(out.text.contains("(71 KB)") && out.text.contains("/home/a[2J b/pairs/p/0.txt"));
    assert!(out.differs);
}
