//! Times as they are shown, and when the next of them changes its words.
//! Takes the time and the zone; asks no clock.

use std::cell::Cell;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ZonedDateTime};

/// Writes times during one frame and remembers when the earliest of them will read differently.
#[derive(Clone, Debug)]
pub struct Times {
    now: Timestamp,
    zone: TimeZone,
    next: Cell<Option<Timestamp>>,
}

impl Times {
    /// For a frame that is drawn at `now`, in the zone of the person.
    #[must_use]
    pub fn new(now: Timestamp, zone: TimeZone) -> Self {
        Self { now, zone, next: Cell::new(None) }
    }

    /// The time of this frame.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// When something written so far will read differently.
    #[must_use]
    pub fn next_change(&self) -> Option<Timestamp> {
        self.next.get()
    }

    /// The frame must be drawn anew at this time.
    pub fn wake_at(&self, at: Timestamp) {
        if at > self.now && self.next.get().is_none_or(|next| at < next) {
            self.next.set(Some(at));
        }
    }

    /// How long ago: `12s`, `4m`, `3h19m`, `2d`.
    #[must_use]
    pub fn ago(&self, since: Timestamp) -> String {
        let seconds = self.now.duration_since(since).as_secs().max(0);
        let unit = if seconds < 60 { 1 } else { 60 };
        self.changes_at(since, (seconds / unit + 1) * unit);
        span(seconds)
    }

    /// How long ago in one unit, for lists: `12s`, `4m`, `3h`, `2d`.
    #[must_use]
    pub fn ago_short(&self, since: Timestamp) -> String {
        let seconds = self.now.duration_since(since).as_secs().max(0);
        let (unit, letter) = match seconds {
            ..60 => (1, 's'),
            60..3_600 => (60, 'm'),
            3_600..86_400 => (3_600, 'h'),
            _ => (86_400, 'd'),
        };
        self.changes_at(since, (seconds / unit + 1) * unit);
        format!("{}{letter}", seconds / unit)
    }

    /// How long until: minutes, and seconds only in the last one.
    #[must_use]
    pub fn until(&self, at: Timestamp) -> String {
        let seconds = at.duration_since(self.now).as_secs();
        if seconds <= 0 {
            return "now".to_owned();
        }
        let unit = if seconds <= 60 { 1 } else { 60 };
        let left = (seconds - 1) / unit * unit;
        if let Ok(change) = at.checked_sub(SignedDuration::from_secs(left)) {
            self.wake_at(change);
        }
        span(seconds)
    }

    /// `14:02` in the person's zone.
    #[must_use]
    pub fn clock(&self, at: Timestamp) -> String {
        self.zoned(at).strftime("%H:%M").to_string()
    }

    /// `14:02:10` in the person's zone.
    #[must_use]
    pub fn clock_seconds(&self, at: Timestamp) -> String {
        self.zoned(at).strftime("%H:%M:%S").to_string()
    }

    /// The day, when it is not today: `30 Nov`.
    #[must_use]
    pub fn day(&self, at: Timestamp) -> Option<String> {
        let day = self.zoned(at);
        (day.date() != self.zoned(self.now).date()).then(|| day.strftime("%-d %b").to_string())
    }

    fn zoned(&self, at: Timestamp) -> ZonedDateTime {
        at.to_zoned_datetime(self.zone.clone())
    }

    fn changes_at(&self, since: Timestamp, seconds: i64) {
        if let Ok(at) = since.checked_add(SignedDuration::from_secs(seconds)) {
            self.wake_at(at);
        }
    }
}

/// A length of time: `12s`, `4m`, `3h19m`, `2d`.
#[must_use]
pub fn span(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{}s", seconds.max(0)),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 if seconds % 3_600 < 60 => format!("{}h", seconds / 3_600),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_764_500_000 + seconds).unwrap()
    }

    #[test]
    fn seconds_only_under_a_minute() {
        let times = Times::new(at(0), TimeZone::UTC);
        assert_eq!(times.ago(at(-12)), "12s");
        assert_eq!(times.next_change(), Some(at(1)));
        assert_eq!(times.ago(at(-240)), "4m");
        assert_eq!(times.ago(at(-(3 * 3_600 + 19 * 60))), "3h19m");
        assert_eq!(times.ago(at(30)), "0s");
    }

    #[test]
    fn a_frame_of_minutes_waits_for_the_minute() {
        let times = Times::new(at(0), TimeZone::UTC);
        let _ = times.ago(at(-250));
        assert_eq!(times.next_change(), Some(at(50)));
        let _ = times.ago_short(at(-7_200));
        assert_eq!(times.next_change(), Some(at(50)));
    }

    #[test]
    fn countdowns_show_seconds_in_the_last_minute() {
        let times = Times::new(at(0), TimeZone::UTC);
        assert_eq!(times.until(at(45)), "45s");
        assert_eq!(times.next_change(), Some(at(1)));
        assert_eq!(Times::new(at(0), TimeZone::UTC).until(at(150)), "2m");
        assert_eq!(times.until(at(-5)), "now");
    }
}
