//! Failures that prove nothing about a host: the network was unavailable, or the process was suspended (SIGSTOP, sleep).
//!
//! A failure to resolve, connect or receive is in doubt until something answers, which takes milliseconds on a busy
//! crawl. If nothing does, the crawl connects to the hosts that answered last, without a request. If one accepts, the
//! failure counts against its host. If none does, the network is unavailable, and the crawl waits until one accepts.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tokio::sync::mpsc::UnboundedSender;

use super::News;
use super::driver::Driver;
use suidao_crawl::crawl::FetchOutcome;
use suidao_page::model::{CrawlUrl, FailureKind};

/// Most hosts remembered that answered.
const RECENT_HOSTS: usize = 8;
/// With fewer, either they or the network may be gone.
const ENOUGH: usize = 3;
/// First and longest pause between two checks of the network.
const LOOK_AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// Most times that a URL is requeued because the process was suspended: more in a row are a sign of load.
const STOPS: u8 = 3;

/// Head start of the host that answered last before others are tried as well.
const FIRST_LOOK: Duration = Duration::from_secs(3);

/// How to handle the result of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NetworkVerdict {
    /// It counts, and the network works.
    Answered,
    /// It counts.
    Settle,
    /// It proves nothing; requeue the URL.
    GiveBack,
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
    patience: Duration,
    /// With a proxy, only the proxy itself can be checked.
    by_proxy: bool,
    /// Something has answered through the proxy in this run.
    proxied: bool,
    /// Since when the proxy does not answer.
    silent: Option<Instant>,
    /// Hosts that answered last, the newest last.
    recent: VecDeque<CrawlUrl>,
    /// Until when the process was suspended.
    stopped: Option<Instant>,
    given_back: FxHashMap<u64, u8>,
    /// Since when the network is unavailable, and the number of checks since.
    away: Option<(Instant, u32)>,
    /// Waiting was given up: failures count until something answers.
    resigned: bool,
}

impl Outage {
    /// The initial state; `hosts` answered in an earlier run, the newest last.
    pub fn new(patience: Duration, by_proxy: bool, hosts: impl IntoIterator<Item = CrawlUrl>) -> Self {
        let mut outage = Self {
            patience,
            by_proxy,
            proxied: false,
            silent: None,
            recent: VecDeque::new(),
            stopped: None,
            given_back: FxHashMap::default(),
            away: None,
            resigned: false,
        };
        hosts.into_iter().for_each(|url| outage.remember(&url));
        outage
    }

    pub fn is_away(&self) -> bool {
        self.away.is_some()
    }

    /// Hosts that answered last, the newest first.
    pub fn recent_hosts(&self) -> impl Iterator<Item = &CrawlUrl> {
        self.recent.iter().rev()
    }

    /// The process was suspended until `now`; requests in flight may have failed for that reason.
    pub fn stood_still(&mut self, now: Instant) {
        self.stopped = Some(now);
    }

