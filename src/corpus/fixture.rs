//! Small crawls of pages as text, for the tests of the rooms that read a corpus.

use std::path::Path;

use bytes::Bytes;

use crate::model::{
    CrawlUrl, Discovered, Event, Fetched, Lane, Millis, Origin, Place, Priority, Relevance, Settled, Trail, Tunnel,
    UrlId,
};
use crate::read;
use crate::store::{Archive, ArchiveSettings, CrawlDirectory, Meta, Store, Work, Writer};
use crate::topic::{Lexicon, Topic};

/// The topic of these crawls.
pub fn topic() -> Topic {
    Topic::new(Lexicon::from_terms("体育", &[("足球", 0.9), ("篮球", 0.7), ("NBA", 0.3)]))
}

/// Crawls pages, given as URL and HTML: the first is the seed, the others were found on the first; a page is relevant
/// from 0.1 on. Page n was fetched n seconds after 2023-11-14 22:13:20.
pub fn crawl(root: &Path, pages: &[(&str, &str)]) -> Store {
    let directory = CrawlDirectory::new(root);
    let meta = Meta::new("体育", "sha1:LEXICON", "tunnel", Millis(1_700_000_000_000));
    let store = Store::resume(&directory, &meta).unwrap();
    let settings = ArchiveSettings {
        rotate_at: 1 << 30,
        user_agent: "suidao/0.1 (+mailto:a@example.cn)".to_owned(),
        request_headers: Vec::new(),
    };
    let archive = Archive::resume(&directory, store.last_location().unwrap(), settings).unwrap();
    let writer = Writer::spawn(store, archive, |_| {}).unwrap();
    let topic = topic();
    for (number, (url, html)) in (0..).zip(pages) {
        let fetched = fetched(url, html);
        let page = read::read(&fetched, &topic);
        let id = UrlId(number);
        let origin = if number == 0 { Origin::Seed } else { Origin::Link(UrlId(0)) };
        let anchor = if number == 0 { String::new() } else { format!("链接{number}") };
        let found = Discovered { id, url: fetched.url.clone(), origin, anchor };
        let trail = Trail { depth: u16::from(number > 0), hops: 0, k: Tunnel::Left(4), inherited: Relevance::ZERO };
        let place = Place { lane: Lane::MAIN, priority: Priority::new(0.25), trail };
        let relevant = page.relevance.get() >= 0.1;
        let settled = Settled::of(id, 200, place, relevant, page);
        let at = Millis(1_700_000_000_000 + 1000 * u64::from(number));
        let events = vec![Event::Discovered(found), Event::Settled(Box::new(settled))];
        writer.submit(Work { batch: crate::model::Batch { at, events }, fetched: Some(fetched) }).unwrap();
    }
    writer.finish().unwrap()
}

/// The answer of a page.
pub fn fetched(url: &str, html: &str) -> Fetched {
    Fetched {
        url: CrawlUrl::parse(url).unwrap(),
        status: 200,
        headers: vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())],
        body: Bytes::from(html.to_owned()),
        wire: None,
    }
}
