//! Answers that go on: events as server-sent events and over a WebSocket, projections over a WebSocket. Each goes at the
//! pace of its listener. Which events there are is `feed`'s.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use http_body_util::{BodyExt as _, Empty, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{CACHE_CONTROL, CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use hyper::header::{HeaderName, SEC_WEBSOCKET_VERSION};
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocketConfig};

use super::answer::{Answer, Fault, with};
use super::feed::{Feed, Told, Wanted};
use super::request::Query;
use super::routes::Kind;
use super::server::{Desk, beside};
use crate::model::harmless;
use crate::projection::Projection;

/// Events that wait for a slow listener here; the rest waits in the journal.
const AHEAD: usize = 16;
/// How often a listener hears that the line is open.
const STILL_HERE: Duration = Duration::from_secs(15);
/// The shortest time between two projections to one viewer.
const PACE: Duration = Duration::from_millis(100);
/// Bytes a client may send over a WebSocket at once. Nothing it says means anything.
const HEARD: usize = 64 << 10;
/// Where a listener of server-sent events says what it had last.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What viewers draw, without what one of them alone looks at.
pub fn projection(desk: &Desk) -> Projection {
    Projection { shown: None, ..(*desk.handle.projection()).clone() }
}

/// `GET /events`.
///
/// # Errors
/// What stands behind the `?` or in `Last-Event-ID` cannot be understood.
pub async fn events(request: &Request<Incoming>, desk: Arc<Desk>) -> Result<Answer, Fault> {
    let query = Query::read(request.uri().query(), &["since", "run_id", "pair_id", "session_id"])?;
    let had =
        request.headers().get(LAST_EVENT_ID).map(|value| value.to_str().ok().and_then(|id| id.trim().parse().ok()));
    let since = match had {
        Some(None) => return Err(Fault::bad("Last-Event-ID is the number of an event")),
        Some(id) => id,
        None => query.number("since")?,
    };
    let mut feed = Feed::open(Arc::clone(&desk), wanted(&query, None), since).await;
    let (tell, told) = mpsc::channel(AHEAD);
    beside(&desk, "events", async move {
        // At once: who asked knows that the line is open.
        let mut words = Some(": open\n\n".to_owned());
        loop {
            let next = if let Some(words) = words.take() {
                words
            } else {
                tokio::select! {
                    () = tell.closed() => return,
                    told = feed.next() => match told {
                        Some(told) => server_sent(&told),
                        None => return,
                    },
                    () = tokio::time::sleep(STILL_HERE) => ": still here\n\n".to_owned(),
                }
            };
            if tell.send(Ok(Frame::data(Bytes::from(next)))).await.is_err() {
                return;
            }
        }
    });
    let mut answer =
        with(StatusCode::OK, "text/event-stream", StreamBody::new(ReceiverStream::new(told)).boxed_unsync());
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(answer)
}

fn server_sent(told: &Told) -> String {
    let value = told.value();
    let text = value.to_string();
    let data = harmless::escaped(&text);
    match told {
        Told::Event(event) => {
            let kind = value.get("type").and_then(|kind| kind.as_str()).unwrap_or_default();
            format!("id: {}\nevent: {kind}\ndata: {data}\n\n", event.seq)
        }
        Told::Missed { .. } => format!("event: missed\ndata: {data}\n\n"),
    }
}

fn wanted(query: &Query, prefix: Option<&'static str>) -> Wanted {
    let of = |name: &str| query.get(name).map(str::to_owned);
    Wanted { prefix, run: of("run_id"), pair: of("pair_id"), session: of("session_id") }
}

/// `GET /checklist/ws`, `GET /pair/ws`.
///
/// # Errors
/// It is no request for a WebSocket, or what stands behind the `?` cannot be understood.
pub fn of_records(request: Request<Incoming>, desk: &Arc<Desk>, kind: Kind) -> Result<Answer, Fault> {
    let (prefix, id) = match kind {
        Kind::Run => ("checklist.", "run_id"),
        Kind::Pair => ("pair.", "pair_id"),
    };
    told(request, desk, prefix, &[id, "session_id", "since"])
}

