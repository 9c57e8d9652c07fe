//! The driver over ports in memory, in virtual time: the law, the order of a start, what a failing disk may and may not do.

mod clock;
mod disk;
mod drawn;
mod every_call;
mod launches;
mod meanwhile;
mod sessions;
pub mod task;
mod trouble;
mod waits;
pub mod world;

use trellis::driver::core::{Input, Options};
use trellis::driver::ports::{Cause, ReadOnly};
use trellis::driver::viewer::NoAgents;
use trellis::model::command::{Command, Control, NewRun, RefusalKind, Reply, SessionControl};
use trellis::model::config::{FirstPhase, RunConfig};
use trellis::model::conversation::{Failure, FailureClass};
use trellis::model::event::EventKind;
use trellis::model::hook::{HookEvent, HookNote};
use trellis::model::ids::{RecordKey, RunId, SessionKey};
use trellis::model::pair::{Kickoff, PairState, PairStop, PauseReason};
use trellis::model::reach::ProcessMark;
use trellis::model::run::{AttemptStatus, RunState, RunStep, RunStop};
use trellis::projection::{DriverFact, Shown, Standing, ThreadKind};

use world::{World, claude, codex, seconds};

/// Claude does a phase, then says that none is left; codex approves at once.
fn straight(world: &mut World, phases: usize) {
    let mut asked = 0;
    world.replies = Box::new(move |session: &SessionKey, text: &str| {
        if session == &codex().key() {
            return Some("LGTM".to_owned());
        }
        if text.starts_with("Implement the next phase") {
            asked += 1;
            if asked > phases {
                return Some("COMPLETED".to_owned());
            }
        }
        Some("Did it.".to_owned())
    });
}

#[test]
fn a_pair_without_a_run_goes_to_agreement() {
    let mut world = World::new();
    let mut reviews = 0;
    world.replies = Box::new(move |session: &SessionKey, _: &str| {
        if session == &claude().key() {
            return Some("Fixed.".to_owned());
        }
        reviews += 1;
        Some(if reviews < 3 { format!("{reviews}. one thing") } else { "LGTM".to_owned() })
    });
    let pair = world.new_pair(Kickoff::WaitForNext);
    world.person_types(&claude(), "do it");
    world.until(seconds(120), "agreed", |world| world.pair(&pair).stop_reason.is_some());
    let record = world.pair(&pair);
    assert_eq!((record.stop_reason, record.round_count), (Some(PairStop::Lgtm), 5));
    let events = world.events();
    assert_eq!(events.iter().filter(|kind| **kind == EventKind::PairStarted).count(), 1);
    assert_eq!(events.iter().filter(|kind| **kind == EventKind::PairRound).count(), 5);
    assert_eq!(events.iter().filter(|kind| **kind == EventKind::PairStopped).count(), 1);
    let view = world.core.projection(world.now).runs[0].clone();
    assert_eq!((view.standing, view.relays, view.reviews.len()), (Standing::Done, 5, 3));
}

/// Both sides are idle before the start, and no change of a file is ever told: the tick finds what waits.
#[test]
fn i11_no_event_is_needed_and_each_answer_is_carried_within_30_seconds() {
    const TICK: jiff::SignedDuration = jiff::SignedDuration::from_secs(30);
    let mut world = World::new();
    world.deaf = true;
    let mut reviews = 0;
    world.replies = Box::new(move |session: &SessionKey, _: &str| {
        if session == &claude().key() {
            return Some("Fixed.".to_owned());
        }
        reviews += 1;
        Some(if reviews < 3 { format!("{reviews}. one thing") } else { "LGTM".to_owned() })
    });
    let pair = world.new_pair(Kickoff::UseCurrent);
    for relay in 0..5 {
        let (session, count) = (if relay % 2 == 0 { codex() } else { claude() }, 2 + relay / 2);
        // An agent takes 3 s for its answer.
        let end = world.now + TICK + if relay > 0 { seconds(3) } else { seconds(0) };
        while world.prompts(&session).len() < count {
            assert!(world.core.deadline().is_some_and(|at| at <= world.now + TICK), "a tick is due");
            assert!(world.now <= end, "relay {relay} waits longer than a tick\n{}", world.story());
            world.step();
        }
    }
    world.until(TICK + seconds(3), "agreed", |world| world.pair(&pair).stop_reason == Some(PairStop::Lgtm));
}

