//! A demo home on the disk and its agents in real time: laid out, found again, played, asked, killed and restarted.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use trellis::agent::scripted::home::{Stage, Wanted, open, prepare};
use trellis::agent::scripted::scenes::Scene;
use trellis::agent::scripted::world::World;
use trellis::driver::ports::{Agents, Comeback, Job, Outcome};
use trellis::machine::Delivery;
use trellis::model::conversation::{Conversation, Turn};
use trellis::model::ids::{Agent, EntryId, RecordKey, Role, RunId, SessionKey};
use trellis::model::reach::{InFlight, LiveStatus, OnItsWay, ProbeAsk, ProcessFact, Reach, Tick};
use trellis::model::tempo::Tempo;
use trellis::supervise::Supervisor;
use trellis::transcript::read_all;

fn made(root: &Path, scene: &str) -> Stage {
    let scene = Scene::named(scene).unwrap();
    prepare(root, Some(Wanted { name: scene.name, text: scene.text }), jiff::Timestamp::now()).unwrap()
}

#[test]
fn a_home_is_laid_out_for_every_command_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("demo");
    fs::create_dir(&root).unwrap();
    assert!(open(&root).unwrap().is_none());
    let stage = made(&root, "checklist");
    let config = fs::read_to_string(root.join("config.toml")).unwrap();
    let (config, problems) = trellis::config::Config::parse("config.toml", &config);
    assert!(problems.is_empty(), "{problems:?}");
    let (claude, codex) = (config.claude_home.unwrap(), config.codex_home.unwrap());
    assert_eq!(stage.parts.len(), 4);
    for part in &stage.parts {
        let below = if part.player.who.agent == Agent::Claude { &claude } else { &codex };
        assert!(part.transcript.starts_with(stage.root.join(below)), "{}", part.transcript.display());
        let seen = read_all(part.player.who.agent, &fs::read(&part.transcript).unwrap());
        assert_eq!(seen.session_id.as_ref(), Some(&part.player.who.session_id));
        assert_eq!(seen.cwd.as_deref(), Some(part.player.who.cwd.as_str()));
        assert!(Path::new(&part.player.who.cwd).is_dir());
        let turns = usize::from(part.role.is_none());
        assert_eq!(seen.turns.len(), turns, "the idle pair has spoken, the other not");
    }
    let again = prepare(&root, None, jiff::Timestamp::now()).unwrap();
    let ids = |stage: &Stage| stage.parts.iter().map(|part| part.key().to_string()).collect::<Vec<_>>();
    assert_eq!((ids(&again), again.name.as_str()), (ids(&stage), "checklist"));
}

#[test]
fn a_home_that_was_killed_half_made_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let stage = made(folder.path(), "gone");
    fs::remove_file(folder.path().join("config.toml")).unwrap();
    fs::remove_file(&stage.parts[2].transcript).unwrap();
    let again = made(folder.path(), "gone");
    assert_eq!(again.parts[2].transcript, stage.parts[2].transcript);
    assert!(again.parts[2].transcript.is_file() && folder.path().join("config.toml").is_file());
}

