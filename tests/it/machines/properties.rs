//! Properties over random histories: a stop absorbs, relays stay under the cap, a pause is silent, a look settles.

use proptest::prelude::*;
use trellis::machine::{By, Effect, pair, run};
use trellis::model::command::{Confirm, Control};
use trellis::model::config::RunConfig;
use trellis::model::conversation::{FailureClass, Outcome};
use trellis::model::ids::Role;
use trellis::model::outbox::{EntryState, Purpose};
use trellis::model::pair::PairStep;
use trellis::model::reach::{InputBox, OnItsWay};
use trellis::model::run::{AttemptStatus, RunStop};

use super::world::{I, R, World};

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Wait(i64),
    Take(bool),
    Answer(bool, u8),
    Prompt(bool),
    Fail(bool, u8),
    Interrupt(bool),
    Box(bool, u8),
    Order(u8),
    Kill,
    Restart,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        4 => (1..40i64).prop_map(Deed::Wait),
        6 => any::<bool>().prop_map(Deed::Take),
        6 => (any::<bool>(), 0..5u8).prop_map(|(side, what)| Deed::Answer(side, what)),
        1 => any::<bool>().prop_map(Deed::Prompt),
        1 => (any::<bool>(), 0..4u8).prop_map(|(side, what)| Deed::Fail(side, what)),
        1 => any::<bool>().prop_map(Deed::Interrupt),
        1 => (any::<bool>(), 0..5u8).prop_map(|(side, what)| Deed::Box(side, what)),
        3 => (0..18u8).prop_map(Deed::Order),
        1 => Just(Deed::Kill),
        2 => Just(Deed::Restart),
    ];
    prop::collection::vec(deed, 1..40)
}

fn side(reviewer: bool) -> Role {
    if reviewer { R } else { I }
}

fn order(n: u8) -> Control {
    match n {
        0 => Control::Pause,
        1..=4 => Control::Resume,
        5 => Control::Retry,
        6 => Control::Accept,
        7 => Control::Skip,
        8 => Control::AsFeedback,
        9 => Control::Confirm(Confirm::Send { edited_text: None }),
        10 => Control::Confirm(Confirm::Drop),
        11 => Control::Write { side: I, text: "words of mine".to_owned(), go_on: false },
        12 => Control::Write { side: R, text: "other words".to_owned(), go_on: true },
        13 => Control::SendAgain,
        // A stop is no way to a fair ending; it has a property of its own.
        14 => Control::Drop,
        15 => Control::CheckDelivery,
        16 => Control::More { n: 2, blockers_only: false },
        _ => Control::Ask,
    }
}

fn open(world: &mut World, role: Role) -> bool {
    world.side(role).conversation.turns.last().is_some_and(|turn| turn.outcome.is_none())
}

/// Whether a sent message stands in its side's conversation already.
fn taken(world: &mut World, role: Role) -> bool {
    let side = world.side(role);
    let count = |text: &str| side.conversation.turns.iter().filter(|turn| turn.prompt.text.as_ref() == text).count();
    side.inbox.last().is_none_or(|last| count(&last.text) >= side.inbox.iter().filter(|d| d.text == last.text).count())
}

fn happen(world: &mut World, deed: Deed, answers: &mut u32) {
    match deed {
        Deed::Wait(seconds) => world.wait(seconds),
        Deed::Take(reviewer) => {
            if !taken(world, side(reviewer)) && world.side(side(reviewer)).input == InputBox::Empty {
                world.take(side(reviewer));
            }
            world.pass(1);
        }
        Deed::Answer(reviewer, what) => {
            if open(world, side(reviewer)) {
                *answers += 1;
                let text = match what {
                    0 => "LGTM".to_owned(),
                    1 => "Verdict: LGTM".to_owned(),
                    2 => "COMPLETED".to_owned(),
                    _ => format!("Answer {answers}."),
                };
                world.answer(side(reviewer), &text);
            }
            world.wait(4);
        }
        Deed::Prompt(reviewer) => {
            *answers += 1;
            let text = format!("human words {answers}");
            world.prompt(side(reviewer), &text);
            world.pass(1);
        }
        Deed::Fail(reviewer, what) => {
            if open(world, side(reviewer)) {
                let reset = world.now + jiff::SignedDuration::from_secs(20);
                match what {
                    0 => world.fail(side(reviewer), FailureClass::Limit, Some(reset)),
                    1 => world.fail(side(reviewer), FailureClass::Overloaded, None),
                    2 => world.fail(side(reviewer), FailureClass::Auth, None),
                    _ => world.end(side(reviewer), Outcome::Completed),
                }
            }
            world.wait(4);
        }
        Deed::Interrupt(reviewer) => {
            if open(world, side(reviewer)) {
                world.end(side(reviewer), Outcome::Interrupted);
            }
            world.wait(4);
        }
        Deed::Box(reviewer, what) => {
            let (input, on_its_way) = match what {
                0 => (InputBox::Other, OnItsWay::No),
                1 => (InputBox::Unknown, OnItsWay::Unknown("unreadable".to_owned())),
                _ => (InputBox::Empty, OnItsWay::No),
            };
            let agency = world.side(side(reviewer));
            agency.input = input;
            agency.on_its_way = on_its_way;
            world.wait(3);
        }
        Deed::Order(n) if order(n) == Control::Resume => {
            super::plans::go_on_as_said(world);
        }
        Deed::Order(n) => {
            let _ = world.control(&order(n));
        }
        Deed::Kill => {
            world.die_on_send = true;
            world.wait(5);
            world.restart();
        }
        Deed::Restart => world.restart(),
    }
}

