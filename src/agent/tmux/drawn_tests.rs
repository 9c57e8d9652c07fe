//! Tests of `agent::tmux::drawn`. What the real programs drew in tmux 3.3a stands in the cases.

use super::*;

const THREE: &str = "first line\nsecond 日本語 line\nthird";

fn thirty_one() -> String {
    (1..=31).map(|line| format!("line {line} of the paste\n")).collect::<Vec<_>>().concat()
}

#[test]
fn a_folded_paste_is_ours_only_with_its_own_number_and_nothing_beside_it() {
    let behind = format!("Feedback:\n\n{}", thirty_one());
    assert!(shows_all("Feedback:\n\n[Pasted text #3 +31 lines]", &behind));
    assert!(!shows_all("Feedback: wait [Pasted text #3 +31 lines]", &behind));
    assert!(!shows_all("Feedback: [Pasted text #3 +29 lines]", &behind));
    assert!(!shows_all("[Pasted text #3 +31 lines] and this", &thirty_one()));
    assert!(shows_all("[Pasted text #1]", &"x".repeat(2_000)));
    assert!(shows_all("[Pasted Content 2000 chars]", &"x".repeat(2_000)));
    assert!(shows_all("Feedback: [Pasted Content 2003 chars]", &format!("Feedback:\n\n日{}\ny", "x".repeat(2_000))));
    assert!(!shows_all("[Pasted Content 1999 chars]", &"x".repeat(2_000)));
    assert!(!shows_all("[Pasted Content 2000 chars] and this", &"x".repeat(2_000)));
    assert!(!shows_all("[Pasted text #1 +15 lines][Pasted text #2 +16 lines]", &thirty_one()), "never more than one");
    assert!(shows_all("one 👍 [Pasted text #1 +2 lines]", "one 👍🏽 \ntwo\nthree"));
}

#[test]
fn a_folded_end_is_ours_when_its_beginning_is_hidden() {
    let text = "a first line that is hidden and goes on\nb\nc\nd";
    assert!(shows_end("goes on[Pasted text #2 +3 lines]", text));
    assert!(!shows_end("goes on[Pasted text #2 +1 lines]", text));
    assert!(!shows_end("goes off[Pasted text #2 +3 lines]", text));
    assert!(!shows_end("goes on[Pasted text #2 +3 lines] mine", text));
}

#[test]
fn a_beginning_of_ours_is_told_from_a_changed_box() {
    assert!(shows_beginning("first", THREE));
    assert!(shows_beginning("first line\nsecond 日本語 line\nthird", THREE));
    assert!(!shows_beginning("first line and mine", THREE));
    assert!(!shows_beginning("first line\nsecond 日本語 line\nthird!", THREE));
    assert!(!shows_beginning("first [Pasted text #1 +3 lines]", THREE), "a paste that was cut");
}

#[test]
fn what_a_terminal_or_the_agent_draws_otherwise_is_forgiven() {
    let accents = "\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}";
    let zalgo = format!("a z{accents}{accents} b");
    let cases = [
        ("a 👍 b", "a 👍🏽 b"),
        ("a    b", "a \u{1fae9} b"),
        ("a      b", "a \u{1fadc}\u{1f6d8} b"),
        ("a \u{17a}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a} b", zalgo.as_str()),
        ("a abc b", "a \u{202e}abc\u{202c} b"),
        ("a  b", "a \u{3164} b"),
        ("a \u{3164} b", "a \u{3164} b"),
        // Codex leaves what stood there before: its own hint.
        ("a k  b", "a \u{1fae9} b"),
        ("a k  bd", "a \u{1fadc}\u{1f6d8} b"),
    ];
    for (shown, ours) in cases {
        assert!(shows_all(shown, ours), "{shown} for {ours:?}");
        assert!(shows_beginning(shown, ours), "{shown} for {ours:?}");
    }
    assert!(shows_end("👍 b", "hidden a 👍🏽 b") && shows_end("    b", "hidden a \u{1fae9} b"));
}

#[test]
fn no_other_text_is_taken_for_ours() {
    let cases = [
        ("a 👍 b and mine", "a 👍🏽 b"),
        ("mine a 👍 b", "a 👍🏽 b"),
        ("a 👍", "a 👍🏽 b"),
        ("a 👍 b", "a b"),
        ("a ✓ b", "a b"),
        ("a \u{fffd}abc b", "a abc b"),
        ("a  b mine", "a \u{1fae9} b"),
        ("a xyz b", "a \u{1fae9} b"),
        ("a b c", "a \u{3164} b"),
        ("a e b", "a \u{3164} b"),
        ("a", "ab"),
        ("", "ab"),
    ];
    for (shown, ours) in cases {
        assert!(!shows_all(shown, ours), "{shown} for {ours:?}");
    }
    assert!(!shows_end("mine", "hidden a 👍🏽 b") && !shows_beginning("a mine", "a 👍🏽 b"));
}
