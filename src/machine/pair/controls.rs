//! What a person, or its run, can order of a pair (`loops.md` §4.2, §5.3), and the reasons when it is not possible.

use super::super::common::Loop as _;
use super::super::draft::Draft;
use super::super::grounds::Evidence;
use super::super::session::{Busy, background};
use super::super::turns;
use super::super::{Effect, PairOrder, Scene, Step, TranscriptFact, limits, orders, prompts};
use super::steps::{self, Pair, awaiting, stop};
use super::{Successor, create, judge, resume};
use crate::model::command::{Confirm, Control, Refusal};
use crate::model::config::ConfigChange;
use crate::model::event::EventKind;
use crate::model::ids::{PairId, RecordKey, Role};
use crate::model::outbox::{Entry, Purpose};
use crate::model::pair::{AnswerId, Kickoff, OpenWait, PairRecord, PairState, PairStop, PauseReason};
use crate::model::run::RunRecord;
use crate::model::text::TextRef;

type Outcome = Result<(), Refusal>;

fn no(message: &str) -> Outcome {
    Err(Refusal::not_now(message))
}

/// An order of a person.
pub(super) fn control(record: &PairRecord, control: &Control, scene: &Scene<'_>) -> Result<Step<PairRecord>, Refusal> {
    let mut draft = Draft::new(record, scene);
    if record.is_active() {
        on_active(&mut draft, control)?;
    } else {
        on_stopped(&mut draft, control)?;
    }
    Ok(draft.finish())
}

fn on_stopped(draft: &mut Pair<'_>, control: &Control) -> Outcome {
    match control {
        Control::Discard => {
            draft.effect(Effect::Discard);
            Ok(())
        }
        Control::Retry => anew(draft),
        Control::More { n, blockers_only } => more(draft, *n, *blockers_only),
        Control::Accept => no("this pair has stopped: what it agreed on cannot be changed"),
        _ => no("this pair has stopped"),
    }
}

fn on_active(draft: &mut Pair<'_>, control: &Control) -> Outcome {
    let paused = draft.rec.paused_reason;
    match control {
        Control::Pause if paused.is_some() => no("it is paused already"),
        Control::Pause => {
            draft.pause(PauseReason::Manual, "paused by you", Evidence::key());
            Ok(())
        }
        Control::Resume if paused.is_none() => no("it is not paused"),
        Control::Resume => resume::resume(draft),
        Control::Retry => {
            refuse_while_flying(draft)?;
            anew(draft)?;
            stop(draft, PairStop::Manual, Evidence::order("reviewed again from the start"));
            Ok(())
        }
        Control::Accept => {
            draft.rec.accepted_by = Some("user".to_owned());
            stop(draft, PairStop::Lgtm, Evidence::order("accepted by you"));
            Ok(())
        }
        Control::AsFeedback => as_feedback(draft),
        Control::ForceRelay => force(draft),
        Control::Confirm(answer) => confirm(draft, answer),
        Control::Configure { changes, by } => configure(draft, changes, by),
        Control::Write { side, text, go_on } => {
            if draft.rec.pending_confirm.is_some() {
                return no("a relay waits for your look: send or drop it first");
            }
            orders::write(draft, *side, text, *go_on)
        }
        Control::Follow => follow(draft),
        Control::BringBack => orders::bring_back(draft),
        Control::CheckDelivery => orders::check_delivery(draft),
        Control::SendAgain => orders::send_again(draft),
        Control::ByHand => orders::by_hand(draft),
        Control::Drop => {
            let entry = orders::drop_open(draft)?;
            dropped(draft, &entry);
            Ok(())
        }
        Control::Stop => {
            stop(draft, PairStop::Manual, Evidence::order("stopped by you"));
            Ok(())
        }
        Control::More { .. } => {
            no("only after the cap was reached there can be more relays: change the settings instead")
        }
        Control::Discard => no("it is still active: stop it first"),
        Control::Ask | Control::Skip | Control::Rename { .. } | Control::RunOn => no("only a run can do that"),
    }
}

fn refuse_while_flying(draft: &Pair<'_>) -> Outcome {
    match draft.rec.open() {
        Some(entry) if draft.side(entry.target).sending.is_some() => {
            no("a message is being sent right now: wait a moment")
        }
        _ => Ok(()),
    }
}

