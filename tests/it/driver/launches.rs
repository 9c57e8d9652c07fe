//! New sessions through the driver: the note first, then the window, then what is seen of it; and both sides brought back
//! with one order.

use trellis::driver::ports::{Job, Outcome};
use trellis::model::command::{Command, Control, RefusalKind, Reply, SessionControl};
use trellis::model::config::FirstPhase;
use trellis::model::ids::{Agent, SessionId, SessionKey};
use trellis::model::launch::{NewSession, is_unnamed};
use trellis::model::pair::PauseReason;
use trellis::model::reach::{LiveStatus, ProcessFact, Reach, Tick, Transport};
use trellis::model::session::{Launch, Need, SessionNote, SessionState};
use trellis::projection::{LaunchStage, LaunchView};

use super::straight;
use super::world::{World, claude, codex, seconds};

fn wanted(agent: Agent) -> NewSession {
    NewSession {
        agent,
        worktree: "/w/shop".to_owned(),
        transport: Transport::Tmux,
        permission_mode: None,
        model: None,
        prompt: None,
        name: Some("mine".to_owned()),
    }
}

fn launch(world: &mut World) -> LaunchView {
    world.core.projection(world.now).launches.last().unwrap().clone()
}

/// What is seen of a program that has not named its session.
fn reach(world: &World, status: LiveStatus) -> Reach {
    Reach { status, place: "%5".to_owned(), ..world.alive() }
}

fn comes_to(world: &mut World, within: i64, stage: LaunchStage) {
    let end = world.now + seconds(within);
    while launch(world).stage != stage {
        assert!(world.now < end, "{:?}", launch(world));
        world.pass(seconds(1));
    }
}

fn asked(world: &World) -> SessionKey {
    world.starts.last().unwrap().session.clone()
}

#[test]
fn a_note_is_saved_before_an_agent_is_started_and_the_order_is_answered_with_its_place() {
    let mut world = World::new();
    let order = NewSession {
        permission_mode: Some("plan".to_owned()),
        prompt: Some("Hello".to_owned()),
        ..wanted(Agent::Claude)
    };
    assert_eq!(
        world.core.order(Command::StartSession(order.clone()), world.now),
        None,
        "not before its window is open"
    );
    let key = world.disk.borrow().sessions.keys().next().unwrap().clone();
    assert_eq!((key.agent, key.session_id.as_str().len()), (Agent::Claude, 36));
    let kept = world.disk.borrow().sessions[&key].clone();
    assert_eq!((kept.name.as_deref(), kept.transport), (Some("mine"), Some(Transport::Tmux)));
    assert_eq!(kept.launch.unwrap().permission_mode.as_deref(), Some("plan"));
    let mut replies = Vec::new();
    while replies.is_empty() {
        world.step();
        replies = world.core.take_replies();
    }
    assert!(matches!(&replies[0].1, Reply::Done { note, .. } if note == "claude starts in pane %5"), "{replies:?}");
    assert_eq!(world.starts[0].prompt.as_deref(), Some("Hello"));
    world.pass(seconds(1));
    let view = world.core.projection(world.now);
    let listed = view.sessions.iter().find(|view| view.session.key() == key).unwrap();
    assert_eq!((&*listed.title, listed.session.worktree.as_str()), ("mine", "/w/shop"), "it has no transcript");
}

#[test]
fn nothing_is_started_when_the_note_cannot_be_saved() {
    let mut world = World::new();
    world.disk.borrow_mut().full = true;
    let reply = world.order(Command::StartSession(wanted(Agent::Claude)));
    assert!(matches!(&reply, Reply::Refused(refusal) if refusal.kind == RefusalKind::NotSaved), "{reply:?}");
    assert!(world.starts.is_empty() && !world.jobs.borrow().iter().any(|job| matches!(job, Job::Launch(_))));
}

#[test]
fn a_window_that_does_not_open_is_refused_and_leaves_no_note() {
    let mut world = World::new();
    world.window = Err("tmux opens no window: duplicate session: x".to_owned());
    let reply = world.order(Command::StartSession(wanted(Agent::Codex)));
    let Reply::Refused(refusal) = reply else { panic!("{reply:?}") };
    assert_eq!(refusal.message, "can't start codex: tmux opens no window: duplicate session: x");
    assert!(world.disk.borrow().sessions.is_empty());
    assert_eq!(launch(&mut world).stage, LaunchStage::Ended);
}

