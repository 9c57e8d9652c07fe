//! Controls that pairs and runs have in common (`loops.md` §5.3): writing to a side, deliveries that failed, sessions
//! that were replaced or are gone, settings.

use super::grounds::Evidence;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::common::Loop;
use super::delivery;
use super::draft::{Draft, Message};
use super::prompts::{self, SIDES};
use super::{Effect, session, words};
use crate::model::command::{Confirm, Control, Refusal};
use crate::model::ids::{Role, SessionId, SessionRef};
use crate::model::outbox::{Entry, EntryState, Purpose};
use crate::model::pair::{AnswerId, FormerParticipant, PauseReason};
use crate::model::text::TextRef;

/// One of each control, to ask which are possible.
fn samples() -> Vec<Control> {
    vec![
        Control::Pause,
        Control::Resume,
        Control::Ask,
        Control::Retry,
        Control::More { n: 1, blockers_only: false },
        Control::Accept,
        Control::Skip,
        Control::AsFeedback,
        Control::Rename { name: "name".to_owned() },
        Control::ForceRelay,
        Control::Confirm(Confirm::Send { edited_text: None }),
        Control::Configure { changes: Map::new(), by: String::new() },
        Control::Write { side: Role::Implementer, text: "words".to_owned(), go_on: false },
        Control::Follow,
        Control::BringBack,
        Control::CheckDelivery,
        Control::SendAgain,
        Control::Drop,
        Control::ByHand,
        Control::Stop,
        Control::RunOn,
        Control::Discard,
    ]
}

/// Which controls are impossible, with the reason of each.
pub(super) fn impossible(refusal: impl Fn(&Control) -> Option<Refusal>) -> Vec<(String, String)> {
    samples()
        .iter()
        .filter_map(|control| refusal(control).map(|refusal| (control.name().to_owned(), refusal.message)))
        .collect()
}

/// A person writes to a side.
pub(super) fn write<R: Loop>(draft: &mut Draft<'_, R>, side: Role, text: &str, go_on: bool) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::invalid("text", "write something first"));
    }
    if draft.rec.open().is_some() {
        return Err(Refusal::not_now("a message is on its way: wait for it, or drop it first"));
    }
    if draft.rec.paused_reason() == Some(PauseReason::SessionChanged) {
        return Err(Refusal::not_now("another session answers there: follow it first, or stop"));
    }
    if session::gone(draft.side(side)).is_some() {
        let message = format!("{} is gone: bring it back first", draft.name(side));
        return Err(Refusal::not_now(message));
    }
    if go_on {
        prompts::mark_all_seen(draft);
    }
    let message =
        Message { purpose: Purpose::User, target: side, text: TextRef::of(text), source: None, resend_of: None };
    let id = draft.prepare(message);
    if let Some(entry) = draft.rec.outbox_mut().iter_mut().find(|entry| entry.id == id) {
        entry.go_on = go_on;
    }
    Ok(())
}

/// The entry in flight, or why there is nothing to do about one.
fn flying<R: Loop>(draft: &Draft<'_, R>) -> Result<Entry, Refusal> {
    draft
        .rec
        .open()
        .filter(|entry| entry.in_flight())
        .cloned()
        .ok_or_else(|| Refusal::not_now("no message is on its way"))
}

/// Ends a pause for a failed delivery, because a person saw to it.
fn go_on_if_failed<R: Loop>(draft: &mut Draft<'_, R>, why: &str) {
    if draft.rec.paused_reason() == Some(PauseReason::DeliveryFailed) {
        prompts::mark_all_seen(draft);
        draft.go_on(why, Evidence::key());
    }
}

/// Looks for the evidence again: all times begin anew, with three more Enters.
pub(super) fn check_delivery<R: Loop>(draft: &mut Draft<'_, R>) -> Result<(), Refusal> {
    let entry = flying(draft)?;
    delivery::begin_times_anew(draft);
    draft.decide(format!("looks for {} again", words::sending(&draft.rec, &entry).thing()), Evidence::key());
    go_on_if_failed(draft, "goes on: looks for the message again");
    draft.probe(entry.target);
    Ok(())
}

