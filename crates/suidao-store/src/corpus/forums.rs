//! Collects what the threads of each forum of a crawl have in common.

use rustc_hash::{FxHashMap, FxHashSet};

use super::catalogue::Catalogue;
use super::thread_boilerplate::ThreadBoilerplate;
use suidao_forum::forum::analysis::PagePosts;
use suidao_forum::forum::signatures::Signatures;
use suidao_page::model::{CrawlUrl, Event, ForumMap};

/// Titles compared per forum.
const TITLES: usize = 200;

pub(super) struct Forums<'a> {
    catalogue: &'a Catalogue,
    hosts: FxHashMap<&'a str, u32>,
    titles: FxHashMap<u32, Vec<String>>,
    boards: FxHashMap<u32, FxHashSet<String>>,
    pages: FxHashMap<u32, Vec<PagePosts>>,
    signatures: FxHashMap<u32, Signatures>,
}

impl<'a> Forums<'a> {
    pub fn new(catalogue: &'a Catalogue) -> Self {
        let hosts = (0..).zip(&catalogue.hosts).map(|(number, host)| (host.as_str(), number)).collect();
        let (titles, boards, pages, signatures) = Default::default();
        Self { catalogue, hosts, titles, boards, pages, signatures }
    }

    /// Folds an event: the names of boards.
    pub fn observe(&mut self, event: &Event) {
        let map = match event {
            Event::PageFetched(page) => page.forum.as_ref().and_then(|forum| forum.map.as_deref()),
            Event::Forum(step) => step.map.as_deref(),
            _ => None,
        };
        if let Some((map, host)) = map.and_then(|map| Some((map, self.host(map)?))) {
            let names = map.boards.iter().map(|board| board.name.clone()).filter(|name| !name.is_empty());
            self.boards.entry(host).or_default().extend(names);
        }
    }

    fn host(&self, map: &ForumMap) -> Option<u32> {
        self.hosts.get(CrawlUrl::parse(&map.start).ok()?.authority()).copied()
    }

    pub fn offset(&self, host: u32) -> Option<i32> {
        self.catalogue.offsets.get(&host).copied()
    }

    pub fn add_title(&mut self, host: u32, title: &str) {
        let titles = self.titles.entry(host).or_default();
        if titles.len() < TITLES {
            titles.push(title.to_owned());
        }
    }

    /// Adds a page of a thread. `compared`: whether its posts are compared with those of other threads.
    pub fn add_page(&mut self, host: u32, page: PagePosts, compared: bool) {
        self.signatures.entry(host).or_default().observe(&page.posts);
        if compared {
            self.pages.entry(host).or_default().push(page);
        }
    }

    pub fn finish(self) -> FxHashMap<u32, ThreadBoilerplate> {
        let Self { titles, mut boards, pages, mut signatures, .. } = self;
        let of = |(host, titles): (u32, Vec<String>)| {
            let pages = pages.get(&host).map(Vec::as_slice).unwrap_or_default();
            let (boards, signatures) = (boards.remove(&host), signatures.remove(&host));
            let (boards, signatures) = (boards.unwrap_or_default(), signatures.unwrap_or_default());
            (host, ThreadBoilerplate::of(&titles, boards, pages, signatures))
        };
        titles.into_iter().map(of).collect()
    }
}
