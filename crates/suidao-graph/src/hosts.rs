//! The graph of hosts: who links to whom, and which connections are the only ones.

use std::collections::BTreeMap;

use petgraph::algo::bridges::bridges;
use petgraph::graph::UnGraph;
use petgraph::visit::EdgeRef;

use super::graph::{LinkGraph, PageTopic};

/// Links between two hosts, in both directions; `hosts` ascend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLink {
    pub hosts: [u32; 2],
    pub links: u64,
    /// Without this connection some hosts would not be connected to the others.
    pub bridge: bool,
}

/// Hosts with pages in the crawl, and the links between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostGraph {
    /// Pages and relevant documents of each host, by host number.
    pub hosts: BTreeMap<u32, [u64; 2]>,
    /// By hosts, ascending.
    pub links: Vec<HostLink>,
}

impl HostGraph {
    pub fn new(graph: &LinkGraph) -> Self {
        let mut hosts: BTreeMap<u32, [u64; 2]> = BTreeMap::new();
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for number in graph.numbers() {
            let page = graph.page(number);
            let [pages, relevant] = hosts.entry(page.host).or_default();
            *pages += 1;
            *relevant += u64::from(page.topic == PageTopic::Relevant);
            for target in graph.targets(number) {
                let other = graph.page(*target).host;
                if other != page.host {
                    pairs.push([page.host.min(other), page.host.max(other)]);
                }
            }
        }
        pairs.sort_unstable();
        let mut links: Vec<HostLink> = pairs
            .chunk_by(|one, two| one == two)
            .map(|same| HostLink { hosts: same[0], links: same.len() as u64, bridge: false })
            .collect();
        let numbers: Vec<u32> = hosts.keys().copied().collect();
        let position = |host: u32| numbers.binary_search(&host).expect("hosts of links have pages") as u32;
        let connections = links.iter().map(|link| (position(link.hosts[0]), position(link.hosts[1])));
        let undirected = UnGraph::<(), ()>::from_edges(connections);
        for edge in bridges(&undirected) {
            links[edge.id().index()].bridge = true;
        }
        Self { hosts, links }
    }
}
