//! Sessions as the driver knows them: found, observed, told of by a hook, gone and back, left for another one.

use super::world::{World, claude, codex, seconds};
use super::*;

/// A session that was not seen to live is looked at as soon as it writes, not at the next tick.
#[test]
fn a_session_is_observed_as_soon_as_it_is_heard_of() {
    let mut world = World::new();
    world.dead.push(codex().key());
    world.pass(seconds(20));
    world.asked.clear();
    let before = world.now;
    world.talks.borrow_mut().prompt(&codex().key(), "hello", world.now);
    world.hint();
    world.step();
    assert!(world.asked.iter().any(|ask| ask.session == codex().key()), "{:?}", world.asked);
    assert!(world.now.duration_since(before) < seconds(1));
}

#[test]
fn i15_a_flickering_session_is_told_once() {
    let mut world = World::new();
    world.new_run(FirstPhase::Next);
    world.pass(seconds(5));
    let told =
        |world: &World| world.events().into_iter().filter(|kind| *kind == EventKind::SessionStateChanged).count();
    let before = told(&world);
    for _ in 0..5 {
        world.talks.borrow_mut().prompt(&claude().key(), "flip", world.now);
        world.hint();
        world.now += jiff::SignedDuration::from_millis(100);
        world.talks.borrow_mut().answer(&claude().key(), "flop", world.now);
        world.hint();
        world.now += jiff::SignedDuration::from_millis(100);
    }
    assert_eq!(told(&world), before, "nothing while it flickers");
    world.replies = Box::new(|_, _| None);
    world.talks.borrow_mut().prompt(&claude().key(), "now really", world.now);
    world.hint();
    world.pass(seconds(5));
    assert_eq!(told(&world), before + 1);
    assert_eq!(world.disk.borrow().events.last().unwrap().reason.as_deref(), Some("working"));
}

/// S7: the agents are gone after a reboot: said within 5 s, once, with the way back, and never again and again.
#[test]
fn s07_a_dead_agent_pauses_the_run_once_and_comes_back() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Ask);
    world.dead.push(claude().key());
    world.restart();
    world.until(seconds(5), "gone", |world| world.run(&run).paused_reason == Some(PauseReason::AgentGone));
    let view = world.core.projection(world.now).runs[0].clone();
    assert_eq!(view.banner.unwrap().offers[0].key, "b");
    // What was under way when it died is still reported.
    world.pass(seconds(70));
    let told = (world.disk.borrow().events.len(), world.run(&run).revision);
    world.pass(seconds(600));
    assert_eq!((world.disk.borrow().events.len(), world.run(&run).revision), told, "nothing is said twice");
    assert!(matches!(world.control(&run, Control::BringBack), Reply::Done { .. }));
    world.until(seconds(120), "completed", |world| world.run(&run).stop_reason.is_some());
    assert_eq!(world.run(&run).stop_reason, Some(RunStop::Completed));
}

/// T17: what proves a `/clear` outlives trellis: the process that held the session is kept, and asked about after a start.
#[test]
fn t17_the_process_of_a_session_in_use_is_kept_over_a_restart() {
    let mut world = World::new();
    let mark = |pid| ProcessMark { pid, start_mark: "1117179".to_owned(), started_at: Some(world::noon()) };
    world.processes.insert(claude().key(), mark(4_242));
    world.pass(seconds(20));
    assert!(world.disk.borrow().sessions.is_empty(), "nothing is kept of a session that no record uses");
    world.new_run(FirstPhase::Next);
    world.pass(seconds(20));
    assert_eq!(world.disk.borrow().sessions[&claude().key()].seen, Some(mark(4_242)));
    // The process that holds it changes, as when a person ends and resumes it.
    world.processes.insert(claude().key(), mark(4_300));
    world.pass(seconds(20));
    world.processes.clear();
    world.asked.clear();
    world.restart();
    world.pass(seconds(1));
    let first = world.asked.iter().find(|ask| ask.session == claude().key()).unwrap();
    assert_eq!(first.last_seen, Some(mark(4_300)));
    assert_eq!(world.disk.borrow().sessions[&claude().key()].seen, Some(mark(4_300)), "a look that sees none keeps it");
}

fn told_by_hook(world: &World, name: &str, session: &trellis::model::ids::SessionRef, event: HookEvent) {
    let note = HookNote { at: world.now, session: session.clone(), transcript: None, process: None, event };
    world.disk.borrow_mut().hooks.insert(name.to_owned(), note);
}

