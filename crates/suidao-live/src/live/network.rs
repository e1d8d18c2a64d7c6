//! Checks whether the network is up, and what happens to results that may be the network's fault.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::News;
use super::driver::Driver;
use suidao_page::model::CrawlUrl;

/// Head start of the host that answered last before others are tried as well.
const FIRST_CHECK: Duration = Duration::from_secs(3);

impl<F: FnMut(News)> Driver<'_, F> {
    /// Connects to the newest host and then to all others at once, or to the proxy, and reports whether one accepted.
    pub(super) fn check_network(&mut self, after: Duration, checked: &UnboundedSender<bool>) {
        self.is_checking = true;
        let (fetcher, checked) = (self.task.fetcher.clone(), checked.clone());
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

    pub(super) fn set_network(&mut self, is_up: bool, now: Instant, checked: &UnboundedSender<bool>) {
        let unattributed_failures = std::mem::take(&mut self.unattributed_failures);
        if is_up {
            if let Some(time) = self.outage.is_up_again(now) {
                let what = if self.outage.by_proxy { "proxy" } else { "network" };
                tracing::warn!("the {what} is available again after {time:.0?}; resuming");
            }
            unattributed_failures.into_iter().for_each(|done| self.settle(done));
            return;
        }
        let before = self.outage.is_down();
        match self.outage.stays_down(now) {
            Some(pause) => {
                if !before && self.outage.by_proxy {
                    tracing::warn!("the proxy no longer responds; waiting for it");
                } else if !before {
                    tracing::warn!("no host responds any more, so the network seems down; waiting for it");
                }
                unattributed_failures.into_iter().for_each(|done| self.requeue(done));
                self.check_network(pause, checked);
            }
            None if self.outage.by_proxy => {
                unattributed_failures.into_iter().for_each(|done| self.requeue(done));
                self.proxy_lost = true;
            }
            None => {
                tracing::warn!(
                    "still no response; perhaps only these few hosts are down, so the crawl continues without them"
                );
                unattributed_failures.into_iter().for_each(|done| self.settle(done));
            }
        }
    }
}
