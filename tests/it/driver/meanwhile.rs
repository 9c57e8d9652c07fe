//! What happens while a person looks or is waited for: runs that move on, agents that go or go on elsewhere.

use std::collections::BTreeSet;

use trellis::model::command::{Command, Control, RefusalKind, Reply};
use trellis::model::config::FirstPhase;
use trellis::model::ids::RecordKey;
use trellis::model::pair::PauseReason;
use trellis::model::reach::{InputBox, LiveStatus, OnItsWay, ProcessFact, Reach, Tick, Ticks, Transport};
use trellis::model::run::RunStep;
use trellis::projection::Standing;

use super::world::{World, claude, codex, noon, seconds};

/// A program in a pane that nothing is wrong with.
fn world_reach() -> Reach {
    Reach {
        at: noon(),
        transport: Some(Transport::Tmux),
        process: ProcessFact::Alive { pid: 1, started_at: None },
        status: LiveStatus::Idle,
        ticks: Ticks::all_hold(),
        input: InputBox::Other,
        on_its_way: OnItsWay::No,
        replaced_by: None,
        sign: None,
        seen: None,
        place: "%2".to_owned(),
        last_words: String::new(),
    }
}

/// Who stops or pauses a run means this run, wherever it is by now; never another one.
#[test]
fn a_stop_and_a_pause_hold_whatever_moved_meanwhile() {
    for control in [Control::Stop, Control::Pause] {
        let mut world = World::new();
        world.replies = Box::new(|_, _| Some("Did it.".to_owned()));
        let run = world.new_run(FirstPhase::Next);
        let seen = world.core.projection(world.now).runs[0].revision;
        world.person_types(&claude(), "do phase one");
        world.until(seconds(30), "the review", |world| world.run(&run).step == Some(RunStep::Review));
        assert_ne!(world.core.projection(world.now).runs[0].revision, seen, "it has moved");
        // What means something else by now is refused.
        let skip = Command::Control { target: run.clone(), expect: Some(seen), control: Control::Skip };
        let Reply::Refused(refusal) = world.order(skip) else { panic!("skipped another phase") };
        assert_eq!(refusal.kind, RefusalKind::Moved);
        let order = Command::Control { target: run.clone(), expect: Some(seen), control: control.clone() };
        assert!(matches!(world.order(order), Reply::Done { .. }), "{}", control.name());
        let record = world.run(&run);
        assert_eq!(record.stop_reason.is_some(), control == Control::Stop);
        assert_eq!(record.paused_reason, (control == Control::Pause).then_some(PauseReason::Manual));
    }
}

/// An agent that ends while its run waits for a person is seen to be gone, since then, before any key is pressed.
#[test]
fn an_agent_that_ends_while_a_person_is_waited_for_is_shown_gone_before_a_key() {
    let mut world = World::new();
    world.replies = Box::new(|session, text| {
        let reviews = session == &codex().key();
        let said = if reviews { "Two remarks." } else { "Did it." };
        (reviews || !text.contains("Two remarks")).then(|| said.to_owned())
    });
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(60), "feedback", |world| world.prompts(&claude()).len() == 3);
    world.talks.borrow_mut().interrupt(&claude().key(), world.now);
    world.hint();
    let headline = |world: &mut World| {
        let projection = world.core.projection(world.now);
        projection.runs[0].banner.clone().map(|banner| banner.headline).unwrap_or_default()
    };
    world.until(seconds(20), "the pause", |world| world.pair_of(&run).paused_reason.is_some());
    assert_eq!(headline(&mut world), "you interrupted claude");
    let view = world.core.projection(world.now).runs[0].clone();
    assert_eq!(view.sentence, "you interrupted claude");
    let offer = view.banner.unwrap().offers[0].clone();
    assert_eq!(
        (offer.key.as_str(), offer.what.starts_with("sends the same message to claude")),
        ("p", true),
        "{offer:?}"
    );
    world.pass(seconds(60));
    world.dead.push(claude().key());
    let died = world.now;
    world.pass(seconds(5));
    assert_eq!(headline(&mut world), "claude is gone");
    let view = world.core.projection(world.now).runs[0].clone();
    let since = view.wait.since.unwrap();
    assert!(since >= died && since <= died + seconds(5), "{since} for {died}");
    assert_eq!(view.banner.unwrap().offers[0].what, "resumes claude's session in a new tmux window; then you decide");
    assert_going_on_says(&mut world, &run, "claude is gone");
    let Reply::Done { note, .. } = world.control(&run, Control::BringBack) else { panic!("refused") };
    assert_eq!(note, "resumes claude's session in a new tmux window; the log names the panes");
    world.pass(seconds(8));
    assert_eq!(headline(&mut world), "you interrupted claude", "and the person decides what they were asked");
    assert!(matches!(world.control(&run, Control::Resume), Reply::Done { .. }));
    world.until(seconds(20), "the message again, as was said", |world| world.prompts(&claude()).len() == 4);
    let prompts = world.prompts(&claude());
    assert_eq!(prompts[3], prompts[2]);
    let log = world.core.projection(world.now).log.clone();
    let back = log.iter().find(|line| line.what.starts_with("brought claude:c-1 back")).unwrap();
    assert_eq!(back.record.as_deref(), Some(run.as_str()));
}

