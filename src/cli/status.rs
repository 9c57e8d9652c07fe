//! `trellis status`: how everything stands, from the files alone: quick enough for tmux's status line, and always 0.

use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Failure, out};
use crate::boot::Ground;
use crate::clock;
use crate::projection::counts::Counts;
use crate::projection::{DriverFact, Projection, RunView, words};
use crate::tell::lines;

/// Ended runs of this time are named as well.
const LATELY: SignedDuration = SignedDuration::from_hours(24);

/// Says how everything stands.
///
/// # Errors
/// The home cannot be read.
pub fn status(home: Option<&Path>, short: bool, json: bool) -> Result<(), Failure> {
    let ground = Ground::find(home)?;
    // A status line of tmux has no room for it.
    if !short {
        let _ = super::show::home_is_there(&ground);
    }
    let projection = ground.glance();
    match told(&projection, short, json) {
        // A status line that is not read is no failure.
        Err(failure) if failure == Failure::said() => Ok(()),
        told => told,
    }
}

fn told(projection: &Projection, short: bool, json: bool) -> Result<(), Failure> {
    let counts = Counts::of(projection);
    if !short {
        // What of the home cannot be read.
        for notice in projection.notices.iter().filter(|notice| notice.is_error) {
            out::note(&notice.text);
        }
    }
    if json {
        return out::json(&value(projection, counts));
    }
    if short {
        return out::line(&counts.short());
    }
    let mut runs: Vec<&RunView> = projection.runs.iter().filter(|run| is_news(run)).collect();
    if runs.is_empty() {
        return out::line("nothing goes on; trellis run start begins a run, trellis demo shows one");
    }
    runs.sort_by_key(|run| (run.standing, std::cmp::Reverse(run.since)));
    let is_over = runs.iter().all(|run| run.stopped_at.is_some() || run.read_only.is_some());
    out::line(&out::plain(&headline(&projection.driver, counts, is_over)))?;
    for run in runs {
        out::line(&out::plain(&format!("{}  {}", lines::line(run), times(run))))?;
    }
    Ok(())
}

fn is_news(run: &RunView) -> bool {
    run.stopped_at.is_none_or(|at| clock::now().duration_since(at) < LATELY)
}

/// `(since 14:20, 4m)`, `(ended 14:20, 2h ago)`.
fn times(run: &RunView) -> String {
    let (now, zone) = (clock::now(), TimeZone::system());
    let ago = |at: Timestamp| words::span(now.duration_since(at));
    match run.stopped_at {
        Some(at) => format!("(ended {}, {} ago)", words::moment(at, now, &zone), ago(at)),
        None if run.read_only.is_some() => {
            format!("(written {}, {} ago)", words::moment(run.since, now, &zone), ago(run.since))
        }
        None => format!("(since {}, {})", words::moment(run.since, now, &zone), ago(run.since)),
    }
}

fn headline(driver: &DriverFact, counts: Counts, is_over: bool) -> String {
    let needs = match counts.needs_you {
        0 => "nothing needs you".to_owned(),
        1 => "1 run needs you".to_owned(),
        n => format!("{n} runs need you"),
    };
    let who = match driver {
        DriverFact::Elsewhere { background: true, .. } => {
            format!("{} drives in the background", driver.who().unwrap_or_default())
        }
        DriverFact::Elsewhere { .. } => format!("{} drives", driver.who().unwrap_or_default()),
        _ if is_over => "nothing is left to drive".to_owned(),
        DriverFact::Here | DriverFact::Starting | DriverFact::Silent { .. } | DriverFact::Nobody => {
            "nobody drives: trellis or trellis drive goes on".to_owned()
        }
    };
    let shown = if counts.shown > 0 { format!(", {} only shown", counts.shown) } else { String::new() };
    format!("{needs}, {} going{shown}; {who}", counts.going)
}

fn value(projection: &Projection, counts: Counts) -> Value {
    let driver = match &projection.driver {
        DriverFact::Elsewhere { pid, background } | DriverFact::Silent { pid, background } => {
            json!({"pid": pid, "background": background})
        }
        DriverFact::Here | DriverFact::Starting | DriverFact::Nobody => Value::Null,
    };
    let runs: Vec<Value> = projection
        .runs
        .iter()
        .map(|run| {
            let reason = run.banner.as_ref().and_then(|banner| banner.reason);
            json!({
                "id": run.key.as_str(), "revision": run.revision, "name": run.name, "state": run.state_word, "standing": run.standing,
                "reason": reason, "sentence": run.sentence, "since": run.since, "phase": run.phase,
                "relays": run.relays, "max_relays": run.max_relays, "stopped_at": run.stopped_at,
                "read_only": run.read_only,
            })
        })
        .collect();
    json!({
        "short": counts.short(), "needs_you": counts.needs_you, "going": counts.going, "only_shown": counts.shown,
        "home": projection.home,
        "driver": driver, "runs": runs,
    })
}
