//! Pairs: verdicts, near misses, caps, looks, failures, creation. One line a case: position and event, then the outcome.

use trellis::machine::pair;
use trellis::model::command::{Confirm, Control};
use trellis::model::config::{NearMissRule, PairConfig};
use trellis::model::conversation::FailureClass;
use trellis::model::outbox::Purpose;
use trellis::model::pair::{Direction, Kickoff, PairState, PairStep, PairStop, PauseReason};
use trellis::model::reach::InputBox;
use trellis::model::tree::{FileState, TreeState, Work};

use super::world::{I, R, World, reviewing, with_answer};

fn config(near_miss: NearMissRule) -> PairConfig {
    PairConfig { near_miss, ..PairConfig::default() }
}

/// What a reviewer's answer leads to.
#[test]
fn answers_of_the_reviewer() {
    let check = |answer: &str, rule: NearMissRule, outcome: &str| {
        let mut world = reviewing(config(rule));
        world.answer(R, answer);
        world.wait(4);
        let pair = world.pair();
        let got = match (pair.stop_reason, pair.paused_reason, pair.outbox.last().map(|entry| entry.purpose)) {
            (Some(stop), _, _) => stop.as_str(),
            (_, Some(reason), _) => reason.as_str(),
            (_, _, Some(Purpose::ToImplementer)) => "feedback",
            (_, _, Some(Purpose::Clarify)) => "asked",
            _ => "nothing",
        };
        assert_eq!(got, outcome, "{answer:?} under {rule:?}");
    };
    check("LGTM", NearMissRule::Ask, "lgtm");
    check("**LGTM**", NearMissRule::Ask, "lgtm");
    check("All fine.\n\nLGTM", NearMissRule::Ask, "lgtm");
    check("Fix the total.", NearMissRule::Ask, "feedback");
    check("not LGTM yet", NearMissRule::Ask, "feedback");
    check("Verdict: LGTM", NearMissRule::Ask, "asked");
    check("Verdict: LGTM", NearMissRule::Wait, "near_miss");
    check("Verdict: LGTM", NearMissRule::Feedback, "feedback");
}

/// Asked once: a match agrees; anything else is feedback with the first answer in front; a second near miss waits.
#[test]
fn a_near_miss_is_asked_once() {
    let asked = || {
        let mut world = reviewing(PairConfig::default());
        world.answer(R, "Verdict: LGTM");
        world.wait(4);
        world.take(R);
        world.pass(1);
        assert_eq!(world.pair().round_count, 1, "no relay is counted");
        world
    };
    let mut world = asked();
    assert!(world.sent(R)[1].starts_with("Is this an approval? If it is, reply with LGTM"));
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm));

    let mut world = asked();
    world.answer(R, "No: the total is wrong.");
    world.wait(4);
    assert_eq!(world.sent(I), ["Feedback:\n\nVerdict: LGTM\n\nNo: the total is wrong."]);

    let mut world = asked();
    world.answer(R, "Verdict: LGTM");
    world.wait(4);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::NearMiss));
    world.control(&Control::Accept).unwrap();
    assert_eq!(world.pair().accepted_by.as_deref(), Some("user"));

    let mut world = asked();
    world.answer(R, "Verdict: LGTM");
    world.wait(4);
    world.control(&Control::AsFeedback).unwrap();
    world.wait(3);
    assert_eq!(world.sent(I), ["Feedback:\n\nVerdict: LGTM\n\nVerdict: LGTM"]);
    world.take(I);
    world.answer(I, "Fixed.");
    world.wait(4);
    world.take(R);
    world.answer(R, "Verdict: LGTM");
    world.wait(4);
    assert_eq!(world.pair().outbox.last().unwrap().purpose, Purpose::Clarify, "once per relay");
}

/// In confirm mode the person is asked instead of the reviewer.
#[test]
fn a_near_miss_before_a_look_waits() {
    let mut world = with_answer();
    let confirm = PairConfig { confirm_before_relay: true, ..PairConfig::default() };
    world.new_pair(Kickoff::UseCurrent, confirm).unwrap();
    world.control(&Control::Confirm(Confirm::Send { edited_text: None })).unwrap();
    world.wait(2);
    world.take(R);
    world.answer(R, "Verdict: LGTM");
    world.wait(4);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::NearMiss));
}

