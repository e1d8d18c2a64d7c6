//! The link graph of a whole crawl, in catalogue order.
//!
//! Links come from parsing the pages again: the log has no anchors, and regions only of links that changed something. A
//! link to a URL that redirects to a page, or to its other scheme, is a link to the page; a link to a further page of a
//! thread leads to the thread.
//!
//! Memory: a number and the fingerprint of a URL for each page and redirect, [`UrlNames`], and the graph.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Export;
use suidao_graph::{GraphPage, LinkGraph, PageTopic};
use suidao_page::model::{CrawlUrl, Event, Region, UrlId};
use suidao_store::corpus::document::OutLink;
use suidao_store::corpus::{Catalogue, CorpusDocument, PageRole, Parts, Selection, UrlNames};
use suidao_store::store::directory::WriteError;
use suidao_store::store::{Store, StoreError};

/// Maximum number of redirects in a row.
const HOPS: usize = 20;

/// All links of one page to another, described by the one nearest to the content, the first of equals.
pub struct PageLink {
    /// Node of the linked page.
    pub target: u32,
    pub anchor: String,
    pub region: Region,
    pub links: u32,
}

/// The pages of a crawl as nodes, by the URLs that lead to them.
pub struct PageNodes {
    nodes: FxHashMap<u64, u32>,
    /// The catalogue's index of each node.
    pub entries: Vec<u32>,
    ids: Vec<UrlId>,
    seeds: FxHashSet<u32>,
    names: UrlNames,
}

impl PageNodes {
    pub fn read(store: &Store, catalogue: &Catalogue) -> Result<Self, StoreError> {
        let names = UrlNames::read(store, catalogue)?;
        let redirects = redirects(store)?;
        let all = || (0u32..).zip(&catalogue.entries);
        let whole = || all().filter(|(_, entry)| entry.is_whole());
        let entries: Vec<u32> = whole().map(|(position, _)| position).collect();
        let ids: Vec<UrlId> = whole().map(|(_, entry)| entry.id).collect();
        let mut numbers: FxHashMap<UrlId, u32> = ids.iter().copied().zip(0..).collect();
        for (_, entry) in all() {
            let PageRole::Further(thread) = entry.role else { continue };
            if let Some(&number) = numbers.get(&catalogue.entries[thread as usize].id) {
                numbers.insert(entry.id, number);
            }
        }
        let (mut nodes, mut seeds) = (FxHashMap::default(), FxHashSet::default());
        for (id, url) in names.iter() {
            let steps = std::iter::successors(Some(id), |id| redirects.get(id).copied()).take(HOPS);
            if let Some(number) = steps.into_iter().find_map(|id| numbers.get(&id).copied()) {
                nodes.insert(url.fingerprint(), number);
                if names.found_on(id).is_none() {
                    seeds.insert(number);
                }
            }
        }
        Ok(Self { nodes, entries, ids, seeds, names })
    }

    fn node(&self, url: &CrawlUrl) -> Option<u32> {
        let find = |url: &CrawlUrl| self.nodes.get(&url.fingerprint()).copied();
        find(url).or_else(|| find(&url.under(!url.is_https())?))
    }

    /// The node of an entry of the catalogue that is a whole document.
    pub fn node_of(&self, entry: usize) -> usize {
        self.entries.binary_search(&(entry as u32)).expect("whole documents are nodes")
    }

    pub fn url(&self, node: u32) -> Option<&CrawlUrl> {
        self.names.url(*self.ids.get(node as usize)?)
    }

    /// The links of a page to others, in page order.
    pub fn links(&self, page: &CorpusDocument) -> Vec<PageLink> {
        let own = self.node(&page.url);
        let mut positions: FxHashMap<u32, usize> = FxHashMap::default();
        let mut links: Vec<PageLink> = Vec::new();
        for OutLink { url, anchor, region, .. } in &page.links {
            let Some(target) = self.node(url).filter(|target| Some(*target) != own) else { continue };
            let position = *positions.entry(target).or_insert_with(|| {
                links.push(PageLink { target, anchor: anchor.clone(), region: *region, links: 0 });
                links.len() - 1
            });
            let link = &mut links[position];
            link.links += 1;
            // A link with text comes before one without, in any region.
            let order = |anchor: &str, region: Region| (anchor.is_empty(), region as u8);
            if order(anchor, *region) < order(&link.anchor, link.region) {
                (link.anchor, link.region) = (anchor.clone(), *region);
            }
        }
        links
    }

    /// The pages with what they are to the topic, as nodes.
    pub fn graph(&self, catalogue: &Catalogue, links: Vec<(u32, u32)>) -> LinkGraph {
        let page = |(node, position): (u32, &u32)| {
            let entry = &catalogue.entries[*position as usize];
            let topic = match (entry.is_relevant(), entry.on_topic) {
                (true, _) => PageTopic::Relevant,
                (false, true) => PageTopic::Listing,
                (false, false) => PageTopic::OffTopic,
            };
            GraphPage { host: entry.host, topic, seed: self.seeds.contains(&node) }
        };
        LinkGraph::new((0..).zip(&self.entries).map(page).collect(), links)
    }

    /// Parses the pages for which `wanted` holds, and passes the links of each to `each`, in order of nodes.
    pub fn each(
        &self,
        store: &Store,
        catalogue: &Catalogue,
        progress: &(dyn Fn() + Sync),
        wanted: impl Fn(u32) -> bool,
        mut each: impl FnMut(u32, Vec<PageLink>) -> Result<(), WriteError> + Send,
    ) -> Result<(), WriteError> {
        let mut selection =
            Selection { chosen: vec![false; catalogue.entries.len()], pages: 0, excluded: Default::default() };
        for (node, position) in (0..).zip(&self.entries) {
            selection.chosen[*position as usize] = wanted(node);
        }
        let export = Export { store, catalogue, selection: &selection, progress, extractor: None };
        export.each(
            |chosen| {
                let page = chosen.document(Parts { links: true, ..Parts::default() })?;
                Ok((self.node_of(chosen.number) as u32, self.links(&page)))
            },
            |(node, links)| each(node, links),
        )?;
        Ok(())
    }
}

/// Targets of redirected URLs, and of URLs taken under the other scheme.
fn redirects(store: &Store) -> Result<FxHashMap<UrlId, UrlId>, StoreError> {
    let mut redirects = FxHashMap::default();
    for record in store.batches() {
        for event in record?.batch.events {
            if let Event::Redirected { id, link: Some(link), .. } | Event::SchemeRewritten { id, link: Some(link) } =
                event
            {
                redirects.insert(id, link.to);
            }
        }
    }
    Ok(redirects)
}