/// A new pair on the implementer's newest answer, with its count from 0.
fn anew(draft: &mut Pair<'_>) -> Outcome {
    if draft.rec.stop_reason == Some(PairStop::Lgtm) {
        return no("it was agreed on: make a new pair");
    }
    let Some(turn) = draft.conversation(Role::Implementer).and_then(turns::newest_answered) else {
        return no("the implementer has no completed answer to review");
    };
    let own = draft.rec.key();
    create::refuse_sides(draft.scene, |record| *record == own)?;
    let kickoff = Kickoff::Turn { turn_id: turn.id.clone(), whole_turn: false };
    let rec = &draft.rec;
    let sides = [&rec.implementer, &rec.reviewer];
    let mut new = create::fresh(next_id(draft), &rec.owner, sides, kickoff, &rec.config, draft.now());
    new.continues = Some(rec.id.clone());
    new.participants_history.clone_from(&rec.participants_history);
    new.human_mark = create::marks(draft.scene);
    draft.effect(Effect::CreatePair(Box::new(new)));
    Ok(())
}

/// A pair that goes on after the cap.
fn more(draft: &mut Pair<'_>, n: u32, blockers_only: bool) -> Outcome {
    if draft.rec.stop_reason != Some(PairStop::MaxRounds) {
        return no("only after the cap was reached there can be more relays");
    }
    let cap = more_cap(&draft.rec, n)?;
    let own = draft.rec.key();
    create::refuse_sides(draft.scene, |record| *record == own)?;
    let next = Successor { old: &draft.rec, id: next_id(draft), cap, blockers_only };
    let Some(new) = create::succeed(&next, &draft.rec.config, draft.scene) else {
        return no("nothing was due when the cap was reached: review it again instead");
    };
    draft.effect(Effect::CreatePair(Box::new(new)));
    Ok(())
}

/// The cap of a continuing pair.
pub(in crate::machine) fn more_cap(old: &PairRecord, n: u32) -> Result<u32, Refusal> {
    if !(1..=1000).contains(&n) {
        return Err(Refusal::invalid("n", "give a number of relays from 1 to 1000"));
    }
    Ok(old.config.max_rounds.max(old.round_count).saturating_add(n))
}

/// The id of the pair that goes on from this one; it derives from what is known, so that the same order gives the same.
fn next_id(draft: &Pair<'_>) -> PairId {
    let id = draft.rec.id.as_str();
    let (stem, from) = match id.rsplit_once("-n").map(|(stem, n)| (stem, n.parse::<u32>())) {
        Some((stem, Ok(n))) => (stem, n.saturating_add(1)),
        _ => (id, 2),
    };
    let free = |id: &PairId| !draft.scene.ledger.holds(&RecordKey::Pair(id.clone()));
    (from..u32::MAX).map(|n| PairId::new(format!("{stem}-n{n}"))).find(free).unwrap_or_else(|| draft.rec.id.clone())
}

fn as_feedback(draft: &mut Pair<'_>) -> Outcome {
    if draft.rec.paused_reason != Some(PauseReason::NearMiss) {
        return no("no near miss waits");
    }
    prompts::mark_all_seen(draft);
    draft.go_on("goes on: the near miss is feedback", Evidence::key());
    judge::as_feedback(draft)
        .ok_or_else(|| Refusal::not_now("that answer is not in the reviewer's transcript any more: write to a side"))
}

/// Does now what waits for background agents or a long quiet time only, and names what it skips.
fn force(draft: &mut Pair<'_>) -> Outcome {
    if draft.rec.state != PairState::Running {
        return no("it is paused: let it go on first");
    }
    let waited_for = match draft.rec.open() {
        Some(entry) => vec![entry.target],
        None => prompts::SIDES.to_vec(),
    };
    let skipped: Vec<String> = waited_for.into_iter().flat_map(|role| skippable(draft, role)).collect();
    if skipped.is_empty() {
        return no("nothing waits for background agents or a quiet time over 5 s");
    }
    draft.force = true;
    match draft.rec.open_index().and_then(|index| draft.rec.outbox.get_mut(index)) {
        Some(entry) => entry.forced = entry.attempts == 0,
        None => steps::goes(draft),
    }
    if !draft.changed() {
        return no("something else is waited for, too");
    }
    draft.decide(format!("does not wait for {}", skipped.join(" and ")), Evidence::key());
    Ok(())
}

