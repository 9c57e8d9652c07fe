//! Bringing the open entry of a record to its target (`loops.md` §3): what to do now, and doing it.
//! Evidence that it arrived is in `evidence`, entries already in flight in `resend`; keys are the transport's.

pub(super) mod evidence;
mod resend;

pub(super) use resend::gives_up_at;

use super::grounds::Evidence;
use jiff::{SignedDuration, Timestamp};

use super::common::Loop;
use super::draft::{Draft, fresh, later};
use super::session::{self, Busy, IdleVerdict};
use super::wire::{self, Wire};
use super::{Delivery, Effect, SentReport, Side, Step, TranscriptFact, guard, words};
use crate::model::event::{Decision, Ground};
use crate::model::ids::{RecordKey, Role};
use crate::model::outbox::{Entry, EntryState, Purpose, TranscriptMark};
use crate::model::pair::PauseReason;
use crate::model::reach::{InputBox, Reach, Tick, Transport};

/// How long all must have held before an entry is sent again.
pub(super) const GRACE: SignedDuration = SignedDuration::from_secs(30);
/// After this without evidence a person is asked.
pub(super) const GIVE_UP: SignedDuration = SignedDuration::from_secs(60);
/// Between two Enters, and before a send is tried again that typed nothing.
const GAP: SignedDuration = SignedDuration::from_secs(2);
/// Enter pressed alone at most.
const ENTERS: u32 = 3;
/// Whole sequences begun by itself at most.
const SENDS: u32 = 3;
/// A text for the clipboard, in bytes: terminals take about 100 KB of it, written as 4 signs for 3 bytes.
const BY_HAND: u64 = 70_000;

/// What is to be done about the open entry now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A sequence to this session runs.
    Runs,
    /// The session is to be observed first.
    Observe,
    /// The target is not free.
    Busy(IdleVerdict),
    /// Something is missing, in words.
    Held(String),
    /// It stands in the agent's queue, or a process of ours carries it.
    OnItsWay(&'static str),
    /// All conditions for sending again hold; it goes out at this time if they still do.
    Quiet(Timestamp),
    /// A person is to paste it.
    Paste,
    /// Begin the sequence.
    Send,
    /// Put it on the clipboard.
    Copy,
    /// Press Enter alone.
    Enter,
    /// Press Enter alone, but not before this time.
    EnterAt(Timestamp),
    /// The agent is gone, in words.
    Gone(String),
    /// It could not be proven delivered, in words.
    GiveUp(String),
}

/// What is to be done about the open entry at `index`, whether or not a key may be pressed now.
pub(super) fn next<R: Loop>(draft: &Draft<'_, R>, index: usize) -> Next {
    let Some(entry) = draft.rec.outbox().get(index) else { return Next::Runs };
    if draft.side(entry.target).sending.is_some() {
        return Next::Runs;
    }
    if entry.attempts == 0 { first(draft, entry) } else { resend::next(draft, entry) }
}

/// An entry of which nothing was typed yet.
fn first<R: Loop>(draft: &Draft<'_, R>, entry: &Entry) -> Next {
    let side = draft.side(entry.target);
    let Some(reach) = side.reach else { return Next::Observe };
    if let Some(why) = session::gone(side) {
        return Next::Gone(why);
    }
    if wire::is_nothing(entry.text.text()) {
        return Next::Held("nothing is left of it without control characters: drop it".to_owned());
    }
    let idle = idle(draft, entry);
    if !idle.is_idle() {
        return Next::Busy(idle);
    }
    // A sequence that typed nothing left the time of its try behind.
    let gap = entry.attempt_at.map(|at| later(at, draft.scene.tempo.wait(GAP)));
    if entry.by_hand || reach.transport == Some(Transport::ByHand) {
        return Next::Copy;
    }
    let Some(reach) = fresh(side, draft.now(), entry.attempt_at).filter(|_| gap.is_none_or(|gap| draft.now() >= gap))
    else {
        return Next::Observe;
    };
    if reach.transport.is_none() {
        let why = reach.ticks.missing().unwrap_or("no way to write to it was found");
        return Next::Gone(format!("nothing reaches it: {why}"));
    }
    let unreadable = reach.input == InputBox::Unknown && draft.scene.box_may_be_unknown;
    match if unreadable { but_for_the_box(reach) } else { reach.ticks.missing() } {
        Some(why) => Next::Held(why.to_owned()),
        None => Next::Send,
    }
}

