//! Fish-search: De Bra, Post 1994, as described by Hersovici et al. 1998: the crawl spreads from relevant pages through
//! their first links, and stops D links after the last relevant page.
//!
//! ```text
//! page relevant:   its first α width links get 1, the others 0; depth D
//! off topic:       its first width links get 0.5, the others 0; depth of the page - 1
//! at depth 0:      the links of an off-topic page are dropped
//! found again:     the larger score, the larger depth
//! ```
//! The depth is the k of [`PathState`]. The links of a relevant page at depth 0 are
//! followed, as in De Bra and Post: a relevant page resets the depth.

use serde::{Deserialize, Serialize};

use suidao_page::model::{CrawlUrl, LinkDecision, PathState, Priority, QueueEntry, QueueId, SkipReason, TunnelBudget};

use super::interface::{PageVisit, Strategy};

/// α: a relevant page has α times as many followed links.
const ALPHA: f32 = 1.5;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FishSearch {
    /// Links of an off-topic page that precede the rest.
    pub width: u32,
    /// D: maximum number of links after a relevant page.
    pub depth: u8,
}

impl Default for FishSearch {
    fn default() -> Self {
        Self { width: 10, depth: 3 }
    }
}

impl Strategy for FishSearch {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let depth = match visit.entry.path.k {
            _ if visit.on_topic => self.depth,
            TunnelBudget::Unbounded => self.depth.saturating_sub(1),
            TunnelBudget::Left(0) if !visit.is_seed() => {
                return vec![LinkDecision::Drop(SkipReason::TunnelEnd); visit.links.len()];
            }
            TunnelBudget::Left(left) => left.saturating_sub(1),
        };
        let (score, first) =
            if visit.on_topic { (1.0, (ALPHA * self.width as f32) as usize) } else { (0.5, self.width as usize) };
        let entry = |at: usize| QueueEntry {
            queue: QueueId::MAIN,
            priority: Priority::new(if at < first { score } else { 0.0 }),
            path: visit.path_state(TunnelBudget::Left(depth)),
        };
        (0..visit.links.len()).map(|at| LinkDecision::Follow(entry(at))).collect()
    }

    fn seed(&self, _url: &CrawlUrl) -> QueueEntry {
        let link_path = PathState { k: TunnelBudget::Left(self.depth), ..PathState::SEED };
        QueueEntry { queue: QueueId::MAIN, priority: Priority::new(1.0), path: link_path }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::tests::{entries, links, visit};
    use super::*;
    use TunnelBudget::Left;

    fn judge(relevance: f32, k: TunnelBudget) -> Vec<Option<(u8, f32, TunnelBudget)>> {
        let links = links(&[0.0; 5]);
        entries(&FishSearch { width: 2, depth: 3 }.judge(&visit(relevance, k, &links)))
    }

    #[test]
    fn where_there_is_food_the_school_breeds() {
        let expected = [1.0, 1.0, 1.0, 0.0, 0.0].map(|score| Some((0, score, Left(3))));
        assert_eq!(judge(0.5, Left(1)), expected);
        assert_eq!(judge(0.5, Left(0)), expected, "food at the end of the way");
    }

    #[test]
    fn off_topic_it_thins_out_and_dies() {
        assert_eq!(judge(0.4, Left(3)), [0.5, 0.5, 0.0, 0.0, 0.0].map(|score| Some((0, score, Left(2)))));
        assert_eq!(judge(0.4, Left(1))[0], Some((0, 0.5, Left(0))));
        assert_eq!(judge(0.4, Left(0)), [None; 5]);
    }

    #[test]
    fn a_seed_starts_with_the_whole_depth() {
        let seed = FishSearch::default().seed(&CrawlUrl::parse("http://h.cn/").unwrap());
        assert_eq!((seed.priority.get(), seed.path.k), (1.0, Left(3)));
    }
}
