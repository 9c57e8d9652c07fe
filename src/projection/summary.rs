//! What happened since a time: phases, relays, limits, near misses, pauses, what waits. From records and events alone. Pure.
//! How it is laid out on a screen is the screen's; the sentences and the Markdown are here, so that all say the same.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::phases::{self, PhaseHow, Tried};
use super::words::{self, count};
use super::{Projection, RunView, Standing};
use crate::model::event::{Event, EventKind};
use crate::model::ids::RecordKey;
use crate::model::outbox::{Entry, Purpose};
use crate::model::pair::{PairRecord, PairStop, PauseReason};
use crate::model::run::RunRecord;

/// What a summary is made of.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    /// Every run.
    pub runs: &'a [RunRecord],
    /// Every pair.
    pub pairs: &'a [PairRecord],
    /// Published events, oldest first, as far back as they are kept.
    pub events: &'a [Event],
    /// How everything stands now.
    pub now: &'a Projection,
}

/// What happened in a span of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// After this.
    pub since: Timestamp,
    /// Up to this.
    pub until: Timestamp,
    /// Runs, and pairs without one, in which something happened; what waits for a person comes first.
    pub runs: Vec<RunSummary>,
}

/// What happened in one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Which.
    pub key: RecordKey,
    /// Its name.
    pub name: String,
    /// Its state word now.
    pub state_word: String,
    /// It was begun.
    pub begun: bool,
    /// Phases that ended, in order.
    pub phases: Vec<PhaseEnd>,
    /// Messages carried, each seen in its target.
    pub relays: u32,
    /// Messages that stand in their target more than once.
    pub twice: u32,
    /// Times at a limit.
    pub limits: Vec<LimitSpan>,
    /// Near misses, by how each went on.
    pub near_misses: Vec<String>,
    /// Other pauses that needed a person: when and why.
    pub pauses: Vec<(Timestamp, PauseReason)>,
    /// It ended: when, and how.
    pub ended: Option<(Timestamp, String)>,
    /// What it needs of a person now.
    pub waits: Option<String>,
}

/// A phase that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseEnd {
    /// From 1; `None`: a pair without a run.
    pub n: Option<u32>,
    /// How.
    pub how: PhaseHow,
    /// The reviewer saw its newest answer, as far as is known.
    pub reviewed: bool,
    /// First line of its answer.
    pub summary: String,
    /// Its relays.
    pub relays: u32,
    /// Seconds from its beginning.
    pub took: i64,
}

/// A time at a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitSpan {
    /// The agent, where an event tells it.
    pub side: Option<String>,
    /// From when.
    pub from: Timestamp,
    /// Until when; `None`: still.
    pub to: Option<Timestamp>,
}

/// One run or pair with all that belongs to it.
struct Case<'a> {
    view: &'a RunView,
    run: Option<&'a RunRecord>,
    pairs: Vec<&'a PairRecord>,
    events: Vec<&'a Event>,
    states: Vec<&'a Event>,
    since: Timestamp,
    until: Timestamp,
}

impl Summary {
    /// What happened after `since`, up to `until`.
    #[must_use]
    pub fn of(past: Past<'_>, since: Timestamp, until: Timestamp) -> Self {
        let views = past.now.runs.iter().filter(|view| view.read_only.is_none());
        let mut runs: Vec<RunSummary> =
            views.map(|view| Case::of(view, past, since, until).summary()).filter(|run| !run.is_empty()).collect();
        runs.sort_by_key(|run| (run.waits.is_none(), run.ended.is_some(), run.key.clone()));
        Self { since, until, runs }
    }

    /// That of one run alone.
    #[must_use]
    pub fn only(mut self, key: &RecordKey) -> Self {
        self.runs.retain(|run| run.key == *key);
        self
    }

