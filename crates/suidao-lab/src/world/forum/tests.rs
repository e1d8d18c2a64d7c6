//! Tests every skin by its responses: links lead to pages, lists and posts follow the activity, traps are present.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::route::{ForumPageKind, Route};
use super::skin::PastLastPage;
use super::*;
use suidao_features::depth;
use suidao_page::model::{CrawlUrl, Fetched};

const DAY: i64 = 86_400;

/// A small forum with three index pages on a board and threads of several pages.
fn spec(skin: Skin) -> ForumSpec {
    let activity =
        ActivitySpec { boards: 6, users: 60, threads_per_day: 20.0, replies: 8.0, days: 14, ..ActivitySpec::default() };
    ForumSpec { skin, activity, threads_per_page: 10, posts_per_page: 6, categories: 2, ..ForumSpec::default() }
}

fn forum(skin: Skin) -> Arc<Forum> {
    Arc::new(Forum::new(spec(skin)))
}

fn after(forum: &Forum, days: i64) -> i64 {
    forum.spec().activity.start + days * DAY
}

fn text(response: &Fetched) -> String {
    let gbk = response.headers.iter().any(|(name, value)| name == "content-type" && value.ends_with("gbk"));
    let encoding = if gbk { encoding_rs::GBK } else { encoding_rs::UTF_8 };
    let (text, _, broken) = encoding.decode(&response.body);
    assert!(!broken, "{}", response.url);
    text.into_owned()
}

/// Link targets of a page on its own host, in order.
fn links(response: &Fetched) -> Vec<CrawlUrl> {
    links_in(response, "a[href]")
}

fn links_in(response: &Fetched, anchors: &str) -> Vec<CrawlUrl> {
    let html = text(response);
    let page = scraper::Html::parse_document(&html);
    let anchors = scraper::Selector::parse(anchors).unwrap();
    let hrefs = page.select(&anchors).filter_map(|anchor| anchor.attr("href"));
    let links = hrefs.filter(|href| !href.starts_with('#')).filter_map(|href| response.url.join(href).ok());
    links.filter(|url| url.host() == response.url.host()).collect()
}

fn get(forum: &Arc<Forum>, url: &CrawlUrl, now: i64) -> Fetched {
    let response = forum.response(url, now, url.fingerprint());
    match response.headers.iter().find(|(name, _)| name == "location") {
        Some((_, to)) => forum.response(&url.join(to).unwrap(), now, 1),
        None => response,
    }
}

/// The board and thread pages that a crawl reaches from the home page.
fn reached(forum: &Arc<Forum>, now: i64) -> BTreeSet<ServedForumPage> {
    let mut seen = BTreeSet::new();
    let mut left = VecDeque::from([forum.home()]);
    while let Some(url) = left.pop_front() {
        // Compared by kind, because session ids make every link different.
        let kind = forum.kind_of(&url);
        if matches!(kind, ServedForumPage::Duplicate { .. } | ServedForumPage::Functional) || !seen.insert(kind) {
            continue;
        }
        let response = forum.response(&url, now, seen.len() as u64);
        if response.status == 200 {
            left.extend(links(&response));
        }
    }
    seen
}

/// One digest of all responses of a skin that links from boards and threads reach; with traps, of those linked from a
/// few pages.
fn digest(skin: Skin, traps: bool) -> u64 {
    let forum = Arc::new(Forum::new(ForumSpec { traps, ..spec(skin) }));
    let now = after(&forum, 6);
    let mut digest = xxhash_rust::xxh3::Xxh3::new();
    let mut seen = BTreeSet::new();
    let mut left = VecDeque::from([(forum.home(), 0)]);
    while let Some((url, traps)) = left.pop_front() {
        let kind = forum.kind_of(&url);
        let trap = matches!(kind, ServedForumPage::Duplicate { .. } | ServedForumPage::Functional);
        // Session ids and numbers make every link different.
        let bare = || url.as_str().chars().filter(|c| !c.is_ascii_hexdigit()).collect();
        let name = if trap { bare() } else { format!("{kind:?}") };
        if trap && (traps > 1 || seen.len() > 900) || !seen.insert(name) {
            continue;
        }
        let response = forum.response(&url, now, seen.len() as u64);
        let head = response.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect::<String>();
        digest.update(format!("{url} {}\n{head}\n", response.status).as_bytes());
        digest.update(&response.body);
        left.extend(links(&response).into_iter().map(|url| (url, traps + usize::from(trap))));
    }
    digest.digest()
}

/// `SUIDAO_GOLDEN=write` updates the digests.
#[test]
fn every_page_stays_the_same_to_the_byte() {
    let line = |&skin: &Skin| {
        let [with, without] = [true, false].map(|set| digest(skin, set));
        format!("{skin:?} {with:016x} {without:016x}\n")
    };
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/world/forum/skins/digests.txt");
    if std::env::var("SUIDAO_GOLDEN").is_ok_and(|what| what == "write") {
        std::fs::write(file, Skin::all().iter().map(line).collect::<String>()).unwrap();
    }
    let written = std::fs::read_to_string(file).unwrap();
    assert_eq!(written.lines().count(), Skin::all().len());
    for (skin, expected) in Skin::all().iter().zip(written.lines()).step_by(depth(3, 1)) {
        assert_eq!(line(skin), format!("{expected}\n"));
    }
}