/// An unchanged world leads to no change and to no key.
fn settled(world: &World) {
    let parts = world.scene();
    for record in &world.runs {
        let pairs = world.pairs_of(record);
        let step = run::look(record, &pairs, &world.scene_of(&parts, &record.implementer, &record.reviewer));
        assert!(!step.changed, "{:?}", step.decisions);
        assert!(!step.effects.iter().any(|effect| matches!(effect, Effect::Send(_) | Effect::PressEnter(_))));
    }
    for record in world.pairs.values() {
        let held = world
            .runs
            .iter()
            .any(|run| run.current_pair_id.as_ref() == Some(&record.id) && run.paused_reason.is_some());
        let step = pair::look(record, &world.scene_of(&parts, &record.implementer, &record.reviewer), held);
        assert!(!step.changed, "{:?}", step.decisions);
        assert!(!step.effects.iter().any(|effect| matches!(effect, Effect::Send(_) | Effect::PressEnter(_))));
    }
}

fn invariants(world: &World) {
    for pair in world.pairs.values() {
        let last_cap_holds =
            pair.round_count <= pair.config.max_rounds.max(pair.round_count.min(pair.config.max_rounds));
        assert!(last_cap_holds, "{} relays of {}", pair.round_count, pair.config.max_rounds);
        assert!(pair.outbox.iter().filter(|entry| entry.is_open()).count() <= 1, "at most one undelivered");
        assert!(pair.open_entry().is_none() || pair.pending_confirm.is_none(), "an entry or a look, not both");
    }
    for run in &world.runs {
        let running = run.phases.iter().filter(|attempt| attempt.status == AttemptStatus::Running).count();
        assert!(running <= 1);
        assert!(run.is_active() || running == 0, "every stop closes a running attempt");
        assert!(run.outbox.iter().filter(|entry| entry.is_open()).count() <= 1);
    }
    assert!(world.pairs.values().filter(|pair| pair.is_active()).count() <= 1, "one live pair");
    waits_are_whole(world);
}

/// Whatever is waited for, its end is named, and a time exactly where the clock is what ends it.
fn waits_are_whole(world: &World) {
    let parts = world.scene();
    let of_runs = world.runs.iter().map(|record| {
        let scene = world.scene_of(&parts, &record.implementer, &record.reviewer);
        (record.is_active(), run::wait(record, &world.pairs_of(record), &scene))
    });
    let of_pairs = world.pairs.values().map(|record| {
        let scene = world.scene_of(&parts, &record.implementer, &record.reviewer);
        (record.is_active(), pair::wait(record, &scene))
    });
    for (is_active, wait) in of_runs.chain(of_pairs) {
        assert_eq!(wait.by != By::Nothing, is_active, "{wait:?}");
        assert_eq!(wait.ends.is_empty(), !is_active, "{wait:?}");
        assert_eq!(wait.deadline.is_some(), wait.by == By::Timer, "{wait:?}");
    }
}

