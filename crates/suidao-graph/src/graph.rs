//! Pages and the links between them, in both directions, as compressed sparse rows.
//!
//! petgraph's own `Csr` grows by doubling and takes half as much again; its algorithms run on this graph by its traits.

use fixedbitset::FixedBitSet;
use petgraph::Direction;
use petgraph::visit::{
    GraphBase, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, NodeCompactIndexable, NodeCount,
    NodeIndexable, Visitable,
};

/// What a page is to the topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageTopic {
    /// A document on topic.
    Relevant,
    /// A listing on topic: it leads to documents.
    Listing,
    OffTopic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphPage {
    /// Any number that the pages of a host share.
    pub host: u32,
    pub topic: PageTopic,
    pub seed: bool,
}

impl GraphPage {
    pub fn is_on_topic(self) -> bool {
        self.topic != PageTopic::OffTopic
    }
}

/// The link graph. A page links to another at most once, and never to itself. Memory: 16 bytes per page, 8 per link,
/// and 8 more per link while it is built.
#[derive(Debug)]
pub struct LinkGraph {
    pub(crate) pages: Vec<GraphPage>,
    outgoing: Rows,
    incoming: Rows,
}

/// The row of page p is `targets[starts[p]..starts[p + 1]]`, ascending.
#[derive(Debug)]
struct Rows {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Rows {
    /// Sorts the links and removes duplicates.
    fn new(links: &mut Vec<(u32, u32)>, pages: usize) -> Self {
        links.sort_unstable();
        links.dedup();
        let mut starts = Vec::with_capacity(pages + 1);
        for (position, &(source, _)) in (0..).zip(&*links) {
            while starts.len() <= source as usize {
                starts.push(position);
            }
        }
        starts.resize(pages + 1, links.len() as u32);
        Self { starts, targets: links.iter().map(|&(_, target)| target).collect() }
    }

    fn row(&self, page: u32) -> &[u32] {
        &self.targets[self.starts[page as usize] as usize..self.starts[page as usize + 1] as usize]
    }
}

impl LinkGraph {
    /// `links` are pairs of source and target, fewer than 2^32, in any order; links of a page to itself and to numbers
    /// without a page are dropped.
    pub fn new(pages: Vec<GraphPage>, mut links: Vec<(u32, u32)>) -> Self {
        let count = pages.len() as u32;
        links.retain(|&(source, target)| source != target && source < count && target < count);
        let outgoing = Rows::new(&mut links, pages.len());
        for (source, target) in &mut links {
            std::mem::swap(source, target);
        }
        let incoming = Rows::new(&mut links, pages.len());
        Self { pages, outgoing, incoming }
    }

    pub fn pages(&self) -> &[GraphPage] {
        &self.pages
    }

    pub fn page(&self, page: u32) -> GraphPage {
        self.pages[page as usize]
    }

    pub fn len(&self) -> usize {
        self.pages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    pub fn links(&self) -> usize {
        self.outgoing.targets.len()
    }

    /// The pages that a page links to, ascending.
    pub fn targets(&self, page: u32) -> &[u32] {
        self.outgoing.row(page)
    }

    /// The pages that link to a page, ascending.
    pub fn sources(&self, page: u32) -> &[u32] {
        self.incoming.row(page)
    }

    pub fn seeds(&self) -> impl Iterator<Item = u32> + '_ {
        self.numbers().filter(|&page| self.page(page).seed)
    }

    pub(crate) fn numbers(&self) -> std::ops::Range<u32> {
        0..self.pages.len() as u32
    }
}

impl GraphBase for LinkGraph {
    type NodeId = u32;
    type EdgeId = usize;
}

impl NodeCount for LinkGraph {
    fn node_count(&self) -> usize {
        self.len()
    }
}

impl NodeIndexable for LinkGraph {
    fn node_bound(&self) -> usize {
        self.len()
    }

    fn to_index(&self, page: u32) -> usize {
        page as usize
    }

    fn from_index(&self, index: usize) -> u32 {
        index as u32
    }
}

impl NodeCompactIndexable for LinkGraph {}

impl Visitable for LinkGraph {
    type Map = FixedBitSet;

    fn visit_map(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(self.len())
    }

    fn reset_map(&self, map: &mut FixedBitSet) {
        map.clear();
    }
}

impl IntoNodeIdentifiers for &LinkGraph {
    type NodeIdentifiers = std::ops::Range<u32>;

    fn node_identifiers(self) -> Self::NodeIdentifiers {
        self.numbers()
    }
}

impl<'a> IntoNeighbors for &'a LinkGraph {
    type Neighbors = std::iter::Copied<std::slice::Iter<'a, u32>>;

    fn neighbors(self, page: u32) -> Self::Neighbors {
        self.targets(page).iter().copied()
    }
}

impl IntoNeighborsDirected for &LinkGraph {
    type NeighborsDirected = <Self as IntoNeighbors>::Neighbors;

    fn neighbors_directed(self, page: u32, direction: Direction) -> Self::NeighborsDirected {
        match direction {
            Direction::Outgoing => self.targets(page).iter().copied(),
            Direction::Incoming => self.sources(page).iter().copied(),
        }
    }
}
