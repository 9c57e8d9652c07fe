//! What came in: a body within bounds, the words behind the `?`, a part of a path. What is asked for is `routes`'.

use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::{HeaderMap, Request, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::answer::Fault;

/// Bytes that a body may have. The longest is a message to an agent.
pub const MOST_BYTES: usize = 1 << 20;
/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads a body as a JSON object; none is an empty one. Nesting is bounded by the reader (128 deep).
///
/// # Errors
/// It is too long or too slow, of another kind, or no JSON object.
pub async fn object(request: Request<Incoming>) -> Result<Map<String, Value>, Fault> {
    let too_long = || {
        let message = format!("a body may have {MOST_BYTES} bytes");
        Fault::new(StatusCode::PAYLOAD_TOO_LARGE, message, "send less")
    };
    if request.body().size_hint().lower() > MOST_BYTES as u64 {
        return Err(too_long());
    }
    let kind = is_json(request.headers());
    let read = Limited::new(request.into_body(), MOST_BYTES).collect();
    let bytes = match tokio::time::timeout(PATIENCE, read).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(too_long()),
        Ok(Err(error)) => return Err(Fault::bad(format!("the body can't be read: {error}"))),
        Err(_) => {
            return Err(Fault::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time", "send it at once"));
        }
    };
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    kind?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Fault::bad("the body is to be a JSON object")),
        Err(error) => Err(Fault::bad(format!("the body is no JSON: {error}"))),
    }
}

/// Refuses a body that says it is something else; one that does not say is read.
fn is_json(headers: &HeaderMap) -> Result<(), Fault> {
    let Some(kind) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let name = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if name.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = format!("the body is {name:?} and not application/json");
    Err(Fault::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        message,
        "with curl: --json, or -H 'content-type: application/json'",
    ))
}

/// A value out of the fields of a body.
///
/// # Errors
/// They are not of its kind.
pub fn read<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Fault> {
    serde_json::from_value(Value::Object(fields)).map_err(|error| Fault::bad(error.to_string()))
}

/// Takes a field out.
///
/// # Errors
/// It is of another kind.
pub fn take<T: DeserializeOwned>(fields: &mut Map<String, Value>, name: &str) -> Result<Option<T>, Fault> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            serde_json::from_value(value).map(Some).map_err(|error| Fault::bad(error.to_string()).inside(name))
        }
    }
}

/// Takes a field out that has to be there.
///
/// # Errors
/// It is missing or of another kind.
pub fn need<T: DeserializeOwned>(fields: &mut Map<String, Value>, name: &str) -> Result<T, Fault> {
    take(fields, name)?.ok_or_else(|| Fault::bad(format!("{name} is missing")).about(name))
}

/// Refuses what is left in a body.
///
/// # Errors
/// Something is.
pub fn nothing_left(fields: &Map<String, Value>) -> Result<(), Fault> {
    match fields.keys().next() {
        None => Ok(()),
        Some(name) => {
            let name: String = name.chars().take(80).collect();
            Err(Fault::bad(format!("nothing here is called {name:?}")).about(name))
        }
    }
}

/// A part of a path as it was meant.
///
/// # Errors
/// Its `%` signs are wrong, or it is no UTF-8.
pub fn part(text: &str) -> Result<String, Fault> {
    decoded(text, false).ok_or_else(|| Fault::bad("the path is not well encoded: UTF-8, with % and two hex digits"))
}

/// The words behind the `?`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Reads them.
    ///
    /// # Errors
    /// They are not well encoded, or one is called as none of `known` is.
    pub fn read(text: Option<&str>, known: &[&str]) -> Result<Self, Fault> {
        let broken = || Fault::bad("the words behind the ? are not well encoded");
        let mut words = Vec::new();
        for word in text.unwrap_or_default().split('&').filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let name = decoded(name, true).ok_or_else(broken)?;
            if !known.contains(&name.as_str()) {
                let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
                return Err(Fault::bad(format!("behind the ? can stand {known}")).about(name));
            }
            words.push((name, decoded(value, true).ok_or_else(broken)?));
        }
        Ok(Self(words))
    }

    /// The value of that name; the last one counts.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A number of that name.
    ///
    /// # Errors
    /// It is none.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Fault> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let wrong = |_| Fault::bad(format!("{name} is to be a whole number")).about(name);
        text.parse().map(Some).map_err(wrong)
    }

    /// Whether that name is there and true.
    ///
    /// # Errors
    /// It is neither true nor false.
    pub fn is_on(&self, name: &str) -> Result<bool, Fault> {
        match self.get(name) {
            None | Some("false" | "0") => Ok(false),
            Some("" | "true" | "1") => Ok(true),
            Some(_) => Err(Fault::bad(format!("{name} is true or false")).about(name)),
        }
    }
}

/// Without its `%` signs; `None`: they are wrong, or it is no UTF-8.
fn decoded(text: &str, plus_is_blank: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? * 16 + hex(rest.next()?)?,
            b'+' if plus_is_blank => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}
