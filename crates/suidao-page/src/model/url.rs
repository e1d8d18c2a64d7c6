//! URLs in normal form.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Url;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::word_list::SectionWords;

/// Number of a URL in order of discovery, from 0; breaks ties in every order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UrlId(pub u32);

/// Number of a host in order of discovery, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UrlError {
    /// Not a URL.
    #[error("{}", syntax_problem(*.0))]
    Syntax(#[from] url::ParseError),
    /// `mailto:`, `javascript:`, `ftp:` and the like.
    #[error("the scheme {0} is not http or https")]
    Scheme(String),
    #[error("the URL has no host")]
    NoHost,
    /// Longer than [`CrawlUrl::LONGEST`].
    #[error("the URL is longer than {} bytes", CrawlUrl::LONGEST)]
    TooLong,
}

/// Why a text is not a URL.
pub fn syntax_problem(error: url::ParseError) -> String {
    error.to_string().replace("relative URL without a base", "no http:// or https://")
}

/// An http or https URL in normal form, made by [`CrawlUrl::parse`] or [`CrawlUrl::join`].
///
/// Normal form: scheme and host in lower case; no default port, fragment or credentials; dot segments resolved; empty
/// path written `/`; percent escapes in upper case and only where needed; no empty query; no session ids
/// (`;jsessionid=`, `/(S(...))/`, `PHPSESSID` and similar; `sid` and `s` if they hold a code) and no campaign
/// parameters (`utm_*`, `spm`, `fbclid`, `gclid` and similar).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrawlUrl {
    text: Box<str>,
    /// Start of the path.
    path: u32,
    /// End of the path: the question mark or the end of the text.
    end: u32,
}

impl CrawlUrl {
    /// Maximum length in bytes, in normal form: the limit of servers for a request line (RFC 9110, 4.1, asks for
    /// 8,000). Part of the type, so that nothing longer is stored or fetched.
    pub const LONGEST: usize = 8_192;

