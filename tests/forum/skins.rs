//! Forums in every skin, from their start page: every readable thread is fetched, and little else; the next visit
//! fetches new posts only; a redesign and a login page are noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use suidao::config::Config;
use suidao::crawl::{Crawl, ForumMode};
use suidao::forum::board::BoardTest;
use suidao::forum::tally::ForumTally;
use suidao::model::{Batch, CrawlUrl, Event, Fetched, Stop, UrlId};
use suidao::replay::{TopicalWeb, Web, replay};
use suidao::strategy::Boards;
use suidao::topic::{Lexicon, Topic};
use suidao::world::forum::ServedForumPage as ForumKind;
use suidao::world::{ActivitySpec, Forum, ForumSpec, ForumWeb, Skin};
use suidao_features::depth;

const DAY: i64 = 86_400;

fn spec(skin: Skin) -> ForumSpec {
    let activity =
        ActivitySpec { boards: 6, users: 60, threads_per_day: 14.0, replies: 8.0, days: 14, ..ActivitySpec::default() };
    ForumSpec { skin, activity, threads_per_page: 10, posts_per_page: 8, categories: 2, ..ForumSpec::default() }
}

/// A crawl of one forum, and its events.
struct Visit {
    crawl: Crawl,
    urls: BTreeMap<UrlId, CrawlUrl>,
    start: CrawlUrl,
}

impl Visit {
    fn new(start: CrawlUrl) -> Self {
        let mut config = Config::default();
        config.politeness.delay = 0.0;
        config.crawl.page_threshold = Some(0.0);
        config.scope.allow_hosts.push(start.host().to_owned());
        let mut settings = suidao::live::crawl_settings(&config, &topic());
        settings.forums = ForumMode::Explore { test: BoardTest::Records, index_pages: Some(200) };
        Self { crawl: Crawl::new(settings, Box::new(Boards)), urls: BTreeMap::new(), start }
    }

    /// Visits all boards; the URLs fetched, in order.
    fn go(&mut self, web: &dyn Web) -> (Vec<CrawlUrl>, ForumTally) {
        let (topic, mut fetched, mut tally) = (topic(), Vec::new(), ForumTally::default());
        let mut batches: Vec<Batch> = self.crawl.visit_boards(suidao::model::Millis(0)).into_iter().collect();
        let source = TopicalWeb { web, topic: &topic };
        let stop = replay(&mut self.crawl, std::slice::from_ref(&self.start), &source, 1, |batch| batches.push(batch));
        assert_eq!(stop, Stop::FrontierEmpty);
        for batch in batches {
            tally.observe(&batch);
            for event in &batch.events {
                match event {
                    Event::Discovered(found) => {
                        self.urls.insert(found.id, found.url.clone());
                    }
                    Event::PageFetched(settled) => fetched.push(self.urls[&settled.id].clone()),
                    _ => {}
                }
            }
        }
        (fetched, tally)
    }
}

fn topic() -> Topic {
    Topic::new(Lexicon::from_terms("forum", &[("论坛", 1.0)]))
}

struct Seen {
    threads: BTreeSet<usize>,
    useful: usize,
    wasted: Vec<String>,
}

/// Classifies what was fetched: a page of a board or of a thread is useful once.
fn sort(forum: &Forum, fetched: &[CrawlUrl]) -> Seen {
    let mut seen = Seen { threads: BTreeSet::new(), useful: 0, wasted: Vec::new() };
    let mut once = BTreeSet::new();
    for url in fetched {
        let kind = forum.kind_of(url);
        let of_use = matches!(kind, ForumKind::Index { .. } | ForumKind::Thread { .. }) && once.insert(kind);
        if let ForumKind::Thread { thread, .. } = kind {
            seen.threads.insert(thread);
        }
        if of_use {
            seen.useful += 1;
        } else {
            seen.wasted.push(format!("{kind:?} {url}"));
        }
    }
    seen
}

