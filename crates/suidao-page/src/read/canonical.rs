//! Which `rel=canonical` URLs count. A template without its values, the author's own machine, and a host name without a
//! scheme are mistakes, and would take the place of the page.

use crate::model::CrawlUrl;
use crate::model::address_class::is_local;

/// Whether a canonical URL of `page` counts: `reference` as written, `target` resolved.
pub(super) fn counts(reference: &str, target: &CrawlUrl, page: &CrawlUrl) -> bool {
    let reference = reference.trim();
    let is_elsewhere = (!is_local(target) || is_local(page)) && (!is_reserved(target) || is_reserved(page));
    !is_placeholder(reference) && !is_host_name(reference, page) && is_elsewhere
}

/// Whether a template was not filled in: `{{ page.url }}`, `<%= url %>`, `$url`, `%URL%`, `[url]`, `__URL__`, `undefined`.
fn is_placeholder(reference: &str) -> bool {
    let lower = reference.to_ascii_lowercase();
    let path = lower.split_once("://").map_or(lower.as_str(), |(_, rest)| rest);
    let is_escape = |after: &str| after.get(..2).is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let is_value = |part: &str| matches!(part, "undefined" | "null" | "nan" | "none" | "(null)" | "[object%20object]");
    lower.is_empty()
        || lower.contains(['{', '}', '<', '>', '`'])
        || lower.starts_with(['$', '@', '['])
        || ["%7b", "%7d", "%3c", "%3e", "$(", "[["].iter().any(|mark| lower.contains(mark))
        || lower.split('%').skip(1).any(|after| !is_escape(after))
        || path
            .split(['/', '?', '&', '='])
            .any(|part| is_value(part) || part.len() > 4 && part.starts_with("__") && part.ends_with("__"))
}

/// Names that no public host has (RFC 2606).
fn is_reserved(url: &CrawlUrl) -> bool {
    let host = url.host();
    let names = [".test", ".example", ".invalid"];
    let examples = ["example.com", "example.net", "example.org", "yourdomain.com"];
    names.iter().any(|name| host.ends_with(name))
        || examples.iter().any(|name| host.strip_suffix(name).is_some_and(|sub| sub.is_empty() || sub.ends_with('.')))
}

/// Whether a relative reference begins with a host name: `www.a.cn/x` would be a path.
fn is_host_name(reference: &str, page: &CrawlUrl) -> bool {
    /// What ends the name of a file and not of a host.
    const FILES: [&str; 12] =
        ["html", "htm", "shtml", "xhtml", "php", "asp", "aspx", "jsp", "do", "action", "cgi", "xml"];
    let first = reference.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let last = first.rsplit('.').next().unwrap_or_default();
    if first.contains(':') || last.len() == first.len() || first.starts_with('.') {
        return false;
    }
    let same_end = page.host().rsplit('.').zip(first.rsplit('.')).take_while(|(own, other)| own == other).count();
    let is_name = last.len() >= 2 && last.bytes().all(|byte| byte.is_ascii_alphabetic()) && !FILES.contains(&last);
    first.starts_with("www.") || same_end >= 2 || is_name && reference.len() > first.len()
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
            ("b.cn/x", false),
            ("index.php/2020/x", true),
            ("v1.0/x", true),
            ("x.html", true),
            ("%URL%", false),
            ("[[url]]", false),
            ("[url]", false),
            ("$permalink", false),
            ("@Model.Url", false),
            ("__URL__", false),
            ("https://www.a.com.cn/x/null/", false),
            ("https://www.a.com.cn/x?id=undefined", false),
            ("https://www.a.com.cn/undefined?x=1", false),
            ("https://www.a.com.cn/x?q=null-pointer", true),
            ("https://a.test/x", false),
            ("https://www.example.com/x", false),
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
        let test = CrawlUrl::parse("http://a.test/y").unwrap();
        assert!(counts("/x", &test.join("/x").unwrap(), &test));
        assert!(counts("/x", &inside.join("/x").unwrap(), &inside), "a crawl of one's own network");
    }
}