/// The person vouches that nothing is on its way: a new entry takes the old one's place; a late copy of that is ours.
pub(super) fn send_again<R: Loop>(draft: &mut Draft<'_, R>) -> Result<(), Refusal> {
    let entry = flying(draft)?;
    if draft.side(entry.target).sending.is_some() {
        return Err(Refusal::not_now("it is being sent right now: wait a moment"));
    }
    if entry.state == EntryState::Queued {
        return Err(Refusal::not_now("it stands in the agent's own queue and will be taken from there"));
    }
    delivery::take_back(draft, Evidence::order("you vouch that nothing of it is on its way"));
    again(draft, &entry, entry.purpose);
    go_on_if_failed(draft, "goes on: sends the message again");
    Ok(())
}

/// Prepares the same message once more.
pub(super) fn again<R: Loop>(draft: &mut Draft<'_, R>, entry: &Entry, purpose: Purpose) {
    let source = entry.source_turn_id.clone().zip(entry.source_message_id.clone());
    let id = draft.prepare(Message {
        purpose,
        target: entry.target,
        text: entry.text.clone(),
        source: source.map(|(turn_id, message_id)| AnswerId { turn_id, message_id }),
        resend_of: Some(entry.id.clone()),
    });
    if let Some(new) = draft.rec.outbox_mut().iter_mut().find(|new| new.id == id) {
        new.go_on = entry.go_on;
        new.edited = entry.edited;
    }
}

/// The person pastes it.
pub(super) fn by_hand<R: Loop>(draft: &mut Draft<'_, R>) -> Result<(), Refusal> {
    let Some(index) = draft.rec.open_index() else { return Err(Refusal::not_now("no message waits to go out")) };
    let target = draft.rec.open().map_or(Role::Implementer, |entry| entry.target);
    if draft.side(target).sending.is_some() {
        return Err(Refusal::not_now("it is being sent right now: wait a moment"));
    }
    delivery::copy(draft, index);
    go_on_if_failed(draft, "goes on: you paste the message yourself");
    Ok(())
}

/// Drops the open entry and says which; what follows for the loop is the machines'.
pub(super) fn drop_open<R: Loop>(draft: &mut Draft<'_, R>) -> Result<Entry, Refusal> {
    let Some(entry) = draft.rec.open().cloned() else { return Err(Refusal::not_now("no message waits to go out")) };
    if draft.side(entry.target).sending.is_some() {
        return Err(Refusal::not_now("it is being sent right now: wait a moment"));
    }
    delivery::take_back(draft, Evidence::order("you dropped it"));
    if draft.rec.paused_reason() == Some(PauseReason::DeliveryFailed) {
        draft.go_on("goes on without the message", Evidence::key());
    }
    prompts::mark_all_seen(draft);
    Ok(entry)
}

/// Resumes the agents that are gone.
pub(super) fn bring_back<R: Loop>(draft: &mut Draft<'_, R>) -> Result<(), Refusal> {
    let gone: Vec<Role> = SIDES.into_iter().filter(|role| session::gone(draft.side(*role)).is_some()).collect();
    let paused = draft.rec.paused_reason() == Some(PauseReason::AgentGone);
    let missing: Vec<Role> = if gone.is_empty() && paused {
        SIDES.into_iter().filter(|role| draft.side(*role).reach.is_none_or(|reach| reach.transport.is_none())).collect()
    } else {
        gone
    };
    if missing.is_empty() {
        return Err(Refusal::not_now("both agents are there"));
    }
    for role in missing {
        let session = draft.rec.session(role).clone();
        draft.effect(Effect::BringBack(session));
    }
    Ok(())
}

/// The sessions that replaced sides, as far as that is proven.
pub(super) fn replaced<R: Loop>(draft: &Draft<'_, R>) -> Vec<(Role, SessionRef)> {
    SIDES
        .into_iter()
        .filter_map(|role| {
            let (id, _): &(SessionId, String) = draft.side(role).reach?.replaced_by.as_ref()?;
            Some((role, SessionRef { session_id: id.clone(), ..draft.rec.session(role).clone() }))
        })
        .collect()
}

