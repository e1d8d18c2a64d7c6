//! Decides which results count, and checks the network: [`Outage`] judges each result; failures that may be the
//! network's wait here until something answers.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::FetchResult;
use super::outage::{NetworkVerdict, Outage};
use crate::config::Config;
use crate::fetch::Fetcher;
use suidao_page::model::CrawlUrl;

/// Head start of the host that answered last before others are tried as well.
const FIRST_CHECK: Duration = Duration::from_secs(3);
/// Pause when there are no descriptors left: idle connections close after a second at the earliest.
const PAUSE: Duration = Duration::from_secs(1);

/// The network of this machine. A result comes with a `K` of the caller, such as its partition.
pub struct NetworkWatch<K> {
    outage: Outage,
    fetcher: Fetcher,
    /// Failures that may be the network's.
    doubtful: Vec<(K, FetchResult)>,
    /// A check of the network is under way; its result goes to `checked`.
    is_checking: bool,
    checked: UnboundedSender<bool>,
    /// Out of descriptors: no request before this time.
    paused_until: Option<Instant>,
    proxy_lost: bool,
}

/// What to do with results, in this order.
pub struct JudgedResults<K> {
    /// They count.
    pub settle: Vec<(K, FetchResult)>,
    /// They do not count, and their URLs are queued again.
    pub requeue: Vec<(K, FetchResult)>,
}

impl<K> JudgedResults<K> {
    fn none() -> Self {
        Self { settle: Vec::new(), requeue: Vec::new() }
    }
}

impl<K> NetworkWatch<K> {
    /// `hosts` answered in an earlier run, the newest last. The receiver gets the results of checks, for
    /// [`NetworkWatch::was_checked`].
    pub fn new(
        config: &Config,
        fetcher: Fetcher,
        hosts: impl IntoIterator<Item = CrawlUrl>,
    ) -> (Self, UnboundedReceiver<bool>) {
        let (checked, checks) = unbounded_channel();
        let patience = Duration::try_from_secs_f64(config.crawl.outage_patience).unwrap_or(Duration::MAX);
        let outage = Outage::new(patience, config.fetch.proxy.is_some(), hosts);
        let doubtful = Vec::new();
        let watch =
            Self { outage, fetcher, doubtful, is_checking: false, checked, paused_until: None, proxy_lost: false };
        (watch, checks)
    }

    pub fn may_send(&self, now: Instant) -> bool {
        !self.is_down() && self.paused_until.is_none_or(|until| until <= now)
    }

    pub fn is_down(&self) -> bool {
        self.outage.is_down()
    }

    /// The proxy no longer answers: nothing can be requested any more.
    pub fn has_lost_proxy(&self) -> bool {
        self.proxy_lost
    }

    /// Results that wait for a check.
    pub fn in_doubt(&self) -> usize {
        self.doubtful.len()
    }

    /// The process was suspended until `now`; requests in flight may have failed for that reason.
    pub fn was_suspended(&mut self, now: Instant) {
        self.outage.was_suspended(now);
    }

    /// Judges a result that has just come. A failure may be the network's or the proxy's.
    pub fn judge(&mut self, of: K, done: FetchResult, now: Instant) -> JudgedResults<K> {
        let mut judged = JudgedResults::none();
        match self.outage.judge(&done.ticket.url, &done.outcome, done.begun, now) {
            NetworkVerdict::Answered => {
                judged.settle.push((of, done));
                judged.settle.extend(self.set(true, now).settle);
            }
            NetworkVerdict::Settle => judged.settle.push((of, done)),
            NetworkVerdict::Requeue => judged.requeue.push((of, done)),
            NetworkVerdict::Doubt => self.doubtful.push((of, done)),
            NetworkVerdict::Exhausted => {
                if self.paused_until.is_none() {
                    tracing::warn!(
                        "too many open files and connections; continuing more slowly. Raise the limit (ulimit -n) or \
                         lower crawl.in_flight"
                    );
                }
                self.paused_until = Some(now + PAUSE);
                judged.requeue.push((of, done));
            }
            NetworkVerdict::Proxy => {
                judged.requeue.push((of, done));
                if !self.is_checking && !self.is_down() {
                    judged.requeue.extend(self.set(false, now).requeue);
                }
            }
            NetworkVerdict::ProxyLost => {
                judged.requeue.push((of, done));
                self.proxy_lost = true;
            }
        }
        judged
    }

    /// Checks the network if results are in doubt.
    pub fn check_doubts(&mut self) {
        if !self.doubtful.is_empty() && !self.is_checking {
            self.check(Duration::ZERO);
        }
    }

    /// The result of a check.
    pub fn was_checked(&mut self, is_up: bool, now: Instant) -> JudgedResults<K> {
        self.is_checking = false;
        // Something may have answered meanwhile.
        if is_up || self.is_down() || !self.doubtful.is_empty() {
            return self.set(is_up, now);
        }
        JudgedResults::none()
    }

    fn set(&mut self, is_up: bool, now: Instant) -> JudgedResults<K> {
        let doubtful = std::mem::take(&mut self.doubtful);
        let by_proxy = self.outage.by_proxy;
        if is_up {
            if let Some(time) = self.outage.is_up_again(now) {
                let what = if by_proxy { "proxy" } else { "network" };
                tracing::warn!("the {what} is available again after {time:.0?}; resuming");
            }
            return JudgedResults { settle: doubtful, requeue: Vec::new() };
        }
        let before = self.is_down();
        match self.outage.stays_down(now) {
            Some(pause) => {
                if !before && by_proxy {
                    tracing::warn!("the proxy no longer responds; waiting for it");
                } else if !before {
                    tracing::warn!("no host responds any more, so the network seems down; waiting for it");
                }
                self.check(pause);
                JudgedResults { settle: Vec::new(), requeue: doubtful }
            }
            None if by_proxy => {
                self.proxy_lost = true;
                JudgedResults { settle: Vec::new(), requeue: doubtful }
            }
            None => {
                let hosts: Vec<&str> = self.outage.recent_hosts().map(CrawlUrl::authority).collect();
                tracing::warn!(
                    "no response from {} for {:.0?} (crawl.outage_patience); assuming that these hosts are down and \
                     continuing",
                    hosts.join(", "),
                    self.outage.patience
                );
                JudgedResults { settle: doubtful, requeue: Vec::new() }
            }
        }
    }

    /// Connects to the newest host and then to all others at once, or to the proxy, and reports whether one accepted.
    fn check(&mut self, after: Duration) {
        self.is_checking = true;
        let (fetcher, checked) = (self.fetcher.clone(), self.checked.clone());
        let hosts: Vec<CrawlUrl> = self.outage.recent_hosts().cloned().collect();
        let by_proxy = self.outage.by_proxy;
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            let mut checks = tokio::task::JoinSet::new();
            let mut is_up = by_proxy && fetcher.check_proxy().await.is_ok();
            for (at, host) in hosts.into_iter().enumerate() {
                let fetcher = fetcher.clone();
                checks.spawn(async move { fetcher.reaches(&host).await });
                if at == 0 {
                    let first = tokio::time::timeout(FIRST_CHECK, checks.join_next()).await;
                    is_up = matches!(first, Ok(Some(Ok(true))));
                }
                if is_up {
                    break;
                }
            }
            while !is_up && let Some(check) = checks.join_next().await {
                is_up = check.unwrap_or(false);
            }
            // The receiver is gone only when the crawl has ended.
            let _ = checked.send(is_up);
        });
    }
}
