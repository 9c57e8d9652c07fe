//! Every wait names the one thing that ends it, and its deadline where it has one. Each case here makes a wait, sees that
//! it goes on waiting without that thing, does the thing, and sees the run go on.

use trellis::driver::core::Input;
use trellis::machine::{By, Wait};
use trellis::model::command::{Confirm, Control, Reply};
use trellis::model::config::{FirstPhase, RunConfig};
use trellis::model::conversation::{Conversation, Failure, FailureClass, QueuedPrompt};
use trellis::model::ids::RecordKey;
use trellis::model::pair::PauseReason;
use trellis::model::reach::{InputBox, LiveStatus, Reach, Tick, Ticks, Transport};
use trellis::model::run::{RunState, RunStep};

use super::world::{World, claude, codex, seconds, session};

fn wait(world: &mut World) -> Wait {
    world.core.projection(world.now).runs[0].wait.clone()
}

/// A run whose builder has done its phase; the reviewer stays silent.
fn in_review() -> (World, RecordKey) {
    let mut world = World::new();
    world.replies = Box::new(|session, _| (session == &claude().key()).then(|| "Did it.".to_owned()));
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(30), "the relay", |world| world.prompts(&codex()).len() == 2);
    (world, run)
}

/// A run whose relay is due and not sent: `before` is done to the world as soon as the builder works.
fn due(before: impl FnOnce(&mut World)) -> (World, RecordKey) {
    let mut world = World::new();
    world.replies = Box::new(|session, _| (session == &claude().key()).then(|| "Did it.".to_owned()));
    let run = world.new_run(FirstPhase::Next);
    before(&mut world);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(30), "the review", |world| world.run(&run).step == Some(RunStep::Review));
    world.pass(seconds(5));
    (world, run)
}

fn order(world: &mut World, run: &RecordKey, control: Control) {
    let reply = world.control(run, control);
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
}

/// What is waited for says where it ends and in which words; for a while nothing ends it.
#[track_caller]
fn waits(world: &mut World, by: By, ends: &str, goes_on: impl Fn(&World) -> bool) -> Wait {
    let told = wait(world);
    assert_eq!((told.by, told.ends.as_str()), (by, ends), "{told:?}");
    assert_eq!(told.deadline.is_some(), by == By::Timer, "a time that ends it is named: {told:?}");
    assert!(!goes_on(world));
    if by != By::Timer {
        world.pass(seconds(45));
        assert!(!goes_on(world), "it went on without what ends it: {told:?}");
        let later = wait(world);
        assert_eq!((later.by, later.ends.as_str()), (by, ends), "{later:?}");
    }
    told
}

/// Nothing but time passes: before the deadline it waits, behind it it goes on.
#[track_caller]
fn ends_with_its_time(world: &mut World, ends: &str, goes_on: impl Fn(&World) -> bool) {
    let told = waits(world, By::Timer, ends, &goes_on);
    let at = told.deadline.unwrap();
    world.pass(at.duration_since(world.now) - seconds(1));
    assert!(!goes_on(world), "before its deadline: {told:?}");
    world.until(seconds(20), "the deadline has come", goes_on);
    assert!(world.now >= at);
}

fn relayed(world: &World) -> bool {
    world.prompts(&codex()).len() == 2
}

fn held(missing: Ticks, input: InputBox) -> impl FnOnce(&mut World) {
    move |world: &mut World| {
        let reach = Reach { ticks: missing, input, status: LiveStatus::Idle, ..world.alive() };
        world.reaches.insert(codex().key(), reach);
    }
}

fn freed(world: &mut World) {
    world.reaches.clear();
}

#[test]
fn a_wait_for_a_turn_ends_with_its_record() {
    let (mut world, run) = in_review();
    let agreed = |world: &World| world.run(&run).phases_done == 1;
    waits(&mut world, By::Transcript, "ends when codex ends its turn", agreed);
    world.talks.borrow_mut().answer(&codex().key(), "LGTM", world.now);
    world.hint();
    world.until(seconds(30), "agreed", agreed);
}

