//! `trellis run start`: a run between two sessions that are there, recorded or driven here.
//! Whether it may begin is the machines' judgement; this asks and prints.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::drive::{Listener, tell_problems};
use super::{Failure, Named, StartArgs, order, out};
use crate::agent::live::LiveSession;
use crate::agent::scripted::home::Part;
use crate::boot::{Engine, Ground, How, Seat};
use crate::model::command::{Command, NewRun, Refusal, RefusalKind, Reply};
use crate::model::config::RunConfig;
use crate::model::ids::{RecordKey, RunId, SessionKey, SessionRef};
use crate::model::reach::Transport;
use crate::model::tempo::Tempo;

/// Starts a run.
///
/// # Errors
/// Refused, with the reason; or, driven here, it did not complete.
pub fn start(place: &Named<'_>, args: &StartArgs) -> Result<(), Failure> {
    let config = config(args)?;
    let ground = Ground::of(place)?;
    // Before anything is looked up: whoever drives is the first thing to know, and a refused start makes no home.
    if args.headless {
        ground.refuse_if_driven()?;
    }
    tell_problems(&ground);
    let live = ground.live_sessions();
    let known = known(&ground, &live);
    let order = NewRun {
        implementer: side(&ground, &live, &whole(&args.implementer, &known)?)?,
        reviewer: side(&ground, &live, &whole(&args.reviewer, &known)?)?,
        config,
    };
    if !args.headless {
        return record(ground, order, args.json);
    }
    let mut engine = Engine::start(ground, How::Drive, Tempo::REAL)?;
    engine.tell(Seat::Plain);
    let mut listener = Listener::of(&engine);
    let (run, _) = match engine.block_on(create(&engine, order)) {
        Ok(made) => made,
        Err(failure) => return engine.finish().and(Err(failure)),
    };
    engine.let_person_act();
    let end = engine.block_on(listener.follow(&engine, &run));
    listener.end(engine, end.map(|end| (run, end)))
}

/// Has whoever drives make it, or records it for whoever drives next.
fn record(ground: Ground, order: NewRun, json: bool) -> Result<(), Failure> {
    let root = ground.home.root().display().to_string();
    let done = order::carry_out(ground, &Command::CreateRun(order), None)?;
    let Some(run) = done.record else { return Err(Failure::internal("the run was made and not named")) };
    if json {
        return out::json(&json!({"id": run.as_str(), "kind": "run", "note": done.note}));
    }
    let next = if done.driven {
        "its driver goes on with it".to_owned()
    } else {
        format!("drive it with `trellis drive --home {root}` or in the dashboard")
    };
    out::line(&out::plain(&format!("{run} is recorded: {}; {next}", done.note)))
}

/// Gives the order and waits until it is saved.
///
/// # Errors
/// Refused, with the reason.
pub async fn create(engine: &Engine, order: NewRun) -> Result<(RunId, String), Failure> {
    match engine.handle.send(Command::CreateRun(order)).await {
        Reply::Done { record: Some(RecordKey::Run(run)), note } => Ok((run, note)),
        Reply::Done { .. } => Err(Failure::internal("the run was made and not named")),
        Reply::Refused(refusal) => Err(refused(&refusal)),
    }
}

/// A refusal as the command line tells it.
#[must_use]
pub fn refused(refusal: &Refusal) -> Failure {
    match (&refusal.kind, &refusal.field) {
        (RefusalKind::Invalid, Some(field)) => Failure::refused(format!("{field}: {}", refusal.message)),
        _ => Failure::refused(refusal.message.clone()),
    }
}

/// Every session that can be named: scripted, running, noted, or with a transcript.
pub(super) fn known(ground: &Ground, live: &[LiveSession]) -> BTreeSet<SessionKey> {
    let parts = ground.stage.iter().flat_map(|stage| &stage.parts).map(Part::key);
    let found = ground.found_sessions().into_iter().map(|found| found.session.key());
    let noted = ground.records().sessions.into_keys();
    parts.chain(live.iter().map(|session| session.session.clone())).chain(found).chain(noted).collect()
}