#[test]
fn what_cannot_be_is_refused_at_its_field() {
    let mut world = World::new();
    let order = NewSession { permission_mode: Some("yolo".to_owned()), ..wanted(Agent::Claude) };
    let reply = world.order(Command::StartSession(order));
    assert!(
        matches!(&reply, Reply::Refused(refusal) if refusal.field.as_deref() == Some("permission_mode")),
        "{reply:?}"
    );
    assert!(world.starts.is_empty());
}

#[test]
fn a_question_of_the_start_is_a_need_and_the_launch_waits() {
    let mut world = World::new();
    let asks = LiveStatus::Waiting { what: "its question whether to trust the folder".to_owned() };
    world.seen_first = Some(reach(&world, asks));
    world.order(Command::StartSession(wanted(Agent::Claude)));
    let key = asked(&world);
    comes_to(&mut world, 5, LaunchStage::Waits);
    let view = world.core.projection(world.now);
    assert_eq!(view.launches[0].words, "claude waits for you in %5: its question whether to trust the folder");
    let listed = view.sessions.iter().find(|view| view.session.key() == key).unwrap();
    assert_eq!(listed.state, SessionState::NeedsYou(Need::NeedsApproval));
    assert!(listed.fact.because.contains("trust the folder"), "{:?}", listed.fact);
    // However long it takes.
    world.pass(seconds(4_000));
    assert_eq!(launch(&mut world).stage, LaunchStage::Waits);
    let up = reach(&world, LiveStatus::Idle);
    world.reaches.insert(key.clone(), up);
    comes_to(&mut world, 20, LaunchStage::Up);
    assert_eq!(launch(&mut world).session, key);
}

#[test]
fn a_program_that_ends_at_once_is_told_with_its_words_and_leaves_no_note() {
    let mut world = World::new();
    let mut dead = reach(&world, LiveStatus::Silent);
    dead.process = ProcessFact::Dead;
    dead.transport = None;
    dead.ticks.alive = Tick::Missing("it ended at once and said: Session ID 1 is already in use.".to_owned());
    world.seen_first = Some(dead);
    world.order(Command::StartSession(wanted(Agent::Claude)));
    comes_to(&mut world, 5, LaunchStage::Ended);
    assert!(launch(&mut world).words.ends_with("said: Session ID 1 is already in use."));
    assert!(world.disk.borrow().sessions.is_empty());
    let notices = world.core.projection(world.now).notices.clone();
    assert!(notices.iter().any(|notice| notice.is_error && notice.text.contains("did not come up")), "{notices:?}");
}

#[test]
fn a_session_takes_its_note_along_when_its_agent_names_it() {
    let mut world = World::new();
    world.seen_first = Some(reach(&world, LiveStatus::Idle));
    world.order(Command::StartSession(wanted(Agent::Codex)));
    let ours = asked(&world);
    assert!(is_unnamed(&ours.session_id));
    comes_to(&mut world, 5, LaunchStage::Unnamed);
    // A trellis that starts only now goes on with it.
    world.restart();
    let mut named = reach(&world, LiveStatus::Silent);
    named.replaced_by = Some((SessionId::from("thread-1"), "codex's pid 7 now holds the rollout".to_owned()));
    world.reaches.insert(ours.clone(), named);
    let key = SessionKey { agent: Agent::Codex, session_id: SessionId::from("thread-1") };
    world.until(seconds(20), "its name", |world| world.disk.borrow().sessions.contains_key(&key));
    let disk = world.disk.borrow().sessions.clone();
    assert_eq!((disk.len(), disk[&key].name.as_deref()), (1, Some("mine")));
    assert!(disk[&key].launch.is_some());
    let view = launch(&mut world);
    assert_eq!((view.stage, view.session), (LaunchStage::Up, key));
    assert_eq!(view.asked, ours);
}