#[test]
fn a_run_goes_to_its_end() {
    let mut world = World::new();
    straight(&mut world, 2);
    let run = world.new_run(FirstPhase::Ask);
    world.until(seconds(120), "completed", |world| world.run(&run).stop_reason.is_some());
    let record = world.run(&run);
    assert_eq!(record.stop_reason, Some(RunStop::Completed), "{}", world.story());
    assert_eq!(record.phases_done, 2);
    assert!(record.phases.iter().all(|attempt| attempt.status == AttemptStatus::Converged));
    let prompts = world.prompts(&codex());
    assert_eq!(prompts.len(), 3, "hello and two relays: {prompts:?}");
    assert_eq!(world.prompts(&claude()).len(), 4, "hello and three phase prompts");
    let events = world.events();
    assert_eq!(events.first(), Some(&EventKind::ChecklistStarted));
    assert_eq!(events.last(), Some(&EventKind::ChecklistStopped));
    assert_eq!(events.iter().filter(|kind| **kind == EventKind::PairStarted).count(), 2);
    assert_eq!(events.iter().filter(|kind| **kind == EventKind::ChecklistPhaseConverged).count(), 2);
}

#[test]
fn an_act_never_precedes_its_save() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Ask);
    world.until(seconds(120), "completed", |world| world.run(&run).stop_reason.is_some());
    let journal = world.journal.borrow();
    let sends = journal.iter().enumerate().filter(|(_, line)| line.starts_with("send"));
    for (at, line) in sends {
        let entry = line.split_whitespace().nth(1).unwrap();
        let attempt = line.split_whitespace().last().unwrap();
        let is_of_pair = journal[..at].iter().any(|line| line.starts_with("save pair") && line.contains(entry));
        if is_of_pair {
            let saved = journal[..at].iter().any(|line| line.ends_with(&format!("{entry} {attempt}")));
            assert!(saved, "{line} before its save: {journal:#?}");
        }
        assert!(journal[at - 1].starts_with("save"), "the save is the last thing before {line}: {journal:#?}");
    }
    assert!(journal.iter().any(|line| line.starts_with("send")));
}

#[test]
fn nothing_is_sent_while_the_disk_is_full_and_it_goes_on_after() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Next);
    world.disk.borrow_mut().full = true;
    world.person_types(&claude(), "do phase one");
    world.pass(seconds(60));
    assert_eq!(world.prompts(&codex()).len(), 1, "nothing but the old prompt");
    assert!(world.disk.borrow().refused > 1, "it was tried again");
    let projection = world.core.projection(world.now);
    assert!(projection.notices.iter().any(|notice| notice.is_error && notice.text.contains("no space left")));
    let view = projection.runs.iter().find(|view| view.key == run).unwrap();
    assert_eq!(view.standing, Standing::NeedsYou);
    assert!(view.banner.as_ref().unwrap().lines.iter().any(|line| line.contains("no space left")));

    world.disk.borrow_mut().full = false;
    world.until(seconds(120), "completed", |world| world.run(&run).stop_reason.is_some());
    assert_eq!(world.run(&run).stop_reason, Some(RunStop::Completed));
}

#[test]
fn an_order_is_refused_when_it_cannot_be_saved() {
    let mut world = World::new();
    let run = world.new_run(FirstPhase::Next);
    world.disk.borrow_mut().full = true;
    let Reply::Refused(refusal) = world.control(&run, Control::Pause) else { panic!("acknowledged without a save") };
    assert_eq!(refusal.kind, RefusalKind::NotSaved);
    assert_eq!(world.run(&run).state, RunState::Running);
    let RecordKey::Run(id) = &run else { panic!() };
    assert_eq!(world.core.books().run(id).unwrap().record.state, RunState::Running, "memory is what the disk has");
}

