//! Crawls a forum by its boards: threads as soon as they are listed, further pages of a list after its threads, so that
//! the budget goes to threads (Li, Cheng, Guo, Zhang 2007, 3.3). Other links have been rejected before.

use suidao_page::model::{
    CrawlUrl, ForumRole, LinkDecision, PathState, Priority, QueueEntry, QueueId, SkipReason, TunnelBudget,
};

use super::interface::{PageVisit, Strategy};

#[derive(Clone, Copy, Debug, Default)]
pub struct Boards;

fn rank(role: ForumRole) -> f32 {
    match role {
        ForumRole::Start | ForumRole::Sample => 1.0,
        ForumRole::Continuation { .. } => 0.9,
        ForumRole::Thread => 0.8,
        ForumRole::Board => 0.7,
        ForumRole::Index { page, .. } => 0.6 / f32::from(page.max(1)),
    }
}

impl Strategy for Boards {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let decision = |role: Option<ForumRole>| match role {
            Some(role) => LinkDecision::Follow(QueueEntry {
                queue: QueueId::MAIN,
                priority: Priority::new(rank(role)),
                path: visit.path_state(TunnelBudget::Unbounded),
            }),
            None => LinkDecision::Drop(SkipReason::ForumFunction),
        };
        visit.links.iter().map(|link| decision(link.role)).collect()
    }

    fn seed(&self, _url: &CrawlUrl) -> QueueEntry {
        QueueEntry { queue: QueueId::MAIN, priority: Priority::new(rank(ForumRole::Board)), path: PathState::SEED }
    }
}

#[cfg(test)]
mod tests {
    use super::super::interface::tests::{links, visit};
    use super::*;
    use suidao_page::model::UrlId;

    #[test]
    fn threads_come_before_further_pages_of_lists_and_functions_are_dropped() {
        let mut links = links(&[0.1, 0.1, 0.1, 0.9]);
        let board = UrlId(0);
        links[0].role = Some(ForumRole::Index { board, page: 2 });
        links[1].role = Some(ForumRole::Thread);
        links[2].role = Some(ForumRole::Index { board, page: 3 });
        let decisions = Boards.judge(&visit(0.0, TunnelBudget::Unbounded, &links));
        let ranks: Vec<Option<f32>> = decisions
            .iter()
            .map(|decision| match decision {
                LinkDecision::Follow(entry) => Some(entry.priority.get()),
                LinkDecision::Drop(_) => None,
            })
            .collect();
        assert!(ranks[1] > ranks[0] && ranks[0] > ranks[2] && ranks[3].is_none(), "{ranks:?}");
    }
}
