//! `trellis session …`: which sessions there are, how they stand and where, with the ids that `run start` takes; and how
//! one is reached. Looking is the viewer's; what may be chosen is the driver's judgement.

use std::sync::Arc;

use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::drive::tell_problems;
use super::order::{carry_out, words as words_of};
use super::start::{known, whole};
use super::{Failure, Named, ReachArgs, WayArg, out, session};
use crate::boot::{Engine, Ground};
use crate::clock;
use crate::model::command::{Command, Control, SessionControl};
use crate::model::ids::{RecordKey, Role, SessionKey, SessionRef};
use crate::model::reach::Transport;
use crate::model::session::{Need, SessionState};
use crate::model::tempo::Tempo;
use crate::projection::{Projection, SessionView, words};
use crate::serve::sessions::cut;

/// Older ones that do not live are counted only.
const LISTED: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Names the sessions: those that live first, then the newest.
///
/// # Errors
/// The home cannot be read.
pub fn list(place: &Named<'_>, json: bool) -> Result<(), Failure> {
    let (looked, finished) = look(Ground::of(place)?)?;
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

/// Says how one stands.
///
/// # Errors
/// There is no such session, or the home cannot be read.
pub fn show(place: &Named<'_>, of: &OfSession) -> Result<(), Failure> {
    let ground = Ground::of(place)?;
    let session = whole(&of.session, &known(&ground, &ground.live_sessions()))?;
    let (looked, finished) = look(ground)?;
    let view = looked.sessions.iter().find(|view| view.session.key() == session).ok_or_else(|| {
        Failure::refused(format!("there is no session {session}; `trellis session list` names those there are"))
    })?;
    if of.json {
        out::json(&as_json(view))?;
        return finished;
    }
    let now = clock::now();
    let [key, state, age, place, folder] = row(view, now);
    let mut lines =
        vec![format!("{key}  {}", words::quoted(&view.title)), format!("{state}, {age} ago, {place}, in {folder}")];
    lines.extend(Some(words::quoted(&view.fact.because)).filter(|_| !view.fact.because.is_empty()));
    lines.extend(view.used_by.as_ref().map(|record| format!("a side of {}", record.as_str())));
    lines.into_iter().try_for_each(|line| out::line(&out::plain(&line)))?;
    finished
}

/// Looks at all of them once. The second is how the look ended.
fn look(ground: Ground) -> Result<(Arc<Projection>, Result<(), Failure>), Failure> {
    let engine = Engine::watch(ground, Tempo::REAL)?;
    let looked = engine.block_on(engine.looked());
    let finished = engine.finish();
    Ok((looked?, finished))
}

/// Chooses how a session is reached.
///
/// # Errors
/// Refused, with the reason; or another process drives the home.
pub fn reach(place: &Named<'_>, args: ReachArgs) -> Result<(), Failure> {
    let ground = Ground::of(place)?;
    tell_problems(&ground);
    let transport = match args.way {
        WayArg::Headless => Transport::Headless,
        WayArg::Tmux => Transport::Tmux,
    };
    let control = SessionControl::Reach { transport, permission_mode: args.permission_mode, model: args.model };
    give(ground, &args.session, control, args.json)
}

/// `trellis session …`, orders.
#[derive(Debug, Subcommand)]
pub enum SessionOrder {
    /// Print its transcript: the newest entries, or those behind one.
    Transcript {
        /// Which: as `run start` takes it.
        #[arg(value_name = "AGENT:SESSION", value_parser = session)]
        session: SessionKey,
        /// Those behind the entry of this number.
        #[arg(long, value_name = "N")]
        after: Option<u64>,
        /// Entries at most, up to 500.
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u64,
        /// As JSON, as the socket gives it.
        #[arg(long)]
        json: bool,
    },
    /// Give it a name in trellis; an empty one takes it away.
    Rename {
        /// Which.
        #[command(flatten)]
        of: OfSession,
        /// The name.
        name: String,
    },
    /// Put it away: runs and pairs with it end, its own file stays.
    PutAway(OfSession),
    /// Take it back.
    TakeBack(OfSession),
    /// Resume it.
    BringBack(OfSession),
    /// Write to it through the run or pair it takes part in.
    Send {
        /// Which.
        #[command(flatten)]
        of: OfSession,
        /// The message; `-` reads standard input.
        #[arg(allow_hyphen_values = true)]
        text: String,
        /// The loop goes on after it.
        #[arg(long)]
        go_on: bool,
    },
}

/// Which session, and how the answer is told.
#[derive(Debug, Args)]
pub struct OfSession {
    /// `claude:SESSION` or `codex:SESSION`, the id or its beginning.
    #[arg(value_name = "AGENT:SESSION", value_parser = session)]
    pub session: SessionKey,
    /// The answer as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Says something about a session.
///
/// # Errors
/// It is not known, or it was refused.
pub fn order(place: &Named<'_>, order: SessionOrder) -> Result<(), Failure> {
    let ground = Ground::of(place)?;
    let (of, control) = match order {
        SessionOrder::Transcript { session, after, limit, json } => {
            return transcript(&ground, &session, after, limit, json);
        }
        SessionOrder::Rename { of, name } => (of, SessionControl::Rename { name }),
        SessionOrder::PutAway(of) => (of, SessionControl::PutAway),
        SessionOrder::TakeBack(of) => (of, SessionControl::TakeBack),
        SessionOrder::BringBack(of) => (of, SessionControl::BringBack),
        SessionOrder::Send { of, text, go_on } => return send(ground, &of, words_of(text)?, go_on),
    };
    give(ground, &of.session, control, of.json)
}

fn give(ground: Ground, wanted: &SessionKey, control: SessionControl, json: bool) -> Result<(), Failure> {
    let session = whole(wanted, &known(&ground, &ground.live_sessions()))?;
    let acts = matches!(control, SessionControl::BringBack).then_some("bring-back");
    let done = carry_out(ground, &Command::Session { session: session.clone(), control }, acts)?;
    tell(&session.to_string(), &done.note, json)
}

fn tell(id: &str, note: &str, json: bool) -> Result<(), Failure> {
    if json {
        return out::json(&json!({"id": id, "kind": "session", "note": note}));
    }
    out::line(&out::plain(&format!("{id}: {note}")))
}

/// A message to a session goes through the run or pair it is a side of.
fn send(ground: Ground, of: &OfSession, text: String, go_on: bool) -> Result<(), Failure> {
    let session = whole(&of.session, &known(&ground, &ground.live_sessions()))?;
    let side = |[implementer, reviewer]: [&SessionRef; 2]| {
        let is_it = |side: &SessionRef| side.key() == session;
        is_it(implementer).then_some(Role::Implementer).or_else(|| is_it(reviewer).then_some(Role::Reviewer))
    };
    let loaded = ground.records();
    let of_run = loaded
        .runs
        .iter()
        .filter(|run| run.is_active())
        .find_map(|run| Some((RecordKey::Run(run.id.clone()), side([&run.implementer, &run.reviewer])?)));
    let of_pair = || {
        loaded
            .pairs
            .iter()
            .filter(|pair| pair.is_active())
            .find_map(|pair| Some((RecordKey::Pair(pair.id.clone()), side([&pair.implementer, &pair.reviewer])?)))
    };
    let Some((target, side)) = of_run.or_else(of_pair) else {
        return Err(Failure::refused(format!(
            "{session} is in no run and no pair that goes on: nobody would see the message arrive; write it in its own window"
        )));
    };
    let command = Command::Control { target, expect: None, control: Control::Write { side, text, go_on } };
    let done = carry_out(ground, &command, None)?;
    tell(&session.to_string(), &done.note, of.json)
}

fn transcript(ground: &Ground, wanted: &SessionKey, after: Option<u64>, limit: u64, json: bool) -> Result<(), Failure> {
    let session = whole(wanted, &known(ground, &ground.live_sessions()))?;
    let asked = SessionRef { agent: session.agent, worktree: String::new(), session_id: session.session_id.clone() };
    let read = ground.transcript(&asked)?;
    let Some(conversation) = read else {
        return Err(Failure::refused(format!(
            "{session} has no transcript; `trellis session list` names those there are"
        )));
    };
    let page = cut(&session, &conversation, after, limit);
    if json {
        return out::json(&page);
    }
    for entry in page.get("entries").and_then(Value::as_array).into_iter().flatten() {
        let of = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let said = [of("text"), of("name"), of("summary")].into_iter().filter(|part| !part.is_empty());
        let said = said.collect::<Vec<_>>().join(" ");
        let n = entry.get("n").and_then(Value::as_u64).unwrap_or_default();
        out::page(&format!("{n:>5}  {:<8}  {}\n", of("kind"), said.replace('\n', "\n                 ")))?;
    }
    Ok(())
}

fn as_json(view: &SessionView) -> Value {
    json!({
        "session": view.session.key().to_string(), "state": view.state.word(), "because": view.fact.because,
        "since": view.fact.since, "evidence": view.fact.evidence, "live": view.live, "place": view.place,
        "worktree": view.session.worktree, "title": view.title, "active_at": view.active_at,
        "permission_mode": view.launch.as_ref().and_then(|launch| launch.permission_mode.clone()),
        "model": view.launch.as_ref().and_then(|launch| launch.model.clone()),
        "used_by": view.used_by.as_ref().map(RecordKey::as_str),
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
