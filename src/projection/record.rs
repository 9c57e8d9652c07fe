//! One run, or one pair without a run, as a row and as a page: standing, sentence, stage, counts. Banners are apart.

use jiff::{SignedDuration, Timestamp};

use super::facts::{Facts, RecordFacts, SessionFacts};
use super::words::{self, Labels};
use super::{DeliveryView, LookFirst, PhaseView, RunView, Settings, SideView, Stage, Standing};
use super::{banner, phases, reviews};
use crate::machine::{By, Wait};
use crate::model::conversation::{Answer, Conversation};
use crate::model::ids::{RecordKey, Role, SessionRef};
use crate::model::outbox::{Entry, EntryState, Purpose};
use crate::model::pair::{PairRecord, PairState, PairStep, PairStop, PauseReason};
use crate::model::reach::Ticks;
use crate::model::run::{After, AttemptStatus, RunRecord, RunState, RunStep, RunStop};
use crate::model::session::{Need, SessionState};

/// The view of one record; `None` only when it holds neither a run nor a pair.
#[must_use]
pub fn view(record: &RecordFacts<'_>, facts: &Facts<'_>) -> Option<RunView> {
    let key = record.key()?;
    let labels = labels(record)?;
    let banner = banner::banner(record, &labels, facts);
    let standing = standing(record, banner.is_some());
    let (implementer, reviewer) = sessions(record)?;
    let (relays, max_relays) = relays(record);
    let mut wait = record.wait.clone();
    if let (Some(at), true) = (limit_end(record), standing == Standing::Limit) {
        wait.ends = format!("goes on at {}", words::moment(at, facts.now, facts.zone));
    }
    if let Some(why) = record.unsaved {
        wait = for_the_disk(why);
    }
    // What changed last is what its time is of.
    wait.since = banner::gone_since(record, &labels, facts).or(wait.since);
    if let (Some(plan), true) = (&record.plan, standing == Standing::Paused) {
        wait.what = format!("going on: {}", banner::planned(record, &labels, facts, plan));
    }
    let mut view = RunView {
        revision: revision(record),
        given_name: record.run.map_or_else(String::new, |run| run.name.trim().to_owned()),
        name: name(record, &key, implementer),
        standing,
        state_word: String::new(),
        since: since(record),
        sentence: String::new(),
        stage: stage(record),
        phase: record.run.map(phase),
        phase_asked: record.run.is_some_and(|run| is_asked_only(run, record, facts.now)),
        phases_expected: record.run.and_then(|run| run.config.phases),
        relays,
        max_relays,
        phases: record.run.map(|run| phase_views(run, record)).unwrap_or_default(),
        relay_list: reviews::relay_list(record),
        reviews: reviews::reviews(record),
        open_points: reviews::open_points(record),
        implementer: side(implementer, &labels, Role::Implementer, record.implementer),
        reviewer: side(reviewer, &labels, Role::Reviewer, record.reviewer),
        banner,
        look_first: look_first(record),
        delivery: delivery(record),
        impossible: record.impossible.clone(),
        first_wait: first_wait(record),
        unreviewed: unreviewed(record),
        read_only: None,
        settings: settings(record)?,
        created_at: created_at(record)?,
        stopped_at: stopped_at(record),
        stop_words: stop_words(record),
        wait,
        key,
    };
    view.state_word = state_word(&view);
    view.sentence = sentence(record, &labels, &view, facts);
    Some(view)
}

/// Whatever it waited for: nothing comes of that before the record is on the disk.
fn for_the_disk(why: &str) -> Wait {
    Wait {
        who: "waits for the disk".to_owned(),
        what: why.to_owned(),
        ends: "ends when it can be saved, which is tried again and again".to_owned(),
        by: By::Itself,
        ..Wait::default()
    }
}

impl RunView {
    /// The word by which its reviewer agrees.
    #[must_use]
    pub fn stop_signal(&self) -> &str {
        match &self.settings {
            Settings::Run(config) => &config.review_stop_signal,
            Settings::Pair(config) => &config.stop_signal,
        }
    }
}

/// The names of its sides.
#[must_use]
pub fn labels(record: &RecordFacts<'_>) -> Option<Labels> {
    let (implementer, reviewer) = sessions(record)?;
    Some(Labels::of(implementer, reviewer))
}

/// Both sides' sessions.
#[must_use]
pub fn sessions<'a>(record: &RecordFacts<'a>) -> Option<(&'a SessionRef, &'a SessionRef)> {
    match (record.run, record.pair) {
        (Some(run), _) => Some((&run.implementer, &run.reviewer)),
        (None, Some(pair)) => Some((&pair.implementer, &pair.reviewer)),
        (None, None) => None,
    }
}

