//! How fast the waits of a home run: as written for real agents, divided for scripted ones.
//! No clock lives here; whoever waits asks how long.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

/// A divisor of waits, kept in thousandths so that equal inputs give equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tempo {
    per_mille: u32,
}

impl Tempo {
    /// Every wait as long as it is written.
    pub const REAL: Self = Self { per_mille: 1_000 };

    /// The tempo of a speed from 0.1 to 100 (`--speed`); `None` outside.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    pub fn of_speed(speed: f64) -> Option<Self> {
        (0.1..=100.0).contains(&speed).then(|| Self { per_mille: (speed * 1_000.0).round() as u32 })
    }

    /// How long a wait of `milliseconds` is, in milliseconds.
    #[must_use]
    pub fn millis(self, milliseconds: u64) -> u64 {
        let scaled = u128::from(milliseconds) * 1_000 / u128::from(self.per_mille.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// How long a wait is.
    #[must_use]
    pub fn wait(self, wait: SignedDuration) -> SignedDuration {
        let milliseconds = u64::try_from(wait.as_millis()).unwrap_or(0);
        SignedDuration::from_millis(i64::try_from(self.millis(milliseconds)).unwrap_or(i64::MAX))
    }
}

impl std::fmt::Display for Tempo {
    /// The speed, as `--speed` takes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", f64::from(self.per_mille) / 1_000.0)
    }
}

impl Default for Tempo {
    fn default() -> Self {
        Self::REAL
    }
}