    /// Whether nothing happened. What waits since before is nothing new.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(RunSummary::is_quiet)
    }

    /// `since you looked, 23:10 to 05:47`, without the first words.
    #[must_use]
    pub fn span(&self, zone: &TimeZone) -> String {
        format!("{} to {}", words::moment(self.since, self.until, zone), words::clock(self.until, zone))
    }

    /// As Markdown: a heading a run, a list of its sentences, a table of its phases.
    #[must_use]
    pub fn markdown(&self, zone: &TimeZone) -> String {
        let mut text = format!("# trellis, {}\n", self.span(zone));
        if self.runs.is_empty() {
            text.push_str("\nNothing happened.\n");
        }
        for run in &self.runs {
            let _ = write!(text, "\n## {} ({})\n\n", one_line(&run.name), run.state_word);
            for line in run.lines(self.until, zone) {
                let _ = writeln!(text, "- {line}");
            }
            if !run.phases.is_empty() {
                text.push_str("\n| n | phase | | relays | took |\n|---|---|---|---|---|\n");
            }
            for phase in &run.phases {
                let n = phase.n.map(|n| n.to_string()).unwrap_or_default();
                let summary = one_line(&phase.summary).replace('|', "\\|");
                let (how, relays, took) = (phase.word(), phase.relays, phase.took());
                let _ = writeln!(text, "| {n} | {summary} | {how} | {relays} | {took} |");
            }
        }
        text
    }
}

/// A line of somebody's text for a page of Markdown: no line of its own, no control.
fn one_line(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl PhaseEnd {
    /// How it ended: `agreed`, `accepted by you, not reviewed`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        self.how.word(self.reviewed)
    }

    /// How long it took: `4m`, `3h19m`.
    #[must_use]
    pub fn took(&self) -> String {
        words::span(SignedDuration::from_secs(self.took))
    }
}

impl RunSummary {
    /// Nothing is to be said of it.
    fn is_empty(&self) -> bool {
        self.is_quiet() && self.waits.is_none()
    }

    /// Nothing happened in it.
    fn is_quiet(&self) -> bool {
        !self.begun
            && self.phases.is_empty()
            && self.relays == 0
            && self.limits.is_empty()
            && self.near_misses.is_empty()
            && self.pauses.is_empty()
            && self.ended.is_none()
    }

    /// Its sentences; `now` decides which times need their day.
    #[must_use]
    pub fn lines(&self, now: Timestamp, zone: &TimeZone) -> Vec<String> {
        let clock = |at: Timestamp| words::moment(at, now, zone);
        let mut lines = Vec::new();
        if self.begun {
            lines.push("begun".to_owned());
        }
        lines.extend(phases::tally(self.phases.iter().map(|phase| (phase.how, phase.reviewed))));
        match (self.relays, self.twice) {
            (0, 0) => {}
            (n, 0) => lines.push(format!("{}, each seen once", count(n, "relay"))),
            (n, twice) => lines.push(format!("{}, {} seen twice", count(n, "relay"), count(twice, "message"))),
        }
        if !self.limits.is_empty() {
            let spans = self.limits.iter().map(|limit| {
                let side = limit.side.as_ref().map(|side| format!("{side} ")).unwrap_or_default();
                let to = limit.to.map_or("still".to_owned(), clock);
                format!("{side}{} → {to}", clock(limit.from))
            });
            lines.push(format!("{}: {}", plural(self.limits.len(), "limit", "limits"), joined(spans)));
        }
        if !self.near_misses.is_empty() {
            let (n, how) = (self.near_misses.len(), joined(self.near_misses.iter().cloned()));
            lines.push(format!("{}: {how}", plural(n, "near miss", "near misses")));
        }
        if !self.pauses.is_empty() {
            let pauses = self.pauses.iter().map(|(at, reason)| format!("{} {}", clock(*at), words::pause(*reason)));
            lines.push(format!("{}: {}", plural(self.pauses.len(), "pause", "pauses"), joined(pauses)));
        }
        lines.extend(self.ended.as_ref().map(|(at, how)| format!("{how} at {}", clock(*at))));
        lines.push(
            self.waits.as_ref().map_or("0 things wait for you".to_owned(), |what| format!("waits for you: {what}")),
        );
        lines
    }
}

fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

