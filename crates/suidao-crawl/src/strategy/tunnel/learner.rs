//! What `tunnel` has learnt, and the scores of URLs that follow from it.

mod pieces;
mod shared;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::kind;
use super::settings::TunnelSettings;
use super::sums::{
    BlockYield, HostYield, ListingSeries, Members, SharedSum, Template, WeightedSum, YieldTable, promise_of_hosts,
};
use suidao_page::model::{
    ChunkedVec, CrawlUrl, Digest, Event, Link, LinkDecision, PageProcessed, Region, Relevance, UrlId,
};
use suidao_page::read::address::UrlKind;

/// Maximum number of blocks that a URL is counted in.
const BLOCKS: usize = 4;
const NONE: u32 = u32::MAX;
/// Prior of a URL without any known link.
const LEAST: f32 = 0.01;
/// Bounds of the factor by which a block's ratio changes a prior.
const RATIOS: std::ops::RangeInclusive<f32> = 0.02..=10.0;
/// Exponent of the ratio of all documents in the prior of a new template: 0 favours known templates, 1 new ones.
const USUAL: f32 = 0.7;
/// Relevance of an anchor at which it promises the maximum for a tag.
const FULL_PROMISE: f32 = 0.25;
/// Hosts opened before a page counts as a links page that its URL does not suggest.
const LINKS_PAGE: u32 = 3;
/// Prior number of pages of recommended sites that opened a host.
const BLOGROLL_PRIOR: f32 = 2.0;

#[derive(Clone, Serialize, Deserialize)]
struct Known {
    kind: UrlKind,
    seed: bool,
    /// A sitemap or a feed.
    source: bool,
    /// Fetched, failed or excluded: no longer queued.
    gone: bool,
    /// The anchor of its first link suggests a page of recommended sites.
    called_blogroll: bool,
    series: SeriesKey,
    template: u32,
    /// s: the best score of a link to it.
    prior: f32,
    blocks: [u32; BLOCKS],
}

impl Known {
    fn host(&self) -> usize {
        self.series.0 as usize
    }
}

/// Key of a listing with its later pages: the number of its host without port, and 32 bits of
/// [`UrlFeatures`](kind::UrlFeatures)' `series`. Every URL has one; most are documents with nothing to record, so a
/// series is stored only on demand.
type SeriesKey = (u32, u32);

/// Key of a block of links.
type BlockKey = (bool, u32, u32);

pub(super) struct Learner {
    settings: TunnelSettings,
    threshold: Relevance,
    known: ChunkedVec<Known>,
    /// By hash of the host name.
    hosts: YieldTable<u64, HostYield>,
    series_table: YieldTable<SeriesKey, ListingSeries>,
    templates: YieldTable<u64, Template>,
    blocks: YieldTable<BlockKey, BlockYield>,
    all: SharedSum,
    /// By position in the tag tree, across hosts: themes are shared.
    positions: YieldTable<u32, SharedSum>,
    /// Documents under tags and categories by their word, across hosts.
    words: YieldTable<u64, SharedSum>,
    /// Body digests of fetched documents: a repeated body has value 0.
    bodies: FxHashSet<Digest>,
    /// Hosts discovered by the crawl, with the values of their first documents.
    discovered_hosts: SharedSum,
    /// Pages of recommended sites, and whether they opened a host.
    blogrolls: SharedSum,
}

impl Learner {
    pub fn new(settings: TunnelSettings, threshold: Relevance) -> Self {
        Self {
            settings,
            threshold,
            known: ChunkedVec::default(),
            hosts: YieldTable::default(),
            series_table: YieldTable::default(),
            templates: YieldTable::default(),
            blocks: YieldTable::default(),
            all: SharedSum::default(),
            positions: YieldTable::default(),
            words: YieldTable::default(),
            bodies: FxHashSet::default(),
            discovered_hosts: SharedSum::default(),
            blogrolls: SharedSum::default(),
        }
    }

    pub fn threshold(&self) -> Relevance {
        self.threshold
    }

