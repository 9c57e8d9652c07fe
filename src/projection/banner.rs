//! What needs a person: the headline, the facts and what can be done, for each reason (`dashboard.md` §5).
//! Sentences about one record; how they look is the screen's.

mod reasons;

use jiff::SignedDuration;

use super::facts::{Facts, RecordFacts};
use super::words::{self, Labels};
use super::{Banner, Offer, record};
use crate::machine::ledger::Origin;
use crate::model::conversation::{Conversation, Turn};
use crate::model::ids::{Role, TurnId};
use crate::model::outbox::{Entry, EntryState};
use crate::model::pair::{Direction, PairRecord, PairState, PauseReason};
use crate::model::reach::LiveStatus;
use crate::model::run::RunState;

/// A message is called held when something is still in its way so long after it was prepared.
const SETTLED: SignedDuration = SignedDuration::from_secs(2);

/// What one record says and offers.
struct Case<'a> {
    record: &'a RecordFacts<'a>,
    facts: &'a Facts<'a>,
    labels: &'a Labels,
}

/// The banner of a record, if something needs a person or will go on by itself only later.
#[must_use]
pub fn banner(record: &RecordFacts<'_>, labels: &Labels, facts: &Facts<'_>) -> Option<Banner> {
    let case = Case { record, facts, labels };
    if let Some(why) = record.unsaved {
        return Some(case.unsaved(why));
    }
    match record::pause_reason(record) {
        Some(PauseReason::Manual) | None => {}
        Some(reason) => return Some(case.paused(reason)),
    }
    if !case.is_active() || record::pause_reason(record).is_some() {
        return case.ended_pair();
    }
    case.open_dialog().or_else(|| case.by_hand()).or_else(|| case.held())
}

