//! What stands behind an option or in the place of a name, read from its text. What it is used for is the command's.

use crate::model::ids::{Agent, SessionId, SessionKey};
use crate::model::tempo::Tempo;

pub(super) fn tempo(text: &str) -> Result<Tempo, String> {
    let speed = text.parse().map_err(|_| "give a number from 0.1 to 100".to_owned())?;
    Tempo::of_speed(speed).ok_or_else(|| "give a number from 0.1 to 100".to_owned())
}

pub(super) fn session(text: &str) -> Result<SessionKey, String> {
    let (agent, id) = text.split_once(':').ok_or("write claude:SESSION or codex:SESSION")?;
    let agent = match agent {
        "claude" => Agent::Claude,
        "codex" => Agent::Codex,
        _ => return Err(format!("{agent} is no agent; write claude:SESSION or codex:SESSION")),
    };
    if id.is_empty() {
        return Err("the session's id is missing; trellis session list names them".to_owned());
    }
    Ok(SessionKey { agent, session_id: SessionId::new(id) })
}

/// Numbers, `true`, `false` and `null` are themselves; everything else is a text.
pub(super) fn setting(text: &str) -> Result<(String, serde_json::Value), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    if key.is_empty() {
        return Err("write KEY=VALUE".to_owned());
    }
    let value = match serde_json::from_str::<serde_json::Value>(value) {
        Ok(read) if !read.is_array() && !read.is_object() => read,
        _ => serde_json::Value::String(value.to_owned()),
    };
    Ok((key.to_owned(), value))
}

/// A name may not be empty; everything else is a file's business.
pub(super) fn socket(text: &str) -> Result<String, String> {
    crate::config::no_socket(text).map_or_else(|| Ok(text.to_owned()), |why| Err(why.to_owned()))
}

pub(super) fn size(text: &str) -> Result<(u16, u16), String> {
    const SAY: &str = "write columns x rows, 120x40";
    let (width, height) = text.split_once(['x', 'X']).ok_or(SAY)?;
    let read = |text: &str| text.parse::<u16>().ok().filter(|n| (1..=1_000).contains(n)).ok_or(SAY);
    Ok((read(width)?, read(height)?))
}
