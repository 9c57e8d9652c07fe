//! The settings of pairs and runs, with their defaults (`loops.md` §4.1, §5.1).
//! Filling placeholders is here; checking a whole creation is the machines'.

use serde::{Deserialize, Serialize};

/// What a near miss of the stop signal leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NearMissRule {
    /// The reviewer is asked once.
    #[default]
    Ask,
    /// The person decides.
    Wait,
    /// It is feedback.
    Feedback,
}

/// Settings of a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PairConfig {
    /// Stands before the answer that goes to the reviewer; `{stop_signal}` is filled in.
    pub review_prompt: String,
    /// Stands before the answer that goes to the implementer.
    pub feedback_prompt: String,
    /// The word of approval.
    pub stop_signal: String,
    /// Relays at most; at least 1.
    pub max_rounds: u32,
    /// A person looks at each relay first.
    pub confirm_before_relay: bool,
    /// What a near miss leads to.
    pub near_miss: NearMissRule,
    /// Asks the reviewer about a near miss; `{stop_signal}` is filled in.
    pub clarify_prompt: String,
    /// Lets a stopped turn go on.
    pub continue_prompt: String,
    /// Go on by itself when a limit's known end has come.
    pub resume_after_limit: bool,
    /// Quiet time in milliseconds before a side counts as idle.
    pub debounce: u64,
    /// Unknown settings are kept.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// Default of `clarify_prompt`.
pub const CLARIFY_PROMPT: &str = "Is this an approval? If it is, reply with {stop_signal} on its own line and nothing else; otherwise say what is missing.";
/// Default of `continue_prompt`.
pub const CONTINUE_PROMPT: &str = "Go on where you stopped; the message before this one still stands.";
/// Default of a pair's `review_prompt`.
pub const PAIR_REVIEW_PROMPT: &str = "Review this. If it is good, reply with {stop_signal} on its own line.";
/// Default of `feedback_prompt`.
pub const FEEDBACK_PROMPT: &str = "Feedback:";
/// Default of a run's `advance_prompt`.
pub const ADVANCE_PROMPT: &str = "Implement the next phase from the checklist. Make only the changes for that one phase, then stop and wait for review.\nIf there are no phases left to implement, reply with exactly {completion_signal} on its own line and nothing else.";
/// Default of a run's `review_prompt`.
pub const RUN_REVIEW_PROMPT: &str = "Review the implementer's work on the current phase. If it fully and correctly satisfies that phase, reply with\n{review_stop_signal} on its own line. Otherwise, give specific, actionable feedback.";

impl Default for PairConfig {
    fn default() -> Self {
        Self {
            review_prompt: PAIR_REVIEW_PROMPT.to_owned(),
            feedback_prompt: FEEDBACK_PROMPT.to_owned(),
            stop_signal: "LGTM".to_owned(),
            max_rounds: 10,
            confirm_before_relay: false,
            near_miss: NearMissRule::Ask,
            clarify_prompt: CLARIFY_PROMPT.to_owned(),
            continue_prompt: CONTINUE_PROMPT.to_owned(),
            resume_after_limit: true,
            debounce: 2_000,
            extra: serde_json::Map::new(),
        }
    }
}

/// Which answer is the first phase of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstPhase {
    /// The implementer's next answer (a turn that runs at the start counts).
    #[default]
    Next,
    /// Its newest completed answer, reviewed now.
    Current,
    /// The phase prompt goes out at once.
    Ask,
}

/// Settings of a checklist run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunConfig {
    /// For people.
    pub name: String,
    /// Asks for the next phase; `{completion_signal}` is filled in.
    pub advance_prompt: String,
    /// The implementer's word that no phase is left.
    pub completion_signal: String,
    /// Stands before the answer that goes to the reviewer; `{review_stop_signal}` is filled in.
    pub review_prompt: String,
    /// Stands before the answer that goes to the implementer.
    pub feedback_prompt: String,
    /// The reviewer's word of approval.
    pub review_stop_signal: String,
    /// Relays at most per attempt; at least 1.
    pub max_rounds: u32,
    /// A person looks at each relay first.
    pub confirm_before_relay: bool,
    /// What a near miss leads to.
    pub near_miss: NearMissRule,
    /// Asks the reviewer about a near miss.
    pub clarify_prompt: String,
    /// Lets a stopped turn go on.
    pub continue_prompt: String,
    /// Go on by itself when a limit's known end has come.
    pub resume_after_limit: bool,
    /// Quiet time in milliseconds before a side counts as idle.
    pub debounce: u64,
    /// Which answer is the first phase.
    pub first_phase: FirstPhase,
    /// Phases at most before a person is asked; at least 1.
    pub max_phases: u32,
    /// Number of phases, for display only.
    pub phases: Option<u32>,
    /// Unknown settings are kept.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Default for RunConfig {
    fn default() -> Self {
        let pair = PairConfig::default();
        Self {
            name: String::new(),
            advance_prompt: ADVANCE_PROMPT.to_owned(),
            completion_signal: "COMPLETED".to_owned(),
            review_prompt: RUN_REVIEW_PROMPT.to_owned(),
            feedback_prompt: pair.feedback_prompt,
            review_stop_signal: pair.stop_signal,
            max_rounds: pair.max_rounds,
            confirm_before_relay: pair.confirm_before_relay,
            near_miss: pair.near_miss,
            clarify_prompt: pair.clarify_prompt,
            continue_prompt: pair.continue_prompt,
            resume_after_limit: pair.resume_after_limit,
            debounce: pair.debounce,
            first_phase: FirstPhase::Next,
            max_phases: 100,
            phases: None,
            extra: serde_json::Map::new(),
        }
    }
}

impl RunConfig {
    /// The settings of the pairs this run creates.
    #[must_use]
    pub fn for_pairs(&self) -> PairConfig {
        PairConfig {
            review_prompt: self.review_prompt.replace("{review_stop_signal}", "{stop_signal}"),
            feedback_prompt: self.feedback_prompt.clone(),
            stop_signal: self.review_stop_signal.clone(),
            max_rounds: self.max_rounds,
            confirm_before_relay: self.confirm_before_relay,
            near_miss: self.near_miss,
            clarify_prompt: self.clarify_prompt.replace("{review_stop_signal}", "{stop_signal}"),
            continue_prompt: self.continue_prompt.clone(),
            resume_after_limit: self.resume_after_limit,
            debounce: self.debounce,
            extra: serde_json::Map::new(),
        }
    }
}

/// One saved change of settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigChange {
    /// When.
    pub at: jiff::Timestamp,
    /// Names of the fields, in the order of the record.
    pub changed_fields: Vec<String>,
    /// Who: `dashboard`, `command`, `api`.
    pub by: String,
}
