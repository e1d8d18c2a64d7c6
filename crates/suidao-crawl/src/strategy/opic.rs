//! OPIC, on-line page importance computation: Abiteboul, Preda, Cobena 2003. Ignores the topic.
//!
//! Every URL has cash. A fetched page distributes its cash equally to its links, and the URL with the most cash is
//! next, the paper's greedy choice. So cash is the rank: it is added when a queued or in-flight URL is found again, and
//! needs no memory of its own. Cash paid to a page after its fetch would count at its next fetch, and there is none.
//! The paper's virtual page, which collects from pages without links and pays to all, has no place in a single crawl.

use suidao_page::model::{LinkDecision, Priority, QueueEntry, QueueId, TunnelBudget};

use super::interface::{PageVisit, Strategy, merge_paths};

#[derive(Clone, Copy, Debug, Default)]
pub struct Opic;

impl Strategy for Opic {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let share = visit.entry.priority.get() / visit.links.len().max(1) as f32;
        let entry = QueueEntry {
            queue: QueueId::MAIN,
            priority: Priority::new(share),
            path: visit.path_state(TunnelBudget::Unbounded),
        };
        vec![LinkDecision::Follow(entry); visit.links.len()]
    }

    fn merge(&self, old: QueueEntry, new: QueueEntry) -> QueueEntry {
        QueueEntry {
            queue: old.queue,
            priority: Priority::new(old.priority.get() + new.priority.get()),
            path: merge_paths(old.path, new.path, old.path.inherited.max(new.path.inherited)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::tests::{entries, links, visit};
    use super::*;

    #[test]
    fn a_page_pays_all_it_has_and_cash_adds_up() {
        let links = links(&[0.9, 0.0]);
        let decisions = Opic.judge(&visit(0.0, TunnelBudget::Unbounded, &links));
        assert_eq!(entries(&decisions), [Some((0, 0.2, TunnelBudget::Unbounded)); 2]);
        let (LinkDecision::Follow(old), LinkDecision::Follow(new)) = (decisions[0], decisions[1]) else {
            panic!("dropped")
        };
        assert!((Opic.merge(old, new).priority.get() - 0.4).abs() < 1e-6);
    }
}
