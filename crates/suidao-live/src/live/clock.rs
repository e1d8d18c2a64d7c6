//! The time of a live crawl: the system clock at its start, then a monotonic clock.

use std::time::Instant;

use super::{monotonic_now, now};
use suidao_page::model::Millis;

pub struct MonotonicClock {
    from: Millis,
    since: Instant,
}

impl MonotonicClock {
    /// Starts now, or at the time of the last batch if the system clock is earlier: the crawl's waits count from there.
    /// Logs a warning then.
    pub fn start(last: Option<Millis>) -> Self {
        let wall = now();
        let clock = Self::at(wall, last, monotonic_now());
        let lag = clock.from.since(wall) / 1000;
        if lag > 60 {
            tracing::warn!(
                "the system clock is {lag} s behind the last saved page; continuing from the time of that page"
            );
        }
        clock
    }

    fn at(wall: Millis, last: Option<Millis>, since: Instant) -> Self {
        Self { from: last.map_or(wall, |last| last.max(wall)), since }
    }

    pub fn now(&self) -> Millis {
        let passed = monotonic_now().saturating_duration_since(self.since).as_millis();
        self.from.after(u64::try_from(passed).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_goes_back_behind_the_last_batch() {
        let starts = |wall, last| MonotonicClock::at(Millis(wall), last, monotonic_now()).from;
        assert_eq!(starts(1000, None), Millis(1000));
        assert_eq!(starts(1000, Some(Millis(900))), Millis(1000));
        // The system clock was set back, or was ahead when the batch was made.
        assert_eq!(starts(1000, Some(Millis(9_000_000))), Millis(9_000_000));
        let clock = MonotonicClock::start(Some(Millis(u64::MAX)));
        assert_eq!(clock.now(), Millis(u64::MAX), "the end of time is survived");
        let clock = MonotonicClock::start(None);
        let first = clock.now();
        assert!(clock.now() >= first && first >= Millis(1_700_000_000_000));
    }
}
