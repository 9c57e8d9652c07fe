//! A step under construction: the record as it becomes, and what is to follow its save.
//! The fields that pairs and runs have in common are in `common`; no rule of the loops lives here.

use jiff::{SignedDuration, Timestamp};

use super::common::Loop;
use super::grounds::Evidence;
use super::{Effect, Scene, Side, Step};
use crate::model::conversation::{Conversation, Turn};
use crate::model::event::{Decision, EventKind};
use crate::model::ids::{EntryId, Role};
use crate::model::outbox::{Entry, EntryState, Purpose};
use crate::model::pair::{AnswerId, PauseReason};
use crate::model::reach::{ProbeAsk, Reach};
use crate::model::text::TextRef;

/// How old an observation may be when a key follows from it. The transport looks again itself right before the key.
const FRESH: SignedDuration = SignedDuration::from_secs(5);
/// How often what waits is observed anew.
const RECHECK: SignedDuration = SignedDuration::from_secs(2);
/// How often the sides of a record that waits for a person are observed.
const WATCH: SignedDuration = SignedDuration::from_secs(4);
/// How often what only may change is observed anew.
const SLOW: SignedDuration = SignedDuration::from_secs(10);

/// See the module.
pub(super) struct Draft<'a, R> {
    /// The record as it becomes.
    pub rec: R,
    /// What is seen.
    pub scene: &'a Scene<'a>,
    /// Background agents and long quiet times are not waited for (`force_relay`).
    pub force: bool,
    before: &'a R,
    effects: Vec<Effect>,
    events: Vec<(EventKind, Option<String>)>,
    decisions: Vec<Decision>,
    wake_at: Option<Timestamp>,
}

/// What a new entry is made of.
pub(super) struct Message {
    pub purpose: Purpose,
    pub target: Role,
    pub text: TextRef,
    pub source: Option<AnswerId>,
    pub resend_of: Option<EntryId>,
}

impl<'a, R: Loop> Draft<'a, R> {
    pub fn new(before: &'a R, scene: &'a Scene<'a>) -> Self {
        Self {
            rec: before.clone(),
            scene,
            force: false,
            before,
            effects: Vec::new(),
            events: Vec::new(),
            decisions: Vec::new(),
            wake_at: None,
        }
    }

    pub fn now(&self) -> Timestamp {
        self.scene.now
    }

    pub fn side(&self, role: Role) -> &'a Side<'a> {
        self.scene.side(role)
    }

