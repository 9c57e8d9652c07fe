//! `--since`: what happened in a run, or in all, since a time that a person names.

use std::path::Path;

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use super::{Failure, out, show};
use crate::boot::Ground;
use crate::clock;
use crate::model::ids::RecordKey;
use crate::projection::summary::Summary;

/// What happened in one run.
///
/// # Errors
/// There is no such run, or the home cannot be read.
pub fn of_run(home: Option<&Path>, id: &str, since: Timestamp, json: bool) -> Result<(), Failure> {
    let ground = Ground::find(home)?;
    let key = RecordKey::Run(show::find(&ground.records(), id)?.id.clone());
    print(&ground.happened_since(since).only(&key), json)
}

/// What happened in all runs.
///
/// # Errors
/// The home cannot be read.
pub fn of_all(home: Option<&Path>, since: Timestamp, json: bool) -> Result<(), Failure> {
    print(&Ground::find(home)?.happened_since(since), json)
}

fn print(summary: &Summary, json: bool) -> Result<(), Failure> {
    if json {
        return out::json(summary);
    }
    out::page(&summary.markdown(&TimeZone::system()))
}

/// A time that lies behind us.
///
/// # Errors
/// It is none, or lies ahead.
pub fn past(text: &str) -> Result<Timestamp, String> {
    before(text, clock::now(), &TimeZone::system())
}

fn before(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, String> {
    const SAY: &str = "write 30m, 2h, 1d, 23:10, or a time with its date: 2026-03-14T23:10";
    let at = length(text)
        .and_then(|length| now.checked_sub(length).ok())
        .or_else(|| text.parse::<Timestamp>().ok())
        .or_else(|| zone.to_timestamp(text.parse::<DateTime>().ok()?).ok())
        .or_else(|| last(text.parse().ok()?, now, zone))
        .ok_or(SAY)?;
    if at > now { Err("that lies ahead".to_owned()) } else { Ok(at) }
}

/// `30m`, `1h30m`, `2d`.
fn length(text: &str) -> Option<SignedDuration> {
    let days =
        text.strip_suffix('d').and_then(|days| days.parse::<i64>().ok()).filter(|days| (0..10_000).contains(days));
    days.map(|days| SignedDuration::from_hours(24 * days))
        .or_else(|| text.parse::<SignedDuration>().ok().filter(|length| !length.is_negative()))
}

/// The last time a clock showed this.
fn last(time: Time, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let today = now.to_zoned_datetime(zone.clone()).date();
    let at = |date: jiff::civil::Date| zone.to_timestamp(date.to_datetime(time)).ok();
    at(today).filter(|at| *at <= now).or_else(|| at(today.checked_sub(1.day()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_past_time_is_read_as_people_write_it() {
        let now: Timestamp = "2026-03-14T14:21:12Z".parse().unwrap();
        let of = |text: &str| before(text, now, &TimeZone::UTC).map(|at| at.to_string());
        assert_eq!(of("30m").unwrap(), "2026-03-14T13:51:12Z");
        assert_eq!(of("1h30m").unwrap(), "2026-03-14T12:51:12Z");
        assert_eq!(of("2d").unwrap(), "2026-03-12T14:21:12Z");
        assert_eq!(of("09:05").unwrap(), "2026-03-14T09:05:00Z");
        assert_eq!(of("23:10").unwrap(), "2026-03-13T23:10:00Z");
        assert_eq!(of("2026-03-01T08:00").unwrap(), "2026-03-01T08:00:00Z");
        assert_eq!(of("2026-03-01T08:00:00+02:00").unwrap(), "2026-03-01T06:00:00Z");
        for wrong in ["", "soon", "-5m", "2027-01-01T00:00"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
