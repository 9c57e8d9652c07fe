//! Tests of `agent::headless::signs`: whose words name a session.

use super::*;
use crate::model::ids::SessionId;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn words_tell_who_runs_a_session_and_whether_a_person_does() {
    let key = |agent| SessionKey { agent, session_id: SessionId::new("u-1") };
    let claude = [
        ("claude -p --resume u-1 --permission-mode acceptEdits", Some(true)),
        ("node /x/claude.js --print --session-id=u-1", Some(true)),
        ("claude --resume u-1", Some(false)),
        ("claude -r u-1 hello", Some(false)),
        ("claude -p --resume u-2 u-1", None),
        ("claude -p u-1", None),
        ("vim u-1", None),
        ("trellis session reach claude:u-1 headless", None),
    ];
    for (line, wanted) in claude {
        assert_eq!(runs_alone(&key(Agent::Claude), &words(line)), wanted, "{line}");
    }
    let codex = [
        ("codex exec --sandbox read-only resume --json u-1 -", Some(true)),
        ("node /x/codex exec resume u-1 hello", Some(true)),
        ("codex resume u-1", Some(false)),
        ("codex queue --thread u-1 --message x", None),
        ("codex exec resume u-2 -", None),
        ("less u-1", None),
    ];
    for (line, wanted) in codex {
        assert_eq!(runs_alone(&key(Agent::Codex), &words(line)), wanted, "{line}");
    }
}
