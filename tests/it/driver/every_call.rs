//! A whole run on the real store, in which the N-th call to the disk fails: for every N, until one at which no fault is met.
//! In between the driver is killed and started again, so that what a start reads is among the calls.
//!
//! By default every seventh N is tried, with one kind of fault each, in turn; `TRELLIS_EVERY_FAULT=1` tries every kind at
//! every N.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use trellis::model::config::FirstPhase;
use trellis::model::ids::SessionKey;
use trellis::model::run::RunStop;
use trellis::paths::Home;
use trellis::store::Store;
use trellis::store::sim_files::{Fault, SimFiles};

use super::world::{Disk, World, claude, codex, noon, seconds};

/// What happens at the N-th call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The call fails, and the process goes on.
    Fails(Fault),
    /// The process dies there; the system holds all that was written.
    Killed,
    /// The machine loses its power there: what was not brought to the disk is gone.
    PowerLost,
    /// The same, and some of it survives, so that what was renamed may be there without its content's neighbours.
    PartLost(u64),
}

const KINDS: [Kind; 8] = [
    Kind::Fails(Fault::Io),
    Kind::Killed,
    Kind::Fails(Fault::NoSpace),
    Kind::PowerLost,
    Kind::Fails(Fault::ShortWrite),
    Kind::PartLost(0x9e37_79b9_7f4a_7c15),
    Kind::Fails(Fault::ReadOnly),
    Kind::PartLost(0x2545_f491_4f6c_dd1d),
];

/// The replies of a run of one phase: feedback, then agreement, then no phase is left.
fn replies() -> impl FnMut(&SessionKey, &str) -> Option<String> {
    let (mut reviews, mut asked) = (0, 0);
    move |session, text| {
        if session == &codex().key() {
            reviews += 1;
            return Some(if reviews == 1 { "1. name it better" } else { "LGTM" }.to_owned());
        }
        if text.starts_with("Implement the next phase") {
            asked += 1;
            if asked > 1 {
                return Some("COMPLETED".to_owned());
            }
        }
        Some("Did it.".to_owned())
    }
}

/// What came of a run.
#[derive(Debug, PartialEq, Eq)]
struct Played {
    /// The prompts of both sides.
    prompts: [Vec<String>; 2],
    /// The fault was met.
    met: bool,
    calls: u64,
}

