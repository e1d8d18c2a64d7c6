//! DTH, the dynamic tunnelling heuristic (动态隧道技术): Jiang Kun, Zhu Lei, Wang Yichuan, Computer Systems &
//! Applications 29(3), 2020, Fig. 4. The strategy the crawler is named after.
//!
//! ```text
//! page relevant:             links get pv = Sim(page), k = ∞
//! off topic, k = ∞:          links get pv = 0, k = kdepth - 1
//! off topic, 0 < k < ∞:      a link with R(link) >= τ_link keeps k, any other gets k - 1; pv = 0
//! off topic, k = 0:          its links are dropped
//! ```
//! Read literally, pv = 0 never lets a tunnel run, because the queue is never empty: the paper does not define how
//! "depth-first within a tunnel" and "breadth-first among equals" combine. [`DthVariant`] has the four possible
//! interpretations. Nor does it say whose R is tested: [`KMode`].

use serde::{Deserialize, Serialize};

use suidao_page::model::{LinkDecision, Priority, QueueEntry, QueueId, QueuePolicy, SkipReason, TunnelBudget};

use super::interface::{PageVisit, Strategy, merge_paths};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DthVariant {
    /// On a stack, served before the queue.
    Preempt,
    /// In the queue with pv = 0: after every link of a relevant page.
    Queue,
    #[default]
    LinkScored,
    /// On a stack that is served once per `interleave` turns of the queue: closest to the paper.
    Interleave,
}

impl std::fmt::Display for DthVariant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Preempt => "preempt",
            Self::Queue => "queue",
            Self::LinkScored => "link-scored",
            Self::Interleave => "interleave",
        })
    }
}

/// Whose R decides whether k counts down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KMode {
    /// That of each link of an off-topic page, from the second page of a tunnel on.
    #[default]
    Link,
    /// That of the link by which the off-topic page was reached. Along a path this is the same test one page later, so
    /// it also tests the links of the first off-topic page.
    Page,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dth {
    pub variant: DthVariant,
    pub k_mode: KMode,
    /// Length of a tunnel whose links all score below τ_link; the paper's 12.
    pub kdepth: u8,
    /// With `interleave`: turns of the queue per turn of the stack.
    pub interleave: u32,
}

impl Default for Dth {
    fn default() -> Self {
        Self { variant: DthVariant::LinkScored, k_mode: KMode::Link, kdepth: 12, interleave: 4 }
    }
}

