//! Tests of `agent::codex::queue`.

#![expect(clippy::disallowed_methods, reason = "a test writes files of its own")]

use super::*;

fn queue(rows: &[(&str, &str, &str)]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let connection = Connection::open(home.path().join(DATABASE)).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE queued_items(id TEXT, thread_id TEXT, payload_json TEXT, queue_order INTEGER, \
             created_at_ms INTEGER, updated_at_ms INTEGER)",
        )
        .unwrap();
    for (id, thread, payload) in rows {
        connection
            .execute("INSERT INTO queued_items(id, thread_id, payload_json) VALUES (?1, ?2, ?3)", (id, thread, payload))
            .unwrap();
    }
    home
}

fn entry(text: &str, queue_id: Option<&str>) -> InFlight {
    InFlight { text: text.into(), queue_id: queue_id.map(ToOwned::to_owned), ..InFlight::default() }
}

#[test]
fn the_printed_line_gives_the_id() {
    assert_eq!(queued_id("Queued message q-1 for thread t.\n"), Some(String::from("q-1")));
    assert_eq!(queued_id("queued"), None);
}

#[test]
fn a_row_is_found_by_its_id_or_else_by_its_text() {
    let payload = r#"{"input":[{"type":"text","text":"look at\nthis"}]}"#;
    let home = queue(&[("q-1", "t", payload)]);
    let thread = SessionId::new("t");
    assert_eq!(on_its_way(home.path(), &thread, &entry("any", Some("q-1"))), OnItsWay::Queued);
    assert_eq!(on_its_way(home.path(), &thread, &entry("any", Some("q-2"))), OnItsWay::No);
    assert_eq!(on_its_way(home.path(), &thread, &entry("look at this", None)), OnItsWay::Queued);
    assert_eq!(on_its_way(home.path(), &thread, &entry("look at", None)), OnItsWay::No);
    assert_eq!(on_its_way(home.path(), &SessionId::new("u"), &entry("look at this", None)), OnItsWay::No);
}

#[test]
fn what_cannot_be_read_is_unknown_and_what_never_was_is_empty() {
    let home = tempfile::tempdir().unwrap();
    let thread = SessionId::new("t");
    assert_eq!(on_its_way(home.path(), &thread, &entry("x", None)), OnItsWay::No);
    std::fs::write(home.path().join(DATABASE), "no database at all, only text that is long enough").unwrap();
    assert!(matches!(on_its_way(home.path(), &thread, &entry("x", None)), OnItsWay::Unknown(_)));
    let gone = home.path().join("gone");
    assert!(matches!(on_its_way(&gone, &thread, &entry("x", None)), OnItsWay::Unknown(_)));
}

#[test]
fn a_text_that_begins_with_a_dash_is_still_a_text() {
    assert_eq!(arguments(&SessionId::new("t"), "-x")[2], "--message=-x");
}
