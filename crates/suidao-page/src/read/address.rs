//! Classifies URLs by their text: documents, or listings that lead to documents.

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use crate::model::CrawlUrl;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UrlKind {
    Document,
    Tag,
    /// All tags or categories.
    TagIndex,
    /// A later page of a listing other than a tag's.
    Paging,
    /// The pages of a year, a month or a day.
    Archive,
    /// The first page of a host.
    Home,
    /// About, guest book, search: neither document nor listing.
    Misc,
    /// The sites that a site recommends.
    Blogroll,
}

impl UrlKind {
    /// Whether it seems to lead to anything but a document.
    pub fn is_listing(self) -> bool {
        self != Self::Document
    }
}

/// Percent-decoded, in lower case.
pub fn decoded(url: &CrawlUrl) -> String {
    percent_decode_str(url.path()).decode_utf8_lossy().to_lowercase()
}

/// The non-empty segments.
pub fn segments(path: &str) -> Vec<&str> {
    path.split('/').filter(|segment| !segment.is_empty()).collect()
}

pub fn kind(url: &CrawlUrl) -> UrlKind {
    match (kind_of(&segments(&decoded(url))), url.query()) {
        (UrlKind::Home, Some(query)) => kind_of_query(query),
        (kind, _) => kind,
    }
}

/// Classifies by the query of a home page: WordPress serves all pages that way without permalinks.
fn kind_of_query(query: &str) -> UrlKind {
    let names = query.split('&').filter_map(|pair| pair.split('=').next());
    let kinds = names.map(|name| match name {
        "cat" | "tag" => UrlKind::Tag,
        "paged" | "page" => UrlKind::Paging,
        "m" | "year" => UrlKind::Archive,
        "s" | "q" => UrlKind::Misc,
        _ => UrlKind::Document,
    });
    let mut kinds: Vec<UrlKind> = kinds.collect();
    kinds.sort_unstable_by_key(|kind| *kind == UrlKind::Document);
    kinds.first().copied().unwrap_or(UrlKind::Home)
}

/// Classifies a path by its segments, given in lower case.
pub fn kind_of(segments: &[&str]) -> UrlKind {
    let (base, paged) = without_paging(segments);
    match kind_of_base(base) {
        UrlKind::Document | UrlKind::Home if paged => UrlKind::Paging,
        kind => kind,
    }
}

/// The segments without `page/N` or `pageN` at the end, and whether there was one.
pub fn without_paging<'a, 's>(segments: &'a [&'s str]) -> (&'a [&'s str], bool) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match segments {
        [base @ .., last] if strip_extension(last) == "index" && !base.is_empty() => match without_paging(base) {
            (base, true) => (base, true),
            _ => (segments, false),
        },
        [base @ .., word, number] if *word == "page" && is_number(strip_extension(number)) => (base, true),
        [base @ .., last] => {
            let last = strip_extension(last);
            let number = last.strip_prefix("page").map(|rest| rest.trim_start_matches(['-', '_']));
            match number {
                Some(number) if is_number(number) => (base, true),
                _ => (segments, false),
            }
        }
        [] => (segments, false),
    }
}

/// The last segment without its file extension.
pub fn strip_extension(segment: &str) -> &str {
    for extension in [".html", ".htm", ".php", ".shtml", ".aspx"] {
        if let Some(bare) = segment.strip_suffix(extension) {
            return bare;
        }
    }
    segment
}

