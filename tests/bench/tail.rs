//! A line that is appended to a transcript somebody holds a snapshot of, in short and long files; and a line of 12 MB.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use trellis::driver::ports::Transcripts as _;
use trellis::model::ids::{Agent, SessionId, SessionRef};
use trellis::supervise::Supervisor;
use trellis::watch;

use crate::Plan;
use crate::corpus::{Corpus, LONG, One, roots};
use crate::gauge;

const LINES: usize = 2_000;

pub fn run(plan: &Plan) {
    for mib in [1, plan.long, 5 * plan.long] {
        let mut one = One::of(plan, Some(&Corpus::long(plan, mib)));
        let (mut watch, _woken) = watch::start(&roots(one.folder.path()), &Supervisor::new());
        let session = SessionRef { agent: Agent::Claude, worktree: String::new(), session_id: SessionId::new(LONG) };
        let now = jiff::Timestamp::now();
        let before = gauge::vitals(std::process::id()).resident;
        let (took, first) = gauge::timed(|| watch.read(&session, now));
        let grown = gauge::vitals(std::process::id()).resident - before;
        let mut held = Some(first);
        let file = File::open(&one.path).unwrap();
        let mut offset = file.metadata().unwrap().len();
        let (mut read, mut raw) = (Vec::new(), Vec::new());
        let mut buffer = vec![0; 64 * 1_024];
        for line in one.lines(LINES) {
            one.append(line.as_bytes());
            let limit = || {
                let length = file.metadata().unwrap().len();
                let count = file.read_at(&mut buffer, offset).unwrap();
                assert_eq!(offset + count as u64, length);
                offset = length;
                memchr::memchr_iter(b'\n', &buffer[..count]).count()
            };
            raw.push(gauge::timed(limit).0);
            // What was read before is held until what is read now takes its place: as the driver does.
            let (took, next) = gauge::timed(|| watch.read(&session, now));
            held.replace(next);
            read.push(took);
        }
        let name = format!("{mib} MiB: ");
        gauge::note(&format!("{name}read whole, once"), &gauge::show(took));
        gauge::note(&format!("{name}grown by"), &format!("{grown:.1} MiB"));
        let half = |times: &mut Vec<Duration>| gauge::at(times, 0.5);
        gauge::beside(&format!("{name}one more line, median | stat and read"), half(&mut read), half(&mut raw), 4.0);
        let p99 = gauge::at(&mut read, 0.99);
        gauge::at_most(&format!("{name}one more line, p99"), p99.as_secs_f64() * 1e6, "µs", 10.0);
    }
    long_line(plan);
}

/// A line of 12 MB in pieces, as an agent writes it.
fn long_line(plan: &Plan) {
    let mut one = One::of(plan, None);
    let (mut watch, _woken) = watch::start(&roots(one.folder.path()), &Supervisor::new());
    let session = SessionRef { agent: Agent::Claude, worktree: String::new(), session_id: SessionId::new(LONG) };
    let now = jiff::Timestamp::now();
    let mut held = Some(watch.read(&session, now));
    let line = one.line(&"A".repeat(12_000_000));
    let mut took = Duration::ZERO;
    for piece in line.as_bytes().chunks(65_536) {
        one.append(piece);
        took += gauge::timed(|| held.replace(watch.read(&session, now))).0;
    }
    let limit = gauge::median(5, || {
        let bytes = std::fs::read(&one.path).unwrap();
        memchr::memchr_iter(b'\n', &bytes).count()
    });
    gauge::beside("a line of 12 MB in 184 pieces | the file read", took, limit, 20.0);
    drop(held);
}