/// Going on is refused with these words, before and after the key, and leaves the record as it is.
fn assert_going_on_says(world: &mut World, run: &RecordKey, words: &str) {
    let view = world.core.projection(world.now).runs[0].clone();
    let why = view.impossible.iter().find(|(name, _)| name == "resume").map(|(_, why)| why.clone());
    assert!(why.as_ref().is_some_and(|why| why.contains(words)), "{why:?}");
    let before = (world.run(run), world.pair_of(run));
    let Reply::Refused(refusal) = world.control(run, Control::Resume) else { panic!("goes on without it") };
    assert!(refusal.message.contains(words), "{}", refusal.message);
    world.pass(seconds(5));
    assert_eq!((world.run(run), world.pair_of(run)), before);
}

/// Where an agent is gone `p` never says that the run goes on: it would stop again at once, its clock begun anew.
#[test]
fn going_on_without_an_agent_is_refused_until_it_is_back() {
    let mut world = World::new();
    world.replies = Box::new(|session, _| (session == &claude().key()).then(|| "Did it.".to_owned()));
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(60), "the reviewer at work", |world| world.prompts(&codex()).len() == 2);
    world.dead.push(codex().key());
    world.until(seconds(120), "the pause", |world| world.pair_of(&run).paused_reason == Some(PauseReason::AgentGone));
    let since = world.core.projection(world.now).runs[0].wait.since;
    assert_going_on_says(&mut world, &run, "codex is gone");
    assert_eq!(world.core.projection(world.now).runs[0].wait.since, since, "its clock goes on");
    // Who paused by hand is let go on, and then told who is missing.
    let mut by_hand = World::new();
    let run = by_hand.new_run(FirstPhase::Next);
    assert!(matches!(by_hand.control(&run, Control::Pause), Reply::Done { .. }));
    by_hand.dead.push(claude().key());
    by_hand.pass(seconds(30));
    assert!(matches!(by_hand.control(&run, Control::Resume), Reply::Done { .. }));
}

/// A Codex whose terminal was quit goes on in its background server: the side's place and the log of the run say so.
#[test]
fn an_agent_that_goes_on_elsewhere_is_told_with_both_places() {
    let mut world = World::new();
    let run = world.new_run(FirstPhase::Next);
    world.reaches.insert(codex().key(), Reach { input: InputBox::Empty, ..world_reach() });
    world.pass(seconds(20));
    let place = "codex's background server, its pane is gone".to_owned();
    world.reaches.insert(codex().key(), Reach { place: place.clone(), input: InputBox::Empty, ..world_reach() });
    world.pass(seconds(20));
    let projection = world.core.projection(world.now);
    assert_eq!(projection.runs[0].reviewer.place, place);
    let said: Vec<_> = projection.log.iter().filter(|line| line.what.contains("background server")).collect();
    let [line] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!(line.what, format!("codex was in %2 and is in {place} now"));
    assert_eq!(line.record.as_deref(), Some(run.as_str()));
}

/// What lies in a message's way for a moment (an agent that comes up, a dialog that is being answered) calls nobody and
/// is called nothing but a message on its way; what lasts does.
#[test]
fn only_what_lasts_holds_a_message() {
    let mut world = World::new();
    world.replies = Box::new(|session, _| (session != &codex().key()).then(|| "Did it.".to_owned()));
    let run = world.new_run(FirstPhase::Next);
    let full = || Reach {
        ticks: Ticks { box_empty: Tick::Missing("the box holds text".to_owned()), ..Ticks::all_hold() },
        ..world_reach()
    };
    let (mut told, mut sentences) = (0, BTreeSet::new());
    world.reaches.insert(codex().key(), full());
    world.person_types(&claude(), "do phase one");
    world.until(seconds(30), "the relay", |world| {
        world.run(&run).current_pair_id.is_some() && !world.pair_of(&run).outbox.is_empty()
    });
    let begun = world.now;
    while world.now < begun + seconds(20) {
        world.step();
        let view = world.core.projection(world.now).runs[0].clone();
        if view.standing == Standing::NeedsYou {
            told += 1;
            assert!(world.now >= begun + seconds(4), "told after {}", world.now.duration_since(begun));
            assert_eq!(view.sentence, "relay to codex is held");
        } else {
            sentences.insert(view.sentence);
        }
    }
    assert!(told > 0, "what lasts is told");
    assert!(sentences.iter().all(|said| !said.contains("held") && !said.contains("waits for you")), "{sentences:?}");
}
