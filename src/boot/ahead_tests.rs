//! What is seen of two sides before a run, in folders of their own.

use std::fs;

use super::*;
use crate::model::ids::{SessionId, SessionRef};
use crate::model::session::Asks;

#[test]
#[expect(clippy::disallowed_methods, reason = "an agent's own files, as an agent writes them")]
fn the_rules_of_the_person_and_of_the_work_tree_count() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("home/projects/-shop/c-1.jsonl");
    fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    fs::create_dir_all(folder.path().join("shop/.claude")).unwrap();
    fs::write(&transcript, "{\"permissionMode\":\"acceptEdits\"}\n").unwrap();
    let worktree = folder.path().join("shop").display().to_string();
    let session = SessionRef { agent: Agent::Claude, worktree, session_id: SessionId::from("c-1") };
    let side = Side { session, path: transcript.display().to_string() };
    let asks = || look(&side).permission.unwrap().asks;
    assert_eq!(asks(), Asks::Commands);
    let rules = |words: &str| format!("{{\"permissions\":{{\"allow\":[\"{words}\"]}}}}");
    fs::write(folder.path().join("shop/.claude/settings.local.json"), rules("Bash(make:*)")).unwrap();
    assert_eq!(asks(), Asks::SomeCommands);
    fs::write(folder.path().join("home/settings.json"), rules("Bash")).unwrap();
    assert_eq!(asks(), Asks::Never);
}

#[test]
fn a_transcript_that_is_not_there_says_nothing() {
    let session =
        SessionRef { agent: Agent::Claude, worktree: "/nowhere/at/all".to_owned(), session_id: SessionId::from("c-1") };
    let seen = look(&Side { session, path: "/nowhere/at/all.jsonl".to_owned() });
    assert_eq!((seen.permission, seen.uncommitted), (None, None));
}
