//! Tests of `agent::codex`.

use super::*;

#[test]
fn a_thread_that_nobody_holds_is_gone() {
    let mut session = CodexSession::new(SessionId::new("no-such-thread"));
    let home = tempfile::tempdir().unwrap();
    let settings = Settings { codex_home: home.path().to_owned(), ..Settings::default() };
    let entry = InFlight { text: "hello".into(), ..InFlight::default() };
    let reach = session.probe(&settings, Some(&entry));
    assert_eq!(reach.process, ProcessFact::Dead);
    assert_eq!(reach.transport, None);
    assert_eq!(reach.on_its_way, OnItsWay::No);
}

/// A thread outlives its terminal in Codex's background server: where it is then says so.
#[test]
fn a_thread_in_the_background_server_alone_says_so() {
    assert_eq!(server_place(true), "codex's background server, its pane is gone");
    assert_eq!(server_place(false), "codex's background server, in no pane that names it");
}
