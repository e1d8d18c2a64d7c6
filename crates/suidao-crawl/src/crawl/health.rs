//! A host's recent answers, and how long it must not get requests because of them: circuit breaker and crawl interval.
//!
//! The breaker is closed while a host answers. Each consecutive failure that is the host's fault (down or overloaded)
//! doubles the wait. With more than `limits.retries` failures the breaker is open: further failures count against the
//! host and not the page. After each wait one request tests the host (a host never has more than one in flight), and an
//! answer closes the breaker. A response that breaks HTTP counts against its page, until different pages in a row have
//! one. A host that stays down is given up, and tried once more much later. One that never
//! answered, and may not exist, is tried a few times within seconds and then given up.

use serde::{Deserialize, Serialize};

use suidao_page::model::{Failure, FailureKind, Millis, UrlId};

use super::politeness::{Politeness, millis};
use super::settings::CrawlLimits;

/// A success reduces the throttle by one part in this many: 44 of them by nine tenths.
const RELEASE: u32 = 20;

/// Pages in a row whose responses break HTTP, from which on that counts against the host.
const BROKEN_PAGES: u8 = 3;

/// Milliseconds between the tries of a host that never answered. It is given up after one failure more.
const UNKNOWN_HOST_WAITS: [u64; 3] = [1_000, 2_000, 3_000];

/// Milliseconds after which a given-up host is tried once more: longer than the longest wait between two tries.
pub(super) fn another_try(politeness: &Politeness) -> u64 {
    millis(politeness.give_up).max(millis(politeness.max_backoff).saturating_mul(2))
}

/// Recent answers of a host. A fold of the events.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Health {
    /// Consecutive failures that are the host's fault.
    failures: u32,
    /// Times of the first and the last of them.
    first: Millis,
    last: Millis,
    /// Each of them suggests that the host does not exist.
    absent: bool,
    /// Kind of the last failure; none after a response.
    cause: Option<FailureKind>,
    answered: bool,
    /// Smoothed latency of its responses in milliseconds; 0 if unknown.
    latency: u32,
    /// Milliseconds between requests because the host reported overload.
    throttle: u32,
    /// The last page whose response broke HTTP, and how many different ones did since the last success.
    broken: Option<UrlId>,
    broken_pages: u8,
}

impl Health {
    pub fn failures(&self) -> u32 {
        self.failures
    }

    pub fn has_answered(&self) -> bool {
        self.answered
    }

    /// Time of the last failure.
    pub fn last(&self) -> Millis {
        self.last
    }

    /// Why the last request failed, if that was the host's fault.
    pub fn cause(&self) -> Option<&FailureKind> {
        self.cause.as_ref()
    }

    pub fn reset_failures(&mut self) {
        self.failures = 0;
    }

    pub fn record_success(&mut self) {
        (self.failures, self.answered, self.cause) = (0, true, None);
        (self.broken, self.broken_pages) = (None, 0);
        self.throttle -= self.throttle.div_ceil(RELEASE);
    }

    /// Records a response of this page that broke HTTP.
    pub fn record_broken(&mut self, page: Option<UrlId>) {
        if page.is_none() || page != self.broken {
            self.broken_pages = self.broken_pages.saturating_add(1);
        }
        self.broken = page;
    }

    /// Whether responses that broke HTTP count against their pages and not the host: the host had answered before, and
    /// few pages had one since.
    pub fn is_pages_fault(&self) -> bool {
        self.answered && self.failures == 0 && self.broken_pages < BROKEN_PAGES
    }

    /// Records a failure that is the host's fault.
    pub fn record_failure(&mut self, failure: &Failure, politeness: &Politeness, at: Millis) {
        if self.failures == 0 {
            (self.first, self.absent) = (at, true);
        }
        // Connections to a dead address often time out instead of being refused.
        self.absent &= failure.is_down() || failure.kind == FailureKind::Timeout;
        self.last = at;
        self.cause = Some(failure.kind.clone());
        self.failures = self.failures.saturating_add(1);
        // A host that never answered may not exist: then it is not overloaded.
        if failure.is_overload() && !self.is_unknown() {
            let most = millis(politeness.max_delay);
            let doubled = self.crawl_interval(politeness).saturating_mul(2).min(most);
            self.throttle = self.throttle.max(u32::try_from(doubled).unwrap_or(u32::MAX));
        }
    }