#[test]
fn every_page_that_is_linked_answers() {
    for &skin in Skin::all() {
        let forum = forum(skin);
        let now = after(&forum, 10);
        let mut result = BTreeSet::new();
        let home = forum.response(&forum.home(), now, 1);
        assert_eq!(home.status, 200, "{skin:?}");
        let mut pages = vec![home];
        for board in 0..2 {
            pages.push(get(&forum, &forum.boards(now)[board].url, now));
        }
        let threads = forum.threads(now);
        let long = threads.iter().filter(|thread| !thread.members_only).max_by_key(|thread| thread.pages).unwrap();
        assert!(long.pages > 2, "{skin:?}");
        pages.push(get(&forum, &long.url, now));
        for page in pages {
            for url in links(&page).into_iter().filter(|url| result.insert(url.clone())) {
                let response = get(&forum, &url, now);
                assert!(matches!(response.status, 200 | 403), "{skin:?}: {} on {}", url, page.url);
                text(&response);
            }
        }
        assert!(result.len() > 60, "{skin:?}: {}", result.len());
    }
}

#[test]
fn every_thread_that_everybody_reads_is_reached_and_is_what_was_posted() {
    for &skin in Skin::all().iter().step_by(depth(4, 1)) {
        for traps in [true, false] {
            let forum = Arc::new(Forum::new(ForumSpec { traps, ..spec(skin) }));
            let now = after(&forum, 5);
            let kinds = reached(&forum, now);
            for (thread, truth) in forum.threads(now).iter().enumerate() {
                assert_eq!(forum.kind_of(&truth.url), ServedForumPage::Thread { thread, page: 1 }, "{}", truth.url);
                let posts = forum.posts(thread, now);
                assert_eq!(posts.len(), truth.posts as usize);
                for page in (1..=truth.pages).filter(|_| !truth.members_only) {
                    assert!(
                        kinds.contains(&ServedForumPage::Thread { thread, page }),
                        "{skin:?}: {} {page}",
                        truth.url
                    );
                }
                if !truth.members_only && thread % 7 == 0 {
                    let page = text(&get(&forum, &truth.url, now));
                    let (first, rest) = posts.split_at(posts.len().min(6));
                    for (_, stated) in first {
                        assert!(stated.lines().all(|line| page.contains(line)), "{skin:?}: {} {stated}", truth.url);
                    }
                    let last =
                        rest.last().is_some_and(|(_, stated)| stated.chars().count() > 90 && page.contains(stated));
                    assert!(!last, "{skin:?}: {}", truth.url);
                }
            }
            for (board, truth) in forum.boards(now).iter().enumerate() {
                assert_eq!(forum.kind_of(&truth.url), ServedForumPage::Index { board, page: 1 });
                assert!(kinds.contains(&ServedForumPage::Index { board, page: 1 }), "{skin:?}: {}", truth.url);
            }
        }
    }
}

/// Threads on an index page, in order, each once.
fn listed(forum: &Arc<Forum>, board: usize, page: u32, now: i64) -> Vec<usize> {
    let url = forum.url(Route::new(ForumPageKind::Index, board, page));
    let mut found = Vec::new();
    // One skin has its sidebar before the list.
    for url in links_in(&forum.response(&url, now, 3), "a[href]:not(.item_hot_topic_title a)") {
        if let ServedForumPage::Thread { thread, .. } = forum.kind_of(&url)
            && forum.threads[thread].board == board
            && !found.contains(&thread)
        {
            found.push(thread);
        }
    }
    found
}

#[test]
fn lists_are_in_order_of_the_last_reply_and_move_with_time() {
    for &skin in Skin::all() {
        let forum = forum(skin);
        let (then, now) = (after(&forum, 8), after(&forum, 9));
        let busy = forum.boards(now).iter().take(5).enumerate().max_by_key(|(_, board)| board.threads).unwrap().0;
        let last = |thread: &usize, now: i64| {
            forum.threads[*thread].posts.iter().map(|post| post.at).filter(|at| *at <= now).max().unwrap()
        };
        let pages: Vec<Vec<usize>> = (1..=3).map(|page| listed(&forum, busy, page, now)).collect();
        let sticky = pages[0].iter().take_while(|thread| forum.threads[**thread].sticky).count();
        let plain: Vec<usize> = pages.concat()[sticky..].iter().copied().take(22).collect();
        assert!(plain.len() > 20, "{skin:?}");
        assert!(plain.is_sorted_by_key(|thread| std::cmp::Reverse(last(thread, now))), "{skin:?}");
        assert_ne!(listed(&forum, busy, 1, then), pages[0], "{skin:?}: a day has passed");
        let (before, after) = (forum.threads(then).len(), forum.threads(now).len());
        assert!(before < after);
        // A thread that opens later does not exist yet.
        let later = forum.threads(now)[after - 1].url.clone();
        assert_eq!(forum.response(&later, then, 1).status, 404, "{skin:?}");
        assert_eq!(
            get(&forum, &later, now).status,
            if forum.threads(now)[after - 1].members_only { forum.style().wall } else { 200 }
        );
    }
}

