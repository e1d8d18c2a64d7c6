//! Soft 404s: error pages with status 200. Detected by comparison with the host's answer for a page that cannot exist
//! (Bar-Yossef, Broder, Kumar, Tomkins, "Sic transit gloria telae", WWW 2004).
//!
//! Words alone are not enough: a page about error 404 contains the same words.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use suidao_page::model::{CrawlUrl, MissingPageResponse, Sketch};
use suidao_page::text::simhash::distance;
use suidao_page::word_list::SectionWords;

/// A text with more characters has content beyond the error message.
const LONGEST: usize = 400;
/// Maximum Hamming distance between a text and the host's answer, which repeats the requested address.
const NEAR: u32 = 3;
/// The same for texts shorter than [`SHORT`] with the same title, in which an address weighs more.
const NEAR_SHORT: u32 = 12;
const SHORT: u32 = 300;

/// Path of a page that cannot exist: this name, and a number of `CODE` digits.
const NAME: &str = "suidao-no-such-page-";
const CODE: usize = 16;

/// Phrases of error pages, case-folded.
static PHRASES: SectionWords = SectionWords::of(include_str!("words.txt"), "missing page");

/// Whether a page's own text is an error message. `text`: its main text.
pub fn is_error_text(title: &str, text: &str) -> bool {
    if text.chars().filter(|c| !c.is_whitespace()).take(LONGEST + 1).count() > LONGEST {
        return false;
    }
    let has_phrase = |text: &str| {
        let folded = suidao_page::text::fold(text);
        PHRASES.iter().any(|stated| folded.contains(stated))
    };
    has_phrase(title) || is_code(title) || has_phrase(text)
}

/// `404`, or `404 - Name of the site`.
fn is_code(title: &str) -> bool {
    title
        .trim()
        .strip_prefix("404")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '-', '|', '_', ',', ':', '：', '，', '—']))
}

/// Probe URL of this host: the path states its purpose, and differs between crawls.
pub fn probe(home: &CrawlUrl, seed: u64) -> Option<CrawlUrl> {
    let code = xxh3_64_with_seed(home.authority().as_bytes(), seed ^ 0x404);
    home.join(&format!("/{NAME}{code:016x}")).ok()
}

/// Whether a page is the redirect target of the probe, except for the address in the query: `?aspxerrorpath=/a/7.html`.
/// In the path the address is not evidence: a host may redirect everything to `/zh/` plus the same path. A script that
/// receives all addresses may show pages, so other evidence is needed too.
pub fn is_alike(absent: &MissingPageResponse, url: &CrawlUrl) -> bool {
    let MissingPageResponse::Redirect(to) = absent else { return false };
    let Some((before, after)) = to.as_str().split_once(NAME) else { return false };
    let after = after.get(CODE..).unwrap_or_default();
    let rest = url.as_str().strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    rest.is_some() && before.contains('?') && url.path() != "/"
}