    /// Parses an absolute URL.
    ///
    /// # Errors
    /// [`UrlError`] if `text` is not an absolute http or https URL with a host, or is longer than
    /// [`CrawlUrl::LONGEST`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let text = text.trim();
        short(text)?;
        bounded(Self::read(text)?)
    }

    fn read(text: &str) -> Result<Self, UrlError> {
        Self::plain(text).map_or_else(|| Self::normal(Url::parse(text)?), Ok)
    }

    /// Resolves a `reference` on this page. Errors as in [`CrawlUrl::parse`].
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        let reference = reference.trim();
        short(reference)?;
        let upon = |base: &str| Self::plain(&[base, reference].concat());
        let whole = match reference.as_bytes() {
            [b'h', b't', b't', b'p', ..] if reference.contains(':') => Self::plain(reference),
            // Two or more slashes begin a host (WHATWG URL, special authority ignore slashes state), but the parser
            // follows that only for absolute URLs.
            [b'/' | b'\\', b'/' | b'\\', ..] => {
                let host = reference.trim_start_matches(['/', '\\']);
                return bounded(Self::normal(self.to_url().join(&["//", host].concat())?)?);
            }
            [b'/', ..] => upon(&self.text[..self.path as usize]),
            // Without a colon there is no scheme; with a letter first, neither a query nor a fragment alone.
            [first, ..] if first.is_ascii_alphanumeric() && !reference.contains(':') => {
                upon(&self.text[..=self.path as usize + self.path().rfind('/').unwrap_or(0)])
            }
            _ => None,
        };
        bounded(whole.map_or_else(|| Self::normal(self.to_url().join(reference)?), Ok)?)
    }

    /// Fast path: a text that is obviously in normal form, as nearly all in logs and tables are; parsing costs ten
    /// times as much. Accepts nothing else, and may reject some texts in normal form.
    fn plain(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let start =
            ["http://", "https://"].iter().find_map(|scheme| text.starts_with(scheme).then_some(scheme.len()))?;
        let path = start + bytes[start..].iter().position(|&byte| byte == b'/')?;
        if !is_plain_host(&bytes[start..path]) {
            return None;
        }
        let (mut at, mut end) = (path, bytes.len());
        while at < bytes.len() {
            match bytes[at] {
                // Possibly a dot segment or a session.
                b'/' if end == bytes.len() && matches!(bytes.get(at + 1), Some(b'.' | b'(')) => return None,
                b'?' if end == bytes.len() => end = at,
                // An escape that must remain.
                b'%' => match bytes.get(at + 1..at + 3)? {
                    [b'8' | b'9' | b'A'..=b'F', b'0'..=b'9' | b'A'..=b'F'] => at += 2,
                    _ => return None,
                },
                byte if PLAIN[byte as usize] => {}
                _ => return None,
            }
            at += 1;
        }
        if end < bytes.len() && text[end + 1..].split('&').any(is_noise) {
            return None;
        }
        Some(Self { text: text.into(), path: u32::try_from(path).ok()?, end: u32::try_from(end).ok()? })
    }

    fn normal(mut url: Url) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme(url.scheme().to_owned()));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(UrlError::NoHost);
        }
        url.set_fragment(None);
        // Both fail only for URLs that cannot be a base, unlike http and https.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        if let Some(bare) = url.host_str().and_then(|host| host.strip_suffix('.')) {
            let bare = bare.to_owned();
            // With two trailing dots the name is invalid; removing one could give another host's name.
            if !bare.is_empty() && !bare.ends_with('.') {
                url.set_host(Some(&bare))?;
            }
        }
        if url.path().contains(['%', ';', '(']) {
            let path = without_session(&normal_escapes(url.path()));
            if path != url.path() {
                url.set_path(&path);
            }
        }
        if let Some(query) = url.query() {
            let rest: Vec<String> = query.split('&').filter(|pair| !is_noise(pair)).map(normal_escapes).collect();
            let rest = rest.join("&");
            if rest.is_empty() {
                url.set_query(None);
            } else if Some(rest.as_str()) != url.query() {
                url.set_query(Some(&rest));
            }
        }
        let path = url[..url::Position::BeforePath].len();
        let end = url[..url::Position::AfterPath].len();
        let offset = |at: usize| u32::try_from(at).map_err(|_| url::ParseError::Overflow);
        let (path, end) = (offset(path)?, offset(end)?);
        Ok(Self { text: String::from(url).into(), path, end })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn scheme(&self) -> &str {
        if self.is_https() { "https" } else { "http" }
    }

    /// Host name without port, lower case.
    pub fn host(&self) -> &str {
        // An IPv6 address has colons in its brackets.
        match self.authority().rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => host,
            _ => self.authority(),
        }
    }

    /// Host name with the port if it is not the default: the unit of rate limits.
    pub fn authority(&self) -> &str {
        &self.text[self.scheme().len() + "://".len()..self.path as usize]
    }

    pub fn has_port(&self) -> bool {
        self.host().len() < self.authority().len()
    }

    /// The port, if it is not the default.
    pub fn port(&self) -> Option<u16> {
        self.authority()[self.host().len()..].strip_prefix(':')?.parse().ok()
    }

    /// Scheme, host and port: the scope of a robots.txt (RFC 9309, 2.3).
    pub fn origin(&self) -> String {
        self.text[..self.path as usize].to_owned()
    }

    pub fn path(&self) -> &str {
        &self.text[self.path as usize..self.end as usize]
    }

    /// Without `?`.
    pub fn query(&self) -> Option<&str> {
        self.text.get(self.end as usize + 1..)
    }

    /// The same URL under https or http; `None` with an explicit port, which serves only one of them.
    pub fn under(&self, https: bool) -> Option<Self> {
        if self.has_port() {
            return None;
        }
        let scheme = if https { "https" } else { "http" };
        let (old, new) = (self.scheme().len(), scheme.len());
        #[allow(clippy::cast_possible_truncation)] // both are 4 or 5
        let moved = |at: u32| at + new as u32 - old as u32;
        let text = [scheme, &self.text[old..]].concat().into();
        Some(Self { text, path: moved(self.path), end: moved(self.end) })
    }

    pub fn is_https(&self) -> bool {
        self.text.as_bytes()["http".len()] == b's'
    }

    pub fn robots(&self) -> Self {
        let mut text = self.origin();
        text.push_str(ROBOTS);
        #[allow(clippy::cast_possible_truncation)] // ten bytes; the longest host has 253
        let end = self.path + ROBOTS.len() as u32;
        Self { text: text.into(), path: self.path, end }
    }

    /// For the fetcher.
    pub fn to_url(&self) -> Url {
        Url::parse(&self.text).expect("the text is in the normal form that it parses")
    }

    /// The same URL on another host, given with its port if not the default; `None` if that is not a host.
    pub fn on(&self, authority: &str) -> Option<Self> {
        if authority.is_empty() {
            return None;
        }
        Self::parse(&format!("{}://{authority}{}", self.scheme(), &self.text[self.path as usize..])).ok()
    }

    /// 64-bit fingerprint of the normal form; unequal URLs collide with probability about n²/2⁶⁵ among n URLs. It
    /// ignores the order of parameters: servers look them up by name, and sites write them in several orders.
    pub fn fingerprint(&self) -> u64 {
        let whole = || xxh3_64(self.text.as_bytes());
        match self.query() {
            Some(query) if query.contains('&') => {
                let base = xxh3_64(&self.text.as_bytes()[..self.end as usize]);
                let pairs = query
                    .split('&')
                    .fold(0_u64, |sum, pair| sum.wrapping_add(xxh3_64_with_seed(pair.as_bytes(), base)));
                pairs ^ base.rotate_left(32)
            }
            _ => whole(),
        }
    }
}

