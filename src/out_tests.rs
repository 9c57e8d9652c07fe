//! What is printed does nothing to a terminal, and JSON keeps its meaning.

use super::plain;
use crate::model::harmless::escaped;

const HOSTILE: &str = "a\u{202e}b\u{2066}c\u{9b}31md\u{7}e\u{e0041}f\u{1b}]0;t\u{7}g\u{200d}h";

#[test]
fn a_line_is_stripped_as_the_screens_are() {
    assert_eq!(plain(HOSTILE), "abcdefg\u{200d}h");
}

#[test]
fn json_holds_no_character_that_acts_on_a_terminal_and_means_the_same() {
    let json = serde_json::to_string(&[HOSTILE]).unwrap();
    let printed = escaped(&json);
    assert!(!printed.chars().any(crate::ui::sanitise::is_unwanted), "{printed:?}");
    assert_eq!(serde_json::from_str::<Vec<String>>(&printed).unwrap(), [HOSTILE]);
}
