//! Tests of `agent::os::linux`.

use super::*;

#[test]
fn a_name_with_parentheses_does_not_shift_the_fields() {
    let line = "77 (a) b (c) S 11 77 77 34817 77 4194304 1 2 3 4 5 6 7 8 20 0 9 0 106377 1 2";
    let seen = parse_stat(77, line).unwrap();
    assert_eq!(seen.name, "a) b (c");
    assert_eq!(seen.parent, 11);
    assert_eq!(seen.terminal.as_deref(), Some("/dev/pts/1"));
    assert_eq!(seen.start_mark, "106377");
    assert!(seen.foreground);
    assert!(!seen.stopped);
}

#[test]
fn a_stopped_one_is_told_and_a_zombie_is_none() {
    let line = |state: &str| format!("77 (x) {state} 11 77 77 0 -1 0 1 2 3 4 5 6 7 8 20 0 9 0 5 1 2");
    assert!(parse_stat(77, &line("T")).unwrap().stopped);
    assert!(!parse_stat(77, &line("T")).unwrap().foreground);
    assert_eq!(parse_stat(77, &line("Z")), None);
}

#[test]
fn torn_lines_are_none() {
    assert_eq!(parse_stat(1, ""), None);
    assert_eq!(parse_stat(1, "1 (x) S 2"), None);
}
