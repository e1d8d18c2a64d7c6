//! Two threads of a forum that was discovered, as they are read: author, time and first words of a post, number of posts,
//! the next page.

use std::collections::BTreeMap;

use anyhow::Result;
use suidao::corpus::MAX_BODY;
use suidao::forum::analysis::posts_of;
use suidao::forum::clock::KnownTimes;
use suidao::forum::date_order::DateEvidence;
use suidao::forum::site::ForumSite;
use suidao::html::{count, thousands};
use suidao::model::{
    ApproxTime, CrawlUrl, Day, Event, Fetched, ForumMap, ForumPageView, ForumRole, Millis, PostRecord, ThreadRecord,
    UrlId,
};
use suidao::read::dom::Dom;
use suidao::store::archive::ArchiveReader;
use suidao::store::{CrawlDirectory, Store};

/// A thread as it was read.
struct SampleThread {
    url: CrawlUrl,
    /// The URL that the forum links, if it redirects.
    linked: Option<CrawlUrl>,
    posts: Vec<PostRecord>,
    next: Option<CrawlUrl>,
    offset: i32,
}

/// Two of the threads that were fetched.
fn samples(directory: &CrawlDirectory, map: &ForumMap) -> Result<Vec<SampleThread>> {
    const SHOWN: usize = 2;
    let site = ForumSite::new(map.clone())?;
    let store = Store::open(directory)?;
    let mut archive = ArchiveReader::new(store.directory(), MAX_BODY);
    let (mut urls, mut linked) = (BTreeMap::new(), BTreeMap::new());
    let mut dates = DateEvidence::default();
    let mut threads = Vec::new();
    for record in store.batches() {
        let record = record?;
        let answered = record.response();
        for event in record.batch.events {
            match event {
                Event::Discovered(found) => drop(urls.insert(found.id, found.url)),
                Event::Redirected { id, link: Some(link), .. } => drop(linked.insert(link.to, id)),
                Event::PageFetched(page) => {
                    let Some(location) = answered else { continue };
                    let fetched = archive.read_at(location)?;
                    let known = KnownTimes { offset: Some(site.offset()), month_first: None };
                    dates = dates.and(posts_of(&Dom::of(&fetched), known, record.batch.at).dates);
                    let from = linked.get(&page.id).and_then(|from| urls.get(from)).cloned();
                    let is_thread = [Some(&fetched.url), from.as_ref()]
                        .into_iter()
                        .flatten()
                        .any(|url| site.role(UrlId(u32::MAX), url) == Some(ForumRole::Thread));
                    if let Some(view) = page.forum.and_then(|forum| forum.view).filter(|_| is_thread) {
                        threads.push((fetched, from, view, record.batch.at));
                    }
                }
                _ => {}
            }
        }
    }
    let sample = |(fetched, linked, view, at): (Fetched, Option<CrawlUrl>, Box<ForumPageView>, Millis)| {
        let known = KnownTimes { offset: Some(site.offset()), month_first: dates.month_first() };
        let first = linked.as_ref().unwrap_or(&fetched.url);
        let next = site.read(UrlId(u32::MAX), ForumRole::Thread, &view, Some(first)).next;
        let posts = posts_of(&Dom::of(&fetched), known, at).posts;
        SampleThread { url: fetched.url, linked, posts, next, offset: site.offset() }
    };
    Ok(threads.into_iter().map(sample).take(SHOWN).collect())
}

/// Prints the threads among the fetched pages, so that a person sees what was understood. `seen`: all fetched pages.
pub fn print(directory: &CrawlDirectory, map: &ForumMap, seen: &[ForumPageView]) -> Result<()> {
    let samples = samples(directory, map)?;
    outln!("posts, as they are read:");
    if samples.is_empty() {
        outln!("         none: no thread could be fetched");
    }
    for SampleThread { url, linked, posts, next, offset } in &samples {
        let is_own = |record: &&ThreadRecord| record.url == *url || Some(&record.url) == linked.as_ref();
        let listed = seen.iter().flat_map(|page_view| &page_view.records).find(is_own);
        let listed = listed
            .and_then(|record| record.replies)
            .map_or_else(String::new, |replies| format!(", {} by the list", thousands(u64::from(replies) + 1)));
        let more = next.as_ref().map_or_else(|| "no further page".to_owned(), |next| format!("continues at {next}"));
        outln!("         {url}");
        outln!("           {} here{listed}; {more}", count(posts.len(), "post", "posts"));
        // What staff shows above all threads belongs to none.
        let is_shared = |post: &&PostRecord| {
            let others = samples.iter().filter(|other| other.url != *url).flat_map(|other| &other.posts);
            others.into_iter().any(|other| other.text == post.text && other.author == post.author)
        };
        if let Some(post) = posts.iter().find(|post| !is_shared(post)).or(posts.first()) {
            outln!("           {}", describe_post(post, *offset));
        }
    }
    Ok(())
}

/// Author, time and first words of a post.
fn describe_post(post: &PostRecord, offset: i32) -> String {
    const WORDS: usize = 60;
    let mut words: String = post.text.chars().map(|c| if c == '\n' { ' ' } else { c }).take(WORDS).collect();
    if words.len() < post.text.len() {
        words.push('…');
    }
    let author = post.author.as_deref().unwrap_or("(no author)");
    let posted = post.posted.and_then(|posted| in_zone(posted, offset)).unwrap_or_else(|| "(no time)".to_owned());
    format!("{author}, {posted}: {words}")
}

/// A time in the forum's zone, as precise as it was shown.
fn in_zone(posted: ApproxTime, offset: i32) -> Option<String> {
    const DAY: u32 = 86_400;
    let local = posted.at + i64::from(offset);
    let day = Day(i32::try_from(local.div_euclid(i64::from(DAY))).ok()?);
    let minutes = local.rem_euclid(i64::from(DAY)) / 60;
    Some(match posted.within {
        ..DAY => format!("{day} {:02}:{:02}", minutes / 60, minutes % 60),
        _ => day.to_string(),
    })
}