#[test]
fn a_report_of_a_send_survives_a_full_disk() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Ask);
    world.until(seconds(30), "a send", |world| world.journal.borrow().iter().any(|line| line.starts_with("send")));
    world.disk.borrow_mut().full = true;
    world.pass(seconds(2));
    world.disk.borrow_mut().full = false;
    world.until(seconds(120), "completed", |world| world.run(&run).stop_reason.is_some());
    let phase_prompts = world.prompts(&claude()).iter().filter(|text| text.starts_with("Implement")).count();
    assert_eq!(phase_prompts, 2, "each once");
}

#[test]
fn a_file_somebody_else_wrote_is_never_overwritten() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Next);
    world.disk.borrow_mut().foreign.insert(run.as_str().to_owned());
    let before = world.run(&run);
    world.person_types(&claude(), "do phase one");
    world.pass(seconds(60));
    assert_eq!(world.run(&run), before, "the file is as the other left it");
    let projection = world.core.projection(world.now);
    let view = projection.runs.iter().find(|view| view.key == run).unwrap();
    assert_eq!(view.banner.as_ref().unwrap().reason, Some(PauseReason::RecordChanged));
    assert_eq!(view.standing, Standing::NeedsYou);
    assert!(world.events().contains(&EventKind::ChecklistPaused));
    let refused = world.control(&run, Control::Skip);
    assert!(matches!(refused, Reply::Refused(_)));

    // Going on takes the file that is there.
    let mut theirs = before;
    theirs.name = "theirs".to_owned();
    let RecordKey::Run(id) = &run else { panic!() };
    world.disk.borrow_mut().runs.insert(id.clone(), theirs);
    assert!(matches!(world.control(&run, Control::Resume), Reply::Done { .. }));
    world.until(seconds(120), "completed", |world| world.run(&run).stop_reason.is_some());
    assert_eq!(world.run(&run).name, "theirs");
}

#[test]
fn stopping_a_changed_record_puts_the_foreign_file_away() {
    let mut world = World::new();
    let run = world.new_run(FirstPhase::Next);
    world.disk.borrow_mut().foreign.insert(run.as_str().to_owned());
    let _ = world.control(&run, Control::Pause);
    let reply = world.control(&run, Control::Stop);
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    assert!(world.journal.borrow().iter().any(|line| line.starts_with("displace")));
    assert_eq!(world.run(&run).state, RunState::Stopped);
}

#[test]
fn an_order_meant_for_another_state_is_refused() {
    let mut world = World::new();
    let run = world.new_run(FirstPhase::Next);
    let seen = world.core.projection(world.now).runs[0].revision;
    let rename = |name: &str| Control::Rename { name: name.to_owned() };
    let order = |expect, control| Command::Control { target: run.clone(), expect, control };
    assert!(matches!(world.order(order(Some(seen), rename("one"))), Reply::Done { .. }));
    let Reply::Refused(refusal) = world.order(order(Some(seen), rename("two"))) else { panic!("taken") };
    assert_eq!(refusal.kind, RefusalKind::Moved);
    assert_eq!(world.run(&run).name, "one");
    let unknown =
        Command::Control { target: RecordKey::Run(RunId::from("none")), expect: None, control: Control::Pause };
    let Reply::Refused(refusal) = world.order(unknown) else { panic!("taken") };
    assert_eq!(refusal.kind, RefusalKind::Unknown);
}

#[test]
fn an_answer_to_a_relay_that_was_replaced_is_refused() {
    let mut world = World::new();
    world.replies =
        Box::new(|session, _| Some(if session == &codex().key() { "Fix it." } else { "Did it." }.to_owned()));
    let run = world.new_run_with(RunConfig { confirm_before_relay: true, ..RunConfig::default() });
    world.person_types(&claude(), "do phase one");
    world.until(seconds(30), "a look first", |world| {
        world.run(&run).current_pair_id.is_some() && world.pair_of(&run).pending_confirm.is_some()
    });
    let view = world.core.projection(world.now).runs[0].clone();
    assert_eq!(view.standing, Standing::NeedsYou);
    assert_eq!(view.state_word, "look first");
    assert_eq!(view.look_first.as_ref().unwrap().n, 1);
    // The person has the implementer go on; a newer answer takes the pending one's place.
    world.person_types(&claude(), "and the tests");
    world.pass(seconds(20));
    let send = Control::Confirm(trellis::model::command::Confirm::Send { edited_text: None });
    let late = Command::Control { target: run.clone(), expect: Some(view.revision), control: send };
    let Reply::Refused(refusal) = world.order(late) else { panic!("sent what nobody had seen") };
    assert_eq!(refusal.kind, RefusalKind::Moved);
}

