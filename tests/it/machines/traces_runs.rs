//! Traces 15 and 17 to 24: contradictions and gaps.

use trellis::model::command::{Confirm, Control};
use trellis::model::config::{PairConfig, RunConfig};
use trellis::model::conversation::Outcome;
use trellis::model::ids::SessionId;
use trellis::model::outbox::{EntryState, Purpose};
use trellis::model::pair::{Kickoff, PairStep, PairStop, PauseReason};
use trellis::model::reach::{OnItsWay, Reach};
use trellis::model::run::{AttemptStatus, RunState, RunStep, RunStop};

use super::world::{I, R, World, nothing_typed, reviewing, run_in_review, with_answer};

fn confirming() -> PairConfig {
    PairConfig { confirm_before_relay: true, ..PairConfig::default() }
}

/// What a person writes goes out first, in a paused record too, and pauses like typing.
#[test]
fn trace_15_written_words_go_out_in_a_paused_record() {
    let mut world = reviewing(PairConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(1);
    world.control(&Control::Pause).unwrap();
    world.control(&Control::Write { side: I, text: "mind the docs".to_owned(), go_on: false }).unwrap();
    world.wait(3);
    assert_eq!(world.sent(I), ["mind the docs"]);
    world.take(I);
    world.answer(I, "Minded.");
    world.wait(4);
    assert!(world.pair().paused_reason.is_some());
    assert_eq!(world.sent(I).len(), 1, "and nothing else");
}

#[test]
fn trace_15_written_words_pause_a_running_pair() {
    let mut world = reviewing(PairConfig::default());
    world.control(&Control::Write { side: I, text: "mind the docs".to_owned(), go_on: false }).unwrap();
    world.wait(3);
    world.take(I);
    world.pass(1);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
}

/// With "and go on" to the awaited side its turn is the awaited one.
#[test]
fn trace_15_go_on_makes_its_turn_the_awaited_one() {
    let mut world = reviewing(PairConfig::default());
    world.answer(R, "Fix the total.");
    world.wait(4);
    world.take(I);
    world.answer(I, "Fixed.");
    world.pass(1);
    world.control(&Control::Write { side: I, text: "and the docs".to_owned(), go_on: true }).unwrap();
    world.wait(4);
    assert_eq!(world.sent(I).last(), Some(&"and the docs"));
    let turn = world.take(I);
    world.pass(1);
    assert_eq!(world.pair().paused_reason, None);
    assert_eq!(world.pair().awaited.as_ref().unwrap().turn_id, Some(turn));
    world.answer(I, "Docs too.");
    world.wait(4);
    assert!(world.sent(R).last().unwrap().contains("Docs too."));
}

fn capped() -> World {
    let mut world = run_in_review(RunConfig { max_rounds: 2, ..RunConfig::default() });
    world.answer(R, "Fix the total.");
    world.wait(4);
    world.take(I);
    world.answer(I, "Fixed.");
    world.wait(4);
    assert_eq!(world.run().paused_reason, Some(PauseReason::PhaseNotConverged));
    world
}

/// `more` starts with what was due, at its count.
#[test]
fn trace_17_more_sends_what_was_due() {
    let mut world = capped();
    assert_eq!(world.current().due.as_ref().unwrap().text.text().lines().last(), Some("Fixed."));
    world.control(&Control::More { n: 3, blockers_only: false }).unwrap();
    world.wait(4);
    assert!(world.sent(R).last().unwrap().ends_with("Fixed."));
    let pair = world.current();
    assert_eq!((pair.round_count, pair.config.max_rounds), (2, 5));
    assert_eq!(pair.continues.as_ref().map(trellis::model::ids::PairId::as_str), Some("run-p1"));
    world.take(R);
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(world.run().phases_done, 1);
    assert_eq!(world.run().phases[0].status, AttemptStatus::NotConverged);
    assert_eq!(world.run().phases[1].status, AttemptStatus::Converged);
    assert_eq!(world.run().phases[1].relays, 3);
}

/// A person had the implementer work in between: the stale text is not sent.
#[test]
fn trace_17_more_takes_a_newer_answer() {
    let mut world = capped();
    world.prompt(I, "round once");
    world.answer(I, "Rounded once.");
    world.wait(3);
    world.control(&Control::More { n: 3, blockers_only: true }).unwrap();
    world.wait(4);
    let sent = *world.sent(R).last().unwrap();
    assert!(sent.ends_with("Rounded once."), "{sent}");
    assert!(sent.contains("Name only what must change"), "{sent}");
}

/// While the run's own entry is in flight, skip, retry, accept and follow are refused.
#[test]
fn trace_18_decisions_wait_for_the_advance_prompt() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "LGTM");
    world.wait(4);
    assert!(world.run().outbox[0].in_flight());
    for control in [Control::Skip, Control::Retry, Control::Accept, Control::Follow] {
        let before = world.run().clone();
        let refusal = world.control_only(&control).unwrap_err();
        assert!(!refusal.message.is_empty());
        assert_eq!(&before, world.run(), "{}", control.name());
    }
    assert_eq!(world.sent(I).len(), 1, "one advance prompt");
}