#[test]
fn a_wait_for_a_first_answer_ends_with_it() {
    let mut world = World::new();
    world.replies = Box::new(|session, _| (session == &claude().key()).then(|| "Did it.".to_owned()));
    let run = world.new_run(FirstPhase::Next);
    waits(&mut world, By::Transcript, "ends when claude has answered", relayed);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(30), "relayed", relayed);
    assert_eq!(world.run(&run).step, Some(RunStep::Review));
}

#[test]
fn a_wait_for_a_quiet_moment_ends_with_its_time() {
    let mut world = World::new();
    world.replies = Box::new(|_, _| None);
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.pass(seconds(10));
    world.talks.borrow_mut().answer(&claude().key(), "Did it.", world.now);
    world.hint();
    ends_with_its_time(&mut world, "read in a moment", |world| world.run(&run).step == Some(RunStep::Review));
}

#[test]
fn a_wait_for_a_busy_side_ends_with_its_turn() {
    let (mut world, _) = due(|world| {
        world.talks.borrow_mut().prompt(&codex().key(), "explain this", world.now);
        world.hint();
    });
    waits(&mut world, By::Transcript, "ends when codex ends its turn", relayed_behind_another);
    world.talks.borrow_mut().answer(&codex().key(), "It is so.", world.now);
    world.hint();
    world.until(seconds(30), "relayed", relayed_behind_another);
}

fn relayed_behind_another(world: &World) -> bool {
    world.prompts(&codex()).len() == 3
}

#[test]
fn a_wait_for_background_agents_ends_with_their_report() {
    let background = |world: &mut World, count| {
        world.talks.borrow_mut().conversations.get_mut(&codex().key()).unwrap().background_agents = count;
        world.talks.borrow_mut().changed.push(codex().key());
        world.hint();
    };
    let (mut world, _) = due(|world| background(world, 1));
    waits(&mut world, By::Transcript, "ends when they have reported", relayed);
    background(&mut world, 0);
    world.until(seconds(30), "relayed", relayed);
}

#[test]
fn a_wait_for_a_queued_prompt_ends_when_it_is_taken() {
    let queued = |world: &mut World, prompts: Vec<QueuedPrompt>| {
        world.talks.borrow_mut().conversations.get_mut(&codex().key()).unwrap().queued = prompts;
        world.talks.borrow_mut().changed.push(codex().key());
        world.hint();
    };
    let (mut world, _) = due(|world| {
        let prompt = QueuedPrompt { text: "look at the tests too".into(), offset: 0, at: Some(world.now) };
        queued(world, vec![prompt]);
    });
    waits(&mut world, By::Transcript, "ends when codex has taken it", relayed);
    queued(&mut world, Vec::new());
    world.until(seconds(30), "relayed", relayed);
}

#[test]
fn a_wait_for_a_dialog_ends_in_its_pane() {
    let open = Ticks { no_dialog: Tick::Missing("a dialog is open".to_owned()), ..Ticks::all_hold() };
    let (mut world, _) = due(held(open, InputBox::Empty));
    waits(&mut world, By::Pane, "ends when you have answered codex", relayed);
    freed(&mut world);
    world.until(seconds(30), "relayed", relayed);
}

#[test]
fn a_wait_for_an_empty_box_ends_in_its_pane() {
    let full = Ticks { box_empty: Tick::Missing("unsent text in codex's input box".to_owned()), ..Ticks::all_hold() };
    let (mut world, _) = due(held(full, InputBox::Other));
    waits(&mut world, By::Pane, "goes out when that is gone", relayed);
    freed(&mut world);
    world.until(seconds(30), "relayed", relayed);
}

#[test]
fn a_wait_for_a_paste_ends_in_its_pane() {
    let (mut world, run) = due(|world| {
        let reach = Reach { transport: Some(Transport::ByHand), ..world.alive() };
        world.reaches.insert(codex().key(), reach);
    });
    let seen = |world: &World| world.pair_of(&run).round_count == 1;
    waits(&mut world, By::Pane, "ends when its transcript shows it", seen);
    let text = world.pair_of(&run).outbox[0].text.text().to_owned();
    world.person_types(&codex(), &text);
    world.until(seconds(30), "seen", seen);
}

