//! Cookies (RFC 6265), in memory only. Some sites show a page only if a cookie comes back; most crawls need none.
//!
//! With `fetch.cookies` cookies last for the run. Without, they last for one chain of redirects, as in a browser that
//! stores nothing: a site may set a cookie and redirect to the same URL, or to another that redirects back.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use cookie_store::{CookieStore, RawCookie};
use reqwest::Url;
use reqwest::header::HeaderValue;
use rustc_hash::{FxHashMap, FxHasher};

/// Maximum number of cookies of a jar; a jar that exceeds it, or the limit of bytes, is emptied. Browsers keep 50 of
/// 4 KiB or more.
const COOKIES: usize = 50;

/// Limits of the cookies of a run, and of those of a chain of redirects.
const OF_RUN: Limits = Limits { jars: 4096, bytes: 16 << 10 };
const OF_CHAIN: Limits = Limits { jars: 4, bytes: 4 << 10 };

/// Maximum number of chains whose next URL is not requested yet; the oldest is dropped.
const CHAINS: usize = 2048;

/// Maximum number of requests of a chain in which cookies matter.
const LONGEST: usize = 16;

#[derive(Clone, Copy)]
struct Limits {
    /// Maximum number of jars; the oldest is dropped.
    jars: usize,
    /// Maximum bytes of the names and values of a jar.
    bytes: usize,
}

pub(super) struct Cookies(Mutex<Memory>);

struct Memory {
    /// With `fetch.cookies`.
    run: Option<Jars>,
    chains: FxHashMap<u64, Chain>,
    /// The next URLs of the chains, oldest first.
    order: VecDeque<u64>,
}

/// A chain of redirects so far.
struct Chain {
    /// Unused with `fetch.cookies`.
    jars: Jars,
    /// The URLs requested, and a hash of the `Cookie` header sent.
    sent: Vec<(u64, u64)>,
}

/// A request in flight.
pub(super) struct CookieExchange {
    /// The value of `Cookie`, marked as sensitive.
    pub header: Option<HeaderValue>,
    chain: Chain,
}

impl Cookies {
    /// `kept`: cookies last for the run.
    pub fn new(kept: bool) -> Self {
        let run = kept.then(|| Jars::new(OF_RUN));
        Self(Mutex::new(Memory { run, chains: FxHashMap::default(), order: VecDeque::new() }))
    }

    /// What to send with a request for a URL.
    pub fn begin(&self, url: &Url) -> CookieExchange {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let chain = memory.chains.remove(&key(url));
        if chain.is_some() {
            memory.order.retain(|next| *next != key(url));
        }
        let chain = chain.unwrap_or_else(|| Chain { jars: Jars::new(OF_CHAIN), sent: Vec::new() });
        CookieExchange { header: memory.jars(&chain).header(url), chain }
    }

    /// Stores the values of `Set-Cookie`; invalid ones are ignored. `next`: where the response redirects. Returns
    /// whether that URL is sent other cookies now than before in this chain, or, if it is new in it, cookies that this
    /// response has set: its answer may differ from an earlier one.
    pub fn end<'a>(
        &self,
        exchange: CookieExchange,
        url: &Url,
        values: impl Iterator<Item = &'a HeaderValue>,
        next: Option<&Url>,
    ) -> bool {
        let CookieExchange { header, mut chain } = exchange;
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut values = values.peekable();
        let sets = values.peek().is_some();
        memory.run.as_mut().unwrap_or(&mut chain.jars).take(url, values);
        let Some(next) = next.filter(|_| chain.sent.len() < LONGEST) else { return false };
        // Most redirects set no cookie.
        if !sets && chain.sent.is_empty() {
            return false;
        }
        chain.sent.push((key(url), hash(&header)));
        let before = chain.sent.iter().rfind(|(url, _)| *url == key(next)).map(|(_, sent)| *sent);
        let now = memory.jars(&chain).header(next);
        let changed = before.map_or(sets && now.is_some(), |sent| sent != hash(&now));
        if memory.chains.insert(key(next), chain).is_none() {
            memory.order.push_back(key(next));
        }
        if memory.order.len() > CHAINS
            && let Some(oldest) = memory.order.pop_front()
        {
            memory.chains.remove(&oldest);
        }
        changed
    }

    /// What to send with a request outside of a chain: a part of a rendered page.
    pub fn of_run(&self, url: &Url) -> Option<HeaderValue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).run.as_ref()?.header(url)
    }

    /// Stores the values of `Set-Cookie` of such a response.
    pub fn take<'a>(&self, url: &Url, values: impl Iterator<Item = &'a HeaderValue>) {
        if let Some(run) = &mut self.0.lock().unwrap_or_else(PoisonError::into_inner).run {
            run.take(url, values);
        }
    }
}

