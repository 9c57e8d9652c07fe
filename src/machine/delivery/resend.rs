//! An entry in flight that was not seen yet: when Enter is pressed again, when it is sent again, when a person is asked.

use jiff::Timestamp;

use super::super::common::Loop;
use super::super::draft::{Draft, fresh, later};
use super::super::{ledger, session};
use super::evidence::mark_holds;
use super::{ENTERS, GAP, GIVE_UP, GRACE, Next, SENDS, but_for_the_box, idle};
use crate::model::outbox::{Entry, EntryState};
use crate::model::reach::{InputBox, OnItsWay, Reach, Tick};
use crate::planted::{self, Fault};

/// What is to be done about an entry in flight.
pub(super) fn next<R: Loop>(draft: &Draft<'_, R>, entry: &Entry) -> Next {
    if entry.state == EntryState::Queued {
        return session::gone(draft.side(entry.target))
            .map_or(Next::OnItsWay("it stands in the agent's own queue"), Next::Gone);
    }
    if entry.by_hand {
        return session::gone(draft.side(entry.target)).map_or(Next::Paste, Next::Gone);
    }
    let next = undelivered(draft, entry);
    match gives_up_at(draft, entry) {
        // What is being carried is not lost, however long its process takes.
        Some(at) if draft.now() >= at && !matches!(next, Next::Gone(_) | Next::OnItsWay(_)) => {
            Next::GiveUp(seen(draft, &next))
        }
        _ => next,
    }
}

fn undelivered<R: Loop>(draft: &Draft<'_, R>, entry: &Entry) -> Next {
    let side = draft.side(entry.target);
    if let Some(why) = session::gone(side) {
        return Next::Gone(why);
    }
    if !mark_holds(draft, entry) {
        return Next::Held("its transcript was replaced, so nothing proves whether it arrived".to_owned());
    }
    let Some(reach) = fresh(side, draft.now(), entry.last_key_at.max(entry.attempt_at)) else { return Next::Observe };
    match reach.input {
        InputBox::Ours => on_our_text(draft, entry, reach),
        InputBox::Other => Next::Held("the box holds other text: press Enter or clear it in the pane".to_owned()),
        InputBox::Command => {
            Next::Held("the box holds a command: clear it in the pane (an Enter would run it)".to_owned())
        }
        InputBox::Unknown => Next::Held(unreadable(reach)),
        InputBox::Empty => on_empty_box(draft, entry, reach),
    }
}

/// In the words of the look, which knows how high the pane is.
fn unreadable(reach: &Reach) -> String {
    match &reach.ticks.box_empty {
        Tick::Missing(why) => why.clone(),
        Tick::Holds => "its input box cannot be read".to_owned(),
    }
}

/// Our text stands in the box: Enter alone.
fn on_our_text<R: Loop>(draft: &Draft<'_, R>, entry: &Entry, reach: &Reach) -> Next {
    if let Some(why) = but_for_the_box(reach) {
        return Next::Held(why.to_owned());
    }
    if entry.enters >= ENTERS {
        return Next::Held(format!("our text is still in the box after {ENTERS} times Enter"));
    }
    let idle = idle(draft, entry);
    if !idle.is_idle() {
        return Next::Busy(idle);
    }
    match entry.last_key_at.map(|key| later(key, draft.scene.tempo.wait(GAP))) {
        Some(at) if draft.now() < at => Next::EnterAt(at),
        _ => Next::Enter,
    }
}

/// The box is empty: either it was taken and its record is late, or it was lost.
fn on_empty_box<R: Loop>(draft: &Draft<'_, R>, entry: &Entry, reach: &Reach) -> Next {
    match &reach.on_its_way {
        OnItsWay::Queued => return Next::OnItsWay("it stands in the agent's own queue"),
        OnItsWay::Carried => return Next::OnItsWay("it is being carried there"),
        OnItsWay::Refused(why) if !looked_again(entry) => return Next::GiveUp(why.clone()),
        OnItsWay::No | OnItsWay::Entered | OnItsWay::Refused(_) => {}
        OnItsWay::Unknown(why) => return Next::Held(format!("it cannot be told whether it is on its way: {why}")),
    }
    // It stood in the box, Enter was pressed, and it stands there no more: whoever took it has it.
    if entry.entered {
        return Next::Held(
            "Enter was pressed on it and its box is empty, but its transcript does not show it".to_owned(),
        );
    }
    if prompted_since(draft, entry) {
        return Next::Held("another prompt stands after it was typed, so it may have gone with that".to_owned());
    }
    let idle = idle(draft, entry);
    if !idle.is_idle() {
        return Next::Busy(idle);
    }
    if let Some(why) = reach.ticks.missing() {
        return Next::Held(why.to_owned());
    }
    // The death of a driver says nothing about the agent: each start has one more send, after a grace of its own.
    let by_this_driver = entry.attempt_at.is_some_and(|at| at >= draft.scene.driver_started_at);
    if entry.attempts >= SENDS && by_this_driver {
        return Next::Held(format!("it was sent {} times and never seen", entry.attempts));
    }
    let at = later(quiet_from(draft, entry), draft.scene.tempo.wait(GRACE));
    if draft.now() < at && !planted::is(Fault::NoGrace) { Next::Quiet(at) } else { Next::Send }
}

