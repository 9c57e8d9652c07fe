//! Which thread a title means, with titles as Codex 0.171.0 sets them.
#![expect(clippy::disallowed_methods, reason = "the tests write what Codex writes")]

use super::*;

const REPO: &str = "/w/repo";

fn told(id: &str, name: Option<&str>) -> Told {
    Told { id: SessionId::new(id), name: name.map(str::to_owned), folder: Some(REPO.to_owned()) }
}

fn shown(title: &str, told: &[Told]) -> Option<String> {
    Title::of(title, REPO)?.thread(told, REPO).map(|id| id.to_string())
}

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
fn a_title_names_the_thread_that_a_person_sees() {
    let name = "You are the reviewer of this project. Please reply READY.";
    let all = [told("old", Some(name)), told("new", Some("hello again")), told("fresh", None)];
    for title in [
        "You are the reviewer of this project. Please ... | repo",
        "⠧ You are the reviewer of this project. Please ... | repo",
        "[ ! ] Action Required | You are the reviewer of this project. Please ... | repo",
        "[ . ] Action Required | You are the reviewer of this project. Please ... | repo",
    ] {
        assert_eq!(shown(title, &all).as_deref(), Some("old"), "{title}");
    }
    assert_eq!(shown("hello again | repo", &all).as_deref(), Some("new"));
    assert_eq!(shown("repo", &all).as_deref(), Some("fresh"));
    // A title that is not Codex's, another folder's, or one that several threads fit, says nothing.
    for title in ["vm", "my window", "hello again | elsewhere", "other | repo", "", " | repo"] {
        assert_eq!(shown(title, &all), None, "{title}");
    }
    assert_eq!(
        shown("hello again | repo", &[told("one", Some("hello again")), told("two", Some("hello again"))]),
        None
    );
    let there = Told { folder: Some("/w/other".to_owned()), ..told("there", Some("hello again")) };
    assert_eq!(shown("hello again | repo", &[told("here", Some("hello again")), there]).as_deref(), Some("here"));
}

#[test]
fn an_open_approval_is_seen_in_both_blinks_of_its_title() {
    assert!(asks("[ ! ] Action Required | Please escalate now. | repo"));
    assert!(asks("[ . ] Action Required | Please escalate now. | repo"));
    assert!(!asks("Action Required: read the notes | repo"));
    assert!(!asks("⠧ hello again | repo"));
}

#[test]
fn threads_of_sub_agents_are_no_conversations() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("sessions/2026/11/30");
    std::fs::create_dir_all(&folder).unwrap();
    let thread = |id: &str, kind: &str| {
        let rollout = folder.join(format!("rollout-2026-11-30T11-58-04-{id}.jsonl"));
        let meta = serde_json::json!({"timestamp": "2026-11-30T11:58:04Z", "type": "session_meta", "payload": {
            "id": id, "cwd": REPO, "thread_source": kind, "cli_version": "0.171.0", "timestamp": "2026-11-30T11:58:04Z",
        }});
        std::fs::write(&rollout, format!("{meta}\n")).unwrap();
        Thread { id: SessionId::new(id), rollout: Some(rollout) }
    };
    let threads = vec![thread("main", "user"), thread("sub", "subagent")];
    let names = "{\"id\":\"main\",\"thread_name\":\"First\"}\n{\"id\":\"main\",\"thread_name\":\"Now\"}\n{\"id\":\"ma";
    std::fs::write(home.path().join("session_index.jsonl"), names).unwrap();
    let process = os::process(std::process::id()).unwrap();
    let holder = Holder { process, threads, codex_home: home.path().to_owned(), is_daemon: false };
    assert_eq!(holder.conversations(), [told("main", Some("Now"))]);
}

#[test]
fn a_thread_has_begun_once_it_has_a_rollout_open_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let id = SessionId::new("01a22dc2-060f-7d71-9d48-22dd8c7f6f12");
    let thread = Thread { id: id.clone(), rollout: None };
    let process = os::process(std::process::id()).unwrap();
    let codex_home = folder.path().to_owned();
    let mut holder = Holder { process, threads: vec![thread], codex_home, is_daemon: false };
    assert!(!holder.has_begun(&id), "its lock alone: `codex queue` finds no rollout");
    let day = folder.path().join("sessions/2026/03/01");
    std::fs::create_dir_all(&day).unwrap();
    std::fs::write(day.join("rollout-2026-03-01T12-00-00-other.jsonl"), "").unwrap();
    assert!(!holder.has_begun(&id));
    let rollout = day.join(format!("rollout-2026-03-01T12-00-00-{id}.jsonl"));
    std::fs::write(&rollout, "").unwrap();
    assert!(holder.has_begun(&id), "opened again, and no message yet");
    std::fs::remove_file(&rollout).unwrap();
    holder.threads[0].rollout = Some(rollout);
    assert!(holder.has_begun(&id));
}
