//! What needs a person: the headline, the facts and what can be done, for each reason (`dashboard.md` §5).
//! Sentences about one record; how they look is the screen's.

use super::facts::{Facts, RecordFacts, SessionFacts};
use super::words::{self, Labels};
use super::{Banner, Offer, record, reviews};
use crate::machine::ledger::Origin;
use crate::model::conversation::{Conversation, Outcome, Turn};
use crate::model::ids::{Role, TurnId};
use crate::model::outbox::{Entry, EntryState};
use crate::model::pair::{Direction, PairRecord, PairState, PauseReason};
use crate::model::reach::{InputBox, LiveStatus};
use crate::model::run::{AttemptStatus, RunState};

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
    case.open_dialog().or_else(|| case.held())
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

    fn not_converged(&self) -> Banner {
        let relays = self.record.pair.map_or(0, |pair| pair.round_count);
        let mut lines = self.unreviewed_line().into_iter().collect::<Vec<_>>();
        lines.extend(self.plateau_line());
        let mut offers = vec![
            offer("+", "go on", "5 more relays, from here"),
            offer("r", "again", "review it again, count 0"),
            offer("a", "accept", self.accept_words()),
        ];
        if self.record.run.is_some() {
            offers.push(offer("s", "skip", "leave it, next phase"));
        }
        offers.push(Self::write());
        offers.push(self.stop());
        let headline = format!("no agreement after {}", words::count(relays, "relay"));
        Banner { reason: Some(PauseReason::PhaseNotConverged), headline, lines, offers }
    }

    /// Says when the implementer's newest answer is not the one that was reviewed.
    fn unreviewed_line(&self) -> Option<String> {
        let newest = newest_answered(self.record.conversation(Role::Implementer)?)?;
        let answer = newest.answer.as_ref()?;
        let reviewed = self.record.pair?.reviewed.as_ref();
        if reviewed.is_some_and(|id| id.turn_id == newest.id && id.message_id == answer.message_id) {
            return None;
        }
        let at = answer.at.map(|at| format!(" ({})", self.clock(at))).unwrap_or_default();
        Some(format!("{}'s last fix{at} is NOT reviewed.", self.label(Role::Implementer)))
    }

    fn accept_words(&self) -> &'static str {
        if self.unreviewed_line().is_some() { "as it is, not reviewed" } else { "as it is" }
    }

    fn plateau_line(&self) -> Option<String> {
        let reviews = reviews::reviews(self.record);
        let (first, last) = (reviews.first()?, reviews.last()?);
        let grows = reviews.len() > 2 && last.points >= first.points;
        grows.then(|| "The reviews do not shrink.".to_owned())
    }

    fn near_miss(&self) -> Banner {
        let reviewer = self.label(Role::Reviewer);
        let mut lines = Vec::new();
        if let Some(pair) = self.record.pair
            && let Some(miss) = &pair.near_miss
        {
            lines.push(format!(
                "{reviewer} wrote {}: close to {}, but not it.",
                words::quoted(&miss.line),
                pair.config.stop_signal
            ));
        }
        lines.extend(self.detail());
        let builder = self.label(Role::Implementer);
        let offers = vec![
            offer("a", "accept", &format!("takes it as an approval, {}", self.accept_words())),
            offer("p", "as feedback", &format!("sends {reviewer}'s answer to {builder}")),
            Self::write(),
            self.stop(),
        ];
        Banner { reason: Some(PauseReason::NearMiss), headline: format!("{reviewer} nearly approved"), lines, offers }
    }

    fn review_ended(&self, reason: PauseReason) -> Banner {
        let headline = words::pause(reason).to_owned();
        let offers = vec![
            offer(
                "r",
                "again",
                &format!(
                    "{} reviews {}'s newest answer, count 0",
                    self.label(Role::Reviewer),
                    self.label(Role::Implementer)
                ),
            ),
            offer("s", "skip", "leave it, next phase"),
            self.stop(),
        ];
        Banner { reason: Some(reason), headline, lines: self.detail(), offers }
    }

    fn phase_limit(&self) -> Banner {
        let (done, cap) = self.record.run.map_or((0, 0), |run| (run.phases_done, run.config.max_phases));
        Banner {
            reason: Some(PauseReason::PhaseLimit),
            headline: format!("{} went through", words::count(done, "phase")),
            lines: vec![format!("The run was to ask you after {cap}.")],
            offers: vec![
                offer("p", "go on", &format!("asks {} for the next phase", self.label(Role::Implementer))),
                self.stop(),
            ],
        }
    }

    fn user_typed(&self) -> Banner {
        let (role, turn) = self.newest_human();
        let interrupted = turn.is_some_and(|turn| turn.outcome == Some(Outcome::Interrupted));
        let who = self.label(role);
        let mut lines = Vec::new();
        if let Some(turn) = turn {
            let at = turn.prompt.record.at.map(|at| format!(" at {}", self.clock(at))).unwrap_or_default();
            if interrupted {
                let ended = turn.ended_at.map(|at| format!(" at {}", self.clock(at))).unwrap_or_default();
                lines.push(format!("{who}'s turn was stopped{ended}; what it had begun is not relayed."));
            } else {
                lines.push(format!("{} to {who}{at}", words::quoted(&turn.prompt.text)));
            }
        } else {
            lines.extend(self.detail());
        }
        let headline = if interrupted { format!("you interrupted {who}") } else { format!("you wrote to {who}") };
        let offers = vec![offer("p", "go on", &self.going_on()), Self::write(), self.pane(role), self.stop()];
        Banner { reason: Some(PauseReason::UserTyped), headline, lines, offers }
    }

    /// The side with the newest prompt that no entry of this home claims, or an interrupted turn, and that turn.
    fn newest_human(&self) -> (Role, Option<&Turn>) {
        let of = |role: Role| {
            let turns = &self.record.conversation(role)?.turns;
            turns
                .iter()
                .rev()
                .take(8)
                .find(|turn| turn.outcome == Some(Outcome::Interrupted) || !self.is_ours(role, turn))
        };
        let (builder, reviewer) = (of(Role::Implementer), of(Role::Reviewer));
        let time = |turn: Option<&Turn>| turn.and_then(|turn| turn.ended_at.max(turn.prompt.record.at));
        if time(reviewer) > time(builder) { (Role::Reviewer, reviewer) } else { (Role::Implementer, builder) }
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
            Some(turn) if turn.outcome.is_none() => format!("goes on: waits for {who} to end its turn"),
            Some(turn) if turn.is_answered() && !self.is_known(awaited, &turn.id) => self.sends_answer(awaited, turn),
            Some(_) | None => format!("goes on: waits for {who}'s next answer"),
        }
    }

    fn going_on_with(&self, entry: &Entry) -> String {
        let (what, to) = (words::message(entry.purpose), self.label(entry.target));
        match entry.state {
            EntryState::Prepared if entry.attempts == 0 => format!("goes on: sends the {what} to {to}"),
            _ => format!("goes on: looks whether the {what} reached {to}"),
        }
    }

    fn sends_answer(&self, from: Role, turn: &Turn) -> String {
        let Some(pair) = self.record.pair.filter(|pair| pair.is_active()) else {
            return format!("goes on: {}'s answer{} is the next phase", self.label(from), self.answer_time(turn));
        };
        let to = self.label(from.other());
        let n = pair.round_count.saturating_add(1);
        match from {
            Role::Implementer => {
                format!("goes on: sends {}'s answer{} to {to} (relay {n})", self.label(from), self.answer_time(turn))
            }
            Role::Reviewer => {
                format!("goes on: reads {}'s answer{} as its verdict", self.label(from), self.answer_time(turn))
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

    fn no_answer(&self) -> Banner {
        let role = self.awaited();
        let who = self.label(role);
        let turn = self.record.conversation(role).and_then(Conversation::newest);
        let ours = turn.is_some_and(|turn| self.is_ours(role, turn));
        let what = if ours { format!("asks {who} again to go on") } else { format!("waits for {who}'s next answer") };
        let at = turn.and_then(|turn| turn.ended_at).map(|at| format!(" at {}", self.clock(at))).unwrap_or_default();
        let mut lines = vec![format!("{who}'s turn ended{at} without a text.")];
        lines.extend(self.detail());
        Banner {
            reason: Some(PauseReason::NoAnswer),
            headline: format!("{who} ended without an answer"),
            lines,
            offers: vec![offer("p", "ask again", &what), self.pane(role), self.stop()],
        }
    }

    fn limit(&self) -> Banner {
        let role = self.awaited();
        let who = self.label(role);
        let limit = match (self.record.run.filter(|run| run.state == RunState::Paused), self.record.pair) {
            (Some(run), _) => run.limit.as_ref(),
            (None, Some(pair)) => pair.limit.as_ref(),
            (None, None) => None,
        };
        let mut lines: Vec<String> = limit.map(|limit| words::quoted(&limit.text)).into_iter().collect();
        lines.push(match (limit.and_then(|limit| limit.resets_at), record::limit_end(self.record)) {
            (Some(at), Some(_)) => format!("Goes on by itself at {}: {who} is asked to go on.", self.clock(at)),
            (Some(at), None) => format!("It ends at {}; nothing goes on by itself.", self.clock(at)),
            (None, _) => "When it ends is not known; nothing goes on by itself.".to_owned(),
        });
        let offers = vec![offer("p", "try now", &format!("asks {who} to go on")), self.stop()];
        Banner { reason: Some(PauseReason::Limit), headline: format!("{who} is at its limit"), lines, offers }
    }

    fn session_changed(&self) -> Banner {
        let role = self.side_where(|side| side.reach.as_ref().is_some_and(|reach| reach.replaced_by.is_some()));
        let who = self.label(role);
        let mut lines = Vec::new();
        if let Some(key) = self.session_key(role) {
            lines.push(format!("was {}", key.session_id));
        }
        let reach = self.record.side(role).and_then(|side| side.reach.as_ref());
        if let Some((id, proof)) = reach.and_then(|reach| reach.replaced_by.as_ref()) {
            let title = self
                .facts
                .found
                .iter()
                .find(|found| &found.session.session_id == id)
                .and_then(|found| found.title.as_deref());
            let first = title.map(|title| format!(", begins {}", words::quoted(title))).unwrap_or_default();
            lines.push(format!("now {id}{first} ({proof})"));
        } else {
            lines.extend(self.detail());
        }
        lines.push("The new conversation knows nothing of the old one.".to_owned());
        let offers =
            vec![offer("f", "follow", &format!("goes on with {who}'s new conversation")), self.pane(role), self.stop()];
        Banner {
            reason: Some(PauseReason::SessionChanged),
            headline: format!("{who} began another conversation"),
            lines,
            offers,
        }
    }

    /// The side for which something holds; else the one that is waited for.
    fn side_where(&self, holds: impl Fn(&SessionFacts) -> bool) -> Role {
        let awaited = self.awaited();
        [awaited, awaited.other()]
            .into_iter()
            .find(|role| self.record.side(*role).is_some_and(&holds))
            .unwrap_or(awaited)
    }

    fn agent_gone(&self) -> Banner {
        let role = self.side_where(|side| {
            side.reach.as_ref().is_some_and(|reach| {
                reach.transport.is_none() || reach.process == crate::model::reach::ProcessFact::Dead
            })
        });
        let who = self.label(role);
        let mut lines = self.detail();
        if lines.is_empty() {
            lines.push(format!("Nothing answers for {who}."));
        }
        let offers = vec![
            offer("b", "bring back", &format!("resumes {who}'s session, then goes on")),
            self.pane(role),
            self.stop(),
        ];
        Banner { reason: Some(PauseReason::AgentGone), headline: format!("{who} is gone"), lines, offers }
    }

    fn agent_error(&self) -> Banner {
        let role = self.awaited();
        let who = self.label(role);
        let failed =
            self.record.conversation(role).and_then(Conversation::newest).and_then(|turn| turn.outcome.as_ref());
        let mut lines: Vec<String> = failed.and_then(words::ending).into_iter().collect();
        lines.extend(self.detail());
        lines.dedup();
        let retry = self
            .record
            .run
            .and_then(|run| run.retry.as_ref())
            .or_else(|| self.record.pair.and_then(|pair| pair.retry.as_ref()));
        if let Some(retry) = retry {
            lines.push(format!("Tried again {}.", words::count(retry.n.saturating_sub(1), "time")));
        }
        let offers = vec![offer("p", "again", &format!("asks {who} to go on")), self.pane(role), self.stop()];
        Banner { reason: Some(PauseReason::AgentError), headline: format!("{who}'s turn failed"), lines, offers }
    }

    fn delivery_failed(&self) -> Banner {
        let entry = record::open_entry(self.record);
        let to = entry.map_or_else(|| self.awaited(), |entry| entry.target);
        let what = entry.map_or("message", |entry| words::message(entry.purpose));
        let who = self.label(to);
        let mut lines = self.detail();
        lines.extend(self.box_line(to));
        Banner {
            reason: Some(PauseReason::DeliveryFailed),
            headline: format!("the {what} to {who} was not seen to arrive"),
            lines,
            offers: self.delivery_offers(to),
        }
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

    fn box_line(&self, role: Role) -> Option<String> {
        let reach = self.record.side(role)?.reach.as_ref()?;
        let who = self.label(role);
        match reach.input {
            InputBox::Ours => Some(format!("It still stands in {who}'s box.")),
            InputBox::Other => Some(format!("{who}'s box holds other text: press Enter or clear it in the pane.")),
            InputBox::Unknown => Some(format!("{who}'s box can't be read.")),
            InputBox::Empty => None,
        }
    }

    fn record_changed(&self) -> Banner {
        Banner {
            reason: Some(PauseReason::RecordChanged),
            headline: words::pause(PauseReason::RecordChanged).to_owned(),
            lines: self.detail(),
            offers: vec![
                offer("p", "take it", "the file on the disk counts from now on"),
                offer("x", "stop", "puts that file away and writes ours, stopped"),
            ],
        }
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
            match side.reach.as_ref().map(|reach| &reach.status) {
                Some(LiveStatus::Waiting { what }) => Some((role, question.unwrap_or_else(|| what.clone()))),
                Some(LiveStatus::Silent) | None => question.map(|question| (role, question)),
                Some(LiveStatus::Idle | LiveStatus::Busy) => None,
            }
        })?;
        let who = self.label(role);
        let since = self.record.side(role).and_then(|side| side.since);
        let mut lines = Vec::new();
        if !what.trim().is_empty() {
            lines.push(words::quoted(&what));
        }
        lines.extend(since.map(|at| format!("since {}", self.clock(at))));
        let offers = vec![offer("t", "pane", &format!("answer it in {who}'s pane"))];
        Some(Banner { reason: None, headline: format!("{who} asks for your approval"), lines, offers })
    }

    /// A message that could go out but for something a person left in the way.
    fn held(&self) -> Option<Banner> {
        let why = record::held(self.record)?;
        let entry = record::open_entry(self.record)?;
        let (what, who) = (words::message(entry.purpose), self.label(entry.target));
        let mut lines = vec![why];
        lines.push("It goes out once nothing is in the way.".to_owned());
        Some(Banner {
            reason: None,
            headline: format!("the {what} to {who} is held"),
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

/// Whether an attempt of a run waits for a person's decision.
#[must_use]
pub const fn is_undecided(status: AttemptStatus) -> bool {
    matches!(status, AttemptStatus::NotConverged | AttemptStatus::Stopped | AttemptStatus::Error)
}

fn newest_answered(conversation: &Conversation) -> Option<&Turn> {
    conversation.turns.iter().rev().find(|turn| turn.is_answered())
}

fn offer(key: &str, word: &str, what: &str) -> Offer {
    Offer { key: key.to_owned(), word: word.to_owned(), what: what.to_owned() }
}

#[cfg(test)]
#[path = "banner_tests.rs"]
mod tests;
