//! What needs a person: the headline, the facts and what can be done, for each reason (`dashboard.md` §5).
//! Sentences about one record; how they look is the screen's.

mod reasons;

use jiff::{SignedDuration, Timestamp};

use super::facts::{Facts, RecordFacts};
use super::words::{self, Labels};
use super::{Banner, Offer, record};
use crate::machine::ledger::Origin;
use crate::machine::plan::{Act, Plan, When};
use crate::machine::sending::{self, Sending};
use crate::model::conversation::Turn;
use crate::model::ids::{Role, TurnId};
use crate::model::outbox::Purpose;
use crate::model::pair::{PairRecord, PairState, PairStop, PauseReason};
use crate::model::reach::LiveStatus;
use crate::model::run::{RunState, RunStop};

/// A message is called held when something has lain in its way for so long without a break.
const LASTS: SignedDuration = SignedDuration::from_secs(5);

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
        Some(reason) => return Some(case.gone_meanwhile(reason).unwrap_or_else(|| case.paused(reason))),
    }
    if !case.is_active() || record::pause_reason(record).is_some() {
        return case.ended_pair();
    }
    case.open_dialog().or_else(|| case.by_hand()).or_else(|| case.held())
}

/// What going on will do, in words.
#[must_use]
pub fn planned(record: &RecordFacts<'_>, labels: &Labels, facts: &Facts<'_>, plan: &Plan) -> String {
    Case { record, facts, labels }.planned(plan)
}