/// What may be skipped on a side.
fn skippable(draft: &Pair<'_>, role: Role) -> Vec<String> {
    /// Milliseconds from which a quiet time is long.
    const LONG: u64 = 5_000;
    let name = draft.name(role);
    let named = turns::idle(draft, role).because.into_iter().filter_map(|busy| match busy {
        Busy::Background(count) => Some(format!("{} at {name}", background(count))),
        Busy::Quiet(_) if draft.rec.config.debounce > LONG => Some(format!("the quiet time of {name}")),
        _ => None,
    });
    named.collect()
}

/// An answer to "look first".
fn confirm(draft: &mut Pair<'_>, answer: &Confirm) -> Outcome {
    let Some(pending) = draft.rec.pending_confirm.clone() else { return no("no relay waits for your look") };
    if *answer == Confirm::Stop {
        stop(draft, PairStop::Manual, Evidence::order("stopped by you"));
        return Ok(());
    }
    if draft.rec.paused_reason.is_some() {
        return no("it is paused: let it go on first");
    }
    let source = AnswerId { turn_id: pending.source_turn_id, message_id: pending.source_message_id };
    let from = pending.direction.target().other();
    if let Confirm::Send { edited_text } = answer {
        if edited_text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return Err(Refusal::invalid("edited_text", "a blank message cannot be sent: write something or drop it"));
        }
        if outdated(draft, from, &source) {
            let message = format!("{} is at work again: what it answers then is offered", draft.name(from));
            return Err(Refusal::not_now(message));
        }
        let edited = edited_text.as_ref().filter(|text| text.as_str() != pending.text.text());
        let text = edited.map_or_else(|| pending.text.clone(), |text| TextRef::of(text));
        prompts::mark_all_seen(draft);
        draft.rec.pending_confirm = None;
        draft.rec.step = Some(awaiting(from));
        let id = draft.prepare(super::super::draft::Message {
            purpose: create::purpose(pending.direction),
            target: pending.direction.target(),
            text,
            source: Some(source),
            resend_of: None,
        });
        if let Some(entry) = draft.rec.outbox.iter_mut().find(|entry| entry.id == id) {
            entry.edited = edited.is_some();
            entry.original = edited.map(|_| pending.text);
        }
        return Ok(());
    }
    prompts::mark_all_seen(draft);
    draft.rec.pending_confirm = None;
    spend(draft, from, source);
    draft.decide("the relay is dropped: its answer is not offered again", Evidence::key());
    Ok(())
}

/// Whether a side has gone on since the answer that a person looks at.
fn outdated(draft: &Pair<'_>, from: Role, shown: &AnswerId) -> bool {
    draft
        .conversation(from)
        .is_some_and(|conversation| conversation.is_open() || turns::newest_answer_after(conversation, shown).is_some())
}

/// An answer is not offered again: the loop waits for the next one of the same side.
fn spend(draft: &mut Pair<'_>, from: Role, source: AnswerId) {
    draft.rec.step = Some(awaiting(from));
    // In a session that was followed since there is no such answer, and none before it.
    let is_absent = match draft.side(from).transcript {
        TranscriptFact::NotYet => true,
        TranscriptFact::Present(_) => {
            draft.conversation(from).is_none_or(|told| told.turn_index(&source.turn_id).is_none())
        }
        TranscriptFact::Unreadable(_) | TranscriptFact::Deleted => false,
    };
    let was_left = is_absent && draft.rec.former().iter().any(|former| former.side == from);
    let after_turn_id = (!was_left).then(|| source.turn_id.clone());
    draft.rec.open_wait = Some(OpenWait { side: from, after_turn_id });
    draft.rec.spent = (!was_left).then_some(source);
    draft.rec.clarify = None;
    draft.rec.near_miss = None;
}

/// An undelivered entry was dropped.
fn dropped(draft: &mut Pair<'_>, entry: &Entry) {
    let source = entry.source_turn_id.clone().zip(entry.source_message_id.clone());
    let source = source.map(|(turn_id, message_id)| AnswerId { turn_id, message_id });
    match entry.purpose {
        Purpose::User => {}
        Purpose::ToReviewer | Purpose::ToImplementer => {
            if let Some(source) = source {
                spend(draft, entry.target.other(), source);
            }
        }
        Purpose::Clarify => {
            if let Some(source) = source {
                spend(draft, Role::Reviewer, source);
            }
        }
        Purpose::Continue | Purpose::Advance => {
            let newest = draft.conversation(entry.target).and_then(|conversation| conversation.newest());
            let after_turn_id = newest.map(|turn| turn.id.clone());
            draft.rec.open_wait = Some(OpenWait { side: entry.target, after_turn_id });
        }
    }
}

