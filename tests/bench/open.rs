//! A long transcript on the screen: from the key to its last words, and what that takes of memory. Beside `less`.

use std::time::Duration;

use trellis::paths::Home;

use crate::Plan;
use crate::corpus::{Corpus, LAST_WORDS, One, homes};
use crate::gauge;
use crate::pty::{Pty, cells, holds, installed};
use crate::start::trellis;

const ROUNDS: usize = 5;
const PATIENCE: Duration = Duration::from_mins(1);

pub fn run(plan: &Plan) {
    for mib in [plan.long, 5 * plan.long] {
        let one = One::of(plan, Some(&Corpus::long(plan, mib)));
        let (mut opened, mut paged) = (Vec::new(), Vec::new());
        let (mut idle, mut resident, mut own, mut peak) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        for _ in 0..ROUNDS {
            let home = tempfile::tempdir_in(&plan.data).unwrap();
            let mut screen = trellis(&homes(one.folder.path(), &Home::at(home.path())));
            screen.until(PATIENCE, |bytes| cells(bytes) >= 200).expect("a first screen");
            screen.settle(Duration::from_millis(500));
            idle = idle.max(gauge::vitals(screen.pid()).resident);
            let begun = std::time::Instant::now();
            // The list of sessions, and beside it the conversation of the first.
            screen.press("2");
            let drawn = screen.until(PATIENCE, |bytes| holds(bytes, LAST_WORDS)).expect("its last words");
            opened.push(drawn - begun);
            screen.settle(Duration::from_secs(3));
            let vitals = gauge::vitals(screen.pid());
            (resident, own) = (resident.max(vitals.resident), own.max(vitals.own));
            peak = peak.max(vitals.peak);
            drop(screen);
            if let Some(less) = installed("less") {
                let mut screen = Pty::start(&less, &["+G".as_ref(), one.path.as_os_str()], &[]);
                let drawn = screen.until(PATIENCE, |bytes| cells(bytes) >= 200).expect("a first screen");
                paged.push(drawn - screen.begun);
            }
        }
        let name = format!("{mib} MiB: ");
        let opened = gauge::at(&mut opened, 0.5);
        match gauge::at(&mut paged, 0.5) {
            Duration::ZERO => gauge::skipped(&format!("{name}beside less"), "less is not installed"),
            paged => gauge::beside(&format!("{name}from the key to the last words | less +G"), opened, paged, 1.5),
        }
        let growth = (resident - idle) / mib as f64 * 1_024.0;
        gauge::at_most(&format!("{name}resident with it open"), resident, "MiB", 20.0);
        gauge::note(&format!("{name}of that its own"), &format!("{own:.1} MiB"));
        gauge::note(&format!("{name}at most until then"), &format!("{peak:.1} MiB"));
        gauge::at_most(&format!("{name}growth for each GiB of transcript"), growth, "MiB", 1.0);
    }
    long_line(plan);
}

/// An answer of 12 MB, written in pieces into a transcript that is shown.
fn long_line(plan: &Plan) {
    let mut one = One::of(plan, Some(&Corpus::long(plan, 1)));
    let home = tempfile::tempdir_in(&plan.data).unwrap();
    let mut screen = trellis(&homes(one.folder.path(), &Home::at(home.path())));
    screen.until(PATIENCE, |bytes| cells(bytes) >= 200).expect("a first screen");
    screen.press("2");
    screen.until(PATIENCE, |bytes| holds(bytes, LAST_WORDS)).expect("its last words");
    screen.settle(Duration::from_millis(500));
    let line = one.line(&"A".repeat(12_000_000));
    for piece in line.as_bytes().chunks(65_536) {
        one.append(piece);
    }
    screen.until(PATIENCE, |bytes| holds(bytes, "AAAAAAAAAA")).expect("the long line");
    screen.settle(Duration::from_secs(1));
    let vitals = gauge::vitals(screen.pid());
    gauge::at_most("a line of 12 MB: resident at most", vitals.peak, "MiB", 40.0);
    gauge::note("  resident afterwards", &format!("{:.1} MiB", vitals.resident));
}
