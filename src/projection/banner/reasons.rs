//! What each reason for a pause says and offers, in the order of the manual's table. What going on will do is the parent's.

use super::super::facts::SessionFacts;
use super::super::words;
use super::super::{Banner, Offer, record, reviews};
use super::{Case, offer};
use crate::machine::plan::Act;
use crate::model::conversation::{Conversation, Outcome, Turn};
use crate::model::ids::Role;
use crate::model::outbox::Purpose;
use crate::model::pair::PauseReason;
use crate::model::reach::InputBox;
use crate::model::run::RunState;

impl Case<'_> {
    pub(super) fn not_converged(&self) -> Banner {
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
        let answer = record::newest_unreviewed(self.record, self.record.pair?)?;
        let at = answer.at.map(|at| format!(" ({})", self.clock(at))).unwrap_or_default();
        Some(format!("{}'s last fix{at} is NOT reviewed.", self.label(Role::Implementer)))
    }

    fn accept_words(&self) -> &'static str {
        if record::unreviewed(self.record) { "as it is, not reviewed" } else { "as it is" }
    }

    fn plateau_line(&self) -> Option<String> {
        let reviews = reviews::reviews(self.record);
        let (first, last) = (reviews.first()?, reviews.last()?);
        let grows = reviews.len() > 2 && last.points >= first.points;
        grows.then(|| "The reviews do not shrink.".to_owned())
    }

    pub(super) fn near_miss(&self) -> Banner {
        let reviewer = self.label(Role::Reviewer);
        let miss = self.record.pair.and_then(|pair| Some((pair.near_miss.as_ref()?, &pair.config.stop_signal)));
        // The record's own words say the same, but for the quotation.
        let lines = match miss {
            Some((miss, signal)) => {
                vec![format!("{reviewer} wrote {}: close to {signal}, but not it.", words::quoted(&miss.line))]
            }
            None => self.detail(),
        };
        let is_feedback = self.record.plan.as_ref().is_none_or(|plan| {
            matches!(
                plan.act,
                Act::Sends { purpose: Purpose::ToImplementer, .. } | Act::Shows { to: Role::Implementer, .. }
            )
        });
        let accept = offer("a", "accept", &format!("takes it as an approval, {}", self.accept_words()));
        let go_on = self.go_on(if is_feedback { "as feedback" } else { "go on" });
        let offers = [accept].into_iter().chain(go_on).chain([Self::write(), self.stop()]).collect();
        Banner { reason: Some(PauseReason::NearMiss), headline: format!("{reviewer} nearly approved"), lines, offers }
    }

    pub(super) fn review_ended(&self, reason: PauseReason) -> Banner {
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

    pub(super) fn phase_limit(&self) -> Banner {
        let (done, cap) = self.record.run.map_or((0, 0), |run| (run.phases_done, run.config.max_phases));
        Banner {
            reason: Some(PauseReason::PhaseLimit),
            headline: format!("{} went through", words::count(done, "phase")),
            lines: vec![format!("The run was to ask you after {cap}.")],
            offers: self.go_on("go on").into_iter().chain([self.stop()]).collect(),
        }
    }

    pub(super) fn user_typed(&self) -> Banner {
        let (role, turn) = self.newest_human();
        let interrupted = turn.is_some_and(|turn| turn.outcome == Some(Outcome::Interrupted));
        let who = self.label(role);
        // Screen, watch and status read the record's own words: not everybody who says them has the transcripts.
        let said = self.detail().first().map(|told| told.split(": ").next().unwrap_or(told).to_owned());
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
        let headline = said.unwrap_or_else(|| {
            if interrupted { format!("you interrupted {who}") } else { format!("you wrote to {who}") }
        });
        let go_on = self.go_on("go on");
        let offers = go_on.into_iter().chain([Self::write(), self.pane(role), self.stop()]).collect();
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

    pub(super) fn no_answer(&self) -> Banner {
        let role = self.awaited();
        let who = self.label(role);
        let turn = self.record.conversation(role).and_then(Conversation::newest);
        let asks = self.record.plan.as_ref().is_none_or(|plan| matches!(plan.act, Act::Sends { .. }));
        let go_on = self.go_on(if asks { "ask again" } else { "go on" });
        let at = turn.and_then(|turn| turn.ended_at).map(|at| format!(" at {}", self.clock(at))).unwrap_or_default();
        let lines = vec![format!("{who}'s turn ended{at} without a text.")];
        Banner {
            reason: Some(PauseReason::NoAnswer),
            headline: format!("{who} gave no answer"),
            lines,
            offers: go_on.into_iter().chain([self.pane(role), self.stop()]).collect(),
        }
    }

    pub(super) fn limit(&self) -> Banner {
        let role = self.awaited();
        let who = self.label(role);
        let limit = match (self.record.run.filter(|run| run.state == RunState::Paused), self.record.pair) {
            (Some(run), _) => run.limit.as_ref(),
            (None, Some(pair)) => pair.limit.as_ref(),
            (None, None) => None,
        };
        let mut lines: Vec<String> = limit.map(|limit| words::quoted(&limit.text)).into_iter().collect();
        lines.push(match (limit.and_then(|limit| limit.resets_at), record::limit_end(self.record)) {
            (Some(at), Some(_)) => {
                // What goes out then is what going on now would send, and its key says that.
                let sends = self.record.plan.as_ref().is_some_and(|plan| matches!(plan.act, Act::Sends { .. }));
                let same = if sends { ", as “try now” does" } else { "" };
                format!("Goes on by itself at {}{same}.", self.clock(at))
            }
            (Some(at), None) => format!("It ends at {}; nothing goes on by itself.", self.clock(at)),
            (None, _) => "When it ends is not known; nothing goes on by itself.".to_owned(),
        });
        let offers = self.go_on("try now").into_iter().chain([self.stop()]).collect();
        Banner { reason: Some(PauseReason::Limit), headline: format!("{who} is at its limit"), lines, offers }
    }

    pub(super) fn session_changed(&self) -> Banner {
        let role = self.named_side().unwrap_or_else(|| {
            self.side_where(|side| side.reach.as_ref().is_some_and(|reach| reach.replaced_by.is_some()))
        });
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
            headline: format!("{who} changed its session"),
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

    pub(super) fn agent_gone(&self) -> Banner {
        let role = self.named_side().unwrap_or_else(|| {
            self.side_where(|side| {
                side.reach.as_ref().is_some_and(|reach| {
                    reach.transport.is_none() || reach.process == crate::model::reach::ProcessFact::Dead
                })
            })
        });
        let who = self.label(role);
        let said = format!("{who} is gone: ");
        let mut lines: Vec<String> =
            self.detail().iter().map(|line| line.strip_prefix(&said).unwrap_or(line).to_owned()).collect();
        if lines.is_empty() {
            lines.push(format!("Nothing answers for {who}."));
        }
        let offers = vec![self.bring_back(role, ", then goes on"), self.pane(role), self.stop()];
        Banner { reason: Some(PauseReason::AgentGone), headline: format!("{who} is gone"), lines, offers }
    }

    /// The side that the record's own words begin with; what is seen now may be another thing.
    fn named_side(&self) -> Option<Role> {
        let told = self.detail().first().cloned().unwrap_or_default();
        [Role::Implementer, Role::Reviewer]
            .into_iter()
            .find(|role| told.strip_prefix(self.label(*role)).is_some_and(|rest| rest.starts_with([':', ' '])))
    }

    /// What bringing back will do: every session that it resumes, and where.
    fn bring_back(&self, gone: Role, then: &str) -> Offer {
        let sides = match self.record.brings_back.as_slice() {
            [] => vec![gone],
            sides => sides.to_vec(),
        };
        let whose: Vec<String> = sides.iter().map(|role| format!("{}'s", self.label(*role))).collect();
        let what = if whose.len() == 1 { "session" } else { "sessions" };
        let place = if self.facts.opens_windows { " in a new tmux window" } else { "" };
        let what = format!("resumes {} {what}{place}{then}", whose.join(" and "));
        offer("b", "bring back", &what)
    }

    /// Which side that is, and what was seen. A run that a person paused stays paused by them.
    pub(super) fn gone_side(&self, reason: PauseReason) -> Option<(Role, &str)> {
        let is_other = !matches!(reason, PauseReason::AgentGone | PauseReason::Manual);
        let plan = self.record.plan.as_ref().filter(|_| is_other)?;
        let Act::Pauses(PauseReason::AgentGone, why) = &plan.act else { return None };
        // A transcript that cannot be read pauses for the same reason, and is nothing to bring back.
        let is_named = |role: &Role| why.starts_with(&format!("{} is gone: ", self.label(*role)));
        let role = [Role::Implementer, Role::Reviewer].into_iter().find(is_named)?;
        Some((role, why))
    }

    /// A side that a pause for another reason would go on with, and that has gone meanwhile.
    pub(super) fn gone_meanwhile(&self, reason: PauseReason) -> Option<Banner> {
        let (role, why) = self.gone_side(reason)?;
        let who = self.label(role);
        let since = self.record.side(role).and_then(|side| side.gone_since);
        let seen = why.strip_prefix(&format!("{who} is gone: ")).unwrap_or(why);
        let at = since.map(|at| format!(" since {}", self.clock(at))).unwrap_or_default();
        let before = self.paused(reason);
        let mut lines = vec![format!("Gone{at}: {seen}."), format!("Before that: {}.", before.headline)];
        lines.extend(before.lines);
        let offers = vec![self.bring_back(role, "; then you decide"), self.pane(role), self.stop()];
        Some(Banner { reason: Some(PauseReason::AgentGone), headline: format!("{who} is gone"), lines, offers })
    }

    pub(super) fn agent_error(&self) -> Banner {
        let role = self.awaited();
        let who = self.label(role);
        let failed =
            self.record.conversation(role).and_then(Conversation::newest).and_then(|turn| turn.outcome.as_ref());
        let mut lines: Vec<String> = failed.and_then(words::ending).into_iter().collect();
        // What was kept with the pause says the same again, and how often it was tried.
        let text = match failed {
            Some(Outcome::Failed(failure)) => failure.text.trim(),
            _ => "",
        };
        let rest = |detail: String| match detail.rsplit_once(text) {
            Some((_, rest)) if !text.is_empty() => rest.trim_start_matches(", ").to_owned(),
            _ => detail,
        };
        lines.extend(self.detail().into_iter().map(rest).filter(|rest| !rest.is_empty()));
        lines.dedup();
        let retry = self
            .record
            .run
            .and_then(|run| run.retry.as_ref())
            .or_else(|| self.record.pair.and_then(|pair| pair.retry.as_ref()));
        if let Some(retry) = retry {
            lines.push(format!("Tried again {}.", words::count(retry.n.saturating_sub(1), "time")));
        }
        let offers = self.go_on("again").into_iter().chain([self.pane(role), self.stop()]).collect();
        Banner { reason: Some(PauseReason::AgentError), headline: format!("{who}'s turn failed"), lines, offers }
    }

    pub(super) fn delivery_failed(&self) -> Banner {
        let entry = record::open_entry(self.record);
        let to = entry.map_or_else(|| self.awaited(), |entry| entry.target);
        let what = entry.map_or("message", |entry| self.message(entry.purpose));
        let who = self.label(to);
        let mut lines = self.detail();
        lines.extend(self.box_line(to));
        Banner {
            reason: Some(PauseReason::DeliveryFailed),
            headline: format!("{what} to {who} not seen"),
            lines,
            offers: self.delivery_offers(to, self.go_on("look again")),
        }
    }

    fn box_line(&self, role: Role) -> Option<String> {
        let reach = self.record.side(role)?.reach.as_ref()?;
        let who = self.label(role);
        match reach.input {
            InputBox::Ours => Some(format!("It still stands in {who}'s box.")),
            InputBox::Other => Some(format!("{who}'s box holds other text: press Enter or clear it in the pane.")),
            InputBox::Command => {
                Some(format!("{who}'s box holds a command: clear it in the pane; an Enter would run it."))
            }
            InputBox::Unknown => Some(format!("{who}'s box can't be read.")),
            InputBox::Empty => None,
        }
    }

    pub(super) fn record_changed(&self) -> Banner {
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
}
