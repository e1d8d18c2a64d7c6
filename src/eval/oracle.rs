//! The oracle: a crawl by somebody who knows the web and which of its pages are relevant. The ceiling that strategies are
//! held against, and no strategy for live crawls. Apart because it asks a [`Source`] for the whole web beforehand.
//!
//! Greedy: of the relevant pages not fetched, the one with the fewest unfetched pages on the way from what is fetched
//! is next, and the way is fetched with it; ties by discovery. The best order is a Steiner tree, for which nobody waits;
//! greedy is what the field means by an oracle. Distances only fall as pages are fetched, so each fetch passes on what
//! it has changed, and nothing is searched twice.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::crawl::{Conditions, Crawl, Limits, Outcome, Wanted};
use crate::model::{CrawlUrl, Event, Lane, Place, Priority, Refusal, Trail, Tunnel, UrlId, Verdict};
use crate::replay::{Source, replay};
use crate::strategy::{BreadthFirst, Strategy, Visit};

/// A crawl that knows where to go. It plays on the web it was made of, from the same seeds, under the same conditions.
#[derive(Clone, Debug)]
pub struct Oracle {
    order: Vec<CrawlUrl>,
    /// Fingerprint to position in the order.
    ranks: FxHashMap<u64, u32>,
}

impl Oracle {
    /// Reads all that can be reached from the seeds, breadth first, and finds the order. Scope and robots of the
    /// conditions hold for the reading too, limits of pages, depth and hops do not; of an endless web `reach` pages are
    /// known. `relevant` is put once for every page, in order of fetching, with whether the page threshold is reached;
    /// `None` for a page that does not count, which costs nothing on the way to others.
    #[must_use]
    pub fn ask(
        conditions: Conditions,
        reach: u64,
        seeds: &[CrawlUrl],
        source: &dyn Source,
        relevant: impl FnMut(&CrawlUrl, bool) -> Option<bool>,
    ) -> Self {
        let limits =
            Limits { pages: Some(reach), pages_per_host: None, depth: None, hops: u16::MAX, ..conditions.limits };
        let graph = Graph::read(Conditions { limits, ..conditions }, seeds, source, relevant);
        let order: Vec<CrawlUrl> = graph.walk().into_iter().map(|id| graph.urls[id as usize].clone()).collect();
        let ranks = (0..).zip(&order).map(|(rank, url)| (url.fingerprint(), rank)).collect();
        Self { order, ranks }
    }

    /// The URLs in the order in which they are to be fetched, redirects among them; ends with the last relevant page.
    #[must_use]
    pub fn order(&self) -> &[CrawlUrl] {
        &self.order
    }

    fn place(&self, url: &CrawlUrl, trail: Trail) -> Option<Place> {
        let &rank = self.ranks.get(&url.fingerprint())?;
        #[allow(clippy::cast_precision_loss)] // exact up to 2^24, which no comparison reaches
        Some(Place { lane: Lane::MAIN, priority: Priority::new(-(rank as f32)), trail })
    }
}

impl Strategy for Oracle {
    fn judge(&self, visit: &Visit) -> Vec<Verdict> {
        // Not a page is fetched that leads nowhere, so a host at rest lets nothing else go first.
        let nowhere = Verdict::Drop(Refusal::OffTopicPage);
        let trail = visit.trail(Tunnel::Unbounded);
        let verdict = |url| self.place(url, trail).map_or(nowhere, Verdict::Follow);
        visit.links.iter().map(|link| verdict(&link.url)).collect()
    }

    fn seed(&self, url: &CrawlUrl) -> Place {
        let last = Place { lane: Lane::MAIN, priority: Priority::new(f32::MIN), trail: Trail::SEED };
        self.place(url, Trail::SEED).unwrap_or(last)
    }
}