/// `GET /sessions/ws`.
///
/// # Errors
/// It is no request for a WebSocket, or what stands behind the `?` cannot be understood.
pub fn of_sessions(request: Request<Incoming>, desk: &Arc<Desk>) -> Result<Answer, Fault> {
    told(request, desk, "session.", &["session_id", "since"])
}

fn told(request: Request<Incoming>, desk: &Arc<Desk>, prefix: &'static str, known: &[&str]) -> Result<Answer, Fault> {
    let query = Query::read(request.uri().query(), known)?;
    let (wanted, since) = (wanted(&query, Some(prefix)), query.number("since")?);
    let for_feed = Arc::clone(desk);
    upgrade(request, desk, move |mut socket| async move {
        let mut feed = Feed::open(for_feed, wanted, since).await;
        loop {
            tokio::select! {
                told = feed.next() => {
                    let Some(told) = told else { break };
                    let text = told.value().to_string();
                    if socket.send(Message::text(harmless::escaped(&text).into_owned())).await.is_err() {
                        return;
                    }
                }
                () = heard_enough(&mut socket) => break,
                () = tokio::time::sleep(STILL_HERE) => if socket.send(Message::Ping(Bytes::new())).await.is_err() { return },
            }
        }
        let _ = socket.close(None).await;
    })
}

/// `GET /projection/ws`.
///
/// # Errors
/// It is no request for a WebSocket, or what stands behind the `?` cannot be understood.
pub fn projections(request: Request<Incoming>, desk: &Arc<Desk>) -> Result<Answer, Fault> {
    Query::read(request.uri().query(), &[])?;
    let drawn = Arc::clone(desk);
    upgrade(request, desk, move |mut socket| async move {
        let mut newest = drawn.handle.projections();
        newest.mark_changed();
        loop {
            tokio::select! {
                changed = newest.changed() => if changed.is_err() { break },
                () = heard_enough(&mut socket) => break,
            }
            newest.mark_unchanged();
            let Ok(text) = serde_json::to_string(&projection(&drawn)) else { break };
            if socket.send(Message::text(harmless::escaped(&text).into_owned())).await.is_err() {
                return;
            }
            tokio::time::sleep(PACE).await;
        }
        let _ = socket.close(None).await;
    })
}

/// Ends when the client closes, or breaks what a WebSocket is. What it says otherwise is dropped.
async fn heard_enough(socket: &mut Socket) {
    while let Some(Ok(message)) = socket.next().await {
        if message.is_close() {
            return;
        }
    }
}

type Socket = WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>;

/// Turns a request into a WebSocket, and does this with it.
fn upgrade<F: Future<Output = ()> + Send>(
    mut request: Request<Incoming>,
    desk: &Arc<Desk>,
    work: impl FnOnce(Socket) -> F + Send + 'static,
) -> Result<Answer, Fault> {
    let key = key(request.method(), request.headers())?;
    let upgraded = hyper::upgrade::on(&mut request);
    beside(desk, "websocket", async move {
        let Ok(upgraded) = upgraded.await else { return };
        let config = WebSocketConfig::default().max_message_size(Some(HEARD)).max_frame_size(Some(HEARD));
        work(WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await).await;
    });
    let mut answer = with(StatusCode::SWITCHING_PROTOCOLS, "text/plain", Empty::new().boxed_unsync());
    let headers = answer.headers_mut();
    headers.clear();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, key);
    Ok(answer)
}

/// What proves that a WebSocket was understood.
fn key(method: &Method, headers: &HeaderMap) -> Result<HeaderValue, Fault> {
    let has = |name: HeaderName, word: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word))
    };
    let key = headers.get(SEC_WEBSOCKET_KEY).filter(|_| {
        method == Method::GET
            && has(CONNECTION, "upgrade")
            && has(UPGRADE, "websocket")
            && has(SEC_WEBSOCKET_VERSION, "13")
    });
    let accept = key.and_then(|key| HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok());
    accept.ok_or_else(|| {
        let hint = "open it as a WebSocket (version 13); GET /api/v1/events needs none";
        Fault::new(StatusCode::UPGRADE_REQUIRED, "this is a WebSocket", hint)
    })
}
