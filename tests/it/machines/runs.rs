//! Runs: phases, completion, decisions, restarts. One line a case: position and event, then the outcome.

use trellis::machine::run;
use trellis::model::command::Control;
use trellis::model::config::{FirstPhase, RunConfig};
use trellis::model::conversation::FailureClass;
use trellis::model::event::EventKind;
use trellis::model::ids::PairId;
use trellis::model::pair::{PairState, PairStop, PauseReason};
use trellis::model::run::{After, AttemptStatus, GitMark, RunRecord, RunState, RunStep, RunStop};

use super::world::{I, R, World, run_in_review};

fn started(first_phase: FirstPhase) -> World {
    let mut world = World::new();
    world.prompt(I, "an old question");
    world.answer(I, "An old answer.");
    world.pass(10);
    world.new_run(RunConfig { first_phase, ..RunConfig::default() }).unwrap();
    world.wait(3);
    world
}

/// Takes a run from its advance prompt to the next review.
fn next_phase(world: &mut World, edits: bool, answer: &str) {
    world.wait(5);
    world.take(I);
    world.pass(1);
    if edits {
        world.tool(I, true);
    }
    world.answer(I, answer);
    world.wait(5);
}

#[test]
fn starting_prompts_nobody() {
    let mut world = started(FirstPhase::Next);
    world.wait(60);
    assert!(world.sent(I).is_empty() && world.sent(R).is_empty());
    assert_eq!(world.run().baseline_text, "An old answer.");
    world.prompt(I, "build it");
    world.answer(I, "Built.");
    world.wait(5);
    assert!(world.sent(R)[0].contains("Built."));
    assert_eq!(world.run().phases[0].summary, "Built.");
}

#[test]
fn a_turn_that_runs_at_the_start_is_the_first_phase() {
    let mut world = World::new();
    world.prompt(I, "an old question");
    world.answer(I, "An old answer.");
    world.prompt(I, "build it");
    world.new_run(RunConfig::default()).unwrap();
    world.pass(5);
    world.answer(I, "Built.");
    world.wait(5);
    assert!(world.sent(R)[0].contains("Built."));
}

#[test]
fn the_current_answer_is_reviewed_now() {
    let world = started(FirstPhase::Current);
    assert!(world.sent(R)[0].contains("An old answer."));
    let mut empty = World::new();
    let config = RunConfig { first_phase: FirstPhase::Current, ..RunConfig::default() };
    assert_eq!(empty.new_run(config).unwrap_err().field.as_deref(), Some("first_phase"));
}

#[test]
fn asking_at_once() {
    let mut world = started(FirstPhase::Ask);
    assert!(world.sent(I)[0].contains("reply with exactly COMPLETED on its own line"), "the placeholder is filled");
    assert_eq!(world.run().step, Some(RunStep::Advance));
    world.take(I);
    world.pass(1);
    assert_eq!(world.run().step, Some(RunStep::Probe));
    assert!(world.run().advance_turn_id.is_some());
    // Two sessions that never had a message can be asked, too.
    let mut fresh = World::new();
    fresh.new_run(RunConfig { first_phase: FirstPhase::Ask, ..RunConfig::default() }).unwrap();
    fresh.wait(2);
    assert_eq!(fresh.sent(I).len(), 1);
}

/// What the run waits for.
fn wait(world: &World) -> trellis::machine::Wait {
    wait_of(world, world.run())
}

fn wait_of(world: &World, record: &RunRecord) -> trellis::machine::Wait {
    let parts = world.scene();
    let pairs = world.pairs_of(record);
    run::wait(record, &pairs, &world.scene_of(&parts, &record.implementer, &record.reviewer))
}

#[test]
fn asking_later_once() {
    let mut world = started(FirstPhase::Next);
    // No phase came before it, and nothing says so.
    let step = RunRecord { step: Some(RunStep::Advance), ..world.run().clone() };
    let asked = wait_of(&world, &step);
    assert_eq!(asked.who, "the phase prompt goes to claude");
    assert_eq!(asked.ends, "then claude is asked for the phase");
    world.control(&Control::Ask).unwrap();
    world.wait(2);
    assert_eq!(world.sent(I).len(), 1);
    assert!(
        world.decisions.iter().any(|decision| decision.what == "asks claude for the phase"),
        "{:?}",
        world.decisions
    );
    assert!(world.control(&Control::Ask).is_err());
    let mut prompted = started(FirstPhase::Next);
    prompted.prompt(I, "build it");
    assert!(prompted.control(&Control::Ask).unwrap_err().message.contains("prompted since the start"));
}