    /// Smooths the latency, half old and half new. Failures and redirects are often faster than pages, so they never
    /// lower it.
    pub fn record_latency(&mut self, ms: u64, page: bool) {
        let ms = u32::try_from(ms).unwrap_or(u32::MAX);
        let smoothed = if self.latency == 0 { ms } else { self.latency / 2 + ms / 2 + (self.latency & ms & 1) };
        self.latency = if page { smoothed } else { self.latency.max(smoothed) };
    }

    /// Milliseconds between two requests according to its responses, between `politeness.delay` and
    /// `politeness.max_delay`; 0 if requests are not spaced.
    pub fn crawl_interval(&self, politeness: &Politeness) -> u64 {
        if !politeness.spaces() {
            return 0;
        }
        let by_load = millis(f64::from(self.latency) / 1000.0 * politeness.delay_factor);
        by_load.max(u64::from(self.throttle)).min(millis(politeness.max_delay)).max(millis(politeness.delay))
    }

    /// Milliseconds until the next request after the last failure: doubling, or a longer Retry-After. 0 if a host that
    /// never answered is given up: its URLs are only excluded then.
    pub fn backoff(&self, politeness: &Politeness, failure: &Failure) -> u64 {
        if self.is_unknown() {
            let tries = self.failures.saturating_sub(1) as usize;
            let wait = UNKNOWN_HOST_WAITS.get(tries).copied().filter(|_| !self.is_nxdomain());
            return wait.unwrap_or(0).min(millis(politeness.backoff));
        }
        let doubled = politeness.backoff * f64::from(1u32 << self.failures.saturating_sub(1).min(30));
        millis(doubled.min(politeness.max_backoff)).max(failure.retry_after.unwrap_or(0))
    }

    /// Whether one more failure opens the breaker or finds it open, so that it counts against the host and not the
    /// page.
    pub fn opens(&self, limits: &CrawlLimits) -> bool {
        self.failures >= u32::from(limits.retries)
    }

    /// Whether it has failed and there is no evidence that it exists.
    pub fn is_unknown(&self) -> bool {
        !self.answered && self.absent && self.failures > 0
    }

    /// Whether its name does not exist. A failing resolver is not evidence, and a host that has answered exists.
    pub fn is_nxdomain(&self) -> bool {
        !self.answered && self.failures > 0 && self.cause == Some(FailureKind::NoSuchHost)
    }

    pub fn is_given_up(&self, limits: &CrawlLimits, politeness: &Politeness, now: Millis) -> bool {
        let span = millis(politeness.give_up);
        let again = span == 0 || now.since(self.last) < another_try(politeness);
        if self.failures < self.most_failures(limits) {
            return false;
        }
        let long = !self.answered || politeness.backoff <= 0.0 || self.last.since(self.first) >= span;
        long && again
    }

    /// Consecutive failures after which it may be given up.
    fn most_failures(&self, limits: &CrawlLimits) -> u32 {
        let most = match self.is_unknown() {
            true if self.is_nxdomain() => 1,
            true => UNKNOWN_HOST_WAITS.len() as u32 + 1,
            false => u32::MAX,
        };
        most.min(limits.host_failures).max(1)
    }
}

