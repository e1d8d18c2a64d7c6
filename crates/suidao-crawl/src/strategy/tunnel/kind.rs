//! Features of a URL: the kind of page that it suggests, and a template shared with other URLs of its site.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use suidao_page::model::CrawlUrl;
use suidao_page::read::address::{UrlKind, decoded, kind, segments, strip_extension, without_paging};

pub(super) struct UrlFeatures {
    pub kind: UrlKind,
    /// Hash of host and path without the page number, shared by the pages of one listing. For a document, which may
    /// prove to be a listing, without its last number.
    pub series: u64,
    /// Hash of host and path shape, shared by the pages of one template.
    pub template: u64,
}

pub(super) fn form(url: &CrawlUrl) -> UrlFeatures {
    let decoded = decoded(url);
    let segments = segments(&decoded);
    let kind = kind(url);
    let (base, _) = without_paging(&segments);
    let mut series = FxHasher::default();
    url.host().hash(&mut series);
    if kind == UrlKind::Document {
        let query = url.query().unwrap_or_default();
        let whole = format!("{decoded}?{query}");
        let end = whole.rfind(|c: char| c.is_ascii_digit()).map_or(whole.len(), |at| at + 1);
        let start = whole[..end].trim_end_matches(|c: char| c.is_ascii_digit()).len();
        (&whole[..start.min(end)], whole.get(end..)).hash(&mut series);
    } else {
        (base, url.query()).hash(&mut series);
    }
    let mut template = FxHasher::default();
    url.host().hash(&mut template);
    for (at, segment) in segments.iter().enumerate() {
        shape(segment, at + 1 == segments.len()).hash(&mut template);
    }
    if let Some(query) = url.query() {
        // Parameter names belong to the template, their values do not.
        for pair in query.split('&') {
            pair.split('=').next().hash(&mut template);
        }
    }
    UrlFeatures { kind, series: series.finish(), template: template.finish() }
}

/// Hash of the last word of a tag or category regardless of its host. A number means something else on each host.
pub(super) fn tag_word(url: &CrawlUrl) -> Option<u64> {
    let decoded = decoded(url);
    let segments = segments(&decoded);
    let word = strip_extension(without_paging(&segments).0.last()?);
    let mut hasher = FxHasher::default();
    word.to_lowercase().hash(&mut hasher);
    (!is_numbered(word)).then(|| hasher.finish())
}

/// Hash of the constant parts of a segment.
fn shape(segment: &str, last: bool) -> u64 {
    let word = strip_extension(segment);
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

/// Whether an anchor suggests a page of recommended sites.
pub(super) fn names_blogroll(anchor: &str) -> bool {
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

    #[test]
    fn pages_of_a_listing_are_a_family_and_pages_of_a_rule_share_a_template() {
        let form = |path: &str| form(&CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap());
        assert_eq!(form("/tags/x/").series, form("/tags/x/page/2/").series);
        assert_ne!(form("/tags/x/").series, form("/tags/y/").series);
        assert_eq!(form("/2019/05/07/one/").template, form("/2020/11/30/two/").template);
        assert_eq!(form("/show?id=1").template, form("/show?id=2").template);
        assert_ne!(form("/show?id=1").template, form("/list?page=2").template);
        assert_ne!(form("/post/one.html").template, form("/note/one.html").template);
    }

    #[test]
    fn a_tag_word_is_the_same_on_all_hosts_and_pages() {
        let word = |url: &str| tag_word(&CrawlUrl::parse(url).unwrap());
        assert_eq!(word("http://a.cn/tags/图论/"), word("http://b.cn/categories/c/%E5%9B%BE%E8%AE%BA/page/2/"));
        assert_eq!(word("http://a.cn/tags/Rust/"), word("http://b.cn/tag/rust.html"));
        assert_ne!(word("http://a.cn/tags/图论/"), word("http://a.cn/tags/旅行/"));
        assert!(["12", "c3", "cat-7.html"].iter().all(|it| word(&format!("http://a.cn/category/{it}")).is_none()));
    }

    #[test]
    fn links_to_recommended_sites_are_known_by_their_text() {
        assert!(
            names_blogroll(" 友人帐 ")
                && names_blogroll("Friends")
                && !names_blogroll("我和朋友们一起去看了一场足球比赛")
        );
    }
}
