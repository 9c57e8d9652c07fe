//! Lone surrogates, bad bytes and content of either shape.

use serde_json::value::RawValue;

use super::{as_text, content_text, string, strings};

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

#[test]
fn half_a_surrogate_pair_becomes_a_replacement_character() {
    let cases = [
        (r#""a\ud800b""#, "a\u{fffd}b"),
        (r#""\udc00""#, "\u{fffd}"),
        (r#""\ud83d\ude00""#, "😀"),
        (r#""\ud83d\ud83d\ude00\ud83d""#, "\u{fffd}😀\u{fffd}"),
        (r#""\\ud800""#, "\\ud800"),
        (r#""\ud800\n\uD800""#, "\u{fffd}\n\u{fffd}"),
        (r#""\u00e9""#, "é"),
    ];
    for (json, text) in cases {
        let mended = as_text(json.as_bytes());
        assert_eq!(serde_json::from_str::<String>(&mended).unwrap(), text, "{json}");
    }
    // Not JSON at all, but it must not run away.
    for broken in [r"\u", r"\ud8", "\\", r"\ud800"] {
        let _ = as_text(broken.as_bytes());
    }
}

#[test]
fn bad_bytes_become_replacement_characters() {
    assert_eq!(as_text(b"\"\xc3\x28\""), "\"\u{fffd}(\"");
}

#[test]
fn content_is_a_string_or_a_list_with_texts() {
    assert_eq!(content_text(Some(&raw(r#""a\nb""#))).unwrap(), "a\nb");
    let list =
        raw(r#"[{"type":"text","text":"a"},7,null,{"type":"image"},{"type":"input_text","text":"b"},{"text":3}]"#);
    assert_eq!(content_text(Some(&list)).unwrap(), "a\nb");
    assert_eq!(content_text(Some(&raw("{}"))), None);
    assert_eq!(string(Some(&raw("[1]"))), None);
    assert_eq!(strings(Some(&raw(r#"["a",1,"b"]"#))), ["a", "b"]);
}
