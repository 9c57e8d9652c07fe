//! `trellis run list` and `trellis run show`: how the runs of a home stand, for people and as JSON.
//! Reads records only; whether a run moves right now is the driver's knowledge.

use std::fmt::Write as _;
use std::path::Path;

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{Failure, out};
use crate::boot;
use crate::clock;
use crate::driver::ports::{Loaded, ReadOnly};
use crate::model::ids::RecordKey;
use crate::model::outbox::{Entry, EntryState};
use crate::model::pair::{PairRecord, PauseReason};
use crate::model::run::{AttemptStatus, RunRecord, RunState, RunStep};
use crate::projection::phases::{self, Tried};
use crate::projection::words;
use crate::projection::{Projection, RunView, Standing};

/// Names the runs of the home, newest first.
///
/// # Errors
/// The home cannot be read.
pub fn list(home: Option<&Path>, json: bool) -> Result<(), Failure> {
    let ground = boot::Ground::find(home)?;
    if !home_is_there(&ground) {
        return if json { out::line("[]") } else { Ok(()) };
    }
    let loaded = ground.records();
    for notice in &loaded.notices {
        out::note(notice);
    }
    let (runs, now) = (newest_first(&loaded), ground.glance());
    let others: Vec<&ReadOnly> =
        loaded.read_only.iter().filter(|other| matches!(other.key, RecordKey::Run(_))).collect();
    if json {
        let rows: Vec<Value> = runs
            .iter()
            .map(|run| row(run, &loaded, &now))
            .chain(others.iter().map(|other| foreign_row(other)))
            .collect();
        return out::json(&rows);
    }
    if runs.is_empty() && others.is_empty() {
        return out::line("no runs yet; trellis run start begins one, trellis demo shows one");
    }
    let width = runs.iter().map(|run| run.id.as_str().len()).max().unwrap_or(0);
    for run in runs {
        let (state, id) = (state_words(run, &loaded, &now), run.id.as_str());
        let words = format!("{id:width$}  {:<28}  phase {:<3}  {}", state, phase(run), title(run, &loaded));
        out::line(&out::plain(&words))?;
    }
    for other in others {
        let words = format!("{}  {}: {}", other.key.as_str(), other.cause.word(), other.sentence());
        out::line(&out::plain(&words))?;
    }
    Ok(())
}

/// Whether the home exists; where it does not, that is said beside what is printed.
#[must_use]
pub fn home_is_there(ground: &boot::Ground) -> bool {
    let is_there = ground.home.root().exists();
    if !is_there {
        out::note(&format!("there is no trellis home at {}", ground.home.root().display()));
    }
    is_there
}

/// Says how a run stands.
///
/// # Errors
/// There is no such run, or the home cannot be read.
pub fn show(home: Option<&Path>, id: &str, json: bool) -> Result<(), Failure> {
    let ground = boot::Ground::find(home)?;
    let loaded = ground.records();
    let run = find(&loaded, id)?;
    let pairs = loaded.pairs_of(run);
    if json {
        return out::json(&json!({"run": run, "pairs": pairs}));
    }
    out::text(&described(run, &pairs, &loaded, &ground.glance()))
}

/// The run that an id, the beginning of one, or a name says.
///
/// # Errors
/// None or several.
pub fn find<'a>(loaded: &'a Loaded, id: &str) -> Result<&'a RunRecord, Failure> {
    if let Some(run) = loaded.runs.iter().find(|run| run.id.as_str() == id) {
        return Ok(run);
    }
    let by_id: Vec<&RunRecord> =
        loaded.runs.iter().filter(|run| !id.is_empty() && run.id.as_str().starts_with(id)).collect();
    let fitting =
        if by_id.is_empty() { loaded.runs.iter().filter(|run| title(run, loaded) == id).collect() } else { by_id };
    match fitting.as_slice() {
        [run] => Ok(run),
        [_, _, ..] => Err(Failure::refused(format!("several runs are {id}; give one's id"))),
        [] => Err(match loaded.read_only.iter().find(|other| other.key.as_str() == id) {
            Some(other) => Failure::refused(format!("{id} is shown only: {}", other.sentence())),
            None => Failure::refused(format!("there is no run {id}; trellis run list names them")),
        }),
    }
}

fn newest_first(loaded: &Loaded) -> Vec<&RunRecord> {
    let mut runs: Vec<&RunRecord> = loaded.runs.iter().collect();
    runs.sort_by(|a, b| (b.created_at, b.id.as_str()).cmp(&(a.created_at, a.id.as_str())));
    runs
}

fn row(run: &RunRecord, loaded: &Loaded, now: &Projection) -> Value {
    json!({
        "id": run.id, "revision": view(run, now).map(|view| view.revision), "name": run.name, "state": run.state,
        "step": run.step, "paused_reason": pause(run, loaded), "needs_you": need(run, now),
        "stop_reason": run.stop_reason, "phases_done": run.phases_done, "created_at": run.created_at,
        "stopped_at": run.stopped_at, "implementer": run.implementer, "reviewer": run.reviewer, "read_only": null,
    })
}

/// A record that this version does not drive: its name and why.
fn foreign_row(other: &ReadOnly) -> Value {
    json!({
        "id": other.key.as_str(), "revision": null, "name": other.value.get("name"), "state": null, "step": null,
        "paused_reason": null, "needs_you": null, "stop_reason": null, "phases_done": null, "created_at": null,
        "stopped_at": null, "implementer": null, "reviewer": null, "read_only": other.sentence(),
    })
}

