//! The look at a change before it is written.

use super::*;

#[test]
fn a_change_shows_what_goes_and_what_comes_with_a_little_around_it() {
    let old = "{\n  a\n  b\n  c\n  d\n  e\n}\n";
    let new = "{\n  a\n  b\n  c\n  x\n  y\n  e\n}\n";
    assert_eq!(difference(old, new), ["    b", "    c", "-   d", "+   x", "+   y", "    e", "  }"]);
    assert_eq!(difference("", "{\n}\n"), ["+ {", "+ }"]);
    assert_eq!(difference("{\n}\n", ""), ["- {", "- }"]);
    assert_eq!(difference("a\n", "a\n"), [""; 0]);
}