    /// Judges the result of a fetch of `url` that went out at `begun` and came back `now`.
    pub fn judge(&mut self, url: &CrawlUrl, outcome: &FetchOutcome, begun: Instant, now: Instant) -> NetworkVerdict {
        let kind = match outcome {
            FetchOutcome::Failed(failure) => &failure.kind,
            _ => return self.answered(url),
        };
        if self.by_proxy && matches!(kind, FailureKind::Connect | FailureKind::Refused) {
            // The answer came from the proxy.
            self.silent = None;
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
                let silent = now.saturating_duration_since(*self.silent.get_or_insert(now));
                // A proxy that never answered is a configuration error.
                let lost = !self.proxied || silent >= self.patience;
                return if lost { NetworkVerdict::ProxyLost } else { NetworkVerdict::Proxy };
            }
            _ => return self.answered(url),
        }
        if self.stopped.is_some_and(|until| begun < until) {
            let stops = self.given_back.entry(url.fingerprint()).or_default();
            *stops += 1;
            if *stops <= STOPS {
                return NetworkVerdict::GiveBack;
            }
        }
        if self.is_away() {
            return NetworkVerdict::GiveBack;
        }
        if self.recent.is_empty() || self.resigned { NetworkVerdict::Settle } else { NetworkVerdict::Doubt }
    }

    fn answered(&mut self, url: &CrawlUrl) -> NetworkVerdict {
        self.remember(url);
        self.given_back.remove(&url.fingerprint());
        (self.resigned, self.proxied, self.silent) = (false, true, None);
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
    pub fn is_there(&mut self, now: Instant) -> Option<Duration> {
        self.away.take().map(|(since, _)| now.duration_since(since))
    }

    /// No recent host accepts connections. Returns when to check again; `None` if the patience is used up and the few
    /// known hosts, or the proxy, may be gone.
    pub fn is_gone(&mut self, now: Instant) -> Option<Duration> {
        let (since, looks) = self.away.unwrap_or((now, 0));
        let since = self.silent.map_or(since, |silent| silent.min(since));
        if self.recent.len() < ENOUGH && now.duration_since(since) >= self.patience {
            self.away = None;
            self.resigned = true;
            return None;
        }
        self.away = Some((since, looks + 1));
        Some((LOOK_AGAIN.0 * 2u32.pow(looks.min(5))).min(LOOK_AGAIN.1))
    }
}

