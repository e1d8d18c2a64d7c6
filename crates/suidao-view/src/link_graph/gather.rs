//! Gathers the facts of a link graph: the pages are parsed once for their links, and those on paths again for anchors.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use super::facts::{Connection, GraphFacts, GraphHost, IslandFacts, LinkedPage, Path, TunnelShare};
use suidao_export::export::links::PageNodes;
use suidao_graph::{Gates, HostGraph, Island, Islands, LinkGraph, PageTopic, page_rank, shortest_path, tunnel_depths};
use suidao_page::model::{Event, UrlId};
use suidao_store::corpus::Catalogue;
use suidao_store::store::directory::WriteError;
use suidao_store::store::{Store, StoreError};

const ISLANDS: usize = 20;
const MAX_RANKED: usize = 20;
const HOSTS: usize = 48;
const HOSTS_OF_ISLAND: usize = 3;
/// Maximum number of gates listed of an island, those next to it.
const GATES: usize = 12;

/// Reads the link graph of a crawl. `progress` is called for each page parsed.
pub fn gather(store: &Store, catalogue: &Catalogue, progress: &(dyn Fn() + Sync)) -> Result<GraphFacts, StoreError> {
    let at = |error: WriteError| error.at(store.directory().root());
    let nodes = PageNodes::read(store, catalogue)?;
    let mut links = Vec::new();
    let all = |_| true;
    nodes
        .each(store, catalogue, progress, all, |node, page| {
            links.extend(page.iter().map(|link| (node, link.target)));
            Ok(())
        })
        .map_err(at)?;
    let graph = nodes.graph(catalogue, links);
    let figures = Figures::of(&graph);
    let islands = &figures.islands.islands;
    let gates = Gates::find(&graph, &figures.islands);
    let gated = gates.gated_islands();
    let shown = islands.len().min(ISLANDS);
    let paths: Vec<Option<Vec<u32>>> = (0..shown as u32).map(|island| figures.path_to(&graph, island)).collect();
    let gates: Vec<Vec<u32>> = (0..shown).map(|island| last(gates.of(island), GATES)).collect();
    let top_by_pagerank = figures.top_by_pagerank(&graph);

    // Anchors of the links on paths, and titles of the pages listed.
    let steps: BTreeSet<(u32, u32)> =
        paths.iter().flatten().flat_map(|path| path.windows(2).map(|step| (step[0], step[1]))).collect();
    let mut anchors: FxHashMap<(u32, u32), String> = FxHashMap::default();
    let sources: BTreeSet<u32> = steps.iter().map(|&(source, _)| source).collect();
    nodes
        .each(
            store,
            catalogue,
            &|| {},
            |node| sources.contains(&node),
            |node, page| {
                let on_path = page.into_iter().filter(|link| steps.contains(&(node, link.target)));
                anchors.extend(on_path.map(|link| ((node, link.target), link.anchor)));
                Ok(())
            },
        )
        .map_err(at)?;
    let listed: BTreeSet<u32> =
        paths.iter().flatten().flatten().chain(gates.iter().flatten()).chain(&top_by_pagerank).copied().collect();
    let id = |node: u32| catalogue.entries[nodes.entries[node as usize] as usize].id;
    let titles = titles(store, &listed.iter().map(|&node| id(node)).collect())?;
    let page = |node: u32, anchor: &str| {
        Some(LinkedPage {
            url: nodes.url(node)?.clone(),
            title: titles.get(&id(node)).cloned().unwrap_or_default(),
            relevant: graph.page(node).topic == PageTopic::Relevant,
            anchor: anchor.to_owned(),
            pagerank: figures.pagerank[node as usize] * graph.len() as f64,
            gate: gated[node as usize],
        })
    };
    let step = |path: &[u32], position: usize| {
        let anchor = position.checked_sub(1).and_then(|before| anchors.get(&(path[before], path[position])));
        page(path[position], anchor.map_or("", String::as_str))
    };
    let largest = islands.iter().take(ISLANDS).enumerate().map(|(number, island)| IslandFacts {
        number: number as u64 + 1,
        gates: gates[number].iter().filter_map(|&gate| page(gate, "")).collect(),
        path: paths[number].as_ref().map(|path| Path {
            from: u64::from(figures.islands.of_page[path[0] as usize].unwrap_or(0)) + 1,
            steps: (0..path.len()).filter_map(|position| step(path, position)).collect(),
        }),
        ..figures.island(&graph, catalogue, island)
    });
    let (tunnels, unreached) = figures.tunnels(&graph);
    let network = HostGraph::new(&graph);
    let hosts_of_gates = gates.iter().flatten().map(|&gate| graph.page(gate).host).collect();
    let (hosts, connections) = hosts(&graph, &network, catalogue, &hosts_of_gates);
    Ok(GraphFacts {
        topic: store.meta().topic.clone(),
        pages: graph.len() as u64,
        relevant: graph.pages().iter().filter(|page| page.topic == PageTopic::Relevant).count() as u64,
        links: graph.links() as u64,
        islands: islands.len() as u64,
        largest: largest.collect(),
        tunnels,
        unreached,
        top_by_pagerank: top_by_pagerank.iter().filter_map(|&node| page(node, "")).collect(),
        hosts,
        connections,
        bridges: network.links.iter().filter(|link| link.bridge).count() as u64,
    })
}

