//! Reset times in the agents' words. All was said on Monday, 30 November 2026, at 14:20 UTC.

use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::Resets;

fn found(words: &str) -> String {
    let berlin = TimeZoneDatabase::bundled().get("Europe/Berlin").unwrap();
    let at = "2026-11-30T14:20:00Z".parse().unwrap();
    Resets::new(berlin).find(words, Some(at)).map_or("-".to_owned(), |time| time.to_string())
}

#[test]
fn times_of_day_are_the_next_such_time() {
    let cases = [
        ("You've hit your limit · resets 5pm (Europe/Berlin)", "2026-11-30T16:00:00Z"),
        ("resets 5pm (America/New_York)", "2026-11-30T22:00:00Z"),
        ("Your limit will reset at 5pm (Asia/Tokyo).", "2026-12-01T08:00:00Z"),
        ("resets at 17:00", "2026-11-30T16:00:00Z"),
        ("resets 17:00 UTC", "2026-11-30T17:00:00Z"),
        ("resets 3:10 PM", "2026-12-01T14:10:00Z"),
        ("resets 3:30 p.m.", "2026-11-30T14:30:00Z"),
        ("resets 12am", "2026-11-30T23:00:00Z"),
        ("try again at 5:30 PM.", "2026-11-30T16:30:00Z"),
        ("resets tomorrow at 9:00am (UTC)", "2026-12-01T09:00:00Z"),
        ("resets noon tomorrow", "2026-12-01T11:00:00Z"),
    ];
    for (words, time) in cases {
        assert_eq!(found(words), time, "{words}");
    }
}

#[test]
fn days_are_understood() {
    let cases = [
        ("resets Dec 3 at 5pm (UTC)", "2026-12-03T17:00:00Z"),
        ("resets Dec 3, 5:30pm (Europe/Berlin)", "2026-12-03T16:30:00Z"),
        ("try again at Dec 4th, 2026 5:30 PM.", "2026-12-04T16:30:00Z"),
        ("resets January 2, 8am (UTC)", "2027-01-02T08:00:00Z"),
        ("resets Thursday 5pm (UTC)", "2026-12-03T17:00:00Z"),
        ("resets Mon 10am (UTC)", "2026-12-07T10:00:00Z"),
        ("resets on 2026-12-05 at 06:00 (UTC)", "2026-12-05T06:00:00Z"),
        ("resets 2026-12-05T06:00:00Z", "2026-12-05T06:00:00Z"),
    ];
    for (words, time) in cases {
        assert_eq!(found(words), time, "{words}");
    }
}

#[test]
fn spans_count_from_the_record() {
    let cases = [
        ("try again in 2 hours 5 minutes", "2026-11-30T16:25:00Z"),
        ("try again in 3 days, 4 hours and 1 minute.", "2026-12-03T18:21:00Z"),
        ("try again in an hour", "2026-11-30T15:20:00Z"),
        ("Please try again in 1.5s. Visit the page", "2026-11-30T14:20:01.5Z"),
        ("resets in 2h5m", "2026-11-30T16:25:00Z"),
        ("retry after 3600 seconds", "2026-11-30T15:20:00Z"),
    ];
    for (words, time) in cases {
        assert_eq!(found(words), time, "{words}");
    }
}

#[test]
fn epochs_are_read_behind_a_bar() {
    assert_eq!(found("Claude AI usage limit reached|1796050284"), "2026-11-30T14:51:24Z");
    assert_eq!(found("usage limit reached|1796050284000"), "2026-11-30T14:51:24Z");
}

#[test]
fn what_names_no_time_gives_none() {
    for words in [
        "",
        "try again in a moment",
        "Try again later",
        "resets",
        "resets 5",
        "resets at 25:00",
        "resets 13pm",
        "try again in 99999999999999999999 hours",
        "resets Feb 30 at 5pm",
        "resets 5pm (Nowhere/Land)x|12",
        "a|b|1796",
    ] {
        let time = found(words);
        assert!(time == "-" || words.contains("Nowhere"), "{words}: {time}");
    }
    assert_eq!(Resets::new(TimeZone::UTC).find("resets 5pm", None), None, "no time of its own, no reset time");
}