#[test]
fn a_wait_for_evidence_ends_with_the_record_and_names_when_a_person_is_asked() {
    let (mut world, run) = due(|world| world.lossy = true);
    let told = wait(&mut world);
    assert_eq!(told.by, By::Transcript, "{told:?}");
    let asks_at = told.asks_at.unwrap();
    assert!(asks_at > world.now && asks_at <= world.now + seconds(60));
    let text = world.pair_of(&run).outbox[0].text.text().to_owned();
    world.person_types(&codex(), &text);
    world.until(seconds(10), "seen", |world| world.pair_of(&run).round_count == 1);
    // Without the record the other end comes: at that time a person is asked.
    let (mut world, run) = due(|world| world.lossy = true);
    let asks_at = wait(&mut world).asks_at.unwrap();
    let asked = |world: &World| world.pair_of(&run).paused_reason == Some(PauseReason::DeliveryFailed);
    world.pass(asks_at.duration_since(world.now) - seconds(1));
    assert!(!asked(&world));
    world.until(seconds(20), "asked", asked);
}

/// Killed between the beginning of a send and its report: whether anything was typed shows only with time.
#[test]
fn a_wait_for_the_grace_of_a_message_ends_with_its_time() {
    let mut world = World::new();
    world.lossy = true;
    world.replies = Box::new(|session, _| (session == &claude().key()).then(|| "Did it.".to_owned()));
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(30), "begun", |world| {
        world.run(&run).current_pair_id.is_some()
            && world.pair_of(&run).outbox.first().is_some_and(|entry| entry.attempts == 1)
    });
    world.restart();
    world.pass(seconds(2));
    world.lossy = false;
    ends_with_its_time(&mut world, "is tried again then", relayed);
}

/// A stopped run has left a message on its way; the next run's goes out when that one was seen.
#[test]
fn a_wait_for_a_message_of_another_record_ends_when_that_is_seen() {
    let (mut world, old) = due(|world| world.lossy = true);
    let text = world.pair_of(&old).outbox[0].text.text().to_owned();
    order(&mut world, &old, Control::Stop);
    world.lossy = false;
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase two");
    world.until(seconds(30), "the review", |world| world.run(&run).step == Some(RunStep::Review));
    world.pass(seconds(5));
    let projection = world.core.projection(world.now);
    let told = projection.runs.iter().find(|shown| shown.key == run).unwrap().wait.clone();
    assert_eq!(
        (told.by, told.ends.as_str()),
        (By::Transcript, "ends when that message is seen or given up"),
        "{told:?}"
    );
    let sent = |world: &World| world.pair_of(&run).outbox[0].attempts > 0;
    world.pass(seconds(20));
    assert!(!sent(&world));
    world.person_types(&codex(), &text);
    world.talks.borrow_mut().answer(&codex().key(), "Fine so far.", world.now);
    world.hint();
    world.until(seconds(30), "sent", sent);
}

fn failing(failure: Failure) -> (World, RecordKey) {
    let (mut world, run) = in_review();
    world.talks.borrow_mut().fail(&codex().key(), failure, world.now);
    world.hint();
    world.pass(seconds(5));
    (world, run)
}

#[test]
fn a_wait_after_a_passing_failure_ends_with_its_time() {
    let failure = Failure { class: FailureClass::Overloaded, text: "529".to_owned(), resets_at: None };
    let (mut world, _) = failing(failure);
    ends_with_its_time(&mut world, "goes on by itself", |world| world.prompts(&codex()).len() == 3);
}

#[test]
fn a_wait_for_a_limit_ends_with_its_time() {
    let (mut world, run) = in_review();
    let resets_at = Some(world.now + seconds(3_600));
    let failure = Failure { class: FailureClass::Limit, text: "resets 13:00".to_owned(), resets_at };
    world.talks.borrow_mut().fail(&codex().key(), failure, world.now);
    world.hint();
    world.pass(seconds(5));
    assert_eq!(world.pair_of(&run).paused_reason, Some(PauseReason::Limit));
    let told = wait(&mut world);
    assert_eq!((told.by, told.deadline), (By::Timer, resets_at), "{told:?}");
    world.pass(seconds(3_500));
    assert_eq!(world.prompts(&codex()).len(), 2);
    world.until(seconds(150), "asked to go on", |world| world.prompts(&codex()).len() == 3);
    assert!(Some(world.now) >= resets_at);
}