impl<'a> Case<'a> {
    fn of(view: &'a RunView, past: Past<'a>, since: Timestamp, until: Timestamp) -> Self {
        let (run, pairs, events) = match &view.key {
            RecordKey::Run(id) => {
                let run = past.runs.iter().find(|run| run.id == *id);
                let attempts: Vec<_> =
                    run.iter().flat_map(|run| &run.phases).filter_map(|attempt| attempt.pair_id.as_ref()).collect();
                let is_its = |pair: &&PairRecord| {
                    attempts.contains(&&pair.id)
                        || run.is_some_and(|run| run.current_pair_id.as_ref() == Some(&pair.id))
                };
                let pairs = past.pairs.iter().filter(is_its).collect();
                (run, pairs, past.events.iter().filter(|event| event.run_id.as_ref() == Some(id)).collect())
            }
            RecordKey::Pair(id) => {
                let pairs = past.pairs.iter().filter(|pair| pair.id == *id).collect();
                (None, pairs, past.events.iter().filter(|event| event.pair_id.as_ref() == Some(id)).collect())
            }
        };
        let sides = [&view.implementer.session.session_id, &view.reviewer.session.session_id];
        let is_side = |event: &&Event| event.session_id.as_ref().is_some_and(|id| sides.contains(&id));
        let states = past.events.iter().filter(|event| event.kind == EventKind::SessionStateChanged);
        Self { view, run, pairs, events, states: states.filter(is_side).collect(), since, until }
    }

    fn in_span(&self, at: Timestamp) -> bool {
        at > self.since && at <= self.until
    }

    fn summary(self) -> RunSummary {
        let ended = self.view.stopped_at.filter(|at| self.in_span(*at));
        RunSummary {
            key: self.view.key.clone(),
            name: self.view.name.clone(),
            state_word: self.view.state_word.clone(),
            begun: self.in_span(self.view.created_at),
            phases: self.phases(),
            relays: self.pairs.iter().map(|pair| self.relays_of(pair)).sum(),
            twice: u32::try_from(self.entries().filter(|entry| !entry.duplicates.is_empty()).count())
                .unwrap_or(u32::MAX),
            limits: self.limits(),
            near_misses: self.near_misses(),
            pauses: self.pauses(),
            ended: ended.map(|at| (at, self.view.stop_words.clone())),
            waits: (self.view.standing == Standing::NeedsYou).then(|| self.view.sentence.clone()),
        }
    }

    fn phases(&self) -> Vec<PhaseEnd> {
        if let Some(run) = self.run {
            let tried = phases::tried(run, &self.pairs);
            return tried.into_iter().filter_map(|phase| self.phase(phase)).collect();
        }
        self.pairs.iter().filter_map(|pair| self.review(pair)).collect()
    }

    fn phase(&self, phase: Tried<'_>) -> Option<PhaseEnd> {
        let at = phase.last.ended_at.filter(|at| self.in_span(*at))?;
        Some(PhaseEnd {
            n: Some(phase.last.n),
            how: phase.how()?,
            reviewed: phase.last.reviewed,
            summary: phase.summary(),
            relays: phase.relays,
            took: at.duration_since(phase.since()).as_secs(),
        })
    }

    /// A pair without a run is one phase.
    fn review(&self, pair: &PairRecord) -> Option<PhaseEnd> {
        let at = pair.stopped_at.filter(|at| self.in_span(*at))?;
        let how = match pair.stop_reason? {
            PairStop::Lgtm if pair.accepted_by.is_some() => PhaseHow::Accepted,
            PairStop::Lgtm => PhaseHow::Agreed,
            PairStop::MaxRounds => PhaseHow::NotAgreed,
            PairStop::Manual | PairStop::PeerError | PairStop::SessionTrashed => return None,
        };
        let took = at.duration_since(pair.created_at).as_secs();
        Some(PhaseEnd { n: None, how, reviewed: true, summary: self.view.name.clone(), relays: pair.round_count, took })
    }

    /// Old rounds move out of a record, and old events out of their file: whichever knows more is right.
    fn relays_of(&self, pair: &PairRecord) -> u32 {
        let kept = pair.rounds.iter().filter(|round| self.in_span(round.at)).count();
        let told = self.events.iter().filter(|event| {
            event.kind == EventKind::PairRound && event.pair_id.as_ref() == Some(&pair.id) && self.in_span(event.at)
        });
        u32::try_from(kept.max(told.count())).unwrap_or(u32::MAX)
    }

