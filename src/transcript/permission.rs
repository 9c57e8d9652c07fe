//! Whether an agent asks before it acts, as the end of its transcript and its settings tell. Which bytes are read is the
//! caller's affair.

use serde::Deserialize;

use crate::model::ids::Agent;
use crate::model::session::{Asks, Permission};

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
            Agent::Codex => line
                .payload?
                .approval_policy
                .map(|mode| Permission { asks: if mode == "never" { Asks::Never } else { Asks::Commands }, mode }),
        }
    })
}

/// `acceptEdits` still asks before commands that no rule allows.
fn claude_asks(mode: &str) -> Asks {
    match mode {
        "bypassPermissions" | "dontAsk" => Asks::Never,
        "acceptEdits" => Asks::Commands,
        _ => Asks::Edits,
    }
}

/// A file of Claude's settings, as far as it says what is allowed.
#[derive(Deserialize)]
struct Settings {
    #[serde(default)]
    permissions: Rules,
}

/// Rules like `Bash`, `Bash(cargo test:*)`, `Edit`.
#[derive(Default, Deserialize)]
struct Rules {
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
}

impl Permission {
    /// The same with what the rules of Claude's settings allow; what is no such file says nothing.
    ///
    /// In a mode that plans, or that asks a server each time, rules do not end the questions.
    #[must_use]
    pub fn with_rules(self, settings: &[Vec<u8>]) -> Self {
        if !matches!(self.mode.as_str(), "default" | "manual" | "acceptEdits") {
            return self;
        }
        let files: Vec<Rules> = settings
            .iter()
            .filter_map(|file| Some(serde_json::from_slice::<Settings>(file).ok()?.permissions))
            .collect();
        let allowed = || files.iter().flat_map(|rules| &rules.allow);
        let whole = |tool: &str| allowed().any(|rule| covers(rule, tool));
        let asks_anyway = files.iter().flat_map(|rules| &rules.ask).any(|rule| tool_of(rule) == "Bash");
        let edits = self.mode == "acceptEdits" || (whole("Edit") && whole("Write"));
        let asks = match (edits, whole("Bash"), asks_anyway) {
            (false, ..) => Asks::Edits,
            (true, true, false) => Asks::Never,
            (true, ..) if allowed().any(|rule| tool_of(rule) == "Bash") => Asks::SomeCommands,
            (true, ..) => Asks::Commands,
        };
        Self { asks, ..self }
    }
}

/// `Bash` of `Bash(cargo test:*)`.
fn tool_of(rule: &str) -> &str {
    rule.split('(').next().unwrap_or(rule).trim()
}

/// Whether a rule allows every use of a tool.
fn covers(rule: &str, tool: &str) -> bool {
    let every = rule.trim().strip_prefix(tool).map(str::trim);
    matches!(every, Some("" | "(*)" | "(:*)" | "(**)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(agent: Agent, tail: &str) -> Option<(String, Asks)> {
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
        assert_eq!(mode(Agent::Claude, claude), Some(("acceptEdits".to_owned(), Asks::Commands)));
        let free = "{\"type\":\"user\",\"permissionMode\":\"bypassPermissions\"}\n";
        assert_eq!(mode(Agent::Claude, free), Some(("bypassPermissions".to_owned(), Asks::Never)));
        let codex = concat!(
            "{\"type\":\"turn_context\",\"payload\":{\"approval_policy\":\"on-request\"}}\n",
            "{\"type\":\"turn_context\",\"payload\":{\"approval_policy\":\"never\"}}\n",
            "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\"}}\n",
        );
        assert_eq!(mode(Agent::Codex, codex), Some(("never".to_owned(), Asks::Never)));
    }

    #[test]
    fn rules_of_the_settings_end_the_questions_they_allow() {
        let with = |mode: &str, files: &[&str]| {
            let files: Vec<Vec<u8>> = files.iter().map(|file| file.as_bytes().to_vec()).collect();
            Permission { mode: mode.to_owned(), asks: claude_asks(mode) }.with_rules(&files).asks
        };
        let bash = r#"{"permissions":{"allow":["Bash","Read"]}}"#;
        let some = r#"{"permissions":{"allow":["Bash(cargo test:*)"]},"model":"m"}"#;
        let edits = r#"{"permissions":{"allow":["Edit","Write(*)"]}}"#;
        let asks = r#"{"permissions":{"ask":["Bash(git push:*)"]}}"#;
        assert_eq!(with("acceptEdits", &[]), Asks::Commands);
        assert_eq!(with("acceptEdits", &["not json", "[]", "{}"]), Asks::Commands);
        assert_eq!(with("acceptEdits", &["{}", bash]), Asks::Never);
        assert_eq!(with("acceptEdits", &[some]), Asks::SomeCommands);
        assert_eq!(with("acceptEdits", &[bash, asks]), Asks::SomeCommands);
        assert_eq!(with("default", &[bash]), Asks::Edits);
        assert_eq!(with("default", &[bash, edits]), Asks::Never);
        assert_eq!(with("plan", &[bash, edits]), Asks::Edits);
        assert_eq!(with("dontAsk", &[some]), Asks::Never);
    }

    #[test]
    fn what_names_no_mode_says_nothing() {
        for tail in ["", "\n\n", "{\"payload\":7}\n", "[1]\n", "not json"] {
            assert_eq!(mode(Agent::Claude, tail), None);
            assert_eq!(mode(Agent::Codex, tail), None);
        }
    }
}
