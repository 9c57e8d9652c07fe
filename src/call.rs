//! Speaking to a home's driver over its socket, as commands and viewers do: orders, and events as they come. What an order
//! means is the driver's; who is asked when nobody drives is the caller's.

use std::io;
use std::time::Duration;

use futures_util::StreamExt as _;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::model::command::{Command, Reply};
use crate::paths::Home;
use crate::store::socket::Name;

/// Bytes of an answer that are read: more is no answer of a driver.
const MOST: usize = 64 << 20;
/// Between two looks whether whoever drives answers at all, while something is waited for.
const LOOK: Duration = Duration::from_secs(1);
/// How long it may take to say that it does, or to take a line in. It says so whatever its driver is at.
const WORD: Duration = Duration::from_secs(4);
/// Between two tries to be taken in where very many come at once.
const QUEUE: Duration = Duration::from_millis(20);

/// Why a driver did not answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Nobody listens.
    #[error("nobody answers on the socket of this home")]
    Nobody,
    /// Somebody has the socket and says nothing on it: a process that was suspended, or hangs.
    #[error(
        "whoever drives this home does not answer: is it suspended? trellis doctor says; it may still take the order"
    )]
    Silent,
    /// It does not do what was asked.
    #[error("{0}")]
    Fault(String),
    /// The line broke, or what came back is no answer.
    #[error("the driver did not answer on its socket: {0}; it may have taken the order")]
    Broken(String),
}

