//! What the best URL of the ready hosts competes with: the best URLs of hosts that will be ready soon.

use super::State;
use crate::crawl::frontier::QueueHead;
use crate::crawl::spend::{SOON, Spend, WITHOUT_PAGE};
use suidao_page::model::{Millis, Priority, QueueId, UrlId};

/// The best URL of a host that will be ready soon.
pub enum Rival {
    /// None is worth clearly more.
    None,
    /// The score of this one has fallen: it must be queued with the lower one first.
    Fallen(UrlId, Priority),
    /// One has this worth.
    Better(f32),
}

impl State {
    /// How much of the best worth a fetched URL needs.
    pub fn theta(&self) -> f64 {
        let default = if self.strategy.expects() { Spend::BALANCED } else { Spend::TIME };
        self.settings.spend.unwrap_or(default).theta()
    }

    /// What fetching a URL of this priority is worth.
    fn worth(&self, queue_id: QueueId, priority: Priority) -> f32 {
        if self.strategy.expects() { priority.get() } else { self.spending.calibration.worth(queue_id, priority) }
    }

    /// The best rival of a head whose score is current. Linear in the hosts that are in flight or rest.
    pub fn rival(&mut self, head: QueueHead, now: Millis) -> Rival {
        let theta = self.theta();
        let least = f64::from(self.worth(head.queue_id, self.score(head))) / theta;
        if theta == 0.0 || head.is_due() || self.refreshing.is_some() || least >= 1.0 {
            return Rival::None;
        }
        let mut best = least as f32;
        let mut found = Rival::None;
        let hosts = &self.hosts;
        let resting = self.frontier.take_resting(|host| {
            let host = hosts.get(host);
            host.in_flight || !host.failing
        });
        for &host in &resting {
            let record = self.hosts.get(host);
            let is_soon = record.in_flight || record.ready_at > now && record.ready_at.since(now) <= SOON;
            if !is_soon || record.failing || record.queued == 0 || record.without_page >= WITHOUT_PAGE {
                continue;
            }
            let urls = &self.urls;
            let Some(id) = self.frontier.best_of(host, head.queue_id, |id, key| urls.get(id).is_current(key)) else {
                continue;
            };
            let priority = self.urls.get(id).entry().priority;
            let worth = self.worth(head.queue_id, priority).min(1.0);
            if worth <= best {
                continue;
            }
            if let Some(score) = self.current_score(id).filter(|score| priority.is_clearly_above(*score)) {
                found = Rival::Fallen(id, score);
                break;
            }
            (best, found) = (worth, Rival::Better(worth));
        }
        self.frontier.put_resting(resting);
        found
    }
}
