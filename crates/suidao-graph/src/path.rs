//! Shortest paths along links.

use std::collections::VecDeque;

use super::graph::LinkGraph;

/// A shortest path from any page of `from` to the first page that satisfies `to`, both included; `None` if there is
/// none. Breadth first, so ties go to the pages that come first.
pub fn shortest_path(graph: &LinkGraph, from: &[u32], to: impl Fn(u32) -> bool) -> Option<Vec<u32>> {
    const NONE: u32 = u32::MAX;
    let mut parents: Vec<Option<u32>> = vec![None; graph.len()];
    let mut queue: VecDeque<u32> = VecDeque::new();
    for &page in from {
        if parents[page as usize].is_none() {
            parents[page as usize] = Some(NONE);
            queue.push_back(page);
        }
    }
    while let Some(page) = queue.pop_front() {
        if to(page) {
            let parent = |page: &u32| parents[*page as usize].filter(|&parent| parent != NONE);
            let mut path: Vec<u32> = std::iter::successors(Some(page), parent).collect();
            path.reverse();
            return Some(path);
        }
        for &target in graph.targets(page) {
            if parents[target as usize].is_none() {
                parents[target as usize] = Some(page);
                queue.push_back(target);
            }
        }
    }
    None
}