/// The first tick that is missing, the box left out of account.
fn but_for_the_box(reach: &Reach) -> Option<&str> {
    let ticks = &reach.ticks;
    [&ticks.pane, &ticks.alive, &ticks.no_dialog, &ticks.not_scrolled].into_iter().find_map(|tick| match tick {
        Tick::Holds => None,
        Tick::Missing(why) => Some(why.as_str()),
    })
}

/// Whether the target is free for an entry (the entry itself left out of account).
fn idle<R: Loop>(draft: &Draft<'_, R>, entry: &Entry) -> IdleVerdict {
    let own = (&draft.rec.key(), &entry.id);
    let mut idle = session::idle_but_for(draft.scene, entry.target, draft.rec.knobs().debounce, Some(own));
    if draft.force || entry.forced {
        idle.because.retain(|busy| !matches!(busy, Busy::Background(_) | Busy::Quiet(_)));
    }
    idle
}

/// Does what is to be done about the open entry. Keys are pressed and times run out only in a record that goes.
pub(super) fn drive<R: Loop>(draft: &mut Draft<'_, R>) {
    let Some(index) = draft.rec.open_index() else { return };
    let Some(role) = draft.rec.outbox().get(index).map(|entry| entry.target) else { return };
    let next = next(draft, index);
    resend::keep_quiet_time(draft, index, &next);
    match next {
        Next::Runs | Next::OnItsWay(_) | Next::Paste => draft.keep_an_eye_on(role),
        Next::Observe => draft.probe(role),
        Next::Held(_) => draft.recheck(role),
        Next::Busy(idle) => wait_for_free(draft, role, &idle),
        Next::Quiet(at) | Next::EnterAt(at) => {
            draft.recheck(role);
            draft.wake(at);
        }
        Next::Send => begin(draft, index),
        Next::Copy => copy(draft, index),
        Next::Enter => enter(draft, index),
        // A person's message in a paused record: what the record waits for stays what it is.
        Next::Gone(_) | Next::GiveUp(_) if draft.rec.paused_reason().is_some() => draft.recheck(role),
        Next::Gone(why) => {
            let detail = format!("{} is gone: {why}", draft.name(role));
            draft.pause(PauseReason::AgentGone, detail, Evidence::seen("an observation of its transport"));
        }
        Next::GiveUp(seen) => {
            let detail = format!("a message to {} could not be proven delivered: {seen}", draft.name(role));
            let evidence = draft.rec.open().map_or_else(String::new, |entry| entry.id.to_string());
            draft.pause(PauseReason::DeliveryFailed, detail, evidence);
        }
    }
    let gives_up_at = draft.rec.open().and_then(|entry| gives_up_at(draft, entry));
    if let Some(at) = gives_up_at.filter(|at| *at > draft.now()) {
        draft.wake(at);
    }
}

fn wait_for_free<R: Loop>(draft: &mut Draft<'_, R>, role: Role, idle: &IdleVerdict) {
    draft.keep_an_eye_on(role);
    wake_when_free(draft, role, idle);
}

/// Sees to it that a wait for a free side ends: its quiet time, and fresh looks at what only a look can show.
pub(super) fn wake_when_free<R: Loop>(draft: &mut Draft<'_, R>, role: Role, idle: &IdleVerdict) {
    for busy in &idle.because {
        match busy {
            Busy::Quiet(at) => draft.wake(*at),
            Busy::Says | Busy::Dialog(_) => draft.recheck(role),
            Busy::Turn | Busy::Question(_) | Busy::QueuedPrompt | Busy::Background(_) => draft.keep_an_eye_on(role),
            // A message that lies in the queue of a program that has ended stays there until somebody starts it again.
            Busy::InFlight(_) => {
                guard::gone(draft, role);
            }
        }
    }
}

/// Counts an attempt and begins the sequence: saved first, as every effect.
fn begin<R: Loop>(draft: &mut Draft<'_, R>, index: usize) {
    let now = draft.now();
    let Some(entry) = draft.rec.outbox().get(index) else { return };
    let (role, again) = (entry.target, entry.attempts > 0);
    let Some(wire) = outgoing(draft, entry, false) else { return };
    let mark = mark_now(draft.side(role));
    let Some(entry) = draft.rec.outbox_mut().get_mut(index) else { return };
    entry.attempts = entry.attempts.saturating_add(1);
    entry.attempt_at = Some(now);
    entry.quiet_since = None;
    entry.sent_text = wire.differs.then(|| wire.text.clone());
    if !again {
        entry.transcript_mark = Some(mark);
    }
    let what = format!("sends {}, attempt {}", entry.id, entry.attempts);
    let evidence = if again {
        "nothing of it was on its way, and nothing was typed since"
    } else {
        "the agent is ready: there, free, no dialog open, nothing in its box"
    };
    draft.decide(what, Evidence::seen(evidence));
    if let Some(delivery) = delivery(draft, index, wire) {
        draft.effect(Effect::Send(delivery));
    }
}