/// A background report turns findings into an approval while the feedback waits for a look.
#[test]
fn trace_19_a_newer_answer_withdraws_the_pending_text() {
    let mut world = with_answer();
    world.new_pair(Kickoff::UseCurrent, confirming()).unwrap();
    world.control(&Control::Confirm(Confirm::Send { edited_text: None })).unwrap();
    world.wait(3);
    world.take(R);
    world.answer(R, "Fix the total.");
    world.wait(4);
    assert_eq!(world.pair().step, Some(PairStep::ConfirmRelay));
    world.say(R, "LGTM");
    let refusal = world.control(&Control::Confirm(Confirm::Send { edited_text: None })).unwrap_err();
    assert!(refusal.message.contains("at work again"), "{}", refusal.message);
    world.end(R, Outcome::Completed);
    world.wait(4);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm), "judged, never sent as feedback");
    assert!(world.sent(I).is_empty());
}

/// A cap lowered below what is done, or a skip over it, still pauses.
#[test]
fn trace_21_the_phase_limit_is_reached_or_passed() {
    let mut world = run_in_review(RunConfig { max_phases: 5, ..RunConfig::default() });
    world.missing_tick(I, "a draft of yours");
    world.control(&Control::Skip).unwrap();
    world.runs[0].phases_done = 3;
    world.runs[0].config.max_phases = 2;
    world.wait(3);
    assert_eq!(world.run().paused_reason, Some(PauseReason::PhaseLimit));
    world.control(&Control::Resume).unwrap();
    assert!(world.run().config.max_phases > 3);
    assert_eq!(world.run().paused_reason, None);
}

/// A person had the implementer go on before the pair existed: its newest answer is relayed, not the old one.
#[test]
fn trace_21_the_kickoff_turn_or_a_newer_one() {
    let mut world = with_answer();
    let old = world.implementer.conversation.turns[0].id.clone();
    world.prompt(I, "one more thing");
    world.answer(I, "One more thing is done.");
    world.wait(4);
    world.new_pair(Kickoff::Turn { turn_id: old, whole_turn: false }, PairConfig::default()).unwrap();
    world.wait(3);
    assert!(world.sent(R)[0].ends_with("One more thing is done."));
}

/// An interrupted turn in `probe` pauses the run itself.
#[test]
fn trace_21_an_interrupted_turn_in_probe_pauses_the_run() {
    let mut world = World::new();
    world.new_run(RunConfig::default()).unwrap();
    world.pass(5);
    world.prompt(I, "phase one please");
    world.end(I, Outcome::Interrupted);
    world.wait(4);
    assert_eq!(world.run().paused_reason, Some(PauseReason::UserTyped));
    assert!(world.run().paused_detail.contains("interrupted"));
    world.control(&Control::Resume).unwrap();
    world.wait(10);
    assert_eq!(world.run().paused_reason, None, "that turn is settled");
    world.prompt(I, "again");
    world.answer(I, "Phase one is built.");
    world.wait(4);
    assert_eq!(world.run().step, Some(RunStep::Review));
}

/// Edits of the reviewed phase do not make a later `COMPLETED` an edited one.
#[test]
fn trace_21_edits_before_the_baseline_do_not_count() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "LGTM");
    world.prompt(I, "are we done?");
    world.answer(I, "COMPLETED");
    world.wait(5);
    // The person's prompt paused the review; the approval counts once they go on.
    if world.run().is_active() {
        world.control(&Control::Resume).unwrap();
        world.wait(8);
    }
    assert_ne!(world.run().stop_reason, Some(RunStop::PeerError));
    assert_eq!(world.run().edited_completions, 0);
}