/// Its own pause, or its pair's.
fn pause(run: &RunRecord, loaded: &Loaded) -> Option<PauseReason> {
    let pair = run.current_pair_id.as_ref().and_then(|id| loaded.pairs.iter().find(|pair| pair.id == *id));
    run.paused_reason.or_else(|| pair.and_then(|pair| pair.paused_reason)).filter(|_| run.is_active())
}

fn view<'a>(run: &RunRecord, now: &'a Projection) -> Option<&'a RunView> {
    now.runs.iter().find(|view| matches!(&view.key, RecordKey::Run(id) if *id == run.id))
}

/// What it needs a person for, in the words of the status; `None`: nobody is needed.
fn need<'a>(run: &RunRecord, now: &'a Projection) -> Option<&'a str> {
    let view = view(run, now)?;
    (view.standing == Standing::NeedsYou).then_some(view.sentence.as_str())
}

fn state_words(run: &RunRecord, loaded: &Loaded, now: &Projection) -> String {
    if let Some(why) = need(run, now) {
        return format!("needs you: {why}");
    }
    match (run.state, pause(run, loaded)) {
        (RunState::Stopped, _) => run.stop_reason.map_or("stopped", words::run_stop).to_owned(),
        (_, Some(PauseReason::Manual)) => words::pause(PauseReason::Manual).to_owned(),
        (_, Some(reason)) => format!("paused: {}", words::pause(reason)),
        (RunState::Paused, None) => "paused".to_owned(),
        (RunState::Running, None) => match run.step {
            Some(RunStep::Review) => "in review".to_owned(),
            Some(RunStep::Advance) if run.phases.is_empty() => "asks for the phase".to_owned(),
            Some(RunStep::Advance) => "asks for the next phase".to_owned(),
            Some(RunStep::Probe) | None => "waits for the phase".to_owned(),
        },
    }
}

fn phase(run: &RunRecord) -> u32 {
    run.attempt().map_or(run.phases_done + u32::from(run.is_active()), |attempt| {
        if run.is_active() { attempt.n.max(run.phases_done) } else { run.phases_done }
    })
}

/// What the screen calls it too: its name, else its folder's, with a number where older ones are called the same.
fn title(run: &RunRecord, loaded: &Loaded) -> String {
    let name = own_name(run);
    let alone = |pair: &&PairRecord| !loaded.runs.iter().any(|run| pair.id.is_of(&run.id));
    let pairs = loaded.pairs.iter().filter(alone).map(|pair| {
        (words::run_name("", &pair.implementer.worktree).unwrap_or(pair.id.as_str()), pair.created_at, pair.id.as_str())
    });
    let runs = loaded.runs.iter().map(|run| (own_name(run), run.created_at, run.id.as_str()));
    let older =
        runs.chain(pairs).filter(|(other, at, id)| *other == name && (*at, *id) < (run.created_at, run.id.as_str()));
    words::numbered(name, older.count())
}

fn own_name(run: &RunRecord) -> &str {
    words::run_name(&run.name, &run.implementer.worktree).unwrap_or_else(|| run.id.as_str())
}

fn described(run: &RunRecord, pairs: &[&PairRecord], loaded: &Loaded, now: &Projection) -> String {
    let mut text = String::new();
    let mut line = |words: &str| {
        let _ = writeln!(text, "{}", out::plain(words));
    };
    line(&format!("{}  {}", run.id, title(run, loaded)));
    let done = if run.phases_done == 1 { "phase" } else { "phases" };
    line(&format!("{}, {} {done} done", state_words(run, loaded, now), run.phases_done));
    if !run.paused_detail.is_empty() && run.is_active() {
        line(&run.paused_detail);
    }
    for (side, does) in [(&run.implementer, "builds"), (&run.reviewer, "reviews")] {
        line(&format!("{:<6} {does:<7}  {}   {}", side.agent.as_str(), side.session_id, side.worktree));
    }
    let (now, zone) = (clock::now(), TimeZone::system());
    let began = words::moment(run.created_at, now, &zone);
    line(&match run.stopped_at {
        None => format!("began {began}, {} ago", words::span(now.duration_since(run.created_at))),
        Some(at) => {
            let took = words::span(at.duration_since(run.created_at));
            format!("began {began}, ended {} after {took}", words::moment(at, now, &zone))
        }
    });
    for phase in phases::tried(run, pairs) {
        line(&phase_words(&phase));
    }
    let entries = pairs.iter().flat_map(|pair| &pair.outbox).chain(&run.outbox);
    for entry in entries.filter(|entry| entry.is_open()) {
        line(&format!("on its way: {} to the {}, {}", entry.id, role(entry), state(entry)));
    }
    text
}

fn phase_words(phase: &Tried<'_>) -> String {
    let how = match (phase.how(), phase.last.status) {
        (Some(how), _) => how.word(phase.last.reviewed),
        (None, AttemptStatus::Stopped) => "stopped",
        (None, AttemptStatus::Error) => "failed",
        (None, _) => "in review",
    };
    format!("  phase {:<3} {how}, {}: {}", phase.last.n, words::count(phase.relays, "relay"), phase.summary())
}

/// The side an entry goes to, as a word.
#[must_use]
pub fn role(entry: &Entry) -> &'static str {
    match entry.target {
        crate::model::ids::Role::Implementer => "implementer",
        crate::model::ids::Role::Reviewer => "reviewer",
    }
}

fn state(entry: &Entry) -> &'static str {
    match entry.state {
        EntryState::Prepared => "prepared",
        EntryState::Sent => "sent",
        EntryState::Queued => "queued",
        EntryState::Delivered => "delivered",
        EntryState::Withdrawn => "withdrawn",
        EntryState::Abandoned => "abandoned",
    }
}
