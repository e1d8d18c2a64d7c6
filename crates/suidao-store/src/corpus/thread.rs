//! Merges the posts of all pages of a thread into one list.

use jiff::Timestamp;
use rustc_hash::FxHashMap;

use super::document::ForumPost;
use super::thread_boilerplate::ThreadBoilerplate;
use suidao_forum::forum::signatures::Signatures;
use suidao_page::model::{ApproxTime, PostRecord};

pub(super) struct ThreadPage {
    pub page: u16,
    /// Number of the visit; later visits have higher numbers.
    pub visit: u64,
    pub posts: Vec<PostRecord>,
}

struct PlacedPost {
    post: PostRecord,
    at: (u16, usize),
    /// Number of pages that show it at their top.
    tops: u16,
}

/// The posts of a thread, in order.
pub(super) struct MergedPosts {
    pub posts: Vec<PostRecord>,
    /// An announcement above them was left out.
    pub announced: bool,
}

/// Merges the pages of a thread. Posts of different visits are one post if they have the same fragment; else if they
/// have the same number and nothing contradicts it; else if author, time and text are equal. The latest version counts.
///
/// `forum`: what its threads have in common.
pub(super) fn merge(mut pages: Vec<ThreadPage>, forum: Option<&ThreadBoilerplate>) -> MergedPosts {
    pages.sort_by_key(|page| page.visit);
    let mut announced = false;
    for page in &mut pages {
        if let Some(at) = forum.and_then(|forum| forum.announcements().position(&page.posts)) {
            page.posts.remove(at);
            announced = true;
        }
    }
    let mut placed: Vec<PlacedPost> = Vec::new();
    let mut by_fragment: FxHashMap<String, usize> = FxHashMap::default();
    let mut by_post_number: FxHashMap<u32, usize> = FxHashMap::default();
    let mut by_text: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for ThreadPage { page, posts, .. } in pages {
        // Equal posts on one page are separate posts.
        let before = placed.len();
        let mut matched = vec![false; before];
        for (number, post) in posts.into_iter().enumerate() {
            let free = |at: &usize| *at < before && !matched[*at];
            let known = post.fragment.as_ref().and_then(|fragment| by_fragment.get(fragment)).copied();
            let by_number = || {
                let at = *by_post_number.get(&post.number?)?;
                let other = &placed[at].post;
                let are_distinct = post.fragment.is_some() && other.fragment.is_some() || !agree(&post, other);
                (free(&at) && (!are_distinct || same_words(&post, other))).then_some(at)
            };
            let by_words = || {
                let all = by_text.get(&post.text)?;
                all.iter().copied().find(|at| free(at) && same_words(&post, &placed[*at].post))
            };
            let known = known.or_else(by_number).or_else(by_words);
            let at = known.unwrap_or(placed.len());
            by_fragment.extend(post.fragment.clone().map(|fragment| (fragment, at)));
            by_post_number.extend(post.number.map(|number| (number, at)));
            match placed.get_mut(at) {
                Some(known) => {
                    if let Some(matched) = matched.get_mut(at) {
                        *matched = true;
                    }
                    if known.post.text != post.text {
                        by_text.entry(post.text.clone()).or_default().push(at);
                    }
                    // Another page, not another visit of the same.
                    known.tops += u16::from(number == 0 && page > known.at.0);
                    known.at = known.at.min((page, number));
                    known.post.replace(post);
                }
                None => {
                    by_text.entry(post.text.clone()).or_default().push(at);
                    placed.push(PlacedPost { post, at: (page, number), tops: u16::from(number == 0) });
                }
            }
        }
    }
    // Some forums repeat the first post on every page, so numbers are more reliable than positions.
    if placed.iter().all(|placed| placed.post.number.is_some()) {
        placed.sort_by_key(|placed| (placed.post.number, placed.at));
    } else {
        placed.sort_by_key(|placed| placed.at);
        place_pinned(&mut placed);
    }
    let mut posts: Vec<PostRecord> = placed.into_iter().map(|placed| placed.post).collect();
    Signatures::cut(&mut posts, forum.map(ThreadBoilerplate::signatures));
    MergedPosts { posts, announced }
}