/// Codex: in neither queue nor transcript, without its id; only what holds for the whole grace is sent again.
#[test]
fn trace_22_a_spawned_queue_process_may_still_insert() {
    let mut world = with_answer();
    world.die_on_send = true;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.restart();
    world.wait(6);
    assert_eq!(world.sent(R).len(), 1, "5 s are not enough");
    world.reviewer.on_its_way = OnItsWay::Queued;
    world.wait(12);
    assert_eq!(world.pair().outbox[0].state, EntryState::Queued);
    world.wait(100);
    assert_eq!(world.sent(R).len(), 1);
    world.reviewer.on_its_way = OnItsWay::No;
    world.take(R);
    world.pass(1);
    assert_eq!(world.pair().round_count, 1);
}

/// A message that stands in the queue of a Codex that has ended is not waited for without an end: a person is asked, and
/// it is taken when the agent is back.
#[test]
fn a_queue_whose_codex_has_ended_is_not_waited_for_without_an_end() {
    let mut world = with_answer();
    world.die_on_send = true;
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.restart();
    world.reviewer.on_its_way = OnItsWay::Queued;
    world.wait(12);
    assert_eq!(world.pair().outbox[0].state, EntryState::Queued);
    world.kill_agent(R);
    world.wait(12);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::AgentGone));
    assert_eq!(world.pair().outbox[0].state, EntryState::Queued, "it stands there all the same");
    world.bring_agent(R);
    world.control(&Control::Resume).unwrap();
    world.reviewer.on_its_way = OnItsWay::No;
    world.take(R);
    world.pass(1);
    assert_eq!((world.pair().round_count, world.sent(R).len()), (1, 1));
}

/// The same with a message of a review that was stopped: who waits for it asks for the program that holds it.
#[test]
fn a_queue_with_a_message_of_a_stopped_review_is_not_waited_for_without_an_end() {
    let mut world = run_in_review(RunConfig::default());
    world.answer(R, "The key is missing.");
    world.wait(4);
    world.implementer.on_its_way = OnItsWay::Queued;
    world.control(&Control::Skip).unwrap();
    world.wait(4);
    world.kill_agent(I);
    world.wait(100);
    assert_eq!(world.run().paused_reason, Some(PauseReason::AgentGone), "{:?}", world.run());
}

/// Followed before anything was sent to it: nothing of ours is asked again in the new conversation, so the pair waits for
/// a prompt of a person there, says so, and is not paused by it.
#[test]
fn a_pair_that_follows_before_it_sent_anything_waits_for_a_prompt() {
    let mut world = with_answer();
    world.new_pair(Kickoff::WaitForNext, PairConfig::default()).unwrap();
    world.prompt(I, "go on");
    world.wait(4);
    let new = SessionId::new("i-new");
    world.implementer.replaced_by = Some((new.clone(), "the pane answers under another id".to_owned()));
    world.implementer.reach = None;
    world.wait(12);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::SessionChanged));
    world.control_only(&Control::Follow).unwrap();
    assert_eq!(world.pair().open_wait.as_ref().map(|wait| wait.side), Some(I));
    world.implementer.session.session_id = new;
    world.implementer.replaced_by = None;
    world.implementer.conversation.turns.clear();
    world.implementer.reach = None;
    world.wait(4);
    world.prompt(I, "go on here");
    world.answer(I, "Did it here.");
    world.wait(4);
    assert_eq!(world.pair().paused_reason, None);
    assert_eq!(world.sent(R).len(), 1);
}

/// The clock is set back behind a follow: what goes to the new session is looked for there, not in the one before.
#[test]
fn a_message_behind_a_follow_is_found_though_the_clock_was_set_back() {
    let mut world = reviewing(PairConfig::default());
    let new = SessionId::new("r-new");
    world.reviewer.replaced_by = Some((new.clone(), "the pane answers under another id".to_owned()));
    world.reviewer.reach = None;
    world.wait(12);
    world.control_only(&Control::Follow).unwrap();
    world.reviewer.session.session_id = new;
    world.reviewer.replaced_by = None;
    world.reviewer.conversation.turns.clear();
    world.now -= jiff::SignedDuration::from_hours(20);
    world.reviewer.reach = None;
    world.settle();
    world.wait(4);
    assert_eq!(world.sent(R).len(), 2, "the message whose answer was awaited, for the new session");
    world.take(R);
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!((world.pair().paused_reason, world.pair().stop_reason), (None, Some(PairStop::Lgtm)));
}

