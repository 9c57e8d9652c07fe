//! Times, counts and what the system says of a process, put beside a limit and a goal. Measures nothing by itself.

use std::fs;
use std::time::{Duration, Instant};

/// What the columns mean.
pub fn head() {
    println!("{:<52} {:>12} {:>12} {:>8} {:>9}", "what", "measured", "limit", "ratio", "goal");
}

/// A time beside its limit; the goal is the greatest ratio.
pub fn beside(what: &str, measured: Duration, limit: Duration, goal: f64) {
    let ratio = measured.as_secs_f64() / limit.as_secs_f64();
    let word = if ratio <= goal { "" } else { "  missed" };
    println!("{what:<52} {:>12} {:>12} {ratio:>7.2}x {:>9}{word}", show(measured), show(limit), format!("≤ {goal}x"));
}

/// A count or size that may be at most so much.
pub fn at_most(what: &str, measured: f64, unit: &str, goal: f64) {
    let word = if measured <= goal { "" } else { "  missed" };
    println!(
        "{what:<52} {:>12} {:>12} {:>8} {:>9}{word}",
        format!("{measured:.1} {unit}"),
        "",
        "",
        format!("≤ {goal}")
    );
}

/// A figure without a goal.
pub fn note(what: &str, measured: &str) {
    println!("{what:<52} {measured:>12}");
}

/// Why something is not measured.
pub fn skipped(what: &str, why: &str) {
    println!("{what:<52} skipped: {why}");
}

pub fn show(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        micros if micros < 1_000.0 => format!("{micros:.1} µs"),
        micros if micros < 1_000_000.0 => format!("{:.2} ms", micros / 1e3),
        micros => format!("{:.2} s", micros / 1e6),
    }
}

/// The time of one call.
pub fn timed<T>(act: impl FnOnce() -> T) -> (Duration, T) {
    let begun = Instant::now();
    let made = act();
    (begun.elapsed(), made)
}

/// The median of so many calls, after one that does not count.
pub fn median<T>(rounds: usize, mut act: impl FnMut() -> T) -> Duration {
    drop(act());
    at(&mut (0..rounds).map(|_| timed(&mut act).0).collect::<Vec<_>>(), 0.5)
}

/// Medians of two acts, taken in turn: what else the machine does hits both alike.
pub fn medians<A, B>(rounds: usize, mut one: impl FnMut() -> A, mut two: impl FnMut() -> B) -> (Duration, Duration) {
    drop((one(), two()));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        first.push(timed(&mut one).0);
        second.push(timed(&mut two).0);
    }
    (at(&mut first, 0.5), at(&mut second, 0.5))
}

/// A quantile; zero of none.
pub fn at(times: &mut [Duration], part: f64) -> Duration {
    times.sort_unstable();
    let last = times.len().saturating_sub(1);
    times.get((last as f64 * part).round() as usize).copied().unwrap_or_default()
}

/// What the system says of a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vitals {
    /// Resident now, of that in memory of its own (the rest are pages of files: the program and its libraries), and at most so
    /// far, in MiB.
    pub resident: f64,
    pub own: f64,
    pub peak: f64,
    /// Clock ticks of processor time.
    pub ticks: u64,
    /// The same as the scheduler counts it.
    pub ran: Duration,
    /// How often a thread of it slept and was woken.
    pub wakes: u64,
}

/// Of a process by its id; zeros where the system does not say.
pub fn vitals(pid: u32) -> Vitals {
    let mut vitals = Vitals::default();
    let field = |text: &str, name: &str| -> u64 {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_whitespace().nth(1)).and_then(|word| word.parse().ok()).unwrap_or_default()
    };
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    vitals.resident = field(&status, "VmRSS:") as f64 / 1_024.0;
    vitals.own = field(&status, "RssAnon:") as f64 / 1_024.0;
    vitals.peak = field(&status, "VmHWM:") as f64 / 1_024.0;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let behind: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| behind.get(at).and_then(|word| word.parse::<u64>().ok()).unwrap_or_default();
    vitals.ticks = ticks(11) + ticks(12);
    for task in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        vitals.wakes += field(&status, "voluntary_ctxt_switches:");
        let ran = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        let nanos = ran.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or_default();
        vitals.ran += Duration::from_nanos(nanos);
    }
    vitals
}
