//! Failures that prove nothing about a host: the network was unavailable, or the process was suspended (SIGSTOP,
//! sleep).
//!
//! A failure to resolve, connect or receive counts against nothing until something answers, which takes milliseconds on
//! a busy crawl. If nothing does, the crawl connects to the hosts that answered last, without a request. If one
//! accepts, the failure counts against its host. If none does, the network is unavailable, and the crawl waits until
//! one accepts.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use suidao_crawl::crawl::FetchOutcome;
use suidao_page::model::{CrawlUrl, FailureKind};

/// Maximum number of hosts remembered that answered.
const RECENT_HOSTS: usize = 8;
/// With fewer, either they or the network may be gone.
const ENOUGH: usize = 3;
/// First and longest pause between two checks of the network.
const CHECK_AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// Maximum number of times a URL is requeued because the process was suspended: more in a row are a sign of load.
const STOPS: u8 = 3;

/// How to handle the result of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NetworkVerdict {
    /// It counts, and the network works.
    Answered,
    /// It counts.
    Settle,
    /// It proves nothing; requeue the URL.
    Requeue,
    /// It counts as soon as something answers, or a recent host accepts a connection.
    Doubt,
    /// Out of descriptors; idle connections return some soon.
    Exhausted,
    /// The proxy does not answer: the URL waits until it does.
    Proxy,
    /// The proxy never answered, or not for longer than the patience.
    ProxyLost,
}

/// The state of the network. Times are of the monotonic clock.
pub(super) struct Outage {
    /// How long to wait for a proxy, or if fewer than three hosts have answered.
    pub patience: Duration,
    /// With a proxy, only the proxy itself can be checked.
    pub by_proxy: bool,
    /// Something has answered through the proxy in this run.
    proxied: bool,
    /// Since when the proxy does not answer.
    no_answer_since: Option<Instant>,
    /// Hosts that answered last, the newest last.
    recent: VecDeque<CrawlUrl>,
    /// Until when the process was suspended.
    stopped: Option<Instant>,
    requeued: FxHashMap<u64, u8>,
    /// Since when the network is unavailable, and the number of checks since.
    down_since: Option<(Instant, u32)>,
    /// Waiting was given up: failures count until something answers.
    gave_up: bool,
}

impl Outage {
    /// The initial state; `hosts` answered in an earlier run, the newest last.
    pub fn new(patience: Duration, by_proxy: bool, hosts: impl IntoIterator<Item = CrawlUrl>) -> Self {
        let mut outage = Self {
            patience,
            by_proxy,
            proxied: false,
            no_answer_since: None,
            recent: VecDeque::new(),
            stopped: None,
            requeued: FxHashMap::default(),
            down_since: None,
            gave_up: false,
        };
        hosts.into_iter().for_each(|url| outage.remember(&url));
        outage
    }

    pub fn is_down(&self) -> bool {
        self.down_since.is_some()
    }

    /// Hosts that answered last, the newest first.
    pub fn recent_hosts(&self) -> impl Iterator<Item = &CrawlUrl> {
        self.recent.iter().rev()
    }

    /// The process was suspended until `now`; requests in flight may have failed for that reason.
    pub fn was_suspended(&mut self, now: Instant) {
        self.stopped = Some(now);
    }

    /// Judges the result of a fetch of `url` that was sent at `begun` and returned `now`.
    pub fn judge(&mut self, url: &CrawlUrl, outcome: &FetchOutcome, begun: Instant, now: Instant) -> NetworkVerdict {
        let kind = match outcome {
            FetchOutcome::Failed(failure) => &failure.kind,
            _ => return self.answered(url),
        };
        if self.by_proxy && matches!(kind, FailureKind::Connect | FailureKind::Refused) {
            // The response came from the proxy.
            self.no_answer_since = None;
        }
        match kind {
            FailureKind::Dns
            | FailureKind::NoSuchHost
            | FailureKind::Connect
            | FailureKind::Refused
            | FailureKind::Timeout
            | FailureKind::Broken => {}
            // No request was sent.
            FailureKind::PrivateAddress | FailureKind::Port => return NetworkVerdict::Settle,
            FailureKind::Exhausted => return NetworkVerdict::Exhausted,
            FailureKind::Proxy => {
                let no_answer_since = now.saturating_duration_since(*self.no_answer_since.get_or_insert(now));
                // A proxy that never answered is a configuration error.
                let lost = !self.proxied || no_answer_since >= self.patience;
                return if lost { NetworkVerdict::ProxyLost } else { NetworkVerdict::Proxy };
            }
            _ => return self.answered(url),
        }
        if self.stopped.is_some_and(|until| begun < until) {
            let stops = self.requeued.entry(url.fingerprint()).or_default();
            *stops += 1;
            if *stops <= STOPS {
                return NetworkVerdict::Requeue;
            }
        }
        if self.is_down() {
            return NetworkVerdict::Requeue;
        }
        if self.recent.is_empty() || self.gave_up { NetworkVerdict::Settle } else { NetworkVerdict::Doubt }
    }