/// Whether a page equals the host's answer to the probe.
pub fn is_same(absent: &MissingPageResponse, url: &CrawlUrl, sketch: Sketch, title: u32) -> bool {
    match absent {
        // A home page that replaces an error is still a page.
        MissingPageResponse::Redirect(to) => to == url && url.path() != "/",
        MissingPageResponse::Page { sketch: text, title: headed } => {
            // Without text there is nothing to compare.
            if text.chars == 0 || sketch.chars == 0 || url.path() == "/" && url.query().is_none() {
                return false;
            }
            let apart = distance(text.simhash, sketch.simhash);
            let about = sketch.chars.abs_diff(text.chars) <= 32 + text.chars / 8;
            if text.chars.max(sketch.chars) <= SHORT {
                text.digest == sketch.digest && title == *headed || title == *headed && about && apart <= NEAR_SHORT
            } else {
                about && apart <= NEAR
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::text::simhash::sketch;

    #[test]
    fn a_page_that_calls_itself_missing_is_suspicious_and_one_about_missing_pages_is_not() {
        for (title, text) in [
            ("404", "回首页"),
            ("404 - 某站", ""),
            ("某站", "抱歉，您访问的页面不存在。返回首页"),
            ("提示信息", "抱歉，指定的主題不存在或已被刪除"),
            ("My Site", "404 Not Found"),
        ] {
            assert!(is_error_text(title, text), "{title} {text}");
        }
        let article = "如何配置 nginx 的 404 页面。".repeat(40) + "页面不存在";
        for (title, text) in [("nginx 的 404", article.as_str()), ("首页", "欢迎光临"), ("4040 号", "房间"), ("", "")]
        {
            assert!(!is_error_text(title, text), "{title}");
        }
    }

    #[test]
    fn a_page_that_repeats_the_address_is_the_same_and_an_article_is_not() {
        let url = |path: &str| CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap();
        let text = |path: &str| {
            sketch(&format!(
                "对不起，您访问的页面 {path} 不存在，可能已被删除或者移动。请检查网址，或者返回首页继续浏览，也可以搜索本站。"
            ))
        };
        let absent = MissingPageResponse::Page { sketch: text("/suidao-no-such-page-0123456789abcdef"), title: 7 };
        assert!(is_same(&absent, &url("/a/7.html"), text("/a/7.html"), 7));
        assert!(!is_same(&absent, &url("/a/7.html"), text("/a/7.html"), 8), "under another title");
        let article = sketch(&"足球联赛今天开赛，球队在主场迎战对手，进球的是前锋。".repeat(3));
        assert!(!is_same(&absent, &url("/a/7.html"), article, 7));
        assert!(!is_same(&absent, &url("/"), text("/"), 7), "a home page is a page");
        let moved = MissingPageResponse::Redirect(url("/404.html"));
        assert!(is_same(&moved, &url("/404.html"), article, 1) && !is_same(&moved, &url("/x"), article, 1));
    }

    #[test]
    fn the_address_in_the_query_of_an_error_page_is_no_difference() {
        let url = |url: &str| CrawlUrl::parse(url).unwrap();
        let sent = |to: &str| MissingPageResponse::Redirect(url(to));
        let asp = sent("http://a.cn/Error.aspx?aspxerrorpath=/suidao-no-such-page-0123456789abcdef");
        assert!(is_alike(&asp, &url("http://a.cn/Error.aspx?aspxerrorpath=/old/7.html")));
        assert!(
            !is_alike(&asp, &url("http://a.cn/Error.aspx?id=7")) && !is_alike(&asp, &url("http://a.cn/old/7.html"))
        );
        let whole = sent("http://a.cn/404?from=http%3A%2F%2Fa.cn%2Fsuidao-no-such-page-0123456789abcdef&lang=zh");
        assert!(is_alike(&whole, &url("http://a.cn/404?from=http%3A%2F%2Fa.cn%2Fold%2F7.html&lang=zh")));
        assert!(!is_alike(&whole, &url("http://a.cn/404?from=http%3A%2F%2Fa.cn%2Fold%2F7.html&lang=en")));
        let moved = sent("http://a.cn/zh/suidao-no-such-page-0123456789abcdef");
        assert!(!is_alike(&moved, &url("http://a.cn/zh/old/7.html")), "all of it may be there");
    }

    #[test]
    fn a_probe_is_the_same_each_time_and_another_for_each_host_and_seed() {
        let home = CrawlUrl::parse("https://a.cn/x/y?z").unwrap();
        let one = probe(&home, 1).unwrap();
        assert!(one.as_str().starts_with("https://a.cn/suidao-no-such-page-"), "{one}");
        assert_eq!(probe(&home, 1), Some(one.clone()));
        assert_ne!(probe(&home, 2), Some(one.clone()));
        let other = CrawlUrl::parse("https://b.cn/").unwrap();
        assert_ne!(probe(&other, 1).unwrap().path(), one.path());
    }
}