    /// Messages that were delivered in the span.
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        let entries =
            self.run.iter().flat_map(|run| &run.outbox).chain(self.pairs.iter().flat_map(|pair| &pair.outbox));
        entries.filter(|entry| self.in_span(entry.delivered_at.unwrap_or(entry.prepared_at)))
    }

    fn limits(&self) -> Vec<LimitSpan> {
        let mut limits: Vec<LimitSpan> = Vec::new();
        for event in &self.events {
            match event.kind {
                EventKind::ChecklistPaused | EventKind::PairPaused if event.reason.as_deref() == Some("limit") => {
                    limits.push(LimitSpan { side: None, from: event.at, to: None });
                }
                EventKind::ChecklistResumed
                | EventKind::PairResumed
                | EventKind::ChecklistStopped
                | EventKind::PairStopped => {
                    if let Some(open) = limits.last_mut().filter(|limit| limit.to.is_none()) {
                        open.to = Some(event.at);
                    }
                }
                _ => {}
            }
        }
        limits.retain(|limit| limit.from <= self.until && limit.to.is_none_or(|to| to > self.since));
        for limit in &mut limits {
            limit.side = self.at_limit(limit);
        }
        limits
    }

    /// Which agent was at its limit then: its state was told around that time.
    fn at_limit(&self, limit: &LimitSpan) -> Option<String> {
        const AROUND: SignedDuration = SignedDuration::from_mins(1);
        let begin = limit.from.checked_sub(AROUND).unwrap_or(limit.from);
        let end = limit.to.unwrap_or(self.until);
        let told = self
            .states
            .iter()
            .find(|event| event.reason.as_deref() == Some("limit") && event.at >= begin && event.at <= end)?;
        let sides = [&self.view.implementer, &self.view.reviewer];
        sides
            .into_iter()
            .find(|side| Some(&side.session.session_id) == told.session_id.as_ref())
            .map(|side| side.label.clone())
    }

    fn near_misses(&self) -> Vec<String> {
        let mut ends = Vec::new();
        for pair in &self.pairs {
            let asked: Vec<&Entry> = pair
                .outbox
                .iter()
                .filter(|entry| entry.purpose == Purpose::Clarify && self.in_span(entry.prepared_at))
                .collect();
            let left: Vec<Timestamp> = self
                .events
                .iter()
                .filter(|event| {
                    event.kind == EventKind::PairPaused
                        && event.reason.as_deref() == Some("near_miss")
                        && event.pair_id.as_ref() == Some(&pair.id)
                        && self.in_span(event.at)
                })
                .map(|event| event.at)
                .collect();
            for (at, entry) in asked.iter().enumerate() {
                let next = asked.get(at + 1).map(|next| next.prepared_at);
                let before_next = |time: Timestamp| next.is_none_or(|next| time < next);
                let was_left = left.iter().any(|time| *time >= entry.prepared_at && before_next(*time));
                let went_on = pair.rounds.iter().any(|round| round.at > entry.prepared_at && before_next(round.at));
                let agreed = pair.stop_reason == Some(PairStop::Lgtm) && pair.accepted_by.is_none();
                ends.push(match (was_left, went_on, agreed && next.is_none()) {
                    (true, ..) => "asked, then left to you",
                    (false, true, _) => "asked, then more feedback",
                    (false, false, true) => "asked, then agreed",
                    (false, false, false) => "asked",
                });
            }
            // A pause without a question before it: the settings say so.
            let unasked = left.iter().filter(|time| !asked.iter().any(|entry| entry.prepared_at <= **time)).count();
            ends.extend(std::iter::repeat_n("left to you", unasked));
        }
        ends.into_iter().map(str::to_owned).collect()
    }

    fn pauses(&self) -> Vec<(Timestamp, PauseReason)> {
        let paused = |event: &&&Event| {
            matches!(event.kind, EventKind::ChecklistPaused | EventKind::PairPaused) && self.in_span(event.at)
        };
        let reason = |event: &&Event| {
            let name = event.reason.clone()?;
            let reason: PauseReason = serde_json::from_value(name.into()).ok()?;
            let counts = !matches!(reason, PauseReason::Manual | PauseReason::Limit | PauseReason::NearMiss);
            counts.then_some((event.at, reason))
        };
        self.events.iter().filter(paused).filter_map(reason).collect()
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
