//! Runs and pairs over the socket: made, listed, shown, ordered. Every change is an order to the driver; what is shown is
//! the record as it was saved, and how it stands as viewers draw it.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{HeaderValue, LOCATION};
use hyper::{Request, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::answer::{Answer, Fault, json};
use super::request::{Query, need, nothing_left, object, read, take};
use super::routes::{Kind, Op, ROOT, Spec};
use super::server::Desk;
use crate::driver::ports::Loaded;
use crate::model::command::{Command, Confirm, Control, NewPair, NewRun, Reply};
use crate::model::config::{PairConfig, RunConfig};
use crate::model::ids::{Agent, PairId, RecordKey, Role, RunId, SessionId, SessionRef};
use crate::model::pair::{Kickoff, PairRecord};
use crate::model::run::RunRecord;
use crate::projection::Projection;

/// Who changed settings, where the request does not say.
const BY: &str = "api";

/// Carries a request about runs or pairs out. `named`: the id, or the session.
///
/// # Errors
/// What is wrong with it, or why the driver refused.
pub async fn carry_out(op: Op, named: String, request: Request<Incoming>, desk: &Arc<Desk>) -> Result<Answer, Fault> {
    match op {
        Op::List(kind) => {
            let query = Query::read(request.uri().query(), &["include_stopped"])?;
            list(desk, kind, query.is_on("include_stopped")?, None).await
        }
        Op::BySession(kind) => {
            let query = Query::read(request.uri().query(), &["include_stopped"])?;
            list(desk, kind, query.is_on("include_stopped")?, Some(named)).await
        }
        Op::Show(kind) => {
            Query::read(request.uri().query(), &[])?;
            show(desk, kind, &named).await
        }
        Op::Create(kind) => {
            Query::read(request.uri().query(), &[])?;
            create(desk, kind, object(request).await?).await
        }
        Op::Configure(kind) => {
            Query::read(request.uri().query(), &[])?;
            let mut body = object(request).await?;
            let expect = take(&mut body, "expect")?;
            let by = take(&mut body, "by")?.unwrap_or_else(|| BY.to_owned());
            let changes = config_of(body)?;
            if changes.is_empty() {
                return Err(Fault::bad("name at least one setting to change"));
            }
            order(desk, kind, &named, expect, Control::Configure { changes, by }).await
        }
        Op::Discard(kind) => {
            let query = Query::read(request.uri().query(), &["expect"])?;
            let expect = query.number("expect")?;
            nothing_left(&object(request).await?)?;
            order(desk, kind, &named, expect, Control::Discard).await
        }
        Op::Control(kind, spec) => {
            Query::read(request.uri().query(), &[])?;
            let mut body = object(request).await?;
            let expect = take(&mut body, "expect")?;
            let control = control(spec, &mut body)?;
            nothing_left(&body)?;
            order(desk, kind, &named, expect, control).await
        }
        _ => Err(Fault::unknown("there is no such path", "")),
    }
}

/// The control that a word and its body mean.
fn control(spec: &Spec, body: &mut Map<String, Value>) -> Result<Control, Fault> {
    Ok(match spec.word {
        "pause" => Control::Pause,
        "resume" => Control::Resume,
        "stop" => Control::Stop,
        "skip" => Control::Skip,
        "retry" => Control::Retry,
        "ask" => Control::Ask,
        "accept" => Control::Accept,
        "more" => {
            Control::More { n: need(body, "n")?, blockers_only: take(body, "blockers_only")?.unwrap_or_default() }
        }
        "as-feedback" => Control::AsFeedback,
        "write" => Control::Write {
            side: need::<Role>(body, "side")?,
            text: need(body, "text")?,
            go_on: take(body, "go_on")?.unwrap_or_default(),
        },
        "rename" => Control::Rename { name: need(body, "name")? },
        "follow" => Control::Follow,
        "bring-back" => Control::BringBack,
        "check-delivery" => Control::CheckDelivery,
        "send-again" => Control::SendAgain,
        "drop" => Control::Drop,
        "by-hand" => Control::ByHand,
        "force-relay" => Control::ForceRelay,
        "confirm" => Control::Confirm(confirm(body)?),
        "run-on" => Control::RunOn,
        _ => return Err(Fault::unknown("there is no such control", "GET /api/v1/openapi.json names them")),
    })
}

fn confirm(body: &mut Map<String, Value>) -> Result<Confirm, Fault> {
    let action: String = need(body, "action")?;
    let edited_text = take(body, "edited_text")?;
    match (action.as_str(), edited_text) {
        ("send", edited_text) => Ok(Confirm::Send { edited_text }),
        ("drop", None) => Ok(Confirm::Drop),
        ("stop", None) => Ok(Confirm::Stop),
        ("drop" | "stop", Some(_)) => Err(Fault::bad("only what is sent can be edited").about("edited_text")),
        _ => Err(Fault::bad("action is send, drop or stop").about("action")),
    }
}

/// A session of a new record. The folder may be left out: the transcript names it.
fn side(body: &mut Map<String, Value>, name: &str) -> Result<SessionRef, Fault> {
    let within = |fault: Fault| fault.inside(name);
    let mut side: Map<String, Value> = need(body, name)?;
    let agent: Agent = need(&mut side, "agent").map_err(within)?;
    let session_id: String = need(&mut side, "session_id").map_err(within)?;
    let worktree: Option<String> = take(&mut side, "worktree").map_err(within)?;
    nothing_left(&side).map_err(within)?;
    Ok(SessionRef { agent, worktree: worktree.unwrap_or_default(), session_id: SessionId::new(session_id) })
}

/// Settings stand beside the rest of a body, or together under `config`.
fn config_of(mut body: Map<String, Value>) -> Result<Map<String, Value>, Fault> {
    let mut config: Map<String, Value> = take(&mut body, "config")?.unwrap_or_default();
    for (name, value) in body {
        if config.insert(name.clone(), value).is_some() {
            let message = format!("{name} is given twice");
            return Err(Fault::bad(message).about(name));
        }
    }
    Ok(config)
}

/// Settings from their defaults and what was given; what is called as no setting is refused.
fn settings<C: Default + Serialize + serde::de::DeserializeOwned>(given: Map<String, Value>) -> Result<C, Fault> {
    let Ok(Value::Object(known)) = serde_json::to_value(C::default()) else {
        return Err(Fault::busy("the default settings cannot be written down"));
    };
    let unknown: Map<String, Value> = given
        .iter()
        .filter(|(name, _)| !known.contains_key(*name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    nothing_left(&unknown)?;
    for (name, value) in &given {
        let mut one = known.clone();
        one.insert(name.clone(), value.clone());
        read::<C>(one).map_err(|fault| fault.inside(name))?;
    }
    read(given)
}

async fn create(desk: &Arc<Desk>, kind: Kind, mut body: Map<String, Value>) -> Result<Answer, Fault> {
    let implementer = side(&mut body, "implementer")?;
    let reviewer = side(&mut body, "reviewer")?;
    let command = match kind {
        Kind::Run => {
            Command::CreateRun(NewRun { implementer, reviewer, config: settings::<RunConfig>(config_of(body)?)? })
        }
        Kind::Pair => {
            let kickoff: Option<Kickoff> = take(&mut body, "kickoff")?;
            let config = settings::<PairConfig>(config_of(body)?)?;
            Command::CreatePair(NewPair { implementer, reviewer, kickoff, config })
        }
    };
    match desk.order(command).await? {
        Reply::Done { record, note } => ordered(desk, record, note, true).await,
        Reply::Refused(refusal) => Err(Fault::of(refusal)),
    }
}

/// Gives an order about a record, and shows what became of it.
async fn order(desk: &Arc<Desk>, kind: Kind, id: &str, expect: Option<u64>, control: Control) -> Result<Answer, Fault> {
    let target = key(kind, id);
    let command = Command::Control { target: target.clone(), expect, control };
    match desk.order(command).await? {
        Reply::Done { record, note } => {
            let made = record.as_ref().is_some_and(|record| *record != target);
            ordered(desk, record, note, made).await
        }
        Reply::Refused(refusal) => Err(Fault::of(refusal)),
    }
}

/// The record as it is now, with the driver's sentence. One that is gone is no more than its id.
async fn ordered(desk: &Arc<Desk>, record: Option<RecordKey>, note: String, made: bool) -> Result<Answer, Fault> {
    let Some(key) = record else { return Ok(json(StatusCode::OK, &json!({"note": note}))) };
    let home = Home::read_one(desk, &key).await?;
    let mut body = home.one(&key).unwrap_or_else(|| json!({"id": key.as_str()}));
    if let Some(body) = body.as_object_mut() {
        body.insert("note".to_owned(), note.into());
    }
    let mut answer = json(if made { StatusCode::CREATED } else { StatusCode::OK }, &body);
    let kind = if matches!(key, RecordKey::Run(_)) { Kind::Run } else { Kind::Pair };
    let place = format!("{ROOT}/{}/{}", kind.word(), key.as_str());
    if let Some(place) = HeaderValue::from_str(&place).ok().filter(|_| made) {
        answer.headers_mut().insert(LOCATION, place);
    }
    Ok(answer)
}

async fn list(desk: &Arc<Desk>, kind: Kind, with_stopped: bool, of: Option<String>) -> Result<Answer, Fault> {
    let home = Home::read(desk).await?;
    let is_side = |side: &SessionRef| {
        of.as_deref().is_none_or(|of| side.session_id.as_str() == of || side.key().to_string() == of)
    };
    let is_of = |sides: [&SessionRef; 2]| sides.into_iter().any(is_side);
    let mut rows = match kind {
        Kind::Run => {
            let mut runs: Vec<&RunRecord> = home.loaded.runs.iter().collect();
            runs.sort_by(|a, b| (b.created_at, b.id.as_str()).cmp(&(a.created_at, a.id.as_str())));
            let kept = runs.into_iter().filter(|run| with_stopped || run.is_active());
            kept.filter(|run| is_of([&run.implementer, &run.reviewer])).map(|run| home.run(run)).collect::<Vec<_>>()
        }
        Kind::Pair => {
            let mut pairs: Vec<&PairRecord> = home.loaded.pairs.iter().collect();
            pairs.sort_by(|a, b| (b.created_at, b.id.as_str()).cmp(&(a.created_at, a.id.as_str())));
            let kept = pairs.into_iter().filter(|pair| with_stopped || pair.is_active());
            kept.filter(|pair| is_of([&pair.implementer, &pair.reviewer])).map(|pair| home.pair(pair)).collect()
        }
    };
    if of.is_none() {
        let others =
            home.loaded.read_only.iter().filter(|other| matches!(other.key, RecordKey::Run(_)) == (kind == Kind::Run));
        rows.extend(others.filter_map(|other| home.one(&other.key)));
    }
    let name = match kind {
        Kind::Run => "checklists",
        Kind::Pair => "pairs",
    };
    Ok(json(StatusCode::OK, &json!({name: rows})))
}

async fn show(desk: &Arc<Desk>, kind: Kind, id: &str) -> Result<Answer, Fault> {
    let home = Home::read(desk).await?;
    let key = key(kind, id);
    let Some(mut body) = home.one(&key) else { return Err(nothing_of(kind, id)) };
    let run = home.loaded.runs.iter().find(|run| matches!(&key, RecordKey::Run(id) if run.id == *id));
    if let (Some(run), Some(body)) = (run, body.as_object_mut()) {
        let pairs = home.loaded.pairs_of(run).into_iter().map(|pair| home.pair(pair)).collect();
        body.insert("pairs".to_owned(), Value::Array(pairs));
    }
    Ok(json(StatusCode::OK, &body))
}

fn nothing_of(kind: Kind, id: &str) -> Fault {
    let shown: String = id.chars().take(80).collect();
    let word = match kind {
        Kind::Run => "run",
        Kind::Pair => "pair",
    };
    let hint = format!("GET {ROOT}/{}?include_stopped=true names those there are", kind.word());
    Fault::unknown(format!("there is no {word} {shown:?}"), hint)
}

fn key(kind: Kind, id: &str) -> RecordKey {
    match kind {
        Kind::Run => RecordKey::Run(RunId::new(id)),
        Kind::Pair => RecordKey::Pair(PairId::new(id)),
    }
}

/// The disk and the projection at one time.
struct Home {
    loaded: Arc<Loaded>,
    projection: Arc<Projection>,
}

impl Home {
    async fn read(desk: &Arc<Desk>) -> Result<Self, Fault> {
        let archive = Arc::clone(&desk.archive);
        let loaded = desk.blocking(move || archive.records()).await;
        let loaded = loaded.ok_or_else(|| Fault::busy("trellis is ending"))?;
        Ok(Self { loaded, projection: desk.handle.projection() })
    }

    /// The same of one record alone: what an order is answered with costs the same however many there are.
    async fn read_one(desk: &Arc<Desk>, key: &RecordKey) -> Result<Self, Fault> {
        let (archive, key) = (Arc::clone(&desk.archive), key.clone());
        let loaded = desk.blocking(move || archive.record(&key)).await;
        let loaded = Arc::new(loaded.ok_or_else(|| Fault::busy("trellis is ending"))?);
        Ok(Self { loaded, projection: desk.handle.projection() })
    }

    fn one(&self, key: &RecordKey) -> Option<Value> {
        let found = match key {
            RecordKey::Run(id) => self.loaded.runs.iter().find(|run| run.id == *id).map(|run| self.run(run)),
            RecordKey::Pair(id) => self.loaded.pairs.iter().find(|pair| pair.id == *id).map(|pair| self.pair(pair)),
        };
        found.or_else(|| {
            let other = self.loaded.read_only.iter().find(|other| other.key == *key)?;
            let shown = json!({"id": key.as_str(), "read_only": other.sentence(), "record": other.value});
            Some(self.with_view(shown, key))
        })
    }

    fn run(&self, run: &RunRecord) -> Value {
        self.with_view(serde_json::to_value(run).unwrap_or_default(), &RecordKey::Run(run.id.clone()))
    }

    fn pair(&self, pair: &PairRecord) -> Value {
        self.with_view(serde_json::to_value(pair).unwrap_or_default(), &RecordKey::Pair(pair.id.clone()))
    }

    /// How it stands, as viewers draw it; `null` for a pair of a run, which is drawn with that.
    fn with_view(&self, mut record: Value, key: &RecordKey) -> Value {
        let view = self.projection.runs.iter().find(|view| view.key == *key);
        if let Some(record) = record.as_object_mut() {
            record.insert("view".to_owned(), serde_json::to_value(view).unwrap_or_default());
        }
        record
    }
}
