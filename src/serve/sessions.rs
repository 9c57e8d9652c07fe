//! Sessions over the socket: listed, shown, read, started, named. What may be done to one is the driver's judgement.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Fault, json};
use super::request::{Query, need, nothing_left, object, read, take};
use super::routes::Op;
use super::server::Desk;
use crate::model::command::{Command, Control, Reply, SessionControl};
use crate::model::conversation::{Conversation, ItemKind, Turn};
use crate::model::ids::{RecordKey, Role, SessionKey};
use crate::model::launch::NewSession;
use crate::projection::{Projection, SessionView};

/// Entries of a transcript in one answer.
const MOST_ENTRIES: u64 = 500;
/// The same where the request does not say.
const ENTRIES: u64 = 100;

/// Carries a request about sessions out.
///
/// # Errors
/// What is wrong with it, or why the driver refused.
pub async fn carry_out(op: Op, named: &str, request: Request<Incoming>, desk: &Arc<Desk>) -> Result<Answer, Fault> {
    let known: &[&str] = if op == Op::Transcript { &["after", "limit"] } else { &[] };
    let query = Query::read(request.uri().query(), known)?;
    match op {
        Op::Sessions => {
            let projection = desk.handle.projection();
            let sessions: Vec<Value> = projection.sessions.iter().map(shown).collect();
            Ok(json(StatusCode::OK, &json!({"sessions": sessions, "launches": projection.launches})))
        }
        Op::StartSession => start(desk, read(object(request).await?)?).await,
        Op::Session => {
            let projection = desk.handle.projection();
            Ok(json(StatusCode::OK, &shown(find(&projection, named)?)))
        }
        Op::Transcript => {
            let after = query.number("after")?;
            let limit = query.number("limit")?.unwrap_or(ENTRIES);
            page(desk, named, after, limit).await
        }
        Op::SessionOrder(word) => {
            let mut body = object(request).await?;
            let command = command(&desk.handle.projection(), named, word, &mut body)?;
            nothing_left(&body)?;
            match desk.order(command).await? {
                Reply::Done { note, .. } => {
                    let projection = desk.handle.projection();
                    let mut told = find(&projection, named).map_or_else(|_| json!({}), shown);
                    if let Some(told) = told.as_object_mut() {
                        told.insert("note".to_owned(), note.into());
                    }
                    Ok(json(StatusCode::OK, &told))
                }
                Reply::Refused(refusal) => Err(Fault::of(refusal)),
            }
        }
        _ => Err(Fault::unknown("there is no such path", "")),
    }
}

async fn start(desk: &Desk, order: NewSession) -> Result<Answer, Fault> {
    match desk.order(Command::StartSession(order)).await? {
        Reply::Done { note, .. } => {
            let launch = desk.handle.projection().launches.last().cloned();
            Ok(json(StatusCode::CREATED, &json!({"note": note, "launch": launch})))
        }
        Reply::Refused(refusal) => Err(Fault::of(refusal)),
    }
}

fn command(projection: &Projection, named: &str, word: &str, body: &mut Map<String, Value>) -> Result<Command, Fault> {
    let view = find(projection, named)?;
    let session = view.session.key();
    let control = match word {
        "rename" => SessionControl::Rename { name: need(body, "name")? },
        "put-away" => SessionControl::PutAway,
        "take-back" => SessionControl::TakeBack,
        "bring-back" => SessionControl::BringBack,
        "reach" => SessionControl::Reach {
            transport: need(body, "transport")?,
            permission_mode: take(body, "permission_mode")?,
            model: take(body, "model")?,
        },
        _ => return send(projection, view, body),
    };
    Ok(Command::Session { session, control })
}

/// A message to a session goes through the run or pair it is a side of: there it is on the disk before it is typed, and
/// seen to arrive.
fn send(projection: &Projection, view: &SessionView, body: &mut Map<String, Value>) -> Result<Command, Fault> {
    let (text, expect) = (need(body, "text")?, take(body, "expect")?);
    let go_on = take(body, "go_on")?.unwrap_or_default();
    let session = view.session.key();
    let of = view.used_by.as_ref().and_then(|key| projection.runs.iter().find(|run| run.key == *key));
    let Some(run) = of else {
        let message = format!("{session} is in no run and no pair that goes on: nobody would see the message arrive");
        let hint = "write it in the agent's own window, or POST /api/v1/pair first";
        return Err(Fault::new(StatusCode::CONFLICT, message, hint));
    };
    let side = if run.implementer.session.key() == session { Role::Implementer } else { Role::Reviewer };
    Ok(Command::Control { target: run.key.clone(), expect, control: Control::Write { side, text, go_on } })
}

