//! What outside text may still hold after it was made harmless.

use proptest::prelude::*;

use super::*;

fn check(given: &str, expected: &str) {
    assert_eq!(clean_line(given), expected, "{given:?}");
}

#[test]
fn sequences_go_and_words_stay() {
    check("plain", "plain");
    check("a\u{1b}[31mred\u{1b}[0m b", "ared b");
    check("\u{1b}]52;c;aGVsbG8=\u{7}copy", "copy");
    check("\u{1b}]8;;http://x.example\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link");
    check("\u{1b}]0;title", "0;title");
    check("\u{1b}[6n", "");
    check("\u{9b}31mred", "red");
    check("\u{9d}0;t\u{9c}x", "x");
    check("\u{1b}(Bx\u{1b}=y\u{1b}Pq\u{1b}\\z", "xyz");
    check("a\u{202e}b\u{2066}c\u{200e}", "abc");
    check("one\ntwo\tthree", "one two three");
    check("👩\u{200d}💻", "👩\u{200d}💻");
    check("\u{1b}", "");
}

#[test]
fn an_unterminated_title_does_not_swallow_the_answer() {
    let text = format!("\u{1b}]0;{}", "word ".repeat(2_000));
    assert!(clean_line(&text).len() > 9_000);
    assert_eq!(clean_block("\u{1b}]0;title\nline two"), "0;title\nline two");
}

#[test]
fn tabs_stop_at_columns_of_four() {
    assert_eq!(clean_block("a\tb\n語\tx"), "a   b\n語  x");
}

const RIGHT_TO_LEFT: char = '\u{202e}';

/// A character, or the beginning of a sequence.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<char>().prop_map(String::from),
        (0u8..0xa0).prop_map(|byte| char::from(byte).to_string()),
        Just("\u{202e}".to_owned()),
        Just("\u{1b}[".to_owned()),
        Just("\u{1b}]".to_owned()),
    ]
}

proptest! {
    #[test]
    fn no_control_character_survives(text in proptest::collection::vec(piece(), 0..80).prop_map(|pieces| pieces.concat())) {
        let line = clean_line(&text);
        let is_harmless = |c: char| !c.is_control() && c != RIGHT_TO_LEFT;
        prop_assert!(line.chars().all(is_harmless));
        let block = clean_block(&text);
        prop_assert!(block.chars().all(|c| c == '\n' || is_harmless(c)));
        prop_assert_eq!(clean_line(&line).into_owned(), line.into_owned());
    }
}
