//! Whole transcripts through the reader, beside cutting the same bytes into lines. The screens read no whole file but that
//! of a run's session, once.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use trellis::model::ids::Agent;
use trellis::transcript::Reader;

use crate::Plan;
use crate::corpus::Corpus;
use crate::gauge;

fn cut(path: &Path) -> usize {
    let mut file = File::open(path).unwrap();
    let mut buffer = vec![0; 64 * 1_024];
    let mut lines = 0;
    loop {
        match file.read(&mut buffer).unwrap() {
            0 => return lines,
            count => lines += memchr::memchr_iter(b'\n', &buffer[..count]).count(),
        }
    }
}

fn read(path: &Path) -> u64 {
    let mut file = File::open(path).unwrap();
    let mut buffer = vec![0; 64 * 1_024];
    let mut reader = Reader::new(Agent::Claude);
    loop {
        match file.read(&mut buffer).unwrap() {
            0 => return reader.consumed(),
            count => reader.push(&buffer[..count]),
        }
    }
}

pub fn run(plan: &Plan) {
    let path = Corpus::long(plan, plan.long);
    let (read, cut) = gauge::medians(3, || read(&path), || cut(&path));
    gauge::beside("the long transcript, read whole | memchr lines", read, cut, 1.0 / 0.45);
    let rate = path.metadata().unwrap().len() as f64 / 1e6 / read.as_secs_f64();
    gauge::note("  of that", &format!("{rate:.0} MB/s"));
}
