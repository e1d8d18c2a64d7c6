//! Shark-search: Hersovici, Jacovi, Maarek, Pelleg, Shtalhaim, Ur 1998, Fig. 2: fish-search with graded relevance.
//!
//! ```text
//! inherited = δ Sim(page)              if the page is relevant
//!           = δ inherited of the page  otherwise
//! context   = 1                        if R_Anchor > 0
//!           = R_Context                otherwise
//! near      = β R_Anchor + (1 - β) context
//! potential = γ inherited + (1 - γ) near
//! ```
//! A URL found again keeps the larger potential and its inherited score. A seed inherits 0. The paper bounds the depth
//! as fish-search does; later authors use it as a best-first search, and so does this implementation, bounded by
//! `limits.hops`.

use serde::{Deserialize, Serialize};

use suidao_page::model::{CrawlUrl, LinkDecision, PathState, Priority, QueueEntry, QueueId, Relevance, TunnelBudget};

use super::interface::{LinkCandidate, PageVisit, Strategy};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SharkSearch {
    /// δ, in `[0, 1]`: share of a page's score that its links inherit.
    pub delta: f32,
    /// β, in `[0, 1]`: weight of the anchor against its context.
    pub beta: f32,
    /// γ, in `[0, 1]`: weight of the inherited score against the link's neighbourhood.
    pub gamma: f32,
}

impl Default for SharkSearch {
    fn default() -> Self {
        Self { delta: 0.5, beta: 0.8, gamma: 0.5 }
    }
}

impl SharkSearch {
    /// The potential of a link that inherits this score.
    pub(super) fn potential(&self, inherited: Relevance, link: &LinkCandidate) -> f32 {
        let anchor = link.scores.anchor.get();
        let context = if anchor > 0.0 { 1.0 } else { link.scores.context.get() };
        let near = self.beta * anchor + (1.0 - self.beta) * context;
        self.gamma * inherited.get() + (1.0 - self.gamma) * near
    }
}

impl Strategy for SharkSearch {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let parent_relevance = if visit.on_topic { visit.relevance } else { visit.entry.path.inherited };
        let inherited = Relevance::new(self.delta * parent_relevance.get());
        let path = PathState { inherited, ..visit.path_state(TunnelBudget::Unbounded) };
        let entry = |link: &LinkCandidate| {
            let priority = Priority::new(self.potential(inherited, link));
            QueueEntry { queue: QueueId::MAIN, priority, path }
        };
        visit.links.iter().map(|link| LinkDecision::Follow(entry(link))).collect()
    }

    fn seed(&self, _url: &CrawlUrl) -> QueueEntry {
        let path = PathState { inherited: Relevance::ZERO, ..PathState::SEED };
        QueueEntry { queue: QueueId::MAIN, priority: Priority::new(1.0), path }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::tests::{links, visit};
    use super::*;

    /// Potential and inherited score of a link with this anchor and context, on a page that inherited 0.6.
    fn judge(relevance: f32, anchor: f32, context: f32) -> (f32, f32) {
        let mut links = links(&[0.0]);
        links[0].scores.anchor = Relevance::new(anchor);
        links[0].scores.context = Relevance::new(context);
        match SharkSearch::default().judge(&visit(relevance, TunnelBudget::Unbounded, &links))[0] {
            LinkDecision::Follow(entry) => (entry.priority.get(), entry.path.inherited.get()),
            LinkDecision::Drop(_) => panic!("dropped"),
        }
    }

    fn near(left: (f32, f32), right: (f32, f32)) {
        assert!((left.0 - right.0).abs() < 1e-6 && (left.1 - right.1).abs() < 1e-6, "{left:?}, not {right:?}");
    }

    #[test]
    fn relevant_pages_hand_down_their_own_score_and_others_what_they_had() {
        near(judge(0.8, 0.0, 0.0), (0.5 * 0.4, 0.4));
        near(judge(0.4, 0.0, 0.0), (0.5 * 0.3, 0.3));
    }

    #[test]
    fn the_context_counts_in_full_where_the_anchor_has_a_score() {
        near(judge(0.4, 0.0, 0.7), (0.5 * 0.3 + 0.5 * 0.2 * 0.7, 0.3));
        near(judge(0.4, 0.5, 0.1), (0.5 * 0.3 + 0.5 * (0.8 * 0.5 + 0.2), 0.3));
    }
}
