//! The link graph of a web: every page reachable from the seeds, and its distance to relevant pages.

use std::cmp::Reverse;
use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use suidao_crawl::crawl::{Crawl, CrawlLimits, CrawlSettings, FetchKind, FetchOutcome};
use suidao_crawl::replay::{ReplaySource, replay};
use suidao_crawl::strategy::BreadthFirst;
use suidao_crawl::trap::Traps;
use suidao_graph::{GraphPage, Islands, LinkGraph, PageTopic, tunnel_depths};
use suidao_page::model::{CrawlUrl, Event, PageProcessed, UrlId};

/// Maximum number of redirects in a row.
const REDIRECTS: usize = 20;

/// Nodes are URLs, numbered in order of discovery, breadth first.
#[derive(Clone, Debug, Default)]
pub struct WebGraph {
    urls: Vec<CrawlUrl>,
    nodes: Vec<GraphNode>,
    /// Link targets of all nodes, node by node.
    links: Vec<u32>,
    seeds: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GraphNode {
    /// Its range in [`WebGraph::links`].
    links: (usize, usize),
    pub(super) kind: NodeKind,
    pub(super) counts: bool,
    pub(super) relevant: bool,
    /// A listing on topic.
    listing: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NodeKind {
    #[default]
    Dead,
    /// A redirect, or the same URL under the other scheme.
    Redirect,
    Page,
}

/// Records redirects, because events omit those to fetched pages.
struct RedirectRecorder<'a> {
    source: &'a dyn ReplaySource,
    redirects: Mutex<Vec<(UrlId, CrawlUrl)>>,
}

impl ReplaySource for RedirectRecorder<'_> {
    fn outcome(&self, kind: &FetchKind, url: &CrawlUrl) -> FetchOutcome {
        let outcome = self.source.outcome(kind, url);
        if let (FetchKind::Page(id) | FetchKind::Plain(id), FetchOutcome::Redirect { to, .. }) = (kind, &outcome) {
            self.redirects.lock().unwrap_or_else(PoisonError::into_inner).push((*id, to.clone()));
        }
        outcome
    }
}

impl WebGraph {
    /// Reads everything reachable from the seeds, at most `reach` pages. Scope and robots apply; limits of pages, depth
    /// and hops do not. `relevant` is called once per page, in order of fetching; `None` excludes the page.
    pub fn read(
        settings: CrawlSettings,
        reach: u64,
        seeds: &[CrawlUrl],
        source: &dyn ReplaySource,
        mut relevant: impl FnMut(&CrawlUrl, &PageProcessed) -> Option<bool>,
    ) -> Self {
        let limits = CrawlLimits {
            pages: Some(reach),
            requests: Some(u64::MAX),
            pages_per_host: None,
            depth: None,
            hops: None,
            ..settings.limits
        };
        // Trap rules that learn are off, so that the whole web is read; those on the URL alone remain.
        let Traps { repeats, max_segments, session_parameters, .. } = settings.traps;
        let traps = Traps { repeats, max_segments, session_parameters, ..Traps::off() };
        let goals = suidao_crawl::crawl::StopConditions::default();
        let mut settings = CrawlSettings { limits, goals, traps, ..settings };
        settings.politeness.delay = 0.0;
        let overheard = RedirectRecorder { source, redirects: Mutex::default() };
        let mut crawl = Crawl::new(settings, Box::new(BreadthFirst));
        let mut graph = Self::default();
        replay(&mut crawl, seeds, &overheard, 1, |batch| {
            for event in &batch.events {
                graph.fold(event, &mut relevant);
            }
        });
        let redirects = overheard.redirects.into_inner().unwrap_or_else(PoisonError::into_inner);
        graph.join(redirects);
        graph
    }

