//! Many runs and many who listen, in a driver of its own: the program itself, on the disk, with scripted agents. Each order
//! is answered and each event heard once; who does not read holds nobody up. What is asserted are counts; times, memory
//! and the processor's are printed. `TRELLIS_LOAD=full` is the size that is promised: 200 runs, 400 sessions, 50 listeners.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trellis::agent::scripted::home;

use super::demo::{Ended, trellis};

struct Size {
    runs: usize,
    orders: usize,
    listeners: usize,
    /// So long nothing is done, to see what that costs.
    rest: Duration,
}

fn size() -> Size {
    match std::env::var("TRELLIS_LOAD") {
        Ok(word) if word == "full" => Size { runs: 200, orders: 1_000, listeners: 50, rest: Duration::from_mins(1) },
        _ => Size { runs: 12, orders: 36, listeners: 10, rest: Duration::ZERO },
    }
}

/// A demo's home with so many pairs of sessions beside the one that has played.
fn lay_out(home: &Path, pairs: usize) {
    assert!(trellis(home).args(["demo", "--headless", "--speed", "100"]).output().unwrap().status.success());
    let file = home.join("demo/cast.json");
    let mut cast: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let members = cast["sessions"].as_array_mut().unwrap();
    members.truncate(2);
    for pair in 0..pairs {
        for (agent, role) in [("claude", "implementer"), ("codex", "reviewer")] {
            let id = format!("{:08x}-0000-4000-8000-{pair:012x}", if agent == "claude" { 1 } else { 2 });
            let transcript = match agent {
                "claude" => format!("agents/claude/projects/-load-{pair}/{id}.jsonl"),
                _ => format!("agents/codex/sessions/2026/12/01/rollout-2026-12-01T00-00-00-{id}.jsonl"),
            };
            let worktree = format!("work/load-{pair}");
            members.push(json!({
                "role": role, "spare": true, "agent": agent, "session_id": id, "worktree": worktree, "transcript": transcript,
            }));
        }
    }
    fs::write(&file, cast.to_string()).unwrap();
    let stage = home::open(home).unwrap().unwrap();
    for part in stage.parts.iter().filter(|part| part.role.is_none()) {
        fs::create_dir_all(&part.player.who.cwd).unwrap();
        fs::create_dir_all(part.transcript.parent().unwrap()).unwrap();
        fs::write(&part.transcript, part.player.opening(stage.created_at)).unwrap();
    }
}

fn ask(home: &Path, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let mut stream = UnixStream::connect(home.join("trellis.sock")).unwrap();
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    let head =
        format!("{method} /api/v1/{path} HTTP/1.1\r\nhost: t\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
}

/// Somebody who hears the changes of settings.
struct Listener(BufReader<UnixStream>);

impl Listener {
    fn open(home: &Path) -> Self {
        let mut stream = UnixStream::connect(home.join("trellis.sock")).unwrap();
        stream.write_all(b"GET /api/v1/events HTTP/1.1\r\nhost: t\r\n\r\n").unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while line.trim_end() != ": open" {
            line.clear();
            assert!(reader.read_line(&mut line).unwrap() > 0);
        }
        Self(reader)
    }

    /// Reads until so many changes of settings were heard or are told to be missed: their numbers, and how many were missed.
    fn hear(mut self, wanted: usize) -> (Vec<u64>, u64) {
        let (mut seqs, mut missed) = (Vec::new(), 0);
        while seqs.len() + usize::try_from(missed).unwrap() < wanted {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "{} of {wanted}", seqs.len());
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let told: Value = serde_json::from_str(data).unwrap();
            match told["type"].as_str() {
                Some("checklist.config_changed") => seqs.push(told["seq"].as_u64().unwrap()),
                Some("missed") => missed += told["before"].as_u64().unwrap() - told["after"].as_u64().unwrap() - 1,
                _ => {}
            }
        }
        (seqs, missed)
    }
}

