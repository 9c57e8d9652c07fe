//! Times in a record that have not come yet: the wall clock was set back since they were written. Each becomes now, or
//! what waits for it would wait until the old time comes again.

use jiff::{SignedDuration, Timestamp};

use super::common::Loop;
use super::draft::Draft;
use super::setback;

/// Beyond this a time of somebody else's is from before the clock was set back.
const AHEAD: SignedDuration = SignedDuration::from_secs(5);

/// Brings the times that waits are counted from back to now.
pub(super) fn take_back<R: Loop>(draft: &mut Draft<'_, R>) {
    let now = draft.now();
    let late = |at: &mut Option<Timestamp>| {
        let is_ahead = at.is_some_and(|at| at > now);
        if is_ahead {
            *at = Some(now);
        }
        is_ahead
    };
    let mut found = draft.rec.paused_at_mut().is_some_and(|at| at > now);
    late(draft.rec.paused_at_mut());
    for entry in draft.rec.outbox_mut().iter_mut().filter(|entry| entry.is_open()) {
        let times = [
            &mut entry.attempt_at,
            &mut entry.last_key_at,
            &mut entry.clock_from,
            &mut entry.quiet_since,
            &mut entry.carried_at,
        ];
        for at in times {
            found |= late(at);
        }
        if entry.prepared_at > now {
            entry.prepared_at = now;
            found = true;
        }
    }
    let longest = setback::longest_retry(draft);
    if let Some(retry) = draft.rec.retry_mut().as_mut().filter(|retry| retry.at > longest) {
        retry.at = longest;
        found = true;
    }
    // A follow of a time that was taken back covers no prompt any more: what stands there is looked at again.
    for was in draft.rec.former_mut().iter_mut().filter(|was| was.until > now) {
        was.until = Timestamp::UNIX_EPOCH;
        found = true;
    }
    if found {
        draft.decide("the clock was set back: waits begin anew", format!("it is {now}"));
    }
}

/// Whether a time that somebody else wrote lies so far ahead that the clock was set back since.
pub(super) fn is_from_before(at: Timestamp, now: Timestamp) -> bool {
    at.duration_since(now) > AHEAD
}