/// At most `max_rounds` relays go out, and the answer to the last one still counts.
#[test]
fn the_cap_is_checked_before_the_next_relay() {
    let capped = || {
        let mut world = reviewing(PairConfig { max_rounds: 1, ..PairConfig::default() });
        assert_eq!(world.pair().round_count, 1);
        world.pass(1);
        world
    };
    let mut world = capped();
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm));

    let mut world = capped();
    world.answer(R, "Fix the total.");
    world.wait(4);
    assert_eq!(world.pair().stop_reason, Some(PairStop::MaxRounds));
    let due = world.pair().due.clone().unwrap();
    assert_eq!((due.direction, due.text.text()), (Direction::ToImplementer, "Feedback:\n\nFix the total."));
    assert!(world.sent(I).is_empty());
}

/// More relays for a pair without a run: a new pair that continues it.
#[test]
fn more_relays_for_a_pair() {
    let mut world = reviewing(PairConfig { max_rounds: 1, ..PairConfig::default() });
    world.answer(R, "Fix the total.");
    world.wait(4);
    assert!(world.control(&Control::More { n: 0, blockers_only: false }).is_err());
    world.control(&Control::More { n: 2, blockers_only: false }).unwrap();
    world.wait(3);
    let new = world.pairs.values().find(|pair| pair.is_active()).unwrap();
    assert_eq!(new.continues.as_ref(), Some(&world.pair().id));
    assert_eq!((new.round_count, new.config.max_rounds), (1, 3));
    assert_eq!(world.sent(I), ["Feedback:\n\nFix the total."]);
}

/// Retry of a pair without a run: stopped, and a new one on the newest answer with its count from 0.
#[test]
fn retry_of_a_pair() {
    let mut world = reviewing(PairConfig::default());
    world.control(&Control::Retry).unwrap();
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Manual));
    let new = world.pairs.values().find(|pair| pair.is_active()).unwrap();
    assert_eq!(new.round_count, 0);
    assert_eq!(world.sent(R).len(), 2);
}

/// Look first: sent, edited, dropped.
#[test]
fn look_first() {
    let waiting = || {
        let mut world = with_answer();
        let confirm = PairConfig { confirm_before_relay: true, ..PairConfig::default() };
        world.new_pair(Kickoff::UseCurrent, confirm).unwrap();
        assert_eq!(world.pair().step, Some(PairStep::ConfirmRelay));
        assert!(world.sent(R).is_empty());
        world
    };
    let mut world = waiting();
    let blank = Control::Confirm(Confirm::Send { edited_text: Some("  ".to_owned()) });
    assert_eq!(world.control(&blank).unwrap_err().field.as_deref(), Some("edited_text"));
    world.control(&Control::Confirm(Confirm::Send { edited_text: Some("Look at this".to_owned()) })).unwrap();
    world.wait(2);
    assert_eq!(world.sent(R), ["Look at this"]);
    world.take(R);
    world.pass(1);
    assert!(world.pair().rounds[0].edited);

    let mut world = waiting();
    world.control(&Control::Pause).unwrap();
    assert!(world.control(&Control::Confirm(Confirm::Send { edited_text: None })).is_err(), "refused while paused");

    let mut world = waiting();
    world.control(&Control::Confirm(Confirm::Drop)).unwrap();
    world.wait(30);
    assert!(world.sent(R).is_empty(), "its answer is not offered again");
    assert_eq!(world.pair().step, Some(PairStep::AwaitImplementer));
    world.prompt(I, "try again");
    world.answer(I, "Tried again.");
    world.wait(4);
    assert_eq!(world.pair().paused_reason, None, "that prompt is what it waits for");
    assert!(world.pair().pending_confirm.as_ref().unwrap().text.text().ends_with("Tried again."));

    let mut world = waiting();
    world.control(&Control::Confirm(Confirm::Stop)).unwrap();
    assert_eq!(world.pair().stop_reason, Some(PairStop::Manual));
}

