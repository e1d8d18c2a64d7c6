//! Evidence from one page of a site about which URL classes are boards and threads.

use std::collections::{BTreeMap, BTreeSet};

use suidao_page::model::{CrawlUrl, ForumPageView};

use super::board::{BoardTest, BoardThresholds, LinkClass, classes, threads};
use super::map::IdPattern;
use super::url_classes::{MatchedUrl, UrlClass, UrlClassifier};

/// Thresholds for boards with few threads: these suffice if each line shows author, time and counts.
const SMALL: BoardThresholds = BoardThresholds { members: 2, columns: 8.0, dominance: 0.7 };
/// Thresholds if each title is in a record: titles may be short.
const SHORT: BoardThresholds = BoardThresholds { members: 8, columns: 8.0, dominance: 0.7 };

/// Certainty that a page is a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BoardCertainty {
    /// By the texts and the number of its links: BTCJ.
    Links,
    /// Also by its records: authors, replies, times.
    Records,
}

/// If the page is a board, the class of its threads and the certainty.
pub fn board(
    page_view: &ForumPageView,
    classifier: &UrlClassifier,
    test: BoardTest,
) -> Option<(UrlClass, BoardCertainty)> {
    let all = classes(&page_view.links, classifier);
    if test == BoardTest::Strict {
        let found = threads(&all, &BoardThresholds::STRICT);
        return found.map(|class| (class.class.clone(), BoardCertainty::Links));
    }
    if page_view.login {
        return None;
    }
    let own = classifier.classify(&page_view.own).class;
    let others: Vec<LinkClass> = all.into_iter().filter(|class| class.class != own).collect();
    let recorded = recorded(page_view, classifier);
    if let Some(class) = threads(&others, &BoardThresholds::DOMINANT) {
        if recorded.as_ref() == Some(&class.class) {
            return Some((class.class.clone(), BoardCertainty::Records));
        }
        if recorded.is_none() {
            return Some((class.class.clone(), BoardCertainty::Links));
        }
    }
    // Shorter, fewer, or with another list next to them: the records decide.
    let recorded = recorded?;
    let class = others.iter().find(|class| class.class == recorded)?;
    let passes = [SMALL, SHORT].iter().any(|least| threads(std::slice::from_ref(class), least).is_some());
    passes.then_some((recorded, BoardCertainty::Records))
}

/// The class of most records of a page, if most of these have at least two of author, replies or views, times.
fn recorded(page_view: &ForumPageView, classifier: &UrlClassifier) -> Option<UrlClass> {
    let full = page_view.records.iter().filter(|record| record.facts() >= 2);
    let mut count: BTreeMap<UrlClass, usize> = BTreeMap::new();
    for record in full {
        *count.entry(classifier.classify(&record.url).class).or_default() += 1;
    }
    let (class, most) = count.into_iter().reduce(|best, other| if other.1 > best.1 { other } else { best })?;
    (most >= 2 && most * 5 >= page_view.records.len() * 3).then_some(class)
}

/// The URLs of a page in a class, each with its text, in order.
pub fn members<'a>(
    page_view: &'a ForumPageView,
    class: &'a UrlClass,
    classifier: &'a UrlClassifier,
) -> impl Iterator<Item = (&'a CrawlUrl, &'a str)> {
    let of_class = move |link: &&suidao_page::model::ForumPageLink| classifier.classify(&link.url).class == *class;
    page_view.links.iter().filter(of_class).map(|link| (&link.url, link.text.as_str()))
}

