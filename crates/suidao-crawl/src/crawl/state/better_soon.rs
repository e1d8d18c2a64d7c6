//! What the best URL of the ready hosts competes with: the best URLs of hosts that will be ready soon.

use std::cmp::Reverse;

use super::State;
use crate::crawl::frontier::QueueHead;
use crate::crawl::spend::{BestValues, MAX_WITHOUT_PAGE, MinimumShare, SOON};
use suidao_page::model::{HostId, Millis, Priority, QueueId, UrlId};

/// The best URL of a host that will be ready soon.
pub enum Competitor {
    /// None has a clearly higher expected value.
    None,
    /// The score of this one has fallen: it must be queued with the lower one first.
    Stale(UrlId, Priority),
    /// One has this expected value.
    Better(f32),
}

impl State {
    /// Which share of the best expected value a fetched URL needs.
    pub fn theta(&self) -> f64 {
        let default =
            if self.strategy.priorities_are_expected_values() { MinimumShare::BALANCED } else { MinimumShare::TIME };
        self.settings.spend.unwrap_or(default).theta()
    }

    /// The expected reward of fetching a URL of this priority.
    pub(super) fn expected_value(&self, queue_id: QueueId, priority: Priority) -> f32 {
        if self.strategy.priorities_are_expected_values() {
            priority.get()
        } else {
            self.wait_state.calibration.expected_value(queue_id, priority)
        }
    }

    /// The expected values of the best URLs.
    pub fn best_values(&mut self, taken: u64, now: Millis) -> BestValues {
        self.wake(now);
        let mut ready: Option<f32> = None;
        if let Some(head) = self.take_new(taken) {
            ready = Some(self.expected_value(head.queue_id, self.score(head)));
            self.frontier.requeue_in_place(head);
            self.frontier.make_ready(head.host);
        }
        let mut soon = ready;
        let hosts = &self.hosts;
        let resting = self.frontier.take_resting(|host| {
            let host = hosts.get(host);
            host.in_flight || !host.failing
        });
        for &host in &resting {
            if !self.is_ready_soon(host, now) {
                continue;
            }
            let urls = &self.urls;
            if let Some(id) = self.frontier.best_of(host, QueueId::MAIN, |id, key| urls.get(id).is_current(key)) {
                let value = self.expected_value(QueueId::MAIN, self.urls.get(id).entry().priority);
                soon = Some(soon.map_or(value, |best| best.max(value)));
            }
        }
        self.frontier.put_resting(resting);
        BestValues { ready, soon, theta: self.theta() }
    }

    /// The best competing URL of a head whose score is current. Linear in the hosts that are in flight or rest.
    pub fn best_competitor(&mut self, head: QueueHead, now: Millis) -> Competitor {
        let theta = self.theta();
        let least = f64::from(self.expected_value(head.queue_id, self.score(head))) / theta;
        if theta == 0.0 || head.is_due() || self.refreshing.is_some() || least >= 1.0 {
            return Competitor::None;
        }
        let hosts = &self.hosts;
        let resting = self.frontier.take_resting(|host| {
            let host = hosts.get(host);
            host.in_flight || !host.failing
        });
        let mut best: Option<(f32, Reverse<UrlId>)> = None;
        for &host in &resting {
            if !self.is_ready_soon(host, now) {
                continue;
            }
            let urls = &self.urls;
            let Some(id) = self.frontier.best_of(host, head.queue_id, |id, key| urls.get(id).is_current(key)) else {
                continue;
            };
            let expected_value = self.expected_value(head.queue_id, self.urls.get(id).entry().priority).min(1.0);
            if f64::from(expected_value) > least && best.is_none_or(|best| (expected_value, Reverse(id)) > best) {
                best = Some((expected_value, Reverse(id)));
            }
        }
        self.frontier.put_resting(resting);
        let Some((expected_value, Reverse(id))) = best else { return Competitor::None };
        let priority = self.urls.get(id).entry().priority;
        match self.current_score(id).filter(|score| priority.is_clearly_above(*score)) {
            Some(score) => Competitor::Stale(id, score),
            None => Competitor::Better(expected_value),
        }
    }

    /// Whether a host that is not ready probably will be, and with a page.
    fn is_ready_soon(&self, host: HostId, now: Millis) -> bool {
        let host = self.hosts.get(host);
        let is_soon = if host.in_flight {
            now.since(host.last_request) <= SOON
        } else {
            host.ready_at > now && host.ready_at.since(now) <= SOON
        };
        is_soon && !host.failing && host.queued > 0 && host.without_page < MAX_WITHOUT_PAGE
    }
}
