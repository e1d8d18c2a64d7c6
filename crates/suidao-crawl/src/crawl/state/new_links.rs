//! Refresh: the promising links that visited pages newly have. They are fetched before further visits.

use suidao_page::model::{Event, Link, LinkDecision, LinkState, QueueEntry, UrlId};

use super::State;
use crate::crawl::frontier::{NEW_LINKS, QueueHead};

impl State {
    /// The links of a visited page that no page had before the round.
    pub(super) fn new_in_round(&self, links: &[Link]) -> Vec<UrlId> {
        let round = self.refreshing.as_ref().and_then(|refreshing| refreshing.round.as_ref());
        let Some(known) = round.map(|round| round.known) else { return Vec::new() };
        let is_new = |link: &&Link| {
            link.to.0 as usize >= known
                && matches!(link.decision, LinkDecision::Follow(_))
                && self.urls.get(link.to).state == LinkState::Dropped
        };
        links.iter().filter(is_new).map(|link| link.to).collect()
    }

    /// Whether these events visit a page that links to a URL which no page had linked to before the round.
    pub(in crate::crawl) fn is_new_on_visited(&self, to: UrlId, events: &[Event]) -> bool {
        let on = |event: &Event| match event {
            Event::PageFetched(page) => page.changes.is_some() && page.links.iter().any(|link| link.to == to),
            _ => false,
        };
        self.is_of_round(to) && events.iter().any(on)
    }

    /// Whether a URL was discovered in the round, and is queued.
    pub(in crate::crawl) fn is_queued_in_round(&self, id: UrlId) -> bool {
        self.is_of_round(id) && self.urls.get(id).state == LinkState::Queued
    }

    fn is_of_round(&self, id: UrlId) -> bool {
        let round = self.refreshing.as_ref().and_then(|refreshing| refreshing.round.as_ref());
        round.is_some_and(|round| id.0 as usize >= round.known)
    }

    /// Queues those of these new links that are promising.
    pub(super) fn queue_new_links(&mut self, links: &[UrlId]) {
        for &id in links {
            if self.urls.get(id).state == LinkState::Queued && self.is_promising(id) {
                self.queue_new_link(id);
            }
        }
    }

    /// A due page, or a new link, leads to another URL.
    pub(super) fn new_link_moved(&mut self, from: UrlId, to: UrlId) {
        let is_new =
            |state: &Self| state.refreshing.as_ref().is_some_and(|refreshing| refreshing.new_links.contains(&from));
        if self.urls.get(to).state == LinkState::Queued && (self.is_due(from) || is_new(self)) && !self.is_due(to) {
            self.queue_new_link(to);
        }
    }

    /// The score of a new link has fallen.
    pub(super) fn new_link_lowered(&mut self, id: UrlId) {
        let Some(refreshing) = &mut self.refreshing else { return };
        if refreshing.new_links.remove(&id) && self.is_promising(id) {
            self.queue_new_link(id);
        }
    }

    fn queue_new_link(&mut self, id: UrlId) {
        let Some(refreshing) = &mut self.refreshing else { return };
        refreshing.new_links.insert(id);
        let known = self.urls.get(id);
        self.frontier.push(known.host(), id, QueueEntry { queue: NEW_LINKS, ..known.entry() });
    }

    /// Whether a page is expected to be relevant at least as often as the pages of the crawl.
    fn is_promising(&self, id: UrlId) -> bool {
        let (entry, progress) = (self.urls.get(id).entry(), &self.counts.progress);
        let own = || progress.relevant as f64 / progress.pages.max(1) as f64;
        let harvest_rate = self.settings.harvest_rate.unwrap_or_else(own);
        f64::from(self.expected_value(entry.queue, entry.priority)) >= harvest_rate
    }

    /// Takes the best new link of a ready host.
    pub fn take_new_link(&mut self) -> Option<QueueHead> {
        let Self { urls, refreshing: Some(refreshing), frontier, .. } = self else { return None };
        // Any rank: a score that has risen since does not make the entry stale.
        frontier
            .pop_from(NEW_LINKS, &|id, _| urls.get(id).state == LinkState::Queued && refreshing.new_links.contains(&id))
    }
}
