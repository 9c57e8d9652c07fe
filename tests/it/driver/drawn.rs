//! What a projection costs: rows of what changed, however many there are; and that a row that was kept is the row that
//! would be made.

use std::cell::RefCell;
use std::rc::Rc;

use trellis::model::command::{Command, Control, NewRun, Reply, SessionControl};
use trellis::model::config::{FirstPhase, RunConfig};
use trellis::model::conversation::Conversation;
use trellis::model::ids::{Agent, RecordKey, Role};

use super::world::{Disk, Talks, World, claude, codex, noon, seconds, session};

/// A driver with so many runs, each between two sessions of its own.
fn with_runs(count: usize) -> (World, Vec<RecordKey>) {
    let talks = Rc::new(RefCell::new(Talks::default()));
    let sides: Vec<_> = (0..count)
        .map(|n| (session(Agent::Claude, &format!("c-{n}")), session(Agent::Codex, &format!("x-{n}"))))
        .collect();
    for side in sides.iter().flat_map(|(builder, reviewer)| [builder, reviewer]) {
        talks.borrow_mut().conversations.insert(side.key(), Conversation::new(side.agent));
        talks.borrow_mut().prompt(&side.key(), "hello", noon() - seconds(600));
        talks.borrow_mut().answer(&side.key(), "Hello.", noon() - seconds(590));
    }
    let mut world = World::on(Rc::new(RefCell::new(Disk::default())), talks, noon(), 7);
    let mut runs = Vec::new();
    for (implementer, reviewer) in sides {
        let config = RunConfig { first_phase: FirstPhase::Next, ..RunConfig::default() };
        match world.order(Command::CreateRun(NewRun { implementer, reviewer, config })) {
            Reply::Done { record: Some(key), .. } => runs.push(key),
            other => panic!("{other:?}"),
        }
    }
    world.pass(seconds(5));
    world.core.projection(world.now);
    (world, runs)
}

/// Rows that one order made.
fn rows_of_an_order(world: &mut World, run: &RecordKey, name: &str) -> (u64, u64) {
    let before = world.core.rows_made();
    let control = Control::Rename { name: name.to_owned() };
    let reply = world.core.order(Command::Control { target: run.clone(), expect: None, control }, world.now);
    assert!(matches!(reply, Some(Reply::Done { .. })), "{reply:?}");
    let shown = world.core.projection(world.now);
    assert!(shown.runs.iter().any(|view| view.key == *run && view.given_name == name));
    let after = world.core.rows_made();
    (after.0 - before.0, after.1 - before.1)
}

#[test]
fn an_order_makes_the_row_of_its_run_anew_and_no_other_however_many_there_are() {
    let mut costs = Vec::new();
    for count in [2, 60] {
        let (mut world, runs) = with_runs(count);
        costs.push(rows_of_an_order(&mut world, &runs[1], "one"));
        costs.push(rows_of_an_order(&mut world, &runs[0], "another"));
        let shown = world.core.projection(world.now);
        let anew = world.core.drawn_anew(world.now);
        assert_eq!((&shown.runs, &shown.sessions), (&anew.runs, &anew.sessions));
        // All but two have no name of their own and are told apart by a number.
        let names: std::collections::BTreeSet<&str> = shown.runs.iter().map(|view| view.name.as_str()).collect();
        assert_eq!(names.len(), count);
    }
    assert_eq!(costs, [(1, 0); 4], "rows of runs and of sessions for each order");
}

#[test]
fn a_session_that_changes_makes_the_rows_anew_that_show_it() {
    let (mut world, runs) = with_runs(30);
    let before = world.core.rows_made();
    let of = session(Agent::Codex, "x-7").key();
    let rename = SessionControl::Rename { name: "reader".to_owned() };
    let reply = world.core.order(Command::Session { session: of.clone(), control: rename }, world.now);
    assert!(matches!(reply, Some(Reply::Done { .. })), "{reply:?}");
    let shown = world.core.projection(world.now);
    let named = shown.sessions.iter().find(|view| view.session.key() == of).unwrap();
    assert_eq!((&*named.title, named.used_by.as_ref()), ("reader", Some(&runs[7])));
    let after = world.core.rows_made();
    assert_eq!((after.0 - before.0, after.1 - before.1), (1, 1));
}

/// A run from its first prompt to its end, with a person in between: at each step what is shown is what would be made.
#[test]
fn what_was_kept_is_what_would_be_made() {
    let mut world = World::new();
    let mut reviews = 0;
    world.replies = Box::new(move |session, _| {
        if session.agent == Agent::Codex {
            reviews += 1;
        }
        let says = if reviews % 2 == 0 { "LGTM" } else { "- one point\n- another" };
        Some(if session.agent == Agent::Codex { says.to_owned() } else { "Done.".to_owned() })
    });
    let run = world.new_run(FirstPhase::Ask);
    let compare = |world: &mut World, at: &str| {
        let shown = world.core.projection(world.now);
        let anew = world.core.drawn_anew(world.now);
        for (one, other) in shown.runs.iter().zip(&anew.runs) {
            assert_eq!(one, other, "{at}");
        }
        assert_eq!((&shown.runs, &shown.sessions), (&anew.runs, &anew.sessions), "{at}");
    };
    for step in 0..400 {
        match step {
            60 => drop(world.control(&run, Control::Pause)),
            90 | 150 => drop(world.control(&run, Control::Resume)),
            120 => world.person_types(&claude(), "wait a moment"),
            180 => world.dead.push(codex().key()),
            210 => world.dead.clear(),
            240 => {
                let text = "look at the tests".to_owned();
                drop(world.control(&run, Control::Write { side: Role::Reviewer, text, go_on: true }));
            }
            300 => drop(world.control(&run, Control::Retry)),
            330 => drop(world.control(&run, Control::Accept)),
            360 => drop(world.control(&run, Control::Stop)),
            390 => drop(world.control(&run, Control::Discard)),
            _ => {}
        }
        compare(&mut world, &format!("step {step}"));
        world.step();
    }
}