/// Sends begun since `before` while the record was paused, but for what a person wrote.
fn silent(world: &World, before: &World) {
    for (id, pair) in &world.pairs {
        let Some(was) = before.pairs.get(id) else { continue };
        if was.paused_reason.is_none() || pair.paused_reason != was.paused_reason || pair.paused_at != was.paused_at {
            continue;
        }
        for entry in pair.outbox.iter().filter(|entry| entry.purpose != Purpose::User) {
            let attempts = was.outbox.iter().find(|old| old.id == entry.id).map_or(0, |old| old.attempts);
            assert!(entry.attempts <= attempts, "{id} began to send while paused");
        }
    }
}

impl World {
    fn records(&self) -> World {
        let mut copy = World::new();
        copy.runs.clone_from(&self.runs);
        copy.pairs.clone_from(&self.pairs);
        copy
    }
}

/// One round of agents that answer and of a person who lets the loop go on.
fn be_fair(world: &mut World, round: u32) {
    let _ = world.control(&Control::Resume);
    let _ = world.control(&Control::Confirm(Confirm::Send { edited_text: None }));
    world.wait(5);
    let mut moved = false;
    for role in [I, R] {
        if !taken(world, role) {
            world.take(role);
            world.pass(1);
            moved = true;
        }
        if open(world, role) {
            let text = match role {
                Role::Reviewer => "LGTM".to_owned(),
                Role::Implementer if round > 20 => "COMPLETED".to_owned(),
                Role::Implementer => format!("Fair answer {round}."),
            };
            world.answer(role, &text);
            moved = true;
        }
    }
    world.wait(5);
    let flying = world.run().open_entry().is_some() || world.pairs.values().any(|pair| pair.open_entry().is_some());
    if !moved && !flying {
        let live = world.pairs.values().find(|pair| pair.is_active());
        let reviewer = live.is_some_and(|pair| pair.step == Some(PairStep::AwaitReviewer));
        let text = format!("go on please {round}");
        world.prompt(side(reviewer), &text);
    }
    if flying {
        world.wait(30);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_histories_keep_the_promises(
        history in deeds(),
        confirm in any::<bool>(),
        cap in 1..4u32,
    ) {
        let mut world = World::new();
        let config = RunConfig { confirm_before_relay: confirm && cap == 1, max_rounds: cap, ..RunConfig::default() };
        world.new_run(config).unwrap();
        world.pass(3);
        world.prompt(I, "begin");
        world.answer(I, "Begun.");
        world.wait(5);
        let mut answers = 0;
        for deed in history {
            let before = world.records();
            happen(&mut world, deed, &mut answers);
            invariants(&world);
            if !matches!(deed, Deed::Order(_)) {
                silent(&world, &before);
            }
            settled(&world);
        }
    }

    #[test]
    fn a_stop_absorbs(history in deeds()) {
        let mut world = World::new();
        world.new_run(RunConfig::default()).unwrap();
        world.pass(3);
        world.prompt(I, "begin");
        world.answer(I, "Begun.");
        world.wait(5);
        world.control(&Control::Stop).unwrap();
        let sent = (world.sent(I).len(), world.sent(R).len());
        let mut answers = 0;
        for deed in history {
            happen(&mut world, deed, &mut answers);
            prop_assert!(!world.run().is_active());
            prop_assert!(world.pairs.values().all(|pair| !pair.is_active()));
            prop_assert_eq!(sent, (world.sent(I).len(), world.sent(R).len()));
        }
        let open = world.pairs.values().flat_map(|pair| &pair.outbox).filter(|entry| entry.state == EntryState::Prepared && entry.attempts == 0);
        prop_assert_eq!(open.count(), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happened: with agents that answer and a person who lets the loop go on, the run comes to its end.
    #[test]
    fn a_fair_ending_is_reached(history in deeds(), cap in 1..4u32) {
        let mut world = World::new();
        world.new_run(RunConfig { max_rounds: cap, ..RunConfig::default() }).unwrap();
        world.pass(3);
        world.prompt(I, "begin");
        world.answer(I, "Begun.");
        world.wait(5);
        let mut answers = 0;
        for deed in history {
            happen(&mut world, deed, &mut answers);
        }
        for role in [I, R] {
            let agency = world.side(role);
            agency.input = InputBox::Empty;
            agency.on_its_way = OnItsWay::No;
        }
        let mut rounds = 0;
        while world.run().is_active() {
            rounds += 1;
            prop_assert!(rounds < 80, "{:#?}\n{:#?}", world.run(), world.decisions.iter().rev().take(12).collect::<Vec<_>>());
            be_fair(&mut world, rounds);
        }
        prop_assert_eq!(world.run().stop_reason, Some(RunStop::Completed));
    }
}
