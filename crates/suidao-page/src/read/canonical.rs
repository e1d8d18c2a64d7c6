//! Which `rel=canonical` URLs count. A template without its values, the author's own machine, and a host name without a
//! scheme are mistakes, and would take the place of the page.

use crate::model::CrawlUrl;
use crate::model::address_class::is_local;

/// Whether a canonical URL of `page` counts: `reference` as written, `target` resolved.
pub(super) fn counts(reference: &str, target: &CrawlUrl, page: &CrawlUrl) -> bool {
    !is_placeholder(reference) && !is_host_name(reference, page) && (!is_local(target) || is_local(page))
}

/// Whether a template was not filled in: `{{ page.url }}`, `<%= url %>`, `${url}`, `%%url%%`, `undefined`.
fn is_placeholder(reference: &str) -> bool {
    let reference = reference.trim();
    let last = reference.rsplit('/').next().unwrap_or_default();
    let is_value =
        |text: &str| matches!(text.to_ascii_lowercase().as_str(), "undefined" | "null" | "nan" | "[object object]");
    let lower = reference.to_ascii_lowercase();
    reference.contains(['{', '}', '<', '>', '`'])
        || ["%7b", "%7d", "%%", "%3c", "$("].iter().any(|mark| lower.contains(mark))
        || reference.is_empty()
        || is_value(reference)
        || is_value(last)
}

/// Whether a relative reference begins with a host name: `www.a.cn/x` would be a path.
fn is_host_name(reference: &str, page: &CrawlUrl) -> bool {
    let reference = reference.trim();
    let first = reference.split(['/', '?', '#']).next().unwrap_or_default();
    if first.contains(':') || !first.contains('.') {
        return false;
    }
    let first = first.to_ascii_lowercase();
    let same_end = page.host().rsplit('.').zip(first.rsplit('.')).take_while(|(own, other)| own == other).count();
    first.starts_with("www.") || same_end >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_do_not_count() {
        let page = CrawlUrl::parse("https://www.a.com.cn/x/1.html").unwrap();
        for (reference, expected) in [
            ("https://www.a.com.cn/x/2.html", true),
            ("/x/2.html", true),
            ("2.html", true),
            ("//a.com.cn/x", true),
            ("?id=2", true),
            ("https://b.cn/x", true),
            ("https://www.a.com.cn/x?q=%E4%B8%AD", true),
            ("{{ page.url }}", false),
            ("https://www.a.com.cn/{{slug}}", false),
            ("https://www.a.com.cn/%7B%7Bslug%7D%7D", false),
            ("<%= request.url %>", false),
            ("${location}", false),
            ("%%url%%", false),
            ("https://www.a.com.cn/undefined", false),
            ("null", false),
            ("", false),
            ("www.a.com.cn/x/2.html", false),
            ("a.com.cn/x/2.html", false),
            ("m.a.com.cn", false),
            ("www.b.cn", false),
            ("http://localhost:3000/x", false),
            ("http://127.0.0.1/x", false),
            ("http://192.168.1.5/x", false),
            ("http://[::1]/x", false),
            ("http://dev/x", false),
            ("http://a.local/x", false),
        ] {
            let counts = page.join(reference).is_ok_and(|target| counts(reference, &target, &page));
            assert_eq!(counts, expected, "{reference}");
        }
        let inside = CrawlUrl::parse("http://192.168.1.5/y").unwrap();
        assert!(counts("/x", &inside.join("/x").unwrap(), &inside), "a crawl of one's own network");
    }
}
