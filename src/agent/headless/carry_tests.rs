//! Tests of `agent::headless::carry`: what is made of an end and of what was said before it.

use super::*;

#[test]
fn the_line_that_says_what_went_wrong_is_told() {
    let clap = "error: invalid value 'x' for '--sandbox <MODE>'\n  [possible values: a, b]\n\nFor more information, try '--help'.\n";
    assert_eq!(last_line(clap), "error: invalid value 'x' for '--sandbox <MODE>'");
    let lock =
        "2026-11-30T14:53:48Z ERROR core: failed\nError: thread/resume: thread u-1 already has an active writer\n";
    assert_eq!(last_line(lock), "Error: thread/resume: thread u-1 already has an active writer");
    assert_eq!(last_line("one\n\n  two  \n\n"), "two");
    assert_eq!(last_line(" \n"), "");
    assert_eq!(last_line("\u{1b}]0;title\u{7}bad\u{9b}31m\tthing"), "]0;titlebad31m thing");
    let long = last_line(&"é".repeat(2_000));
    assert_eq!(long.chars().count(), SHOWN + 1);
}

#[test]
fn only_an_end_with_a_word_or_a_code_is_a_refusal() {
    let ended = |code, said: &str| Ended { code, said: said.to_owned() };
    let refusal = |code, said| ended(code, said).refusal();
    assert_eq!(refusal(Some(Exit::Signal(9)), "half a line"), None, "it was ended, it refused nothing");
    assert_eq!(refusal(None, ""), None, "nobody knows");
    assert!(refusal(None, "Not logged in").is_some_and(|why| why.contains("Not logged in")));
    assert!(refusal(Some(Exit::Code(1)), "").is_some_and(|why| why.contains("exit code 1")));
    assert!(refusal(Some(Exit::Code(0)), "").is_some_and(|why| why.contains("without taking")));
    assert_eq!(ended(Some(Exit::Code(0)), "an answer").words(), "");
    assert_eq!(ended(Some(Exit::Signal(9)), "").words(), "signal 9");
    assert_eq!(ended(Some(Exit::Code(2)), "no").words(), "exit code 2: no");
}

#[test]
fn a_new_session_is_named_by_its_first_event() {
    let line = r#"{"type":"thread.started","thread_id":"u-1"}"#;
    assert_eq!(thread_of(line), Some(SessionId::new("u-1")));
    assert_eq!(thread_of(r#"{"type":"turn.started","thread_id":"u-1"}"#), None);
    assert_eq!(thread_of("thread.started"), None);
}