/// The web as the oracle knows it; node numbers are [`UrlId`]s.
#[derive(Default)]
struct Graph {
    urls: Vec<CrawlUrl>,
    nodes: Vec<Node>,
    /// Targets of all nodes' links, node by node.
    links: Vec<u32>,
    seeds: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Node {
    /// Its part of [`Graph::links`].
    links: (usize, usize),
    /// Answers with a page or a redirect.
    answers: bool,
    /// What it adds to a way: 1 for a page that counts.
    cost: u32,
    relevant: bool,
}

/// Notes the redirects that pass, since the events leave out those to pages that are fetched.
struct Overheard<'a> {
    source: &'a dyn Source,
    redirects: Mutex<Vec<(UrlId, CrawlUrl)>>,
}

impl Source for Overheard<'_> {
    fn outcome(&self, wanted: &Wanted, url: &CrawlUrl) -> Outcome {
        let outcome = self.source.outcome(wanted, url);
        if let (Wanted::Page(id), Outcome::Redirect(to)) = (wanted, &outcome) {
            self.redirects.lock().unwrap_or_else(PoisonError::into_inner).push((*id, to.clone()));
        }
        outcome
    }
}

impl Graph {
    /// Crawls everything, breadth first.
    fn read(
        mut conditions: Conditions,
        seeds: &[CrawlUrl],
        source: &dyn Source,
        mut relevant: impl FnMut(&CrawlUrl, bool) -> Option<bool>,
    ) -> Self {
        conditions.politeness.delay = 0.0;
        let overheard = Overheard { source, redirects: Mutex::default() };
        let mut crawl = Crawl::new(conditions, Box::new(BreadthFirst));
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

    fn fold(&mut self, event: &Event, relevant: &mut impl FnMut(&CrawlUrl, bool) -> Option<bool>) {
        match event {
            Event::Discovered(new) => {
                self.urls.push(new.url.clone());
                self.nodes.push(Node::default());
            }
            Event::Seeded(link) => self.seeds.push(link.to.0),
            Event::Settled(page) => {
                let known = relevant(&self.urls[page.id.0 as usize], page.relevant);
                let from = self.links.len();
                self.links.extend(page.links.iter().map(|link| link.to.0).chain(page.known.iter().map(|id| id.0)));
                // In order of discovery, whatever was known of them when.
                self.links[from..].sort_unstable();
                self.nodes[page.id.0 as usize] = Node {
                    links: (from, self.links.len()),
                    answers: true,
                    cost: u32::from(known.is_some()),
                    relevant: known == Some(true),
                };
            }
            _ => {}
        }
    }

    /// Adds what is no link but leads on: redirects, and the same URL under the other scheme.
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
            // A page that was fetched has no other scheme.
            if !node.answers {
                *node = Node { links: (self.links.len(), self.links.len() + to.len()), answers: true, ..*node };
                self.links.extend(to);
            }
        }
    }

    /// The greedy order.
    fn walk(&self) -> Vec<u32> {
        let mut search = Search {
            graph: self,
            way: vec![u32::MAX; self.nodes.len()],
            from: vec![u32::MAX; self.nodes.len()],
            targets: BTreeSet::new(),
            changed: VecDeque::new(),
        };
        for &seed in &self.seeds {
            search.offer(seed, u32::MAX, 0);
        }
        search.pass_on();
        let mut order = Vec::new();
        let mut fetched = vec![false; self.nodes.len()];
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
}

/// The ways to what is not fetched, from what is.
struct Search<'a> {
    graph: &'a Graph,
    /// Unfetched pages on the way to a node, itself among them; 0 once it is fetched.
    way: Vec<u32>,
    /// The node before it on that way.
    from: Vec<u32>,
    /// Relevant pages not fetched, by way and discovery.
    targets: BTreeSet<(u32, u32)>,
    /// Nodes whose way has become shorter.
    changed: VecDeque<u32>,
}