/// Which values identify the members of a class: those that differ nearly everywhere, numbers before words; else those
/// that differ at all. `groups`: members seen together on one page each; `options`: slots that count pages and identify
/// none.
pub fn key(class: &UrlClass, groups: &[Vec<MatchedUrl>], options: &BTreeSet<usize>) -> IdPattern {
    let slots = groups.iter().flatten().map(|matched| matched.slots.len()).max().unwrap_or(0);
    let distinct = |slot: usize, group: &[MatchedUrl]| {
        group.iter().map(|matched| matched.value(slot)).collect::<BTreeSet<_>>().len()
    };
    let (mut nearly, mut at_all) = (Vec::new(), Vec::new());
    for slot in (0..slots).filter(|slot| !options.contains(slot)) {
        let (mut different, mut all) = (0, 0);
        for group in groups.iter().filter(|group| group.len() >= 2) {
            different += distinct(slot, group) - 1;
            all += group.len() - 1;
        }
        if different * 10 >= all * 8 && all > 0 {
            nearly.push(slot);
        }
        if different > 0 {
            at_all.push(slot);
        }
    }
    let is_number = |slot: &usize| groups.iter().flatten().all(|matched| matched.slots[*slot].number);
    let numbers: Vec<usize> = nearly.iter().copied().filter(is_number).collect();
    let last = |from: Vec<usize>| from.last().copied().map_or(Vec::new(), |slot| vec![slot]);
    let key = match (numbers.is_empty(), nearly.is_empty()) {
        // `/forum/general-1/topic/hello-5/` on a page of many boards: the thread's number is the last.
        (false, _) => last(numbers),
        (true, false) => last(nearly),
        (true, true) if !at_all.is_empty() => at_all,
        (true, true) => last((0..slots).filter(|slot| !options.contains(slot)).collect()),
    };
    IdPattern::new(class.clone(), key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::{ApproxTime, ForumPageLink, ThreadRecord};

    /// A list of so many threads, whose lines show author, replies and time, and another list with long texts.
    fn page(threads: usize, others: usize) -> ForumPageView {
        let url = |path: String| CrawlUrl::parse(&format!("http://bbs.cn{path}")).unwrap();
        let link = |path: String, text: String| ForumPageLink { url: url(path), text, marks: Vec::new() };
        let thread = |n: usize| link(format!("/t/{n}"), format!("第{n}个帖子的标题在这里"));
        let other = |n: usize| link(format!("/news/{n}"), format!("一条很长的站内新闻的标题{n}"));
        let record = |n: usize| ThreadRecord {
            url: thread(n).url,
            title: thread(n).text,
            author: Some("anna".into()),
            replies: Some(3),
            views: None,
            created: None,
            last_reply: Some(ApproxTime { at: 1_000_000, within: 60 }),
            sticky: false,
        };
        ForumPageView {
            own: url("/b/1".into()),
            links: (0..threads).map(thread).chain((0..others).map(other)).collect(),
            records: (0..threads).map(record).collect(),
            posts: Vec::new(),
            login: false,
            offset: 0,
        }
    }

    #[test]
    fn the_strict_test_ignores_records() {
        let found = |page: &ForumPageView, test| board(page, &UrlClassifier::default(), test).map(|(_, sure)| sure);
        let whole = page(12, 0);
        assert_eq!(found(&whole, BoardTest::Strict), Some(BoardCertainty::Links));
        assert_eq!(found(&whole, BoardTest::Records), Some(BoardCertainty::Records));
        // Too few threads, and a second class of long texts: the records show a board, the paper's test does not.
        for other in [page(5, 0), page(12, 12)] {
            assert_eq!(found(&other, BoardTest::Strict), None);
            assert_eq!(found(&other, BoardTest::Records), Some(BoardCertainty::Records));
        }
        // Links to other boards are classes like all others.
        let mut siblings = page(12, 0);
        siblings.links.extend(
            page(0, 12).links.into_iter().zip(10..).map(|(link, n)| ForumPageLink {
                url: CrawlUrl::parse(&format!("http://bbs.cn/b/{n}")).unwrap(),
                ..link
            }),
        );
        assert_eq!(found(&siblings, BoardTest::Strict), None);
    }

    fn group(paths: &[&str]) -> Vec<MatchedUrl> {
        let url = |path: &&str| CrawlUrl::parse(&format!("http://bbs.cn{path}")).unwrap();
        paths.iter().map(|path| UrlClassifier::default().classify(&url(path))).collect()
    }

    #[test]
    fn what_differs_from_link_to_link_is_the_key() {
        let text = |paths: &[&str], options: &[usize]| {
            let group = group(paths);
            key(&group[0].class.clone(), &[group], &options.iter().copied().collect()).text()
        };
        assert_eq!(
            text(&["/thread-5-1-1.html", "/thread-9-1-1.html", "/thread-7-1-1.html"], &[]),
            "/thread-{id}-{n}-{n}.html"
        );
        assert_eq!(text(&["/forum-5-1.html", "/forum-9-1.html"], &[1]), "/forum-{id}-{n}.html");
        assert_eq!(text(&["/t/12-a-b", "/t/13-c-d"], &[]), "/t/{id}-{s}");
        assert_eq!(text(&["/f?kw=%E8%B6%B3", "/f?kw=%E7%90%83"], &[]), "/f?kw={slug}");
        assert_eq!(text(&["/show?f=2&t=5", "/show?f=2&t=6"], &[]), "/show?f={n}&t={id}");
        assert_eq!(text(&["/only/5"], &[]), "/only/{id}");
    }
}