/// Each skin; by default some that differ most.
fn each_skin(test: impl Fn(Skin) + Sync) {
    let skins: Vec<Skin> = Skin::all().iter().copied().step_by(depth(4, 1)).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failed: Vec<String> = std::thread::scope(|scope| {
        let work = || {
            let mut failed = Vec::new();
            while let Some(&skin) = skins.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(skin))).is_err() {
                    failed.push(format!("{skin:?}"));
                }
            }
            failed
        };
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "failed: {failed:?}");
}

#[test]
fn every_thread_is_fetched_and_little_else_and_then_only_what_is_new() {
    each_skin(|skin| {
        let forum = Arc::new(Forum::new(spec(skin)));
        let now = forum.spec().activity.start + 12 * DAY;
        let web = ForumWeb::at(Arc::clone(&forum), now);
        let mut visit = Visit::new(forum.home());
        let (fetched, tally) = visit.go(&web);
        let seen = sort(&forum, &fetched);
        let truth = forum.threads(now);
        let readable = truth.iter().filter(|thread| !thread.members_only).count();
        let pages: usize = truth.iter().filter(|thread| !thread.members_only).map(|thread| thread.pages as usize).sum();
        println!(
            "{skin:?}: {} of {readable} threads, {pages} pages of threads; {} fetched, {} of use, wasted {:?}",
            seen.threads.len(),
            fetched.len(),
            seen.useful,
            seen.wasted
        );
        assert!(seen.threads.len() * 100 >= readable * 98, "{skin:?}: threads");
        assert!(seen.useful * 100 >= fetched.len() * 95, "{skin:?}: waste {:?}", seen.wasted);
        assert!(tally.threads + tally.continuations >= pages as u64 * 98 / 100, "{skin:?}: {tally:?}, {pages} pages");

        // A day later: new threads and new replies, each for the cost of their pages.
        web.set(now + DAY);
        let before: BTreeMap<CrawlUrl, u32> = truth.into_iter().map(|thread| (thread.url, thread.posts)).collect();
        let changed = forum.threads(now + DAY).into_iter();
        let changed =
            changed.filter(|thread| !thread.members_only && before.get(&thread.url) != Some(&thread.posts)).count();
        let (again, tally) = visit.go(&web);
        let all: BTreeSet<ForumKind> = fetched.iter().chain(&again).map(|url| forum.kind_of(url)).collect();
        for (at, thread) in forum.threads(now + DAY).iter().enumerate().filter(|(_, thread)| !thread.members_only) {
            let ForumKind::Thread { thread: number, .. } = forum.kind_of(&thread.url) else { panic!("{at}") };
            let missing: Vec<u32> =
                (1..=thread.pages).filter(|&page| !all.contains(&ForumKind::Thread { thread: number, page })).collect();
            assert!(missing.is_empty(), "{skin:?}: pages {missing:?} of {} are missing", thread.url);
        }
        let fetched = again;
        let seen = sort(&forum, &fetched);
        println!("{skin:?}: {} of {changed} changed threads, {} fetched, {tally:?}", seen.threads.len(), fetched.len());
        assert!(seen.threads.len() * 100 >= changed * 98, "{skin:?}: changes");
        assert!(seen.threads.len() * 100 <= changed * 110 + 200, "{skin:?}: more than changed");
    });
}

/// Becomes another web at some time.
struct Turned {
    web: ForumWeb,
    page: &'static str,
}

impl Web for Turned {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, suidao::model::Failure> {
        let answer = self.web.get(url)?;
        Ok(if url.path() == "/robots.txt" {
            answer
        } else {
            Fetched::html(url.clone(), bytes::Bytes::from_static(self.page.as_bytes()))
        })
    }
}

#[test]
fn a_new_skin_and_a_login_page_are_noticed_and_nothing_is_fetched_by_guess() {
    let forum = Arc::new(Forum::new(spec(Skin::Phpbb)));
    let now = forum.spec().activity.start + 3 * DAY;
    for (page, login) in [
        ("<html><body><h1>欢迎</h1><p>我们的论坛换了新的样子。<a href=/new/1>进入</a></body></html>", false),
        (
            "<html><body><h1>提示信息</h1><p>抱歉，您需要登录才可以浏览本论坛</p><form action=/login method=post>\
             用户名<input name=username>密码<input type=password name=password><input type=submit></form></body></html>",
            true,
        ),
    ] {
        let mut visit = Visit::new(forum.home());
        let (fetched, _) = visit.go(&ForumWeb::at(Arc::clone(&forum), now));
        assert!(fetched.len() > 20);
        let turned = Turned { web: ForumWeb::at(Arc::clone(&forum), now + DAY), page };
        let (again, tally) = visit.go(&turned);
        let noticed = if login { tally.logins } else { tally.unread };
        assert!(noticed >= 4, "{tally:?}");
        assert!(again.len() < 10, "boards are looked at, and nothing else: {again:?}");
    }
}