impl Search<'_> {
    /// A way to `to` from a node with a way of `before`.
    fn offer(&mut self, to: u32, from: u32, before: u32) {
        let node = self.graph.nodes[to as usize];
        let old = self.way[to as usize];
        let way = before + node.cost;
        if !node.answers || way >= old {
            return;
        }
        if node.relevant {
            self.targets.remove(&(old, to));
            self.targets.insert((way, to));
        }
        self.way[to as usize] = way;
        self.from[to as usize] = from;
        if node.cost == 0 { self.changed.push_front(to) } else { self.changed.push_back(to) }
    }

    fn pass_on(&mut self) {
        while let Some(id) = self.changed.pop_front() {
            let graph = self.graph;
            let (from, to) = graph.nodes[id as usize].links;
            for &link in &graph.links[from..to] {
                self.offer(link, id, self.way[id as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawl::Politeness;
    use crate::model::{Digest, Evidence, Failure, FailureKind, Outlink, Page, Region, Relevance};
    use crate::strategy::scope::Scope;

    /// Pages by name and their links; `name>target` is a redirect.
    struct Small(&'static [&'static str]);

    fn url(name: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://h.cn/{name}")).unwrap()
    }

    impl Source for Small {
        fn outcome(&self, _: &Wanted, wanted: &CrawlUrl) -> Outcome {
            let name = &wanted.path()[1..];
            if let Some(to) = self.0.iter().find_map(|line| line.strip_prefix(&format!("{name}>"))) {
                return Outcome::Redirect(url(to));
            }
            let Some(line) = self.0.iter().find(|line| line.split(' ').next() == Some(name)) else {
                return Outcome::Failed(Failure { kind: FailureKind::Status(404), retry_after: None });
            };
            let outlink = |name: &str| Outlink {
                url: url(name),
                anchor: String::new(),
                evidence: Evidence::default(),
                relevance: Relevance::ZERO,
                region: Region::Content,
                path: 0,
                nofollow: false,
            };
            let page = Page {
                title: String::new(),
                text: String::new(),
                language: None,
                charset: String::new(),
                relevance: Relevance::ZERO,
                terms: vec![],
                digest: Digest([0; 20]),
                outlinks: line.split(' ').skip(1).map(outlink).collect(),
                noindex: false,
                canonical: None,
                defects: vec![],
            };
            Outcome::Page { status: 200, page: Box::new(page) }
        }
    }

    fn conditions() -> Conditions {
        Conditions {
            limits: Limits::default(),
            politeness: Politeness { robots: false, delay: 0.0, ..Politeness::default() },
            scope: Scope::default(),
            agent: "t".into(),
            seed: 1,
            page_threshold: Relevance::ONE,
            link_threshold: Relevance::ONE,
        }
    }

    /// Pages whose name begins with R are relevant, with X do not count.
    fn ask(web: &'static [&'static str], seeds: &[&str]) -> (Oracle, Vec<CrawlUrl>) {
        let seeds: Vec<CrawlUrl> = seeds.iter().map(|seed| url(seed)).collect();
        let relevant = |url: &CrawlUrl, _| (!url.path().starts_with("/X")).then(|| url.path().starts_with("/R"));
        (Oracle::ask(conditions(), 1000, &seeds, &Small(web), relevant), seeds)
    }

    fn names(order: &[CrawlUrl]) -> String {
        order.iter().map(|url| &url.path()[1..]).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_shortest_tunnel_goes_first_and_what_it_opens_counts() {
        // R1 lies behind two pages, R2 behind one; behind R2 R3 is one page away. Nobody needs c and d.
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
        let mut crawl = Crawl::new(conditions(), Box::new(oracle));
        let mut urls = Vec::new();
        let mut fetched = Vec::new();
        replay(&mut crawl, &seeds, &Small(web), 1, |batch| {
            for event in batch.events {
                match event {
                    Event::Discovered(new) => urls.push(new.url),
                    Event::Settled(page) => fetched.push(urls[page.id.0 as usize].clone()),
                    Event::Redirected { id, .. } => fetched.push(urls[id.0 as usize].clone()),
                    _ => {}
                }
            }
        });
        assert_eq!(names(&fetched), order);
    }
}
