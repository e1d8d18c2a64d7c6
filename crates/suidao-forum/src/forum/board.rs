//! Whether a page is a board: a list of threads.
//!
//! Li, Cheng, Guo, Zhang 2007, 3.2: of the classes of a page's links, those with many members and long texts are
//! classes of threads; a page is a board if and only if it has exactly one of them. The paper does not give the
//! thresholds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::links::columns;
use super::url_classes::{UrlClass, UrlClassifier};
use suidao_page::model::ForumPageLink;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoardThresholds {
    /// Minimum number of members of a class of threads.
    pub members: usize,
    /// Minimum mean width of their texts, in columns: an ideograph has two.
    pub columns: f64,
    /// Minimum share of the largest class among the links of all classes of threads; 1 is the paper's "exactly one".
    pub dominance: f64,
}

impl BoardThresholds {
    /// The paper's test: exactly one class of threads.
    pub const STRICT: Self = Self { members: 10, columns: 16.0, dominance: 1.0 };
    /// One class of threads dominates; a list of other links is allowed.
    pub const DOMINANT: Self = Self { members: 10, columns: 16.0, dominance: 0.7 };
}

/// How a board is recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoardTest {
    /// The paper's test and nothing else: exactly one class of threads among all links.
    Strict,
    /// One class of threads dominates the links that lead elsewhere, or the lines of the list have authors, counts and
    /// times.
    #[default]
    Records,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LinkClass {
    pub class: UrlClass,
    /// Indices of its links, in order of appearance.
    pub members: Vec<usize>,
    /// Mean width of the non-empty texts, in columns.
    pub columns: f64,
}

/// The classes of a page's links, the largest first; ties by their first link.
pub fn classes(links: &[ForumPageLink], classifier: &UrlClassifier) -> Vec<LinkClass> {
    let mut found: BTreeMap<UrlClass, Vec<usize>> = BTreeMap::new();
    for (at, link) in links.iter().enumerate() {
        found.entry(classifier.classify(&link.url).class).or_default().push(at);
    }
    let mut classes: Vec<LinkClass> = found
        .into_iter()
        .map(|(class, members)| {
            // Links without text, and page numbers, accompany a title.
            let is_visible =
                |&&at: &&usize| !links[at].text.is_empty() && !links[at].text.bytes().all(|b| b.is_ascii_digit());
            let widths: Vec<usize> = members.iter().filter(is_visible).map(|&at| columns(&links[at].text)).collect();
            #[allow(clippy::cast_precision_loss)] // few and short
            let columns = widths.iter().sum::<usize>() as f64 / widths.len().max(1) as f64;
            LinkClass { class, members, columns }
        })
        .collect();
    classes.sort_by_key(|class| (usize::MAX - class.members.len(), class.members[0]));
    classes
}

pub fn threads<'a>(classes: &'a [LinkClass], thresholds: &BoardThresholds) -> Option<&'a LinkClass> {
    let passing: Vec<&LinkClass> = classes
        .iter()
        .filter(|class| class.members.len() >= thresholds.members && class.columns >= thresholds.columns)
        .collect();
    let all: usize = passing.iter().map(|class| class.members.len()).sum();
    let &largest = passing.first()?;
    #[allow(clippy::cast_precision_loss)] // at most some thousand
    let dominates = largest.members.len() as f64 >= thresholds.dominance * all as f64;
    dominates.then_some(largest)
}

#[cfg(test)]
mod tests {
    use super::super::links::tests::read;
    use super::*;

    fn list(count: usize, record: &str) -> String {
        (1..=count).map(|n| record.replace('#', &n.to_string())).collect()
    }

    fn test(body: &str, thresholds: &BoardThresholds) -> Option<String> {
        let (_, links) = read("/forum-2-1.html", body);
        threads(&classes(&links, &UrlClassifier::default()), thresholds).map(|class| class.class.to_string())
    }

    const THREAD: &str =
        "<tr><td><a href=/thread-#-1-1.html>第#个帖子的标题在这里</a><td><a href=/space-uid-#.html>张三#</a>";

    #[test]
    fn a_list_of_threads_is_a_board_and_a_page_of_short_links_is_none() {
        let board = list(20, THREAD);
        assert_eq!(test(&board, &BoardThresholds::STRICT).as_deref(), Some("/thread-{n}-{n}-{n}.html"));
        assert_eq!(test(&list(20, "<a href=/forum-#-1.html>体育</a>"), &BoardThresholds::STRICT), None);
        assert_eq!(test(&list(5, THREAD), &BoardThresholds::STRICT), None, "too few");
    }

    #[test]
    fn a_sidebar_of_another_class_fails_the_strict_test_only() {
        let sidebar = list(10, "<p><a href=/news/#>一条很长的站内新闻的标题#</a>");
        let body = list(30, THREAD) + &sidebar;
        assert_eq!(test(&body, &BoardThresholds::STRICT), None);
        assert!(test(&body, &BoardThresholds::DOMINANT).is_some());
        let body = list(12, THREAD) + &sidebar;
        assert_eq!(test(&body, &BoardThresholds::DOMINANT), None, "nothing dominates");
    }

    #[test]
    fn last_post_links_of_the_same_class_do_not_shorten_the_titles() {
        let last =
            list(20, "<tr><td><a href=/t/#>第#个帖子的标题在这里</a><td><a href=/t/9#>9#</a><a href=/t/8#><img></a>");
        assert!(test(&last, &BoardThresholds::STRICT).is_some());
    }
}