#[test]
fn a_pause_of_the_run_reaches_its_pair_and_so_does_going_on() {
    let mut world = World::new();
    world.replies = Box::new(|session, _| if session == &codex().key() { None } else { Some("Did it.".to_owned()) });
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(30), "the reviewer is asked", |world| world.prompts(&codex()).len() == 2);
    assert!(matches!(world.control(&run, Control::Pause), Reply::Done { .. }));
    assert_eq!(world.run(&run).state, RunState::Paused);
    assert_eq!(world.pair_of(&run).state, PairState::Paused);
    world.talks.borrow_mut().answer(&codex().key(), "LGTM", world.now);
    world.hint();
    world.pass(seconds(60));
    assert_eq!(world.pair_of(&run).stop_reason, None, "a paused run holds its pair");
    world.restart();
    world.pass(seconds(60));
    assert_eq!(world.run(&run).state, RunState::Paused, "paused stays paused");
    assert!(matches!(world.control(&run, Control::Resume), Reply::Done { .. }));
    world.until(seconds(60), "the phase is agreed", |world| world.run(&run).phases_done == 1);
    assert_eq!(world.run(&run).phases[0].status, AttemptStatus::Converged);
}

#[test]
fn events_go_on_counting_after_a_restart() {
    let mut world = World::new();
    let run = world.new_run(FirstPhase::Next);
    world.control(&run, Control::Pause);
    world.restart();
    world.control(&run, Control::Resume);
    let seqs: Vec<u64> = world.disk.borrow().events.iter().map(|event| event.seq).collect();
    let expected: Vec<u64> = (1..=u64::try_from(seqs.len()).unwrap()).collect();
    assert_eq!(seqs, expected);
    assert!(seqs.len() >= 3);
}

#[test]
fn an_active_pair_that_no_run_names_is_stopped_before_anything_is_sent() {
    let mut world = World::new();
    world.replies = Box::new(|session, _| if session == &codex().key() { None } else { Some("Did it.".to_owned()) });
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(30), "the reviewer is asked", |world| world.prompts(&codex()).len() == 2);
    let pair = world.pair_of(&run).id;
    let RecordKey::Run(id) = &run else { panic!() };
    world.disk.borrow_mut().runs.remove(id);
    world.talks.borrow_mut().answer(&codex().key(), "Fix it.", world.now);
    world.journal.borrow_mut().clear();
    world.restart();
    world.pass(seconds(60));
    let stopped = world.disk.borrow().pairs[&pair].clone();
    assert_eq!(stopped.stop_reason, Some(PairStop::Manual));
    assert!(!world.journal.borrow().iter().any(|line| line.starts_with("send")), "{:?}", world.journal.borrow());
    assert!(world.journal.borrow()[0].starts_with("save pair"));
}

#[test]
fn a_kill_between_the_runs_save_and_its_pairs_creation_is_made_good() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    // The disk takes the run and refuses its pair; the driver dies there.
    world.disk.borrow_mut().no_pairs = true;
    world.until(seconds(30), "review", |world| world.run(&run).step == Some(RunStep::Review));
    let pair = world.run(&run).current_pair_id.unwrap();
    assert!(world.disk.borrow().pairs.is_empty());
    world.disk.borrow_mut().no_pairs = false;
    world.restart();
    world.until(seconds(120), "completed", |world| world.run(&run).stop_reason.is_some());
    assert_eq!(world.run(&run).stop_reason, Some(RunStop::Completed));
    let pairs: Vec<_> = world.disk.borrow().pairs.keys().cloned().collect();
    assert!(pairs.contains(&pair), "{pairs:?}");
}