#[test]
fn a_pause_of_a_person_ends_with_their_key() {
    let (mut world, run) = in_review();
    order(&mut world, &run, Control::Pause);
    let goes = |world: &World| world.run(&run).state == RunState::Running;
    waits(&mut world, By::Key, "goes on when you say so", goes);
    order(&mut world, &run, Control::Resume);
    assert!(goes(&world));
}

#[test]
fn a_decision_of_a_person_ends_with_their_key() {
    let (mut world, run) = in_review();
    world.person_types(&claude(), "one more thing");
    world.pass(seconds(10));
    assert_eq!(world.pair_of(&run).paused_reason, Some(PauseReason::UserTyped));
    let goes = |world: &World| world.pair_of(&run).paused_reason.is_none();
    waits(&mut world, By::Key, "ends when you decide", goes);
    order(&mut world, &run, Control::Resume);
    world.until(seconds(30), "goes on", goes);
}

#[test]
fn a_relay_that_waits_for_a_look_ends_with_a_key() {
    let mut world = World::new();
    world.replies = Box::new(|session, _| (session == &claude().key()).then(|| "Did it.".to_owned()));
    let config = RunConfig { first_phase: FirstPhase::Next, confirm_before_relay: true, ..RunConfig::default() };
    let run = world.new_run_with(config);
    world.person_types(&claude(), "do phase one");
    world.pass(seconds(15));
    waits(&mut world, By::Key, "ends when you send or drop it", relayed);
    order(&mut world, &run, Control::Confirm(Confirm::Send { edited_text: None }));
    world.until(seconds(30), "relayed", relayed);
}

#[test]
fn an_agent_that_is_gone_is_waited_for_until_a_key_brings_it_back() {
    let (mut world, run) = in_review();
    world.dead.push(codex().key());
    world.core.input(Input::Hint, world.now);
    let goes = |world: &World| world.pair_of(&run).paused_reason.is_none();
    world.until(seconds(60), "gone", |world| !goes(world));
    assert_eq!(world.pair_of(&run).paused_reason, Some(PauseReason::AgentGone));
    waits(&mut world, By::Key, "ends when you decide", goes);
    order(&mut world, &run, Control::BringBack);
    world.until(seconds(60), "back", goes);
}

/// What has ended waits for nothing.
#[test]
fn an_ended_run_names_no_wait() {
    let (mut world, run) = in_review();
    order(&mut world, &run, Control::Stop);
    let told = wait(&mut world);
    assert_eq!((told.by, told.deadline, told.asks_at), (By::Nothing, None, None), "{told:?}");
}

/// Inside of a turn its agent asks: nothing but the person's answer lets that turn go on, so that is what is named.
#[test]
fn a_wait_for_a_question_inside_a_turn_ends_in_its_pane() {
    let open = Ticks { no_dialog: Tick::Missing("a dialog is open".to_owned()), ..Ticks::all_hold() };
    let asks = |world: &mut World, question: Option<&str>| {
        world.talks.borrow_mut().conversations.get_mut(&codex().key()).unwrap().question = question.map(str::to_owned);
        world.talks.borrow_mut().changed.push(codex().key());
        world.hint();
    };
    for in_the_transcript in [false, true] {
        let (mut world, run) = in_review();
        if in_the_transcript {
            asks(&mut world, Some("Which one?"));
        } else {
            held(open.clone(), InputBox::Empty)(&mut world);
        }
        world.pass(seconds(45));
        let agreed = |world: &World| world.run(&run).phases_done == 1;
        waits(&mut world, By::Pane, "ends when you have answered codex", agreed);
        asks(&mut world, None);
        freed(&mut world);
        world.pass(seconds(45));
        waits(&mut world, By::Transcript, "ends when codex ends its turn", agreed);
        world.talks.borrow_mut().answer(&codex().key(), "LGTM", world.now);
        world.hint();
        world.until(seconds(30), "agreed", agreed);
    }
}