/// Why it is paused: the run's reason, else that of its pair.
#[must_use]
pub fn pause_reason(record: &RecordFacts<'_>) -> Option<PauseReason> {
    if let Some(run) = record.run {
        match run.state {
            RunState::Paused => return run.paused_reason,
            RunState::Stopped => return None,
            RunState::Running => {}
        }
    }
    let pair = record.pair?;
    (pair.state == PairState::Paused).then_some(pair.paused_reason).flatten()
}

/// When a limit that paused it ends, if it goes on by itself then.
#[must_use]
pub fn limit_end(record: &RecordFacts<'_>) -> Option<Timestamp> {
    let of_run = record.run.filter(|run| run.state == RunState::Paused);
    let (limit, by_itself) = match (of_run, record.pair) {
        (Some(run), _) => (run.limit.as_ref(), run.config.resume_after_limit),
        (None, Some(pair)) => (pair.limit.as_ref(), pair.config.resume_after_limit),
        (None, None) => (None, false),
    };
    limit.and_then(|limit| limit.resets_at).filter(|_| by_itself)
}

/// The message that is not yet delivered: the run's own, else the pair's.
#[must_use]
pub fn open_entry<'a>(record: &RecordFacts<'a>) -> Option<&'a Entry> {
    record.run.and_then(RunRecord::open_entry).or_else(|| record.pair.and_then(PairRecord::open_entry))
}

/// Which side is at work or waited for.
#[must_use]
pub fn awaited_side(record: &RecordFacts<'_>) -> Role {
    match record.pair.and_then(|pair| pair.step) {
        Some(PairStep::AwaitReviewer) => Role::Reviewer,
        Some(PairStep::ConfirmRelay) => record
            .pair
            .and_then(|pair| pair.pending_confirm.as_ref())
            .map_or(Role::Implementer, |confirm| confirm.target),
        Some(PairStep::AwaitImplementer) | None => Role::Implementer,
    }
}

/// Whether a tick is missing at the target of a message that could otherwise go out.
#[must_use]
pub fn held(record: &RecordFacts<'_>) -> Option<String> {
    let entry = open_entry(record)?;
    let side = record.side(entry.target)?;
    if side.sending || entry.state != EntryState::Prepared || entry.by_hand {
        return None;
    }
    let free = !matches!(side.state, Some(SessionState::Working { .. }) | None);
    let reach = side.reach.as_ref()?;
    reach.ticks.missing().filter(|_| free || entry.attempts > 0).map(str::to_owned)
}

fn revision(record: &RecordFacts<'_>) -> u64 {
    record.run.map(|run| run.revision).or_else(|| record.pair.map(|pair| pair.revision)).unwrap_or_default()
}

fn name(record: &RecordFacts<'_>, key: &RecordKey, implementer: &SessionRef) -> String {
    let given = record.run.map_or("", |run| run.name.as_str());
    words::run_name(given, &implementer.worktree).unwrap_or_else(|| key.as_str()).to_owned()
}

fn standing(record: &RecordFacts<'_>, needs_you: bool) -> Standing {
    if let Some(run) = record.run.filter(|run| run.state == RunState::Stopped) {
        return match run.stop_reason {
            Some(RunStop::Completed) => Standing::Done,
            Some(RunStop::PeerError | RunStop::ServerRestarted) => Standing::Failed,
            Some(RunStop::Manual | RunStop::SessionTrashed) | None => Standing::Ended,
        };
    }
    if let Some(pair) = record.pair.filter(|pair| record.run.is_none() && pair.state == PairState::Stopped) {
        return match pair.stop_reason {
            Some(PairStop::Lgtm) => Standing::Done,
            Some(PairStop::PeerError) => Standing::Failed,
            Some(PairStop::MaxRounds | PairStop::Manual | PairStop::SessionTrashed) | None => Standing::Ended,
        };
    }
    match pause_reason(record) {
        Some(PauseReason::Manual) => Standing::Paused,
        Some(PauseReason::Limit) if limit_end(record).is_some() => Standing::Limit,
        Some(_) => Standing::NeedsYou,
        None if needs_you || is_looked_at(record) => Standing::NeedsYou,
        None if waits_for_prompt(record) => Standing::Waits,
        None => Standing::Going,
    }
}

fn is_looked_at(record: &RecordFacts<'_>) -> bool {
    record.pair.is_some_and(|pair| pair.state == PairState::Running && pair.pending_confirm.is_some())
}