/// A dialog that a hook tells of shows at once with what is asked, in the run as well, until anything newer answers it.
#[test]
fn an_approval_that_a_hook_tells_of_shows_at_once_and_goes_when_it_is_answered() {
    let mut world = World::new();
    world.replies = Box::new(|_, _| None);
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.pass(seconds(3));
    told_by_hook(&world, "1.json", &claude(), HookEvent::Asks { what: "Bash: touch x".to_owned() });
    world.hint();
    let view = |world: &mut World| world.core.projection(world.now);
    let shown = view(&mut world);
    let session = shown.sessions.iter().find(|view| view.session == claude()).unwrap();
    assert_eq!((session.state.word(), session.fact.because.as_str()), ("needs_approval", "Bash: touch x"));
    assert_eq!(session.fact.since, Some(world.now));
    assert_eq!(world.disk.borrow().hooks.len(), 1, "viewers read it too");
    // Its own word, a moment later, is that it goes on.
    world.pass(seconds(20));
    let shown = view(&mut world);
    let session = shown.sessions.iter().find(|view| view.session == claude()).unwrap();
    assert_eq!(session.state.word(), "working");
    assert!(world.disk.borrow().hooks.is_empty(), "what is answered is forgotten");
    assert_eq!(world.run(&run).paused_reason, None, "no hook moves a run");
}

/// A session that begins is known before its transcript, and gone from the list with its process.
#[test]
fn a_session_that_a_hook_tells_of_is_listed_before_its_transcript() {
    let mut world = World::new();
    let fresh = world::session(claude().agent, "fresh");
    told_by_hook(&world, "1.json", &fresh, HookEvent::Started);
    world.hint();
    let is_listed = |world: &mut World| {
        world.core.projection(world.now).sessions.iter().any(|view| view.session.session_id == fresh.session_id)
    };
    assert!(is_listed(&mut world));
    assert!(world.disk.borrow().hooks.is_empty());
    world.pass(seconds(20));
    assert!(is_listed(&mut world), "as long as it lives");
    told_by_hook(&world, "2.json", &fresh, HookEvent::Ended);
    world.hint();
    world.pass(seconds(20));
    assert!(!is_listed(&mut world));
}

/// A session that was dead before anyone looked is gone since it last spoke; a look changes nothing of what is shown.
#[test]
fn a_session_that_was_dead_at_the_first_look_is_gone_since_its_last_word() {
    let mut world = World::new();
    world.replies = Box::new(|_, _| None);
    let spoke = world.now - seconds(2 * 24 * 3_600);
    let old = world::session(claude().agent, "c-old");
    world.dead.push(old.key());
    let talk = trellis::model::conversation::Conversation::new(old.agent);
    world.talks.borrow_mut().conversations.insert(old.key(), talk);
    world.talks.borrow_mut().prompt(&old.key(), "begin", spoke);
    world.hint();
    world.pass(seconds(5));
    let fact = |world: &mut World| {
        let projection = world.core.projection(world.now);
        let view = projection.sessions.iter().find(|view| view.session == old).unwrap().clone();
        (view.state.word(), view.fact)
    };
    let first = fact(&mut world);
    assert_eq!((first.0, first.1.since), ("gone", Some(spoke)));
    world.pass(seconds(60));
    assert_eq!(fact(&mut world), first);
}

/// A session that no record uses has its state all the same, and what it rests on.
#[test]
fn a_session_that_nothing_uses_shows_its_state_and_its_ground() {
    let mut world = World::new();
    world.replies = Box::new(|_, _| None);
    world.talks.borrow_mut().prompt(&claude().key(), "begin", world.now);
    let began = world.now;
    world.hint();
    world.pass(seconds(2));
    let view = |world: &mut World| {
        let projection = world.core.projection(world.now);
        projection.sessions.iter().find(|view| view.session == claude()).unwrap().clone()
    };
    let works = view(&mut world);
    assert_eq!((works.state.word(), works.fact.since), ("working", Some(began)));
    assert!(works.fact.evidence.starts_with("record "), "{:?}", works.fact);
    world.talks.borrow_mut().answer(&claude().key(), "Done.", world.now);
    world.hint();
    world.pass(seconds(2));
    let idle = view(&mut world);
    assert_eq!((idle.state.word(), idle.fact.because.as_str()), ("awaiting_input", "its turn ended"));
}

/// T17: without a proof the wait line names the newer session of the folder, and nothing is switched.
#[test]
fn t17_a_newer_session_without_proof_is_named_and_never_followed() {
    let mut world = World::new();
    let run = world.new_run(FirstPhase::Next);
    let newer = world::session(claude().agent, "c-2");
    let talk = trellis::model::conversation::Conversation::new(newer.agent);
    world.talks.borrow_mut().conversations.insert(newer.key(), talk);
    world.talks.borrow_mut().prompt(&newer.key(), "after a clear", world.now);
    world.pass(seconds(40));
    let view = world.core.projection(world.now).runs[0].clone();
    assert_eq!(view.wait.what, "a newer session stands in its folder: c-2");
    world.talks.borrow_mut().answer(&newer.key(), "Phase one.", world.now);
    world.pass(seconds(60));
    let record = world.run(&run);
    assert_eq!((record.implementer, record.state), (claude(), RunState::Running));
    assert_eq!((record.paused_reason, record.phases.len()), (None, 0));
}