#[test]
fn a_viewer_names_the_driver_and_starts_nothing() {
    let mut world = World::new();
    world.core.driven_by(trellis::projection::DriverFact::Elsewhere { pid: Some(4_242), background: false });
    let reply = world.order(Command::StartSession(wanted(Agent::Claude)));
    let Reply::Refused(refusal) = reply else { panic!("{reply:?}") };
    assert_eq!(refusal.kind, RefusalKind::NotDriver);
    assert!(refusal.message.contains("4242"), "{refusal}");
    assert!(world.starts.is_empty() && world.disk.borrow().sessions.is_empty());
}

/// Both agents are gone, as after a reboot: one order, both at once, and the run goes on when the second is back.
#[test]
fn s07_one_order_brings_both_sides_back_with_what_they_ran_as() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Ask);
    let ran = Launch {
        argv: vec!["/opt/claude".to_owned()],
        worktree: "/w/shop".to_owned(),
        permission_mode: Some("acceptEdits".to_owned()),
        ..Launch::default()
    };
    world.tell(Outcome::RunsAs(claude().key(), ran.clone()));
    world.pass(seconds(1));
    let kept: SessionNote = world.disk.borrow().sessions[&claude().key()].clone();
    assert_eq!(kept.launch, Some(ran.clone()), "kept for the time after");
    world.dead.extend([claude().key(), codex().key()]);
    world.restart();
    world.until(seconds(5), "gone", |world| world.run(&run).paused_reason == Some(PauseReason::AgentGone));
    assert!(matches!(world.control(&run, Control::BringBack), Reply::Done { .. }));
    world.until(seconds(10), "both back", |world| world.comebacks.len() == 2);
    let orders: Vec<&str> = world.comebacks.iter().map(|back| back.order.as_str()).collect();
    assert_eq!(orders[0], orders[1], "side by side");
    let of_claude = world.comebacks.iter().find(|back| back.session == claude()).unwrap();
    assert_eq!(of_claude.launch, Some(ran));
    world.until(seconds(120), "completed", |world| world.run(&run).stop_reason.is_some());
    // One alone is an order of its own.
    world.dead.push(codex().key());
    let order = Command::Session { session: codex().key(), control: SessionControl::BringBack };
    assert!(matches!(world.order(order), Reply::Done { .. }));
    world.pass(seconds(1));
    assert_eq!(world.comebacks.len(), 3);
    assert_ne!(world.comebacks.last().unwrap().order, world.comebacks[0].order);
}

/// "Bring back … then goes on": a turn that died with its process is seen before the loop goes on, and asks for nothing more.
#[test]
fn a_loop_goes_on_after_a_turn_that_died_with_its_process() {
    let mut world = World::new();
    let mut reviews = 0;
    world.replies = Box::new(move |side, prompt| {
        if *side == codex().key() {
            reviews += 1;
            return (reviews > 1).then(|| "LGTM".to_owned());
        }
        Some(if prompt.contains("Implement") { "Phase one is written." } else { "READY" }.to_owned())
    });
    let run = world.new_run(FirstPhase::Ask);
    let is_asked = |world: &World| world.talks.borrow().conversations[&codex().key()].is_open();
    world.until(seconds(60), "the review", is_asked);
    world.dead.extend([claude().key(), codex().key()]);
    world.restart();
    let why = |world: &World| world.run(&run).paused_reason.or(world.pair_of(&run).paused_reason);
    world.until(seconds(60), "gone", |world| why(world) == Some(PauseReason::AgentGone));
    world.pass(seconds(30));
    assert!(matches!(world.control(&run, Control::BringBack), Reply::Done { .. }));
    let process = ProcessFact::Alive { pid: 9, started_at: Some(world.now) };
    world.reaches.insert(codex().key(), Reach { process, status: LiveStatus::Idle, ..world.alive() });
    world.until(seconds(10), "going on", |world| world.comebacks.len() == 2 && why(world).is_none());
    let end = world.now + seconds(60);
    while world.run(&run).phases_done == 0 {
        assert!(world.now < end, "{:?}", world.pair_of(&run));
        assert_eq!(why(&world), None, "nobody is asked again");
        world.pass(seconds(1));
    }
}

#[test]
fn what_a_session_outside_of_runs_runs_as_is_not_kept() {
    let mut world = World::new();
    world.tell(Outcome::RunsAs(claude().key(), Launch { argv: vec!["/opt/claude".to_owned()], ..Launch::default() }));
    world.pass(seconds(1));
    assert!(world.disk.borrow().sessions.is_empty());
}
