//! Holds a URL back as long as better ones of other hosts will be ready soon (`crawl.spend`).

use suidao_page::model::{Batch, Event, Millis};

use super::draft::Draft;
use super::frontier::QueueHead;
use super::machine::Crawl;
use super::spend::WaitThreshold;
use super::state::{Competitor, EventTime};
use super::ticket::Next;

impl Crawl {
    /// Whether a head must wait for a better URL. Competing URLs whose scores have fallen are queued with the lower
    /// ones.
    pub(super) fn must_wait(&mut self, head: QueueHead, events: &mut Vec<Event>, now: Millis) -> bool {
        loop {
            match self.state.best_competitor(head, now) {
                Competitor::Stale(id, priority) => {
                    let lower = |draft: &mut Draft| draft.push(Event::Reprioritized { id, priority });
                    self.decide(events, EventTime::without_request(now), lower);
                }
                Competitor::Better(best) if !self.state.wait_state.is_released(head.id) => {
                    let ready = 1 + self.state.frontier.announced(head.queue_id);
                    self.run.wait_costs.begin(best, ready, now);
                    return true;
                }
                Competitor::None | Competitor::Better(_) => {
                    self.run.wait_costs.end(now);
                    return false;
                }
            }
        }
    }

    /// The head stays ready: it is chosen again when a host is ready or a response comes, and released after a time
    /// without pages.
    pub(super) fn wait_for_better(&mut self, head: QueueHead, events: &mut Vec<Event>, now: Millis) -> Next {
        self.state.frontier.requeue_in_place(head);
        self.state.frontier.make_ready(head.host);
        let released_at = self.state.wait_state.released_at();
        if released_at <= now {
            let release = |draft: &mut Draft| draft.push(Event::Released { id: head.id });
            self.decide(events, EventTime::without_request(now), release);
        }
        if events.is_empty() {
            Next::Wait(Some(self.state.hosts.next_due().map_or(released_at, |due| due.min(released_at))))
        } else {
            Next::Record(Batch { at: now, latency: None, events: std::mem::take(events) })
        }
    }

    /// Which URLs wait for better ones now.
    pub(super) fn wait_threshold(&self) -> Option<WaitThreshold> {
        let best = self.run.wait_costs.best()?;
        Some(WaitThreshold {
            best,
            by_priority: self.state.strategy.priorities_are_expected_values(),
            below: (self.state.theta() * f64::from(best)) as f32,
        })
    }
}
