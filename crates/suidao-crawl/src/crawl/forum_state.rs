//! What a crawl knows of forums: what it does about them, which of its hosts are some, and how far a forum is explored.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use suidao_forum::forum::analysis::{ForumAnalysis, ForumProfile};
use suidao_forum::forum::explore::{Explorer, recognise};
use suidao_forum::forum::site::ForumSite;
use suidao_page::model::{CrawlUrl, Event, ForumMap, ForumPageView, Millis, UrlId};

use super::watch::{Watch, Watching};

/// What the crawl does about forums.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ForumMode {
    /// Nothing: a page is a page.
    Off,
    /// A host whose page lists threads is taken for a forum, and read as one from there on.
    #[default]
    Recognise,
    /// The seed is the entrance of a forum: find out what it is made of, and no more.
    Discover {
        /// By the paper's strict test of a board.
        strict: bool,
    },
    /// The same, and fetch it.
    Explore {
        /// Most index pages of a board, if not as many as the default.
        index_pages: Option<u32>,
    },
    /// A forum that is understood: fetch it.
    Follow(Box<ForumMap>),
}

/// So many pages of a host are looked at, each of them, for whether it is a forum.
const FIRST_LOOKS: u32 = 16;

/// The forums of a crawl.
#[derive(Default)]
pub(super) struct Forums {
    pub(super) mode: ForumMode,
    pub(super) sites: FxHashMap<Box<str>, (ForumSite, Arc<ForumProfile>)>,
    pub(super) watching: Option<Watching>,
    /// What is looked at while the forum is not understood.
    pub(super) explorer: Explorer,
    pub(super) seen: Vec<UrlId>,
    /// Nothing more is looked at: understood, or given up for this reason.
    pub(super) explored: Option<Result<(), &'static str>>,
}

impl Forums {
    pub fn new(mode: &ForumMode, watch: Option<Watch>) -> Self {
        let mut forums = Self { mode: mode.clone(), watching: watch.map(Watching::new), ..Self::default() };
        if let ForumMode::Discover { strict } = mode {
            forums.explorer = Explorer::new(*strict);
        }
        if let ForumMode::Follow(map) = mode {
            forums.understand(map);
            forums.explored = Some(Ok(()));
        }
        forums
    }

    /// What is known of the forums of a crawl of a topic, to be kept.
    pub fn keep(&self) -> Vec<(&str, &ForumSite)> {
        self.sites.iter().map(|(host, (site, _))| (&**host, site)).collect()
    }

    /// Takes a forum back.
    pub fn take_kept(&mut self, host: &str, site: ForumSite) {
        let lens = Arc::new(site.lens());
        self.sites.insert(host.into(), (site, lens));
    }

    pub(super) fn understand(&mut self, map: &ForumMap) {
        let (Ok(start), Ok(site)) = (CrawlUrl::parse(&map.start), ForumSite::new(map.clone())) else { return };
        let lens = Arc::new(site.lens());
        self.sites.insert(start.authority().into(), (site, lens));
    }

    pub(super) fn explores(&self) -> bool {
        matches!(self.mode, ForumMode::Discover { .. } | ForumMode::Explore { .. })
    }

    /// Whether the crawl is of one forum and of nothing else.
    pub fn is_whole(&self) -> bool {
        !matches!(self.mode, ForumMode::Off | ForumMode::Recognise)
    }

    /// What those who come back to boards learn from.
    pub fn watch(&mut self, event: &Event) {
        let offset = self.sites.values().next().map(|(site, _)| site.offset());
        if let (Some(watching), Some(offset)) = (&mut self.watching, offset) {
            watching.observe(event, offset);
        }
    }

    pub(super) fn site(&self, url: &CrawlUrl) -> Option<&ForumSite> {
        self.sites.get(url.authority()).map(|(site, _)| site)
    }

    /// What a page is looked at with; none where it is no forum's.
    pub fn look(&self, url: &CrawlUrl, at: Millis) -> Option<ForumAnalysis> {
        match self.sites.get(url.authority()) {
            Some((_, lens)) => Some(ForumAnalysis { lens: Arc::clone(lens), at }),
            None if self.explores() && self.explored.is_none() => Some(ForumAnalysis { lens: Arc::default(), at }),
            None => None,
        }
    }

    /// Whether a page of a host may make a forum of it that has shown so many pages and none of them did. To look costs as much
    /// as to read, and many blogs list their posts as forums do, so that of many pages one in eight is looked at.
    pub fn may_recognise(&self, pages: u32) -> bool {
        self.mode == ForumMode::Recognise && (pages < FIRST_LOOKS || pages.is_multiple_of(8))
    }

    /// The forum that a page makes of its host.
    pub(super) fn recognise(&self, sight: &ForumPageView) -> Option<(ForumSite, ForumMap)> {
        if self.mode != ForumMode::Recognise {
            return None;
        }
        let map = recognise(sight)?;
        Some((ForumSite::new(map.clone()).ok()?, map))
    }
}
