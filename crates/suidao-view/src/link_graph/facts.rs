//! The facts of a link graph.

use serde::Serialize;
use suidao_page::model::CrawlUrl;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GraphFacts {
    pub topic: String,
    pub pages: u64,
    pub relevant: u64,
    /// Links between the pages, several from one page to another counted once.
    pub links: u64,
    /// Number of islands: relevant pages, and listings on topic, that links among them join.
    pub islands: u64,
    /// The islands with the most relevant pages, at most 20.
    pub largest: Vec<IslandFacts>,
    /// Relevant pages that a crawl reaches from the seeds, by the longest run of off-topic pages that it crosses.
    pub tunnels: Vec<TunnelShare>,
    /// Relevant pages not reachable from the seeds by links, such as those found in sitemaps.
    pub unreached: u64,
    /// Pages of the topic with the highest PageRank, at most 20.
    pub top_by_pagerank: Vec<LinkedPage>,
    /// Hosts with the most relevant pages and hosts of gates, at most 48.
    pub hosts: Vec<GraphHost>,
    /// Links between them.
    pub connections: Vec<Connection>,
    /// Connections of all hosts without which some would be separated from the others.
    pub bridges: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct IslandFacts {
    /// From 1, by relevant pages.
    pub number: u64,
    pub relevant: u64,
    /// Relevant pages and listings on topic.
    pub pages: u64,
    /// Pages of its largest part in which each leads to every other.
    pub core: u64,
    pub hosts: u64,
    /// Hosts with the most of its pages, at most 3.
    pub largest_hosts: Vec<String>,
    /// The least k with which a crawl reaches it; `None` if it is not reachable from the seeds.
    pub k: Option<u16>,
    /// It has a seed.
    pub seed: bool,
    /// Pages outside of it that every path from the seeds to it crosses, in order. Empty if separate paths lead to it.
    pub gates: Vec<LinkedPage>,
    /// The shortest path to it from another island.
    pub path: Option<Path>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Path {
    /// The island where it begins.
    pub from: u64,
    /// The last page on that island, the pages between, and the first page on this one.
    pub steps: Vec<LinkedPage>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkedPage {
    pub url: CrawlUrl,
    /// Empty if it has none.
    pub title: String,
    pub relevant: bool,
    /// On a path, the text of the link that leads to it; else empty.
    pub anchor: String,
    /// PageRank, 1 on average.
    pub pagerank: f64,
    /// Number of islands that every path to crosses it.
    pub gate: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TunnelShare {
    pub k: u16,
    /// Relevant pages reached with this k.
    pub relevant: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GraphHost {
    pub host: String,
    pub pages: u64,
    pub relevant: u64,
    /// Links from host to host since the nearest seed; `None` if it is not reachable.
    pub distance: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Connection {
    /// Indices into [`GraphFacts::hosts`].
    pub hosts: [usize; 2],
    pub links: u64,
    pub bridge: bool,
}