#[test]
fn an_approval_asks_for_the_next_phase() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "LGTM");
    world.wait(5);
    let first = &world.run().phases[0];
    assert_eq!((first.status, first.by.as_deref(), first.reviewed), (AttemptStatus::Converged, Some("reviewer"), true));
    assert_eq!(world.sent(I).len(), 1);
    assert_eq!(world.run().after, After::Lgtm);
    next_phase(&mut world, true, "Phase two is built.");
    assert_eq!(world.run().phases[1].n, 2);
    let kinds: Vec<EventKind> = world.events.iter().map(|(kind, _)| *kind).collect();
    assert!(kinds.contains(&EventKind::ChecklistPhaseStarted) && kinds.contains(&EventKind::ChecklistPhaseConverged));
}

#[test]
fn completion_without_edits_ends_the_run() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "LGTM");
    next_phase(&mut world, false, "**COMPLETED**");
    assert_eq!(world.run().stop_reason, Some(RunStop::Completed));
    assert_eq!(world.sent(R).len(), 1, "nothing is left to review");
}

#[test]
fn completion_with_edits_is_reviewed_whole() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "LGTM");
    world.wait(5);
    world.take(I);
    world.say(I, "I changed the total.");
    world.tool(I, true);
    world.answer(I, "COMPLETED");
    world.wait(5);
    assert_eq!(world.run().state, RunState::Running);
    let sent = *world.sent(R).last().unwrap();
    assert!(sent.ends_with("I changed the total.\nCOMPLETED"), "all of its text: {sent}");
    world.take(R);
    world.answer(R, "LGTM");
    world.wait(5);
    assert_eq!(world.run().edited_completions, 1);
    world.take(I);
    world.tool(I, true);
    world.answer(I, "COMPLETED");
    world.wait(5);
    world.take(R);
    world.answer(R, "LGTM");
    world.wait(5);
    assert_eq!(world.run().stop_reason, Some(RunStop::Completed), "the second such turn running");
    assert_eq!(world.run().phases_done, 3);
}

#[test]
fn a_changed_work_tree_counts_as_an_edit() {
    let mark = |head: &str| Some(GitMark { head: head.to_owned(), status_sha256: "0".to_owned() });
    let answered = |before, after| {
        let mut world = World::new();
        world.tree = before;
        world.new_run(RunConfig { first_phase: FirstPhase::Ask, ..RunConfig::default() }).unwrap();
        world.wait(2);
        world.take(I);
        world.answer(I, "Built.");
        world.wait(5);
        world.take(R);
        world.answer(R, "LGTM");
        world.wait(6);
        world.take(I);
        world.tree = after;
        world.answer(I, "COMPLETED");
        world.wait(6);
        world.run().stop_reason
    };
    assert_eq!(answered(mark("a"), mark("a")), Some(RunStop::Completed));
    assert_eq!(answered(mark("a"), mark("b")), None, "a commit by a shell command");
    assert_eq!(answered(None, mark("b")), Some(RunStop::Completed), "unknown counts as no edit");
}

#[test]
fn skip_and_accept_go_to_the_next_phase() {
    let mut world = run_in_review(RunConfig::default());
    world.control(&Control::Skip).unwrap();
    assert_eq!(world.run().phases[0].status, AttemptStatus::Skipped);
    assert!(world.pairs.values().all(|pair| pair.stop_reason == Some(PairStop::Manual)));
    assert_eq!(world.run().paused_reason, None, "its own order: that outcome is expected");
    world.wait(5);
    assert_eq!(world.sent(I).len(), 1);

    let mut world = run_in_review(RunConfig::default());
    world.control(&Control::Accept).unwrap();
    let pair = world.pairs.values().next().unwrap();
    assert_eq!((pair.stop_reason, pair.accepted_by.as_deref()), (Some(PairStop::Lgtm), Some("user")));
    assert_eq!(world.run().phases_done, 1, "counted once");
    assert!(world.run().phases[0].reviewed, "the reviewer has exactly this answer");
    world.wait(5);
    assert_eq!(world.sent(I).len(), 1);
}

#[test]
fn skipping_without_a_pair() {
    let mut world = started(FirstPhase::Next);
    world.control(&Control::Skip).unwrap();
    assert_eq!(world.run().phases[0].pair_id, None);
    assert_eq!(world.run().phases_done, 1);
    world.wait(4);
    assert_eq!(world.sent(I).len(), 1);
}