impl Case<'_> {
    fn is_active(&self) -> bool {
        match (self.record.run, self.record.pair) {
            (Some(run), _) => run.is_active(),
            (None, Some(pair)) => pair.is_active(),
            (None, None) => false,
        }
    }

    fn paused(&self, reason: PauseReason) -> Banner {
        match reason {
            PauseReason::PhaseNotConverged => self.not_converged(),
            PauseReason::NearMiss => self.near_miss(),
            PauseReason::PairStopped | PauseReason::ReviewStartFailed => self.review_ended(reason),
            PauseReason::PhaseLimit => self.phase_limit(),
            PauseReason::UserTyped => self.user_typed(),
            PauseReason::NoAnswer => self.no_answer(),
            PauseReason::Limit => self.limit(),
            PauseReason::SessionChanged => self.session_changed(),
            PauseReason::AgentGone => self.agent_gone(),
            PauseReason::AgentError => self.agent_error(),
            PauseReason::DeliveryFailed => self.delivery_failed(),
            PauseReason::RecordChanged => self.record_changed(),
            PauseReason::Manual => Banner {
                reason: Some(reason),
                headline: words::pause(reason).to_owned(),
                lines: self.detail(),
                offers: vec![offer("p", "go on", &self.going_on())],
            },
        }
    }

    /// What the record itself says about its pause.
    fn detail(&self) -> Vec<String> {
        let of_run = self.record.run.filter(|run| run.state == RunState::Paused).map(|run| &run.paused_detail);
        let of_pair = self.record.pair.filter(|pair| pair.state == PairState::Paused).map(|pair| &pair.paused_detail);
        of_run.or(of_pair).filter(|text| !text.trim().is_empty()).cloned().into_iter().collect()
    }

    fn label(&self, role: Role) -> &str {
        self.labels.side(role)
    }

    fn awaited(&self) -> Role {
        record::awaited_side(self.record)
    }

    fn stop(&self) -> Offer {
        offer("x", "stop", if self.record.run.is_some() { "end this run" } else { "end this pair" })
    }

    fn pane(&self, role: Role) -> Offer {
        offer("t", "pane", &format!("go to {}", self.label(role)))
    }

    fn write() -> Offer {
        offer("w", "write", "tell one of them something")
    }

    fn clock(&self, at: jiff::Timestamp) -> String {
        words::moment(at, self.facts.now, self.facts.zone)
    }

    /// Whether a message of this home began the turn.
    fn is_ours(&self, role: Role, turn: &Turn) -> bool {
        let (Some(session), Some(conversation)) = (self.session_key(role), self.record.conversation(role)) else {
            return false;
        };
        conversation
            .turn_index(&turn.id)
            .is_some_and(|at| self.record.ledger.origin(&session, conversation, at) != Origin::Human)
    }

    fn session_key(&self, role: Role) -> Option<crate::model::ids::SessionKey> {
        let (builder, reviewer) = record::sessions(self.record)?;
        Some(if role == Role::Implementer { builder.key() } else { reviewer.key() })
    }

    /// What going on will do, with its object.
    fn going_on(&self) -> String {
        if let Some(entry) = record::open_entry(self.record) {
            return self.going_on_with(entry);
        }
        let awaited = self.awaited();
        let who = self.label(awaited);
        let newest = self.record.conversation(awaited).and_then(Conversation::newest);
        match newest {
            Some(turn) if turn.outcome.is_none() => format!("waits for {who} to end its turn"),
            Some(turn) if turn.is_answered() && !self.is_known(awaited, &turn.id) => self.sends_answer(awaited, turn),
            Some(_) | None => format!("waits for {who}'s next answer"),
        }
    }

    fn going_on_with(&self, entry: &Entry) -> String {
        let (what, to) = (words::message(entry.purpose), self.label(entry.target));
        match entry.state {
            EntryState::Prepared if entry.attempts == 0 => format!("sends the {what} to {to}"),
            _ => format!("looks whether the {what} reached {to}"),
        }
    }

    fn sends_answer(&self, from: Role, turn: &Turn) -> String {
        let Some(pair) = self.record.pair.filter(|pair| pair.is_active()) else {
            return format!("{}'s answer{} is the next phase", self.label(from), self.answer_time(turn));
        };
        let to = self.label(from.other());
        let n = pair.round_count.saturating_add(1);
        match from {
            Role::Implementer => {
                format!("sends {}'s answer{} to {to} (relay {n})", self.label(from), self.answer_time(turn))
            }
            Role::Reviewer => {
                format!("reads {}'s answer{} as its verdict", self.label(from), self.answer_time(turn))
            }
        }
    }

    fn answer_time(&self, turn: &Turn) -> String {
        let at = turn.answer.as_ref().and_then(|answer| answer.at).or(turn.ended_at);
        at.map(|at| format!(" of {}", self.clock(at))).unwrap_or_default()
    }

    /// The turn was relayed already, or lies before what counts.
    fn is_known(&self, role: Role, turn: &TurnId) -> bool {
        let Some(pair) = self.record.pair else {
            return self.record.run.is_some_and(|run| run.baseline_turn_id.as_ref() == Some(turn));
        };
        let direction = if role == Role::Implementer { Direction::ToReviewer } else { Direction::ToImplementer };
        pair.rounds.iter().any(|round| round.direction == direction && round.source_turn_id.as_ref() == Some(turn))
    }

    fn delivery_offers(&self, to: Role) -> Vec<Offer> {
        let who = self.label(to);
        vec![
            offer("p", "look again", &format!("looks for it in {who}'s transcript, three more Enters")),
            offer("y", "copy", &format!("paste it yourself in {who}'s pane")),
            self.pane(to),
            self.stop(),
        ]
    }

    fn unsaved(&self, why: &str) -> Banner {
        Banner {
            reason: None,
            headline: "can't save".to_owned(),
            lines: vec![why.to_owned(), "Nothing is sent before it can be saved; it is tried again.".to_owned()],
            offers: vec![self.stop()],
        }
    }

    /// An agent's own dialog or question: only the person may answer it.
    fn open_dialog(&self) -> Option<Banner> {
        let (role, what) = [self.awaited(), self.awaited().other()].into_iter().find_map(|role| {
            let side = self.record.side(role)?;
            let question = side.conversation.as_ref().and_then(|conversation| conversation.question.clone());
            let said = question.or_else(|| side.asked.as_ref().map(|asked| asked.what.clone()));
            match side.reach.as_ref().map(|reach| &reach.status) {
                Some(LiveStatus::Waiting { what }) => Some((role, said.unwrap_or_else(|| what.clone()))),
                Some(LiveStatus::Silent) | None => said.map(|said| (role, said)),
                Some(LiveStatus::Idle | LiveStatus::Busy) => None,
            }
        })?;
        let who = self.label(role);
        let since = self.record.side(role).and_then(|side| side.fact.since);
        let mut lines = Vec::new();
        if !what.trim().is_empty() {
            lines.push(words::quoted(&what));
        }
        lines.extend(since.map(|at| format!("since {}", self.clock(at))));
        let offers = vec![offer("t", "pane", &format!("answer it in {who}'s pane"))];
        Some(Banner { reason: None, headline: format!("{who} asks for approval"), lines, offers })
    }

    /// A message that the person pastes.
    fn by_hand(&self) -> Option<Banner> {
        let entry = record::open_entry(self.record).filter(|entry| entry.by_hand && entry.in_flight())?;
        let who = self.label(entry.target);
        let place =
            self.record.side(entry.target).and_then(|side| side.reach.as_ref()).map_or("", |reach| &reach.place);
        let mut lines = Vec::new();
        if !place.is_empty() {
            lines.push(format!("{who} is at {place}"));
        }
        lines.push(format!(
            "The {} is on the clipboard. Once {who} has it the run goes on.",
            words::message(entry.purpose)
        ));
        let offers = vec![offer("y", "copy", "put it on the clipboard again"), self.pane(entry.target), self.stop()];
        Some(Banner { reason: None, headline: format!("paste this in {who}'s pane"), lines, offers })
    }

    /// A message that could go out but for something a person left in the way.
    fn held(&self) -> Option<Banner> {
        let why = record::held(self.record)?;
        let entry = record::open_entry(self.record)?;
        // The first looks come before the send: what they miss for a moment is nothing to call a person for.
        let looked_at = self.record.side(entry.target)?.reach.as_ref()?.at;
        if looked_at.duration_since(entry.prepared_at) < SETTLED {
            return None;
        }
        let (what, who) = (words::message(entry.purpose), self.label(entry.target));
        let mut lines = vec![why];
        lines.push("It goes out once nothing is in the way.".to_owned());
        Some(Banner {
            reason: None,
            headline: format!("{what} to {who} is held"),
            lines,
            offers: self.delivery_offers(entry.target),
        })
    }

    /// A pair without a run that ended without agreement: what can still be done.
    fn ended_pair(&self) -> Option<Banner> {
        let pair = self.record.pair.filter(|pair| self.record.run.is_none() && ended_without_agreement(pair))?;
        Some(Banner { reason: Some(PauseReason::PhaseNotConverged), ..self.not_converged() }).map(|banner| Banner {
            offers: banner.offers.into_iter().filter(|offer| !matches!(offer.key.as_str(), "x" | "w")).collect(),
            headline: words::pair_stop(crate::model::pair::PairStop::MaxRounds, None, pair.round_count),
            ..banner
        })
    }
}

fn ended_without_agreement(pair: &PairRecord) -> bool {
    pair.stop_reason == Some(crate::model::pair::PairStop::MaxRounds)
}

fn offer(key: &str, word: &str, what: &str) -> Offer {
    Offer { key: key.to_owned(), word: word.to_owned(), what: what.to_owned() }
}

#[cfg(test)]
#[path = "banner_tests.rs"]
mod tests;