    fn fold(&mut self, event: &Event, relevant: &mut impl FnMut(&CrawlUrl, &PageProcessed) -> Option<bool>) {
        match event {
            Event::Discovered(new) => {
                self.urls.push(new.url.clone());
                self.nodes.push(GraphNode::default());
            }
            Event::SeedJudged(link) => self.seeds.push(link.to.0),
            Event::PageFetched(page) => {
                let known = relevant(&self.urls[page.id.0 as usize], page);
                let from = self.links.len();
                self.links.extend(page.links.iter().map(|link| link.to.0).chain(page.known.iter().map(|id| id.0)));
                self.links[from..].sort_unstable();
                self.nodes[page.id.0 as usize] = GraphNode {
                    links: (from, self.links.len()),
                    kind: NodeKind::Page,
                    counts: known.is_some(),
                    relevant: known == Some(true),
                    listing: page.listing && page.on_topic,
                };
            }
            _ => {}
        }
    }

    /// Adds edges that are not links: redirects, and the same URL under the other scheme.
    fn join(&mut self, redirects: Vec<(UrlId, CrawlUrl)>) {
        let ids: FxHashMap<u64, u32> = (0..).zip(&self.urls).map(|(id, url)| (url.fingerprint(), id)).collect();
        let find = |url: &CrawlUrl| ids.get(&url.fingerprint()).copied();
        let other = |url: &CrawlUrl| url.under(!url.is_https()).and_then(|url| find(&url));
        let moved = (0..).zip(&self.urls).map(|(id, url)| (id, other(url)));
        let redirected = redirects.iter().flat_map(|(id, to)| [(id.0, find(to)), (id.0, other(to))]);
        let more: Vec<(u32, u32)> = redirected.chain(moved).filter_map(|(id, to)| Some((id, to?))).collect();
        let mut joined: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (from, to) in more {
            joined.entry(from).or_default().push(to);
        }
        let mut from: Vec<(u32, Vec<u32>)> = joined.into_iter().collect();
        from.sort_unstable();
        for (id, to) in from {
            let node = &mut self.nodes[id as usize];
            // The other scheme of a fetched page is not a separate page.
            if node.kind == NodeKind::Dead {
                *node = GraphNode {
                    links: (self.links.len(), self.links.len() + to.len()),
                    kind: NodeKind::Redirect,
                    ..*node
                };
                self.links.extend(to);
            }
        }
    }

    /// The topic islands of a recorded web ([`suidao_graph::Islands`]): their number, and that of each page by the
    /// fingerprint of its URL. Listings on topic join islands.
    pub fn islands(&self) -> (u32, FxHashMap<u64, u32>) {
        let found = Islands::find(&self.pages(|node| node.listing));
        let of_url = |(url, island): (&CrawlUrl, &Option<u32>)| Some((url.fingerprint(), (*island)?));
        (found.islands.len() as u32, self.urls.iter().zip(&found.of_page).filter_map(of_url).collect())
    }

    /// The hosts that have pages, and the important pages by the fingerprints of their URLs: the tenth with the most
    /// pages that link to them (Tianwang's first feature), ties by discovery.
    pub fn hosts_and_important(&self) -> (u32, FxHashSet<u64>) {
        let mut linked = vec![0_u32; self.nodes.len()];
        let counted = |id: u32| self.node(id).kind == NodeKind::Page && self.node(id).counts;
        for id in (0..self.nodes.len() as u32).filter(|&id| counted(id)) {
            let mut targets: Vec<u32> = self.links(id).iter().filter_map(|&to| self.resolved(to)).collect();
            targets.sort_unstable();
            targets.dedup();
            targets.into_iter().filter(|&to| to != id).for_each(|to| linked[to as usize] += 1);
        }
        let mut pages: Vec<u32> = (0..self.nodes.len() as u32).filter(|&id| counted(id)).collect();
        let hosts: FxHashSet<&str> = pages.iter().map(|&id| self.url(id).authority()).collect();
        pages.sort_by_key(|&id| Reverse(linked[id as usize]));
        let important = pages.iter().take(pages.len().div_ceil(10)).map(|&id| self.url(id).fingerprint()).collect();
        (hosts.len() as u32, important)
    }

