//! Forum state of a crawl: its forum mode, the recognised hosts, and how far a forum is explored.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use suidao_forum::forum::analysis::{ForumAnalysis, ForumProfile};
use suidao_forum::forum::explore::{Explorer, recognise};
use suidao_forum::forum::site::ForumSite;
use suidao_page::model::{CrawlUrl, Event, ForumMap, ForumPageView, ForumRole, ForumStep, LinkState, Millis, UrlId};

use super::groups::is_one_site;
use super::watch::{Watch, Watching};

#[derive(Clone, Debug, Default, PartialEq)]
pub enum ForumMode {
    /// Forums are treated as ordinary sites.
    Off,
    /// A host is treated as a forum as soon as one of its pages lists threads.
    #[default]
    Recognise,
    /// The seed is the entry page of a forum: only explore its structure.
    Discover {
        /// Use the paper's strict test of a board.
        strict: bool,
    },
    /// As `Discover`, then fetch the forum.
    Explore {
        /// Maximum number of index pages per board, if not the default.
        index_pages: Option<u32>,
    },
    /// The structure is known: fetch the forum.
    Follow(Box<ForumMap>),
}

/// Each of the first pages of a host is checked for being a forum's.
const FIRST_CHECKS: u32 = 16;

#[derive(Default)]
pub(super) struct Forums {
    pub(super) mode: ForumMode,
    pub(super) sites: FxHashMap<Box<str>, (ForumSite, Arc<ForumProfile>)>,
    /// Other hosts to which forums redirect their pages, with the key of the forum in `sites`.
    aliases: FxHashMap<Box<str>, Box<str>>,
    pub(super) watching: Option<Watching>,
    /// Pages seen before the structure is known.
    pub(super) explorer: Explorer,
    pub(super) seen: Vec<UrlId>,
    pub(super) exploration: Exploration<()>,
}

/// State of the exploration of a forum.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Exploration<T> {
    #[default]
    Unfinished,
    Understood(T),
    /// Why its structure is unknown.
    Failed(String),
}

impl Forums {
    pub fn new(mode: &ForumMode, watch: Option<Watch>) -> Self {
        let mut forums = Self { mode: mode.clone(), watching: watch.map(Watching::new), ..Self::default() };
        if let ForumMode::Discover { strict } = mode {
            forums.explorer = Explorer::new(*strict);
        }
        if let ForumMode::Follow(map) = mode {
            forums.add_map(map);
            forums.exploration = Exploration::Understood(());
        }
        forums
    }

    pub fn add(&mut self, host: &str, site: ForumSite) {
        let profile = Arc::new(site.profile());
        self.aliases.extend(site.hosts().map(|other| (other.into(), host.into())));
        self.sites.insert(host.into(), (site, profile));
    }

    pub(super) fn add_map(&mut self, map: &ForumMap) {
        let (Ok(start), Ok(site)) = (CrawlUrl::parse(&map.start), ForumSite::new(map.clone())) else { return };
        self.add(start.authority(), site);
    }

    /// Whether the structure of a forum is still unknown.
    pub(super) fn is_exploring(&self) -> bool {
        matches!(self.mode, ForumMode::Discover { .. } | ForumMode::Explore { .. })
            && self.exploration == Exploration::Unfinished
    }

    /// Whether the crawl is of one forum only.
    pub fn is_single_forum(&self) -> bool {
        !matches!(self.mode, ForumMode::Off | ForumMode::Recognise)
    }

    /// Feeds an event to the schedule of board visits.
    pub fn watch(&mut self, event: &Event) {
        let offset = self.sites.values().next().map(|(site, _)| site.offset());
        if let (Some(watching), Some(offset)) = (&mut self.watching, offset) {
            watching.observe(event, offset);
        }
    }

    /// Starts the visits of boards that are due.
    pub fn visit_due(&mut self, now: Millis) -> Option<ForumStep> {
        let (site, _) = self.sites.values().next()?;
        let begun = self.watching.as_mut()?.due(&site.boards(), site.offset(), now);
        (!begun.is_empty()).then(|| ForumStep { due: begun.clone(), restarted: begun, ..ForumStep::default() })
    }