/// Rejects long texts before parsing, because the normal form is rarely much shorter.
fn short(text: &str) -> Result<(), UrlError> {
    if text.len() > CrawlUrl::LONGEST { Err(UrlError::TooLong) } else { Ok(()) }
}

/// Rejects URLs that joining or escaping made too long.
fn bounded(url: CrawlUrl) -> Result<CrawlUrl, UrlError> {
    short(&url.text).map(|()| url)
}

/// Bytes that need no escape in path and query.
const PLAIN: [bool; 256] = {
    let bytes = b"-._~/!$&()*+,=:@?0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let (mut plain, mut at) = ([false; 256], 0);
    while at < bytes.len() {
        plain[bytes[at] as usize] = true;
        at += 1;
    }
    plain
};

const ROBOTS: &str = "/robots.txt";

/// A lower-case name of letters, digits and inner hyphens that is neither an address nor in Punycode.
fn is_plain_host(host: &[u8]) -> bool {
    let is_label = |label: &[u8]| {
        (1..=63).contains(&label.len())
            && label.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
            && label[0] != b'-'
            && label[label.len() - 1] != b'-'
            && label.get(2..4) != Some(b"--")
    };
    let mut last = 0;
    host.len() <= 253
        && host.split(|&byte| byte == b'.').all(|label| {
            last = label.first().copied().unwrap_or_default();
            is_label(label)
        })
        && last.is_ascii_lowercase()
}

impl std::fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for CrawlUrl {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for CrawlUrl {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        // Logs of earlier versions contain longer URLs.
        Self::read(&text).map_err(serde::de::Error::custom)
    }
}

/// Campaign and session parameters, which do not change the page.
fn is_noise(pair: &str) -> bool {
    static NAMES: SectionWords = SectionWords::of(include_str!("parameters.txt"), "noise");
    // Names that may also identify a section or story.
    const CODES: [&str; 3] = ["sid", "s", "session"];
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let is_start = |start: &str| name.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start));
    let is = |noise: &&str| name.eq_ignore_ascii_case(noise);
    name.is_empty()
        || is_start("utm_")
        || is_start("aspsessionid")
        || NAMES.iter().any(is)
        || CODES.iter().any(is) && is_code(value)
}