    fn answered(&mut self, url: &CrawlUrl) -> NetworkVerdict {
        self.remember(url);
        self.requeued.remove(&url.fingerprint());
        (self.gave_up, self.proxied, self.no_answer_since) = (false, true, None);
        NetworkVerdict::Answered
    }

    fn remember(&mut self, url: &CrawlUrl) {
        if self.by_proxy || self.recent.back().is_some_and(|last| last.authority() == url.authority()) {
            return;
        }
        self.recent.retain(|known| known.authority() != url.authority());
        self.recent.push_back(url.clone());
        if self.recent.len() > RECENT_HOSTS {
            self.recent.pop_front();
        }
    }

    /// A recent host accepts connections. If the network was unavailable: for how long.
    pub fn is_up_again(&mut self, now: Instant) -> Option<Duration> {
        self.down_since.take().map(|(since, _)| now.duration_since(since))
    }

    /// No recent host accepts connections. Returns when to check again; `None` if the patience is used up and the few
    /// known hosts, or the proxy, may be gone.
    pub fn stays_down(&mut self, now: Instant) -> Option<Duration> {
        let (since, checks) = self.down_since.unwrap_or((now, 0));
        let since = self.no_answer_since.map_or(since, |no_answer_since| no_answer_since.min(since));
        if self.recent.len() < ENOUGH && now.duration_since(since) >= self.patience {
            self.down_since = None;
            self.gave_up = true;
            return None;
        }
        self.down_since = Some((since, checks + 1));
        Some((CHECK_AGAIN.0 * 2u32.pow(checks.min(5))).min(CHECK_AGAIN.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::{Failure, RobotsRules};

    fn url(host: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://{host}/page")).unwrap()
    }

    fn failed(kind: FailureKind) -> FetchOutcome {
        FetchOutcome::Failed(Failure { kind, retry_after: None })
    }

    fn moments() -> impl Fn(u64) -> Instant {
        #[allow(clippy::disallowed_methods)] // a start time for the test
        let start = Instant::now();
        move |second| start + Duration::from_secs(second)
    }

    #[test]
    fn failures_of_the_connection_are_doubted_where_something_has_answered() {
        let at = moments();
        let mut outage = Outage::new(Duration::from_secs(600), false, []);
        let response = FetchOutcome::Robots(RobotsRules::AllowAll);
        let dead = failed(FailureKind::Connect);
        assert_eq!(outage.judge(&url("dead.cn"), &dead, at(0), at(0)), NetworkVerdict::Settle, "nothing ever answered");
        assert_eq!(outage.judge(&url("a.cn"), &response, at(0), at(0)), NetworkVerdict::Answered);
        for kind in
            [FailureKind::Dns, FailureKind::NoSuchHost, FailureKind::Refused, FailureKind::Timeout, FailureKind::Broken]
        {
            assert_eq!(outage.judge(&url("dead.cn"), &failed(kind), at(3), at(3)), NetworkVerdict::Doubt);
        }
        // Any answer proves that the network works; a request that was not sent proves nothing.
        for kind in [FailureKind::Status(500), FailureKind::TooLarge, FailureKind::Tls] {
            assert_eq!(outage.judge(&url("b.cn"), &failed(kind), at(4), at(4)), NetworkVerdict::Answered);
        }
        assert_eq!(
            outage.judge(&url("c.cn"), &failed(FailureKind::PrivateAddress), at(4), at(4)),
            NetworkVerdict::Settle
        );
        assert_eq!(
            outage.judge(&url("c.cn"), &failed(FailureKind::Exhausted), at(4), at(4)),
            NetworkVerdict::Exhausted
        );
        let mut by_proxy = Outage::new(Duration::from_secs(600), true, []);
        assert_eq!(by_proxy.judge(&url("a.cn"), &response, at(5), at(5)), NetworkVerdict::Answered);
        assert_eq!(
            by_proxy.judge(&url("a.cn"), &dead, at(5), at(5)),
            NetworkVerdict::Settle,
            "nothing can be checked at"
        );
        assert_eq!(outage.is_up_again(at(7)), None, "it was not down");
        let newest: Vec<&str> = outage.recent_hosts().map(CrawlUrl::host).collect();
        assert_eq!(newest, ["b.cn", "a.cn"]);
    }

    #[test]
    fn failures_do_not_count_during_an_outage() {
        let at = moments();
        let mut outage = Outage::new(Duration::from_secs(60), false, ["a.cn", "b.cn", "c.cn"].map(url));
        let dead = failed(FailureKind::Timeout);
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(0), at(0)), NetworkVerdict::Doubt);
        let mut waits: Vec<u64> = Vec::new();
        for look in 0..8 {
            waits.push(outage.stays_down(at(1 + look * 1000)).unwrap().as_secs());
            assert!(outage.is_down());
            assert_eq!(outage.judge(&url("a.cn"), &dead, at(0), at(0)), NetworkVerdict::Requeue);
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(outage.is_up_again(at(9000)), Some(Duration::from_secs(8999)));
        assert!(!outage.is_down());
    }

    #[test]
    fn waiting_for_fewer_than_three_hosts_ends() {
        let at = moments();
        let mut outage = Outage::new(Duration::from_secs(60), false, [url("a.cn")]);
        let dead = failed(FailureKind::Connect);
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(0), at(0)), NetworkVerdict::Doubt);
        assert!(outage.stays_down(at(1)).is_some() && outage.stays_down(at(60)).is_some());
        assert_eq!(outage.stays_down(at(61)), None);
        assert!(!outage.is_down());
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(62), at(62)), NetworkVerdict::Settle);
        outage.judge(&url("a.cn"), &failed(FailureKind::Status(404)), at(63), at(63));
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(65), at(65)), NetworkVerdict::Doubt, "it was back");
    }

    #[test]
    fn requests_in_flight_during_a_suspension_are_repeated() {
        let at = moments();
        let mut outage = Outage::new(Duration::from_secs(60), false, []);
        outage.was_suspended(at(100));
        let late = failed(FailureKind::Timeout);
        for _ in 0..STOPS {
            assert_eq!(outage.judge(&url("a.cn"), &late, at(10), at(10)), NetworkVerdict::Requeue);
        }
        assert_eq!(outage.judge(&url("a.cn"), &late, at(10), at(10)), NetworkVerdict::Settle, "not without limit");
        assert_eq!(outage.judge(&url("b.cn"), &late, at(101), at(101)), NetworkVerdict::Settle, "it began later");
    }

    #[test]
    fn the_crawl_waits_only_for_a_proxy_that_has_answered() {
        let at = moments();
        let dead = failed(FailureKind::Proxy);
        let mut outage = Outage::new(Duration::from_secs(60), true, []);
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(0), at(0)), NetworkVerdict::ProxyLost);
        for answered in [10, 200] {
            outage.judge(&url("a.cn"), &failed(FailureKind::Status(502)), at(answered), at(answered));
            assert_eq!(outage.judge(&url("a.cn"), &dead, at(answered), at(answered + 1)), NetworkVerdict::Proxy);
            assert!(outage.stays_down(at(answered + 2)).is_some() && outage.is_down());
            // It accepts connections and nothing more.
            assert!(outage.is_up_again(at(answered + 5)).is_some() && !outage.is_down());
            assert_eq!(outage.judge(&url("a.cn"), &dead, at(answered), at(answered + 60)), NetworkVerdict::Proxy);
        }
        assert!(outage.stays_down(at(259)).is_some());
        assert_eq!(outage.stays_down(at(261)), None);
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(200), at(261)), NetworkVerdict::ProxyLost);
    }
}