/// The implementer answered anew in the conversation that was then replaced: an approval of what was reviewed before
/// does not go past that answer.
#[test]
fn an_answer_of_a_conversation_that_was_left_is_reviewed_before_the_phase_is_done() {
    let mut world = reviewing(PairConfig::default());
    world.prompt(I, "and the other file too");
    world.answer(I, "Did that too.");
    world.wait(4);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
    let new = SessionId::new("i-new");
    world.implementer.replaced_by = Some((new.clone(), "the pane answers under another id".to_owned()));
    world.implementer.reach = None;
    world.wait(12);
    world.control_only(&Control::Resume).unwrap();
    world.wait(12);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::SessionChanged), "{:?}", world.pair());
    world.control_only(&Control::Follow).unwrap();
    world.implementer.session.session_id = new;
    world.implementer.replaced_by = None;
    world.implementer.conversation.turns.clear();
    world.implementer.reach = None;
    world.answer(R, "LGTM");
    world.wait(12);
    assert_eq!(world.pair().stop_reason, None);
    assert!(world.sent(R).last().unwrap().contains("Did that too."));
    world.take(R);
    world.answer(R, "LGTM");
    world.wait(12);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm));
}

/// The same while the first relay has not gone out yet: it carries the answer before (seed 3017647).
#[test]
fn an_answer_newer_than_a_relay_that_waits_is_reviewed_though_its_conversation_is_left() {
    let mut world = with_answer();
    world.missing_tick(R, "a dialog is open");
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    world.wait(6);
    assert_eq!(world.sent(R).len(), 0, "it is held");
    let new = SessionId::new("i-new");
    let replaced_by = Some((new.clone(), "the pane answers under another id".to_owned()));
    world.implementer.replaced_by.clone_from(&replaced_by);
    world.implementer.reach = world.reviewer.reach.clone().map(|reach| Reach { replaced_by, ..reach });
    world.wait(12);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::SessionChanged), "{:?}", world.pair());
    // What stood there before it was left, and came into the file late.
    world.prompt(I, "and the other file too");
    world.answer(I, "Did that too.");
    world.control_only(&Control::Follow).unwrap();
    world.implementer.session.session_id = new;
    world.implementer.replaced_by = None;
    world.implementer.conversation.turns.clear();
    world.implementer.reach = None;
    world.clear_box(R);
    world.wait(12);
    world.take(R);
    world.answer(R, "LGTM");
    world.wait(12);
    assert_eq!(world.pair().stop_reason, None);
    assert!(world.sent(R).last().unwrap().contains("Did that too."));
}

/// The clock is set back behind a follow: the time of the follow covers no prompt that comes later.
#[test]
fn a_prompt_behind_a_follow_is_looked_at_though_the_clock_was_set_back() {
    let mut world = reviewing(PairConfig::default());
    world.answer(R, "The key is missing.");
    world.wait(4);
    world.take(I);
    let new = SessionId::new("i-new");
    world.implementer.replaced_by = Some((new.clone(), "the pane answers under another id".to_owned()));
    world.implementer.reach = None;
    world.wait(12);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::SessionChanged));
    world.control_only(&Control::Follow).unwrap();
    world.implementer.session.session_id = new;
    world.implementer.replaced_by = None;
    world.implementer.conversation.turns.clear();
    world.implementer.reach = None;
    world.now -= jiff::SignedDuration::from_hours(20);
    world.prompt(I, "wait, not so fast");
    world.wait(4);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
    assert_eq!(world.sent(I).len(), 1, "nothing goes out behind it");
}

/// Follow: the baseline is empty, what stands in the new conversation pauses nothing, the undelivered is prepared anew.
#[test]
fn trace_23_follow_does_not_pause_at_once() {
    let mut world = reviewing(PairConfig::default());
    let new = SessionId::new("r-new");
    world.reviewer.replaced_by = Some((new.clone(), "the pane answers under another id".to_owned()));
    world.reviewer.reach = None;
    world.wait(12);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::SessionChanged));
    let refusal = world.control(&Control::Resume).unwrap_err();
    assert!(refusal.message.contains("follow"), "{}", refusal.message);
    // The new conversation has prompts of its own.
    let parts = world.scene();
    drop(parts);
    world.control_only(&Control::Follow).unwrap();
    let old = world.pair().participants_history[0].clone();
    assert_eq!((old.side, old.session.session_id.as_str()), (R, "r-session"));
    world.reviewer.session.session_id = new;
    world.reviewer.replaced_by = None;
    world.reviewer.conversation.turns.clear();
    world.now -= jiff::SignedDuration::from_secs(5);
    world.prompt(R, "hello there");
    world.answer(R, "Hello.");
    world.now += jiff::SignedDuration::from_secs(5);
    world.reviewer.reach = None;
    world.settle();
    world.wait(4);
    assert_eq!(world.pair().paused_reason, None);
    assert_eq!(world.sent(R).len(), 2, "the message whose answer was awaited, for the new session");
    let again = world.pair().outbox.last().unwrap();
    assert_eq!(again.resend_of, Some(world.pair().outbox[0].id.clone()));
    assert_eq!(again.purpose, Purpose::Continue);
    world.take(R);
    world.answer(R, "LGTM");
    world.wait(4);
    assert_eq!(world.pair().stop_reason, Some(PairStop::Lgtm));
    assert_eq!(world.pair().round_count, 1);
}

