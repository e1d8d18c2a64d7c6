//! The interface of the generated web: content and ground truth.

use super::address::alias_url;
use super::layout::Layout;
use super::response::ResolvedUrl;
use super::spec::{SpecError, WebSpec};
use super::target::{AuxPage, PagePosition, salt};
use suidao_page::model::CrawlUrl;
use suidao_page::seeded_rng::SeededRng;

/// A web generated from a [`WebSpec`].
///
/// ```
/// use suidao_crawl::replay::Web;
/// use suidao_lab::world::{SyntheticWeb, WebSpec};
///
/// let world = SyntheticWeb::new(WebSpec { seed: 7, ..WebSpec::default() }).unwrap();
/// let seed = &world.seeds()[0];
/// assert_eq!(world.get(seed).unwrap().status, 200);
/// assert_eq!(world.island(seed), Some(0));
/// ```
pub struct SyntheticWeb {
    pub(super) layout: Layout,
}

/// Generated URLs are in normal form.
pub(super) fn crawl_url(text: &str) -> CrawlUrl {
    CrawlUrl::parse(text).expect("the world's URLs are well formed")
}

/// What a URL of the web is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedUrl {
    /// An article, a listing of a section or a tunnel page, by its number; several URLs can have the same.
    Page(u64),
    /// A front page, archive, category, list of tags or blogroll.
    Listing,
    /// A month of an endless calendar.
    Trap,
    /// A page that robots.txt disallows.
    Forbidden,
    /// A redirect, robots.txt, a missing page, or an unknown host.
    Other,
}

impl SyntheticWeb {
    /// Time and memory are proportional to hosts, islands and tunnels, not to pages.
    ///
    /// # Errors
    /// [`SpecError`] if a field is out of range or there are too few pages for the islands.
    pub fn new(spec: WebSpec) -> Result<Self, SpecError> {
        Layout::new(spec).map(|layout| Self { layout })
    }

    pub fn spec(&self) -> &WebSpec {
        &self.layout.spec
    }

    /// Seeds of a crawl: four pages of island 0, its home first; or the homes of the first islands, on a blog its front
    /// page.
    pub fn seeds(&self) -> Vec<CrawlUrl> {
        if self.layout.spec.seed_islands > 1 {
            let home = |island| {
                let first = self.layout.island_sections(island).start;
                let host = self.layout.host_at(first);
                if host.traits.blog {
                    crawl_url(&format!("http://{}/", host.name))
                } else {
                    self.url(self.first(first))
                }
            };
            let mut out: Vec<CrawlUrl> = Vec::new();
            for url in (0..self.layout.spec.seed_islands).map(home) {
                if !out.contains(&url) {
                    out.push(url);
                }
            }
            return out;
        }
        let mut rng = SeededRng::new(self.layout.spec.seed, salt::HEAD, u64::MAX);
        let mut out = vec![self.url(0)];
        while out.len() < 4 {
            let url = self.url(self.layout.island_page(0, 1 + rng.below(self.layout.island_len(0) - 1)));
            if !out.contains(&url) {
                out.push(url);
            }
        }
        out
    }

    pub fn kind(&self, url: &CrawlUrl) -> ServedUrl {
        match self.lookup(url) {
            ResolvedUrl::Page(page) => ServedUrl::Page(page),
            ResolvedUrl::Aux(_, AuxPage::Month(_)) => ServedUrl::Trap,
            ResolvedUrl::Aux(host, AuxPage::Private(_)) if host >= self.layout.first_ordinary => ServedUrl::Forbidden,
            ResolvedUrl::Aux(..) => ServedUrl::Listing,
            _ => ServedUrl::Other,
        }
    }

    /// Whether a page is on topic, under its first or second URL. Redirects, errors, calendars and unknown URLs are
    /// not.
    pub fn is_relevant(&self, url: &CrawlUrl) -> bool {
        self.page(url).is_some_and(|page| self.layout.is_relevant(page))
    }

    /// The island of a page; `None` for off-topic pages and for URLs without a page.
    pub fn island(&self, url: &CrawlUrl) -> Option<usize> {
        let page = self.page(url)?;
        self.layout.sections[self.layout.locate(page).0].island.map(|island| island as usize)
    }

    pub fn islands(&self) -> usize {
        self.layout.spec.islands as usize
    }

