//! What a person can order of a run (`loops.md` §5.3), and the reasons when it is not possible. Decisions about a phase
//! are in `decisions`; what belongs to the pair is handed on to it.

use super::super::draft::Draft;
use super::super::grounds::Evidence;
use super::super::turns::{self, Bound};
use super::super::{Effect, PairOrder, Scene, Step, delivery, limits, orders, pair, prompts, setback};
use super::baseline::{self, Run};
use super::steps::{live_pair, stop};
use super::{create, decisions, find};
use crate::model::command::{Control, Refusal};
use crate::model::config::ConfigChange;
use crate::model::event::EventKind;
use crate::model::ids::Role;
use crate::model::outbox::{Entry, Purpose};
use crate::model::pair::{OpenWait, PairRecord, PauseReason};
use crate::model::run::{After, AttemptStatus, RunRecord, RunStep, RunStop};

pub(super) type Outcome = Result<(), Refusal>;

pub(super) fn no(message: &str) -> Outcome {
    Err(Refusal::not_now(message))
}

/// An order of a person.
pub(super) fn control(
    record: &RunRecord,
    pairs: &[&PairRecord],
    control: &Control,
    scene: &Scene<'_>,
) -> Result<Step<RunRecord>, Refusal> {
    let mut draft = Draft::new(record, scene);
    if let Control::Rename { name } = control {
        rename(&mut draft, name)?;
    } else if record.is_active() {
        on_active(&mut draft, pairs, control)?;
    } else {
        on_stopped(&mut draft, control)?;
    }
    Ok(draft.finish())
}

fn rename(draft: &mut Run<'_>, name: &str) -> Outcome {
    if name.trim().is_empty() {
        return Err(Refusal::invalid("name", "give a name"));
    }
    limits::name("name", name.trim())?;
    name.trim().clone_into(&mut draft.rec.name);
    Ok(())
}

fn on_stopped(draft: &mut Run<'_>, control: &Control) -> Outcome {
    match control {
        Control::RunOn => {
            let new = create::run_on(&draft.rec, draft.scene)?;
            draft.effect(Effect::CreateRun(Box::new(new)));
            Ok(())
        }
        Control::Discard => {
            draft.effect(Effect::Discard);
            Ok(())
        }
        _ => no("this run has stopped: run on from here, or remove it"),
    }
}

fn on_active(draft: &mut Run<'_>, pairs: &[&PairRecord], control: &Control) -> Outcome {
    match control {
        Control::Pause => pause(draft, pairs),
        Control::Resume => resume(draft, pairs),
        Control::Ask => ask(draft),
        Control::Retry => decisions::retry(draft, pairs),
        Control::More { n, blockers_only } => decisions::more(draft, pairs, *n, *blockers_only),
        Control::Accept => decisions::accept(draft, pairs),
        Control::Skip => decisions::skip(draft, pairs),
        Control::Configure { changes, by } => configure(draft, pairs, changes, by),
        Control::Follow => follow(draft, pairs),
        Control::Stop => {
            stop(draft, pairs, RunStop::Manual, AttemptStatus::Stopped, Evidence::order("stopped by you"));
            Ok(())
        }
        Control::RunOn | Control::Discard => no("it is still active: stop it first"),
        Control::AsFeedback | Control::ForceRelay | Control::Confirm(_) => match live_pair(draft, pairs) {
            Some(_) => hand_on(draft, pairs, control),
            None => no("no review is going on"),
        },
        Control::Write { .. }
        | Control::BringBack
        | Control::CheckDelivery
        | Control::SendAgain
        | Control::Drop
        | Control::ByHand => {
            if live_pair(draft, pairs).is_some() && draft.rec.open_entry().is_none() {
                hand_on(draft, pairs, control)
            } else {
                own(draft, control)
            }
        }
        Control::Rename { .. } => Ok(()),
    }
}

/// Hands a control on to the pair, if the pair would take it.
fn hand_on(draft: &mut Run<'_>, pairs: &[&PairRecord], control: &Control) -> Outcome {
    let Some(found) = find(pairs, draft.rec.current_pair_id.as_ref()) else { return no("no review is going on") };
    if draft.rec.paused_reason.is_some() && matches!(control, Control::Confirm(_) | Control::ForceRelay) {
        return no("the run is paused: let it go on first");
    }
    pair::would_take(found, control, draft.scene)?;
    draft.effect(Effect::OrderPair(found.id.clone(), PairOrder::Control(control.clone())));
    Ok(())
}

