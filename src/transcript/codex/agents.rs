//! Which Codex sub-agents live. Their own threads are other files.

use std::borrow::Cow;
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
            Some("spawn_agent" | "send_input" | "resume_agent") => {
                self.0.extend(loose::strings(receivers).into_iter().map(Cow::into_owned));
            }
            Some("close_agent") => {
                for agent in loose::strings(receivers) {
                    self.0.remove(agent.as_ref());
                }
            }
            _ => {}
        }
        let states: BTreeMap<String, &RawValue> = loose::object(states).unwrap_or_default();
        for (agent, state) in states {
            if !is_alive(state) {
                self.0.remove(&agent);
            }
        }
    }

    /// A `<subagent_notification>` came in. It is sent when an agent is through.
    pub(super) fn notified(&mut self, text: &str) {
        self.0.retain(|agent| !text.contains(agent.as_str()));
    }
}

/// A state is a word, or an object whose key is the word and whose value is what the agent said last.
fn is_alive(state: &RawValue) -> bool {
    let object: Option<BTreeMap<String, &RawValue>> = loose::object(Some(state));
    let word = loose::string(Some(state)).map(Cow::into_owned);
    let word = word.or_else(|| object.and_then(|object| object.into_keys().next()));
    matches!(word.as_deref(), Some("pending_init" | "running"))
}
