//! The oracle: a crawl that knows the web and its relevant pages, as a reference for strategies.
//!
//! Greedy: the next target is the unfetched relevant page with the fewest unfetched pages on the path to it, ties by
//! discovery, and the path is fetched with it. The optimum is a Steiner tree, which is too expensive; the literature
//! uses the greedy oracle. Distances only fall as pages are fetched, so each fetch propagates its changes and nothing
//! is searched twice.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashMap;

use super::graph::{NodeKind, WebGraph};
use suidao_crawl::strategy::{PageVisit, Strategy};
use suidao_page::model::{CrawlUrl, LinkDecision, PathState, Priority, QueueEntry, QueueId, SkipReason, TunnelBudget};

/// A greedy crawl of the web it was built from, for the same seeds and settings.
#[derive(Clone, Debug)]
pub struct Oracle {
    order: Vec<CrawlUrl>,
    ranks: FxHashMap<u64, u32>,
}

impl Oracle {
    /// Computes the order of a web's pages. Pages that do not count cost nothing on a path.
    pub fn of(graph: &WebGraph) -> Self {
        let order: Vec<CrawlUrl> = walk(graph).into_iter().map(|id| graph.url(id).clone()).collect();
        let ranks = (0..).zip(&order).map(|(rank, url)| (url.fingerprint(), rank)).collect();
        Self { order, ranks }
    }

    /// The URLs in order of fetching, with redirects, up to the last relevant page.
    pub fn order(&self) -> &[CrawlUrl] {
        &self.order
    }

    fn place(&self, url: &CrawlUrl, link_path: PathState) -> Option<QueueEntry> {
        // A link found before its host's scheme was known may have the other scheme of the same page.
        let other = || url.under(!url.is_https()).and_then(|url| self.ranks.get(&url.fingerprint()));
        let &rank = self.ranks.get(&url.fingerprint()).or_else(other)?;
        #[allow(clippy::cast_precision_loss)] // exact up to 2^24, which no comparison reaches
        Some(QueueEntry { queue: QueueId::MAIN, priority: Priority::new(-(rank as f32)), path: link_path })
    }
}

impl Strategy for Oracle {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        // Drop pages that lead nowhere, so that nothing else is fetched while a host must wait.
        let nowhere = LinkDecision::Drop(SkipReason::OffTopicPage);
        let link_path = visit.path_state(TunnelBudget::Unbounded);
        let decision = |url| self.place(url, link_path).map_or(nowhere, LinkDecision::Follow);
        visit.links.iter().map(|link| decision(&link.url)).collect()
    }

    fn seed(&self, url: &CrawlUrl) -> QueueEntry {
        let last = QueueEntry { queue: QueueId::MAIN, priority: Priority::new(f32::MIN), path: PathState::SEED };
        self.place(url, PathState::SEED).unwrap_or(last)
    }
}

fn walk(graph: &WebGraph) -> Vec<u32> {
    let mut search = Search {
        graph,
        way: vec![u32::MAX; graph.len()],
        from: vec![u32::MAX; graph.len()],
        targets: BTreeSet::new(),
        changed: VecDeque::new(),
    };
    for &seed in graph.seeds() {
        search.offer(seed, u32::MAX, 0);
    }
    search.pass_on();
    let mut order = Vec::new();
    let mut fetched = vec![false; graph.len()];
    while let Some((_, target)) = search.targets.pop_first() {
        let mut path = Vec::new();
        let mut at = target;
        while at != u32::MAX && !fetched[at as usize] {
            path.push(at);
            at = search.from[at as usize];
        }
        for &id in path.iter().rev() {
            fetched[id as usize] = true;
            let way = std::mem::replace(&mut search.way[id as usize], 0);
            search.targets.remove(&(way, id));
            search.changed.push_back(id);
        }
        order.extend(path.into_iter().rev());
        search.pass_on();
    }
    order
}