#[test]
fn a_pair_the_disk_refuses_is_created_when_it_can_be() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Next);
    world.disk.borrow_mut().no_pairs = true;
    world.person_types(&claude(), "do phase one");
    world.pass(seconds(60));
    assert_eq!(world.run(&run).step, Some(RunStep::Review));
    assert_eq!(world.run(&run).state, RunState::Running, "a full disk is no refusal");
    world.disk.borrow_mut().no_pairs = false;
    world.until(seconds(120), "completed", |world| world.run(&run).stop_reason.is_some());
    assert_eq!(world.run(&run).stop_reason, Some(RunStop::Completed));
}

#[test]
fn a_pair_that_was_seen_and_is_gone_pauses_the_run() {
    let mut world = World::new();
    world.replies = Box::new(|session, _| if session == &codex().key() { None } else { Some("Did it.".to_owned()) });
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(30), "the reviewer is asked", |world| world.prompts(&codex()).len() == 2);
    world.until(seconds(30), "seen", |world| world.run(&run).pair_seen);
    let pair = world.pair_of(&run).id;
    world.disk.borrow_mut().pairs.remove(&pair);
    world.restart();
    world.pass(seconds(30));
    let record = world.run(&run);
    assert_eq!(record.paused_reason, Some(PauseReason::PairStopped), "{}", world.story());
    assert_eq!(record.phases.last().unwrap().status, AttemptStatus::Stopped);
}

/// What becomes of a pair stands in its run; as long as that cannot be read, the pair is left as it is.
#[test]
fn the_pair_of_a_run_that_cannot_be_read_is_held_and_goes_on_when_the_run_is_back() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Ask);
    world.until(seconds(120), "in review", |world| world.run(&run).current_pair_id.is_some());
    let pair = world.pair_of(&run);
    let RecordKey::Run(id) = run.clone() else { panic!("no run") };
    let away = world.disk.borrow_mut().runs.remove(&id).unwrap();
    let unread = |key: RunId| ReadOnly {
        key: RecordKey::Run(key),
        cause: Cause::Damaged,
        why: "it is no whole JSON".to_owned(),
        remedy: "mend it".to_owned(),
        written_at: None,
        value: serde_json::Value::Null,
    };
    world.disk.borrow_mut().read_only = vec![unread(id.clone())];
    world.journal.borrow_mut().clear();
    world.restart();
    world.pass(seconds(600));
    assert_eq!(world.disk.borrow().pairs[&pair.id], pair, "{}", world.story());
    let sends = world.journal.borrow().iter().filter(|line| line.starts_with("send")).count();
    assert_eq!(sends, 0, "{}", world.story());
    let row = world.core.projection(world.now).runs[0].clone();
    assert_eq!((row.standing, row.state_word.as_str()), (Standing::NeedsYou, "damaged"));
    assert_eq!(row.sentence, "it is no whole JSON; mend it");
    // Mended and moved back.
    world.disk.borrow_mut().read_only.clear();
    world.disk.borrow_mut().runs.insert(id, away);
    world.restart();
    world.until(seconds(600), "completed", |world| world.run(&run).stop_reason == Some(RunStop::Completed));
    assert_eq!(world.disk.borrow().pairs[&pair.id].stop_reason, Some(PairStop::Lgtm));
    // A run whose name merely begins alike holds nothing: without its run the pair is an orphan.
    let mut alone = pair.clone();
    alone.id = "zz-p1".into();
    world.disk.borrow_mut().pairs.insert(alone.id.clone(), alone.clone());
    world.disk.borrow_mut().read_only = vec![unread("z".into())];
    world.restart();
    assert_eq!(world.disk.borrow().pairs[&alone.id].stop_reason, Some(PairStop::Manual));
}

/// L21: a pause at a limit keeps its reset time over a restart, and goes on by itself then.
#[test]
fn l21_a_limit_survives_a_restart() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Next);
    let resets_at = world.now + seconds(3_600);
    world.replies = Box::new(|_, _| None);
    world.person_types(&claude(), "do phase one");
    let failure =
        Failure { class: FailureClass::Limit, text: "You've hit your limit".to_owned(), resets_at: Some(resets_at) };
    world.talks.borrow_mut().fail(&claude().key(), failure, world.now + seconds(1));
    world.hint();
    world.until(seconds(60), "paused", |world| world.run(&run).state == RunState::Paused);
    assert_eq!(world.run(&run).paused_reason, Some(PauseReason::Limit));
    world.restart();
    world.pass(seconds(600));
    let record = world.run(&run);
    assert_eq!(record.paused_reason, Some(PauseReason::Limit));
    assert_eq!(record.limit.as_ref().unwrap().resets_at, Some(resets_at));
    let view = world.core.projection(world.now).runs[0].clone();
    assert_eq!(view.standing, Standing::Limit);
    assert_eq!(view.sentence, "claude at its limit · back 13:00");
    straight(&mut world, 1);
    world.until(seconds(3_700), "goes on", |world| world.run(&run).state == RunState::Running);
    assert!(world.now >= resets_at);
}

