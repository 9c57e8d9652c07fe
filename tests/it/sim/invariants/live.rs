//! What must hold at every moment: whatever begins was intended and may begin, nobody's prompt is passed over, no pair
//! goes without its run.

use jiff::SignedDuration;
use trellis::model::ids::{RecordKey, Role};
use trellis::model::outbox::{Entry, Purpose};
use trellis::model::pair::{PairRecord, PairState, PairStop};
use trellis::model::run::{RunRecord, RunState};
use trellis::model::text::fold;

use super::Invariant;
use crate::sim::disk::Disk;
use crate::sim::world::{IMPLEMENTER, REVIEWER, World};

/// How long nothing of a message must be seen before it goes out again.
const GRACE: SignedDuration = SignedDuration::from_secs(30);

/// What has begun since the last check belongs to a record that goes, whose saved entry counts it, and behind no
/// person's prompt.
pub fn begins(disk: &Disk, world: &mut World) {
    for (key, entry, enter_only) in std::mem::take(&mut world.begun) {
        let (running, outbox): (bool, &[Entry]) = match &key {
            RecordKey::Run(id) => {
                disk.runs.get(id).map_or((false, &[]), |run| (run.state == RunState::Running, run.outbox.as_slice()))
            }
            RecordKey::Pair(id) => disk.pairs.get(id).map_or((false, &[]), |pair| {
                (pair.state == PairState::Running && goes_with_its_run(disk, pair), pair.outbox.as_slice())
            }),
        };
        let Some(saved) = outbox.iter().find(|saved| saved.id == entry) else {
            world.breaks(Invariant::ExactlyOnce, format!("{entry} of {key} was sent and is not on the disk"));
            continue;
        };
        sent_beyond_the_grace(saved, enter_only, world);
        if saved.attempts == 0 {
            world.breaks(Invariant::ExactlyOnce, format!("{entry} of {key} was sent before its attempt was saved"));
        }
        if !running && saved.purpose != Purpose::User {
            let how = if enter_only { "Enter on" } else { "the send of" };
            world.breaks(Invariant::PausedMeansSilent, format!("{how} {entry} of {key} began while it did not go"));
        }
        if let (RecordKey::Pair(id), false) = (&key, saved.purpose == Purpose::User || enter_only)
            && let Some(pair) = disk.pairs.get(id)
            && let Some(what) = passed_over(disk, pair, world)
        {
            world.breaks(Invariant::HumanFirst, format!("{entry} of {key} began behind {what}"));
        }
    }
}

/// A text that a killed driver left in a box and a person entered there, and that its agent did not record for longer than
/// the grace, cannot be told from one that was lost: it goes out again, as `loops.md` §3 says, and its late copy is told
/// as a duplicate. Such a copy is counted, and is the one second copy that may be. What trellis entered itself is not
/// among them: its pane keeps that.
fn sent_beyond_the_grace(saved: &Entry, enter_only: bool, world: &mut World) {
    let side = if saved.target == Role::Implementer { IMPLEMENTER } else { REVIEWER };
    let now = world.lived();
    let late = world.agents[side]
        .unrecorded
        .iter()
        .find(|(text, since)| fold(text) == fold(saved.text_on_the_wire()) && now - *since >= GRACE);
    let by_trellis = world.agents[side].entered.as_ref() == Some(&saved.id);
    if !enter_only && saved.attempts > 1 && !saved.entered && !by_trellis && late.is_some() {
        world.beyond_grace += 1;
        world.say("sent again: its record is later than the grace".into());
        world.agents[side].doubled.push(saved.text_on_the_wire().to_owned());
    }
}

fn goes_with_its_run(disk: &Disk, pair: &PairRecord) -> bool {
    disk.runs
        .values()
        .filter(|run| run.current_pair_id.as_ref() == Some(&pair.id))
        .all(|run| run.state == RunState::Running)
}

/// A pair that the reviewer's word ends has seen to every person's prompt.
pub fn ends_with_people_seen(disk: &Disk, pair: &PairRecord, world: &mut World) {
    let was = disk.pairs.get(&pair.id).map(|before| before.state);
    if was == Some(PairState::Running)
        && pair.stop_reason == Some(PairStop::Lgtm)
        && pair.accepted_by.is_none()
        && let Some(what) = passed_over(disk, pair, world)
    {
        world.breaks(Invariant::HumanFirst, format!("{} was agreed behind {what}", pair.id));
    }
}

/// A person's prompt in a session of a pair, behind its birth and behind what that person has seen and let pass.
fn passed_over(disk: &Disk, pair: &PairRecord, world: &World) -> Option<String> {
    let from = disk.born.get(&pair.id).copied().unwrap_or(usize::MAX).max(disk.accounted);
    let mut typed = world.typed.iter().skip(from);
    typed
        .find(|typed| {
            let session = [&pair.implementer, &pair.reviewer][typed.side].key();
            !typed.awaited
                && typed.session == session
                && !is_in_a_message(disk, &typed.text)
                && world.still_says(&typed.session, &typed.text)
        })
        .map(|typed| format!("a prompt to {}: {}", typed.side, typed.text))
}

/// Words of a person that went out together with a message of ours, whichever record's, are that message (`loops.md` §2).
fn is_in_a_message(disk: &Disk, text: &str) -> bool {
    let of_runs = disk.runs.values().flat_map(|run| &run.outbox);
    of_runs
        .chain(disk.pairs.values().flat_map(|pair| &pair.outbox))
        .any(|entry| text.contains(entry.text_on_the_wire()))
}

/// Whether the loop waits for a prompt of somebody else now, and on which side.
pub fn open_wait(disk: &Disk) -> Option<usize> {
    let of_pairs = disk.pairs.values().filter(|pair| pair.is_active()).find_map(|pair| pair.open_wait.as_ref());
    of_pairs.map(|wait| match wait.side {
        Role::Implementer => IMPLEMENTER,
        Role::Reviewer => REVIEWER,
    })
}

/// At no moment does the disk hold a pair of a run that the run does not name.
pub fn named_by_its_run(disk: &Disk, pair: &PairRecord, world: &mut World) {
    let names = |run: &RunRecord| {
        run.current_pair_id.as_ref() == Some(&pair.id)
            || run.phases.iter().any(|attempt| attempt.pair_id.as_ref() == Some(&pair.id))
    };
    if pair.owner == "checklist" && !disk.runs.values().any(names) {
        world.breaks(Invariant::NoOrphanPair, format!("{} was saved before its run named it", pair.id));
    }
}

/// No active pair of a run that no run names as its current one, or as the one that is to stop.
pub fn no_orphan(disk: &Disk, world: &mut World) {
    let orphan = disk.pairs.values().filter(|pair| pair.is_active() && pair.owner == "checklist").find(|pair| {
        !disk.runs.values().any(|run| {
            let current = run.is_active() && run.current_pair_id.as_ref() == Some(&pair.id);
            current || run.pending_pair_stop.as_ref() == Some(&pair.id)
        })
    });
    if let Some(pair) = orphan {
        world.breaks(Invariant::NoOrphanPair, format!("{} goes, and no run names it", pair.id));
    }
}
