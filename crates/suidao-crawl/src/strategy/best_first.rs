//! Best-first search (最佳优先): a link scores the relevance of its page.
//!
//! Hard focus follows the links of relevant pages only (Jiang, Zhu, Wang 2020, section 1, after Chakrabarti, van den
//! Berg, Dom 1999): once the topic island is exhausted, so is the crawl. Soft focus follows all.

use serde::{Deserialize, Serialize};

use suidao_page::model::{LinkDecision, Priority, QueueEntry, QueueId, SkipReason, TunnelBudget};

use super::interface::{PageVisit, Strategy};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Focus {
    /// Links of relevant pages and seeds only.
    Hard,
    /// Links of every page.
    #[default]
    Soft,
}

impl std::fmt::Display for Focus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Hard => "hard",
            Self::Soft => "soft",
        })
    }
}

/// Best-first search by Sim of the parent page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BestFirst {
    pub focus: Focus,
}

impl Strategy for BestFirst {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let decision = if self.focus == Focus::Hard && !visit.on_topic && !visit.is_seed() {
            LinkDecision::Drop(SkipReason::OffTopicPage)
        } else {
            LinkDecision::Follow(QueueEntry {
                queue: QueueId::MAIN,
                priority: Priority::new(visit.relevance.get()),
                path: visit.path_state(TunnelBudget::Unbounded),
            })
        };
        vec![decision; visit.links.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::tests::{entries, links, seed_entry, visit};
    use super::*;

    #[test]
    fn links_are_worth_their_page() {
        let links = links(&[0.9, 0.0]);
        let soft = BestFirst { focus: Focus::Soft };
        let decisions = soft.judge(&visit(0.25, TunnelBudget::Unbounded, &links));
        assert_eq!(entries(&decisions), [Some((0, 0.25, TunnelBudget::Unbounded)); 2]);
    }

    #[test]
    fn seeds_are_expanded_although_they_are_off_topic() {
        let links = links(&[0.9]);
        let seed = PageVisit { entry: seed_entry(), ..visit(0.0, TunnelBudget::Unbounded, &links) };
        assert_eq!(entries(&BestFirst { focus: Focus::Hard }.judge(&seed)), [Some((0, 0.0, TunnelBudget::Unbounded))]);
    }

    #[test]
    fn hard_focus_leaves_off_topic_pages_alone() {
        let links = links(&[0.9]);
        let hard = BestFirst { focus: Focus::Hard };
        assert_eq!(
            hard.judge(&visit(0.49, TunnelBudget::Unbounded, &links)),
            [LinkDecision::Drop(SkipReason::OffTopicPage)]
        );
        assert_eq!(
            entries(&hard.judge(&visit(0.5, TunnelBudget::Unbounded, &links))),
            [Some((0, 0.5, TunnelBudget::Unbounded))]
        );
    }
}
