//! `trellis session …`: which sessions there are, how they stand and where, with the ids that `run start` takes; and how
//! one is reached. Looking is the viewer's; what may be chosen is the driver's judgement.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::drive::tell_problems;
use super::start::{known, refused, whole};
use super::{Failure, Named, ReachArgs, WayArg, out};
use crate::boot::{Engine, Ground, How};
use crate::clock;
use crate::model::command::{Command, Reply, SessionControl};
use crate::model::reach::Transport;
use crate::model::session::{Need, SessionState};
use crate::model::tempo::Tempo;
use crate::projection::{SessionView, words};

/// Older ones that do not live are counted only.
const LISTED: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Names the sessions: those that live first, then the newest.
///
/// # Errors
/// The home cannot be read.
pub fn list(place: &Named<'_>, json: bool) -> Result<(), Failure> {
    let engine = Engine::watch(Ground::of(place)?, Tempo::REAL)?;
    let looked = engine.block_on(engine.looked());
    let finished = engine.finish();
    let looked = looked?;
    let mut sessions: Vec<&SessionView> = looked.sessions.iter().collect();
    // Stable: within each part they stay newest first.
    sessions.sort_by_key(|session| !session.live);
    if json {
        out::json(&sessions.into_iter().map(as_json).collect::<Vec<_>>())?;
        return finished;
    }
    for line in lines(&sessions, clock::now()) {
        out::line(&out::plain(&line))?;
    }
    finished
}

/// Chooses how a session is reached.
///
/// # Errors
/// Refused, with the reason; or another process drives the home.
pub fn reach(place: &Named<'_>, args: ReachArgs) -> Result<(), Failure> {
    let ground = Ground::of(place)?;
    ground.refuse_if_driven()?;
    tell_problems(&ground);
    let session = whole(&args.session, &known(&ground, &ground.live_sessions()))?;
    let transport = match args.way {
        WayArg::Headless => Transport::Headless,
        WayArg::Tmux => Transport::Tmux,
    };
    let control = SessionControl::Reach { transport, permission_mode: args.permission_mode, model: args.model };
    let engine = Engine::start(ground, How::RecordOnly, Tempo::REAL)?;
    let order = Command::Session { session: session.clone(), control };
    let reply = engine.block_on(engine.handle.send(order));
    let said = match reply {
        Reply::Done { note, .. } => out::line(&out::plain(&format!("{session}: {note}"))),
        Reply::Refused(refusal) => Err(refused(&refusal)),
    };
    engine.finish().and(said)
}

fn as_json(view: &SessionView) -> Value {
    json!({
        "session": view.session.key().to_string(), "state": view.state.word(), "because": view.fact.because,
        "since": view.fact.since, "evidence": view.fact.evidence, "live": view.live, "place": view.place,
        "worktree": view.session.worktree, "title": view.title, "active_at": view.active_at,
        "permission_mode": view.launch.as_ref().and_then(|launch| launch.permission_mode.clone()),
        "model": view.launch.as_ref().and_then(|launch| launch.model.clone()),
        "used_by": view.used_by.as_ref().map(crate::model::ids::RecordKey::as_str),
    })
}

/// A table of those that live and those of the last days, then how many are older.
fn lines(sessions: &[&SessionView], now: Timestamp) -> Vec<String> {
    let is_listed =
        |view: &&&SessionView| view.live || view.active_at.is_some_and(|at| now.duration_since(at) <= LISTED);
    let listed: Vec<&SessionView> = sessions.iter().filter(is_listed).copied().collect();
    let older = sessions.len() - listed.len();
    let rows: Vec<[String; 5]> = listed.iter().map(|view| row(view, now)).collect();
    let wide = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths = [wide(0), wide(1), wide(2), wide(3)];
    let mut lines: Vec<String> = rows
        .iter()
        .zip(&listed)
        .map(|([key, state, age, place, folder], view)| {
            let [a, b, c, d] = widths;
            let because = reason(view).map(|because| format!(" · {because}")).unwrap_or_default();
            format!("{key:a$}  {state:b$}  {age:>c$}  {place:d$}  {folder}  {}{because}", words::quoted(&view.title))
        })
        .collect();
    if older > 0 {
        lines.push(format!("{} of more than 7 days ago; --json names all", words::count(u32_of(older), "session")));
    }
    if lines.is_empty() {
        lines.push("no session was found; start claude or codex and give it a first message".to_owned());
    }
    lines
}

fn u32_of(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn row(view: &SessionView, now: Timestamp) -> [String; 5] {
    let age = view.active_at.map(|at| words::span(now.duration_since(at))).unwrap_or_default();
    let place = if view.place.is_empty() { "–" } else { view.place.as_str() };
    let key = view.session.key().to_string();
    [key, state(&view.state).to_owned(), age, place.to_owned(), view.session.worktree.clone()]
}

/// Why a session needs a person, or is not there.
fn reason(view: &SessionView) -> Option<String> {
    let says = matches!(
        view.state,
        SessionState::NeedsYou(Need::NeedsApproval | Need::Error | Need::Limit) | SessionState::Gone
    );
    Some(words::quoted(&view.fact.because)).filter(|_| says && !view.fact.because.is_empty())
}

const fn state(state: &SessionState) -> &'static str {
    match state {
        SessionState::Working { .. } => "works",
        SessionState::Idle | SessionState::NeedsYou(Need::AwaitingInput) => "idle",
        SessionState::NeedsYou(Need::NeedsApproval) => "needs your approval",
        SessionState::NeedsYou(Need::Error) => "its turn failed",
        SessionState::NeedsYou(Need::Limit) => "at its limit",
        SessionState::Gone => "gone",
        SessionState::NotLooked => "not looked at",
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