#[test]
fn an_ended_attempt_keeps_its_status_when_accepted() {
    let mut world = run_in_review(RunConfig { max_rounds: 1, ..RunConfig::default() });
    world.answer(R, "Fix the total.");
    world.wait(5);
    assert_eq!(world.run().paused_reason, Some(PauseReason::PhaseNotConverged));
    world.control(&Control::Accept).unwrap();
    let statuses: Vec<AttemptStatus> = world.run().phases.iter().map(|attempt| attempt.status).collect();
    assert_eq!(statuses, [AttemptStatus::NotConverged, AttemptStatus::Converged]);
    assert_eq!(world.run().paused_reason, None);
}

#[test]
fn retry_reviews_the_newest_answer_from_0() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(5);
    world.take(I);
    world.answer(I, "Fixed.");
    world.control(&Control::Retry).unwrap();
    world.wait(5);
    assert_eq!(world.run().phases[0].status, AttemptStatus::Stopped);
    assert_eq!(world.run().phases[1].n, 1, "same phase");
    assert_eq!(world.current().round_count, 0);
    assert!(world.sent(R).last().unwrap().contains("Fixed."));
    assert_eq!(world.pairs.values().filter(|pair| pair.is_active()).count(), 1);
}

#[test]
fn a_pair_stopped_by_somebody_else_waits_for_a_person() {
    let mut world = run_in_review(RunConfig::default());
    let id = world.run().current_pair_id.clone().unwrap();
    let mut pair = world.pairs[&id].clone();
    pair.state = PairState::Stopped;
    pair.stop_reason = Some(PairStop::Manual);
    world.ledger.add_pair(&pair);
    world.pairs.insert(id, pair);
    world.settle();
    assert_eq!(world.run().paused_reason, Some(PauseReason::PairStopped));
    world.control(&Control::Resume).unwrap();
    world.wait(4);
    assert_eq!(world.run().phases.len(), 2, "like retry");
}

#[test]
fn an_outcome_in_a_paused_run_is_recorded_at_once() {
    let mut world = run_in_review(RunConfig { max_rounds: 1, ..RunConfig::default() });
    world.answer(R, "Fix the total.");
    world.runs[0].state = RunState::Paused;
    world.runs[0].paused_reason = Some(PauseReason::Manual);
    let id = world.run().current_pair_id.clone().unwrap();
    let mut pair = world.pairs[&id].clone();
    pair.state = PairState::Stopped;
    pair.stop_reason = Some(PairStop::MaxRounds);
    world.pairs.insert(id, pair);
    world.settle();
    assert_eq!(world.run().paused_reason, Some(PauseReason::PhaseNotConverged), "it needs the person");
}

#[test]
fn a_pair_that_pauses_leaves_its_run_going() {
    let mut world = run_in_review(RunConfig::default());
    world.prompt(I, "hold on");
    world.wait(2);
    assert_eq!(world.current().paused_reason, Some(PauseReason::UserTyped));
    assert_eq!(world.run().state, RunState::Running);
    world.answer(I, "Held.");
    world.wait(3);
    world.control(&Control::Resume).unwrap();
    assert_eq!(world.current().paused_reason, None, "the order reaches the pair");
}

#[test]
fn stop_closes_the_attempt_and_the_pair() {
    let mut world = run_in_review(RunConfig::default());
    world.control(&Control::Stop).unwrap();
    assert_eq!(world.run().stop_reason, Some(RunStop::Manual));
    assert_eq!(world.run().phases[0].status, AttemptStatus::Stopped);
    assert!(world.pairs.values().all(|pair| !pair.is_active()));
    assert_eq!(world.run().pending_pair_stop, None);
    world.control(&Control::RunOn).unwrap();
    let on = world.run();
    assert_eq!((on.continued_from.as_ref().map(trellis::model::ids::RunId::as_str), on.phases_done), (Some("run"), 0));
    assert_ne!(on.id.as_str(), "run");
}

#[test]
fn run_on_numbers_on() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "LGTM");
    world.wait(5);
    world.control(&Control::Stop).unwrap();
    world.wait(70);
    world.control(&Control::RunOn).unwrap();
    assert_eq!(world.run().phases_done, 1);
    world.prompt(I, "phase two");
    world.answer(I, "Two.");
    world.wait(5);
    assert_eq!(world.run().phases[0].n, 2);
}

#[test]
fn a_side_put_away_stops_the_run_in_every_step() {
    for step in 0..3 {
        let mut world = match step {
            0 => started(FirstPhase::Next),
            1 => run_in_review(RunConfig::default()),
            _ => started(FirstPhase::Ask),
        };
        world.reviewer.put_away = true;
        world.settle();
        assert_eq!(world.run().stop_reason, Some(RunStop::SessionTrashed), "step {step}");
        assert!(world.run().phases.iter().all(|attempt| attempt.status != AttemptStatus::Running));
        assert!(world.pairs.values().all(|pair| !pair.is_active()));
    }
}