/// What a failed turn leads to.
#[test]
fn failed_turns() {
    let check = |class: FailureClass, reason: Option<PauseReason>| {
        let mut world = reviewing(PairConfig::default());
        world.fail(R, class, None);
        world.wait(4);
        assert_eq!(world.pair().paused_reason, reason, "{class:?}");
        assert!(world.sent(I).is_empty(), "never relayed");
        assert_eq!(world.pair().round_count, 1, "never counted");
    };
    check(FailureClass::Limit, Some(PauseReason::Limit));
    check(FailureClass::Auth, Some(PauseReason::AgentError));
    check(FailureClass::Other, Some(PauseReason::AgentError));
    check(FailureClass::Died, Some(PauseReason::AgentError));
    check(FailureClass::Overloaded, None);
    check(FailureClass::Network, None);
}

/// 15 s, 60 s, 240 s, then a person is asked; the words say how often it was tried.
#[test]
fn passing_failures_are_tried_three_times() {
    let mut world = reviewing(PairConfig::default());
    for (n, wait) in [(1, 15), (2, 60), (3, 240)] {
        world.tool(R, false);
        world.fail(R, FailureClass::Overloaded, None);
        world.wait(3);
        let retry = world.pair().retry.clone().unwrap();
        assert_eq!(retry.n, n);
        assert_eq!(world.sent(R).len(), usize::try_from(n).unwrap());
        world.wait(wait + 2);
        assert_eq!(world.sent(R).len(), usize::try_from(n).unwrap() + 1, "after {wait} s");
        world.take(R);
        world.pass(1);
    }
    world.fail(R, FailureClass::Overloaded, None);
    world.wait(4);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::AgentError));
    assert!(world.pair().paused_detail.contains("after 3 attempts"), "{}", world.pair().paused_detail);
}

/// An open turn whose process was started anew has died; going on sends our message on.
#[test]
fn a_turn_whose_process_came_back_has_died() {
    let mut world = reviewing(PairConfig::default());
    world.tool(R, false);
    world.pass(5);
    world.bring_agent(R);
    world.reviewer.reach = None;
    world.wait(14);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::AgentError));
    assert!(world.pair().paused_detail.contains("died"));
    world.control(&Control::Resume).unwrap();
    world.wait(3);
    assert!(world.sent(R)[1].starts_with("Go on where you stopped"));
}

/// A side put away, or a transcript provably deleted, ends it at once; an unreadable one does not.
#[test]
fn what_ends_a_pair_at_once() {
    use trellis::machine::TranscriptFact;
    let mut world = reviewing(PairConfig::default());
    world.reviewer.put_away = true;
    world.pass(1);
    assert_eq!(world.pair().stop_reason, Some(PairStop::SessionTrashed));

    let mut world = reviewing(PairConfig::default());
    world.control(&Control::Pause).unwrap();
    world.reviewer.fact = Some(TranscriptFact::Deleted);
    world.now += jiff::SignedDuration::from_mins(10);
    world.settle();
    assert_eq!(world.pair().stop_reason, Some(PairStop::PeerError));
    assert!(!world.pair().restart_unresolvable, "while it ran");

    let mut world = reviewing(PairConfig::default());
    world.reviewer.fact = Some(TranscriptFact::Deleted);
    world.now += jiff::SignedDuration::from_mins(10);
    world.restart();
    assert!(world.pair().restart_unresolvable, "at a start");

    let mut world = reviewing(PairConfig::default());
    world.reviewer.fact = Some(TranscriptFact::Unreadable("permission denied".to_owned()));
    world.pass(1);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::AgentGone));
    world.reviewer.fact = None;
    world.control(&Control::Resume).unwrap();
    assert_eq!(world.pair().state, PairState::Running);
}