/// The session of that id: `claude:…`, `codex:…`, or the bare id where it is only one.
fn find<'a>(projection: &'a Projection, named: &str) -> Result<&'a SessionView, Fault> {
    let is_it = |view: &&SessionView| {
        let key = view.session.key();
        key.session_id.as_str() == named || key.to_string() == named
    };
    projection.sessions.iter().find(is_it).ok_or_else(|| {
        let shown: String = named.chars().take(80).collect();
        Fault::unknown(format!("there is no session {shown:?}"), "GET /api/v1/sessions names those there are")
    })
}

fn shown(view: &SessionView) -> Value {
    let mut value = serde_json::to_value(view).unwrap_or_default();
    if let Some(value) = value.as_object_mut() {
        value.insert("id".to_owned(), view.session.key().to_string().into());
        let used_by = view.used_by.as_ref().map(RecordKey::as_str);
        value.insert("used_by".to_owned(), used_by.into());
    }
    value
}

/// Entries of a transcript behind one, or the newest.
async fn page(desk: &Arc<Desk>, named: &str, after: Option<u64>, limit: u64) -> Result<Answer, Fault> {
    let session = find(&desk.handle.projection(), named)?.session.clone();
    let (archive, key) = (Arc::clone(&desk.archive), session.key());
    let read = desk.blocking(move || archive.transcript(&session)).await;
    let read = read.ok_or_else(|| Fault::busy("trellis is ending"))?;
    let conversation = read.map_err(|why| Fault::new(StatusCode::SERVICE_UNAVAILABLE, why, "see to the file"))?;
    let page = match conversation {
        Some(conversation) => cut(&key, &conversation, after, limit),
        None => cut(&key, &Conversation::new(key.agent), after, limit),
    };
    Ok(json(StatusCode::OK, &page))
}

/// A page of a transcript: the entries behind one, or the newest, at most 500. They are numbered from 1; `next` is what the
/// next page is asked for with.
#[must_use]
pub fn cut(key: &SessionKey, conversation: &Conversation, after: Option<u64>, limit: u64) -> Value {
    let (entries, limit) = (entries(conversation), limit.clamp(1, MOST_ENTRIES));
    let total = entries.len() as u64;
    let from = after.unwrap_or_else(|| total.saturating_sub(limit)).min(total);
    let to = from.saturating_add(limit).min(total);
    let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let page = entries.get(at(from)..at(to)).unwrap_or_default();
    json!({"session": key.to_string(), "entries": page, "after": from, "next": to, "total": total, "more": to < total})
}

/// Prompts, answers, tool calls and remarks in their order.
fn entries(conversation: &Conversation) -> Vec<Value> {
    let mut entries = Vec::new();
    for turn in &conversation.turns {
        let n = entries.len() as u64 + 1;
        entries.push(json!({
            "n": n, "turn_id": turn.id, "at": turn.prompt.record.at, "kind": "prompt",
            "text": turn.prompt.text, "source": turn.prompt.source,
        }));
        for item in &turn.items {
            entries.push(of_item(entries.len() as u64 + 1, turn, item.at, &item.kind));
        }
        if let Some(outcome) = &turn.outcome {
            let n = entries.len() as u64 + 1;
            entries.push(json!({
                "n": n, "turn_id": turn.id, "at": turn.ended_at, "kind": "end", "outcome": outcome,
                "answer": turn.answer.as_ref().map(|answer| &answer.message_id),
            }));
        }
    }
    entries
}

fn of_item(n: u64, turn: &Turn, at: Option<jiff::Timestamp>, kind: &ItemKind) -> Value {
    let mut entry = json!({"n": n, "turn_id": turn.id, "at": at});
    let more = match kind {
        ItemKind::Text { message_id, text } => json!({"kind": "text", "message_id": message_id, "text": text}),
        ItemKind::Thinking { text } => json!({"kind": "thinking", "text": text}),
        ItemKind::Tool { call_id, name, summary, lines, ok } => {
            json!({"kind": "tool", "call_id": call_id, "name": name, "summary": summary, "lines": lines, "ok": ok})
        }
        ItemKind::Report { text } => json!({"kind": "report", "text": text}),
        ItemKind::Compaction => json!({"kind": "compaction"}),
        ItemKind::Notice { text } => json!({"kind": "notice", "text": text}),
    };
    if let (Some(entry), Value::Object(more)) = (entry.as_object_mut(), more) {
        entry.extend(more);
    }
    entry
}
