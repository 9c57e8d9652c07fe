//! Whether an agent asks before it acts, as the end of its transcript tells. Which bytes are read is the caller's affair.

use serde::Deserialize;

use crate::model::ids::Agent;
use crate::model::session::Permission;

/// The fields of either dialect that name a mode.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "permissionMode")]
    claude: Option<String>,
    payload: Option<Payload>,
}

#[derive(Deserialize)]
struct Payload {
    approval_policy: Option<String>,
}

/// The newest mode that the last bytes of a transcript name; they may begin anywhere in a line.
///
/// Claude writes `permissionMode` into each prompt and into a record of its own when it is changed; Codex writes
/// `approval_policy` into the `turn_context` of each turn.
#[must_use]
pub fn newest(agent: Agent, tail: &[u8]) -> Option<Permission> {
    tail.split(|byte| *byte == b'\n').rev().find_map(|line| {
        let line: Line = serde_json::from_slice(line).ok()?;
        match agent {
            Agent::Claude => line.claude.map(|mode| Permission { asks: claude_asks(&mode), mode }),
            Agent::Codex => line.payload?.approval_policy.map(|mode| Permission { asks: mode != "never", mode }),
        }
    })
}

/// `acceptEdits` still asks before commands that no rule allows.
fn claude_asks(mode: &str) -> bool {
    !matches!(mode, "bypassPermissions" | "dontAsk")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(agent: Agent, tail: &str) -> Option<(String, bool)> {
        newest(agent, tail.as_bytes()).map(|permission| (permission.mode, permission.asks))
    }

    #[test]
    fn the_newest_mode_counts_whatever_stands_behind_it() {
        let claude = concat!(
            "sionMode\":\"plan\"}\n",
            "{\"type\":\"user\",\"permissionMode\":\"default\"}\n",
            "{\"type\":\"permission-mode\",\"permissionMode\":\"acceptEdits\"}\n",
            "{\"type\":\"assistant\"}\n",
            "{\"type\":\"us",
        );
        assert_eq!(mode(Agent::Claude, claude), Some(("acceptEdits".to_owned(), true)));
        let free = "{\"type\":\"user\",\"permissionMode\":\"bypassPermissions\"}\n";
        assert_eq!(mode(Agent::Claude, free), Some(("bypassPermissions".to_owned(), false)));
        let codex = concat!(
            "{\"type\":\"turn_context\",\"payload\":{\"approval_policy\":\"on-request\"}}\n",
            "{\"type\":\"turn_context\",\"payload\":{\"approval_policy\":\"never\"}}\n",
            "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\"}}\n",
        );
        assert_eq!(mode(Agent::Codex, codex), Some(("never".to_owned(), false)));
    }

    #[test]
    fn what_names_no_mode_says_nothing() {
        for tail in ["", "\n\n", "{\"payload\":7}\n", "[1]\n", "not json"] {
            assert_eq!(mode(Agent::Claude, tail), None);
            assert_eq!(mode(Agent::Codex, tail), None);
        }
    }
}