/// At least 16 characters, with both letters and digits.
fn is_code(value: &str) -> bool {
    value.len() >= 16
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Removes `;jsessionid=` and similar after the path, and ASP.NET's segments `/(S(...))/`, `/(X(1)S(...))/`.
fn without_session(path: &str) -> String {
    let is_session = |segment: &str| {
        let inner = segment.strip_prefix('(').and_then(|rest| rest.strip_suffix("))")).unwrap_or_default();
        let mut chars = inner.chars();
        chars.next().is_some_and(|c| c.is_ascii_uppercase()) && chars.next() == Some('(')
    };
    let mut path = path.to_owned();
    if path.contains("/(") {
        path = path.split('/').filter(|segment| !is_session(segment)).collect::<Vec<_>>().join("/");
    }
    if path.contains(';') {
        let lower = path.to_ascii_lowercase();
        let at = [";jsessionid=", ";phpsessid=", ";sid="].iter().filter_map(|mark| lower.find(mark)).min();
        path.truncate(at.unwrap_or(path.len()));
    }
    if path.is_empty() { "/".to_owned() } else { path }
}

/// Percent escapes in upper case; unreserved characters (RFC 3986, 2.3) decoded, unless that would complete a new
/// escape.
fn normal_escapes(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut bare = None;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        let escape = escape.filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        if let Some(code) = escape.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            let joins = code.is_ascii_hexdigit() && bare.is_some_and(|bare| out.len() - bare <= 2);
            let unreserved = code.is_ascii_alphanumeric() || matches!(code, b'-' | b'.' | b'_' | b'~');
            if unreserved && !joins {
                out.push(char::from(code));
            } else {
                out.push('%');
                out.extend([bytes[at + 1], bytes[at + 2]].map(|digit| char::from(digit.to_ascii_uppercase())));
            }
            at += 3;
        } else {
            if bytes[at] == b'%' {
                bare = Some(out.len());
            }
            // `Url` returns ASCII only, so a byte is a character.
            out.push(char::from(bytes[at]));
            at += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        CrawlUrl::parse(text).unwrap().as_str().to_owned()
    }

    #[test]
    fn one_page_has_one_spelling() {
        for spelling in [
            "http://Example.CN:80/a/../b/%7euser/%e4%b8%ad?utm_source=x#top",
            "http://example.cn/b/~user/中",
            " http://user:pw@example.cn./b/~user/%E4%B8%AD? ",
            "http://example.cn/b/~user/中;jsessionid=12AB",
            "http://example.cn/b/~user/中?&PHPSESSID=1&sid=d41d8cd98f00b204e9800998ecf8427e",
            "http://example.cn/(S(lit3py55t21z5v55vlm25s55))/b/~user/中",
            "http://example.cn/b/(X(1)A(a1)S(b2))/~user/中;sid=3?ASPSESSIONIDQQ=x",
        ] {
            assert_eq!(normal(spelling), "http://example.cn/b/~user/%E4%B8%AD", "{spelling}");
        }
        assert_eq!(normal("https://a.cn"), "https://a.cn/");
        assert_eq!(normal("http://a.cn/x?b=2&a=1&utm_medium=q"), "http://a.cn/x?b=2&a=1");
        assert_eq!(normal("http://a.cn/100%"), "http://a.cn/100%");
        // Found by property tests: each changed when parsed again.
        for odd in ["http://a.cn../", "http://a.cn/%%41a", "http://a.cn/%4%31", "http://a.cn/?%%34%31"] {
            assert_eq!(normal(&normal(odd)), normal(odd), "{odd}");
        }
        assert_eq!(
            normal("http://a.cn/v?sid=12&s=abc"),
            "http://a.cn/v?sid=12&s=abc",
            "the number of a story is not a session"
        );
        assert_eq!(normal("http://a.cn/f(x)/(a)/"), "http://a.cn/f(x)/(a)/");
    }

    #[test]
    fn the_order_of_parameters_makes_no_other_page() {
        let print = |text: &str| CrawlUrl::parse(text).unwrap().fingerprint();
        assert_eq!(print("http://a.cn/x?a=1&b=2&c=3"), print("http://a.cn/x?c=3&a=1&b=2"));
        for other in [
            "http://a.cn/x?a=1&b=2",
            "http://a.cn/y?a=1&b=2&c=3",
            "http://a.cn/x?a=1&b=3&c=2",
            "http://a.cn/x?a=1&b=2&c=3&c=3",
        ] {
            assert_ne!(print("http://a.cn/x?a=1&b=2&c=3"), print(other), "{other}");
        }
        let url = CrawlUrl::parse("https://a.cn:81/x?y=1").unwrap();
        assert_eq!(url.on("b.cn").unwrap().as_str(), "https://b.cn/x?y=1");
        assert_eq!(url.on("b.cn:82").unwrap().as_str(), "https://b.cn:82/x?y=1");
        assert_eq!(url.on(""), None);
    }

    #[test]
    fn other_schemes_are_refused() {
        assert!(matches!(CrawlUrl::parse("mailto:a@b.cn"), Err(UrlError::Scheme(_))));
        assert!(matches!(CrawlUrl::parse("体育"), Err(UrlError::Syntax(_))));
        let page = CrawlUrl::parse("http://a.cn/x/y").unwrap();
        assert!(page.join("javascript:void(0)").is_err());
        assert_eq!(page.join("../z?q=1#f").unwrap().as_str(), "http://a.cn/z?q=1");
    }

    #[test]
    fn no_url_is_longer_than_the_longest() {
        let page = CrawlUrl::parse("http://a.cn/x/").unwrap();
        let rest = |length: usize| "y".repeat(length - page.as_str().len());
        let longest = page.join(&rest(CrawlUrl::LONGEST)).unwrap();
        assert_eq!(longest.as_str().len(), CrawlUrl::LONGEST);
        assert_eq!(CrawlUrl::parse(longest.as_str()).as_ref(), Ok(&longest));
        let far = "y".repeat(1 << 20);
        for reference in [rest(CrawlUrl::LONGEST + 1), format!("?{far}"), format!("//b.cn/{far}"), "中".repeat(2_000)]
        {
            assert_eq!(page.join(&reference), Err(UrlError::TooLong));
            assert_eq!(CrawlUrl::parse(&format!("http://a.cn/x/{reference}")), Err(UrlError::TooLong));
        }
        assert_eq!(longest.join("?a"), Err(UrlError::TooLong));
        assert_eq!(longest.join("/a").unwrap().as_str(), "http://a.cn/a");
        // URLs stored by an earlier version are still read.
        let stored: CrawlUrl = serde_json::from_str(&format!("\"http://a.cn/{far}\"")).unwrap();
        assert_eq!(stored.path().len(), far.len() + 1);
    }

    #[test]
    fn its_parts_are_those_of_the_parsed_form() {
        for text in [
            "http://a.cn/",
            "https://a.cn:8443/x/y.html?p=1&q=%E4%B8%AD",
            "http://[::1]:80/x",
            "http://[::1]:81/x?y",
            "http://127.0.0.1/",
            "http://xn--fiqs8s.cn/?a",
        ] {
            let (ours, url) = (CrawlUrl::parse(text).unwrap(), Url::parse(text).unwrap());
            assert_eq!((ours.as_str(), ours.scheme(), Some(ours.host())), (url.as_str(), url.scheme(), url.host_str()));
            assert_eq!((ours.authority(), ours.path(), ours.query()), (url.authority(), url.path(), url.query()));
            assert_eq!((ours.has_port(), ours.to_url()), (url.port().is_some(), url.clone()));
            let robots = ours.robots();
            assert_eq!(CrawlUrl::parse(robots.as_str()), Ok(robots));
            if let Some(other) = ours.under(!ours.is_https()) {
                assert_eq!(CrawlUrl::parse(other.as_str()), Ok(other));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_plain_is_what_parsing_makes_of_it(
            host in r"([a-z0-9.-]{1,12}|[a-z]{1,3}[.][a-z0-9]{1,3}|0x1[.]?2?|xn--[a-z]{2}[.]cn)",
            path in r"[a-zB-F0-9%/.?&=;:_~'@+!,-]{0,24}",
        ) {
            let text = format!("http://{host}/{path}");
            if let Some(plain) = CrawlUrl::plain(&text) {
                proptest::prop_assert_eq!(CrawlUrl::normal(Url::parse(&text).unwrap()), Ok(plain));
            }
        }

        #[test]
        fn joining_agrees_with_the_standard(
            base in r"http://a[.]cn(:8[0-2])?/[a-z/.]{0,8}([?][a-z/]{0,4})?",
            reference in r"(http:|https://b[.]cn/|/|//|[?]|#)?[a-z0-9A-F%/.?&=;:~#-]{0,16}",
        ) {
            let (page, url) = (CrawlUrl::parse(&base).unwrap(), Url::parse(&base).unwrap());
            let page_again = CrawlUrl::normal(url).unwrap();
            proptest::prop_assert_eq!(&page, &page_again);
            // The parser reads a third slash as an empty host; the standard ignores it.
            let host = reference.starts_with("//").then(|| format!("//{}", reference.trim_start_matches('/')));
            let slow = page.to_url().join(host.as_ref().unwrap_or(&reference)).map_err(UrlError::from).and_then(CrawlUrl::normal);
            proptest::prop_assert_eq!(page.join(&reference), slow);
        }

        #[test]
        fn normal_form_is_a_fixed_point(path in "[ -~é中%/.?&=;]{0,40}") {
            if let Ok(once) = CrawlUrl::parse(&format!("http://h.cn/{path}")) {
                let twice = CrawlUrl::parse(once.as_str()).unwrap();
                proptest::prop_assert_eq!(once, twice);
            }
        }
    }
}
