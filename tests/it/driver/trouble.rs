//! What trouble leaves behind: time in which nothing could be saved, records that were refused and lie on the disk all the
//! same, a message to a side that answers under another session. Each was found by a seed of the simulator.

use trellis::model::command::{Command, Control, NewRun, RefusalKind, Reply};
use trellis::model::config::{FirstPhase, RunConfig};
use trellis::model::conversation::Conversation;
use trellis::model::ids::{RecordKey, Role};
use trellis::model::pair::PauseReason;
use trellis::model::reach::{ProcessFact, Reach};
use trellis::model::run::RunState;

use super::world::{World, claude, codex, seconds, session};

/// Seeds 2001046, 3000486, 3000495: the 60 s ran while the disk was full, and a person was asked as soon as it had room.
#[test]
fn time_in_which_nothing_could_be_saved_gives_no_message_up() {
    let mut world = World::new();
    world.lossy = true;
    let run = world.new_run(FirstPhase::Ask);
    world.until(seconds(30), "a send", |world| world.journal.borrow().iter().any(|line| line.starts_with("send")));
    world.disk.borrow_mut().full = true;
    world.pass(seconds(120));
    world.disk.borrow_mut().full = false;
    world.pass(seconds(45));
    assert_eq!(world.run(&run).state, RunState::Running, "{:?}", world.run(&run).paused_detail);
    let failed = |world: &World| world.run(&run).paused_reason == Some(PauseReason::DeliveryFailed);
    world.until(seconds(30), "a person is asked a minute after the first save", failed);
}

fn ordered(world: &mut World) -> Reply {
    let config = RunConfig { first_phase: FirstPhase::Next, ..RunConfig::default() };
    world.order(Command::CreateRun(NewRun { implementer: claude(), reviewer: codex(), config }))
}

fn refused(reply: &Reply) -> bool {
    matches!(reply, Reply::Refused(refusal) if refusal.kind == RefusalKind::NotSaved)
}

fn on_the_disk(world: &World) -> Vec<RecordKey> {
    let disk = world.disk.borrow();
    disk.runs.values().filter(|run| run.is_active()).map(|run| RecordKey::Run(run.id.clone())).collect()
}

/// Seeds 2001297, 3000796, 3002031: the run was refused, could not be removed, was ordered again under the same id, and
/// the next tick removed it.
#[test]
fn a_run_that_is_ordered_again_after_a_refusal_stays() {
    let mut world = World::new();
    let first = world.new_run(FirstPhase::Next);
    assert!(matches!(world.control(&first, Control::Stop), Reply::Done { .. }));
    world.disk.borrow_mut().sticks = true;
    assert!(refused(&world.control(&first, Control::RunOn)));
    world.disk.borrow_mut().sticks = false;
    let Reply::Done { record: Some(next), .. } = world.control(&first, Control::RunOn) else { panic!("refused") };
    world.pass(seconds(60));
    assert_eq!(on_the_disk(&world), [next]);
}

#[test]
fn nothing_new_is_made_beside_what_was_refused_and_lies_there() {
    let mut world = World::new();
    world.disk.borrow_mut().sticks = true;
    assert!(refused(&ordered(&mut world)));
    assert_eq!(on_the_disk(&world).len(), 1, "it lies there all the same");
    assert!(refused(&ordered(&mut world)));
    world.disk.borrow_mut().sticks = false;
    let Reply::Done { record: Some(run), .. } = ordered(&mut world) else { panic!("refused") };
    world.restart();
    world.pass(seconds(60));
    assert_eq!(on_the_disk(&world), [run]);
}

/// Seeds 3000599, 3002615: in a run between its reviews only the builder's side was looked at.
#[test]
fn a_message_to_a_reviewer_under_another_session_asks_to_follow_and_goes_there() {
    let mut world = World::new();
    let run = world.new_run(FirstPhase::Next);
    let newer = session(codex().agent, "x-2");
    world.talks.borrow_mut().conversations.insert(newer.key(), Conversation::new(newer.agent));
    let replaced = Some((newer.session_id.clone(), "the title of its pane".to_owned()));
    world.reaches.insert(codex().key(), Reach { replaced_by: replaced, ..world.alive() });
    world.pass(seconds(30));
    let write = Control::Write { side: Role::Reviewer, text: "look at the tests".to_owned(), go_on: true };
    assert!(matches!(world.control(&run, write), Reply::Done { .. }));
    let changed = |world: &World| world.run(&run).paused_reason == Some(PauseReason::SessionChanged);
    world.until(seconds(30), "a person is asked", changed);
    assert!(matches!(world.control(&run, Control::Follow), Reply::Done { .. }));
    world.until(seconds(30), "it went to the new session", |world| world.prompts(&newer) == ["look at the tests"]);
    assert_eq!(world.prompts(&codex()).len(), 1, "nothing to the old one");
}

/// Seed 3003067: the process that had started them was gone, and the next one had written meanwhile.
#[test]
fn background_agents_that_went_with_their_process_are_not_waited_for() {
    let mut world = World::new();
    let (began, again) = (world.now - seconds(60), world.now - seconds(30));
    {
        let mut talks = world.talks.borrow_mut();
        let conversation = talks.conversations.get_mut(&codex().key()).unwrap();
        (conversation.background_agents, conversation.background_since) = (1, Some(began));
        talks.prompt(&codex().key(), "are you back?", again + seconds(5));
        talks.answer(&codex().key(), "I am.", again + seconds(10));
    }
    let process = ProcessFact::Alive { pid: 2, started_at: Some(again) };
    world.reaches.insert(codex().key(), Reach { process, ..world.alive() });
    world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(60), "a relay", |world| world.prompts(&codex()).len() == 3);
}