/// Controls of the run's own messages and sessions.
fn own(draft: &mut Run<'_>, control: &Control) -> Outcome {
    match control {
        Control::Write { side, text, go_on } => {
            if draft.rec.step == Some(RunStep::Review) && draft.rec.paused_reason.is_none() {
                return no("the review is about to begin: try again in a moment");
            }
            orders::write(draft, *side, text, *go_on)
        }
        Control::BringBack => orders::bring_back(draft),
        Control::CheckDelivery => orders::check_delivery(draft),
        Control::SendAgain => orders::send_again(draft),
        Control::ByHand => orders::by_hand(draft),
        Control::Drop => {
            let entry = orders::drop_open(draft)?;
            dropped(draft, &entry);
            Ok(())
        }
        _ => no("nothing to do"),
    }
}

/// The run's own undelivered message was dropped: what the implementer is asked by the person is the phase.
fn dropped(draft: &mut Run<'_>, entry: &Entry) {
    if entry.purpose == Purpose::User {
        return;
    }
    if draft.rec.step == Some(RunStep::Advance) {
        draft.rec.step = Some(RunStep::Probe);
    }
    let newest = draft.conversation(Role::Implementer).and_then(|conversation| conversation.newest());
    let after_turn_id = newest.map(|turn| turn.id.clone());
    draft.rec.awaited = None;
    draft.rec.open_wait = Some(OpenWait { side: Role::Implementer, after_turn_id });
}

/// Refuses a decision about a phase while the run's own message is on its way.
pub(super) fn refuse_in_flight(draft: &Run<'_>) -> Outcome {
    match draft.rec.open_entry() {
        Some(entry) if entry.in_flight() => no("a message is on its way: wait until it is seen, or drop it"),
        _ => Ok(()),
    }
}

fn pause(draft: &mut Run<'_>, pairs: &[&PairRecord]) -> Outcome {
    if draft.rec.paused_reason.is_some() {
        return no("it is paused already");
    }
    draft.rec.paused_pair = live_pair(draft, pairs);
    draft.pause(PauseReason::Manual, "paused by you", Evidence::key());
    order_pair(draft, pairs, &PairOrder::Pause);
    Ok(())
}

/// The second save: the pair follows at once; when that does not happen, the next look orders it again.
fn order_pair(draft: &mut Run<'_>, pairs: &[&PairRecord], order: &PairOrder) {
    if let Some(pair) = find(pairs, draft.rec.paused_pair.as_ref()).filter(|pair| pair.is_active()) {
        draft.effect(Effect::OrderPair(pair.id.clone(), order.clone()));
    }
}

fn resume(draft: &mut Run<'_>, pairs: &[&PairRecord]) -> Outcome {
    let Some(reason) = draft.rec.paused_reason else {
        // A pair that paused by itself leaves its run going: the order is meant for the pair.
        return match find(pairs, live_pair(draft, pairs).as_ref()).and_then(|pair| pair.paused_reason) {
            Some(_) => hand_on(draft, pairs, &Control::Resume),
            None => no("it is not paused"),
        };
    };
    match reason {
        PauseReason::PhaseNotConverged | PauseReason::PairStopped | PauseReason::ReviewStartFailed => {
            return decisions::retry(draft, pairs);
        }
        PauseReason::SessionChanged
            if draft.side(Role::Implementer).reach.is_some_and(|reach| reach.replaced_by.is_some()) =>
        {
            return no("another session answers there: follow it, or stop");
        }
        PauseReason::PhaseLimit => grow(draft),
        _ => {}
    }
    prompts::mark_all_seen(draft);
    draft.go_on("goes on, as you said", Evidence::key());
    draft.rec.retry = None;
    if draft.rec.paused_pair.is_none() {
        draft.rec.paused_pair = live_pair(draft, pairs);
    }
    order_pair(draft, pairs, &PairOrder::ResumeIfManual);
    if draft.rec.step != Some(RunStep::Review) {
        settle(draft);
    }
    Ok(())
}

/// `max_phases` grows by its first value.
fn grow(draft: &mut Run<'_>) {
    const BY: &str = "phase_limit";
    let grown = draft
        .rec
        .config_history
        .iter()
        .rev()
        .take_while(|change| change.by == BY || !change.changed_fields.iter().any(|field| field == "max_phases"));
    let times = u32::try_from(grown.filter(|change| change.by == BY).count()).unwrap_or(u32::MAX);
    let first = draft.rec.config.max_phases.checked_div(times.saturating_add(1)).unwrap_or(1).max(1);
    draft.rec.config.max_phases = draft.rec.config.max_phases.saturating_add(first);
    // A cap that was lowered below what is done must not pause again at once.
    draft.rec.config.max_phases = draft.rec.config.max_phases.max(draft.rec.phases_done.saturating_add(first));
    let at = draft.now();
    let change = ConfigChange { at, changed_fields: vec!["max_phases".to_owned()], by: BY.to_owned() };
    draft.rec.config_history.push(change);
    draft.event(EventKind::ChecklistConfigChanged, None);
}

