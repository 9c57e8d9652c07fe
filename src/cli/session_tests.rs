//! The list of sessions: who comes first, who is only counted, and which ids it names.

use super::*;
use crate::model::ids::{Agent, SessionRef};
use crate::model::session::StateFact;

const NOW: i64 = 1_764_500_000;

fn view(id: &str, hours: i64, live: bool, state: SessionState) -> SessionView {
    let session = SessionRef { agent: Agent::Claude, worktree: "/src/shop".to_owned(), session_id: id.into() };
    SessionView {
        session,
        title: "Add search".into(),
        state,
        fact: StateFact::default(),
        active_at: Timestamp::from_second(NOW - hours * 3_600).ok(),
        transport: None,
        place: if live { "%1".to_owned() } else { String::new() },
        live,
        used_by: None,
        put_away: false,
        branch: None,
        last_words: "".into(),
        path: "".into(),
        agent: Agent::Claude,
        launch: None,
    }
}

#[test]
fn sessions_have_their_ids_and_older_ones_are_counted() {
    let sessions = [
        view("aa-1", 300, true, SessionState::Idle),
        view("bb-2", 2, false, SessionState::NotLooked),
        view("cc-3", 300, false, SessionState::Gone),
    ];
    let views: Vec<&SessionView> = sessions.iter().collect();
    let lines = lines(&views, Timestamp::from_second(NOW).unwrap());
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(
        lines[0].starts_with("claude:aa-1  idle") && lines[0].contains("%1  /src/shop  “Add search”"),
        "{lines:#?}"
    );
    assert!(lines[1].starts_with("claude:bb-2  not looked at"), "{lines:#?}");
    assert_eq!(lines[2], "1 session of more than 7 days ago; --json names all");
}
