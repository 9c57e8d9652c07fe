//! Tests of `agent::codex`.

use super::*;

#[test]
fn a_rollout_and_a_lock_name_their_thread() {
    let id = "01a22c51-bdd5-7832-83d9-7462b0edeeff";
    let rollout = format!("/h/.codex/sessions/2026/11/30/rollout-2026-11-30T11-58-04-{id}.jsonl");
    let lock = format!("/h/.codex/thread-writer-locks/{id}.lock");
    let wanted = Some((PathBuf::from("/h/.codex"), SessionId::new(id)));
    assert_eq!(thread_of(Path::new(&rollout)), wanted);
    assert_eq!(thread_of(Path::new(&lock)), wanted);
    assert_eq!(thread_of(Path::new("/h/.codex/state_5.sqlite")), None);
    assert_eq!(thread_of(Path::new("/h/other/x.lock")), None);
    assert_eq!(thread_of(Path::new("/h/sessions/rollout-short.jsonl")), None);
}

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