#[test]
fn pages_beyond_the_last_are_as_the_skin_has_them() {
    for &skin in Skin::all() {
        let forum = forum(skin);
        let now = after(&forum, 10);
        let beyond = forum.style().beyond;
        let url = forum.url(Route::new(ForumPageKind::Index, 0, 500));
        let response = forum.response(&url, now, 1);
        assert_eq!(response.status, if beyond == PastLastPage::Missing { 404 } else { 200 }, "{skin:?}");
        let found = listed(&forum, 0, 500, now);
        assert_eq!(found.is_empty(), beyond != PastLastPage::Clamp, "{skin:?}: {found:?}");
    }
}

#[test]
fn walled_boards_and_profiles_ask_for_a_login() {
    for &skin in Skin::all() {
        let forum = forum(skin);
        let now = after(&forum, 10);
        let members_only = forum.boards(now).into_iter().find(|board| board.members_only).unwrap();
        let thread = forum.threads(now).into_iter().find(|thread| thread.members_only).unwrap();
        for url in [members_only.url, thread.url, forum.url(Route::new(ForumPageKind::Profile, 3, 1))] {
            let response = forum.response(&url, now, 1);
            assert_eq!(response.status, forum.style().wall, "{skin:?}: {url}");
            assert!(text(&response).contains("type=\"password\""), "{skin:?}: {url}");
        }
        let shut = Arc::new(Forum::new(ForumSpec { members_only: 6, ..spec(skin) }));
        assert!(text(&shut.response(&shut.home(), now, 1)).contains("type=\"password\""), "{skin:?}");
    }
}

#[test]
fn another_request_has_another_session() {
    let mut with = 0;
    for &skin in Skin::all() {
        let forum = forum(skin);
        let now = after(&forum, 3);
        let body = |nonce| forum.response(&forum.home(), now, nonce).body;
        let Some(name) = &forum.style().session else {
            assert_eq!(body(1), body(2), "{skin:?}");
            continue;
        };
        with += 1;
        assert_ne!(body(1), body(2), "{skin:?}");
        let without = Arc::new(Forum::new(ForumSpec { traps: false, ..spec(skin) }));
        let page = text(&without.response(&without.home(), now, 1));
        assert!(!page.contains(&format!("?{name}=")), "{skin:?}");
    }
    assert!(with > 0);
}

#[test]
fn titles_are_distinct_and_of_a_titles_length() {
    let forum = forum(Skin::Discuz);
    let titles: BTreeSet<&str> = forum.threads.iter().map(|stored| stored.title.as_str()).collect();
    assert_eq!(titles.len(), forum.threads.len());
    for title in titles {
        assert!((8..=34).contains(&title.chars().count()), "{title}");
    }
    let names: BTreeSet<&str> = forum.boards.iter().map(|board| board.name.as_str()).collect();
    assert_eq!(names.len(), forum.boards.len());
    let now = after(&forum, 1);
    let topical = forum.boards(now).iter().filter(|board| board.topical).count();
    assert_eq!(topical, 2, "0.4 of 6");
}

#[test]
fn traps_are_where_they_are_set_and_are_not_threads() {
    for &skin in Skin::all() {
        let count = |traps| {
            let forum = Arc::new(Forum::new(ForumSpec { traps, ..spec(skin) }));
            let now = after(&forum, 10);
            let threads = forum.threads(now);
            let long = threads.iter().filter(|thread| !thread.members_only).max_by_key(|thread| thread.posts).unwrap();
            let pages = [forum.home(), forum.boards(now)[0].url.clone(), long.url.clone()];
            let linked: BTreeSet<CrawlUrl> = pages.iter().flat_map(|url| links(&get(&forum, url, now))).collect();
            let kinds: Vec<ServedForumPage> = linked.iter().map(|url| forum.kind_of(url)).collect();
            // A duplicate shows posts of its thread under another URL.
            for (url, kind) in linked.iter().zip(&kinds) {
                if let ServedForumPage::Duplicate { thread } = *kind {
                    let response = text(&get(&forum, url, now));
                    let stated = forum.posts(thread, now);
                    let shown = stated.iter().any(|(_, stated)| response.contains(stated.lines().next().unwrap()));
                    assert!(shown || forum.threads(now)[thread].members_only, "{skin:?}: {url}");
                }
            }
            kinds.iter().filter(|kind| matches!(kind, ServedForumPage::Duplicate { .. })).count()
        };
        assert!(count(true) > 0, "{skin:?}");
        assert_eq!(count(false), 0, "{skin:?}");
    }
}

#[test]
fn robots_txt_lists_what_a_skin_forbids() {
    for &skin in Skin::all() {
        let forum = forum(skin);
        let response = forum.response(&forum.home().robots(), after(&forum, 1), 1);
        let forbidden = text(&response).lines().any(|line| line.starts_with("Disallow: /"));
        assert_eq!(forbidden, skin == Skin::Phpbb);
    }
}