    /// The share of the relevant pages that is reached from the seeds with at most k other pages in a row, for k = 0,
    /// 1, ... Listings count as other pages.
    pub fn reached_by_k(&self) -> Vec<f64> {
        let depths = tunnel_depths(&self.pages(|_| false));
        let relevant = || self.nodes.iter().zip(&depths).filter(|(node, _)| node.relevant);
        let (all, deepest) = (relevant().count(), relevant().filter_map(|(_, depth)| *depth).max());
        let within = |k: u16| relevant().filter(|(_, depth)| depth.is_some_and(|depth| depth <= k)).count();
        deepest.map_or_else(Vec::new, |deepest| (0..=deepest).map(|k| within(k) as f64 / all as f64).collect())
    }

    /// The pages and the links between them, redirects resolved. `listing`: whether a page that is not relevant is a
    /// listing on topic.
    fn pages(&self, listing: impl Fn(&GraphNode) -> bool) -> LinkGraph {
        let mut hosts: FxHashMap<&str, u32> = FxHashMap::default();
        let mut pages = Vec::with_capacity(self.nodes.len());
        for (url, node) in self.urls.iter().zip(&self.nodes) {
            let next = hosts.len() as u32;
            let host = *hosts.entry(url.authority()).or_insert(next);
            let topic = match (node.relevant, listing(node)) {
                (true, _) => PageTopic::Relevant,
                (false, true) => PageTopic::Listing,
                (false, false) => PageTopic::OffTopic,
            };
            pages.push(GraphPage { host, topic, seed: false });
        }
        for seed in self.seeds.iter().filter_map(|&seed| self.resolved(seed)) {
            pages[seed as usize].seed = true;
        }
        let is_page = |&id: &u32| self.nodes[id as usize].kind == NodeKind::Page;
        let links = (0..self.nodes.len() as u32)
            .filter(is_page)
            .flat_map(|id| self.links(id).iter().filter_map(move |&to| Some((id, self.resolved(to)?))));
        LinkGraph::new(pages, links.collect())
    }

    /// The page that a URL leads to over redirects.
    fn resolved(&self, mut id: u32) -> Option<u32> {
        for _ in 0..REDIRECTS {
            match self.nodes[id as usize].kind {
                NodeKind::Page => return Some(id),
                NodeKind::Redirect => id = *self.links(id).first()?,
                NodeKind::Dead => return None,
            }
        }
        None
    }

    pub fn url(&self, node: u32) -> &CrawlUrl {
        &self.urls[node as usize]
    }