/// What is really sent of an entry. Once something may have been sent it stays as it is saved, whatever was set since:
/// the evidence is compared with it.
fn outgoing<R: Loop>(draft: &Draft<'_, R>, entry: &Entry, by_hand: bool) -> Option<Wire> {
    let scene = draft.scene;
    let agent = draft.rec.session(entry.target).agent;
    let whole = wire::whole(entry.text.text(), prompt_bytes(&draft.rec, entry), agent)?;
    if entry.attempts > 0 {
        return Some(match &entry.sent_text {
            Some(sent) if *sent != whole.text => Wire { text: sent.clone(), prompt_bytes: 0, differs: true },
            Some(_) | None => whole,
        });
    }
    // A process is given any text whole.
    let is_typed = draft.side(entry.target).reach.is_none_or(|reach| reach.transport != Some(Transport::Headless));
    let limit = if by_hand { scene.message_file_above.min(BY_HAND) } else { scene.message_file_above };
    if !(by_hand || is_typed) || entry.text.bytes <= limit {
        return Some(whole);
    }
    let folder = match draft.rec.key() {
        RecordKey::Run(id) => format!("checklist-runs/{id}"),
        RecordKey::Pair(id) => format!("pairs/{id}"),
    };
    Some(wire::naming(&format!("{}/{folder}/{}", scene.home, entry.text.file), entry.text.bytes))
}

fn enter<R: Loop>(draft: &mut Draft<'_, R>, index: usize) {
    let Some(entry) = draft.rec.outbox_mut().get_mut(index) else { return };
    entry.enters = entry.enters.saturating_add(1);
    entry.quiet_since = None;
    let what = format!("presses Enter on {}, {} of {ENTERS}", entry.id, entry.enters);
    draft.decide(what, Evidence::seen("our text stands in the box"));
    let wire = draft.rec.outbox().get(index).and_then(|entry| outgoing(draft, entry, false));
    if let Some(delivery) = wire.and_then(|wire| delivery(draft, index, wire)) {
        draft.effect(Effect::PressEnter(delivery));
    }
}

/// Hands an entry to the person: from now on it is never typed or queued by trellis.
pub(super) fn copy<R: Loop>(draft: &mut Draft<'_, R>, index: usize) {
    let now = draft.now();
    let Some(entry) = draft.rec.outbox().get(index) else { return };
    let Some(wire) = outgoing(draft, entry, true) else { return };
    let mark = mark_now(draft.side(entry.target));
    let Some(entry) = draft.rec.outbox_mut().get_mut(index) else { return };
    if entry.attempts == 0 {
        entry.attempts = 1;
        entry.attempt_at = Some(now);
        entry.transcript_mark = Some(mark);
    }
    entry.by_hand = true;
    entry.sent_text = wire.differs.then(|| wire.text.clone());
    entry.quiet_since = None;
    let what = format!("{} is to be pasted by hand", entry.id);
    draft.decide(what, "chosen by a person or the only way to this session");
    draft.effect(Effect::Clipboard { text: wire.text.into() });
}

/// Where the target's transcript ends now.
fn mark_now(side: &Side<'_>) -> TranscriptMark {
    match side.transcript {
        TranscriptFact::Present(mark) => mark.clone(),
        TranscriptFact::NotYet | TranscriptFact::Deleted | TranscriptFact::Unreadable(_) => {
            TranscriptMark { path: String::new(), file_identity: String::new(), length: 0, last_record_id: None }
        }
    }
}

fn delivery<R: Loop>(draft: &Draft<'_, R>, index: usize, wire: Wire) -> Option<Delivery> {
    let entry = draft.rec.outbox().get(index)?;
    Some(Delivery {
        entry: entry.id.clone(),
        session: draft.rec.session(entry.target).key(),
        text: wire.text.into(),
        prompt_bytes: wire.prompt_bytes,
        attempt: entry.attempts,
        allow_unknown_box: entry.attempts == 1,
    })
}