    /// Every page with its relevance, by page number: islands, tunnels, then off-topic pages.
    pub fn pages(&self) -> impl Iterator<Item = (CrawlUrl, bool)> + '_ {
        (0..self.layout.spec.pages).map(|page| (self.url(page), self.layout.is_relevant(page)))
    }

    pub fn relevant(&self) -> u64 {
        (0..self.layout.spec.pages).filter(|&page| self.layout.is_relevant(page)).count() as u64
    }

    /// Topic pages to learn a lexicon from, as (URL, HTML): on five separate hosts without incoming links, so that no
    /// page is both learned from and scored. [`Web::get`](suidao_crawl::replay::Web::get) serves them too.
    pub fn sample_pages(&self, n: usize) -> Vec<(CrawlUrl, String)> {
        (0..n as u64).map(|index| self.sample(true, index)).collect()
    }

    /// Off-topic pages likewise; every fifth is near the topic and links to a sample page of it.
    pub fn background_pages(&self, n: usize) -> Vec<(CrawlUrl, String)> {
        (0..n as u64).map(|index| self.sample(false, index)).collect()
    }

    pub(super) fn url(&self, page: u64) -> CrawlUrl {
        crawl_url(&self.layout.url(page))
    }

    /// The page with this URL, first or second.
    fn page(&self, url: &CrawlUrl) -> Option<u64> {
        if url.has_port() {
            return None;
        }
        self.find(self.layout.find_host(url.host())?, url.as_str())
    }

    /// The page of this host with this URL, first or second.
    pub(super) fn find(&self, host: u64, url: &str) -> Option<u64> {
        let first = url.strip_suffix("from=related").and_then(|rest| rest.strip_suffix(['?', '&']));
        let page = self.layout.find_page(host, first.unwrap_or(url))?;
        // The second URL has its marker after `?` or `&`, depending on whether the first has a query.
        (first.is_none() || alias_url(&self.layout.url(page)) == url).then_some(page)
    }

    fn first(&self, section: usize) -> u64 {
        self.layout.sections[section].start
    }

    /// Whether a page has a text of its own: articles and tunnel pages.
    pub(super) fn has_text(&self, page: u64) -> bool {
        matches!(self.layout.locate(page).1, PagePosition::Article(_) | PagePosition::Tunnel(..))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::words::topic_words;
    use super::*;
    use suidao_crawl::replay::Web;
    use suidao_graph::{GraphPage, Islands, LinkGraph, PageTopic, shortest_path, tunnel_depths};
    use suidao_page::model::{FailureKind, Fetched};

    fn small() -> WebSpec {
        WebSpec { pages: 600, hosts: 14, islands: 5, island_pages: [20, 40], ..WebSpec::default() }
    }

    fn text(fetched: &Fetched) -> String {
        let meta = String::from_utf8_lossy(&fetched.body).contains("charset=\"gbk\"");
        let header = fetched.header("content-type").unwrap().contains("gbk");
        if meta || header {
            let (text, _, broken) = encoding_rs::GBK.decode(&fetched.body);
            assert!(!broken, "{}", fetched.url);
            text.into_owned()
        } else {
            String::from_utf8(fetched.body.to_vec()).unwrap()
        }
    }

    fn hrefs(fetched: &Fetched) -> Vec<CrawlUrl> {
        let html = scraper::Html::parse_document(&text(fetched));
        let anchors = scraper::Selector::parse("a[href]").unwrap();
        let hrefs = html.select(&anchors).map(|a| fetched.url.join(a.attr("href").unwrap()).unwrap());
        hrefs.collect()
    }

    /// The pages that a URL's page links to, after redirects, by their first URL.
    fn successors(world: &SyntheticWeb, url: &CrawlUrl) -> Vec<u64> {
        let mut out = Vec::new();
        for mut link in hrefs(&world.get(url).unwrap()) {
            while let Some(to) =
                world.get(&link).ok().and_then(|response| response.header("location").map(str::to_owned))
            {
                link = CrawlUrl::parse(&to).unwrap();
            }
            out.extend(world.page(&link));
        }
        out
    }

    #[test]
    fn every_url_leads_back_to_its_page() {
        let world = SyntheticWeb::new(WebSpec::default()).unwrap();
        for (page, (url, relevant)) in (0..).zip(world.pages()) {
            assert_eq!(world.page(&url), Some(page), "{url}");
            assert_eq!(world.page(&crawl_url(&alias_url(url.as_str()))), Some(page), "{url}");
            assert_eq!(world.is_relevant(&url), relevant, "{url}");
            assert_eq!(world.island(&url).is_some(), relevant, "{url}");
        }
        for odd in ["http://nowhere.test/", "http://www.gone1.test/", "https://sports0.test/x1/"] {
            assert_eq!(world.page(&crawl_url(odd)), None);
        }
        let url = world.url(4_000);
        let broken = url.as_str().replacen("http://", "http://x", 1);
        assert_eq!(world.get(&crawl_url(&broken)).unwrap_err().kind, FailureKind::Dns);
        assert_eq!(world.get(&url.join("0999999999999999999999.html").unwrap()).unwrap().status, 404);
    }

    #[test]
    fn equal_specs_give_equal_bytes_and_other_seeds_others() {
        let (one, two) = (SyntheticWeb::new(small()).unwrap(), SyntheticWeb::new(small()).unwrap());
        let other = SyntheticWeb::new(WebSpec { seed: 2, ..small() }).unwrap();
        for (url, _) in one.pages() {
            assert_eq!(one.get(&url), two.get(&url));
        }
        let shared = one.pages().filter(|(url, _)| other.get(url).is_ok()).count();
        assert_eq!(shared, 0, "no host of one seed is a host of another");
        assert_eq!(one.sample_pages(3), two.sample_pages(3));
        assert_ne!(one.sample_pages(3)[0].1, other.sample_pages(3)[0].1);
    }

    /// Fixes the bytes of one page and the draws: a change here invalidates every recorded run on a world.
    #[test]
    fn the_default_web_stays_as_it_is() {
        let world = SyntheticWeb::new(WebSpec::default()).unwrap();
        let mut bytes = Vec::new();
        for page in [0, 500, 1_300, 5_999] {
            let response = world.get(&world.url(page)).unwrap();
            bytes.extend_from_slice(response.url.as_str().as_bytes());
            bytes.extend_from_slice(&response.body);
        }
        assert_eq!(
            xxhash_rust::xxh3::xxh3_64(&bytes),
            2_486_233_334_011_253_836,
            "state in CHANGELOG that generated webs have changed"
        );
    }

    /// The graph of all pages, by page number; `topic` is what the web was planted with.
    fn graph(world: &SyntheticWeb) -> LinkGraph {
        let seeds: Vec<u64> = world.seeds().iter().map(|url| world.page(url).unwrap()).collect();
        let page = |(number, (url, relevant)): (u64, (CrawlUrl, bool))| GraphPage {
            host: world.layout.find_host(url.host()).unwrap() as u32,
            topic: if relevant { PageTopic::Relevant } else { PageTopic::OffTopic },
            seed: seeds.contains(&number),
        };
        let links = (0..).zip(world.pages()).flat_map(|(from, (url, _))| {
            successors(world, &url).into_iter().map(move |to| (from, to as u32)).collect::<Vec<_>>()
        });
        LinkGraph::new((0..).zip(world.pages()).map(page).collect(), links.collect())
    }

    #[test]
    fn islands_are_reached_over_gaps_as_planted() {
        for seed in 1..=2 {
            let world = SyntheticWeb::new(WebSpec { seed, ..small() }).unwrap();
            let graph = graph(&world);
            let planted: Vec<Option<usize>> = world.pages().map(|(url, _)| world.island(&url)).collect();
            let found = Islands::find(&graph);
            let sizes = |island: &[Option<usize>]| {
                let mut pages: BTreeMap<usize, usize> = BTreeMap::new();
                island.iter().flatten().for_each(|island| *pages.entry(*island).or_default() += 1);
                pages
            };
            assert_eq!(found.islands.len(), sizes(&planted).len(), "islands of seed {seed}");
            for island in &found.islands {
                let of: BTreeSet<_> = island.pages.iter().map(|&page| planted[page as usize]).collect();
                assert_eq!((of.len(), island.pages.len()), (1, sizes(&planted)[&of.first().unwrap().unwrap()]));
            }

            let depths = tunnel_depths(&graph);
            assert!((0..).zip(&planted).all(|(page, island): (usize, _)| island.is_none() || depths[page].is_some()));
            // The shortest tunnel to each island; none to island 0 with the seeds.
            let tunnels = &world.layout.tunnels;
            let gap = |island: usize| {
                tunnels.iter().filter(|tunnel| tunnel.to == island as u64).map(|tunnel| tunnel.gap).min()
            };
            assert_eq!(gap(0), None);
            for island in 1..world.islands() {
                let others: Vec<u32> = (0..)
                    .zip(&planted)
                    .filter(|(_, of)| of.is_some_and(|of| of != island))
                    .map(|(page, _)| page)
                    .collect();
                let path = shortest_path(&graph, &others, |page| planted[page as usize] == Some(island)).unwrap();
                assert_eq!(Some(path.len() as u64 - 2), gap(island), "island {island} of seed {seed}");
                assert!((1..=12).contains(&gap(island).unwrap()));
            }
        }
    }

    #[test]
    fn links_lead_where_the_spec_requires() {
        let world = SyntheticWeb::new(small()).unwrap();
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for (url, _) in world.pages() {
            let response = world.get(&url).unwrap();
            assert_eq!(response.status, 200, "{url}");
            assert!(response.body.len() < 60_000, "{url} has {} bytes", response.body.len());
            for link in hrefs(&response) {
                let kind = match world.get(&link) {
                    Ok(response) => response.status.to_string(),
                    Err(failure) => format!("{:?}", failure.kind),
                };
                *counts.entry(kind).or_default() += 1;
                *counts.entry("all".to_owned()).or_default() += 1;
            }
        }
        let share = |kind: &str| f64::from(counts[kind]) / f64::from(counts["all"]);
        let kinds: Vec<&str> = counts.keys().map(String::as_str).collect();
        assert_eq!(kinds, ["200", "301", "302", "404", "Dns", "all"]);
        let dead = share("404") + share("Dns");
        assert!((0.02..0.04).contains(&dead), "{dead} of the links are dead");
        assert!((0.01..0.10).contains(&(share("301") + share("302"))));
    }

    #[test]
    fn traps_are_there_and_endless() {
        let world = SyntheticWeb::new(WebSpec { calendar_hosts: 1.0, robots_hosts: 1.0, ..small() }).unwrap();
        let home = world.get(&world.url(599)).unwrap().url.join("/").unwrap();
        let mut month = home.join("/calendar/2024-12.html").unwrap();
        for _ in 0..30 {
            let response = world.get(&month).unwrap();
            assert_eq!((response.status, world.is_relevant(&month)), (200, false));
            let next = hrefs(&response).into_iter().find(|url| url.path().starts_with("/calendar/")).unwrap();
            assert!(next.path() > month.path());
            month = next;
        }
        let rules = String::from_utf8(world.get(&home.robots()).unwrap().body.to_vec()).unwrap();
        assert_eq!(rules, "User-agent: *\nDisallow: /private/\n");
        assert_eq!(world.get(&home.join("/private/3.html").unwrap()).unwrap().status, 200);
    }

    #[test]
    fn topic_pages_speak_of_the_topic_and_others_hardly() {
        let world = SyntheticWeb::new(small()).unwrap();
        let words: BTreeSet<&str> = topic_words().collect();
        let count = |html: &str| words.iter().map(|word| html.matches(word).count()).sum::<usize>();
        let content = |html: &str| {
            let html = scraper::Html::parse_document(html);
            let title = scraper::Selector::parse("title, p:not(:has(a))").unwrap();
            html.select(&title).flat_map(|part| part.text()).collect::<String>()
        };
        let density = |text: &str| count(text) as f64 / text.chars().count() as f64;
        let (mut on, mut off) = (Vec::new(), Vec::new());
        for (url, relevant) in world.pages() {
            let html = text(&world.get(&url).unwrap());
            assert!(!relevant || count(&html) >= 3, "{url}");
            let list = if relevant { &mut on } else { &mut off };
            list.push(density(&content(&html)));
        }
        let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
        assert!(mean(&on) > 5.0 * mean(&off), "{} against {}", mean(&on), mean(&off));
    }

    #[test]
    fn samples_lie_outside_the_web() {
        let world = SyntheticWeb::new(small()).unwrap();
        for (url, html) in world.sample_pages(40).into_iter().chain(world.background_pages(40)) {
            assert_eq!(world.page(&url), None);
            assert_eq!(world.get(&url).unwrap().body, html.as_bytes());
        }
        let linked = world.pages().flat_map(|(url, _)| hrefs(&world.get(&url).unwrap()));
        assert_eq!(linked.filter(|url| url.host().ends_with("sample.test")).count(), 0);
    }

    #[test]
    fn an_invalid_spec_is_rejected() {
        let error = |spec: WebSpec| SyntheticWeb::new(spec).err().map(|error| error.to_string());
        assert!(error(WebSpec { pages: 100, ..WebSpec::default() }).unwrap().contains("raise pages"));
        assert!(error(WebSpec { noise: 1.5, ..WebSpec::default() }).unwrap().contains("noise must be"));
        assert!(error(WebSpec { gap: [5, 2], ..WebSpec::default() }).unwrap().contains("gap"));
        assert!(error(WebSpec { pages: 10_000_000, hosts: 5_000, islands: 500, ..WebSpec::default() }).is_none());
    }
}
