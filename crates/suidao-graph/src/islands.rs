//! Islands: pages on topic joined by links, except links that most pages of a host share.
//!
//! Links that the pages of a host share (menus, blogrolls) join nothing, because pages have them regardless of their
//! subject: those of more than half of its pages. Any limit from a quarter to two thirds gives the same islands
//! on recorded webs. The core of an island is its largest strongly connected component: pages that lead to one another.

use std::collections::HashSet;

use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::unionfind::UnionFind;
use petgraph::visit::{GraphBase, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, NodeIndexable, Visitable};

use super::graph::{LinkGraph, PageTopic};

/// Least number of pages that share a link.
const SHARED: usize = 5;

/// An island.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Island {
    /// Its pages on topic, ascending.
    pub pages: Vec<u32>,
    /// Documents among them; at least one.
    pub relevant: usize,
    /// Its hosts, ascending.
    pub hosts: Vec<u32>,
    /// Pages of its core.
    pub core: usize,
}

/// All islands, the largest first, ties by the first page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Islands {
    pub islands: Vec<Island>,
    /// For each page its island.
    pub of_page: Vec<Option<u32>>,
    /// For each page on an island, the first page of its strongly connected component.
    pub component: Vec<Option<u32>>,
}

impl Islands {
    pub fn find(graph: &LinkGraph) -> Self {
        let links = TopicLinks { graph, shared: shared_links(graph) };
        let mut sets = UnionFind::<u32>::new(graph.len());
        for page in links.topic() {
            for target in links.neighbors(page) {
                sets.union(page, target);
            }
        }
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); graph.len()];
        for page in links.topic() {
            members[sets.find(page) as usize].push(page);
        }
        let mut component = vec![None; graph.len()];
        let mut sizes = vec![0; graph.len()];
        for pages in kosaraju_scc(&links) {
            let first = pages.iter().copied().min();
            for page in &pages {
                component[*page as usize] = first;
                sizes[*page as usize] = pages.len();
            }
        }
        let island = |pages: Vec<u32>| {
            let mut hosts: Vec<u32> = pages.iter().map(|&page| graph.page(page).host).collect();
            hosts.sort_unstable();
            hosts.dedup();
            let relevant = pages.iter().filter(|&&page| graph.page(page).topic == PageTopic::Relevant).count();
            let core = pages.iter().map(|page| sizes[*page as usize]).max().unwrap_or(0);
            Island { pages, relevant, hosts, core }
        };
        let mut islands: Vec<Island> = members.into_iter().map(island).filter(|island| island.relevant > 0).collect();
        islands.sort_by_key(|island| (std::cmp::Reverse(island.relevant), island.pages[0]));
        let mut of_page = vec![None; graph.len()];
        for (number, island) in (0..).zip(&islands) {
            for page in &island.pages {
                of_page[*page as usize] = Some(number);
            }
        }
        for (page, component) in component.iter_mut().enumerate() {
            *component = component.filter(|_| of_page[page].is_some());
        }
        Self { islands, of_page, component }
    }
}

/// Links that many pages of a host have, by host and target.
fn shared_links(graph: &LinkGraph) -> HashSet<(u32, u32)> {
    let mut pages: Vec<usize> = Vec::new();
    for page in graph.pages() {
        let host = page.host as usize;
        pages.resize(pages.len().max(host + 1), 0);
        pages[host] += 1;
    }
    let mut shared = HashSet::new();
    let mut hosts = Vec::new();
    for target in graph.numbers() {
        hosts.clear();
        hosts.extend(graph.sources(target).iter().map(|&source| graph.page(source).host));
        hosts.sort_unstable();
        for same in hosts.chunk_by(|one, two| one == two) {
            if same.len() >= SHARED && same.len() * 2 > pages[same[0] as usize] {
                shared.insert((same[0], target));
            }
        }
    }
    shared
}

/// The links between pages on topic, without shared ones.
struct TopicLinks<'a> {
    graph: &'a LinkGraph,
    shared: HashSet<(u32, u32)>,
}

impl<'a> TopicLinks<'a> {
    fn topic(&self) -> impl Iterator<Item = u32> + use<'a> {
        let graph = self.graph;
        graph.numbers().filter(|&page| graph.page(page).is_on_topic())
    }

    fn joins(&self, source: u32, target: u32) -> bool {
        let [from, to] = [source, target].map(|page| self.graph.page(page));
        from.is_on_topic() && to.is_on_topic() && !self.shared.contains(&(from.host, target))
    }
}

/// Neighbours of a page over links that join.
struct Joined<'a> {
    links: &'a TopicLinks<'a>,
    page: u32,
    direction: Direction,
    next: std::slice::Iter<'a, u32>,
}

impl Iterator for Joined<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (links, page, direction) = (self.links, self.page, self.direction);
        self.next.by_ref().copied().find(|&other| match direction {
            Direction::Outgoing => links.joins(page, other),
            Direction::Incoming => links.joins(other, page),
        })
    }
}

impl GraphBase for TopicLinks<'_> {
    type NodeId = u32;
    type EdgeId = usize;
}

impl NodeIndexable for TopicLinks<'_> {
    fn node_bound(&self) -> usize {
        self.graph.node_bound()
    }

    fn to_index(&self, page: u32) -> usize {
        self.graph.to_index(page)
    }

    fn from_index(&self, index: usize) -> u32 {
        self.graph.from_index(index)
    }
}

impl Visitable for TopicLinks<'_> {
    type Map = <LinkGraph as Visitable>::Map;

    fn visit_map(&self) -> Self::Map {
        self.graph.visit_map()
    }

    fn reset_map(&self, map: &mut Self::Map) {
        self.graph.reset_map(map);
    }
}

impl IntoNodeIdentifiers for &TopicLinks<'_> {
    type NodeIdentifiers = std::ops::Range<u32>;

    fn node_identifiers(self) -> Self::NodeIdentifiers {
        self.graph.numbers()
    }
}

impl<'a> IntoNeighbors for &'a TopicLinks<'a> {
    type Neighbors = Joined<'a>;

    fn neighbors(self, page: u32) -> Joined<'a> {
        self.neighbors_directed(page, Direction::Outgoing)
    }
}

impl<'a> IntoNeighborsDirected for &'a TopicLinks<'a> {
    type NeighborsDirected = Joined<'a>;

    fn neighbors_directed(self, page: u32, direction: Direction) -> Joined<'a> {
        let next = match direction {
            Direction::Outgoing => self.graph.targets(page),
            Direction::Incoming => self.graph.sources(page),
        };
        Joined { links: self, page, direction, next: next.iter() }
    }
}
