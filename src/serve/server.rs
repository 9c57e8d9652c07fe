//! Takes connections in and ends them: bounded in number, in what they send and in how long they may take, and only of the
//! person whose home it is. What a request is answered is decided in `records`, `sessions` and `stream`.

use std::convert::Infallible;
use std::future::Future;
use std::os::unix::net::UnixListener;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, watch};

use super::answer::{Answer, Fault, json, whole};
use super::archive::Archive;
use super::request::{Query, part};
use super::routes::{Found, Op, find};
use super::{DOCUMENT, records, request, sessions, stream};
use crate::driver::handle::Handle;
use crate::model::command::{Command, Reply};
use crate::supervise::Supervisor;

/// Connections at once. One more is told so and closed.
const CONNECTIONS: usize = 256;
/// Journals that are read at once.
const READERS: usize = 2;
/// How long the head of a request may take, and how long a connection may rest between two.
const HEAD: Duration = Duration::from_secs(30);
/// Bytes of a head.
const HEAD_BYTES: usize = 64 << 10;
/// How long an order is waited for. The driver answers when it is saved; a start of an agent takes the longest.
const ORDER: Duration = Duration::from_secs(45);
/// How long answers that are under way at the end are waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Between two tries to take a connection in when the system has no file left for one.
const NO_FILES: Duration = Duration::from_millis(200);

/// What every request is answered from.
pub struct Desk {
    /// The driver.
    pub handle: Handle,
    /// The disk.
    pub archive: Arc<dyn Archive>,
    /// Starts what outlives a request.
    pub supervisor: Supervisor,
    /// The home's folder, for people.
    pub home: String,
    /// It goes on without a terminal.
    pub background: bool,
    /// Turns at reading the journal.
    pub journal: Semaphore,
    /// Turns to true when the driver gives the home up.
    pub closing: watch::Receiver<bool>,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("home", &self.home).finish_non_exhaustive()
    }
}

impl Desk {
    /// Does something that may block beside the runtime's threads. `None`: it panicked, and everything ends.
    pub async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        self.supervisor.blocking("serve", work).await
    }

    /// Gives an order and waits until it is saved.
    ///
    /// # Errors
    /// It was refused, or not answered in time.
    pub async fn order(&self, command: Command) -> Result<Reply, Fault> {
        tokio::time::timeout(ORDER, self.handle.send(command)).await.map_err(|_| {
            let message = format!("the driver did not answer within {} s", ORDER.as_secs());
            let hint = "the order may still be carried out: GET the record before you repeat it";
            Fault::new(StatusCode::SERVICE_UNAVAILABLE, message, hint)
        })
    }

    /// Waits until the driver gives the home up or everything ends.
    pub async fn closed(&self) {
        let (mut closing, mut shutdown) = (self.closing.clone(), self.supervisor.token());
        tokio::select! {
            _ = closing.wait_for(|closing| *closing) => {}
            _ = shutdown.wait() => {}
        }
    }
}

/// What a server is told at its start.
pub struct Facts {
    /// The home's folder, for people.
    pub home: String,
    /// It goes on without a terminal.
    pub background: bool,
}

/// A server at work.
#[derive(Debug)]
pub struct Server {
    close: watch::Sender<bool>,
    /// Every connection holds one of the other ends.
    open: watch::Sender<()>,
}

impl Server {
    /// Serves until it is ended. Has to be called on a thread of the runtime.
    ///
    /// # Errors
    /// The listener cannot be used.
    pub fn start(
        listener: UnixListener,
        handle: Handle,
        archive: Arc<dyn Archive>,
        facts: Facts,
        supervisor: &Supervisor,
    ) -> std::io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::UnixListener::from_std(listener)?;
        let (close, closing) = watch::channel(false);
        let (open, held) = watch::channel(());
        let desk = Arc::new(Desk {
            handle,
            archive,
            supervisor: supervisor.clone(),
            home: facts.home,
            background: facts.background,
            journal: Semaphore::new(READERS),
            closing,
        });
        supervisor.spawn("serve", accept(listener, desk, held));
        Ok(Self { close, open })
    }

    /// Ends: nothing more is taken in, answers under way go out.
    pub async fn end(self) {
        let _ = self.close.send(true);
        let _ = tokio::time::timeout(LAST_WORDS, self.open.closed()).await;
    }
}

async fn accept(listener: tokio::net::UnixListener, desk: Arc<Desk>, held: watch::Receiver<()>) {
    let seats = Arc::new(Semaphore::new(CONNECTIONS));
    let mut closed = pin!(desk.closed());
    loop {
        let came = tokio::select! {
            biased;
            () = &mut closed => return,
            came = listener.accept() => came,
        };
        let stream = match came {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("can't take a connection in: {error}");
                tokio::time::sleep(NO_FILES).await;
                continue;
            }
        };
        if !is_ours(&stream) {
            tracing::warn!("a connection of another user was closed");
            continue;
        }
        let Ok(seat) = Arc::clone(&seats).try_acquire_owned() else {
            turn_away(&stream);
            continue;
        };
        let (desk, held) = (Arc::clone(&desk), held.clone());
        desk.supervisor.clone().spawn("connection", async move {
            connection(stream, desk).await;
            drop((seat, held));
        });
    }
}

