//! Events over the socket: live, after what a listener had, and what it is told when it was too slow. Nothing is waited for
//! by the driver.

use std::sync::{Arc, Mutex};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio_tungstenite::tungstenite::Message;
use trellis::driver::ports::Records as _;
use trellis::model::command::{Command, Control, Reply};
use trellis::model::event::{Event, EventKind};
use trellis::model::ids::RecordKey;
use trellis::paths::Home;
use trellis::serve::feed::{Feed, Wanted};
use trellis::serve::server::Desk;
use trellis::store::Store;
use trellis::supervise::Supervisor;

use super::{Served, served, still};
use crate::driver::world::Talks;
use crate::store::making::{at, run};

fn event(seq: u64, kind: EventKind, run: &str) -> Event {
    Event {
        seq,
        at: at(seq),
        kind,
        run_id: Some(run.into()),
        pair_id: None,
        session_id: None,
        reason: None,
        revision: Some(1),
    }
}

fn two_runs(store: &mut Store, _: &mut Talks) {
    let mut other = run("r2");
    other.implementer.session_id = "c-2".into();
    other.reviewer.session_id = "x-2".into();
    store.save_run(&run("r1")).unwrap();
    store.save_run(&other).unwrap();
    for seq in 1..=4 {
        let (kind, run) =
            if seq % 2 == 0 { (EventKind::PairStarted, "r2") } else { (EventKind::ChecklistStarted, "r1") };
        store.append_event(&event(seq, kind, run)).unwrap();
    }
}

async fn rename(served: &Served, run: &str, name: &str) {
    let target = RecordKey::Run(run.into());
    let control = Control::Rename { name: name.to_owned() };
    let reply = served.handle.send(Command::Control { target, expect: None, control }).await;
    assert!(matches!(reply, Reply::Done { .. }), "{reply:?}");
}

async fn set(served: &Served, run: &str, rounds: u32) {
    let path = format!("/api/v1/checklist/{run}");
    let got = served.ask("PATCH", &path, &json!({"max_rounds": rounds}).to_string()).await;
    assert_eq!(got.status, 200, "{got:?}");
}

struct Listener(Lines<BufReader<UnixStream>>);

impl Listener {
    async fn open(served: &Served, path: &str, header: &str) -> Self {
        let mut stream = UnixStream::connect(served.home.socket()).await.unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: t\r\n{header}\r\n").as_bytes()).await.unwrap();
        let mut lines = BufReader::new(stream).lines();
        while lines.next_line().await.unwrap().unwrap() != ": open" {}
        Self(lines)
    }

    /// The kind and the data of the next event.
    async fn next(&mut self) -> (String, Value) {
        let mut kind = String::new();
        loop {
            let line = self.0.next_line().await.unwrap().unwrap();
            if let Some(word) = line.strip_prefix("event: ") {
                word.clone_into(&mut kind);
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return (kind, serde_json::from_str(data).unwrap());
            }
        }
    }
}

#[test]
fn events_come_live_and_from_behind_the_last_one_that_a_listener_had() {
    served(still(), two_runs, async |served| {
        let mut now = Listener::open(served, "/api/v1/events", "").await;
        let mut since = Listener::open(served, "/api/v1/events?since=1", "").await;
        let mut again = Listener::open(served, "/api/v1/events?since=0", "last-event-id: 3\r\n").await;
        let mut of_one = Listener::open(served, "/api/v1/events?since=0&run_id=r2", "").await;
        let mut of_side = Listener::open(served, "/api/v1/events?since=0&session_id=codex:x-2", "").await;
        set(served, "r1", 3).await;
        let (kind, told) = now.next().await;
        assert_eq!((kind.as_str(), told["seq"].as_u64()), ("checklist.config_changed", Some(5)));
        let mut seqs = Vec::new();
        for _ in 0..4 {
            seqs.push(since.next().await.1["seq"].as_u64().unwrap());
        }
        assert_eq!(seqs, [2, 3, 4, 5]);
        assert_eq!(again.next().await.1["seq"].as_u64(), Some(4));
        assert_eq!(again.next().await.1["seq"].as_u64(), Some(5));
        set(served, "r2", 3).await;
        for listener in [&mut of_one, &mut of_side] {
            for seq in [2, 4, 6] {
                assert_eq!(listener.next().await.1["seq"].as_u64(), Some(seq));
            }
        }
    });
}

