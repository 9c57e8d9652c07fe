//! Many runs in one driver and many who listen: each order is answered, each event is heard once by whoever reads, and who
//! does not read holds nobody up. What is asserted are counts; times, memory and the processor's are printed.
//! `TRELLIS_LOAD=full` is the size that is promised: 200 runs, 400 sessions, 50 listeners.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use trellis::driver::core::Options;
use trellis::driver::ports::Records as _;
use trellis::model::conversation::Conversation;
use trellis::model::ids::{Agent, SessionId};
use trellis::store::Store;

use super::{Served, served};
use crate::driver::world::{Talks, noon, seconds, session};
use crate::store::making::run;

/// Listeners, of which every fifth reads nothing before all is over.
const LISTENERS: usize = 50;
const SLOW: usize = 10;

struct Size {
    runs: usize,
    orders: usize,
}

fn size() -> Size {
    match std::env::var("TRELLIS_LOAD") {
        Ok(word) if word == "full" => Size { runs: 200, orders: 600 },
        _ => Size { runs: 60, orders: 120 },
    }
}

fn lay_out(runs: usize) -> impl FnOnce(&mut Store, &mut Talks) {
    move |store, talks| {
        for n in 0..runs {
            let mut record = run(&format!("run-{n:03}"));
            record.name = format!("shop {n}");
            record.implementer.session_id = SessionId::new(format!("c-{n}"));
            record.reviewer.session_id = SessionId::new(format!("x-{n}"));
            store.save_run(&record).unwrap();
            for side in [session(Agent::Claude, &format!("c-{n}")), session(Agent::Codex, &format!("x-{n}"))] {
                talks.conversations.insert(side.key(), Conversation::new(side.agent));
                talks.prompt(&side.key(), "hello", noon() - seconds(600));
                talks.answer(&side.key(), "Hello.", noon() - seconds(590));
            }
        }
    }
}

/// Somebody who hears the changes of settings.
struct Listener {
    lines: Lines<BufReader<UnixStream>>,
    seqs: Vec<u64>,
    missed: u64,
}

impl Listener {
    async fn open(served: &Served) -> Self {
        let mut stream = UnixStream::connect(served.home.socket()).await.unwrap();
        stream.write_all(b"GET /api/v1/events HTTP/1.1\r\nhost: t\r\n\r\n").await.unwrap();
        let mut lines = BufReader::new(stream).lines();
        while lines.next_line().await.unwrap().unwrap() != ": open" {}
        Self { lines, seqs: Vec::new(), missed: 0 }
    }

    /// Reads until so many changes of settings were heard or are told to be missed.
    async fn hear(mut self, wanted: usize) -> Self {
        while self.seqs.len() + usize::try_from(self.missed).unwrap() < wanted {
            let line = self.lines.next_line().await.unwrap().unwrap();
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let told: Value = serde_json::from_str(data).unwrap();
            match told["type"].as_str() {
                Some("checklist.config_changed") => self.seqs.push(told["seq"].as_u64().unwrap()),
                Some("missed") => self.missed += told["before"].as_u64().unwrap() - told["after"].as_u64().unwrap() - 1,
                _ => {}
            }
        }
        self
    }
}

/// A number of this process, by its name in `/proc/self/status`, in MiB.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default() / 1024
}

/// Seconds of the processor that this thread has used.
fn used() -> f64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or_default() / 1e9
}

#[test]
fn many_runs_and_many_listeners_are_served_and_who_does_not_read_holds_nobody_up() {
    let Size { runs, orders } = size();
    let rows = served(Options::default(), lay_out(runs), async |served| {
        let shown = served.handle.projection();
        assert_eq!((shown.runs.len(), shown.sessions.len()), (runs, 2 * runs));
        let mut quick = Vec::new();
        let mut slow = Vec::new();
        for n in 0..LISTENERS {
            let listener = Listener::open(served).await;
            if n % (LISTENERS / SLOW) == 0 {
                slow.push(listener);
            } else {
                quick.push(tokio::spawn(listener.hear(orders)));
            }
        }
        let (began, before) = (Instant::now(), used());
        let mut answers: Vec<Duration> = Vec::new();
        for n in 0..orders {
            let at = Instant::now();
            let body = format!("{{\"max_rounds\": {}}}", 11 + n / runs);
            let got = served.ask("PATCH", &format!("/api/v1/checklist/run-{:03}", n % runs), &body).await;
            assert_eq!(got.status, 200, "{got:?}");
            answers.push(at.elapsed());
        }
        let took = began.elapsed();
        let mut heard = 0;
        let mut first: Option<Vec<u64>> = None;
        for listener in quick {
            let listener = listener.await.unwrap();
            assert_eq!((listener.seqs.len(), listener.missed), (orders, 0));
            assert!(listener.seqs.windows(2).all(|pair| pair[0] < pair[1]), "each once, in order");
            assert_eq!(first.get_or_insert_with(|| listener.seqs.clone()), &listener.seqs, "all hear the same");
            heard += listener.seqs.len();
        }
        let (mut late, mut missed) = (0, 0);
        for listener in slow {
            // Whoever reads only now finds all of it in the journal, or is told what it no longer has.
            let listener = listener.hear(orders).await;
            assert!(listener.seqs.windows(2).all(|pair| pair[0] < pair[1]), "each once, in order");
            late += listener.seqs.len();
            missed += listener.missed;
        }
        answers.sort();
        let of = |share: usize| answers[(answers.len() - 1) * share / 100];
        println!(
            "{runs} runs, {} sessions, {LISTENERS} listeners ({SLOW} read nothing until the end): {orders} orders in \
             {took:.1?}; an answer after {:.1?} (p50), {:.1?} (p99); {heard} events heard live, {late} afterwards, \
             {missed} missed; {:.1} s of the processor, {} MiB at most",
            2 * runs,
            of(50),
            of(99),
            used() - before,
            memory("VmHWM"),
        );
    });
    println!("rows made of runs and of sessions: {rows:?}");
}
