//! What goes back: JSON, or what is wrong with a request, `{error, message, hint}`. Which status says what stands here.

use std::convert::Infallible;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use crate::model::command::{Refusal, RefusalKind};
use crate::model::harmless;

/// A body that is there at once, or one that goes on.
pub type Body = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;
/// What goes back.
pub type Answer = Response<Body>;

/// Why a request is not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The status.
    pub status: StatusCode,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// The field it is about.
    pub field: Option<String>,
    /// Methods that the path has.
    allow: Vec<Method>,
}

impl Fault {
    /// With this status.
    pub fn new(status: StatusCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, message: message.into(), hint: hint.into(), field: None, allow: Vec::new() }
    }

    /// About this field of the body or word behind the `?`.
    #[must_use]
    pub fn about(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    /// The same, said of what stands in this field.
    #[must_use]
    pub fn inside(mut self, field: &str) -> Self {
        self.message = format!("{field}: {}", self.message);
        self.about(field)
    }

    /// 400: the request cannot be understood.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message, "GET /api/v1/openapi.json says what is understood")
    }

    /// 404: there is no such thing.
    pub fn unknown(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message, hint)
    }

    /// 503: not now, and not because of the request.
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message, "try again")
    }

    /// 405, with the methods that the path has.
    #[must_use]
    pub fn other_method(allow: Vec<Method>) -> Self {
        let names: Vec<&str> = allow.iter().map(Method::as_str).collect();
        let message = format!("this path takes {}", names.join(", "));
        Self { allow, ..Self::new(StatusCode::METHOD_NOT_ALLOWED, message, "use one of those methods") }
    }

    /// The driver refused an order.
    #[must_use]
    pub fn of(refusal: Refusal) -> Self {
        let (status, hint) = match refusal.kind {
            RefusalKind::NotNow => {
                (StatusCode::CONFLICT, "GET the record: view.impossible says what cannot be done now")
            }
            RefusalKind::Moved => (StatusCode::CONFLICT, "GET the record again and send its view.revision as expect"),
            RefusalKind::Invalid => (StatusCode::BAD_REQUEST, "GET /api/v1/openapi.json says what is understood"),
            RefusalKind::Unknown => (StatusCode::NOT_FOUND, "GET the list: it names what there is"),
            RefusalKind::NotSaved => {
                (StatusCode::SERVICE_UNAVAILABLE, "nothing was done: see to the disk, then repeat it")
            }
            RefusalKind::NotDriver => (StatusCode::LOCKED, "GET /api/v1/health says who drives; give the order there"),
        };
        Self { field: refusal.field, ..Self::new(status, refusal.message, hint) }
    }

    /// The word of its status.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self.status {
            StatusCode::BAD_REQUEST => "bad_request",
            StatusCode::NOT_FOUND => "not_found",
            StatusCode::METHOD_NOT_ALLOWED => "method_not_allowed",
            StatusCode::REQUEST_TIMEOUT => "request_timeout",
            StatusCode::CONFLICT => "conflict",
            StatusCode::PAYLOAD_TOO_LARGE => "too_large",
            StatusCode::UNSUPPORTED_MEDIA_TYPE => "unsupported_media_type",
            StatusCode::LOCKED => "locked",
            StatusCode::UPGRADE_REQUIRED => "upgrade_required",
            StatusCode::SERVICE_UNAVAILABLE => "unavailable",
            _ => "internal",
        }
    }

    /// As it goes back.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let mut body = json!({"error": self.word(), "message": self.message, "hint": self.hint});
        if let (Some(field), Some(body)) = (&self.field, body.as_object_mut()) {
            body.insert("field".to_owned(), field.as_str().into());
        }
        let mut answer = json(self.status, &body);
        let names: Vec<&str> = self.allow.iter().map(Method::as_str).collect();
        if let Some(value) = HeaderValue::from_str(&names.join(", ")).ok().filter(|_| !names.is_empty()) {
            answer.headers_mut().insert(ALLOW, value);
        }
        answer
    }
}

/// A value as a body. What could do something to a terminal stands in it as an escape.
pub fn json(status: StatusCode, value: &impl Serialize) -> Answer {
    match serde_json::to_string(value) {
        Ok(text) => whole(status, "application/json", harmless::escaped(&text).into_owned()),
        Err(error) => whole(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", error.to_string()),
    }
}

/// A text as a body.
pub fn whole(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Answer {
    with(status, kind, Full::new(text.into()).boxed_unsync())
}

/// Any body.
pub fn with(status: StatusCode, kind: &'static str, body: Body) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