    pub(super) fn node(&self, node: u32) -> GraphNode {
        self.nodes[node as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn links(&self, node: u32) -> &[u32] {
        let (from, to) = self.nodes[node as usize].links;
        &self.links[from..to]
    }

    pub(super) fn seeds(&self) -> &[u32] {
        &self.seeds
    }

    /// The pages in order of discovery, each with its layer: the number of links to the nearest relevant page (0:
    /// relevant itself), `None` if more than `deepest`. Redirects do not count as links.
    pub fn layers(&self, deepest: u8) -> Vec<(u32, Option<u8>)> {
        let mut layers: Vec<Option<u8>> = self.nodes.iter().map(|node| node.relevant.then_some(0)).collect();
        let all = || 0..u32::try_from(self.nodes.len()).expect("as many as URLs, which are numbered so");
        for layer in 1..=deepest {
            // A redirect has its target's layer; each round resolves one redirect of a chain.
            loop {
                let leads = |id: &u32| {
                    layers[*id as usize].is_none()
                        && self.node(*id).kind == NodeKind::Redirect
                        && self.links(*id).iter().any(|&to| layers[to as usize].is_some())
                };
                let nearer: Vec<u32> = all().filter(leads).collect();
                if nearer.is_empty() {
                    break;
                }
                nearer.iter().for_each(|&id| layers[id as usize] = Some(layer - 1));
            }
            let links_there = |id: &u32| {
                layers[*id as usize].is_none()
                    && self.node(*id).kind == NodeKind::Page
                    && self.links(*id).iter().any(|&to| layers[to as usize].is_some())
            };
            let found: Vec<u32> = all().filter(links_there).collect();
            found.iter().for_each(|&id| layers[id as usize] = Some(layer));
        }
        all().filter(|&id| self.node(id).kind == NodeKind::Page).map(|id| (id, layers[id as usize])).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use suidao_crawl::crawl::Politeness;
    use suidao_page::model::{Failure, FailureKind, LinkScores, Outlink, Page, Region, Relevance};

    /// Pages by name with their links; `name>target` is a redirect.
    pub(in crate::eval) struct Small(pub &'static [&'static str]);

    pub(in crate::eval) fn url(name: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://h.cn/{name}")).unwrap()
    }

    impl ReplaySource for Small {
        fn outcome(&self, _: &FetchKind, requested: &CrawlUrl) -> FetchOutcome {
            let name = &requested.path()[1..];
            if let Some(to) = self.0.iter().find_map(|line| line.strip_prefix(&format!("{name}>"))) {
                return FetchOutcome::Redirect { to: url(to), permanent: true };
            }
            let Some(line) = self.0.iter().find(|line| line.split(' ').next() == Some(name)) else {
                return FetchOutcome::Failed(Failure { kind: FailureKind::Status(404), retry_after: None });
            };
            let outlink = |name: &str| Outlink {
                url: url(name),
                anchor: String::new(),
                scores: LinkScores::default(),
                relevance: Relevance::ZERO,
                region: Region::Content,
                dom_path: 0,
                nofollow: false,
            };
            let page =
                Page { bytes: 1_000, outlinks: line.split(' ').skip(1).map(outlink).collect(), ..Page::default() };
            FetchOutcome::Page { status: 200, page: Box::new(page), page_view: None, validators: None }
        }
    }

    pub(in crate::eval) fn crawl_settings() -> CrawlSettings {
        CrawlSettings {
            goals: suidao_crawl::crawl::StopConditions::default(),
            politeness: Politeness { robots: false, delay: 0.0, ..Politeness::default() },
            traps: suidao_crawl::trap::Traps::default(),
            sources: suidao_crawl::crawl::Sources::default(),
            agent: "t".into(),
            seed: 1,
            page_threshold: Relevance::ONE,
            link_threshold: Relevance::ONE,
            forums: suidao_crawl::crawl::ForumMode::Off,
            ..CrawlSettings::default()
        }
    }

    #[test]
    fn layers_count_links_backwards_and_redirects_are_none() {
        let web = &["s a far", "a b", "b r", "r>R", "R x", "x", "far s"];
        let graph = WebGraph::read(crawl_settings(), 1000, &[url("s")], &Small(web), |url, _| Some(url.path() == "/R"));
        let layers = graph.layers(2);
        let message: Vec<String> =
            layers.iter().map(|&(id, layer)| format!("{}{layer:?}", &graph.url(id).path()[1..])).collect();
        assert_eq!(message, ["sNone", "aSome(2)", "farNone", "bSome(1)", "RSome(0)", "xNone"]);
    }

    #[test]
    fn important_pages_are_the_tenth_with_the_most_links_to_them() {
        let web = &["s a b r", "a b s", "b s r", "r>R", "R s a", "c s"];
        let graph = WebGraph::read(crawl_settings(), 1000, &[url("s")], &Small(web), |_, _| Some(false));
        let (hosts, important) = graph.hosts_and_important();
        // c is never reached; s, a, b and R are four pages, of which one is important.
        assert_eq!((hosts, important.len(), important.contains(&url("s").fingerprint())), (1, 1, true));
    }

    #[test]
    fn islands_of_a_recorded_web_are_relevant_pages_joined_by_links_and_redirects() {
        let web = &["s R1 a", "R1 r", "r>R2", "R2", "a R3", "R3 R4", "R4"];
        let relevant = |url: &CrawlUrl, _: &PageProcessed| Some(url.path().starts_with("/R"));
        let graph = WebGraph::read(crawl_settings(), 1000, &[url("s")], &Small(web), relevant);
        let (islands, of_page) = graph.islands();
        let of = |name: &str| of_page.get(&url(name).fingerprint()).copied();
        assert_eq!(
            (islands, of("R1"), of("R2"), of("R3"), of("R4"), of("a")),
            (2, Some(0), Some(0), Some(1), Some(1), None)
        );
    }
}