struct Figures {
    islands: Islands,
    depths: Vec<Option<u16>>,
    pagerank: Vec<f64>,
}

impl Figures {
    fn of(graph: &LinkGraph) -> Self {
        Self { islands: Islands::find(graph), depths: tunnel_depths(graph), pagerank: page_rank(graph, 0.85) }
    }

    fn path_to(&self, graph: &LinkGraph, island: u32) -> Option<Vec<u32>> {
        let of_page = &self.islands.of_page;
        let others: Vec<u32> =
            (0..graph.len() as u32).filter(|&node| of_page[node as usize].is_some_and(|of| of != island)).collect();
        shortest_path(graph, &others, |node| of_page[node as usize] == Some(island))
    }

    /// Pages of the topic by PageRank.
    fn top_by_pagerank(&self, graph: &LinkGraph) -> Vec<u32> {
        let mut pages: Vec<u32> =
            (0..graph.len() as u32).filter(|&node| graph.page(node).topic == PageTopic::Relevant).collect();
        pages.sort_by(|one, two| self.pagerank[*two as usize].total_cmp(&self.pagerank[*one as usize]));
        pages.truncate(MAX_RANKED);
        pages
    }

    fn island(&self, graph: &LinkGraph, catalogue: &Catalogue, island: &Island) -> IslandFacts {
        let mut pages: BTreeMap<u32, u64> = BTreeMap::new();
        for &page in &island.pages {
            *pages.entry(graph.page(page).host).or_default() += 1;
        }
        let mut hosts: Vec<(u32, u64)> = pages.into_iter().collect();
        hosts.sort_by_key(|&(host, pages)| (Reverse(pages), host));
        let name = |&(host, _): &(u32, u64)| catalogue.hosts.get(host as usize).cloned().unwrap_or_default();
        IslandFacts {
            relevant: island.relevant as u64,
            pages: island.pages.len() as u64,
            core: island.core as u64,
            hosts: hosts.len() as u64,
            largest_hosts: hosts.iter().take(HOSTS_OF_ISLAND).map(name).collect(),
            k: island.pages.iter().filter_map(|&page| self.depths[page as usize]).min(),
            seed: island.pages.iter().any(|&page| graph.page(page).seed),
            ..IslandFacts::default()
        }
    }

    fn tunnels(&self, graph: &LinkGraph) -> (Vec<TunnelShare>, u64) {
        let (mut by_k, mut unreached) = (BTreeMap::new(), 0);
        for (page, depth) in graph.pages().iter().zip(&self.depths) {
            match depth {
                _ if page.topic != PageTopic::Relevant => {}
                Some(k) => *by_k.entry(*k).or_insert(0) += 1,
                None => unreached += 1,
            }
        }
        let mut relevant = 0;
        let shares = by_k.into_iter().map(|(k, pages)| {
            relevant += pages;
            TunnelShare { k, relevant }
        });
        (shares.collect(), unreached)
    }
}

fn last(mut list: Vec<u32>, most: usize) -> Vec<u32> {
    list.split_off(list.len().saturating_sub(most))
}

fn titles(store: &Store, wanted: &BTreeSet<UrlId>) -> Result<FxHashMap<UrlId, String>, StoreError> {
    let mut titles = FxHashMap::default();
    for record in store.batches() {
        for event in record?.batch.events {
            if let Event::PageFetched(page) = event
                && wanted.contains(&page.id)
            {
                titles.insert(page.id, page.title);
            }
        }
    }
    Ok(titles)
}

/// The hosts to draw, and their connections.
fn hosts(
    graph: &LinkGraph,
    network: &HostGraph,
    catalogue: &Catalogue,
    gates: &BTreeSet<u32>,
) -> (Vec<GraphHost>, Vec<Connection>) {
    let mut neighbours: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for link in &network.links {
        let [one, two] = link.hosts;
        neighbours.entry(one).or_default().push(two);
        neighbours.entry(two).or_default().push(one);
    }
    let mut distances: BTreeMap<u32, u32> = graph.seeds().map(|seed| (graph.page(seed).host, 0)).collect();
    let mut queue: VecDeque<u32> = distances.keys().copied().collect();
    while let Some(host) = queue.pop_front() {
        let next = distances[&host] + 1;
        for &other in neighbours.get(&host).into_iter().flatten() {
            distances.entry(other).or_insert_with(|| {
                queue.push_back(other);
                next
            });
        }
    }
    let mut chosen: Vec<u32> = network.hosts.keys().copied().collect();
    let rank = |host: &u32| {
        let [pages, relevant] = network.hosts[host];
        (Reverse(gates.contains(host)), Reverse(relevant), Reverse(pages), *host)
    };
    chosen.sort_by_key(rank);
    chosen.truncate(HOSTS);
    let position = |host: u32| chosen.iter().position(|&chosen| chosen == host);
    let connection = |link: &suidao_graph::HostLink| {
        let [one, two] = link.hosts;
        Some(Connection { hosts: [position(one)?, position(two)?], links: link.links, bridge: link.bridge })
    };
    let connections = network.links.iter().filter_map(connection).collect();
    let host = |&host: &u32| GraphHost {
        host: catalogue.hosts.get(host as usize).cloned().unwrap_or_default(),
        pages: network.hosts[&host][0],
        relevant: network.hosts[&host][1],
        distance: distances.get(&host).copied(),
    };
    (chosen.iter().map(host).collect(), connections)
}
