//! Rates over the latest part of a crawl, from counts taken at intervals.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Time over which a rate is the mean.
const WINDOW: Duration = Duration::from_secs(10);

/// Pages and links a second.
#[derive(Default)]
pub(crate) struct Rates {
    /// When, and the counts, oldest first.
    counts: VecDeque<(Instant, u64, u64)>,
}

impl Rates {
    /// Takes the counts as they are now. If they have fallen, because a partition left, the window restarts.
    pub fn take(&mut self, now: Instant, pages: u64, links: u64) -> (f64, f64) {
        if self.counts.back().is_some_and(|(_, before, sent)| *before > pages || *sent > links) {
            self.counts.clear();
        }
        self.counts.push_back((now, pages, links));
        while self.counts.get(1).is_some_and(|(at, ..)| now.duration_since(*at) >= WINDOW) {
            self.counts.pop_front();
        }
        let (at, before, sent) = self.counts[0];
        let seconds = now.duration_since(at).as_secs_f64().max(1.0);
        ((pages - before) as f64 / seconds, (links - sent) as f64 / seconds)
    }
}

/// The harvest rate of the latest pages.
#[derive(Default)]
pub(crate) struct LatestHarvest {
    /// Pages and relevant pages, oldest first.
    counts: VecDeque<(u64, u64)>,
}

impl LatestHarvest {
    /// Takes the counts as they are now. Returns the share of relevant pages among the latest `over` pages, or a few
    /// more; none with fewer pages.
    pub fn take(&mut self, pages: u64, relevant: u64, over: u64) -> Option<f64> {
        if self.counts.is_empty() {
            // Earlier pages are not known.
            self.counts.push_back((pages, relevant));
        }
        if self.counts.back().is_some_and(|(before, _)| *before < pages) {
            self.counts.push_back((pages, relevant));
        }
        while self.counts.get(1).is_some_and(|(before, _)| before + over <= pages) {
            self.counts.pop_front();
        }
        let (before, found) = self.counts[0];
        (before + over <= pages).then(|| relevant.saturating_sub(found) as f64 / (pages - before) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a start time for the test")]
    fn rates_are_means_of_the_last_seconds() {
        let (start, mut rates) = (Instant::now(), Rates::default());
        let at = |second| start + Duration::from_secs(second);
        assert_eq!(rates.take(at(0), 100, 7), (0.0, 0.0));
        assert_eq!(rates.take(at(2), 120, 7), (10.0, 0.0));
        assert_eq!(rates.take(at(20), 300, 27), (10.0, 20.0 / 18.0));
        assert_eq!(rates.take(at(21), 10, 27), (0.0, 0.0), "a partition has left");
    }

    #[test]
    fn the_harvest_rate_is_of_the_latest_pages() {
        let mut harvest = LatestHarvest::default();
        assert_eq!(harvest.take(0, 0, 100), None);
        assert_eq!(harvest.take(60, 50, 100), None);
        assert_eq!(harvest.take(100, 80, 100), Some(0.8));
        assert_eq!(harvest.take(150, 80, 100), Some(80.0 / 150.0));
        assert_eq!(harvest.take(165, 80, 100), Some(30.0 / 105.0));
        assert_eq!(harvest.take(165, 80, 100), Some(30.0 / 105.0));
        assert_eq!(harvest.take(300, 80, 100), Some(0.0));
    }
}
