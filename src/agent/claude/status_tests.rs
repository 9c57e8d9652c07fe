//! Tests of `agent::claude::status`.

#![expect(clippy::disallowed_methods, reason = "a test writes files of its own")]

use super::*;

fn file(extra: &str) -> StatusFile {
    serde_json::from_str(&format!(r#"{{"pid":{},"sessionId":"s1"{extra}}}"#, std::process::id())).unwrap()
}

fn own() -> Process {
    os::process(std::process::id()).unwrap()
}

#[test]
fn words_of_state() {
    assert_eq!(file("").live(), LiveStatus::Silent);
    assert_eq!(file(r#","status":"idle""#).live(), LiveStatus::Idle);
    assert_eq!(file(r#","status":"shell""#).live(), LiveStatus::Idle, "a background shell leaves it idle");
    assert_eq!(file(r#","status":"busy""#).live(), LiveStatus::Busy);
    let waiting = file(r#","status":"waiting","waitingFor":"permission prompt""#);
    assert_eq!(waiting.live(), LiveStatus::Waiting { what: String::from("permission prompt") });
    assert_eq!(file(r#","status":"dreaming","new":{"a":1}"#).live(), LiveStatus::Silent);
}

#[test]
fn a_left_over_of_an_earlier_process_with_the_same_pid_is_not_its() {
    let own = own();
    assert!(file(&format!(r#","procStart":"{}""#, own.start_mark)).is_of(&own));
    assert!(!file(r#","procStart":"1""#).is_of(&own));
    let started = own.started_at.unwrap().as_millisecond();
    assert!(file(&format!(r#","startedAt":{}"#, started + 900)).is_of(&own));
    assert!(!file(&format!(r#","startedAt":{}"#, started - 3_600_000)).is_of(&own));
}

#[test]
fn only_whole_files_of_live_processes_count_and_keys_are_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let sessions = home.path().join("sessions");
    std::fs::create_dir(&sessions).unwrap();
    let put = |name: &str, text: &str| std::fs::write(sessions.join(name), text).unwrap();
    let pid = std::process::id();
    put(&format!("{pid}.json"), &format!(r#"{{"pid":{pid},"sessionId":"s1","status":"idle"}}"#));
    put("4194999.json", r#"{"pid":4194999,"sessionId":"s2","status":"idle"}"#);
    put(&format!("{pid}.abc.key"), "secret");
    let all = Statuses::read(home.path()).unwrap();
    assert_eq!(all.live_on(&SessionId::new("s1")).len(), 1);
    assert!(all.live_on(&SessionId::new("s2")).is_empty(), "left over after a kill");
    assert_eq!(all.torn(), None);

    put(&format!("{pid}.json"), r#"{"pid":4"#);
    let all = Statuses::read(home.path()).unwrap();
    assert!(all.live().is_empty());
    assert!(all.torn().is_some());
    assert!(Statuses::read(&home.path().join("none")).unwrap().live().is_empty());
}

#[test]
fn what_is_no_ordinary_file_holds_nothing_up() {
    let home = tempfile::tempdir().unwrap();
    let sessions = home.path().join("sessions");
    std::fs::create_dir(&sessions).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, sessions.join("5.json"), rustix::fs::Mode::RWXU).unwrap();
    std::os::unix::fs::symlink("/dev/zero", sessions.join("6.json")).unwrap();
    let all = Statuses::read(home.path()).unwrap();
    assert!(all.live().is_empty());
    assert_eq!(all.torn(), None, "nothing is waited for");
}