/// Since when the side that the banner calls gone is gone, where the record was paused for another reason before.
#[must_use]
pub fn gone_since(record: &RecordFacts<'_>, labels: &Labels, facts: &Facts<'_>) -> Option<Timestamp> {
    let case = Case { record, facts, labels };
    let (role, _) = case.gone_side(record::pause_reason(record)?)?;
    record.side(role)?.gone_since
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
                offers: self.go_on("go on").into_iter().collect(),
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
        Offer { pane_of: Some(role), ..offer("t", "pane", &format!("go to {}", self.label(role))) }
    }

    /// `in claude's pane`; of one that is known to be in none `where claude runs`.
    fn place_of(&self, role: Role) -> String {
        let reach = self.record.side(role).and_then(|side| side.reach.as_ref());
        let has_pane = reach.is_none_or(|reach| words::no_pane(reach.transport, "", &reach.place).is_none());
        words::where_it_is(has_pane, self.label(role))
    }

    fn write() -> Offer {
        offer("w", "write", "tell one of them something")
    }

    fn clock(&self, at: Timestamp) -> String {
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

    /// What `p` will do, as the plan of that very order says; `None` where it would be refused.
    fn go_on(&self, word: &str) -> Option<Offer> {
        let Some(plan) = &self.record.plan else { return Some(offer("p", word, "goes on")) };
        (!matches!(plan.act, Act::Refused(_))).then(|| offer("p", word, &self.planned(plan)))
    }

    /// A plan in words, with its object.
    pub(super) fn planned(&self, plan: &Plan) -> String {
        let act = match &plan.act {
            Act::Refused(why) => why.clone(),
            Act::Sends { purpose, to, source, relay, is_same_text } => {
                let words = self.sends(*purpose, *to, source.as_ref(), *relay, *is_same_text);
                match plan.when {
                    When::Now | When::Soon => words,
                    When::Free => format!("{words} once {} is free", self.label(*to)),
                    When::Clear => format!("{words} once nothing is in the way"),
                }
            }
            Act::LooksFor { purpose, to } => {
                format!("looks whether the {} reached {}", self.message(*purpose), self.label(*to))
            }
            Act::Shows { to, relay } => format!("shows you relay {relay} to {} first", self.label(*to)),
            Act::TakesPhase(turn) => {
                let builder = Role::Implementer;
                format!("takes {}'s answer{} as the next phase", self.label(builder), self.answer_time(builder, turn))
            }
            Act::WaitsForEnd(role) => format!("waits for {} to end its turn", self.label(*role)),
            Act::WaitsForFree(role) => format!("waits for {} to be free", self.label(*role)),
            Act::WaitsForAnswer(role) => format!("waits for {}'s next answer", self.label(*role)),
            Act::EndsPair(PairStop::Lgtm) => format!("takes {}'s answer as its approval", self.label(Role::Reviewer)),
            Act::EndsPair(PairStop::MaxRounds) => "ends here: every relay is used up".to_owned(),
            Act::EndsPair(PairStop::Manual | PairStop::PeerError | PairStop::SessionTrashed) => {
                "ends this pair".to_owned()
            }
            Act::EndsRun(RunStop::Completed) => {
                format!("ends the run: {} says that no phase is left", self.label(Role::Implementer))
            }
            Act::EndsRun(stop) => format!("ends the run: {}", words::run_stop(*stop)),
            Act::Pauses(_, why) => format!("stops again at once: {why}"),
        };
        if plan.agrees && !matches!(plan.act, Act::EndsRun(_)) {
            return format!("takes {}'s answer as its approval, then {act}", self.label(Role::Reviewer));
        }
        act
    }

    fn sends(&self, purpose: Purpose, to: Role, source: Option<&TurnId>, relay: Option<u32>, again: bool) -> String {
        let (from, to_label) = (self.label(to.other()), self.label(to));
        let relay = relay.map(|n| format!(" (relay {n})")).unwrap_or_default();
        match purpose {
            Purpose::ToReviewer | Purpose::ToImplementer => {
                let at = source.map(|turn| self.answer_time(to.other(), turn)).unwrap_or_default();
                format!("sends {from}'s answer{at} to {to_label}{relay}")
            }
            _ => {
                let first = self.record.run.is_some_and(|run| run.phases.is_empty());
                Sending::new(purpose, again, first).does(to_label)
            }
        }
    }

    /// What a message that is on its way is called.
    pub(super) fn message(&self, purpose: Purpose) -> &'static str {
        let again = record::open_entry(self.record).is_some_and(|entry| {
            let of_run = self.record.run.map(|run| run.outbox.as_slice()).unwrap_or_default();
            let of_pair = self.record.pair.map(|pair| pair.outbox.as_slice()).unwrap_or_default();
            sending::is_same_text(entry, of_run) || sending::is_same_text(entry, of_pair)
        });
        Sending::new(purpose, again, false).name()
    }

    fn answer_time(&self, role: Role, turn: &TurnId) -> String {
        let turn = self.record.conversation(role).and_then(|talk| talk.turns.get(talk.turn_index(turn)?));
        let at = turn.and_then(|turn| turn.answer.as_ref().and_then(|answer| answer.at).or(turn.ended_at));
        at.map(|at| format!(" of {}", self.clock(at))).unwrap_or_default()
    }

    fn delivery_offers(&self, to: Role, look_again: Option<Offer>) -> Vec<Offer> {
        let copy = offer("y", "copy", &format!("paste it yourself {}", self.place_of(to)));
        look_again.into_iter().chain([copy, self.pane(to), self.stop()]).collect()
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
        let reach = self.record.side(role).and_then(|side| side.reach.as_ref());
        if reach.is_some_and(|reach| words::no_pane(reach.transport, who, &reach.place).is_some()) {
            lines.push(format!("Answer it where {who} runs."));
        }
        let offers = vec![Offer { pane_of: Some(role), ..offer("t", "pane", &format!("answer it in {who}'s pane")) }];
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
            self.message(entry.purpose)
        ));
        let offers = vec![offer("y", "copy", "put it on the clipboard again"), self.pane(entry.target), self.stop()];
        Some(Banner { reason: None, headline: format!("paste this {}", self.place_of(entry.target)), lines, offers })
    }

    /// A message that could go out but for something a person left in the way.
    fn held(&self) -> Option<Banner> {
        let why = record::held(self.record)?;
        let entry = record::open_entry(self.record)?;
        // An agent that comes up, or a dialog that is just being answered, is nothing to call a person for.
        let side = self.record.side(entry.target)?;
        let since = side.hindered_since?.max(entry.prepared_at);
        if side.reach.as_ref()?.at.duration_since(since) < LASTS {
            return None;
        }
        let (what, who) = (self.message(entry.purpose), self.label(entry.target));
        let mut lines = vec![why];
        lines.push("It goes out once nothing is in the way.".to_owned());
        Some(Banner {
            reason: None,
            headline: format!("{what} to {who} is held"),
            lines,
            offers: self.delivery_offers(entry.target, Some(offer("p", "look again", "looks whether that is gone"))),
        })
    }

    /// A pair without a run that ended without agreement: what can still be done.
    fn ended_pair(&self) -> Option<Banner> {
        let pair = self.record.pair.filter(|pair| self.record.run.is_none() && ended_without_agreement(pair))?;
        Some(Banner { reason: Some(PauseReason::PhaseNotConverged), ..self.not_converged() }).map(|banner| Banner {
            offers: banner.offers.into_iter().filter(|offer| !matches!(offer.key.as_str(), "x" | "w")).collect(),
            headline: words::pair_stop(PairStop::MaxRounds, None, pair.round_count),
            ..banner
        })
    }
}

fn ended_without_agreement(pair: &PairRecord) -> bool {
    pair.stop_reason == Some(PairStop::MaxRounds)
}

fn offer(key: &str, word: &str, what: &str) -> Offer {
    Offer { key: key.to_owned(), word: word.to_owned(), what: what.to_owned(), pane_of: None }
}

#[cfg(test)]
#[path = "banner_tests.rs"]
mod tests;