/// Settings while it runs: what is prepared next, the next answer; a cap at the count lets the last answer count.
#[test]
fn settings_while_it_runs() {
    let change = |field: &str, value: serde_json::Value| {
        let mut changes = serde_json::Map::new();
        changes.insert(field.to_owned(), value);
        Control::Configure { changes, by: "command".to_owned() }
    };
    let mut world = reviewing(PairConfig::default());
    world.control(&change("stop_signal", "SHIP IT".into())).unwrap();
    world.control(&change("feedback_prompt", "Please:".into())).unwrap();
    assert_eq!(world.pair().config_history.len(), 2);
    assert_eq!(world.pair().config_history[0].changed_fields, ["stop_signal"]);
    let revision = world.pair().revision;
    world.control(&change("stop_signal", "SHIP IT".into())).unwrap();
    assert_eq!(world.pair().revision, revision, "the same again changes nothing");
    assert_eq!(world.control(&change("stop_signal", " ".into())).unwrap_err().field.as_deref(), Some("stop_signal"));
    assert_eq!(world.control(&change("max_rounds", 0.into())).unwrap_err().field.as_deref(), Some("max_rounds"));
    assert_eq!(world.control(&change("nonsense", 0.into())).unwrap_err().field.as_deref(), Some("nonsense"));
    world.control(&change("max_rounds", 1.into())).unwrap();
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(world.pair().stop_reason, Some(PairStop::MaxRounds), "the new word counts, the old one is feedback");
    assert_eq!(world.pair().due.as_ref().unwrap().text.text(), "Please:\n\nLGTM");
    assert!(world.control(&change("max_rounds", 5.into())).is_err(), "read-only after a stop");
}

/// Creation refuses what cannot be joined, with the field.
#[test]
fn creation_is_refused_by_field() {
    let mut world = with_answer();
    let field =
        |world: &mut World, config: PairConfig| world.new_pair(Kickoff::UseCurrent, config).unwrap_err().field.unwrap();
    assert_eq!(field(&mut world, PairConfig { stop_signal: " ".to_owned(), ..PairConfig::default() }), "stop_signal");
    assert_eq!(field(&mut world, PairConfig { max_rounds: 0, ..PairConfig::default() }), "max_rounds");
    assert_eq!(field(&mut world, PairConfig { max_rounds: 1001, ..PairConfig::default() }), "max_rounds");
    world.reviewer.put_away = true;
    assert_eq!(field(&mut world, PairConfig::default()), "reviewer");
    world.reviewer.put_away = false;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    assert_eq!(field(&mut world, PairConfig::default()), "implementer");
    let mut same = with_answer();
    same.reviewer.session = same.implementer.session.clone();
    assert_eq!(field(&mut same, PairConfig::default()), "reviewer");
    let mut unanswered = World::new();
    assert_eq!(field(&mut unanswered, PairConfig::default()), "kickoff");
}

/// A pair begins with the newest answer, unless that was relayed before.
#[test]
fn the_default_kickoff() {
    let mut world = with_answer();
    let kickoff = |world: &World| {
        let parts = world.scene();
        let scene = world.scene_of(&parts, &world.implementer.session, &world.reviewer.session);
        pair::default_kickoff(&scene, 2_000)
    };
    assert_eq!(kickoff(&world), Kickoff::UseCurrent);
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.take(R);
    world.wait(3);
    assert_eq!(kickoff(&world), Kickoff::WaitForNext);
}

/// The wait for the next answer is not broken by the prompt that leads to it; any other prompt breaks it.
#[test]
fn waiting_for_the_next_answer() {
    let mut world = with_answer();
    world.new_pair(Kickoff::WaitForNext, PairConfig::default()).unwrap();
    world.wait(10);
    assert!(world.sent(R).is_empty());
    world.prompt(I, "go on");
    world.answer(I, "Went on.");
    world.wait(4);
    assert!(world.sent(R)[0].ends_with("Went on."));

    let mut world = with_answer();
    world.new_pair(Kickoff::WaitForNext, PairConfig::default()).unwrap();
    world.prompt(R, "are you there?");
    world.wait(4);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
}

/// While a sequence runs no other begins and no time runs out; its report is what counts.
#[test]
fn one_sequence_at_a_time() {
    let mut world = with_answer();
    world.hold_reports = true;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.wait(100);
    assert_eq!((world.sent(R).len(), world.pair().paused_reason), (1, None));
    assert!(world.control(&Control::SendAgain).unwrap_err().message.contains("right now"));
    world.hold_reports = false;
    world.report();
    world.take(R);
    world.pass(1);
    assert_eq!(world.pair().round_count, 1);
}