    pub fn observe(&mut self, event: &Event, risen: &mut Vec<UrlId>) {
        match event {
            Event::Discovered(found) => self.discover(found.id, &found.url, &found.anchor),
            Event::SeedJudged(link) => {
                let known = self.get_mut(link.to);
                known.seed = true;
                let host = known.host();
                self.hosts[host].seeded = true;
                self.hosts[host].is_known = true;
            }
            Event::LinkOffered(link) => {
                if let LinkDecision::Follow(entry) = link.decision {
                    let known = self.get_mut(link.to);
                    known.prior = known.prior.max(entry.priority.get());
                }
            }
            Event::PageFetched(settled) => {
                self.settle(settled, risen);
                if let Some(of) = settled.copy_of {
                    self.inherit(settled.id, of);
                }
            }
            Event::SitemapsQueued { links, .. } => links.iter().for_each(|link| self.get_mut(link.to).source = true),
            Event::SitemapRead { id, sources, links, .. } => {
                self.get_mut(*id).gone = true;
                for source in links.iter().filter(|link| sources.contains(&link.to)) {
                    self.get_mut(source.to).source = true;
                }
                // A link of a sitemap counts as one of a listing: more is expected if similar URLs had more value.
                self.follow(*id, links, true);
            }
            Event::Rejudged { id, links, .. } => {
                let listing = self.get(*id).kind.is_listing();
                self.follow(*id, links, listing);
            }
            Event::Redirected { id, link, .. } | Event::SchemeRewritten { id, link } => {
                let from = self.get_mut(*id);
                // A redirect may lead back to the spelling that it came from.
                from.gone = matches!(event, Event::Redirected { .. });
                if let Some(link) = link {
                    self.inherit(*id, link.to);
                    self.get_mut(link.to).gone = false;
                }
            }
            Event::FetchFailed { id, .. } | Event::UrlExcluded { id, .. } => self.get_mut(*id).gone = true,
            Event::LearntElsewhere { sums } => self.learn_elsewhere(sums),
            _ => {}
        }
    }

    /// Copies the expectations of one URL to another that is fetched in its place.
    fn inherit(&mut self, from: UrlId, to: UrlId) {
        let &Known { seed, prior, blocks, .. } = self.get(from);
        let to = self.get_mut(to);
        to.seed |= seed;
        to.prior = to.prior.max(prior);
        if to.blocks == [NONE; BLOCKS] {
            to.blocks = blocks;
        }
    }

    /// Records links that are not part of a settled page.
    fn follow(&mut self, from: UrlId, links: &[Link], listing: bool) {
        let &Known { kind, series, template, .. } = self.get(from);
        for link in links {
            let LinkDecision::Follow(entry) = link.decision else { continue };
            let target = self.get_mut(link.to);
            if !target.gone {
                target.prior = target.prior.max(entry.priority.get());
                self.promise(link, kind, series);
                self.join(link, listing, series, template);
            }
        }
    }

    /// Score of a queued URL.
    pub fn score(&self, id: UrlId) -> f32 {
        let known = self.get(id);
        if known.seed || known.source {
            return 2.0;
        }
        let host = self.hosts[known.host()];
        let kappa = if host.seeded {
            self.settings.explore_seeds
        } else {
            self.settings.explore_found * promise_of_hosts(self.discovered_hosts.total())
        };
        let exploration = kappa / (host.pages as f32 + 1.0).sqrt();
        let own = match known.kind {
            UrlKind::Blogroll => self.settings.links_page * self.blogrolls.total().mean(1.0, BLOGROLL_PRIOR),
            _ if self.leads_to_listing(known) => self.settings.listing * self.value(known),
            _ => self.document(known),
        };
        let links_page = self.settings.links_page * self.templates[known.template as usize].links_page_value();
        own.max(links_page) + exploration
    }

    /// Value of a page as a hub, 0 if it is not one.
    pub fn listing_value(&self, id: UrlId) -> f32 {
        let known = self.get(id);
        if self.leads_to_listing(known) { self.value(known) } else { 0.0 }
    }

    fn get(&self, id: UrlId) -> &Known {
        &self.known[id.0 as usize]
    }

    fn get_mut(&mut self, id: UrlId) -> &mut Known {
        &mut self.known[id.0 as usize]
    }

    /// Whether a URL leads to a listing, by its features or by the results of its template.
    fn leads_to_listing(&self, known: &Known) -> bool {
        known.kind.is_listing() || self.templates[known.template as usize].makes_listings()
    }

