//! What trellis does while nothing happens: processor time, wake-ups, bytes to the terminal, memory.

use std::time::Duration;

use trellis::paths::Home;

use crate::Plan;
use crate::corpus::Corpus;
use crate::gauge;
use crate::pty::cells;
use crate::start::trellis;

pub fn run(plan: &Plan) {
    let corpus = Corpus::of(plan);
    let home = tempfile::tempdir_in(&plan.data).unwrap();
    let mut screen = trellis(&corpus.homes(&Home::at(home.path())));
    screen.until(Duration::from_mins(1), |bytes| cells(bytes) >= 200).expect("a first screen");
    // The list of runs, without a run, shows no age of anything.
    screen.settle(Duration::from_secs(5));
    let before = gauge::vitals(screen.pid());
    let bytes = screen.rest(Duration::from_secs(plan.seconds));
    let after = gauge::vitals(screen.pid());
    let minutes = plan.seconds as f64 / 60.0;
    let ticks = (after.ticks - before.ticks) as f64 / minutes;
    gauge::at_most("idle: clock ticks of 10 ms a minute", ticks, "", 1.0);
    gauge::note("  as the scheduler counts", &gauge::show(after.ran.saturating_sub(before.ran).div_f64(minutes)));
    gauge::at_most("idle: wake-ups a minute", (after.wakes - before.wakes) as f64 / minutes, "", 8.0);
    gauge::at_most("idle: bytes to the terminal", bytes as f64, "B", 0.0);
    gauge::at_most("idle: resident", after.resident, "MiB", 12.0);
}