    /// Everything was fetched once: from now on boards are visited by schedule. Returns whether that is new.
    pub fn complete(&mut self) -> bool {
        !self.sites.is_empty() && self.watching.as_mut().is_some_and(Watching::complete)
    }

    pub fn next_visit(&self) -> Option<Millis> {
        if self.sites.is_empty() { None } else { self.watching.as_ref()?.next() }
    }

    pub(super) fn site(&self, url: &CrawlUrl) -> Option<&ForumSite> {
        self.sites.get(self.host_of(url)).map(|(site, _)| site)
    }

    pub(super) fn site_mut(&mut self, url: &CrawlUrl) -> Option<&mut ForumSite> {
        let host = self.aliases.get(url.authority()).map_or(url.authority(), |host| &**host);
        self.sites.get_mut(host).map(|(site, _)| site)
    }

    fn host_of<'a>(&'a self, url: &'a CrawlUrl) -> &'a str {
        self.aliases.get(url.authority()).map_or(url.authority(), |host| &**host)
    }

    /// A page of a forum redirects: to another host of the site (a thread to any URL there, others to the same page), or
    /// to another URL on its own.
    pub(super) fn moved(&mut self, (from, url): (UrlId, &CrawlUrl), (to, target): (UrlId, &CrawlUrl)) {
        if self.is_exploring() {
            self.explorer.moved(url, target);
        }
        let host: Box<str> = self.host_of(url).into();
        let is_other = target.authority() != url.authority() && self.site(target).is_none();
        let Some((site, _)) = self.sites.get_mut(&host) else { return };
        let is_page_of_site = match site.role(from, url) {
            // Many forums moved to a host of their own, with new URLs.
            Some(ForumRole::Thread | ForumRole::Continuation { .. }) => is_one_site(url, target),
            Some(_) => is_same_page(url, target),
            None => false,
        };
        if is_other && is_page_of_site {
            site.add_host(target.authority());
            self.aliases.insert(target.authority().into(), host);
        }
        site.moved(from, to, url);
    }

    /// The analysis for a page; none if its host is not a forum.
    pub fn analysis_for(&self, url: &CrawlUrl, at: Millis) -> Option<ForumAnalysis> {
        match self.sites.get(self.host_of(url)) {
            Some((_, profile)) => Some(ForumAnalysis { profile: Arc::clone(profile), at }),
            None if self.is_exploring() => Some(ForumAnalysis { profile: Arc::default(), at }),
            None => None,
        }
    }

    /// Whether the next page of a host with `pages` pages is checked for being a forum's. A check costs as much as
    /// parsing, and many blogs list posts as forums do, so later only one page in eight is checked.
    pub fn may_recognise(&self, pages: u32) -> bool {
        self.mode == ForumMode::Recognise && (pages < FIRST_CHECKS || pages.is_multiple_of(8))
    }

    /// The forum that a page reveals on its host.
    pub(super) fn recognise(&self, page_view: &ForumPageView) -> Option<(ForumSite, ForumMap)> {
        if self.mode != ForumMode::Recognise {
            return None;
        }
        let map = recognise(page_view)?;
        Some((ForumSite::new(map.clone()).ok()?, map))
    }
}

/// Whether two URLs name a page of one forum on two hosts: with and without `www.`, or with the same path.
fn is_same_page(one: &CrawlUrl, other: &CrawlUrl) -> bool {
    let bare = |url: &CrawlUrl| url.host().trim_start_matches("www.").to_owned();
    let page = |url: &CrawlUrl| (url.path().trim_end_matches('/').to_owned(), url.query().map(str::to_owned));
    bare(one) == bare(other) || is_one_site(one, other) && page(one) == page(other)
}

/// Whether a URL was requested before and may be requested again.
pub(super) fn was_requested(state: LinkState) -> bool {
    matches!(state, LinkState::Fetched | LinkState::Failed | LinkState::Redirected | LinkState::Excluded)
}