fn configure(draft: &mut Pair<'_>, changes: &serde_json::Map<String, serde_json::Value>, by: &str) -> Outcome {
    let (config, changed_fields) = orders::configure(&draft.rec.config, changes)?;
    if changed_fields.is_empty() {
        return Ok(());
    }
    create::check(&config)?;
    limits::name("by", by)?;
    draft.rec.config = config;
    draft.decide(format!("settings changed: {}", changed_fields.join(", ")), Evidence::order(by));
    let at = draft.now();
    draft.rec.config_history.push(ConfigChange { at, changed_fields, by: by.to_owned() });
    draft.event(EventKind::PairConfigChanged, None);
    Ok(())
}

fn follow(draft: &mut Pair<'_>) -> Outcome {
    let new = orders::replaced(draft);
    if draft.rec.paused_reason != Some(PauseReason::SessionChanged) || new.is_empty() {
        return no("no session was replaced");
    }
    for (role, session) in new {
        rename(draft, role, session);
    }
    Ok(())
}

fn rename(draft: &mut Pair<'_>, role: Role, session: crate::model::ids::SessionRef) {
    prompts::mark_seen(draft, role.other());
    if role == Role::Implementer {
        judge::leave_behind(draft);
    }
    if draft.rec.pending_confirm.as_ref().is_some_and(|pending| pending.direction.target().other() == role) {
        // What it was asked it has answered: that answer waits for a look.
        draft.rec.awaited = None;
    }
    orders::rename_side(draft, role, session);
    match role {
        Role::Implementer => {
            draft.rec.baseline_turn_id = None;
            draft.rec.baseline_message_id = None;
        }
        Role::Reviewer => draft.rec.near_miss = None,
    }
    draft.rec.spent = None;
    // What was answered in the old conversation is not in the new one, and nothing of ours is asked there again.
    let asked = draft.rec.owed.is_some() || draft.rec.open().is_some_and(|entry| entry.purpose != Purpose::User);
    if draft.rec.awaited_side() == Some(role) && !asked {
        draft.rec.open_wait = Some(OpenWait { side: role, after_turn_id: None });
    }
    if draft.rec.paused_reason == Some(PauseReason::SessionChanged) {
        draft.go_on("goes on in the new session", Evidence::key());
    }
}

/// An order of its run. Each is without effect when what it wants is already so.
pub(super) fn order(
    record: &PairRecord,
    order: &PairOrder,
    run: &RunRecord,
    scene: &Scene<'_>,
) -> Result<Step<PairRecord>, Refusal> {
    if let PairOrder::Control(wanted) = order {
        return control(record, wanted, scene);
    }
    let mut draft = Draft::new(record, scene);
    if record.is_active() {
        match order {
            PairOrder::Stop => stop(&mut draft, PairStop::Manual, "stopped together with its run"),
            PairOrder::Pause => {
                if record.state != PairState::Paused {
                    draft.pause(PauseReason::Manual, "paused together with its run", "its run is paused");
                }
            }
            PairOrder::ResumeIfManual => resume_with(&mut draft, run),
            PairOrder::Follow => {
                for role in prompts::SIDES {
                    if run.side(role) != record.side(role) {
                        rename(&mut draft, role, run.side(role).clone());
                    }
                }
            }
            PairOrder::Control(_) => {}
        }
    }
    Ok(draft.finish())
}

/// Goes on with its run: what the person saw when the run was resumed is accounted for, and no more.
fn resume_with(draft: &mut Pair<'_>, run: &RunRecord) {
    if draft.rec.paused_reason != Some(PauseReason::Manual) {
        return;
    }
    for role in prompts::SIDES {
        let seen = run.human_mark.of(role);
        let place = |turn| draft.conversation(role).and_then(|conversation| conversation.turn_index(turn));
        if seen.and_then(place) > draft.rec.human_mark.of(role).and_then(place) {
            draft.rec.human_mark.set(role, seen.cloned());
        }
    }
    draft.go_on("goes on together with its run", "its run was resumed");
    draft.rec.retry = None;
    resume::settle(draft);
}