struct Search<'a> {
    graph: &'a WebGraph,
    /// Unfetched pages on the path to a node, including itself; 0 once it is fetched.
    way: Vec<u32>,
    from: Vec<u32>,
    /// Unfetched relevant pages, by path length and discovery.
    targets: BTreeSet<(u32, u32)>,
    changed: VecDeque<u32>,
}

impl Search<'_> {
    /// Relaxes the edge to `to` from a node with path length `before`.
    fn offer(&mut self, to: u32, from: u32, before: u32) {
        let node = self.graph.node(to);
        let old = self.way[to as usize];
        let way = before + u32::from(node.counts);
        if node.kind == NodeKind::Dead || way >= old {
            return;
        }
        if node.relevant {
            self.targets.remove(&(old, to));
            self.targets.insert((way, to));
        }
        self.way[to as usize] = way;
        self.from[to as usize] = from;
        if node.counts { self.changed.push_back(to) } else { self.changed.push_front(to) }
    }

    fn pass_on(&mut self) {
        while let Some(id) = self.changed.pop_front() {
            let graph = self.graph;
            for &link in graph.links(id) {
                self.offer(link, id, self.way[id as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::{Small, crawl_settings, url};
    use super::*;
    use suidao_crawl::crawl::Crawl;
    use suidao_crawl::replay::replay;
    use suidao_page::model::{Event, PageProcessed};

    /// Names that begin with R are relevant; those with X do not count.
    fn ask(web: &'static [&'static str], seeds: &[&str]) -> (Oracle, Vec<CrawlUrl>) {
        let seeds: Vec<CrawlUrl> = seeds.iter().map(|seed| url(seed)).collect();
        let relevant =
            |url: &CrawlUrl, _: &PageProcessed| (!url.path().starts_with("/X")).then(|| url.path().starts_with("/R"));
        (Oracle::of(&WebGraph::read(crawl_settings(), 1000, &seeds, &Small(web), relevant)), seeds)
    }

    fn names(order: &[CrawlUrl]) -> String {
        order.iter().map(|url| &url.path()[1..]).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_shortest_tunnel_goes_first_and_what_it_opens_counts() {
        // Two pages lead to R1, one to R2; R3 is one page after R2. c and d are not needed.
        let web = &["s a c d", "a b", "b R1", "c", "d e", "e", "t f", "f R2", "R2 R3", "R1", "R3"];
        assert_eq!(names(ask(web, &["s", "t"]).0.order()), "t f R2 R3 s a b R1");
    }

    #[test]
    fn ties_go_by_discovery_and_fetched_pages_cost_nothing_again() {
        let web = &["s a b", "a R2 R1", "b R3", "R1", "R2", "R3"];
        assert_eq!(names(ask(web, &["s"]).0.order()), "s a R2 R1 b R3");
    }

    #[test]
    fn redirects_and_pages_that_do_not_count_are_free() {
        let web = &["s a r X", "a b", "b R1", "r>R2", "X R3", "R1", "R2", "R3 R2"];
        let order = names(ask(web, &["s"]).0.order());
        assert_eq!(order, "s r R2 X R3 a b R1");
    }

    #[test]
    fn a_replay_follows_it() {
        let web = &["s a c d", "a b", "b R1", "c", "d e", "e", "t f", "f>R2", "R2 R3", "R1", "R3", "u"];
        let (oracle, seeds) = ask(web, &["s", "t"]);
        let order = names(oracle.order());
        let mut crawl = Crawl::new(crawl_settings(), Box::new(oracle));
        let mut urls = Vec::new();
        let mut fetched = Vec::new();
        replay(&mut crawl, &seeds, &Small(web), 1, |batch| {
            for event in batch.events {
                match event {
                    Event::Discovered(new) => urls.push(new.url),
                    Event::PageFetched(page) => fetched.push(urls[page.id.0 as usize].clone()),
                    Event::Redirected { id, .. } => fetched.push(urls[id.0 as usize].clone()),
                    _ => {}
                }
            }
        });
        assert_eq!(names(&fetched), order);
    }
}
