//! Which Codex sub-agents live. Their own threads are other files.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use crate::transcript::loose;

/// The sub-agents of a thread.
#[derive(Debug, Default)]
pub(super) struct Agents(BTreeSet<String>);

impl Agents {
    pub(super) fn alive(&self) -> usize {
        self.0.len()
    }

    /// A tool that deals with agents was called: whom it named, and how each of them is.
    pub(super) fn told(&mut self, tool: Option<&str>, receivers: Option<&RawValue>, states: Option<&RawValue>) {
        match tool {
            Some("spawn_agent" | "send_input" | "resume_agent") => self.0.extend(loose::elements::<String>(receivers)),
            Some("close_agent") => {
                for agent in loose::elements::<String>(receivers) {
                    self.0.remove(&agent);
                }
            }
            _ => {}
        }
        let states: BTreeMap<String, &RawValue> = loose::inner(states).unwrap_or_default();
        for (agent, state) in states {
            if !["pending_init", "running"].iter().any(|alive| state.get().contains(alive)) {
                self.0.remove(&agent);
            }
        }
    }

    /// A `<subagent_notification>` came in. It is sent when an agent is through.
    pub(super) fn notified(&mut self, text: &str) {
        self.0.retain(|agent| !text.contains(agent.as_str()));
    }
}
