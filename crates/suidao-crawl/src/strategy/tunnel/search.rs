//! `tunnel` as a strategy: the prior of each link; the learner has the score.

use suidao_page::model::{
    CrawlUrl, Event, LearntSum, LinkDecision, PathState, Priority, QueueEntry, QueueId, Relevance, TunnelBudget, UrlId,
};

use super::learner::Learner;
use super::settings::TunnelSettings;
use crate::strategy::SharkSearch;
use crate::strategy::interface::{Learning, LinkCandidate, PageVisit, Strategy, merge_paths};

/// Length of a tunnel whose links all score low; recorded only.
const K: u8 = 12;
/// The start score of a link.
const SHARK: SharkSearch = SharkSearch { delta: 0.5, beta: 0.8, gamma: 0.5 };

pub struct TunnelSearch {
    settings: TunnelSettings,
    learner: Learner,
}

impl TunnelSearch {
    pub fn new(settings: TunnelSettings, page_threshold: Relevance) -> Self {
        Self { learner: Learner::new(settings.clone(), page_threshold), settings }
    }
}

impl Strategy for TunnelSearch {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let parent_relevance = if visit.on_topic { visit.relevance.get() } else { visit.entry.path.inherited.get() };
        let hub = self.settings.inherit * self.learner.listing_value(visit.id);
        let inherited = Relevance::new((SHARK.delta * parent_relevance).max(hub));
        let entry = |link: &LinkCandidate| {
            let score = SHARK.potential(inherited, link);
            let left = visit.entry.path.k.count_down(K, link.relevance >= visit.link_threshold);
            let k = if visit.on_topic { TunnelBudget::Unbounded } else { left.unwrap_or(TunnelBudget::Left(0)) };
            let link_path = PathState { inherited, ..visit.path_state(k) };
            // The prior s; the learner reads it from the event and computes the score from it.
            QueueEntry { queue: QueueId::MAIN, priority: Priority::new(score.clamp(0.01, 0.97)), path: link_path }
        };
        visit.links.iter().map(|link| LinkDecision::Follow(entry(link))).collect()
    }

    fn merge(&self, old: QueueEntry, new: QueueEntry) -> QueueEntry {
        let inherited = old.path.inherited.max(new.path.inherited);
        QueueEntry { path: merge_paths(old.path, new.path, inherited), ..old }
    }

    fn seed(&self, _url: &CrawlUrl) -> QueueEntry {
        // The links of an off-topic seed inherit as from a page at the threshold.
        let link_path = PathState { inherited: self.learner.threshold(), ..PathState::SEED };
        QueueEntry { queue: QueueId::MAIN, priority: Priority::new(1.0), path: link_path }
    }

    fn learning(&self) -> Option<&dyn Learning> {
        Some(self)
    }

    fn learning_mut(&mut self) -> Option<&mut dyn Learning> {
        Some(self)
    }

    fn priorities_are_expected_values(&self) -> bool {
        true
    }
}

impl Learning for TunnelSearch {
    fn observe(&mut self, event: &Event, risen: &mut Vec<UrlId>) {
        self.learner.observe(event, risen);
    }

    fn current_score(&self, id: UrlId) -> Priority {
        Priority::new(self.learner.score(id))
    }

    fn snapshot(&self) -> Box<dyn Iterator<Item = Vec<u8>> + '_> {
        Box::new(self.learner.pieces())
    }

    fn restore(&mut self, piece: &[u8]) -> bool {
        self.learner.restore(piece)
    }

    fn is_complete(&self, urls: usize) -> bool {
        self.learner.is_complete(urls)
    }

    fn shared_sums(&self) -> Option<Vec<LearntSum>> {
        Some(self.learner.shared_sums())
    }

    fn changed_elsewhere(&self, sums: &[LearntSum]) -> Vec<LearntSum> {
        self.learner.changed_elsewhere(sums)
    }
}

#[cfg(test)]
mod tests;
