//! Lines, padding and the peek.

use super::{Lines, next_beginning, peek, trim, value_end};

fn cut(chunks: &[&[u8]]) -> (Vec<(u64, Vec<u8>)>, u64) {
    let mut lines = Lines::default();
    let mut found = Vec::new();
    for chunk in chunks {
        lines.push(chunk, |offset, line| found.push((offset, line.to_vec())));
    }
    (found, lines.consumed())
}

#[test]
fn lines_end_at_newlines_only_and_the_rest_waits() {
    let (lines, consumed) = cut(&[b"ab\nc", b"d", b"e\xe2\x80\xa8f\n\ng"]);
    let expected: Vec<(u64, Vec<u8>)> =
        vec![(0, b"ab\n".to_vec()), (3, b"cde\xe2\x80\xa8f\n".to_vec()), (11, b"\n".to_vec())];
    assert_eq!(lines, expected);
    assert_eq!(consumed, 12);
}

#[test]
fn padding_is_trimmed_and_the_front_is_counted() {
    assert_eq!(trim(b"\xef\xbb\xbf{}\r\n"), (3, b"{}".as_slice()));
    assert_eq!(trim(b"\0\0 {} \0\0\n"), (3, b"{}".as_slice()));
    assert_eq!(trim(b"\0\0\0").1, b"");
}

#[test]
fn a_peek_sees_top_level_keys_in_any_order() {
    let line =
        br#"{"message":{"type":"inner","uuid":"no"},"x":["}",{"a":"\\\""}],"uuid":"u","ordinal":12,"type":"outer"}"#;
    let found = peek(line, |_| false).unwrap();
    assert_eq!(found.kind, Some(b"outer".as_slice()));
    assert_eq!(found.uuid, Some(b"u".as_slice()));
    assert_eq!(found.ordinal, Some(b"12".as_slice()));
    assert_eq!(found.timestamp, None);
}

#[test]
fn a_peek_wants_one_whole_object() {
    for broken in ["", "[]", "42", "{", r#"{"a":1"#, r#"{"a":1}{"b":2}"#, r#"{"a":}"#, r#"{"a" 1}"#, r#"{"type":"a"#] {
        assert_eq!(peek(broken.as_bytes(), |_| false), None, "{broken}");
    }
    assert!(peek(b"{ }", |_| false).is_some());
    // What it was looking for stands before the break: the parse will find that.
    assert!(peek(br#"{"type":"user","x"#, |kind| kind == b"user").is_some());
}

#[test]
fn values_end_where_their_nesting_does() {
    assert_eq!(value_end(br#"{"a":"}\\"}{"b""#), Some(11));
    assert_eq!(value_end(b"42 "), Some(2));
    assert_eq!(value_end(br#"{"a":["#), None);
    assert_eq!(next_beginning(br#"{"type":"a","b{"type":"c"}"#, 1), Some(14));
}
