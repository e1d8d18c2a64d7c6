//! `[politeness]` of the configuration: when a host may be asked.

use serde::{Deserialize, Serialize};

/// When a host, a domain and an address may be asked. Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Politeness {
    /// Least time between the end of one request to a host and the start of the next. At 0 nothing is waited for but
    /// a Crawl-delay, failures and what a server asks for: neither `delay_factor` nor the limits of domains and
    /// addresses are in force.
    pub delay: f64,
    /// A Crawl-delay longer than this is cut to it.
    pub max_crawl_delay: f64,
    /// A host is left alone for so many times as long as its last answers took, if that is longer than `delay`.
    pub delay_factor: f64,
    /// Longest wait for that reason, and after answers that say a host has too much to do.
    pub max_delay: f64,
    /// Most requests under way to the hosts of one registrable domain.
    pub per_domain: u32,
    /// Least time between the starts of two requests to hosts of one registrable domain.
    pub domain_delay: f64,
    /// Most requests under way to hosts that answer from one address.
    pub per_address: u32,
    /// Least time between the starts of two requests to hosts that answer from one address.
    pub address_delay: f64,
    /// Whether robots.txt is fetched and obeyed (RFC 9309). Turn it off for webs of your own only.
    pub robots: bool,
    /// First wait after a failed request; doubles with each further failure of the host in a row. At 0 nothing is
    /// waited for, and a page is given up after its tries whatever the host does.
    pub backoff: f64,
    /// Longest wait after failures, for a robots.txt too; a longer Retry-After is obeyed.
    pub max_backoff: f64,
    /// First wait after a robots.txt that could not be had, in which all of the host is forbidden; six times longer
    /// with each further one.
    pub robots_retry: f64,
    /// A robots.txt is asked for again after this time. The old rules stay in force until new ones are had.
    pub robots_max_age: f64,
    /// A host that has answered before is given up when it has failed for so long, and `limits.host_failures` times in
    /// a row; one that never has by the number alone. It is asked once more when as much time has passed again.
    pub give_up: f64,
    /// The crawl stops when only hosts are left that fail and may not be asked for longer than this.
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
    /// Whether requests are spaced out at all.
    pub(super) fn spaces(&self) -> bool {
        self.delay > 0.0
    }
}

/// Seconds of the configuration as milliseconds.
pub(super) fn millis(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}
