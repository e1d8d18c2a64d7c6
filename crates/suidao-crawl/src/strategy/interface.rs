//! What a strategy is given, and what it answers.

use suidao_page::model::{
    CrawlUrl, Event, ForumRole, LearntSum, LinkDecision, LinkScores, PathState, Priority, QueueEntry, QueueId,
    QueuePolicy, Region, Relevance, TunnelBudget, UrlId,
};

#[derive(Clone, Debug, PartialEq)]
pub struct LinkCandidate {
    pub url: CrawlUrl,
    /// The parts of eq. (3).
    pub scores: LinkScores,
    /// Eq. (3).
    pub relevance: Relevance,
    pub region: Region,
    /// Hash of the tag names and classes from the root to it.
    pub dom_path: u32,
    /// Its role in a forum, if its host is one.
    pub role: Option<ForumRole>,
}

/// A page just fetched: everything a strategy may use.
#[derive(Clone, Copy, Debug)]
pub struct PageVisit<'a> {
    pub id: UrlId,
    /// Eq. (1) of the page.
    pub relevance: Relevance,
    /// At or above the page threshold.
    pub on_topic: bool,
    /// Its queue entry, with the state of the path to it.
    pub entry: QueueEntry,
    /// Estimated distance from the topic in links, if the topic has layers and the page is in one.
    pub layer: Option<u8>,
    /// The link threshold of the lexicon, for eq. (3).
    pub link_threshold: Relevance,
    /// The page's links, each URL once.
    pub links: &'a [LinkCandidate],
}

impl PageVisit<'_> {
    /// Whether it is a seed, or where the redirects of one lead. Strategies that follow links of relevant pages only
    /// follow its links too: the user chose it.
    pub fn is_seed(&self) -> bool {
        self.entry.path.depth == 0
    }

    /// The path state of every link of this page: one link deeper, and the number of off-topic pages since the last
    /// on-topic one.
    pub fn path_state(&self, k: TunnelBudget) -> PathState {
        let link_path = self.entry.path;
        PathState {
            depth: link_path.depth.saturating_add(1),
            hops: if self.on_topic { 0 } else { link_path.hops.saturating_add(1) },
            k,
            inherited: if self.on_topic { self.relevance } else { link_path.inherited },
        }
    }
}

pub trait Strategy: Send + Sync {
    /// One decision per link of the visit, in order.
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision>;

    /// The queue entry of a queued URL found again; by default the better rank, the longer tunnel, the shorter path.
    fn merge(&self, old: QueueEntry, new: QueueEntry) -> QueueEntry {
        let better = if new.priority > old.priority { new } else { old };
        QueueEntry { path: merge_paths(old.path, new.path, better.path.inherited), ..better }
    }

    /// Itself, if it learns.
    fn learning(&self) -> Option<&dyn Learning> {
        None
    }

    fn learning_mut(&mut self) -> Option<&mut dyn Learning> {
        None
    }

    /// Whether a priority is the expected reward of a fetch, so that ratios of priorities are meaningful.
    fn priorities_are_expected_values(&self) -> bool {
        false
    }

    /// How the frontier serves the queues.
    fn queue_policy(&self) -> QueuePolicy {
        QueuePolicy::BestFirst
    }

    fn seed(&self, _url: &CrawlUrl) -> QueueEntry {
        QueueEntry { queue: QueueId::MAIN, priority: Priority::new(1.0), path: PathState::SEED }
    }
}

/// What a strategy has learnt from the events: its memory is a fold of them, so that a restart restores it. For such a
/// strategy every link of a page is logged with its scores, not only those that change the state.
pub trait Learning {
    /// Learns from an event. Adds URLs whose score may have risen to `risen`; links of the page just settled may be
    /// omitted.
    fn observe(&mut self, event: &Event, risen: &mut Vec<UrlId>);

    /// The current score of a queued URL: asked for when the URL is queued, has risen, or reaches the head.
    fn current_score(&self, id: UrlId) -> Priority;

    /// What it has learnt, in pieces for [`restore`](Learning::restore), in this order. Saves a restart from folding
    /// all events.
    fn snapshot(&self) -> Box<dyn Iterator<Item = Vec<u8>> + '_>;

    /// Restores a piece from the same strategy; false if it is invalid.
    fn restore(&mut self, piece: &[u8]) -> bool;

    /// Whether the restored pieces are complete for `urls` URLs.
    fn is_complete(&self, urls: usize) -> bool;

    /// The sums of this partition of a distributed crawl that are about no single host, in order of first mention; none
    /// if the partitions need not share what they learn.
    fn shared_sums(&self) -> Option<Vec<LearntSum>> {
        None
    }

    /// Of these sums over the other partitions, those to learn ([`Event::LearntElsewhere`]): about something that it has
    /// met, and changed enough.
    fn changed_elsewhere(&self, _sums: &[LearntSum]) -> Vec<LearntSum> {
        Vec::new()
    }
}

/// The longest tunnel and the shortest path of two ways to a URL.
pub(super) fn merge_paths(old: PathState, new: PathState, inherited: Relevance) -> PathState {
    PathState { depth: old.depth.min(new.depth), hops: old.hops.min(new.hops), k: old.k.max(new.k), inherited }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::strategy::BreadthFirst;

    pub fn links(relevances: &[f32]) -> Vec<LinkCandidate> {
        let candidate = |(at, &relevance): (usize, &f32)| LinkCandidate {
            url: CrawlUrl::parse(&format!("http://h.cn/{at}")).unwrap(),
            scores: LinkScores::default(),
            relevance: Relevance::new(relevance),
            region: Region::Content,
            dom_path: 0,
            role: None,
        };
        relevances.iter().enumerate().map(candidate).collect()
    }

    /// A page with this relevance and k, and thresholds of 0.5 and 0.15.
    pub fn visit(relevance: f32, k: TunnelBudget, links: &[LinkCandidate]) -> PageVisit<'_> {
        PageVisit {
            id: UrlId(0),
            relevance: Relevance::new(relevance),
            on_topic: relevance >= 0.5,
            entry: QueueEntry {
                queue: QueueId::MAIN,
                priority: Priority::new(0.4),
                path: PathState { depth: 3, hops: 2, k, inherited: Relevance::new(0.6) },
            },
            layer: None,
            link_threshold: Relevance::new(0.15),
            links,
        }
    }

    pub fn seed_entry() -> QueueEntry {
        QueueEntry { queue: QueueId::MAIN, priority: Priority::new(1.0), path: PathState::SEED }
    }

    /// Queue, priority and k of each decision; `None` for drops.
    pub fn entries(decisions: &[LinkDecision]) -> Vec<Option<(u8, f32, TunnelBudget)>> {
        let entry = |decision: &LinkDecision| match decision {
            LinkDecision::Follow(entry) => Some((entry.queue.0, entry.priority.get(), entry.path.k)),
            LinkDecision::Drop(_) => None,
        };
        decisions.iter().map(entry).collect()
    }

    #[test]
    fn a_url_found_again_keeps_the_best_of_both_ways() {
        let entry = |priority, hops, k| QueueEntry {
            queue: QueueId::MAIN,
            priority: Priority::new(priority),
            path: PathState { depth: hops + 1, hops, k, inherited: Relevance::new(priority) },
        };
        let merged = BreadthFirst.merge(entry(0.2, 5, TunnelBudget::Left(9)), entry(0.7, 6, TunnelBudget::Left(3)));
        assert_eq!((merged.priority.get(), merged.path.hops, merged.path.k), (0.7, 5, TunnelBudget::Left(9)));
        assert!((merged.path.inherited.get() - 0.7).abs() < 1e-6);
    }
}
