//! The driver's socket: a driver in this process on a home of its own, and clients that say what people and strangers say.

mod document;
mod events;
mod hostile;
mod load;
mod name;
mod states;
mod viewers;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use trellis::driver::core::{Core, Options};
use trellis::driver::handle::{Handle, line};
use trellis::driver::ports::{Loaded, Past};
use trellis::driver::task::{Edges, drive};
use trellis::model::conversation::Conversation;
use trellis::model::ids::{RecordKey, SessionKey, SessionRef};
use trellis::paths::Home;
use trellis::serve::archive::Archive;
use trellis::serve::server::{Facts, Server};
use trellis::store::Store;
use trellis::store::lock::Lock;
use trellis::store::reader::Reader;
use trellis::store::socket::Socket;
use trellis::supervise::Supervisor;

use crate::driver::task::Free;
use crate::driver::world::{MemTranscripts, Talks, World};

/// The files of a home, and conversations in memory.
struct Shelf {
    home: Home,
    talks: Mutex<Vec<(SessionKey, Arc<Conversation>)>>,
}

impl Archive for Shelf {
    fn records(&self) -> Arc<Loaded> {
        Arc::new(Reader::new(self.home.clone()).load())
    }

    fn record(&self, key: &RecordKey) -> Loaded {
        Reader::new(self.home.clone()).one(key)
    }

    fn events_after(&self, seq: u64, most: usize) -> Past {
        Reader::new(self.home.clone()).events_after(seq, most)
    }

    fn transcript(&self, session: &SessionRef) -> Result<Option<Arc<Conversation>>, String> {
        let talks = self.talks.lock().unwrap();
        Ok(talks.iter().find(|(key, _)| *key == session.key()).map(|(_, talk)| Arc::clone(talk)))
    }
}

/// A served home.
pub struct Served {
    pub home: Home,
    pub handle: Handle,
}

/// What came back.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub head: String,
    pub text: String,
}

impl Got {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The body of a fault, which is always of one shape.
    #[track_caller]
    pub fn fault(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        let body = self.json();
        for part in ["error", "message", "hint"] {
            assert!(body[part].as_str().is_some_and(|text| !text.is_empty()), "{part}: {self:?}");
        }
        body
    }
}

impl Served {
    /// Sends bytes and reads until the other side closes.
    pub async fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = UnixStream::connect(self.home.socket()).await.unwrap();
        // A server that has heard enough closes before everything is sent.
        let _ = stream.write_all(bytes).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        answer
    }

    pub async fn ask(&self, method: &str, path: &str, body: &str) -> Got {
        self.ask_with(method, path, "content-type: application/json\r\n", body.as_bytes()).await
    }

    pub async fn ask_with(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Got {
        let length = body.len();
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nhost: trellis\r\nconnection: close\r\n{headers}").into_bytes();
        if length > 0 {
            request.extend_from_slice(format!("content-length: {length}\r\n").as_bytes());
        }
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(body);
        parse(&self.raw(&request).await)
    }
}

/// Status, head and body of an answer.
pub fn parse(bytes: &[u8]) -> Got {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    Got { status, head: head.to_owned(), text: body.to_owned() }
}

/// A driver that carries orders out and looks at nothing by itself: every state stays as it was laid out.
pub fn still() -> Options {
    Options { records_only: true, ..Options::default() }
}

/// Serves a home while `work` goes on.
/// How many rows of runs and of sessions the driver made.
pub fn served(
    options: Options,
    lay_out: impl FnOnce(&mut Store, &mut Talks),
    work: impl AsyncFnOnce(&Served),
) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    served_in(&Home::at(folder.path().join("home")), options, lay_out, work)
}

pub fn served_in(
    home: &Home,
    options: Options,
    lay_out: impl FnOnce(&mut Store, &mut Talks),
    work: impl AsyncFnOnce(&Served),
) -> (u64, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let lock = Lock::take(home).unwrap();
    let world = World::new();
    let mut store = Store::new(home.clone());
    lay_out(&mut store, &mut world.talks.borrow_mut());
    drop(store);
    let talks =
        world.talks.borrow().conversations.iter().map(|(key, talk)| (key.clone(), Arc::new(talk.clone()))).collect();
    let (outcome, outcomes) = mpsc::channel(4_096);
    let (_hint, hints) = mpsc::channel(8);
    let (handle, end) = line();
    let transcripts = MemTranscripts(world.talks.clone());
    let core = Core::start(Store::new(home.clone()), transcripts, Free(outcome), options, trellis::clock::now());
    let supervisor = Supervisor::new();
    let over = runtime.block_on(async {
        let (socket, listener) = Socket::listen(home, &lock).unwrap();
        let shelf = Arc::new(Shelf { home: home.clone(), talks: Mutex::new(talks) });
        let facts = Facts { home: "the home".to_owned(), background: false };
        let server = Server::start(listener, handle.clone(), shelf, facts, &supervisor).unwrap();
        let driven = drive(core, end, Edges { outcomes, hints }, supervisor.token(), trellis::clock::now);
        let client = async {
            let served = Served { home: home.clone(), handle: handle.clone() };
            handle.projections().wait_for(|projection| projection.at.is_some()).await.unwrap();
            work(&served).await;
            handle.shutdown().await;
        };
        let both = async { tokio::join!(driven, client) };
        let (over, ()) = tokio::time::timeout(Duration::from_mins(10), both).await.unwrap();
        server.end().await;
        drop(socket);
        over
    });
    assert_eq!(supervisor.reason(), None, "no task panicked");
    over.core.rows_made()
}