    fn value(&self, known: &Known) -> f32 {
        let series = self.series_table.get(&known.series).map(|number| &self.series_table[number as usize]);
        if known.kind.is_listing() {
            series.map_or(0.0, |series| series.value(self.word(series)))
        } else {
            let nothing = ListingSeries::default();
            series.unwrap_or(&nothing).value_or(self.templates[known.template as usize].listing_value())
        }
    }

    /// What is known of the word of a listing.
    fn word(&self, series: &ListingSeries) -> WeightedSum {
        series.word.map_or_else(WeightedSum::default, |number| self.words[number as usize].total())
    }

    /// Adds a document's value to the word of a listing.
    fn teach_word(&mut self, word: Option<u32>, reward: f32) {
        if let Some(number) = word {
            self.words[number as usize].own.add(reward, 1.0);
        }
    }

    fn document(&self, known: &Known) -> f32 {
        let usual = self.all.total().ratio(1.0).powf(USUAL);
        let template = self.templates[known.template as usize].documents.ratio(usual);
        let ratio = |&block: &u32| {
            let block = &self.blocks[block as usize];
            let position = self.positions[block.path as usize].total().ratio(usual) / usual;
            block.documents.ratio(template * position.sqrt())
        };
        let blocks = known.blocks.iter().filter(|&&block| block != NONE);
        let best = blocks.map(ratio).reduce(f32::max).unwrap_or(template);
        (known.prior * best.clamp(*RATIOS.start(), *RATIOS.end())).min(1.0)
    }

    fn discover(&mut self, id: UrlId, url: &CrawlUrl, anchor: &str) {
        debug_assert_eq!(self.known.len(), id.0 as usize, "numbers are given without gaps");
        let form = kind::form(url);
        let host = self.hosts.of(xxh3_64(url.authority().as_bytes()), HostYield::default);
        let series = (host, form.series as u32);
        if form.kind.is_listing() {
            let word = (form.kind == UrlKind::Tag).then(|| kind::tag_word(url)).flatten();
            let word = word.map(|word| self.words.of(word, SharedSum::default));
            let record = self.series(series);
            record.members.add(id);
            record.word = word.or(record.word);
        }
        self.known.push(Known {
            kind: form.kind,
            seed: false,
            source: false,
            gone: false,
            called_blogroll: kind::names_blogroll(anchor),
            series,
            template: self.templates.of(form.template, Template::default),
            prior: LEAST,
            blocks: [NONE; BLOCKS],
        });
    }

    fn settle(&mut self, settled: &PageProcessed, risen: &mut Vec<UrlId>) {
        let page = self.get_mut(settled.id);
        page.gone = true;
        let &mut Known { kind, seed, series, template, .. } = page;
        let host = page.host();
        self.hosts[host].pages += u32::from(settled.changes.is_none());
        self.hosts[host].is_known = true;
        let listing = kind.is_listing() || settled.listing;
        // The value of a copy goes to its canonical URL.
        let counts = settled.changes.is_none() && settled.copy_of.is_none();
        let reward = if counts { self.reward_of(settled) } else { 0.0 };
        // Seeds are chosen by the user, and revisits are already known, so neither tests an expectation. A revisit only
        // teaches the current links.
        let is_document = !listing && !seed && counts;
        if is_document {
            self.account(settled.id, reward, risen);
            let record = &mut self.hosts[host];
            if !record.seeded {
                record.record_document(reward, &mut self.discovered_hosts.own);
            }
        }
        let mut opened = 0;
        for link in &settled.links {
            let LinkDecision::Follow(entry) = link.decision else { continue };
            let target = &self.known[link.to.0 as usize];
            let (gone, elsewhere) = (target.gone, target.host() != host);
            let (kind_of_target, its_series) = (target.kind, target.series);
            let was_known = std::mem::replace(&mut self.hosts[its_series.0 as usize].is_known, true);
            opened += u32::from(!was_known);
            if is_document && kind_of_target == UrlKind::Tag && link.region != Region::Boilerplate {
                let tag = self.series(its_series);
                tag.vote(reward);
                let word = tag.word;
                self.teach_word(word, reward);
            }
            if gone {
                continue;
            }
            let target = &mut self.known[link.to.0 as usize];
            if target.called_blogroll && !elsewhere && link.region != Region::Content {
                target.kind = UrlKind::Blogroll;
            }
            target.prior = target.prior.max(entry.priority.get());
            self.promise(link, kind, series);
            self.join(link, listing, series, template);
        }
        if settled.changes.is_some() {
            return;
        }
        self.templates[template as usize].fetch(settled.listing, opened >= LINKS_PAGE);
        if kind == UrlKind::Blogroll {
            self.blogrolls.own.add(if opened > 0 { 1.0 } else { 0.0 }, 1.0);
        }
    }