fn play(fault: Option<(u64, Kind)>) -> Played {
    let files = SimFiles::new();
    if let Some((at, kind)) = fault {
        files.fail_at(at, if let Kind::Fails(fault) = kind { fault } else { Fault::Kill });
    }
    let open = || Some(Store::with_files(Home::at("/h"), files.clone()));
    let disk = Rc::new(RefCell::new(Disk { store: open(), files: files.clone(), ..Disk::default() }));
    let talks = World::new().talks;
    let mut world = World::on(disk.clone(), talks, noon(), 7);
    world.replies = Box::new(replies());
    let restart = |world: &mut World| {
        world.disk.borrow_mut().store = open();
        world.restart();
    };
    let mut coin = if let Some((_, Kind::PartLost(seed))) = fault { seed } else { 1 };
    let mut alive = |world: &mut World| {
        while files.is_dead() {
            match fault {
                Some((_, Kind::PowerLost)) => files.crash(|| false),
                Some((_, Kind::PartLost(_))) => files.crash(|| {
                    coin ^= coin << 13;
                    coin ^= coin >> 7;
                    coin ^= coin << 17;
                    coin & 1 == 0
                }),
                _ => files.revive(),
            }
            restart(world);
        }
    };
    let ordered = |world: &World| world.disk.borrow().runs.keys().next().cloned();
    let end = noon() + seconds(3_600);
    let mut restarts_due = vec![4_usize, 2];
    loop {
        alive(&mut world);
        // A person orders the run, and orders it again when it was refused.
        if ordered(&world).is_none() && world.core.books().runs().next().is_none() {
            let order = trellis::model::command::NewRun {
                implementer: claude(),
                reviewer: codex(),
                config: trellis::model::config::RunConfig { first_phase: FirstPhase::Ask, ..Default::default() },
            };
            let _ = world.core.order(trellis::model::command::Command::CreateRun(order), world.now);
        }
        world.step();
        alive(&mut world);
        let prompts = world.prompts(&claude()).len() + world.prompts(&codex()).len();
        // A record that could not be read at a start: a person mends that and starts again. And two starts without a fault.
        let is_unread = says_unread(&mut world);
        if is_unread || restarts_due.last().is_some_and(|due| prompts > 2 + due) {
            if !is_unread {
                restarts_due.pop();
            }
            restart(&mut world);
            alive(&mut world);
        }
        let stop = world.core.books().runs().next().and_then(|held| held.record.stop_reason);
        if let Some(stop) = stop {
            assert_eq!(stop, RunStop::Completed, "{fault:?}\n{}", world.story());
            break;
        }
        assert!(world.now < end, "{fault:?}: it never completes\n{}", world.story());
    }
    let met = !files.is_fault_ahead();
    files.heal();
    no_act_without_its_save(&world, fault);
    // What is on the disk is what was acknowledged: all of it, whole.
    world.disk.borrow_mut().unsure.clear();
    restart(&mut world);
    assert!(world.core.projection(world.now).runs.iter().all(|run| run.read_only.is_none()), "{fault:?}");
    let left: Vec<_> = files.paths().into_iter().filter(|path| path.to_string_lossy().contains(".tmp-")).collect();
    assert!(left.is_empty(), "{fault:?}: {left:?}");
    Played { prompts: [world.prompts(&claude()), world.prompts(&codex())], met, calls: files.calls() }
}

/// Something could not be read at the start: a row says so, or, for a whole folder, a notice.
fn says_unread(world: &mut World) -> bool {
    let projection = world.core.projection(world.now);
    let is_gone = world.core.books().runs().next().is_none() && !world.disk.borrow().runs.is_empty();
    let is_said = projection.notices.iter().any(|notice| notice.is_error && notice.text.contains("can't be read"));
    assert!(!is_gone || is_said || !projection.runs.is_empty(), "a run is gone without a word");
    is_gone || projection.runs.iter().any(|run| run.read_only.is_some())
}

/// Every send stands behind a save that was acknowledged and holds that very attempt.
fn no_act_without_its_save(world: &World, fault: Option<(u64, Kind)>) {
    let mut saved = BTreeSet::new();
    for line in world.journal.borrow().iter() {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["save", _, record, _, entry, attempt] => drop(saved.insert((*record, *entry, *attempt))),
            ["send", entry, "of", record, "to", _, attempt] => {
                let is_saved = saved.iter().any(|(r, e, a)| record.ends_with(r) && e == entry && a == attempt);
                assert!(is_saved, "{fault:?}: {line}\n{:#?}", world.journal.borrow());
            }
            _ => {}
        }
    }
}

#[test]
fn a_fault_at_any_call_of_a_whole_run_loses_and_repeats_nothing() {
    let clean = play(None);
    assert_eq!(clean.prompts.each_ref().map(Vec::len), [4, 3], "{:#?}", clean.prompts);
    let every = std::env::var_os("TRELLIS_EVERY_FAULT").is_some();
    let mut n = 0_u64;
    let mut tried = 0;
    loop {
        let mut met = false;
        let kinds = if every { &KINDS[..] } else { &KINDS[tried % KINDS.len()..][..1] };
        for kind in kinds {
            let played = play(Some((n, *kind)));
            assert_eq!(played.prompts, clean.prompts, "{kind:?} at call {n}");
            met |= played.met;
            tried += 1;
        }
        if !met {
            break;
        }
        n += if every { 1 } else { 7 };
    }
    println!("{n} calls of a run, {tried} runs with a fault: each message once, no act without its save");
    assert!(n >= clean.calls / 2, "{n} of {}", clean.calls);
}
