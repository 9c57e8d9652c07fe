//! The wall clock: the only file that asks for the time.

/// Now, by the wall clock.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}
