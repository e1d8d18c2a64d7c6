//! What a URL looks like: a document, or one of the listings that lead to documents. Apart because it is experience with
//! how sites name their pages, in the form of word lists; what the crawl itself finds out goes beside it.

use std::hash::{Hash, Hasher};

use percent_encoding::percent_decode_str;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

use crate::model::CrawlUrl;

/// What a URL seems to lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    /// A document, as far as one can see.
    Document,
    /// The pages under one tag or category.
    Tag,
    /// All tags or categories.
    TagIndex,
    /// A later page of a listing that is no tag's.
    Paging,
    /// The pages of a year, a month or a day.
    Archive,
    /// A host's first page.
    Home,
    /// About the site, its guests, its search: neither document nor listing.
    Misc,
    /// The sites that a site recommends.
    Friends,
}

impl Kind {
    pub fn is_listing(self) -> bool {
        self != Self::Document
    }
}

/// What is read off a URL.
pub(super) struct Form {
    pub kind: Kind,
    /// Hash of host and path without the number of the page: the pages of one listing share it. Of a document, in case it is
    /// a listing after all, without its last number.
    pub family: u64,
    /// Hash of host and the shape of the path: the pages that one rule of a site makes share it.
    pub template: u64,
}

/// Reads a URL.
pub(super) fn form(url: &CrawlUrl) -> Form {
    let decoded = percent_decode_str(url.path()).decode_utf8_lossy().to_lowercase();
    let segments: Vec<&str> = decoded.split('/').filter(|segment| !segment.is_empty()).collect();
    let (base, paged) = without_paging(&segments);
    let kind = match kind_of(base) {
        Kind::Document | Kind::Home if paged => Kind::Paging,
        kind => kind,
    };
    let mut family = FxHasher::default();
    url.host().hash(&mut family);
    if kind == Kind::Document {
        let query = url.query().unwrap_or_default();
        let whole = format!("{decoded}?{query}");
        let end = whole.rfind(|c: char| c.is_ascii_digit()).map_or(whole.len(), |at| at + 1);
        let start = whole[..end].trim_end_matches(|c: char| c.is_ascii_digit()).len();
        (&whole[..start.min(end)], whole.get(end..)).hash(&mut family);
    } else {
        (base, url.query()).hash(&mut family);
    }
    let mut template = FxHasher::default();
    url.host().hash(&mut template);
    for (at, segment) in segments.iter().enumerate() {
        shape(segment, at + 1 == segments.len()).hash(&mut template);
    }
    if let Some(query) = url.query() {
        // Names of parameters are the rule, their values what it is applied to.
        for pair in query.split('&') {
            pair.split('=').next().hash(&mut template);
        }
    }
    Form { kind, family: family.finish(), template: template.finish() }
}

/// The segments without `page/N` or `pageN` at the end, and whether there was such.
fn without_paging<'a, 's>(segments: &'a [&'s str]) -> (&'a [&'s str], bool) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match segments {
        [base @ .., word, number] if *word == "page" && is_number(bare(number)) => (base, true),
        [base @ .., last] => {
            let last = bare(last);
            let number = last.strip_prefix("page").map(|rest| rest.trim_start_matches(['-', '_']));
            match number {
                Some(number) if is_number(number) => (base, true),
                _ => (segments, false),
            }
        }
        [] => (segments, false),
    }
}

/// A last segment without its extension.
fn bare(segment: &str) -> &str {
    for extension in [".html", ".htm", ".php", ".shtml", ".aspx"] {
        if let Some(bare) = segment.strip_suffix(extension) {
            return bare;
        }
    }
    segment
}

