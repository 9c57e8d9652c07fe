//! `codex queue`: putting a message in, and proving whether it still waits there. The database is only read.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::agent::claude::stopped;
use crate::agent::os;
use crate::agent::program::Program;
use crate::clock;
use crate::model::ids::SessionId;
use crate::model::reach::{InFlight, OnItsWay, SendReport};
use crate::model::text::fold;

const DATABASE: &str = "queue_1.sqlite";
/// The command takes about 0.1 s; a starved machine is given time.
const LIMIT: Duration = Duration::from_secs(30);

/// Whether a Codex program has the command.
#[must_use]
pub fn is_known_to(program: &Path, environment: Vec<(OsString, OsString)>) -> bool {
    let asked = Program::new(program, ["queue", "--help"]).only_with(environment).limit(LIMIT).run();
    asked.is_ok_and(|ended| ended.code == Some(0) && ended.output.contains("--thread"))
}

/// Queues a message for a thread.
#[must_use]
pub fn put(
    program: &Path,
    codex_home: &Path,
    environment: Vec<(OsString, OsString)>,
    thread: &SessionId,
    text: &str,
) -> SendReport {
    let words = arguments(thread, text);
    let command = Program::new(program, &words).only_with(environment).with("CODEX_HOME", codex_home).limit(LIMIT);
    match command.run() {
        Ok(ended) if ended.code == Some(0) => SendReport {
            last_key_at: Some(clock::now()),
            entered: true,
            queue_id: queued_id(&ended.output),
            ..SendReport::default()
        },
        Ok(ended) => stopped(format!("codex queue refused it: {}", ended.why())),
        // It may have been taken before it was ended: the time is told, and the queue and the transcript are looked at.
        Err(why) => SendReport { last_key_at: Some(clock::now()), ..stopped(why) },
    }
}

/// With `=`: a text may begin with a dash.
fn arguments(thread: &SessionId, text: &str) -> [String; 3] {
    [String::from("queue"), format!("--thread={thread}"), format!("--message={text}")]
}

/// `Queued message <id> for thread <id>.`
fn queued_id(output: &str) -> Option<String> {
    let (_, after) = output.split_once("Queued message ")?;
    let id = after.split_whitespace().next()?;
    (id.len() <= 100 && id.bytes().all(|byte| byte.is_ascii_graphic())).then(|| id.to_owned())
}

/// Whether a message is still on its way: a command of ours that runs, else a row of the queue. In this order, since a
/// command that ended between the two looks has left its row or was taken.
#[must_use]
pub fn on_its_way(codex_home: &Path, thread: &SessionId, entry: &InFlight) -> OnItsWay {
    if is_carried(thread, &entry.text) {
        return OnItsWay::Carried;
    }
    match is_queued(codex_home, thread, entry) {
        Ok(true) => OnItsWay::Queued,
        Ok(false) => OnItsWay::No,
        Err(why) => OnItsWay::Unknown(format!("can't read codex's queue: {why}")),
    }
}

fn is_carried(thread: &SessionId, text: &str) -> bool {
    let ours = arguments(thread, text);
    os::processes().iter().filter(|process| process.name.starts_with("codex")).any(|process| {
        os::argv(process.pid).is_some_and(|words| {
            words.get(1..).is_some_and(|words| words == ours) || {
                // Where the system joins the words, their order is all there is.
                words.get(1..3) == ours.get(..2) && fold(&words.join(" ")).contains(&fold(text))
            }
        })
    })
}

fn is_queued(codex_home: &Path, thread: &SessionId, entry: &InFlight) -> Result<bool, String> {
    let path = codex_home.join(DATABASE);
    match path.try_exists() {
        Ok(true) => {}
        // Nothing was ever queued there; the folder itself must be there to say so.
        Ok(false) if codex_home.is_dir() => return Ok(false),
        Ok(false) => return Err(format!("{} is not there", codex_home.display())),
        Err(error) => return Err(error.to_string()),
    }
    let rows = read(&path, thread).map_err(|error| error.to_string())?;
    let wanted = fold(&entry.text);
    Ok(rows.iter().any(|(id, payload)| match &entry.queue_id {
        Some(queue_id) => id == queue_id,
        None => serde_json::from_str(payload).is_ok_and(|value: Value| holds(&value, &wanted)),
    }))
}

fn read(path: &Path, thread: &SessionId) -> rusqlite::Result<Vec<(String, String)>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_millis(500))?;
    let mut statement = connection
        .prepare("SELECT CAST(id AS TEXT), CAST(payload_json AS TEXT) FROM queued_items WHERE thread_id = ?1")?;
    let rows = statement.query_map([thread.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Whether any text inside a payload is the one wanted.
fn holds(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => fold(text) == wanted,
        Value::Array(values) => values.iter().any(|value| holds(value, wanted)),
        Value::Object(fields) => fields.values().any(|value| holds(value, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