/// Whether the server asks to wait: 429, or 503 with Retry-After.
pub(super) fn asks_to_wait(failure: &Failure) -> bool {
    failure.kind == FailureKind::Status(429)
        || failure.kind == FailureKind::Status(503) && failure.retry_after.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: FailureKind) -> Failure {
        Failure { kind, retry_after: None }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_a_longer_retry_after_is_obeyed() {
        let politeness = Politeness::default();
        let mut health = Health::default();
        let failed = failure(FailureKind::Connect);
        let waits = |health: &mut Health, tries: usize| -> Vec<u64> {
            let wait = |_| {
                health.record_failure(&failed, &politeness, Millis(0));
                health.backoff(&politeness, &failed) / 1000
            };
            (0..tries).map(wait).collect()
        };
        assert_eq!(waits(&mut health, 4), [1, 2, 3, 0], "it may not exist, and is given up");
        health.record_success();
        assert_eq!(waits(&mut health, 14), [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600, 3600]);
        let requested = Failure { retry_after: Some(7_200_000), ..failed.clone() };
        assert_eq!(health.backoff(&politeness, &requested), 7_200_000);
        health.record_success();
        health.record_failure(&failed, &politeness, Millis(0));
        assert_eq!(health.backoff(&politeness, &Failure { retry_after: Some(1_000), ..failed }), 5_000);
    }

    #[test]
    fn the_pace_follows_the_load_within_bounds_and_failures_never_shorten_it() {
        let politeness = Politeness::default();
        let mut health = Health::default();
        assert_eq!(health.crawl_interval(&politeness), 1_000);
        health.record_latency(100, true);
        assert_eq!(health.crawl_interval(&politeness), 1_000, "quick responses do not shorten the delay");
        health.record_latency(2_100, true);
        assert_eq!(health.crawl_interval(&politeness), 3_300);
        for page in [false, true] {
            health.record_latency(100, page);
            assert_eq!(health.crawl_interval(&politeness), if page { 1_800 } else { 3_300 });
        }
        health.record_latency(3_600_000, true);
        assert_eq!(health.crawl_interval(&politeness), 30_000);
        assert_eq!(health.crawl_interval(&Politeness { delay: 0.0, ..politeness.clone() }), 0);
        assert_eq!(health.crawl_interval(&Politeness { delay: 90.0, ..politeness }), 90_000);
    }

    #[test]
    fn overload_brakes_and_answers_release_it_slowly() {
        let politeness = Politeness::default();
        let mut health = Health::default();
        for expected in [2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            health.record_failure(&failure(FailureKind::Status(429)), &politeness, Millis(0));
            assert_eq!(health.crawl_interval(&politeness), expected);
        }
        for _ in 0..44 {
            health.record_success();
        }
        assert!((2_500..3_500).contains(&health.crawl_interval(&politeness)), "{}", health.crawl_interval(&politeness));
        for _ in 0..400 {
            health.record_success();
        }
        assert_eq!(health.crawl_interval(&politeness), 1_000);
        health.record_failure(&failure(FailureKind::Connect), &politeness, Millis(0));
        assert_eq!(health.crawl_interval(&politeness), 1_000, "a host that is not there is not overloaded");
    }

    #[test]
    fn a_host_is_given_up_by_number_or_by_time_and_tried_again_later() {
        let (limits, politeness) = (CrawlLimits::default(), Politeness::default());
        let hour = |hours: u64| Millis(hours * 3_600_000);
        let fail = |health: &mut Health, at| health.record_failure(&failure(FailureKind::Connect), &politeness, at);
        let (mut never, mut before) = (Health::default(), Health::default());
        before.record_success();
        for n in 0..10 {
            assert_eq!(never.is_given_up(&limits, &politeness, hour(n)), n >= 4);
            fail(&mut never, hour(n));
            fail(&mut before, hour(n));
        }
        assert!(!never.is_given_up(&limits, &politeness, hour(9 + 24)), "a day later it may be back");
        let few = CrawlLimits { host_failures: 2, ..limits.clone() };
        let mut twice = Health::default();
        (0..2).for_each(|_| fail(&mut twice, hour(0)));
        assert!(twice.is_given_up(&few, &politeness, hour(0)) && !twice.is_given_up(&limits, &politeness, hour(0)));
        assert!(!before.is_given_up(&limits, &politeness, hour(9)), "a server may be off for a night");
        fail(&mut before, hour(24));
        assert!(before.is_given_up(&limits, &politeness, hour(24)));
        let (mut once, eager) = (Health::default(), Politeness { backoff: 0.0, ..politeness.clone() });
        once.record_success();
        for _ in 0..10 {
            assert!(!once.is_given_up(&limits, &eager, hour(1)));
            fail(&mut once, hour(1));
        }
        assert!(once.is_given_up(&limits, &eager, hour(1)), "where nothing is waited for the number is all");
    }
}