#[test]
fn a_real_home_and_another_script_are_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.toml"), "").unwrap();
    let error = prepare(folder.path(), None, jiff::Timestamp::now()).unwrap_err();
    assert!(error.contains("is not a demo's home; give the demo a --home of its own"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    made(folder.path(), "limit");
    let scene = Scene::named("night").unwrap();
    let wanted = Wanted { name: scene.name, text: scene.text };
    let error = prepare(folder.path(), Some(wanted), jiff::Timestamp::now()).unwrap_err();
    assert!(error.contains("plays limit; give night another --home"), "{error}");
}

/// A stage that plays, and what it told.
struct Playing {
    stage: Stage,
    world: World,
    outcomes: Receiver<Outcome>,
    supervisor: Supervisor,
}

impl Playing {
    fn start(stage: Stage) -> Self {
        let supervisor = Supervisor::new();
        let (told, outcomes) = channel();
        let report = Box::new(move |outcome| drop(told.send(outcome)));
        let world = World::start(&stage, Tempo::of_speed(20.0).unwrap(), &supervisor, report).unwrap();
        Self { stage, world, outcomes, supervisor }
    }

    fn key(&self, role: Role) -> SessionKey {
        self.stage.session(role).unwrap().key()
    }

    fn seen(&self, role: Role) -> Conversation {
        let part = self.stage.parts.iter().find(|part| part.role == Some(role)).unwrap();
        read_all(part.player.who.agent, &fs::read(&part.transcript).unwrap())
    }

    fn wait_for(&self, what: &str, role: Role, test: impl Fn(&Conversation) -> bool) -> Conversation {
        let started = Instant::now();
        loop {
            let seen = self.seen(role);
            if test(&seen) {
                return seen;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "{what} never came: {seen:?}");
            std::thread::yield_now();
        }
    }

    fn send(&mut self, role: Role, text: &str) -> Outcome {
        let delivery = Delivery {
            entry: EntryId::new("e1"),
            session: self.key(role),
            text: text.into(),
            prompt_bytes: 0,
            attempt: 1,
            allow_unknown_box: false,
        };
        self.world.begin(Job::Send(RecordKey::Run(RunId::new("r1")), delivery));
        self.outcomes.recv_timeout(Duration::from_secs(10)).unwrap()
    }

    fn probe(&mut self, role: Role, in_flight: Option<&str>) -> Reach {
        let in_flight = in_flight.map(|text| InFlight { text: text.into(), ..InFlight::default() });
        self.world.begin(Job::Probe(ProbeAsk { session: self.key(role), in_flight, last_seen: None }));
        match self.outcomes.recv_timeout(Duration::from_secs(10)).unwrap() {
            Outcome::Probed(_, reach) => *reach,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_person_waits_for_the_run_then_types_and_the_agent_answers() {
    let folder = tempfile::tempdir().unwrap();
    let mut play = Playing::start(made(folder.path(), "checklist"));
    let reach = play.probe(Role::Implementer, None);
    assert_eq!((reach.status, reach.ticks.missing()), (LiveStatus::Idle, None));
    assert!(play.seen(Role::Implementer).turns.is_empty(), "nobody types before the run is there");
    play.world.let_person_act();
    let seen = play.wait_for("the answer", Role::Implementer, |seen| seen.newest().is_some_and(Turn::is_answered));
    assert_eq!(seen.turns.len(), 1);
    assert!(seen.turns[0].prompt.text.contains("build the cart"));
}

#[test]
fn a_message_is_on_its_way_until_the_transcript_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut play = Playing::start(made(folder.path(), "checklist"));
    let text = "Review the implementer's work, please.";
    match play.send(Role::Reviewer, text) {
        Outcome::Sent { report, enter_only, .. } => {
            assert!(report.entered && report.last_key_at.is_some() && !enter_only);
        }
        other => panic!("{other:?}"),
    }
    let reach = play.probe(Role::Reviewer, Some(text));
    let taken = !play.seen(Role::Reviewer).turns.is_empty();
    assert!(reach.on_its_way == OnItsWay::Carried || taken, "{reach:?}");
    let seen = play.wait_for("the review", Role::Reviewer, |seen| seen.newest().is_some_and(Turn::is_answered));
    assert_eq!((seen.turns.len(), seen.turns[0].prompt.text.as_ref()), (1, text));
    assert_eq!(play.probe(Role::Reviewer, Some(text)).on_its_way, OnItsWay::No);
}

#[test]
fn an_open_turn_is_finished_by_the_next_process_behind_a_torn_line() {
    let folder = tempfile::tempdir().unwrap();
    let stage = made(folder.path(), "checklist");
    let mut play = Playing::start(stage);
    play.send(Role::Reviewer, "Review the implementer's work.");
    play.wait_for("the prompt", Role::Reviewer, |seen| !seen.turns.is_empty());
    let stage = play.stage.clone();
    play.supervisor.shutdown();
    drop(play);
    let path = &stage.parts[1].transcript;
    let mut bytes = fs::read(path).unwrap();
    bytes.extend_from_slice(b"{\"timestamp\":\"2026-");
    fs::write(path, bytes).unwrap();
    let play = Playing::start(open(folder.path()).unwrap().unwrap());
    let seen = play.wait_for("the end", Role::Reviewer, |seen| seen.newest().is_some_and(Turn::is_answered));
    assert_eq!((seen.turns.len(), seen.damaged), (1, 0));
}

#[test]
fn a_program_that_has_ended_takes_nothing_until_it_is_brought_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut play = Playing::start(made(folder.path(), "gone"));
    assert!(matches!(play.probe(Role::Reviewer, None).process, ProcessFact::Alive { .. }));
    play.send(Role::Reviewer, "Review this.");
    play.wait_for("the review", Role::Reviewer, |seen| seen.newest().is_some_and(Turn::is_answered));
    let reach = play.probe(Role::Reviewer, None);
    assert_eq!(reach.process, ProcessFact::Dead);
    assert!(matches!(reach.ticks.alive, Tick::Missing(_)));
    match play.send(Role::Reviewer, "Review that.") {
        Outcome::Sent { report, .. } => assert!(!report.entered && report.stopped.is_some()),
        other => panic!("{other:?}"),
    }
    let session = play.stage.session(Role::Reviewer).unwrap();
    play.world.begin(Job::BringBack(Box::new(Comeback { session, launch: None, order: String::new() })));
    match play.outcomes.recv_timeout(Duration::from_secs(10)).unwrap() {
        Outcome::BroughtBack(_, Ok(words)) => assert_eq!(words, "codex is back in its session"),
        other => panic!("{other:?}"),
    }
    play.send(Role::Reviewer, "Review that.");
    let seen = play.wait_for("the second review", Role::Reviewer, |seen| seen.turns.len() == 2 && !seen.is_open());
    assert_eq!(seen.turns[1].prompt.text.as_ref(), "Review that.");
}