#[test]
fn stopping_with_a_message_on_its_way_sends_nothing_more() {
    let mut world = World::new();
    world.lossy = true;
    let run = world.new_run(FirstPhase::Ask);
    world.until(seconds(30), "a send", |world| world.journal.borrow().iter().any(|line| line.starts_with("send")));
    let reply = world.control(&run, Control::Stop);
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
    world.pass(seconds(300));
    let sends = world.journal.borrow().iter().filter(|line| line.starts_with("send")).count();
    assert_eq!(sends, 1, "{:?}", world.journal.borrow());
    let record = world.run(&run);
    assert_eq!(record.state, RunState::Stopped);
    assert!(record.outbox.iter().all(|entry| !entry.in_flight()), "it ends: {:?}", record.outbox);
}

#[test]
fn a_session_is_typed_to_by_one_record_at_a_time() {
    let mut world = World::new();
    straight(&mut world, 1);
    let first = world.new_run(FirstPhase::Ask);
    world.until(seconds(30), "a send", |world| world.journal.borrow().iter().any(|line| line.starts_with("send")));
    // A second run over the same sessions can't be ordered; a copied file makes one all the same.
    let order = NewRun { implementer: claude(), reviewer: codex(), config: RunConfig::default() };
    let Reply::Refused(refusal) = world.order(Command::CreateRun(order)) else { panic!("two runs on one session") };
    assert!(refusal.message.contains("claude"), "{refusal}");
    let mut copy = world.run(&first);
    copy.id = RunId::from("copied");
    copy.outbox.clear();
    copy.entries_made = 0;
    copy.awaited = None;
    copy.step = Some(RunStep::Advance);
    world.disk.borrow_mut().runs.insert(copy.id.clone(), copy);
    world.restart();
    world.pass(seconds(120));
    // Between two sends to a session the first one was seen or reported.
    let journal = world.journal.borrow();
    let prompts = world.prompts(&claude());
    let sends = journal.iter().filter(|line| line.starts_with("send") && line.contains("claude")).count();
    assert_eq!(sends + 1, prompts.len(), "each send is one prompt: {journal:#?} {prompts:#?}");
}

#[test]
fn a_session_that_is_put_away_ends_its_run_at_once() {
    let mut world = World::new();
    let run = world.new_run(FirstPhase::Next);
    let order = Command::Session { session: codex().key(), control: SessionControl::PutAway };
    assert!(matches!(world.order(order), Reply::Done { .. }));
    assert_eq!(world.run(&run).stop_reason, Some(RunStop::SessionTrashed));
    assert!(world.disk.borrow().sessions[&codex().key()].put_away_at.is_some());
    let order = Command::Session { session: codex().key(), control: SessionControl::TakeBack };
    assert!(matches!(world.order(order), Reply::Done { .. }));
    assert_eq!(world.disk.borrow().sessions[&codex().key()].put_away_at, None);
}

/// I15: ten flips within a second are one transition, or none.
#[test]
fn a_stopped_run_can_be_run_on_and_discarded() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(60), "a phase", |world| world.run(&run).phases_done == 1);
    assert!(matches!(world.control(&run, Control::Stop), Reply::Done { .. }));
    let Reply::Done { record: Some(next), .. } = world.control(&run, Control::RunOn) else { panic!("refused") };
    assert_ne!(next, run);
    assert_eq!(world.run(&next).continued_from.as_ref().map(RunId::as_str), Some(run.as_str()));
    assert_eq!(world.run(&next).phases_done, 1);
    world.pass(seconds(120));
    assert!(matches!(world.control(&run, Control::Discard), Reply::Done { .. }));
    let RecordKey::Run(id) = &run else { panic!() };
    assert!(!world.disk.borrow().runs.contains_key(id));
    assert!(
        world.disk.borrow().pairs.is_empty()
            || world.disk.borrow().pairs.keys().all(|pair| !pair.as_str().starts_with(id.as_str()))
    );
}

