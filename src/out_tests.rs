//! What is printed does nothing to a terminal, and JSON keeps its meaning.

use super::{next_steps, plain};
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

/// What a person is to type can be copied from any pane: a shell reads the lines as the one command.
#[test]
fn a_command_that_does_not_fit_is_parted_as_a_shell_reads_it() {
    let steps = [("What the demo made stays. To go on with it:", "trellis uninstall --yes --home /tmp/trellis-demo-x")];
    assert_eq!(
        next_steps(&steps, 38),
        [
            "What the demo made stays. To go on",
            "with it:",
            "trellis uninstall --yes --home \\",
            "  /tmp/trellis-demo-x",
        ]
    );
    let long = "trellis --home /var/folders/ab/cdefghijklmnop/T/trellis-demo-oA9SCO";
    let lines = next_steps(&[("", long)], 38)[1..].join("\n");
    assert_eq!(lines, "trellis --home \\\n  /var/folders/ab/cdefghijklmnop/T/\\\ntrellis-demo-oA9SCO");
    assert_eq!(lines.replace("/\\\n", "/").replace("\\\n  ", ""), long);
    assert_eq!(next_steps(&[("", long)], usize::MAX)[1..], [long]);
    assert_eq!(next_steps(&[("", "trellis --home '/tmp/a b c d e f g h i j k l m n'")], 38).len(), 2);
}
