//! The crawl of a forum by its boards: threads as soon as they are listed, further pages of a list when its threads are
//! had, so that a budget is spent on threads (Li, Cheng, Guo, Zhang 2007, 3.3). What is no board, list or thread was left
//! out before.

use suidao_page::model::{CrawlUrl, Lane, Place, Priority, Refusal, Role, Trail, Tunnel, Verdict};

use super::{Strategy, Visit};

#[derive(Clone, Copy, Debug, Default)]
pub struct Boards;

fn rank(role: Role) -> f32 {
    match role {
        Role::Start | Role::Sample => 1.0,
        Role::Continuation { .. } => 0.9,
        Role::Thread => 0.8,
        Role::Board => 0.7,
        Role::Index { page, .. } => 0.6 / f32::from(page.max(1)),
    }
}

impl Strategy for Boards {
    fn judge(&self, visit: &Visit) -> Vec<Verdict> {
        let verdict = |role: Option<Role>| match role {
            Some(role) => Verdict::Follow(Place {
                lane: Lane::MAIN,
                priority: Priority::new(rank(role)),
                trail: visit.trail(Tunnel::Unbounded),
            }),
            None => Verdict::Drop(Refusal::ForumFunction),
        };
        visit.links.iter().map(|link| verdict(link.role)).collect()
    }

    fn seed(&self, _url: &CrawlUrl) -> Place {
        Place { lane: Lane::MAIN, priority: Priority::new(rank(Role::Board)), trail: Trail::SEED }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{links, visit};
    use super::*;
    use suidao_page::model::UrlId;

    #[test]
    fn threads_come_before_further_pages_of_lists_and_functions_are_dropped() {
        let mut links = links(&[0.1, 0.1, 0.1, 0.9]);
        let board = UrlId(0);
        links[0].role = Some(Role::Index { board, page: 2 });
        links[1].role = Some(Role::Thread);
        links[2].role = Some(Role::Index { board, page: 3 });
        let verdicts = Boards.judge(&visit(0.0, Tunnel::Unbounded, &links));
        let ranks: Vec<Option<f32>> = verdicts
            .iter()
            .map(|verdict| match verdict {
                Verdict::Follow(place) => Some(place.priority.get()),
                Verdict::Drop(_) => None,
            })
            .collect();
        assert!(ranks[1] > ranks[0] && ranks[0] > ranks[2] && ranks[3].is_none(), "{ranks:?}");
    }
}