/// It waits for a side that nobody has prompted.
fn waits_for_prompt(record: &RecordFacts<'_>) -> bool {
    if open_entry(record).is_some() || is_working(record.side(awaited_side(record))) {
        return false;
    }
    match record.run {
        Some(run) if run.step == Some(RunStep::Probe) => {
            (run.awaited.is_none() || run.open_wait.is_some()) && !answers_already(run, record)
        }
        Some(run) if run.step == Some(RunStep::Advance) => false,
        Some(_) | None => record.pair.is_some_and(|pair| pair.open_wait.is_some()),
    }
}

fn is_working(side: Option<&SessionFacts>) -> bool {
    side.is_some_and(|side| matches!(side.state, Some(SessionState::Working { .. })))
}

/// Whether the builder has an answer that is about to be taken as the phase: nobody's move then.
fn answers_already(run: &RunRecord, record: &RecordFacts<'_>) -> bool {
    let newest = record.conversation(Role::Implementer).and_then(Conversation::newest);
    let after = run.open_wait.as_ref().map_or(run.baseline_turn_id.as_ref(), |wait| wait.after_turn_id.as_ref());
    newest.is_some_and(|turn| turn.is_answered() && Some(&turn.id) != after)
}

fn first_wait(record: &RecordFacts<'_>) -> bool {
    record.run.is_some_and(|run| {
        run.state == RunState::Running
            && run.step == Some(RunStep::Probe)
            && run.after == After::Start
            && run.phases.is_empty()
            && run.entries_made == 0
            && run.outbox.is_empty()
            // What ends by itself is not the person's move.
            && record.wait.deadline.is_none()
            && !is_working(record.implementer)
            && !answers_already(run, record)
    })
}

/// Whether the builder's newest answer is another one than the reviewer judged, or is being judged still.
#[must_use]
pub fn unreviewed(record: &RecordFacts<'_>) -> bool {
    let Some(pair) = record.pair else { return false };
    let judging = pair.is_active()
        && pair.step == Some(PairStep::AwaitReviewer)
        && pair.paused_reason != Some(PauseReason::NearMiss);
    judging || newest_unreviewed(record, pair).is_some()
}

/// The builder's newest answer, where it is not the one that went to the reviewer last.
#[must_use]
pub fn newest_unreviewed<'a>(record: &RecordFacts<'a>, pair: &PairRecord) -> Option<&'a Answer> {
    let turns = &record.conversation(Role::Implementer)?.turns;
    let newest = turns.iter().rev().find(|turn| turn.is_answered())?;
    let answer = newest.answer.as_ref()?;
    let seen = pair.reviewed.as_ref().is_some_and(|id| id.turn_id == newest.id && id.message_id == answer.message_id);
    (!seen).then_some(answer)
}

fn since(record: &RecordFacts<'_>) -> Timestamp {
    let stopped = stopped_at(record);
    let paused = record
        .run
        .filter(|run| run.state == RunState::Paused)
        .and_then(|run| run.paused_at)
        .or_else(|| record.pair.filter(|pair| pair.state == PairState::Paused).and_then(|pair| pair.paused_at));
    stopped
        .or(paused)
        .or(record.wait.since)
        .or_else(|| last_moved(record))
        .or_else(|| created_at(record))
        .unwrap_or(Timestamp::UNIX_EPOCH)
}

/// When its records tell of the last step: a message that was seen, an attempt that began or ended.
fn last_moved(record: &RecordFacts<'_>) -> Option<Timestamp> {
    let of_run = record.run.map(|run| run.outbox.as_slice()).unwrap_or_default();
    let of_pair = record.pair.map(|pair| pair.outbox.as_slice()).unwrap_or_default();
    let seen = of_run.iter().chain(of_pair).filter_map(|entry| entry.delivered_at);
    let rounds = record.pair.iter().flat_map(|pair| &pair.rounds).map(|round| round.at);
    let attempts = record.run.iter().flat_map(|run| &run.phases);
    let attempts = attempts.flat_map(|attempt| [Some(attempt.started_at), attempt.ended_at]).flatten();
    seen.chain(rounds).chain(attempts).chain(created_at(record)).max()
}

fn created_at(record: &RecordFacts<'_>) -> Option<Timestamp> {
    record.run.map(|run| run.created_at).or_else(|| record.pair.map(|pair| pair.created_at))
}

fn stopped_at(record: &RecordFacts<'_>) -> Option<Timestamp> {
    match (record.run, record.pair) {
        (Some(run), _) => run.stopped_at,
        (None, Some(pair)) => pair.stopped_at,
        (None, None) => None,
    }
}