impl From<hyper::Error> for CallError {
    fn from(error: hyper::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

/// Gives an order, and waits for the driver's reply.
///
/// # Errors
/// Nobody listens, whoever does says nothing, or the line breaks; then the order may have been carried out.
pub async fn order(home: &Home, command: &Command) -> Result<Reply, CallError> {
    let body = serde_json::to_vec(command).map_err(|error| CallError::Broken(error.to_string()))?;
    let answer = tokio::select! {
        answer = ask(home, Method::POST, "/api/v1/order", body) => answer?,
        () = silence(home) => return Err(CallError::Silent),
    };
    serde_json::from_slice(&answer).map_err(|error| CallError::Broken(error.to_string()))
}

/// Asks, and gives back what a whole answer holds.
///
/// # Errors
/// Nobody listens, the line breaks, or the answer is a fault.
pub async fn ask(home: &Home, method: Method, path: &str, body: Vec<u8>) -> Result<Bytes, CallError> {
    with_answer(home, method, path, body, async |answer| {
        let status = answer.status();
        let read = Limited::new(answer.into_body(), MOST).collect().await;
        let bytes = read.map_err(|error| CallError::Broken(error.to_string()))?.to_bytes();
        if status == StatusCode::OK {
            return Ok(bytes);
        }
        let said: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let of = |name: &str| said.get(name).and_then(Value::as_str);
        Err(match (of("message"), of("hint")) {
            (Some(message), Some(hint)) => CallError::Fault(format!("{message}: {hint}")),
            _ => CallError::Broken(status.as_str().to_owned()),
        })
    })
    .await
}

/// Tells each event behind the one of this number, as JSON, until the driver ends or `tell` says that it is enough.
/// `true`: it was enough.
///
/// # Errors
/// Nobody listens, or the line breaks.
pub async fn events(home: &Home, since: Option<u64>, mut tell: impl FnMut(Value) -> bool) -> Result<bool, CallError> {
    let since = since.map(|since| format!("?since={since}")).unwrap_or_default();
    with_answer(home, Method::GET, &format!("/api/v1/events{since}"), Vec::new(), async |answer| {
        let mut body = answer.into_body();
        let mut rest = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame?.into_data() else { continue };
            rest.extend_from_slice(&data);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                let event = line.strip_prefix(b"data: ").and_then(|data| serde_json::from_slice(data).ok());
                if event.is_some_and(|event| !tell(event)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    })
    .await
}

/// Tells what the driver shows (a projection), now and after each change, until it ends or `tell` says that it is enough.
/// Of changes that come faster than they are taken the newest is told.
///
/// # Errors
/// Nobody listens, whoever does says nothing any more, the line breaks, or what comes is no projection as this program
/// knows it.
pub async fn projections<P: DeserializeOwned>(home: &Home, mut tell: impl FnMut(P) -> bool) -> Result<(), CallError> {
    let (mut sender, line) = connect(home).await?;
    let request = Request::builder().uri("/api/v1/projection/ws").header(HOST, "trellis");
    let request = request.header(CONNECTION, "upgrade").header(UPGRADE, "websocket");
    let request = request.header(SEC_WEBSOCKET_VERSION, "13").header(SEC_WEBSOCKET_KEY, generate_key());
    let request = request.body(Full::default()).map_err(|error| CallError::Broken(error.to_string()))?;
    let told = async {
        let answer = sender.send_request(request).await?;
        if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(CallError::Broken(answer.status().as_str().to_owned()));
        }
        let opened = TokioIo::new(hyper::upgrade::on(answer).await?);
        let config = WebSocketConfig::default().max_message_size(Some(MOST)).max_frame_size(Some(MOST));
        let mut socket = WebSocketStream::from_raw_socket(opened, Role::Client, Some(config)).await;
        while let Some(message) = socket.next().await {
            let message = message.map_err(|error| CallError::Broken(error.to_string()))?;
            if !message.is_text() {
                continue;
            }
            let shown = serde_json::from_slice(&message.into_data());
            if !tell(shown.map_err(|error| CallError::Broken(error.to_string()))?) {
                break;
            }
        }
        Ok(())
    };
    let (mut line, mut told) = (std::pin::pin!(line.with_upgrades()), std::pin::pin!(told));
    let told = async {
        tokio::select! {
            biased;
            told = &mut told => told,
            // It has become a WebSocket, or has closed: what was said before is still to be read.
            _ = &mut line => told.await,
        }
    };
    tokio::select! {
        biased;
        told = told => told,
        () = silence(home) => Err(CallError::Silent),
    }
}

/// Ends when whoever has the socket says nothing on it for some seconds. That nobody has it is no silence.
async fn silence(home: &Home) {
    loop {
        tokio::time::sleep(LOOK).await;
        let word = with_answer(home, Method::GET, "/api/v1/health", Vec::new(), async |_| Ok(()));
        if matches!(tokio::time::timeout(WORD, word).await, Err(_) | Ok(Err(CallError::Silent))) {
            return;
        }
    }
}

/// A line to whoever listens.
async fn connect(home: &Home) -> Result<(Sender, Line), CallError> {
    let stream = tokio::time::timeout(WORD, taken_in(home)).await.map_err(|_| CallError::Silent)?;
    let stream = stream.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => CallError::Nobody,
        _ => CallError::Broken(error.to_string()),
    })?;
    Ok(http1::handshake(TokioIo::new(stream)).await?)
}

/// Waits in the queue of those who come, where that is full.
async fn taken_in(home: &Home) -> io::Result<UnixStream> {
    let name = Name::of(home)?;
    loop {
        match UnixStream::connect(name.path()).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => tokio::time::sleep(QUEUE).await,
            connected => return connected,
        }
    }
}

type Sender = SendRequest<Full<Bytes>>;
type Line = Connection<TokioIo<UnixStream>, Full<Bytes>>;

/// Sends a request, and does something with its answer while the line is kept going.
async fn with_answer<T>(
    home: &Home,
    method: Method,
    path: &str,
    body: Vec<u8>,
    work: impl AsyncFnOnce(Response<Incoming>) -> Result<T, CallError>,
) -> Result<T, CallError> {
    let (mut sender, line) = connect(home).await?;
    let request = Request::builder().method(method).uri(path).header(HOST, "trellis");
    let request = request.header(CONTENT_TYPE, "application/json").body(Full::new(Bytes::from(body)));
    let request = request.map_err(|error| CallError::Broken(error.to_string()))?;
    let work = async {
        let answer = sender.send_request(request).await?;
        work(answer).await
    };
    let (mut line, mut work) = (std::pin::pin!(line), std::pin::pin!(work));
    tokio::select! {
        biased;
        done = &mut work => done,
        // The other side has closed; what it said before is still to be read.
        _ = &mut line => work.await,
    }
}
