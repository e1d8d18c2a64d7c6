//! Small crawls of given pages, for tests that read a corpus.
#![allow(clippy::unwrap_used)] // only for tests

use std::path::Path;

use bytes::Bytes;

use crate::store::{ArchiveSettings, CrawlDirectory, Meta, Store, WarcArchive, WarcEntry, Work, Writer};
use suidao_forum::forum::analysis::posts_of;
use suidao_forum::forum::clock::KnownTimes;
use suidao_page::model::{
    Batch, CrawlUrl, Discovered, Event, Fetched, ForumPage, Millis, PageKind, PageProcessed, PathState, Priority,
    QueueEntry, QueueId, Relevance, TunnelBudget, UrlId, UrlOrigin,
};
use suidao_page::read::dom::Dom;
use suidao_page::scored;
use suidao_page::topic::{Lexicon, Topic};

pub fn topic() -> Topic {
    Topic::new(Lexicon::from_terms("体育", &[("足球", 0.9), ("篮球", 0.7), ("NBA", 0.3)]))
}

pub struct FixtureVisit<'a> {
    /// URLs are numbered by first visit.
    pub url: &'a str,
    pub html: &'a str,
    pub kind: Option<PageKind>,
}

/// Crawls pages, given as URL and HTML: the first is the seed, the others were found on it; a page is relevant from
/// 0.1. Page n was fetched n seconds after 2023-11-14 22:13:20.
pub fn crawl(root: &Path, pages: &[(&str, &str)]) -> Store {
    let visits: Vec<FixtureVisit> = pages.iter().map(|&(url, html)| FixtureVisit { url, html, kind: None }).collect();
    visited(root, &visits)
}

/// As [`crawl`], with repeated visits and forums. Resumes a crawl in this directory.
pub fn visited(root: &Path, visits: &[FixtureVisit]) -> Store {
    let directory = CrawlDirectory::new(root);
    let meta = Meta::new("体育", "sha1:LEXICON", "tunnel", Relevance::ZERO, Millis(1_700_000_000_000));
    let store = Store::resume(&directory, &meta, "test").unwrap();
    let mut known: Vec<CrawlUrl> = Vec::new();
    let (before, mut is_seed_on_topic) = (store.len(), true);
    for event in store.batches().flat_map(|record| record.unwrap().batch.events) {
        match event {
            Event::Discovered(found) => known.push(found.url),
            Event::PageFetched(page) if page.id == UrlId(0) => is_seed_on_topic = page.on_topic,
            _ => {}
        }
    }
    let archive = archive(&store);
    let writer = Writer::spawn(store, archive, |_| {}).unwrap();
    let topic = topic();
    for (number, FixtureVisit { url, html, kind }) in (before..).zip(visits) {
        let fetched = fetched(url, html);
        let mut page = scored::read(&fetched, &topic);
        // Texts of ten characters are documents here.
        page.sketch.stub = page.sketch.chars < 10 || page.text.contains("待更新");
        let at = Millis(1_700_000_000_000 + 1000 * number);
        let mut events = Vec::new();
        let spot = known.iter().position(|url| *url == fetched.url).unwrap_or(known.len());
        let id = UrlId(u32::try_from(spot).unwrap());
        if spot == known.len() {
            let origin = if spot == 0 { UrlOrigin::Seed } else { UrlOrigin::Link(UrlId(0)) };
            let anchor = if spot == 0 { String::new() } else { format!("链接{spot}") };
            events.push(Event::Discovered(Discovered { id, url: fetched.url.clone(), origin, anchor }));
            known.push(fetched.url.clone());
        }
        let path_state = PathState {
            depth: u16::from(spot > 0),
            hops: u16::from(spot > 0 && !is_seed_on_topic),
            k: TunnelBudget::Left(4),
            inherited: Relevance::ZERO,
        };
        let waited = QueueEntry { queue: QueueId::MAIN, priority: Priority::new(0.25), path: path_state };
        let relevant = page.relevance.get() >= 0.1;
        is_seed_on_topic = if spot == 0 { relevant } else { is_seed_on_topic };
        let known = KnownTimes { offset: Some(0), month_first: None };
        let posts =
            || posts_of(&Dom::of(&fetched), known, at).posts.into_iter().filter_map(|post| post.posted).collect();
        let forum = kind.map(|kind| ForumPage {
            posts: if let PageKind::Thread { .. } = kind { posts() } else { Vec::new() },
            kind,
            roles: Vec::new(),
            lists: Vec::new(),
            view: None,
            map: None,
        });
        let settled =
            PageProcessed { forum: forum.map(Box::new), ..PageProcessed::of(id, 200, waited, relevant, page) };
        events.push(Event::PageFetched(Box::new(settled)));
        writer
            .submit(Work { batch: Batch { at, latency: None, events }, response: Some(WarcEntry::Whole(fetched)) })
            .unwrap();
    }
    writer.finish().unwrap()
}

/// The crawl in `root`, after the response of this batch, the first of the log, came again a day later and was stored
/// as a revisit.
pub fn revisited(root: &Path, settled: Batch, of: Millis) -> Store {
    let directory = CrawlDirectory::new(root);
    let store = Store::resume(&directory, &Meta::read(&directory).unwrap(), "test").unwrap();
    let archive = archive(&store);
    let writer = Writer::spawn(store, archive, |_| {}).unwrap();
    let Some(Event::Discovered(first)) = settled.events.first().cloned() else { panic!() };
    let response = Some(WarcEntry::Revisit { fetched: fetched(first.url.as_str(), "<p>足球"), of });
    let events = settled.events.into_iter().filter(|event| matches!(event, Event::PageFetched(_))).collect();
    writer.submit(Work { batch: Batch { at: settled.at.after(86_400_000), latency: None, events }, response }).unwrap();
    writer.finish().unwrap()
}

fn archive(store: &Store) -> WarcArchive {
    let settings = ArchiveSettings {
        rotate_at: 1 << 30,
        user_agent: "suidao/0.1 (+mailto:a@example.cn)".to_owned(),
        request_headers: Vec::new(),
        robots: Some(true),
    };
    WarcArchive::resume(store.directory(), store.last_location().unwrap(), settings).unwrap()
}

/// A page of a thread with these numbered posts, by three authors, a minute apart.
pub fn thread(title: &str, posts: &[(u32, &str)]) -> String {
    let post = |(floor, text): &(u32, &str)| {
        let (writer, minute) = (["阿明", "小红", "老王"][*floor as usize % 3], floor % 60);
        format!(
            "<div class=post id=p{floor}><div class=author><a href=/u/{writer}>{writer}</a></div>\
             <div class=time>2023-11-01 10:{minute:02}</div><div class=floor>{floor}楼</div>\
             <div class=content><p>{text}</p></div></div>"
        )
    };
    let posts: String = posts.iter().map(post).collect();
    format!("<title>{title}</title><h1>{title}</h1><div id=posts>{posts}</div>")
}

pub fn fetched(url: &str, html: &str) -> Fetched {
    Fetched::html(CrawlUrl::parse(url).unwrap(), Bytes::from(html.to_owned()))
}