/// Whether a person had it looked at again after its last attempt: what refused it then may take it now.
fn looked_again(entry: &Entry) -> bool {
    entry.clock_from > entry.last_key_at.max(entry.attempt_at)
}

/// Any prompt, of whatever origin, taken up or queued after the entry's mark.
fn prompted_since<R: Loop>(draft: &Draft<'_, R>, entry: &Entry) -> bool {
    let Some(conversation) = draft.conversation(entry.target) else { return false };
    let from = entry.transcript_mark.as_ref().and_then(|mark| ledger::after_mark(conversation, mark)).unwrap_or(0);
    conversation.newest().is_some_and(|turn| turn.prompt.record.offset >= from)
        || conversation
            .queued
            .iter()
            .any(|row| row.offset >= from && !session::queue_gone(draft.side(entry.target), row.at))
}

/// Since when the conditions have held: saved, but never from before this driver began to look, or could not save.
fn quiet_from<R: Loop>(draft: &Draft<'_, R>, entry: &Entry) -> Timestamp {
    entry.quiet_since.filter(|since| *since >= draft.scene.kept_since).unwrap_or(draft.now())
}

/// Saves since when the conditions have held, and forgets it at the first look at which one of them does not.
pub(super) fn keep_quiet_time<R: Loop>(draft: &mut Draft<'_, R>, index: usize, next: &Next) {
    let Some(entry) = draft.rec.outbox().get(index) else { return };
    let since = match next {
        Next::Quiet(_) | Next::Send if entry.attempts > 0 => Some(quiet_from(draft, entry)),
        // An observation that is merely old breaks nothing; it is made anew at once.
        Next::Observe => entry.quiet_since,
        _ => None,
    };
    if let Some(entry) = draft.rec.outbox_mut().get_mut(index)
        && entry.quiet_since != since
    {
        entry.quiet_since = since;
    }
}

/// When a person is asked about an entry in flight. Time in a queue, in a process's hands, time in which nobody looked and
/// time in which nothing could be saved do not count.
pub(in crate::machine) fn gives_up_at<R: Loop>(draft: &Draft<'_, R>, entry: &Entry) -> Option<Timestamp> {
    if !entry.in_flight() || entry.by_hand || entry.state == EntryState::Queued {
        return None;
    }
    let from = entry.last_key_at.max(entry.attempt_at).max(entry.clock_from).max(entry.carried_at);
    let from = from?.max(draft.scene.kept_since);
    Some(later(from, draft.scene.tempo.wait(GIVE_UP)))
}

/// What is seen of it, in words.
fn seen<R: Loop>(draft: &Draft<'_, R>, next: &Next) -> String {
    match next {
        Next::Held(why) => why.clone(),
        Next::OnItsWay(why) => (*why).to_owned(),
        Next::Busy(_) => "the agent is at work, but its transcript does not show it".to_owned(),
        Next::Enter | Next::EnterAt(_) => "our text is still in the box".to_owned(),
        Next::Observe | Next::Runs => "the session could not be observed".to_owned(),
        Next::Quiet(_) | Next::Send | Next::Copy | Next::Paste | Next::Gone(_) | Next::GiveUp(_) => {
            let minute = draft.scene.tempo.wait(GIVE_UP).as_secs();
            format!("nothing of it was seen for {minute} s")
        }
    }
}

/// Whether the transport proves that nothing of an entry is on its way, by a look after its last key.
pub(super) fn nothing_on_its_way<R: Loop>(draft: &Draft<'_, R>, entry: &Entry) -> bool {
    let after = entry.last_key_at.max(entry.attempt_at);
    let proof = fresh(draft.side(entry.target), draft.now(), after);
    mark_holds(draft, entry)
        && proof.is_some_and(|reach| matches!(reach.on_its_way, OnItsWay::No | OnItsWay::Refused(_)))
        && !prompted_since(draft, entry)
}
