//! Breadth-first: in order of discovery. The baseline that ignores the topic.

use suidao_page::model::{LinkDecision, Priority, QueueEntry, QueueId, TunnelBudget};

use super::interface::{PageVisit, Strategy};

#[derive(Clone, Copy, Debug, Default)]
pub struct BreadthFirst;

impl Strategy for BreadthFirst {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        // One rank for all: ties are broken by order of discovery.
        let entry = QueueEntry {
            queue: QueueId::MAIN,
            priority: Priority::new(1.0),
            path: visit.path_state(TunnelBudget::Unbounded),
        };
        vec![LinkDecision::Follow(entry); visit.links.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::tests::{entries, links, visit};
    use super::*;

    #[test]
    fn all_links_share_one_queue() {
        let links = links(&[0.9, 0.0]);
        let decisions = BreadthFirst.judge(&visit(0.0, TunnelBudget::Unbounded, &links));
        assert_eq!(entries(&decisions), [Some((0, 1.0, TunnelBudget::Unbounded)); 2]);
    }
}