/// Moves a post that staff pins to the top of each page, which is not the first: it is below too, is later than the
/// next, or another has the first number.
fn place_pinned(placed: &mut Vec<PlacedPost>) {
    let [top, rest @ ..] = placed.as_slice() else { return };
    if top.tops < 2 {
        return;
    }
    if rest.iter().any(|other| same_words(&top.post, &other.post)) {
        placed.remove(0);
        return;
    }
    let later = |one: ApproxTime, other: ApproxTime| one.at >= other.at + i64::from(other.within);
    let times = top.post.posted.zip(rest.first().and_then(|next| next.post.posted));
    let is_later = times.is_some_and(|(top, next)| later(top, next));
    let is_other = top.post.number != Some(1) && rest.iter().any(|other| other.post.number == Some(1));
    let is_after =
        |other: &PlacedPost| top.post.posted.zip(other.post.posted).is_some_and(|(top, other)| later(other, top));
    let to = match (is_later, is_other) {
        (true, _) => rest.iter().position(is_after).unwrap_or(rest.len()),
        (false, true) => 1,
        (false, false) => return,
    };
    placed[..=to].rotate_left(1);
}

/// Whether authors and times, if both posts have them, can be the same.
fn agree(one: &PostRecord, other: &PostRecord) -> bool {
    /// Maximum number of seconds between the times of one post on two visits.
    const SLACK: i64 = 60;
    let writers = one.author.as_ref().zip(other.author.as_ref()).is_none_or(|(one, other)| one == other);
    writers && one.posted.zip(other.posted).is_none_or(|(one, other)| one.agrees(other, SLACK))
}

fn same_words(one: &PostRecord, other: &PostRecord) -> bool {
    one.text == other.text && one.author == other.author && agree(one, other)
}

