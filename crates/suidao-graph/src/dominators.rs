//! The dominator tree of a link graph: T. Lengauer and R. E. Tarjan, A Fast Algorithm for Finding Dominators in a
//! Flowgraph, TOPLAS 1(1), 1979, with path compression, without recursion.
//!
//! petgraph's `simple_fast` is quadratic when the pages of a long chain link to its first page, and takes 260 bytes per
//! page of a graph with 10 links per page; this takes 36.

use super::graph::LinkGraph;

const NONE: u32 = u32::MAX;

/// Pages by preorder number: 0 is a node before all seeds, the reachable pages follow.
pub struct DominatorTree {
    /// The page of each number; [`NONE`] for number 0.
    page: Vec<u32>,
    /// The number of each page.
    number: Vec<u32>,
    /// Immediate dominator of each number; it is smaller than the number itself.
    dominator: Vec<u32>,
}

impl DominatorTree {
    pub fn new(graph: &LinkGraph) -> Self {
        let (page, number, parent) = preorder(graph);
        let mut forest = Forest::new(page.len());
        let mut dominator = vec![0; page.len()];
        // Numbers by semidominator, as linked lists.
        let (mut first, mut next) = (vec![NONE; page.len()], vec![NONE; page.len()]);
        for at in (1..page.len()).rev() {
            let graph_page = page[at];
            let mut semi = if graph.page(graph_page).seed { 0 } else { at as u32 };
            for &source in graph.sources(graph_page) {
                let from = number[source as usize];
                if from != NONE {
                    let least = forest.least(from);
                    semi = semi.min(forest.semi[least as usize]);
                }
            }
            forest.semi[at] = semi;
            next[at] = std::mem::replace(&mut first[semi as usize], at as u32);
            forest.ancestor[at] = parent[at];
            let mut waiting = std::mem::replace(&mut first[parent[at] as usize], NONE);
            while waiting != NONE {
                let least = forest.least(waiting);
                let earlier = forest.semi[least as usize] < forest.semi[waiting as usize];
                dominator[waiting as usize] = if earlier { least } else { parent[at] };
                waiting = next[waiting as usize];
            }
        }
        for at in 1..page.len() {
            if dominator[at] != forest.semi[at] {
                dominator[at] = dominator[dominator[at] as usize];
            }
        }
        Self { page, number, dominator }
    }

    /// Nodes: the reachable pages, and number 0.
    pub fn len(&self) -> usize {
        self.page.len()
    }

    pub fn number(&self, page: u32) -> Option<u32> {
        Some(self.number[page as usize]).filter(|&number| number != NONE)
    }

    /// The page of a number above 0.
    pub fn page(&self, number: u32) -> u32 {
        self.page[number as usize]
    }

    pub fn dominator(&self, number: u32) -> u32 {
        self.dominator[number as usize]
    }
}

/// Pages in preorder of a depth-first search from the seeds, the number of each page, and the parent of each number.
fn preorder(graph: &LinkGraph) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let (mut page, mut number, mut parent) = (vec![NONE], vec![NONE; graph.len()], vec![0]);
    // Numbers of the pages on the path, and how many of their links were followed.
    let mut stack: Vec<(u32, u32)> = Vec::new();
    for seed in graph.seeds() {
        let mut enter = Some((seed, 0));
        loop {
            if let Some((target, from)) = enter.take()
                && number[target as usize] == NONE
            {
                number[target as usize] = page.len() as u32;
                stack.push((page.len() as u32, 0));
                page.push(target);
                parent.push(from);
            }
            let Some((from, followed)) = stack.last_mut() else { break };
            match graph.targets(page[*from as usize]).get(*followed as usize) {
                Some(&target) => {
                    *followed += 1;
                    enter = Some((target, *from));
                }
                None => drop(stack.pop()),
            }
        }
    }
    (page, number, parent)
}

/// The part of the search tree that was seen so far, as a forest with path compression.
struct Forest {
    semi: Vec<u32>,
    ancestor: Vec<u32>,
    /// The number with the least semidominator on the compressed path.
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    fn new(len: usize) -> Self {
        let numbers: Vec<u32> = (0..len as u32).collect();
        Self { semi: numbers.clone(), ancestor: vec![NONE; len], label: numbers, path: Vec::new() }
    }

    /// Of the numbers from this one up to below the root of its tree, that with the least semidominator.
    fn least(&mut self, number: u32) -> u32 {
        let mut at = number;
        while self.ancestor[at as usize] != NONE {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        // The last on the path is a child of the root.
        self.path.pop();
        while let Some(at) = self.path.pop() {
            let above = self.ancestor[at as usize];
            let semi = |number: u32| self.semi[self.label[number as usize] as usize];
            if semi(above) < semi(at) {
                self.label[at as usize] = self.label[above as usize];
            }
            self.ancestor[at as usize] = self.ancestor[above as usize];
        }
        self.label[number as usize]
    }
}