/// A box that cannot be read holds a first send, unless the setting says otherwise; a re-send it holds always.
#[test]
fn a_box_that_cannot_be_read() {
    let unreadable = |allowed: bool| {
        let mut world = with_answer();
        world.box_may_be_unknown = allowed;
        world.missing_tick(R, "its box cannot be read");
        world.reviewer.input = InputBox::Unknown;
        world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
        world.wait(40);
        world.sent(R).len()
    };
    assert_eq!(unreadable(false), 0);
    assert_eq!(unreadable(true), 1);
}

/// An agent that refuses to resume its session ends the pair.
#[test]
fn an_agent_that_refuses_to_resume() {
    let world = reviewing(PairConfig::default());
    let parts = world.scene();
    let pair = world.pair();
    let scene = world.scene_of(&parts, &pair.implementer, &pair.reviewer);
    let step = pair::unresumable(pair, R, "no such session", &scene);
    assert_eq!(step.record.stop_reason, Some(PairStop::PeerError));
}

/// What it waits for is said: who, what, until when.
#[test]
fn waits_in_words() {
    let wait = |world: &World| {
        let parts = world.scene();
        let pair = world.pair();
        pair::wait(pair, &world.scene_of(&parts, &pair.implementer, &pair.reviewer))
    };
    let mut world = reviewing(PairConfig::default());
    world.tool(R, false);
    let now = wait(&world);
    assert_eq!((now.who.as_str(), now.what.as_str()), ("codex reviews", "reads src/a.rs"));
    assert_eq!(now.ends, "ends when codex ends its turn");
    world.now += jiff::SignedDuration::from_mins(42);
    assert_eq!(wait(&world).what, "no sign for 42m");
    world.tool(I, true);
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(wait(&world).who, "waits for claude to finish");
    let mut world = reviewing(PairConfig::default());
    world.missing_tick(I, "claude's box holds text of yours");
    world.answer(R, "Fix the total.");
    world.wait(4);
    let held = wait(&world);
    assert_eq!(held.who, "a relay goes to claude", "whether it is held for long is not seen in one look");
    assert_eq!(held.what, "claude's box holds text of yours");
    world.prompt(I, "mine");
    world.wait(1);
    assert_eq!(wait(&world).who, "waits for you");
}

/// Once a relay is with the reviewer, git is asked what the implementer changed, and the answer is kept with the relay.
#[test]
fn a_review_is_told_what_changed_since_the_one_before() {
    let state = |lines: &str| {
        let added = u32::try_from(lines.len() / 8).unwrap();
        let file = FileState { sum: lines.to_owned(), added, plus: lines.to_owned(), ..FileState::default() };
        Some(TreeState { base: "c0".to_owned(), files: [("f".to_owned(), file)].into() })
    };
    let mut world = reviewing(PairConfig::default());
    let reviewed = |world: &mut World, lines: Option<TreeState>| {
        world.answer(R, "1. something is wrong");
        world.wait(4);
        world.take(I);
        world.pass(1);
        world.lines = lines;
        world.answer(I, "It is mended.");
        world.wait(4);
        world.take(R);
        world.pass(1);
        world.pair().rounds.last().unwrap().work.clone()
    };
    assert_eq!(world.pair().rounds[0].work, Some(Work::Unknown), "no repository");
    assert_eq!(reviewed(&mut world, state("aaaaaaaa")), Some(Work::First));
    let changed = Work::Changed { files: 1, added: 1, removed: 1 };
    assert_eq!(reviewed(&mut world, state("bbbbbbbb")), Some(changed));
    let nothing = Work::Changed { files: 0, added: 0, removed: 0 };
    assert_eq!(reviewed(&mut world, state("bbbbbbbb")), Some(nothing), "l11: answers without a change");
    let rounds = &world.pair().rounds;
    assert!(rounds.iter().all(|round| (round.direction == Direction::ToReviewer) == round.work.is_some()));
}