/// Goes on in front of a phase: an undelivered message first, unless the implementer has answered anew meanwhile.
fn settle(draft: &mut Run<'_>) {
    delivery::begin_times_anew(draft);
    let Some(entry) = draft.rec.open_entry().cloned() else {
        if draft.rec.step == Some(RunStep::Probe) && !orders::ask_owed(draft) {
            setback::go_on_after(draft, Role::Implementer);
        }
        return;
    };
    let answered = entry.purpose == Purpose::Continue
        && delivery::is_as_good_as_prepared(draft, &entry)
        && matches!(turns::read(draft, Role::Implementer), turns::Reading::Answer(_));
    if answered {
        delivery::take_back(draft, "the implementer has answered anew, and nothing of it was typed");
    }
}

/// Asks for the first phase, as long as nobody has been prompted since the start.
fn ask(draft: &mut Run<'_>) -> Outcome {
    if draft.rec.paused_reason.is_some() {
        return no("it is paused: let it go on first");
    }
    let first = draft.rec.step == Some(RunStep::Probe)
        && draft.rec.after == After::Start
        && draft.rec.phases.is_empty()
        && draft.rec.advance_turn_id.is_none();
    if !first || draft.rec.open_entry().is_some() {
        return no("only the first phase is asked for like this, and once");
    }
    if turns::bound(draft, Role::Implementer) == Bound::Lost {
        return no("the implementer's transcript was replaced");
    }
    let conversation = draft.conversation(Role::Implementer);
    let newest = conversation.and_then(|conversation| conversation.newest()).map(|turn| &turn.id);
    if newest != draft.rec.human_mark.implementer.as_ref() || newest != draft.rec.baseline_turn_id.as_ref() {
        return no("it has been prompted since the start: that is the first phase");
    }
    if !turns::idle(draft, Role::Implementer).is_idle() {
        let message = format!("{} is not free", draft.name(Role::Implementer));
        return Err(Refusal::not_now(message));
    }
    draft.rec.step = Some(RunStep::Advance);
    draft.decide("the first phase is asked for", Evidence::key());
    Ok(())
}

fn configure(
    draft: &mut Run<'_>,
    pairs: &[&PairRecord],
    changes: &serde_json::Map<String, serde_json::Value>,
    by: &str,
) -> Outcome {
    let (config, changed_fields) = orders::configure(&draft.rec.config, changes)?;
    if changed_fields.is_empty() {
        return Ok(());
    }
    create::check(&config)?;
    limits::name("by", by)?;
    let cap = changed_fields.iter().any(|field| field == "max_rounds").then_some(config.max_rounds);
    if changed_fields.iter().any(|field| field == "name") {
        draft.rec.name.clone_from(&config.name);
    }
    draft.rec.config = config;
    draft.decide(format!("settings changed: {}", changed_fields.join(", ")), Evidence::order(by));
    let at = draft.now();
    draft.rec.config_history.push(ConfigChange { at, changed_fields, by: by.to_owned() });
    draft.event(EventKind::ChecklistConfigChanged, None);
    if let Some((cap, id)) = cap.zip(live_pair(draft, pairs)) {
        let mut changes = serde_json::Map::new();
        changes.insert("max_rounds".to_owned(), cap.into());
        let order = PairOrder::Control(Control::Configure { changes, by: by.to_owned() });
        draft.effect(Effect::OrderPair(id, order));
    }
    Ok(())
}

/// Names the new session: the run first, then its pair.
fn follow(draft: &mut Run<'_>, pairs: &[&PairRecord]) -> Outcome {
    let pair = find(pairs, live_pair(draft, pairs).as_ref());
    let changed = Some(PauseReason::SessionChanged);
    let paused = draft.rec.paused_reason == changed || pair.is_some_and(|pair| pair.paused_reason == changed);
    let new = orders::replaced(draft);
    if !paused || new.is_empty() {
        return no("no session was replaced");
    }
    let recent = draft
        .rec
        .open_entry()
        .filter(|entry| entry.in_flight())
        .and_then(|entry| entry.last_key_at.or(entry.attempt_at));
    let minute = draft.scene.tempo.wait(delivery::GIVE_UP);
    if recent.is_some_and(|at| draft.now() < super::super::draft::later(at, minute)) {
        return refuse_in_flight(draft);
    }
    for (role, session) in new {
        prompts::mark_seen(draft, role.other());
        orders::rename_side(draft, role, session);
        if role == Role::Implementer {
            baseline::set_to_answer(draft, None);
            draft.rec.advance_turn_id = None;
        }
    }
    if draft.rec.paused_reason == changed {
        draft.go_on("goes on in the new session", Evidence::key());
    }
    if let Some(pair) = pair {
        draft.effect(Effect::OrderPair(pair.id.clone(), PairOrder::Follow));
    }
    Ok(())
}