#[test]
fn a_viewer_refuses_orders_and_names_the_driver() {
    let world = World::new();
    let records = world::MemRecords { disk: world.disk.clone(), journal: world.journal.clone() };
    let options =
        Options { driver: DriverFact::Elsewhere { pid: Some(4_242), background: false }, ..Options::default() };
    let transcripts = world::MemTranscripts(world.talks.clone());
    let mut viewer = trellis::driver::core::Core::start(records, transcripts, NoAgents, options, world.now);
    let order = NewRun { implementer: claude(), reviewer: codex(), config: RunConfig::default() };
    let Some(Reply::Refused(refusal)) = viewer.order(Command::CreateRun(order), world.now) else { panic!("taken") };
    assert_eq!(refusal.kind, RefusalKind::NotDriver);
    assert!(refusal.message.contains("4242"), "{refusal}");
}

#[test]
fn a_viewer_shows_what_the_driver_does_and_writes_nothing() {
    let mut world = World::new();
    let records = world::MemRecords { disk: world.disk.clone(), journal: world.journal.clone() };
    let options = Options { driver: DriverFact::Elsewhere { pid: None, background: false }, ..Options::default() };
    let transcripts = world::MemTranscripts(world.talks.clone());
    let mut viewer = trellis::driver::core::Core::start(records, transcripts, NoAgents, options, world.now);
    let run = world.new_run(FirstPhase::Next);
    let journal = world.journal.borrow().len();
    viewer.reload(world.now);
    viewer.input(Input::Tick, world.now + seconds(20));
    let shown = viewer.projection(world.now);
    assert_eq!(shown.runs.len(), 1);
    assert_eq!(shown.runs[0].key, run);
    assert_eq!(world.journal.borrow().len(), journal, "it wrote nothing");
}

/// What the entries of a conversation are, in order.
fn kinds(thread: &trellis::projection::Thread) -> Vec<String> {
    thread
        .entries
        .iter()
        .map(|entry| match &entry.kind {
            ThreadKind::Said { label, .. } => format!("{label} says"),
            ThreadKind::Human { label, .. } => format!("you to {label}"),
            ThreadKind::Carried { label, .. } => format!("trellis to {label}"),
            ThreadKind::Relay { n, label, .. } => format!("relay {n:?} to {label}"),
            ThreadKind::Phase { n, .. } => format!("phase {n}"),
            ThreadKind::Again { n } => format!("phase {n} again"),
            ThreadKind::Ended { label, .. } => format!("{label} ended"),
        })
        .collect()
}

#[test]
fn the_conversation_puts_each_relay_under_the_answer_it_carries() {
    let mut world = World::new();
    straight(&mut world, 1);
    let run = world.new_run(FirstPhase::Next);
    world.person_types(&claude(), "do phase one");
    world.until(seconds(60), "a phase", |world| world.run(&run).phases_done == 1);
    world.core.show(Some(Shown::Record(run.clone())), world.now);
    let thread = world.core.projection(world.now).shown.clone().unwrap();
    let kinds = kinds(&thread);
    let expected = ["phase 1", "you to claude", "claude says", "relay Some(1) to codex", "codex says"];
    assert_eq!(kinds[..5], expected, "{kinds:?}");
    // One side by itself: what trellis carried into it stands where it came in, so that its answers are told apart.
    world.core.show(Some(Shown::Session(codex().key())), world.now);
    let alone = world.core.projection(world.now).shown.clone().unwrap();
    assert_eq!(self::kinds(&alone), ["you to codex", "codex says", "trellis to codex", "codex says"]);
    world.core.show(Some(Shown::Session(claude().key())), world.now);
    let alone = world.core.projection(world.now).shown.clone().unwrap();
    assert_eq!(self::kinds(&alone)[..2], ["you to claude", "claude says"], "{:?}", self::kinds(&alone));
}
