//! The queues in the state: which URLs are queued with which rank, and which hosts are ready.

use suidao_page::model::{
    Failure, FailureKind, HostId, Link, LinkDecision, LinkState, Millis, Priority, QueueEntry, UrlId,
};

use super::State;
use crate::crawl::frontier::QueueHead;
use crate::crawl::refresh::{Refreshing, due_entry};

impl State {
    /// Queues links, or improves the rank of queued ones.
    pub fn admit(&mut self, links: &[Link]) {
        let mut pushes: Vec<(HostId, UrlId, QueueEntry)> = Vec::with_capacity(links.len());
        for link in links {
            let state = self.urls.get(link.to).state;
            match (link.decision, state) {
                (LinkDecision::Drop(reason), LinkState::Dropped) => {
                    let known = self.urls.get_mut(link.to);
                    if known.dropped.is_none() {
                        known.dropped = Some(reason);
                        self.counts.count_skipped(reason);
                    }
                }
                (LinkDecision::Follow(entry), LinkState::Dropped) => {
                    let priority = self.current_score(link.to).unwrap_or(entry.priority);
                    let entry = QueueEntry { priority, ..entry };
                    let known = self.urls.get_mut(link.to);
                    let dropped = known.dropped.take();
                    known.set_entry(entry);
                    pushes.push((known.host(), link.to, entry));
                    if let Some(reason) = dropped {
                        self.counts.accept(reason);
                    }
                    self.set_state(link.to, LinkState::Queued);
                }
                // An in-flight URL takes the better rank when it settles, or waits with it if it fails.
                (LinkDecision::Follow(entry), LinkState::Queued | LinkState::InFlight) => {
                    let old = self.urls.get(link.to).entry();
                    let mut merged = self.strategy.merge(old, entry);
                    if let Some(priority) = self.current_score(link.to) {
                        merged.priority = priority.max(old.priority);
                    }
                    let known = self.urls.get_mut(link.to);
                    known.set_entry(merged);
                    if state == LinkState::Queued && (merged.queue, merged.priority) != (old.queue, old.priority) {
                        pushes.push((known.host(), link.to, merged));
                    }
                }
                (LinkDecision::Follow(entry), LinkState::Elsewhere | LinkState::Sent) => self.send(*link, entry),
                _ => {}
            }
        }
        for (host, id, entry) in &pushes {
            self.hosts.offer(*host, entry.priority, *id);
        }
        self.frontier.push_all(pushes);
    }

    /// A link to a URL of another partition: it leaves if it is the first, or improves the URL's rank or path.
    fn send(&mut self, link: Link, entry: QueueEntry) {
        // Another partition fetches it, and knows whether it is a sitemap.
        if self.sourcing.is_source(link.to) {
            return;
        }
        let priority = self.current_score(link.to).unwrap_or(entry.priority);
        let mut entry = QueueEntry { priority, ..entry };
        let known = self.urls.get_mut(link.to);
        if known.state == LinkState::Sent {
            let old = known.entry();
            entry = self.strategy.merge(old, entry);
            if (entry.queue, entry.path) == (old.queue, old.path) && !entry.priority.is_clearly_above(old.priority) {
                return;
            }
        }
        known.state = LinkState::Sent;
        known.set_entry(entry);
        self.leaving.push(Link { decision: LinkDecision::Follow(entry), ..link });
    }

    /// The strategy's score of a URL has risen. An in-flight URL that fails waits with the new rank, as after a
    /// restart.
    pub(super) fn raise(&mut self, id: UrlId) {
        let known = self.urls.get(id);
        let (state, host, entry) = (known.state, known.host(), known.entry());
        if let Some(priority) = self.current_score(id).filter(|score| score.is_clearly_above(entry.priority))
            && matches!(state, LinkState::Queued | LinkState::InFlight)
        {
            let entry = QueueEntry { priority, ..entry };
            self.urls.get_mut(id).set_entry(entry);
            if state == LinkState::Queued {
                self.frontier.push(host, id, entry);
            }
        }
    }

    pub fn set_state(&mut self, id: UrlId, state: LinkState) {
        let known = self.urls.get_mut(id);
        let old = std::mem::replace(&mut known.state, state);
        let host = self.hosts.get_mut(known.host());
        if old == LinkState::Queued {
            host.queued -= 1;
            self.counts.progress.queued -= 1;
        }
        if state == LinkState::Queued {
            host.queued += 1;
            self.counts.progress.queued += 1;
        }
    }

    /// The host may not get a request before `until`.
    pub fn delay_until(&mut self, host: HostId, until: Millis, now: Millis) {
        self.frontier.mark_waiting(host);
        if until <= now {
            self.hosts.get_mut(host).ready_at = until;
            self.frontier.make_ready(host);
        } else {
            self.hosts.wait_until(host, until);
        }
    }

    /// Queues a URL that was in flight and has no result: as if it had never left.
    pub fn requeue(&mut self, id: UrlId, again: bool) {
        self.set_state(id, LinkState::Queued);
        if again {
            self.queue_due(id);
        } else {
            let known = self.urls.get(id);
            let (host, entry) = (known.host(), known.entry());
            self.frontier.push(host, id, entry);
        }
    }

    pub(super) fn queue_due(&mut self, id: UrlId) {
        let Some(Refreshing { due, .. }) = &self.refreshing else { return };
        if let Some(value) = due.get(&id) {
            self.frontier.push(self.urls.get(id).host(), id, due_entry(*value));
        }
    }

    /// Current score of a head: of a due page, the value of a visit.
    pub fn score(&self, head: QueueHead) -> Priority {
        let due =
            self.refreshing.as_ref().filter(|_| head.is_due()).and_then(|refreshing| refreshing.due.get(&head.id));
        due.map_or_else(|| self.urls.get(head.id).entry().priority, |value| Priority::new(*value))
    }

    /// A failed page waits for its next try. It is parked if other URLs can show whether its host is down: if it has
    /// used up its tries, or its response broke HTTP.
    pub(super) fn wait_for_next_try(&mut self, id: UrlId, failure: &Failure) {
        let known = self.urls.get(id);
        let (host, entry) = (known.host(), known.entry());
        let used_up = known.tries() > self.settings.limits.retries.min(15);
        let record = self.hosts.get_mut(host);
        let broken = failure.kind == FailureKind::Broken && record.health.is_pages_fault();
        if !used_up && !broken {
            return self.frontier.push(host, id, entry);
        }
        self.urls.get_mut(id).parked = true;
        record.parked.push(id);
        if record.parked.len() >= record.queued as usize {
            self.requeue_parked(host);
        }
    }

    /// A URL left the queue of its host: if only parked URLs remain, they are queued again.
    pub(super) fn requeue_if_only_parked(&mut self, id: UrlId) {
        let host = self.urls.get(id).host();
        let record = self.hosts.get(host);
        if !record.parked.is_empty() && record.parked.len() >= record.queued as usize {
            self.requeue_parked(host);
        }
    }

    /// Queues a host's parked URLs again: it answers, only they remain, or it is given up.
    pub(super) fn requeue_parked(&mut self, host: HostId) {
        for id in std::mem::take(&mut self.hosts.get_mut(host).parked) {
            self.urls.get_mut(id).parked = false;
            if self.urls.get(id).state == LinkState::Queued {
                self.frontier.push(host, id, self.urls.get(id).entry());
            }
        }
    }
}