/// The reviewer has approved while the builder is not free: it is the builder who is waited for.
#[test]
fn a_wait_of_an_approval_ends_with_what_keeps_the_builder() {
    let background = |world: &mut World, count| {
        world.talks.borrow_mut().conversations.get_mut(&claude().key()).unwrap().background_agents = count;
        world.talks.borrow_mut().changed.push(claude().key());
        world.hint();
    };
    let approved = |world: &mut World| {
        world.talks.borrow_mut().answer(&codex().key(), "LGTM", world.now);
        world.hint();
        world.pass(seconds(10));
    };
    let (mut world, run) = in_review();
    let agreed = |world: &World| world.run(&run).phases_done == 1;
    background(&mut world, 1);
    approved(&mut world);
    waits(&mut world, By::Transcript, "ends when they have reported", agreed);
    background(&mut world, 0);
    world.until(seconds(30), "agreed", agreed);

    let (mut world, run) = in_review();
    let agreed = |world: &World| world.run(&run).phases_done == 1;
    let ticks = Ticks { no_dialog: Tick::Missing("a dialog is open".to_owned()), ..Ticks::all_hold() };
    world.reaches.insert(claude().key(), Reach { ticks, status: LiveStatus::Idle, ..world.alive() });
    world.pass(seconds(45));
    approved(&mut world);
    waits(&mut world, By::Pane, "ends when you have answered claude", agreed);
    freed(&mut world);
    world.until(seconds(30), "agreed", agreed);
}

/// A phase is asked for as soon as the builder is free; until then the end of what it does is named.
#[test]
fn a_wait_to_ask_for_a_phase_ends_when_the_builder_is_free() {
    let mut world = World::new();
    world.replies = Box::new(|_, _| None);
    world.person_types(&claude(), "tidy up first");
    world.pass(seconds(10));
    world.new_run(FirstPhase::Ask);
    let asked =
        |world: &World| world.prompts(&claude()).iter().any(|text| text.starts_with("Implement the next phase"));
    waits(&mut world, By::Transcript, "ends when claude ends its turn", asked);
    world.talks.borrow_mut().answer(&claude().key(), "Tidy.", world.now);
    world.hint();
    world.until(seconds(30), "asked", asked);
}

/// The disk takes no record: nothing but room on it ends that, whatever the record waited for before.
#[test]
fn a_wait_for_the_disk_ends_when_it_can_be_saved() {
    let (mut world, run) = in_review();
    world.disk.borrow_mut().full = true;
    world.talks.borrow_mut().answer(&codex().key(), "LGTM", world.now);
    world.hint();
    world.pass(seconds(10));
    let agreed = |world: &World| world.run(&run).phases_done == 1;
    let told = waits(&mut world, By::Itself, "ends when it can be saved, which is tried again and again", agreed);
    assert!(told.what.contains("no space"), "{told:?}");
    world.disk.borrow_mut().full = false;
    world.until(seconds(30), "agreed", agreed);
}

/// Another session took the place of a side: a person follows it, and nothing else does.
#[test]
fn a_wait_behind_a_change_of_session_ends_with_a_key() {
    let (mut world, run) = in_review();
    let next = session(codex().agent, "x-2");
    world.talks.borrow_mut().conversations.insert(next.key(), Conversation::new(next.agent));
    let replaced_by = Some((next.session_id.clone(), "its status file names it".to_owned()));
    world.reaches.insert(codex().key(), Reach { replaced_by, ..world.alive() });
    let goes = |world: &World| world.pair_of(&run).paused_reason.is_none();
    world.until(seconds(60), "asked about", |world| !goes(world));
    assert_eq!(world.pair_of(&run).paused_reason, Some(PauseReason::SessionChanged));
    waits(&mut world, By::Key, "ends when you decide", goes);
    world.reaches.clear();
    order(&mut world, &run, Control::Follow);
    world.until(seconds(60), "goes on", goes);
    assert_eq!(world.pair_of(&run).reviewer.session_id, next.session_id);
}

/// A limit whose end nobody named.
#[test]
fn a_wait_for_a_limit_without_a_time_ends_with_a_key() {
    let failure = Failure { class: FailureClass::Limit, text: "You've hit your limit".to_owned(), resets_at: None };
    let (mut world, run) = failing(failure);
    let goes = |world: &World| world.pair_of(&run).paused_reason.is_none();
    waits(&mut world, By::Key, "ends when you decide", goes);
    order(&mut world, &run, Control::Resume);
    world.until(seconds(30), "goes on", goes);
}