#[test]
fn a_crawl_of_a_topic_knows_a_forum_when_it_meets_one() {
    let forum = Arc::new(Forum::new(spec(Skin::Discuz)));
    let now = forum.spec().activity.start + 12 * DAY;
    let web = ForumWeb::at(Arc::clone(&forum), now);
    let board = forum
        .boards(now)
        .into_iter()
        .filter(|board| board.topical && !board.members_only)
        .max_by_key(|board| board.threads)
        .unwrap();
    let words: Vec<(&str, f64)> = suidao::world::topic_words().take(60).map(|word| (word, 1.0)).collect();
    let topic = Topic::new(Lexicon::from_terms("体育", &words));
    let crawl = |forums: bool| {
        let mut config = Config::default();
        config.politeness.delay = 0.0;
        config.crawl.forums = forums;
        config.limits.pages = Some(90);
        let settings = suidao::live::crawl_settings(&config, &topic);
        let threshold = settings.page_threshold;
        let mut crawl = Crawl::new(settings, config.strategy.build(threshold));
        let (mut urls, mut fetched, mut relevant) = (BTreeMap::new(), Vec::new(), 0);
        let source = TopicalWeb { web: &web, topic: &topic };
        replay(&mut crawl, std::slice::from_ref(&board.url), &source, 1, |batch| {
            for event in batch.events {
                match event {
                    Event::Discovered(found) => {
                        urls.insert(found.id, found.url);
                    }
                    Event::PageFetched(settled) => {
                        relevant += u64::from(settled.on_topic);
                        fetched.push(urls[&settled.id].clone());
                    }
                    _ => {}
                }
            }
        });
        (sort(&forum, &fetched), fetched.len(), relevant)
    };
    let (with, pages, relevant) = crawl(true);
    let (without, plain_pages, plain_relevant) = crawl(false);
    println!(
        "as a forum {} threads of {pages} pages, {relevant} relevant, wasted {:?}; as any host {} threads of {plain_pages}, {plain_relevant}, {}",
        with.threads.len(),
        with.wasted,
        without.threads.len(),
        without.wasted.len()
    );
    assert!(with.wasted.len() * 10 <= pages, "{:?}", with.wasted);
    assert!(with.threads.len() > without.threads.len(), "{} against {}", with.threads.len(), without.threads.len());
}

#[test]
fn the_list_of_a_board_makes_a_forum_of_its_host_in_every_skin() {
    for &skin in Skin::all() {
        let forum = Arc::new(Forum::new(spec(skin)));
        let now = forum.spec().activity.start + 12 * DAY;
        let board = forum
            .boards(now)
            .into_iter()
            .filter(|board| !board.members_only)
            .max_by_key(|board| board.threads)
            .unwrap();
        let topic = topic();
        let wanted = suidao::crawl::FetchKind::Page(UrlId(0));
        let read = suidao::crawl::outcome(&wanted, Ok(&forum.response(&board.url, now, 1)), None, &topic, "suidao");
        let suidao::crawl::FetchOutcome::Page { page_view, .. } = read else { panic!() };
        let page_view = page_view.unwrap_or_else(|| panic!("{skin:?}: not looked at"));
        let map = suidao::forum::explore::recognise(&page_view);
        println!(
            "{skin:?} {} records {:?}",
            page_view.records.len(),
            map.as_ref().map(|map| (&map.board_classes, &map.thread_classes))
        );
        assert!(map.is_some() || skin == Skin::Bbs, "{skin:?}: {:?}", page_view.records);
    }
}
