//! `[politeness]` of the configuration: when a host, a domain and an address may get a request.

use serde::{Deserialize, Serialize};

/// Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Politeness {
    /// Minimum time between the end of one request to a host and the start of the next. At 0 only Crawl-delay, failures
    /// and Retry-After cause waits: `delay_factor` and the limits of domains and addresses are ignored.
    pub delay: f64,
    /// Upper limit for a Crawl-delay.
    pub max_crawl_delay: f64,
    /// The wait is at least this many times the smoothed latency of the host's answers.
    pub delay_factor: f64,
    /// Upper limit for that wait, and for the wait after a host reports overload.
    pub max_delay: f64,
    /// Maximum number of concurrent requests to the hosts of one registrable domain.
    pub per_domain: u32,
    /// Minimum time between the starts of two requests to hosts of one registrable domain.
    pub domain_delay: f64,
    /// Maximum number of concurrent requests to hosts at one address.
    pub per_address: u32,
    /// Minimum time between the starts of two requests to hosts at one address.
    pub address_delay: f64,
    /// Whether robots.txt is fetched and obeyed (RFC 9309). Turn it off only for your own sites.
    pub robots: bool,
    /// First wait after a failed request; doubles with each consecutive failure of the host. At 0 there is no wait, and
    /// a page is given up after its retries, regardless of its host.
    pub backoff: f64,
    /// Maximum wait after failures, also for a robots.txt; a longer Retry-After is obeyed.
    pub max_backoff: f64,
    /// First wait after a failed robots.txt request; until then the whole host is disallowed. Six times longer with
    /// each further failure.
    pub robots_retry: f64,
    /// Age at which a robots.txt is fetched again. The old rules apply until new ones arrive.
    pub robots_max_age: f64,
    /// A host that has answered before is given up after failing for this time and `limits.host_failures` times in a
    /// row; one that never answered, after four tries within seconds. It is tried once more after the same time.
    pub give_up: f64,
    /// The crawl stops if only failing hosts are left that must not get a request for longer than this.
    pub patience: f64,
}

impl Default for Politeness {
    fn default() -> Self {
        Self {
            delay: 1.0,
            max_crawl_delay: 60.0,
            delay_factor: 3.0,
            max_delay: 30.0,
            per_domain: 4,
            domain_delay: 0.25,
            per_address: 4,
            address_delay: 0.25,
            robots: true,
            backoff: 5.0,
            max_backoff: 3_600.0,
            robots_retry: 10.0,
            robots_max_age: 86_400.0,
            give_up: 86_400.0,
            patience: 60.0,
        }
    }
}

impl Politeness {
    pub(super) fn spaces(&self) -> bool {
        self.delay > 0.0
    }
}

/// Seconds to milliseconds.
pub(super) fn millis(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}