fn kind_of_base(segments: &[&str]) -> UrlKind {
    let segments = match segments {
        [base @ .., last] if strip_extension(last) == "index" => base,
        _ => segments,
    };
    let Some(last) = segments.last().map(|last| strip_extension(last)) else { return UrlKind::Home };
    if matches!(
        last,
        "link"
            | "links"
            | "friend"
            | "friends"
            | "friendlink"
            | "friendlinks"
            | "friend-link"
            | "friend-links"
            | "friend-chain"
            | "friendly-link"
            | "otherlinks"
            | "blogroll"
            | "flink"
            | "flinks"
            | "youlian"
            | "友链"
            | "友情链接"
            | "友人帐"
    ) {
        return UrlKind::Blogroll;
    }
    let is_tag = |word: &str| {
        matches!(word, "tag" | "tags" | "category" | "categories" | "cat" | "topics" | "series" | "标签" | "分类")
    };
    if let Some(at) = segments.iter().position(|segment| is_tag(segment)) {
        // A file below a category is a document; the category is a directory or a file itself.
        let is_file = segments.last().is_some_and(|last| strip_extension(last).len() < last.len());
        return match segments.len() - at - 1 {
            0 => UrlKind::TagIndex,
            2.. if is_file => UrlKind::Document,
            _ => UrlKind::Tag,
        };
    }
    if is_tag(last) {
        return UrlKind::TagIndex;
    }
    let is_date =
        |segment: &&str| matches!(segment.len(), 1 | 2 | 4) && segment.bytes().all(|byte| byte.is_ascii_digit());
    let year = |segment: &str| segment.len() == 4 && (segment.starts_with("19") || segment.starts_with("20"));
    if let [first, rest @ ..] = segments
        && matches!(*first, "archive" | "archives")
        && rest.iter().all(|segment| is_date(&strip_extension(segment)))
        && rest.len() <= 3
    {
        return UrlKind::Archive;
    }
    if matches!(last, "archive" | "archives") {
        return UrlKind::Archive;
    }
    if segments.len() <= 3 && segments.iter().all(is_date) && segments.first().is_some_and(|first| year(first)) {
        return UrlKind::Archive;
    }
    if segments.len() <= 2
        && matches!(
            last,
            "about"
                | "about-me"
                | "aboutme"
                | "me"
                | "guestbook"
                | "message"
                | "messages"
                | "board"
                | "search"
                | "contact"
                | "donate"
                | "sitemap"
                | "photos"
                | "gallery"
                | "album"
                | "albums"
                | "music"
                | "movies"
                | "books"
                | "bangumi"
                | "comments"
                | "comment"
                | "404"
                | "projects"
                | "resume"
                | "cv"
                | "关于"
                | "留言板"
                | "留言"
        )
    {
        return UrlKind::Misc;
    }
    UrlKind::Document
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(path: &str) -> UrlKind {
        super::kind(&CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap())
    }

    #[test]
    fn urls_are_distinguished_by_how_sites_name_them() {
        for (path, expected) in [
            ("/", UrlKind::Home),
            ("/?p=2895", UrlKind::Document),
            ("/?cat=3&paged=2", UrlKind::Tag),
            ("/?m=201103", UrlKind::Archive),
            ("/index.html", UrlKind::Home),
            ("/page/3/", UrlKind::Paging),
            ("/page/3/index.html", UrlKind::Paging),
            ("/archives/2020/page/3/index.html", UrlKind::Archive),
            ("/news/page2.html", UrlKind::Paging),
            ("/tags/机器学习/", UrlKind::Tag),
            ("/categories/ai/nlp/page/2/", UrlKind::Tag),
            ("/tags/", UrlKind::TagIndex),
            ("/categories/ai.html", UrlKind::Tag),
            ("/categories/ai/transformers.html", UrlKind::Document),
            ("/archives/", UrlKind::Archive),
            ("/archives/2019/05/", UrlKind::Archive),
            ("/2019/05/", UrlKind::Archive),
            ("/2019/05/07/a-post/", UrlKind::Document),
            ("/archives/a1b2c3d4.html", UrlKind::Document),
            ("/archives/10234/", UrlKind::Document),
            ("/tags/link.html", UrlKind::Blogroll),
            ("/友链/", UrlKind::Blogroll),
            ("/about/", UrlKind::Misc),
            ("/a/b/about/", UrlKind::Document),
            ("/post/123.html", UrlKind::Document),
        ] {
            assert_eq!(kind(path), expected, "{path}");
        }
    }
}
