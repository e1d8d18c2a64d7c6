//! PageRank over the frontier with a topical gate, the PR of Jiang, Zhu, Wang 2020, section 3.
//!
//! ```text
//! new u:           PR(u) = (1 - d) + d PR(p) / out(p)
//! u queued again:  PR(u) += d PR(p) / out(p)
//! gate:            the links of pages with Sim < τ_page are dropped
//! ```
//! The paper gives the procedure, not the formula; this is its incremental form.

use serde::{Deserialize, Serialize};

use suidao_page::model::{LinkDecision, Priority, QueueEntry, QueueId, SkipReason, TunnelBudget};

use super::interface::{PageVisit, Strategy, merge_paths};

/// PageRank of the queued URLs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PageRank {
    /// d, in `[0, 1)`.
    pub damping: f32,
    pub variant: PageRankVariant,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum PageRankVariant {
    /// Ranks add up in the queue, as in the paper.
    #[default]
    Incremental,
    /// The whole graph known so far is ranked again when it has grown by a tenth.
    Global,
}

impl Default for PageRank {
    fn default() -> Self {
        Self { damping: 0.85, variant: PageRankVariant::Incremental }
    }
}

impl Strategy for PageRank {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let out = visit.links.len();
        if !visit.on_topic && !visit.is_seed() {
            return vec![LinkDecision::Drop(SkipReason::OffTopicPage); out];
        }
        let share = self.damping * visit.entry.priority.get() / out.max(1) as f32;
        let entry = QueueEntry {
            queue: QueueId::MAIN,
            priority: Priority::new(1.0 - self.damping + share),
            path: visit.path_state(TunnelBudget::Unbounded),
        };
        vec![LinkDecision::Follow(entry); out]
    }

    fn merge(&self, old: QueueEntry, new: QueueEntry) -> QueueEntry {
        // The new entry includes the initial value again; only its share is added.
        let share = new.priority.get() - (1.0 - self.damping);
        QueueEntry {
            queue: old.queue,
            priority: Priority::new(old.priority.get() + share),
            path: merge_paths(old.path, new.path, old.path.inherited.max(new.path.inherited)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::tests::{entries, links, seed_entry, visit};
    use super::*;

    #[test]
    fn rank_flows_along_links_and_adds_up() {
        let links = links(&[0.0, 0.0]);
        let pagerank = PageRank::default();
        let decisions = pagerank.judge(&visit(0.9, TunnelBudget::Unbounded, &links));
        let expected = 0.15 + 0.85 * 0.4 / 2.0;
        assert!((entries(&decisions)[0].unwrap().1 - expected).abs() < 1e-6);
        let (LinkDecision::Follow(old), LinkDecision::Follow(new)) = (decisions[0], decisions[1]) else {
            panic!("dropped")
        };
        let twice = pagerank.merge(old, new);
        assert!((twice.priority.get() - (0.15 + 0.85 * 0.4)).abs() < 1e-6);
    }

    #[test]
    fn seeds_pass_the_gate() {
        let links = links(&[0.9]);
        let seed = PageVisit { entry: seed_entry(), ..visit(0.0, TunnelBudget::Unbounded, &links) };
        assert!(entries(&PageRank::default().judge(&seed))[0].is_some());
    }

    #[test]
    fn the_gate_keeps_off_topic_pages_out() {
        let links = links(&[0.9]);
        let decisions = PageRank::default().judge(&visit(0.1, TunnelBudget::Unbounded, &links));
        assert_eq!(decisions, [LinkDecision::Drop(SkipReason::OffTopicPage)]);
    }
}
