//! Times and counts as the screen says them.

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use super::super::samples::{after, noon};
use super::{as_name, count, moment, quoted, span, unmarked};

#[test]
fn seconds_are_told_only_under_a_minute() {
    let told = |seconds| span(SignedDuration::from_secs(seconds));
    assert_eq!([told(-3), told(12), told(59)], ["0s", "12s", "59s"]);
    assert_eq!([told(60), told(245), told(3_599)], ["1m", "4m", "59m"]);
    assert_eq!([told(3_600), told(11_940), told(86_400), told(200_000)], ["1h", "3h19m", "1d", "2d"]);
}

#[test]
fn a_title_has_no_marks() {
    assert_eq!(unmarked("## The cart is in `src/cart.rs`, **whole**"), "The cart is in src/cart.rs, whole");
    assert_eq!(as_name("The cart is in `src/cart.rs`: "), "The cart is in src/cart.rs");
}

#[test]
fn another_day_is_named() {
    assert_eq!(moment(after(7_200), noon(), &TimeZone::UTC), "14:00");
    assert_eq!(moment(after(61_200), noon(), &TimeZone::UTC), "Mar 2 05:00");
}

#[test]
fn one_is_no_plural_and_quotes_are_one_line() {
    assert_eq!([count(1, "relay"), count(5, "relay")], ["1 relay", "5 relays"]);
    assert_eq!(quoted("\n  first\nsecond"), "“first”");
    assert_eq!(quoted(&"x".repeat(90)).chars().count(), 83);
}