    pub fn conversation(&self, role: Role) -> Option<&'a Conversation> {
        self.side(role).conversation
    }

    /// The turn at `index` of a side.
    pub fn turn(&self, role: Role, index: usize) -> Option<&'a Turn> {
        self.conversation(role).and_then(|conversation| conversation.turns.get(index))
    }

    /// How a side is called: by its agent, numbered when both are the same.
    pub fn name(&self, role: Role) -> String {
        super::words::name(&self.rec, role)
    }

    pub fn changed(&self) -> bool {
        &self.rec != self.before
    }

    pub fn effect(&mut self, effect: Effect) {
        if !self.effects.contains(&effect) {
            self.effects.push(effect);
        }
    }

    pub fn event(&mut self, kind: EventKind, reason: Option<&str>) {
        self.events.push((kind, reason.map(str::to_owned)));
    }

    /// Notes why something changes.
    pub fn decide(&mut self, what: impl Into<String>, evidence: impl Into<Evidence>) {
        let Evidence { words, ground } = evidence.into();
        self.decisions.push(Decision {
            at: self.now(),
            record: Some(self.rec.key().as_str().to_owned()),
            what: what.into(),
            evidence: words,
            ground: Some(ground),
            decided: true,
        });
    }

    /// Look again at this time at the latest.
    pub fn wake(&mut self, at: Timestamp) {
        self.wake_at = Some(self.wake_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Look again after a wait, as long as this home's waits are.
    pub fn wake_in(&mut self, wait: SignedDuration) {
        let at = later(self.now(), self.scene.tempo.wait(wait));
        self.wake(at);
    }

    /// Observe a side, and look again.
    pub fn probe(&mut self, role: Role) {
        let session = self.rec.session(role).key();
        let in_flight = self
            .rec
            .outbox()
            .iter()
            .rev()
            .find(|entry| entry.in_flight() && entry.target == role)
            .map(Entry::on_its_way);
        self.effect(Effect::Probe(ProbeAsk { session, in_flight, last_seen: None }));
        self.wake_in(RECHECK);
    }

    /// Observe a side if that was not done for some seconds; for what holds a message or an answer up.
    pub fn recheck(&mut self, role: Role) {
        self.probe_if_older(role, RECHECK);
        self.wake_in(RECHECK);
    }

    /// Observe a side if that was not done for a while.
    pub fn keep_an_eye_on(&mut self, role: Role) {
        self.probe_if_older(role, SLOW);
    }

    /// Observe both sides every few seconds: a person who is asked something is told of an agent that went meanwhile.
    pub fn watch_over(&mut self) {
        for role in super::prompts::SIDES {
            self.probe_if_older(role, WATCH);
        }
        self.wake_in(WATCH);
    }

    fn probe_if_older(&mut self, role: Role, age: SignedDuration) {
        let limit = later(self.now(), -self.scene.tempo.wait(age));
        if self.side(role).reach.is_none_or(|reach| reach.at <= limit) {
            self.probe(role);
        }
    }

    /// Adds a message that is to go out.
    pub fn prepare(&mut self, message: Message) -> EntryId {
        let id = self.rec.next_entry_id();
        let (source_turn_id, source_message_id) =
            message.source.map_or((None, None), |source| (Some(source.turn_id), Some(source.message_id)));
        let now = self.now();
        let evidence = source_turn_id.as_ref().map_or_else(
            || Evidence::from(id.to_string()),
            |turn| Evidence::answer(self, message.target.other(), turn).and(&format!(": {id}")),
        );
        let entry = Entry {
            id: id.clone(),
            purpose: message.purpose,
            target: message.target,
            text: message.text,
            sent_text: None,
            source_turn_id,
            source_message_id,
            resend_of: message.resend_of,
            transcript_mark: None,
            prepared_at: now,
            attempts: 0,
            attempt_at: None,
            last_key_at: None,
            entered: false,
            enters: 0,
            queue_id: None,
            carrier: None,
            by_hand: false,
            state: EntryState::Prepared,
            delivered_turn_id: None,
            delivered_at: None,
            altered: false,
            duplicates: Vec::new(),
            go_on: false,
            edited: false,
            original: None,
            forced: false,
            quiet_since: None,
            clock_from: None,
            carried_at: None,
        };
        self.decide(super::words::sending(&self.rec, &entry).does(&self.name(entry.target)), evidence);
        self.rec.outbox_mut().push(entry);
        id
    }

    /// Pauses, with the reason and its facts in words.
    pub fn pause(&mut self, reason: PauseReason, detail: impl Into<String>, evidence: impl Into<Evidence>) {
        let detail = detail.into();
        let told = if reason == PauseReason::Manual { detail.clone() } else { format!("paused: {detail}") };
        self.decide(told, evidence);
        let now = self.now();
        self.rec.set_paused(reason, detail, now);
        self.event(R::PAUSED, Some(reason.as_str()));
    }

    /// Ends a pause.
    pub fn go_on(&mut self, why: &str, evidence: impl Into<Evidence>) {
        let reason = self.rec.paused_reason();
        self.decide(why, evidence);
        self.rec.set_running();
        *self.rec.limit_mut() = None;
        self.event(R::RESUMED, reason.map(PauseReason::as_str));
    }

    pub fn finish(self) -> Step<R> {
        let changed = &self.rec != self.before;
        // What has changed may allow the next thing at once.
        let wake_at = if changed { Some(self.scene.now) } else { self.wake_at };
        let acts = |effect: &Effect| changed || !matches!(effect, Effect::Send(_) | Effect::PressEnter(_));
        Step {
            effects: self.effects.into_iter().filter(acts).collect(),
            events: if changed { self.events } else { Vec::new() },
            decisions: if changed { self.decisions } else { Vec::new() },
            record: self.rec,
            changed,
            wake_at,
        }
    }
}

/// A side's observation, if it is new enough for a key to follow and was made after `after`.
pub(super) fn fresh<'a>(side: &Side<'a>, now: Timestamp, after: Option<Timestamp>) -> Option<&'a Reach> {
    side.reach.filter(|reach| reach.at >= later(now, -FRESH) && after.is_none_or(|after| reach.at > after))
}

/// A time moved by a span; the end of time when there is no such moment.
pub(super) fn later(at: Timestamp, span: SignedDuration) -> Timestamp {
    at.checked_add(span).unwrap_or(if span.is_negative() { Timestamp::MIN } else { Timestamp::MAX })
}