/// The session whose id this is, or is the beginning of.
///
/// # Errors
/// Several begin with it. One that is not known comes back as it was given.
pub(super) fn whole(wanted: &SessionKey, known: &BTreeSet<SessionKey>) -> Result<SessionKey, Failure> {
    const NAMED: usize = 6;
    if known.contains(wanted) {
        return Ok(wanted.clone());
    }
    let begins = |key: &&SessionKey| {
        key.agent == wanted.agent && key.session_id.as_str().starts_with(wanted.session_id.as_str())
    };
    let fitting: Vec<&SessionKey> = known.iter().filter(begins).collect();
    match fitting.as_slice() {
        [] => Ok(wanted.clone()),
        [one] => Ok((*one).clone()),
        several => {
            let more = if several.len() > NAMED { ", …" } else { "" };
            let names: Vec<String> = several.iter().take(NAMED).map(ToString::to_string).collect();
            Err(Failure::refused(format!(
                "several sessions begin with {wanted}: {}{more}; give more",
                names.join(", ")
            )))
        }
    }
}

/// The session of that id, with the folder it works in now.
///
/// # Errors
/// Nothing reaches it, or it is not there.
pub(super) fn side(ground: &Ground, live: &[LiveSession], wanted: &SessionKey) -> Result<SessionRef, Failure> {
    let part = ground.stage.iter().flat_map(|stage| &stage.parts).find(|part| part.key() == *wanted);
    if let Some(part) = part {
        return Ok(part.session());
    }
    let found = live.iter().find(|session| session.session == *wanted);
    let asked = SessionRef { agent: wanted.agent, worktree: String::new(), session_id: wanted.session_id.clone() };
    let folder = ground.transcript(&asked)?.and_then(|conversation| conversation.cwd.clone());
    let note = ground.records().sessions.remove(wanted).filter(|note| note.transport == Some(Transport::Headless));
    if let Some(note) = note {
        if let Some(pane) = found.and_then(|session| session.pane.as_ref().ok()) {
            return Err(Failure::refused(format!(
                "{wanted} is to run headless and is open in pane {}; end it there, or `trellis session reach {wanted} tmux`",
                pane.id.as_str()
            )));
        }
        let worktree = folder.or_else(|| note.launch.map(|launch| launch.worktree)).unwrap_or_default();
        return Ok(SessionRef { worktree, ..asked });
    }
    match (found, folder) {
        (Some(session), folder) if session.reached => {
            let worktree = folder.or_else(|| session.worktree.clone()).unwrap_or_default();
            Ok(SessionRef { worktree, ..asked })
        }
        (Some(session), _) => {
            let why = session.pane.as_ref().err().map_or("it has no pane", String::as_str);
            Err(Failure::refused(format!(
                "nothing reaches {wanted} ({why}); open it in a tmux pane, or end it and `trellis session reach {wanted} headless`"
            )))
        }
        (None, Some(_)) => Err(Failure::refused(format!(
            "{wanted} is not open; resume it in a tmux pane, or `trellis session reach {wanted} headless`; then start again"
        ))),
        (None, None) => {
            Err(Failure::refused(format!("there is no session {wanted}; `trellis session list` names those there are")))
        }
    }
}

/// The defaults with what `--set` and `--first-phase` change.
fn config(args: &StartArgs) -> Result<RunConfig, Failure> {
    let mut config: RunConfig = configured(&args.settings)?;
    if let Some(first) = args.first_phase {
        config.first_phase = first.into();
    }
    Ok(config)
}

/// The default settings with what `--set` changes.
///
/// # Errors
/// There is no such setting, or it cannot be that.
pub(super) fn configured<C: Default + Serialize + DeserializeOwned>(
    settings: &[(String, Value)],
) -> Result<C, Failure> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(C::default()) else {
        return Err(Failure::internal("the default settings cannot be written down"));
    };
    let names = fields.keys().cloned().collect::<Vec<_>>().join(", ");
    let mut config = C::default();
    for (key, value) in settings {
        let Some(known) = fields.get_mut(key) else {
            return Err(Failure::usage(format!("--set {key}: there is no such setting; choose one of {names}")));
        };
        *known = typed(known, value.clone());
        config = serde_json::from_value(Value::Object(fields.clone()))
            .map_err(|error| Failure::usage(format!("--set {key}: {}", one_line(&error.to_string()))))?;
    }
    Ok(config)
}

/// A text that looks like a number stays a text where a text is wanted.
pub(super) fn typed(known: &Value, value: Value) -> Value {
    match (known, value) {
        (Value::String(_), value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) => {
            Value::String(value.to_string())
        }
        (_, value) => value,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "start_tests.rs"]
mod tests;