/// At a start where run and pair name different ids, the run's wins.
#[test]
fn trace_23_the_runs_id_wins() {
    let mut world = run_in_review(RunConfig::default());
    let new = SessionId::new("r-new");
    world.reviewer.replaced_by = Some((new.clone(), "the pane answers under another id".to_owned()));
    world.reviewer.reach = None;
    world.wait(12);
    assert_eq!(world.current().paused_reason, Some(PauseReason::SessionChanged));
    world.die_on_order = true;
    world.control_only(&Control::Follow).unwrap();
    assert_eq!(world.run().reviewer.session_id, new);
    assert_ne!(world.current().reviewer.session_id, new);
    world.reviewer.session.session_id = new.clone();
    world.reviewer.replaced_by = None;
    world.reviewer.conversation = trellis::model::conversation::Conversation::new(trellis::model::ids::Agent::Codex);
    world.restart();
    world.wait(4);
    assert_eq!(world.current().reviewer.session_id, new);
    assert_eq!(world.current().paused_reason, None);
    assert_eq!(world.sent(R).len(), 2);
}

/// A short text of ours inside a longer prompt proves nothing.
#[test]
fn trace_24_a_short_text_inside_a_longer_one_proves_nothing() {
    let config = PairConfig { review_prompt: String::new(), ..PairConfig::default() };
    let mut world = with_answer();
    world.prompt(I, "and?");
    world.answer(I, "Done.");
    world.wait(3);
    world.new_pair(Kickoff::UseCurrent, config).unwrap();
    world.wait(1);
    assert_eq!(world.sent(R), ["Done."]);
    world.prompt(R, "Done. Or so they say");
    world.pass(1);
    assert_eq!(world.pair().round_count, 0);
    assert_eq!(world.pair().paused_reason, Some(PauseReason::UserTyped));
}

/// The whole short text does.
#[test]
fn trace_24_a_short_text_alone_is_ours() {
    let config = PairConfig { review_prompt: String::new(), ..PairConfig::default() };
    let mut world = with_answer();
    world.prompt(I, "and?");
    world.answer(I, "Done.");
    world.wait(3);
    world.new_pair(Kickoff::UseCurrent, config).unwrap();
    world.wait(1);
    world.prompt(R, "<pasted_content id=\"ab12\">\nDone.\n</pasted_content id=\"ab12\">");
    world.pass(1);
    assert_eq!(world.pair().round_count, 1);
}

/// A sequence that typed nothing leaves a prepared entry, and is tried again when the ticks hold.
#[test]
fn a_sequence_that_typed_nothing_counts_for_nothing() {
    let mut world = with_answer();
    world.reviewer.reports.push_back(nothing_typed("a dialog opened"));
    world.new_pair(Kickoff::UseCurrent, PairConfig::default()).unwrap();
    assert_eq!(world.pair().outbox[0].attempts, 0);
    assert!(world.pair().outbox[0].transcript_mark.is_none());
    assert_eq!(world.sent(R).len(), 1, "no storm");
    world.wait(4);
    assert_eq!(world.sent(R).len(), 2);
    assert_eq!(world.run_state(), None);
}

impl World {
    fn run_state(&self) -> Option<RunState> {
        self.runs.last().map(|run| run.state)
    }
}

/// A review is to be stopped, the disk refuses that, and then the run is stopped: it still names that review (seed
/// 3115327).
#[test]
fn a_run_that_is_stopped_names_the_review_that_still_has_to_stop() {
    let mut world = run_in_review(RunConfig::default());
    let before = world.run().current_pair_id.clone();
    world.die_on_order = true;
    world.control_only(&Control::Retry).unwrap();
    world.control_only(&Control::Stop).unwrap();
    assert_eq!(world.run().pending_pair_stop, before);
    world.restart();
    world.pass(1);
    assert!(world.pairs.values().all(|pair| !pair.is_active()));
    assert_eq!(world.run().pending_pair_stop, None);
}