/// Names a side's new session. What was on its way to the old one, and what it had not answered, is prepared again.
pub(super) fn rename_side<R: Loop>(draft: &mut Draft<'_, R>, role: Role, new: SessionRef) {
    let now = draft.now();
    let name = draft.name(role);
    let unanswered = unanswered(draft, role);
    // What was not sent yet, always the newest, goes to the new session.
    let unsent = draft.rec.open().is_some_and(|entry| entry.target == role && !entry.in_flight());
    let entries_made = Some(draft.rec.entries_made().saturating_sub(u32::from(unsent)));
    let old = std::mem::replace(draft.rec.session_mut(role), new);
    draft.decide(
        format!(
            "follows {name} to {}: the new conversation knows nothing of the old",
            draft.rec.session(role).session_id
        ),
        format!("it replaced {}", old.session_id),
    );
    draft.rec.former_mut().push(FormerParticipant { side: role, session: old, until: now, entries_made });
    draft.rec.marks_mut().set(role, None);
    if let Some(wait) = draft.rec.open_wait_mut().as_mut().filter(|wait| wait.side == role) {
        wait.after_turn_id = None;
    }
    if draft.rec.awaited_side() == Some(role) {
        *draft.rec.awaited_mut() = None;
    }
    let open = draft.rec.open().cloned();
    if let Some(entry) = open.as_ref().filter(|entry| entry.target == role && entry.in_flight()) {
        delivery::take_back(draft, "its session was replaced");
        again(draft, entry, entry.purpose);
    }
    let Some(entry) = unanswered else { return };
    match open {
        None => ask_again(draft, &entry),
        // What a person writes to the implementer in front of a phase is what the phase is.
        Some(open) if open.target == role && draft.rec.as_run().is_some() => {}
        Some(open) if open.purpose == Purpose::User => *draft.rec.owed_mut() = Some(entry.id),
        // The open message goes on from that one, or carries its answer.
        Some(_) => {}
    }
}

/// Prepares what a followed side was not asked yet, as soon as no other message is open. True: it did.
pub(super) fn ask_owed<R: Loop>(draft: &mut Draft<'_, R>) -> bool {
    if draft.rec.open().is_some() {
        return false;
    }
    let owed = draft.rec.owed_mut().take();
    let entry = owed.and_then(|id| draft.rec.outbox().iter().find(|entry| entry.id == id).cloned());
    if let Some(entry) = &entry {
        ask_again(draft, entry);
    }
    entry.is_some()
}

/// Prepares a message once more whose answer was awaited in a conversation that was left; it counts as no other relay.
fn ask_again<R: Loop>(draft: &mut Draft<'_, R>, entry: &Entry) {
    let purpose = if entry.purpose.is_relay() { Purpose::Continue } else { entry.purpose };
    again(draft, entry, purpose);
}

/// The message of this record whose answer is awaited from a side.
fn unanswered<R: Loop>(draft: &Draft<'_, R>, role: Role) -> Option<Entry> {
    let turn = draft.rec.awaited().filter(|_| draft.rec.awaited_side() == Some(role))?.turn_id.as_ref()?;
    draft.rec.entry_of_turn(role, turn).cloned()
}

/// Changes settings: the new ones, and the names of those that differ, in the record's order.
pub(super) fn configure<C: Serialize + DeserializeOwned + Default>(
    config: &C,
    changes: &Map<String, Value>,
) -> Result<(C, Vec<String>), Refusal> {
    let broken = || Refusal::not_now("these settings cannot be changed");
    let Ok(Value::Object(mut fields)) = serde_json::to_value(config) else { return Err(broken()) };
    let Ok(Value::Object(known)) = serde_json::to_value(C::default()) else { return Err(broken()) };
    for (field, value) in changes {
        if !known.contains_key(field) {
            return Err(Refusal::invalid(field, format!("there is no setting {field}")));
        }
        let mut one = fields.clone();
        one.insert(field.clone(), value.clone());
        serde_json::from_value::<C>(Value::Object(one))
            .map_err(|problem| Refusal::invalid(field, format!("{field} cannot be that: {problem}")))?;
    }
    let mut changed = Vec::new();
    for (field, value) in &mut fields {
        if let Some(new) = changes.get(field).filter(|new| *new != &*value) {
            *value = new.clone();
            changed.push(field.clone());
        }
    }
    let new = serde_json::from_value(Value::Object(fields)).map_err(|_| broken())?;
    Ok((new, changed))
}