pub(super) fn forum_post(post: PostRecord) -> ForumPost {
    let posted = post.posted.and_then(|moment| Timestamp::from_second(moment.at).ok());
    ForumPost {
        author: post.author,
        posted: posted.map(|posted| posted.to_string()),
        floor: post.number.filter(|number| *number > 0),
        text: post.text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixture::{FixtureVisit, thread, visited};
    use super::super::{Catalogue, CorpusDocument, Filter, PageRole, Parts, SelectedDocument, stream};
    use super::*;
    use crate::store::Store;
    use suidao_page::model::{PageKind, UrlId};

    fn post(fragment: &str, number: u32, text: &str) -> PostRecord {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        PostRecord {
            author: Some("a".to_owned()),
            posted: Some(ApproxTime { at: 100, within: 60 }),
            number: (number > 0).then_some(number),
            text: text.to_owned(),
            fragment: some(fragment),
            ..PostRecord::default()
        }
    }

    fn texts(pages: Vec<(u16, u64, Vec<PostRecord>)>) -> String {
        let pages = pages.into_iter().map(|(page, visit, posts)| ThreadPage { page, visit, posts }).collect();
        merge(pages, None).posts.into_iter().map(|post| post.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_post_is_known_by_its_fragment_its_number_or_its_words() {
        let two = |one: PostRecord, other: PostRecord| texts(vec![(1, 0, vec![one]), (2, 1, vec![other])]);
        assert_eq!(two(post("p1", 1, "x"), post("p1", 1, "y")), "y", "what was read last");
        assert_eq!(two(post("p1", 2, "x"), post("p2", 2, "y")), "x y", "numbers moved up where a post was taken away");
        assert_eq!(two(post("old1", 2, "x"), post("p2", 2, "x")), "x", "another skin");
        assert_eq!(two(post("", 2, "x"), post("", 2, "y")), "y");
        assert_eq!(two(post("", 0, "x"), post("", 0, "x")), "x");
        let other = PostRecord { author: Some("b".to_owned()), ..post("", 0, "x") };
        assert_eq!(two(post("", 0, "x"), other), "x x", "of two people");
        assert_eq!(texts(vec![(1, 0, vec![post("", 0, "+1"), post("", 0, "+1")])]), "+1 +1", "twice on one page");
    }

    #[test]
    fn a_post_pinned_to_every_page_is_not_the_first() {
        let at = |time: i64, text: &str| PostRecord {
            posted: Some(ApproxTime { at: time, within: 60 }),
            ..post("", 0, text)
        };
        let first = at(100, "a");
        let two = |pin: &PostRecord| {
            vec![(1, 0, vec![pin.clone(), first.clone(), at(300, "b")]), (2, 1, vec![pin.clone(), at(900, "c")])]
        };
        assert_eq!(texts(two(&at(500, "pinned"))), "a b pinned c", "by its time");
        assert_eq!(texts(two(&at(50, "pinned"))), "pinned a b c", "the first post on every page");
        let mut natural = two(&at(500, "pinned"));
        natural[1].2.insert(1, at(500, "pinned"));
        assert_eq!(texts(natural), "a b pinned c", "it has a place of its own");
        let numbered = |number: u32, text: &str| post("", number, text);
        let pages = vec![
            (1, 0, vec![numbered(0, "pinned"), numbered(1, "a"), numbered(2, "b")]),
            (2, 1, vec![numbered(0, "pinned"), numbered(3, "c")]),
        ];
        assert_eq!(texts(pages), "a pinned b c", "others are numbered");
    }

    #[test]
    fn posts_keep_their_first_position_or_follow_their_numbers() {
        let first = post("p1", 1, "a");
        let pages =
            vec![(2, 0, vec![first.clone(), post("p3", 3, "c")]), (1, 1, vec![first.clone(), post("p2", 2, "b")])];
        assert_eq!(texts(pages), "a b c", "the first post on every page");
        let moved = vec![(2, 0, vec![post("p3", 0, "c")]), (1, 1, vec![post("p1", 0, "a"), post("p3", 0, "c")])];
        assert_eq!(texts(moved), "a c");
    }

    proptest! {
        #[test]
        fn no_visit_makes_a_post_twice(visits in prop::collection::vec((1..4_u16, 0..4_usize), 0..12), fragments: bool) {
            let all: Vec<PostRecord> =
                (0..12).map(|n| post(&if fragments { format!("p{n}") } else { String::new() }, n + 1, &n.to_string())).collect();
            let pages: Vec<_> = visits
                .iter()
                .enumerate()
                .map(|(visit, &(page, count))| {
                    let from = (usize::from(page) - 1) * 4;
                    (page, visit as u64, all[from..from + count].to_vec())
                })
                .collect();
            let seen = |n: usize| visits.iter().any(|&(page, count)| n / 4 == usize::from(page) - 1 && n % 4 < count);
            let wanted: Vec<String> = (0..12).filter(|n| seen(*n)).map(|n| n.to_string()).collect();
            prop_assert_eq!(texts(pages), wanted.join(" "));
        }
    }

    fn documents(store: &Store) -> (Catalogue, Vec<(CorpusDocument, usize)>) {
        let catalogue = Catalogue::read(store).unwrap();
        let mut documents = Vec::new();
        let parts = Parts { text: true, links: true, posts: true, ..Parts::default() };
        let render = |chosen: &SelectedDocument| Ok((chosen.document(parts)?, chosen.responses.len()));
        let selection = Filter::default().select(&catalogue);
        stream(store, &catalogue, &selection, render, |made| {
            documents.push(made);
            Ok(())
        })
        .unwrap();
        (catalogue, documents)
    }

    #[test]
    fn the_author_of_a_thread_is_that_of_its_first_post() {
        let root = tempfile::tempdir().unwrap();
        let kind = Some(PageKind::Thread { thread: UrlId(0), page: 1 });
        // As in phpBB.
        let html = "<title>足球</title><div id=p1 class=post><dl class=postprofile><dt>\
                    <a href='./memberlist.php?mode=viewprofile&u=2' class=username>老王</a></dt></dl><div class=postbody>\
                    <p class=author><a href=#p1><span>帖子</span></a><span>由 <strong>\
                    <a href='./memberlist.php?mode=viewprofile&u=2' class=username>老王</a></strong> &raquo; </span>\
                    周三 11月 11, 2023 7:56 pm</p><div class=content>昨天的足球比赛真好看，两队踢了加时。</div></div></div>";
        let store = visited(root.path(), &[FixtureVisit { url: "http://a.cn/t", html, kind }]);
        let (_, made) = documents(&store);
        let document = &made[0].0;
        assert_eq!(document.posts.len(), 1, "{document:?}");
        assert_eq!(document.author.as_deref(), Some("老王"));
    }

    /// A thread whose second page is visited three times, the last time behind a login; a board visited twice, and a
    /// page outside the forum.
    #[test]
    fn all_pages_of_a_thread_are_one_document() {
        let root = tempfile::tempdir().unwrap();
        let of = |page: u16| Some(PageKind::Thread { thread: UrlId(1), page });
        let index = Some(PageKind::Index { board: UrlId(0), page: 1 });
        let stated =
            ["第一楼说足球比赛很好看", "第二楼不同意这个说法", "第三楼问昨天谁赢了", "第四楼说不知道", "第五楼再见"];
        let page = |numbers: std::ops::RangeInclusive<u32>| {
            let posts: Vec<(u32, &str)> = numbers.map(|n| (n, stated[n as usize - 1])).collect();
            thread("足球", &posts)
        };
        let (one, three, five) = (page(1..=2), page(3..=3), page(3..=5));
        let (board, login) = ("<title>版块</title><a href=/t>足球</a>", "<title>登录</title><input type=password>");
        let visit = |url, html, kind| FixtureVisit { url, html, kind };
        let (t, t2) = ("http://a.cn/t", "http://a.cn/t?page=2");
        let before = [
            visit("http://a.cn/", board, index),
            visit(t, &one, of(1)),
            visit(t2, &three, of(2)),
            visit("http://a.cn/faq", "<p>怎样注册", None),
        ];
        drop(visited(root.path(), &before));
        let store = visited(root.path(), &[]);
        let (earlier, _) = documents(&store);
        drop(store);
        let after = [
            visit("http://a.cn/", board, index),
            visit(t2, &five, of(2)),
            visit(t, login, Some(PageKind::Login)),
            visit(t2, login, Some(PageKind::Unread)),
            visit("http://a.cn/closed", login, Some(PageKind::Login)),
        ];
        let store = visited(root.path(), &after);
        let (catalogue, made) = documents(&store);
        let parts: Vec<PageRole> = catalogue.entries.iter().map(|entry| entry.role).collect();
        assert_eq!(parts, [PageRole::Page, PageRole::Thread, PageRole::Further(1), PageRole::Page, PageRole::Login]);
        let of: Vec<(&str, bool, usize)> =
            made.iter().map(|(page, responses)| (page.url.path(), page.listing, *responses)).collect();
        assert_eq!(of, [("/", true, 1), ("/t", false, 3), ("/faq", false, 1)]);
        let document = &made[1].0;
        assert_eq!(document.title, "足球");
        assert_eq!((document.author.as_deref(), document.posts[0].author.as_deref()), (Some("小红"), Some("小红")));
        assert_eq!(document.text, stated.join("\n\n"));
        assert_eq!(document.chars as usize, stated.concat().chars().count());
        assert_eq!(document.fetched, "2023-11-14T22:13:25Z", "when the last page was");
        let posts: Vec<(Option<u32>, Option<&str>, Option<&str>)> =
            document.posts.iter().map(|post| (post.floor, post.author.as_deref(), post.posted.as_deref())).collect();
        assert_eq!(posts[4], (Some(5), Some("老王"), Some("2023-11-01T02:05:00Z")));
        assert_eq!(posts.iter().map(|post| post.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5].map(Some));
        let excluded = Filter::default().select(&catalogue).excluded;
        assert_eq!(excluded.values().sum::<u64>(), 2, "{excluded:?}");
        let further = |catalogue: &Catalogue| catalogue.entries[1].further;
        assert_ne!(further(&earlier), further(&catalogue), "a page of it has changed");
        assert_eq!(earlier.entries[1].sketch, catalogue.entries[1].sketch, "the login page takes nothing away");
    }
}