/// Seconds of the processor, and MiB resident at most and now, of a process.
fn used(pid: u32) -> (f64, u64, u64) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or_default();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default() / 1024
    };
    ((ticks(11) + ticks(12)) / 100.0, of("VmHWM"), of("VmRSS"))
}

#[test]
fn many_runs_and_many_listeners_are_served_by_a_driver_of_its_own() {
    let Size { runs, orders, listeners, rest } = size();
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    lay_out(&home, runs);
    let log = fs::File::create(folder.path().join("said")).unwrap();
    let began = Instant::now();
    let driver = trellis(&home).args(["drive", "--stay"]).stdout(Stdio::null()).stderr(log).spawn().unwrap();
    let driver = Ended(driver);
    let pid = driver.0.id();
    while UnixStream::connect(home.join("trellis.sock")).is_err() {
        std::thread::yield_now();
    }
    let up = began.elapsed();
    let mut ids = Vec::new();
    let began = Instant::now();
    for pair in 0..runs {
        let (status, run) = ask(
            &home,
            "POST",
            "checklist",
            &json!({
                "implementer": {"agent": "claude", "session_id": format!("00000001-0000-4000-8000-{pair:012x}")},
                "reviewer": {"agent": "codex", "session_id": format!("00000002-0000-4000-8000-{pair:012x}")},
                "name": format!("load {pair}"),
            }),
        );
        assert_eq!(status, 201, "{run}");
        ids.push(run["id"].as_str().unwrap().to_owned());
    }
    let made = began.elapsed();
    let health = ask(&home, "GET", "health", &Value::Null).1;
    assert!(health["sessions"].as_u64().unwrap() >= 2 * runs as u64, "{health}");
    let (slow, quick): (Vec<usize>, Vec<usize>) = (0..listeners).partition(|n| n % 5 == 0);
    let slow: Vec<Listener> = slow.iter().map(|_| Listener::open(&home)).collect();
    let quick: Vec<_> = quick
        .iter()
        .map(|_| {
            let listener = Listener::open(&home);
            std::thread::spawn(move || listener.hear(orders))
        })
        .collect();
    let (began, (before, _, _)) = (Instant::now(), used(pid));
    let mut answers = Vec::new();
    for n in 0..orders {
        let at = Instant::now();
        let (status, run) =
            ask(&home, "PATCH", &format!("checklist/{}", ids[n % runs]), &json!({"max_rounds": 11 + n / runs}));
        assert_eq!(status, 200, "{run}");
        answers.push(at.elapsed());
    }
    let took = began.elapsed();
    let quick: Vec<(Vec<u64>, u64)> = quick.into_iter().map(|listener| listener.join().unwrap()).collect();
    for (seqs, missed) in &quick {
        assert_eq!((seqs.len(), *missed, seqs), (orders, 0, &quick[0].0), "all hear all of it, and the same");
        assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "each once, in order");
    }
    let (mut late, mut missed) = (0, 0);
    for listener in slow {
        let (seqs, gone) = listener.hear(orders);
        assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "each once, in order");
        (late, missed) = (late + seqs.len(), missed + gone);
    }
    let (after, most, now) = used(pid);
    std::thread::park_timeout(rest);
    let (rested, _, _) = used(pid);
    answers.sort();
    let of = |share: usize| answers[(answers.len() - 1) * share / 100];
    println!(
        "{runs} runs, {} sessions, {listeners} listeners ({} read nothing until the end): up in {up:.1?}, made in {made:.1?}; \
         {orders} orders in {took:.1?}, an answer after {:.1?} (p50), {:.1?} (p99); \
         {} events heard live, {late} afterwards, {missed} missed; {:.1} s of the processor, {most} MiB at most, {now} MiB now; \
         {:.2} s of the processor in {rest:.0?} of rest",
        2 * runs,
        listeners / 5,
        of(50),
        of(99),
        quick.iter().map(|(seqs, _)| seqs.len()).sum::<usize>(),
        after - before,
        rested - after,
    );
}