#[test]
fn failures_in_front_of_a_phase_are_the_runs_own() {
    let check = |class, reason: PauseReason| {
        let mut world = started(FirstPhase::Ask);
        world.take(I);
        world.pass(1);
        world.fail(I, class, None);
        world.wait(4);
        assert_eq!(world.run().paused_reason, Some(reason), "{class:?}");
        world.control(&Control::Resume).unwrap();
        world.wait(3);
        assert_eq!(world.sent(I).len(), 2, "our prompt is sent again");
        world.take(I);
        world.answer(I, "Built.");
        world.wait(5);
        assert_eq!(world.run().step, Some(RunStep::Review));
    };
    check(FailureClass::Limit, PauseReason::Limit);
    check(FailureClass::Auth, PauseReason::AgentError);
}

/// In a run without a pair a person's prompt after the failed turn is what is read, and nothing is sent.
#[test]
fn a_limits_end_in_front_of_a_phase_reads_a_persons_turn() {
    let mut world = started(FirstPhase::Ask);
    world.take(I);
    let reset = world.now + jiff::SignedDuration::from_secs(30);
    world.fail(I, FailureClass::Limit, Some(reset));
    world.wait(4);
    world.prompt(I, "go on with another model");
    world.answer(I, "Built.");
    world.wait(40);
    assert_eq!(world.sent(I).len(), 1);
    assert_eq!(world.run().step, Some(RunStep::Review));
}

/// In front of a phase written words start it, like any prompt, and pause nothing.
#[test]
fn written_words_start_a_phase() {
    let mut world = started(FirstPhase::Next);
    world.control(&Control::Write { side: I, text: "build it".to_owned(), go_on: false }).unwrap();
    world.wait(2);
    world.take(I);
    world.answer(I, "Built.");
    world.wait(5);
    assert_eq!(world.run().step, Some(RunStep::Review));
    assert_eq!(world.run().paused_reason, None);
}

/// Words to a side decide nothing about a phase: a review without agreement still waits for a decision.
#[test]
fn written_words_decide_nothing() {
    let mut world = run_in_review(RunConfig { max_rounds: 1, ..RunConfig::default() });
    world.answer(R, "Fix the total.");
    world.wait(5);
    world.control(&Control::Write { side: R, text: "why?".to_owned(), go_on: true }).unwrap();
    world.wait(3);
    world.take(R);
    world.answer(R, "It rounds twice.");
    world.wait(5);
    assert_eq!(world.run().paused_reason, Some(PauseReason::PhaseNotConverged));
    world.control(&Control::Accept).unwrap();
    assert_eq!(world.run().phases_done, 1);
}

/// The phase limit grows by its first value each time.
#[test]
fn the_phase_limit_grows_by_its_first_value() {
    let mut world = run_in_review(RunConfig { max_phases: 1, ..RunConfig::default() });
    world.answer(R, "LGTM");
    world.wait(5);
    assert_eq!(world.run().paused_reason, Some(PauseReason::PhaseLimit));
    world.control(&Control::Resume).unwrap();
    assert_eq!(world.run().config.max_phases, 2);
    next_phase(&mut world, true, "Two.");
    world.take(R);
    world.answer(R, "LGTM");
    world.wait(5);
    world.control(&Control::Resume).unwrap();
    assert_eq!(world.run().config.max_phases, 3);
}

/// A refused pair closes the attempt and waits for a person; a pair that is not there yet is made.
#[test]
fn a_pair_is_made_after_its_attempt_is_saved() {
    let mut world = World::new();
    world.new_run(RunConfig::default()).unwrap();
    world.pass(3);
    world.prompt(I, "one");
    world.answer(I, "One.");
    world.now += jiff::SignedDuration::from_secs(5);
    while world.run().step == Some(RunStep::Probe) {
        let parts = world.scene();
        let step = {
            let record = world.run();
            run::look(record, &[], &world.scene_of(&parts, &record.implementer, &record.reviewer))
        };
        // Killed right after this save.
        world.runs[0] = step.record;
    }
    assert!(world.pairs.is_empty());
    assert_eq!(world.run().phases[0].status, AttemptStatus::Running);
    world.restart();
    assert_eq!(world.pairs.len(), 1);
    assert!(world.run().pair_seen);
    assert_eq!(world.run().pending, None);
    // Seen before and gone now: nothing is made up.
    world.pairs.clear();
    world.restart();
    assert_eq!(world.run().paused_reason, Some(PauseReason::PairStopped));
    assert_eq!(world.run().phases[0].status, AttemptStatus::Stopped);
}

