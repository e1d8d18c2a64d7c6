//! PageRank of the whole graph known so far, ranked again when it has grown by a tenth: J. Cho, H. Garcia-Molina, L.
//! Page, Efficient Crawling Through URL Ordering, 1998, section 3.2. As in `pagerank.rs` (the incremental version),
//! only links of relevant pages count.

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};

use suidao_graph::{GraphPage, LinkGraph, PageTopic, page_rank};
use suidao_page::model::{Event, LinkDecision, Priority, QueueEntry, QueueId, SkipReason, TunnelBudget, UrlId};

use super::interface::{Learning, PageVisit, Strategy};

/// Least number of links before the first ranking.
const LEAST: usize = 100;

/// Memory: 8 bytes per known URL and 8 per link; twice that while it ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GlobalPageRank {
    damping: f32,
    /// A hash of the host of each URL.
    hosts: Vec<u32>,
    /// Links of relevant pages.
    links: Vec<(u32, u32)>,
    /// Links at the last ranking.
    ranked: usize,
    /// PageRank of the URLs known then, 1 on average.
    ranks: Vec<f32>,
}

impl GlobalPageRank {
    pub fn new(damping: f32) -> Self {
        Self { damping, ..Self::default() }
    }

    fn rank(&mut self) {
        let page = |&host: &u32| GraphPage { host, topic: PageTopic::OffTopic, seed: false };
        let graph = LinkGraph::new(self.hosts.iter().map(page).collect(), self.links.clone());
        let count = graph.len() as f64;
        self.ranks = page_rank(&graph, f64::from(self.damping)).into_iter().map(|rank| (rank * count) as f32).collect();
        self.ranked = self.links.len();
    }
}

impl Strategy for GlobalPageRank {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        if !visit.on_topic && !visit.is_seed() {
            return vec![LinkDecision::Drop(SkipReason::OffTopicPage); visit.links.len()];
        }
        let entry = QueueEntry {
            queue: QueueId::MAIN,
            priority: Priority::new(1.0 - self.damping),
            path: visit.path_state(TunnelBudget::Unbounded),
        };
        vec![LinkDecision::Follow(entry); visit.links.len()]
    }

    fn learning(&self) -> Option<&dyn Learning> {
        Some(self)
    }

    fn learning_mut(&mut self) -> Option<&mut dyn Learning> {
        Some(self)
    }
}

impl Learning for GlobalPageRank {
    fn observe(&mut self, event: &Event, risen: &mut Vec<UrlId>) {
        match event {
            Event::Discovered(found) => {
                let mut hasher = FxHasher::default();
                found.url.authority().hash(&mut hasher);
                self.hosts.push(hasher.finish() as u32);
            }
            // Those whose links are followed.
            Event::PageFetched(page) if page.on_topic || page.queued_as.path.depth == 0 => {
                let targets = page.links.iter().map(|link| link.to.0).chain(page.known.iter().map(|id| id.0));
                self.links.extend(targets.map(|to| (page.id.0, to)));
                if self.links.len() >= LEAST.max(self.ranked + self.ranked / 10) {
                    self.rank();
                    risen.extend((0..self.ranks.len() as u32).map(UrlId));
                }
            }
            _ => {}
        }
    }

    fn current_score(&self, id: UrlId) -> Priority {
        Priority::new(self.ranks.get(id.0 as usize).copied().unwrap_or(1.0 - self.damping))
    }

    fn snapshot(&self) -> Box<dyn Iterator<Item = Vec<u8>> + '_> {
        Box::new(postcard::to_stdvec(self).into_iter())
    }

    fn restore(&mut self, piece: &[u8]) -> bool {
        match postcard::from_bytes::<Self>(piece) {
            Ok(whole) if whole.damping == self.damping => {
                *self = whole;
                true
            }
            _ => false,
        }
    }

    fn is_complete(&self, urls: usize) -> bool {
        self.hosts.len() == urls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(links: &[(u32, u32)], urls: usize) -> GlobalPageRank {
        let mut strategy = GlobalPageRank { links: links.to_vec(), ..GlobalPageRank::new(0.85) };
        strategy.hosts = (0..urls as u32).collect();
        strategy.rank();
        strategy
    }

    #[test]
    fn a_url_that_many_pages_link_to_comes_first_and_new_ones_last() {
        let strategy = learnt(&[(0, 1), (0, 2), (3, 2), (4, 2)], 5);
        let score = |id| strategy.current_score(UrlId(id)).get();
        assert!(score(2) > score(1) && score(1) > score(0));
        assert!((score(9) - 0.15).abs() < 1e-6);
        let sum: f32 = (0..5).map(score).sum();
        assert!((sum - 5.0).abs() < 1e-3, "1 on average: {sum}");
    }

    #[test]
    fn a_snapshot_restores_it() {
        let strategy = learnt(&[(0, 1), (1, 0)], 2);
        let mut other = GlobalPageRank::new(0.85);
        assert!(strategy.snapshot().all(|piece| other.restore(&piece)) && other.is_complete(2));
        assert_eq!(other, strategy);
        assert!(!GlobalPageRank::new(0.5).restore(&strategy.snapshot().next().unwrap()), "of other settings");
    }
}
