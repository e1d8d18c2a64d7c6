//! A clock that is set by hand or runs faster than real time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

/// Simulated seconds since 1970.
pub(super) struct WorldClock {
    /// Its time at `began`.
    start: AtomicI64,
    began: Instant,
    /// Simulated seconds per real second.
    speed: f64,
}

impl WorldClock {
    /// Starts at `now` with this speed; at speed 0 it changes only when set.
    #[allow(clippy::disallowed_methods, reason = "an edge: what is served to others has their time")]
    pub fn running(now: i64, speed: f64) -> Self {
        Self { start: AtomicI64::new(now), began: Instant::now(), speed }
    }

    pub fn now(&self) -> i64 {
        self.start.load(Ordering::Relaxed) + self.passed()
    }

    pub fn set(&self, now: i64) {
        self.start.store(now - self.passed(), Ordering::Relaxed);
    }

    /// Simulated seconds since the start.
    fn passed(&self) -> i64 {
        (self.began.elapsed().as_secs_f64() * self.speed) as i64
    }
}
