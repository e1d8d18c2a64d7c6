//! Finds a page's own URL in its text.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::model::CrawlUrl;

/// Least length of a path; shorter ones occur by chance.
const LEAST: usize = 4;

/// The text without the path of its URL, with and without the query, as spelt in the URL and decoded.
pub fn without_address<'a>(text: &'a str, url: &CrawlUrl) -> Cow<'a, str> {
    let path = url.path();
    if path.len() < LEAST {
        return Cow::Borrowed(text);
    }
    let whole = url.query().map(|query| format!("{path}?{query}"));
    let mut rest = Cow::Borrowed(text);
    // The longer first, because it contains the next.
    for spelt in whole.as_deref().into_iter().chain([path]) {
        let plain = percent_decode_str(spelt).decode_utf8().ok().filter(|plain| *plain != spelt);
        for address in [Some(Cow::Borrowed(spelt)), plain].into_iter().flatten() {
            if rest.contains(&*address) {
                rest = Cow::Owned(rest.replace(&*address, ""));
            }
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_left_out_however_it_is_spelt() {
        let url = |url: &str| CrawlUrl::parse(url).unwrap();
        let stated = |text: &'static str, at: &str| without_address(text, &url(at)).into_owned();
        assert_eq!(stated("没有 /a/7.html 这一页", "http://a.cn/a/7.html"), "没有  这一页");
        assert_eq!(stated("没有 /新闻/7 这一页", "http://a.cn/%E6%96%B0%E9%97%BB/7"), "没有  这一页");
        assert_eq!(stated("没有 /show?id=1 和 /show", "http://a.cn/show?id=1"), "没有  和 ");
        assert_eq!(stated("没有 /a 这一页", "http://a.cn/a"), "没有 /a 这一页", "too short to mean the address");
    }
}