impl<F: FnMut(News)> Driver<'_, F> {
    /// Connects to the newest host and then to all others at once, or to the proxy, and reports whether one accepted.
    pub(super) fn look_for_the_network(&mut self, after: Duration, looked: &UnboundedSender<bool>) {
        self.looking = true;
        let (fetcher, looked) = (self.errand.fetcher.clone(), looked.clone());
        let hosts: Vec<CrawlUrl> = self.outage.recent_hosts().cloned().collect();
        let by_proxy = self.outage.by_proxy;
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            let mut looks = tokio::task::JoinSet::new();
            let mut there = by_proxy && fetcher.check_proxy().await.is_ok();
            for (at, host) in hosts.into_iter().enumerate() {
                let fetcher = fetcher.clone();
                looks.spawn(async move { fetcher.reaches(&host).await });
                if at == 0 {
                    let first = tokio::time::timeout(FIRST_LOOK, looks.join_next()).await;
                    there = matches!(first, Ok(Some(Ok(true))));
                }
                if there {
                    break;
                }
            }
            while !there && let Some(look) = looks.join_next().await {
                there = look.unwrap_or(false);
            }
            // The receiver is gone only when the crawl has ended.
            let _ = looked.send(there);
        });
    }

    pub(super) fn network_is(&mut self, there: bool, now: Instant, looked: &UnboundedSender<bool>) {
        let doubted = std::mem::take(&mut self.doubted);
        if there {
            if let Some(time) = self.outage.is_there(now) {
                let what = if self.outage.by_proxy { "proxy" } else { "network" };
                tracing::warn!("the {what} is available again after {time:.0?}; resuming");
            }
            doubted.into_iter().for_each(|done| self.settle(done));
            return;
        }
        let before = self.outage.is_away();
        match self.outage.is_gone(now) {
            Some(pause) => {
                if !before && self.outage.by_proxy {
                    tracing::warn!("the proxy no longer responds; waiting for it");
                } else if !before {
                    tracing::warn!("no host responds any more, so the network seems down; waiting for it");
                }
                doubted.into_iter().for_each(|done| self.give_back(done));
                self.look_for_the_network(pause, looked);
            }
            None if self.outage.by_proxy => {
                doubted.into_iter().for_each(|done| self.give_back(done));
                self.proxy_lost = true;
            }
            None => {
                tracing::warn!(
                    "still no response; perhaps only these few hosts are down, so the crawl continues without them"
                );
                doubted.into_iter().for_each(|done| self.settle(done));
            }
        }
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
        let answer = FetchOutcome::Robots(RobotsRules::AllowAll);
        let dead = failed(FailureKind::Connect);
        assert_eq!(outage.judge(&url("dead.cn"), &dead, at(0), at(0)), NetworkVerdict::Settle, "nothing ever answered");
        assert_eq!(outage.judge(&url("a.cn"), &answer, at(0), at(0)), NetworkVerdict::Answered);
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
        assert_eq!(by_proxy.judge(&url("a.cn"), &answer, at(5), at(5)), NetworkVerdict::Answered);
        assert_eq!(
            by_proxy.judge(&url("a.cn"), &dead, at(5), at(5)),
            NetworkVerdict::Settle,
            "nothing can be looked at"
        );
        assert_eq!(outage.is_there(at(7)), None, "it was not away");
        let newest: Vec<&str> = outage.recent_hosts().map(CrawlUrl::host).collect();
        assert_eq!(newest, ["b.cn", "a.cn"]);
    }

    #[test]
    fn nothing_counts_while_the_network_is_away() {
        let at = moments();
        let mut outage = Outage::new(Duration::from_secs(60), false, ["a.cn", "b.cn", "c.cn"].map(url));
        let dead = failed(FailureKind::Timeout);
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(0), at(0)), NetworkVerdict::Doubt);
        let mut waits: Vec<u64> = Vec::new();
        for look in 0..8 {
            waits.push(outage.is_gone(at(1 + look * 1000)).unwrap().as_secs());
            assert!(outage.is_away());
            assert_eq!(outage.judge(&url("a.cn"), &dead, at(0), at(0)), NetworkVerdict::GiveBack);
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(outage.is_there(at(9000)), Some(Duration::from_secs(8999)));
        assert!(!outage.is_away());
    }

    #[test]
    fn few_hosts_are_not_waited_for_for_ever() {
        let at = moments();
        let mut outage = Outage::new(Duration::from_secs(60), false, [url("a.cn")]);
        let dead = failed(FailureKind::Connect);
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(0), at(0)), NetworkVerdict::Doubt);
        assert!(outage.is_gone(at(1)).is_some() && outage.is_gone(at(60)).is_some());
        assert_eq!(outage.is_gone(at(61)), None);
        assert!(!outage.is_away());
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(62), at(62)), NetworkVerdict::Settle);
        outage.judge(&url("a.cn"), &failed(FailureKind::Status(404)), at(63), at(63));
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(65), at(65)), NetworkVerdict::Doubt, "it was back");
    }

    #[test]
    fn what_was_under_way_when_the_process_stood_still_is_asked_for_again() {
        let at = moments();
        let mut outage = Outage::new(Duration::from_secs(60), false, []);
        outage.stood_still(at(100));
        let late = failed(FailureKind::Timeout);
        for _ in 0..STOPS {
            assert_eq!(outage.judge(&url("a.cn"), &late, at(10), at(10)), NetworkVerdict::GiveBack);
        }
        assert_eq!(outage.judge(&url("a.cn"), &late, at(10), at(10)), NetworkVerdict::Settle, "not for ever");
        assert_eq!(outage.judge(&url("b.cn"), &late, at(101), at(101)), NetworkVerdict::Settle, "it began later");
    }

    #[test]
    fn a_proxy_that_answered_is_waited_for_and_one_that_never_did_is_not() {
        let at = moments();
        let dead = failed(FailureKind::Proxy);
        let mut outage = Outage::new(Duration::from_secs(60), true, []);
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(0), at(0)), NetworkVerdict::ProxyLost);
        for answered in [10, 200] {
            outage.judge(&url("a.cn"), &failed(FailureKind::Status(502)), at(answered), at(answered));
            assert_eq!(outage.judge(&url("a.cn"), &dead, at(answered), at(answered + 1)), NetworkVerdict::Proxy);
            assert!(outage.is_gone(at(answered + 2)).is_some() && outage.is_away());
            // It accepts connections and nothing more.
            assert!(outage.is_there(at(answered + 5)).is_some() && !outage.is_away());
            assert_eq!(outage.judge(&url("a.cn"), &dead, at(answered), at(answered + 60)), NetworkVerdict::Proxy);
        }
        assert!(outage.is_gone(at(259)).is_some());
        assert_eq!(outage.is_gone(at(261)), None);
        assert_eq!(outage.judge(&url("a.cn"), &dead, at(200), at(261)), NetworkVerdict::ProxyLost);
    }
}