/// How much of a text is a prompt of ours, in bytes; the rest is an answer of the other agent.
fn prompt_bytes<R: Loop>(rec: &R, entry: &Entry) -> usize {
    let text = entry.text.text();
    let relayed = || {
        let prompt = rec.prompt_for(entry.target).unwrap_or_default();
        let prompt = prompt.trim_end_matches('\n');
        (!prompt.is_empty() && text.strip_prefix(prompt).is_some_and(|rest| rest.starts_with("\n\n")))
            .then(|| prompt.len().saturating_add(2))
    };
    match entry.purpose {
        Purpose::ToReviewer | Purpose::ToImplementer => relayed().unwrap_or(0),
        Purpose::Continue => relayed().unwrap_or(text.len()),
        Purpose::Advance | Purpose::Clarify | Purpose::User => text.len(),
    }
}

/// A send or Enter sequence ended.
pub(super) fn reported<R: Loop>(record: &R, report: &SentReport, now: Timestamp) -> Step<R> {
    let mut rec = record.clone();
    let Some(entry) = rec.outbox_mut().iter_mut().find(|entry| entry.id == report.entry) else {
        return Step::unchanged(rec);
    };
    let thing = words::sending(record, entry).thing();
    let facts = &report.report;
    entry.quiet_since = None;
    let what = if facts.last_key_at.is_none() && !facts.entered {
        typed_nothing(entry, report.enter_only);
        format!("nothing of {thing} was typed")
    } else {
        entry.last_key_at = facts.last_key_at.or(Some(now));
        entry.queue_id = facts.queue_id.clone().or_else(|| entry.queue_id.take());
        entry.carrier = facts.carrier.clone().or_else(|| entry.carrier.take());
        // A queue and a process of ours prove by themselves what became of it; of a pane nothing but this is known.
        entry.entered |= facts.entered && entry.queue_id.is_none() && entry.carrier.is_none();
        if facts.entered && entry.state == EntryState::Prepared {
            entry.state = EntryState::Sent;
        }
        let how = if facts.entered { "was typed and entered" } else { "was typed but not entered" };
        format!("{thing} {how}")
    };
    let changed = &rec != record;
    let decision = Decision {
        at: now,
        record: Some(rec.key().as_str().to_owned()),
        what,
        evidence: facts.stopped.clone().unwrap_or_else(|| "the keys that were pressed".to_owned()),
        ground: Some(Ground::Seen),
        decided: true,
    };
    Step {
        changed,
        decisions: if changed { vec![decision] } else { Vec::new() },
        wake_at: Some(now),
        ..Step::unchanged(rec)
    }
}

/// The transport is certain that this sequence left nothing behind: it does not count.
fn typed_nothing(entry: &mut Entry, enter_only: bool) {
    if enter_only {
        entry.enters = entry.enters.saturating_sub(1);
        return;
    }
    entry.attempts = entry.attempts.saturating_sub(1);
    if entry.attempts == 0 && entry.is_open() {
        entry.transcript_mark = None;
    }
}

/// Begins all times of an open entry anew, with three more Enters (a resume, a look again).
pub(super) fn begin_times_anew<R: Loop>(draft: &mut Draft<'_, R>) {
    let now = draft.now();
    if let Some(entry) = draft.rec.open_index().and_then(|index| draft.rec.outbox_mut().get_mut(index))
        && entry.in_flight()
    {
        entry.clock_from = Some(now);
        entry.enters = 0;
        entry.quiet_since = None;
    }
}

/// Whether nothing of an entry is on its way for certain: never begun, or proven by the transport.
pub(super) fn is_as_good_as_prepared<R: Loop>(draft: &Draft<'_, R>, entry: &Entry) -> bool {
    entry.attempts == 0
        || (entry.state != EntryState::Queued
            && !entry.by_hand
            && !entry.entered
            && draft.side(entry.target).sending.is_none()
            && resend::nothing_on_its_way(draft, entry)
            && draft.side(entry.target).reach.is_some_and(|reach| reach.input == InputBox::Empty))
}

/// Ends an open entry that is not to go out any more: what was never begun is withdrawn, the rest given up.
pub(super) fn take_back<R: Loop>(draft: &mut Draft<'_, R>, why: impl Into<Evidence>) {
    let Some(entry) = draft.rec.open_index().and_then(|index| draft.rec.outbox_mut().get_mut(index)) else { return };
    entry.state = if entry.attempts == 0 { EntryState::Withdrawn } else { EntryState::Abandoned };
    entry.quiet_since = None;
    let what = format!("{} {}", entry.id, if entry.attempts == 0 { "is withdrawn" } else { "is given up" });
    draft.decide(what, why);
}