impl Strategy for Dth {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        if visit.on_topic {
            let entry = QueueEntry {
                queue: QueueId::MAIN,
                priority: Priority::new(visit.relevance.get()),
                path: visit.path_state(TunnelBudget::Unbounded),
            };
            return vec![LinkDecision::Follow(entry); visit.links.len()];
        }
        let k = visit.entry.path.k;
        let tunnel = |link: &super::LinkCandidate| {
            let is_promising = link.relevance >= visit.link_threshold;
            let left = match (k, self.k_mode) {
                (TunnelBudget::Unbounded, KMode::Page) if is_promising => Some(TunnelBudget::Left(self.kdepth)),
                _ => k.count_down(self.kdepth, is_promising),
            };
            let Some(left) = left else { return LinkDecision::Drop(SkipReason::TunnelEnd) };
            let (queue, priority) = match self.variant {
                DthVariant::Queue => (QueueId::MAIN, 0.0),
                DthVariant::LinkScored => (QueueId::MAIN, link.relevance.get()),
                // On the stack, the links of one page are ordered by R.
                DthVariant::Preempt | DthVariant::Interleave => (QueueId::TUNNEL, link.relevance.get()),
            };
            let path = visit.path_state(left);
            LinkDecision::Follow(QueueEntry { queue, priority: Priority::new(priority), path })
        };
        visit.links.iter().map(tunnel).collect()
    }

    fn merge(&self, old: QueueEntry, new: QueueEntry) -> QueueEntry {
        // The main queue precedes the stack regardless of the priorities: they have different meanings.
        let better = if (new.queue.0, std::cmp::Reverse(new.priority)) < (old.queue.0, std::cmp::Reverse(old.priority))
        {
            new
        } else {
            old
        };
        QueueEntry { path: merge_paths(old.path, new.path, better.path.inherited), ..better }
    }

    fn queue_policy(&self) -> QueuePolicy {
        match self.variant {
            DthVariant::Preempt => QueuePolicy::Preempt,
            DthVariant::Queue | DthVariant::LinkScored => QueuePolicy::BestFirst,
            DthVariant::Interleave => QueuePolicy::Interleave(self.interleave),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::tests::{entries, links, visit};
    use super::*;
    use TunnelBudget::{Left, Unbounded};

    fn judge(variant: DthVariant, relevance: f32, k: TunnelBudget) -> Vec<Option<(u8, f32, TunnelBudget)>> {
        let links = links(&[0.0, 0.15, 0.1499]);
        entries(&Dth { variant, ..Dth::default() }.judge(&visit(relevance, k, &links)))
    }

    #[test]
    fn a_relevant_page_ends_the_tunnel() {
        for variant in [DthVariant::Preempt, DthVariant::Queue, DthVariant::LinkScored, DthVariant::Interleave] {
            assert_eq!(judge(variant, 0.75, Left(0)), [Some((0, 0.75, Unbounded)); 3]);
        }
    }

    #[test]
    fn the_first_off_topic_page_opens_a_tunnel_without_testing_links() {
        assert_eq!(judge(DthVariant::Queue, 0.1, Unbounded), [Some((0, 0.0, Left(11))); 3]);
    }

    #[test]
    fn by_page_the_links_of_the_first_off_topic_page_are_tested_too() {
        let links = links(&[0.0, 0.15]);
        let dth = Dth { variant: DthVariant::Queue, k_mode: KMode::Page, ..Dth::default() };
        let decisions = |k| entries(&dth.judge(&visit(0.1, k, &links)));
        assert_eq!(decisions(Unbounded), [Some((0, 0.0, Left(11))), Some((0, 0.0, Left(12)))]);
        assert_eq!(decisions(Left(5)), [Some((0, 0.0, Left(4))), Some((0, 0.0, Left(5)))]);
    }

    #[test]
    fn promising_links_keep_k_and_others_use_it_up() {
        let expected = [Some((0, 0.0, Left(4))), Some((0, 0.15, Left(5))), Some((0, 0.1499, Left(4)))];
        assert_eq!(judge(DthVariant::LinkScored, 0.1, Left(5)), expected);
        let stacked = [Some((1, 0.0, Left(0))), Some((1, 0.15, Left(1))), Some((1, 0.1499, Left(0)))];
        assert_eq!(judge(DthVariant::Interleave, 0.1, Left(1)), stacked);
    }

    #[test]
    fn at_k_0_the_links_are_dropped() {
        assert_eq!(judge(DthVariant::Preempt, 0.1, Left(0)), [None; 3]);
    }

    #[test]
    fn hops_count_the_off_topic_pages_of_the_tunnel() {
        let links = links(&[0.5]);
        let hops = |relevance| match Dth::default().judge(&visit(relevance, Left(5), &links))[0] {
            LinkDecision::Follow(entry) => (entry.path.depth, entry.path.hops),
            LinkDecision::Drop(_) => panic!("dropped"),
        };
        assert_eq!(hops(0.1), (4, 3));
        assert_eq!(hops(0.9), (4, 0));
    }

    #[test]
    fn the_queue_outranks_the_stack() {
        let entry = |queue, priority| QueueEntry {
            queue,
            priority: Priority::new(priority),
            path: visit(0.0, Left(3), &[]).entry.path,
        };
        let merged = Dth::default().merge(entry(QueueId::TUNNEL, 0.9), entry(QueueId::MAIN, 0.5));
        assert_eq!((merged.queue, merged.priority.get()), (QueueId::MAIN, 0.5));
    }
}
