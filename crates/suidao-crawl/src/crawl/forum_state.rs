//! Forum state of a crawl: its forum mode, the recognised hosts, and how far a forum is explored.

use std::sync::Arc;

use suidao_forum::forum::analysis::{ForumAnalysis, ForumProfile};
use suidao_forum::forum::board::BoardTest;
use suidao_forum::forum::explore::{Explorer, recognise};
use suidao_forum::forum::site::ForumSite;
use suidao_forum::forum::sites::ForumSites;
use suidao_page::model::{CrawlUrl, Event, ForumMap, ForumPageView, ForumRole, ForumStep, LinkState, Millis, UrlId};

use super::groups::is_one_site;
use super::watch::{Watch, WatchedBoard, Watching};

#[derive(Clone, Debug, Default, PartialEq)]
pub enum ForumMode {
    /// Forums are treated as ordinary sites.
    Off,
    /// A host is treated as a forum as soon as one of its pages lists threads.
    #[default]
    Recognise,
    /// The seed is the entry page of a forum: only explore its structure.
    Discover {
        /// How boards are recognised.
        test: BoardTest,
    },
    /// As `Discover`, then fetch the forum.
    Explore {
        /// How boards are recognised.
        test: BoardTest,
        /// Maximum number of index pages per board, if not the default.
        index_pages: Option<u32>,
    },
    /// The structure of these forums is known: fetch them.
    Follow(Vec<ForumMap>),
}

/// Each of the first pages of a host is checked for being a forum's.
const FIRST_CHECKS: u32 = 16;

#[derive(Default)]
pub(super) struct Forums {
    pub(super) mode: ForumMode,
    pub(super) sites: ForumSites,
    /// For the analysis of the pages of each forum, by its number.
    profiles: Vec<Arc<ForumProfile>>,
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
        if let ForumMode::Discover { test } | ForumMode::Explore { test, .. } = mode {
            forums.explorer = Explorer::new(*test);
        }
        if let ForumMode::Follow(maps) = mode {
            maps.iter().for_each(|map| forums.add_map(map));
            forums.exploration = Exploration::Understood(());
        }
        forums
    }

    pub fn add(&mut self, site: ForumSite) {
        let profile = Arc::new(site.profile());
        let Some(number) = self.sites.add(site) else { return };
        match self.profiles.get_mut(number) {
            Some(known) => *known = profile,
            None => self.profiles.push(profile),
        }
    }

    pub(super) fn add_map(&mut self, map: &ForumMap) {
        if let Ok(site) = ForumSite::new(map.clone()) {
            self.add(site);
        }
    }

    /// Whether the structure of a forum is still unknown.
    pub(super) fn is_exploring(&self) -> bool {
        matches!(self.mode, ForumMode::Discover { .. } | ForumMode::Explore { .. })
            && self.exploration == Exploration::Unfinished
    }

    /// Whether the crawl is of given forums only.
    pub fn is_of_forums(&self) -> bool {
        !matches!(self.mode, ForumMode::Off | ForumMode::Recognise)
    }

    /// Feeds an event to the schedule of board visits. `url`: of an id.
    pub fn watch(&mut self, event: &Event, url: impl Fn(UrlId) -> CrawlUrl) {
        if let Some(watching) = self.watching.as_mut().filter(|_| !self.sites.is_empty()) {
            let sites = &self.sites;
            watching.observe(event, |board| {
                let number = sites.of(&url(board)).unwrap_or(0);
                (number, sites.get(number).offset())
            });
        }
    }

    /// Starts the visits of boards that are due: a step for each forum that has one.
    pub fn visit_due(&mut self, now: Millis, url: impl Fn(UrlId) -> CrawlUrl) -> Vec<ForumStep> {
        let Some(watching) = self.watching.as_mut().filter(|watching| watching.may_be_due(now)) else {
            return Vec::new();
        };
        let sites = &self.sites;
        let boards = sites.iter().flat_map(|site| {
            let url = &url;
            site.boards().into_iter().map(move |id| WatchedBoard { id, url: url(id), site })
        });
        let due = watching.due(&boards.collect::<Vec<_>>(), now);
        let steps = sites.iter().map(|site| {
            let own = site.boards();
            let begun: Vec<UrlId> = due.iter().copied().filter(|board| own.contains(board)).collect();
            ForumStep { due: begun.clone(), restarted: begun, ..ForumStep::default() }
        });
        steps.filter(|step| !step.due.is_empty()).collect()
    }

    /// Everything was fetched once: from now on boards are visited by schedule. Returns whether that is new.
    pub fn complete(&mut self) -> bool {
        !self.sites.is_empty() && self.watching.as_mut().is_some_and(Watching::complete)
    }

    pub fn next_visit(&self) -> Option<Millis> {
        if self.sites.is_empty() { None } else { self.watching.as_ref()?.next() }
    }

    pub(super) fn site(&self, url: &CrawlUrl) -> Option<&ForumSite> {
        self.sites.of(url).map(|number| self.sites.get(number))
    }

    pub(super) fn site_mut(&mut self, url: &CrawlUrl) -> Option<&mut ForumSite> {
        self.sites.of(url).map(|number| self.sites.get_mut(number))
    }

    /// A page of a forum redirects: to another host of the site (a thread to any URL there, others to the same page), or
    /// to another URL on its own.
    pub(super) fn moved(&mut self, (from, url): (UrlId, &CrawlUrl), (to, target): (UrlId, &CrawlUrl)) {
        if self.is_exploring() {
            self.explorer.moved(url, target);
        }
        let is_other = target.authority() != url.authority() && self.site(target).is_none();
        let Some(number) = self.sites.of(url) else { return };
        let site = self.sites.get(number);
        let is_page_of_site = match site.role(from, url) {
            // Many forums moved to a host of their own, with new URLs.
            Some(ForumRole::Thread | ForumRole::Continuation { .. }) => is_one_site(url, target),
            Some(_) => is_same_page(url, target),
            None => false,
        };
        if is_other && is_page_of_site {
            self.sites.add_host(number, target.authority());
        }
        self.sites.get_mut(number).moved(from, to, url);
    }

    /// The analysis for a page; none if its host is not a forum.
    pub fn analysis_for(&self, url: &CrawlUrl, at: Millis) -> Option<ForumAnalysis> {
        match self.sites.of(url) {
            Some(number) => Some(ForumAnalysis { profile: Arc::clone(&self.profiles[number]), at }),
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