/// A listener that does not read while more is published than is kept for it: everything is there when it reads again.
#[test]
fn a_listener_that_is_too_slow_gets_the_rest_from_the_journal() {
    const EVENTS: u64 = 5_000;
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut store = Store::new(home.clone());
    let (handle, line) = trellis::driver::handle::line();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let archive = Arc::new(super::Shelf { home, talks: Mutex::default() });
        let (_close, closing) = tokio::sync::watch::channel(false);
        let desk = Arc::new(Desk {
            handle,
            archive,
            supervisor: Supervisor::new(),
            home: String::new(),
            background: false,
            journal: Semaphore::new(1),
            closing,
        });
        let mut all = Feed::open(Arc::clone(&desk), Wanted::default(), None).await;
        let of_one = Wanted { run: Some("r7".to_owned()), ..Wanted::default() };
        let mut one = Feed::open(desk, of_one, None).await;
        for seq in 1..=EVENTS {
            let event = event(seq, EventKind::ChecklistPaused, &format!("r{}", seq % 10));
            store.append_event(&event).unwrap();
            // Nobody waits here for whoever listens.
            line.events.send(event).unwrap();
        }
        for seq in 1..=EVENTS {
            assert_eq!(all.next().await.unwrap().value()["seq"].as_u64(), Some(seq));
        }
        for seq in (7..=EVENTS).step_by(10) {
            assert_eq!(one.next().await.unwrap().value()["seq"].as_u64(), Some(seq));
        }
        // One that could not be written down is missed, and what follows it is heard.
        line.events.send(event(EVENTS + 3, EventKind::ChecklistResumed, "r1")).unwrap();
        assert_eq!(all.next().await.unwrap().value(), json!({"type": "missed", "after": EVENTS, "before": EVENTS + 3}));
        assert_eq!(all.next().await.unwrap().value()["seq"].as_u64(), Some(EVENTS + 3));
    });
}

#[test]
fn events_that_the_journal_no_longer_has_are_told_as_missed() {
    let rotated = |store: &mut Store, talks: &mut Talks| {
        two_runs(store, talks);
        store.append_event(&event(90, EventKind::ChecklistPaused, "r1")).unwrap();
    };
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let cut = |store: &mut Store, talks: &mut Talks| {
        rotated(store, talks);
        let kept = std::fs::read_to_string(folder.path().join("events.jsonl")).unwrap();
        let last = kept.lines().last().unwrap();
        std::fs::write(folder.path().join("events.jsonl"), format!("{last}\n")).unwrap();
    };
    super::served_in(&home, still(), cut, async |served| {
        let mut late = Listener::open(served, "/api/v1/events?since=2", "").await;
        let (kind, told) = late.next().await;
        assert_eq!((kind.as_str(), told), ("missed", json!({"type": "missed", "after": 2, "before": 90})));
        assert_eq!(late.next().await.1["seq"].as_u64(), Some(90));
        // A number from elsewhere is behind nothing, and what comes is heard.
        let mut strange = Listener::open(served, "/api/v1/events?since=4000", "").await;
        set(served, "r1", 7).await;
        assert_eq!(strange.next().await.1["seq"].as_u64(), Some(91));
    });
}

async fn socket(served: &Served, path: &str) -> tokio_tungstenite::WebSocketStream<UnixStream> {
    let stream = UnixStream::connect(served.home.socket()).await.unwrap();
    let asked = tokio_tungstenite::client_async(format!("ws://trellis{path}"), stream).await;
    asked.unwrap().0
}

async fn heard(socket: &mut tokio_tungstenite::WebSocketStream<UnixStream>) -> Value {
    loop {
        if let Message::Text(text) = socket.next().await.unwrap().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

#[test]
fn websockets_tell_the_events_of_their_kind_and_each_new_projection() {
    served(still(), two_runs, async |served| {
        let mut runs = socket(served, "/api/v1/checklist/ws?since=0").await;
        let mut pairs = socket(served, "/api/v1/pair/ws?since=0").await;
        let mut one = socket(served, "/api/v1/checklist/ws?run_id=r2").await;
        let mut drawn = socket(served, "/api/v1/projection/ws").await;
        assert_eq!(heard(&mut drawn).await["runs"].as_array().map(Vec::len), Some(2));
        for seq in [1, 3] {
            assert_eq!(heard(&mut runs).await["seq"].as_u64(), Some(seq));
        }
        for seq in [2, 4] {
            assert_eq!(heard(&mut pairs).await["seq"].as_u64(), Some(seq));
        }
        // What a client says means nothing, however long it is, and a close is answered.
        runs.send(Message::text("hello")).await.unwrap();
        set(served, "r1", 4).await;
        set(served, "r2", 4).await;
        for seq in [5, 6] {
            assert_eq!(heard(&mut runs).await["seq"].as_u64(), Some(seq));
        }
        assert_eq!(heard(&mut one).await["seq"].as_u64(), Some(6));
        runs.close(None).await.unwrap();
        while let Some(Ok(message)) = runs.next().await {
            assert!(message.is_close(), "{message:?}");
        }
        rename(served, "r1", "another name").await;
        loop {
            let projection = heard(&mut drawn).await;
            assert!(projection["shown"].is_null());
            if projection["runs"].as_array().unwrap().iter().any(|run| run["given_name"] == "another name") {
                break;
            }
        }
        let mut rude = socket(served, "/api/v1/projection/ws").await;
        let _ = rude.send(Message::binary(vec![0; 1 << 20])).await;
        while let Some(Ok(_)) = rude.next().await {}
        assert_eq!(served.ask("GET", "/api/v1/health", "").await.status, 200);
    });
}
