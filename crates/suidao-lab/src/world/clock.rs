//! A clock that is set, or runs faster than ours: the time that webs are served by.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

/// Seconds since 1970 in a world of its own.
pub(super) struct WorldClock {
    /// What it showed when `began` was.
    start: AtomicI64,
    began: Instant,
    /// Its seconds in one of ours.
    speed: f64,
}

impl WorldClock {
    /// It shows `now`, and runs `speed` times as fast as ours; 0: until it is set anew.
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

    /// Its seconds since it began.
    fn passed(&self) -> i64 {
        (self.began.elapsed().as_secs_f64() * self.speed) as i64
    }
}
