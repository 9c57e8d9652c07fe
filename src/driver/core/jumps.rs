//! Time in which nobody looked: the machine slept, the process was stopped, or the wall clock was set. What the records
//! hold of times that have not come yet is `machine::clock`'s.

use jiff::{SignedDuration, Timestamp};

use super::Core;
use crate::driver::ports::{Agents, Records, Transcripts};

/// Two inputs are never further apart than this while the driver runs: it wakes every few seconds, and ticks every 15 s.
const UNWATCHED: SignedDuration = SignedDuration::from_secs(40);

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Begins anew after such a time, as a start does: graces and the 60 s of a message count what was watched, and
    /// nothing that was to happen at a time is late for longer than a tick.
    pub(super) fn mind_the_clock(&mut self, now: Timestamp) {
        let gap = now.duration_since(std::mem::replace(&mut self.looked_at, now));
        let was_set_back = gap.is_negative();
        if !was_set_back && gap <= UNWATCHED {
            return;
        }
        self.started_at = now;
        self.next_tick = now;
        self.books.wake_all(now);
        for parked in &mut self.parked {
            parked.wait_no_longer_than(now);
        }
        for known in self.sessions.values_mut() {
            known.look_anew(was_set_back, now);
        }
    }
}
