//! What is kept of records, and that the readers see no difference.

use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is asked for its fields")]
struct Shape {
    first: u8,
    second_one: u8,
    #[serde(rename = "type")]
    kind: u8,
}

fn keep() -> Keep {
    let inner = Keep::fields::<Shape>();
    Keep::fields::<Shape>().but("secondOne", Keep::each(inner))
}

fn cut(record: &str) -> String {
    String::from_utf8(Cutter::default().cut(record.as_bytes(), &keep()).to_vec()).unwrap()
}

#[test]
fn the_fields_of_a_shape_are_kept_and_no_others() {
    let record = json!({
        "other": {"first": 1, "type": ["}", "\"", "\\"]},
        "first": {"whole": [1, {"other": true}]},
        "secondOne": [{"first": 1, "other": "x"}, 7, [{"other": 1}], {}],
        "type": "\"other\":1,",
        "last": [],
    });
    let kept: Value = serde_json::from_str(&cut(&record.to_string())).unwrap();
    let wanted = json!({
        "first": {"whole": [1, {"other": true}]},
        "secondOne": [{"first": 1}, 7, [{"other": 1}], {}],
        "type": "\"other\":1,",
    });
    assert_eq!(kept, wanted);
}

#[test]
fn blanks_and_keys_that_are_written_in_another_way_do_no_harm() {
    assert_eq!(cut("{ }"), "{}");
    assert_eq!(cut("{ \"other\" : [ ] ,\t\"first\" : { } , \"secondOne\" : [ ] }"), "{\"first\":{ },\"secondOne\":[]}");
    assert_eq!(cut("{\"t\\u0079pe\":1,\"other\":2}"), "{\"t\\u0079pe\":1}");
    assert_eq!(
        cut("{\"first\":1,\"other\":2,\"first\":3}"),
        "{\"first\":1,\"first\":3}",
        "the last one counts elsewhere"
    );
}

#[test]
fn what_is_not_one_whole_object_comes_back_as_it_is() {
    let broken = [
        "",
        "7",
        "[1]",
        "{",
        "{\"first\":1",
        "{\"first\":1}}",
        "{\"first\":1}{\"first\":2}",
        "{\"first\":1,}",
        "{\"first\"}",
        "{\"first\":}",
        "{\"other\":tru}",
        "{\"other\":[1,]}",
        "{\"other\":[1 2]}",
        "{\"other\":{\"a\":1,}}",
        "{\"other\":{\"a\"}}",
        "{\"other\":{1:2}}",
        "{\"other\":[1}}",
        // A torn record with a whole one glued to it.
        "{\"other\":\"torn {\"first\":1,\"type\":2}",
        "{\"other\":{\"a\":\"torn {\"first\":1,\"type\":2}}",
    ];
    for record in broken {
        assert_eq!(cut(record), record);
    }
}

#[test]
fn what_is_left_out_may_go_as_deep_as_it_likes() {
    let deep = format!("{{\"other\":{}1{},\"first\":2}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(cut(&deep), "{\"first\":2}");
}

#[test]
fn a_record_of_which_very_much_is_kept_is_not_copied() {
    let text = "x".repeat(MOST);
    let record = format!("{{\"other\":1,\"first\":\"{text}\"}}");
    let mut cutter = Cutter::default();
    assert_eq!(cutter.cut(record.as_bytes(), &keep()).len(), record.len());
    assert!(cutter.kept.capacity() <= MOST);
    let record = format!("{{\"other\":\"{text}\",\"first\":1}}");
    assert_eq!(cutter.cut(record.as_bytes(), &keep()), b"{\"first\":1}");
}