/// Whether it is the person's own, or root's. The file's mode says the same; this holds where modes do not.
fn is_ours(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own || peer.uid() == 0)
}

/// Says that there are too many, as far as that goes without waiting.
fn turn_away(stream: &UnixStream) {
    const WORDS: &str = r#"{"error":"unavailable","message":"too many connections are open","hint":"close some"}"#;
    let head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let _ = stream.try_write(format!("{head}content-length: {}\r\n\r\n{WORDS}", WORDS.len()).as_bytes());
}

async fn connection(stream: UnixStream, desk: Arc<Desk>) {
    let service = service_fn(|request| {
        let desk = Arc::clone(&desk);
        async move { Ok::<_, Infallible>(respond(request, desk).await) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut serving = pin!(serving);
    tokio::select! {
        ended = serving.as_mut() => log(ended),
        () = desk.closed() => {
            serving.as_mut().graceful_shutdown();
            if let Ok(ended) = tokio::time::timeout(LAST_WORDS, serving).await {
                log(ended);
            }
        }
    }
}

/// What a client does wrong is its own affair.
fn log(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!("a connection ended: {error}");
    }
}

async fn respond(request: Request<Incoming>, desk: Arc<Desk>) -> Answer {
    // What has no body of its own is asked for like what has one; the body is left out below.
    let method = if request.method() == Method::HEAD { Method::GET } else { request.method().clone() };
    let path = request.uri().path().to_owned();
    let answered = match find(&method, &path) {
        Found::Op(op, part) => carry_out(op, part, request, desk).await,
        Found::OtherMethod(allow) => Err(Fault::other_method(allow)),
        Found::Nothing => Err(Fault::unknown("there is no such path", "GET /api/v1/openapi.json names all of them")),
    };
    answered.unwrap_or_else(|fault| fault.answer())
}

async fn carry_out(op: Op, part_of_path: &str, request: Request<Incoming>, desk: Arc<Desk>) -> Result<Answer, Fault> {
    let named = part(part_of_path)?;
    match op {
        Op::Health => {
            Query::read(request.uri().query(), &[])?;
            Ok(health(&desk))
        }
        Op::Document => Ok(whole(StatusCode::OK, "application/json", DOCUMENT)),
        Op::Projection => {
            Query::read(request.uri().query(), &[])?;
            Ok(json(StatusCode::OK, &stream::projection(&desk)))
        }
        Op::ProjectionFeed | Op::Feed(_) | Op::SessionFeed | Op::Events if request.method() == Method::HEAD => {
            Err(Fault::other_method(vec![Method::GET]))
        }
        Op::ProjectionFeed => stream::projections(request, &desk),
        Op::Events => stream::events(&request, desk).await,
        Op::Feed(kind) => stream::of_records(request, &desk, kind),
        Op::SessionFeed => stream::of_sessions(request, &desk),
        Op::Order => order(request, &desk).await,
        Op::List(_)
        | Op::Create(_)
        | Op::BySession(_)
        | Op::Show(_)
        | Op::Configure(_)
        | Op::Discard(_)
        | Op::Control(..) => records::carry_out(op, named, request, &desk).await,
        Op::Sessions | Op::StartSession | Op::Session | Op::Transcript | Op::SessionOrder(_) => {
            sessions::carry_out(op, &named, request, &desk).await
        }
    }
}

fn health(desk: &Desk) -> Answer {
    let projection = desk.handle.projection();
    let body = json!({
        "version": env!("CARGO_PKG_VERSION"), "api": 1, "pid": std::process::id(), "home": desk.home,
        "driver": projection.driver, "background": desk.background, "looking": projection.looking,
        "seq": projection.seq, "runs": projection.runs.len(), "sessions": projection.sessions.len(),
    });
    json(StatusCode::OK, &body)
}

/// An order as it is, and the driver's reply as it is: for viewers and commands of the same program.
async fn order(request: Request<Incoming>, desk: &Desk) -> Result<Answer, Fault> {
    Query::read(request.uri().query(), &[])?;
    let command: Command = request::read(request::object(request).await?)?;
    Ok(json(StatusCode::OK, &desk.order(command).await?))
}

/// A task that goes on beside a request ends with the server.
pub(super) fn beside(desk: &Arc<Desk>, name: &str, work: impl Future<Output = ()> + Send + 'static) {
    let ends = Arc::clone(desk);
    desk.supervisor.spawn(name, async move {
        tokio::select! {
            () = work => {}
            () = ends.closed() => {}
        }
    });
}
