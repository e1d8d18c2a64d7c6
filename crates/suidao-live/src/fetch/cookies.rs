//! Cookies of one run (RFC 6265) if `fetch.cookies` is on, in memory only. Some sites show a page only if a cookie
//! comes back; most crawls need none.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use cookie_store::{CookieStore, RawCookie};
use reqwest::Url;
use reqwest::header::HeaderValue;
use rustc_hash::FxHashMap;

/// Maximum number of jars; the oldest is dropped.
const JARS: usize = 4096;

/// Maximum number of cookies of a jar, and maximum bytes of their names and values; a jar that exceeds one is emptied.
/// Browsers keep 50 of 4 KiB or more.
const COOKIES: usize = 50;
const BYTES: usize = 16 << 10;

#[derive(Default)]
pub(super) struct Cookies(Mutex<Jars>);

#[derive(Default)]
struct Jars {
    of: FxHashMap<Box<str>, CookieStore>,
    /// Oldest first.
    order: VecDeque<Box<str>>,
}

impl Cookies {
    /// The value of `Cookie` for a request, marked as sensitive.
    pub fn header(&self, url: &Url) -> Option<HeaderValue> {
        let jars = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pairs: Vec<(&str, &str)> = jars.of.get(domain(url)?)?.get_request_values(url).collect();
        // The library returns them in the order of a hash map.
        pairs.sort_unstable();
        let text: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut value = HeaderValue::from_bytes(text.join("; ").as_bytes()).ok().filter(|value| !value.is_empty())?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Stores the values of `Set-Cookie`; invalid ones are ignored.
    pub fn take<'a>(&self, url: &Url, values: impl Iterator<Item = &'a HeaderValue>) {
        let values = values.filter_map(|value| std::str::from_utf8(value.as_bytes()).ok());
        let mut cookies =
            values.filter(|text| text.len() <= BYTES).filter_map(|text| RawCookie::parse(text).ok()).peekable();
        let Some(domain) = domain(url).filter(|_| cookies.peek().is_some()) else { return };
        let mut jars = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !jars.of.contains_key(domain) {
            if jars.of.len() >= JARS
                && let Some(oldest) = jars.order.pop_front()
            {
                jars.of.remove(&oldest);
            }
            jars.order.push_back(domain.into());
        }
        let jar = jars.of.entry(domain.into()).or_default();
        jar.store_response_cookies(cookies.take(COOKIES).map(RawCookie::into_owned), url);
        let (count, bytes) =
            jar.iter_any().fold((0, 0), |(n, bytes), one| (n + 1, bytes + one.name().len() + one.value().len()));
        if count > COOKIES || bytes > BYTES {
            jar.clear();
        }
    }
}

/// The key of a jar: the registrable domain, or the host if it has none (an address, a name of a local network).
fn domain(url: &Url) -> Option<&str> {
    let host = url.host_str()?;
    Some(url.domain().and_then(psl::domain_str).unwrap_or(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn take(cookies: &Cookies, from: &str, set: &[&str]) {
        let values: Vec<HeaderValue> =
            set.iter().map(|text| HeaderValue::from_bytes(text.as_bytes()).unwrap()).collect();
        cookies.take(&url(from), values.iter());
    }

    fn sent(cookies: &Cookies, to: &str) -> String {
        cookies.header(&url(to)).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    #[test]
    fn a_cookie_goes_back_where_it_may() {
        let cookies = Cookies::default();
        take(
            &cookies,
            "https://www.a.com.cn/x/y",
            &["b=2", "a=1; Domain=a.com.cn", "s=3; Secure", "p=4; Path=/x", "no", ""],
        );
        for (to, expected) in [
            ("https://www.a.com.cn/x/z", "a=1; b=2; p=4; s=3"),
            ("http://www.a.com.cn/x", "a=1; b=2; p=4"),
            // Without Path a cookie applies to its folder.
            ("https://www.a.com.cn/", ""),
            ("https://bbs.a.com.cn/x/", "a=1"),
            ("https://a.com.cn/x/", "a=1"),
            ("https://b.com.cn/x/", ""),
            ("https://com.cn/x/", ""),
            ("https://a.com.cn.b.cn/x/", ""),
        ] {
            assert_eq!(sent(&cookies, to), expected, "{to}");
        }
        take(&cookies, "https://www.a.com.cn/", &["a=1; Domain=a.com.cn; Path=/"]);
        assert_eq!(sent(&cookies, "https://bbs.a.com.cn/"), "a=1");
        take(&cookies, "https://www.a.com.cn/", &["a=; Domain=a.com.cn; Path=/; Max-Age=0"]);
        assert_eq!(sent(&cookies, "https://bbs.a.com.cn/"), "");
    }

    #[test]
    fn no_cookie_leaves_its_registrable_domain() {
        let cookies = Cookies::default();
        for domain in ["cn", "com.cn", ".com.cn", "b.com.cn", "*", "www.a.com.cn"] {
            take(&cookies, "https://a.com.cn/", &[&format!("x=1; Path=/; Domain={domain}")]);
        }
        take(&cookies, "http://10.0.0.1/", &["y=1; Path=/; Domain=0.0.1", "z=1; Path=/"]);
        for to in ["https://b.com.cn/", "https://com.cn/", "https://x.cn/", "http://10.0.0.2/", "http://0.0.1/"] {
            assert_eq!(sent(&cookies, to), "", "{to}");
        }
        assert_eq!(sent(&cookies, "http://10.0.0.1/"), "z=1");
    }

    #[test]
    fn stored_cookies_are_bounded() {
        let cookies = Cookies::default();
        take(&cookies, "https://a.cn/", &[&format!("a={}", "x".repeat(BYTES))]);
        let many: Vec<String> = (0..500).map(|n| format!("n{n}={n}")).collect();
        take(&cookies, "https://b.cn/", &many.iter().map(String::as_str).collect::<Vec<_>>());
        for at in 0..9 {
            take(&cookies, "https://c.cn/", &[&format!("a{at}={}", "x".repeat(3 << 10))]);
            assert!(sent(&cookies, "https://c.cn/").len() <= BYTES + 200);
        }
        assert_eq!(sent(&cookies, "https://a.cn/"), "");
        assert!(sent(&cookies, "https://b.cn/").split(';').count() <= COOKIES);
        for at in 0..=JARS {
            take(&cookies, &format!("https://d{at}.cn/"), &["a=b"]);
        }
        assert_eq!(cookies.0.lock().unwrap().of.len(), JARS);
        assert_eq!((sent(&cookies, "https://b.cn/").as_str(), sent(&cookies, "https://d9.cn/").as_str()), ("", "a=b"));
    }

    proptest::proptest! {
        #[test]
        fn no_field_is_too_odd(text in "[ -~é中]{0,60}", attribute in "(Domain|Path|Expires|Max-Age)=[ -~]{0,30}") {
            let cookies = Cookies::default();
            for text in [text.clone(), attribute.clone(), format!("{text}; {attribute}"), format!("a=b; {attribute}; {text}")] {
                if let Ok(value) = HeaderValue::from_bytes(text.as_bytes()) {
                    cookies.take(&url("https://www.a.com.cn/x/"), std::iter::once(&value));
                }
            }
            proptest::prop_assert!(cookies.header(&url("https://b.com.cn/")).is_none());
            let _ = cookies.header(&url("https://www.a.com.cn/x/"));
        }
    }
}