fn stop_words(record: &RecordFacts<'_>) -> String {
    match (record.run, record.pair) {
        (Some(run), _) => run.stop_reason.map(words::run_stop).unwrap_or_default().to_owned(),
        (None, Some(pair)) => pair
            .stop_reason
            .map(|stop| words::pair_stop(stop, pair.accepted_by.as_deref(), pair.round_count))
            .unwrap_or_default(),
        (None, None) => String::new(),
    }
}

fn settings(record: &RecordFacts<'_>) -> Option<Settings> {
    match (record.run, record.pair) {
        (Some(run), _) => Some(Settings::Run(Box::new(run.config.clone()))),
        (None, Some(pair)) => Some(Settings::Pair(Box::new(pair.config.clone()))),
        (None, None) => None,
    }
}

fn state_word(view: &RunView) -> String {
    let word = match view.standing {
        Standing::NeedsYou if view.look_first.is_some() && view.banner.as_ref().is_none_or(|b| b.reason.is_none()) => {
            "look first"
        }
        Standing::NeedsYou => "needs you",
        Standing::Going | Standing::Waits => "going",
        Standing::Limit => "limit",
        Standing::Paused => "paused",
        Standing::Done => "done",
        Standing::Ended => "stopped",
        Standing::Failed => "failed",
    };
    word.to_owned()
}

fn sentence(record: &RecordFacts<'_>, labels: &Labels, view: &RunView, facts: &Facts<'_>) -> String {
    match view.standing {
        Standing::Done | Standing::Ended | Standing::Failed => match record.run {
            Some(run) => format!("{} · {}", words::count(run.phases_done, "phase"), view.stop_words),
            None => view.stop_words.clone(),
        },
        Standing::Paused => words::pause(PauseReason::Manual).to_owned(),
        Standing::Limit => {
            let who = labels.side(awaited_side(record));
            let back = limit_end(record).map(|at| words::moment(at, facts.now, facts.zone)).unwrap_or_default();
            format!("{who} at its limit · back {back}")
        }
        Standing::NeedsYou => match (&view.banner, &view.look_first) {
            (Some(banner), _) => banner.headline.clone(),
            (None, Some(look)) => format!("look at relay {} to {}", look.n, labels.side(look.to)),
            (None, None) => view.wait.who.clone(),
        },
        Standing::Going | Standing::Waits => {
            // A message on its way says itself what it is.
            let counted = record.pair.is_some_and(PairRecord::is_active) && view.relays > 0 && view.delivery.is_none();
            if counted {
                let idle = view.stage == Some(Stage::Review) && reviews::carries_no_edit(record);
                let remark = if idle { " · no file was changed" } else { "" };
                format!("{} · relay {} of {}{remark}", view.wait.who, view.relays, view.max_relays)
            } else {
                view.wait.who.clone()
            }
        }
    }
}

fn stage(record: &RecordFacts<'_>) -> Option<Stage> {
    if stopped_at(record).is_some() {
        return None;
    }
    match record.run.and_then(|run| run.step) {
        Some(RunStep::Advance) => return Some(Stage::Ask),
        Some(RunStep::Probe) => {
            // Its answer is the end of its work, until it is taken as the phase.
            let builds = |run| is_working(record.implementer) || answers_already(run, record);
            return Some(if record.run.is_some_and(builds) { Stage::Build } else { Stage::Ask });
        }
        Some(RunStep::Review) | None => {}
    }
    // What goes to the reviewer is its work already, also while it is on its way.
    if open_entry(record).is_some_and(|entry| entry.target == Role::Reviewer && entry.purpose != Purpose::User) {
        return Some(Stage::Review);
    }
    Some(match awaited_side(record) {
        Role::Implementer => Stage::Build,
        Role::Reviewer => Stage::Review,
    })
}

fn phase(run: &RunRecord) -> u32 {
    match (run.state, run.attempt()) {
        (RunState::Stopped, Some(attempt)) => attempt.n,
        (_, Some(attempt)) if !ends_a_phase(attempt.status) => attempt.n,
        _ => run.phases_done.saturating_add(1),
    }
}

