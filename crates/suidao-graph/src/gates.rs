//! Gates: pages that every path from the seeds to an island crosses, its common dominators.

use std::collections::BTreeSet;

use super::dominators::DominatorTree;
use super::graph::LinkGraph;
use super::islands::Islands;

/// The gates of all islands.
pub struct Gates<'a> {
    graph: &'a LinkGraph,
    islands: &'a Islands,
    tree: DominatorTree,
    /// For each island the number of the last page that every path to any of its pages crosses; `None` if it is not
    /// reachable from the seeds.
    entrance: Vec<Option<u32>>,
}

impl<'a> Gates<'a> {
    pub fn find(graph: &'a LinkGraph, islands: &'a Islands) -> Self {
        let tree = DominatorTree::new(graph);
        let entrance = islands.islands.iter().map(|island| {
            let mut numbers: BTreeSet<u32> = island.pages.iter().filter_map(|&page| tree.number(page)).collect();
            // A dominator has a smaller number: the largest is replaced until one is left.
            while numbers.len() > 1 {
                let last = numbers.pop_last()?;
                numbers.insert(tree.dominator(last));
            }
            numbers.first().copied()
        });
        let entrance = entrance.collect();
        Self { graph, islands, tree, entrance }
    }

    /// The gates of an island outside of it, from the seeds to the island. An island that contains a seed, that is
    /// not reachable, or to which separate paths lead, has none; seeds are not gates.
    pub fn of(&self, island: usize) -> Vec<u32> {
        let number = |number: &u32| Some(self.tree.dominator(*number)).filter(|&dominator| dominator > 0);
        let crossed = std::iter::successors(self.entrance[island].filter(|&number| number > 0), number);
        let mut gates: Vec<u32> = crossed
            .map(|number| self.tree.page(number))
            .filter(|&page| !self.graph.page(page).seed && self.islands.of_page[page as usize] != Some(island as u32))
            .collect();
        gates.reverse();
        gates
    }

    /// For each page the number of islands that it is a gate of.
    pub fn gated_islands(&self) -> Vec<u32> {
        // Islands with their entrance in the subtree of each number.
        let mut in_subtree = vec![0; self.tree.len()];
        for &entrance in self.entrance.iter().flatten() {
            in_subtree[entrance as usize] += 1;
        }
        let mut gated = vec![0; self.graph.len()];
        for number in (1..self.tree.len() as u32).rev() {
            let page = self.tree.page(number);
            let own = self.islands.of_page[page as usize].map(|island| self.entrance[island as usize]);
            if !self.graph.page(page).seed {
                gated[page as usize] = in_subtree[number as usize] - u32::from(own == Some(Some(number)));
            }
            in_subtree[self.tree.dominator(number) as usize] += in_subtree[number as usize];
        }
        gated
    }
}
