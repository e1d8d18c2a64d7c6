//! The order in which URLs leave.

use super::*;
use suidao_page::model::PathState;

fn entry(queue_id: u8, priority: f32) -> QueueEntry {
    QueueEntry { queue: QueueId(queue_id), priority: Priority::new(priority), path: PathState::SEED }
}

/// Takes everything; each host becomes ready again at once.
fn drain(frontier: &mut Frontier, from_turn: u64) -> Vec<u32> {
    let mut taken: Vec<u32> = Vec::new();
    while let Some(head) = frontier.pop(from_turn + taken.len() as u64, |id, _| !taken.contains(&id.0)) {
        taken.push(head.id.0);
        frontier.make_ready(head.host);
    }
    taken
}

fn frontier(policy: QueuePolicy, entries: &[(u32, u32, u8, f32)]) -> Frontier {
    let mut frontier = Frontier::new(policy, 7);
    for &(host, id, queue_id, priority) in entries {
        frontier.make_ready(HostId(host));
        frontier.push(HostId(host), UrlId(id), entry(queue_id, priority));
    }
    frontier
}

#[test]
fn best_first_across_hosts_and_ties_by_discovery() {
    let mut frontier = frontier(
        QueuePolicy::BestFirst,
        &[(0, 0, 0, 0.1), (1, 1, 0, 0.9), (0, 2, 0, 0.5), (1, 3, 0, 0.5), (0, 4, 0, -1.0), (1, 5, 0, 0.0)],
    );
    assert_eq!(drain(&mut frontier, 0), [1, 2, 3, 0, 5, 4]);
}

#[test]
fn a_host_that_is_not_ready_waits_and_others_go_first() {
    let mut frontier = frontier(QueuePolicy::BestFirst, &[(0, 0, 0, 0.9), (0, 1, 0, 0.8), (1, 2, 0, 0.1)]);
    assert_eq!(frontier.pop(0, |_, _| true).unwrap().id, UrlId(0));
    assert_eq!(frontier.pop(1, |_, _| true).unwrap().id, UrlId(2));
    assert_eq!(frontier.pop(2, |_, _| true), None);
    frontier.make_ready(HostId(0));
    assert_eq!(frontier.pop(2, |_, _| true).unwrap().id, UrlId(1));
}

#[test]
fn a_better_place_wins_and_the_old_entry_is_forgotten() {
    let mut frontier = frontier(QueuePolicy::BestFirst, &[(0, 0, 0, 0.1), (0, 1, 0, 0.5), (0, 0, 0, 0.9)]);
    assert_eq!(drain(&mut frontier, 0), [0, 1]);
}

#[test]
fn an_entry_whose_url_waits_elsewhere_is_forgotten() {
    let mut frontier =
        frontier(QueuePolicy::BestFirst, &[(0, 0, 0, 0.9), (0, 1, 0, 0.5), (0, 0, 0, 0.2), (0, 2, 0, 0.3)]);
    let entries = [entry(0, 0.2), entry(0, 0.5), entry(0, 0.3)];
    let mut order = Vec::new();
    while let Some(head) = frontier.pop(0, |id, claim| !order.contains(&id.0) && claim.is_of(entries[id.0 as usize])) {
        order.push(head.id.0);
        frontier.make_ready(head.host);
    }
    assert_eq!(order, [1, 2, 0]);
}

#[test]
fn a_requeued_head_keeps_its_position() {
    let mut frontier = frontier(QueuePolicy::BestFirst, &[(0, 0, 0, 0.9), (0, 1, 0, 0.5)]);
    let head = frontier.pop(0, |_, _| true).unwrap();
    frontier.requeue_in_place(head);
    frontier.make_ready(HostId(0));
    assert_eq!(drain(&mut frontier, 0), [0, 1]);
}

#[test]
fn the_lowest_lane_is_emptied_first() {
    let mut frontier =
        frontier(QueuePolicy::LowestFirst, &[(0, 0, 5, 0.9), (0, 1, 1, 0.1), (1, 2, 0, 0.2), (0, 3, 1, 0.3)]);
    assert_eq!(drain(&mut frontier, 0), [2, 3, 1, 0]);
}

#[test]
fn the_stack_is_last_in_first_out_and_the_best_child_leaves_first() {
    let mut frontier = Frontier::new(QueuePolicy::Preempt, 7);
    frontier.make_ready(HostId(0));
    let link = |id, queue_id, priority| (HostId(0), UrlId(id), entry(queue_id, priority));
    frontier.push_all(vec![link(0, 1, 0.2), link(1, 1, 0.8), link(2, 0, 1.0), link(3, 1, 0.8)]);
    frontier.push_all(vec![link(4, 1, 0.0)]);
    assert_eq!(drain(&mut frontier, 0), [4, 1, 3, 0, 2]);
}

#[test]
fn interleave_gives_the_stack_one_turn_after_q() {
    let entries: Vec<(u32, u32, u8, f32)> =
        (0..8).map(|id| (0, id, u8::from(id >= 5), 1.0 / (1.0 + id as f32))).collect();
    let mut frontier = frontier(QueuePolicy::Interleave(2), &entries);
    assert_eq!(drain(&mut frontier, 0), [0, 1, 7, 2, 3, 6, 4, 5]);
}

#[test]
fn weights_go_down_and_every_fourth_turn_is_random() {
    let entries: Vec<(u32, u32, u8, f32)> = (0..11).map(|id| (id, id, u8::try_from(id).unwrap(), 0.0)).collect();
    let policy = QueuePolicy::WeightThenRandom { by_weight: 3, at_random: 1 };
    let order = drain(&mut frontier(policy, &entries), 0);
    assert_eq!(order, (0..11).rev().collect::<Vec<u32>>());
    let mut frontier = frontier(policy, &entries);
    let random: Vec<u64> = (0..9).filter(|&taken| frontier.random_turn(taken).is_some()).collect();
    assert_eq!(random, [3, 7]);
    let taken = frontier.take(HostId(2), UrlId(2), entry(2, 0.0)).unwrap();
    assert_eq!((taken.id, frontier.take(HostId(2), UrlId(2), entry(2, 0.0))), (UrlId(2), None), "it rests now");
}

proptest::proptest! {
    #[test]
    fn best_first_equals_a_sort(links in proptest::collection::vec((0u32..5, 0u32..6), 1..60)) {
        let entries: Vec<(u32, u32, u8, f32)> =
            links.iter().enumerate().map(|(id, &(host, p))| (host, id as u32, 0, p as f32 / 5.0)).collect();
        let mut expected: Vec<(u32, u32)> = entries.iter().map(|e| (e.1, links[e.1 as usize].1)).collect();
        expected.sort_by_key(|&(id, p)| (Reverse(p), id));
        let expected: Vec<u32> = expected.into_iter().map(|(id, _)| id).collect();
        proptest::prop_assert_eq!(drain(&mut frontier(QueuePolicy::BestFirst, &entries), 0), expected);
    }
}