/// Whether the phase now is one that the builder was asked for and that may not exist.
fn is_asked_only(run: &RunRecord, record: &RecordFacts<'_>, now: Timestamp) -> bool {
    /// Who says that no phase is left says it at once.
    const WORKS: SignedDuration = SignedDuration::from_secs(60);
    if !run.is_active() || run.attempt().is_none_or(|attempt| !ends_a_phase(attempt.status)) {
        return false;
    }
    let newest = record.conversation(Role::Implementer).and_then(Conversation::newest);
    // Its end makes a turn no less work, until it is taken as the phase.
    let builds = newest.filter(|turn| Some(&turn.id) != run.baseline_turn_id.as_ref()).is_some_and(|turn| {
        let until = turn.ended_at.filter(|_| turn.outcome.is_some()).unwrap_or(now);
        turn.edited_files || turn.prompt.record.at.is_some_and(|at| until.duration_since(at) >= WORKS)
    });
    match run.step {
        Some(RunStep::Advance) => true,
        Some(RunStep::Probe) => !builds,
        Some(RunStep::Review) | None => false,
    }
}

const fn ends_a_phase(status: AttemptStatus) -> bool {
    matches!(status, AttemptStatus::Converged | AttemptStatus::Skipped)
}

fn relays(record: &RecordFacts<'_>) -> (u32, u32) {
    let live = record.pair.filter(|pair| {
        record.run.is_none_or(|run| {
            run.step == Some(RunStep::Review)
                || run.attempt().is_some_and(|attempt| attempt.status == AttemptStatus::NotConverged)
        }) || pair.is_active()
    });
    match (live, record.run) {
        (Some(pair), _) => (pair.round_count, pair.config.max_rounds),
        (None, Some(run)) => (0, run.config.max_rounds),
        (None, None) => (0, 0),
    }
}

fn phase_views(run: &RunRecord, record: &RecordFacts<'_>) -> Vec<PhaseView> {
    let needs = pause_reason(record).is_some_and(|reason| reason != PauseReason::Manual);
    let tried = phases::tried(run, &record.pairs);
    let newest = tried.len();
    tried
        .into_iter()
        .enumerate()
        .map(|(at, phase)| PhaseView {
            n: phase.last.n,
            status: phase.last.status,
            by_user: phase.by_user(),
            reviewed: phase.last.reviewed,
            summary: phase.summary(),
            relays: phase.relays,
            started_at: phase.since(),
            ended_at: phase.last.ended_at,
            needs_you: needs && at + 1 == newest && !ends_a_phase(phase.last.status) && run.is_active(),
        })
        .collect()
}

fn side(session: &SessionRef, labels: &Labels, role: Role, facts: Option<&SessionFacts>) -> SideView {
    let reach = facts.and_then(|facts| facts.reach.as_ref());
    SideView {
        session: session.clone(),
        label: labels.side(role).to_owned(),
        state: facts.and_then(|facts| facts.state.clone()).unwrap_or(SessionState::NeedsYou(Need::AwaitingInput)),
        place: reach.map(|reach| reach.place.clone()).unwrap_or_default(),
        transport: reach.and_then(|reach| reach.transport),
    }
}

fn ticks(side: Option<&SessionFacts>) -> Option<Ticks> {
    side.and_then(|side| side.reach.as_ref()).map(|reach| reach.ticks.clone())
}

fn look_first(record: &RecordFacts<'_>) -> Option<LookFirst> {
    let pair = record.pair.filter(|pair| pair.is_active())?;
    let confirm = pair.pending_confirm.as_ref()?;
    Some(LookFirst {
        n: pair.round_count.saturating_add(1),
        source: format!("{} {}", confirm.source_turn_id, confirm.source_message_id),
        to: confirm.target,
        text: confirm.text.inline.clone(),
        ticks: ticks(record.side(confirm.target)),
        since: record.wait.since.unwrap_or(pair.created_at),
    })
}

fn delivery(record: &RecordFacts<'_>) -> Option<DeliveryView> {
    let entry = open_entry(record)?;
    Some(DeliveryView {
        purpose: entry.purpose,
        to: entry.target,
        state: entry.state,
        held: held(record).or_else(|| (!record.wait.what.is_empty()).then(|| record.wait.what.clone())),
        text: wire_text(entry),
        ticks: ticks(record.side(entry.target)),
        by_hand: entry.by_hand,
    })
}

fn wire_text(entry: &Entry) -> std::sync::Arc<str> {
    entry.sent_text.as_deref().map_or_else(|| entry.text.inline.clone(), std::sync::Arc::from)
}

/// Whether the entry counts as a relay and which one it would be.
#[must_use]
pub fn relay_number(entry: &Entry, pair: &PairRecord) -> Option<u32> {
    let counts = matches!(entry.purpose, Purpose::ToReviewer | Purpose::ToImplementer);
    (counts && entry.is_open()).then(|| pair.round_count.saturating_add(1))
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
