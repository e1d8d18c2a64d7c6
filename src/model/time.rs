//! Time as the machine sees it: a number handed in by the driver, never read from a clock.

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch (live) or since the start of the crawl (replay).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Millis(pub u64);

impl Millis {
    /// This instant moved later by `ms` milliseconds; saturates at the end of time.
    #[must_use]
    pub fn after(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this instant, 0 if it lies later.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
