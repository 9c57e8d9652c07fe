//! Frames are counted by a clock that the test turns.

use super::*;

/// The times of the frames of three seconds, in which something changes at each of these steps.
fn frames(step: Duration) -> Vec<Duration> {
    let start = Instant::now();
    let (mut pace, mut drawn) = (Pace::default(), Vec::new());
    let mut past = Duration::ZERO;
    while past < Duration::from_secs(3) {
        pace.changed();
        // The loop sleeps until a frame is due; what changes meanwhile is in that frame.
        let now = start + past;
        if pace.due(now).is_some_and(|due| due <= now) {
            drawn.push(past);
            pace.drawn(now);
        }
        past += step;
    }
    drawn
}

#[test]
fn at_most_thirty_frames_are_drawn_in_any_second() {
    for micros in [100, 333, 1_000, 7_000, 33_000, 33_333] {
        let drawn = frames(Duration::from_micros(micros));
        for (at, first) in drawn.iter().enumerate() {
            let second =
                drawn[at..].iter().take_while(|time| time.saturating_sub(*first) < Duration::from_secs(1)).count();
            assert!(second <= 30, "{second} frames from {first:?} on, a change every {micros} µs");
        }
        assert!(drawn.len() > 40, "{} frames: it does not stand still either", drawn.len());
    }
}

#[test]
fn nothing_is_due_while_nothing_changes_and_the_first_change_after_a_rest_is_drawn_at_once() {
    let start = Instant::now();
    let mut pace = Pace::default();
    assert_eq!(pace.due(start), Some(start), "the first frame");
    pace.drawn(start);
    let later = start + Duration::from_mins(1);
    assert_eq!(pace.due(later), None);
    pace.changed();
    assert!(pace.due(later).is_some_and(|due| due <= later));
}

#[test]
fn one_frame_more_is_drawn_at_once_after_a_rest_and_the_next_one_waits() {
    let now = Instant::now() + Duration::from_mins(1);
    let mut pace = Pace::default();
    for _ in 0..2 {
        assert!(pace.due(now).is_some_and(|due| due <= now));
        pace.drawn(now);
        pace.changed();
    }
    assert_eq!(pace.due(now), Some(now + FRAME));
    // What was not used up is not saved.
    let later = now + 100 * FRAME;
    for _ in 0..2 {
        pace.drawn(later);
        pace.changed();
    }
    assert_eq!(pace.due(later), Some(later + FRAME));
}
