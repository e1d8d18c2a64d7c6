//! Static tunnelling: Bergmark, Lagoze, Sbityakov 2002: a path ends after k consecutive off-topic pages. The
//! predecessor of [`super::Dth`], which behaves the same if no link reaches τ_link.
//!
//! ```text
//! page relevant:        links get Sim(page), k = ∞
//! off topic, k = ∞:     links get 0, k = K - 1
//! off topic, k > 0:     links get 0, k - 1
//! off topic, k = 0:     its links are dropped
//! ```

use serde::{Deserialize, Serialize};

use suidao_page::model::{LinkDecision, Priority, QueueEntry, QueueId, SkipReason, TunnelBudget};

use super::interface::{PageVisit, Strategy};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StaticTunnel {
    /// K: off-topic pages that a tunnel crosses, at least 1; the paper's longest path between relevant pages has 12.
    pub k: u8,
}

impl Default for StaticTunnel {
    fn default() -> Self {
        Self { k: 12 }
    }
}

impl Strategy for StaticTunnel {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let (priority, k) = if visit.on_topic {
            (visit.relevance.get(), TunnelBudget::Unbounded)
        } else if let Some(k) = visit.entry.path.k.count_down(self.k, false) {
            (0.0, k)
        } else {
            return vec![LinkDecision::Drop(SkipReason::TunnelEnd); visit.links.len()];
        };
        let entry = QueueEntry { queue: QueueId::MAIN, priority: Priority::new(priority), path: visit.path_state(k) };
        vec![LinkDecision::Follow(entry); visit.links.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::tests::{entries, links, visit};
    use super::*;
    use TunnelBudget::{Left, Unbounded};

    fn judge(k: u8, relevance: f32, left: TunnelBudget) -> Option<(u8, f32, TunnelBudget)> {
        let links = links(&[0.9]);
        entries(&StaticTunnel { k }.judge(&visit(relevance, left, &links)))[0]
    }

    #[test]
    fn every_off_topic_page_costs_one() {
        assert_eq!(judge(12, 0.1, Unbounded), Some((0, 0.0, Left(11))));
        assert_eq!(judge(12, 0.1, Left(5)), Some((0, 0.0, Left(4))));
        assert_eq!(judge(12, 0.1, Left(0)), None);
    }

    #[test]
    fn a_relevant_page_ends_the_tunnel() {
        assert_eq!(judge(12, 0.75, Left(0)), Some((0, 0.75, Unbounded)));
    }

    #[test]
    fn of_length_one_it_crosses_one_page() {
        assert_eq!(judge(1, 0.1, Unbounded), Some((0, 0.0, Left(0))));
    }
}