impl Memory {
    fn jars<'a>(&'a self, chain: &'a Chain) -> &'a Jars {
        self.run.as_ref().unwrap_or(&chain.jars)
    }
}

/// A URL without its scheme: the crawl may request the target of a redirect under the other one.
fn key(url: &Url) -> u64 {
    let start = url.as_str().find("://").map_or(0, |at| at + 3);
    let text = url.as_str()[start..].split('#').next();
    hash(&text)
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Cookies by domain.
struct Jars {
    limits: Limits,
    of: FxHashMap<Box<str>, CookieStore>,
    /// Oldest first.
    order: VecDeque<Box<str>>,
}

impl Jars {
    fn new(limits: Limits) -> Self {
        Self { limits, of: FxHashMap::default(), order: VecDeque::new() }
    }

    fn header(&self, url: &Url) -> Option<HeaderValue> {
        let mut pairs: Vec<(&str, &str)> = self.of.get(domain(url)?)?.get_request_values(url).collect();
        // The library returns them in the order of a hash map.
        pairs.sort_unstable();
        let text: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut value = HeaderValue::from_bytes(text.join("; ").as_bytes()).ok().filter(|value| !value.is_empty())?;
        value.set_sensitive(true);
        Some(value)
    }

    fn take<'a>(&mut self, url: &Url, values: impl Iterator<Item = &'a HeaderValue>) {
        let Limits { jars, bytes: most } = self.limits;
        let values = values.filter_map(|value| std::str::from_utf8(value.as_bytes()).ok());
        let mut cookies =
            values.filter(|text| text.len() <= most).filter_map(|text| RawCookie::parse(text).ok()).peekable();
        let Some(domain) = domain(url).filter(|_| cookies.peek().is_some()) else { return };
        if !self.of.contains_key(domain) {
            if self.of.len() >= jars
                && let Some(oldest) = self.order.pop_front()
            {
                self.of.remove(&oldest);
            }
            self.order.push_back(domain.into());
        }
        let jar = self.of.entry(domain.into()).or_default();
        jar.store_response_cookies(cookies.take(COOKIES).map(RawCookie::into_owned), url);
        let (count, bytes) =
            jar.iter_any().fold((0, 0), |(n, bytes), one| (n + 1, bytes + one.name().len() + one.value().len()));
        if count > COOKIES || bytes > most {
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
        cookies.of_run(&url(to)).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    #[test]
    fn a_cookie_goes_back_where_it_may() {
        let cookies = Cookies::new(true);
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
        let cookies = Cookies::new(true);
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
        let cookies = Cookies::new(true);
        take(&cookies, "https://a.cn/", &[&format!("a={}", "x".repeat(OF_RUN.bytes))]);
        let many: Vec<String> = (0..500).map(|n| format!("n{n}={n}")).collect();
        take(&cookies, "https://b.cn/", &many.iter().map(String::as_str).collect::<Vec<_>>());
        for at in 0..9 {
            take(&cookies, "https://c.cn/", &[&format!("a{at}={}", "x".repeat(3 << 10))]);
            assert!(sent(&cookies, "https://c.cn/").len() <= OF_RUN.bytes + 200);
        }
        assert_eq!(sent(&cookies, "https://a.cn/"), "");
        assert!(sent(&cookies, "https://b.cn/").split(';').count() <= COOKIES);
        for at in 0..=OF_RUN.jars {
            take(&cookies, &format!("https://d{at}.cn/"), &["a=b"]);
        }
        assert_eq!(cookies.0.lock().unwrap().run.as_ref().unwrap().of.len(), OF_RUN.jars);
        assert_eq!((sent(&cookies, "https://b.cn/").as_str(), sent(&cookies, "https://d9.cn/").as_str()), ("", "a=b"));
    }

    /// Requests a URL whose response sets cookies and redirects; returns what was sent, and whether the target is to be
    /// requested again.
    fn redirect(cookies: &Cookies, from: &str, set: &[&str], to: &str) -> (String, bool) {
        let exchange = cookies.begin(&url(from));
        let sent = exchange.header.as_ref().map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
        let values: Vec<HeaderValue> = set.iter().map(|text| HeaderValue::from_str(text).unwrap()).collect();
        (sent, cookies.end(exchange, &url(from), values.iter(), Some(&url(to))))
    }

    #[test]
    fn cookies_of_a_redirect_go_to_its_target_and_no_further() {
        for kept in [false, true] {
            let cookies = Cookies::new(kept);
            let (page, bounce) = ("http://a.cn/p", "http://sso.a.cn/?back=/p");
            assert_eq!(redirect(&cookies, page, &["s=1; Path=/; Domain=a.cn"], bounce), (String::new(), true));
            assert_eq!(redirect(&cookies, bounce, &[], page), ("s=1".to_owned(), true), "the page was sent none");
            assert_eq!(redirect(&cookies, page, &[], bounce), ("s=1".to_owned(), false), "now it has had them");
            let other = cookies.begin(&url("http://a.cn/other")).header;
            assert_eq!(other.is_some(), kept, "another page is no part of the chain");
            // The same URL, under the scheme that the crawl prefers.
            assert_eq!(redirect(&cookies, "https://b.cn/", &["t=1"], "https://b.cn/"), (String::new(), true));
            assert!(!redirect(&cookies, "http://b.cn/", &["t=1"], "http://b.cn/").1);
        }
    }

    #[test]
    fn no_chain_goes_on_for_ever_or_leaves_its_domain() {
        let cookies = Cookies::new(false);
        let again =
            (0..40).filter(|n| redirect(&cookies, "http://a.cn/", &[&format!("n={n}")], "http://a.cn/").1).count();
        assert!(again < 40, "{again}");
        redirect(&cookies, "http://a.com.cn/", &["x=1; Domain=com.cn", "y=1"], "http://b.com.cn/");
        assert!(cookies.begin(&url("http://b.com.cn/")).header.is_none());
        for n in 0..=CHAINS {
            redirect(&cookies, &format!("http://c{n}.cn/"), &["a=b"], &format!("http://c{n}.cn/x"));
        }
        let memory = cookies.0.lock().unwrap();
        assert_eq!((memory.chains.len(), memory.order.len()), (CHAINS, CHAINS));
    }

    proptest::proptest! {
        #[test]
        fn no_field_is_too_odd(text in "[ -~é中]{0,60}", attribute in "(Domain|Path|Expires|Max-Age)=[ -~]{0,30}") {
            let cookies = Cookies::new(true);
            for text in [text.clone(), attribute.clone(), format!("{text}; {attribute}"), format!("a=b; {attribute}; {text}")] {
                if let Ok(value) = HeaderValue::from_bytes(text.as_bytes()) {
                    cookies.take(&url("https://www.a.com.cn/x/"), std::iter::once(&value));
                }
            }
            proptest::prop_assert!(cookies.of_run(&url("https://b.com.cn/")).is_none());
            let _ = cookies.of_run(&url("https://www.a.com.cn/x/"));
        }
    }
}