    /// y: value of a page as a document.
    fn reward_of(&mut self, settled: &PageProcessed) -> f32 {
        if !self.bodies.insert(settled.digest) || settled.foreign {
            return 0.0;
        }
        let half = (self.settings.half_worth * self.threshold.get()).max(f32::MIN_POSITIVE);
        let square = (settled.relevance.get() / half).min(1e3).powi(2);
        square / (1.0 + square)
    }

    /// Adds a document's value to every set that it belongs to.
    fn account(&mut self, id: UrlId, reward: f32, risen: &mut Vec<UrlId>) {
        let &Known { prior, template, blocks, .. } = self.get(id);
        let expected = prior.min(1.0);
        self.all.own.add(reward, expected);
        self.templates[template as usize].documents.add(reward, expected);
        for number in blocks.into_iter().filter(|&block| block != NONE) {
            let block = &mut self.blocks[number as usize];
            block.documents.add(reward, expected);
            self.positions[block.path as usize].own.add(reward, expected);
            let series = block.listing.map(|(series, template)| {
                self.templates[template as usize].hub(reward);
                let record = &mut self.series_table[series as usize];
                record.brought(reward);
                let word = record.word;
                self.teach_word(word, reward);
                series
            });
            // A valuable document may raise similar URLs. Falling scores are noticed when they reach the head.
            if reward > 0.0 {
                let waits = |id: &UrlId| !self.known[id.0 as usize].gone;
                risen.extend(self.blocks[number as usize].members.iter().filter(waits));
                risen.extend(series.iter().flat_map(|&at| self.series_table[at as usize].members.iter()).filter(waits));
            }
        }
    }

    fn series(&mut self, key: SeriesKey) -> &mut ListingSeries {
        let number = self.series_table.of(key, ListingSeries::default);
        &mut self.series_table[number as usize]
    }

    /// Updates the promise of the listing that a link leads to.
    fn promise(&mut self, link: &Link, from: UrlKind, from_series: SeriesKey) {
        let target = &self.known[link.to.0 as usize];
        let series = target.series;
        let promise = match target.kind {
            UrlKind::Document | UrlKind::Blogroll => return,
            UrlKind::Tag => (link.scores.anchor.get() / FULL_PROMISE).clamp(0.03, 0.9),
            UrlKind::Paging if from != UrlKind::Home && from_series == series => self.series(series).promise(),
            UrlKind::Paging | UrlKind::Home => 0.1,
            UrlKind::TagIndex => 0.2,
            UrlKind::Archive => 0.03,
            UrlKind::Misc => 0.01,
        };
        self.series(series).be_promised(promise);
    }

    /// Adds the target of a link to its block: of a listing with its later pages, or of the documents of a template.
    fn join(&mut self, link: &Link, listing: bool, series: SeriesKey, template: u32) {
        let path = self.positions.of(link.dom_path, SharedSum::default);
        let series = listing.then(|| self.series_table.of(series, ListingSeries::default));
        let new = || BlockYield {
            path,
            listing: series.map(|series| (series, template)),
            documents: WeightedSum::default(),
            members: Members::default(),
        };
        let source = series.unwrap_or(template);
        let number = self.blocks.of((listing, source, path), new);
        let blocks = &mut self.known[link.to.0 as usize].blocks;
        if blocks.contains(&number) {
            return;
        }
        if let Some(free) = blocks.iter_mut().find(|block| **block == NONE) {
            *free = number;
            self.blocks[number as usize].members.add(link.to);
        }
    }
}