/// An active pair of a run that no active run names is stopped before anything is sent.
#[test]
fn an_orphan_is_stopped_at_a_start() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "Fix the total.");
    world.runs[0].current_pair_id = Some(PairId::new("run-p9"));
    world.runs[0].pair_seen = true;
    world.now += jiff::SignedDuration::from_secs(30);
    world.restart();
    let pair = world.pairs.values().next().unwrap();
    assert_eq!(pair.stop_reason, Some(PairStop::Manual));
    assert!(world.sent(I).is_empty());
}

/// A pair that stopped while trellis was down tells its outcome at the start.
#[test]
fn an_outcome_from_before_a_kill_is_taken_at_the_start() {
    let mut world = run_in_review(RunConfig::default());
    let before = world.run().clone();
    world.answer(R, "LGTM");
    world.now += jiff::SignedDuration::from_secs(5);
    // Only the pair was saved.
    for _ in 0..5 {
        world.look();
        world.runs[0] = before.clone();
    }
    assert!(world.pairs.values().all(|pair| pair.stop_reason == Some(PairStop::Lgtm)));
    world.restart();
    assert_eq!(world.run().phases_done, 1);
}

/// Settings of a run reach its pair.
#[test]
fn settings_reach_the_pair() {
    let mut world = run_in_review(RunConfig::default());
    let mut changes = serde_json::Map::new();
    changes.insert("review_stop_signal".to_owned(), "SHIP IT".into());
    changes.insert("max_rounds".to_owned(), 3.into());
    world.control(&Control::Configure { changes, by: "command".to_owned() }).unwrap();
    assert_eq!(world.current().config.stop_signal, "SHIP IT");
    assert_eq!(world.current().config.max_rounds, 3);
    assert_eq!(world.run().config_history[0].changed_fields, ["review_stop_signal", "max_rounds"]);
    assert_eq!(world.run().config_history.len(), 1);
}

#[test]
fn waits_in_words() {
    let mut world = started(FirstPhase::Next);
    assert_eq!(wait(&world).who, "waits for claude's first answer");
    assert_eq!(wait(&world).what, "nothing was sent");
    world.prompt(I, "build it");
    assert_eq!(wait(&world).who, "claude works on the phase");
    world.answer(I, "Built.");
    world.wait(5);
    world.take(R);
    world.pass(1);
    assert_eq!(wait(&world).who, "codex reviews");
    world.control(&Control::Pause).unwrap();
    assert_eq!(wait(&world).who, "paused by you");
}

/// A phase is counted from the ask: half an hour of building and three minutes of review are 33 minutes.
#[test]
fn a_phase_takes_from_the_ask_to_the_approval() {
    let took = |world: &World, n: usize| {
        let attempt = &world.run().phases[n];
        attempt.ended_at.unwrap().duration_since(attempt.since()).as_secs()
    };
    let mut world = World::new();
    world.new_run(RunConfig::default()).unwrap();
    world.pass(600);
    world.prompt(I, "please build phase one");
    world.pass(1_800);
    world.answer(I, "Phase one is built.");
    world.wait(4);
    world.take(R);
    world.pass(180);
    world.answer(R, "LGTM");
    world.wait(6);
    assert!((1_980..2_000).contains(&took(&world, 0)), "of the person's own prompt: {}", took(&world, 0));
    // Asked with the phase prompt.
    let asked = world.now;
    world.take(I);
    world.pass(1);
    world.pass(1_800);
    world.answer(I, "Phase two is built.");
    world.wait(4);
    assert!(world.run().phases[1].since() <= asked + jiff::SignedDuration::from_secs(1));
    world.take(R);
    world.pass(180);
    world.control(&Control::Retry).unwrap();
    world.wait(4);
    let again = world.run().phases.last().unwrap().clone();
    assert_eq!(again.since(), again.started_at, "a second attempt has no building of its own");
    world.take(R);
    world.wait(2);
    // Begun without the phase prompt: it counts from the end of the one before.
    world.missing_tick(I, "claude's box holds text of yours");
    world.control(&Control::Accept).unwrap();
    let ended = world.run().phases.last().unwrap().ended_at.unwrap();
    world.prompt(I, "phase three, please");
    world.wait(2);
    world.clear_box(I);
    world.pass(900);
    world.answer(I, "Phase three is built.");
    world.wait(6);
    assert_eq!(world.run().phases.len(), 4, "{:?}", world.run().phases);
    assert_eq!(world.run().phases[3].since(), ended);
}
