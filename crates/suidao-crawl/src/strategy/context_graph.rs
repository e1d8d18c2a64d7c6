//! Context-focused crawling: Diligenti, Coetzee, Lawrence, Giles, Gori 2000. A page's words estimate its distance to
//! the topic in links ([`suidao_page::topic::ContextGraphModel`]). Its links are queued by that layer, and the queue
//! nearest to the topic is served first, that of pages in no layer last.
//!
//! Within a queue the paper orders by the classifier's likelihood, which naive Bayes puts at 1 for nearly every page;
//! this implementation orders by the page's relevance.

use serde::{Deserialize, Serialize};

use suidao_page::model::{LinkDecision, PathState, Priority, QueueEntry, QueueId, QueuePolicy, TunnelBudget};
use suidao_page::topic::UNREACHABLE;

use super::interface::{PageVisit, Strategy, merge_paths};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ContextGraph {
    /// File of the layers, created by `suidao topic layers`; there is no default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Strategy for ContextGraph {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let entry = QueueEntry {
            queue: QueueId(visit.layer.unwrap_or(UNREACHABLE)),
            priority: Priority::new(visit.relevance.get()),
            path: visit.path_state(TunnelBudget::Unbounded),
        };
        vec![LinkDecision::Follow(entry); visit.links.len()]
    }

    fn merge(&self, old: QueueEntry, new: QueueEntry) -> QueueEntry {
        let rank = |entry: &QueueEntry| (std::cmp::Reverse(entry.queue), entry.priority);
        let better = if rank(&new) > rank(&old) { new } else { old };
        QueueEntry { path: merge_paths(old.path, new.path, better.path.inherited), ..better }
    }

    fn queue_policy(&self) -> QueuePolicy {
        QueuePolicy::LowestFirst
    }

    fn seed(&self, _url: &suidao_page::model::CrawlUrl) -> QueueEntry {
        QueueEntry { queue: QueueId(0), priority: Priority::new(1.0), path: PathState::SEED }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::tests::{entries, links, visit};
    use super::*;

    fn judge(layer: Option<u8>) -> QueueEntry {
        let links = links(&[0.9]);
        let visit = PageVisit { layer, ..visit(0.25, TunnelBudget::Unbounded, &links) };
        match ContextGraph::default().judge(&visit)[0] {
            LinkDecision::Follow(entry) => entry,
            LinkDecision::Drop(_) => panic!("dropped"),
        }
    }

    #[test]
    fn links_wait_in_the_queue_of_their_pages_layer() {
        let layers = [Some(0), Some(3), None].map(|layer| entries(&[LinkDecision::Follow(judge(layer))])[0]);
        assert_eq!(layers, [0, 3, 5].map(|layer| Some((layer, 0.25, TunnelBudget::Unbounded))));
    }

    #[test]
    fn found_again_nearer_to_the_topic_a_url_moves_up() {
        let (far, near) = (judge(Some(3)), judge(Some(1)));
        let merge = |old, new| ContextGraph::default().merge(old, new).queue;
        assert_eq!((merge(far, near), merge(near, far)), (QueueId(1), QueueId(1)));
    }
}
