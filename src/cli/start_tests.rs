//! What `--set` and `--first-phase` make of the settings.

use super::*;
use crate::cli::{Cli, Command as Said, RunCommand, parse};
use crate::model::config::{FirstPhase, NearMissRule};
use crate::model::ids::Agent;

fn args(more: &[&str]) -> StartArgs {
    let words = ["trellis", "run", "start", "--implementer", "claude:a", "--reviewer", "codex:b"];
    match parse(words.iter().chain(more).map(Into::into)) {
        Ok(Cli { command: Some(Said::Run(RunCommand::Start(args))), .. }) => args,
        other => panic!("{other:?}"),
    }
}

fn set(more: &[&str]) -> Result<RunConfig, Failure> {
    config(&args(more))
}

#[test]
fn settings_are_read_by_their_kind() {
    let config = set(&[
        "--set",
        "max_rounds=4",
        "--set",
        "near_miss=wait",
        "--set",
        "confirm_before_relay=true",
        "--set",
        "name=7",
        "--set",
        "feedback_prompt=",
        "--set",
        "phases=12",
        "--first-phase",
        "ask",
        "--set",
        "review_stop_signal=a=b",
    ])
    .unwrap();
    assert_eq!((config.max_rounds, config.near_miss, config.confirm_before_relay), (4, NearMissRule::Wait, true));
    assert_eq!((config.name.as_str(), config.feedback_prompt.as_str(), config.phases), ("7", "", Some(12)));
    assert_eq!((config.first_phase, config.review_stop_signal.as_str()), (FirstPhase::Ask, "a=b"));
    assert_eq!(set(&[]).unwrap(), RunConfig::default());
}

#[test]
fn a_wrong_setting_is_a_usage_error_that_names_it() {
    for (setting, words) in
        [("rounds=3", "--set rounds: there is no such setting"), ("max_rounds=many", "--set max_rounds: invalid type")]
    {
        let failure = set(&["--set", setting]).unwrap_err();
        assert_eq!(failure.code(), 2);
        assert!(failure.message.contains(words), "{}", failure.message);
    }
}

#[test]
fn the_beginning_of_an_id_is_enough_while_it_names_one() {
    let key = |text: &str| {
        let (agent, id) = text.split_once(':').unwrap();
        let agent = if agent == "claude" { Agent::Claude } else { Agent::Codex };
        SessionKey { agent, session_id: id.into() }
    };
    let known: BTreeSet<SessionKey> = ["claude:ab1", "claude:ab12", "claude:ac", "codex:ab1x"].map(key).into();
    let named = |text: &str| whole(&key(text), &known).map(|found| found.to_string());
    assert_eq!(named("claude:ac").unwrap(), "claude:ac");
    assert_eq!(named("codex:a").unwrap(), "codex:ab1x", "of the other agent nothing counts");
    assert_eq!(named("claude:ab1").unwrap(), "claude:ab1", "a whole id is no beginning");
    assert_eq!(named("claude:zz").unwrap(), "claude:zz");
    let refused = named("claude:a").unwrap_err();
    assert_eq!(refused.message, "several sessions begin with claude:a: claude:ab1, claude:ab12, claude:ac; give more");
}