fn kind_of(segments: &[&str]) -> Kind {
    let segments = match segments {
        [base @ .., last] if bare(last) == "index" => base,
        _ => segments,
    };
    let Some(last) = segments.last().map(|last| bare(last)) else { return Kind::Home };
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
        return Kind::Friends;
    }
    let is_tag = |word: &str| {
        matches!(word, "tag" | "tags" | "category" | "categories" | "cat" | "topics" | "series" | "标签" | "分类")
    };
    if let Some(at) = segments.iter().position(|segment| is_tag(segment)) {
        return if at + 1 == segments.len() { Kind::TagIndex } else { Kind::Tag };
    }
    if is_tag(last) {
        return Kind::TagIndex;
    }
    let is_date =
        |segment: &&str| matches!(segment.len(), 1 | 2 | 4) && segment.bytes().all(|byte| byte.is_ascii_digit());
    let year = |segment: &str| segment.len() == 4 && (segment.starts_with("19") || segment.starts_with("20"));
    let rest = match segments {
        [first, rest @ ..] if matches!(*first, "archive" | "archives") => {
            if rest.iter().all(|segment| is_date(&bare(segment))) && rest.len() <= 3 {
                return Kind::Archive;
            }
            segments
        }
        _ => segments,
    };
    if matches!(last, "archive" | "archives") {
        return Kind::Archive;
    }
    if rest.len() <= 3 && rest.iter().all(is_date) && rest.first().is_some_and(|first| year(first)) {
        return Kind::Archive;
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
        return Kind::Misc;
    }
    Kind::Document
}

/// The shape of one segment: what a rule leaves the same.
fn shape(segment: &str, last: bool) -> u64 {
    let word = bare(segment);
    let mut hasher = FxHasher::default();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    if digits == word.len() {
        "N".hash(&mut hasher);
    } else if last && !is_numbered(word) {
        "S".hash(&mut hasher);
    } else if !word.is_ascii() || word.len() > 24 {
        "X".hash(&mut hasher);
    } else {
        for byte in word.bytes() {
            (if byte.is_ascii_digit() { b'#' } else { byte }).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// A short word and numbers: `list_2`, `thread-1234-1-1`.
fn is_numbered(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    let rest = &word.as_bytes()[letters..];
    letters <= 10
        && rest.iter().any(u8::is_ascii_digit)
        && rest.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Whether the text of a link calls its target a page of recommended sites.
pub(super) fn says_friends(anchor: &str) -> bool {
    let anchor = anchor.trim();
    let length = anchor.chars().count();
    if length == 0 || length > 14 {
        return false;
    }
    ["友链", "友情", "友人", "友鏈", "友鍊", "朋友", "伙伴", "邻居"].iter().any(|word| anchor.contains(word))
        || ["link", "links", "friend", "friends", "blogroll", "friend links", "my friends"]
            .iter()
            .any(|word| anchor.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(path: &str) -> Kind {
        form(&CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap()).kind
    }

    #[test]
    fn urls_are_told_apart_by_how_sites_name_them() {
        for (path, expected) in [
            ("/", Kind::Home),
            ("/index.html", Kind::Home),
            ("/page/3/", Kind::Paging),
            ("/news/page2.html", Kind::Paging),
            ("/tags/机器学习/", Kind::Tag),
            ("/categories/ai/nlp/page/2/", Kind::Tag),
            ("/tags/", Kind::TagIndex),
            ("/archives/", Kind::Archive),
            ("/archives/2019/05/", Kind::Archive),
            ("/2019/05/", Kind::Archive),
            ("/2019/05/07/a-post/", Kind::Document),
            ("/archives/a1b2c3d4.html", Kind::Document),
            ("/archives/10234/", Kind::Document),
            ("/tags/link.html", Kind::Friends),
            ("/友链/", Kind::Friends),
            ("/about/", Kind::Misc),
            ("/a/b/about/", Kind::Document),
            ("/post/123.html", Kind::Document),
        ] {
            assert_eq!(kind(path), expected, "{path}");
        }
    }

    #[test]
    fn pages_of_a_listing_are_a_family_and_pages_of_a_rule_share_a_template() {
        let form = |path: &str| form(&CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap());
        assert_eq!(form("/tags/x/").family, form("/tags/x/page/2/").family);
        assert_ne!(form("/tags/x/").family, form("/tags/y/").family);
        assert_eq!(form("/2019/05/07/one/").template, form("/2020/11/30/two/").template);
        assert_eq!(form("/show?id=1").template, form("/show?id=2").template);
        assert_ne!(form("/show?id=1").template, form("/list?page=2").template);
        assert_ne!(form("/post/one.html").template, form("/note/one.html").template);
    }

    #[test]
    fn links_to_recommended_sites_are_known_by_their_text() {
        assert!(
            says_friends(" 友人帐 ") && says_friends("Friends") && !says_friends("我和朋友们一起去看了一场足球比赛")
        );
    }
}
